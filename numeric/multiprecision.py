"""mpmath as the second method: the formula's printed form, in a context of its own.

Not certified: it serves to cross-check the balls, which evaluate another form with another library.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import sympy as sp
from mpmath.ctx_mp import MPContext

from numeric.walk import bind_equation, converted, walk
from symbolic.implicit import Implicit


class _Multiprecision:
    """Arithmetic of mpmath in one context."""

    def __init__(self, context: Any) -> None:
        self.context = context

    def rational(self, value: Fraction) -> Any:
        return self.context.mpf(value.numerator) / value.denominator

    def power(self, base: Any, exponent: int) -> Any:
        return base**exponent

    def function(self, name: str, argument: Any) -> Any:
        return getattr(self.context, name.lower())(argument)

    def larger(self, first: Any, second: Any) -> Any:
        return max(first, second)

    def implicit(self, definition: Implicit, arguments: Sequence[Any]) -> Any:
        equation = bind_equation(definition, arguments, self)
        x = equation.start
        for _ in range(self.context.prec):
            step = equation.residual(x) / equation.slope(x)
            x -= step
            if abs(step) <= abs(x) * self.context.eps * 16:
                break
        return x


def mpmath_value(expression: sp.Expr, bindings: Mapping[sp.Symbol, Any], digits: int) -> Any:
    """Return an mpf of an expression at ``digits`` working digits; cancellation is not watched."""
    context = MPContext()
    context.dps = digits
    arithmetic = _Multiprecision(context)
    return walk(expression, converted(bindings, arithmetic), arithmetic)
