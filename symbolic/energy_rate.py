"""The rate of a head's energy at equiangular tokens, equal scalar heads, from the definitions."""

from __future__ import annotations

from functools import cache

import sympy as sp

from symbolic.derivation import Derivation, Premise
from symbolic.flow import Model, equiangular_flow
from symbolic.notation import H, alpha, beta, gamma, n
from symbolic.region import Range, Region, above, at_least, between
from symbolic.rules import consequence, equation, instances, substitute
from symbolic.written import written

energy_rate = sp.Function("energy_rate")
SYMBOL = energy_rate(n, H, alpha, beta, gamma)
"""dE_h/dt of one of H equal scalar heads of strength alpha, spherical unnormalised flow."""

EXPRESSION = written(
    lambda: (
        H
        * alpha**2
        * sp.exp(2 * beta * alpha * gamma)
        * (n - 1)
        * (1 - gamma)
        * (1 + (n - 1) * gamma)
        / n**2
    )
)
AT_ORTHONORMAL = written(lambda: H * alpha**2 * (n - 1) / n**2)

REGION = Region(
    {
        n: at_least(2),
        H: at_least(1),
        alpha: above(0),
        beta: above(0),
        gamma: between(-1 / (n - 1), 1, lower_open=True, upper_open=True),
    }
)


@cache
def derivation(candidate: sp.Expr = EXPRESSION, *, overlaps: Range | None = None) -> Derivation:
    """Return the derivation of the rate and of its sign: positive for every beta > 0.

    Args:
        candidate: another closed form to try.
        overlaps: other overlaps than those of equiangular tokens, ``-1/(n-1) < gamma < 1``.
    """
    region = REGION if overlaps is None else REGION.having({gamma: overlaps})
    energy, time = sp.symbols("E_h t")
    definition = equation(SYMBOL, sp.Function("d")(energy) / sp.Function("d")(time))
    closed = equation(SYMBOL, candidate)
    orthonormal = equation(energy_rate(n, H, alpha, beta, 0), AT_ORTHONORMAL)

    def from_definition(tokens: int, heads: int) -> sp.Expr:
        flow = equiangular_flow(Model.UNNORMALISED, tokens, gamma, [alpha] * heads, beta)
        return flow.energy_rate(0)

    steps = (
        instances(
            definition,
            closed,
            from_definition,
            {n: 3, H: 1},
            "three sums over tokens and one over heads, divided by n^3",
            multiplier=n**3,
            region=REGION,
        ),
        substitute(
            closed, orthonormal, "orthonormal tokens", values={gamma: sp.S.Zero}, region=REGION
        ),
        consequence(closed, sp.Gt(SYMBOL, 0, evaluate=False), "every factor is positive", region),
    )
    return Derivation(
        "dE_h/dt at equiangular tokens, equal positive scalar heads",
        "unnormalised, spherical",
        (Premise(definition, "chain rule along the flow, from E_h"),),
        steps,
    )
