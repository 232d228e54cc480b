"""The solver of initial value problems: against known solutions, its own estimate included."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import flint
import mpmath
import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from numeric.balls import ball_precision, exact_ball
from numeric.collocation import Field, Switches, Trajectory, solve
from numeric.collocation_grid import at_nodes_of, integrals_to, integrals_to_nodes_of, nodes
from symbolic.errors import UndecidedError

State = Sequence[arb]


@dataclass(frozen=True)
class Known:
    """A system with a known solution, as balls at the precision in force."""

    field: Field
    start: Callable[[], list[arb]]
    solution: Callable[[arb], list[arb]]
    times: tuple[Fraction, ...]


def columns(*functions: Callable[..., Any]) -> Callable[[Any], Any]:
    """Return a right-hand side on arrays (m, N) from functions of the N columns."""
    return lambda x: np.stack([f(*x.T) + 0 * x[:, 0] for f in functions], axis=1)


def logistic(t: arb) -> list[arb]:
    return [1 / (1 + 999 * (-t).exp())]


def kepler(t: arb) -> list[arb]:
    """Return position and velocity on an ellipse of eccentricity 1/2, by Newton's method."""
    e = arb(1) / 2
    anomaly = t.mid()
    for _ in range(60):
        anomaly = (anomaly - (anomaly - e * anomaly.sin() - t) / (1 - e * anomaly.cos())).mid()
    sine, cosine = anomaly.sin(), anomaly.cos()
    b, rate = (1 - e * e).sqrt(), 1 / (1 - e * cosine)
    return [cosine - e, b * sine, -sine * rate, b * cosine * rate]


def kepler_field() -> Field:
    def balls(s: State) -> list[arb]:
        cube = (s[0] ** 2 + s[1] ** 2).sqrt() ** 3
        return [s[2], s[3], -s[0] / cube, -s[1] / cube]

    return Field(
        balls,
        columns(
            lambda x, y, u, v: u,
            lambda x, y, u, v: v,
            lambda x, y, u, v: -x / (x * x + y * y) ** 1.5,
            lambda x, y, u, v: -y / (x * x + y * y) ** 1.5,
        ),
    )


F = Fraction
SYSTEMS = {
    "algebraic decay": Known(
        Field(lambda x: [-(x[0] ** 2)], lambda x: -(x**2)),
        lambda: [arb(1)],
        lambda t: [1 / (1 + t)],
        (F(0), F(1, 100), F(1), F(30)),
    ),
    "towards a pole": Known(
        Field(lambda x: [x[0] ** 2], lambda x: x**2),
        lambda: [arb(1)],
        lambda t: [1 / (1 - t)],
        (F(1, 2), F(99, 100)),
    ),
    "growth": Known(
        Field(lambda x: [x[0]], lambda x: x),
        lambda: [arb(1) / 3],
        lambda t: [t.exp() / 3],
        (F(1, 3), F(20)),
    ),
    "decay to rest": Known(
        Field(lambda x: [x[0] * (1 - x[0])], lambda x: x * (1 - x)),
        lambda: [arb(1) / 1000],
        logistic,
        (F(1), F(7), F(50)),
    ),
    "oscillation": Known(
        Field(lambda x: [x[1], -x[0]], columns(lambda x, y: y, lambda x, y: -x)),
        lambda: [arb(0), arb(1)],
        lambda t: [t.sin(), t.cos()],
        (F(1), F(20)),
    ),
    "instability": Known(
        # x' = 3 (x - sin t) + cos t: errors grow by e^18.
        Field(
            lambda s: [3 * (s[0] - s[1].sin()) + s[1].cos(), arb(1)],
            columns(lambda x, t: 3 * (x - np.sin(t)) + np.cos(t), lambda x, t: 1),
        ),
        lambda: [arb(0), arb(0)],
        lambda t: [t.sin(), t],
        (F(1), F(6)),
    ),
    "orbit": Known(
        kepler_field(),
        lambda: [arb(1) / 2, arb(0), arb(0), arb(3).sqrt()],
        kepler,
        (F(1), F(7)),
    ),
    "rest": Known(
        Field(lambda x: [0 * x[0], arb(0)], lambda x: 0 * x),
        lambda: [arb(1) / 3, arb(0)],
        lambda t: [arb(1) / 3, arb(0)],
        (F(0), F(1000)),
    ),
    "from zero": Known(
        Field(lambda x: [arb(1)], lambda x: 0 * x + 1),
        lambda: [arb(0)],
        lambda t: [t],
        (F(0), F(2), F(3)),
    ),
}


def errors(known: Known, trajectory: Trajectory, digits: int) -> list[tuple[arb, arb]]:
    """Return the true and the estimated error at each time, absolute."""
    pairs = []
    with ball_precision(8 * digits + 200):
        for time, state in zip(known.times, trajectory.states, strict=True):
            truth = known.solution(exact_ball(time))
            off = max(abs(x.mid() - y).upper() for x, y in zip(state, truth, strict=True))
            pairs.append((off, max(x.rad() for x in state)))
    return pairs


@pytest.mark.parametrize("digits", [8, 50])
@pytest.mark.parametrize("name", SYSTEMS)
def test_true_errors_stay_below_the_estimates_and_these_below_what_was_asked(
    name: str, digits: int
) -> None:
    known = SYSTEMS[name]
    trajectory = solve(known.field, known.start, known.times, digits)
    accepted = arb(10) ** -digits
    assert all(estimate <= accepted for estimate in trajectory.errors)
    for state, relative, (true, estimate) in zip(
        trajectory.states, trajectory.errors, errors(known, trajectory, digits), strict=True
    ):
        assert true <= estimate
        assert max(abs(x).upper() for x in state) * relative <= estimate * 2
        # Estimates tell how large errors are; nothing is known of those of exact states.
        if estimate > accepted * arb(10) ** -12:
            assert estimate <= true * 10**6


def test_two_hundred_digits() -> None:
    known = replace(SYSTEMS["algebraic decay"], times=(F(1),))
    trajectory = solve(known.field, known.start, known.times, 200)
    for true, estimate in errors(known, trajectory, 200):
        assert true <= estimate <= arb(10) ** -200


def test_a_state_as_balls_holds_the_truth_to_the_digits_asked_for() -> None:
    field = Field(lambda x: [-(x[0] ** 2)], lambda x: -(x**2))
    trajectory = solve(field, lambda: [arb(1)], [F(1), F(2)], digits=50)
    with ball_precision(300):
        assert trajectory.states[0][0].contains(arb(1) / 2)
        assert trajectory.states[1][0].contains(arb(1) / 3)
        assert not trajectory.states[0][0].contains(arb(1) / 2 + arb(10) ** -50)


def test_a_twin_that_is_slightly_wrong_changes_no_digit() -> None:
    known = SYSTEMS["decay to rest"]
    wrong = Field(known.field.balls, lambda x: 1.0001 * x * (1 - x))
    trajectory = solve(wrong, known.start, known.times, 40)
    for true, estimate in errors(known, trajectory, 40):
        assert true <= estimate <= arb(10) ** -40


def test_a_twin_of_another_equation_makes_no_result_that_is_wrong() -> None:
    known = SYSTEMS["oscillation"]
    other = Field(known.field.balls, columns(lambda x, y: -y, lambda x, y: x))
    try:
        trajectory = solve(other, known.start, (F(1),), 20)
    except UndecidedError:
        return
    with ball_precision(200):
        assert abs(trajectory.states[0][0].mid() - arb(1).sin()) < arb(10) ** -20


@settings(max_examples=15)
@given(
    st.fractions(F(-3), F(3), max_denominator=50),
    st.fractions(F(-2), F(2), max_denominator=50),
    st.fractions(F(0), F(4), max_denominator=100),
    st.integers(3, 60),
)
def test_linear_equations(rate: Fraction, forcing: Fraction, time: Fraction, digits: int) -> None:
    a, b = (float(x) for x in (rate, forcing))
    field = Field(lambda x: [exact_ball(rate) * x[0] + exact_ball(forcing)], lambda x: a * x + b)
    trajectory = solve(field, lambda: [arb(1)], [time], digits)
    with mpmath.workdps(digits + 60):
        r, c, t = (mpmath.mpf(x.numerator) / x.denominator for x in (rate, forcing, time))
        truth = mpmath.exp(r * t) + (c * (mpmath.expm1(r * t) / r) if r else c * t)
        text = mpmath.nstr(truth, digits + 50)
    with ball_precision(4 * digits + 300):
        value = arb(text)
        difference = abs(trajectory.states[0][0].mid() - value)
        assert difference <= arb(10) ** -digits * max(abs(value).mid(), arb(10) ** -8) * 2
        assert difference <= trajectory.states[0][0].rad() + arb(10) ** (-digits - 45)


def ramp(active: bool) -> Field:
    """Return ``x' = max(0, y), y' = 1`` on the piece where y counts or not."""

    def after(indices: Sequence[int]) -> Field:
        assert list(indices) == [0]
        return ramp(not active)

    sign = 1 if active else -1
    switches = Switches(
        lambda s: [sign * s[1]],
        lambda s: sign * s[:, 1:],
        after,
        columns(lambda x, y: np.maximum(0, y), lambda x, y: 1),
    )
    return Field(
        lambda s: [s[1] if active else arb(0), arb(1)],
        columns(lambda x, y: y * active, lambda x, y: 1),
        switches,
    )


def test_a_change_of_the_right_hand_side_costs_no_digit() -> None:
    trajectory = solve(
        ramp(False), lambda: [arb(0), -arb(1) / 3], [F(1, 10), F(1, 3), F(1), F(5)], 60
    )
    assert trajectory.switched == [pytest.approx(1 / 3)]
    with ball_precision(400):
        for state, y in zip(trajectory.states, (F(0), F(0), F(2, 3), F(14, 3)), strict=True):
            truth = exact_ball(y * y / 2)
            assert abs(state[0].mid() - truth) <= arb(10) ** -59 * (1 + truth)
            assert state[0].contains(truth)


def test_a_switching_function_that_stays_zero_is_refused_or_harmless() -> None:
    # On the wrong piece at the start: it is negative from the beginning.
    with pytest.raises(UndecidedError, match="not smooth"):
        solve(ramp(True), lambda: [arb(0), -arb(1)], [F(2)], 20)


@pytest.mark.parametrize("digits", [10, 50])
def test_a_blow_up_is_told_with_the_time_reached(digits: int) -> None:
    field = Field(lambda x: [x[0] ** 2], lambda x: x**2)
    with pytest.raises(UndecidedError, match=r"beyond t = (0\.999|1)\b|beyond t = 1") as caught:
        solve(field, lambda: [arb(1)], [F(1, 2), F(2)], digits)
    assert "\n" not in str(caught.value)


def test_a_flow_too_fast_for_the_time_is_told() -> None:
    field = Field(lambda x: [-(10**30) * (x[0] - 1)], lambda x: -1e30 * (x - 1))
    with pytest.raises(UndecidedError, match="too fast to be followed up to t = 1"):
        solve(field, lambda: [arb(2)], [F(1)], 10)


def test_a_state_beyond_float64_is_told() -> None:
    field = Field(lambda x: [x[0]], lambda x: x)
    with pytest.raises(UndecidedError, match="range of float64"):
        solve(field, lambda: [arb(10) ** 400], [F(1)], 10)


def test_errors_that_grow_are_made_up_for() -> None:
    # Errors grow by e^60, which is more than the digits kept in reserve.
    field = Field(
        lambda s: [10 * (s[0] - s[1].sin()) + s[1].cos(), arb(1)],
        columns(lambda x, t: 10 * (x - np.sin(t)) + np.cos(t), lambda x, t: 1),
    )
    trajectory = solve(field, lambda: [arb(0), arb(0)], [F(6)], 20)
    assert trajectory.errors[0] <= arb(10) ** -20
    with ball_precision(300):
        assert trajectory.states[0][0].contains(arb(6).sin())


def test_progress_grows_to_the_end() -> None:
    known = SYSTEMS["oscillation"]
    for times, digits in (((F(20),), 15), ((F(1),), 60)):
        seen: list[float] = []
        solve(known.field, known.start, times, digits, seen.append)
        assert seen == sorted(seen)
        assert len(seen) > 1
        assert seen[-1] == 1


def test_precision_is_given_back_after_an_error() -> None:
    before = flint.ctx.prec

    def fail(_: State) -> list[arb]:
        assert flint.ctx.prec != before
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve(Field(fail, lambda x: x), lambda: [arb(1)], [F(1)], 20)
    assert flint.ctx.prec == before


@pytest.mark.parametrize("m", [5, 12, 40])
def test_interpolants_of_polynomials_are_exact(m: int) -> None:
    with ball_precision(200):
        points = [arb(-1), arb(-1) / 3, arb(0), arb(1)]
        values = flint.arb_mat([[x ** (m - 1), x**3] for x in nodes(m)])
        found = integrals_to(points, values)
        for row, x in enumerate(points):
            for column, power in enumerate((m - 1, 3)):
                truth = (x ** (power + 1) - arb(-1) ** (power + 1)) / (power + 1)
                assert abs(found[row, column].mid() - truth) < arb(10) ** -55
        others, integrals = at_nodes_of(m + 3, values), integrals_to_nodes_of(m + 3, values)
        for row, x in enumerate(nodes(m + 3)):
            assert abs(others[row, 0].mid() - x ** (m - 1)) < arb(10) ** -55
            assert abs(integrals[row, 1].mid() - (x**4 - 1) / 4) < arb(10) ** -55
