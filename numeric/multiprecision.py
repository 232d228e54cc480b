"""mpmath as the second method: the formula's printed form, in a context of its own.

Not certified: it serves to cross-check the balls, which evaluate another form with another library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import sympy as sp
from mpmath.ctx_mp import MPContext

from numeric.walk import bind_equation, converted, walk
from symbolic.implicit import Implicit

# Longest piece of an integral in one quadrature; the fields vary over a unit of the logit.
_PIECE = 6


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

    def integral(self, node: sp.Expr, ends: Sequence[Any], bindings: Mapping[Any, Any]) -> Any:
        if not isinstance(node, sp.Integral):
            raise NotImplementedError("mpmath takes the printed form")
        mp, (lower, upper) = self.context, ends

        def integrand(x: Any) -> Any:
            return walk(node.function, {**bindings, node.limits[0][0]: x}, self)

        if upper is None:
            return self._up_to_infinity(integrand, lower)
        pieces = max(1, int(mp.ceil(abs(upper - lower) / _PIECE)))
        return mp.quad(integrand, mp.linspace(lower, upper, pieces + 1))

    def _up_to_infinity(self, integrand: Callable[[Any], Any], lower: Any) -> Any:
        """Return the integral of what decays exponentially, piece by piece until one is nothing."""
        mp, total = self.context, self.context.zero
        while True:
            piece = mp.quad(integrand, [lower, lower + _PIECE])
            total, lower = total + piece, lower + _PIECE
            if abs(piece) <= mp.eps * abs(total):
                return total


def mpmath_value(expression: sp.Expr, bindings: Mapping[sp.Symbol, Any], digits: int) -> Any:
    """Return an mpf of an expression at ``digits`` working digits; cancellation is not watched."""
    context = MPContext()
    context.dps = digits
    arithmetic = _Multiprecision(context)
    return walk(expression, converted(bindings, arithmetic), arithmetic)
