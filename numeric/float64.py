"""The float64 fast path: a formula on whole NumPy arrays, by name the only place for floats.

Every value carries a bound of its rounding error along. Where cancellation, overflow or underflow
makes the bound too large, the value is computed again in balls, from the same floats read exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from numeric.columns import is_list
from numeric.evaluate import evaluate_formula
from numeric.float_arithmetic import Bounded, BoundedFloats, Floats
from numeric.walk import walk
from symbolic.catalogue import formula
from symbolic.errors import InputError
from symbolic.formula import Formula, SpecialCase
from symbolic.names import brief
from symbolic.parameter import Parameter

Array = npt.NDArray[np.float64]
Column: TypeAlias = Array | tuple[Array, ...] | str
"""What is given for a parameter: numbers, one array for each head of a list, or a word."""

TOLERANCE = 1e-13
"""Relative error that no value exceeds, if NumPy's functions are right to four units."""

# Digits asked of the balls: enough that rounding them to float64 adds no second error to speak of.
_DIGITS = 25


def evaluate_float64(name: str, **parameters: Any) -> Array:
    """Return a formula's values in float64, not certified; see `TOLERANCE`.

    The few values that need balls take about half a millisecond each, the others nanoseconds; where
    a special case is decided exactly (exit-overlap, critical-spread), about 50 microseconds.

    Args:
        name: name of the formula.
        **parameters: real numbers or arrays of them that broadcast to one shape; what is not a
            float64 is rounded to the nearest one first. The first axis of a list of strengths runs
            over the heads: each of its entries is a number or an array. A model is one word.

    Returns:
        A new array of the common shape. Special cases take their values (``inf`` for a limit,
        ``nan`` where the formula is not defined); a parameter at the float nearest to an end of its
        domain is at that end.

    Raises:
        InputError: for an unknown formula, missing or unknown parameters, values that are no
            real numbers or outside the domain, and shapes that do not broadcast.
    """
    subject = formula(name)
    with np.errstate(all="ignore"):
        columns = _columns(subject, parameters)
        shape = _shape(subject, columns)
        bounded = _bounded(subject, columns)
        # Adding zero turns a negative zero into the plain one.
        result = np.array(np.broadcast_to(bounded.value + 0.0, shape), dtype=np.float64)
        close = np.isfinite(bounded.error) & (bounded.error <= TOLERANCE * abs(bounded.value))
        settled = np.array(np.broadcast_to(close, shape))
        # The first case that applies has the last word.
        for case in reversed(subject.special_cases):
            applies = _when(case, columns, shape)
            result[applies] = np.nan if case.value is None else float(case.value)
            settled |= applies
    for place in map(tuple, np.argwhere(~settled)):
        result[place] = _in_balls(subject, _point(columns, shape, place))
    return result


def _bounded(subject: Formula, columns: Mapping[str, Column]) -> Bounded:
    """Return the values with their error bounds."""
    values = {
        key: tuple(Bounded(entry, 0.0) for entry in column)
        if isinstance(column, tuple)
        else Bounded(column, 0.0)
        for key, column in columns.items()
    }
    bounded = walk(subject.evaluation_at(columns), subject.bindings(values), BoundedFloats())
    assert isinstance(bounded, Bounded)
    return bounded


def _when(case: SpecialCase, columns: Mapping[str, Column], shape: tuple[int, ...]) -> Any:
    """Tell where a special case applies; most conditions are written for numbers and arrays."""
    if not case.one_by_one:
        condition: Any = case.when
        return np.broadcast_to(condition(columns), shape)
    places = np.ndindex(shape)
    applies = [case.when(_point(columns, shape, place)) for place in places]
    return np.array(applies, dtype=bool).reshape(shape)


def _point(
    columns: Mapping[str, Column], shape: tuple[int, ...], place: tuple[Any, ...]
) -> dict[str, object]:
    """Return the exact values at one place of the common shape."""

    def exact(array: Array) -> Fraction:
        return Fraction(float(np.broadcast_to(array, shape)[place]))

    return {
        key: column
        if isinstance(column, str)
        else tuple(map(exact, column))
        if isinstance(column, tuple)
        else exact(column)
        for key, column in columns.items()
    }


def _in_balls(subject: Formula, exact: dict[str, object]) -> float:
    """Return the float64 nearest to a value, nan where the formula has none."""
    try:
        return float(evaluate_formula(subject, digits=_DIGITS, **exact).value)
    except InputError:
        return np.nan


def _columns(subject: Formula, given: Mapping[str, Any]) -> dict[str, Column]:
    """Return what is given as arrays of numbers in their domains, and words."""
    defaults = {p.name: p.default for p in subject.parameters if p.default is not None}
    filled = {**defaults, **given}
    columns = {p.name: _column(p, filled[p.name]) for p in subject.parameters if p.name in filled}
    names = [p.name for p in subject.parameters]
    optional = subject.idle.get(str(columns.get("model")), ())
    if not {*names} - {*optional} <= set(filled) <= set(names):
        raise InputError(
            f"{subject.name}: parameters {', '.join(sorted(given)) or 'none'} given; "
            f"it takes {', '.join(names)}"
        )
    _shape(subject, columns)
    by_symbol = {p.symbol: columns[p.name] for p in subject.parameters if p.name in columns}
    for parameter in subject.parameters:
        for array in _arrays(columns.get(parameter.name, ())):
            _check_domain(parameter, array, by_symbol)
    return columns


def _column(parameter: Parameter, given: Any) -> Column:
    """Return a word, an array, or one array for each head."""
    if parameter.choices:
        return str(parameter.read(given))
    if not parameter.many:
        return _array(parameter.name, given)
    entries = list(given) if is_list(given) else [given]
    if not entries:
        raise InputError(f"{parameter.name}: the list is empty; give one entry for each head")
    return tuple(_array(parameter.name, entry) for entry in entries)


def _arrays(column: Column) -> Iterator[Array]:
    """Yield the arrays of numbers of a column."""
    if not isinstance(column, str):
        yield from column if isinstance(column, tuple) else (column,)


def _shape(subject: Formula, columns: Mapping[str, Column]) -> tuple[int, ...]:
    """Return the common shape of all arrays."""
    try:
        return np.broadcast_shapes(*(a.shape for c in columns.values() for a in _arrays(c)))
    except ValueError:
        shapes = ", ".join(
            f"{key} {' '.join(str(array.shape) for array in _arrays(column))}"
            for key, column in columns.items()
            if not isinstance(column, str)
        )
        raise InputError(f"{subject.name}: shapes do not broadcast: {shapes}") from None


def _check_domain(parameter: Parameter, array: Array, by_symbol: Mapping[Any, Column]) -> None:
    """Refuse numbers outside the domain; bounds may refer to other parameters."""
    inside = np.isfinite(array)
    if parameter.integer:
        inside &= array == np.floor(array)
    r = parameter.range
    if r.lower is not None:
        low = walk(r.lower, by_symbol, Floats())
        inside = inside & ((array > low) if r.lower_open else (array >= low))
    if r.upper is not None:
        high = walk(r.upper, by_symbol, Floats())
        inside = inside & ((array < high) if r.upper_open else (array <= high))
    if not np.all(inside):
        culprit = np.broadcast_to(array, np.shape(inside))[~inside].flat[0]
        raise InputError(f"{parameter.name}: {culprit} is outside its domain: {parameter.domain}")


def _array(name: str, given: Any) -> Array:
    """Return numbers as a float64 array."""
    try:
        array = np.asarray(given)
        # Fractions and long integers come as objects; text, truth values and complex do not count.
        if array.dtype.kind in "iufO":
            return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise InputError(
        f"{name}: {brief(given)} is not accepted; give real numbers in the range of float64"
    )
