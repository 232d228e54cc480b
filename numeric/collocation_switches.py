"""Where a solution leaves the piece of a continuous right-hand side that it is on.

The solution on a panel is a polynomial that goes on smoothly beyond that point, so the point can be
found afterwards. It only has to be found to half the digits: the pieces agree there, so that an
error d of the time changes the solution by something of the size of d^2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from flint import arb

from numeric.simulation import Array

Values = Callable[[arb], Sequence[arb]]
"""Takes a point of [-1, 1] and returns the switching functions there."""

# What float64 tells from zero, relative to the largest switching function.
_VISIBLE = 1e-11
# Bits beyond half the digits to which a switching function is told from zero.
_SMALLER = 30


class TouchingError(Exception):
    """A switching function is zero over some time, or does not change its sign where it should."""


def first_crossing(
    points: Array, samples: Array, values: Values, target: int
) -> tuple[arb, list[int]] | None:
    """Return the first point where a switching function becomes negative, and which ones do.

    Args:
        points: points in ascending order from -1 to 1.
        samples: the switching functions at these points in float64, (points, functions).
        values: the switching functions at any point, at the precision in force.
        target: binary exponent of the accuracy that the solution has.

    Raises:
        TouchingError: if there is no proper change of sign.
    """
    scale = max(1.0, float(np.abs(samples).max(initial=0.0)))
    tolerance = _VISIBLE * scale
    negative = samples < -tolerance
    # Too small to be seen in float64, but too large to be ignored on the next panel.
    tiny = arb(2) ** (target // 2 - _SMALLER) * arb(scale)
    negative[-1] |= np.array([bool(value < -tiny) for value in values(arb(1))], dtype=bool)
    times = np.flatnonzero(negative.any(axis=1))
    if not len(times):
        return None
    last = int(times[0])
    leaving = np.flatnonzero(negative[last]).tolist()
    before = np.flatnonzero((samples[:last, leaving] > tolerance).all(axis=1))
    first = float(points[before[-1]]) if len(before) else -1.0

    def least(x: arb) -> Any:
        found = values(x)
        return min(found[s].mid() for s in leaving)

    point = _root(least, arb(first), arb(float(points[last])), target // 2 - 2 * _SMALLER)
    crossed = [s for s, value in enumerate(values(point)) if abs(value) < tiny]
    if not set(crossed) & set(leaving):
        raise TouchingError
    return point, crossed


def _root(function: Callable[[arb], Any], a: arb, b: arb, exponent: int) -> arb:
    """Return a root between a, where the function is positive, and b, where it is negative.

    Regula falsi with the weights of the Illinois method, to an interval of ``2^exponent``.
    """
    at_a, at_b = function(a), function(b)
    if not (at_a > 0 > at_b):
        raise TouchingError
    width = arb(2) ** exponent
    kept = 0
    while b - a > width:
        x = ((a * at_b - b * at_a) / (at_b - at_a)).mid()
        if not a < x < b:
            break
        value = function(x)
        if value > 0:
            a, at_a = x, value
            at_b = at_b / 2 if kept > 0 else at_b
            kept = 1
        else:
            b, at_b = x, value
            at_a = at_a / 2 if kept < 0 else at_a
            kept = -1
        if value == 0:
            break
    return b
