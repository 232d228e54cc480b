"""Certified evaluation of a formula: every digit right, at any parameters of its domain."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import sympy as sp

from numeric.balls import ball_value
from numeric.certified_remarks import certified_remarks
from numeric.exact_values import rational_value
from numeric.rounding import Rounded, rounded_ball, rounded_rational
from symbolic.catalogue import formula
from symbolic.errors import InputError
from symbolic.formula import Formula, SpecialCase, Values
from symbolic.names import brief
from symbolic.numbers import exact_text
from symbolic.parameter import shortened

MAX_DIGITS = 10_000


@dataclass(frozen=True)
class Value:
    """A correctly rounded value of a formula.

    Attributes:
        formula: name of the formula.
        parameters: exact texts of the parameter values, a list of them for a list.
        digits: number of significant digits asked for.
        value: the digits, rounded half to even; ``0`` for an exact zero, ``+inf`` or ``-inf`` where
            the limit is the value.
        radius: an upper bound of the error before rounding, ``0`` for an exact value.
        certified: whether the digits are proved, by exact arithmetic or balls.
        remarks: what the reader should know about this value.
    """

    formula: str
    parameters: dict[str, str | list[str]]
    digits: int
    value: str
    radius: str
    certified: bool
    remarks: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the value as plain data, with the keys of ``mhflow eval --json``."""
        return {**asdict(self), "remarks": list(self.remarks)}


def evaluate(name: str, *, digits: int = 50, **parameters: object) -> Value:
    """Return a formula's value with ``digits`` significant digits, every one right.

    Args:
        name: name of the formula, such as ``critical-beta``.
        digits: significant digits, 1 to 10,000.
        **parameters: exact values: integers, fractions or texts such as ``"0.1"``; no floats.

    Raises:
        InputError: for an unknown formula, a wrong parameter or a number of digits out of range,
            and where the formula is not defined.
        UndecidedError: if the digits cannot be decided below the cap of precision.
    """
    return evaluate_formula(formula(name), digits=digits, **parameters)


def evaluate_formula(subject: Formula, *, digits: int = 50, **parameters: object) -> Value:
    """Return the value of a `Formula` object; see `evaluate`."""
    digits = checked_digits(digits)
    values = subject.read(parameters)
    case = subject.special_case(values)
    if case is not None:
        rounded = _rounded_special(special_value(subject, case, values), digits)
        remarks = [case.remark, *certified_remarks(subject.name, values)]
    else:
        rounded = _rounded(subject.evaluation_at(values), subject.bindings(values), digits)
        remarks = subject.remarks_on(values, rounded.sign)
        if rounded.text == "+inf":
            remarks.append(subject.infinite)
    return Value(
        subject.name,
        {key: _text(value) for key, value in values.items()},
        digits,
        rounded.text,
        rounded.radius,
        True,
        tuple(remarks),
    )


def checked_digits(digits: int) -> int:
    """Return ``digits`` if it is a number of digits that can be asked for.

    Raises:
        InputError: unless it is an integer from 1 to 10,000.
    """
    try:
        count = operator.index(digits)
        text = str(digits) if isinstance(digits, bool) else shortened(Fraction(count))
    except TypeError:
        count, text = 0, brief(digits)
    if isinstance(digits, bool) or not 1 <= count <= MAX_DIGITS:
        raise InputError(f"digits: {text} is not accepted; give an integer from 1 to {MAX_DIGITS}")
    return count


def special_value(subject: Formula, case: SpecialCase, values: Values) -> sp.Expr:
    """Return the value of a special case at exact parameters.

    Raises:
        InputError: where the formula is not defined.
    """
    if case.value is None:
        why = "; ".join([case.remark, *certified_remarks(subject.name, values)])
        raise InputError(f"{subject.name}: no value at {case.condition}: {why}")
    return case.value


def _rounded_special(value: sp.Expr, digits: int) -> Rounded:
    if value.is_infinite:
        sign = 1 if value > 0 else -1
        return Rounded("+inf" if sign > 0 else "-inf", "0", sign)
    return _rounded(value, {}, digits)


def _rounded(expression: sp.Expr, bindings: Mapping[sp.Basic, Any], digits: int) -> Rounded:
    number = rational_value(expression, bindings)
    if number is not None:
        return rounded_rational(number, digits)
    return rounded_ball(lambda: ball_value(expression, bindings), digits)


def _text(value: object) -> str | list[str]:
    """Return an exact value as text, a list of them as texts, a word as it is."""
    if isinstance(value, tuple):
        return [exact_text(item) for item in value]
    return exact_text(value) if isinstance(value, Fraction) else str(value)
