"""The float64 fast path: a formula on whole NumPy arrays, by name the only place for floats.

Every value carries a bound of its rounding error along. Where cancellation, overflow or underflow
makes the bound too large, the value is computed again in balls, from the same floats read exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from numeric.evaluate import evaluate_formula
from numeric.walk import walk
from symbolic.implicit import Implicit
from symbolic.catalogue import formula
from symbolic.errors import InputError
from symbolic.formula import Formula
from symbolic.names import brief

Array = npt.NDArray[np.float64]

TOLERANCE = 1e-13
"""Relative error that no value exceeds, if NumPy's functions are right to four units."""

# Digits asked of the balls: enough that rounding them to float64 adds no second error to speak of.
_DIGITS = 25
_UNIT = 2.0**-53
# From a start within a few tenths of the root; the residual says whether they were enough.
_NEWTON_STEPS = 5
_PLAIN_FUNCTIONS: dict[str, Callable[[Any], Any]] = {"sqrt": np.sqrt, "log": np.log, "exp": np.exp}
_LEAST = 2.0**-1074


@dataclass(frozen=True)
class _Bounded:
    """Values and bounds of their absolute errors; a bound that is inf or nan bounds nothing."""

    value: Any
    error: Any

    def __add__(self, other: _Bounded) -> _Bounded:
        total = self.value + other.value
        return _Bounded(total, self.error + other.error + _UNIT * abs(total))

    def __mul__(self, other: _Bounded) -> _Bounded:
        product = self.value * other.value
        error = abs(self.value) * other.error + (abs(other.value) + other.error) * self.error
        return _Bounded(product, error + _UNIT * abs(product) + _LEAST)


class _BoundedFloat64:
    """Arithmetic of float64 arrays with error bounds."""

    def rational(self, value: Fraction) -> _Bounded:
        number = np.float64(value.numerator / value.denominator)
        return _Bounded(number, 0.0 if Fraction(float(number)) == value else _UNIT * abs(number))

    def power(self, base: _Bounded, exponent: int) -> _Bounded:
        if exponent < 0:
            base, exponent = self._reciprocal(base), -exponent
        result = _Bounded(np.float64(1), 0.0)
        while exponent:
            if exponent & 1:
                result = result * base
            exponent >>= 1
            if exponent:
                base = base * base
        return result

    def function(self, name: str, argument: _Bounded) -> _Bounded:
        x, error = argument.value, argument.error
        match name:
            case "sqrt":
                value, spread = np.sqrt(x), error / np.sqrt(x)
            case "exp":
                value = np.exp(x)
                spread = value * np.expm1(error)
            case "log":
                value, spread = np.log(x), np.where(error < x, error / (x - error), np.inf)
            case "asinh":
                value = np.arcsinh(x)
                spread = error / np.maximum(1, abs(x) - error)
            case "log1p":
                value, spread = np.log1p(x), np.where(error < 1 + x, error / (1 + x - error), np.inf)
            case "tanh":
                value, spread = np.tanh(x), error
            case "LambertW":
                # W' = W/(x (1 + W)) <= W/x and decreases, so the relative error does not grow.
                value = _lambertw(x)
                spread = np.where(error < x, value * error / (x - error), np.inf)
            case _:
                raise NotImplementedError(f"no float64 rule for {name}")
        return _Bounded(value, spread + 8 * _UNIT * abs(value) + _LEAST)

    def implicit(self, definition: Implicit, arguments: Sequence[_Bounded]) -> _Bounded:
        plain = dict(zip(definition.arguments, (a.value for a in arguments), strict=True))
        x = walk(definition.start, plain, _Float64())
        for _ in range(_NEWTON_STEPS):
            here = {**plain, definition.variable: x}
            value = walk(definition.residual, here, _Float64())
            x = x - value / walk(definition.slope, here, _Float64())
        bounded = dict(zip(definition.arguments, arguments, strict=True))
        point = {**bounded, definition.variable: _Bounded(x, 0.0)}
        residual = walk(definition.residual, point, self)
        # The slope is at least 1, so the root is no farther away than the residual is from 0.
        return _Bounded(x, abs(residual.value) + residual.error)

    def _reciprocal(self, base: _Bounded) -> _Bounded:
        size = abs(base.value)
        spread = base.error / size / (size - base.error)
        bound = np.where(base.error < size, spread + _UNIT / size + _LEAST, np.inf)
        return _Bounded(1 / base.value, bound)


class _Float64:
    """Arithmetic of float64 arrays."""

    def rational(self, value: Fraction) -> float:
        return value.numerator / value.denominator

    def power(self, base: Any, exponent: int) -> Any:
        return base ** float(exponent)

    def function(self, name: str, argument: Any) -> Any:
        return _PLAIN_FUNCTIONS[name](argument)

    def implicit(self, definition: Implicit, arguments: Sequence[Any]) -> Any:
        raise NotImplementedError("an implicit function within a start or a bound")


def evaluate_float64(name: str, **parameters: npt.ArrayLike) -> Array:
    """Return a formula's values in float64, not certified; see `TOLERANCE`.

    The few values that need balls take about half a millisecond each, the others nanoseconds.

    Args:
        name: name of the formula.
        **parameters: real numbers or arrays of them that broadcast to one shape; what is not a
            float64 is rounded to the nearest one first.

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
        values = _arrays(subject, parameters)
        bindings = {p.symbol: _Bounded(values[p.name], 0.0) for p in subject.parameters}
        bounded = walk(subject.evaluation, bindings, _BoundedFloat64())
        shape = np.broadcast_shapes(*(v.shape for v in values.values()))
        result = np.array(np.broadcast_to(bounded.value, shape), dtype=np.float64)
        close = np.isfinite(bounded.error) & (bounded.error <= TOLERANCE * abs(bounded.value))
        settled = np.array(np.broadcast_to(close, shape))
        # The first case that applies has the last word.
        for case in reversed(subject.special_cases):
            applies = np.broadcast_to(_when(case.when, values), shape)
            result[applies] = np.nan if case.value is None else float(case.value)
            settled |= applies
    full = {key: np.broadcast_to(array, shape) for key, array in values.items()}
    for place in map(tuple, np.argwhere(~settled)):
        exact = {key: Fraction(float(array[place])) for key, array in full.items()}
        result[place] = _in_balls(subject, exact)
    return result


def _when(condition: Any, values: dict[str, Array]) -> Any:
    """Tell where a special case applies; its condition is written for numbers and arrays alike."""
    return condition(values)


def _in_balls(subject: Formula, exact: dict[str, Fraction]) -> float:
    """Return the float64 nearest to a value, nan where the formula has none."""
    try:
        return float(evaluate_formula(subject, digits=_DIGITS, **exact).value)
    except InputError:
        return np.nan


def _arrays(subject: Formula, parameters: dict[str, npt.ArrayLike]) -> dict[str, Array]:
    """Return the parameters as arrays of numbers in their domains."""
    names = [p.name for p in subject.parameters]
    if set(parameters) != set(names):
        raise InputError(
            f"{subject.name}: parameters {', '.join(sorted(parameters)) or 'none'} given; "
            f"it takes {', '.join(names)}"
        )
    values = {key: _array(key, parameters[key]) for key in names}
    try:
        np.broadcast_shapes(*(v.shape for v in values.values()))
    except ValueError:
        shapes = ", ".join(f"{key} {v.shape}" for key, v in values.items())
        raise InputError(f"{subject.name}: shapes do not broadcast: {shapes}") from None
    by_symbol = {p.symbol: values[p.name] for p in subject.parameters}
    for parameter in subject.parameters:
        array = values[parameter.name]
        inside = np.isfinite(array)
        if parameter.integer:
            inside &= array == np.floor(array)
        r = parameter.range
        if r.lower is not None:
            low = walk(r.lower, by_symbol, _Float64())
            inside = inside & ((array > low) if r.lower_open else (array >= low))
        if r.upper is not None:
            high = walk(r.upper, by_symbol, _Float64())
            inside = inside & ((array < high) if r.upper_open else (array <= high))
        if not np.all(inside):
            culprit = np.broadcast_to(array, np.shape(inside))[~inside].flat[0]
            raise InputError(
                f"{parameter.name}: {culprit} is outside its domain: {parameter.domain}"
            )
    return values


def _array(name: str, given: npt.ArrayLike) -> Array:
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


def _lambertw(x: Any) -> Any:
    """Return the principal branch of Lambert W of numbers that are not negative."""
    # Imported late: SciPy is slow to load, and most formulas do without.
    from scipy.special import lambertw

    return lambertw(x).real
