"""Where one relu head moves equiangular tokens faster than the other models (Thm 25).

All three rates share the factor ``2 (1-gamma)(1+(n-1)gamma)``; what is left is compared.
"""

from __future__ import annotations

from functools import cache

import sympy as sp

from symbolic import equiangular
from symbolic.calculus_rules import differentiate
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


_margin = sp.Function("margin")


@cache
def never_derivation(strength: int = 1) -> Derivation:
    """Return the derivation that relu is never ahead of the unnormalised model for lambda = 1.

    ``gamma < 1 <= e^(beta gamma)`` for every overlap below 1.

    Args:
        strength: another lambda to try.
    """
    difference = sp.exp(beta * strength * gamma) - strength * gamma
    definition = equation(_margin(beta, gamma), difference)
    return Derivation(
        f"the unnormalised model is ahead of relu at every overlap, lambda = {strength}",
        "relu and unnormalised, spherical",
        (Premise(definition, "the difference of the two sides"),),
        (consequence(definition, NEVER, "gamma < 1 <= e^(beta gamma)", REGION),),
    )


NEVER = sp.Gt(_margin(beta, gamma), 0, evaluate=False)
"""The unnormalised model is ahead at every positive overlap."""

eps = sp.Symbol("eps", real=True)
_late = sp.Function("late")
_SLOPES = [sp.Function(f"late_{order}") for order in (1, 2, 3)]
_LATE = (sp.exp(beta * eps) - 1) * (1 - eps) - n * eps
LATE_SLOPE = beta - n
"""Slope at eps = 0, where it vanishes, of what is positive where relu is ahead for lambda = 1."""
LATE_REGION = Region({n: at_least(2), beta: at_least(0), eps: at_least(0)})


_LATE_VALUES: tuple[tuple[int, dict[sp.Expr, sp.Expr], sp.Expr], ...] = (
    (1, {}, LATE_SLOPE),
    (2, {beta: n}, n * (n - 2)),
    (3, {n: sp.Integer(2), beta: sp.Integer(2)}, sp.Integer(-4)),
)
"""Order of the derivative at eps = 0, where the lower ones vanish, and its value there."""


def late_relations(slope: sp.Expr = LATE_SLOPE) -> list[sp.Eq]:
    """Return what decides at eps = 0, for a slope: the results of `late_derivation`."""
    values = (slope, *(value for _, _, value in _LATE_VALUES[1:]))
    return [
        equation(_SLOPES[k - 1](n, beta, eps).subs({**at, eps: 0}, simultaneous=True), value)
        for (k, at, _), value in zip(_LATE_VALUES, values, strict=True)
    ]


@cache
def late_derivation(slope: sp.Expr = LATE_SLOPE) -> Derivation:
    """Return the derivation of who is ahead of softmax as ``eps -> 0``, for lambda = 1.

    Relu is ahead where ``(e^(beta eps) - 1)(1 - eps) - n eps > 0``. It is 0 at eps = 0, its slope
    there ``beta - n``; for beta = n the second derivative is ``n (n - 2)``, and for n = beta = 2
    the third is -4. So relu is ahead in the limit iff beta > n, or beta = n >= 3.
    """
    ahead = sp.Gt(sp.exp(beta * eps), 1 + n * eps / (1 - eps), evaluate=False)
    cleared = sp.Gt(_LATE, 0, evaluate=False)
    name = equation(_late(n, beta, eps), _LATE)
    inside = LATE_REGION.having({eps: between(0, 1, lower_open=True, upper_open=True)})
    steps = [scale(ahead, cleared, 1 - eps, "multiply by 1 - eps > 0", inside)]
    premises = [
        Premise(ahead, "the region derived for softmax, lambda = 1, gamma = 1 - eps"),
        Premise(name, "a name for what is positive there"),
    ]
    for order, at, value in _LATE_VALUES:
        symbol = _SLOPES[order - 1](n, beta, eps)
        explicit = sp.diff(_LATE, eps, order)
        formal = equation(symbol, sp.Derivative(name.lhs, (eps, order)))
        derivative = equation(formal.rhs, explicit)
        valued = equation(symbol, explicit)
        stated = slope if order == 1 else value
        point = {**at, eps: sp.S.Zero}
        wanted = equation(symbol.subs(point, simultaneous=True), stated)
        premises.append(Premise(formal, "a name for a derivative"))
        steps += [
            differentiate(name, derivative, eps, order, "derivative of the margin", LATE_REGION),
            substitute(formal, valued, "that derivative", using=(derivative,), region=LATE_REGION),
            substitute(
                valued,
                wanted,
                "at eps = 0, where the lower ones vanish",
                values=point,
                region=LATE_REGION,
            ),
        ]
    return Derivation(
        "who is ahead of softmax at late times, lambda = 1",
        "relu and softmax, spherical",
        tuple(premises),
        tuple(steps),
    )
