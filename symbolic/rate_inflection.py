"""Where the rate function turns from concave to convex: the one inflection on lam > 0 (Thm 22)."""

from __future__ import annotations

from functools import cache

import sympy as sp

from symbolic import notation, rate
from symbolic.calculus_rules import asymptotic, differentiate, unique_root
from symbolic.derivation import Derivation, Premise, Step
from symbolic.formula import Formula
from symbolic.implicit import Implicit, ImplicitFunction
from symbolic.notation import beta, lam, n
from symbolic.parameter import POSITIVE_TEMPERATURE, TOKENS
from symbolic.rate_peak import LARGE, REGION, L, x
from symbolic.region import Region, above, at_least, between
from symbolic.rules import consequence, equation, monotone, rewrite, scale, substitute, threshold
from symbolic.written import written

DEFINITION = Implicit(
    variable=x,
    arguments=(n,),
    # Well conditioned, and without overflow for any n.
    residual=sp.log((x - 2) / (x + 2)) + x - sp.log(n - 1),
    lower=sp.Integer(2),
    start=(sp.log(n - 1) + sp.sqrt(sp.log(n - 1) ** 2 + sp.Rational(571, 25))) / 2,
    region=Region({n: at_least(2)}),
)
"""The scaled inflection ``x_c = lambda_c*beta``, the root of this equation beyond 2."""


class ScaledInflection(ImplicitFunction):
    """``x_c(n)``, the scaled strength at the inflection."""

    nargs = 1
    definition = DEFINITION


EXPRESSION = written(lambda: ScaledInflection(n) / beta)
SYMBOL = notation.rate_inflection(n, beta)

_beyond = REGION.having({x: above(2)})
_curvature = sp.Function("phi_curvature")
_u = sp.Symbol("u", positive=True)
_r = sp.Symbol("r", positive=True)
_y = sp.Symbol("y", positive=True)
# The scaled strength at the inflection and at the peak: not the running x of the questions.
_root = sp.Symbol("x", positive=True)
_peak = sp.Symbol("x_peak", positive=True)
_balance = sp.Function("N")

BALANCE = (x - 2) * sp.exp(x) - (n - 1) * (x + 2)
"""Has the sign of the curvature of the rate function, ``x = lam*beta``."""
_BALANCE_NAME = equation(_balance(_peak), BALANCE.subs(x, _peak))
_ROOT = equation(DEFINITION.residual.subs(x, _root), 0)
_PEAK = equation(n - 1, (_peak - 1) * sp.exp(_peak))
_RATIO = equation(n - 1, _r * sp.exp(2))


CONVEX = sp.Gt(DEFINITION.residual, 0, evaluate=False)
"""Where the rate function is convex beyond ``x = lam beta = 2``, reached by equivalences."""


@cache
def derivation(candidate: sp.Expr = EXPRESSION) -> Derivation:
    """Return the derivation of the inflection: curvature, its one change of sign, equal forms."""
    function = rate.FORMULA.equation
    boost = sp.exp(lam * beta)
    scaled = BALANCE.subs(x, lam * beta)
    curvature = equation(
        sp.Derivative(rate.SYMBOL, (lam, 2)), 2 * beta * boost * scaled / (boost + n - 1) ** 3
    )
    name = equation(_curvature(lam), curvature.lhs)
    named = equation(_curvature(lam), curvature.rhs)
    question = sp.Gt(_curvature(lam), 0, evaluate=False)
    convex = sp.Gt(curvature.rhs, 0, evaluate=False)
    in_strength = sp.Gt(scaled, 0, evaluate=False)
    companion = sp.Gt(BALANCE, 0, evaluate=False)
    sides = sp.Gt((x - 2) * sp.exp(x), (n - 1) * (x + 2), evaluate=False)
    logarithms = sp.Gt(sp.log(x - 2) + x, sp.log(n - 1) + sp.log(x + 2), evaluate=False)
    root = equation(DEFINITION.residual.subs(x, ScaledInflection(n)), 0)
    at_root = equation(_root, ScaledInflection(n))
    divided = equation(lam, candidate)
    result = equation(SYMBOL, candidate)
    premises = (
        Premise(function, "formula rate"),
        Premise(name, "a name for the curvature"),
        Premise(question, "the question: where is the rate function convex?"),
        Premise(at_root, "the scaled strength at the inflection, x = lam beta"),
        Premise(_ROOT, "the equation that x = x_c(n) solves"),
        Premise(_RATIO, "for the form in the r-Lambert function: r = (n-1)/e^2"),
        Premise(LARGE, "the large quantity of the series"),
        Premise(_PEAK, "the equation of the peak, of formula rate-peak, at x = lambda_peak beta"),
        Premise(_BALANCE_NAME, "a name for what has the sign of the curvature"),
    )
    steps: list[Step] = [
        differentiate(function, curvature, lam, 2, "curvature of the rate function", REGION),
        substitute(name, named, "the curvature", using=(curvature,), region=REGION),
        consequence(
            named,
            sp.Lt(_curvature(lam), 0, evaluate=False),
            "concave up to lam beta = 2",
            REGION.having({lam: between(0, 2 / beta, lower_open=True)}),
        ),
        substitute(question, convex, "put in the curvature", using=(named,), region=REGION),
        scale(
            convex,
            in_strength,
            (boost + n - 1) ** 3 / (2 * beta * boost),
            "divide by the positive factors",
            REGION,
        ),
        substitute(in_strength, companion, "x = lam beta", values={lam: x / beta}, region=_beyond),
        scale(companion, sides, sp.S.One, "move a term", _beyond),
        monotone(sides, logarithms, sp.log, "beyond x = 2 take logarithms", _beyond),
        scale(logarithms, CONVEX, sp.S.One, "collect the logarithms", _beyond),
        unique_root(
            CONVEX,
            root,
            DEFINITION,
            companion,
            6 + sp.log(n - 1),
            "concave before x_c, convex beyond: the one inflection",
        ),
        substitute(
            at_root,
            equation(lam * beta, ScaledInflection(n)),
            "x = lam beta",
            values={_root: lam * beta},
            region=REGION.having({_root: above(0)}),
        ),
        scale(
            equation(lam * beta, ScaledInflection(n)), divided, 1 / beta, "divide by beta", REGION
        ),
        threshold(divided, result, "lambda_c is that strength"),
        *_equal_forms(),
        *_beyond_the_peak(),
        *_series(),
    ]
    return Derivation(
        "the strength at which the rate function turns convex", "softmax", premises, tuple(steps)
    )


def _equal_forms() -> list[Step]:
    """Return the steps from the equation to its equal forms."""
    logarithms = equation(sp.log((_root - 2) / (_root + 2)) + _root, sp.log(n - 1))
    ratio = equation((_root - 2) / (_root + 2) * sp.exp(_root), n - 1)
    balance = equation((_root - 2) * sp.exp(_root), (n - 1) * (_root + 2))
    symmetric = equation(_root * sp.tanh((_root - sp.log(n - 1)) / 2), 2)
    two_tokens = equation(_root * sp.tanh(_root / 2), 2)
    shifted = equation((_root - 2) * sp.exp(_root - 2), (n - 1) * sp.exp(-2) * (_root + 2))
    in_ratio = equation((_root - 2) * sp.exp(_root - 2), _r * (_root + 2))
    in_u = equation(_u * sp.exp(_u), _r * (_u + 4))
    r_lambert = equation(_u * sp.exp(_u) - _r * _u, 4 * _r)
    here = REGION.having({_root: above(2), _u: above(0), _r: above(0)})
    return [
        scale(_ROOT, logarithms, sp.S.One, "move the logarithm", here),
        monotone(logarithms, ratio, sp.exp, "take exponentials", here),
        scale(ratio, balance, _root + 2, "multiply by x + 2 > 0", here),
        scale(
            balance,
            symmetric,
            1 / (sp.exp(_root) + n - 1),
            "the symmetric form for all n: x tanh((x - ln(n-1))/2) = 2",
            here,
        ),
        substitute(
            symmetric,
            two_tokens,
            "two tokens: x tanh(x/2) = 2",
            values={n: sp.Integer(2)},
            region=here,
        ),
        scale(balance, shifted, sp.exp(-2), "divide by e^2", here),
        substitute(shifted, in_ratio, "r = (n-1)/e^2", using=(_RATIO,), region=here),
        substitute(in_ratio, in_u, "u = x - 2 > 0", values={_root: _u + 2}, region=here),
        scale(
            in_u,
            r_lambert,
            sp.S.One,
            "u = W_{-r}(4r): the value with u > 0 of the r-Lambert function",
            here,
        ),
    ]


def _beyond_the_peak() -> list[Step]:
    """Return the steps that put the peak before the inflection."""
    at_peak = equation(_balance(_peak), -(_peak**2) * sp.exp(_peak))
    inserted = equation(
        _balance(_peak), (_peak - 2) * sp.exp(_peak) - (_peak - 1) * sp.exp(_peak) * (_peak + 2)
    )
    return [
        substitute(
            _BALANCE_NAME,
            inserted,
            "at the peak n - 1 = (x-1) e^x",
            using=(_PEAK,),
            region=REGION,
        ),
        rewrite(inserted, at_peak, "collect", REGION),
        consequence(
            at_peak,
            sp.Lt(_balance(_peak), 0, evaluate=False),
            "the rate function is concave at its peak: the inflection lies beyond it",
            REGION,
        ),
    ]


def _series() -> list[Step]:
    """Return the steps to the asymptotic series of x_c for large n."""
    in_large = equation(_LARGE_DEFINITION.residual, 0)
    order = sp.Function("O")(L**-5)
    series = sp.Add(L, 4 / L, -sp.Rational(32, 3) / L**3, order, evaluate=False)
    inverse = _y / (1 + 4 * _y**2 - sp.Rational(32, 3) * _y**4)
    return [
        substitute(
            _ROOT,
            in_large,
            "L = ln(n-1)",
            using=(LARGE,),
            region=_beyond,
        ),
        asymptotic(
            in_large,
            equation(_root, series),
            _LARGE_DEFINITION,
            remainder=4 * _y
            - sp.Rational(32, 3) * _y**3
            + sp.log((1 - 2 * inverse) / (1 + 2 * inverse)),
            small=_y,
            values={_y: 1 / L},
            reason="lambda_c beta for large n",
        ),
    ]


_LARGE_DEFINITION = Implicit(
    variable=_root,
    arguments=(L,),
    residual=sp.log((_root - 2) / (_root + 2)) + _root - L,
    lower=sp.Integer(2),
    start=L + 4 / L,
    region=Region({L: above(0)}),
)

FORMULA = Formula(
    name="rate-inflection",
    title="strength at which the rate function turns from concave to convex",
    symbol=SYMBOL,
    parameters=(TOKENS, POSITIVE_TEMPERATURE),
    expression=EXPRESSION,
    source="Thm 22",
    model="softmax",
    derive=derivation,
    evaluation=EXPRESSION,
    implicit=DEFINITION,
    example={"n": "64", "beta": "2"},
)
