"""The reduced flow in the variable in which it is smooth: the logit of the overlap.

With ``u = ln((1 + (n-1) gamma)/(1 - gamma))`` both zeros of the field in gamma are gone, and
``1 - gamma = n/(e^u + n - 1)`` keeps its relative accuracy up to gamma = 1.
"""

from __future__ import annotations

from functools import cache

import sympy as sp

from symbolic import equiangular
from symbolic.calculus_rules import differentiate
from symbolic.derivation import Derivation, Premise, Step
from symbolic.flow import Model, equiangular_flow
from symbolic.flow_rules import additive, summed_over_heads
from symbolic.notation import beta, gamma, lam, n
from symbolic.region import Range
from symbolic.rules import equation, substitute
from symbolic.written import written

u = sp.Symbol("u", real=True)
"""The logit of the overlap, any real number."""

LOGIT = written(lambda: sp.log((1 + (n - 1) * gamma) / (1 - gamma)))
"""u as a function of gamma."""
OVERLAP = written(lambda: (sp.exp(u) - 1) / (sp.exp(u) + n - 1))
"""gamma as a function of u."""
GAP = written(lambda: n / (sp.exp(u) + n - 1))
"""``eps = 1 - gamma`` as a function of u."""

FIELDS = {
    Model.SOFTMAX: written(
        lambda: 2 * n * lam / (sp.exp(beta * lam * n / (sp.exp(u) + n - 1)) + n - 1)
    ),
    Model.UNNORMALISED: written(
        lambda: 2 * lam * sp.exp(beta * lam * (sp.exp(u) - 1) / (sp.exp(u) + n - 1))
    ),
    Model.RELU: written(lambda: 2 * lam * sp.Max(0, lam * (sp.exp(u) - 1) / (sp.exp(u) + n - 1))),
}
"""The rate u' under one head of strength lam."""
TOTAL_FIELDS = {model: summed_over_heads(field) for model, field in FIELDS.items()}
"""The rate u' under all heads."""

LOGIT_RATES = {model: sp.Function(f"logit_rate_{model}") for model in Model}
"""The rate u' under one head as a function of (lam, u)."""
TOTAL_LOGIT_RATES = {model: sp.Function(f"total_logit_rate_{model}") for model in Model}
"""The rate u' under all heads as a function of u."""

REGION = equiangular.REGION.having({u: Range()})

_logit = sp.Function("logit")
_slope = written(lambda: n / ((1 - gamma) * (1 + (n - 1) * gamma)))


@cache
def derivation(model: Model, candidate: sp.Expr | None = None) -> Derivation:
    """Return the derivation of the rate of the logit of a model, from the flow's definition."""
    reduction = equiangular.derivation(model)
    field = FIELDS[model] if candidate is None else candidate
    definition = equation(_logit(gamma), LOGIT)
    rate = sp.Function(f"logit_rate_of_overlap_{model}")
    chain = equation(
        rate(lam, gamma),
        sp.Derivative(_logit(gamma), gamma) * equiangular.OVERLAP_RATES[model](lam, gamma),
    )
    in_logit = equation(LOGIT_RATES[model](lam, u), rate(lam, OVERLAP))
    return Derivation(
        "the rate of the logit of the overlap",
        f"{model}, spherical",
        (
            *reduction.premises,
            Premise(definition, "definition of the logit of the overlap"),
            Premise(chain, "chain rule: u' = du/dgamma gamma'"),
            Premise(in_logit, "the same rate as a function of u, gamma = (e^u - 1)/(e^u + n - 1)"),
        ),
        (*reduction.steps, *_steps(model, field, definition, chain, in_logit)),
    )


def _steps(
    model: Model, field: sp.Expr, definition: sp.Eq, chain: sp.Eq, in_logit: sp.Eq
) -> list[Step]:
    """Return the steps from the rate of the overlap to that of its logit."""
    overlap_rate = equiangular.one_head(model)
    slope = equation(sp.Derivative(_logit(gamma), gamma), _slope)
    explicit = equation(chain.lhs, _slope * overlap_rate.rhs)
    at_overlap = equation(
        sp.Function(chain.lhs.func.__name__)(lam, OVERLAP),
        explicit.rhs.subs(gamma, OVERLAP),
    )
    one = equation(LOGIT_RATES[model](lam, u), field)
    total = equation(TOTAL_LOGIT_RATES[model](u), summed_over_heads(field))

    def from_definition(heads: list[sp.Expr]) -> sp.Expr:
        rate = equiangular_flow(model, 3, gamma, heads, beta).overlap_rate(0, 1)
        return (_slope.subs(n, 3) * rate).subs(gamma, 1 - GAP.subs(n, 3))

    return [
        substitute(
            definition,
            equation(_logit(OVERLAP), u),
            "the overlap whose logit is u",
            values={gamma: OVERLAP},
            region=REGION,
        ),
        differentiate(definition, slope, gamma, 1, "slope of the logit", equiangular.REGION),
        substitute(
            chain,
            explicit,
            "put in the slope and the rate of the overlap",
            using=(slope, overlap_rate),
            region=equiangular.REGION,
        ),
        substitute(explicit, at_overlap, "in terms of u", values={gamma: OVERLAP}, region=REGION),
        substitute(in_logit, one, "the rate of u", using=(at_overlap,), region=REGION),
        additive(one, total, from_definition, "the aggregates of the heads are added", REGION),
    ]
