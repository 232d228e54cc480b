"""mpmath as the second method: the formula's printed form, in a context of its own.

Not certified: it serves to cross-check the balls, which evaluate another form with another library.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sympy as sp
from mpmath.ctx_mp import MPContext

from numeric.walk import walk


class _Multiprecision:
    """Arithmetic of mpmath in one context."""

    def __init__(self, context: Any) -> None:
        self.context = context

    def rational(self, value: Fraction) -> Any:
        return self.context.mpf(value.numerator) / value.denominator

    def power(self, base: Any, exponent: int) -> Any:
        return base**exponent

    def function(self, name: str, argument: Any) -> Any:
        return getattr(self.context, name)(argument)


def mpmath_value(expression: sp.Expr, bindings: Mapping[sp.Symbol, Fraction], digits: int) -> Any:
    """Return an mpf of an expression at ``digits`` working digits; cancellation is not watched."""
    context = MPContext()
    context.dps = digits
    arithmetic = _Multiprecision(context)
    return walk(expression, {s: arithmetic.rational(v) for s, v in bindings.items()}, arithmetic)
