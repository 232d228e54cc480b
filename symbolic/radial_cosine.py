"""The radial cosine: the cosine between the aggregate of a scalar head and its token."""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy as sp

from symbolic import notation
from symbolic.derivation import Derivation, Premise, Step
from symbolic.flow import Model, ScalarFlow, equiangular_flow
from symbolic.formula import Form, Formula, SpecialCase, Values
from symbolic.notation import beta, gamma, lam, n
from symbolic.parameter import INVERSE_TEMPERATURE, OVERLAP, POSITIVE_STRENGTH, TOKENS
from symbolic.region import Region, above, at_least, between
from symbolic.rules import equation, instances, rewrite, substitute
from symbolic.written import written


def _boost() -> sp.Expr:
    return sp.exp(beta * lam * (1 - gamma))


def _decay() -> sp.Expr:
    return sp.exp(-beta * lam * (1 - gamma))


EXPRESSION = written(
    lambda: (
        (_boost() + (n - 1) * gamma)
        / sp.sqrt(
            sp.exp(2 * beta * lam * (1 - gamma))
            + 2 * (n - 1) * gamma * _boost()
            + (n - 1) * (1 + (n - 2) * gamma)
        )
    )
)
# In the tangent, with decaying exponentials only: no overflow, no cancellation near 1.
TANGENT_FORM = written(
    lambda: (
        1
        / sp.sqrt(
            1
            + (n - 1)
            * (1 - gamma)
            * (1 + (n - 1) * gamma)
            * (_decay() / (1 + (n - 1) * gamma * _decay())) ** 2
        )
    )
)

# The flow's closed forms hold on the open interval of overlaps; the ends are special cases.
REGION = Region(
    {
        n: at_least(2),
        lam: above(0),
        beta: at_least(0),
        gamma: between(-1 / (n - 1), 1, lower_open=True, upper_open=True),
    }
)

SYMBOL = notation.radial_cosine(lam, beta, n, gamma)
_shadow = sp.Symbol("shadow", real=True)
_square = sp.Symbol("f_square", positive=True)
_inner = sp.Function("inner")
_f, _x = sp.symbols("f_i x_i")

SHADOW = equation(
    _shadow,
    written(lambda: lam * (sp.exp(beta * lam) + (n - 1) * gamma * sp.exp(beta * lam * gamma))),
)
"""The radial shadow of a scalar head at equiangular tokens, unnormalised."""
SQUARE = equation(
    _square,
    written(
        lambda: (
            lam**2
            * (
                sp.exp(2 * beta * lam)
                + 2 * (n - 1) * gamma * sp.exp(beta * lam * (1 + gamma))
                + (n - 1) * (1 + (n - 2) * gamma) * sp.exp(2 * beta * lam * gamma)
            )
        )
    ),
)
"""The squared length of the aggregate, unnormalised."""


@cache
def derivation(candidate: sp.Expr = EXPRESSION) -> Derivation:
    """Return the derivation of the radial cosine, from the unnormalised and the softmax flow."""
    shadow = Premise(equation(_shadow, _inner(_f, _x)), "definition of the radial shadow")
    square = Premise(equation(_square, _inner(_f, _f)), "definition of |f_i^h|^2")
    cosine = Premise(equation(SYMBOL, _shadow / sp.sqrt(_square)), "definition of the cosine")

    def flow(size: int) -> ScalarFlow:
        return equiangular_flow(Model.UNNORMALISED, size, gamma, [lam], beta)

    quotient = equation(SYMBOL, SHADOW.rhs / sp.sqrt(SQUARE.rhs))
    result = equation(SYMBOL, candidate)
    steps = (
        instances(
            shadow.relation,
            SHADOW,
            lambda size: flow(size).shadow(0, 0),
            {n: 1},
            "one sum over tokens: degree at most 1 in n",
        ),
        instances(
            square.relation,
            SQUARE,
            lambda size: flow(size).square(0, 0),
            {n: 2},
            "two sums over tokens: degree at most 2 in n",
        ),
        substitute(
            cosine.relation,
            quotient,
            "put the closed forms into the quotient",
            using=(SHADOW, SQUARE),
            region=REGION,
        ),
        rewrite(
            quotient,
            result,
            "divide numerator and denominator by lam e^(beta lam gamma) > 0",
            REGION,
        ),
        rewrite(
            result,
            equation(SYMBOL, TANGENT_FORM),
            "the numerator is positive; divide by it under the root",
            REGION,
        ),
    )
    softmax_premises, softmax_steps = _softmax(candidate)
    return Derivation(
        "the cosine between f_i^h and x_i at equiangular tokens",
        "unnormalised and softmax",
        (shadow, square, cosine, *softmax_premises),
        (*steps, *softmax_steps),
    )


def _softmax(candidate: sp.Expr) -> tuple[tuple[Premise, ...], tuple[Step, ...]]:
    """Return premises and steps for softmax, whose aggregate is divided by the sum of weights."""
    shadow_symbol = sp.Symbol("shadow_softmax", real=True)
    square_symbol = sp.Symbol("f_square_softmax", positive=True)
    f = sp.Symbol("f_i_softmax")
    symbol = sp.Function("radial_cosine_softmax")(*SYMBOL.args)
    total = sp.exp(beta * lam) + (n - 1) * sp.exp(beta * lam * gamma)
    shadow = Premise(equation(shadow_symbol, _inner(f, _x)), "the same under softmax")
    square = Premise(equation(square_symbol, _inner(f, f)), "the same under softmax")
    cosine = Premise(
        equation(symbol, shadow_symbol / sp.sqrt(square_symbol)), "the same under softmax"
    )
    shadow_closed = equation(shadow_symbol, SHADOW.rhs / total)
    square_closed = equation(square_symbol, SQUARE.rhs / total**2)
    quotient = equation(symbol, shadow_closed.rhs / sp.sqrt(square_closed.rhs))

    def flow(size: int) -> ScalarFlow:
        return equiangular_flow(Model.SOFTMAX, size, gamma, [lam], beta)

    steps = (
        instances(
            shadow.relation,
            shadow_closed,
            lambda size: flow(size).shadow(0, 0),
            {n: 1},
            "softmax: one sum over tokens, divided by the sum of the weights",
            multiplier=total,
            region=REGION,
        ),
        instances(
            square.relation,
            square_closed,
            lambda size: flow(size).square(0, 0),
            {n: 2},
            "softmax: two sums over tokens, divided by the square of the sum of the weights",
            multiplier=total**2,
            region=REGION,
        ),
        substitute(
            cosine.relation,
            quotient,
            "put the closed forms into the quotient",
            using=(shadow_closed, square_closed),
            region=REGION,
        ),
        rewrite(quotient, equation(symbol, candidate), "softmax has the same cosine", REGION),
    )
    return (shadow, square, cosine), steps


def _lowest(values: Values) -> Any:
    return -1 / (values["n"] - 1)


FORMULA = Formula(
    name="radial-cosine",
    title="cosine between the aggregate f_i^h and its token at equiangular tokens",
    symbol=SYMBOL,
    parameters=(POSITIVE_STRENGTH, INVERSE_TEMPERATURE, TOKENS, OVERLAP),
    expression=EXPRESSION,
    source="used in Thm 19 (section 3 of the summaries: |P f|^2 and a)",
    model="unnormalised and softmax",
    derive=derivation,
    evaluation=TANGENT_FORM,
    example={"lam": "1", "beta": "2", "n": "64", "gamma": "1/2"},
    forms=(Form("tangent", TANGENT_FORM),),
    special_cases=(
        SpecialCase(
            lambda v: (v["beta"] == 0) & (v["gamma"] == _lowest(v)),
            "beta = 0 and gamma = -1/(n-1)",
            None,
            "the aggregate f_i^h vanishes, so the cosine is not defined",
        ),
        SpecialCase(
            lambda v: v["gamma"] == 1,
            "gamma = 1",
            sp.S.One,
            "all tokens agree: the aggregate points along the token",
        ),
        SpecialCase(
            lambda v: v["gamma"] == _lowest(v),
            "gamma = -1/(n-1)",
            sp.S.One,
            "the tokens sum to zero: the aggregate points along the token",
        ),
    ),
)
