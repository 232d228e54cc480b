"""The critical half-spread: how far apart two strengths may be and still start faster than equal.

Two heads ``mean +- d`` have a larger early rate than two equal ones of the same mean while
``tanh(beta d/2) K > beta d`` with ``K = x tanh((x - ln(n-1))/2)``, ``x = beta mean``. The left side
is concave in d, so there is one change of sign, for every n, if and only if ``K > 2``: where the
rate function is convex at the mean.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import sympy as sp

from symbolic import notation, rate
from symbolic.calculus_rules import concave_root, differentiate
from symbolic.derivation import Derivation, Premise, Step
from symbolic.exponentials import holds_at_exponential
from symbolic.formula import Formula, SpecialCase, Values
from symbolic.implicit import Implicit, ImplicitFunction
from symbolic.notation import beta, lam, n
from symbolic.notation import mean_strength as mean
from symbolic.parameter import MEAN_STRENGTH, POSITIVE_TEMPERATURE, TOKENS
from symbolic.rate_inflection import BALANCE
from symbolic.rate_peak import x
from symbolic.region import Region, above, at_least, between
from symbolic.rules import consequence, equation, scale, substitute, threshold
from symbolic.written import written

_s = sp.Symbol("s", positive=True)
_K = sp.Symbol("K", positive=True)

DEFINITION = Implicit(
    variable=_s,
    arguments=(_K,),
    residual=written(lambda: _K * sp.tanh(_s / 2) - _s),
    lower=sp.S.Zero,
    # s coth(s/2) >= sqrt(4 + 2 s^2/3), with the right quadratic term at 0: close for every K.
    start=written(lambda: sp.sqrt(3 * (_K**2 - 4) / 2)),
    region=Region({_K: above(2)}),
    concave=True,
)
"""The scaled gain of unequal strengths; ``s coth(s/2) = K`` at its root."""


class ScaledSpread(ImplicitFunction):
    """``s_c(K)``, the scaled critical half-spread."""

    nargs = 1
    definition = DEFINITION


DRIVE = written(lambda: beta * mean * sp.tanh((beta * mean - sp.log(n - 1)) / 2))
"""K: it is 2 where the mean is at the inflection of the rate function."""
EXPRESSION = written(lambda: ScaledSpread(DRIVE) / beta)
SYMBOL = notation.critical_spread(mean, beta, n)

_d = sp.Symbol("d", positive=True)
"""Half-spread of the two strengths."""
REGION = Region({n: at_least(2), beta: above(0), mean: above(0), lam: above(0), _d: above(0)})
_SCALED_REGION = REGION.having({_s: above(0), _K: above(0)})
_drive = sp.Function("K")


@cache
def derivation(candidate: sp.Expr = EXPRESSION) -> Derivation:
    """Return the derivation of the critical half-spread, unique for every n and beta."""
    premises, steps = _gain()
    more_premises, existence = _where_it_exists()
    question = sp.Gt(DEFINITION.residual, 0, evaluate=False)
    drive = equation(_K, DRIVE)
    root = equation(DEFINITION.residual.subs(_s, ScaledSpread(_K)), 0)
    at_root = equation(_s, ScaledSpread(_K))
    scaled = equation(beta * _d, ScaledSpread(_K))
    explicit = equation(beta * _d, ScaledSpread(DRIVE))
    divided = equation(_d, candidate)
    named = equation(_drive(mean, beta, n), DRIVE)
    return Derivation(
        "two strengths mean +- d against equal ones: where the larger early rate changes sides",
        "softmax, orthonormal tokens",
        (
            *premises,
            *more_premises,
            Premise(drive, "a name for the factor, taken > 0; where it is not, every spread loses"),
            Premise(question, "the question in s = beta d: for which s is K tanh(s/2) > s?"),
            Premise(at_root, "the scaled critical half-spread, s = beta d"),
            Premise(named, "the same factor as a function"),
        ),
        (
            *steps,
            substitute(
                question,
                steps[-1].after,
                "it is the gain at s = beta d, so the answer is the same",
                using=(drive,),
                values={_s: beta * _d},
                region=_SCALED_REGION,
            ),
            concave_root(
                question,
                root,
                DEFINITION,
                where=above(0),
                upper=_K,
                reason="for K > 2 one change of sign, from gain to loss",
            ),
            *existence,
            consequence(
                named,
                sp.Lt(_drive(mean, beta, n), beta * mean, evaluate=False),
                "s_c < K < beta mean, so both strengths are positive",
                REGION,
            ),
            substitute(
                at_root, scaled, "s = beta d", values={_s: beta * _d}, region=_SCALED_REGION
            ),
            substitute(scaled, explicit, "put in K", using=(drive,), region=REGION),
            scale(explicit, divided, 1 / beta, "divide by beta", REGION),
            threshold(
                divided, equation(SYMBOL, candidate), "the critical half-spread is that half-spread"
            ),
        ),
    )


def _gain() -> tuple[tuple[Premise, ...], list[Step]]:
    """Return premises and steps from the rates of the heads to the gain in hyperbolic tangents."""
    function = rate.FORMULA.equation
    phi = notation.rate
    places = {"the weaker head": mean - _d, "the stronger head": mean + _d, "equal heads": mean}
    at = {
        name: equation(phi(place), function.rhs.subs(lam, place)) for name, place in places.items()
    }
    # The rate function is stated for every real strength, negative ones included.
    everywhere = REGION.having({lam: rate.REGION[lam]})
    question = sp.Gt(phi(mean + _d) + phi(mean - _d), 2 * phi(mean), evaluate=False)
    low, high, middle = (relation.rhs for relation in at.values())
    explicit = sp.Gt(high + low, 2 * middle, evaluate=False)
    score, s, tokens = beta * mean, beta * _d, n - 1
    both = (sp.exp(score + s) + tokens) * (sp.exp(score - s) + tokens)
    factor = beta * both / (4 * sp.exp(score) * sp.sinh(s))
    gain = sp.Gt(DRIVE * sp.tanh(s / 2) - s, 0, evaluate=False)
    premises = (
        Premise(function, "formula rate"),
        Premise(question, "the question: when do the strengths mean +- d start faster?"),
    )
    steps = [
        substitute(function, at[name], name, values={lam: place}, region=everywhere)
        for name, place in places.items()
    ]
    steps += [
        substitute(question, explicit, "put in the rates", using=tuple(at.values()), region=REGION),
        scale(
            explicit,
            gain,
            factor,
            "clear denominators and divide by sinh(beta d) > 0 and other positive factors",
            REGION,
        ),
    ]
    return premises, steps


def _where_it_exists() -> tuple[tuple[Premise, ...], list[Step]]:
    """Return premises and steps: ``K > 2`` iff the rate function is convex at the mean."""
    exists = sp.Gt(DRIVE, 2, evaluate=False)
    convex = sp.Gt(BALANCE.subs(x, beta * mean), 0, evaluate=False)
    residual, slope = sp.Function("r")(_K, _s), sp.Function("r_slope")(_K, _s)
    name = equation(residual, DEFINITION.residual)
    derivative = equation(sp.Derivative(residual, _s), _K / 2 * (1 - sp.tanh(_s / 2) ** 2) - 1)
    slope_name = equation(slope, derivative.lhs)
    slope_value = equation(slope, derivative.rhs)
    premises = (
        Premise(exists, "the question: when is K > 2?"),
        Premise(name, "a name for the residual"),
        Premise(slope_name, "a name for its slope"),
    )
    steps = [
        scale(
            exists,
            convex,
            sp.exp(beta * mean) + n - 1,
            "iff the rate function is convex at the mean (formula rate-inflection): "
            "iff mean > lambda_c",
            REGION,
        ),
        differentiate(name, derivative, _s, 1, "slope of the residual", _SCALED_REGION),
        substitute(
            slope_name, slope_value, "the slope", using=(derivative,), region=_SCALED_REGION
        ),
        consequence(
            slope_value,
            sp.Lt(slope, 0, evaluate=False),
            "for 0 < K <= 2 the residual falls from 0: no spread gains",
            Region({_s: above(0), _K: between(0, 2, lower_open=True)}),
        ),
    ]
    return premises, steps


def has_no_gain(values: Values) -> bool:
    """Tell whether ``mean <= lambda_c``: then no spread starts faster than equal strengths.

    With ``x = beta mean`` that is ``(x - 2) e^x <= (n - 1)(x + 2)``. Equality does not occur, for
    e^x is transcendental.
    """
    x, tokens = Fraction(values["beta"]) * Fraction(values["mean"]), int(values["n"]) - 1
    if x <= 2:
        return True
    bound = tokens * (x + 2) / (x - 2)
    # Then e^x >= 2^x is above the bound.
    if x > int(bound).bit_length():
        return False
    return not holds_at_exponential(x, lambda y: y >= bound)


FORMULA = Formula(
    name="critical-spread",
    title="half-spread up to which strengths mean +- spread start faster than equal ones",
    symbol=SYMBOL,
    parameters=(MEAN_STRENGTH, POSITIVE_TEMPERATURE, TOKENS),
    expression=EXPRESSION,
    source="not in the source; sharpens Thm 22 (super-additivity)",
    model="softmax",
    derive=derivation,
    evaluation=EXPRESSION,
    implicit=DEFINITION,
    special_cases=(
        SpecialCase(
            has_no_gain,
            "mean <= lambda_c",
            None,
            "mean is not above lambda_c, so no two strengths mean +- spread start faster than "
            "equal ones",
            one_by_one=True,
        ),
    ),
    example={"mean": "5/2", "beta": "1", "n": "2"},
)
