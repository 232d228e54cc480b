"""Every formula: 30 digits against 60, against an independent method, and against mpmath."""

import decimal
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from numeric.evaluate import evaluate_formula
from numeric.multiprecision import mpmath_value
from symbolic.catalogue import formula, formula_names
from symbolic.errors import InputError, UndecidedError
from symbolic.formula import Formula
from tests.numeric.independent import INDEPENDENT, exact_decimals
from tests.numeric.strategies import Values, draws, ordinary

CLOSE = exact_decimals(100)
# More than the 30 digits asked for, and fewer than the other methods have.
TOLERANCE = Decimal("1e-38")


def texts(subject: Formula, values: Values) -> tuple[str, str] | None:
    """Return the value at 30 and at 60 digits, None where the formula is not defined."""
    case = subject.special_case(values)
    if case is not None and case.value is None:
        for digits in (30, 60):
            with pytest.raises(InputError, match="no value at"):
                evaluate_formula(subject, digits=digits, **values)
        return None
    short, long = (evaluate_formula(subject, digits=d, **values).value for d in (30, 60))
    return short, long


def check_digits(short: str, long: str) -> None:
    """Assert that 30 digits are the rounding of 60, where those say how to round."""
    if not Decimal(long).is_finite():
        assert short == long
        return
    tail = Decimal(long).as_tuple().digits[30:]
    # Rounded to a tie, 60 digits do not tell on which side the number is.
    if tail[:1] != (5,) or any(tail[1:]):
        rounded = decimal.Context(prec=30, rounding=decimal.ROUND_HALF_EVEN).create_decimal(long)
        assert Decimal(short) == rounded
    half_a_unit = Decimal(5).scaleb(Decimal(short).adjusted() - 30)
    assert CLOSE.abs(CLOSE.subtract(Decimal(short), Decimal(long))) <= half_a_unit


def check_equal(text: str, other: Decimal) -> None:
    """Assert that a text of 60 digits and a value of another method agree."""
    value = Decimal(text)
    if not value or not value.is_finite():
        assert other == value
    else:
        assert CLOSE.abs(CLOSE.subtract(value, other)) <= CLOSE.abs(
            CLOSE.multiply(value, TOLERANCE)
        )


def check_independent(subject: Formula, values: Values) -> None:
    """Assert that a formula's digits hold, by its independent method."""
    found, other = texts(subject, values), INDEPENDENT[subject.name](values)
    assert (found is None) == (other is None)
    if found is not None and other is not None:
        check_digits(*found)
        check_equal(found[1], other)


def check_printed_form(subject: Formula, values: Values) -> None:
    """Assert that a formula's digits are those of the expression it prints, by mpmath."""
    if subject.special_case(values) is None:
        bindings = {p.symbol: values[p.name] for p in subject.parameters}
        other = mpmath_value(subject.expression, bindings, 1000)
        text = evaluate_formula(subject, digits=60, **values).value
        if text == "0":
            assert abs(other) < other.context.mpf("1e-700")
        else:
            check_equal(text, Decimal(other.context.nstr(other, 60)))


def test_every_formula_has_an_independent_method() -> None:
    assert set(INDEPENDENT) == set(formula_names())


@pytest.mark.parametrize("name", formula_names())
@settings(max_examples=1000)
@given(data=st.data())
def test_digits_hold(name: str, data: st.DataObject) -> None:
    values = data.draw(draws(formula(name)))
    check_independent(formula(name), values)
    check_printed_form(formula(name), values)


def constants(expression: sp.Expr, path: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """Yield the place of every integer in an expression, exponents included."""
    if expression.is_Integer:
        yield path
    for index, argument in enumerate(expression.args):
        yield from constants(argument, (*path, index))


def broken(expression: sp.Expr, path: tuple[int, ...]) -> sp.Expr:
    """Return an expression with one integer wrong: a sign if it is -1, else one more."""
    if not path:
        return sp.S.One if expression == -1 else expression + 1
    arguments = list(expression.args)
    arguments[path[0]] = broken(arguments[path[0]], path[1:])
    return expression.func(*arguments, evaluate=False)


# A wrong formula differs, or is not defined.
FOUND = (AssertionError, ZeroDivisionError, UndecidedError)
MUTANTS = [(name, path) for name in formula_names() for path in constants(formula(name).evaluation)]


@pytest.mark.parametrize(("name", "path"), MUTANTS)
def test_a_wrong_constant_or_sign_is_found(name: str, path: tuple[int, ...]) -> None:
    subject = formula(name)
    values = ordinary(subject)
    check_independent(subject, values)
    check_printed_form(subject, values)
    mutant = replace(subject, evaluation=broken(subject.evaluation, path))
    with pytest.raises(FOUND):
        check_independent(mutant, values)
    with pytest.raises(FOUND):
        check_printed_form(mutant, values)


@pytest.mark.parametrize("name", formula_names())
def test_a_wrong_printed_form_is_found(name: str) -> None:
    subject = formula(name)
    wrong = replace(subject, expression=subject.expression * (1 + sp.Rational(1, 10**37)))
    with pytest.raises(AssertionError):
        check_printed_form(wrong, ordinary(subject))


@pytest.mark.parametrize("name", formula_names())
def test_an_error_in_the_last_digit_is_found(name: str) -> None:
    values = ordinary(formula(name))
    found = texts(formula(name), values)
    assert found is not None
    short, long = found
    check_digits(short, long)
    figure = "1" if short[-1] != "1" else "2"
    with pytest.raises(AssertionError):
        check_digits(short[:-1] + figure, long)


def test_digits_are_not_judged_by_a_tie() -> None:
    tie = "0." + "1" * 30 + "5" + "0" * 29
    check_digits("0." + "1" * 29 + "2", tie)
    check_digits("0." + "1" * 30, tie)
    with pytest.raises(AssertionError):
        check_digits("0." + "1" * 29 + "3", tie)


def test_what_the_draws_reach() -> None:
    # The ends and their neighbourhoods must come up, or the draws show less than they seem to.
    gammas: list[Fraction] = []
    subject = formula("radial-cosine")

    @settings(max_examples=500)
    @given(draws(subject))
    def collect(values: Values) -> None:
        low = -1 / (values["n"] - 1)
        gammas.append((values["gamma"] - low) / (1 - low))

    collect()
    for wanted in (Fraction(0), Fraction(1)):
        assert gammas.count(wanted) >= 5
        assert sum(0 < abs(gamma - wanted) <= Fraction(1, 10**30) for gamma in gammas) >= 5
    assert sum(Fraction(1, 10) < gamma < Fraction(9, 10) for gamma in gammas) >= 100
