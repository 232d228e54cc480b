"""Initial value problems at any precision: Chebyshev collocation, refined through float64.

``solve(field, start, times, digits)`` follows ``x' = f(x)`` from ``start()`` at time 0 and returns
the states at the given times as balls. The right-hand side is given twice:

- ``Field.balls``: one state (N balls, the precision in force) -> its N derivatives as balls;
- ``Field.floats``: the same function vectorised in NumPy, an array (m, N) of m states -> (m, N).
  It must accept complex128 arrays and be analytic there (no ``abs``, no conjugates, no ``max`` of
  complex numbers): its derivative in a direction is taken by a complex step.

The float64 twin only steers; every digit of the result comes from the balls. Example, x' = -x^2::

    field = Field(lambda x: [-x[0] ** 2], lambda x: -x**2)
    trajectory = solve(field, lambda: [arb(1)], [Fraction(1), Fraction(2)], digits=50)
    trajectory.states[0][0]     # a ball around 1/2; its radius is the estimated error
    trajectory.errors[0]        # the same estimate, relative to the state's largest component
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb, arb_mat

from numeric import collocation_grid as grid
from numeric.balls import ball_precision, exact_ball
from numeric.collocation_steering import (
    Forecast,
    Twin,
    along,
    corrected,
    first_length,
    forecast,
    lost,
)
from numeric.collocation_switches import TouchingError, first_crossing
from numeric.simulation import Array
from symbolic.errors import UndecidedError

# Digits beyond those asked for: truncation on all panels, and its growth along the flow.
_GUARD_DIGITS = 4
# Bits beyond the digits in the arithmetic of a panel; its start, end and check have as many more.
_GUARD_BITS = 30
# Zero counts as 2 to minus this.
_NOTHING = 10**6
# What rounding may take of the arithmetic at the ends of panels.
_ROUNDING_BITS = 4
# The estimate is the largest entry of the solution of the error equation times this.
_SAFETY = 8
# Attempts with more digits where errors grow along the flow.
_ATTEMPTS = 4
# Long panels need the fewest nodes in all, but are hard to correct.
_NODES_PER_DIGIT = 1.7
_MOST_NODES = 600
# How far a panel may go beyond its number of nodes before it is made shorter.
_MOST_EXTENDED = 1.3
# Bits below which it is not worth while to begin with fewer.
_LEAST_STAGE = 66
# A panel shorter than this part of the whole is taken for a singularity ahead.
_SHORTEST = Fraction(1, 10**12)
# Bits that a correction can gain, as float64 allows, and the least that is worth going on.
_BEST_GAIN = 36
# How closely a panel is looked at for changes of the right-hand side.
_SAMPLES_PER_NODE = 4
_WORST_GAIN = 6


@dataclass(frozen=True)
class Field:
    """The right-hand side of ``x' = f(x)`` for states of N numbers.

    Attributes:
        balls: returns the N derivatives at a state of N balls, at the precision in force.
        floats: the same for an array (m, N) of m states, float64 or complex128, without a loop.
        switches: where f goes on as another function; None if it is smooth everywhere.
    """

    balls: Callable[[Sequence[arb]], Sequence[arb]]
    floats: Twin
    switches: Switches | None = None


@dataclass(frozen=True)
class Switches:
    """Where the right-hand side, made of smooth pieces that agree where they meet, changes pieces.

    Attributes:
        balls: returns the switching functions at a state; they are positive on this piece.
        floats: the same for an array (m, N) of m real states.
        after: takes the indices of those that have become zero; returns the field beyond.
        whole: the right-hand side on all pieces, for real states (m, N).
    """

    balls: Callable[[Sequence[arb]], Sequence[arb]]
    floats: Twin
    after: Callable[[Sequence[int]], Field]
    whole: Twin


@dataclass(frozen=True)
class Trajectory:
    """States over time.

    Attributes:
        states: one list of N balls for each time; all radii of a time are its estimated error.
        errors: the estimate for each time, relative to the state's largest component around then.
        switched: the times, in float64, at which the right-hand side changed its piece.
    """

    states: list[list[arb]]
    errors: list[arb]
    switched: list[float]


def solve(
    field: Field,
    start: Callable[[], Sequence[arb]],
    times: Sequence[Fraction],
    digits: int,
    progress: Callable[[float], None] | None = None,
) -> Trajectory:
    """Return the states at the given times, with estimated errors.

    Args:
        field: the right-hand side.
        start: returns the state at time 0 as balls at the precision in force.
        times: exact times, not negative; at least one.
        digits: the estimated error, relative to the state's largest component around that time, is
            at most 10^-digits.
        progress: called now and then with the part of the time that is done, from 0 to 1.

    Raises:
        UndecidedError: if the solution cannot be followed up to the last time (it blows up, or
            float64 cannot hold what steers it); the message names the time reached.
    """
    working = digits + _GUARD_DIGITS
    for _ in range(_ATTEMPTS):
        run = _Run(field, times, working, progress)
        with ball_precision(run.bits + _GUARD_BITS):
            trajectory = run.trajectory(start)
            worst = max(trajectory.errors)
            if worst <= arb(10) ** -digits:
                return trajectory
            working += digits + math.ceil(_exponent(worst) / math.log2(10)) + 1
    raise UndecidedError(
        f"errors grow too fast along the flow: {digits} digits are not reached at "
        f"t = {float(max(times)):.6g} with {working - digits} more in the arithmetic"
    )


class _TooLongError(Exception):
    """The panel is too long: its corrections do not converge, or it needs too many nodes."""


@dataclass(frozen=True)
class _Scaled:
    """Numbers of any size: ``array * 2^exponent``."""

    array: Array
    exponent: int

    @classmethod
    def of(cls, matrix: arb_mat) -> _Scaled:
        """Return the midpoints of a matrix, scaled to a largest size of about 1."""
        exponent = _largest_exponent(matrix)
        return cls(_floats(matrix * _power_of_two(-exponent)), exponent)

    def balls(self) -> arb_mat:
        """Return the numbers as a matrix of exact balls."""
        return arb_mat(self.array.tolist()) * _power_of_two(self.exponent)

    def at(self, exponent: int) -> Array:
        """Return the array that stands for the same numbers with another exponent."""
        return np.asarray(np.ldexp(self.array, max(self.exponent - exponent, -2000)))


@dataclass(frozen=True)
class _Panel:
    """The solution on a piece of time: it is the integral of its derivative's interpolant.

    Attributes:
        begin: where the panel begins.
        length: its length in time.
        start: the state there, 1 by N, exact.
        slopes: the derivative at the nodes, m by N, exact.
    """

    begin: Fraction
    length: Fraction
    start: arb_mat
    slopes: arb_mat

    @property
    def m(self) -> int:
        """Return the number of nodes."""
        return int(self.slopes.nrows())

    @property
    def end(self) -> Fraction:
        """Return where the panel ends."""
        return self.begin + self.length

    @property
    def half(self) -> arb:
        """Return half the length, which is dt/dx for x in [-1, 1]."""
        return exact_ball(self.length / 2)

    def point(self, time: Fraction) -> arb:
        """Return the point of [-1, 1] for a time."""
        return exact_ball(2 * (time - self.begin) / self.length - 1)

    def states(self, points: Sequence[arb]) -> arb_mat:
        """Return the states at points of [-1, 1], one in each row, exact."""
        return self._moved(grid.integrals_to(points, self.slopes))

    def states_at_nodes(self, count: int) -> arb_mat:
        """Return the states at the nodes of another grid, one in each row, exact."""
        return self._moved(grid.integrals_to_nodes_of(count, self.slopes))

    def until(self, point: arb) -> _Panel:
        """Return the panel from its beginning to a point of [-1, 1] only."""
        share = (1 + point) / 2
        points = [(1 + x) * share - 1 for x in grid.nodes(self.m)]
        slopes = grid.at_points(points, self.slopes).mid()
        return _Panel(self.begin, self.length * _fraction(share), self.start, slopes)

    def _moved(self, integrals: arb_mat) -> arb_mat:
        return (_repeated(self.start, integrals.nrows()) + integrals * self.half).mid()


class _Run:
    """One attempt to follow the flow with a number of digits."""

    def __init__(
        self,
        field: Field,
        times: Sequence[Fraction],
        digits: int,
        progress: Callable[[float], None] | None,
    ) -> None:
        self.field = field
        self.times = times
        self.last = max(times)
        self.progress = progress
        self.told = 0.0
        # Levels are binary exponents of errors relative to the largest component.
        self.target = -math.ceil(digits * math.log2(10))
        self.bits = _GUARD_BITS - self.target
        self.most_nodes = min(math.ceil(_NODES_PER_DIGIT * digits) + 16, _MOST_NODES)
        # Few digits need few nodes and bits: half of the digits first, and so on.
        self.stages = [self.target]
        while self.stages[0] // 2 < -_LEAST_STAGE:
            self.stages.insert(0, self.stages[0] // 2)

    def trajectory(self, start: Callable[[], Sequence[arb]]) -> Trajectory:
        """Return the states at the times."""
        given = list(start())
        state = arb_mat([given]).mid()
        error = _Scaled.of(arb_mat([[x.rad() for x in given]]))
        rows = {Fraction(0): self._delivered(given, error.exponent, _largest(state))}
        now, last = Fraction(0), self.last
        switched = []
        longest = self._first_length(state) if last else last
        while now < last:
            panel = self._panel(now, state, min(longest, last - now))
            longest = 2 * panel.length
            crossing = self._crossing(panel)
            if crossing is not None:
                panel = panel.until(crossing[0])
                switched.append(float(panel.end))
            error, exponent, scale = self._error(panel, error)
            due = [time for time in self.times if now < time <= panel.end]
            found = panel.states([panel.point(time) for time in [*due, panel.end]]).tolist()
            for time, row in zip(due, found, strict=False):
                rows[time] = self._delivered(row, exponent, scale)
            state = arb_mat([found[-1]])
            now = panel.end
            if crossing is not None:
                self.field = crossing[1]
            self._report(now)
        pairs = [rows[time] for time in self.times]
        return Trajectory([row for row, _ in pairs], [error for _, error in pairs], switched)

    def _report(self, time: Fraction) -> None:
        """Tell how far the work is, never less than before."""
        self.told = max(self.told, float(time / self.last))
        if self.progress is not None:
            self.progress(self.told)

    def _first_length(self, state: arb_mat) -> Fraction:
        """Return a length for the first panel to try."""
        switches = self.field.switches
        twin = self.field.floats if switches is None else switches.whole
        return first_length(twin, _floats(state)[0], self.last)

    def _crossing(self, panel: _Panel) -> tuple[arb, Field] | None:
        """Return the point of a panel where its piece ends, and the field beyond."""
        switches = self.field.switches
        if switches is None:
            return None
        points = -np.cos(np.linspace(0, math.pi, _SAMPLES_PER_NODE * panel.m))
        moved = grid.integrals_to_float64(panel.m, points) @ _floats(panel.slopes)
        states = _floats(panel.start) + float(panel.half) * moved

        def values(x: arb) -> Sequence[arb]:
            return switches.balls(panel.states([x]).entries())

        try:
            found = first_crossing(points, switches.floats(states), values, self.target)
        except TouchingError:
            raise UndecidedError(
                f"near t = {float(panel.begin):.6g} the right-hand side changes where it is not "
                f"smooth, and float64 does not show how it goes on"
            ) from None
        return None if found is None else (found[0], switches.after(found[1]))

    def _delivered(self, row: list[arb], exponent: int, scale: arb) -> tuple[list[arb], arb]:
        """Return a state as balls, and its relative error, from the exponent of its error."""
        # No state is better than the arithmetic.
        least = _exponent(scale) - self.bits - _GUARD_BITS + _ROUNDING_BITS
        radius = _SAFETY * _power_of_two(max(exponent, least))
        return [arb(x.mid(), radius) for x in row], (radius / scale).upper()

    def _panel(self, begin: Fraction, state: arb_mat, longest: Fraction) -> _Panel:
        """Return a panel of at most the given length."""
        while longest > self.last * _SHORTEST:
            digits = -self.target * math.log10(2)
            state64 = _floats(state)[0]
            plan = forecast(self.field.floats, state64, longest, digits, self.most_nodes)
            try:
                return self._converged(begin, state, plan)
            except _TooLongError:
                longest = plan.length / 2
        raise lost(float(begin))

    def _converged(self, begin: Fraction, state: arb_mat, plan: Forecast) -> _Panel:
        """Return the panel of a plan, with more nodes if they turn out to be needed.

        Raises:
            _TooLongError: if that does not work.
        """
        guess = plan.states(self._grid_size(plan, self.stages[0]))
        scale = _exponent(arb(float(np.abs(guess).max()))) if guess.any() else 0
        panel = None
        for target in self.stages:
            with ball_precision(_GUARD_BITS - target):
                if panel is None:
                    states = arb_mat(guess.tolist())
                else:
                    states = panel.states_at_nodes(self._grid_size(plan, target))
                panel = self._corrected(begin, plan.length, state, states, scale, target)
            if self.field.switches is None:
                # The check is still to come; the work grows about like the square of the digits.
                part = Fraction(target * target, self.target * self.target)
                self._report(begin + plan.length * part * Fraction(4, 5))
        assert panel is not None
        with ball_precision(self.bits):
            while (missing := self._tail(panel) - scale - self.target) > 0:
                m = self._rounded(panel.m + panel.m * missing // -self.target)
                if m > _MOST_EXTENDED * self.most_nodes:
                    raise _TooLongError
                states = panel.states_at_nodes(m)
                panel = self._corrected(begin, plan.length, state, states, scale, self.target)
        return panel

    def _grid_size(self, plan: Forecast, target: int) -> int:
        """Return the number of nodes for an error of ``2^target``."""
        return self._rounded(plan.nodes(-target * math.log10(2)))

    def _rounded(self, needed: int) -> int:
        """Return a number of nodes that is enough; sizes are not too many, to share grids."""
        step = max(4, self.most_nodes // 16)
        return step * math.ceil(needed / step) + 8

    def _corrected(
        self,
        begin: Fraction,
        length: Fraction,
        state: arb_mat,
        states: arb_mat,
        scale: int,
        target: int,
    ) -> _Panel:
        """Return the panel that satisfies the equations at the nodes, from states close to it.

        Raises:
            _TooLongError: if corrections do not shrink as they should.
        """
        half = exact_ball(length / 2)
        begins = _repeated(state, states.nrows())
        level = 0
        while True:
            slopes = self._slopes(states)
            residual = _Scaled.of(begins + grid.integrals_to_nodes(slopes) * half - states)
            floats = _floats(states)
            correction = corrected(self.field.floats, floats, float(half), residual.array)
            largest = float(np.abs(correction).max())
            if not largest < math.inf:
                raise _TooLongError
            states = (states + _Scaled(correction, residual.exponent).balls()).mid()
            reached = residual.exponent + math.ceil(math.log2(largest or 1)) - scale
            gain = min(level - reached, _BEST_GAIN)
            if gain < _WORST_GAIN and reached > target:
                raise _TooLongError
            level = reached
            if level - gain <= target:
                change = along(self.field.floats, floats, correction)
                slopes = (slopes + _Scaled(change, residual.exponent).balls()).mid()
                return _Panel(begin, length, state, slopes)

    def _slopes(self, states: arb_mat) -> arb_mat:
        """Return the derivatives at states, one in each row."""
        slopes = [x for row in states.tolist() for x in self.field.balls(row)]
        return arb_mat(states.nrows(), states.ncols(), slopes).mid()

    def _tail(self, panel: _Panel) -> int:
        """Return the binary exponent of what the last coefficients say of those left out."""
        return _largest_exponent(grid.last_coefficients(panel.slopes, 3) * panel.half / panel.m)

    def _error(self, panel: _Panel, before: _Scaled) -> tuple[_Scaled, int, arb]:
        """Return the error at the panel's end, its exponent on the panel, and the state's size.

        The defect of the panel's solution, seen at other and more nodes, drives the linearised
        equation of the error: ``e' = J e - defect``.
        """
        m = panel.m + max(4, panel.m // 8)
        slopes = grid.at_nodes_of(m, panel.slopes)
        states = panel.states_at_nodes(m)
        defect = _Scaled.of((slopes - self._slopes(states)).mid())
        exponent = max(defect.exponent, before.exponent)
        twin, floats, half = self.field.floats, _floats(states), float(panel.half)
        drive, begin = defect.at(exponent), before.at(exponent)
        integral = half * grid.integrals_to_nodes_float64(m)
        error = corrected(twin, floats, half, begin - integral @ drive)
        if not np.isfinite(error).all():
            raise lost(float(panel.begin))
        whole = half * grid.integrals_to_float64(m, np.ones(1))
        end = begin + whole @ (along(twin, floats, error) - drive)
        most = max(float(np.abs(error).max()), float(np.abs(end).max()))
        largest = exponent + math.ceil(math.log2(most)) if most else -_NOTHING
        shift = math.frexp(float(np.abs(end).max()))[1]
        return _Scaled(np.ldexp(end, -shift), exponent + shift), largest, _largest(states)


def _exponent(size: arb) -> int:
    """Return e with ``size < 2^e``; a very small one for zero."""
    mantissa, exponent = (int(part) for part in size.abs_upper().man_exp())
    return exponent + mantissa.bit_length() if mantissa else -_NOTHING


def _largest(matrix: arb_mat) -> arb:
    """Return the largest absolute value of a matrix's midpoints, 1 if they are all zero."""
    largest = max(abs(x) for x in matrix.mid().entries()).upper()
    return largest if largest > 0 else arb(1)


def _largest_exponent(matrix: arb_mat) -> int:
    """Return the exponent of the largest entry of a matrix of midpoints."""
    return _exponent(max(abs(x) for x in matrix.mid().entries()))


def _floats(matrix: arb_mat) -> Array:
    """Return the midpoints of a matrix as float64."""
    entries = matrix.entries()
    array = np.fromiter(map(float, entries), np.float64, len(entries))
    return array.reshape(matrix.nrows(), matrix.ncols())


def _power_of_two(exponent: int) -> arb:
    """Return ``2^exponent`` exactly."""
    return arb((1, exponent))


def _fraction(number: arb) -> Fraction:
    """Return the midpoint of a ball exactly."""
    mantissa, exponent = (int(part) for part in number.mid().man_exp())
    return Fraction(mantissa << max(exponent, 0), 1 << max(-exponent, 0))


def _repeated(row: arb_mat, count: int) -> arb_mat:
    """Return a matrix whose rows are all the same."""
    return arb_mat(count, row.ncols(), row.entries() * count)
