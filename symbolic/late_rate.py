"""The late rate: how fast the last distance between tokens closes, in each model (Theorem 22)."""

from __future__ import annotations

from functools import cache

import sympy as sp

from symbolic import equiangular, notation
from symbolic.derivation import Derivation, Premise, Step
from symbolic.flow import Model, equiangular_flow
from symbolic.flow_rules import additive, summed_over_heads
from symbolic.formula import Formula, Values
from symbolic.notation import beta, gamma, lam
from symbolic.parameter import INVERSE_TEMPERATURE, MODEL, STRENGTHS
from symbolic.region import between
from symbolic.rules import equation, scale, substitute
from symbolic.written import written

ONE_HEAD = {
    Model.SOFTMAX: written(lambda: 2 * lam),
    Model.UNNORMALISED: written(lambda: 2 * lam * sp.exp(beta * lam)),
    Model.RELU: written(lambda: 2 * lam * sp.Max(0, lam)),
}
"""The late rate under one head."""
SYMBOLS = {model: sp.Function(f"late_rate_{model}")(beta) for model in Model}
SYMBOLS[Model.SOFTMAX] = notation.late_rate(beta)
VARIANTS = {model.value: summed_over_heads(rate) for model, rate in ONE_HEAD.items()}
EXPRESSION = VARIANTS[Model.SOFTMAX.value]

CLOSED_REGION = equiangular.REGION.having(
    {gamma: between(equiangular.REGION[gamma].lower, 1, lower_open=True)}
)
"""As for the reduction, with gamma = 1 included."""


@cache
def derivation(candidate: sp.Expr = EXPRESSION) -> Derivation:
    """Return the derivation of the late rates of the three models from their flows."""
    parts = [
        model_derivation(model, candidate if model is Model.SOFTMAX else VARIANTS[model.value])
        for model in Model
    ]
    return Derivation(
        parts[0].subject,
        "softmax; unnormalised and relu as variants",
        tuple(premise for part in parts for premise in part.premises),
        tuple(step for part in parts for step in part.steps),
    )


@cache
def model_derivation(model: Model, candidate: sp.Expr) -> Derivation:
    """Return the derivation of the late rate of one model from its flow."""
    reduction = equiangular.derivation(model)
    contraction = sp.Function(f"contraction_{model}")
    definition = equation(contraction(lam, gamma) * (1 - gamma), equiangular.one_head(model).lhs)
    extended = "gamma'/(1 - gamma) of one head, extended continuously to gamma = 1"
    return Derivation(
        "the limit of gamma'/(1 - gamma) as gamma tends to 1: the rate of 1 - gamma",
        f"{model}, spherical",
        (*reduction.premises, Premise(definition, extended)),
        (*reduction.steps, *_to_the_end(model, definition, contraction, candidate)),
    )


def _to_the_end(
    model: Model, definition: sp.Eq, contraction: sp.Function, total: sp.Expr
) -> list[Step]:
    """Return the steps from the reduced equation of a model to its late rate."""
    one_head = equiangular.one_head(model)
    explicit = equation(definition.lhs, one_head.rhs)
    # The rate is a product with 1 - gamma as one factor; the others stay as they are written.
    others = [factor for factor in one_head.rhs.args if factor != 1 - gamma]
    divided = equation(contraction(lam, gamma), sp.Mul(*others, evaluate=False))
    at_one = equation(contraction(lam, 1), ONE_HEAD[model])

    def from_definition(heads: list[sp.Expr]) -> sp.Expr:
        # gamma' vanishes at gamma = 1, so gamma'/(1 - gamma) tends to minus its slope there.
        rate = equiangular_flow(model, 3, gamma, heads, beta).overlap_rate(0, 1)
        return -sp.diff(rate, gamma).subs(gamma, 1)

    return [
        substitute(
            definition, explicit, "put in the rate", using=(one_head,), region=equiangular.REGION
        ),
        scale(explicit, divided, 1 / (1 - gamma), "divide by 1 - gamma", equiangular.REGION),
        substitute(
            divided,
            at_one,
            "continuous at gamma = 1, where no denominator vanishes",
            values={gamma: sp.S.One},
            region=CLOSED_REGION,
        ),
        additive(
            at_one,
            equation(SYMBOLS[model], total),
            from_definition,
            "the aggregates of the heads are added",
            equiangular.REGION,
        ),
    ]


def _remarks(_values: Values, sign: int) -> list[str]:
    return [] if sign > 0 else ["not positive: no trajectory clusters at this rate"]


FORMULA = Formula(
    name="late-rate",
    title="late rate: eps = 1 - gamma decays like e^(-late rate * t)",
    symbol=notation.late_rate(beta),
    parameters=(MODEL, STRENGTHS, INVERSE_TEMPERATURE),
    expression=EXPRESSION,
    source="Thm 22 (softmax)",
    model="softmax, unnormalised, relu",
    derive=derivation,
    evaluation=EXPRESSION,
    variants=VARIANTS,
    remarks=_remarks,
    idle={"softmax": ("beta",), "relu": ("beta",)},
    example={"lam": "1/2,1,3/2,2"},
)
