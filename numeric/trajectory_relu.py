"""Trajectories under relu heads, whose time is elementary.

Heads whose strengths have the sign of gamma move it away from zero. With
``e^r = n gamma/(1-gamma)`` where gamma > 0, and ``e^r = -n gamma/(1+(n-1) gamma)`` where gamma < 0,
the time is ``(n r - k ln(1 + e^r))/(2 s)`` up to a constant, where s is the sum of the squares of
these strengths, and k is n - 1 or 1. Its slope is at least 1/(2 s) everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import flint
from flint import arb

from numeric.balls import certified_root, exact_ball
from numeric.trajectory_regime import MOST_GROWTH, Regime, State, TooLateError
from numeric.walk import BoundEquation

_FIRST_BITS = 64


class ReluPath:
    """The way of a trajectory that moves, at the precision it is made at.

    The caller holds the lock of the balls, at the same precision, in all calls.
    """

    def __init__(self, regime: Regime) -> None:
        """Take a regime whose flow moves from its start."""
        self._regime = regime
        self._up = regime.start > 0
        n = regime.n
        self._tokens = arb(flint.fmpz(n))
        self._others = arb(flint.fmpz(n - 1))
        self._factor = self._others if self._up else arb(1)
        self._doubled = exact_ball(2 * regime.drive)
        self._first = self._progress(self._unknown(regime.start))

    def time_to(self, overlap: Fraction) -> arb:
        """Return the time of arrival at an overlap ahead."""
        return (self._progress(self._unknown(overlap)) - self._first) / self._doubled

    def states(self, times: Sequence[arb]) -> list[State]:
        """Return the states at positive times.

        Raises:
            TooLateError: where an end is too close by then.
        """
        return [self._state(self._root(self._first + self._doubled * time)) for time in times]

    def _unknown(self, overlap: Fraction) -> arb:
        """Return r at an overlap."""
        n = self._regime.n
        rest = 1 - overlap if self._up else -1 - (n - 1) * overlap
        return exact_ball(n * overlap / rest).log()

    def _progress(self, r: arb) -> arb:
        """Return 2 s times the time up to a constant."""
        if r > 0:
            return (self._tokens - self._factor) * r - self._factor * (-r).exp().log1p()
        return self._tokens * r - self._factor * r.exp().log1p()

    def _slope(self, r: arb) -> arb:
        """Return the slope of the progress."""
        return (self._tokens - self._factor) + self._factor / (1 + r.exp())

    def _root(self, progress: arb) -> arb:
        """Return a ball around r at a progress; it is not finite if the precision is too coarse."""
        equation = BoundEquation(
            lambda r: self._progress(r) - progress,
            self._slope,
            self._approximate(progress.mid()),
            arb.neg_inf(),
        )
        return certified_root(equation)

    def _approximate(self, progress: arb) -> arb:
        """Return r at a progress to a few digits.

        The progress is concave, and above it are its asymptotes, n r and (n - k) r.
        """
        with flint.ctx.workprec(_FIRST_BITS):
            low = max(progress / self._tokens, progress / (self._tokens - self._factor)).mid()
            if low > MOST_GROWTH:
                raise TooLateError
            high = (max(progress, arb(0)) + self._tokens.log() + 1).mid()
            while high - low > 1:
                middle = ((low + high) / 2).mid()
                low, high = (middle, high) if self._progress(middle) < progress else (low, middle)
        return low

    def _state(self, r: arb) -> State:
        """Return the state at r, without cancellation."""
        odds = r.exp()
        if self._up:
            total = self._tokens + odds
            return State(
                odds / total,
                self._tokens / total,
                self._tokens * (1 + odds) / (self._others * total),
            )
        total = self._tokens + self._others * odds
        return State(
            -odds / total, self._tokens * (1 + odds) / total, self._tokens / (self._others * total)
        )
