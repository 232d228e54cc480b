"""Sums of exponentials at exact points: whether one vanishes is decided, not estimated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NoReturn

from flint import arb

from numeric.balls import exact_ball
from numeric.rounding import until_decided
from symbolic.implicit import Implicit


class ExponentialSum:
    """A number ``sum_j c_j e^(q_j)`` with rational ``c_j`` and ``q_j``.

    Terms with the same exponent are merged, so the number is zero iff no term is left: powers of e
    with different rational exponents are linearly independent over the rationals (Lindemann and
    Weierstrass).
    """

    def __init__(self, terms: Mapping[Fraction, Fraction]) -> None:
        """Take coefficients by exponent; those that are zero are dropped."""
        self.terms = {exponent: c for exponent, c in terms.items() if c != 0}

    @classmethod
    def rational(cls, value: Fraction) -> ExponentialSum:
        """Return a rational number."""
        return cls({Fraction(0): value})

    @classmethod
    def exponential(cls, exponent: Fraction) -> ExponentialSum:
        """Return a power of e."""
        return cls({exponent: Fraction(1)})

    def __add__(self, other: ExponentialSum) -> ExponentialSum:
        terms = dict(self.terms)
        for exponent, c in other.terms.items():
            terms[exponent] = terms.get(exponent, Fraction(0)) + c
        return ExponentialSum(terms)

    def __neg__(self) -> ExponentialSum:
        return ExponentialSum({exponent: -c for exponent, c in self.terms.items()})

    def __sub__(self, other: ExponentialSum) -> ExponentialSum:
        return self + -other

    def __mul__(self, other: ExponentialSum) -> ExponentialSum:
        terms: dict[Fraction, Fraction] = {}
        for p, c in self.terms.items():
            for q, d in other.terms.items():
                terms[p + q] = terms.get(p + q, Fraction(0)) + c * d
        return ExponentialSum(terms)

    def __abs__(self) -> ExponentialSum:
        return -self if self.sign() < 0 else self

    @property
    def as_rational(self) -> Fraction | None:
        """Return the number itself if it is rational, else None."""
        if self.terms.keys() - {0}:
            return None
        return self.terms.get(Fraction(0), Fraction(0))

    def sign(self) -> int:
        """Return the sign, -1, 0 or 1.

        Raises:
            UndecidedError: if a number other than zero is too close to it for the cap of precision.
        """
        if not self.terms:
            return 0
        # The largest exponential is taken out: the sign is that of its coefficient, or near it.
        largest = max(self.terms)
        return until_decided(lambda: self._ball(largest), _sign, 1)

    def ball(self) -> arb:
        """Return a ball that encloses the number, at the precision in force."""
        return self._ball(Fraction(0))

    def _ball(self, origin: Fraction) -> arb:
        total = arb(0)
        for exponent, c in self.terms.items():
            total += exact_ball(c) * exact_ball(exponent - origin).exp()
        return total


class ExponentialSums:
    """Arithmetic of sums of exponentials, for a walk over polynomials in exponentials.

    Exponents must be rational.
    """

    def rational(self, value: Fraction) -> ExponentialSum:
        """Return a rational number."""
        return ExponentialSum.rational(value)

    def power(self, base: ExponentialSum, exponent: int) -> ExponentialSum:
        """Return a power with a positive exponent."""
        product = base
        for _ in range(exponent - 1):
            product = product * base
        return product

    def function(self, name: str, argument: ExponentialSum) -> ExponentialSum:
        """Return the exponential of a rational number."""
        exponent = argument.as_rational
        assert name == "exp"
        assert exponent is not None
        return ExponentialSum.exponential(exponent)

    def larger(self, first: ExponentialSum, second: ExponentialSum) -> ExponentialSum:
        """Return the larger of two numbers."""
        return second if (first - second).sign() < 0 else first

    def implicit(self, definition: Implicit, arguments: Sequence[ExponentialSum]) -> NoReturn:
        """Refuse roots of equations, which are no sums of exponentials."""
        raise NotImplementedError("a root is no sum of exponentials")


def _sign(ball: arb) -> int | None:
    return 1 if ball > 0 else -1 if ball < 0 else None
