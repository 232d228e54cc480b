"""The critical half-spread: its derivation, wrong variants of it, and where it exists."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st
from mpmath.ctx_mp import MPContext

from symbolic import critical_spread
from symbolic.critical_spread import (
    DEFINITION,
    DRIVE,
    EXPRESSION,
    FORMULA,
    ScaledSpread,
    has_no_gain,
)
from symbolic.derivation import Derivation
from symbolic.notation import beta, n
from symbolic.notation import mean_strength as mean
from symbolic.rate_inflection import EXPRESSION as INFLECTION

MUTANTS = {
    "constant": 2 * EXPRESSION,
    "tiny constant": EXPRESSION + sp.Rational(1, 10**40),
    "sign": -EXPRESSION,
    "without beta": ScaledSpread(DRIVE),
    "tokens": ScaledSpread(DRIVE.subs(n, n + 1)) / beta,
    "score": ScaledSpread(beta * mean) / beta,
    "half of the score": ScaledSpread(DRIVE / 2) / beta,
    "another temperature": EXPRESSION.subs(beta, 2 * beta),
    "inflection": INFLECTION,
}


@pytest.mark.parametrize("change", MUTANTS)
def test_a_wrong_formula_does_not_close(change: str) -> None:
    assert not FORMULA.derive(MUTANTS[change]).is_closed


def places(expression: sp.Expr, path: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """Yield the place of every number and symbol in an expression."""
    if not expression.args:
        yield path
    for index, argument in enumerate(expression.args):
        yield from places(argument, (*path, index))


def changed(expression: sp.Expr, path: tuple[int, ...]) -> sp.Expr:
    """Return an expression with one number or symbol wrong."""
    if not path:
        return sp.S.One if expression == -1 else expression + 1
    arguments = list(expression.args)
    arguments[path[0]] = changed(arguments[path[0]], path[1:])
    return expression.func(*arguments)


def rebuilt(residual: sp.Expr, drive: sp.Expr, monkeypatch: pytest.MonkeyPatch) -> Derivation:
    """Return the derivation with another equation."""
    mutant = replace(DEFINITION, residual=residual)
    monkeypatch.setattr(ScaledSpread, "definition", mutant)
    monkeypatch.setattr(critical_spread, "DEFINITION", mutant)
    monkeypatch.setattr(critical_spread, "DRIVE", drive)
    found = critical_spread.derivation.__wrapped__(ScaledSpread(drive) / beta)
    assert isinstance(found, Derivation)
    return found


def test_the_equation_itself_closes_when_it_is_put_in_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert rebuilt(DEFINITION.residual, DRIVE, monkeypatch).first_gap is None


@pytest.mark.parametrize("path", list(places(DEFINITION.residual)))
def test_a_wrong_equation_does_not_close(
    path: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    mutant = changed(DEFINITION.residual, path)
    assert rebuilt(mutant, DRIVE, monkeypatch).first_gap is not None


@pytest.mark.parametrize("path", list(places(DRIVE)))
def test_a_wrong_factor_does_not_close(
    path: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    mutant = changed(DRIVE, path)
    assert rebuilt(DEFINITION.residual, mutant, monkeypatch).first_gap is not None


def test_the_uniqueness_is_a_step_and_no_premise() -> None:
    derivation = FORMULA.derivation()
    rules = [step.rule for step in derivation.steps]
    assert rules.count("concave root") == 1
    sources = [premise.source for premise in derivation.premises]
    assert not any("claim" in source for source in sources)


@given(
    st.integers(2, 10**6) | st.sampled_from([10**30, 10**100]),
    st.builds(Fraction, st.integers(1, 400_000), st.sampled_from([1, 10, 1000, 10**6])),
)
def test_where_it_exists_is_where_the_rate_function_is_convex(n: int, score: Fraction) -> None:
    values = {"mean": score / 7, "beta": Fraction(7), "n": Fraction(n)}
    context: Any = MPContext()
    context.dps = 60
    x = context.mpf(score.numerator) / score.denominator
    # The symmetric form of the inflection.
    convex = x * context.tanh((x - context.log(n - 1)) / 2) > 2
    assert has_no_gain(values) is not bool(convex)
