"""How strong other heads may be before they break Condition 8 of a head: a Lambert W value."""

from __future__ import annotations

from functools import cache

import sympy as sp

from symbolic import notation
from symbolic.calculus_rules import lambert
from symbolic.derivation import Derivation, Premise, Step
from symbolic.flow import Model, ScalarFlow, equiangular_flow
from symbolic.formula import Form, Formula
from symbolic.notation import H, beta, lam, n
from symbolic.parameter import POSITIVE_STRENGTH, POSITIVE_TEMPERATURE, SEVERAL_HEADS, TOKENS
from symbolic.region import Region, above, at_least
from symbolic.rules import at_most, equation, instances, rewrite, scale, substitute, threshold
from symbolic.written import written

EXPRESSION = written(
    lambda: (
        sp.LambertW(
            beta * lam * (n - 1) / ((H - 1) * sp.sqrt(sp.exp(2 * beta * lam) + n - 1)),
            evaluate=False,
        )
        / beta
    )
)
# With decaying exponentials only: no overflow.
DECAYING_FORM = written(
    lambda: (
        sp.LambertW(
            beta
            * lam
            * (n - 1)
            * sp.exp(-beta * lam)
            / ((H - 1) * sp.sqrt(1 + (n - 1) * sp.exp(-2 * beta * lam))),
            evaluate=False,
        )
        / beta
    )
)
SYMBOL = notation.foreign_strength(n, H, beta, lam)

mu = sp.Symbol("mu", positive=True)
"""Strength of the other heads."""
REGION = Region({n: at_least(2), H: at_least(2), beta: above(0), lam: above(0), mu: above(0)})

_length = sp.Symbol("f_norm", positive=True)
_square = sp.Symbol("f_square", positive=True)
_power = sp.Symbol("power", nonnegative=True)
_others = sp.Symbol("other_shadows", nonnegative=True)
_foreign = sp.Symbol("foreign_shadow", nonnegative=True)
_head = sp.Symbol("k", integer=True)
_inner = sp.Function("inner")


@cache
def derivation(candidate: sp.Expr = EXPRESSION) -> Derivation:
    """Return the derivation of the bound from Condition 8 at orthonormal tokens."""
    condition = at_most(_length * _others, _power)
    length = equation(_length, sp.sqrt(_square))
    parts, part_steps = _parts_of_the_condition()
    counted, foreign, square, power = (step.after for step in part_steps)
    with_counts = at_most(sp.sqrt(_square) * (H - 1) * _foreign, _power)
    root = sp.sqrt(sp.exp(2 * beta * lam) + n - 1)
    explicit = at_most(lam * root * (H - 1) * mu * sp.exp(beta * mu), lam**2 * (n - 1))
    balance = at_most(beta * mu * sp.exp(beta * mu), beta * lam * (n - 1) / ((H - 1) * root))
    solved = at_most(beta * mu, sp.LambertW(balance.rhs, evaluate=False))
    bound = at_most(mu, candidate)
    result = equation(SYMBOL, candidate)
    steps = (
        *part_steps,
        substitute(condition, with_counts, "put in the parts", using=(length, counted)),
        substitute(
            with_counts,
            explicit,
            "put in the closed forms",
            using=(square, foreign, power),
            region=REGION,
        ),
        scale(
            explicit,
            balance,
            beta / (lam * (H - 1) * root),
            "divide by the factors without mu",
            REGION,
        ),
        lambert(balance, solved, "u e^u increases on u >= 0: the principal branch", REGION),
        scale(solved, bound, 1 / beta, "divide by beta", REGION),
        threshold(bound, result, "the bound on the strength of the others"),
        rewrite(result, equation(SYMBOL, DECAYING_FORM), "with decaying exponentials only", REGION),
    )
    return Derivation(
        "Condition 8 of one head of strength lam beside H - 1 heads of strength mu",
        "unnormalised, orthonormal tokens",
        (
            Premise(condition, "Condition 8 of the head of strength lam (this head's alone)"),
            Premise(length, "length from the square"),
            *parts,
        ),
        steps,
    )


def _parts_of_the_condition() -> tuple[tuple[Premise, ...], list[Step]]:
    """Return the others' shadows, |f|^2 and |P f|^2: definitions, and closed forms by instances."""
    f, g, x, tangential = sp.symbols("f_i g_i x_i P_f")
    definitions = (
        Premise(
            equation(_others, sp.Sum(_foreign * (1 - sp.KroneckerDelta(1, _head)), (_head, 1, H))),
            "equal other heads have equal shadows, here positive",
        ),
        Premise(equation(_foreign, _inner(g, x)), "definition of the shadow of another head"),
        Premise(equation(_square, _inner(f, f)), "definition of |f_i^h|^2"),
        Premise(equation(_power, _inner(tangential, tangential)), "definition of |P f_i^h|^2"),
    )
    others, foreign, square, power = (premise.relation for premise in definitions)

    def flow(size: int, strength: sp.Expr) -> ScalarFlow:
        return equiangular_flow(Model.UNNORMALISED, size, sp.S.Zero, [strength], beta)

    steps = [
        instances(
            others,
            equation(_others, (H - 1) * _foreign),
            lambda size: others.rhs.subs(H, size).doit(),
            {H: 1},
            "one sum over heads: degree at most 1 in H",
        ),
        instances(
            foreign,
            equation(_foreign, mu * sp.exp(beta * mu)),
            lambda size: flow(size, mu).shadow(0, 0),
            {n: 1},
            "one sum over tokens: degree at most 1 in n",
            region=REGION,
        ),
        instances(
            square,
            equation(_square, lam**2 * (sp.exp(2 * beta * lam) + n - 1)),
            lambda size: flow(size, lam).square(0, 0),
            {n: 2},
            "two sums over tokens: degree at most 2 in n",
            region=REGION,
        ),
        instances(
            power,
            equation(_power, lam**2 * (n - 1)),
            lambda size: flow(size, lam).power(0, 0),
            {n: 2},
            "two sums over tokens: degree at most 2 in n",
            region=REGION,
        ),
    ]
    return definitions, steps


FORMULA = Formula(
    name="foreign-strength",
    title="largest strength of H - 1 other heads that leaves Condition 8 of a head intact",
    symbol=SYMBOL,
    parameters=(TOKENS, SEVERAL_HEADS, POSITIVE_TEMPERATURE, POSITIVE_STRENGTH),
    expression=EXPRESSION,
    source="not in the source; Condition 8 for unequal strengths",
    model="unnormalised",
    derive=derivation,
    evaluation=DECAYING_FORM,
    forms=(Form("decaying", DECAYING_FORM),),
    example={"n": "64", "H": "4", "beta": "1", "lam": "1"},
)
