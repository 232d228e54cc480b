"""Where one relu head moves equiangular tokens faster than the other models (Thm 25).

All three rates share the factor ``2 (1-gamma)(1+(n-1)gamma)``; what is left is compared.
"""

from __future__ import annotations

from functools import cache

import sympy as sp

from symbolic import equiangular
from symbolic.derivation import Derivation, Premise, Step
from symbolic.flow import Model
from symbolic.notation import beta, gamma, lam, n
from symbolic.region import Region, above, at_least, between
from symbolic.rules import consequence, equation, scale, substitute

relu, softmax, unnormalised = sp.symbols("relu_rate softmax_rate unnormalised_rate", real=True)
"""Rates gamma' of one head of positive strength under the three models."""
_NAMES = {Model.RELU: relu, Model.SOFTMAX: softmax, Model.UNNORMALISED: unnormalised}

REGION = Region(
    {
        n: at_least(2),
        beta: at_least(0),
        lam: above(0),
        gamma: between(0, 1, lower_open=True, upper_open=True),
    }
)

AHEAD_OF_SOFTMAX = sp.Gt(
    sp.exp(beta * lam * (1 - gamma)),
    1 + n * (1 - lam * gamma) / (lam * gamma),
    evaluate=False,
)
"""The region; for lambda = 1 it is e^(beta eps) > 1 + n eps/(1 - eps)."""
AHEAD_OF_UNNORMALISED = sp.Gt(lam * gamma, sp.exp(beta * lam * gamma), evaluate=False)
"""The region: lambda gamma > e^(beta lambda gamma)."""


def rate(model: Model) -> sp.Expr:
    """Return ``gamma'`` of one head of positive strength at a positive overlap."""
    return equiangular.RATES[model].replace(sp.Max, lambda *_: lam * gamma)


def _rates(model: Model) -> tuple[tuple[Premise, ...], sp.Gt, sp.Gt, Step]:
    """Return premises, the question whether relu is ahead, and the step to the rates."""
    other = _NAMES[model]
    question = sp.Gt(relu, other, evaluate=False)
    equations = (equation(relu, rate(Model.RELU)), equation(other, rate(model)))
    explicit = sp.Gt(rate(Model.RELU), rate(model), evaluate=False)
    premises = (
        Premise(question, "the question: where is relu ahead?"),
        Premise(equations[0], "relu, claim equiangular-reduction, lambda gamma > 0"),
        Premise(equations[1], f"{model}, claim equiangular-reduction"),
    )
    step = substitute(question, explicit, "the two rates", using=equations, region=REGION)
    return premises, question, explicit, step


@cache
def derivation(model: Model, candidate: sp.Gt) -> Derivation:
    """Return the derivation of where relu is ahead of softmax or of the unnormalised model.

    Every step is an equivalence.
    """
    premises, _, explicit, first = _rates(model)
    shared = 2 * lam * (1 - gamma) * (1 + (n - 1) * gamma)
    boost = sp.exp(beta * lam * (1 - gamma))
    if model is Model.SOFTMAX:
        factor = n * (boost + n - 1) / (shared * lam * gamma)
        cleared = sp.Gt(boost + n - 1, n / (lam * gamma), evaluate=False)
        steps = [
            scale(explicit, cleared, factor, "divide by the positive factors", REGION),
            scale(cleared, candidate, sp.S.One, "move n - 1", REGION),
        ]
    else:
        steps = [scale(explicit, candidate, n / shared, "divide by the positive factors", REGION)]
    return Derivation(
        f"where relu is ahead of the {model} model",
        f"relu and {model}, spherical",
        premises,
        (first, *steps),
    )


@cache
def never_derivation() -> Derivation:
    """Return the derivation that relu is never ahead of the unnormalised model for lambda = 1.

    ``gamma <= 1 <= e^(beta gamma)`` for every overlap below 1.
    """
    margin = sp.Function("margin")
    definition = equation(margin(beta, gamma), sp.exp(beta * gamma) - gamma)
    return Derivation(
        "the unnormalised model is ahead of relu at every overlap, lambda = 1",
        "relu and unnormalised, spherical",
        (Premise(definition, "the difference of the two sides"),),
        (
            consequence(
                definition,
                sp.Gt(margin(beta, gamma), 0, evaluate=False),
                "gamma < 1 <= e^(beta gamma)",
                REGION,
            ),
        ),
    )
