"""Trajectories of orthogonal heads: against the tokens' flow in coordinates, and among themselves.

The second methods share nothing with the reduced system: the n tokens with all their coordinates by
SciPy and by mpmath, and quadratures where the system has one degree of freedom.
"""

from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath.ctx_mp import MPContext

from numeric.definitions import Flow, Numbers, inner
from numeric.simulate_orthogonal_heads import simulate_orthogonal_heads
from numeric.simulation import Simulation
from symbolic.errors import InputError, UndecidedError

Array = npt.NDArray[np.float64]
MODELS = ("unnormalised", "softmax", "relu")
models = pytest.mark.parametrize("model", MODELS)

LEAD: dict[str, Any] = {
    "lam": "1,13/10",
    "shares": "9/10,1/10",
    "overlaps": "3/5,3/5",
    "beta": 2,
    "n": 8,
}


def numbers(simulation: Simulation, column: str) -> list[Decimal]:
    return [Decimal(str(value)) for value in simulation.columns[column]]


# The tokens with all their coordinates, in NumPy.


class Tokens:
    """Tokens equiangular in blocks of n coordinates; everything word for word from the models."""

    def __init__(
        self, model: str, lam: list[float], beta: float, shares: list[float], overlaps: list[float]
    ) -> None:
        self.model, self.lam, self.beta = model, lam, beta
        self.shares, self.overlaps = shares, overlaps

    def start(self, n: int) -> Array:
        blocks = []
        for size, overlap in zip(self.shares, self.overlaps, strict=True):
            gram = np.full((n, n), overlap) + (1 - overlap) * np.eye(n)
            blocks.append(np.sqrt(size) * np.linalg.cholesky(gram))
        return np.concatenate(blocks, axis=1)

    def parts(self, x: Array) -> list[Array]:
        n = len(x)
        return [x[:, h * n : (h + 1) * n] for h in range(len(self.lam))]

    def aggregates(self, x: Array) -> list[Array]:
        found = []
        for h, part in enumerate(self.parts(x)):
            scores = self.lam[h] * part @ part.T
            weights = np.maximum(0, scores) if self.model == "relu" else np.exp(self.beta * scores)
            if self.model == "softmax":
                weights /= weights.sum(axis=1, keepdims=True)
            f = np.zeros_like(x)
            f[:, h * len(x) : (h + 1) * len(x)] = weights @ (self.lam[h] * part)
            found.append(f)
        return found

    def rate(self, x: Array) -> Array:
        v = np.sum(self.aggregates(x), axis=0)
        if self.model != "softmax":
            v /= len(x)
        rate: Array = v - np.sum(v * x, axis=1, keepdims=True) * x
        return rate

    def margin(self, x: Array, h: int) -> float:
        """Return the margin of Condition 8 of head h, the least over the tokens."""
        f = self.aggregates(x)
        shadows = [np.sum(g * x, axis=1) for g in f]
        square = np.sum(f[h] ** 2, axis=1)
        others = sum(abs(a) for k, a in enumerate(shadows) if k != h)
        return float(np.min(square - shadows[h] ** 2 - np.sqrt(square) * others))

    def energy_rate(self, x: Array, h: int) -> float:
        part, moved = self.parts(x)[h], self.parts(self.rate(x))[h]
        weights = np.exp(self.beta * self.lam[h] * part @ part.T)
        return float(np.sum(weights * (moved @ part.T)) * self.lam[h] / len(x) ** 2)

    def at(self, times: list[float], n: int) -> Array:
        from scipy.integrate import solve_ivp

        start = self.start(n)
        run = solve_ivp(
            lambda t, y: self.rate(y.reshape(start.shape)).ravel(),
            (0, times[-1]),
            start.ravel(),
            method="DOP853",
            t_eval=times,
            rtol=1e-12,
            atol=1e-13,
        )
        states: Array = run.y.T.reshape(len(times), *start.shape)
        return states


CASES: dict[str, dict[str, Any]] = {
    "two heads": {
        "lam": [1.0, 1.25],
        "shares": [0.75, 0.25],
        "overlaps": [0.5, 0.25],
    },
    "three heads of both signs": {
        "lam": [1.0, -1.5, 0.5],
        "shares": [0.5, 0.25, 0.25],
        "overlaps": [0.5, -0.25, 0.0],
    },
}


@pytest.mark.parametrize("digits", [None, 20])
@pytest.mark.parametrize("case", CASES)
@models
def test_tokens_in_coordinates_agree(model: str, case: str, digits: int | None) -> None:
    given, n, times = CASES[case], 4, [0.5, 1.0, 2.0]
    states = Tokens(model, beta=2.0, **given).at(times, n)
    exact: dict[str, Any] = {name: list(map(str, values)) for name, values in given.items()}
    run = simulate_orthogonal_heads(
        model=model, beta=2, n=n, times=["1/2", 1, 2], digits=digits, **exact
    )
    for k in range(len(given["lam"])):
        block = states[:, :, k * n : (k + 1) * n]
        shares = np.sum(block[:, 0] ** 2, axis=1)
        overlaps = np.sum(block[:, 0] * block[:, 1], axis=1) / shares
        found = [
            np.array([float(x) for x in run.columns[f"{name}_h{k + 1}"]])
            for name in ("share", "overlap", "one_minus_overlap")
        ]
        for mine, theirs in zip(found, (shares, overlaps, 1 - overlaps), strict=True):
            assert np.allclose(mine, theirs, rtol=1e-9, atol=1e-10)


@models
def test_tokens_in_coordinates_by_mpmath_agree(model: str) -> None:
    """Two tokens and two heads, 25 digits, by Taylor series."""
    mp: Any = MPContext()
    mp.dps = 25
    n, time = 2, mp.mpf(1) / 4
    lam, shares, overlaps = ([1, 1.5], [0.375, 0.625], [0.25, -0.5])
    functions = Numbers(mp.exp, mp.sqrt, max)
    start = []
    for sign in (1, -1):
        for size, overlap in zip(shares, overlaps, strict=True):
            far, near = (mp.sqrt(mp.mpf(size) * (1 + s * overlap) / 2) for s in (1, -1))
            start += [far, sign * near]
    d = len(start) // n
    heads = [
        [[mp.mpf(lam[h] if i == j and i // n == h else 0) for j in range(d)] for i in range(d)]
        for h in range(2)
    ]

    def rate(_: Any, y: list[Any]) -> list[Any]:
        tokens = [list(y[i * d : (i + 1) * d]) for i in range(n)]
        flow = Flow(model, tokens, heads, heads, mp.mpf(2), functions)
        return [c for row in flow.token_rates() for c in row]

    end = mp.odefun(rate, 0, start)(time)
    run = simulate_orthogonal_heads(
        model=model,
        lam="1,3/2",
        shares="3/8,5/8",
        overlaps="1/4,-1/2",
        beta=2,
        n=n,
        times="1/4",
        digits=25,
    )
    for k in range(2):
        first, second = (end[i * d + k * n : i * d + (k + 1) * n] for i in range(n))
        size, product = inner(first, first), inner(first, second)
        for name, value in (("share", size), ("overlap", product / size)):
            (mine,) = run.columns[f"{name}_h{k + 1}"]
            assert abs(mp.mpf(mine) - value) < mp.mpf(10) ** -22


# One degree of freedom: a quadrature.


def passage(rate: Callable[[Any, Any], Any], low: str, high: str) -> Decimal:
    """Return the time from one value to another of ``x' = rate(x)``."""
    mp: Any = MPContext()
    mp.dps = 45
    return Decimal(mp.nstr(mp.quad(lambda x: 1 / rate(mp, x), [mp.mpf(low), mp.mpf(high)]), 40))


@models
def test_one_head_is_the_scalar_regime(model: str) -> None:
    """The time of passage between two overlaps, from the reduced equation of section 3."""
    n, strength, beta = 6, Fraction(3, 2), Fraction(2)

    def rate(mp: Any, gamma: Any) -> Any:
        lam = mp.mpf(3) / 2
        both = 2 * lam * (1 - gamma) * (1 + (n - 1) * gamma)
        if model == "softmax":
            return both / (mp.exp(beta.numerator * lam * (1 - gamma)) + n - 1)
        return both / n * (lam * gamma if model == "relu" else mp.exp(2 * lam * gamma))

    run = simulate_orthogonal_heads(
        model=model,
        lam=strength,
        shares=1,
        overlaps="1/10",
        beta=beta,
        n=n,
        times="1/2",
        digits=40,
    )
    (overlap,), (size,) = run.columns["overlap_h1"], run.columns["share_h1"]
    assert size == "1." + 39 * "0"
    time = passage(rate, "0.1", str(overlap))
    assert abs(time - Decimal("0.5")) < Decimal("1e-36")
    # No other head: Condition 8 holds with all the tangential power as its margin.
    assert run.columns["condition8_h1"] == run.columns["condition8_sharp_h1"]


CONSENSUS: dict[str, Any] = {
    "lam": "1,3/2",
    "shares": "3/4,1/4",
    "overlaps": "1-1e-60,1-1e-60",
    "beta": 2,
    "n": 5,
}


@pytest.mark.parametrize("model", ["unnormalised", "relu"])
def test_at_consensus_the_shares_follow_the_replicator_equation(model: str) -> None:
    def rate(mp: Any, s: Any) -> Any:
        r, lam = 1 - s, mp.mpf(3) / 2
        if model == "relu":
            return 2 * s * r * (s - lam**2 * r)
        return 2 * s * r * (mp.exp(2 * s) - lam * mp.exp(2 * lam * r))

    run = simulate_orthogonal_heads(model=model, **CONSENSUS, times="1/4", digits=40)
    (size,) = run.columns["share_h1"]
    assert abs(passage(rate, "0.75", str(size)) - Decimal("0.25")) < Decimal("1e-36")


def test_at_consensus_softmax_shares_grow_by_their_strengths() -> None:
    """All weights are equal, so ``ln(s_2/s_1)`` grows at the rate ``2 (lambda_2 - lambda_1)``."""
    run = simulate_orthogonal_heads(model="softmax", **CONSENSUS, times="1,10", digits=40)
    context = Context(prec=60)
    for time, first, second in zip(
        (1, 10), numbers(run, "share_h1"), numbers(run, "share_h2"), strict=True
    ):
        ratio = context.divide(second, first)
        expected = context.divide(context.exp(Decimal(time)), Decimal(3))
        assert abs(ratio / expected - 1) < Decimal("1e-37")


# Leads of the mathematics.


def test_the_head_with_the_smaller_share_loses_energy() -> None:
    run = simulate_orthogonal_heads(**LEAD, times=0, digits=50)
    assert numbers(run, "denergy_h2")[0] < 0 < numbers(run, "denergy_h1")[0]
    tokens = Tokens("unnormalised", [1.0, 1.3], 2.0, [0.9, 0.1], [0.6, 0.6])
    there = [tokens.energy_rate(tokens.start(8), h) for h in range(2)]
    found = [float(numbers(run, f"denergy_h{k}")[0]) for k in (1, 2)]
    assert np.allclose(found, there, rtol=1e-12)


def test_dominance_is_lost_first_and_per_head_monotonicity_later() -> None:
    """n = 40, beta = 1, equal strengths, shares 0.52 and 0.48, orthonormal within blocks.

    Both are lost by the head with the smaller share: Condition 8 near t = 1.98, then the sign of
    dE_h/dt, and with it the sharp Condition 8, near t = 2.55.
    """
    n = 40
    at = ["1.975", "1.98", "2.545", "2.555"]
    run = simulate_orthogonal_heads(
        lam="1,1", shares="0.52,0.48", overlaps="0,0", beta=1, n=n, times=at, digits=25
    )
    tokens = Tokens("unnormalised", [1.0, 1.0], 1.0, [0.52, 0.48], [0.0, 0.0])
    states = tokens.at([float(t) for t in at], n)
    margins, rates = numbers(run, "condition8_h2"), numbers(run, "denergy_h2")
    sharp = numbers(run, "condition8_sharp_h2")
    assert margins[0] > 0 > margins[1]
    assert rates[2] > 0 > rates[3]
    assert sharp[2] > 0 > sharp[3]
    assert all(x > 0 for x in (*numbers(run, "denergy_h1"), *rates[:3], *sharp[:3]))
    for k, state in enumerate(states):
        assert np.isclose(float(margins[k]), tokens.margin(state, 1), rtol=1e-7, atol=1e-9)
        assert np.isclose(float(rates[k]), tokens.energy_rate(state, 1), rtol=1e-7, atol=1e-12)


# Trajectories among themselves.

FAR: dict[str, Any] = {
    "lam": "1,-1/2,3/2",
    "shares": "1/2,1/3,1/6",
    "overlaps": "1/4,-1/5,1/10",
    "beta": 1,
    "n": 5,
    "times": "0,1/3,2",
}


@cache
def far(model: str, digits: int | None) -> Simulation:
    return simulate_orthogonal_heads(model=model, **FAR, digits=digits)


def rounded(text: str, digits: int) -> Decimal:
    return Context(prec=digits).plus(Decimal(text))


@models
def test_30_digits_are_the_rounding_of_60(model: str) -> None:
    short, long = far(model, 30), far(model, 60)
    assert list(short.columns) == list(long.columns)
    for name, column in short.columns.items():
        for mine, finer in zip(column, long.columns[name], strict=True):
            assert Decimal(str(mine)) == rounded(str(finer), 30), name


@models
def test_shares_sum_to_1_and_overlaps_to_1_with_their_gaps(model: str) -> None:
    run = far(model, 30)
    close = Fraction(1, 10**29)
    for row in zip(*(run.columns[f"share_h{k}"] for k in (1, 2, 3)), strict=True):
        parts = [Fraction(str(part)) for part in row]
        assert abs(sum(parts, Fraction(0)) - 1) < close
        assert all(0 < part < 1 for part in parts)
    for k in (1, 2, 3):
        columns = (run.columns[f"{name}overlap_h{k}"] for name in ("", "one_minus_"))
        pairs = zip(*(map(Fraction, column) for column in columns), strict=True)
        assert all(abs(overlap + gap - 1) < close for overlap, gap in pairs)


@models
def test_float64_agrees_with_digits(model: str) -> None:
    quick, exact = far(model, None), far(model, 30)
    assert float(quick.error) < 1e-9
    assert list(quick.columns) == list(exact.columns)
    for name, column in quick.columns.items():
        values = np.array([float(x) for x in exact.columns[name]])
        assert np.allclose(column, values, rtol=1e-8, atol=1e-10), name
        relative = name.startswith(("share", "one_minus", "energy", "entropy", "t"))
        assert not relative or np.allclose(column, values, rtol=1e-8, atol=0), name


@pytest.mark.parametrize("name", ["energy", "entropy"])
@models
def test_rates_are_the_derivatives_of_their_columns(model: str, name: str) -> None:
    step = Decimal("1e-12")
    at = [str(Decimal(1) + k * step) for k in (-1, 0, 1)]
    run = simulate_orthogonal_heads(model=model, **{**FAR, "times": ",".join(at)}, digits=50)
    for k in (1, 2, 3):
        before, _, after = numbers(run, f"{name}_h{k}")
        slope = numbers(run, f"d{name}_h{k}")[1]
        assert abs((after - before) / (2 * step) - slope) < Decimal("1e-20")
        assert abs(slope) > Decimal("1e-6") or model == "relu"


def test_tokens_of_positive_heads_cluster_in_every_block() -> None:
    run = simulate_orthogonal_heads(**LEAD, times="0,1,4,16", digits=20)
    for k in (1, 2):
        gaps = numbers(run, f"one_minus_overlap_h{k}")
        assert gaps == sorted(gaps, reverse=True)
        assert gaps[-1] < Decimal("1e-10")
    # The head that drives more takes all; the other's share keeps its digits.
    assert numbers(run, "share_h2")[-1] < Decimal("1e-70")


@models
def test_equal_heads_stay_equal(model: str) -> None:
    run = simulate_orthogonal_heads(
        model=model,
        lam="3/2,3/2",
        shares="1/2,1/2",
        overlaps="1/5,1/5",
        beta=1,
        n=5,
        times="0,1,3",
        digits=25,
    )
    columns = dict(run.columns)
    assert columns.pop("t") == ["0", "1." + 24 * "0", "3." + 24 * "0"]
    assert columns["share_h1"] == ["0.5" + 24 * "0"] * 3
    for name in columns:
        if name.endswith("_h1"):
            assert columns[name] == columns[name[:-1] + "2"], name


def test_relu_leaves_alone_what_it_does_not_see() -> None:
    run = simulate_orthogonal_heads(
        model="relu",
        lam="1,1,-1,1",
        shares="1/4,1/4,1/4,1/4",
        overlaps="-1/4,0,1/4,1/4",
        beta=1,
        n=4,
        times="0,1,2",
        digits=20,
    )
    assert set(run.columns["overlap_h1"]) == {"-0.25" + 18 * "0"}
    assert set(run.columns["overlap_h2"]) == {"0"}
    assert set(run.columns["overlap_h3"]) == {"0.25" + 18 * "0"}
    assert set(run.columns["radial_cosine_h3"]) == {"nan"}
    overlaps = numbers(run, "overlap_h4")
    assert overlaps[0] < overlaps[1] < overlaps[2]
    text = " ".join(run.remarks)
    assert "relu" in text
    assert "nan" in text


@pytest.mark.parametrize("digits", [None, 15])
def test_where_nothing_moves_columns_are_constant(digits: int | None) -> None:
    run = simulate_orthogonal_heads(
        model="relu", lam=1, shares=1, overlaps=0, beta=2, n=3, until=2, points=3, digits=digits
    )
    for name, column in run.columns.items():
        assert name == "t" or len({str(value) for value in column}) == 1, name
    assert float(run.columns["share_h1"][0]) == 1


def test_zeros_and_ties_are_settled() -> None:
    """Two equal heads that relu keeps where they are: no share moves, so no energy does."""
    run = simulate_orthogonal_heads(
        model="relu",
        lam="1,1",
        shares="1/2,1/2",
        overlaps="0,0",
        beta=1,
        n=4,
        times="0,1",
        digits=2,
    )
    assert run.columns["denergy_h1"] == ["0", "0"]
    assert any("denergy_h1, denergy_h2" in remark for remark in run.remarks)
    # |P f|^2 = s^3 (1 - s) = 1/16 and |f| |a| = s^(3/2) s^2 = 1/8 sqrt(1/2); sharp: 1/16 - 1/16.
    assert run.columns["condition8_h1"] == ["-0.026", "-0.026"]
    assert run.columns["condition8_sharp_h1"] == ["0", "0"]
    tied = simulate_orthogonal_heads(
        model="relu", lam=1, shares=1, overlaps="1/8", beta=1, n=2, times="0", digits=2
    )
    assert tied.columns["overlap_h1"] == ["0.12"]
    assert tied.columns["one_minus_overlap_h1"] == ["0.88"]
    # |P f|^2 = rho^2 (1 - rho^2) = 0.015380859375: a tie at ten digits.
    tied = simulate_orthogonal_heads(
        model="relu", lam=1, shares=1, overlaps="1/8", beta=1, n=2, times="0", digits=10
    )
    assert tied.columns["condition8_h1"] == ["0.01538085938"]


def test_a_head_without_strength_only_loses_share() -> None:
    run = simulate_orthogonal_heads(
        model="softmax", lam="0,1", shares="1/2,1/2", overlaps="0,0", beta=1, n=4, times="0,1"
    )
    assert set(run.columns["overlap_h1"]) == {"0"}
    assert set(run.columns["denergy_h1"]) == {"0"}
    assert set(run.columns["radial_cosine_h1"]) == {"nan"}
    before, after = numbers(run, "share_h1")
    assert after < before


def test_without_temperature_energies_are_infinite() -> None:
    for digits in (15, None):
        run = simulate_orthogonal_heads(
            lam="1,2", shares="1/2,1/2", overlaps="0,0", beta=0, n=4, times="0,1", digits=digits
        )
        assert [float(x) for x in run.columns["energy_h1"]] == [np.inf, np.inf]
        assert all(np.isfinite(float(x)) for x in run.columns["denergy_h1"])
        assert any("beta = 0" in remark for remark in run.remarks)


def test_shares_and_overlaps_next_to_their_ends() -> None:
    run = simulate_orthogonal_heads(
        lam="1,1",
        shares="1-1e-40,1e-40",
        overlaps="1-1e-50,-1/3+1e-45",
        beta=1,
        n=4,
        times="0,1/10",
        digits=20,
    )
    assert run.columns["share_h2"][0] == "1." + 19 * "0" + "e-40"
    assert run.columns["one_minus_overlap_h1"][0] == "1." + 19 * "0" + "e-50"
    assert Decimal(str(run.columns["overlap_h2"][0])) == rounded("-0." + 60 * "3", 20)
    # The share of a head that drives less: both are 1e-40, so (ln s)' is constant to 20 digits.
    first, second = numbers(run, "share_h2")
    assert second < first


@settings(max_examples=15)
@given(
    st.sampled_from(MODELS),
    st.lists(
        st.tuples(
            st.fractions(-3, 3, max_denominator=20),
            st.integers(1, 9),
            st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50),
        ),
        min_size=1,
        max_size=4,
    ),
    st.fractions(0, 3, max_denominator=20),
    st.integers(2, 30),
)
def test_float64_runs_over_the_domain(
    model: str, heads: list[tuple[Fraction, int, Fraction]], beta: Fraction, n: int
) -> None:
    total = sum(part for _, part, _ in heads)
    lowest = Fraction(-1, n - 1)
    run = simulate_orthogonal_heads(
        model=model,
        lam=[strength for strength, _, _ in heads],
        shares=[Fraction(part, total) for _, part, _ in heads],
        overlaps=[lowest + spot * (1 - lowest) for _, _, spot in heads],
        beta=beta,
        n=n,
        until="1/2",
        points=3,
        digits=None,
    )
    count = range(1, len(heads) + 1)
    columns = [np.asarray(run.columns[f"share_h{k}"], dtype=float) for k in count]
    assert np.allclose(np.sum(columns, axis=0), 1)
    for k, (strength, _, _) in enumerate(heads, 1):
        # An overlap moves with the sign of its strength, or not at all.
        overlap = np.asarray(run.columns[f"overlap_h{k}"], dtype=float)
        change = np.diff(overlap) * np.sign(float(strength))
        assert (change >= 0).all() if strength else (np.diff(overlap) == 0).all()
        entropy = np.asarray(run.columns[f"entropy_h{k}"], dtype=float)
        assert (entropy <= np.log(n) * (1 + 1e-12)).all()


# What a run says of itself, and what is refused.


def test_a_run_says_how_to_run_it_again() -> None:
    run = simulate_orthogonal_heads(**LEAD, until="1/2", points=3, digits=20)
    assert run.regime == "orthogonal-heads"
    assert run.parameters == {
        "model": "unnormalised",
        "lam": ["1", "13/10"],
        "shares": ["9/10", "1/10"],
        "overlaps": ["3/5", "3/5"],
        "beta": "2",
        "n": "8",
        "until": "1/2",
        "points": "3",
    }
    assert run.digits == 20
    assert not run.certified
    assert Decimal(run.error) < Decimal("1e-20")
    given: dict[str, Any] = dict(run.parameters)
    again = simulate_orthogonal_heads(**given, digits=run.digits)
    assert again.columns == run.columns
    assert run.columns["t"][1] == "0.25" + 18 * "0"


def test_columns_are_in_the_order_of_the_file() -> None:
    run = simulate_orthogonal_heads(**LEAD, times=0, digits=None)
    names = [
        "share",
        "overlap",
        "one_minus_overlap",
        "energy",
        "denergy",
        "entropy",
        "dentropy",
        "radial_cosine",
        "condition8",
        "condition8_sharp",
    ]
    assert list(run.columns) == ["t", *(f"{name}_h{k}" for name in names for k in (1, 2))]


def test_progress_is_told() -> None:
    told: list[float] = []
    simulate_orthogonal_heads(**LEAD, times="1", digits=15, progress=told.append)
    assert told
    assert told == sorted(told)
    assert told[-1] == 1


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "sum of shares": ({"shares": "9/10,1/5"}, "shares: their sum is 11/10; accepted"),
    "share of zero": ({"shares": "1,0"}, "shares: 0 is outside"),
    "a share missing": ({"shares": "1"}, "shares: 1 given for 2 strengths"),
    "an overlap too many": ({"overlaps": "0,0,0"}, "overlaps: 3 given for 2 strengths"),
    "overlap of 1": ({"overlaps": "1,0"}, "overlaps: 1 is outside"),
    "overlap at the lower end": ({"overlaps": "0,-1/7"}, "overlaps: -1/7 is outside"),
    "a float": ({"beta": 0.5}, "beta: the binary float 0.5"),
    "temperature below zero": ({"beta": "-1"}, "beta: -1 is outside"),
    "one token": ({"n": 1}, "n: 1 is outside"),
    "model": ({"model": "sigmoid"}, "model: 'sigmoid'"),
    "no strengths": ({"lam": []}, "lam: the list is empty"),
    "no digits": ({"digits": 0}, "digits: 0"),
    "times and until": ({"times": "1", "until": 1}, "times: "),
    "neither times nor until": ({"times": None}, "times: "),
    "times and points": ({"times": "1", "points": 5}, "times: "),
    "times that do not ascend": ({"times": "0,2,1"}, "times: 0,2,1 are not ascending"),
    "a time twice": ({"times": "1,1"}, "times: 1,1 are not ascending"),
    "time below zero": ({"times": "-1,1"}, "times: -1 is outside"),
    "until zero": ({"times": None, "until": 0}, "until: 0 is outside"),
    "one point": ({"times": None, "until": 1, "points": 1}, "points: 1 is outside"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_wrong_calls_are_refused_in_one_line(what: str) -> None:
    change, message = REFUSED[what]
    with pytest.raises(InputError) as caught:
        simulate_orthogonal_heads(**{**LEAD, "times": "1", **change})
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("digits", [None, 15])
def test_numbers_beyond_float64_are_refused_in_one_line(digits: int | None) -> None:
    run = partial(simulate_orthogonal_heads, shares="1/2,1/2", overlaps="0,0", times="1")
    for change in ({"lam": "1,10^400", "n": 4}, {"lam": "1,2", "n": "10^400"}):
        with pytest.raises(UndecidedError, match="beyond the range of float64"):
            run(beta=1, digits=digits, **change)
    with pytest.raises(UndecidedError, match="beyond t = "):
        run(lam="1,2", beta=10**4, n=4, digits=digits)
