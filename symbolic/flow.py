"""The models, word for word: aggregates, velocities and energies of scalar heads.

Everything is computed from the definitions (section 1 of the mathematics) for given numbers of
tokens and heads, with symbolic overlaps, strengths and inverse temperature. Closed forms for every
n are derived elsewhere and compared with these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import sympy as sp

from symbolic.vectors import Space, combined

Vector = tuple[sp.Expr, ...]


class Model(StrEnum):
    """The three models of attention."""

    UNNORMALISED = "unnormalised"
    SOFTMAX = "softmax"
    RELU = "relu"


@dataclass(frozen=True)
class ScalarFlow:
    """Scalar heads ``M_h = V_h = lambda_h I`` acting on tokens with a given Gram matrix.

    Attributes:
        model: one of the three models.
        gram: overlaps ``<x_i, x_j>``, n by n, ones on the diagonal.
        strengths: one strength per head.
        beta: inverse temperature.
    """

    model: Model
    gram: sp.ImmutableMatrix
    strengths: tuple[sp.Expr, ...]
    beta: sp.Expr

    @property
    def space(self) -> Space:
        """Return the space spanned by the tokens."""
        return Space(self.gram)

    @property
    def n(self) -> int:
        """Return the number of tokens."""
        return int(self.gram.rows)

    def weights(self, i: int, h: int) -> list[sp.Expr]:
        """Return the weights of the tokens j in the aggregate of token i under head h."""
        scores = [self.strengths[h] * self.gram[i, j] for j in range(self.n)]
        if self.model is Model.RELU:
            return [sp.Max(0, score) for score in scores]
        weights = [sp.exp(self.beta * score) for score in scores]
        if self.model is Model.SOFTMAX:
            return [weight / sp.Add(*weights) for weight in weights]
        return weights

    def aggregate(self, i: int, h: int) -> Vector:
        """Return ``f_i^h``."""
        tokens = [self.space.basis(j) for j in range(self.n)]
        return combined([w * self.strengths[h] for w in self.weights(i, h)], tokens)

    def velocity(self, i: int) -> Vector:
        """Return ``v_i``: the sum of the aggregates, divided by n except under softmax."""
        heads = range(len(self.strengths))
        factor = sp.Integer(1) if self.model is Model.SOFTMAX else sp.Rational(1, self.n)
        return combined([factor for _ in heads], [self.aggregate(i, h) for h in heads])

    def token_rate(self, i: int) -> Vector:
        """Return ``x_i' = P_{x_i} v_i`` of the spherical dynamics."""
        return self.space.projected(self.space.basis(i), self.velocity(i))

    def overlap_rate(self, i: int, j: int) -> sp.Expr:
        """Return ``d<x_i, x_j>/dt``."""
        space = self.space
        return space.inner(self.token_rate(i), space.basis(j)) + space.inner(
            space.basis(i), self.token_rate(j)
        )

    def shadow(self, i: int, h: int) -> sp.Expr:
        """Return the radial shadow ``a_i^h = <f_i^h, x_i>``."""
        return self.space.inner(self.aggregate(i, h), self.space.basis(i))

    def square(self, i: int, h: int) -> sp.Expr:
        """Return ``|f_i^h|^2``."""
        return self.space.inner(self.aggregate(i, h), self.aggregate(i, h))

    def power(self, i: int, h: int) -> sp.Expr:
        """Return the tangential power ``|P f_i^h|^2``."""
        tangential = self.space.projected(self.space.basis(i), self.aggregate(i, h))
        return self.space.inner(tangential, tangential)

    def energy_rate(self, h: int) -> sp.Expr:
        """Return ``dE_h/dt`` by the chain rule from ``E_h = (1/(2 beta n^2)) sum_ij w^h_ij``."""
        n, strength = self.n, self.strengths[h]
        overlap = sp.Dummy("overlap")
        term = sp.exp(self.beta * strength * overlap) / (2 * self.beta * n**2)
        slope = sp.diff(term, overlap)
        return sp.Add(
            *(
                slope.subs(overlap, self.gram[i, j]) * self.overlap_rate(i, j)
                for i in range(n)
                for j in range(n)
            )
        )


def equiangular_gram(n: int, gamma: sp.Expr) -> sp.ImmutableMatrix:
    """Return the Gram matrix of n equiangular tokens with overlap ``gamma``."""
    return sp.ImmutableMatrix(n, n, lambda i, j: sp.S.One if i == j else gamma)


def equiangular_flow(
    model: Model, n: int, gamma: sp.Expr, strengths: Sequence[sp.Expr], beta: sp.Expr
) -> ScalarFlow:
    """Return scalar heads acting on n equiangular tokens."""
    return ScalarFlow(model, equiangular_gram(n, gamma), tuple(strengths), beta)
