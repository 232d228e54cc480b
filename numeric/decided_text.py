"""Decimal texts of balls that get no narrower: the digits that are decided, and no others."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import ceil

from flint import arb

from numeric.rounding import rounded_rational

# Numbers with larger decimal exponents are not written out as fractions.
_FAR = 20_000
_DIGIT_BITS = 3.3219281


def decided_text(ball: arb, digits: int) -> tuple[str, int | None]:
    """Return the text of a number, and how many significant digits it has.

    Every digit is right, rounded half to even, for every number of the ball. There are as many as
    that allows, at most ``digits``. The work is done at the precision in force.

    Returns:
        ``("0", 0)`` for a number that is not told from zero; ``("0", None)`` for an exact zero and
        ``("nan", None)`` for a ball that is not finite, where there is nothing to decide.
    """
    if ball == 0:
        return "0", None
    if not ball.is_finite():
        return "nan", None
    if ball.contains(0):
        return "0", 0
    shift = _far_exponent(ball)
    scaled = ball * arb(10) ** -shift if shift else ball
    low, high = _exact(scaled.lower()), _exact(scaled.upper())
    for kept in range(min(digits, ceil(ball.rel_accuracy_bits() / _DIGIT_BITS) + 1), 0, -1):
        text = rounded_rational(low, kept).text
        if text == rounded_rational(high, kept).text:
            return _shifted(text, shift), kept
    return "0", 0


def _far_exponent(ball: arb) -> int:
    """Return the decimal exponent of a number that is very large or small, or else 0."""
    exponent = int(abs(ball).mid().log_base(10).mid().floor().fmpz())
    return exponent if abs(exponent) > _FAR else 0


def _shifted(text: str, shift: int) -> str:
    """Return the text of a number times a large or small power of ten."""
    if not shift:
        return text
    mantissa, exponent = f"{Decimal(text):e}".split("e")
    return f"{mantissa}e{int(exponent) + shift:+d}"


def _exact(point: arb) -> Fraction:
    """Return the value of an exact ball."""
    mantissa, exponent = (int(part) for part in point.man_exp())
    return Fraction(mantissa << max(exponent, 0), 1 << max(-exponent, 0))
