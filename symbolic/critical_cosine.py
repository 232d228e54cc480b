"""The critical cosine c*(H): Condition 8 for equal scalar heads, as stated and sharp."""

from __future__ import annotations

from functools import cache

import sympy as sp

from symbolic import notation
from symbolic.derivation import Derivation, Premise, Step
from symbolic.formula import Form, Formula
from symbolic.notation import H
from symbolic.notation import cosine as c
from symbolic.parameter import HEADS
from symbolic.region import Region, above, at_least
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

EXPRESSION = written(lambda: (sp.sqrt((H - 1) ** 2 + 4) - (H - 1)) / 2)
ARSINH_FORM = written(lambda: sp.exp(-sp.asinh((H - 1) / 2)))
METALLIC_FORM = written(lambda: 2 / (H - 1 + sp.sqrt((H - 1) ** 2 + 4)))
SHARP_EXPRESSION = written(lambda: 1 / sp.sqrt(H))

SYMBOL = notation.critical_cosine(H)
SHARP_SYMBOL = notation.sharp_critical_cosine(H)

_length = sp.Symbol("f_norm", positive=True)
_power = sp.Symbol("power", nonnegative=True)
_shadow = sp.Symbol("shadow", nonnegative=True)
_others = sp.Symbol("other_shadows", nonnegative=True)
_head = sp.Symbol("k", integer=True)

# cos(f, x) >= 0 and f != 0 are hypotheses; in the algebra H is any real number >= 1.
REGION = Region({H: at_least(1), c: at_least(0), _length: above(0)})
HEADS_REGION = Region({H: at_least(1)})

OTHER_SHADOWS = equation(
    _others, sp.Sum(_shadow * (1 - sp.KroneckerDelta(1, _head)), (_head, 1, H))
)
PROJECTION = equation(_power, _length**2 - _shadow**2)
COSINE = equation(_shadow, _length * c)


@cache
def derivation(candidate: sp.Expr = EXPRESSION) -> Derivation:
    """Return the derivation of ``Condition 8 iff cos(f, x) <= c*(H)`` for equal scalar heads."""
    in_cosines, premises, steps = _condition_in_cosines(_length)
    quadratic = at_most(c**2 + (H - 1) * c - 1, 0)
    conjugate = (sp.sqrt((H - 1) ** 2 + 4) + (H - 1)) / 2
    factored = at_most((c - candidate) * (c + conjugate), 0)
    bound = at_most(c, candidate)
    result = equation(SYMBOL, candidate)
    steps += [
        scale(in_cosines, quadratic, sp.S.One, "move all terms to the left"),
        rewrite(quadratic, factored, "factor the quadratic", REGION),
        scale(factored, bound, 1 / (c + conjugate), "divide by the second factor > 0", REGION),
        threshold(bound, result, "c*(H) is the bound"),
        rewrite(result, equation(SYMBOL, METALLIC_FORM), "multiply by the conjugate", HEADS_REGION),
        rewrite(result, equation(SYMBOL, ARSINH_FORM), "arsinh is a logarithm", HEADS_REGION),
    ]
    steps += [consequence(result, *fact) for fact in _facts()]
    return Derivation(
        "Condition 8 for equal scalar heads in terms of the cosine",
        "any aggregate (the condition is algebra in |f|, a and |P f|)",
        premises,
        tuple(steps),
    )


def _facts() -> list[tuple[sp.Rel, str, Region]]:
    """Return what follows from the value of c*(H): relation, words, region."""
    c_star = notation.critical_cosine
    golden = (1 + sp.sqrt(5)) / 2
    mean = (H - 1 + sp.sqrt((H - 1) ** 2 + 4)) / 2
    several = Region({H: at_least(2)})
    return [
        (
            equation(1 - SYMBOL**2, (H - 1) * SYMBOL),
            "the quadratic that c*(H) solves",
            HEADS_REGION,
        ),
        (
            equation(1 / SYMBOL, mean),
            "1/c*(H) is the (H-1)-th metallic mean",
            HEADS_REGION,
        ),
        (
            equation(1 / SYMBOL**2, (H - 1) / SYMBOL + 1),
            "the metallic mean's equation s^2 = (H-1) s + 1",
            HEADS_REGION,
        ),
        (equation(c_star(1), sp.S.One), "one head: no other shadows", HEADS_REGION),
        (equation(c_star(2), 1 / golden), "two heads: 1/golden ratio", HEADS_REGION),
        (sp.Gt(SYMBOL, 0, evaluate=False), "c*(H) is positive", HEADS_REGION),
        (sp.Lt(SYMBOL, 1, evaluate=False), "and below 1 for two heads or more", several),
        (
            sp.Lt(c_star(H + 1), SYMBOL, evaluate=False),
            "more heads lower it",
            HEADS_REGION,
        ),
    ]


@cache
def sharp_derivation(candidate: sp.Expr = SHARP_EXPRESSION) -> Derivation:
    """Return the derivation of ``sharp Condition 8 iff cos(f, x) <= 1/sqrt(H)``."""
    in_cosines, premises, steps = _condition_in_cosines(_shadow)
    squares = at_most(H * c**2, 1)
    square = at_most(c**2, 1 / H)
    bound = at_most(c, candidate)
    result = equation(SHARP_SYMBOL, candidate)
    positive = REGION.having({c: above(0)})
    steps += [
        scale(in_cosines, squares, sp.S.One, "collect the squares of the cosine"),
        scale(squares, square, 1 / H, "divide by H", REGION),
        monotone(square, bound, sp.sqrt, "take square roots (for c = 0 both hold)", positive),
        threshold(bound, result, "c_sharp(H) is the bound"),
        consequence(
            result,
            sp.Ge(SHARP_SYMBOL, EXPRESSION, evaluate=False),
            "the sharp bound is never below c*(H)",
            HEADS_REGION,
        ),
    ]
    return Derivation(
        "sharp Condition 8 for equal scalar heads in terms of the cosine",
        "any aggregate (the condition is algebra in |f|, a and |P f|)",
        premises,
        tuple(steps),
    )


def _condition_in_cosines(
    left: sp.Symbol,
) -> tuple[sp.Le, tuple[Premise, ...], list[Step]]:
    """Return ``left * (others' shadows) <= |P f|^2`` in cosines, with premises and steps."""
    condition = at_most(left * _others, _power)
    counted = equation(_others, (H - 1) * _shadow)
    with_count = at_most(left * (H - 1) * _shadow, _power)
    with_power = at_most(with_count.lhs, PROJECTION.rhs)
    with_cosine = at_most(*(side.subs(_shadow, COSINE.rhs) for side in with_power.args))
    in_cosines = at_most(sp.cancel(with_cosine.lhs / _length**2), 1 - c**2)
    premises = (
        Premise(condition, "Condition 8" if left is _length else "sharp Condition 8"),
        Premise(OTHER_SHADOWS, "equal heads have equal shadows, here a >= 0"),
        Premise(PROJECTION, "claim projection, with u = f and P f = P_x f"),
        Premise(COSINE, "definition of the cosine c = cos(f, x)"),
    )
    steps = [
        instances(
            OTHER_SHADOWS,
            counted,
            lambda size: OTHER_SHADOWS.rhs.subs(H, size).doit(),
            {H: 1},
            "one sum over heads: degree at most 1 in H",
        ),
        substitute(condition, with_count, "count the other heads", using=(counted,)),
        substitute(with_count, with_power, "Pythagoras", using=(PROJECTION,)),
        substitute(with_power, with_cosine, "a = |f| c", using=(COSINE,)),
        scale(with_cosine, in_cosines, 1 / _length**2, "divide by |f|^2 > 0", REGION),
    ]
    return in_cosines, premises, steps


FORMULA = Formula(
    name="critical-cosine",
    title="largest cosine between aggregate and token at which Condition 8 holds, equal heads",
    symbol=SYMBOL,
    parameters=(HEADS,),
    expression=EXPRESSION,
    source="Thm 19",
    model="any (algebra of Condition 8)",
    derive=derivation,
    evaluation=METALLIC_FORM,
    example={"H": "2"},
    forms=(Form("metallic-mean", METALLIC_FORM), Form("arsinh", ARSINH_FORM)),
)

SHARP_FORMULA = Formula(
    name="sharp-critical-cosine",
    title="largest cosine at which the sharp Condition 8 holds, equal heads",
    symbol=SHARP_SYMBOL,
    parameters=(HEADS,),
    expression=SHARP_EXPRESSION,
    source="not in the source; sharp form of Condition 8",
    model="any (algebra of Condition 8)",
    derive=sharp_derivation,
    evaluation=SHARP_EXPRESSION,
    example={"H": "2"},
)
