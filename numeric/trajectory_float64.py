"""Trajectories of the scalar regime in float64, on whole arrays of parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from numeric.simulation import Array
from numeric.trajectory_arrays import Grid, Overlaps, check
from numeric.trajectory_quadrature import Cases, Ways
from numeric.trajectory_relu_float64 import relu_drive, relu_states
from symbolic.flow import Model


def trajectory_float64(
    *, model: str = "softmax", lam: Any, beta: Any = None, n: Any, start: Any = 0.0, times: Any
) -> Overlaps:
    """Return overlaps at times in float64, for whole grids of parameters; not certified.

    Each of the three is good relative to its own size: its error is about 1e-15 times the condition
    of the problem, which is the time times the speed of the logit, and larger close to an
    equilibrium behind.

    Args:
        model: ``softmax``, ``unnormalised`` or ``relu``.
        lam: a list with one entry for each head, each a number or an array.
        beta: inverse temperatures, >= 0; may be left out under relu.
        n: numbers of tokens, integers from 2 to 2^53.
        start: overlaps at time 0, in (-1/(n-1), 1).
        times: one axis of times, >= 0, the same for all parameters.

    Returns:
        Arrays of the shape of ``times`` followed by that which the parameters broadcast to.

    Raises:
        InputError: for values that are no real numbers or outside their domains, and shapes that
            do not broadcast.
    """
    grid = Grid.read(model, lam, beta, n, start)
    at = np.atleast_1d(np.asarray(times, dtype=np.float64))
    check("times", at, at >= 0, "reals >= 0")
    with np.errstate(all="ignore"):
        states = overlaps_at(grid, at)
    return Overlaps(*map(grid.restored, (states.gamma, states.gap, states.rise)))


def overlaps_at(grid: Grid, times: Array) -> Overlaps:
    """Return the overlaps at times (T,), of shape (T, E); called with NumPy's warnings off."""
    if grid.model is Model.RELU:
        return relu_states(grid, times)
    start, cases = grid.start, Cases.of(grid)
    gamma, gap, rise = (np.tile(x, (len(times), 1)) for x in (start.gamma, start.gap, start.rise))
    (moving,) = np.nonzero(cases.sign[:, 0])
    ways = Ways.of(cases, start, moving)
    growth, sign = ways.growth_at(times)[..., None], ways.cases.sign[:, 0]
    near, far = (side[..., 0] for side in ways.ends_after(growth))
    gap[:, moving], rise[:, moving] = np.where(sign > 0, (near, far), (far, near))
    gamma[:, moving] += sign * ways.fallen(growth)[..., 0]
    return Overlaps(gamma, gap, rise)


def motions_at(grid: Grid, states: Overlaps) -> Array:
    """Return gamma' at states of shape (T, E), likewise; called with NumPy's warnings off."""
    part = states.gap * states.rise * (grid.n - 1) / grid.n
    if grid.model is Model.RELU:
        return np.asarray(2 * relu_drive(grid) * states.gamma * part)
    cases = Cases.of(grid)
    near = np.where(cases.sign[:, 0] > 0, states.gap, states.rise)
    return np.asarray((cases.sign * cases.speed(near[..., None]))[..., 0] * part)


def cancellation_at(grid: Grid) -> float:
    """Return by how much the terms of the speed exceed it at the start, 1 without cancellation.

    Of a grid of one case; 1 where gamma does not move.
    """
    if grid.model is Model.RELU:
        return 1.0
    gap, cases = grid.start.gap[:, None], Cases.of(grid)
    signed = [
        replace(cases, sign=np.ones_like(gap), strengths=part).speed(gap)
        for part in (np.maximum(cases.strengths, 0), np.minimum(cases.strengths, 0))
    ]
    total = np.abs(signed[0] + signed[1])
    return float(np.where(total > 0, (signed[0] - signed[1]) / total, 1.0)[0, 0])
