"""What radial shadows do to a head's energy: Condition 8, and the smallest witness (Thm 17)."""

from __future__ import annotations

import sympy as sp

from symbolic.derivation import Derivation, Premise
from symbolic.notation import beta
from symbolic.region import Region, above, at_least, between
from symbolic.rules import consequence, equation, rewrite

_HALF = sp.Rational(1, 2)

_p, _r, _up, _down = sp.symbols("p r u v", real=True)
_REGION = Region({_p: at_least(0), _r: at_least(0), _up: at_least(0), _down: at_least(0)})
excess = sp.Function("excess")
"""(|f| sum |a^h'|)^2 - (a sum a^h')^2 at one token."""
_SHADOWS = (_up + _down) / 2
_SIGNED = (_up - _down) / 2
EXCESS = (_p + _r) * _SHADOWS**2 - _r * _SIGNED**2
"""Condition 8 as fixed: the length of the whole aggregate, |f|^2 = p + r."""
SHARP_EXCESS = _r * _SHADOWS**2 - _r * _SIGNED**2
"""Sharp Condition 8: the length of the radial part."""
LITERAL_EXCESS = _SHADOWS**2 - _r * _SIGNED**2
"""The literal reading: no length of the head's own."""
DOMINATES = sp.Ge(excess(_p, _r, _up, _down), 0, evaluate=False)
"""|f| sum |a^h'| is at least |a sum a^h'|, in squares of numbers that are not negative."""


def dominance_derivation(bound: sp.Expr = EXCESS) -> Derivation:
    """Return the derivation of ``|a sum a^h'| <= |f| sum |a^h'|`` at one token (Condition 8).

    ``p = |P f|^2 >= 0`` and ``r = a^2 = <f, x>^2``, so that ``|f|^2 = p + r`` for a unit token; u
    and v are the sums of ``|a^h'| + a^h'`` and of ``|a^h'| - a^h'`` over the other heads, neither
    negative. Both sides are compared by their squares.
    """
    definition = equation(excess(_p, _r, _up, _down), bound)
    return Derivation(
        "the shadows' term is bounded by the left side of Condition 8",
        "unnormalised, spherical",
        (Premise(definition, "|f|^2 = |P f|^2 + <f, x>^2 for a unit token x"),),
        (consequence(definition, DOMINATES, "every coefficient is positive", _REGION),),
    )


shadow_rate = sp.Function("dE_1")
"""dE_1/dt of one token under e_1 e_1^T and e_2 e_2^T, by beta and the share p = c^2."""
_share = sp.Symbol("p", real=True)
_SIDES = (
    (between(0, _HALF, lower_open=True, upper_open=True), sp.Lt),
    (between(_HALF, 1, lower_open=True, upper_open=True), sp.Gt),
)


def smallest_rate(share: sp.Expr) -> sp.Expr:
    """Return ``dE_1/dt`` of one token (c, s), ``c^2 = share``, from the model (Thm 17)."""
    c, s = sp.sqrt(share), sp.sqrt(1 - share)
    # f^1 = exp(beta c^2) c e_1 and f^2 = exp(beta s^2) s e_2, and E_1 = exp(beta c^2)/(2 beta).
    first, second = sp.exp(beta * c**2) * c, sp.exp(beta * s**2) * s
    radial = first * c + second * s
    return sp.exp(beta * c**2) * c * (first - radial * c)


def smallest_relation(side: int) -> sp.Rel:
    """Return the sign of ``dE_1/dt`` for a share below (side 0) or above (side 1) one half."""
    return _SIDES[side][1](shadow_rate(beta, _share), 0, evaluate=False)


def smallest_derivation(side: int, candidate: sp.Expr | None = None) -> Derivation:
    """Return the derivation of the sign of ``dE_1/dt`` for shares on one side of one half.

    ``dE_1/dt = p (1-p) e^(beta p) (e^(beta p) - e^(beta (1-p)))``, for every beta > 0: negative if
    and only if ``0 < c^2 < s^2`` (it is zero at p = 0, 1/2 and 1).

    Args:
        side: 0 for shares below one half, 1 for shares above.
        candidate: another closed form to try.
    """
    wanted = _share * (1 - _share) * sp.exp(2 * beta * _share)
    closed = wanted * (1 - sp.exp(beta * (1 - 2 * _share))) if candidate is None else candidate
    region = Region({beta: above(0), _share: _SIDES[side][0]})
    definition = equation(shadow_rate(beta, _share), smallest_rate(_share))
    after = equation(shadow_rate(beta, _share), closed)
    return Derivation(
        "the smallest witness: one token, two rank-one heads",
        "unnormalised, spherical",
        (Premise(definition, "aggregates, velocity and energy from their definitions"),),
        (
            rewrite(definition, after, "the factors", region),
            consequence(after, smallest_relation(side), "the sign of 1 - 2p decides", region),
        ),
    )
