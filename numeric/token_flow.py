"""The flow of n tokens under any heads, on the sphere and flat, at any precision and in float64.

On the sphere the velocity is ``v - (<x,v>/<x,x>) x``. For unit tokens it is the projection of the
model, ``v - <x,v> x``, and it keeps every length as it is, whatever rounding has made of it: the
projection itself would let lengths drift away from 1 where ``<x,v> < 0``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import arb, arb_mat

from numeric.balls import exact_ball
from numeric.heads import HeadMatrix, Heads, nearest_float
from numeric.simulation import Array

# On the sphere exponents up to this size stay clear of overflow.
_SAFE_EXPONENT = 300

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class TokenFlow:
    """The right-hand side of the flow of n tokens.

    Attributes:
        model: ``softmax``, ``unnormalised`` or ``relu``.
        heads: the heads.
        beta: inverse temperature, exact, at least 0; relu does not use it.
        n: number of tokens.
        flat: whether tokens leave the sphere (``x_i' = v_i``).
        active: for relu, which scores (H, n, n) count; None for those that are positive.
    """

    model: str
    heads: Heads
    beta: Fraction
    n: int
    flat: bool = False
    active: Mask | None = None

    @property
    def d(self) -> int:
        """Return the dimension."""
        return self.heads.d

    @cached_property
    def beta_float(self) -> float:
        """Return the inverse temperature in float64."""
        return nearest_float(self.beta)

    def float_images(self, tokens: Any, matrices: tuple[HeadMatrix, ...]) -> list[Any]:
        """Return the images of the tokens (..., n, d) under the matrix of each head."""
        return [matrix.float_images(tokens) for matrix in matrices]

    def float_scores(self, tokens: Any) -> list[Any]:
        """Return the scores ``<x_i, M_h x_j>`` of each head, (..., n, n)."""
        if self.heads.strengths is not None:
            gram = tokens @ np.swapaxes(tokens, -1, -2)
            return [strength * gram for strength in self.heads.strength_floats]
        images = self.float_images(tokens, self.heads.scores)
        return [tokens @ np.swapaxes(image, -1, -2) for image in images]

    def float_weights(self, scores: list[Any]) -> list[Any]:
        """Return the weights of token j in the aggregate of token i, by head, (..., n, n)."""
        if self.model == "relu":
            active = [score.real > 0 for score in scores] if self.active is None else self.active
            return [score * mask for score, mask in zip(scores, active, strict=True)]
        if self.model == "unnormalised":
            return [np.exp(self.beta_float * score) for score in scores]
        weights = []
        for score in scores:
            exponents = self.beta_float * score
            # Taking away the largest real part changes nothing, but keeps clear of overflow.
            exponents = exponents - exponents.real.max(axis=-1, keepdims=True)
            weight = np.exp(exponents)
            weights.append(weight / weight.sum(axis=-1, keepdims=True))
        return weights

    def float_aggregates(self, tokens: Any) -> list[Any]:
        """Return the aggregates ``f_i^h`` of each head, (..., n, d)."""
        weights = self.float_weights(self.float_scores(tokens))
        images = self.float_images(tokens, self.heads.values)
        return [weight @ image for weight, image in zip(weights, images, strict=True)]

    def float_rates(self, tokens: Any) -> Any:
        """Return the rates ``x_i'`` of tokens (..., n, d), real or complex."""
        if self.heads.strengths is None:
            velocity = sum(self.float_aggregates(tokens))
        else:
            # Scalar heads share the images: their weights can be added first.
            velocity = self._float_mixture(tokens @ np.swapaxes(tokens, -1, -2)) @ tokens
        if self.model != "softmax":
            velocity = velocity / self.n
        if self.flat:
            return velocity
        shadows = _inner(tokens, velocity) / _inner(tokens, tokens)
        return velocity - shadows[..., None] * tokens

    def _float_mixture(self, gram: Any) -> Any:
        """Return the sum over scalar heads of strength times weights, (..., n, n)."""
        strengths = self.heads.strength_floats
        if self.model == "relu":
            weights = self.float_weights([strength * gram for strength in strengths])
            return sum(s * weight for s, weight in zip(strengths, weights, strict=True))
        total: Any = None
        for strength in strengths:
            weight = (self.beta_float * strength) * gram
            if self.model == "softmax":
                if self.flat or abs(self.beta_float * strength) > _SAFE_EXPONENT:
                    weight -= weight.real.max(axis=-1, keepdims=True)
                np.exp(weight, out=weight)
                weight *= strength / weight.sum(axis=-1, keepdims=True)
            else:
                np.exp(weight, out=weight)
                weight *= strength
            total = weight if total is None else np.add(total, weight, out=total)
        return total

    def float_field(self, states: Any) -> Any:
        """Return the rates of states (m, n d)."""
        tokens = states.reshape(len(states), self.n, self.d)
        return self.float_rates(tokens).reshape(states.shape)

    def ball_images(self, tokens: arb_mat, matrices: tuple[HeadMatrix, ...]) -> list[arb_mat]:
        """Return the images of the tokens under the matrix of each head, n by d."""
        return [matrix.ball_images(tokens) for matrix in matrices]

    def ball_scores(self, tokens: arb_mat) -> list[list[arb]]:
        """Return the scores ``<x_i, M_h x_j>`` of each head, row by row."""
        if self.heads.strengths is not None:
            gram = (tokens * tokens.transpose()).entries()
            factors = [exact_ball(strength) for strength in self.heads.strengths]
            return [[factor * entry for entry in gram] for factor in factors]
        images = self.ball_images(tokens, self.heads.scores)
        return [(tokens * image.transpose()).entries() for image in images]

    def ball_weights(self, scores: list[list[arb]]) -> list[list[arb]]:
        """Return the weights of token j in the aggregate of token i, by head, row by row."""
        if self.model == "relu":
            zero = arb(0)
            if self.active is None:
                return [[score.max(zero) for score in head] for head in scores]
            flags = self.active.reshape(len(scores), -1).tolist()
            return [
                [score if flag else zero for score, flag in zip(head, row, strict=True)]
                for head, row in zip(scores, flags, strict=True)
            ]
        beta = exact_ball(self.beta)
        weights = [[(beta * score).exp() for score in head] for head in scores]
        return [self._shares(head) for head in weights] if self.model == "softmax" else weights

    def _shares(self, weights: list[arb]) -> list[arb]:
        """Return weights divided by the sum of their row."""
        factors = [1 / ball_sum(row) for row in ball_rows(weights, self.n)]
        return [weight * factors[i // self.n] for i, weight in enumerate(weights)]

    def ball_aggregates(self, tokens: arb_mat) -> list[arb_mat]:
        """Return the aggregates ``f_i^h`` of each head, n by d."""
        weights = self.ball_weights(self.ball_scores(tokens))
        images = self.ball_images(tokens, self.heads.values)
        return [arb_mat(self.n, self.n, w) * v for w, v in zip(weights, images, strict=True)]

    def ball_rates(self, tokens: arb_mat) -> list[arb]:
        """Return the rates ``x_i'`` of n tokens, row by row."""
        if self.heads.strengths is None:
            parts = self.ball_aggregates(tokens)
            velocity = sum(parts[1:], parts[0])
        else:
            # Scalar heads share the images: their weights can be added first.
            weights = self.ball_weights(self.ball_scores(tokens))
            factors = [exact_ball(strength) for strength in self.heads.strengths]
            total = [factors[0] * weight for weight in weights[0]]
            for factor, head in zip(factors[1:], weights[1:], strict=True):
                total = [a + factor * b for a, b in zip(total, head, strict=True)]
            velocity = arb_mat(self.n, self.n, total) * tokens
        if self.model != "softmax":
            velocity = velocity / self.n
        rates = velocity.entries()
        return rates if self.flat else self._tangential(tokens.entries(), rates)

    def _tangential(self, tokens: list[arb], velocity: list[arb]) -> list[arb]:
        """Return ``v_i - (<x_i,v_i>/<x_i,x_i>) x_i``, row by row."""
        rates: list[arb] = []
        for x, v in zip(ball_rows(tokens, self.d), ball_rows(velocity, self.d), strict=True):
            shadow = ball_inner(x, v) / ball_inner(x, x)
            rates += [b - shadow * a for a, b in zip(x, v, strict=True)]
        return rates

    def ball_field(self, state: Sequence[arb]) -> list[arb]:
        """Return the rates of a state of n d numbers."""
        return self.ball_rates(arb_mat(self.n, self.d, state))

    def float_score_rates(self, tokens: Array, rates: Array) -> list[Array]:
        """Return ``d<x_i, M_h x_j>/dt`` of each head for tokens moving at given rates."""
        images = self.float_images(tokens, self.heads.scores)
        moved = self.float_images(rates, self.heads.scores)
        return [
            rates @ np.swapaxes(image, -1, -2) + tokens @ np.swapaxes(change, -1, -2)
            for image, change in zip(images, moved, strict=True)
        ]

    def ball_score_rates(self, tokens: arb_mat, rates: arb_mat) -> list[list[arb]]:
        """Return ``d<x_i, M_h x_j>/dt`` of each head, row by row, at given rates."""
        images = self.ball_images(tokens, self.heads.scores)
        moved = self.ball_images(rates, self.heads.scores)
        return [
            (rates * image.transpose() + tokens * change.transpose()).entries()
            for image, change in zip(images, moved, strict=True)
        ]


def _inner(u: Any, v: Any) -> Any:
    """Return inner products over the last axis, without conjugates."""
    return np.einsum("...i,...i->...", u, v)


def ball_rows(entries: Sequence[arb], length: int) -> list[Sequence[arb]]:
    """Return consecutive pieces of a list, all of the same length."""
    return [entries[i : i + length] for i in range(0, len(entries), length)]


def ball_sum(terms: Sequence[arb]) -> arb:
    """Return the sum of at least one ball."""
    return sum(terms[1:], terms[0])


def ball_inner(u: Sequence[arb], v: Sequence[arb]) -> arb:
    """Return the inner product of two vectors."""
    return ball_sum([a * b for a, b in zip(u, v, strict=True)])
