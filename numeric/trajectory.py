"""Trajectories of the scalar regime at any precision, with proved digits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, gcd

from flint import arb

from numeric.balls import ball_precision, exact_ball
from numeric.evaluate import checked_digits
from numeric.rounding import until_decided
from numeric.schedule import DEFAULT_POINTS, read_points, read_times
from numeric.trajectory_regime import Regime, State, TooCoarseError, TooLateError
from numeric.trajectory_relu import ReluPath
from numeric.trajectory_series import Field, SeriesPath
from symbolic.errors import InputError, UndecidedError
from symbolic.flow import Model
from symbolic.numbers import exact_text
from symbolic.parameter import STOP, shortened

# What is lost on the way is little for common parameters; else it is found and made up for.
_GUARD_BITS = 20
_DIGIT_BITS = 3.3219281
# Precision is raised up to this many bits and eight times the digits.
_CAP_BITS = 20_000
# How often progress is told.
_STEPS = 25
# The number of expansions grows with the largest exponent.
_MOST_RATE = 10_000


@dataclass(frozen=True)
class Schedule:
    """The times of a trajectory.

    Attributes:
        times: exact times, ascending; None for a trajectory to an overlap.
        stop: the overlap at the last of evenly spaced times; None for exact times.
        points: number of times.
        parameters: exact texts of what was given.
    """

    times: tuple[Fraction, ...] | None
    stop: Fraction | None
    points: int
    parameters: dict[str, str | Sequence[str]]

    @classmethod
    def read(
        cls, stop: object = None, until: object = None, times: object = None, points: object = None
    ) -> Schedule:
        """Return the schedule of parameters as they are given.

        Raises:
            InputError: unless exactly one of ``stop``, ``until`` and ``times`` is given, with
                ``points`` only beside the first two, and all in their domains.
        """
        ways = {"stop": stop, "until": until, "times": times, "points": points}
        given = [name for name, value in ways.items() if value is not None]
        if len({*given} - {"points"}) != 1 or given == ["times", "points"]:
            raise InputError(
                f"times: {' and '.join(given) or 'nothing'} given; give stop or until, with points "
                f"if not {DEFAULT_POINTS}, or times alone"
            )
        if stop is None:
            listed, parameters = read_times(times, until, points)
            return cls(listed, None, len(listed), parameters)
        last, count = STOP.read(stop), read_points(points)
        return cls(None, last, count, {"stop": exact_text(last), "points": str(count)})


@dataclass(frozen=True)
class Enclosed:
    """A trajectory in balls.

    Attributes:
        times: the times, ascending.
        states: the state at each time.
    """

    times: tuple[arb, ...]
    states: tuple[State, ...]


class Trajectory:
    """The trajectory of a regime at scheduled times, enclosed as closely as asked."""

    def __init__(
        self, regime: Regime, schedule: Schedule, progress: Callable[[float], None] | None = None
    ) -> None:
        """Take a regime and a schedule, and what is told the part of the states that is known.

        Raises:
            InputError: for an overlap to stop at that the flow does not reach, and for strengths
                that take too many expansions.
        """
        rate = max(map(abs, regime.strengths)) * (regime.beta or 0)
        if rate > _MOST_RATE and regime.model is not Model.RELU:
            raise InputError(
                f"lam: beta |lam| up to {shortened(rate)} is too large for a trajectory; "
                f"accepted: at most {_MOST_RATE}"
            )
        self.regime = regime
        self.schedule = schedule
        self._progress = progress
        self.direction = direction(regime)
        self._known: dict[int, Enclosed] = {}
        stop = schedule.stop
        if stop is not None:
            lower, upper = Fraction(-1, regime.n - 1), Fraction(1)
            low, high = (regime.start, upper) if self.direction > 0 else (lower, regime.start)
            if self.direction == 0 or not low < stop < high:
                raise InputError(_not_reached(self.direction, regime.start, stop, low, high))

    @cached_property
    def exact_overlaps(self) -> dict[int, Fraction]:
        """Return the overlaps that are known exactly, by the index of their time."""
        times, stop, start = self.schedule.times, self.schedule.stop, self.regime.start
        if self.direction == 0:
            return dict.fromkeys(range(self.schedule.points), start)
        if times is not None:
            return {0: start} if times[0] == 0 else {}
        assert stop is not None
        last = self.schedule.points - 1
        exact = {0: start, last: stop}
        if self.regime.model is not Model.RELU and self.regime.beta == 0 and start * stop < 0:
            crossing = _crossing(self.regime.odds(start), self.regime.odds(stop), last)
            exact |= {} if crossing is None else {crossing: Fraction(0)}
        return exact

    def enclosed(self, bits: int) -> Enclosed:
        """Return times and states with so many bits right, each relative to its own size.

        Raises:
            UndecidedError: if that is not reached below the cap of precision.
        """
        if bits not in self._known:
            self._known[bits] = self._enclosed(bits)
        return self._known[bits]

    def _enclosed(self, bits: int) -> Enclosed:
        work, cap = bits + _GUARD_BITS, _CAP_BITS + 8 * bits
        while work <= cap:
            try:
                with ball_precision(work):
                    found = self._at_precision()
            except TooCoarseError:
                work *= 2
                continue
            except TooLateError:
                raise InputError(_too_late(self.schedule)) from None
            accuracies = [state.accuracy for state in found.states]
            accuracies += [t.rel_accuracy_bits() for t in found.times if not t.is_zero()]
            missing = bits - min(accuracies, default=bits)
            if missing <= 0:
                return found
            work += min(missing + _GUARD_BITS, work)
        raise UndecidedError(f"the trajectory is not enclosed at {cap} bits of precision")

    def _at_precision(self) -> Enclosed:
        """Return times and states as good as the precision in force makes them."""
        regime, schedule = self.regime, self.schedule
        exact = {k: State.at(regime, overlap) for k, overlap in self.exact_overlaps.items()}
        path = None
        if self.direction != 0:
            relu = regime.model is Model.RELU
            path = ReluPath(regime) if relu else SeriesPath(regime, self.direction)
        if schedule.times is not None:
            times = [exact_ball(time) for time in schedule.times]
        else:
            assert path is not None
            assert schedule.stop is not None
            last, steps = path.time_to(schedule.stop), schedule.points - 1
            times = [last * k / steps for k in range(schedule.points)]
        open_places = [k for k in range(len(times)) if k not in exact]
        moved = self._moved(path, [times[k] for k in open_places]) if path is not None else []
        states = {**exact, **dict(zip(open_places, moved, strict=True))}
        return Enclosed(tuple(times), tuple(states[k] for k in range(len(times))))

    def _moved(self, path: ReluPath | SeriesPath, times: list[arb]) -> list[State]:
        """Return the states at times, in steps where someone wants to know how far this is."""
        if self._progress is None:
            return path.states(times)
        step = max(1, len(times) // _STEPS)
        found: list[State] = []
        for first in range(0, len(times), step):
            found += path.states(times[first : first + step])
            self._progress(len(found) / len(times))
        return found


def _crossing(first: Fraction, last: Fraction, steps: int) -> int | None:
    """Return the step at which a geometric sequence is exactly 1, None if there is none.

    Args:
        first: what it is at step 0.
        last: what it is at the last step, on the other side of 1.
        steps: number of the last step.
    """

    def logarithm(value: Fraction) -> arb:
        return exact_ball(value).log()

    with ball_precision(128 + 2 * steps.bit_length()):
        place = steps * logarithm(first) / (logarithm(first) - logarithm(last))
        step = int((place.mid() + arb(0.5)).floor().unique_fmpz() or 0)
        if not place.contains(step):
            return None
    shared = gcd(step, steps)
    power = first ** ((steps - step) // shared) * last ** (step // shared)
    return step if power == 1 else None


def direction(regime: Regime) -> int:
    """Return the sign of gamma' at the start: 1, 0 or -1.

    Whether the speed vanishes is decided: where the exponents differ, the exponentials are powers
    of a transcendental number (Lindemann), and the speed is a rational function of that which is
    not zero. For softmax its limit at infinity is a sum over negative strengths, if there are any,
    else all terms are positive.
    """
    counts = regime.counts
    if regime.model is Model.RELU:
        sign = (regime.start > 0) - (regime.start < 0)
        return sign if any(strength * sign > 0 for strength in counts) else 0
    level = regime.start if regime.model is Model.UNNORMALISED else Fraction(1)
    if not counts or regime.beta == 0 or level == 0:
        total = sum(regime.strengths)
        return (total > 0) - (total < 0)

    def speed() -> arb:
        return Field.of(regime, 1).speed(exact_ball(1 - regime.start))

    return until_decided(speed, _sign, 1)


def _sign(ball: arb) -> int | None:
    return 1 if ball > 0 else -1 if ball < 0 else None


def _not_reached(sign: int, start: Fraction, stop: Fraction, low: Fraction, high: Fraction) -> str:
    """Return the message for an overlap that the flow does not reach."""
    refused = f"stop: {shortened(stop)} is not reached from {shortened(start)}, where gamma"
    if sign == 0:
        return f"{refused} does not move; give until or times"
    motion = "rises" if sign > 0 else "falls"
    return f"{refused} {motion}; accepted: {shortened(low)} < stop < {shortened(high)}"


def _too_late(schedule: Schedule) -> str:
    """Return the message for times at which gamma is too close to an end of its domain."""
    name = "until" if "until" in schedule.parameters else "times"
    last = "" if schedule.times is None else shortened(schedule.times[-1])
    return (
        f"{name}: {last} is too late: gamma is within 10^(-10^8) of an end of its domain by then; "
        "give earlier times"
    )


def trajectory(
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
    digits: int = 50,
) -> Enclosed:
    """Return overlap and gap alone along a trajectory, as balls with proved relative accuracy.

    Args:
        model: ``softmax``, ``unnormalised`` or ``relu``.
        lam: strengths, exact, one for each head.
        beta: inverse temperature, exact, >= 0; may be left out under relu.
        n: number of tokens, an integer >= 2.
        start: overlap at time 0, exact, in (-1/(n-1), 1).
        stop: overlap at the last of evenly spaced times from 0; or else:
        until: the last of evenly spaced times; or else:
        times: exact times, ascending.
        points: number of evenly spaced times, 50 by default.
        digits: significant digits that the balls are good for.

    Raises:
        InputError: for values that are not exact or outside their domains, and for a ``stop`` that
            the flow does not reach.
        UndecidedError: if the digits are not reached below the cap of precision.
    """
    wanted = ceil(_DIGIT_BITS * checked_digits(digits)) + 2
    regime = Regime.read(model, lam, beta, n, start)
    return Trajectory(regime, Schedule.read(stop, until, times, points)).enclosed(wanted)
