"""The clustering time: how long equiangular tokens take from one overlap to another, by model."""

from __future__ import annotations

from functools import cache, reduce
from operator import add, and_
from typing import Any

import sympy as sp

from symbolic import equiangular, notation
from symbolic.calculus_rules import differentiate
from symbolic.derivation import Derivation, Premise, Step
from symbolic.flow import Model
from symbolic.flow_rules import summed_over_heads
from symbolic.formula import Formula, SpecialCase, Values
from symbolic.integral_rules import same_slope, separate
from symbolic.notation import H, alpha, beta, gamma, h, lam, n, start, stop
from symbolic.parameter import INVERSE_TEMPERATURE, MODEL, START, STOP, STRENGTHS, TOKENS
from symbolic.passage import Passage, PassageTime, eps
from symbolic.region import Range, Region, above, at_least, between
from symbolic.rules import at_most, consequence, equation, instances, substitute
from symbolic.written import written

IN_GAP = {
    Model.SOFTMAX: written(lambda: 2 * n * lam / (sp.exp(beta * lam * eps) + n - 1)),
    Model.UNNORMALISED: written(lambda: 2 * lam * sp.exp(beta * lam * (1 - eps))),
}
"""The rate of the logit under one head as a function of the gap; see `logit.FIELDS`."""


class SoftmaxTime(PassageTime):
    """The clustering time under softmax."""

    nargs = 4
    definition = Passage(summed_over_heads(IN_GAP[Model.SOFTMAX]))


class UnnormalisedTime(PassageTime):
    """The clustering time in the unnormalised model."""

    nargs = 4
    definition = Passage(summed_over_heads(IN_GAP[Model.UNNORMALISED]))


TIMES: dict[Model, type[PassageTime]] = {
    Model.SOFTMAX: SoftmaxTime,
    Model.UNNORMALISED: UnnormalisedTime,
}
SYMBOLS = {model: sp.Function(f"clustering_time_{model}")(beta, n, start, stop) for model in Model}
SYMBOLS[Model.SOFTMAX] = notation.clustering_time(beta, n, start, stop)
SYMBOLS[Model.RELU] = sp.Function("clustering_time_relu")(n, start, stop)


def time_integral(rate: sp.Expr, begin: sp.Expr = start, end: sp.Expr = stop) -> sp.Integral:
    """Return the time in which the overlap moves at a rate ``gamma'``."""
    with sp.evaluate(False):
        integrand = sp.Pow(rate, -1)
    return sp.Integral(integrand, (gamma, begin, end))


INTEGRALS = {model: time_integral(summed_over_heads(equiangular.RATES[model])) for model in Model}
EXPRESSION = INTEGRALS[Model.SOFTMAX]


_drive = summed_over_heads(lam * sp.Max(0, lam * start))
RELU_CLOSED = written(
    lambda: (
        n * start * sp.log(stop / start) / (2 * _drive)
        + start * sp.log((1 - start) / (1 - stop)) / (2 * _drive)
        - (n - 1) * start * sp.log((1 + (n - 1) * stop) / (1 + (n - 1) * start)) / (2 * _drive)
    )
)
"""The clustering time under relu: elementary."""

_lowest = -1 / (n - 1)
_inside = between(_lowest, 1, lower_open=True, upper_open=True)
REGION = Region(
    {n: at_least(2), beta: at_least(0), lam: Range(), start: _inside, stop: _inside, gamma: _inside}
)
_A = alpha * beta
_COMMON = REGION.having({alpha: above(0), beta: above(0), H: at_least(1)})


def _near(overlap: sp.Expr) -> sp.Expr:
    """Return the exponential integral that belongs to the end gamma = 1."""
    return sp.Ei(_A * (1 - overlap))


def _far(overlap: sp.Expr) -> sp.Expr:
    """Return the exponential integral that belongs to the end gamma = -1/(n-1)."""
    return sp.Ei(-_A * (overlap + 1 / (n - 1)))


EQUAL_HEADS = {
    Model.SOFTMAX: written(
        lambda: (
            (n - 1)
            * sp.log((1 - start) * (1 + (n - 1) * stop) / ((1 - stop) * (1 + (n - 1) * start)))
            / (2 * H * alpha * n)
            + (_near(start) - _near(stop)) / (2 * H * alpha * n)
            + sp.exp(_A * n / (n - 1)) * _far(stop) / (2 * H * alpha * n)
            - sp.exp(_A * n / (n - 1)) * _far(start) / (2 * H * alpha * n)
        )
    ),
    Model.UNNORMALISED: written(
        lambda: (
            sp.exp(-_A) * (_near(start) - _near(stop)) / (2 * H * alpha)
            + sp.exp(_A / (n - 1)) * _far(stop) / (2 * H * alpha)
            - sp.exp(_A / (n - 1)) * _far(start) / (2 * H * alpha)
        )
    ),
}
"""Closed forms for H equal heads of strength alpha > 0 and beta > 0."""


@cache
def derivation(candidate: sp.Expr = EXPRESSION) -> Derivation:
    """Return the derivation of the clustering times of the three models from their flows."""
    parts = [
        model_derivation(model, candidate if model is Model.SOFTMAX else INTEGRALS[model])
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
    """Return the derivation of the clustering time of one model from its flow."""
    reduction = equiangular.derivation(model)
    total = reduction.steps[-1].after
    time = equation(SYMBOLS[model], candidate)
    premises: tuple[Premise, ...] = ()
    steps: list[Step] = [
        separate(total, time, "where the overlap moves in that direction all the way")
    ]
    if model is Model.RELU:
        steps += _relu(time)
    else:
        equal = equation(sp.Function(f"equal_heads_rate_{model}")(alpha, gamma), _equal_sum(model))
        premises = (Premise(equal, "H equal heads of strength alpha"),)
        steps += [_in_gap(model, time), *_gains_speed(model), *_equal_heads(model, equal)]
        premises += (
            Premise(_rate_in_gap(model), "the rate of one head over the gap"),
            Premise(_slowing(model), "a name for its slope"),
        )
    return Derivation(
        "the time in which the overlap of equiangular tokens moves from gamma_0 to gamma_1",
        f"{model}, spherical",
        (*reduction.premises, *premises),
        (*reduction.steps, *steps),
    )


def _in_gap(model: Model, time: sp.Eq) -> Step:
    integral = TIMES[model](1 - start, 1 - stop, n, beta).integral
    return same_slope(
        time,
        equation(time.lhs, integral),
        stop,
        start,
        "over the gap eps = 1 - gamma, with simple poles at the ends of its domain",
        REGION,
    )


def _rate_in_gap(model: Model) -> sp.Eq:
    return equation(sp.Function(f"rate_in_gap_{model}")(lam, eps), IN_GAP[model])


def _slowing(model: Model) -> sp.Eq:
    rate = _rate_in_gap(model)
    return equation(sp.Function(f"slowing_{model}")(lam, eps), sp.Derivative(rate.lhs, (eps, 1)))


def _gains_speed(model: Model) -> list[Step]:
    """Return the steps that show that the rate does not increase with the gap, at any strength."""
    rate, slowing = _rate_in_gap(model), _slowing(model)
    region = REGION.having({eps: between(0, n / (n - 1))})
    slope = equation(slowing.rhs, sp.diff(rate.rhs, eps))
    named = equation(slowing.lhs, slope.rhs)
    return [
        differentiate(rate, slope, eps, 1, "how the rate changes with the gap", region),
        substitute(slowing, named, "by its name", using=(slope,), region=region),
        consequence(
            named,
            at_most(slowing.lhs, sp.S.Zero),
            "a flow that starts in the right direction gains speed: the start decides",
            region,
        ),
    ]


def _relu(time: sp.Eq) -> list[Step]:
    """Return the steps to the elementary closed form, for the two signs of the overlap."""
    closed = equation(time.lhs, RELU_CLOSED)
    positive = {start: between(0, 1, lower_open=True, upper_open=True)}
    negative = {start: between(_lowest, 0, lower_open=True, upper_open=True)}
    return [
        same_slope(
            time,
            closed,
            stop,
            start,
            f"partial fractions; the overlap is {name} and stays so",
            REGION.having({**ends, stop: ends[start]}),
        )
        for name, ends in (("positive", positive), ("negative", negative))
    ]


def _equal_sum(model: Model) -> sp.Sum:
    return sp.Sum(equiangular.RATES[model].subs(lam, alpha), (h, 1, H))


def _equal_heads(model: Model, equal: sp.Eq) -> list[Step]:
    """Return the steps to the closed form for equal heads."""
    rate = equiangular.RATES[model].subs(lam, alpha)
    counted = equation(equal.lhs, H * rate)
    name = sp.Function(f"equal_heads_time_{model}")(H, alpha, beta, n, start, stop)
    time = equation(name, time_integral(counted.rhs))
    return [
        instances(
            equal,
            counted,
            lambda heads: equal.rhs.subs(H, heads).doit(),
            {H: 1},
            "one sum over heads: degree at most 1 in H",
            region=_COMMON,
        ),
        separate(counted, time, "equal heads"),
        same_slope(
            time,
            equation(name, EQUAL_HEADS[model]),
            stop,
            start,
            "in closed form by the exponential integral Ei",
            _COMMON,
        ),
    ]


def _is_stuck(values: Values) -> Any:
    """Tell whether relu tokens do not get there: elementary, unlike in the other models."""
    if values["model"] != Model.RELU.value:
        return False
    begin, end = values["start"], values["stop"]
    still = reduce(and_, (strength * begin <= 0 for strength in values["lam"]))
    # Tokens with an overlap of one sign keep it, and move away from orthonormal tokens.
    return still | (begin * end <= 0) | ((end - begin) * begin < 0)


def _is_at_rest(values: Values) -> Any:
    """Tell whether no token moves, where that is plain to see; evaluation cannot tell a zero."""
    heads, weightless = values["lam"], values.get("beta", 1) == 0
    if values["model"] == Model.UNNORMALISED.value:
        weightless = weightless | (values["start"] == 0)
    nothing = reduce(and_, (strength == 0 for strength in heads))
    return nothing | (weightless & (reduce(add, heads) == 0))


def _is_too_steep(values: Values) -> bool:
    """Tell whether the rate is too steep a function of the overlap to be integrated.

    The path is halved towards where the rate is steep, 3.3 times for each decimal of the exponent:
    at 10^100 that takes seconds, at 10^200 more pieces than the quadrature makes.
    """
    if values["model"] == Model.RELU.value:
        return False
    return bool(max(abs(strength) for strength in values["lam"]) * values["beta"] > 10**100)


NOT_REACHED = "the flow does not arrive there"

FORMULA = Formula(
    name="clustering-time",
    title="time in which the overlap of equiangular tokens moves from start to stop",
    symbol=SYMBOLS[Model.SOFTMAX],
    parameters=(MODEL, STRENGTHS, INVERSE_TEMPERATURE, TOKENS, START, STOP),
    expression=EXPRESSION,
    source="the reduced flow of Thms 22 and 25",
    model="softmax, unnormalised, relu",
    derive=derivation,
    evaluation=TIMES[Model.SOFTMAX](1 - start, 1 - stop, n, beta),
    variants={
        **{model.value: INTEGRALS[model] for model in TIMES},
        Model.RELU.value: RELU_CLOSED,
    },
    evaluations={model.value: time(1 - start, 1 - stop, n, beta) for model, time in TIMES.items()},
    idle={Model.RELU.value: ("beta",)},
    special_cases=(
        SpecialCase(
            lambda v: v["start"] == v["stop"], "start = stop", sp.S.Zero, "the tokens are there"
        ),
        SpecialCase(
            lambda v: v["stop"] == 1,
            "stop = 1",
            sp.oo,
            "the tokens tend to one point and never reach it",
        ),
        SpecialCase(
            lambda v: v["stop"] == -1 / (v["n"] - 1),
            "stop = -1/(n-1)",
            sp.oo,
            "tokens that sum to zero are a limit that is never reached",
        ),
        SpecialCase(
            _is_too_steep,
            "beta |lam| > 10^100",
            None,
            "the rate changes by a factor e within less than 1e-100; times are out of reach",
            one_by_one=True,
        ),
        SpecialCase(_is_at_rest, "heads that cancel", sp.oo, "the tokens are at rest"),
        SpecialCase(_is_stuck, "relu tokens that do not move that way", sp.oo, NOT_REACHED),
    ),
    infinite=NOT_REACHED,
    example={"lam": "1/2,1,3/2,2", "beta": "2", "n": "64", "start": "0", "stop": "1-1e-6"},
)
