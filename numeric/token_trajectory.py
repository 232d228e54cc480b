"""Tokens followed over time, at any precision and in float64."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from flint import arb

from numeric.collocation import Trajectory, solve
from numeric.collocation_steering import integrated, lost
from numeric.simulation import Array
from numeric.token_flow import TokenFlow
from numeric.token_pieces import token_field
from numeric.token_start import Tokens

_TOLERANCE = 1e-12
# A second run, at this tolerance, shows the error of both; it is proportional to the tolerance.
_LOOSE_TOLERANCE = 1e-9
_SAFETY = 50
_ROUNDING = 1e-14


def followed(
    flow: TokenFlow,
    tokens: Tokens,
    times: Sequence[Fraction],
    digits: int,
    progress: Callable[[float], None] | None = None,
) -> Trajectory:
    """Return the tokens over time as balls, whose radii are estimated errors.

    Args:
        flow: the flow; under relu it is followed from one change of a score's sign to the next.
        tokens: where it starts.
        times: exact times, not negative, in ascending order.
        digits: the estimated error, relative to the largest coordinate, is at most 10^-digits.
        progress: called now and then with the part that is done, from 0 to 1.

    Raises:
        UndecidedError: if the tokens cannot be followed to the last time, as flat tokens that blow
            up; the message names the time reached.
    """

    def start() -> list[arb]:
        return [x for row in tokens.balls() for x in row]

    return solve(token_field(flow, tokens), start, times, digits, progress)


def followed_float64(flow: TokenFlow, tokens: Array, times: Array) -> Array:
    """Return the tokens over time in float64, (times, n, d), by SciPy's DOP853.

    Args:
        flow: the flow.
        tokens: where it starts, (n, d).
        times: times, not negative, in ascending order.

    Raises:
        UndecidedError: if the tokens cannot be followed to the last time.
    """
    return _integrated(flow, tokens, times, _TOLERANCE)


def estimated_error(flow: TokenFlow, tokens: Array, times: Array, states: Array) -> float:
    """Return the estimated error of `followed_float64`, relative to the largest coordinate.

    It comes from another run at a tolerance that leaves larger errors.
    """
    loose = _integrated(flow, tokens, times, _LOOSE_TOLERANCE)
    scales = np.abs(states).max(axis=(1, 2))
    difference = float((np.abs(loose - states).max(axis=(1, 2)) / scales).max())
    return _ROUNDING + difference * _TOLERANCE / _LOOSE_TOLERANCE * _SAFETY


def _integrated(flow: TokenFlow, tokens: Array, times: Array, tolerance: float) -> Array:
    """Return the tokens over time at a tolerance of SciPy's solver."""
    start = tokens.ravel()
    # Times that differ by less than float64 resolves are one for SciPy.
    distinct, where = np.unique(times, return_inverse=True)
    if distinct[-1] == 0:
        return np.tile(tokens, (len(times), 1, 1))
    end = float(distinct[-1])
    solution, reached = integrated(
        flow.float_field, start, end, t_eval=distinct, rtol=tolerance, atol=tolerance
    )
    states = np.asarray(solution.y).T
    if solution.status != 0 or not np.isfinite(states).all():
        raise lost(reached)
    return states[where].reshape(len(times), flow.n, flow.d)
