"""Every formula: 30 digits against 60, against an independent method, and against mpmath."""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from numeric import rounding
from numeric.evaluate import evaluate_formula
from numeric.multiprecision import mpmath_value
from symbolic import notation
from symbolic.catalogue import formula, formula_names
from symbolic.errors import InputError, UndecidedError
from symbolic.formula import Formula
from symbolic.implicit import ImplicitFunction
from symbolic.rate_inflection import DEFINITION
from tests.numeric.independent import INDEPENDENT, exact_decimals
from tests.numeric.strategies import INTEGRALS, Values, draws, ordinary

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
        rounded = exact_decimals(30).create_decimal(long)
        assert Decimal(short) == rounded
    half_a_unit = CLOSE.scaleb(Decimal(5), Decimal(short).adjusted() - 30)
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


def check_independent(subject: Formula, values: Values) -> str | None:
    """Assert that a formula's digits hold, by its independent method; return 60 of them."""
    found, other = texts(subject, values), INDEPENDENT[subject.name](values)
    assert (found is None) == (other is None)
    if found is None or other is None:
        return None
    check_digits(*found)
    check_equal(found[1], other)
    return found[1]


def printed(subject: Formula, values: Values) -> sp.Expr:
    """Return the expression as printed, of the model asked for."""
    return subject.variants[values["model"]] if subject.variants else subject.expression


def loses_its_digits(subject: Formula, values: Values) -> bool:
    """Tell whether the printed form cancels more digits than mpmath is given."""
    if subject.name != "attention-entropy":
        return False
    return bool(abs(values["lam"] * values["beta"] * (1 - values["gamma"])) > 800)


def check_printed_form(subject: Formula, values: Values, text: str | None = None) -> None:
    """Assert that 60 digits are those of the expression a formula prints, by mpmath."""
    if subject.special_case(values) is None and not loses_its_digits(subject, values):
        digits = 70 if subject.name in INTEGRALS else 600
        other = mpmath_value(printed(subject, values), subject.bindings(values), digits)
        text = text or evaluate_formula(subject, digits=60, **values).value
        if text == "0":
            assert abs(other) < other.context.mpf("1e-400")
        else:
            check_equal(text, Decimal(other.context.nstr(other, 60)))


def test_every_formula_has_an_independent_method() -> None:
    assert set(INDEPENDENT) == set(formula_names())


@pytest.mark.parametrize("name", [name for name in formula_names() if name not in INTEGRALS])
@settings(max_examples=1000)
@given(data=st.data())
def test_digits_hold(name: str, data: st.DataObject) -> None:
    values = data.draw(draws(formula(name)))
    text = check_independent(formula(name), values)
    check_printed_form(formula(name), values, text)


@pytest.mark.parametrize("name", [name for name in formula_names() if name in INTEGRALS])
@settings(max_examples=25)
@given(data=st.data())
def test_digits_of_integrals_hold(name: str, data: st.DataObject) -> None:
    # mpmath takes up to seconds for an integral.
    check_independent(formula(name), data.draw(draws(formula(name))))


def constants(expression: sp.Expr, path: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """Yield the place of every integer in an expression, exponents included."""
    if expression.is_Integer:
        yield path
    # The limits of a sum over heads are but a way to write it.
    inner = expression.args[:1] if isinstance(expression, sp.Sum) else expression.args
    for index, argument in enumerate(inner):
        yield from constants(argument, (*path, index))


def broken(expression: sp.Expr, path: tuple[int, ...]) -> sp.Expr:
    """Return an expression with one integer wrong: a sign if it is -1, else one more."""
    if not path:
        return sp.S.One if expression == -1 else expression + 1
    return rebuilt(expression, path[0], broken(expression.args[path[0]], path[1:]))


def functions(expression: sp.Expr, path: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """Yield the place of every function and maximum in an expression."""
    if isinstance(expression, sp.Function | sp.Max):
        yield path
    for index, argument in enumerate(expression.args):
        yield from functions(argument, (*path, index))


def approximated(expression: sp.Expr, path: tuple[int, ...]) -> sp.Expr:
    """Return an expression with one function replaced by something close."""
    if path:
        return rebuilt(expression, path[0], approximated(expression.args[path[0]], path[1:]))
    if isinstance(expression, ImplicitFunction):
        definition = expression.definition
        return definition.start.subs(dict(zip(definition.arguments, expression.args, strict=True)))
    x = expression.args[-1]
    return {"exp": 1 + x, "log": x - 1}.get(expression.func.__name__, x)


def rebuilt(expression: sp.Expr, index: int, argument: sp.Expr) -> sp.Expr:
    """Return an expression with another argument, as it stands."""
    arguments = list(expression.args)
    arguments[index] = argument
    if isinstance(expression, sp.Sum):
        return sp.Sum(*arguments)
    return expression.func(*arguments, evaluate=False)


# A wrong formula differs, or is not defined.
FOUND = (AssertionError, ZeroDivisionError, UndecidedError)


def evaluations(name: str) -> list[tuple[str, sp.Expr]]:
    """Return the expressions that are evaluated, each with its model if there are several."""
    subject = formula(name)
    evaluated = {**subject.variants, **subject.evaluations}
    return list(evaluated.items()) or [("", subject.evaluation)]


def with_evaluation(subject: Formula, model: str, expression: sp.Expr) -> Formula:
    """Return a formula that is evaluated by another expression."""
    if model:
        return replace(subject, evaluations={**subject.evaluations, model: expression})
    return replace(subject, evaluation=expression)


MUTANTS = [
    (name, model, mutated)
    for name in formula_names()
    for model, expression in evaluations(name)
    for mutated in [
        *(broken(expression, path) for path in constants(expression)),
        *(approximated(expression, path) for path in functions(expression)),
    ]
]


@pytest.mark.parametrize(("name", "model", "mutated"), MUTANTS)
def test_a_wrong_constant_sign_or_function_is_found(
    name: str, model: str, mutated: sp.Expr, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounding, "CAP_BITS", 2000)
    subject = formula(name)
    values = ordinary(subject) | ({"model": model} if model else {})
    check_independent(subject, values)
    check_printed_form(subject, values)
    mutant = with_evaluation(subject, model, mutated)
    with pytest.raises(FOUND):
        check_independent(mutant, values)
    with pytest.raises(FOUND):
        check_printed_form(subject, values, evaluate_formula(mutant, digits=60, **values).value)


@pytest.mark.parametrize("path", list(constants(DEFINITION.residual)))
def test_a_wrong_equation_is_found(path: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    class Mutant(ImplicitFunction):
        definition = replace(DEFINITION, residual=broken(DEFINITION.residual, path))

    monkeypatch.setattr(rounding, "CAP_BITS", 2000)
    subject = formula("rate-inflection")
    mutant = replace(subject, evaluation=Mutant(notation.n) / notation.beta)
    with pytest.raises(FOUND):
        check_independent(mutant, ordinary(subject))
    with pytest.raises(FOUND):
        check_printed_form(mutant, ordinary(subject))


@pytest.mark.parametrize("name", ["early-rate", "late-rate"])
def test_a_forgotten_head_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    complete = Formula.bindings

    def without_the_last(subject: Formula, values: Values) -> Any:
        return complete(subject, {**values, "lam": values["lam"][:-1]})

    check_independent(formula(name), ordinary(formula(name)))
    monkeypatch.setattr(Formula, "bindings", without_the_last)
    with pytest.raises(AssertionError):
        check_independent(formula(name), ordinary(formula(name)))


@pytest.mark.parametrize("name", formula_names())
def test_a_wrong_printed_form_is_found(name: str) -> None:
    subject = formula(name)
    factor = 1 + sp.Rational(1, 10**37)
    wrong = replace(
        subject,
        expression=subject.expression * factor,
        variants={model: variant * factor for model, variant in subject.variants.items()},
    )
    with pytest.raises(AssertionError):
        check_printed_form(
            wrong,
            ordinary(subject),
            evaluate_formula(subject, digits=60, **ordinary(subject)).value,
        )


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
