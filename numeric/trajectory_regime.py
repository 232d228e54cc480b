"""Scalar heads at equiangular tokens, exact, and states along their trajectories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from numeric.balls import exact_ball
from symbolic.errors import InputError
from symbolic.flow import Model
from symbolic.parameter import INVERSE_TEMPERATURE, MODEL, START, STRENGTHS, TOKENS, shortened


class TooCoarseError(ArithmeticError):
    """The precision in force does not suffice."""


class TooLateError(ArithmeticError):
    """A trajectory comes too close to an end for numbers of reasonable length."""


MOST_GROWTH = 1e9
"""Largest growth of a logit, up to which exponents stay short enough to be written."""


@dataclass(frozen=True)
class Regime:
    """Scalar heads and the overlap that equiangular tokens start from; all numbers exact.

    Attributes:
        model: one of the three models.
        strengths: one for each head.
        beta: inverse temperature; None where it was left out under relu, whose flow is without it.
        n: number of tokens.
        start: overlap at time 0, in (-1/(n-1), 1).
    """

    model: Model
    strengths: tuple[Fraction, ...]
    beta: Fraction | None
    n: int
    start: Fraction

    @classmethod
    def read(cls, model: object, lam: object, beta: object, n: object, start: object) -> Regime:
        """Return the regime of parameters as they are given.

        Raises:
            InputError: for values that are not exact or outside their domains.
        """
        chosen, tokens = Model(MODEL.read(model)), int(TOKENS.read(n))
        strengths, first = STRENGTHS.read(lam), START.read(start)
        if not Fraction(-1, tokens - 1) < first < 1:
            raise InputError(
                f"{START.name}: {shortened(first)} is outside its domain: {START.domain}"
            )
        if beta is None and chosen is not Model.RELU:
            raise InputError(f"beta: none given; the model {chosen} needs one, real >= 0")
        warmth = None if beta is None else INVERSE_TEMPERATURE.read(beta)
        return cls(chosen, strengths, warmth, tokens, first)

    @property
    def end(self) -> Fraction:
        """Return the largest gap ``1 - gamma``, n/(n-1)."""
        return Fraction(self.n, self.n - 1)

    @property
    def counts(self) -> Mapping[Fraction, int]:
        """Return how many heads have which strength, those of strength zero left out."""
        return Counter(strength for strength in self.strengths if strength != 0)

    def odds(self, overlap: Fraction) -> Fraction:
        """Return the exponential of the logit of an overlap."""
        return (1 + (self.n - 1) * overlap) / (1 - overlap)

    @property
    def drive(self) -> Fraction:
        """Return the sum of the squares of the strengths that act under relu.

        They are those with the sign of gamma, which never changes.
        """
        acts = {x: k for x, k in self.counts.items() if x * self.start > 0}
        return sum((k * x**2 for x, k in acts.items()), Fraction(0))


@dataclass(frozen=True)
class State:
    """The overlap at a time, told from three places: balls, each good relative to its own size.

    Attributes:
        gamma: the overlap.
        gap: ``1 - gamma``.
        rise: ``(1 + (n-1) gamma)/(n-1)``, the distance from the lower end of the domain.
    """

    gamma: arb
    gap: arb
    rise: arb

    @classmethod
    def at(cls, regime: Regime, overlap: Fraction) -> State:
        """Return the state at an exact overlap, at the precision in force."""
        parts = (overlap, 1 - overlap, overlap + Fraction(1, regime.n - 1))
        return cls(*map(exact_ball, parts))

    @property
    def accuracy(self) -> int:
        """Return the number of bits that are right in all three, relatively."""
        return min(
            ball.rel_accuracy_bits()
            for ball in (self.gamma, self.gap, self.rise)
            if not ball.is_zero()
        )
