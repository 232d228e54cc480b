"""Expressions kept as their author wrote them, for printing in the declared order."""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp


def written(build: Callable[[], sp.Expr]) -> sp.Expr:
    """Return the expression that ``build`` writes, unevaluated, with terms in the written order.

    Sums and products are flattened, so that ``a + b + c`` is one sum of three terms.
    """
    with sp.evaluate(False):
        return _flattened(sp.sympify(build()))


def _flattened(expression: sp.Expr) -> sp.Expr:
    if expression.is_Atom:
        return expression
    arguments = [_flattened(argument) for argument in expression.args]
    if expression.is_Add or expression.is_Mul:
        kind = sp.Add if expression.is_Add else sp.Mul
        parts: list[sp.Expr] = []
        for argument in arguments:
            parts += argument.args if isinstance(argument, kind) else [argument]
        return kind(*parts, evaluate=False)
    return expression.func(*arguments)
