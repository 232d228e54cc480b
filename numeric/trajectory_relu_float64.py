"""Relu heads in float64, on whole arrays; see `trajectory_relu` for the closed form.

With the notation there the progress from r_0 to ``r_0 + d`` is
``a d - k ln((1 + q e^(-d))/(1 + q))`` where ``q = e^(-r_0)`` and ``a = n - k``: two terms of the
same sign.
"""

from __future__ import annotations

import numpy as np

from numeric.simulation import Array
from numeric.trajectory_arrays import Grid, Overlaps

_MOST_STEPS, _STEP = 100, 1e-15
# After more progress nothing in the range of float64 is left of the gap.
_MOST_PROGRESS = 1e20


def relu_times(grid: Grid) -> Array:
    """Return the times of arrival at the overlaps to stop at, inf where the flow does not arrive.

    Called with NumPy's warnings off.
    """
    moved, start, stop = grid.moved, grid.start.gamma, grid.stop
    rest = np.where(start > 0, np.log1p(moved / stop.gap), np.log1p(-moved / stop.rise))
    times = _progress(grid, np.log1p(moved / start) + rest) / (2 * relu_drive(grid))
    arrives = (moved * np.sign(start) > 0) & (relu_drive(grid) > 0)
    return np.where(moved == 0, 0.0, np.where(arrives, times, np.inf))


def relu_states(grid: Grid, times: Array) -> Overlaps:
    """Return overlaps at times (T,), of shape (T, E).

    Called with NumPy's warnings off.
    """
    start, n = grid.start, grid.n
    up, drive = start.gamma > 0, relu_drive(grid)
    moves = (start.gamma != 0) & (drive > 0)
    odds = np.where(moves, _odds(grid), 1.0)
    distance = _distance(grid, odds, np.minimum(2 * drive * times[:, None], _MOST_PROGRESS))
    left = odds * np.exp(-distance)
    total = np.where(up, n * left + 1, n * left + (n - 1))
    gamma = np.where(up, 1.0, -1.0) / total
    gap = n * np.where(up, left, left + 1) / total
    rise = n / (n - 1) * np.where(up, left + 1, left) / total
    return Overlaps(
        np.where(moves, gamma, start.gamma),
        np.where(moves, gap, start.gap),
        np.where(moves, rise, start.rise),
    )


def relu_drive(grid: Grid) -> Array:
    """Return the sum of the squares of the strengths that act."""
    acts = grid.strengths * np.sign(grid.start.gamma) > 0
    return np.asarray(np.where(acts, grid.strengths**2, 0.0).sum(axis=0))


def _odds(grid: Grid) -> Array:
    """Return q at the start."""
    start, n = grid.start, grid.n
    rest = np.where(start.gamma > 0, start.gap, (n - 1) * start.rise)
    return np.asarray(rest / (n * np.abs(start.gamma)))


def _factor(grid: Grid) -> Array:
    return np.where(grid.start.gamma > 0, grid.n - 1, 1.0)


def _progress(grid: Grid, distance: Array) -> Array:
    """Return the progress over a distance d in r."""
    odds, factor = _odds(grid), _factor(grid)
    # Whichever of the two loses no digits.
    close = np.log1p(np.expm1(-distance) * odds / (1 + odds))
    apart = np.log1p(odds * np.exp(-distance)) - np.log1p(odds)
    return (grid.n - factor) * distance - factor * np.where(distance < 1, close, apart)


def _distance(grid: Grid, odds: Array, progress: Array) -> Array:
    """Return the distance with a progress, by Newton's method: progress is concave in it."""
    n, factor = grid.n, _factor(grid)
    # Not above the root, as the progress is below its asymptotes.
    least = (progress - factor * np.log1p(odds)) / (n - factor)
    distance = np.maximum(progress / n, least)
    for _ in range(_MOST_STEPS):
        left = odds * np.exp(-distance)
        slope = (n - factor) + factor * left / (1 + left)
        moved = np.maximum(distance + (progress - _progress(grid, distance)) / slope, 0.0)
        settled = np.abs(moved - distance) <= _STEP * (1 + distance)
        distance = moved
        if settled.all():
            break
    return distance
