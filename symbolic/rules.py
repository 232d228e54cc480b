"""The named rules by which a derivation may step, each with an exact check.

All rules but `consequence` and `integer_threshold` give an equivalence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from types import UnionType

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational

from symbolic.answer import Answer
from symbolic.decide import exact_expression, holds, is_continuous, is_zero, sign_of
from symbolic.derivation import Checked, Step
from symbolic.positivity import Sign
from symbolic.region import EVERYWHERE, Range, Region, above, at_least
from symbolic.tower import assumed_range

_FLIPPED_RELATION = {
    sp.Le: sp.Ge,
    sp.Ge: sp.Le,
    sp.Lt: sp.Gt,
    sp.Gt: sp.Lt,
    sp.Eq: sp.Eq,
    sp.Ne: sp.Ne,
}


def equation(left: sp.Expr, right: sp.Expr) -> sp.Eq:
    """Return the equation ``left = right``, kept as written."""
    return sp.Eq(left, right, evaluate=False)


def at_most(left: sp.Expr, right: sp.Expr) -> sp.Le:
    """Return the inequality ``left <= right``, kept as written."""
    return sp.Le(left, right, evaluate=False)


def _all(answers: Sequence[Answer]) -> Answer:
    if all(a is Answer.YES for a in answers):
        return Answer.YES
    return Answer.NO if Answer.NO in answers else Answer.UNDECIDED


def _are(kind: type[sp.Rel] | UnionType, *relations: sp.Rel) -> bool:
    """Tell whether all are relations of a kind, between exact expressions."""
    for relation in relations:
        if not isinstance(relation, kind):
            return False
        exact_expression(relation.lhs)
        exact_expression(relation.rhs)
    return True


def _same_type(before: sp.Rel, after: sp.Rel) -> bool:
    return _are(Relational, before, after) and before.func is after.func


def _admits(values: Mapping[sp.Symbol, sp.Expr], region: Region) -> Answer:
    """Tell whether values lie where the symbols that they replace live: range and assumptions."""
    answers = []
    for symbol, value in values.items():
        if symbol.is_integer and not value.is_integer:
            return Answer.UNDECIDED
        for r in (region.get(symbol, Range()), assumed_range(symbol)):
            lower, upper = (
                None if bound is None else bound.subs(values, simultaneous=True)
                for bound in (r.lower, r.upper)
            )
            if lower is not None:
                below = sp.Gt if r.lower_open else sp.Ge
                answers.append(holds(below(value, lower, evaluate=False), region))
            if upper is not None:
                over = sp.Lt if r.upper_open else sp.Le
                answers.append(holds(over(value, upper, evaluate=False), region))
    return _all(answers)


def rewrite(before: sp.Rel, after: sp.Rel, reason: str, region: Region = EVERYWHERE) -> Step:
    """Return a step to the same relation with each side in an identical form on ``region``."""

    def check() -> Checked:
        if not _same_type(before, after):
            return Checked(Answer.NO, "the relation sign changed")
        sides = zip((before.lhs, before.rhs), (after.lhs, after.rhs), strict=True)
        answers = [is_zero(a - b, region) for a, b in sides if a != b]
        return Checked(_all(answers), "zero test of the difference of each side")

    return Step("rewrite", before, after, reason, check)


def substitute(
    before: sp.Rel,
    after: sp.Rel,
    reason: str,
    *,
    values: Mapping[sp.Expr, sp.Expr] | None = None,
    using: Sequence[sp.Eq] = (),
    region: Region = EVERYWHERE,
) -> Step:
    """Return a step that replaces left sides of equations by right sides, then symbols by values.

    A relation that holds for all values of its symbols holds for given ones; the region says where
    a symbol that is replaced lives, and the values must lie there.
    """

    def check() -> Checked:
        given = {symbol: exact_expression(value) for symbol, value in (values or {}).items()}
        if not _same_type(before, after):
            return Checked(Answer.NO, "the relation sign changed")
        if not _are(sp.Eq, *using) or not all(isinstance(key, sp.Symbol) for key in given):
            return Checked(Answer.NO, "only symbols have values, only equations are used")
        unknown = [key for key in given if key not in region]
        if unknown:
            return Checked(Answer.UNDECIDED, f"the region does not say where {unknown} live")
        if _admits(given, region) is not Answer.YES:
            return Checked(Answer.UNDECIDED, "a value is not shown to lie where its symbol does")
        sides = (before.lhs, before.rhs)
        for replacements in ({e.lhs: e.rhs for e in using}, given):
            missing = [key for key in replacements if not any(side.has(key) for side in sides)]
            if missing:
                return Checked(Answer.NO, f"nothing to replace: {missing}")
            if _captures(sides, replacements):
                return Checked(Answer.UNDECIDED, "a bound symbol takes part")
            sides = tuple(side.subs(replacements, simultaneous=True) for side in sides)
        pairs = zip(sides, (after.lhs, after.rhs), strict=True)
        answers = [is_zero(a - b, region) for a, b in pairs if a != b]
        return Checked(_all(answers), "substitution, then zero test of each side")

    return Step("substitute", before, after, reason, check, tuple(using))


def _captures(sides: Sequence[sp.Expr], replacements: Mapping[sp.Expr, sp.Expr]) -> bool:
    """Tell whether a replacement shares a symbol with those that sums and the like bind."""
    nodes = (node for side in sides for node in sp.preorder_traversal(side))
    bound = {symbol for node in nodes for symbol in getattr(node, "bound_symbols", ())}
    pairs = [*replacements.keys(), *replacements.values()]
    return any(bound & expression.free_symbols for expression in pairs)


def scale(
    before: sp.Rel, after: sp.Rel, factor: sp.Expr, reason: str, region: Region = EVERYWHERE
) -> Step:
    """Return a step that multiplies by a factor of certain sign and may move terms across."""

    def check() -> Checked:
        if not _are(Relational, before, after):
            return Checked(Answer.NO, "not relations")
        sign = sign_of(factor, region)
        if not sign.is_strict or not is_continuous(factor, region):
            return Checked(Answer.UNDECIDED, f"sign of the factor {factor}: {sign.value}")
        wanted = before.func if sign is Sign.POSITIVE else _FLIPPED_RELATION[before.func]
        if after.func is not wanted:
            return Checked(Answer.NO, "the relation sign does not match the factor")
        difference = after.lhs - after.rhs - factor * (before.lhs - before.rhs)
        return Checked(is_zero(difference, region), f"the factor is {sign.value}; zero test")

    return Step("scale", before, after, reason, check)


def monotone(
    before: sp.Rel,
    after: sp.Rel,
    function: Callable[[sp.Expr], sp.Expr],
    reason: str,
    region: Region = EVERYWHERE,
) -> Step:
    """Return a step that applies a strictly increasing function to both sides.

    The function is checked to be continuous and to increase, by the sign of its derivative, on all
    real numbers or else on the positive ones; then both sides must be positive.
    """

    def check() -> Checked:
        if not _same_type(before, after):
            return Checked(Answer.NO, "the relation sign changed")
        x = sp.Dummy("x", real=True)
        image = function(x)
        if not _increases(image, x, region.having({x: Range()})):
            if not _increases(image, x, region.having({x: above(0)})):
                return Checked(Answer.UNDECIDED, "the function is not shown to increase")
            for side in (before.lhs, before.rhs):
                sign = sign_of(side, region)
                if sign is not Sign.POSITIVE:
                    return Checked(Answer.UNDECIDED, f"sign of {side}: {sign.value}")
        pairs = ((before.lhs, after.lhs), (before.rhs, after.rhs))
        answers = [is_zero(image.subs(x, a) - b, region) for a, b in pairs]
        return Checked(_all(answers), "increasing function on the range of both sides; zero test")

    return Step("monotone", before, after, reason, check)


def _increases(image: sp.Expr, x: sp.Symbol, region: Region) -> bool:
    if not is_continuous(image, region):
        return False
    return sign_of(sp.diff(image, x), region) is Sign.POSITIVE


def instances(
    before: sp.Eq,
    after: sp.Eq,
    definition: Callable[..., sp.Expr],
    degrees: Mapping[sp.Symbol, int],
    reason: str,
    *,
    multiplier: sp.Expr = sp.S.One,
    first: int = 1,
    region: Region = EVERYWHERE,
) -> Step:
    """Return a step from a definition by sums over tokens and heads to a closed form.

    A sum over r indices, each from 1 to n, whose terms depend only on which indices coincide splits
    into classes that count ``n (n-1) (n-2) ...``: it is a polynomial in n of degree at most r. Two
    such polynomials that agree at r + 1 sizes are equal. The check computes the definition at
    degree + 1 sizes from the first on, and confirms that the closed form is such a polynomial. One
    size more is computed, where a bound that is too low shows itself.

    Args:
        before: the definition, for the reader.
        after: the closed form on its right side.
        definition: takes one integer per size, returns the exact value from the definitions.
        degrees: bound of the degree in each size, times ``multiplier``.
        reason: why the bound holds.
        multiplier: what the value is multiplied by to be a polynomial in the sizes.
        first: the least size at which the definition makes sense.
        region: where the other parameters live.
    """

    def check() -> Checked:
        if not _are(sp.Eq, before, after) or before.lhs != after.lhs:
            return Checked(Answer.NO, "not an equation for the same left side")
        sizes = list(degrees)
        positive = region.having({size: at_least(1) for size in sizes})
        if not sign_of(multiplier, positive).is_strict:
            return Checked(Answer.UNDECIDED, f"the multiplier {multiplier} may vanish")
        closed = sp.expand(sp.cancel(sp.together(multiplier * after.rhs.doit())))
        for size, degree in degrees.items():
            if not closed.is_polynomial(size) or sp.degree(closed, size) > degree:
                return Checked(Answer.UNDECIDED, f"not a polynomial of degree {degree} in {size}")
        for point in product(*(range(first, first + degree + 2) for degree in degrees.values())):
            values = dict(zip(sizes, point, strict=True))
            defined = exact_expression(definition(*point))
            difference = closed.subs(values) - multiplier.subs(values) * defined
            answer = is_zero(difference, region)
            if answer is not Answer.YES:
                return Checked(answer, f"fails to agree at {values}")
        count = sp.prod([degree + 2 for degree in degrees.values()])
        return Checked(
            Answer.YES, f"agrees at {count} sizes, one more than the degree argued for asks"
        )

    return Step("instances", before, after, reason, check)


def threshold(before: sp.Le | sp.Eq, after: sp.Eq, reason: str) -> Step:
    """Return a step that names the right side of ``variable <= bound`` or ``variable = value``.

    The name is an undefined function of distinct symbols, all that the bound has among them.
    """

    def check() -> Checked:
        if not _are(sp.Le | sp.Eq, before) or not _are(sp.Eq, after) or after.rhs != before.rhs:
            return Checked(Answer.NO, "not the right side of a bound or a value")
        name, variable = after.lhs, before.lhs
        if not isinstance(variable, sp.Symbol) or not _is_applied_to_symbols(name):
            return Checked(Answer.NO, "not a bound of a symbol, or not a name for it")
        fits = before.rhs.free_symbols <= set(name.args) and variable not in name.args
        return Checked(Answer.YES if fits else Answer.NO, "the bound is the named value")

    names = after.lhs if isinstance(after.lhs, AppliedUndef) else None
    return Step("threshold", before, after, reason, check, names=names)


def _is_applied_to_symbols(name: sp.Expr) -> bool:
    """Tell whether ``name`` is an undefined function of distinct symbols."""
    if not isinstance(name, AppliedUndef) or len(set(name.args)) != len(name.args):
        return False
    return all(isinstance(argument, sp.Symbol) for argument in name.args)


def consequence(before: sp.Eq, after: sp.Rel, reason: str, region: Region = EVERYWHERE) -> Step:
    """Return a step from ``f(symbols) = expression`` to a relation in f that it implies.

    The region says where the symbols live; other arguments of f must lie there too.
    """

    def check() -> Checked:
        if not _are(sp.Eq, before) or not _are(Relational, after):
            return Checked(Answer.NO, "not an equation and a relation")
        if not _is_applied_to_symbols(before.lhs) or before.rhs.has(before.lhs.func):
            return Checked(Answer.NO, "not the definition of a function of symbols")
        symbols = before.lhs.args
        value = sp.Lambda(symbols, before.rhs)
        for use in after.atoms(before.lhs.func):
            values = {s: a for s, a in zip(symbols, use.args, strict=True) if s != a}
            if use.atoms(before.lhs.func) != {use} or _admits(values, region) is not Answer.YES:
                return Checked(Answer.UNDECIDED, f"{use}: not shown to be defined there")
        sides = [
            side.replace(before.lhs.func, lambda *arguments: value(*arguments))
            for side in (after.lhs, after.rhs)
        ]
        # SymPy's own evaluation of relations uses heuristics, so it is kept out.
        instance = after.func(*sides, evaluate=False)
        return Checked(holds(instance, region), f"exact decision on {region}")

    return Step("consequence", before, after, reason, check)


def integer_threshold(
    before: sp.Gt, after: sp.Ge, reason: str, region: Region = EVERYWHERE
) -> Step:
    """Return a step from ``m > bound`` to ``m >= least`` for an integer m.

    Valid when ``least - 1 <= bound < least`` and ``least`` takes integer values.
    """

    def check() -> Checked:
        if not _are(sp.Gt, before) or not _are(sp.Ge, after):
            return Checked(Answer.NO, "not m > bound and m >= least")
        bound, least = before.rhs, after.rhs
        if before.lhs != after.lhs or not (before.lhs.is_integer and least.is_integer):
            return Checked(Answer.NO, "not integers")
        answers = [holds(sp.Lt(bound, least, evaluate=False), region)]
        answers.append(holds(sp.Ge(bound, least - 1, evaluate=False), region))
        return Checked(_all(answers), "the bound lies in [least - 1, least)")

    return Step("integer threshold", before, after, reason, check)
