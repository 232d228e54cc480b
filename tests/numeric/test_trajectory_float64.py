"""Trajectories in float64: against the balls, SciPy's solver and closed forms."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from numeric.balls import ball_precision
from numeric.trajectory import trajectory
from numeric.trajectory_float64 import trajectory_float64
from symbolic.errors import InputError
from tests.numeric.equiangular_reference import MODELS

LEAD: dict[str, Any] = {"lam": [0.5, 1.0, 1.5, 2.0], "beta": 2.0, "n": 64}


def relative(value: float, ball: arb) -> float:
    with ball_precision(200):
        return float(abs(arb(value) - ball) / abs(ball)) if ball != 0 else abs(value)


@st.composite
def cases(draw: st.DrawFn) -> dict[str, Any]:
    n = draw(st.sampled_from([2, 3, 64, 10**6]))
    lowest = -1 / (n - 1)
    return {
        "model": draw(st.sampled_from(MODELS)),
        "lam": draw(
            st.lists(st.sampled_from([-2.0, -0.5, 0.0, 0.25, 1.0, 2.0]), min_size=1, max_size=3)
        ),
        "beta": draw(st.sampled_from([0.0, 0.5, 2.0, 5.0])),
        "n": n,
        "start": draw(st.sampled_from([0.0, 1e-5, 0.25, 0.75, lowest / 2, lowest * 0.875])),
    }


@settings(max_examples=60)
@given(
    cases(),
    st.lists(st.sampled_from([0.0, 2.0**-30, 0.125, 0.5, 1.0, 2.5]), min_size=1, max_size=3),
)
def test_against_balls(case: dict[str, Any], times: list[float]) -> None:
    times = sorted(set(times))
    told = trajectory_float64(**case, times=times)
    exact = {key: Fraction(value) for key, value in case.items() if key in ("beta", "n", "start")}
    strengths = [Fraction(x) for x in case["lam"]]
    run = trajectory(
        model=case["model"], lam=strengths, **exact, times=[Fraction(t) for t in times], digits=40
    )
    for j, (time, state) in enumerate(zip(times, run.states, strict=True)):
        # The condition: how far the state moves while the time changes by its own size.
        ahead = trajectory(
            model=case["model"], lam=strengths, **exact, times=[Fraction(time) * 2], digits=40
        ).states[0]
        for name in ("gamma", "gap", "rise"):
            ball, later = getattr(state, name), getattr(ahead, name)
            value = float(getattr(told, name)[j])
            if abs(ball) < 1e-300:
                assert abs(value) < 1e-290
                continue
            with ball_precision(200):
                moved = float(min(abs(later - ball) / abs(ball), arb(1e15)))
            start = case["start"] + 1 / (case["n"] - 1)
            rounding = 3e-16 / min(start, 1.0)
            assert relative(value, ball) <= 2e-14 * (1 + moved) * (1 + rounding / 1e-15), name


def test_benchmark_case() -> None:
    times = np.linspace(0, 1.9, 50)
    told = trajectory_float64(**LEAD, times=times)
    run = trajectory(lam="0.5,1,3/2,2", beta=2, n=64, times=[Fraction(t) for t in times], digits=30)
    for j, state in enumerate(run.states):
        assert relative(told.gap[j], state.gap) < 2e-14
        assert relative(told.gamma[j], state.gamma) < 2e-14


@pytest.mark.parametrize("model", MODELS)
def test_against_scipy(model: str) -> None:
    lam, beta, n, start = [1.0, -0.5, 2.0], 1.5, 10, 0.05
    times = np.linspace(0, 2, 9)

    def rate(_: float, state: Any) -> Any:
        gamma = state[0]
        common = (1 - gamma) * (1 + (n - 1) * gamma)
        total = 0.0
        for x in lam:
            if model == "softmax":
                total += 2 * x / (np.exp(beta * x * (1 - gamma)) + n - 1)
            elif model == "unnormalised":
                total += 2 * x * np.exp(beta * x * gamma) / n
            else:
                total += 2 * x * max(0.0, x * gamma) / n
        return [common * total]

    solved = solve_ivp(rate, (0, 2), [start], method="DOP853", rtol=1e-12, atol=1e-14, t_eval=times)
    told = trajectory_float64(model=model, lam=lam, beta=beta, n=n, start=start, times=times)
    assert np.abs(solved.y[0] - told.gamma).max() < 2e-11
    assert (np.diff(told.gap) < 0).all()


def test_grids_of_parameters() -> None:
    betas, tokens = np.array([0.0, 1.0, 5.0]), np.array([[2], [64], [1000]])
    starts = np.array([0.0, 0.5, -1e-4])
    told = trajectory_float64(
        lam=[1.0, -0.5 * np.ones(3)], beta=betas, n=tokens, start=starts, times=[0, 0.5, 3]
    )
    assert told.gap.shape == told.gamma.shape == told.rise.shape == (3, 3, 3)
    for i, n in enumerate(tokens[:, 0]):
        for j in range(3):
            one = trajectory_float64(
                lam=[1.0, -0.5], beta=betas[j], n=n, start=starts[j], times=[0, 0.5, 3]
            )
            assert np.allclose(told.gap[:, i, j], one.gap, rtol=1e-14, atol=0)
            assert np.allclose(told.rise[:, i, j], one.rise, rtol=1e-14, atol=0)


def test_what_stands_still_stays() -> None:
    told = trajectory_float64(model="relu", lam=[1.0], n=5, start=[0.0, -0.1], times=[0, 1, 1e300])
    assert (told.gamma == [0.0, -0.1]).all()
    told = trajectory_float64(lam=[1.0, -1.0], beta=0.0, n=5, start=0.25, times=[1, 1e9])
    assert (told.gamma == 0.25).all()
    assert (told.gap == 0.75).all()


def test_long_times_and_tiny_gaps() -> None:
    told = trajectory_float64(**LEAD, times=[10.0, 11.0, 50.0, 1e6])
    # The late rate is 2 Lambda = 10.
    assert told.gap[1] / told.gap[0] == pytest.approx(np.exp(-10), rel=1e-12)
    assert told.gap[2] / told.gap[1] == pytest.approx(np.exp(-390), rel=1e-11)
    assert told.gap[3] == 0
    assert told.gamma[3] == 1


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"times": [-1.0]}, "times: -1.0 "),
        ({"times": [np.inf]}, "times: inf "),
        ({"start": 1.0}, "start: 1.0 "),
        ({"n": 1}, "n: 1.0 "),
        ({"lam": [1e6]}, "lam: 1000000.0 "),
    ],
)
def test_refusals(given_: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        trajectory_float64(**{**LEAD, "times": [1.0], **given_})


@pytest.mark.parametrize("model", MODELS)
def test_short_times(model: str) -> None:
    start, time = 2.0**-20, 2.0**-60
    told = trajectory_float64(model=model, lam=[1.0, 2.0], beta=2.0, n=8, start=0.0, times=[time])
    run = trajectory(model=model, lam="1,2", beta=2, n=8, times=[Fraction(time)], digits=20)
    assert relative(told.gamma[0], run.states[0].gamma) < 1e-14
    # Too short to be seen in the gap.
    told = trajectory_float64(model=model, lam=[1.0, 2.0], beta=2.0, n=8, start=start, times=[time])
    assert told.gap[0] == 1 - start
