"""The exit overlap: where equal heads that start at orthonormal tokens first lose Condition 8."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import sympy as sp

from symbolic import critical_beta, critical_cosine, notation, radial_cosine
from symbolic.calculus_rules import concave_root, differentiate
from symbolic.derivation import Derivation, Premise, Step
from symbolic.exponentials import holds_at_exponential
from symbolic.flow import Model, ScalarFlow, equiangular_flow
from symbolic.formula import Formula, SpecialCase, Values
from symbolic.implicit import Implicit, ImplicitFunction
from symbolic.notation import H, beta, gamma, lam, n
from symbolic.parameter import (
    INVERSE_TEMPERATURE,
    MODEL,
    POSITIVE_STRENGTH,
    SEVERAL_HEADS,
    TOKENS,
)
from symbolic.region import Range, Region, above, at_least, between
from symbolic.rules import (
    at_most,
    consequence,
    equation,
    instances,
    monotone,
    rewrite,
    scale,
    substitute,
    threshold,
)
from symbolic.written import written

score = sp.Symbol("x", nonnegative=True)
"""``x = beta*lam``, the score of a token with itself."""

TANGENT_SQUARE = written(lambda: sp.exp(2 * sp.asinh((H - 1) / 2)) - 1)
"""Square of the tangent of the critical angle, ``1/c*^2 - 1``: c* is ``e^(-arsinh((H-1)/2))``."""

DEFINITION = Implicit(
    variable=gamma,
    arguments=(H, score, n),
    # The length of P f minus the tangent times the shadow, both over
    # (n-1) lam e^(beta lam gamma): of one size for all n.
    residual=written(
        lambda: (
            sp.sqrt((1 - gamma) * (gamma + 1 / (n - 1)))
            - sp.sqrt(TANGENT_SQUARE) * (gamma + sp.exp(score * (1 - gamma)) / (n - 1))
        )
    ),
    lower=sp.S.Zero,
    # c*^2, which is never below the root.
    start=written(lambda: sp.exp(-2 * sp.asinh((H - 1) / 2))),
    region=Region({H: at_least(2), score: at_least(0), n: at_least(2)}),
    concave=True,
    upper=sp.S.One,
)
"""The margin of Condition 8 along equiangular tokens; it is lost where this turns negative."""


class ExitOverlap(ImplicitFunction):
    """``g(H, x, n)``, the overlap at which Condition 8 is lost."""

    nargs = 3
    definition = DEFINITION


EXPRESSION = written(lambda: ExitOverlap(H, beta * lam, n))
SYMBOL = notation.exit_overlap(H, lam, beta, n)

_from_start = between(0, 1, upper_open=True)
REGION = Region(
    {
        n: at_least(2),
        H: at_least(2),
        lam: above(0),
        beta: at_least(0),
        gamma: _from_start,
    }
)

_bound = sp.Symbol("c", positive=True)
_BOUND_REGION = REGION.having({_bound: between(0, 1, lower_open=True, upper_open=True)})
_SCORE_REGION = REGION.having({score: at_least(0)})
_INSIDE = _SCORE_REGION.having({gamma: between(0, 1, lower_open=True, upper_open=True)})
_exit = sp.Symbol("gamma", positive=True)
_MARGIN = equation(sp.Function("r")(H, score, n, gamma), DEFINITION.residual)
_CURVATURE = equation(
    sp.Function("r_curvature")(H, score, n, gamma), sp.Derivative(_MARGIN.lhs, (gamma, 2))
)
_START = sp.Gt(DEFINITION.residual.subs(gamma, 0), 0, evaluate=False)


@cache
def derivation(candidate: sp.Expr = EXPRESSION) -> Derivation:
    """Return the derivation of the exit overlap, unique for every n and every beta < beta*."""
    premises, steps, margin = _margin()
    defined = equation(DEFINITION.residual.subs(gamma, ExitOverlap(H, score, n)), 0)
    named = equation(_exit, ExitOverlap(H, score, n))
    valued = equation(_exit, candidate)
    cosine = radial_cosine.FORMULA.equation
    excess = (sp.exp(2 * beta * lam) / gamma / (n - 1) + 2 * sp.exp(beta * lam)) / (n - 1)
    relu_premises, relu_steps = _relu()
    return Derivation(
        "the overlap at which Condition 8 is first lost, equal heads from orthonormal tokens",
        "softmax and unnormalised; relu: it does not hold at the start",
        (
            *premises,
            Premise(_MARGIN, "a name for the margin"),
            Premise(_CURVATURE, "a name for its second derivative"),
            Premise(_START, "hypothesis: Condition 8 holds at the start, and not with equality"),
            Premise(named, "the overlap at the exit, x = beta lam"),
            Premise(cosine, "formula radial-cosine"),
            *relu_premises,
        ),
        (
            *steps,
            *_concavity(),
            *_hypothesis(),
            concave_root(
                margin,
                defined,
                DEFINITION,
                where=between(0, 1),
                upper=sp.S.One,
                at_lower=_START,
                reason="Condition 8 holds up to g and not beyond: one exit, for every n",
            ),
            substitute(
                named,
                valued,
                "x = beta lam",
                values={score: beta * lam},
                region=_SCORE_REGION,
            ),
            threshold(valued, equation(SYMBOL, candidate), "the exit overlap is that overlap"),
            consequence(
                cosine,
                sp.Gt(radial_cosine.SYMBOL**2, gamma, evaluate=False),
                "the squared cosine is above the overlap, so the exit lies below c*^2",
                _INSIDE,
            ),
            consequence(
                cosine,
                at_most(radial_cosine.SYMBOL**2 - gamma, excess),
                "by no more than this, so the exit tends to c*^2 as n grows",
                _INSIDE,
            ),
            *relu_steps,
        ),
    )


LOST_AT_CONSENSUS = sp.Lt(_MARGIN.lhs.subs(gamma, 1), 0, evaluate=False)
"""The margin of Condition 8 is negative as the tokens agree, for every score, n and H >= 2."""


@cache
def consensus_derivation(heads: Range | None = None) -> Derivation:
    """Return the derivation that Condition 8 fails near consensus, at every beta.

    Args:
        heads: numbers of heads, at least 2 if left out.
    """
    region = _SCORE_REGION if heads is None else _SCORE_REGION.having({H: heads})
    there = region.having({gamma: between(0, 1)})
    return Derivation(
        "the margin of Condition 8 at consensus",
        "unnormalised and softmax",
        (Premise(_MARGIN, "the margin, of which Condition 8 asks >= 0 (formula exit-overlap)"),),
        (
            consequence(
                _MARGIN,
                LOST_AT_CONSENSUS,
                "the tangential part vanishes and the shadows do not",
                there,
            ),
        ),
    )


def _margin() -> tuple[tuple[Premise, ...], list[Step], sp.Ge]:
    """Return premises, steps and result from ``cosine <= c*`` to ``residual >= 0``."""
    tangent = equation(radial_cosine.SYMBOL, radial_cosine.TANGENT_FORM)
    condition = at_most(radial_cosine.SYMBOL, _bound)
    decay = sp.exp(-beta * lam * (1 - gamma))
    boost = sp.exp(beta * lam * (1 - gamma))
    square = (
        (n - 1) * (1 - gamma) * (1 + (n - 1) * gamma) * (decay / (1 + (n - 1) * gamma * decay)) ** 2
    )
    others = boost + (n - 1) * gamma
    explicit = at_most(tangent.rhs, _bound)
    squared = at_most(1 / (1 + square), _bound**2)
    cleared = at_most(1, _bound**2 * (1 + square))
    solved = at_most((1 - _bound**2) / _bound**2, square)
    with_heads = at_most(TANGENT_SQUARE, square)
    roots = at_most(
        sp.sqrt(TANGENT_SQUARE),
        sp.sqrt((n - 1) * (1 - gamma) * (1 + (n - 1) * gamma)) / others,
    )
    margin = sp.Ge(DEFINITION.residual.subs(score, beta * lam), 0, evaluate=False)
    in_score = sp.Ge(DEFINITION.residual, 0, evaluate=False)
    premises = (
        Premise(
            condition,
            "claim critical-cosine: Condition 8 iff cosine <= c*(H) = c, "
            "where 0 < c < 1 for H >= 2",
        ),
        Premise(tangent, "formula radial-cosine, form tangent (unnormalised and softmax)"),
    )
    region = _BOUND_REGION
    steps = [
        substitute(condition, explicit, "put in the cosine", using=(tangent,), region=region),
        monotone(explicit, squared, lambda t: t**2, "square positive numbers", region),
        scale(squared, cleared, 1 + square, "clear the denominator", region),
        scale(cleared, solved, 1 / _bound**2, "in the tangent of the angle", region),
        substitute(
            solved,
            with_heads,
            "put in c*(H)",
            values={_bound: critical_cosine.EXPRESSION},
            region=region,
        ),
        monotone(with_heads, roots, sp.sqrt, "take square roots of positive numbers", REGION),
        scale(
            roots,
            margin,
            -others / (n - 1),
            "multiply by what is e^(-beta lam gamma) times the shadow, over (n-1) lam",
            REGION,
        ),
        substitute(
            margin, in_score, "x = beta lam", values={beta: score / lam}, region=_SCORE_REGION
        ),
    ]
    return premises, steps, in_score


def _concavity() -> list[Step]:
    """Return the steps that show the margin concave, whatever holds at the start."""
    root, boost = sp.sqrt((1 - gamma) * (gamma + 1 / (n - 1))), sp.exp(score * (1 - gamma))
    explicit = -(n**2) / (4 * (n - 1) ** 2 * root**3) - sp.sqrt(
        TANGENT_SQUARE
    ) * score**2 * boost / (n - 1)
    derivative = equation(_CURVATURE.rhs, explicit)
    valued = equation(_CURVATURE.lhs, explicit)
    return [
        differentiate(_MARGIN, derivative, gamma, 2, "second derivative of the margin", _INSIDE),
        substitute(
            _CURVATURE, valued, "put in the derivative", using=(derivative,), region=_INSIDE
        ),
        consequence(
            valued,
            sp.Lt(_CURVATURE.lhs, 0, evaluate=False),
            "concave at every beta: the overlaps with Condition 8 are one interval, or none",
            _INSIDE,
        ),
    ]


def _hypothesis() -> list[Step]:
    """Return the steps that turn the hypothesis into ``beta < beta*``."""
    at_start = sp.Gt(sp.sqrt(n - 1), sp.sqrt(TANGENT_SQUARE) * sp.exp(score), evaluate=False)
    squares = sp.Gt(n - 1, TANGENT_SQUARE * sp.exp(2 * score), evaluate=False)
    ratio = sp.Gt((n - 1) / TANGENT_SQUARE, sp.exp(2 * score), evaluate=False)
    logarithms = sp.Gt(sp.log((n - 1) / TANGENT_SQUARE), 2 * score, evaluate=False)
    in_beta = sp.Gt(logarithms.lhs, 2 * beta * lam, evaluate=False)
    critical = critical_beta.EXPRESSION.subs(notation.alpha, lam)
    divided = sp.Gt(logarithms.lhs / (2 * lam), beta, evaluate=False)
    region = _SCORE_REGION
    return [
        scale(_START, at_start, n - 1, "multiply by n - 1", region),
        monotone(at_start, squares, lambda t: t**2, "square positive numbers", region),
        scale(squares, ratio, 1 / TANGENT_SQUARE, "divide by the squared tangent", region),
        monotone(ratio, logarithms, sp.log, "take logarithms", region),
        substitute(logarithms, in_beta, "x = beta lam", values={score: beta * lam}, region=region),
        scale(in_beta, divided, 1 / (2 * lam), "divide by 2 lam > 0", region),
        rewrite(
            divided,
            sp.Gt(critical, beta, evaluate=False),
            "the hypothesis is beta < beta*(n, H, lam)",
            region,
        ),
    ]


_shadow = sp.Symbol("shadow", nonnegative=True)
_square = sp.Symbol("f_square", nonnegative=True)
_power = sp.Symbol("power", nonnegative=True)
_excess = sp.Function("excess")
_inner = sp.Function("inner")


def _relu() -> tuple[tuple[Premise, ...], list[Step]]:
    """Return premises and steps that refute Condition 8 for relu at orthonormal tokens."""
    f, x, tangential = sp.symbols("f_i x_i P_f")
    shadow = equation(_shadow, _inner(f, x))
    square = equation(_square, _inner(f, f))
    power = equation(_power, _inner(tangential, tangential))
    excess = equation(_excess(H, lam), sp.sqrt(_square) * (H - 1) * _shadow - _power)
    closed = [
        equation(_shadow, lam**2),
        equation(_square, lam**4),
        equation(_power, sp.S.Zero),
    ]
    explicit = equation(_excess(H, lam), (H - 1) * lam**4)

    def flow(size: int) -> ScalarFlow:
        return equiangular_flow(Model.RELU, size, sp.S.Zero, [lam], beta)

    parts = [
        (shadow, closed[0], lambda size: flow(size).shadow(0, 0), 1),
        (square, closed[1], lambda size: flow(size).square(0, 0), 2),
        (power, closed[2], lambda size: flow(size).power(0, 0), 2),
    ]
    premises = (
        Premise(shadow, "relu: definition of the radial shadow"),
        Premise(square, "relu: definition of |f_i^h|^2"),
        Premise(power, "relu: definition of |P f_i^h|^2"),
        Premise(excess, "relu: what Condition 8 asks to be <= 0, equal heads"),
    )
    steps = [
        instances(
            definition,
            result,
            value,
            {n: degree},
            f"relu, orthonormal tokens: degree at most {degree} in n",
            region=REGION,
        )
        for definition, result, value, degree in parts
    ]
    steps += [
        substitute(excess, explicit, "relu: put in the parts", using=closed, region=REGION),
        consequence(
            explicit,
            sp.Gt(_excess(H, lam), 0, evaluate=False),
            "relu: the aggregate is radial, so Condition 8 does not hold at the start",
            REGION,
        ),
    ]
    return premises, steps


def holds_not_at_start(values: Values) -> bool:
    """Tell whether Condition 8 does not hold at orthonormal tokens: whether ``beta >= beta*``.

    With ``y = e^(2 beta lam)`` and ``m = H - 1`` that is ``y k >= n - 1`` for ``k = e^(2
    arsinh(m/2)) - 1``, the positive root of ``k^2 = m^2 (k + 1)``: ``m^2 y (y + n - 1) >= (n -
    1)^2``. Equality does not occur: y is transcendental, or 1, and then n would divide 1.
    """
    if values["model"] == Model.RELU.value:
        return False
    others, tokens = (int(values[key]) - 1 for key in ("H", "n"))
    exponent = 2 * Fraction(values["beta"]) * Fraction(values["lam"])
    # Then y >= 2^exponent > n, and y^2 alone is enough.
    if exponent > tokens.bit_length():
        return True
    return holds_at_exponential(exponent, lambda y: others**2 * y * (y + tokens) >= tokens**2)


def _remarks(values: Values, _sign: int) -> list[str]:
    if values["model"] != Model.RELU.value:
        return []
    return ["relu: Condition 8 does not hold at the start, where the aggregates are radial"]


FORMULA = Formula(
    name="exit-overlap",
    title="overlap at which Condition 8 is first lost, equal heads from orthonormal tokens",
    symbol=SYMBOL,
    parameters=(MODEL, SEVERAL_HEADS, POSITIVE_STRENGTH, INVERSE_TEMPERATURE, TOKENS),
    expression=EXPRESSION,
    source="not in the source; Thm 19 along the equiangular flow",
    model="softmax, unnormalised, relu",
    derive=derivation,
    evaluation=EXPRESSION,
    variants={
        Model.SOFTMAX.value: EXPRESSION,
        Model.UNNORMALISED.value: EXPRESSION,
        Model.RELU.value: sp.S.Zero,
    },
    idle={Model.RELU.value: ("beta",)},
    implicit=DEFINITION,
    special_cases=(
        SpecialCase(
            holds_not_at_start,
            "beta >= beta*",
            sp.S.Zero,
            "Condition 8 does not hold at the start, for beta is not below beta*",
            one_by_one=True,
        ),
    ),
    remarks=_remarks,
    example={"H": "2", "lam": "1", "beta": "1", "n": "64"},
)
