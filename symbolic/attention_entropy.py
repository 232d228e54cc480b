"""Attention entropy of a token at equiangular tokens under one softmax head (Theorem 27)."""

from __future__ import annotations

from functools import cache

import sympy as sp
from sympy.codegen.cfunctions import log1p

from symbolic import equiangular, notation
from symbolic.calculus_rules import differentiate
from symbolic.derivation import Derivation, Premise, Step
from symbolic.flow import Model, equiangular_flow
from symbolic.formula import Form, Formula
from symbolic.notation import beta, gamma, lam, n
from symbolic.parameter import INVERSE_TEMPERATURE, OVERLAP, STRENGTH, TOKENS
from symbolic.region import Range, Region, above, at_least, between
from symbolic.rules import consequence, equation, instances, rewrite, substitute
from symbolic.written import written


def _odds() -> sp.Expr:
    """Return the odds of the other tokens against the token itself."""
    return (n - 1) * sp.exp(-beta * lam * (1 - gamma))


def _inverse_odds() -> sp.Expr:
    return sp.exp(beta * lam * (1 - gamma)) / (n - 1)


EXPRESSION = written(
    lambda: sp.log(1 + _odds()) + beta * lam * (1 - gamma) * _odds() / (1 + _odds())
)
# A sum of positive terms, -ln p_self and -ln p_other each with its share: no digit is lost.
SHARES_FORM = written(
    lambda: (
        log1p(_odds()) / (1 + _odds())
        + (sp.log(n - 1) + log1p(_inverse_odds())) / (1 + _inverse_odds())
    )
)
SYMBOL = notation.attention_entropy(lam, beta, n, gamma)

REGION = Region(
    {
        n: at_least(2),
        beta: at_least(0),
        lam: Range(),
        gamma: between(-1 / (n - 1), 1),
    }
)
POSITIVE = REGION.having(
    {
        lam: above(0),
        beta: above(0),
        gamma: between(-1 / (n - 1), 1, lower_open=True, upper_open=True),
    }
)

_itself = sp.Symbol("p_self", positive=True)
_other = sp.Symbol("p_other", positive=True)
_total = sp.Symbol("Z", positive=True)
_token = sp.Symbol("j", integer=True)
_slope = sp.Function("entropy_slope")

# The share of the other tokens, q = 1 - p_self.
SHARE = _odds() / (1 + _odds())
SLOPE = beta**2 * lam**2 * (1 - gamma) * SHARE * (1 - SHARE)
"""The slope of the entropy in the overlap."""


@cache
def derivation(candidate: sp.Expr = EXPRESSION) -> Derivation:
    """Return the derivation of the entropy from the softmax weights, with its slope and limit."""
    premises, steps, explicit = _from_the_weights()
    result = equation(SYMBOL, candidate)
    slope = equation(sp.Derivative(SYMBOL, gamma), SLOPE)
    slope_name = equation(_slope(gamma), slope.lhs)
    named = equation(_slope(gamma), SLOPE)
    steps += [
        rewrite(explicit, result, "collect the logarithms", REGION),
        rewrite(result, equation(SYMBOL, SHARES_FORM), "a sum of positive terms", REGION),
        differentiate(result, slope, gamma, 1, "slope in the overlap", REGION),
        substitute(slope_name, named, "the slope", using=(slope,), region=REGION),
        consequence(
            named,
            sp.Gt(_slope(gamma), 0, evaluate=False),
            "the entropy rises with the overlap, for strengths of either sign",
            POSITIVE,
        ),
        substitute(
            result,
            equation(notation.attention_entropy(lam, beta, n, 1), sp.log(n)),
            "at gamma = 1 all weights are equal: ln n",
            values={gamma: sp.S.One},
            region=REGION,
        ),
    ]
    return Derivation(
        "the attention entropy of a token at equiangular tokens",
        "softmax",
        (*premises, Premise(slope_name, "a name for the slope")),
        tuple(steps),
    )


def _from_the_weights() -> tuple[tuple[Premise, ...], list[Step], sp.Eq]:
    """Return premises and steps from the weights to the entropy, and the entropy's equation."""
    boost, rest = sp.exp(beta * lam), sp.exp(beta * lam * gamma)
    delta = sp.KroneckerDelta(1, _token)
    total = equation(_total, sp.Sum(boost * delta + rest * (1 - delta), (_token, 1, n)))
    total_closed = equation(_total, boost + (n - 1) * rest)
    entropy = equation(
        SYMBOL,
        sp.Sum(
            -delta * _itself * sp.log(_itself) - (1 - delta) * _other * sp.log(_other),
            (_token, 1, n),
        ),
    )
    entropy_closed = equation(
        SYMBOL, -_itself * sp.log(_itself) - (n - 1) * _other * sp.log(_other)
    )
    itself, other = equation(_itself, boost / _total), equation(_other, rest / _total)
    itself_closed = equation(_itself, boost / total_closed.rhs)
    other_closed = equation(_other, rest / total_closed.rhs)
    explicit = equation(
        SYMBOL,
        entropy_closed.rhs.subs({_itself: itself_closed.rhs, _other: other_closed.rhs}),
    )
    premises = (
        Premise(total, "sum of the weights e^(beta <x_i, M x_j>) of a scalar head"),
        Premise(itself, "softmax weight of the token itself"),
        Premise(other, "softmax weight of each other token"),
        Premise(entropy, "definition of the attention entropy, -sum p ln p"),
    )
    steps = [
        instances(
            total,
            total_closed,
            lambda size: sp.Add(
                *equiangular_flow(Model.UNNORMALISED, size, gamma, [lam], beta).weights(0, 0)
            ),
            {n: 1},
            "one sum over tokens: degree at most 1 in n",
            region=REGION,
        ),
        instances(
            entropy,
            entropy_closed,
            lambda size: entropy.rhs.subs(n, size).doit(),
            {n: 1},
            "one sum over tokens: degree at most 1 in n",
        ),
        substitute(itself, itself_closed, "put in the sum", using=(total_closed,), region=REGION),
        substitute(other, other_closed, "put in the sum", using=(total_closed,), region=REGION),
        substitute(
            entropy_closed,
            explicit,
            "put in the weights",
            using=(itself_closed, other_closed),
            region=REGION,
        ),
    ]
    return premises, steps, explicit


motion = sp.Symbol("motion", real=True)
"""The rate gamma' under all heads."""
_covariance = sp.Function("covariance")
COVARIANCE_SYMBOL = _covariance(lam, beta, n, gamma, motion)
COVARIANCE = -(lam**2) * motion * (1 - SHARE) * SHARE * (1 - gamma)
"""``Cov_p(s_j, s_j')`` of a token for scores ``s_j = lam <x_i, x_j>``."""


@cache
def covariance_derivation(
    candidate: sp.Expr = COVARIANCE, strengths: Range = POSITIVE[lam]
) -> Derivation:
    """Return the derivation of the covariance and of its sign, for strengths in a range.

    The rate gamma' of positive strengths is positive, which is derived beside it.
    """
    x, y = sp.symbols("s_j s_j'")
    definition = equation(COVARIANCE_SYMBOL, sp.Function("Cov_p")(x, y))
    closed = equation(COVARIANCE_SYMBOL, candidate)
    reduction = equiangular.derivation(Model.SOFTMAX)
    one_head = equiangular.one_head(Model.SOFTMAX)
    region = POSITIVE.having({lam: strengths})
    total = sp.exp(beta * lam) + (n - 1) * sp.exp(beta * lam * gamma)
    steps = (
        *reduction.steps,
        consequence(
            one_head,
            sp.Gt(one_head.lhs, 0, evaluate=False),
            "every head moves gamma upwards",
            region,
        ),
        instances(
            definition,
            closed,
            covariance_from_weights,
            {n: 2},
            "two sums over tokens, divided by the square of the sum of the weights",
            multiplier=total**2,
            region=REGION,
        ),
        consequence(
            closed,
            sp.Lt(COVARIANCE_SYMBOL, 0, evaluate=False),
            "negative while gamma rises",
            region.having({motion: above(0)}),
        ),
    )
    return Derivation(
        "the covariance of scores and their rates at equiangular tokens",
        "softmax",
        (*reduction.premises, Premise(definition, "definition, with s_j' = lam gamma' for j != i")),
        steps,
    )


def covariance_from_weights(size: int) -> sp.Expr:
    """Return ``Cov_p(s_j, s_j')`` of token 1 from the weights and scores of ``size`` tokens."""
    flow = equiangular_flow(Model.SOFTMAX, size, gamma, [lam], beta)
    weights = flow.weights(0, 0)
    scores = [lam * flow.gram[0, j] for j in range(size)]
    motions = [lam * motion * int(j > 0) for j in range(size)]
    mean = sp.Add(*(p * s for p, s in zip(weights, scores, strict=True)))
    drift = sp.Add(*(p * v for p, v in zip(weights, motions, strict=True)))
    both = sp.Add(*(p * s * v for p, s, v in zip(weights, scores, motions, strict=True)))
    return both - mean * drift


FORMULA = Formula(
    name="attention-entropy",
    title="attention entropy of a token at equiangular tokens",
    symbol=SYMBOL,
    parameters=(STRENGTH, INVERSE_TEMPERATURE, TOKENS, OVERLAP),
    expression=EXPRESSION,
    source="Thm 27",
    model="softmax",
    derive=derivation,
    evaluation=SHARES_FORM,
    forms=(Form("shares", SHARES_FORM),),
    example={"lam": "1", "beta": "2", "n": "64", "gamma": "1/2"},
)
