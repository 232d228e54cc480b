"""A head's energy when heads are not orthogonal: cross terms and what outweighs them (Thm 39)."""

from __future__ import annotations

import sympy as sp

from symbolic.derivation import Derivation, Premise
from symbolic.energy_balance import (
    HEAD_ENERGY,
    Conditions,
    energy_rate,
    i,
    k,
    power,
    shadow,
)
from symbolic.general_flow import local_sums
from symbolic.notation import H, h, n
from symbolic.region import Region, at_least, between
from symbolic.rules import consequence, equation

cross = sp.Function("cross")
"""sum_{h' != h} <f_i^h, f_i^h'>."""
APPROXIMATE = equation(
    energy_rate(h),
    sp.Sum(
        power(i, h) ** 2
        - shadow(i, h) * (sp.Sum(shadow(i, k), (k, 1, H)) - shadow(i, h))
        + cross(i, h),
        (i, 1, n),
    )
    / n**3,
)
"""dE_h/dt for heads that need not be orthogonal: `cross_derivation`."""


_excess, _allowance, _cross = sp.symbols("m d c", real=True)
left_over = sp.Function("term")
"""One term of dE_h/dt."""
NOT_NEGATIVE = sp.Ge(left_over(_excess, _allowance, _cross), 0, evaluate=False)


def cross_derivation(
    conditions: Conditions, sign: int = 1, share: sp.Rational = sp.S.One
) -> Derivation:
    """Return the derivation of ``dE_h/dt`` with the cross terms of other heads (Thm 39).

    And of the sign of one term, ``share d + m + c``: ``d = delta |u_i^h| sum |u_i^h'|``, m what the
    condition with ``share d`` leaves, c the cross terms, at most d in size.

    Args:
        conditions: what is assumed.
        sign: the sign of the cross terms.
        share: the part of d that the condition asks for.
    """

    def difference(tokens: int, heads: int) -> sp.Expr:
        flow = conditions.flow(tokens, heads)
        stated = sp.S.Zero
        for token in range(tokens):
            own = flow.aggregate(token, 0)
            stated += flow.power(token, 0)
            for other in range(1, heads):
                stated -= flow.shadow(token, 0) * flow.shadow(token, other)
                stated += sign * flow.space.inner(own, flow.aggregate(token, other))
        return flow.energy_rate(0) - stated / sp.Integer(tokens) ** 3

    term = equation(
        left_over(_excess, _allowance, _cross), share * _allowance + _excess + sign * _cross
    )
    region = Region(
        {
            _excess: at_least(0),
            _allowance: at_least(0),
            _cross: between(-_allowance, _allowance),
        }
    )
    return Derivation(
        "dE_h/dt along the flow, heads not orthogonal",
        conditions.setting,
        (
            Premise(HEAD_ENERGY, "definition of a head's energy"),
            Premise(term, "one term under the condition, with Cauchy-Schwarz: -d <= c <= d"),
        ),
        (
            local_sums(
                HEAD_ENERGY,
                APPROXIMATE,
                difference,
                "the chain rule along the flow: three sums over tokens, one over the other heads",
                tokens=3,
                heads=2,
            ),
            consequence(term, NOT_NEGATIVE, "the condition outweighs the cross terms", region),
        ),
    )
