"""Columns of parameter values: what counts as a list, and reading whole columns exactly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from fractions import Fraction
from typing import Any

import numpy as np

from symbolic.numbers import exact
from symbolic.parameter import Parameter


def is_list(given: object) -> bool:
    """Tell whether something is a list of values; text, sets and mappings are none."""
    if isinstance(given, np.ndarray):
        return given.ndim > 0
    return isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping | Set)


def exact_column(parameter: Parameter, column: Sequence[Any]) -> list[int | Fraction]:
    """Return the values of a column exactly, each in the domain of a parameter.

    Bounds that refer to other parameters are left to the caller.

    Raises:
        InputError: for a value that is not exact or lies outside the domain.
    """
    values = column.tolist() if isinstance(column, np.ndarray) else list(column)
    whole = set(map(type, values)) == {int}
    if not whole:
        values = [exact(value, parameter.name) for value in values]
    # A domain is an interval: it holds all values if it holds the least and the largest.
    parameter.read(min(values))
    parameter.read(max(values))
    if parameter.integer and not whole:
        for value in values:
            if value.denominator != 1:
                parameter.read(value)
    return values
