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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction

import flint
import sympy as sp
from flint import arb

from numeric.walk import walk

_LOCK = threading.RLock()

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


class _Balls:
    """Arithmetic of balls at the precision in force."""

    def rational(self, value: Fraction) -> arb:
        return exact_ball(value)

    def power(self, base: arb, exponent: int) -> arb:
        return base**exponent

    def function(self, name: str, argument: arb) -> arb:
        value = getattr(argument, name)()
        assert isinstance(value, arb)
        return value


def exact_ball(value: Fraction) -> arb:
    """Return the ball of a rational number at the precision in force."""
    numerator = arb(flint.fmpz(value.numerator))
    return numerator if value.denominator == 1 else numerator / flint.fmpz(value.denominator)


def ball_value(expression: sp.Expr, bindings: Mapping[sp.Symbol, Fraction]) -> arb:
    """Return a ball that encloses the value of an expression, at the precision in force.

    The ball may be wide or not finite; the caller decides whether it is good enough.
    """
    value = walk(expression, {s: exact_ball(v) for s, v in bindings.items()}, _Balls())
    assert isinstance(value, arb)
    return value
