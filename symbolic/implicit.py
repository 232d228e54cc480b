"""Functions given by an equation: the one root of an increasing residual, or of a concave one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import sympy as sp

from symbolic.region import Region


@dataclass(frozen=True)
class Implicit:
    """An equation with exactly one root beyond a bound.

    Either the slope of the residual is at least 1 beyond the bound, where it tends to minus
    infinity; or the residual is concave beyond the bound, as far as it is real, and the root is
    where it turns from positive to negative. A concave function does that at one point at most.

    Attributes:
        variable: the unknown.
        arguments: the symbols that the residual depends on besides the unknown.
        residual: vanishes at the root.
        lower: the bound.
        start: an expression close to the root and beyond the bound, where Newton's method starts;
            for a concave residual not below the root, so that it converges.
        region: where the arguments live.
        concave: whether the residual is concave beyond the bound.
        upper: where the unknown's domain ends; None if it does not.
    """

    variable: sp.Symbol
    arguments: tuple[sp.Symbol, ...]
    residual: sp.Expr
    lower: sp.Rational
    start: sp.Expr
    region: Region
    concave: bool = False
    upper: sp.Expr | None = None

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
