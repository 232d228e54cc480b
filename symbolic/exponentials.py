"""Exact decisions at a power of e: on which side of an algebraic number it lies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

import gmpy2

from symbolic.errors import UndecidedError

_FIRST_BITS = 80
# Beyond the size that a number may have (`symbolic.numbers`), so the last resort.
_MOST_BITS = 3_000_000


def holds_at_exponential(exponent: Fraction, is_beyond: Callable[[Fraction], bool]) -> bool:
    """Return whether ``e^exponent`` lies beyond an algebraic number.

    For a rational exponent other than 0 the power is transcendental (Lindemann), so it differs from
    the algebraic number, and an enclosure that is narrow enough decides. It comes from MPFR, whose
    exponential is correctly rounded.

    Args:
        exponent: the exponent, at least 0; its power of e must have less than 10^18 digits.
        is_beyond: tells from an exact positive number whether it lies beyond the algebraic one:
            False up to there and True after it, or the other way round.

    Raises:
        UndecidedError: if the cap of precision is reached before there is an answer.
    """
    if exponent == 0:
        return is_beyond(Fraction(1))
    for low, high in _enclosures(exponent):
        answer = is_beyond(low)
        if answer == is_beyond(high):
            return answer
    raise UndecidedError(f"the place of a power of e is not decided at {_MOST_BITS} bits")


def _enclosures(exponent: Fraction) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield ever narrower intervals around a power of e."""
    parts = gmpy2.mpz(exponent.numerator), gmpy2.mpz(exponent.denominator)
    bits = _FIRST_BITS
    while bits <= _MOST_BITS:
        ends = [
            context.exp(context.div(*parts))
            for context in (_rounding(bits, gmpy2.RoundDown), _rounding(bits, gmpy2.RoundUp))
        ]
        yield (
            Fraction(*map(int, ends[0].as_integer_ratio())),
            Fraction(*map(int, ends[1].as_integer_ratio())),
        )
        bits *= 2


def _rounding(bits: int, direction: int) -> gmpy2.context:
    """Return a context of its own, with the widest range of exponents."""
    return gmpy2.context(
        precision=bits,
        round=direction,
        emax=gmpy2.get_emax_max(),
        emin=gmpy2.get_emin_min(),
    )
