"""Where the rate function peaks: a value of Lambert W on its principal branch (Theorem 22)."""

from __future__ import annotations

from functools import cache

import sympy as sp

from symbolic import notation, rate
from symbolic.calculus_rules import asymptotic, differentiate, lambert
from symbolic.derivation import Derivation, Premise, Step
from symbolic.formula import Formula
from symbolic.implicit import Implicit
from symbolic.notation import beta, lam, n
from symbolic.parameter import POSITIVE_TEMPERATURE, TOKENS
from symbolic.region import Region, above, at_least, between
from symbolic.rules import consequence, equation, monotone, scale, substitute, threshold
from symbolic.written import written

EXPRESSION = written(lambda: (1 + sp.LambertW((n - 1) / sp.exp(1), evaluate=False)) / beta)
SYMBOL = notation.rate_peak(n, beta)

x = sp.Symbol("x", real=True)
"""The scaled strength ``lam*beta``, in which the peak depends on n alone."""

REGION = Region({n: at_least(2), beta: above(0), lam: above(0), x: above(0)})
_beyond_one = REGION.having({x: above(1), lam: above(1 / beta)})
_up_to_one = REGION.having({lam: between(0, 1 / beta, lower_open=True)})

_slope = sp.Function("phi_slope")
_balance = sp.Function("g")


RISES = sp.Gt(sp.exp(x) * (1 - x) + n - 1, 0, evaluate=False)
"""Where the rate function rises, in ``x = lam beta``: the derivation reaches it by equivalences."""


@cache
def derivation(candidate: sp.Expr = EXPRESSION) -> Derivation:
    """Return the derivation of the peak from the rate function, with uniqueness and branch."""
    function = rate.FORMULA.equation
    boost = sp.exp(lam * beta)
    derivative = equation(
        sp.Derivative(rate.SYMBOL, lam),
        2 * (boost * (1 - lam * beta) + n - 1) / (boost + n - 1) ** 2,
    )
    slope_name = equation(_slope(lam), derivative.lhs)
    slope = equation(_slope(lam), derivative.rhs)
    question = equation(_slope(lam), 0)
    stationary = equation(derivative.rhs, 0)
    rising = sp.Gt(_slope(lam), 0, evaluate=False)
    explicit_rising = sp.Gt(derivative.rhs, 0, evaluate=False)
    factor_positive = sp.Gt(boost * (1 - lam * beta) + n - 1, 0, evaluate=False)
    scaled = equation(2 * (sp.exp(x) * (1 - x) + n - 1) / (sp.exp(x) + n - 1) ** 2, 0)
    balance = equation((x - 1) * sp.exp(x - 1), (n - 1) / sp.exp(1))
    branch = equation(x - 1, sp.LambertW(balance.rhs, evaluate=False))
    solved = equation(x, 1 + branch.rhs)
    in_strength = equation(lam * beta, solved.rhs)
    divided = equation(lam, candidate)
    result = equation(SYMBOL, candidate)
    balance_name = equation(_balance(x), sp.exp(x) * (1 - x) + n - 1)
    balance_slope = equation(sp.Derivative(_balance(x), x), -x * sp.exp(x))
    fall_name = equation(sp.Function("g_slope")(x), balance_slope.lhs)
    fall = equation(fall_name.lhs, balance_slope.rhs)
    premises = (
        Premise(function, "formula rate"),
        Premise(slope_name, "a name for the slope"),
        Premise(question, "the question: where is the slope zero?"),
        Premise(rising, "the question: where does it rise?"),
        Premise(balance_name, "a name for the factor of the slope that changes sign"),
        Premise(fall_name, "a name for its slope"),
        Premise(LARGE, "the large quantity of the series"),
    )
    steps: list[Step] = [
        differentiate(function, derivative, lam, 1, "slope of the rate function", REGION),
        substitute(slope_name, slope, "the slope", using=(derivative,), region=REGION),
        consequence(
            slope,
            rising,
            "it rises up to lam = 1/beta: no peak there, so x > 1 and W >= 0: branch 0",
            _up_to_one,
        ),
        substitute(rising, explicit_rising, "put in the slope", using=(slope,), region=REGION),
        scale(
            explicit_rising,
            factor_positive,
            (boost + n - 1) ** 2 / 2,
            "it rises where this factor is positive",
            REGION,
        ),
        substitute(factor_positive, RISES, "x = lam beta", values={lam: x / beta}, region=REGION),
        differentiate(balance_name, balance_slope, x, 1, "slope of the factor", REGION),
        substitute(fall_name, fall, "that slope", using=(balance_slope,), region=REGION),
        consequence(
            fall,
            sp.Lt(fall_name.lhs, 0, evaluate=False),
            "the factor g falls for x > 0: phi rises before its one zero, and falls beyond",
            REGION,
        ),
        substitute(question, stationary, "put in the slope", using=(slope,), region=REGION),
        substitute(stationary, scaled, "x = lam beta", values={lam: x / beta}, region=_beyond_one),
        scale(
            scaled,
            balance,
            -((sp.exp(x) + n - 1) ** 2) / (2 * sp.exp(1)),
            "clear the denominator, divide by -e",
            _beyond_one,
        ),
        lambert(balance, branch, "x - 1 > 0: the principal branch", _beyond_one),
        scale(branch, solved, sp.S.One, "add 1", _beyond_one),
        substitute(solved, in_strength, "x = lam beta", values={x: lam * beta}, region=_beyond_one),
        scale(in_strength, divided, 1 / beta, "divide by beta", _beyond_one),
        threshold(divided, result, "lambda_peak is that strength"),
        *_series(balance),
    ]
    return Derivation(
        "the strength at which the rate function is largest", "softmax", premises, tuple(steps)
    )


L = sp.Symbol("L", positive=True)
"""``ln(n-1)``, the large quantity of the asymptotic series."""
_y = sp.Symbol("y", positive=True)
_ell = sp.Symbol("ell", real=True)

LARGE = equation(sp.log(n - 1), L)

LOGARITHMIC = Implicit(
    variable=x,
    arguments=(L,),
    residual=x + sp.log(x - 1) - L,
    lower=sp.S.One,
    start=1 + L,
    region=Region({L: above(0)}),
)
"""The peak's equation in logarithms."""


def _series(balance: sp.Eq) -> list[Step]:
    """Return the steps to the asymptotic series for large n."""
    logarithms = equation(sp.log(x - 1) + x - 1, sp.log(n - 1) - 1)
    residual = equation(x + sp.log(x - 1) - sp.log(n - 1), 0)
    named = equation(LOGARITHMIC.residual, 0)
    order = sp.Function("O")(sp.log(L) ** 2 / L**2)
    series = sp.Add(L, -sp.log(L), (sp.log(L) + 1) / L, order, evaluate=False)
    return [
        monotone(balance, logarithms, sp.log, "take logarithms", _beyond_one),
        scale(logarithms, residual, sp.S.One, "collect", _beyond_one),
        substitute(residual, named, "L = ln(n-1)", using=(LARGE,), region=_beyond_one),
        asymptotic(
            named,
            equation(x, series),
            LOGARITHMIC,
            remainder=(_ell + 1) * _y + sp.log(1 - (_ell + 1) * _y + (_ell + 1) * _y**2),
            small=_y,
            values={_y: 1 / L, _ell: sp.log(L)},
            reason="lambda_peak beta for large n",
        ),
    ]


FORMULA = Formula(
    name="rate-peak",
    title="strength at which the rate function is largest",
    symbol=SYMBOL,
    parameters=(TOKENS, POSITIVE_TEMPERATURE),
    expression=EXPRESSION,
    source="Thm 22 (section 3 of the summaries)",
    model="softmax",
    derive=derivation,
    evaluation=EXPRESSION,
    example={"n": "64", "beta": "2"},
)
