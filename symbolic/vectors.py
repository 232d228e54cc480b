"""Formal vectors: linear combinations of named vectors with a given Gram matrix.

An identity that holds for formal vectors holds in every dimension in which such vectors exist.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp


@dataclass(frozen=True)
class Space:
    """Named vectors, known by their inner products: a symmetric SymPy matrix, size m by m."""

    gram: sp.ImmutableMatrix

    def basis(self, index: int) -> tuple[sp.Expr, ...]:
        """Return the named vector with the given index (from 0) as its coefficients."""
        return tuple(sp.Integer(int(k == index)) for k in range(self.gram.rows))

    def inner(self, u: tuple[sp.Expr, ...], v: tuple[sp.Expr, ...]) -> sp.Expr:
        """Return the inner product ``<u, v>`` by bilinearity."""
        return sp.Add(
            *(
                u[j] * v[k] * self.gram[j, k]
                for j in range(len(u))
                for k in range(len(v))
                if u[j] != 0 and v[k] != 0
            )
        )

    def projected(self, x: tuple[sp.Expr, ...], u: tuple[sp.Expr, ...]) -> tuple[sp.Expr, ...]:
        """Return ``P_x u = u - <x, u> x`` (the projection of section 1; x is meant to be unit)."""
        shadow = self.inner(x, u)
        return tuple(b - shadow * a for a, b in zip(x, u, strict=True))


def combined(
    coefficients: list[sp.Expr], vectors: list[tuple[sp.Expr, ...]]
) -> tuple[sp.Expr, ...]:
    """Return the linear combination of vectors with the given coefficients."""
    return tuple(
        sp.Add(*(c * vector[k] for c, vector in zip(coefficients, vectors, strict=True)))
        for k in range(len(vectors[0]))
    )
