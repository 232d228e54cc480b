"""The rate function phi of one head, and the early rate it adds up to over heads (Theorem 22)."""

from __future__ import annotations

from functools import cache

import sympy as sp

from symbolic import equiangular, notation
from symbolic.derivation import Derivation, Premise, Step
from symbolic.flow import Model, equiangular_flow
from symbolic.flow_rules import additive, summed_over_heads
from symbolic.formula import Formula
from symbolic.notation import beta, gamma, lam, n
from symbolic.parameter import INVERSE_TEMPERATURE, STRENGTH, STRENGTHS, TOKENS
from symbolic.rules import equation, substitute
from symbolic.written import written

EXPRESSION = written(lambda: 2 * lam / (sp.exp(lam * beta) + n - 1))
SYMBOL = notation.rate(lam)
EARLY_EXPRESSION = summed_over_heads(EXPRESSION)
EARLY_SYMBOL = notation.early_rate(beta, n)

REGION = equiangular.REGION


@cache
def derivation(candidate: sp.Expr = EXPRESSION) -> Derivation:
    """Return the derivation of the rate function from the softmax flow at orthonormal tokens."""
    premises, steps, _ = _at_orthonormal_tokens(candidate)
    return Derivation(
        "the rate of the overlap of orthonormal tokens under one head",
        "softmax, spherical",
        premises,
        tuple(steps),
    )


@cache
def early_derivation(candidate: sp.Expr = EARLY_EXPRESSION) -> Derivation:
    """Return the derivation of the early rate: the rate function summed over heads."""
    premises, steps, named = _at_orthonormal_tokens(EXPRESSION)

    def from_definition(heads: list[sp.Expr]) -> sp.Expr:
        return equiangular_flow(Model.SOFTMAX, 3, sp.S.Zero, heads, beta).overlap_rate(0, 1)

    total = equation(EARLY_SYMBOL, candidate)
    steps.append(
        additive(named, total, from_definition, "the aggregates of the heads are added", REGION)
    )
    return Derivation(
        "the rate of the overlap of orthonormal tokens",
        "softmax, spherical",
        premises,
        tuple(steps),
    )


def _at_orthonormal_tokens(
    candidate: sp.Expr,
) -> tuple[tuple[Premise, ...], list[Step], sp.Eq]:
    """Return premises and steps from the flow to ``phi(lam) = candidate``, and that relation."""
    reduction = equiangular.derivation(Model.SOFTMAX)
    one_head = equiangular.one_head(Model.SOFTMAX)
    at_zero = equation(one_head.lhs.subs(gamma, 0), candidate)
    name = equation(SYMBOL, at_zero.lhs)
    named = equation(SYMBOL, candidate)
    premises = (
        *reduction.premises,
        Premise(name, "definition of the rate function: gamma' at gamma = 0 under one head"),
    )
    steps = [
        *reduction.steps,
        substitute(
            one_head, at_zero, "orthonormal tokens", values={gamma: sp.S.Zero}, region=REGION
        ),
        substitute(name, named, "the rate function", using=(at_zero,), region=REGION),
    ]
    return premises, steps, named


FORMULA = Formula(
    name="rate",
    title="rate function: rate of the overlap of orthonormal tokens under one head",
    symbol=SYMBOL,
    parameters=(STRENGTH, INVERSE_TEMPERATURE, TOKENS),
    expression=EXPRESSION,
    source="Thm 22",
    model="softmax",
    derive=derivation,
    evaluation=EXPRESSION,
    example={"lam": "1", "beta": "2", "n": "64"},
)

EARLY_FORMULA = Formula(
    name="early-rate",
    title="early rate: rate of the overlap of orthonormal tokens under all heads",
    symbol=EARLY_SYMBOL,
    parameters=(STRENGTHS, INVERSE_TEMPERATURE, TOKENS),
    expression=EARLY_EXPRESSION,
    source="Thm 22",
    model="softmax",
    derive=early_derivation,
    evaluation=EARLY_EXPRESSION,
    example={"lam": "1/2,1,3/2,2", "beta": "2", "n": "64"},
)
