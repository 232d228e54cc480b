"""Arithmetics of float64 arrays for a walk: plain, and with a bound of the rounding errors.

Meant for work with NumPy's warnings off: what overflows or has no value is seen in the bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from numeric.walk import BoundEquation, bind_equation
from symbolic.implicit import Implicit

_UNIT = 2.0**-53
_LEAST = 2.0**-1074
# Newton's method squares the error: after a step this small, the next one changes nothing.
_SMALL_STEP = 1e-9
# A few are enough, but for roots of concave residuals that are far below the start.
_MOST_STEPS = 60


class Floats:
    """Plain arithmetic of float64 arrays."""

    def rational(self, value: Fraction) -> np.float64:
        """Return the float next to a rational number."""
        return np.float64(value.numerator / value.denominator)

    def power(self, base: Any, exponent: int) -> Any:
        """Return an integer power."""
        return 1 / base if exponent == -1 else base ** float(exponent)

    def function(self, name: str, argument: Any) -> Any:
        """Return the function with this name in NumPy."""
        return getattr(np, name)(argument)

    def larger(self, first: Any, second: Any) -> Any:
        """Return the larger numbers."""
        return np.maximum(first, second)

    def implicit(self, definition: Implicit, arguments: Sequence[Any]) -> Any:
        """Return the roots of an equation by Newton's method, as exact as floats can tell."""
        equation = bind_equation(definition, arguments, self)
        x = equation.start
        for _ in range(_MOST_STEPS):
            step = equation.residual(x) / equation.slope(x)
            x = x - step
            if not np.any(abs(step) > _SMALL_STEP * abs(x)):
                break
        return x


@dataclass(frozen=True)
class Bounded:
    """Values and bounds of their absolute errors; a bound that is inf or nan bounds nothing."""

    value: Any
    error: Any

    def __add__(self, other: Bounded) -> Bounded:
        total = self.value + other.value
        error = _UNIT * abs(total)
        error += self.error
        error += other.error
        return Bounded(total, error)

    def __mul__(self, other: Bounded) -> Bounded:
        product = self.value * other.value
        error = _UNIT * abs(product)
        error += _underflow(product, self, other)
        if np.any(self.error):
            error += (abs(other.value) + other.error) * self.error
        if np.any(other.error):
            error += abs(self.value) * other.error
        return Bounded(product, error)


def _underflow(product: Any, first: Bounded, second: Bounded) -> Any:
    """Return a bound of what underflow takes from a product; nothing where a factor is zero."""
    if np.all(product):
        return _LEAST
    zero = [(factor.value == 0) & (factor.error == 0) for factor in (first, second)]
    return np.where(zero[0] | zero[1], 0.0, _LEAST)


class BoundedFloats:
    """Arithmetic of float64 arrays with error bounds, if NumPy is right to four units."""

    def rational(self, value: Fraction) -> Bounded:
        """Return the float next to a rational number."""
        number = np.float64(value.numerator / value.denominator)
        return Bounded(number, 0.0 if Fraction(float(number)) == value else _UNIT * abs(number))

    def power(self, base: Bounded, exponent: int) -> Bounded:
        """Return an integer power, by squaring."""
        if exponent < 0:
            base, exponent = _reciprocal(base), -exponent
        result = None
        while exponent:
            if exponent & 1:
                result = base if result is None else result * base
            exponent >>= 1
            if exponent:
                base = base * base
        return Bounded(np.float64(1), 0.0) if result is None else result

    def function(self, name: str, argument: Bounded) -> Bounded:
        """Return a function of an argument known to its error."""
        x, error = argument.value, argument.error
        match name:
            case "sqrt":
                value, spread = np.sqrt(x), error / np.sqrt(x)
            case "exp":
                value = np.exp(x)
                spread = value * np.expm1(error)
            case "log":
                value, spread = np.log(x), _quotient(error, x)
            case "asinh":
                value, spread = np.arcsinh(x), error / np.maximum(1, abs(x) - error)
            case "log1p":
                value, spread = np.log1p(x), _quotient(error, 1 + x)
            case "tanh":
                value, spread = np.tanh(x), error
            case "LambertW":
                # W' = W/(x (1 + W)) <= W/x and decreases, so the relative error does not grow.
                value = _lambertw(x)
                spread = value * _quotient(error, x)
            case _:
                raise NotImplementedError(f"no float64 rule for {name}")
        bound = 8 * _UNIT * abs(value)
        bound += _LEAST
        bound += spread
        return Bounded(value, bound)

    def larger(self, first: Bounded, second: Bounded) -> Bounded:
        """Return the larger numbers."""
        return Bounded(np.maximum(first.value, second.value), np.maximum(first.error, second.error))

    def implicit(self, definition: Implicit, arguments: Sequence[Bounded]) -> Bounded:
        """Return the roots of an equation, with bounds from the residuals at them."""
        x = Floats().implicit(definition, [argument.value for argument in arguments])
        equation = bind_equation(definition, arguments, self)
        residual = equation.residual(Bounded(x, 0.0))
        if equation.concave:
            reach = 2 * (abs(residual.value) + residual.error)
            reach = reach / abs(equation.slope(Bounded(x, 0.0)).value) + 8 * _UNIT * abs(x)
            return Bounded(x, _distance_of_turn(equation, x, reach))
        # The slope is at least 1, so the root is no farther away than the residual is from 0.
        error = abs(residual.value) + residual.error
        return Bounded(x, np.where(x > equation.lower.value, error, np.inf))

    def integral(self, node: Any, ends: Sequence[Any], bindings: Mapping[Any, Any]) -> Bounded:
        """Return what bounds nothing, so that balls take over."""
        return Bounded(np.float64(np.nan), np.inf)


def _distance_of_turn(equation: BoundEquation, x: Any, reach: Any) -> Any:
    """Return how far a concave residual's root is at most, infinite where that is not shown."""
    low, high = x - reach, x + reach
    before, after = (equation.residual(Bounded(end, 0.0)) for end in (low, high))
    shown = (low > equation.lower.value) & (before.value > before.error)
    shown &= after.value < -after.error
    # The ends are rounded, and so are these distances.
    distance = np.maximum(x - low, high - x) * (1 + 8 * _UNIT)
    return np.where(shown, distance, np.inf)


def _reciprocal(base: Bounded) -> Bounded:
    inverse = 1 / base.value
    size = abs(inverse)
    error = _UNIT * size
    error += _LEAST
    if np.any(base.error):
        error += size * _quotient(base.error, abs(base.value))
    return Bounded(inverse, error)


def _quotient(error: Any, size: Any) -> Any:
    """Return ``error/(size - error)``, or no finite number where size may be zero or less."""
    if not np.any(error):
        return np.where(size > 0, 0.0, np.nan)
    return error / np.maximum(size - error, 0)


def _lambertw(x: Any) -> Any:
    """Return the principal branch of Lambert W of numbers that are not negative."""
    # Imported late: SciPy is slow to load, and most formulas do without.
    from scipy.special import lambertw

    return lambertw(x).real
