"""The radial cosine: the cosine between the aggregate of a scalar head and its token."""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy as sp

from symbolic import notation
from symbolic.derivation import Derivation, Premise
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
    """Return the derivation of the radial cosine from the unnormalised flow.

    Softmax divides ``f_i^h`` by a positive number, which leaves the cosine as it is.
    """
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
    return Derivation(
        "the cosine between f_i^h and x_i at equiangular tokens",
        "unnormalised (softmax divides f_i^h by a positive number: same cosine)",
        (shadow, square, cosine),
        steps,
    )


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
