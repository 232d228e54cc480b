"""Parameters of formulas: a name, a symbol, a stated domain, and exact reading of values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp

from symbolic import notation
from symbolic.errors import InputError
from symbolic.names import brief
from symbolic.numbers import exact, exact_text, read_list
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
        many: whether the value is a list, one number for each head.
        choices: the words admitted, for a parameter that is no number.
        default: the value when none is given; None for a parameter that must be given.
    """

    name: str
    symbol: sp.Symbol
    domain: str
    range: Range
    integer: bool = False
    many: bool = False
    choices: tuple[str, ...] = ()
    default: str | None = None

    def read(self, value: object) -> Any:
        """Return ``value`` exactly, checked against the domain: a number, a tuple or a word.

        Bounds that refer to other parameters are checked by the formula.

        Raises:
            InputError: for a value that is not exact or lies outside the domain.
        """
        if self.choices:
            if not isinstance(value, str) or value not in self.choices:
                accepted = " or ".join(self.choices)
                raise InputError(f"{self.name}: {brief(value)} is not accepted; give {accepted}")
            return str(value)
        if self.many:
            return tuple(self._number(item) for item in self._items(value))
        return self._number(value)

    def _items(self, value: object) -> Sequence[object]:
        """Return the items of a list: of text by the grammar, of a sequence as they are."""
        if isinstance(value, str):
            return read_list(value, self.name)
        # Mappings and sets have no order to rely on, and bytes would be read as their codes.
        items: tuple[object, ...] = (value,)
        if isinstance(value, Iterable) and not isinstance(value, Mapping | Set | bytes):
            # A NumPy array without axes is a number, though it counts as iterable.
            with suppress(TypeError):
                items = tuple(value)
        if not items:
            raise InputError(f"{self.name}: the list is empty; give one strength for each head")
        return items

    def _number(self, value: object) -> Fraction:
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
POSITIVE_TEMPERATURE = Parameter("beta", notation.beta, "real > 0", above(0))
SEVERAL_HEADS = Parameter("H", notation.H, "integer >= 2", at_least(2), integer=True)
STRENGTH = Parameter("lam", notation.lam, "real", Range())
STRENGTHS = Parameter(
    "lam", notation.strengths, "list of reals, one for each head", Range(), many=True
)
MODEL = Parameter(
    "model",
    sp.Symbol("model"),
    "softmax, unnormalised or relu",
    Range(),
    choices=("softmax", "unnormalised", "relu"),
    default="softmax",
)
COMMON_STRENGTH = Parameter("alpha", notation.alpha, "real > 0", above(0))
POSITIVE_STRENGTH = Parameter("lam", notation.lam, "real > 0", above(0))
MEAN_STRENGTH = Parameter("mean", notation.mean_strength, "real > 0", above(0))
OVERLAP = Parameter(
    "gamma",
    notation.gamma,
    "real, -1/(n-1) <= gamma <= 1",
    Range(lower=-1 / (notation.n - 1), upper=sp.S.One),
)
START = Parameter(
    "start",
    notation.start,
    "real, -1/(n-1) < start < 1",
    Range(-1 / (notation.n - 1), sp.S.One, lower_open=True, upper_open=True),
)
STOP = Parameter(
    "stop",
    notation.stop,
    "real, -1/(n-1) <= stop <= 1",
    Range(-1 / (notation.n - 1), sp.S.One),
)
POSITIVE_STRENGTHS = Parameter(
    "lam", notation.strengths, "list of reals > 0, one for each head", above(0), many=True
)
