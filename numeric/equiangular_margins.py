"""Condition 8 of scalar heads at equiangular tokens: margins whose signs are decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt
from typing import Any

import sympy as sp
from flint import arb

from numeric.balls import Balls
from numeric.exponential_sum import ExponentialSums
from numeric.rounding import Rounded, rounded_ball, rounded_rational
from numeric.walk import Arithmetic, converted, walk
from symbolic.equiangular_quantities import POWERS, SHADOWS
from symbolic.flow import Model
from symbolic.notation import beta, gamma, lam, n
from symbolic.written import written

Number = Any
"""A sum of exponentials or a ball."""

# The exact numerators have a number of terms that is exponential in the number of different
# strengths; with more of them, everything is computed in balls.
_MOST_STRENGTHS = 6

_SUM_OF_WEIGHTS = written(lambda: sp.exp(beta * lam) + (n - 1) * sp.exp(beta * lam * gamma))
"""What shadows are divided by under softmax; otherwise they are those of the unnormalised model."""


@dataclass(frozen=True)
class _Head:
    """A head at equiangular tokens, free of fractions.

    Attributes:
        shadow: the radial shadow times ``total``.
        power: the tangential power times ``total^2``.
        total: the sum of the weights under softmax, else one.
    """

    shadow: Number
    power: Number
    total: Number


@dataclass(frozen=True)
class EquiangularPoint:
    """Scalar heads at equiangular tokens, everything exact.

    Attributes:
        model: ``softmax``, ``unnormalised`` or ``relu``.
        n: number of tokens, at least 2.
        beta: inverse temperature, at least 0.
        strengths: one for each head.
        gamma: overlap of two different tokens, strictly between -1/(n-1) and 1.
    """

    model: str
    n: int
    beta: Fraction
    strengths: tuple[Fraction, ...]
    gamma: Fraction

    def condition_8_margin(
        self, strength: Fraction, digits: int, *, sharp: bool = False
    ) -> Rounded:
        """Return ``|P f|^2 - |f| sum |a^h'|`` of a head of this strength, the same at all tokens.

        The aggregates are those of the model. The sign is right: Condition 8 holds iff it is >= 0.

        Args:
            strength: one of the strengths of this point.
            digits: significant digits.
            sharp: take ``|a|`` in place of ``|f|``.

        Raises:
            UndecidedError: if the digits cannot be decided below the cap of precision, which takes
                more than six different strengths.
        """
        if strength == 0:  # no aggregate: 0 <= 0
            return Rounded("0", "0", 0)
        kind: type[_Stated | _Sharp] = _Sharp if sharp else _Stated
        if not self._is_exact:
            return rounded_ball(lambda: kind.of(self._balls, strength).margin, digits)
        exact = kind.of(self._sums, strength)
        rational = exact.rational_margin
        if rational is not None:
            return rounded_rational(rational, digits)
        return rounded_ball(lambda: exact.in_balls.margin, digits)

    @property
    def _is_exact(self) -> bool:
        """Tell whether sums of exponentials stay short."""
        few = len(set(self.strengths)) <= _MOST_STRENGTHS
        return few or self.beta == 0 or self.model == "relu"

    @cached_property
    def _sums(self) -> _Heads:
        return _Heads(self, ExponentialSums())

    @property
    def _balls(self) -> _Heads:
        """Return the quantities in balls; made anew, as they belong to the precision in force."""
        return _Heads(self, Balls())


class _Heads:
    """The quantities of a point in one kind of number."""

    def __init__(self, point: EquiangularPoint, arithmetic: Arithmetic) -> None:
        self._strengths = point.strengths
        self._arithmetic = arithmetic
        fixed = {n: Fraction(point.n), beta: point.beta, gamma: point.gamma}
        shared = point.model == Model.SOFTMAX
        model = Model.UNNORMALISED if shared else Model(point.model)
        total = _SUM_OF_WEIGHTS if shared else sp.S.One
        forms = {"shadow": SHADOWS[model], "power": POWERS[model], "total": total}
        self._heads = {}
        for strength in set(point.strengths):
            bindings = converted({**fixed, lam: strength}, arithmetic)
            self._heads[strength] = _Head(
                **{name: walk(form, bindings, arithmetic) for name, form in forms.items()}
            )

    def head(self, strength: Fraction) -> _Head:
        """Return the head of a strength."""
        return self._heads[strength]

    def other_shadows(self, strength: Fraction) -> tuple[Number, Number]:
        """Return numerator and denominator of the sum of ``|a|`` over the other heads."""
        top, bottom = self._arithmetic.rational(Fraction(0)), self._arithmetic.rational(Fraction(1))
        for other, count in self._others(strength):
            head = self._heads[other]
            shadow = abs(head.shadow) * self._arithmetic.rational(Fraction(count))
            top = top * head.total + shadow * bottom
            bottom = bottom * head.total
        return top, bottom

    def _others(self, strength: Fraction) -> Iterator[tuple[Fraction, int]]:
        counts = Counter(self._strengths)
        counts[strength] -= 1
        return ((other, count) for other, count in counts.items() if count > 0 and other != 0)


@dataclass(frozen=True)
class _Stated:
    """The margin ``(power - sqrt(square) others)/bottom``, all four >= 0.

    Attributes:
        power: the tangential power, with cleared denominators.
        others: the sum of the other shadows, likewise.
        square: ``|f|^2``, likewise.
        bottom: the denominator.
        difference: ``power^2 - square others^2``. As a sum of exponentials it is merged before it
            becomes a ball, so that no digits are lost.
    """

    power: Number
    others: Number
    square: Number
    bottom: Number
    difference: Number

    @classmethod
    def of(cls, heads: _Heads, strength: Fraction) -> _Stated:
        """Return the margin of Condition 8 as stated."""
        head = heads.head(strength)
        others, scale = heads.other_shadows(strength)
        power, others = head.power * scale, head.total * others
        square = head.shadow * head.shadow + head.power
        difference = power * power - square * others * others
        return cls(power, others, square, head.total * head.total * scale, difference)

    @property
    def margin(self) -> arb:
        """Return the margin of balls: the difference of squares over the sum."""
        total = self.power + self.square.sqrt() * self.others
        margin: arb = self.difference / (self.bottom * total)
        return margin

    @property
    def in_balls(self) -> _Stated:
        """Return the margin of sums of exponentials in balls, at the precision in force."""
        parts = (self.power, self.others, self.square, self.bottom, self.difference)
        return _Stated(*(part.ball() for part in parts))

    @property
    def rational_margin(self) -> Fraction | None:
        """Return the margin of sums of exponentials if it is plain to be rational, else None.

        It vanishes in such cases only: ``|f|^2`` has no double root as a polynomial in
        ``e^(beta lam (1-gamma))``, so it is no square of a quotient of sums of exponentials.
        """
        power, others, bottom = (
            part.as_rational for part in (self.power, self.others, self.bottom)
        )
        square = self.square.as_rational
        if None in (power, bottom):
            return None
        if others == 0:
            return Fraction(power / bottom)
        root = None if square is None else _exact_root(square)
        return (
            None if root is None or others is None else Fraction((power - root * others) / bottom)
        )


@dataclass(frozen=True)
class _Sharp:
    """The margin ``top/bottom`` of the sharp Condition 8."""

    top: Number
    bottom: Number

    @classmethod
    def of(cls, heads: _Heads, strength: Fraction) -> _Sharp:
        """Return the margin of the sharp Condition 8."""
        head = heads.head(strength)
        others, scale = heads.other_shadows(strength)
        top = head.power * scale - abs(head.shadow) * head.total * others
        return cls(top, head.total * head.total * scale)

    @property
    def margin(self) -> arb:
        """Return the margin of balls."""
        margin: arb = self.top / self.bottom
        return margin

    @property
    def in_balls(self) -> _Sharp:
        """Return the margin of sums of exponentials in balls, at the precision in force."""
        return _Sharp(self.top.ball(), self.bottom.ball())

    @property
    def rational_margin(self) -> Fraction | None:
        """Return the margin of sums of exponentials if it is plain to be rational, else None."""
        top, bottom = self.top.as_rational, self.bottom.as_rational
        if top == 0:
            return Fraction(0)
        return None if None in (top, bottom) else Fraction(top / bottom)


def _exact_root(square: Fraction) -> Fraction | None:
    """Return the root of a number >= 0 if it is rational, else None."""
    root = Fraction(isqrt(square.numerator), isqrt(square.denominator))
    return root if root * root == square else None
