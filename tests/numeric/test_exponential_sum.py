"""Sums of exponentials against mpmath, and their exact zeros."""

from fractions import Fraction
from typing import Any

from flint import arb
from hypothesis import given
from hypothesis import strategies as st
from mpmath.ctx_mp import MPContext

from numeric.balls import ball_precision
from numeric.exponential_sum import ExponentialSum

terms = st.dictionaries(
    st.builds(Fraction, st.integers(-40, 40), st.integers(1, 6)),
    st.builds(Fraction, st.integers(-9, 9), st.integers(1, 4)),
    max_size=4,
)


def value(context: Any, number: dict[Fraction, Fraction]) -> Any:
    def mpf(x: Fraction) -> Any:
        return context.mpf(x.numerator) / x.denominator

    return sum((mpf(c) * context.exp(mpf(q)) for q, c in number.items()), context.mpf(0))


@given(terms, terms)
def test_arithmetic_is_that_of_numbers(
    first: dict[Fraction, Fraction], second: dict[Fraction, Fraction]
) -> None:
    context: Any = MPContext()
    context.dps = 80
    a, b = ExponentialSum(first), ExponentialSum(second)
    x, y = value(context, first), value(context, second)
    for number, expected in ((a + b, x + y), (a - b, x - y), (a * b, x * y), (abs(a), abs(x))):
        with ball_precision(300):
            text = number.ball().str(50, radius=False)
        assert abs(context.mpf(text) - expected) <= context.mpf("1e-40") * (1 + abs(expected))
        assert number.sign() == context.sign(expected)


@given(terms)
def test_what_cancels_is_zero(number: dict[Fraction, Fraction]) -> None:
    a = ExponentialSum(number)
    assert (a - a).sign() == 0
    assert (a * a - a * a).as_rational == 0
    product = a * ExponentialSum.exponential(Fraction(3)) * ExponentialSum.exponential(Fraction(-3))
    assert (product - a).terms == {}


def test_rational_numbers_are_known_as_such() -> None:
    half = ExponentialSum.rational(Fraction(1, 2))
    assert half.as_rational == Fraction(1, 2)
    assert (half * ExponentialSum.exponential(Fraction(1))).as_rational is None


def test_a_difference_too_small_for_ordinary_precision_has_its_sign() -> None:
    tiny = Fraction(1, 10**500)
    larger = ExponentialSum.exponential(1 + tiny)
    assert (larger - ExponentialSum.exponential(Fraction(1))).sign() == 1
    huge = ExponentialSum.exponential(Fraction(10**60))
    assert (ExponentialSum.rational(Fraction(10**30)) - huge).sign() == -1


def test_the_ball_encloses_the_number() -> None:
    with ball_precision(53):
        assert ExponentialSum.exponential(Fraction(1)).ball().overlaps(arb(1).exp())
