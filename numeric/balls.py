"""Ball arithmetic (Arb, through python-flint): every result encloses the true value.

python-flint keeps its precision in one process-wide context, so all work on balls happens under one
lock, in a precision that is set and restored around it. What that promises:

- Threads that go through this module get right results, one after the other.
- A thread that sets ``flint.ctx.prec`` itself meanwhile cannot make a result wrong: a ball encloses
  its number at any precision. It may make the ball wider, and its own setting may be undone.
- A thread that reads ``flint.ctx.prec`` meanwhile sees the precision in force here.
- A process forked from any thread starts with the lock free and the precision restored.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import flint
import sympy as sp
from flint import arb

from numeric.exact_values import rational_value
from numeric.passage import bound_field, passage_time
from numeric.walk import BoundEquation, bind_equation, converted, walk
from symbolic.implicit import Implicit
from symbolic.passage import PassageTime

_LOCK = threading.RLock()
_HALF = arb(0.5)

# A fork waits for ball work to end: a child copies the lock and the precision as they are.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release
    )


@contextmanager
def ball_precision(bits: int) -> Iterator[None]:
    """Hold the lock and work at ``bits`` of precision; both are given back, also on errors."""
    with _LOCK, flint.ctx.workprec(bits):
        yield


class Balls:
    """Arithmetic of balls at the precision in force."""

    def rational(self, value: Fraction) -> arb:
        """Return the ball of a rational number."""
        return exact_ball(value)

    def power(self, base: arb, exponent: int) -> arb:
        """Return an integer power."""
        return base**exponent

    def function(self, name: str, argument: arb) -> arb:
        """Return the function that balls have by this name."""
        value = getattr(argument, name.lower())()
        assert isinstance(value, arb)
        return value

    def larger(self, first: arb, second: arb) -> arb:
        """Return the larger of two numbers."""
        return first.max(second)

    def implicit(self, definition: Implicit, arguments: Sequence[arb]) -> arb:
        """Return the certified root of an equation."""
        return certified_root(bind_equation(definition, arguments, self))

    def integral(
        self, node: sp.Integral | PassageTime, ends: Sequence[arb], bindings: Mapping[Any, Any]
    ) -> arb:
        """Return a certified time of passage; of other integrals too little is known."""
        if not isinstance(node, PassageTime):
            raise NotImplementedError(f"no enclosure of {node}")
        start, stop, tokens = ends[:3]
        field = bound_field(node.definition.field, bindings, exact_ball)
        return passage_time(field, start, stop, tokens, regular=node.definition.regular)


_MOST_HALVINGS = 1100
"""Steps towards a concave residual's root from afar: all the range of float64, and more."""


def certified_root(equation: BoundEquation) -> arb:
    """Return a ball that holds the root of an equation, at the precision in force.

    Newton's method finds a point close to the root, and `newton_step`, or `turn` of a `bracket`,
    proves that there is one. Where it does not, the ball is not finite. So neither a poor start nor
    an equation without the slope it should have makes a ball that is wrong.
    """
    if equation.concave:
        x, value = _close_to_turn(equation)
        return turn(*bracket(equation, x, value, arb(0, 2), slack()), equation.lower)
    x, value = _close_to_root(equation)
    newton, around, slope = newton_step(equation, x, value, arb(0, 2))
    return newton if holds_root(around, slope, equation.lower) else arb("nan")


def _close_to_root(equation: BoundEquation) -> tuple[arb, arb]:
    """Return an exact point close to the root, as Newton's method finds it, and the residual."""
    x = equation.start.mid()
    value = equation.residual(x)
    # A residual that was halved this often is below all that the precision resolves.
    for _ in range(flint.ctx.prec):
        moved = (x - value / equation.slope(x)).mid()
        residual = equation.residual(moved)
        # At the end rounding keeps the residual from shrinking.
        if not 2 * residual.abs_upper() < value.abs_upper():
            break
        x, value = moved, residual
    return x, value


def _close_to_turn(equation: BoundEquation) -> tuple[arb, arb]:
    """Return the same of a concave residual, whose slope may be of any size."""
    x = equation.start.mid()
    value, slope = equation.residual(x), equation.slope(x)
    # A start far from the root comes closer by halves only, whatever the precision.
    for _ in range(flint.ctx.prec + _MOST_HALVINGS):
        moved = (x - value / slope).mid()
        residual, steepness = equation.residual(moved), equation.slope(moved)
        # Each step takes three quarters of the product at least, until rounding does not let it:
        # of two points, f'(y)/f'(x) + f(y)/f(x) <= 1 if y is where the tangent at x meets zero.
        if not 2 * (residual * steepness).abs_upper() < (value * slope).abs_upper():
            break
        x, value, slope = moved, residual, steepness
    return x, value


def newton_step(equation: BoundEquation, x: Any, value: Any, twice: Any) -> tuple[Any, Any, Any]:
    """Return an interval Newton step, a ball around it, and the slope all over that ball.

    Written for balls and for what stands for them; `holds_root` tells whether the step is proved.

    Args:
        equation: the equation.
        x: an exact point.
        value: its residual.
        twice: the ball from -2 to 2.
    """
    around = x + value * twice
    slope = equation.slope(around)
    return x - value / slope, around, slope


def holds_root(around: arb, slope: arb, lower: arb) -> bool:
    """Tell whether balls prove that a Newton step encloses the root.

    ``around`` reaches twice the residual to both sides. Where the slope is above 1/2 all over it,
    the residual changes sign in it, and the mean value theorem puts the root into the step. Beyond
    the bound of the equation there is no other root.
    """
    return bool(around > lower and slope > _HALF)


def bracket(
    equation: BoundEquation, x: Any, value: Any, twice: Any, least: Any
) -> tuple[Any, Any, Any, Any]:
    """Return two exact points on both sides of a point close to a root, and their residuals.

    Written for balls and for what stands for them; see `turn`.

    Args:
        equation: the equation, of a concave residual.
        x: an exact point.
        value: its residual.
        twice: the ball from -2 to 2.
        least: the least distance relative to x, as a ball around 0.
    """
    around = x + value / equation.slope(x) * twice + x * least
    low, high = around.lower(), around.upper()
    return low, high, equation.residual(low), equation.residual(high)


def slack() -> arb:
    """Return the least distance for `bracket` at the precision in force."""
    return arb(0, arb(2) ** (4 - flint.ctx.prec))


def turn(low: arb, high: arb, before: arb, after: arb, lower: arb) -> arb:
    """Return a ball around where a concave residual turns negative, not finite if unproved.

    ``before`` and ``after`` are the residuals at ``low`` and ``high``. Where they are real numbers,
    positive and negative, the residual is concave in between and turns there, and nowhere else
    beyond the bound of the equation.
    """
    return low.union(high) if low > lower and before > 0 and after < 0 else arb("nan")


def exact_ball(value: Fraction) -> arb:
    """Return the ball of a rational number at the precision in force."""
    numerator = arb(flint.fmpz(value.numerator))
    return numerator if value.denominator == 1 else numerator / flint.fmpz(value.denominator)


def ball_value(expression: sp.Expr, bindings: Mapping[sp.Symbol, Any]) -> arb:
    """Return a ball that encloses the value of an expression, at the precision in force.

    The ball may be wide or not finite; the caller decides whether it is good enough.
    """
    arithmetic = Balls()
    balls = converted({**bindings, **_exact_ends(expression, bindings)}, arithmetic)
    value = walk(expression, balls, arithmetic)
    assert isinstance(value, arb)
    return value


def _exact_ends(expression: sp.Expr, bindings: Mapping[sp.Basic, Any]) -> dict[sp.Basic, Fraction]:
    """Return the ends of times of passage that are rational: ``1 - gamma`` loses no digits."""
    ends = {end for node in expression.atoms(PassageTime) for end in node.args if end.is_Add}
    values = {end: rational_value(end, bindings) for end in ends}
    return {end: value for end, value in values.items() if value is not None}
