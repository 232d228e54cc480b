"""The rate of attention entropy for any scores: ``dS/dt = -beta^2 Cov_p(s, s')`` (Thm 27).

With ``w_j = e^(beta s_j)`` and the sums ``Z = sum w_j``, ``B = sum w_j s_j``, ``A = sum w_j s_j'``
and ``C = sum w_j s_j s_j'`` everything is a function of these four, for any number of tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import sympy as sp

from symbolic.answer import Answer
from symbolic.decide import is_zero
from symbolic.derivation import Checked, Derivation, Premise, Step
from symbolic.notation import beta, n
from symbolic.region import Region, above, at_least
from symbolic.rules import equation, substitute

Z = sp.Symbol("Z", positive=True)
"""Sum of the weights."""
A, B, C, D = sp.symbols("A B C D", real=True)
"""Sums of w_j s_j', of w_j s_j, of w_j s_j s_j' and of w_j s_j^2 (for the variance)."""

COVARIANCE = C / Z - A * B / Z**2
"""Cov_p(s, s') for p_j = w_j/Z."""
RATE = -(beta**2) * COVARIANCE
"""dS/dt as stated."""

_t, _s, _rate = sp.symbols("t s r", real=True)
_score = sp.Function("s", real=True)(_t)
_weight = sp.exp(beta * _s)
_TERMS = {Z: _weight, A: _weight * _rate, B: _weight * _s, C: _weight * _s * _rate}
_total = sp.Symbol("z", positive=True)
"""Z where it divides a term: the same for all terms."""

_j = sp.Symbol("j", integer=True, positive=True)
entropy = sp.Function("S")
entropy_rate = sp.Function("dS")
slope_of_weights, slope_of_scored = sp.Function("dZ"), sp.Function("dB")
_share = sp.Function("p")(_j)
_weights, _scores = sp.Function("w")(_j), sp.Function("s")(_j)
_REGION = Region({beta: at_least(0), Z: above(0)})


@dataclass(frozen=True)
class Statement:
    """The parts of the identity, in beta and the sums.

    Attributes:
        rate: dS/dt.
        entropy: S in Z and B.
        weights: dZ/dt.
        scored: dB/dt.
    """

    rate: sp.Expr = RATE
    entropy: sp.Expr = sp.log(Z) - beta * B / Z
    weights: sp.Expr = beta * A
    scored: sp.Expr = A + beta * C

    @cached_property
    def result(self) -> sp.Eq:
        """Return ``dS/dt = rate``."""
        return equation(entropy_rate(), self.rate)


def derivation(statement: Statement) -> Derivation:
    """Return the derivation of dS/dt from ``S = -sum_j p_j ln p_j``, ``p_j = w_j/Z``."""
    definition = equation(entropy(), sp.Sum(-_share * sp.log(_share), (_j, 1, n)))
    in_sums = equation(entropy(), statement.entropy)
    weights = equation(slope_of_weights(), statement.weights)
    scored = equation(slope_of_scored(), statement.scored)
    all_weights = equation(Z, sp.Sum(_weights, (_j, 1, n)))
    all_scored = equation(B, sp.Sum(_weights * _scores, (_j, 1, n)))
    chain = equation(
        entropy_rate(),
        sp.diff(statement.entropy, Z) * slope_of_weights()
        + sp.diff(statement.entropy, B) * slope_of_scored(),
    )
    share = _weight / _total
    # The entropy's own form has Z both as a sum and as a divisor, the same in all terms.
    form = (Z * sp.log(_total) - beta * B) / _total
    return Derivation(
        "the rate of attention entropy for any scores",
        "softmax",
        (
            Premise(definition, "definition of the entropy, p_j = e^(beta s_j)/Z"),
            Premise(all_weights, "a name for the sum of the weights"),
            Premise(all_scored, "a name for the sum of the weighted scores"),
            Premise(chain, "chain rule: S is a function of Z and B"),
        ),
        (
            termwise(
                definition,
                in_sums,
                -share * sp.log(share),
                form,
                "ln p_j = beta s_j - ln Z",
            ),
            termwise(all_weights, weights, slope(_weight), weights.rhs, "w_j' = beta w_j s_j'"),
            termwise(
                all_scored,
                scored,
                slope(_weight * _s),
                scored.rhs,
                "(w_j s_j)' = w_j s_j' + beta w_j s_j s_j'",
            ),
            substitute(
                chain,
                statement.result,
                "put in the slopes of the sums",
                using=(weights, scored),
                region=_REGION,
            ),
        ),
    )


def termwise(before: sp.Eq, after: sp.Eq, term: sp.Expr, combination: sp.Expr, reason: str) -> Step:
    """Return a step from a finite sum to a combination of the sums Z, A, B and C.

    Finite sums are linear, and are differentiated term by term. Checked: the combination is linear
    in the sums, with coefficients in beta and the common divisor z; with the general term of each
    sum in its place it is the general term of the sum before; and the right side after is the
    combination with Z for z.

    Args:
        before: the sum, for the reader.
        after: the value of the sum, or of its slope.
        term: the general term in s and its rate r, or its slope.
        combination: what stands on the right after, with z where Z divides.
        reason: what is done to the term.
    """

    def check() -> Checked:
        sums = (Z, A, B, C)
        polynomial = sp.Poly(sp.expand(combination), *sums)
        if any(sum(powers) != 1 for powers in polynomial.monoms()):
            return Checked(Answer.NO, "not linear in the sums")
        if not combination.free_symbols <= {*sums, beta, _total}:
            return Checked(Answer.NO, "a coefficient differs from term to term")
        if is_zero(combination.subs(_total, Z) - after.rhs, _REGION) is not Answer.YES:
            return Checked(Answer.NO, "the right side is not that combination")
        answer = is_zero(term - combination.subs(_TERMS, simultaneous=True))
        return Checked(answer, "zero test of the general term; a finite sum is linear")

    return Step("term by term", before, after, reason, check)


def slope(term: sp.Expr) -> sp.Expr:
    """Return the derivative along t of a term in s, in s and its rate r."""
    moved = sp.diff(term.subs(_s, _score), _t)
    return moved.subs(sp.Derivative(_score, _t), _rate).subs(_score, _s)
