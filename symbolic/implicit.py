"""Functions given by an equation: the unique root of a residual that increases beyond a bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import sympy as sp

from symbolic.region import Region


@dataclass(frozen=True)
class Implicit:
    """An equation with exactly one root beyond a bound.

    Attributes:
        variable: the unknown.
        arguments: the symbols that the residual depends on besides the unknown.
        residual: vanishes at the root; its slope in the unknown is at least 1 beyond ``lower``.
        lower: the bound; the residual tends to minus infinity there.
        start: an expression close to the root and beyond the bound, where Newton's method starts.
        region: where the arguments live.
    """

    variable: sp.Symbol
    arguments: tuple[sp.Symbol, ...]
    residual: sp.Expr
    lower: sp.Rational
    start: sp.Expr
    region: Region

    @property
    def slope(self) -> sp.Expr:
        """Return the derivative of the residual in the unknown."""
        return sp.diff(self.residual, self.variable)

    @property
    def equation(self) -> sp.Eq:
        """Return ``residual = 0``."""
        return sp.Eq(self.residual, 0, evaluate=False)


class ImplicitFunction(sp.Function):  # type: ignore[misc]
    """A SymPy function whose value is the root of an `Implicit` equation at its arguments."""

    definition: ClassVar[Implicit]
