"""One walk over a SymPy expression, for every arithmetic: exact, balls, mpmath, float64.

A formula is written once; the arithmetics below give it a value each in its own way.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Protocol

import sympy as sp


class Arithmetic(Protocol):
    """What a walk needs of a kind of number."""

    def rational(self, value: Fraction) -> Any:
        """Return a rational number."""

    def power(self, base: Any, exponent: int) -> Any:
        """Return an integer power."""

    def function(self, name: str, argument: Any) -> Any:
        """Return ``sqrt``, ``exp``, ``log``, ``asinh``, ... of an argument."""


def walk(expression: sp.Expr, bindings: Mapping[sp.Symbol, Any], arithmetic: Arithmetic) -> Any:
    """Return the value of an expression in an arithmetic.

    Args:
        expression: sums, products, rational powers and elementary functions of the bound symbols.
        bindings: a number of the arithmetic for each symbol.
        arithmetic: the arithmetic.

    Raises:
        NotImplementedError: for a kind of expression without a rule.
    """
    known: dict[sp.Expr, Any] = dict(bindings)

    def value(node: sp.Expr) -> Any:
        if node not in known:
            known[node] = compute(node)
        return known[node]

    def compute(node: sp.Expr) -> Any:
        if node.is_Rational:
            return arithmetic.rational(Fraction(int(node.p), int(node.q)))
        if node.is_Add or node.is_Mul:
            parts = [value(argument) for argument in node.args]
            total = parts[0]
            for part in parts[1:]:
                total = total + part if node.is_Add else total * part
            return total
        if isinstance(node, sp.Pow):
            return power(node.base, node.exp)
        if isinstance(node, sp.Function) and len(node.args) == 1:
            return arithmetic.function(node.func.__name__, value(node.args[0]))
        raise NotImplementedError(f"no numeric rule for {type(node).__name__}: {node}")

    def power(base: sp.Expr, exponent: sp.Expr) -> Any:
        if exponent.is_Integer:
            return arithmetic.power(value(base), int(exponent))
        if exponent.is_Rational and exponent.q == 2:
            return arithmetic.power(arithmetic.function("sqrt", value(base)), int(exponent.p))
        raise NotImplementedError(f"no numeric rule for the power {exponent}")

    return value(expression)
