"""Trajectories of equiangular tokens under scalar heads, with every quantity, at any precision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import flint
import numpy as np
from flint import arb

from numeric.balls import ball_precision
from numeric.clustering_map import times_of_arrival
from numeric.equiangular_margins import EquiangularPoint
from numeric.evaluate import checked_digits
from numeric.rounding import rounded_ball, rounded_rational
from numeric.simulation import Array, Column, Simulation
from numeric.trajectory import Enclosed, Schedule, Trajectory
from numeric.trajectory_arrays import Grid, Overlaps
from numeric.trajectory_columns import (
    QUANTITIES,
    BallColumns,
    ball_columns,
    float_columns,
    is_blind,
    is_unknown,
)
from numeric.trajectory_float64 import cancellation_at, motions_at, overlaps_at
from numeric.trajectory_regime import Regime, State
from symbolic.errors import InputError
from symbolic.flow import Model
from symbolic.numbers import exact_text
from symbolic.parameter import shortened

# Bits by which the states are less accurate than the precision at which columns are computed.
_SPARE_BITS = 40
# Units of rounding in the states of a problem with condition 1.
_UNITS = 16
# Larger times are not accepted in float64.
_LARGEST = 2.0**1000


def simulate_equiangular(
    *,
    model: str = "softmax",
    lam: object,
    beta: object = None,
    n: object,
    start: object = 0,
    stop: object = None,
    until: object = None,
    times: object = None,
    points: object = None,
    digits: int | None = 50,
    progress: Callable[[float], None] | None = None,
) -> Simulation:
    """Return the trajectory of equiangular tokens under scalar heads ``lambda_h I``.

    Args:
        model: ``softmax``, ``unnormalised`` or ``relu``.
        lam: strengths, exact, one for each head, of either sign.
        beta: inverse temperature, exact, >= 0. Under relu only energy and entropy depend on it; it
            may be left out there, and they are ``nan``.
        n: number of tokens, an integer >= 2.
        start: overlap at time 0, exact, in (-1/(n-1), 1).
        stop: overlap at the last of evenly spaced times from 0; or else:
        until: the last of evenly spaced times; or else:
        times: exact times, not negative, ascending.
        points: number of evenly spaced times, 50 by default.
        digits: significant digits, every one right; None for float64, not certified.
        progress: called now and then with the part that is done, from 0 to 1; it starts again where
            the digits need more precision.

    Returns:
        A `Simulation` with the columns t, gamma, one_minus_gamma, and for each head k (from 1)
        energy_h<k>, denergy_h<k>, entropy_h<k>, dentropy_h<k>, radial_cosine_h<k>, condition8_h<k>
        and condition8_sharp_h<k>, grouped by quantity. Energies are the exponential ones and
        entropies those of softmax weights, in every model; derivatives are those along the flow;
        margins of Condition 8 are not negative where it holds. The radial cosine of a head whose
        aggregate vanishes is ``nan``, the energy at beta = 0 ``+inf``.

    Raises:
        InputError: for values that are not exact or outside their domains, and for a ``stop`` that
            the flow does not reach.
        UndecidedError: if the digits cannot be decided below the cap of precision.
    """
    regime = Regime.read(model, lam, beta, n, start)
    schedule = Schedule.read(stop, until, times, points)
    trajectory = Trajectory(regime, schedule, progress)
    parameters: dict[str, str | Sequence[str]] = {
        "model": str(regime.model),
        "lam": [exact_text(strength) for strength in regime.strengths],
        **({} if regime.beta is None else {"beta": exact_text(regime.beta)}),
        "n": exact_text(Fraction(regime.n)),
        "start": exact_text(regime.start),
        **schedule.parameters,
    }
    remarks = tuple(_remarks(trajectory))
    if digits is None:
        floats, error = _in_floats(trajectory)
        return Simulation("equiangular", parameters, None, floats, error, False, remarks)
    wanted = checked_digits(digits)
    texts = _Table(trajectory, wanted).columns()
    return Simulation("equiangular", parameters, wanted, texts, f"5e-{wanted}", True, remarks)


def _remarks(trajectory: Trajectory) -> list[str]:
    """Return what the reader should know about a trajectory."""
    regime, remarks = trajectory.regime, []
    if trajectory.direction == 0:
        remarks.append(f"gamma does not move: {_why_still(regime)}")
    if regime.beta is None:
        remarks.append("beta was left out: energies and entropies, which depend on it, are nan")
    elif regime.model is Model.RELU:
        remarks.append("relu: only energies and entropies depend on beta")
    if regime.beta == 0:
        remarks.append("beta = 0: energies are infinite, their derivatives are the limits")
    if any(is_blind(regime, strength) for strength in regime.strengths):
        remarks.append("a head whose aggregate vanishes has no radial cosine: nan")
    return remarks


def _why_still(regime: Regime) -> str:
    """Return why gamma does not move."""
    if not regime.counts:
        return "all strengths are zero"
    if regime.model is Model.RELU:
        if regime.start == 0:
            return "relu tokens stay orthonormal"
        return "no relu head has a strength with the sign of gamma"
    return "the heads cancel here, an equilibrium"


class _Table:
    """The columns as decimal texts."""

    def __init__(self, trajectory: Trajectory, digits: int) -> None:
        self._trajectory = trajectory
        self._regime = trajectory.regime
        self._digits = digits
        self._exact = trajectory.exact_overlaps
        # All rows of a trajectory that stands still are alike.
        self._rows = range(trajectory.schedule.points if trajectory.direction else 1)
        self._known: dict[int, tuple[Enclosed, BallColumns]] = {}

    def columns(self) -> dict[str, Column]:
        """Return all columns, in order."""
        columns = {
            "t": self._times(),
            "gamma": self._overlaps(lambda x: x, lambda state: state.gamma),
            "one_minus_gamma": self._overlaps(lambda x: 1 - x, lambda state: state.gap),
        }
        for name in QUANTITIES:
            by_strength = {x: self._column(name, x) for x in dict.fromkeys(self._regime.strengths)}
            for k, strength in enumerate(self._regime.strengths, 1):
                columns[f"{name}_h{k}"] = by_strength[strength]
        points = self._trajectory.schedule.points
        return {
            name: column if len(column) == points else column * points
            for name, column in columns.items()
        }

    def _at(self, bits: int) -> tuple[Enclosed, BallColumns]:
        """Return states and columns as balls, computed at so many bits."""
        if bits not in self._known:
            enclosed = self._trajectory.enclosed(bits - _SPARE_BITS)
            states = enclosed.states[: len(self._rows)]
            with ball_precision(bits):
                columns = ball_columns(self._regime, self._trajectory.direction, states)
            self._known[bits] = (enclosed, columns)
        return self._known[bits]

    def _rounded(self, pick: Callable[[Enclosed, BallColumns], arb]) -> str:
        """Return the text of a number in a table of balls."""
        return rounded_ball(lambda: pick(*self._at(flint.ctx.prec)), self._digits).text

    def _times(self) -> list[str]:
        times = self._trajectory.schedule.times
        if times is not None:
            return [rounded_rational(time, self._digits).text for time in times]
        later = range(1, self._trajectory.schedule.points)
        return ["0", *map(self._time, later)]

    def _time(self, j: int) -> str:
        return self._rounded(lambda enclosed, _: enclosed.times[j])

    def _overlaps(
        self, exact: Callable[[Fraction], Fraction], ball: Callable[[State], arb]
    ) -> list[str]:
        """Return what is told of overlaps, from exact ones where they are known."""

        def text(j: int) -> str:
            if j in self._exact:
                return rounded_rational(exact(self._exact[j]), self._digits).text
            return self._rounded(lambda enclosed, _: ball(enclosed.states[j]))

        return [text(j) for j in self._rows]

    def _column(self, name: str, strength: Fraction) -> list[str]:
        """Return a column of a head."""
        if is_unknown(self._regime, name):
            return ["nan"] * len(self._rows)
        if name == "radial_cosine" and is_blind(self._regime, strength):
            return ["nan"] * len(self._rows)
        if name == "energy" and self._regime.beta == 0:
            return ["+inf"] * len(self._rows)
        return [self._entry(name, strength, j) for j in self._rows]

    def _entry(self, name: str, strength: Fraction, j: int) -> str:
        """Return an entry of a column."""
        # The precision that rounding starts at; any other would do, too.
        first = self._at(80 + int(3.33 * self._digits))[1][name][strength][j]
        if first.is_zero():
            return "0"
        if j in self._exact and first.contains(0) and name.startswith("condition8"):
            # It may be zero; there that is decided.
            point = EquiangularPoint(
                str(self._regime.model),
                self._regime.n,
                self._regime.beta or Fraction(0),
                self._regime.strengths,
                self._exact[j],
            )
            sharp = name == "condition8_sharp"
            return point.condition_8_margin(strength, self._digits, sharp=sharp).text
        return self._rounded(lambda _, columns: columns[name][strength][j])


def _in_floats(trajectory: Trajectory) -> tuple[dict[str, Column], str]:
    """Return the columns as float64 arrays, and an estimate of the error of the states."""
    regime, schedule = trajectory.regime, trajectory.schedule
    grid = Grid.exact(regime, schedule.stop)
    with np.errstate(all="ignore"):
        if schedule.times is None:
            last = float(times_of_arrival(grid)[0])
            if last >= _LARGEST:
                raise InputError(
                    f"stop: {shortened(schedule.stop or Fraction(0))}, or the time when it is "
                    "reached, is beyond float64; give digits"
                )
            times = np.linspace(0.0, last, schedule.points)
        else:
            if schedule.times[-1] >= _LARGEST:
                name = "until" if "until" in schedule.parameters else "times"
                raise InputError(
                    f"{name}: {shortened(schedule.times[-1])} is beyond float64; give digits"
                )
            times = np.array([float(time) for time in schedule.times])
        states = overlaps_at(grid, times)
        for j, overlap in trajectory.exact_overlaps.items():
            exact = Overlaps.exact(overlap, regime.n)
            for column, value in zip(_parts(states), _parts(exact), strict=True):
                column[j] = value
        motions = motions_at(grid, states)[:, 0]
        states = Overlaps(*(part[:, 0] for part in _parts(states)))
        told = float_columns(regime, states, motions)
        error = _error(times, states, motions, cancellation_at(grid))
    columns: dict[str, Column] = {"t": times, "gamma": states.gamma, "one_minus_gamma": states.gap}
    for name in QUANTITIES:
        for k, strength in enumerate(regime.strengths, 1):
            unknown = is_unknown(regime, name)
            columns[f"{name}_h{k}"] = times * np.nan if unknown else told[name][strength]
    return columns, f"{error:.0e}"


def _parts(states: Overlaps) -> tuple[Array, Array, Array]:
    return states.gamma, states.gap, states.rise


def _error(times: Array, states: Overlaps, motions: Array, cancelled: float) -> float:
    """Return about how large the relative error of the states is.

    An error in time counts by how fast the states move, one in the speed by how much of it cancels.
    """
    moved = [
        np.where(times * motions == 0, 0.0, np.abs(times * motions / part))
        for part in _parts(states)
    ]
    return float(_UNITS * np.finfo(float).eps * (1 + np.max(moved)) * cancelled)
