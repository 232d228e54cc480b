"""Rules that speak of the flow itself: symmetry among tokens, additivity over heads."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import sympy as sp
from sympy.core.function import AppliedUndef

from symbolic.answer import Answer
from symbolic.decide import is_zero
from symbolic.derivation import Checked, Step
from symbolic.notation import H, h, lam, n, strengths
from symbolic.region import EVERYWHERE, Range, Region


def symmetric(
    before: sp.Eq,
    after: sp.Eq,
    rates: Callable[[int], Sequence[sp.Expr]],
    reason: str,
    region: Region = EVERYWHERE,
) -> Step:
    """Return a step that says that a quantity of a pair of tokens is the same for all pairs.

    The flow does not know the tokens' names: exchanging tokens exchanges the quantities. Two pairs
    are related in at most two ways, with or without a token in common, and both occur among four
    tokens; the check computes all pairs of three and of four tokens from the definition.

    Args:
        before: the definition of the quantity for one pair.
        after: the equation between the quantities of two pairs.
        rates: the quantities of all pairs of so many tokens.
        reason: what it is good for.
        region: where the parameters live.
    """

    def check() -> Checked:
        for size in (3, 4):
            first, *others = rates(size)
            for other in others:
                answer = is_zero(first - other, region)
                if answer is not Answer.YES:
                    return Checked(answer, f"two pairs of {size} tokens differ")
        return Checked(Answer.YES, "all pairs of three and of four tokens agree")

    return Step("symmetry", before, after, reason, check)


def additive(
    before: sp.Eq,
    after: sp.Eq,
    quantity: Callable[[list[sp.Expr]], sp.Expr],
    reason: str,
    region: Region = EVERYWHERE,
    *,
    tokens: int = 3,
) -> Step:
    """Return a step from one head of strength ``lam`` to the sum over all heads.

    The velocity of the flow is a sum with one term for each head, and the quantity is linear in it.
    The check confirms that the result is that sum, that the quantity of one head is the term, and
    that of two heads the sum of the two, from the definition at so many tokens.

    Args:
        before: the quantity under one head, on its right side.
        after: the sum over heads, on its right side; on its left a new name for the quantity.
        quantity: takes strengths, returns the quantity from the definition.
        reason: why it is additive.
        region: where the parameters live; the strengths where ``lam`` does.
        tokens: the number of tokens for which ``quantity`` is computed.
    """

    def check() -> Checked:
        if not isinstance(after.lhs, AppliedUndef):
            return Checked(Answer.NO, "the sum is not given a new name")
        if after.rhs != summed_over_heads(before.rhs):
            return Checked(Answer.NO, "not the sum over heads of the term of one head")
        first, second = sp.symbols("lam_1 lam_2", real=True)
        there = region.get(lam, Range())
        wider = region.having({first: there, second: there})
        both = quantity([first, second]) - quantity([first]) - quantity([second])
        single = quantity([lam]) - before.rhs.subs(n, tokens)
        answers = (is_zero(both, wider), is_zero(single, region))
        answer = next((a for a in answers if a is not Answer.YES), Answer.YES)
        return Checked(answer, f"at {tokens} tokens one head gives the term, two heads the sum")

    names = after.lhs if isinstance(after.lhs, AppliedUndef) else None
    return Step("sum over heads", before, after, reason, check, names=names)


def summed_over_heads(term: sp.Expr) -> sp.Sum:
    """Return the sum over heads of a term in the strength ``lam`` of one head, in its order."""
    return sp.Sum(_of_head(term), (h, 1, H))


def _of_head(term: sp.Expr) -> sp.Expr:
    """Return a term with the strength of head h for ``lam``; what was left as written, stays so."""
    if term == lam:
        return strengths[h]
    if not term.has(lam):
        return term
    arguments = [_of_head(argument) for argument in term.args]
    with sp.evaluate(term.func(*term.args) == term):
        return term.func(*arguments)
