"""Every formula: its derivation closes and reaches it, its forms are proved, its mutants fail."""

from collections.abc import Iterator
from functools import cache

import pytest
import sympy as sp

from symbolic.answer import Answer
from symbolic.catalogue import formula, formula_names
from symbolic.critical_beta import SHARP_EXPRESSION
from symbolic.critical_cosine import EXPRESSION as C_STAR
from symbolic.decide import is_zero
from symbolic.derivation import Derivation
from symbolic.errors import InputError
from symbolic.notation import H, alpha, beta, gamma, lam, n

NAMES = formula_names()
FIRST_FIVE = (
    "critical-cosine",
    "sharp-critical-cosine",
    "critical-beta",
    "sharp-critical-beta",
    "radial-cosine",
)
each = pytest.mark.parametrize("name", NAMES)


@cache
def derivation(name: str) -> Derivation:
    return formula(name).derivation()


@each
def test_derivation_is_closed(name: str) -> None:
    found = derivation(name)
    assert found.first_gap is None
    assert found.is_closed


@each
def test_derivation_reaches_the_formula_as_written(name: str) -> None:
    assert derivation(name).reaches(formula(name).equation)


@each
def test_derivation_starts_from_named_premises_and_uses_no_result_as_premise(name: str) -> None:
    found = derivation(name)
    assert all(premise.source for premise in found.premises)
    assert formula(name).equation not in [premise.relation for premise in found.premises]


def proved_forms(name: str) -> list[sp.Expr]:
    """Return the expressions that steps of the derivation prove equal to the formula."""
    found = formula(name)
    steps = [s for s in derivation(name).steps if s.before == found.equation]
    return [s.after.rhs for s in steps if s.rule == "rewrite" and s.after.lhs == found.symbol]


@each
def test_every_form_is_proved_by_a_step(name: str) -> None:
    found = formula(name)
    for form in found.forms:
        assert form.expression in proved_forms(name), form.name


@pytest.mark.parametrize("name", FIRST_FIVE)
def test_evaluation_is_the_expression_or_a_proved_form(name: str) -> None:
    found = formula(name)
    assert found.evaluation == found.expression or found.evaluation in proved_forms(name)


MUTATIONS: dict[str, dict[str, sp.Expr]] = {
    "critical-cosine": {
        "constant": (sp.sqrt((H - 1) ** 2 + 5) - (H - 1)) / 2,
        "tiny constant": C_STAR + sp.Rational(1, 10**40),
        "sign": (sp.sqrt((H - 1) ** 2 + 4) + (H - 1)) / 2,
        "branch": (-sp.sqrt((H - 1) ** 2 + 4) - (H - 1)) / 2,
        "exponent": (sp.sqrt((H - 1) ** 3 + 4) - (H - 1)) / 2,
        "heads": (sp.sqrt(H**2 + 4) - H) / 2,
        "sharp": 1 / sp.sqrt(H),
    },
    "sharp-critical-cosine": {
        "constant": 1 / sp.sqrt(H + 1),
        "tiny constant": 1 / sp.sqrt(H + sp.Rational(1, 10**40)),
        "sign": -1 / sp.sqrt(H),
        "exponent": 1 / H,
        "plain": C_STAR,
    },
    "critical-beta": {
        "constant": (sp.log((n - 1) / (H - 1)) - sp.asinh((H - 1) / 2)) / alpha,
        "tiny constant": formula("critical-beta").expression + sp.Rational(1, 10**40),
        "sign": (sp.log((n - 1) / (H - 1)) + sp.asinh((H - 1) / 2)) / (2 * alpha),
        "exponent": (sp.log((n - 1) ** 2 / (H - 1)) - sp.asinh((H - 1) / 2)) / (2 * alpha),
        "tokens": (sp.log(n / (H - 1)) - sp.asinh((H - 1) / 2)) / (2 * alpha),
        "sharp": SHARP_EXPRESSION,
    },
    "sharp-critical-beta": {
        "constant": sp.log((n - 1) / (H - 1)) / alpha,
        "tiny constant": SHARP_EXPRESSION * (1 + sp.Rational(1, 10**40)),
        "sign": -sp.log((n - 1) / (H - 1)) / (2 * alpha),
        "exponent": sp.log((n - 1) / (H - 1) ** 2) / (2 * alpha),
        "heads": sp.log((n - 1) / H) / (2 * alpha),
        "plain": formula("critical-beta").expression,
        "another logarithm": sp.log(1 - n / (H - 1)) / (2 * alpha),
    },
    "radial-cosine": {
        "constant": formula("radial-cosine").expression * 2,
        "tiny constant": formula("radial-cosine").expression + sp.Rational(1, 10**40),
        "sign": -formula("radial-cosine").expression,
        "sine": sp.sqrt(1 - formula("radial-cosine").expression ** 2),
        "exponent": formula("radial-cosine").expression ** 2,
        "temperature": formula("radial-cosine").expression.subs(beta, 2 * beta),
        "strength": formula("radial-cosine").expression.subs(lam, -lam),
        "overlap": formula("radial-cosine").expression.subs(gamma, -gamma),
        "tokens": formula("radial-cosine").expression.subs(n, n + 1),
    },
}


def mutants() -> Iterator[object]:
    for name, mutated in MUTATIONS.items():
        for change, expression in mutated.items():
            yield pytest.param(name, expression, id=f"{name}: {change}")


def test_every_formula_of_this_page_has_mutants() -> None:
    assert set(FIRST_FIVE) <= set(NAMES)
    assert set(MUTATIONS) == set(FIRST_FIVE)


@pytest.mark.parametrize(("name", "mutant"), list(mutants()))
def test_mutant_does_not_close(name: str, mutant: sp.Expr) -> None:
    found = formula(name)
    assert mutant != found.expression
    broken = found.derive(mutant)
    assert not broken.is_closed
    assert broken.first_gap is not None


DECAY = sp.exp(-beta * lam * (1 - gamma))
ANOTHER_WAY = {
    "critical-cosine": 2 / (sp.sqrt(H**2 - 2 * H + 5) + H - 1),
    "sharp-critical-cosine": sp.sqrt(H) / H,
    "critical-beta": sp.log((n - 1) * C_STAR / (H - 1)) / (2 * alpha),
    "sharp-critical-beta": (sp.log(n - 1) - sp.log(H - 1)) / (2 * alpha),
    "radial-cosine": (1 + (n - 1) * gamma * DECAY)
    / sp.sqrt(
        1 + 2 * (n - 1) * gamma * DECAY + (n - 1) * (1 + (n - 2) * gamma) * DECAY**2,
    ),
}


@pytest.mark.parametrize("name", FIRST_FIVE)
def test_another_way_to_write_the_formula_closes(name: str) -> None:
    found = formula(name)
    assert ANOTHER_WAY[name] != found.expression
    assert found.derive(ANOTHER_WAY[name]).first_gap is None


@pytest.mark.parametrize("name", FIRST_FIVE)
def test_derivation_of_a_float_does_not_close(name: str) -> None:
    found = formula(name)
    assert not found.derive(sp.Float(1) * found.expression).is_closed


@pytest.mark.parametrize(
    ("heads", "expected"),
    [
        (1, sp.S.One),
        (2, (sp.sqrt(5) - 1) / 2),
        (3, sp.sqrt(2) - 1),
        (5, sp.sqrt(5) - 2),
        (4, (sp.sqrt(13) - 3) / 2),
    ],
)
def test_critical_cosine_at_small_numbers_of_heads(heads: int, expected: sp.Expr) -> None:
    found = formula("critical-cosine")
    for form in (found.expression, found.evaluation, *(f.expression for f in found.forms)):
        assert is_zero(sp.sympify(form).doit().subs(H, heads) - expected) is Answer.YES


def test_unknown_formula_is_refused_with_the_nearest_names() -> None:
    with pytest.raises(InputError, match="critical-cosine"):
        formula("critical-cosin")
