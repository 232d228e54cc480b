"""Clustering times in float64 over whole grids of parameters, for phase diagrams."""

from __future__ import annotations

from typing import Any

import numpy as np

from numeric.simulation import Array
from numeric.trajectory_arrays import Grid
from numeric.trajectory_quadrature import Cases, Ways
from numeric.trajectory_relu_float64 import relu_times
from symbolic.flow import Model


def clustering_times_float64(
    *, model: str = "softmax", lam: Any, beta: Any = None, n: Any, start: Any = 0.0, stop: Any
) -> Array:
    """Return how long the overlap takes from ``start`` to ``stop``, in float64; not certified.

    The relative error is at most 1e-13, if all strengths have the same sign; with both signs it is
    larger where they nearly cancel at the start, by as much as they do. Parameters are rounded to
    float64 first, which counts for overlaps close to the ends of their domain.

    Args:
        model: ``softmax``, ``unnormalised`` or ``relu``.
        lam: a list with one entry for each head, each a number or an array.
        beta: inverse temperatures, >= 0; may be left out under relu.
        n: numbers of tokens, integers from 2 to 2^53.
        start: overlaps to start from, in (-1/(n-1), 1).
        stop: overlaps to stop at, in [-1/(n-1), 1].

    Returns:
        An array of the shape that the parameters broadcast to: 0 where start and stop agree, inf
        where the flow does not arrive, or not within the range of float64.

    Raises:
        InputError: for values that are no real numbers or outside their domains, and shapes that
            do not broadcast.
    """
    grid = Grid.read(model, lam, beta, n, start, stop)
    with np.errstate(all="ignore"):
        return grid.restored(times_of_arrival(grid))


def times_of_arrival(grid: Grid) -> Array:
    """Return the times of a grid, of shape (E,); called with NumPy's warnings off."""
    if grid.model is Model.RELU:
        return relu_times(grid)
    moved, cases = grid.moved, Cases.of(grid)
    times = np.where(moved == 0, 0.0, np.inf)
    left = np.where(moved > 0, grid.stop.gap, grid.stop.rise)
    (arriving,) = np.nonzero((moved * cases.sign[:, 0] > 0) & (left > 0))
    ways = Ways.of(cases, grid.start, arriving)
    way, rest = np.abs(moved[arriving, None]), left[arriving, None]
    times[arriving] = ways.times_to(way, rest)[:, 0]
    return times
