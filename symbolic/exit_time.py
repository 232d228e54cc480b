"""The exit time: when equal heads that start at orthonormal tokens first lose Condition 8."""

from __future__ import annotations

from functools import cache

import sympy as sp

from symbolic import equiangular, exit_overlap, notation
from symbolic.clustering_time import IN_GAP, time_integral
from symbolic.derivation import Derivation, Premise, Step
from symbolic.exit_overlap import ExitOverlap
from symbolic.flow import Model
from symbolic.formula import Formula, SpecialCase
from symbolic.integral_rules import same_slope, separate
from symbolic.notation import H, beta, gamma, h, lam, n, stop
from symbolic.parameter import (
    INVERSE_TEMPERATURE,
    MODEL,
    POSITIVE_STRENGTH,
    SEVERAL_HEADS,
    TOKENS,
)
from symbolic.passage import Passage, PassageTime
from symbolic.region import Region, above, at_least, between
from symbolic.rules import equation, instances


class SoftmaxExit(PassageTime):
    """The time of passage of equal heads under softmax."""

    nargs = 6
    definition = Passage(H * IN_GAP[Model.SOFTMAX])


class UnnormalisedExit(PassageTime):
    """The time of passage of equal heads in the unnormalised model."""

    nargs = 6
    definition = Passage(H * IN_GAP[Model.UNNORMALISED])


TIMES: dict[Model, type[PassageTime]] = {
    Model.SOFTMAX: SoftmaxExit,
    Model.UNNORMALISED: UnnormalisedExit,
}
SYMBOLS = {model: sp.Function(f"exit_time_{model}")(H, lam, beta, n) for model in Model}
SYMBOLS[Model.SOFTMAX] = notation.exit_time(H, lam, beta, n)

EXIT = ExitOverlap(H, beta * lam, n)
VARIANTS = {
    model.value: time_integral(H * equiangular.RATES[model], sp.S.Zero, EXIT) for model in TIMES
}
EXPRESSION = VARIANTS[Model.SOFTMAX.value]
REGION = Region(
    {
        n: at_least(2),
        H: at_least(2),
        lam: above(0),
        beta: at_least(0),
        gamma: between(0, 1, upper_open=True),
        stop: between(0, 1, upper_open=True),
    }
)


@cache
def derivation(candidate: sp.Expr = EXPRESSION) -> Derivation:
    """Return the derivation of the exit times, under softmax and unnormalised."""
    parts = [
        model_derivation(model, candidate if model is Model.SOFTMAX else VARIANTS[model.value])
        for model in TIMES
    ]
    return Derivation(
        parts[0].subject,
        "softmax; unnormalised as a variant; relu: Condition 8 does not hold at the start",
        tuple(premise for part in parts for premise in part.premises),
        tuple(step for part in parts for step in part.steps),
    )


@cache
def model_derivation(model: Model, candidate: sp.Expr) -> Derivation:
    """Return the derivation of the exit time of one model from its flow."""
    reduction = equiangular.derivation(model)
    one_head = equiangular.one_head(model)
    summed = equation(
        sp.Function(f"equal_heads_rate_{model}")(lam, gamma), sp.Sum(one_head.rhs, (h, 1, H))
    )
    counted = equation(summed.lhs, H * one_head.rhs)
    passage = sp.Function(f"passage_time_{model}")(H, lam, beta, n, stop)
    time = equation(passage, time_integral(counted.rhs, sp.S.Zero))
    exit_time = equation(SYMBOLS[model], candidate)
    steps: list[Step] = [
        instances(
            summed,
            counted,
            lambda heads: summed.rhs.subs(H, heads).doit(),
            {H: 1},
            "one sum over heads: degree at most 1 in H",
            region=REGION,
        ),
        separate(
            counted,
            exit_time,
            "the rate is positive, so the overlap grows up to g, where Condition 8 is lost",
        ),
        separate(counted, time, "likewise up to any overlap"),
        same_slope(
            time,
            equation(passage, TIMES[model](1, 1 - stop, n, H, beta, lam).integral),
            stop,
            sp.S.Zero,
            "over the gap eps = 1 - gamma, with simple poles at the ends of its domain",
            REGION,
        ),
    ]
    return Derivation(
        "the time at which Condition 8 is first lost, equal heads from orthonormal tokens",
        f"{model}, spherical",
        (
            *reduction.premises,
            Premise(summed, "H equal heads of strength lam: the sum over heads"),
        ),
        (*reduction.steps, *steps),
    )


FORMULA = Formula(
    name="exit-time",
    title="time at which Condition 8 is first lost, equal heads from orthonormal tokens",
    symbol=SYMBOLS[Model.SOFTMAX],
    parameters=(MODEL, SEVERAL_HEADS, POSITIVE_STRENGTH, INVERSE_TEMPERATURE, TOKENS),
    expression=EXPRESSION,
    source="not in the source; Thm 19 along the equiangular flow",
    model="softmax, unnormalised, relu",
    derive=derivation,
    evaluation=TIMES[Model.SOFTMAX](1, 1 - EXIT, n, H, beta, lam),
    variants={**VARIANTS, Model.RELU.value: sp.S.Zero},
    evaluations={model.value: time(1, 1 - EXIT, n, H, beta, lam) for model, time in TIMES.items()},
    idle=exit_overlap.FORMULA.idle,
    implicit=exit_overlap.DEFINITION,
    special_cases=tuple(
        SpecialCase(case.when, case.condition, sp.S.Zero, case.remark, one_by_one=case.one_by_one)
        for case in exit_overlap.FORMULA.special_cases
    ),
    remarks=exit_overlap.FORMULA.remarks,
    example={"H": "2", "lam": "1", "beta": "1", "n": "64"},
)
