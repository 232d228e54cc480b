"""Rules for integrals: separated variables, expressions with the same derivative, limits."""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp
from sympy.core.function import AppliedUndef

from symbolic.answer import Answer
from symbolic.decide import holds, is_continuous, is_zero, sign_of
from symbolic.derivation import Checked, Step
from symbolic.flow_rules import summed_over_heads
from symbolic.notation import H, h, lam, strengths
from symbolic.positivity import Sign
from symbolic.region import EVERYWHERE, Range, Region


def separate(before: sp.Eq, after: sp.Eq, reason: str) -> Step:
    """Return a step from ``rate(x) = F(x)`` to ``T = integral of dx/F`` between two values of x.

    A solution of ``x' = F(x)`` passes from a value to another in that time where F has the sign of
    the difference on the way; else it never arrives (cited: separation of variables, and that
    solutions do not cross an equilibrium). The step says nothing of which is the case. Checked: the
    integrand is the reciprocal of the rate, which is not zero. The left side is a new name for the
    time, of all that the ends of the integral depend on.
    """

    def check() -> Checked:
        time, integral = after.lhs, after.rhs
        if not isinstance(time, AppliedUndef) or not isinstance(integral, sp.Integral):
            return Checked(Answer.NO, "not an integral with a new name")
        if len(integral.limits) != 1 or len(integral.limits[0]) != 3 or len(before.lhs.args) < 1:
            return Checked(Answer.NO, "not one integral between two ends")
        variable, *ends = integral.limits[0]
        moving = before.lhs.args[-1]
        if not isinstance(moving, sp.Symbol) or any(end.has(variable) for end in ends):
            return Checked(Answer.NO, "the rate is not one of a moving number")
        if variable != moving and before.rhs.has(variable):
            return Checked(Answer.NO, "the variable of the integral is in the rate already")
        if not {*ends[0].free_symbols, *ends[1].free_symbols} <= time.free_symbols:
            return Checked(Answer.NO, "the name lacks what the ends depend on")
        # A rate that vanishes identically has no reciprocal.
        same = before.rhs != 0 and 1 / integral.function == before.rhs.subs(moving, variable)
        return Checked(
            Answer.YES if same else Answer.NO,
            "the integrand is the reciprocal of the rate; where that has one sign on the way",
        )

    names = after.lhs if isinstance(after.lhs, AppliedUndef) else None
    return Step("separate variables", before, after, reason, check, names=names)


def named_value(
    before: sp.Eq, after: sp.Eq, outer: Callable[[sp.Expr], sp.Expr], reason: str
) -> Step:
    """Return a step from ``T = value`` to a new name for a function of T, with the value put in.

    Checked: the right side is that function of the value. The left side is the new name.
    """

    def check() -> Checked:
        new = isinstance(after.lhs, AppliedUndef) and isinstance(before, sp.Eq)
        same = new and after.rhs == outer(before.rhs)
        return Checked(Answer.YES if same else Answer.NO, "a name for a function of the value")

    names = after.lhs if isinstance(after.lhs, AppliedUndef) else None
    return Step("name", before, after, reason, check, names=names)


def same_slope(
    before: sp.Eq,
    after: sp.Eq,
    variable: sp.Symbol,
    base: sp.Expr,
    reason: str,
    region: Region = EVERYWHERE,
) -> Step:
    """Return a step to another expression with the same derivative, equal at one point.

    Checked: the derivatives in ``variable`` agree on the region, which is an interval in it; the
    right sides agree where ``variable`` is ``base``, in the interval or at its end; both are
    continuous on the region, integrands too. Sums over heads may differ by a factor without the
    strength, and are taken not to vanish where they divide: that is for the statement to say.
    """

    def check() -> Checked:
        if before.lhs != after.lhs:
            return Checked(Answer.NO, "not the same left side")
        sides = (before.rhs, after.rhs)
        slopes = [sp.diff(side, variable) for side in sides]
        if any(slope.has(sp.Derivative, sp.Integral) for slope in slopes):
            return Checked(Answer.UNDECIDED, "a derivative is left")
        if not _is_in(base, variable, region):
            return Checked(Answer.UNDECIDED, f"{base} is not shown to be where {variable} lives")
        if not all(_runs_smoothly(side, variable, region) for side in sides):
            return Checked(Answer.UNDECIDED, "a side is not shown to be continuous")
        difference = _without_sums(slopes[0] - slopes[1], region)
        first, second = (_without_empty_integrals(side.subs(variable, base)) for side in sides)
        at_base = _without_sums(first - second, region)
        answers = (is_zero(difference, region), is_zero(at_base, region))
        answer = next((a for a in answers if a is not Answer.YES), Answer.YES)
        return Checked(answer, f"derivative in {variable}, zero test; equal at {variable} = {base}")

    return Step("same derivative", before, after, reason, check)


def _is_in(base: sp.Expr, variable: sp.Symbol, region: Region) -> bool:
    """Tell whether a point is shown to lie where a symbol lives, or at an end of that."""
    r = region.get(variable, Range())
    bounds = [] if r.lower is None else [sp.Ge(base, r.lower, evaluate=False)]
    bounds += [] if r.upper is None else [sp.Le(base, r.upper, evaluate=False)]
    return all(holds(bound, region) is Answer.YES for bound in bounds)


def _runs_smoothly(side: sp.Expr, variable: sp.Symbol, region: Region) -> bool:
    """Tell whether a side is shown to be continuous, and its integrands in the variable."""
    integrals = side.atoms(sp.Integral)
    parts = [side.xreplace({integral: sp.Dummy("part", real=True) for integral in integrals})]
    for integral in integrals:
        ((running, low, high),) = integral.limits
        parts += [low, high]
        # The end that moves runs over what the integrand is asked for.
        for end in (low, high):
            if end.has(variable):
                parts.append(integral.function.subs(running, end))
    return all(_is_continuous(part, region) for part in parts)


def _is_continuous(expression: sp.Expr, region: Region) -> bool:
    """Tell whether an expression is continuous, sums over heads taken for positive numbers."""
    named = {node: sp.Dummy("sum", positive=True) for node in expression.atoms(sp.Sum)}
    named |= {
        node: sp.Dummy("Ei", real=True)
        for node in expression.atoms(sp.Ei)
        if sign_of(node.args[0], region).is_strict
    }
    return is_continuous(expression.xreplace(named), region)


def limit_at_infinity(
    before: sp.Eq,
    after: sp.Eq,
    term: sp.Expr,
    variable: sp.Symbol,
    reason: str,
    region: Region,
) -> Step:
    """Return a step from a logarithm, an integral up to ``s``, to the limit of the number.

    The integrand is ``sum(term at 0)/sum(term at e^-s) - 1``, the sums over heads. Checked: that
    form; that the term is positive and has a continuous derivative on the region, where its
    variable goes from 0 to 1. So the integrand is O(e^-s), and the integral converges.

    Args:
        before: ``name(s) = integral from 0 to s``.
        after: a new name for the limit, and the exponential of the integral from 0 to infinity.
        term: what one head of strength ``lam`` contributes, as a function of ``variable``.
        variable: stands for ``e^-s``.
        reason: what the limit is.
        region: where the term is to be positive and smooth.
    """

    def check() -> Checked:
        integral = before.rhs
        limit = after.rhs.args[0] if isinstance(after.rhs, sp.exp) else None
        if not isinstance(integral, sp.Integral) or not isinstance(limit, sp.Integral):
            return Checked(Answer.NO, "not an integral and the exponential of another")
        ((running, low, high),) = integral.limits
        if before.lhs.args != (high,) or limit.limits != (sp.Tuple(running, low, sp.oo),):
            return Checked(Answer.NO, "not the same integral with the upper end at infinity")
        free = after.rhs.free_symbols - {H} - summed_over_heads(lam).free_symbols
        if term.has(running) or not free <= after.lhs.free_symbols:
            return Checked(Answer.NO, "the name lacks what the limit depends on")
        total = summed_over_heads(term.subs(variable, 0))
        decaying = summed_over_heads(term.subs(variable, sp.exp(-running)))
        if low != 0 or integral.function != limit.function:
            return Checked(Answer.NO, "not the same integrand from 0 on")
        form = _without_sums(integral.function - (total / decaying - 1), region)
        answer = is_zero(form, region)
        if answer is not Answer.YES:
            return Checked(answer, "the integrand is not of the form that converges")
        ends = (region[variable].lower, region[variable].upper)
        smooth = is_continuous(sp.diff(term, variable), region) and ends == (0, 1)
        positive = sign_of(term, region) is Sign.POSITIVE
        closed = smooth and positive
        return Checked(
            Answer.YES if closed else Answer.UNDECIDED,
            "the term is positive and smooth up to e^-s = 0: the integrand is O(e^-s)",
        )

    return Step("limit", before, after, reason, check, names=after.lhs)


def _without_empty_integrals(expression: sp.Expr) -> sp.Expr:
    """Return an expression with zero for integrals between equal ends."""
    empty = {i: sp.S.Zero for i in expression.atoms(sp.Integral) if _is_empty(i)}
    return expression.xreplace(empty)


def _is_empty(integral: sp.Integral) -> bool:
    return all(len(limits) == 3 and limits[1] == limits[2] for limits in integral.limits)


def _without_sums(expression: sp.Expr, region: Region) -> sp.Expr:
    """Return an expression with symbols for its sums over heads.

    Sums whose terms agree up to a factor without the strength get the same symbol, times it.
    """
    named: list[tuple[sp.Expr, sp.Symbol]] = []
    replacements: dict[sp.Sum, sp.Expr] = {}
    for total in sorted(expression.atoms(sp.Sum), key=sp.default_sort_key):
        term = _term(total)
        if term is None:
            continue
        for known, symbol in named:
            factor = _factor(term, known, region)
            if factor is not None:
                replacements[total] = factor * symbol
                break
        else:
            named.append((term, sp.Dummy("sum", real=True)))
            replacements[total] = named[-1][1]
    return expression.xreplace(replacements)


def _term(total: sp.Sum) -> sp.Expr | None:
    """Return the term in the strength of one head, None for a sum that is not over all heads."""
    if total.limits != summed_over_heads(lam).limits or total.atoms(sp.Indexed) != {strengths[h]}:
        return None
    strength = sp.Dummy("strength", real=True)
    term = total.function.subs(strengths[h], strength)
    # A free strength beside those of the heads would be taken for one of them.
    return None if term.has(lam) else term.xreplace({strength: lam})


def _factor(term: sp.Expr, known: sp.Expr, region: Region) -> sp.Expr | None:
    """Return what a term is times another, if that does not depend on the strength."""
    if is_zero(term - known, region) is Answer.YES:
        return sp.S.One
    for strength in (sp.S.One, sp.S.NegativeOne):
        here, there = term.subs(lam, strength), known.subs(lam, strength)
        if is_zero(there, region) is Answer.NO and not there.has(sp.zoo, sp.nan):
            factor = here / there
            if is_zero(term - factor * known, region) is Answer.YES:
                return factor
    return None
