"""Simulations of equiangular tokens: columns, exact rows, refusals, derivatives, float64."""

from decimal import Context, Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from numeric.simulate_equiangular import simulate_equiangular
from numeric.simulation import Simulation
from numeric.trajectory_columns import QUANTITIES
from symbolic.errors import InputError

LEAD: dict[str, Any] = {"lam": "0.5,1,3/2,2", "beta": 2, "n": 64, "stop": "1-1e-6"}
MIXED: dict[str, Any] = {"lam": "1,-1/2,0,1", "beta": "3/2", "n": 5, "start": "1/3", "until": 2}

CASES = [
    LEAD,
    {"model": "softmax", **MIXED},
    {"model": "unnormalised", **MIXED},
    {"model": "relu", **MIXED},
    {"model": "relu", "lam": "1,-1", "beta": 1, "n": 4, "start": "-1/5", "times": "0,1/3,5"},
    {"model": "unnormalised", "lam": "1,-2", "beta": 1, "n": 2, "start": "-1/9", "stop": "-0.99"},
    {"model": "softmax", "lam": "1,-2", "beta": 0, "n": 3, "start": "1/9", "until": 3},
]
cases = pytest.mark.parametrize("case", CASES)


def numbers(simulation: Simulation, column: str) -> list[Decimal]:
    return [Decimal(str(value)) for value in simulation.columns[column]]


def test_columns_in_their_order() -> None:
    run = simulate_equiangular(**LEAD, points=3, digits=12)
    heads = range(1, 5)
    names = [f"{name}_h{k}" for name in QUANTITIES for k in heads]
    assert list(run.columns) == ["t", "gamma", "one_minus_gamma", *names]
    assert all(len(column) == 3 for column in run.columns.values())
    assert (run.regime, run.digits, run.certified, run.error) == ("equiangular", 12, True, "5e-12")
    assert run.parameters == {
        "model": "softmax",
        "lam": ["1/2", "1", "3/2", "2"],
        "beta": "2",
        "n": "64",
        "start": "0",
        "stop": "999999/1000000",
        "points": "3",
    }
    assert [run.columns[name][0] for name in ("t", "gamma", "one_minus_gamma")] == [
        "0",
        "0",
        "1.00000000000",
    ]
    assert run.columns["gamma"][-1] == "0.999999000000"
    assert run.columns["one_minus_gamma"][-1] == "0.00000100000000000"
    # Orthonormal tokens: the margin of section 3, |P f|^2 = lam^2 (n-1)/Z^2 under softmax.
    cosine = np.exp(1) / np.sqrt(np.exp(2) + 63)
    assert float(run.columns["radial_cosine_h1"][0]) == pytest.approx(cosine, rel=1e-11)


@cases
def test_digits_are_the_rounding_of_more_digits(case: dict[str, Any]) -> None:
    points: dict[str, Any] = {} if "times" in case else {"points": 4}
    few, many = (simulate_equiangular(**case, **points, digits=d) for d in (30, 60))
    assert list(few.columns) == list(many.columns)
    rounding = Context(prec=30)
    for name in few.columns:
        for rough, sharp in zip(few.columns[name], many.columns[name], strict=True):
            assert isinstance(rough, str)
            if rough in ("nan", "+inf"):
                assert rough == sharp
            else:
                assert Decimal(rough) == rounding.plus(Decimal(sharp)), name


@cases
def test_float64_agrees(case: dict[str, Any]) -> None:
    points: dict[str, Any] = {} if "times" in case else {"points": 7}
    floats = simulate_equiangular(**case, **points, digits=None)
    texts = simulate_equiangular(**case, **points, digits=40)
    assert (floats.digits, floats.certified) == (None, False)
    assert list(floats.columns) == list(texts.columns)
    assert floats.remarks == texts.remarks
    error = float(floats.error)
    assert error < 1e-12
    for name, column in floats.columns.items():
        assert isinstance(column, np.ndarray)
        exact = np.array([float(text) for text in texts.columns[name]])
        if name in ("t", "gamma", "one_minus_gamma"):
            assert np.all(np.abs(column - exact) <= error * np.abs(exact)), name
        else:
            np.testing.assert_allclose(column, exact, rtol=1e-11, atol=1e-12, err_msg=name)


@cases
def test_derivatives_against_difference_quotients(case: dict[str, Any]) -> None:
    # Energies and entropies grow by the integral of their derivatives; by differences at 1e-15.
    step = Decimal("1e-15")
    given_ = {key: value for key, value in case.items() if key not in ("stop", "until", "times")}
    times = ",".join(str(Decimal("0.7") + k * step) for k in (-1, 0, 1))
    run = simulate_equiangular(**given_, times=times, digits=60)
    exact = Context(prec=60)
    for kind in ("energy", "entropy"):
        for k in range(1, len(run.parameters["lam"]) + 1):
            before, _, after = numbers(run, f"{kind}_h{k}")
            if not before.is_finite():
                continue
            told = numbers(run, f"d{kind}_h{k}")[1]
            quotient = exact.divide(exact.subtract(after, before), 2 * step)
            assert abs(quotient - told) <= Decimal("1e-25") * (1 + abs(told))


def test_motion_is_monotone_and_energies_rise_with_it() -> None:
    run = simulate_equiangular(**LEAD, points=20, digits=20)
    for name in ("t", "gamma", "energy_h1", "energy_h4", "entropy_h2"):
        values = numbers(run, name)
        assert all(a < b for a, b in pairwise(values))
    assert all(value >= 0 for value in numbers(run, "denergy_h3"))


def test_relu_without_temperature() -> None:
    run = simulate_equiangular(model="relu", lam="1,2", n=7, start="1/5", until=1, points=2)
    told = [f"{name}_h{k}" for name in QUANTITIES for k in (1, 2)]
    assert list(run.columns) == ["t", "gamma", "one_minus_gamma", *told]
    floats = simulate_equiangular(
        model="relu", lam="1,2", n=7, start="1/5", until=1, points=2, digits=None
    )
    unknown = told[:8]
    for name in told:
        for simulation in (run, floats):
            assert all((str(x) == "nan") == (name in unknown) for x in simulation.columns[name])
    assert "beta" not in run.parameters
    assert any("beta was left out" in remark for remark in run.remarks)
    warm = simulate_equiangular(
        model="relu", lam="1,2", n=7, beta=3, start="1/5", until=1, points=2
    )
    assert all(
        warm.columns[name] == column for name, column in run.columns.items() if name not in unknown
    )
    assert any("depend on beta" in remark for remark in warm.remarks)


@pytest.mark.parametrize(
    ("given_", "why"),
    [
        ({"model": "relu", "lam": "1,2", "start": 0}, "orthonormal"),
        ({"model": "relu", "lam": "1,2", "start": "-1/9"}, "sign of gamma"),
        ({"lam": "0,0", "start": "1/3"}, "all strengths are zero"),
        ({"model": "unnormalised", "lam": "1,-1", "start": 0}, "an equilibrium"),
    ],
)
def test_what_does_not_move(given_: dict[str, Any], why: str) -> None:
    for digits in (25, None):
        run = simulate_equiangular(**given_, beta=1, n=5, times="0,1,1e9", digits=digits)
        assert any("does not move" in remark and why in remark for remark in run.remarks)
        for name, column in run.columns.items():
            if name != "t":
                assert len(column) == 3
                assert len({str(value) for value in column}) == 1
        for name in ("denergy_h1", "dentropy_h2"):
            assert float(run.columns[name][1]) == 0
    with pytest.raises(InputError, match="stop: 1/2 is not reached"):
        simulate_equiangular(**given_, beta=1, n=5, stop="1/2")


def test_zeros_that_are_exact() -> None:
    # At beta = 0 and gamma = 0 the sharp margin of n equal heads is 1 - (n-1)/(n-1) = 0, and under
    # opposite strengths of two tokens it vanishes at every beta.
    run = simulate_equiangular(lam="1,1,1", beta=0, n=3, times="0,1", digits=20)
    assert [run.columns[f"condition8_sharp_h{k}"][0] for k in (1, 2, 3)] == ["0", "0", "0"]
    run = simulate_equiangular(model="unnormalised", lam="2,-2", beta=3, n=2, times="0,1", digits=9)
    assert [run.columns[f"condition8_sharp_h{k}"] for k in (1, 2)] == [["0", "0"], ["0", "0"]]
    # The overlap crosses 0 in the middle of its way.
    run = simulate_equiangular(lam=1, beta=0, n=2, start="-9/10", stop="9/10", points=5, digits=20)
    assert run.columns["gamma"][2] == "0"
    assert run.columns["gamma"][1] == "-" + str(run.columns["gamma"][3])
    # From odds 1/8 to 4: at three fifths of the way.
    run = simulate_equiangular(lam=1, beta=0, n=2, start="-7/9", stop="3/5", points=6, digits=20)
    assert list(run.columns["gamma"]).index("0") == 3
    # From odds 1/3 to 2 it crosses 0 between two times, for how many soever.
    run = simulate_equiangular(lam=1, beta=0, n=2, start="-1/2", stop="1/3", points=50, digits=5)
    assert "0" not in run.columns["gamma"]
    # A head of strength zero.
    run = simulate_equiangular(lam="0,1", beta=1, n=4, times="0,1", digits=20)
    assert run.columns["condition8_h1"] == run.columns["dentropy_h1"] == ["0", "0"]
    assert run.columns["radial_cosine_h1"] == ["nan", "nan"]


def test_energy_without_temperature_is_infinite() -> None:
    run = simulate_equiangular(lam="1,-2", beta=0, n=3, until=1, points=2, digits=10)
    assert run.columns["energy_h1"] == ["+inf", "+inf"]
    assert any("energies are infinite" in remark for remark in run.remarks)


def test_large_strengths() -> None:
    run = simulate_equiangular(lam="1,1/2", beta=500, n=64, stop="1-1e-6", points=3, digits=20)
    assert all(Decimal(str(x)).is_finite() for column in run.columns.values() for x in column)
    with pytest.raises(InputError, match="float64"):
        simulate_equiangular(lam=1, beta=2000, n=64, stop="1/2", digits=None)
    with pytest.raises(InputError, match="float64"):
        simulate_equiangular(lam=1, beta=2, n="10^400", stop="1/2", digits=None)
    with pytest.raises(InputError, match="float64"):
        simulate_equiangular(lam=1, beta=2, n=6, until="10^400", digits=None)


def test_extremes_in_float64() -> None:
    given_: dict[str, Any] = {
        "lam": "1",
        "beta": 2,
        "n": 64,
        "start": "1-1e-30",
        "stop": "1-1e-100",
    }
    floats = simulate_equiangular(**given_, points=4, digits=None)
    texts = simulate_equiangular(**given_, points=4, digits=30)
    for name in ("t", "one_minus_gamma"):
        exact = [float(str(text)) for text in texts.columns[name]]
        np.testing.assert_allclose(np.asarray(floats.columns[name]), exact, rtol=1e-12)


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"digits": 0}, "digits: 0"),
        ({"digits": 2.5}, "digits: 2.5"),
        ({"lam": 0.5}, "binary float"),
        ({"stop": None, "times": []}, "times: the list is empty; give reals >= 0"),
        ({"stop": "1/2", "until": 1}, "times: stop and until given"),
        ({"points": "x"}, "points: 'x' is not a number"),
    ],
)
def test_refusals(given_: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as refused:
        simulate_equiangular(**{**LEAD, **given_})
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("model", ["softmax", "relu"])
def test_progress_is_told_and_changes_nothing(model: str) -> None:
    told: list[float] = []
    values: dict[str, Any] = {"model": model, "lam": "1/2,1", "beta": 2, "n": 8, "start": "1/10"}
    quiet = simulate_equiangular(**values, stop="0.9", points=60, digits=30)
    found = simulate_equiangular(**values, stop="0.9", points=60, digits=30, progress=told.append)
    assert found == quiet
    assert told == sorted(told)
    assert len(told) > 10
    assert told[-1] == 1
