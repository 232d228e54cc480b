"""The critical inverse temperature beta*: Condition 8 at orthonormal tokens, equal heads."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import sympy as sp

from symbolic import critical_cosine, notation, radial_cosine
from symbolic.derivation import Derivation, Premise, Step
from symbolic.formula import Form, Formula, SpecialCase, Values
from symbolic.notation import H, alpha, beta, n
from symbolic.parameter import COMMON_STRENGTH, HEADS, TOKENS, shortened
from symbolic.region import Region, above, at_least, between
from symbolic.rules import (
    at_most,
    consequence,
    equation,
    integer_threshold,
    monotone,
    rewrite,
    scale,
    substitute,
    threshold,
)
from symbolic.written import written

EXPRESSION = written(lambda: (sp.log((n - 1) / (H - 1)) - sp.asinh((H - 1) / 2)) / (2 * alpha))
AS_STATED = written(
    lambda: (
        sp.log(critical_cosine.EXPRESSION**2 * (n - 1) / (1 - critical_cosine.EXPRESSION**2))
        / (2 * alpha)
    )
)
SHARP_EXPRESSION = written(lambda: sp.log((n - 1) / (H - 1)) / (2 * alpha))

SYMBOL = notation.critical_beta(n, H, alpha)
SHARP_SYMBOL = notation.sharp_critical_beta(n, H, alpha)

# H = 1 has no finite threshold: it is a special case of the formula.
REGION = Region({H: at_least(2), n: at_least(2), alpha: above(0), beta: above(0)})

_bound = sp.Symbol("c", positive=True)
_BOUND_REGION = REGION.having({_bound: between(0, 1, lower_open=True, upper_open=True)})


@cache
def derivation(candidate: sp.Expr = EXPRESSION) -> Derivation:
    """Return the derivation of ``Condition 8 iff beta <= beta*`` at orthonormal tokens."""
    premises, steps, in_bound = _threshold_for_bound("claim critical-cosine: Condition 8")
    bound = at_most(beta, AS_STATED)
    rewritten = at_most(beta, candidate)
    result = equation(SYMBOL, candidate)
    c_star = critical_cosine.EXPRESSION
    steps += [
        substitute(in_bound, bound, "put in c*(H)", values={_bound: c_star}, region=_BOUND_REGION),
        rewrite(bound, rewritten, "1 - c*^2 = (H-1) c* and c* = exp(-arsinh((H-1)/2))", REGION),
        threshold(rewritten, result, "beta* is the bound"),
        rewrite(result, equation(SYMBOL, AS_STATED), "the form as stated", REGION),
        consequence(
            result,
            equation(SHARP_EXPRESSION - SYMBOL, sp.asinh((H - 1) / 2) / (2 * alpha)),
            "the gap to the sharp threshold",
            REGION,
        ),
    ]
    metallic = (H - 1) / 2 + sp.sqrt(((H - 1) / 2) ** 2 + 1)
    question, positive = _when_positive(result, sp.asinh((H - 1) / 2), metallic, (H - 1) ** 2 + 2)
    return Derivation(
        "Condition 8 at orthonormal tokens in terms of the inverse temperature, equal heads",
        "unnormalised (softmax: same condition)",
        (*premises, question),
        tuple(steps + positive),
    )


@cache
def sharp_derivation(candidate: sp.Expr = SHARP_EXPRESSION) -> Derivation:
    """Return the derivation of ``sharp Condition 8 iff beta <= beta_sharp`` there."""
    premises, steps, in_bound = _threshold_for_bound("as critical-cosine: sharp Condition 8")
    bound = at_most(beta, candidate)
    result = equation(SHARP_SYMBOL, candidate)
    c_sharp = critical_cosine.SHARP_EXPRESSION
    steps += [
        substitute(
            in_bound, bound, "put in 1/sqrt(H)", values={_bound: c_sharp}, region=_BOUND_REGION
        ),
        threshold(bound, result, "beta_sharp is the bound"),
    ]
    question, positive = _when_positive(result, sp.S.Zero, sp.S.One, H + 1)
    return Derivation(
        "sharp Condition 8 at orthonormal tokens in terms of the inverse temperature, equal heads",
        "unnormalised (softmax: same condition)",
        (*premises, question),
        tuple(steps + positive),
    )


def _threshold_for_bound(source: str) -> tuple[tuple[Premise, ...], list[Step], sp.Le]:
    """Return premises, steps and result from ``cosine <= c`` to a bound of beta.

    The bound is ``ln(c^2 (n-1)/(1-c^2))/(2 alpha)``. The cosine is that of orthonormal tokens, and
    c is any bound strictly between 0 and 1.
    """
    cosine_0 = notation.radial_cosine(alpha, beta, n, 0)
    boost = sp.exp(2 * alpha * beta)
    general = radial_cosine.FORMULA.equation
    at_zero = equation(cosine_0, sp.exp(alpha * beta) / sp.sqrt(boost + n - 1))
    condition = at_most(cosine_0, _bound)
    explicit = at_most(at_zero.rhs, _bound)
    squared = at_most(boost / (boost + n - 1), _bound**2)
    cleared = at_most(boost, _bound**2 * (boost + n - 1))
    solved = at_most(boost, _bound**2 * (n - 1) / (1 - _bound**2))
    logarithms = at_most(2 * alpha * beta, sp.log(solved.rhs))
    in_bound = at_most(beta, sp.log(solved.rhs) / (2 * alpha))
    region = _BOUND_REGION
    everywhere = radial_cosine.REGION.having(REGION)
    premises = (
        Premise(condition, f"{source} iff cosine <= c, where 0 < c < 1 for H >= 2"),
        Premise(general, "formula radial-cosine"),
    )
    at_orthonormal = {notation.lam: alpha, notation.gamma: sp.S.Zero}
    steps = [
        substitute(
            general, at_zero, "orthonormal tokens", values=at_orthonormal, region=everywhere
        ),
        substitute(condition, explicit, "put in the cosine", using=(at_zero,), region=region),
        monotone(explicit, squared, lambda x: x**2, "square positive numbers", region),
        scale(squared, cleared, boost + n - 1, "clear the denominator", region),
        scale(cleared, solved, 1 / (1 - _bound**2), "solve for the exponential", region),
        monotone(solved, logarithms, sp.log, "take logarithms", region),
        scale(logarithms, in_bound, 1 / (2 * alpha), "divide by 2 alpha > 0", region),
    ]
    return premises, steps, in_bound


def _when_positive(
    result: sp.Eq, offset: sp.Expr, ratio: sp.Expr, least: sp.Expr
) -> tuple[Premise, list[Step]]:
    """Return the question ``threshold > 0`` and the steps to ``n >= least``.

    ``ratio = e^offset`` is what (n-1)/(H-1) must exceed.
    """
    question = sp.Gt(result.lhs, 0, evaluate=False)
    explicit = sp.Gt(result.rhs, 0, evaluate=False)
    logarithms = sp.Gt(sp.log((n - 1) / (H - 1)), offset, evaluate=False)
    ratios = sp.Gt((n - 1) / (H - 1), ratio, evaluate=False)
    tokens = sp.Gt(n, 1 + (H - 1) * ratio, evaluate=False)
    steps = [
        substitute(question, explicit, "when is it positive?", using=(result,), region=REGION),
        scale(explicit, logarithms, 2 * alpha, "multiply by 2 alpha > 0", REGION),
        monotone(logarithms, ratios, sp.exp, "take exponentials", REGION),
        scale(ratios, tokens, H - 1, "multiply by H - 1 > 0", REGION),
        integer_threshold(tokens, sp.Ge(n, least, evaluate=False), "n is an integer", REGION),
    ]
    return Premise(question, "the question"), steps


def _least_tokens(least: str, count: Fraction) -> str:
    return (
        "not positive: no inverse temperature beta > 0 qualifies; "
        f"least n is {least} = {shortened(count)}"
    )


def _remarks(values: Values, sign: int) -> list[str]:
    heads = values["H"]
    return [_least_tokens("(H-1)^2 + 2", (heads - 1) ** 2 + 2)] if sign <= 0 else []


def _sharp_remarks(values: Values, sign: int) -> list[str]:
    heads = values["H"]
    return [_least_tokens("H + 1", heads + 1)] if sign <= 0 else []


ONE_HEAD = SpecialCase(
    lambda v: v["H"] == 1,
    "H = 1",
    sp.oo,
    "one head has no other shadows: Condition 8 holds for every inverse temperature",
)

FORMULA = Formula(
    name="critical-beta",
    title="inverse temperature up to which Condition 8 holds at orthonormal tokens, equal heads",
    symbol=SYMBOL,
    parameters=(TOKENS, HEADS, COMMON_STRENGTH),
    expression=EXPRESSION,
    source="Thm 19",
    model="unnormalised",
    derive=derivation,
    evaluation=EXPRESSION,
    example={"n": "64", "H": "4", "alpha": "1/2"},
    forms=(Form("as-stated", AS_STATED),),
    special_cases=(ONE_HEAD,),
    remarks=_remarks,
)

SHARP_FORMULA = Formula(
    name="sharp-critical-beta",
    title="inverse temperature up to which the sharp Condition 8 holds at orthonormal tokens",
    symbol=SHARP_SYMBOL,
    parameters=(TOKENS, HEADS, COMMON_STRENGTH),
    expression=SHARP_EXPRESSION,
    source="not in the source; sharp form of Condition 8",
    model="unnormalised",
    derive=sharp_derivation,
    evaluation=SHARP_EXPRESSION,
    example={"n": "64", "H": "4", "alpha": "1/2"},
    special_cases=(ONE_HEAD,),
    remarks=_sharp_remarks,
)
