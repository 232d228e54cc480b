"""Rounded texts, against `decimal`'s correctly rounded division and exact fractions."""

import decimal
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from flint import arb, ctx, fmpz
from hypothesis import example, given
from hypothesis import strategies as st

from numeric import rounding
from numeric.balls import ball_precision, exact_ball
from numeric.rounding import Rounded, rounded_ball, rounded_rational, upper_text
from symbolic.errors import UndecidedError
from tests.numeric.independent import exact_decimals


def oracle(value: Fraction, digits: int) -> Decimal:
    """Return a fraction rounded half to even, by decimal's exact division."""
    return exact_decimals(digits).divide(Decimal(value.numerator), Decimal(value.denominator))


def check_text(text: str, value: Fraction, digits: int) -> None:
    """Assert that a text is the rounding of a number and is laid out as documented."""
    expected = oracle(value, digits)
    assert Decimal(text) == expected
    exponent = expected.adjusted()
    plain, _, power = text.removeprefix("-").partition("e")
    figures = plain.replace(".", "").lstrip("0")
    assert len(figures) == digits
    if -6 <= exponent < digits:
        assert not power
        assert re.fullmatch(r"0\.0*[1-9][0-9]*|[1-9][0-9]*(\.[0-9]+)?", plain)
    else:
        assert re.fullmatch(r"[+-][1-9][0-9]*", power)
        assert int(power) == exponent
        assert re.fullmatch(r"[1-9](\.[0-9]+)?", plain)


signs = st.sampled_from([1, -1])
fractions = st.builds(
    lambda sign, top, bottom, shift: sign * Fraction(top, bottom) * Fraction(10) ** shift,
    signs,
    st.integers(1, 10**40),
    st.integers(1, 10**20),
    st.integers(-60, 60),
)


@st.composite
def near_ties(draw: st.DrawFn) -> tuple[Fraction, int]:
    """Draw digits and a number on or a hair beside a tie at those digits."""
    digits = draw(st.integers(1, 30))
    whole = draw(
        st.integers(10 ** (digits - 1), 10**digits - 1)
        | st.sampled_from([10 ** (digits - 1), 10**digits - 1])
    )
    hair = draw(st.sampled_from([0, 1, -1])) * Fraction(1, 10 ** draw(st.integers(1, 200)))
    tie = whole + Fraction(1, 2) + hair
    return draw(signs) * tie * Fraction(10) ** draw(st.integers(-200, 200)), digits


@given(fractions, st.integers(1, 80))
def test_rationals(value: Fraction, digits: int) -> None:
    rounded = rounded_rational(value, digits)
    check_text(rounded.text, value, digits)
    assert rounded.radius == "0"
    assert rounded.sign == (1 if value > 0 else -1)


@given(near_ties())
@example((Fraction(-5, 2), 1))
@example((Fraction(995, 100), 2))
def test_rationals_near_ties(case: tuple[Fraction, int]) -> None:
    value, digits = case
    check_text(rounded_rational(value, digits).text, value, digits)


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        ("1/8", 2, "0.12"),
        ("3/8", 2, "0.38"),
        ("5/2", 1, "2"),
        ("7/2", 1, "4"),
        ("-5/2", 1, "-2"),
        ("19/2", 1, "1e+1"),
        ("999/100", 2, "10"),
        ("99999/100000", 3, "1.00"),
        ("25", 1, "2e+1"),
        ("35", 1, "4e+1"),
        ("12", 2, "12"),
        ("120", 2, "1.2e+2"),
        ("1/1000000", 1, "0.000001"),
        ("1/10000000", 1, "1e-7"),
        ("9999999/10000000000000", 3, "0.00000100"),
        ("1", 5, "1.0000"),
    ],
)
def test_layout(value: str, digits: int, text: str) -> None:
    assert rounded_rational(Fraction(value), digits).text == text


def test_zero() -> None:
    assert rounded_rational(Fraction(0), 7) == Rounded("0", "0", 0)


def test_long_rationals() -> None:
    value = Fraction(10**6000 + 7, 3**5000)
    check_text(rounded_rational(value, 10_000).text, value, 10_000)
    check_text(rounded_rational(1 / value, 1).text, 1 / value, 1)


@pytest.mark.parametrize(
    "round_wrongly",
    [
        lambda value: int(value + Fraction(1, 2)),
        lambda value: int(value),
        lambda value: -int(-value // 1),
        lambda value: round(value) + 1,
    ],
    ids=["half up", "down", "up", "one more"],
)
def test_another_way_of_rounding_is_found(
    round_wrongly: Callable[[Fraction], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [(Fraction(5, 2), 1), (Fraction(22, 7), 3), (Fraction(25, 9), 3)]
    for value, digits in cases:
        check_text(rounded_rational(value, digits).text, value, digits)
    monkeypatch.setattr(rounding, "round", round_wrongly, raising=False)
    found = 0
    for value, digits in cases:
        try:
            check_text(rounded_rational(value, digits).text, value, digits)
        except AssertionError:
            found += 1
    assert found > 0


def interval(middle: Fraction, radius: Fraction) -> Callable[[], arb]:
    """Return what encloses the same interval at every precision, up to rounding."""
    return lambda: arb(mid=exact_ball(middle), rad=exact_ball(radius))


def once(middle: Fraction, radius: Fraction, digits: int) -> Rounded | None:
    """Return the decision on one ball at 300 bits."""
    with ball_precision(300):
        return rounding._decide(interval(middle, radius)(), digits)


@st.composite
def intervals(draw: st.DrawFn) -> tuple[Fraction, Fraction, int]:
    """Draw digits and an interval, narrow or wide, mostly beside a tie or a power of ten."""
    value, digits = draw(near_ties() | st.tuples(fractions, st.integers(1, 30)))
    if draw(st.booleans()):
        value = Fraction(10) ** draw(st.integers(-30, 30)) * (1 + value / abs(value) / 10**digits)
    radius = abs(value) * draw(st.integers(1, 99)) / Fraction(10) ** draw(st.integers(1, 60))
    return value, radius, digits


@given(intervals())
@example((Fraction(94, 10), Fraction(2, 10), 1))
@example((Fraction(9949, 1000), Fraction(1, 500), 2))
@example((Fraction(995, 1000), Fraction(1, 1000), 1))
@example((Fraction(1), Fraction(1, 100), 1))
@example((Fraction(1), Fraction(6, 100), 1))
@example((Fraction(10), Fraction(1, 2), 1))
def test_a_ball_is_decided_if_and_only_if_it_rounds_to_one_number(
    case: tuple[Fraction, Fraction, int],
) -> None:
    middle, radius, digits = case
    rounded = once(middle, radius, digits)
    low, high = middle - radius, middle + radius
    # Balls are a little wider than the interval they are made of.
    margin = radius / 10**6 + abs(middle) / 2**290
    if low * high <= 0:
        assert rounded is None
        return
    if rounded is not None:
        check_text(rounded.text, low, digits)
        check_text(rounded.text, high, digits)
        assert Fraction(rounded.radius) >= radius
        assert rounded.sign == (1 if low > 0 else -1)
    elif (low - margin) * (high + margin) > 0:
        assert oracle(low - margin, digits) != oracle(high + margin, digits)


@given(st.integers(-400, 400), signs, st.integers(1, 50))
def test_powers_of_ten_are_decided_from_both_sides(power: int, sign: int, digits: int) -> None:
    value = sign * Fraction(10) ** power
    radius = abs(value) / 10 ** (digits + 2)
    rounded = once(value, radius, digits)
    assert rounded is not None
    check_text(rounded.text, value, digits)


@pytest.mark.parametrize("digits", [1, 2, 30])
@pytest.mark.parametrize("distance", [40, 400, 4000])
def test_precision_is_raised_until_the_side_of_a_tie_is_known(digits: int, distance: int) -> None:
    tie = Fraction(2 * 10**digits - 1, 2 * 10**digits)  # 0.99..95: half a unit below 1
    hair = Fraction(1, 10**distance)
    for value in (tie - hair, tie + hair):
        rounded = rounded_ball(lambda value=value: exact_ball(value), digits)  # type: ignore[misc]
        check_text(rounded.text, value, digits)
        assert Fraction(rounded.radius) <= hair


def test_an_exact_tie_in_balls_is_decided() -> None:
    assert rounded_ball(lambda: arb(5) / 2, 1).text == "2"


def test_what_balls_cannot_decide() -> None:
    precisions: list[int] = []

    def zero() -> arb:
        precisions.append(ctx.prec)
        third = arb(1) / 3
        return third - third

    with pytest.raises(UndecidedError, match="50 digits are not decided at 1000700 bits"):
        rounded_ball(zero, 50)
    # Doubled each time, and the last attempt is at the cap itself.
    assert precisions[-1] == 1_000_700
    assert all(b <= 2 * a for a, b in pairwise(precisions))


@pytest.mark.parametrize(
    "ball",
    [
        lambda: arb(mid=1, rad=arb("inf")),
        lambda: arb("nan"),
        lambda: arb.neg_inf(),
        lambda: arb(mid=0, rad=fmpz(10) ** 100),
    ],
)
def test_balls_that_say_nothing_are_not_decided(ball: Callable[[], Any]) -> None:
    assert rounding._decide(ball(), 5) is None


@pytest.mark.parametrize(("sign", "power_of_ten"), [(1, 100), (1, 1000), (-1, 100), (-1, 4400)])
def test_sizes_with_huge_exponents(sign: int, power_of_ten: int) -> None:
    size = sign * 10**power_of_ten
    # e^size = 10^(size/ln 10): split by decimal into an exponent and a factor.
    context = exact_decimals(power_of_ten + 60)
    power = context.divide(Decimal(size), context.ln(Decimal(10)))
    whole = power.to_integral_value(decimal.ROUND_FLOOR, context)
    factor = context.power(Decimal(10), context.subtract(power, whole))
    text = rounded_ball(lambda: arb(fmpz(size)).exp(), 12).text
    head, _, tail = text.partition("e")
    assert Decimal(head) == exact_decimals(12).plus(factor)
    assert Decimal(tail) == whole
    # The integer is longer than what Python writes out: GMP does.
    assert len(tail) == Decimal(whole).adjusted() + 2


@given(st.integers(1, 2**30), st.integers(-4000, 4000))
@example(1000, 0)
@example(2**30 - 1, 0)
@example(999_900_001, 0)
def test_the_text_of_a_radius_is_a_tight_upper_bound(mantissa: int, exponent: int) -> None:
    radius = mantissa * Fraction(2) ** exponent
    text = upper_text(exact_ball(radius))
    assert re.fullmatch(r"[1-9]\.[0-9]{2}e[+-][0-9]+", text)
    assert radius <= Fraction(text) <= radius * Fraction(1011, 1000)


def test_the_text_of_no_radius() -> None:
    assert upper_text(arb(0)) == "0"
