"""mpmath as the second method, up to 10,000 digits."""

from decimal import Decimal
from fractions import Fraction

import mpmath
import pytest
import sympy as sp

from numeric.evaluate import MAX_DIGITS, evaluate
from numeric.multiprecision import mpmath_value
from symbolic.catalogue import formula, formula_names
from tests.numeric.independent import exact_decimals
from tests.numeric.strategies import INTEGRALS, Values, ordinary

x = sp.Symbol("x")


def check_all_digits(text: str, name: str, values: Values) -> None:
    """Assert that 10,000 digits are those that mpmath finds for the printed expression."""
    subject = formula(name)
    expression = subject.variants[values["model"]] if subject.variants else subject.expression
    other = mpmath_value(expression, subject.bindings(values), MAX_DIGITS + 40)
    rounded = exact_decimals(MAX_DIGITS).create_decimal(other.context.nstr(other, MAX_DIGITS + 20))
    assert Decimal(text) == rounded
    assert len(Decimal(text).as_tuple().digits) == MAX_DIGITS


@pytest.mark.parametrize("name", [name for name in formula_names() if name not in INTEGRALS])
def test_ten_thousand_digits(name: str) -> None:
    values = ordinary(formula(name))
    text = evaluate(name, digits=MAX_DIGITS, **values).value
    check_all_digits(text, name, values)
    wrong = text[:-1] + ("1" if text[-1] != "1" else "2")
    with pytest.raises(AssertionError):
        check_all_digits(wrong, name, values)


def test_the_precision_is_that_asked_for() -> None:
    # ln 2, DLMF and OEIS A002162.
    found = mpmath_value(sp.log(x), {x: Fraction(2)}, 50)
    assert found.context.nstr(found, 45) == "0.693147180559945309417232121458176568075500134"
    assert found.context.dps == 50
    coarse = mpmath_value(sp.log(x), {x: Fraction(2)}, 10)
    assert 0 < abs(coarse - found) < 1e-9


def test_the_context_is_its_own() -> None:
    before = mpmath.mp.dps
    found = mpmath_value(sp.exp(x), {x: Fraction(1)}, 77)
    assert found.context is not mpmath.mp
    assert found.context is not mpmath_value(sp.exp(x), {x: Fraction(1)}, 77).context
    assert mpmath.mp.dps == before


def test_fractions_are_not_rounded_through_floats() -> None:
    found = mpmath_value(3 * x, {x: Fraction(1, 3)}, 200)
    assert abs(found - 1) < found.context.mpf(10) ** -199
    long = mpmath_value(x / 10**3000, {x: Fraction(10**5000)}, 20)
    assert abs(long / long.context.mpf(10) ** 2000 - 1) < 1e-18
