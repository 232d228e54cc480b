"""The exit overlap: its derivation, wrong variants of it, and what holds at the start."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st
from mpmath.ctx_mp import MPContext

from symbolic import critical_beta, exit_overlap
from symbolic.critical_cosine import EXPRESSION as C_STAR
from symbolic.decide import sign_of
from symbolic.derivation import Derivation
from symbolic.exit_overlap import DEFINITION, EXPRESSION, FORMULA, ExitOverlap, holds_not_at_start
from symbolic.notation import H, alpha, beta, gamma, lam, n
from symbolic.positivity import Sign
from symbolic.region import at_least

MUTANTS = {
    "constant": 2 * EXPRESSION,
    "tiny constant": EXPRESSION + sp.Rational(1, 10**40),
    "sign": -EXPRESSION,
    "exponent": EXPRESSION**2,
    "temperature": ExitOverlap(H, 2 * beta * lam, n),
    "tokens": ExitOverlap(H, beta * lam, n + 1),
    "heads": ExitOverlap(H + 1, beta * lam, n),
    "limit": C_STAR**2,
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


@pytest.mark.parametrize("path", list(places(DEFINITION.residual)))
def test_a_wrong_equation_does_not_close(
    path: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    mutant = replace(DEFINITION, residual=changed(DEFINITION.residual, path))
    assert rebuilt(mutant, monkeypatch).first_gap is not None


def rebuilt(mutant: object, monkeypatch: pytest.MonkeyPatch) -> Derivation:
    """Return the derivation with another equation."""
    monkeypatch.setattr(ExitOverlap, "definition", mutant)
    monkeypatch.setattr(exit_overlap, "DEFINITION", mutant)
    start = sp.Gt(mutant.residual.subs(gamma, 0), 0, evaluate=False)  # type: ignore[attr-defined]
    monkeypatch.setattr(exit_overlap, "_START", start)
    found = exit_overlap.derivation.__wrapped__(EXPRESSION)
    assert isinstance(found, Derivation)
    return found


def test_the_equation_itself_closes_when_it_is_put_in_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert rebuilt(replace(DEFINITION), monkeypatch).first_gap is None


def test_the_hypothesis_comes_to_beta_below_beta_star() -> None:
    derivation = FORMULA.derivation()
    assert exit_overlap._START in [premise.relation for premise in derivation.premises]
    critical = critical_beta.EXPRESSION.subs(alpha, lam)
    assert derivation.reaches(sp.Gt(critical, beta, evaluate=False))


def test_concavity_is_what_the_rule_checks() -> None:
    curvature = sp.diff(DEFINITION.residual, gamma, 2)
    assert sign_of(curvature, exit_overlap._SCORE_REGION) is Sign.NEGATIVE


tokens = st.integers(2, 200) | st.integers(2, 10**6) | st.sampled_from([10**30, 10**100])
scores = st.builds(Fraction, st.integers(0, 3000), st.sampled_from([1, 10, 1000]))


@given(tokens, st.integers(2, 12), scores)
def test_condition_8_at_the_start_is_decided_as_by_beta_star(
    n: int, H: int, score: Fraction
) -> None:
    values = {
        "model": "softmax",
        "H": Fraction(H),
        "lam": Fraction(3, 2),
        "beta": score / Fraction(3, 2),
        "n": Fraction(n),
    }
    context: Any = MPContext()
    context.dps = 60
    critical = context.log(context.mpf(n - 1) / (H - 1)) - context.asinh(context.mpf(H - 1) / 2)
    given_score = 2 * context.mpf(score.numerator) / score.denominator
    assert holds_not_at_start(values) is bool(given_score >= critical)


@given(st.integers(2, 10**6), st.integers(0, 3))
def test_without_attention_the_least_number_of_tokens_decides(H: int, more: int) -> None:
    least = (H - 1) ** 2 + 2
    numbers = {"H": Fraction(H), "lam": Fraction(1), "beta": Fraction(0)}
    values = {"model": "unnormalised", **numbers}
    assert not holds_not_at_start({**values, "n": Fraction(least + more)})
    assert holds_not_at_start({**values, "n": Fraction(least - 1 - more % (least - 2))})


def test_condition_8_fails_near_consensus_for_two_heads_or_more() -> None:
    assert exit_overlap.consensus_derivation().is_closed
    assert exit_overlap.consensus_derivation().reaches(exit_overlap.LOST_AT_CONSENSUS)
    assert not exit_overlap.consensus_derivation(at_least(1)).is_closed
