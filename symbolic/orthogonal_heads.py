"""Shares and overlaps of orthogonal heads are a closed system, at tokens equiangular in blocks.

The flow keeps the form ``x_i = sum_h sqrt(s_h) y_i^h`` of `block_flow`. An overlap rho_h moves as
under its head alone, with strength ``lambda_h s_h`` in the scores; the shares follow a replicator
equation, in which heads grow at the cost of those that drive less than the mean.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import sympy as sp

from symbolic import logit
from symbolic.block_flow import (
    REGION,
    TIME_SCALES,
    BlockFlow,
    others,
    overlap_motion,
    rho,
    share,
    share_motion,
)
from symbolic.calculus_rules import differentiate
from symbolic.derivation import Derivation, Premise, Step
from symbolic.flow import Model
from symbolic.flow_rules import symmetric
from symbolic.notation import gamma, lam, n
from symbolic.orthogonal_forms import FORMS, GAP, LIFT, OTHER_WEIGHTS, OWN_WEIGHTS, Forms
from symbolic.region import Range, Region
from symbolic.rules import equation, instances, rewrite, substitute
from symbolic.written import written

total = sp.Symbol("total_shadow", real=True)
"""The sum of the radial shadows of all heads."""
shadow = sp.Symbol("shadow", real=True)
"""The radial shadow a^h."""
square = sp.Symbol("f_square", nonnegative=True)
"""``|f_i^h|^2``."""
power = sp.Symbol("power", nonnegative=True)
"""``|P f_i^h|^2``."""

# Beside `logit.OVERLAP` and `logit.GAP`; no overflow, no digits lost at either end or at zero.
LIFT_OF_LOGIT = written(lambda: n / (1 + (n - 1) * sp.exp(-logit.u)))
"""``1 + (n-1) rho`` as a function of the logit of rho."""
OVERLAP_OF_LOGIT = written(lambda: sp.tanh(logit.u / 2) * (logit.GAP + LIFT_OF_LOGIT) / n)
"""rho as a function of its logit."""

MOVING = REGION.having({share_motion: Range(), overlap_motion: Range(), total: Range()})
"""The region of the closed forms in terms of the rates."""
WEIGHT_SUM = OWN_WEIGHTS[Model.UNNORMALISED] + (n - 1) * OTHER_WEIGHTS[Model.UNNORMALISED]
"""The sum of the exponential weights of a token."""

# What one sum over tokens is multiplied by to be a polynomial in n.
_MULTIPLIERS = {Model.SOFTMAX: WEIGHT_SUM, Model.UNNORMALISED: sp.S.One, Model.RELU: sp.S.One}

_pair_motion, _logit_motion = sp.symbols("block_pair_rate block_logit_rate", real=True)
_log_rate, _logit = sp.Function("log_share_rate"), sp.Function("logit")
_ratio_motion = sp.Symbol("log_ratio_rate", real=True)
_inner, _pair_rate = sp.Function("inner"), sp.Function("pair_rate")
_part_i, _part_j, _part_k, _part_l = (sp.Function("P_h")(x) for x in sp.symbols("x_i x_j x_k x_l"))
# Head k, the other of a pair of heads.
_head_k = {
    lam: sp.Symbol("lam_k", real=True),
    share: sp.Symbol("s_k", positive=True),
    rho: sp.Symbol("rho_k", real=True),
}


@cache
def derivation(model: Model, forms: Forms | None = None) -> Derivation:
    """Return the derivation of the closed system, from the flow's definition.

    Args:
        model: one of the three models.
        forms: the closed forms to derive, those of `FORMS` by default.
    """
    forms = FORMS[model] if forms is None else forms
    aggregates, aggregate_steps = _aggregates(model, forms)
    rates, rate_steps = _rates(model, forms)
    share_rate = equation(share_motion, forms.share_rate)
    ratios, ratio_steps = _ratios(model, forms, share_rate)
    return Derivation(
        "shares and overlaps of orthogonal heads at tokens equiangular in every block",
        f"{model}, spherical",
        (*aggregates, *rates, *ratios),
        (*aggregate_steps, *rate_steps, *ratio_steps),
    )


def closed(
    definition: sp.Eq,
    form: sp.Expr,
    at_size: Callable[[int], sp.Expr],
    sums: int,
    *,
    multiplier: sp.Expr = sp.S.One,
    first: int = 1,
    region: Region = MOVING,
) -> Step:
    """Return the step from a definition by so many sums over tokens to the form for every n.

    Args:
        definition: the quantity on its left side.
        form: its closed form.
        at_size: the quantity from the definitions at so many tokens.
        sums: how many sums over tokens there are in it.
        multiplier: what it is multiplied by to be a polynomial in n.
        first: the least number of tokens.
        region: where the parameters live.
    """
    return instances(
        definition,
        equation(definition.lhs, form),
        at_size,
        {n: sums},
        f"{sums} sum(s) over tokens: degree at most {sums} in n after clearing the weights",
        multiplier=multiplier,
        first=first,
        region=region,
    )


def _aggregates(model: Model, forms: Forms) -> tuple[list[Premise], list[Step]]:
    """Return premises and steps to shadow, length and tangential power of the aggregate."""
    f, tangential, x = sp.symbols("f_i P_f x_i")
    premises = [
        Premise(equation(shadow, _inner(f, x)), "definition of the radial shadow"),
        Premise(equation(square, _inner(f, f)), "definition of |f_i^h|^2"),
        Premise(equation(power, _inner(tangential, tangential)), "definition of |P f_i^h|^2"),
    ]
    weights = _MULTIPLIERS[model]
    shadow_of, square_of, power_of = (premise.relation for premise in premises)

    def flow(size: int) -> BlockFlow:
        return BlockFlow(model, size)

    steps = [
        symmetric(
            shadow_of,
            equation(shadow_of.rhs, _inner(*sp.symbols("f_k x_k"))),
            lambda size: [flow(size).shadow(i) for i in range(size)],
            "all tokens have the same shadow, so the others' sum is the same for all, too",
            REGION,
        ),
        closed(shadow_of, forms.shadow, lambda size: flow(size).shadow(0), 1, multiplier=weights),
        closed(
            square_of, forms.square, lambda size: flow(size).square(0), 2, multiplier=weights**2
        ),
        closed(power_of, forms.power, lambda size: flow(size).power(0), 2, multiplier=weights**2),
    ]
    return premises, steps


def _rates(model: Model, forms: Forms) -> tuple[list[Premise], list[Step]]:
    """Return premises and steps to the rates of the share, the overlap and its logit."""
    share_rate = equation(share_motion, _pair_rate(_part_i, _part_i))
    pair_rate = equation(_pair_motion, _pair_rate(_part_i, _part_j))
    product = equation(overlap_motion, (_pair_motion - rho * share_motion) / share)
    premises = [
        Premise(share_rate, "definition: the rate of the share |P_h x_i|^2"),
        Premise(pair_rate, "definition: the rate of <P_h x_i, P_h x_j> = s_h rho_h, i != j"),
        Premise(product, "product rule: (s_h rho_h)' = s_h' rho_h + s_h rho_h'"),
    ]
    weights = _MULTIPLIERS[model] / TIME_SCALES[model]

    def rate(size: int, j: int) -> sp.Expr:
        return BlockFlow(model, size).pair_rate(0, j)

    def pair_rates(size: int) -> list[sp.Expr]:
        flow = BlockFlow(model, size)
        return [flow.pair_rate(i, j) for i in range(size) for j in range(i)]

    def share_rates(size: int) -> list[sp.Expr]:
        flow = BlockFlow(model, size)
        return [flow.pair_rate(i, i) for i in range(size)]

    closed_share = closed(
        share_rate, forms.share_rate, lambda size: rate(size, 0), 1, multiplier=weights
    )
    closed_pair = closed(
        pair_rate, forms.pair_rate, lambda size: rate(size, 1), 1, multiplier=weights, first=2
    )
    overlap_rate = equation(overlap_motion, forms.overlap_rate)
    logit_premises, logit_steps = _logit_rate(forms, overlap_rate)
    steps = [
        symmetric(
            share_rate,
            equation(share_rate.rhs, _pair_rate(_part_k, _part_k)),
            share_rates,
            "the shares of all tokens move alike, so they stay equal",
            REGION,
        ),
        symmetric(
            pair_rate,
            equation(pair_rate.rhs, _pair_rate(_part_k, _part_l)),
            pair_rates,
            "all pairs move alike, so tokens equiangular in a block stay so",
            REGION,
        ),
        closed_share,
        closed_pair,
        substitute(
            product,
            overlap_rate,
            "put in both rates: the other heads cancel",
            using=(closed_pair.after, closed_share.after),
            region=REGION,
        ),
        *logit_steps,
    ]
    return [*premises, *logit_premises], steps


def _logit_rate(forms: Forms, overlap_rate: sp.Eq) -> tuple[list[Premise], list[Step]]:
    """Return premises and steps to the rate of the logit of the overlap."""
    definition = equation(_logit(rho), logit.LOGIT.xreplace({gamma: rho}))
    slope = equation(sp.Derivative(_logit(rho), rho), n / (GAP * LIFT))
    chain = equation(_logit_motion, slope.lhs * overlap_motion)
    lift, overlap = sp.Function("lift"), sp.Function("overlap")
    lift_of, overlap_of = equation(lift(rho), LIFT), equation(overlap(logit.u), logit.OVERLAP)
    premises = [
        Premise(definition, "definition of the logit of the overlap"),
        Premise(chain, "chain rule"),
        Premise(lift_of, "a name for the factor that vanishes at the lower end"),
        Premise(overlap_of, "the overlap from its logit"),
    ]
    steps = [
        differentiate(definition, slope, rho, 1, "slope of the logit", REGION),
        substitute(
            chain,
            equation(_logit_motion, forms.logit_rate),
            "put in the slope and the rate of the overlap",
            using=(slope, overlap_rate),
            region=REGION,
        ),
        substitute(
            lift_of,
            equation(lift(logit.OVERLAP), LIFT_OF_LOGIT),
            "in terms of the logit",
            values={rho: logit.OVERLAP},
            region=REGION.having({logit.u: Range()}),
        ),
        rewrite(
            overlap_of,
            equation(overlap_of.lhs, OVERLAP_OF_LOGIT),
            "from the factors that vanish at its ends",
            REGION,
        ),
    ]
    return premises, steps


def _ratios(model: Model, forms: Forms, share_rate: sp.Eq) -> tuple[list[Premise], list[Step]]:
    """Return premises and steps to the replicator equation of the shares."""
    mean = 2 * TIME_SCALES[model] * total
    rest = equation(others, total - shadow)
    logarithm = equation(_log_rate(*_head_k), share_motion / share)
    ratio = equation(_ratio_motion, _log_rate(*_head_k) - _log_rate(*_head_k.values()))
    premises = [
        Premise(rest, "the aggregates are added: total = shadow of head h + those of all others"),
        Premise(logarithm, "(ln s_h)' = s_h'/s_h"),
        Premise(ratio, "(ln(s_h/s_k))' is the difference of two of these"),
    ]
    closed_rest = equation(others, total - forms.shadow)
    replicator = equation(share_motion, share * (forms.fitness - mean))
    log_rate = equation(logarithm.lhs, forms.fitness - mean)
    log_rate_k = equation(_log_rate(*_head_k.values()), log_rate.rhs.xreplace(_head_k))
    both = MOVING.having({symbol_k: MOVING[symbol] for symbol, symbol_k in _head_k.items()})
    steps = [
        substitute(
            rest,
            closed_rest,
            "put in the shadow",
            using=(equation(shadow, forms.shadow),),
            region=MOVING,
        ),
        substitute(
            share_rate,
            replicator,
            "a replicator equation: shares grow by what exceeds the mean",
            using=(closed_rest,),
            region=MOVING,
        ),
        substitute(logarithm, log_rate, "put it in", using=(replicator,), region=MOVING),
        substitute(log_rate, log_rate_k, "the same for head k", values=_head_k, region=both),
        substitute(
            ratio,
            equation(_ratio_motion, forms.fitness - forms.fitness.xreplace(_head_k)),
            "the total shadow cancels",
            using=(log_rate, log_rate_k),
            region=both,
        ),
    ]
    return premises, steps
