"""The models word for word, in coordinates: any tokens, any score and value matrices.

The numbers may be balls, mpmath numbers or fractions; what is needed of them besides arithmetic is
an exponential, a square root and the larger of two numbers. This is the independent second leg of
the symbolic layer, which works with overlaps instead of coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from flint import arb

from numeric.balls import exact_ball

Vector = list[Any]
Matrix = Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Numbers:
    """What a kind of number must offer besides arithmetic."""

    exp: Callable[[Any], Any]
    sqrt: Callable[[Any], Any]
    larger: Callable[[Any, Any], Any]


BALLS = Numbers(arb.exp, arb.sqrt, lambda a, b: (arb(a)).max(arb(b)))
"""Balls at the precision in force."""


@dataclass(frozen=True)
class Flow:
    """Tokens under heads.

    Attributes:
        model: ``unnormalised``, ``softmax`` or ``relu``.
        tokens: n unit vectors with d coordinates each.
        scores: H score matrices, d by d.
        values: H value matrices, d by d.
        beta: inverse temperature.
        numbers: functions of the kind of number in use.
    """

    model: str
    tokens: Sequence[Vector]
    scores: Sequence[Matrix]
    values: Sequence[Matrix]
    beta: Any
    numbers: Numbers = BALLS

    @cached_property
    def _aggregates(self) -> dict[tuple[int, int], Vector]:
        """Return the aggregates computed so far."""
        return {}

    @property
    def n(self) -> int:
        """Return the number of tokens."""
        return len(self.tokens)

    @cached_property
    def _scored(self) -> list[list[Vector]]:
        """Return ``M_h x_j`` for each head and token."""
        return [[applied(score, y) for y in self.tokens] for score in self.scores]

    @cached_property
    def _valued(self) -> list[list[Vector]]:
        """Return ``V_h x_j`` for each head and token."""
        return [[applied(value, y) for y in self.tokens] for value in self.values]

    def weights(self, i: int, h: int) -> list[Any]:
        """Return the weight of each token j in the aggregate of token i under head h."""
        x = self.tokens[i]
        scores = [inner(x, image) for image in self._scored[h]]
        if self.model == "relu":
            return [self.numbers.larger(score, score * 0) for score in scores]
        weights = [self.numbers.exp(self.beta * score) for score in scores]
        if self.model == "softmax":
            total = sum(weights[1:], weights[0])
            return [weight / total for weight in weights]
        return weights

    def aggregate(self, i: int, h: int) -> Vector:
        """Return ``f_i^h``."""
        if (i, h) not in self._aggregates:
            self._aggregates[i, h] = combined(self.weights(i, h), self._valued[h])
        return self._aggregates[i, h]

    def velocity(self, i: int) -> Vector:
        """Return ``v_i``: the sum of the aggregates, divided by n except under softmax."""
        total = combined([1] * len(self.scores), [self.aggregate(i, h) for h in self.heads])
        return total if self.model == "softmax" else [c / self.n for c in total]

    @property
    def heads(self) -> range:
        """Return the indices of the heads."""
        return range(len(self.scores))

    def token_rates(self) -> list[Vector]:
        """Return ``x_i' = P_{x_i} v_i`` for all i."""
        return [tangential(x, self.velocity(i)) for i, x in enumerate(self.tokens)]

    def overlap_rate(self, i: int, j: int) -> Any:
        """Return ``d<x_i, x_j>/dt`` of the spherical dynamics."""
        x, y = self.tokens[i], self.tokens[j]
        rates = (tangential(x, self.velocity(i)), tangential(y, self.velocity(j)))
        return inner(rates[0], y) + inner(x, rates[1])

    def shadow(self, i: int, h: int) -> Any:
        """Return the radial shadow ``a_i^h``."""
        return inner(self.aggregate(i, h), self.tokens[i])

    def power(self, i: int, h: int) -> Any:
        """Return the tangential power ``|P f_i^h|^2``."""
        part = tangential(self.tokens[i], self.aggregate(i, h))
        return inner(part, part)

    def cosine(self, i: int, h: int) -> Any:
        """Return ``cos(f_i^h, x_i)``; the aggregate must not vanish."""
        f = self.aggregate(i, h)
        return inner(f, self.tokens[i]) / self.numbers.sqrt(inner(f, f))

    def condition_8_margin(self, i: int, h: int, *, sharp: bool = False) -> Any:
        """Return ``|P f|^2 - |f| sum |a^h'|`` (``|a|`` for ``|f|`` if sharp): >= 0 iff it holds."""
        f = self.aggregate(i, h)
        left = abs(self.shadow(i, h)) if sharp else self.numbers.sqrt(inner(f, f))
        others = sum((abs(self.shadow(i, k)) for k in self.heads if k != h), left * 0)
        return self.power(i, h) - left * others

    def energy_rate(self, h: int) -> Any:
        """Return ``dE_h/dt`` along the spherical flow, by the chain rule from ``E_h``."""
        rates = self.token_rates()
        moved = [applied(self.scores[h], rate) for rate in rates]
        total = self.beta * 0
        for i, x in enumerate(self.tokens):
            for j, image in enumerate(self._scored[h]):
                weight = self.numbers.exp(self.beta * inner(x, image))
                total = total + weight * (inner(rates[i], image) + inner(x, moved[j]))
        return total / (2 * self.n**2)


def inner(u: Vector, v: Vector) -> Any:
    """Return the inner product of two vectors of the same length."""
    products = [a * b for a, b in zip(u, v, strict=True)]
    return sum(products[1:], products[0])


def applied(matrix: Matrix, vector: Vector) -> Vector:
    """Return matrix times vector."""
    return [inner(list(row), vector) for row in matrix]


def combined(coefficients: Sequence[Any], vectors: Sequence[Vector]) -> Vector:
    """Return the linear combination of vectors."""
    columns = list(zip(*vectors, strict=True))
    return [inner(list(coefficients), list(column)) for column in columns]


def tangential(x: Vector, u: Vector) -> Vector:
    """Return ``P_x u = u - <x, u> x``."""
    shadow = inner(x, u)
    return [b - shadow * a for a, b in zip(x, u, strict=True)]


def scalar_heads(strengths: Sequence[Any], dimension: int) -> list[Matrix]:
    """Return ``lambda_h I`` for each strength, d by d."""
    return [
        [[s if row == column else s * 0 for column in range(dimension)] for row in range(dimension)]
        for s in strengths
    ]


def scalar_flow(
    model: str,
    tokens: Sequence[Vector],
    strengths: Sequence[Any],
    beta: Any,
    numbers: Numbers = BALLS,
) -> Flow:
    """Return tokens under scalar heads ``M_h = V_h = lambda_h I``."""
    heads = scalar_heads(strengths, len(tokens[0]))
    return Flow(model, tokens, heads, heads, beta, numbers)


def equiangular_tokens(n: int, gamma: Fraction) -> list[Vector]:
    """Return n equiangular unit vectors of R^n as balls at the precision in force.

    They are ``a e_i + b (1, ..., 1)`` with ``a = sqrt(1 - gamma)`` and
    ``b = (sqrt(1 + (n-1) gamma) - a)/n``.
    """
    a = exact_ball(1 - gamma).sqrt()
    b = (exact_ball(1 + (n - 1) * gamma).sqrt() - a) / n
    return [[a + b if k == i else b for k in range(n)] for i in range(n)]


def rational_unit_vector(parameters: Sequence[Fraction]) -> list[Fraction]:
    """Return a unit vector with rational coordinates: inverse stereographic projection."""
    square = sum((t * t for t in parameters), Fraction(0))
    return [*(2 * t / (square + 1) for t in parameters), (square - 1) / (square + 1)]
