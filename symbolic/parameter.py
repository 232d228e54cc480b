"""Parameters of formulas: a name, a symbol, a stated domain, and exact reading of values."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import sympy as sp

from symbolic import notation
from symbolic.errors import InputError
from symbolic.numbers import exact, exact_text
from symbolic.region import Range, above, at_least


@dataclass(frozen=True)
class Parameter:
    """A parameter of a formula.

    Attributes:
        name: name in calls and on the command line.
        symbol: the symbol it stands for in expressions.
        domain: the domain in words, such as ``integer >= 1``.
        range: the domain as a range, for exact sign arguments.
        integer: whether only integers are admitted.
    """

    name: str
    symbol: sp.Symbol
    domain: str
    range: Range
    integer: bool = False

    def read(self, value: object) -> Fraction:
        """Return ``value`` exactly, checked against the domain.

        Bounds that refer to other parameters are checked by the formula.

        Raises:
            InputError: for a value that is not exact or lies outside the domain.
        """
        number = exact(value, self.name)
        if (self.integer and number.denominator != 1) or not self._admits(number):
            raise InputError(
                f"{self.name}: {shortened(number)} is outside its domain: {self.domain}"
            )
        return number

    def _admits(self, number: Fraction) -> bool:
        lower, upper = self.range.lower, self.range.upper
        if lower is not None and lower.is_Rational:
            bound = Fraction(int(lower.p), int(lower.q))
            if number < bound or (self.range.lower_open and number == bound):
                return False
        if upper is not None and upper.is_Rational:
            bound = Fraction(int(upper.p), int(upper.q))
            if number > bound or (self.range.upper_open and number == bound):
                return False
        return True


def shortened(number: Fraction, width: int = 40) -> str:
    """Return a number as exact text, shortened in the middle to ``width`` characters."""
    text = exact_text(number)
    if len(text) <= width:
        return text
    half = (width - 3) // 2
    return f"{text[:half]}...{text[-half:]}"


TOKENS = Parameter("n", notation.n, "integer >= 2", at_least(2), integer=True)
HEADS = Parameter("H", notation.H, "integer >= 1", at_least(1), integer=True)
INVERSE_TEMPERATURE = Parameter("beta", notation.beta, "real >= 0", at_least(0))
COMMON_STRENGTH = Parameter("alpha", notation.alpha, "real > 0", above(0))
POSITIVE_STRENGTH = Parameter("lam", notation.lam, "real > 0", above(0))
OVERLAP = Parameter(
    "gamma",
    notation.gamma,
    "real, -1/(n-1) <= gamma <= 1",
    Range(lower=-1 / (notation.n - 1), upper=sp.S.One),
)
