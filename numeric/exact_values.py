"""Exact rational values of expressions, where they have one that is plain to see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import gmpy2
import sympy as sp

from numeric.walk import walk
from symbolic.implicit import Implicit


class NotRationalError(ArithmeticError):
    """The value is not seen to be rational."""


# Where a function is known to be rational: argument and value.
_KNOWN = {"exp": (0, 1), "log": (1, 0), "log1p": (0, 0), "asinh": (0, 0), "LambertW": (0, 0)}


class _Rational:
    """Rational arithmetic that gives up at the first number it cannot keep exact."""

    def rational(self, value: Fraction) -> Fraction:
        return value

    def power(self, base: Fraction, exponent: int) -> Fraction:
        return base**exponent

    def function(self, name: str, argument: Fraction) -> Fraction:
        if name == "sqrt" and argument >= 0:
            roots = [gmpy2.isqrt_rem(gmpy2.mpz(k)) for k in argument.as_integer_ratio()]
            if all(rest == 0 for _, rest in roots):
                return Fraction(int(roots[0][0]), int(roots[1][0]))
        at, value = _KNOWN.get(name, (None, None))
        if value is None or argument != at:
            raise NotRationalError(name)
        return Fraction(value)

    def larger(self, first: Fraction, second: Fraction) -> Fraction:
        return max(first, second)

    def implicit(self, definition: Implicit, arguments: Sequence[Fraction]) -> Fraction:
        raise NotRationalError("root of an equation")

    def integral(self, node: sp.Expr, ends: Sequence[Any], bindings: Mapping[Any, Any]) -> Fraction:
        raise NotRationalError("integral")


def rational_value(expression: sp.Expr, bindings: Mapping[sp.Symbol, Any]) -> Fraction | None:
    """Return the value if it is rational by exact roots and the values exp(0), log(1) and the like.

    None says nothing: the value may be rational all the same.
    """
    try:
        result = walk(expression, bindings, _Rational())
    except NotRationalError:
        return None
    assert isinstance(result, Fraction)
    return result
