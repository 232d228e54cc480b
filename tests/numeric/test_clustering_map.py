"""Clustering times in float64 over grids: against mpmath's and SciPy's quadrature elsewhere."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from numeric.clustering_map import clustering_times_float64
from numeric.trajectory_arrays import MOST_RATES
from symbolic.errors import InputError
from symbolic.flow import Model
from tests.numeric.equiangular_reference import MODELS, context, mpf, rate, time_between

LEAD: dict[str, Any] = {"lam": [0.5, 1, 1.5, 2], "beta": 2.0, "n": 64, "stop": 1 - 1e-6}


def reference(
    model: str, lam: list[float], beta: float, n: int, start: float, stop: float
) -> tuple[float, float]:
    """Return the time, and by how much the speed cancels at the start; from mathematics.md."""
    mp = context(40)
    exact = [Fraction(x) for x in lam]
    gaps = mpf(mp, 1 - Fraction(start)), mpf(mp, 1 - Fraction(stop))
    speed = rate(mp, model, exact, Fraction(beta), n, gaps[0])
    parts = [rate(mp, model, [x], Fraction(beta), n, gaps[0]) for x in exact]
    if start == stop:
        return 0.0, 1.0
    if speed * (stop - start) <= 0:
        return np.inf, 1.0
    time = time_between(mp, model, exact, Fraction(beta), n, gaps)
    return float(time), float(sum(abs(part) for part in parts) / abs(speed))


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, list[float], float, int, float, float]:
    n = draw(st.sampled_from([2, 3, 64, 10**4, 10**6]))
    lowest = -1 / (n - 1)
    inside = [0.0, 0.3, 0.99, 1 - 1e-9, lowest / 2, lowest * (1 - 1e-6)]
    start, stop = draw(st.sampled_from(inside)), draw(st.sampled_from(inside))
    lam = draw(st.lists(st.sampled_from([-2.0, -0.5, 0.0, 0.1, 1.0, 2.0]), min_size=1, max_size=3))
    beta = draw(st.sampled_from([0.0, 0.5, 2.0, 10.0, 25.0]))
    return draw(st.sampled_from(MODELS)), lam, beta, n, start, stop


@settings(max_examples=40)
@given(cases())
def test_against_quadrature_in_another_variable(
    case: tuple[str, list[float], float, int, float, float],
) -> None:
    model, lam, beta, n, start, stop = case
    told, cancelled = reference(*case)
    found = clustering_times_float64(model=model, lam=lam, beta=beta, n=n, start=start, stop=stop)
    assert found.shape == ()
    if np.isinf(told):
        assert found == told
    else:
        # The start is rounded where it is told from the lower end.
        rounding = 2e-16 / min(1 - start, start + 1 / (n - 1)) + 2e-16 / (stop + 1 / (n - 1))
        assert abs(found - told) <= (1e-13 * cancelled + rounding) * told


def test_close_to_an_equilibrium() -> None:
    for distance in (1e-3, 1e-6, 1e-9):
        case = ("unnormalised", [1.0, -1.0], 2.0, 5, distance, 0.9)
        told, cancelled = reference(*case)
        found = clustering_times_float64(
            model=case[0], lam=case[1], beta=case[2], n=case[3], start=distance, stop=0.9
        )
        assert abs(found / told - 1) < 1e-15 * cancelled + 1e-13
        assert cancelled > 0.1 / distance


def test_large_strengths_do_not_spoil_the_accuracy() -> None:
    for beta in (50.0, 300.0):
        told, _ = reference("softmax", [0.5, 2.0], beta, 64, 0.2, 0.999)
        found = clustering_times_float64(lam=[0.5, 2.0], beta=beta, n=64, start=0.2, stop=0.999)
        assert found == pytest.approx(told, rel=1e-13, abs=0)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("start", [1e-6, 0.5, 1 - 2**-10])
def test_short_ways(model: str, start: float) -> None:
    stop = start + 2.0**-40
    told, _ = reference(model, [0.5, 2.0], 3.0, 100, start, stop)
    found = clustering_times_float64(
        model=model, lam=[0.5, 2.0], beta=3.0, n=100, start=start, stop=stop
    )
    assert found == pytest.approx(told, rel=1e-13, abs=0)


def test_a_map_against_scipy() -> None:
    betas, tokens = np.linspace(0, 6, 4), np.array([2, 64, 10**5])
    told = clustering_times_float64(**{**LEAD, "beta": betas, "n": tokens[:, None]})
    assert told.shape == (3, 4)
    for i, n in enumerate(tokens):
        for j, beta in enumerate(betas):

            def along(w: float, beta: float = beta, n: int = n) -> float:
                gap = np.exp(-w)
                speed = sum(2 * x / (np.exp(beta * x * gap) + n - 1) for x in LEAD["lam"])
                return float(1 / ((1 + (n - 1) * (1 - gap)) * speed))

            # In -ln(1 - gamma).
            bend = np.log1p(1 / n)
            parts = [
                quad(along, *ends, epsabs=0, epsrel=1e-11)[0]
                for ends in ((0.0, bend), (bend, 1), (1, 6 * np.log(10)))
            ]
            assert told[i, j] == pytest.approx(sum(parts), rel=1e-9)


def test_arrays_of_everything() -> None:
    shape = (2, 1, 3)
    first, second = np.full((2, 1, 1), 0.5), np.linspace(-1, 2, 3)
    told = clustering_times_float64(
        lam=[first, second, 1], beta=1.5, n=[8, 9, 10], start=0.0, stop=[[0.5], [0.9]]
    )
    assert told.shape == (2, 2, 3)
    one = clustering_times_float64(lam=[0.5, 2.0, 1], beta=1.5, n=10, start=0, stop=0.9)
    assert told[1, 1, 2] == one
    assert shape


def test_ends_and_standing_still() -> None:
    def time(**given_: Any) -> float:
        return float(clustering_times_float64(**{**LEAD, **given_}))

    assert time(stop=1.0) == np.inf
    assert time(lam=[-1.0], n=5, stop=-0.25) == np.inf
    assert time(start=0.25, stop=0.25) == 0
    assert time(stop=-0.01) == np.inf
    assert time(lam=[0.0]) == np.inf
    assert time(lam=[1.0, -1.0], beta=0.0) == np.inf
    assert time(model="relu", beta=None) == np.inf
    assert time(model="relu", start=0.0, stop=0.0) == 0
    # 2^1074 is not the largest time that is needed.
    assert time(lam=[1.0], beta=1000.0, stop=0.5) == np.inf


@settings(max_examples=25)
@given(cases())
def test_times_grow_with_the_way(case: tuple[str, list[float], float, int, float, float]) -> None:
    model, lam, beta, n, start, stop = case
    between = start + (stop - start) * np.array([0.25, 0.5, 0.75, 1.0])
    times = clustering_times_float64(
        model=model, lam=lam, beta=beta, n=n, start=start, stop=between
    )
    assume(np.isfinite(times).all() and start != stop)
    assert (np.diff([0.0, *times]) > 0).all()


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"n": 1}, "n: 1.0 is outside its domain: integer, 2 to 2"),
        ({"n": 2.0**60}, "n: 1.15"),
        ({"model": "unnormalised", "beta": 301}, "lam: 2.0 .* beta .lam. <= 600"),
        ({"n": 2.5}, "n: 2.5 "),
        ({"beta": -1}, "beta: -1.0 "),
        ({"beta": np.nan}, "beta: nan "),
        ({"beta": None}, "beta: none given"),
        ({"start": 1.0}, "start: 1.0 "),
        ({"start": -1 / 63}, "start: -0.0158"),
        ({"stop": 1.5}, "stop: 1.5 "),
        ({"lam": []}, "lam: the list is empty"),
        ({"lam": ["a"]}, "lam: 'a' is not accepted"),
        ({"lam": [np.inf]}, "lam: inf "),
        ({"lam": [MOST_RATES[Model.SOFTMAX]]}, "beta .lam. <= 100000"),
        ({"model": "linear"}, "model: 'linear'"),
        ({"n": [2, 3], "beta": [1, 2, 3]}, "do not broadcast"),
    ],
)
def test_refusals(given_: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as refused:
        clustering_times_float64(**{**LEAD, **given_})
    assert "\n" not in str(refused.value)
