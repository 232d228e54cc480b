"""Comparisons of powers of e with exact numbers."""

from fractions import Fraction
from typing import Any

import gmpy2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath.ctx_mp import MPContext

from symbolic import exponentials
from symbolic.errors import UndecidedError
from symbolic.exponentials import holds_at_exponential

context: Any = MPContext()
context.dps = 200

exponents = st.one_of(
    st.builds(Fraction, st.integers(0, 10**6), st.integers(1, 10**4)),
    st.builds(lambda k: Fraction(1, 10**k), st.integers(0, 80)),
)


def rounded_power(exponent: Fraction, digits: int, up: bool) -> Fraction:
    """Return a power of e, cut after some digits by mpmath, or the next number above that."""
    power = context.exp(context.mpf(exponent.numerator) / exponent.denominator)
    size = int(context.floor(context.log10(power)))
    whole = int(context.floor(power * context.mpf(10) ** (digits - size)))
    return (whole + up) * Fraction(10) ** (size - digits)


@given(exponents, st.integers(0, 100), st.booleans())
def test_a_power_of_e_lies_on_its_side_of_a_number_close_to_it(
    exponent: Fraction, digits: int, up: bool
) -> None:
    bound = rounded_power(exponent, digits, up)
    if exponent == 0:
        return
    assert holds_at_exponential(exponent, lambda y: y > bound) is not up
    assert holds_at_exponential(exponent, lambda y: y < bound) is up
    assert holds_at_exponential(exponent, lambda y: y * y > bound * bound) is not up


def test_the_power_zero_is_exact() -> None:
    assert holds_at_exponential(Fraction(0), lambda y: y >= 1)
    assert not holds_at_exponential(Fraction(0), lambda y: y > 1)


def test_large_and_small_exponents() -> None:
    tiny = Fraction(1, 10**2000)
    assert holds_at_exponential(tiny, lambda y: y > 1 + tiny)
    assert not holds_at_exponential(tiny, lambda y: y > 1 + tiny + tiny**2)
    assert holds_at_exponential(Fraction(10**6), lambda y: y > 2**1_442_695)
    assert not holds_at_exponential(Fraction(10**6), lambda y: y > 2**1_442_696)


def test_the_context_of_the_caller_stays_as_it_is() -> None:
    before = repr(gmpy2.get_context())
    holds_at_exponential(Fraction(1, 3), lambda y: y > 1)
    assert repr(gmpy2.get_context()) == before


def test_the_cap_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exponentials, "_MOST_BITS", 200)
    bound = rounded_power(Fraction(1), 100, False)
    with pytest.raises(UndecidedError, match="at 200 bits"):
        holds_at_exponential(Fraction(1), lambda y: y > bound)
