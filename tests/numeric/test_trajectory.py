"""Trajectories in balls: against quadrature in other variables, closed forms, and themselves."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import flint
import pytest
from flint import acb, arb
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from numeric.balls import Balls, ball_precision, exact_ball
from numeric.trajectory import Enclosed, Schedule, Trajectory, direction, trajectory
from numeric.trajectory_regime import Regime, State
from numeric.trajectory_series import Field, SeriesPath
from numeric.walk import converted, walk
from symbolic import logit
from symbolic.errors import InputError, UndecidedError
from symbolic.flow import Model
from symbolic.notation import beta as beta_symbol
from symbolic.notation import n as n_symbol
from symbolic.notation import strengths as strengths_symbol
from symbolic.numbers import read_number
from tests.numeric.equiangular_reference import (
    MODELS,
    context,
    mpf,
    rate,
    rate_of_tokens,
    time_between,
)

LEAD: dict[str, Any] = {"lam": "0.5,1,3/2,2", "beta": 2, "n": 64}
"""The benchmark case."""


def mp_of(mp: Any, ball: arb) -> Any:
    return mp.mpf(ball.mid().str(mp.dps + 10, radius=False))


def encloses(ball: arb, value: Any) -> bool:
    """Tell whether a ball has a number of mpmath, which is much more accurate, in it."""
    with ball_precision(3000):
        return bool(ball.contains(arb(value.context.nstr(value, value.context.dps + 10))))


def fractions(*texts: str) -> list[Fraction]:
    return [Fraction(text) for text in texts]


def test_reference_rate_is_that_of_the_models() -> None:
    mp = context(40)
    lam = fractions("3/2", "-1", "0", "-1/3", "2")
    for model in MODELS:
        for gamma in fractions("-1/5", "0", "1/3", "9/10"):
            told = rate(mp, model, lam, Fraction(5, 4), 4, mpf(mp, 1 - gamma))
            word_for_word = rate_of_tokens(mp, model, lam, Fraction(5, 4), 4, gamma)
            assert mp.almosteq(told, word_for_word, mp.mpf(10) ** -35)


def check_by_quadrature(
    model: str, lam: list[Fraction], beta: Fraction, n: int, run: Enclosed, digits: int
) -> None:
    """Check the time between neighbouring states, in another variable and at more digits."""
    mp = context(digits + 15)
    for (before, after), (first, last) in zip(
        pairwise(run.times), pairwise(run.states), strict=True
    ):
        told = time_between(mp, model, lam, beta, n, (mp_of(mp, first.gap), mp_of(mp, last.gap)))
        waited = mp_of(mp, after) - mp_of(mp, before)
        assert abs(told - waited) < 10 * mp.mpf(10) ** -digits * mp_of(mp, after)


CASES: list[tuple[str, str, str, int, str, str]] = [
    ("softmax", "0.5,1,3/2,2", "2", 64, "0", "1-1e-6"),
    ("softmax", "4,-1", "2", 64, "1/2", "1-1e-30"),
    ("softmax", "4,-1", "2", 64, "0", "-1/63+1e-9"),
    ("softmax", "3,0,3,1/3", "0", 2, "-9/10", "9/10"),
    ("unnormalised", "1/2,1,-3/4", "3/2", 5, "-1/5", "99/100"),
    ("unnormalised", "1,-1", "3", 2, "-1e-12", "-1+1e-12"),
    ("unnormalised", "2", "10", 1000, "0", "1/2"),
    ("relu", "1,2,-1", "1", 7, "1/100", "1-1e-9"),
    ("relu", "1,-2", "1", 7, "-1/1000", "-1/6+1e-9"),
]


@pytest.mark.parametrize("case", CASES)
def test_times_between_states_by_quadrature_in_another_variable(
    case: tuple[str, str, str, int, str, str],
) -> None:
    model, lam, beta, n, start, stop = case
    run = trajectory(
        model=model, lam=lam, beta=beta, n=n, start=start, stop=stop, points=5, digits=40
    )
    strengths = [Fraction(x) for x in lam.split(",")]
    check_by_quadrature(model, strengths, Fraction(beta), n, run, 40)


def test_long_times_and_tiny_gaps() -> None:
    # Between these gaps the quadrature needs one piece of a nearly constant integrand.
    run = trajectory(**LEAD, times="100,1e3,1e3+1", digits=60)
    mp = context(700)
    gaps = [mp_of(mp, state.gap) for state in run.states]
    assert gaps[1] < mp.mpf(10) ** -4000
    check_by_quadrature(
        "softmax",
        fractions("1/2", "1", "3/2", "2"),
        Fraction(2),
        64,
        Enclosed(run.times[1:], run.states[1:]),
        60,
    )
    # The late rate is 2 Lambda = 10.
    assert encloses(run.states[2].gap, gaps[1] * mp.exp(-10)) or mp.almosteq(
        gaps[2] / gaps[1], mp.exp(-10), mp.mpf(10) ** -60
    )


@pytest.mark.parametrize("model", ["softmax", "unnormalised"])
@pytest.mark.parametrize("lam", ["1,2", "1,-3", "-1/2,-1/2"])
def test_without_temperature_the_logit_is_linear(model: str, lam: str) -> None:
    start = Fraction(1, 7)
    run = trajectory(model=model, lam=lam, beta=0, n=9, start=start, times="0,1/3,2,30", digits=50)
    mp = context(120)
    total = sum(map(Fraction, lam.split(",")), Fraction(0))
    for time, state in zip(map(Fraction, ("0", "1/3", "2", "30")), run.states, strict=True):
        odds = mpf(mp, (1 + 8 * start) / (1 - start)) * mp.exp(2 * mpf(mp, total * time))
        assert encloses(state.gap, 9 / (odds + 8))
        assert encloses(state.gamma, (odds - 1) / (odds + 8))
        assert encloses(state.rise, mpf(mp, Fraction(9, 8)) * odds / (odds + 8))


@pytest.mark.parametrize(("strength", "start"), [("1", "1e-40"), ("-2", "-1/100"), ("3", "9/10")])
def test_one_relu_head_in_closed_form(strength: str, start: str) -> None:
    n, first, lam = 6, Fraction(start), Fraction(strength)
    run = trajectory(model="relu", lam=strength, n=n, start=start, until=3, points=4, digits=50)
    mp = context(100)

    def primitive(gamma: Any) -> Any:
        # Partial fractions of n/(2 lam^2 gamma (1-gamma) (1+(n-1) gamma)).
        logs = (n - 1) * mp.log(1 + (n - 1) * gamma) + mp.log(1 - gamma)
        return (n * mp.log(abs(gamma)) - logs) / (2 * mpf(mp, lam) ** 2)

    for time, state in zip(run.times[1:], run.states[1:], strict=True):
        gamma = mp_of(mp, state.gamma) if abs(state.gamma) < 0.5 else 1 - mp_of(mp, state.gap)
        told = primitive(gamma) - primitive(mpf(mp, first))
        # As accurate as the state that is put in, which loses digits near the end of its domain.
        lost = mp.mpf(10) ** -50 / min(abs(gamma), 1 - gamma, 1 + (n - 1) * gamma)
        assert abs(told - mp_of(mp, time)) < 10 * n * lost


@pytest.mark.parametrize("model", ["softmax", "unnormalised"])
def test_one_head_in_closed_form_by_exponential_integrals(model: str) -> None:
    n, a = 10, Fraction(3, 2)
    run = trajectory(model=model, lam="3/4", beta=2, n=n, stop="1-1e-20", points=2, digits=50)
    mp = context(90)
    rate_, end = mpf(mp, a), mp.mpf(n) / (n - 1)

    def primitive(gap: Any) -> Any:
        far = mp.exp(rate_ * end) * mp.ei(rate_ * (gap - end))
        if model == "softmax":
            logs = (n - 1) * (mp.log(gap) - mp.log(n - (n - 1) * gap))
            return (mp.ei(rate_ * gap) - far + logs) / (2 * mp.mpf(3) / 4 * n)
        return mp.exp(-rate_) * (mp.ei(rate_ * gap) - far) / (2 * mp.mpf(3) / 4)

    told = primitive(mp.one) - primitive(mp.mpf(10) ** -20)
    assert encloses(run.times[-1], told)


finite = st.fractions(-3, 3, max_denominator=4)
strengths_lists = st.lists(finite, min_size=1, max_size=4)


@st.composite
def regimes(draw: st.DrawFn) -> Regime:
    """Draw regimes with strengths of both signs, close to the ends and to zero, too."""
    n = draw(st.sampled_from([2, 3, 5, 64, 10**6, 10**100]))
    lowest = Fraction(-1, n - 1)
    part = draw(
        st.one_of(
            st.sampled_from(["0", "1e-60", "1/2", "1-1e-60"]).map(_number),
            st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=100),
        )
    )
    start = draw(st.sampled_from([part, lowest * part, lowest * (1 - part)]))
    assume(lowest < start < 1)
    beta = draw(st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(3), Fraction(40)]))
    return Regime(draw(st.sampled_from(list(Model))), tuple(draw(strengths_lists)), beta, n, start)


def _number(text: str) -> Fraction:
    return Fraction(1) - Fraction(text[2:]) if text.startswith("1-") else Fraction(text)


@settings(max_examples=40)
@given(regimes(), st.lists(st.fractions(0, 4, max_denominator=50), min_size=2, max_size=2))
def test_states_are_monotone_and_as_accurate_as_asked(
    regime: Regime, spans: list[Fraction]
) -> None:
    times = sorted({Fraction(0), *spans, sum(spans, Fraction(0))})
    schedule = Schedule.read(times=times)
    assume(regime.beta is not None and regime.beta < 10)
    path = Trajectory(regime, schedule)
    coarse, fine = path.enclosed(100), path.enclosed(220)
    assert all(state.accuracy >= 100 for state in coarse.states)
    for rough, sharp in zip(coarse.states, fine.states, strict=True):
        assert rough.gamma.overlaps(sharp.gamma)
        assert rough.gap.overlaps(sharp.gap)
        assert rough.rise.overlaps(sharp.rise)
        assert sharp.gap > 0
        assert sharp.rise > 0
    for before, after in pairwise(fine.states):
        if path.direction == 0:
            assert after.gap.overlaps(before.gap)
        elif path.direction > 0:
            assert after.gap < before.gap
        else:
            assert after.rise < before.rise


@settings(max_examples=25)
@given(regimes(), st.fractions(0, 1, max_denominator=1000), st.fractions(0, 1, max_denominator=9))
@example(
    Regime(Model.SOFTMAX, (Fraction(1), Fraction(-1)), Fraction(3), 3, Fraction(9, 10)),
    Fraction(1, 2),
    Fraction(1, 2),
)
def test_times_add_up_and_lead_back(regime: Regime, first: Fraction, second: Fraction) -> None:
    sign = direction(regime)
    assume(regime.beta is not None and regime.beta < 10)
    assume(sign != 0 and 0 < first < 1 and 0 < second < 1)
    end = Fraction(1) if sign > 0 else Fraction(-1, regime.n - 1)
    between = regime.start + (end - regime.start) * first
    last = between + (end - between) * second

    def passage(start: Fraction, stop: Fraction) -> arb:
        there = replace(regime, start=start)
        return Trajectory(there, Schedule.read(stop=stop, points=2)).enclosed(250).times[-1]

    parts = passage(regime.start, between), passage(between, last)
    whole = passage(regime.start, last)
    assert parts[0] > 0
    with ball_precision(350):
        assert whole.overlaps(parts[0] + parts[1])
    # Back from the time to the overlap.
    mantissa, exponent = (int(part) for part in parts[0].mid().man_exp())
    middle = mantissa * Fraction(2) ** exponent
    state = Trajectory(regime, Schedule.read(times=[middle])).enclosed(100).states[0]
    with ball_precision(200):
        goal = State.at(regime, between)
        assert abs(state.gap / goal.gap - 1) + abs(state.rise / goal.rise - 1) < arb(10) ** -20


@pytest.mark.parametrize("model", ["softmax", "unnormalised"])
def test_fields_are_those_of_the_symbolic_layer(model: str) -> None:
    regime = Regime(
        Model(model), tuple(fractions("2", "-1/3", "2", "1")), Fraction(3, 2), 7, Fraction(0)
    )
    for overlap in fractions("-1/7", "0", "1/3", "99/100"):
        with ball_precision(200):
            u = exact_ball((1 + 6 * overlap) / (1 - overlap)).log()
            arithmetic = Balls()
            bindings = converted(
                {
                    beta_symbol: regime.beta,
                    n_symbol: Fraction(7),
                    strengths_symbol: regime.strengths,
                },
                arithmetic,
            )
            told = walk(logit.TOTAL_FIELDS[regime.model], {**bindings, logit.u: u}, arithmetic)
            rising = Field.of(regime, 1).speed(exact_ball(1 - overlap))
            falling = Field.of(regime, -1).speed(exact_ball(overlap + Fraction(1, 6)))
            assert told.overlaps(rising)
            assert told.overlaps(-falling)
            assert rising.rel_accuracy_bits() > 150


# Two terms of the same size in nearly opposite directions.
@example(
    Regime(Model.UNNORMALISED, tuple(fractions("1/100", "1")), Fraction(10), 2, Fraction(0)),
    0.9,
    0.7325,
)
@settings(max_examples=40)
@given(regime=regimes(), part=st.floats(0.01, 0.99), at=st.floats(0.01, 0.99))
def test_bounds_on_discs(regime: Regime, part: float, at: float) -> None:
    """The speed and its quotient are no smaller on the edge of a disc than is claimed."""
    assume(regime.model is not Model.RELU and regime.beta != 0 and regime.counts)
    with ball_precision(400):
        for sign in (1, -1):
            field = Field.of(regime, sign)
            centre = field.end * at
            radius = (min(field.narrow_strip, 2 * field.end) * part).mid()
            least = field.least_speed(centre, radius)
            steepest = field.least_steepness(centre, radius)
            for k in range(12):
                step: Any = radius * (arb.pi() * arb(2 * k + 1) / 12 * acb(0, 1)).exp()
                speed = field.speed(centre + step)
                assert not abs(speed) < least
                quotient = (speed - field.speed(centre)) / step
                assert not abs(quotient) < steepest


def test_digits_are_those_of_more_digits() -> None:
    few, many = (trajectory(**LEAD, stop="1-1e-6", digits=d) for d in (30, 60))
    for rough, sharp in zip(few.states, many.states, strict=True):
        for name in ("gamma", "gap"):
            ball = getattr(rough, name)
            assert ball.overlaps(getattr(sharp, name))
            assert ball.is_zero() or ball.rel_accuracy_bits() >= 30 / 0.30103


def test_extreme_parameters() -> None:
    large = trajectory(lam="1", beta=500, n="10^100", stop="1-1e-300", points=3, digits=20)
    assert large.times[-1] > 0
    close = trajectory(
        model="unnormalised", lam="1,-1", beta=2, n=5, start="1e-100", stop="9/10", digits=20
    )
    # Away from the equilibrium at 0 the rate of gamma is (2/n) beta sum lam^2 gamma = 8/5 gamma at
    # first, and more later.
    waited = close.times[-1] * 8 / 5
    assert 225 < waited < 230.3
    late = trajectory(lam="1", beta=1, n=64, times="1e8", digits=10).states[0]
    assert abs(late.gap.log() / -2 - arb(10) ** 8) < 1e4


def test_what_stands_still() -> None:
    for given_ in (
        {"model": "relu", "lam": "1,2", "beta": 1, "start": 0},
        {"model": "relu", "lam": "1,2", "start": "-1/10"},
        {"model": "relu", "lam": "-1,-2", "start": "1/2"},
        {"lam": "0,0", "beta": 2, "start": "1/3"},
        {"lam": "1,-1", "beta": 0, "start": "1/3"},
        {"model": "unnormalised", "lam": "1,2,-3", "beta": 2, "start": 0},
        {"model": "unnormalised", "lam": "1,-1", "beta": 0, "start": "1/2"},
    ):
        regime = Regime.read(
            given_.get("model", "softmax"), given_["lam"], given_.get("beta"), 5, given_["start"]
        )
        assert direction(regime) == 0
        run = Trajectory(regime, Schedule.read(times="0,1,1000")).enclosed(100)
        with ball_precision(100):
            assert all(state == State.at(regime, regime.start) for state in run.states[1:]) or all(
                state.gamma.overlaps(exact_ball(regime.start)) for state in run.states
            )
        with pytest.raises(InputError, match=r"not reached.*does not move"):
            Trajectory(regime, Schedule.read(stop="9/10"))


@pytest.mark.parametrize(
    ("model", "lam", "beta", "start", "sign"),
    [
        # gamma = 0 is an equilibrium of these heads, a repelling one.
        ("unnormalised", "1,-1", "2", "1e-300", 1),
        ("unnormalised", "1,-1", "2", "-1e-300", -1),
        # Softmax: strengths that add up to zero are no equilibrium.
        ("softmax", "1,-1", "2", "0", -1),
        ("softmax", "4,-1", "2", "0", -1),
        ("softmax", "4,-1", "2", "9/10", 1),
        ("relu", "1,-1", "2", "1/9", 1),
        ("relu", "1,-1", "2", "-1/9", -1),
    ],
)
def test_directions(model: str, lam: str, beta: str, start: str, sign: int) -> None:
    assert direction(Regime.read(model, lam, beta, 5, start)) == sign


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"start": 1, "stop": "1/2"}, "start: 1 "),
        ({"n": 3, "start": "-1/2", "stop": "1/2"}, "start: -1/2 is outside"),
        ({"n": 1, "stop": "1/2"}, "n: 1 "),
        ({"n": "5/2", "stop": "1/2"}, "n: 5/2 "),
        ({"beta": -1, "stop": "1/2"}, "beta: -1 "),
        ({"beta": None, "stop": "1/2"}, "beta: none given"),
        ({"beta": 0.5, "stop": "1/2"}, "binary float"),
        ({"lam": "", "stop": "1/2"}, "lam"),
        ({"model": "linear", "stop": "1/2"}, "model: 'linear'"),
        ({"stop": "-1/100"}, "stop: -1/100 is not reached from 0, where gamma rises; accepted: 0"),
        ({"stop": 0}, "stop: 0 is not reached"),
        ({"stop": 1}, "stop: 1 is not reached"),
        ({"lam": "-1", "stop": "1/2"}, "falls; accepted: -1/63 < stop < 0"),
        ({}, "times: nothing given"),
        ({"stop": "1/2", "until": 3}, "times: stop and until given"),
        ({"times": "1,2", "points": 3}, "times: times and points given"),
        ({"points": 3}, "times: points given"),
        ({"times": "2,1"}, "times: 2,1 are not ascending"),
        ({"times": "1,1"}, "not ascending"),
        ({"times": "-1,1"}, "times: -1 "),
        ({"until": 0}, "until: 0 "),
        ({"until": 1, "points": 1}, "points: 1 "),
        ({"until": 1, "points": 100_001}, "points: 100001 "),
        ({"stop": "1/2", "digits": 0}, "digits: 0 "),
        ({"beta": 10**5, "stop": "1/2"}, "lam: beta .lam. up to 200000 is too large"),
        ({"times": "1e12"}, "times: 1000000000000 is too late"),
        ({"model": "relu", "start": "1/2", "until": "1e12"}, "until: 1000000000000 is too late"),
    ],
)
def test_refusals(given_: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as refused:
        trajectory(**{**LEAD, **given_})
    assert "\n" not in str(refused.value)


def test_what_takes_too_many_digits_says_so() -> None:
    regime = Regime.read("unnormalised", "1,-1", 1, 5, "1e-20000")
    with pytest.raises(UndecidedError, match="bits of precision"):
        Trajectory(regime, Schedule.read(times="1")).enclosed(100)


def test_works_beside_other_users_of_the_balls() -> None:
    before = flint.ctx.prec, flint.ctx.cap
    with pytest.raises(InputError):
        trajectory(**LEAD, stop=2)
    trajectory(**LEAD, stop="1/2", points=2)
    assert (flint.ctx.prec, flint.ctx.cap) == before


@pytest.mark.parametrize(
    ("model", "lam", "start", "stop"),
    [
        ("softmax", "1/2,1,3/2,2", "0", "1-1e-6"),
        ("softmax", "1,-3", "1/2", "-1/63+1e-6"),
        ("unnormalised", "1/2,-1", "9/10", "1-1e-6"),
        # From close to an equilibrium.
        ("unnormalised", "1,-1", "1/1000", "1-1e-6"),
    ],
)
def test_short_series_are_not_trusted_beyond_their_bound(
    model: str, lam: str, start: str, stop: str
) -> None:
    regime = Regime.read(model, lam, 2, 64, start)
    last = read_number(stop)
    sign = direction(regime)
    with ball_precision(200):
        full, short = SeriesPath(regime, sign), SeriesPath(regime, sign)
        short._length, short._reach = 20, arb(0.3)
        told, exact = short.time_to(last), full.time_to(last)
        times = [exact * k / 7 for k in range(1, 7)]
        assert told.rad() > 1e-16 * exact
        assert told.contains(exact)
        for rough, state in zip(short.states(times), full.states(times), strict=True):
            assert rough.gap.rad() > 1e-16 * state.gap or rough.rise.rad() > 1e-16 * state.rise
            assert rough.gap.contains(state.gap)
            assert rough.rise.contains(state.rise)


def test_a_path_answers_again() -> None:
    # Nearly all of the time goes by at the start.
    regime = Regime.read("softmax", "1,1/2", 300, 64, 0)
    with ball_precision(150):
        path = SeriesPath(regime, 1)
        long = path.time_to(Fraction(4, 5))
        short = path.time_to(Fraction(1, 10**6))
        assert path.time_to(Fraction(4, 5)).overlaps(long)
        assert path.time_to(Fraction(1, 10**6)).overlaps(short)
        assert SeriesPath(regime, 1).time_to(Fraction(1, 10**6)).overlaps(short)
        assert short < long * 0.9
        # What is left out is in the ball.
        assert SeriesPath(regime, 1).time_to(Fraction(999, 1000)).overlaps(long)
        assert long.rel_accuracy_bits() > 120
