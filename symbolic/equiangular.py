"""The equiangular reduction: how the overlap of equiangular tokens moves under scalar heads.

By symmetry all pairs of equiangular tokens move alike, so one number, the overlap gamma, is the
state. The aggregates of the heads are added, so the rate is a sum over heads.
"""

from __future__ import annotations

from functools import cache

import sympy as sp

from symbolic.derivation import Derivation, Premise, Step
from symbolic.flow import Model, equiangular_flow
from symbolic.flow_rules import additive, summed_over_heads, symmetric
from symbolic.notation import beta, gamma, lam, n
from symbolic.region import Range, Region, at_least, between
from symbolic.rules import equation, instances
from symbolic.written import written

OVERLAP_RATES = {model: sp.Function(f"overlap_rate_{model}") for model in Model}
"""The rate gamma' under one head as a function of (lam, gamma)."""
TOTAL_OVERLAP_RATES = {model: sp.Function(f"total_overlap_rate_{model}") for model in Model}
"""The rate gamma' under all heads as a function of gamma."""

SOFTMAX = written(
    lambda: (
        2 * lam * (1 - gamma) * (1 + (n - 1) * gamma) / (sp.exp(beta * lam * (1 - gamma)) + n - 1)
    )
)
UNNORMALISED = written(
    lambda: 2 * lam * sp.exp(beta * lam * gamma) * (1 - gamma) * (1 + (n - 1) * gamma) / n
)
RELU = written(lambda: 2 * lam * sp.Max(0, lam * gamma) * (1 - gamma) * (1 + (n - 1) * gamma) / n)
RATES = {Model.SOFTMAX: SOFTMAX, Model.UNNORMALISED: UNNORMALISED, Model.RELU: RELU}
"""The rate gamma' under one head; relu tokens do not move where ``lam*gamma <= 0``."""

_open = between(-1 / (n - 1), 1, lower_open=True, upper_open=True)
REGION = Region({n: at_least(2), beta: at_least(0), lam: Range(), gamma: _open})

# What one pair's rate must be multiplied by to be a polynomial in n, and its degree.
_MULTIPLIERS = {
    Model.SOFTMAX: sp.exp(beta * lam * (1 - gamma)) + n - 1,
    Model.UNNORMALISED: n,
    Model.RELU: n,
}


@cache
def derivation(model: Model, candidate: sp.Expr | None = None) -> Derivation:
    """Return the derivation of the reduced equation of a model, from the flow's definition."""
    rate = RATES[model] if candidate is None else candidate
    return Derivation(
        "the rate of the overlap of equiangular tokens",
        f"{model}, spherical",
        (_definition(model),),
        tuple(_steps(model, rate)),
    )


def one_head(model: Model, rate: sp.Expr | None = None) -> sp.Eq:
    """Return the reduced equation of one head, ``gamma' = rate``, the derived rate by default."""
    return equation(OVERLAP_RATES[model](lam, gamma), RATES[model] if rate is None else rate)


_pair_rate = sp.Function("pair_rate")


def _definition(model: Model) -> Premise:
    pair = _pair_rate(*sp.symbols("x_i x_j"))
    name = one_head(model, pair)
    return Premise(name, "definition: the rate of <x_i, x_j>, i != j, under one head")


def _steps(model: Model, rate: sp.Expr) -> list[Step]:
    """Return the steps from the definition to the rate under one head and under all of them."""
    definition = _definition(model).relation
    other_pair = equation(*(_pair_rate(*sp.symbols(pair)) for pair in ("x_i x_j", "x_k x_l")))
    one = one_head(model, rate)

    def flow_rate(size: int, heads: list[sp.Expr]) -> sp.Expr:
        return equiangular_flow(model, size, gamma, heads, beta).overlap_rate(0, 1)

    def pair_rates(size: int) -> list[sp.Expr]:
        flow = equiangular_flow(model, size, gamma, [lam], beta)
        return [flow.overlap_rate(i, j) for i in range(size) for j in range(i)]

    return [
        symmetric(
            definition,
            other_pair,
            pair_rates,
            "all pairs move alike, so equiangular tokens stay equiangular",
            REGION,
        ),
        instances(
            definition,
            one,
            lambda size: flow_rate(size, [lam]),
            {n: 1},
            "one sum over tokens besides the pair itself: degree 1 in n after clearing the weights",
            multiplier=_MULTIPLIERS[model],
            first=2,
            region=REGION,
        ),
        additive(
            one,
            equation(TOTAL_OVERLAP_RATES[model](gamma), summed_over_heads(rate)),
            lambda heads: flow_rate(3, heads),
            "the aggregates of the heads are added",
            REGION,
        ),
    ]
