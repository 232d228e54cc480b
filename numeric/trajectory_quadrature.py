"""Times of the scalar regime in float64, on whole arrays: softmax and unnormalised heads.

As in `trajectory_series`, y is the distance from the end that the flow tends to, and
``dt = -(1/y + 1/(e - y))/F(y) dy``. The poles are taken out and integrated to logarithms, and what
is left by Gauss and Legendre's rule on panels so short that 16 nodes give all digits: no complex
zero of F, but for equilibria, is nearer to the real axis than pi over the largest rate in an
exponent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from numeric.simulation import Array
from numeric.trajectory_arrays import Grid, Overlaps
from symbolic.flow import Model

_PLACES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
# Largest rate in an exponent times the length of a panel.
_REACH = 4.0
# The pole at the end behind is taken out where 1/F is not larger there by more than this factor.
_STEEP = 4.0
# Towards an equilibrium behind, the distance from it grows by this factor from panel to panel.
_GRADE = 3.0
# Most numbers in one temporary array.
_CHUNK = 50_000
_MOST_STEPS, _STEP = 60, 1e-15
# A slower logit does not move in times in the range of float64; after a larger growth of the logit
# nothing in this range is left of the gap.
_SLOWEST, _MOST_GROWTH = 1e-290, 2000.0


@dataclass(frozen=True)
class Cases:
    """Scalar heads in E cases; arrays of shape (E, 1), those of the heads (H, E, 1).

    Attributes:
        softmax: whether the model is softmax, not unnormalised; the same in all cases.
        sign: 1 where gamma rises, -1 where it falls.
        strengths: one for each head.
        beta: inverse temperatures.
        n: numbers of tokens.
    """

    softmax: bool
    sign: Array
    strengths: Array
    beta: Array
    n: Array

    def at(self, index: Any) -> Cases:
        """Return some of the cases."""
        return Cases(
            self.softmax,
            self.sign[index],
            self.strengths[:, index],
            self.beta[index],
            self.n[index],
        )

    @classmethod
    def of(cls, grid: Grid) -> Cases:
        """Return the cases of a grid of the model softmax or unnormalised.

        The sign is 0 where gamma does not move, or too slowly for float64.
        """
        softmax, n, beta = grid.model is Model.SOFTMAX, grid.n[:, None], grid.beta[:, None]
        rising = cls(softmax, np.ones_like(n), grid.strengths[..., None], beta, n)
        speed = rising.speed(grid.start.gap[:, None])
        sign = np.where(np.abs(speed) >= _SLOWEST, np.sign(speed), 0.0)
        return cls(softmax, sign, rising.strengths, beta, n)

    @property
    def end(self) -> Array:
        """Return the largest gap, n/(n-1)."""
        return self.n / (self.n - 1)

    @property
    def rate(self) -> Array:
        """Return the largest rate in an exponent."""
        return np.asarray(self.beta * np.abs(self.strengths).max(axis=0))

    def speed(self, y: Array) -> Array:
        """Return the speed at places y of shape (..., E, K)."""
        others = self.n - 1
        # Exponents are c + b y.
        first = np.where(self.sign > 0, 0.0, self.end)
        total = np.zeros(np.broadcast_shapes(np.shape(y), np.shape(self.n)))
        for strength in self.strengths:
            rate, weight = self.beta * strength, 2 * self.sign * strength
            if not self.softmax:
                total += weight * np.exp(rate * (1 - first) - rate * self.sign * y)
                continue
            # Exponentials of negative numbers only, so that none overflows.
            decay, positive = -np.abs(rate), strength >= 0
            power = np.exp(decay * first + decay * self.sign * y)
            bottom = np.where(positive, others, 1.0) * power + np.where(positive, 1.0, others)
            if positive.all():
                total += self.n * weight * power / bottom
            else:
                total += self.n * weight * np.where(positive, power, 1.0) / bottom
        return total

    def steepness(self, y: Array) -> Array:
        """Return how fast the speed falls with y, a sum of positive terms, likewise."""
        gap = np.where(self.sign > 0, y, self.end - y)
        total = np.zeros(np.broadcast_shapes(np.shape(y), np.shape(self.n)))
        for strength in self.strengths:
            rate = self.beta * strength
            if self.softmax:
                power = np.exp(-np.abs(rate) * gap)
                # The same for either sign of the strength, up to the sides.
                positive = strength >= 0
                bottom = np.where(positive, (self.n - 1) * power + 1, power + (self.n - 1))
                total += 2 * self.n * strength * rate * power / bottom**2
            else:
                total += 2 * strength * rate * np.exp(rate * (1 - gap))
        return total


@dataclass(frozen=True)
class Poles:
    """What is taken out of 1/F at the ends: the values near and far, arrays (E, 1)."""

    near: Array
    far: Array

    @classmethod
    def of(cls, cases: Cases, start: Array) -> Poles:
        """Return the parts that are taken out on ways from ``start``, an array (E, 1)."""
        here = 1 / cases.speed(start)
        near, far = 1 / cases.speed(0 * start), 1 / cases.speed(cases.end)
        return cls(near, np.where((far > 0) & (far <= _STEEP * here), far, 0.0))


@dataclass(frozen=True)
class Ways:
    """Ways towards the end ahead, one in each case; arrays of shape (E, 1).

    Places on them are told by how far y has fallen since the start.

    Attributes:
        cases: the heads; the speed at the start is positive.
        near: y at the start.
        far: ``e - y`` at the start.
        poles: what is taken out.
    """

    cases: Cases
    near: Array
    far: Array
    poles: Poles

    @classmethod
    def of(cls, cases: Cases, start: Overlaps, index: Any) -> Ways:
        """Return the ways of some cases, where gamma moves."""
        some = cases.at(index)
        gap, rise = start.gap[index, None], start.rise[index, None]
        near, far = np.where(some.sign > 0, gap, rise), np.where(some.sign > 0, rise, gap)
        return cls(some, near, far, Poles.of(some, near))

    def at(self, index: Any) -> Ways:
        """Return some of the ways."""
        poles = Poles(self.poles.near[index], self.poles.far[index])
        return Ways(self.cases.at(index), self.near[index], self.far[index], poles)

    def times_to(self, fallen: Array, left: Array) -> Array:
        """Return the times until y has fallen so far, and so much is left of it, above zero."""
        times = np.zeros_like(fallen)
        for index, breaks in self._panels(fallen):
            ways, parts = self.at(index), fallen[index]
            poles = ways.poles
            logarithms = poles.near * np.log1p(parts / left[index])
            logarithms += poles.far * np.log1p(parts / ways.far)
            times[index] = logarithms + ways.smooth_times(breaks)[:, -1:]
        return times

    def growth_at(self, times: Array) -> Array:
        """Return by how much the logit has grown at times (T,); of shape (T, E)."""
        growth = np.zeros((len(times), len(self.near)))
        for index, breaks in self._panels(self.near):
            growth[:, index] = self.at(index)._growth_at(times[:, None, None], breaks)[..., 0]
        return growth

    def _growth_at(self, times: Array, breaks: Array) -> Array:
        """Return the growth at times (T, 1, 1), of shape (T, E, 1), on panels up to the end."""
        smooth = self.smooth_times(breaks)
        ends = np.log1p(breaks / self.far) - np.log1p(-breaks / self.near)
        known = self._polar_times(ends) + smooth
        speeds = self.cases.speed(self.near - breaks)
        panels = (times >= known[:, 1:-1]).sum(axis=-1)
        cases = np.arange(len(breaks))

        def picked(table: Array, step: int = 0) -> Array:
            return np.asarray(table[cases, panels + step][..., None])

        low, high, begin, constant = picked(ends), picked(ends, 1), picked(breaks), picked(smooth)
        high = np.minimum(high, _MOST_GROWTH)
        # To begin with, as if the speed were constant, or exponential in the logit.
        waited, last = times - picked(known), picked(speeds, 1)
        bend = np.log(last / picked(speeds)) / (high - low)
        part = waited / (picked(known, 1) - picked(known))
        bent = np.log1p(part * np.expm1(-bend * (high - low))) / -bend
        growth = np.clip(low + np.where(bend > 0, bent, waited * last), low, high)
        for _ in range(_MOST_STEPS):
            fallen = self.fallen(growth)
            half = (fallen - begin) / 2
            rest = half * (self.smooth_part(begin + half * (1 + _PLACES)) @ _WEIGHTS)[..., None]
            late = self._polar_times(growth) + constant + rest - times
            moved = np.clip(growth - late * self.cases.speed(self.near - fallen), low, high)
            settled = np.abs(moved - growth) <= _STEP * (1 + growth)
            growth = moved
            if settled.all():
                break
        return growth

    def fallen(self, growth: Array) -> Array:
        """Return how far y has fallen where the logit has grown so much; shape (..., E, K)."""
        decay = np.exp(-growth)
        return -np.expm1(-growth) * self.near * self.far / (self.near * decay + self.far)

    def _polar_times(self, growth: Array) -> Array:
        """Return the parts of the poles in the times, likewise."""
        end = self.near + self.far
        close = np.log1p(np.expm1(-growth) * self.near / end)
        apart = np.log((np.exp(-growth) * self.near + self.far) / end)
        logarithm = np.where(growth < 0.5, close, apart)
        return self.poles.near * (growth + logarithm) - self.poles.far * logarithm

    def ends_after(self, growth: Array) -> tuple[Array, Array]:
        """Return y and ``e - y`` where the logit has grown so much, likewise."""
        decay = np.exp(-growth)
        part = (self.near + self.far) / (self.near * decay + self.far)
        return self.near * decay * part, self.far * part

    def smooth_times(self, breaks: Array) -> Array:
        """Return the times without the parts of the poles, up to the ends of panels, (E, m + 1)."""
        halves = np.diff(breaks)[..., None] / 2
        middles = (breaks[:, 1:, None] + breaks[:, :-1, None]) / 2
        shape = (len(breaks), -1)
        values = self.smooth_part((middles + halves * _PLACES).reshape(shape))
        parts = (values.reshape(*middles.shape[:2], -1) @ _WEIGHTS) * halves[..., 0]
        return np.concatenate([np.zeros((len(breaks), 1)), np.cumsum(parts, axis=1)], axis=1)

    def smooth_part(self, fallen: Array) -> Array:
        """Return the integrand without its poles, at places of shape (..., E, K)."""
        y = self.near - fallen
        pace = 1 / self.cases.speed(y)
        return (pace - self.poles.near) / y + (pace - self.poles.far) / (self.far + fallen)

    def _panels(self, fallen: Array) -> Iterator[tuple[Any, Array]]:
        """Yield indices of ways that take the same number of panels, with the ends of these.

        Panels are of equal length, but for those close to an equilibrium behind.
        """
        cases = self.cases
        width = np.minimum(_REACH / cases.rate, fallen)
        mixed = (cases.strengths * cases.sign < 0).any(axis=0)
        distance = np.full(width.shape, np.inf)
        if mixed.any():
            estimate = cases.speed(self.near) / cases.steepness(self.near)
            distance = np.where(mixed, estimate, distance)
        most = np.minimum(width / (2 * distance) * _GRADE, 1 + fallen / distance)
        graded = np.floor(np.log(np.maximum(most, 1)) / np.log(_GRADE))
        begun = np.where(graded > 0, distance * (_GRADE**graded - 1), 0.0)
        equal = np.maximum(np.ceil((fallen - begun) / width * (1 - 1e-9)), 1)
        counts = np.concatenate([graded, equal], axis=1).astype(int)
        for first, rest in np.unique(counts, axis=0):
            (chosen,) = np.nonzero((counts == (first, rest)).all(axis=1))
            size = max(1, _CHUNK // (len(_PLACES) * (first + rest)))
            for begin in range(0, len(chosen), size):
                index = chosen[begin : begin + size]
                steps = np.arange(rest + 1) / rest
                ends = begun[index] + (fallen[index] - begun[index]) * steps
                ends[:, -1:] = fallen[index]
                if first:
                    powers = _GRADE ** np.arange(first) - 1
                    ends = np.concatenate([distance[index] * powers, ends], axis=1)
                yield index, ends
