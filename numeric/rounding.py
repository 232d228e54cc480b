"""Decimal texts of numbers, every digit right: round half to even, from exact numbers or balls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import ceil
from typing import TypeVar

import gmpy2
from flint import arb

from numeric.balls import ball_precision
from symbolic.errors import UndecidedError

T = TypeVar("T")

# Plain notation for decimal exponents in this range, e-notation outside.
_PLAIN_FROM = -6
# Precision is raised until the digits are decided, up to this many bits and four times the digits.
CAP_BITS = 1_000_000


@dataclass(frozen=True)
class Rounded:
    """A decimal text, and how sure the number was.

    Attributes:
        text: the digits, rounded half to even.
        radius: an upper bound of the error of the number before rounding; ``0`` if it was exact.
        sign: the sign of the number, -1, 0 or 1.
    """

    text: str
    radius: str
    sign: int


def rounded_rational(value: Fraction, digits: int) -> Rounded:
    """Return ``digits`` significant digits of an exact number; zero is the text ``0``."""
    if value == 0:
        return Rounded("0", "0", 0)
    size = abs(value)
    exponent = _decimal_exponent(size)
    scaled = size * Fraction(10) ** (digits - 1 - exponent)
    text = _layout(round(scaled), exponent, digits)
    return Rounded(text if value > 0 else f"-{text}", "0", 1 if value > 0 else -1)


def rounded_ball(compute: Callable[[], arb], digits: int) -> Rounded:
    """Return ``digits`` significant digits of the number that ``compute`` encloses.

    Args:
        compute: returns a ball around the number at the precision in force.
        digits: significant digits, at least 1.

    Raises:
        UndecidedError: if the cap of precision is reached before the digits are decided.
    """
    return until_decided(compute, partial(_decide, digits=digits), digits)


def until_decided(compute: Callable[[], arb], decide: Callable[[arb], T | None], digits: int) -> T:
    """Return the first answer that is not None, raising the precision until there is one.

    Args:
        compute: returns a ball at the precision in force.
        decide: returns an answer from a ball, at the same precision, or None if it is too wide.
        digits: significant digits that the answer is about.

    Raises:
        UndecidedError: if the cap of precision is reached before there is an answer.
    """
    cap = CAP_BITS + 14 * digits
    bits = 64 + int(3.33 * digits) + 16
    while True:
        with ball_precision(bits):
            decided = decide(compute())
        if decided is not None:
            return decided
        if bits >= cap:
            raise UndecidedError(f"{digits} digits are not decided at {cap} bits of precision")
        bits = min(2 * bits, cap)


def _decide(ball: arb, digits: int) -> Rounded | None:
    """Return the rounded text if all numbers in the ball round to the same one."""
    if ball == arb.pos_inf():
        return Rounded("+inf", "0", 1)
    if not ball.is_finite() or ball.contains(0):
        return None
    size = abs(ball)
    least, most = 10 ** (digits - 1), 10**digits
    exponent = _decimal_exponent_of_point(size.mid())
    for attempt in (exponent, exponent + 1):
        scaled = size * arb(10) ** (digits - 1 - attempt)
        # Also keeps the ends to a size that can be written out.
        if not scaled.rad() < 1:
            return None
        low, high = _fraction(scaled.lower()), _fraction(scaled.upper())
        integer = round(low)
        # A number just below the least integer has a finer last digit, by which it rounds up to it.
        if low >= least - Fraction(1, 20) and integer <= most and integer == round(high):
            sign = -1 if ball < 0 else 1
            text = _layout(integer, attempt, digits)
            return Rounded(text if sign > 0 else f"-{text}", upper_text(ball.rad()), sign)
    return None


def upper_text(radius: arb) -> str:
    """Return an upper bound of an exact non-negative ball as a text of three digits."""
    if radius == 0:
        return "0"
    exponent = _decimal_exponent_of_point(radius)
    with ball_precision(_enough_bits(radius)):
        scaled = (radius * arb(10) ** (2 - exponent)).upper()
    hundredths = ceil(_fraction(scaled))
    if hundredths >= 1000:
        hundredths, exponent = -(-hundredths // 10), exponent + 1
    return f"{hundredths // 100}.{hundredths % 100:02d}e{_signed(exponent)}"


def _fraction(point: arb) -> Fraction:
    """Return the value of an exact ball."""
    mantissa, exponent = (int(part) for part in point.man_exp())
    return Fraction(mantissa << max(exponent, 0), 1 << max(-exponent, 0))


def _decimal_exponent(size: Fraction) -> int:
    """Return k with ``10^k <= size < 10^(k+1)``, exactly."""
    bits = size.numerator.bit_length() - size.denominator.bit_length()
    k = bits * 30103 // 100000 - 1
    while Fraction(10) ** (k + 1) <= size:
        k += 1
    return k


def _decimal_exponent_of_point(point: arb) -> int:
    """Return k or ``k - 1`` where ``10^k <= point < 10^(k+1)``, for an exact positive ball."""
    with ball_precision(_enough_bits(point)):
        exponent = (point.log() / arb(10).log()).lower().floor().unique_fmpz()
    assert exponent is not None
    return int(exponent)


def _enough_bits(point: arb) -> int:
    """Return a precision that resolves the decimal exponent of an exact ball, however large."""
    return 64 + 2 * int(point.man_exp()[1]).bit_length()


def _layout(integer: int, exponent: int, digits: int) -> str:
    """Return the text of ``integer * 10^(exponent - digits + 1)`` with that many digits."""
    if integer == 10**digits:
        integer, exponent = integer // 10, exponent + 1
    figures = _decimal(integer)
    assert len(figures) == digits
    if _PLAIN_FROM <= exponent < 0:
        return "0." + "0" * (-exponent - 1) + figures
    if 0 <= exponent < digits:
        head, tail = figures[: exponent + 1], figures[exponent + 1 :]
        return head + ("." + tail if tail else "")
    head, tail = figures[0], figures[1:]
    return f"{head}{'.' + tail if tail else ''}e{_signed(exponent)}"


def _signed(integer: int) -> str:
    """Return an integer as text with its sign."""
    return f"{'-' if integer < 0 else '+'}{_decimal(abs(integer))}"


def _decimal(integer: int) -> str:
    """Return an integer as text; GMP has no limit on the digits."""
    return str(gmpy2.mpz(integer))
