"""The late constant: ``1 - gamma ~ C e^(-2 Lambda t)`` under softmax, from orthonormal tokens."""

from __future__ import annotations

from functools import cache

import sympy as sp

from symbolic import equiangular, notation
from symbolic.calculus_rules import differentiate
from symbolic.clustering_time import IN_GAP
from symbolic.derivation import Derivation, Premise, Step
from symbolic.flow import Model, equiangular_flow
from symbolic.flow_rules import additive, summed_over_heads
from symbolic.formula import Formula, SpecialCase, Values
from symbolic.integral_rules import limit_at_infinity, named_value, same_slope, separate
from symbolic.notation import beta, gamma, lam, n
from symbolic.parameter import INVERSE_TEMPERATURE, POSITIVE_STRENGTHS, TOKENS
from symbolic.passage import Passage, PassageTime
from symbolic.region import Region, above, at_least, between
from symbolic.rules import equation, substitute
from symbolic.written import written

s = sp.Symbol("s", positive=True)
"""``-ln(1 - gamma)``: 0 at orthonormal tokens, infinite at the consensus."""
_r = sp.Symbol("r", positive=True)
_x = sp.Symbol("x", nonnegative=True)

DECAY = written(lambda: 2 * lam * (n - (n - 1) * _x) / (sp.exp(beta * lam * _x) + n - 1))
"""The rate s' under one head, ``x = e^-s`` being the gap."""
TOTAL = summed_over_heads(2 * lam)
"""``2 Lambda``, the late rate under softmax."""


def decay_at(gap: sp.Expr) -> sp.Sum:
    """Return the rate s' under all heads at a gap."""
    return summed_over_heads(DECAY.xreplace({_x: gap}))


def _excess(variable: sp.Symbol) -> sp.Expr:
    return written(lambda: TOTAL / decay_at(sp.exp(-variable)) - 1)


class LateLogarithm(PassageTime):
    """``ln C/(2 Lambda)``: the time to the consensus without ``ln(1/eps)/(2 Lambda)``."""

    nargs = 4
    definition = Passage(summed_over_heads(IN_GAP[Model.SOFTMAX]), regular=True)


EXPRESSION = sp.exp(sp.Integral(_excess(_r), (_r, 0, sp.oo)))
EVALUATION = sp.exp(TOTAL * LateLogarithm(1, 0, n, beta))
SYMBOL = notation.late_constant(beta, n)
REGION = Region(
    {
        n: at_least(2),
        beta: at_least(0),
        lam: above(0),
        gamma: between(0, 1, upper_open=True),
        s: above(0),
        _x: between(0, 1),
    }
)

_decay = sp.Function("decay")
_rate = sp.Function("decay_rate")
_total_rate = sp.Function("total_decay_rate")
_of_overlap = sp.Function("decay_rate_of_overlap")
_time = sp.Function("decay_time")
_logarithm_at = sp.Function("logarithm_at")


@cache
def derivation(candidate: sp.Expr = EXPRESSION) -> Derivation:
    """Return the derivation of the late constant from the softmax flow."""
    reduction = equiangular.derivation(Model.SOFTMAX)
    overlap_rate = equiangular.one_head(Model.SOFTMAX)
    definition = equation(_decay(gamma), -sp.log(1 - gamma))
    slope = equation(sp.Derivative(_decay(gamma), gamma), 1 / (1 - gamma))
    chain = equation(_of_overlap(lam, gamma), slope.lhs * overlap_rate.lhs)
    explicit = equation(chain.lhs, slope.rhs * overlap_rate.rhs)
    gap = sp.exp(-s)
    in_decay = equation(_rate(lam, s), _of_overlap(lam, 1 - gap))
    at_gap = equation(in_decay.rhs, explicit.rhs.subs(gamma, 1 - gap))
    one = equation(in_decay.lhs, DECAY.subs(_x, gap))
    total = equation(_total_rate(s), decay_at(gap))
    time = equation(_time(s), sp.Integral(1 / decay_at(sp.exp(-_r)), (_r, 0, s)))
    at = equation(_logarithm_at(s), TOTAL * time.rhs - s)
    excess = equation(at.lhs, sp.Integral(_excess(_r), (_r, 0, s)))
    over_gap = equation(at.lhs, TOTAL * LateLogarithm(1, gap, n, beta).integral)

    def from_definition(heads: list[sp.Expr]) -> sp.Expr:
        rate = equiangular_flow(Model.SOFTMAX, 3, gamma, heads, beta).overlap_rate(0, 1)
        return (rate / (1 - gamma)).subs(gamma, 1 - gap)

    steps: list[Step] = [
        differentiate(definition, slope, gamma, 1, "slope of s", REGION),
        substitute(chain, explicit, "the rate of s", using=(slope, overlap_rate), region=REGION),
        substitute(explicit, at_gap, "in terms of s", values={gamma: 1 - gap}, region=REGION),
        substitute(in_decay, one, "the rate of s", using=(at_gap,), region=REGION),
        additive(one, total, from_definition, "the aggregates of the heads are added", REGION),
        separate(total, time, "the time from orthonormal tokens, s = 0"),
        named_value(
            time,
            at,
            lambda passed: TOTAL * passed - s,
            "ln((1 - gamma) e^(2 Lambda t)) at the time when -ln(1 - gamma) = s",
        ),
        same_slope(at, excess, s, sp.S.Zero, "under one integral", REGION),
        same_slope(excess, over_gap, s, sp.S.Zero, "over the gap, without the pole at 0", REGION),
        limit_at_infinity(
            excess,
            equation(SYMBOL, candidate),
            DECAY,
            _x,
            "C is the limit of (1 - gamma) e^(2 Lambda t)",
            REGION,
        ),
    ]
    return Derivation(
        "the constant C of 1 - gamma ~ C e^(-2 Lambda t), from gamma = 0",
        "softmax, spherical",
        (
            *reduction.premises,
            Premise(definition, "definition of s"),
            Premise(chain, "chain rule: s' = ds/dgamma gamma'"),
            Premise(in_decay, "the same rate as a function of s, gamma = 1 - e^-s"),
        ),
        (*reduction.steps, *steps),
    )


def _is_out_of_sight(values: Values) -> bool:
    """Tell whether ``e^(beta lam) > n e^500`` for some strength: ln C has hundreds of digits."""
    return bool(max(values["lam"]) * values["beta"] > 500 + int(values["n"]).bit_length())


FORMULA = Formula(
    name="late-constant",
    title="constant C of 1 - gamma ~ C e^(-2 Lambda t) from orthonormal tokens",
    symbol=SYMBOL,
    parameters=(POSITIVE_STRENGTHS, INVERSE_TEMPERATURE, TOKENS),
    expression=EXPRESSION,
    source="Thm 22 (the constant of its late rate)",
    model="softmax",
    derive=derivation,
    evaluation=EVALUATION,
    special_cases=(
        SpecialCase(
            _is_out_of_sight,
            "beta lam > 500 + log2(n)",
            None,
            "ln C alone has more than 200 digits there; clustering-time gives the times",
            one_by_one=True,
        ),
    ),
    example={"lam": "1/2,1,3/2,2", "beta": "2", "n": "64"},
)
