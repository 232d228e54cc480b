"""What is told of each head at equiangular tokens: energy, shadow and power, with their rates.

The aggregates are those of the model; energy and entropy have exponential weights in every model.
Attention entropy and its slope are those of `attention_entropy`.
"""

from __future__ import annotations

from functools import cache

import sympy as sp

from symbolic import attention_entropy, equiangular, radial_cosine
from symbolic.attention_entropy import SHARE, motion
from symbolic.calculus_rules import differentiate
from symbolic.derivation import Derivation, Premise, Step
from symbolic.flow import Model, ScalarFlow, equiangular_flow
from symbolic.notation import beta, gamma, lam, n
from symbolic.region import above
from symbolic.rules import equation, instances, substitute
from symbolic.written import written

ENERGY = written(
    lambda: (sp.exp(beta * lam) + (n - 1) * sp.exp(beta * lam * gamma)) / (2 * beta * n)
)
"""E_h, for beta > 0."""
ENERGY_RATE = written(lambda: (n - 1) * lam * sp.exp(beta * lam * gamma) * motion / (2 * n))
"""dE_h/dt where gamma moves at the rate `motion`."""
ENTROPY_RATE = attention_entropy.SLOPE * motion
"""dS/dt where gamma moves at the rate `motion`."""

SHADOWS = {
    Model.SOFTMAX: written(lambda: lam * (1 - (1 - gamma) * SHARE)),
    Model.UNNORMALISED: radial_cosine.SHADOW.rhs,
    Model.RELU: written(lambda: lam * (sp.Max(0, lam) + (n - 1) * gamma * sp.Max(0, lam * gamma))),
}
"""The radial shadow a_i^h of a head of strength lam."""


def _spread(weight: sp.Expr) -> sp.Expr:
    """Return the tangential power where each other token has the weight."""
    return lam**2 * weight**2 * (n - 1) * (1 - gamma) * (1 + (n - 1) * gamma)


POWERS = {
    Model.SOFTMAX: written(
        lambda: lam**2 * SHARE**2 * (1 - gamma) * (1 + (n - 1) * gamma) / (n - 1)
    ),
    Model.UNNORMALISED: written(lambda: _spread(sp.exp(beta * lam * gamma))),
    Model.RELU: written(lambda: _spread(sp.Max(0, lam * gamma))),
}
"""The tangential power |P f_i^h|^2 of a head of strength lam."""

REGION = equiangular.REGION
WARM = REGION.having({beta: above(0)})

_energy = sp.Function("energy")(gamma)


@cache
def derivation(model: Model, candidates: tuple[sp.Expr, sp.Expr] | None = None) -> Derivation:
    """Return the derivation of shadow, power, energy and its rate, from the definitions.

    Args:
        model: the model of the aggregates.
        candidates: shadow and power to derive, those above by default.
    """
    shadow, power = (SHADOWS[model], POWERS[model]) if candidates is None else candidates
    parts = (_aggregates(model, shadow, power), _energies())
    return Derivation(
        "radial shadow, tangential power and energy of a head at equiangular tokens",
        f"{model}, spherical; the energy has exponential weights in every model",
        tuple(premise for premises, _ in parts for premise in premises),
        tuple(step for _, steps in parts for step in steps),
    )


def _aggregates(model: Model, shadow: sp.Expr, power: sp.Expr) -> tuple[list[Premise], list[Step]]:
    """Return premises and steps to the radial shadow and the tangential power."""
    inner = sp.Function("inner")
    f, x, tangential = sp.symbols("f_i x_i P_f")
    total = (
        sp.exp(beta * lam) + (n - 1) * sp.exp(beta * lam * gamma)
        if model is Model.SOFTMAX
        else sp.S.One
    )
    definitions = [
        Premise(equation(sp.Symbol("shadow", real=True), inner(f, x)), "definition of a_i^h"),
        Premise(
            equation(sp.Symbol("power", real=True), inner(tangential, tangential)),
            "definition of |P f_i^h|^2",
        ),
    ]

    def flow(size: int) -> ScalarFlow:
        return equiangular_flow(model, size, gamma, [lam], beta)

    steps = [
        instances(
            definitions[0].relation,
            equation(definitions[0].relation.lhs, shadow),
            lambda size: flow(size).shadow(0, 0),
            {n: 1},
            "one sum over tokens: degree at most 1 in n after clearing the weights",
            multiplier=total,
            region=REGION,
        ),
        instances(
            definitions[1].relation,
            equation(definitions[1].relation.lhs, power),
            lambda size: flow(size).power(0, 0),
            {n: 2},
            "two sums over tokens: degree at most 2 in n after clearing the weights",
            multiplier=total**2,
            region=REGION,
        ),
    ]
    return definitions, steps


def _energies() -> tuple[list[Premise], list[Step]]:
    """Return premises and steps to the energy and to its rate."""
    score = sp.Function("score")
    i, j = sp.symbols("i j", integer=True)
    definition = Premise(
        equation(
            _energy,
            sp.Sum(sp.exp(beta * score(i, j)), (i, 1, n), (j, 1, n)) / (2 * beta * n**2),
        ),
        "definition of E_h",
    )
    closed = equation(_energy, ENERGY)

    def from_definition(size: int) -> sp.Expr:
        gram = equiangular_flow(Model.UNNORMALISED, size, gamma, [lam], beta).gram
        return sp.Add(*(sp.exp(beta * lam * overlap) for overlap in gram)) / (2 * beta * size**2)

    slope = equation(sp.Derivative(_energy, gamma), sp.diff(ENERGY, gamma))
    chain = Premise(equation(sp.Symbol("energy_rate", real=True), slope.lhs * motion), "chain rule")
    steps = [
        instances(
            definition.relation,
            closed,
            from_definition,
            {n: 2},
            "two sums over tokens, divided by n^2",
            multiplier=n**2,
            region=WARM,
        ),
        differentiate(closed, slope, gamma, 1, "slope in the overlap", WARM),
        substitute(
            chain.relation,
            equation(chain.relation.lhs, ENERGY_RATE),
            "put in the slope",
            using=(slope,),
            region=WARM,
        ),
    ]
    return [definition, chain], steps
