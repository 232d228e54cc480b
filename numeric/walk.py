"""One walk over a SymPy expression, for every arithmetic: exact, balls, mpmath, float64.

A formula is written once; the arithmetics below give it a value each in its own way.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, reduce
from typing import Any, Protocol, runtime_checkable

import sympy as sp

from symbolic.implicit import Implicit, ImplicitFunction
from symbolic.passage import PassageTime


class Arithmetic(Protocol):
    """What a walk needs of a kind of number."""

    def rational(self, value: Fraction) -> Any:
        """Return a rational number."""

    def power(self, base: Any, exponent: int) -> Any:
        """Return an integer power."""

    def function(self, name: str, argument: Any) -> Any:
        """Return ``sqrt``, ``exp``, ``log``, ``asinh``, ... of an argument."""

    def larger(self, first: Any, second: Any) -> Any:
        """Return the larger of two numbers."""

    def implicit(self, definition: Implicit, arguments: Sequence[Any]) -> Any:
        """Return the root of an implicit equation at given arguments; see `bind_equation`."""


@runtime_checkable
class Integrating(Arithmetic, Protocol):
    """An arithmetic that can also do something about integrals."""

    def integral(
        self, node: sp.Integral | PassageTime, ends: Sequence[Any], bindings: Mapping[Any, Any]
    ) -> Any:
        """Return an integral from its lower to its upper end, None for an infinite one.

        The ends of a time of passage are its arguments.
        """


def walk(expression: sp.Expr, bindings: Mapping[sp.Symbol, Any], arithmetic: Arithmetic) -> Any:
    """Return the value of an expression in an arithmetic.

    Args:
        expression: sums, products, rational powers and elementary functions of the bound symbols,
            and sums over heads, which run over the list that an indexed symbol is bound to.
        bindings: a number of the arithmetic for each symbol, a sequence for an indexed one.
        arithmetic: the arithmetic.

    Raises:
        NotImplementedError: for a kind of expression without a rule.
    """
    known: dict[sp.Basic, Any] = dict(bindings)

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
        if isinstance(node, sp.Sum) and node.atoms(sp.Indexed):
            return reduce(operator.add, over_heads(node))
        if isinstance(node, sp.Max) and len(node.args) == 2:
            return arithmetic.larger(*(value(argument) for argument in node.args))
        if isinstance(node, ImplicitFunction):
            return arithmetic.implicit(node.definition, [value(a) for a in node.args])
        if isinstance(node, PassageTime | sp.Integral) and isinstance(arithmetic, Integrating):
            ends = node.args if isinstance(node, PassageTime) else node.limits[0][1:]
            values = [None if end is sp.oo else value(end) for end in ends]
            return arithmetic.integral(node, values, bindings)
        if isinstance(node, sp.Function) and len(node.args) == 1:
            return arithmetic.function(node.func.__name__, value(node.args[0]))
        raise NotImplementedError(f"no numeric rule for {type(node).__name__}: {node}")

    def over_heads(node: sp.Sum) -> list[Any]:
        (strength,) = node.function.atoms(sp.Indexed)
        return [
            walk(node.function, {**bindings, strength: number}, arithmetic)
            for number in bindings[strength.base]
        ]

    def power(base: sp.Expr, exponent: sp.Expr) -> Any:
        if exponent.is_Integer:
            return arithmetic.power(value(base), int(exponent))
        if exponent.is_Rational and exponent.q == 2:
            return arithmetic.power(arithmetic.function("sqrt", value(base)), int(exponent.p))
        raise NotImplementedError(f"no numeric rule for the power {exponent}")

    return value(expression)


def converted(bindings: Mapping[sp.Symbol, Any], arithmetic: Arithmetic) -> dict[sp.Symbol, Any]:
    """Return exact bindings, fractions or tuples of them, as numbers of an arithmetic."""
    return {
        symbol: tuple(arithmetic.rational(v) for v in value)
        if isinstance(value, tuple)
        else arithmetic.rational(value)
        for symbol, value in bindings.items()
    }


@dataclass(frozen=True)
class BoundEquation:
    """An implicit equation at given arguments, in one arithmetic.

    Attributes:
        residual: a function of the unknown that vanishes at the root.
        slope: its derivative.
        start: a number close to the root.
        lower: the bound beyond which there is one root.
        concave: whether the root is where a concave residual turns negative, see `Implicit`.
    """

    residual: Callable[[Any], Any]
    slope: Callable[[Any], Any]
    start: Any
    lower: Any
    concave: bool = False


def bind_equation(
    definition: Implicit, arguments: Sequence[Any], arithmetic: Arithmetic
) -> BoundEquation:
    """Return an equation at given arguments; what lacks the unknown is computed once."""
    bound = dict(zip(definition.arguments, arguments, strict=True))

    def of_unknown(expression: sp.Expr) -> Callable[[Any], Any]:
        body, parts = _without_parts(expression, definition.variable)
        known = bound | {symbol: walk(part, bound, arithmetic) for symbol, part in parts}
        return lambda x: walk(body, {**known, definition.variable: x}, arithmetic)

    return BoundEquation(
        of_unknown(definition.residual),
        of_unknown(definition.slope if definition.concave else _factored(definition.slope)),
        walk(definition.start, bound, arithmetic),
        walk(definition.lower, bound, arithmetic),
        definition.concave,
    )


@cache
def _factored(slope: sp.Expr) -> sp.Expr:
    """Return a slope in fewer operations, which also makes for narrower balls."""
    return sp.factor(slope)


@cache
def _without_parts(
    expression: sp.Expr, variable: sp.Symbol
) -> tuple[sp.Expr, tuple[tuple[sp.Symbol, sp.Expr], ...]]:
    """Return an expression with symbols for its largest parts without the variable, and these."""

    def parts(node: sp.Expr) -> list[sp.Expr]:
        if node.is_Atom:
            return []
        if not node.has(variable):
            return [node]
        return [part for argument in node.args for part in parts(argument)]

    named = {part: sp.Dummy() for part in parts(expression)}
    return expression.xreplace(named), tuple((symbol, part) for part, symbol in named.items())
