"""Texts of balls: every digit right for every number of the ball, and no digit given away."""

from decimal import Decimal, localcontext
from fractions import Fraction

from flint import arb
from hypothesis import example, given
from hypothesis import strategies as st

from numeric.balls import ball_precision, exact_ball
from numeric.decided_text import decided_text
from numeric.rounding import rounded_rational

F = Fraction


def ends(ball: arb) -> tuple[Fraction, Fraction]:
    """Return the ends of a ball, exactly."""
    low, high = (x.man_exp() for x in (ball.lower(), ball.upper()))
    first, second = (F(int(m)) * F(2) ** int(e) for m, e in (low, high))
    return first, second


@given(
    st.fractions(F(-1000), F(1000), max_denominator=10**12).filter(bool),
    st.integers(1, 40),
    st.integers(0, 60),
)
@example(F(1), 5, 20)
@example(F(99995, 100000), 4, 30)
@example(F(5, 2), 1, 40)
def test_digits_are_right_and_as_many_as_can_be(value: Fraction, digits: int, places: int) -> None:
    with ball_precision(400):
        ball = arb(exact_ball(value).mid(), arb(10) ** -places)
        text, kept = decided_text(ball, digits)
        low, high = ends(ball)
    if low <= 0 <= high:
        assert (text, kept) == ("0", 0)
        return
    assert kept is not None
    if kept:
        assert text == rounded_rational(low, kept).text == rounded_rational(high, kept).text
    for more in range(kept + 1, digits + 1):
        assert rounded_rational(low, more).text != rounded_rational(high, more).text


@given(st.integers(20_010, 10**7), st.booleans(), st.integers(1, 30), st.integers(1, 10**9))
def test_very_large_and_very_small_numbers(
    exponent: int, small: bool, digits: int, mantissa: int
) -> None:
    power = -exponent if small else exponent
    with ball_precision(300):
        text, kept = decided_text(exact_ball(F(mantissa, 7)) * arb(10) ** power, digits)
    assert kept == digits
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = digits, 10**8, -(10**8)
        near = Decimal(rounded_rational(F(mantissa, 7), digits).text)
        assert Decimal(text) == near.scaleb(power)


def test_what_there_is_nothing_to_decide_about() -> None:
    with ball_precision(100):
        assert decided_text(arb(0), 5) == ("0", None)
        assert decided_text(arb("nan"), 5) == ("nan", None)
        assert decided_text(arb(1) / 0, 5) == ("nan", None)
        assert decided_text(arb(0, 1), 5) == ("0", 0)
        assert decided_text(arb("1e-99"), 3) == ("1.00e-99", 3)
