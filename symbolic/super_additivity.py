"""Super-additivity of the early rate: the family of lists that refutes it (Thm 22)."""

from __future__ import annotations

from functools import cache

import sympy as sp

from symbolic.derivation import Derivation, Premise
from symbolic.notation import H, n
from symbolic.region import Region, above, at_least
from symbolic.rules import consequence, equation, rewrite
from symbolic.written import written

x = sp.Symbol("x", positive=True)
"""beta times the mean strength."""
advantage = sp.Function("advantage")
"""beta times the early rate of H equal heads, less that of H - 1 equal ones and one of strength 0,
of the same total."""
SYMBOL = advantage(H, n, x)

REGION = Region({H: at_least(2), n: at_least(2), x: above(0)})

EXPRESSION = written(
    lambda: (
        2
        * H
        * x
        * (sp.exp(x + x / (H - 1)) - sp.exp(x))
        / ((sp.exp(x) + n - 1) * (sp.exp(x + x / (H - 1)) + n - 1))
    )
)


def scaled_rate(score: sp.Expr) -> sp.Expr:
    """Return ``beta phi(lambda)`` at ``score = beta lambda`` (formula rate)."""
    return 2 * score / (sp.exp(score) + n - 1)


@cache
def derivation(candidate: sp.Expr = EXPRESSION) -> Derivation:
    """Return the derivation that equal strengths win against a list with a vanishing one.

    The ``H - 1`` other strengths of the list are ``H/(H-1)`` times the mean, so both rates are the
    total strength divided by an increasing function: the equal list has the smaller exponent.
    """
    definition = equation(
        SYMBOL, H * scaled_rate(x) - (H - 1) * scaled_rate(H * x / (H - 1)) - scaled_rate(0)
    )
    closed = equation(SYMBOL, candidate)
    return Derivation(
        "equal strengths against a list with one strength 0, early rates",
        "softmax",
        (Premise(definition, "formula rate, at lambda = x/beta"),),
        (
            rewrite(definition, closed, "the same total in both numerators", REGION),
            consequence(
                closed,
                sp.Gt(SYMBOL, 0, evaluate=False),
                "x + x/(H-1) > x, for every mean",
                REGION,
            ),
        ),
    )
