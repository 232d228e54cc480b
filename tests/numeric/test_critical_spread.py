"""The critical half-spread, against early rates of unequal and equal strengths."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath.ctx_mp import MPContext

from numeric.batch import evaluate_many
from numeric.evaluate import evaluate
from numeric.float64 import evaluate_float64
from symbolic.errors import InputError


def gain(values: dict[str, Fraction], spread: Fraction, digits: int = 400) -> Any:
    """Return the early rate of ``mean +- spread`` less that of equal strengths, over the latter."""
    mp: Any = MPContext()
    mp.dps = digits

    def number(value: Fraction) -> Any:
        return mp.mpf(value.numerator) / value.denominator

    beta, n = number(values["beta"]), number(values["n"])

    def phi(strength: Fraction) -> Any:
        return 2 * number(strength) / (mp.exp(number(strength) * beta) + n - 1)

    mean = values["mean"]
    return (phi(mean + spread) + phi(mean - spread)) / (2 * phi(mean)) - 1


def around(text: str) -> tuple[Fraction, Fraction]:
    """Return the ends of what rounds to a text, a little wider."""
    digits = len(Decimal(text).as_tuple().digits)
    unit = Fraction(10) ** (Decimal(text).adjusted() - digits + 1)
    return Fraction(text) - unit * Fraction(51, 100), Fraction(text) + unit * Fraction(51, 100)


def exact(**values: object) -> dict[str, Fraction]:
    return {key: Fraction(str(value)) for key, value in values.items()}


@pytest.mark.parametrize("digits", [1, 50, 300, 3000])
def test_the_rates_cross_at_its_digits(digits: int) -> None:
    values = exact(mean="5/2", beta=1, n=2)
    answer = evaluate("critical-spread", digits=digits, **values)
    low, high = around(answer.value)
    assert gain(values, low, digits + 30) > 0 > gain(values, high, digits + 30)
    assert (answer.certified, answer.remarks) == (True, ())


def test_the_example_of_the_theory() -> None:
    # (2.45, 2.55) starts faster than (2.5, 2.5), and (1.5, 3.5) slower.
    value = Fraction(evaluate("critical-spread", mean="5/2", beta=1, n=2).value)
    assert Fraction(1, 20) < value < 1
    rates = [
        Fraction(
            evaluate("early-rate", lam=[Fraction(5, 2) - d, Fraction(5, 2) + d], beta=1, n=2).value
        )
        for d in (Fraction(1, 20), Fraction(0), Fraction(1))
    ]
    assert rates[0] > rates[1] > rates[2]


@settings(max_examples=40, deadline=None)
@given(
    st.integers(2, 10**6) | st.sampled_from([10**30, 10**100]),
    st.builds(Fraction, st.integers(1, 400), st.integers(1, 12)),
    st.builds(Fraction, st.integers(1001, 8000), st.just(1000)),
)
def test_it_is_the_only_change_of_sign(n: int, beta: Fraction, times: Fraction) -> None:
    inflection = Fraction(evaluate("rate-inflection", n=n, beta=beta, digits=30).value)
    values = {"mean": inflection * times, "beta": beta, "n": Fraction(n)}
    value = Fraction(evaluate("critical-spread", **values, digits=30).value)
    # It is below the mean, but may be rounded up to it.
    assert 0 < value <= values["mean"] * (1 + Fraction(1, 10**29))
    for k in range(1, 21):
        spread = values["mean"] * Fraction(k, 20)
        if abs(spread / value - 1) > Fraction(1, 10**20):
            assert bool(gain(values, spread, 150) > 0) is (spread < value)
    for share in (Fraction(1, 10**15), Fraction(1, 10**3), 1 - Fraction(1, 10**15)):
        assert gain(values, value * share, 150) > 0


@pytest.mark.parametrize("offset", ["1e-3", "1e-20", "1e-100"])
@pytest.mark.parametrize("n", [2, 64, 10**100])
def test_just_above_the_inflection(n: int, offset: str) -> None:
    beta = Fraction(2)
    inflection = evaluate("rate-inflection", n=n, beta=beta, digits=230).value
    values = {"mean": Fraction(inflection) + Fraction(offset), "beta": beta, "n": Fraction(n)}
    answer = evaluate("critical-spread", **values, digits=40)
    low, high = around(answer.value)
    assert gain(values, low, 700) > 0 > gain(values, high, 700)
    # It goes to zero like the square root of the distance.
    assert Fraction(answer.value) ** 2 < 100 * Fraction(offset) * max(1, len(str(n)))
    below: dict[str, Any] = {**values, "mean": Fraction(inflection) - Fraction(offset)}
    with pytest.raises(InputError, match="no value at mean <= lambda_c"):
        evaluate("critical-spread", **below)


def test_huge_and_tiny_parameters() -> None:
    for n, beta in ((2, "1e-80"), (10**100, "1e80"), (10**100, "1e-300")):
        inflection = Fraction(evaluate("rate-inflection", n=n, beta=beta).value)
        values = {"mean": inflection * 2, "beta": Fraction(beta), "n": Fraction(n)}
        value = evaluate("critical-spread", **values, digits=30).value
        # The product with beta depends on beta mean and n alone.
        scaled = {"mean": values["mean"] * values["beta"], "beta": Fraction(1), "n": Fraction(n)}
        product = Fraction(evaluate("critical-spread", **scaled, digits=30).value)
        assert abs(Fraction(value) * values["beta"] / product - 1) < Fraction(1, 10**29)
    strong = evaluate("critical-spread", mean="10^100", beta="10^100", n="10^100", digits=30)
    assert Fraction(strong.value) == 10**100


def test_where_there_is_none_the_error_tells_the_inflection() -> None:
    with pytest.raises(InputError) as caught:
        evaluate("critical-spread", mean="23/10", beta=1, n=2)
    assert str(caught.value) == (
        "critical-spread: no value at mean <= lambda_c: mean is not above lambda_c, so no two "
        "strengths mean +- spread start faster than equal ones; lambda_c = 2.39935728052"
    )
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match=r"no value at mean <= lambda_c"):
        evaluate_many("critical-spread", mean=[3, "23/10"], beta=1, n=2)
    assert np.isnan(evaluate_float64("critical-spread", mean=[3, 2.3], beta=1, n=2)).tolist() == [
        False,
        True,
    ]


@pytest.mark.parametrize("spread", ["1e-10", "1/10", 1, 2])
def test_where_there_is_none_every_spread_loses(spread: Any) -> None:
    assert gain(exact(mean="23/10", beta=1, n=2), Fraction(spread)) < 0
    assert gain(exact(mean=3, beta=1, n=64), Fraction(spread)) < 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"mean": 0}, "mean: 0 is outside its domain: real > 0"),
        ({"beta": 0}, "beta: 0 is outside its domain: real > 0"),
        ({"n": 1}, "n: 1 is outside its domain: integer >= 2"),
    ],
)
def test_refusals(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluate("critical-spread", **{"mean": 3, "beta": 1, "n": 2, **parameters})


def test_float64_keeps_its_tolerance_near_the_inflection() -> None:
    inflection = float(evaluate("rate-inflection", n=64, beta=1, digits=17).value)
    means = inflection * (1 + np.array([1e-14, 1e-12, 1e-8, 1e-4, 1e-2, 1.0, 1e3]))
    found = evaluate_float64("critical-spread", mean=means, beta=1, n=64)
    for mean, value in zip(means, found, strict=True):
        exactly = evaluate("critical-spread", mean=Fraction(mean), beta=1, n=64, digits=25).value
        assert abs(Fraction(value) / Fraction(exactly) - 1) <= Fraction(1, 10**13)
