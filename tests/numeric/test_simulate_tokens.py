"""Simulated tokens: columns, digits, parameters to run again, refusals."""

import io
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

from numeric.heads import block_heads, dense_heads, diagonal_heads, scalar_heads
from numeric.simulate_tokens import simulate_tokens
from numeric.simulation import Simulation
from numeric.token_file import read_arrays
from numeric.token_presets import orthogonal_heads, orthonormal
from numeric.token_start import (
    block_equiangular_tokens,
    equiangular_tokens,
    exact_tokens,
    random_tokens,
)
from symbolic.errors import InputError, UndecidedError
from symbolic.numbers import exact

F = Fraction
PER_HEAD = (
    "energy",
    "denergy",
    "entropy",
    "dentropy",
    "radial_cosine",
    "condition8",
    "condition8_sharp",
)


def numbers(simulation: Simulation, name: str) -> list[Decimal]:
    return [Decimal(str(x)) for x in simulation.columns[name]]


def small(**changes: Any) -> Simulation:
    """Return a quick simulation."""
    arguments: dict[str, Any] = {
        "heads": scalar_heads("1,3/2", 3),
        "tokens": random_tokens(3, 3, 5),
        "beta": 1,
        "times": [0, "1/2"],
        "digits": 20,
        **changes,
    }
    return simulate_tokens(**{key: x for key, x in arguments.items() if x is not ...})


@pytest.mark.parametrize("digits", [None, 20])
def test_columns_in_order(digits: int | None) -> None:
    simulation = small(digits=digits, times=..., until=1, points=3)
    per_head = [f"{name}_h{h}" for name in PER_HEAD for h in (1, 2)]
    expected = ["t", *per_head, "energy", "denergy", "shadow_min_h1", "shadow_min_h2"]
    assert list(simulation.columns) == expected
    assert simulation.regime == "tokens"
    assert simulation.digits == digits
    assert not simulation.certified
    assert simulation.states is not None
    assert simulation.states.shape == (3, 3, 3)
    assert simulation.states.dtype == np.float64
    for column in simulation.columns.values():
        assert len(column) == 3
        if digits is None:
            assert isinstance(column, np.ndarray)
            assert column.dtype == np.float64
        else:
            assert all(isinstance(text, str) for text in column)
            assert all(
                len(Decimal(text).as_tuple().digits) == digits for text in column if text != "0"
            )
    assert [float(t) for t in simulation.columns["t"]] == [0, 0.5, 1]
    assert 0 < float(simulation.error) < 10.0 ** -(digits or 9)


def test_digits_are_right_by_closed_forms_at_orthonormal_tokens() -> None:
    # At t = 0 and n = 4: everything is elementary.
    heads, tokens = orthonormal("1,1/2", 4)
    simulation = small(heads=heads, tokens=tokens, beta=2, times=[0], digits=50)
    with mpmath.workdps(70):
        e = mpmath.exp
        for h, lam in ((1, mpmath.mpf(1)), (2, mpmath.mpf(1) / 2)):
            total = e(2 * lam) + 3
            p = e(2 * lam) / total
            rate = 2 * (1 / (e(2) + 3) + mpmath.mpf(1) / 2 / (e(1) + 3))
            f = lam * mpmath.sqrt(p**2 + 3 / total**2)
            power = lam**2 * 3 / total**2
            other = {1: mpmath.mpf(1) / 2 * e(1) / (e(1) + 3), 2: e(2) / (e(2) + 3)}[h]
            truths = {
                "energy": total * 4 / (4 * 16),
                "denergy": lam * 12 * rate / (2 * 16),
                "entropy": mpmath.log(total) - 2 * lam * p,
                "dentropy": (2 * lam) ** 2 * rate * p * (1 - p),
                "radial_cosine": lam * p / f,
                "condition8": power - f * other,
                "condition8_sharp": power - lam * p * other,
                "shadow_min": lam * p,
            }
            for name, truth in truths.items():
                (text,) = simulation.columns[f"{name}_h{h}"]
                assert text == decimal(truth, 50), name


def decimal(value: Any, digits: int) -> str:
    """Return a number to some digits as text, rounded as the columns are."""
    text = mpmath.nstr(value, 65, strip_zeros=False, min_fixed=-10, max_fixed=10)
    shown = Decimal(text)
    places = digits - 1 - shown.adjusted()
    return f"{shown:.{places}f}"


@pytest.mark.parametrize("model", ["softmax", "unnormalised", "relu"])
def test_float64_agrees_with_digits(model: str) -> None:
    heads = dense_heads(np.random.default_rng(1).standard_normal((2, 3, 3)))
    exact_run = small(model=model, heads=heads)
    float_run = small(model=model, heads=heads, digits=None)
    for name, column in float_run.columns.items():
        found = np.array([float(x) for x in column])
        expected = np.array([float(x) for x in numbers(exact_run, name)])
        assert np.allclose(found, expected, rtol=1e-8, atol=1e-9), name
    assert exact_run.states is not None
    assert float_run.states is not None
    assert np.abs(exact_run.states - float_run.states).max() < 1e-9


def test_more_digits_confirm_fewer() -> None:
    few, many = small(digits=15), small(digits=45)
    for name in few.columns:
        for a, b in zip(numbers(few, name), numbers(many, name), strict=True):
            assert abs(a - b) <= abs(b) * Decimal(10) ** -14, name


def test_rates_are_slopes_of_their_columns() -> None:
    step = F(1, 10**9)
    simulation = small(times=[F(1, 4) - step, F(1, 4), F(1, 4) + step], digits=40)
    for name in ("energy_h1", "energy_h2", "entropy_h1", "entropy_h2", "energy"):
        before, _, after = numbers(simulation, name)
        slope = (after - before) / (2 * Decimal(step.numerator) / Decimal(step.denominator))
        assert abs(slope - numbers(simulation, f"d{name}")[1]) < Decimal("1e-15")


def test_least_and_largest_over_tokens() -> None:
    simulation = small(digits=None, times=[0])
    assert simulation.states is not None
    (x,) = simulation.states
    weights = np.exp(np.array([1.0, 1.5])[:, None, None] * (x @ x.T))
    weights /= weights.sum(axis=-1, keepdims=True)
    f = np.array([1.0, 1.5])[:, None, None] * (weights @ x)
    a = (f * x).sum(axis=-1)
    size = np.linalg.norm(f, axis=-1)
    margins = size**2 - a**2 - size * np.abs(a[::-1])
    entropies = -(weights * np.log(weights)).sum(axis=-1)
    for h in range(2):
        expected = {
            "shadow_min": a[h].min(),
            "radial_cosine": (a / size)[h].max(),
            "condition8": margins[h].min(),
            "entropy": entropies[h].mean(),
        }
        for name, value in expected.items():
            assert np.isclose(float(simulation.columns[f"{name}_h{h + 1}"][0]), value, rtol=1e-12)
    energies = numbers(simulation, "energy_h1")[0] + numbers(simulation, "energy_h2")[0]
    assert abs(numbers(simulation, "energy")[0] - energies) < Decimal("1e-14")


def test_the_same_call_gives_the_same_output_and_another_seed_another() -> None:
    for digits in (None, 15):
        first, same = small(digits=digits), small(digits=digits)
        other = small(digits=digits, tokens=random_tokens(3, 3, 6))
        for name in first.columns:
            assert list(first.columns[name]) == list(same.columns[name])
        assert first.parameters == same.parameters
        assert list(first.columns["energy"]) != list(other.columns["energy"])
        assert first.parameters != other.parameters


def test_parameters_are_enough_to_run_again() -> None:
    first = small()
    p: Any = first.parameters
    again = simulate_tokens(
        model=p["model"],
        heads=scalar_heads(p["lam"], int(p["d"])),
        tokens=random_tokens(int(p["n"]), int(p["d"]), int(p["seed"])),
        beta=p["beta"],
        times=p["times"],
        digits=first.digits,
        flat=p["dynamics"] == "flat",
    )
    assert again.columns == first.columns
    assert (p["heads"], p["tokens"], p["seed"]) == ("scalar", "random", "5")
    array = np.random.default_rng(0).standard_normal((1, 2, 2))
    q: Any = small(
        heads=array, tokens=[["3/5", "4/5"]], times=..., until="1/3", points=2
    ).parameters
    assert [exact(x, "M") for x in q["M_1"]] == [F(x) for x in array.ravel().tolist()]
    assert q["x_1"] == ["3/5", "4/5"]
    assert (q["until"], q["points"]) == ("1/3", "2")


def test_a_file_is_named_with_its_digest(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    np.savez(buffer, x=np.eye(2), M=np.eye(2)[None])
    (tmp_path / "run.npz").write_bytes(buffer.getvalue())
    heads, tokens = read_arrays(tmp_path / "run.npz")
    simulation = small(heads=heads, tokens=tokens, digits=None)
    assert simulation.parameters["file"] == "run.npz"
    assert str(simulation.parameters["digest"]).startswith("sha256:")
    assert [simulation.parameters[name] for name in ("n", "d", "H")] == ["2", "2", "1"]
    # Unit vectors are as they were; others are normalised, which is said.
    still = small(heads=heads, tokens=tokens, digits=None, times=[0])
    assert still.remarks == ()
    off = small(heads=heads, tokens=np.eye(2) * (1 + 1e-9), digits=None, times=[0])
    assert any("normalised" in remark for remark in off.remarks)


def test_a_head_falls_in_the_regime_of_orthogonal_heads() -> None:
    # The example of the mathematics: the head with the smaller share.
    heads, tokens = orthogonal_heads("1,13/10", 8, ["9/10", "1/10"], ["3/5", "3/5"])
    simulation = small(
        model="unnormalised", heads=heads, tokens=tokens, beta=2, times=[0], digits=None
    )
    assert float(simulation.columns["denergy_h1"][0]) > 0
    assert float(simulation.columns["denergy_h2"][0]) < 0


@pytest.mark.parametrize("digits", [None, 15])
def test_at_beta_zero_energies_are_infinite_and_their_rates_the_limits(digits: int | None) -> None:
    simulation = small(beta=0, digits=digits)
    assert list(simulation.columns) == list(small(digits=digits).columns)
    for name in ("energy_h1", "energy_h2", "energy"):
        assert [float(x) for x in simulation.columns[name]] == [np.inf, np.inf]
    assert [r for r in simulation.remarks if "beta = 0" in r or "beyond" in r] == [
        "beta = 0: energies are infinite, their derivatives are the limits"
    ]
    assert abs(float(simulation.columns["entropy_h1"][0]) - np.log(3)) < 1e-14
    # The limit is the rate of the sum of scores, which for scalar heads is lambda |sum x_i|^2:
    # with the sum s of the tokens, x_i' = (5/2) (s - <s, x_i> x_i) / 3 at beta = 0.
    x = random_tokens(3, 3, 5).floats
    total = x.sum(axis=0)
    moved = 5 / 2 * (total - (x @ total)[:, None] * x) / 3
    rate = 2 * total @ moved.sum(axis=0) / (2 * 3**2)
    for name, strength in (("denergy_h1", 1), ("denergy_h2", 1.5), ("denergy", 2.5)):
        assert float(simulation.columns[name][0]) == pytest.approx(strength * rate, rel=1e-13)


def test_one_token_one_head() -> None:
    simulation = small(heads=scalar_heads([2], 1), tokens=exact_tokens([[-1]]), digits=30)
    assert list(simulation.columns["entropy_h1"]) == ["0", "0"]
    assert list(simulation.columns["denergy_h1"]) == ["0", "0"]
    assert list(simulation.columns["radial_cosine_h1"]) == ["1." + "0" * 29] * 2
    assert list(simulation.columns["condition8_h1"]) == ["0", "0"]


def test_what_is_not_told_from_zero_is_said() -> None:
    # Frozen by symmetry, which the arithmetic does not know.
    simulation = small(
        heads=scalar_heads([1], 3), tokens=equiangular_tokens(3, "-1/3"), model="relu"
    )
    assert set(simulation.columns["denergy_h1"]) == {"0"}
    assert any(
        "not told from 0" in remark and "denergy_h1" in remark for remark in simulation.remarks
    )


def test_digits_that_cancel_are_made_up_for() -> None:
    # At t = 12 the tokens are close to one point, and the rates very small.
    simulation = small(tokens=equiangular_tokens(3, "9/10"), times=[12], digits=15)
    (rate,) = simulation.columns["denergy_h1"]
    assert abs(Decimal(str(rate))) < Decimal("1e-20")
    for name, column in simulation.columns.items():
        assert len(Decimal(str(column[0])).as_tuple().digits) == 15, name


def test_relu_without_aggregates_has_no_radial_cosine() -> None:
    for digits in (None, 15):
        simulation = small(
            heads=scalar_heads([-1], 1), tokens=exact_tokens([[1]]), model="relu", digits=digits
        )
        assert [str(x) for x in simulation.columns["radial_cosine_h1"]] == ["nan", "nan"]


def test_relu_says_at_how_many_times_scores_change_their_signs() -> None:
    simulation = small(
        heads=scalar_heads([-1], 3), tokens=random_tokens(4, 3, 1), model="relu", times=[8]
    )
    assert any("scores change their signs at" in remark for remark in simulation.remarks)


def test_lengths_are_told_on_the_sphere_and_not_off_it() -> None:
    for digits, bound in ((None, 1e-10), (20, 1e-20)):
        (remark,) = [r for r in small(digits=digits).remarks if "lengths" in r]
        assert float(remark.rsplit(" ", 1)[1]) < bound
        flat = small(digits=digits, flat=True)
        assert not any("lengths" in remark for remark in flat.remarks)
        assert flat.parameters["dynamics"] == "flat"
        assert flat.states is not None
        assert np.linalg.norm(flat.states[-1], axis=-1).min() > 1.5


def test_energies_beyond_float64_are_infinite_and_said() -> None:
    arguments: dict[str, Any] = {"flat": True, "times": [4], "model": "softmax"}
    floats, digits = small(digits=None, **arguments), small(digits=10, **arguments)
    assert float(floats.columns["energy"][0]) == np.inf
    assert any("beyond the range of float64" in remark for remark in floats.remarks)
    assert Decimal(str(digits.columns["energy"][0])) > Decimal("1e400")


@pytest.mark.parametrize("digits", [None, 20])
def test_flat_tokens_that_blow_up(digits: int | None) -> None:
    with pytest.raises(UndecidedError, match=r"beyond t = 0\.\d+"):
        small(model="unnormalised", flat=True, times=[5], digits=digits)


def test_progress_is_told() -> None:
    seen: list[float] = []
    small(times=[20], progress=seen.append)
    assert seen[-1] == 1


REFUSED: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "model": ({"model": "soft"}, ("model", "soft", "softmax")),
    "beta": ({"beta": -1}, ("beta", "-1")),
    "float beta": ({"beta": 0.5}, ("beta", "0.5")),
    "no times": ({"times": ...}, ("times", "until")),
    "both": ({"until": 1}, ("times", "until")),
    "points beside times": ({"points": 3}, ("times",)),
    "one point": ({"times": ..., "until": 1, "points": 1}, ("points", "1")),
    "until 0": ({"times": ..., "until": 0}, ("until", "0")),
    "descending": ({"times": [1, 0]}, ("times", "1,0", "ascending")),
    "negative": ({"times": [-1]}, ("times", "-1")),
    "digits 0": ({"digits": 0}, ("digits", "0")),
    "digits 1001": ({"digits": 1001}, ("digits", "1001", "1000")),
    "dimensions": ({"heads": scalar_heads([1], 4)}, ("tokens", "d = 3", "d = 4")),
    "tokens": ({"tokens": [[1, 1]]}, ("tokens", "row 1")),
    "heads": ({"heads": 3}, ("M", "3")),
    "too many": (
        {"heads": scalar_heads([1], 200), "tokens": random_tokens(60, 200, 0)},
        ("digits", "60", "200", "None"),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str) -> None:
    arguments, words = REFUSED[case]
    with pytest.raises(InputError) as caught:
        small(**arguments)
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message, message


SYSTEMS: dict[str, Callable[[], dict[str, Any]]] = {
    "projectors": lambda: {
        "heads": block_heads("1,2", [1, 2]),
        "tokens": random_tokens(2, 3, 0),
    },
    "diagonal": lambda: {"heads": diagonal_heads(["1,0,-1"]), "tokens": random_tokens(4, 3, 0)},
    "blocks": lambda: {
        "heads": block_heads("1,13/10", [2, 2]),
        "tokens": block_equiangular_tokens(2, ["9/10", "1/10"], [0, "1/2"]),
    },
    "matrices": lambda: {"heads": [[[1, 2], [0, 1]]], "tokens": np.array([[0.6, 0.8]])},
}


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("digits", [None, 12])
def test_every_form_of_heads_and_tokens(system: str, digits: int | None) -> None:
    simulation = small(**SYSTEMS[system](), digits=digits)
    assert simulation.states is not None
    assert np.abs((simulation.states**2).sum(axis=-1) - 1).max() < 1e-10
