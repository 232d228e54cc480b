"""Exact points at which claims about equiangular tokens under scalar heads are tried."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from numeric.balls import exact_ball
from numeric.definitions import Flow, Vector, equiangular_tokens, scalar_flow
from symbolic.notation import beta, gamma, n, strengths
from symbolic.numbers import exact_text


@dataclass(frozen=True)
class ScalarCase:
    """Equiangular tokens under scalar heads at exact parameters.

    Attributes:
        model: the model of attention.
        tokens: number of tokens.
        heads: strengths of the heads.
        temperature: inverse temperature.
        overlap: overlap of two tokens, 0 for orthonormal ones.
    """

    model: str
    tokens: int
    heads: tuple[Fraction, ...]
    temperature: Fraction
    overlap: Fraction = Fraction(0)

    def flow(self) -> Flow:
        """Return the flow in coordinates, in balls at the precision in force."""
        return self.flow_at(equiangular_tokens(self.tokens, self.overlap))

    def flow_at(self, tokens: Sequence[Vector]) -> Flow:
        """Return the flow at other tokens, balls too."""
        return scalar_flow(
            self.model,
            tokens,
            [exact_ball(strength) for strength in self.heads],
            exact_ball(self.temperature),
        )

    @property
    def bindings(self) -> dict[Any, Any]:
        """Return the parameters by symbol, for evaluation."""
        return {
            n: Fraction(self.tokens),
            beta: self.temperature,
            gamma: self.overlap,
            strengths: self.heads,
        }

    @property
    def named(self) -> dict[str, str | list[str]]:
        """Return the parameters as exact texts."""
        return {
            "model": self.model,
            "n": str(self.tokens),
            "lam": [exact_text(strength) for strength in self.heads],
            "beta": exact_text(self.temperature),
            "gamma": exact_text(self.overlap),
        }


def random_cases(
    model: str, seed: int, *, positive: bool = False, orthonormal: bool = False
) -> Iterator[ScalarCase]:
    """Yield cases with 2 to 6 tokens and one to three heads.

    Args:
        model: the model of attention.
        seed: seed of the choices.
        positive: whether all strengths are positive; else they lie between -3 and 3.
        orthonormal: whether the overlap is 0; else it is anywhere in its open interval.
    """
    source = random.Random(seed)
    for tokens in range(2, 7):
        least = 1 if positive else -30
        heads = tuple(Fraction(source.randint(least, 30), 10) for _ in range(1 + tokens % 3))
        temperature = Fraction(source.randint(1, 30), 10)
        lowest = Fraction(-1, tokens - 1)
        overlap = lowest + Fraction(source.randint(1, 99), 100) * (1 - lowest)
        yield ScalarCase(model, tokens, heads, temperature, Fraction(0) if orthonormal else overlap)
