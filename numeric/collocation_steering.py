"""The float64 side of collocation: where to cut time into panels, and how to correct a panel.

Nothing here decides a digit of the result; it decides how fast the digits come.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from numeric import collocation_grid as grid
from numeric.simulation import Array
from symbolic.errors import UndecidedError

Twin = Callable[[Any], Any]
"""A right-hand side on an array (m, N) of states, float64 or complex128."""

# What the float64 solution resolves of Chebyshev coefficients, relative to the largest.
_VISIBLE_DIGITS = 9

_TOLERANCE = 1e-12
# Right-hand sides before a float64 solution is given up.
_MOST_EVALUATIONS = 200_000
# Points at which a forecast is looked at; coefficients beyond about half of them are not trusted.
_SAMPLES = 48
_SHRINK = 0.8
# What a linear solve may leave of the right-hand side, and its cost before it is given up.
_LINEAR_TOLERANCE = 1e-12
_USEFUL_TOLERANCE = 1e-4
_MOST_DIRECTIONS = 60
# Products of numbers up to which a product of matrices runs in one thread (OpenBLAS: 4 * 2^16).
_PIECE = 250_000


@dataclass(frozen=True)
class Forecast:
    """A panel as float64 sees it.

    Attributes:
        length: its length in time.
        visible: the number of Chebyshev coefficients of the states that float64 sees.
        solution: the states (N, times) at times from the panel's beginning.
    """

    length: Fraction
    visible: int
    solution: Callable[[Array], Array]

    def nodes(self, digits: float) -> int:
        """Return the number of nodes that digits need, if coefficients go on as they began."""
        return math.ceil(self.visible * digits / _VISIBLE_DIGITS)

    def states(self, m: int) -> Array:
        """Return the states at the nodes of a grid, (m, N)."""
        times = (1 + grid.nodes_float64(m)) / 2 * float(self.length)
        return np.asarray(self.solution(times).T)


def first_length(twin: Twin, state: Array, end: Fraction) -> Fraction:
    """Return a length of time over which the solution from ``state`` moves smoothly.

    Raises:
        UndecidedError: if float64 cannot follow the solution up to ``end``.
    """
    solution, reached = _survey(twin, state, float(end), dense=False)
    if solution.status != 0:
        raise lost(reached)
    steps = np.diff(solution.t)
    # The very first steps are shortened by the solver's own caution.
    return min(end, Fraction(20 * float(steps[: 1 + len(steps) // 2].max())))


def forecast(twin: Twin, state: Array, longest: Fraction, digits: float, most: int) -> Forecast:
    """Return the longest panel, at most ``longest``, that needs no more than ``most`` nodes.

    Args:
        twin: the right-hand side.
        state: the state where the panel begins.
        longest: the length that is aimed at.
        digits: the digits that the panel shall have.
        most: the largest number of nodes.

    Raises:
        UndecidedError: if float64 cannot follow the solution at all.
    """
    solution, reached = _survey(twin, state, float(longest), dense=True)
    known = float(solution.t[-1])
    if known == 0:
        raise lost(reached)
    length = longest if solution.status == 0 else Fraction(known) / 2
    while True:
        plan = Forecast(length, _visible(solution.sol, float(length)), solution.sol)
        if plan.nodes(digits) <= most:
            return plan
        length *= Fraction(_SHRINK)


def corrected(twin: Twin, states: Array, half: float, residual: Array) -> Array:
    """Return the correction of a panel: c with ``c - half * A J c = residual``.

    A integrates from the panel's beginning to its nodes, J is the derivative of the right-hand side
    at the states. Where no good correction is found, NaN is returned.
    """
    integral = half * grid.integrals_to_nodes_float64(len(states))

    def apply(direction: Array) -> Array:
        return direction - applied(integral, along(twin, states, direction))

    return _solved(apply, residual)


def applied(matrix: Array, columns: Array) -> Array:
    """Return a product of matrices by pieces too small for a linear algebra library's threads.

    Where other work has the cores, waiting for such threads takes many times longer than the work.
    """
    rows, width = columns.shape
    piece = _PIECE // (len(matrix) * rows)
    if piece < 2 or width < 2:
        return np.asarray(np.einsum("ij,jk->ik", matrix, columns))
    pieces = -(-width // piece)
    padded = np.zeros((rows, pieces * piece))
    padded[:, :width] = columns
    stack = padded.reshape(rows, pieces, piece).transpose(1, 0, 2)
    product = np.matmul(matrix, stack).transpose(1, 0, 2)
    return np.asarray(product.reshape(len(matrix), -1)[:, :width])


def _solved(apply: Callable[[Array], Array], right: Array) -> Array:
    """Return x with ``apply(x) = right`` by GMRES, or NaN.

    SciPy's is not used: its products of vectors run in threads, see `applied`.
    """
    size = _norm(right)
    if size == 0:
        return np.zeros_like(right)
    basis = [right / size]
    hessenberg = np.zeros((_MOST_DIRECTIONS + 1, _MOST_DIRECTIONS))
    target = np.zeros(_MOST_DIRECTIONS + 1)
    target[0] = size
    for k in range(1, _MOST_DIRECTIONS + 1):
        direction = apply(basis[-1])
        # Twice, as once leaves the basis orthogonal to fewer digits.
        for _ in range(2):
            for j, other in enumerate(basis):
                overlap = float(np.einsum("ij,ij", other, direction))
                hessenberg[j, k - 1] += overlap
                direction = direction - overlap * other
        length = _norm(direction)
        hessenberg[k, k - 1] = length
        if not math.isfinite(length):
            break
        known = hessenberg[: k + 1, :k]
        weights, *_ = np.linalg.lstsq(known, target[: k + 1], rcond=None)
        left = float(np.linalg.norm(known @ weights - target[: k + 1]))
        # Where errors grow, the solution is larger than the right-hand side.
        scale = max(size, float(np.linalg.norm(weights)))
        last = k == _MOST_DIRECTIONS or length <= _LINEAR_TOLERANCE * size
        if left <= (_USEFUL_TOLERANCE if last else _LINEAR_TOLERANCE) * scale:
            return np.asarray(np.tensordot(weights, np.array(basis), 1))
        if last:
            break
        basis.append(direction / length)
    return np.full_like(right, np.nan)


def _norm(array: Array) -> float:
    return math.sqrt(float(np.einsum("ij,ij", array, array)))


def along(twin: Twin, states: Array, directions: Array) -> Array:
    """Return the derivative of a right-hand side in a direction at each state, by complex steps."""
    step = 1e-30
    return np.asarray(twin(states + 1j * step * directions).imag / step)


def lost(time: float) -> UndecidedError:
    """Return the error for a solution that cannot be followed."""
    return UndecidedError(
        f"the solution cannot be followed beyond t = {time:.6g}: it grows past every bound there, "
        f"or past the range of float64"
    )


def integrated(twin: Twin, state: Array, end: float, **options: Any) -> tuple[Any, float]:
    """Return SciPy's solution by DOP853 from time 0, and the time up to which it was tried.

    Args:
        twin: the right-hand side.
        state: the state at time 0, (N,).
        end: last time.
        options: of ``scipy.integrate.solve_ivp``.

    Raises:
        UndecidedError: if there is no finite rate at the start, or there are too many steps.
    """
    from scipy.integrate import solve_ivp

    count, reached = 0, 0.0

    def rates(time: float, y: Array) -> Array:
        nonlocal count, reached
        count, reached = count + 1, max(reached, time)
        if count > _MOST_EVALUATIONS:
            raise UndecidedError(
                f"the solution moves too fast to be followed up to t = {end:.6g}: "
                f"{_MOST_EVALUATIONS:,} evaluations reach t = {time:.6g}"
            )
        return np.asarray(twin(y[None])[0])

    with np.errstate(all="ignore"):
        if not np.isfinite(rates(0.0, state)).all():
            raise lost(0.0)
        solution = solve_ivp(rates, (0.0, end), state, method="DOP853", **options)
    return solution, reached


def _survey(twin: Twin, state: Array, end: float, *, dense: bool) -> tuple[Any, float]:
    scale = float(np.abs(state).max()) or 1.0
    tolerances = {"rtol": _TOLERANCE, "atol": _TOLERANCE * scale}
    return integrated(twin, state, end, dense_output=dense, **tolerances)


def _visible(solution: Callable[[Array], Array], length: float) -> int:
    """Return the number of Chebyshev coefficients that float64 sees, the most for any component."""
    times = (1 + grid.nodes_float64(_SAMPLES)) / 2 * length
    sizes = np.abs(grid.coefficients_float64(_SAMPLES) @ solution(times).T).max(axis=1)
    seen = np.flatnonzero(~(sizes <= 10.0**-_VISIBLE_DIGITS * sizes.max()))
    return int(seen[-1]) + 1 if len(seen) else 1
