"""Rules of calculus: derivatives, Lambert W, the one root of an equation, series."""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp
from sympy.core.function import AppliedUndef

from symbolic.answer import Answer
from symbolic.decide import is_continuous, is_zero, sign_of
from symbolic.derivation import Checked, Step
from symbolic.implicit import Implicit, ImplicitFunction
from symbolic.positivity import Sign
from symbolic.region import EVERYWHERE, Range, Region, above


def differentiate(
    before: sp.Eq,
    after: sp.Eq,
    variable: sp.Symbol,
    order: int,
    reason: str,
    region: Region = EVERYWHERE,
) -> Step:
    """Return a step from ``f = expression`` to a derivative of both sides."""

    def check() -> Checked:
        if after.lhs != sp.Derivative(before.lhs, (variable, order)):
            return Checked(Answer.NO, "the left side is not that derivative")
        difference = sp.diff(before.rhs, variable, order) - after.rhs
        return Checked(is_zero(difference, region), "differentiation, then zero test")

    return Step("differentiate", before, after, reason, check)


def lambert(before: sp.Rel, after: sp.Rel, reason: str, region: Region = EVERYWHERE) -> Step:
    """Return a step from ``u e^u = z`` to ``u = W_0(z)``, or with <= in both.

    ``u e^u`` increases from 0 on ``u >= 0``, so for ``z >= 0`` there is one solution there, the
    value of the principal branch; the other real branch has values at negative arguments only.
    Checked: the form of both sides, ``u >= 0`` and ``z >= 0``.
    """

    def check() -> Checked:
        u, z = after.lhs, before.rhs
        if before.func is not after.func or not isinstance(before, sp.Eq | sp.Le):
            return Checked(Answer.NO, "the relation signs do not match")
        if after.rhs != sp.LambertW(z, evaluate=False):
            return Checked(Answer.NO, "the right side is not W of the right side before")
        for part in (u, z):
            sign = sign_of(part, region)
            if not sign.is_nonnegative:
                return Checked(Answer.UNDECIDED, f"sign of {part}: {sign.value}")
        return Checked(is_zero(before.lhs - u * sp.exp(u), region), "both sides >= 0; zero test")

    return Step("Lambert W", before, after, reason, check)


def unique_root(
    before: sp.Gt,
    after: sp.Eq,
    implicit: Implicit,
    companion: sp.Gt,
    upper: sp.Expr,
    reason: str,
) -> Step:
    """Return a step that defines a function as the one root of a residual beyond a bound.

    ``before``, residual > 0, is equivalent to ``companion``, polynomial > 0, where the polynomial
    is continuous up to the bound. Checked: the slope of the residual is at least 1 beyond the
    bound, so there is at most one root; the polynomial is negative at the bound and positive at
    ``upper``, so there is one between.

    Args:
        before: ``residual > 0``.
        after: the residual at the new function of the arguments, set to zero.
        implicit: the equation.
        companion: what ``before`` was derived from by equivalences.
        upper: a point beyond the root.
        reason: what the root is.
    """

    def check() -> Checked:
        x = implicit.variable
        if before != sp.Gt(implicit.residual, 0, evaluate=False) or implicit.concave:
            return Checked(Answer.NO, "not the residual of the definition")
        if not _defines(after, implicit):
            return Checked(Answer.NO, "the function is not put into its own residual")
        beyond = implicit.region.having({x: above(implicit.lower)})
        slope = sign_of(implicit.slope - 1, beyond)
        signs = [
            sign_of(companion.lhs.subs(x, implicit.lower), implicit.region),
            sign_of(companion.lhs.subs(x, upper), implicit.region),
            sign_of(upper - implicit.lower, implicit.region),
        ]
        isolated = signs == [Sign.NEGATIVE, Sign.POSITIVE, Sign.POSITIVE]
        found = f"slope - 1 {slope.value}; signs at the ends: {signs[0].value}, {signs[1].value}"
        closed = slope.is_nonnegative and isolated and companion.rhs == 0
        return Checked(Answer.YES if closed else Answer.UNDECIDED, found)

    return Step("unique root", before, after, reason, check, (companion,))


def _defines(after: sp.Eq, implicit: Implicit) -> bool:
    """Tell whether an equation says that a function of the arguments is a root."""
    roots = [f for f in after.lhs.atoms(ImplicitFunction) if f.definition is implicit]
    named = [f for f in roots if f.args == implicit.arguments]
    if len(named) != 1:
        return False
    return (after.lhs, after.rhs) == (implicit.residual.subs(implicit.variable, named[0]), 0)


def concave_root(
    before: sp.Ge | sp.Gt,
    after: sp.Eq,
    implicit: Implicit,
    *,
    where: Range,
    upper: sp.Expr,
    at_lower: sp.Gt | None = None,
    reason: str,
) -> Step:
    """Return a step that defines a function as the one root of a concave residual beyond a bound.

    A strictly concave function that is positive just beyond the bound and negative at a point
    farther on has one root there: it is positive before the root, and negative from there on.
    Checked, for all arguments in their region: the residual is continuous on ``where``, from the
    bound on, and its second derivative is negative inside; at the bound it is positive, which
    ``at_lower`` says, or else zero with a positive slope; it is negative at ``upper``, which lies
    inside or at the end of ``where``.

    Args:
        before: ``residual >= 0`` or ``residual > 0``.
        after: the residual at the new function of the arguments, set to zero.
        implicit: the equation.
        where: where the unknown may lie: from the bound of the equation to its upper end.
        upper: a point beyond the root.
        at_lower: a known relation, ``residual > 0`` at the bound; None where it is zero there.
        reason: what the root is.
    """

    def check() -> Checked:
        x, residual = implicit.variable, implicit.residual
        if before not in (sp.Ge(residual, 0, evaluate=False), sp.Gt(residual, 0, evaluate=False)):
            return Checked(Answer.NO, "not the residual of the definition")
        if not implicit.concave or not _defines(after, implicit):
            return Checked(Answer.NO, "the function is not put into its own concave residual")
        if (where.lower, where.upper) != (implicit.lower, implicit.upper):
            return Checked(Answer.NO, "the range of the unknown is not that of the definition")
        closed = implicit.region.having({x: Range(where.lower, where.upper)})
        inside = implicit.region.having({x: Range(where.lower, where.upper, True, True)})
        curvature = sign_of(sp.diff(residual, x, 2), inside)
        if curvature is not Sign.NEGATIVE or not is_continuous(residual, closed):
            return Checked(Answer.UNDECIDED, f"second derivative: {curvature.value}")
        if not _is_positive_after(implicit, at_lower):
            return Checked(Answer.UNDECIDED, "not shown to be positive beyond the bound")
        room = sp.S.Zero if where.upper is None else where.upper - upper
        signs = [sign_of(gap, implicit.region) for gap in (upper - implicit.lower, room)]
        last = sign_of(residual.subs(x, upper), implicit.region)
        found = f"second derivative {curvature.value}; at the upper end {last.value}"
        isolated = signs[0] is Sign.POSITIVE and signs[1].is_nonnegative
        proved = isolated and last is Sign.NEGATIVE
        return Checked(Answer.YES if proved else Answer.UNDECIDED, found)

    using = () if at_lower is None else (at_lower,)
    return Step("concave root", before, after, reason, check, using)


def _is_positive_after(implicit: Implicit, at_lower: sp.Gt | None) -> bool:
    """Tell whether a concave residual is shown to be positive just beyond its bound."""
    low, slope = (
        part.subs(implicit.variable, implicit.lower) for part in (implicit.residual, implicit.slope)
    )
    if at_lower is not None:
        given = isinstance(at_lower, sp.Gt) and at_lower.rhs == 0
        return given and is_zero(at_lower.lhs - low, implicit.region) is Answer.YES
    rises = sign_of(slope, implicit.region) is Sign.POSITIVE
    return rises and is_zero(low, implicit.region) is Answer.YES


def asymptotic(
    before: sp.Eq,
    after: sp.Eq,
    implicit: Implicit,
    *,
    remainder: sp.Expr,
    small: sp.Symbol,
    values: Mapping[sp.Symbol, sp.Expr],
    reason: str,
) -> Step:
    """Return a step from ``residual(f) = 0`` to ``f = truncated series + O(small^order)``.

    Where the slope of the residual is at least 1, which is checked, the error of the truncated
    series is at most the residual there, the ``remainder``. Checked: ``remainder`` is that
    residual; it vanishes at ``small = 0``; its derivative in ``small`` is a rational function that
    vanishes there to the order less one. A logarithm of the large quantity counts as a symbol.

    Args:
        before: the residual, set to zero.
        after: the unknown on the left, on the right the truncated series plus ``O(small^order)``,
            written with the large quantity.
        implicit: the equation; its residual is in terms of the large quantity.
        remainder: the residual at the truncated series in terms of ``small``.
        small: the small quantity.
        values: what ``small`` and further symbols of the remainder stand for.
        reason: in what the series is.
    """

    def check() -> Checked:
        terms = sp.Add.make_args(after.rhs)
        orders = [t for t in terms if isinstance(t, AppliedUndef) and t.func.__name__ == "O"]
        named = (before.lhs, before.rhs, after.lhs) == (implicit.residual, 0, implicit.variable)
        if not named or len(orders) != 1:
            return Checked(Answer.NO, "not the equation and a series of its unknown with an order")
        truncated = sp.Add(*(t for t in terms if t not in orders))
        in_series = implicit.residual.subs(implicit.variable, truncated)
        same = is_zero(in_series - remainder.subs(values, simultaneous=True))
        order, logarithms = _order(orders[0].args[0], values[small])
        if order == 0:
            return Checked(Answer.NO, "the order is no power of the small quantity")
        beyond = implicit.region.having({implicit.variable: above(implicit.lower)})
        if not sign_of(implicit.slope - 1, beyond).is_nonnegative:
            return Checked(Answer.UNDECIDED, "the slope of the residual is not shown to be >= 1")
        slope = sp.cancel(sp.together(sp.diff(remainder, small)))
        top, bottom = sp.fraction(slope)
        if same is not Answer.YES or not sp.sympify(slope).is_rational_function(small):
            return Checked(Answer.UNDECIDED, "the remainder is not the residual of the series")
        powers = [power for (power,) in sp.Poly(top, small).monoms()]
        starts_at_zero = is_zero(remainder.subs(small, 0)) is Answer.YES
        vanishes = min(powers) >= order - 1 and bottom.subs(small, 0) != 0
        # The leading coefficient is a polynomial in the logarithm, of at most the stated degree.
        leading = sp.cancel(sp.Poly(top, small).nth(order - 1) / bottom.subs(small, 0))
        grows = [_degree_in(leading, symbol) for symbol in values if symbol != small]
        tame = all(degree is not None and degree <= logarithms for degree in grows)
        closed = starts_at_zero and vanishes and tame
        found = (
            f"the remainder vanishes to order {min(powers) + 1}, with powers {grows} of logarithms"
        )
        return Checked(Answer.YES if closed else Answer.NO, found)

    return Step("asymptotic series", before, after, reason, check)


def _order(term: sp.Expr, small: sp.Expr) -> tuple[int, int]:
    """Return (k, p) for a term ``small^k ln(1/small)^p``, (0, 0) for others; ``small`` is 1/L."""
    large, logarithm = 1 / small, sp.Dummy("logarithm")
    bare = sp.expand(term.replace(sp.log(large), logarithm))
    for k in range(1, 20):
        rest = bare * large**k
        degree = _degree_in(rest, logarithm)
        if not rest.has(large) and degree is not None:
            return k, degree
    return 0, 0


def _degree_in(expression: sp.Expr, symbol: sp.Symbol) -> int | None:
    """Return the degree of a polynomial in a symbol, 0 for the zero polynomial; None for others."""
    if not expression.is_polynomial(symbol):
        return None
    return max(0, int(sp.degree(expression, symbol))) if expression != 0 else 0
