"""Trajectories under softmax and unnormalised heads: the time as Taylor series with proved bounds.

The place is told by the distance y from the end that the flow tends to: ``1 - gamma`` where gamma
rises, else its distance from the largest gap ``e = n/(n-1)``. With the speed F > 0 of the logit,
``dt = -(1/y + 1/(e - y))/F(y) dy``. Apart from the two poles this is analytic around the real axis,
and a few expansions cover the way: one around each end, whose pole is integrated to a logarithm,
and some in between. On a disc of radius R around a centre c

    ``|F| >= cos(A/2) F_+(c + R) - F_-(c + R)/cos(B/2)``

where F_+ and -F_- are the sums of the terms of either sign, and A and B, below pi, are R times the
largest rates in their exponents. (On the disc the terms of F_+ lie in a sector of opening A and are
no smaller than at c + R, since ``|z + m| <= |z| + m``; those of F_- are no larger than there but
for the cosine, since ``|z + m| >= (|z| + m) cos(arg(z)/2)``.) Where this is positive, 1/F is
analytic on the disc, and Cauchy's estimate bounds the rest of its series.

The speed grows along the flow, term by term, so no equilibrium lies ahead. Around one behind, the
pole of 1/F is integrated to a logarithm, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any

import flint
import numpy as np
from flint import arb, arb_poly, arb_series

from numeric.balls import certified_root, exact_ball
from numeric.simulation import Array
from numeric.trajectory_regime import MOST_GROWTH, Regime, State, TooCoarseError, TooLateError
from numeric.walk import BoundEquation
from symbolic.flow import Model

# The radius of a disc, as part of the distance to the next pole, and of the half-width of the strip
# in which exponentials stay in a sector.
_OF_POLE, _OF_STRIP = 0.95, 0.97
# The speed on a disc may be smaller than in its centre by this factor, in bits. With the poles the
# integrand is bounded by at most so many bits more than its size.
_SLOWER, _LARGER = 9, 16
# Terms of a series for each bit of precision; it sets which part of a disc is used.
_TERMS = 0.8
# A piece reaches a bit farther than it is used.
_USED = 0.99
# Terms for the first approximation in float64, its steps, and bits that are right after it.
_FLOAT_TERMS, _FLOAT_STEPS, _FLOAT_BITS = 64, 100, 44
_FLOAT_STEP = 1e-14
_SPARE_BITS = 8
_REFINEMENTS = 8
# Bits by which coefficients are rounded below the accuracy of the first ones.
_SMALL_BITS = 16


@dataclass(frozen=True)
class Place:
    """A place on the way, told from both ends of the domain; balls.

    Attributes:
        near: y, the distance from the end that the flow tends to.
        far: ``e - y``.
    """

    near: arb
    far: arb


@dataclass(frozen=True)
class Field:
    """The speed of the logit towards the end that the flow tends to, as a function of y.

    Attributes:
        end: the largest gap e.
        terms: for each strength the numbers w, a and b of ``w/(a e^(b y) + m)`` under softmax, of
            ``w a e^(-b y)`` otherwise; w and b have the same sign, unless b = 0.
        others: m = n - 1 under softmax, None otherwise.
    """

    end: arb
    terms: tuple[tuple[arb, arb, arb], ...]
    others: arb | None

    @classmethod
    def of(cls, regime: Regime, direction: int) -> Field:
        """Return the field of a regime, at the precision in force.

        Args:
            regime: of the model softmax or unnormalised, with a strength that is not zero.
            direction: 1 where gamma rises, -1 where it falls.
        """
        assert regime.beta is not None
        softmax, end = regime.model is Model.SOFTMAX, regime.end
        first = Fraction(0) if direction > 0 else end
        terms = []
        for strength, heads in regime.counts.items():
            weight = 2 * direction * heads * strength * (regime.n if softmax else 1)
            rate = regime.beta * strength
            exponent = rate * (first if softmax else 1 - first)
            numbers = (exact_ball(weight), exact_ball(exponent).exp(), exact_ball(direction * rate))
            terms.append(numbers)
        others = exact_ball(Fraction(regime.n - 1)) if softmax else None
        return cls(exact_ball(end), tuple(terms), others)

    def speed(self, y: arb) -> arb:
        """Return the speed at a place."""
        return sum((self._term(term, y) for term in self.terms), arb(0))

    def _term(self, term: tuple[arb, arb, arb], y: arb) -> arb:
        w, a, b = term
        if self.others is None:
            return w * a * (-b * y).exp()
        return w / (a * (b * y).exp() + self.others)

    @cached_property
    def _rates(self) -> tuple[arb, arb]:
        """Return the largest ``|b|`` of the terms with positive w, and with negative w."""
        forth = [abs(b) for w, _, b in self.terms if w > 0]
        back = [abs(b) for w, _, b in self.terms if not w > 0]
        return max(forth, default=arb(0)), max(back, default=arb(0))

    @property
    def strip(self) -> arb:
        """Return how far from the real axis all exponentials have arguments below pi."""
        rate = max(self._rates)
        return arb.pi() / rate if rate > 0 else arb.pos_inf()

    @property
    def one_sided(self) -> bool:
        """Tell whether all terms are positive."""
        return all(w > 0 for w, _, _ in self.terms)

    @property
    def narrow_strip(self) -> arb:
        """Return how far from the real axis two exponentials have arguments below pi together."""
        return arb.pi() / sum(self._rates)

    def steepness(self, y: arb) -> arb:
        """Return ``-F'`` at a place, a sum of positive terms."""
        return sum((self._slope(term, y) for term in self.terms), arb(0))

    def _slope(self, term: tuple[arb, arb, arb], y: arb) -> arb:
        w, a, b = term
        if self.others is None:
            return b * w * a * (-b * y).exp()
        power = a * (b * y).exp()
        return b * w * power / (power + self.others) ** 2

    def least_steepness(self, centre: arb, radius: arb) -> arb:
        """Return a lower bound of ``|F(z)/(z - centre)|`` on a disc around a zero of F.

        That is a mean of -F', whose terms lie in a sector in the narrow strip. In its real part
        each is monotone or has one maximum.
        """
        opening = (sum(self._rates) * radius / 2).cos()
        edges = (centre - radius, centre + radius)
        least = (min(self._slope(term, y).lower() for y in edges) for term in self.terms)
        return opening * sum(least, arb(0))

    def least_speed(self, centre: arb, radius: arb) -> arb:
        """Return a lower bound of ``|F|`` on a disc in the strip."""
        forth, back = arb(0), arb(0)
        for term in self.terms:
            if term[0] > 0:
                forth += self._term(term, centre + radius)
            else:
                back -= self._term(term, centre + radius)
        opening, closing = ((rate * radius / 2).cos() for rate in self._rates)
        return opening * forth - back / closing

    def series(self, centre: arb, scale: arb, length: int) -> tuple[Any, Any]:
        """Return numerator and denominator of the speed at ``centre + scale*z``, as series in z."""
        parts: list[tuple[Any, Any]] = []
        for w, a, b in self.terms:
            rate = -b if self.others is None else b
            factor = a * (rate * centre).exp()
            power = _level(factor * arb_series([arb(0), rate * scale]).exp(), length)
            if self.others is None:
                parts.append((w * power, arb(1)))
            else:
                parts.append((w, power + self.others))
        # By pairs, so that most products are of short series.
        while len(parts) > 1:
            pairs = list(zip(parts[::2], parts[1::2], strict=False))
            rest = parts[2 * len(pairs) :]
            parts = [
                (_level(p * s + r * q, length), _level(q * s, length)) for (p, q), (r, s) in pairs
            ] + rest
        return parts[0]


def _level(series: Any, length: int) -> Any:
    """Return a series with its coefficients rounded to the same absolute accuracy.

    They are those of a disc of radius 1, so the digits of small ones do not matter; without them
    products cost a third. A number is returned as it is.
    """
    if isinstance(series, arb):
        return series
    size = max(abs(series[0]).upper(), abs(series[1]).upper())
    coarse = arb_series([size / 2**_SMALL_BITS] * length)
    return (series + coarse) - coarse


@contextmanager
def _truncated(length: int) -> Iterator[None]:
    """Have series truncated at a length; the caller holds the lock of the balls."""
    before = flint.ctx.cap
    flint.ctx.cap = length
    try:
        yield
    finally:
        flint.ctx.cap = before


@dataclass(frozen=True)
class _Piece:
    """A part of the way: the time as a function of the place.

    In ``y = origin + scale*z``, ``|z| <= reach``, the time since the entry is
    ``p(z_entry) - p(z)``, and ``integrand(0)*x`` besides with ``z = z_entry*e^(-x)`` if a pole is
    in the centre. The unknown of the way is that x, or else z.

    Attributes:
        origin: the centre.
        opposite: ``end - origin``.
        scale: the radius of the disc, negative where z runs against y.
        polar: whether a pole is in the centre.
        integrand: the polynomial with ``dt = integrand dx``, or ``dt = -scale*integrand dz``.
        primitive: the polynomial p.
        error: a bound of the error of the time.
        integrand_error: a bound of the error of the integrand.
        reach: the largest ``|z|`` for which the bounds hold.
        entry: z at the entry.
        begin: the time at the entry.
        exit: y where the next piece takes over, 0 in the last one.
    """

    origin: arb
    opposite: arb
    scale: arb
    polar: bool
    integrand: arb_poly
    primitive: arb_poly
    error: arb
    integrand_error: arb
    reach: arb
    entry: arb
    begin: arb
    exit: arb

    def time_at(self, place: Place) -> arb:
        """Return the time at a place."""
        z = _local(self.origin, self.opposite, place) / self.scale
        x = (self.entry / z).log() if self.polar else None
        return self.begin + self._since(z, x, self.primitive(self.entry), self.primitive)

    def _since(self, z: arb, x: arb | None, at_entry: arb, primitive: arb_poly) -> arb:
        """Return the time since the entry."""
        since = at_entry - primitive(z) + arb(0, self.error)
        return since if x is None else since + self.integrand[0] * x

    def places(self, times: Sequence[arb]) -> list[Place]:
        """Return the places at times at which the flow is in this piece.

        Raises:
            TooCoarseError: if the precision in force does not suffice to enclose them.
        """
        waits = [time - self.begin for time in times]
        unknowns, slopes = self._approximate(waits)
        for bits in _levels(flint.ctx.prec):
            with flint.ctx.workprec(bits + _SPARE_BITS):
                length = ceil(_TERMS * bits) + _SPARE_BITS
                primitive = self.primitive.truncate(length)
                integrand = self.integrand.truncate(length)
                at_entry = primitive(self.entry)
                for j, wait in enumerate(waits):
                    z, x = self._told(unknowns[j])
                    slopes[j] = self._slope(integrand(z)).mid()
                    late = self._since(z, x, at_entry, primitive) - wait
                    unknowns[j] = (unknowns[j] - late / slopes[j]).mid()
        at_entry = self.primitive(self.entry)
        return [
            self._place(self._enclosed(wait, unknown, slope, at_entry))
            for wait, unknown, slope in zip(waits, unknowns, slopes, strict=True)
        ]

    def _told(self, unknown: arb) -> tuple[arb, arb | None]:
        """Return z, and x if that is the unknown."""
        return (self.entry * (-unknown).exp(), unknown) if self.polar else (unknown, None)

    def _slope(self, integrand: arb) -> arb:
        """Return the derivative of the time by the unknown."""
        return integrand if self.polar else -self.scale * integrand

    def _enclosed(self, wait: arb, unknown: arb, slope: arb, at_entry: arb) -> arb:
        """Return a ball around the unknown at a time after the entry.

        The mean value theorem puts it into ``unknown - late/slope(around)`` if ``around`` has that.
        """
        for _ in range(_REFINEMENTS):
            z, x = self._told(unknown)
            late = self._since(z, x, at_entry, self.primitive) - wait
            around = arb(unknown, (2 * late / slope).abs_upper())
            # The slope may be half as good, as what it divides is small.
            with flint.ctx.workprec(flint.ctx.prec // 2 + 2 * _SPARE_BITS):
                z = self._told(around)[0]
                slopes = self._slope(self.integrand(z) + arb(0, self.integrand_error))
            step = late / slopes
            if not step.is_finite():
                break
            proved = abs(step) <= around.rad() and abs(z) <= self.reach
            if proved and step.rad() <= 2 * (late.rad() / slopes).abs_upper():
                return unknown - step
            unknown, slope = (unknown - step).mid(), slopes.mid()
        raise TooCoarseError

    def _place(self, unknown: arb) -> Place:
        local = self.scale * self._told(unknown)[0]
        return Place(self.origin + local, self.opposite - local)

    def _approximate(self, waits: Sequence[arb]) -> tuple[list[arb], list[arb]]:
        """Return the unknowns, and the slopes there, as float64 tells them."""
        unit = self._slope(self.integrand[0])
        # Ratios of balls are in the range of float64, whatever these are.
        ratios = [float(c / self.integrand[0]) for c in self.integrand.coeffs()[:_FLOAT_TERMS]]
        powers = np.arange(len(ratios))
        integrand, reach = np.array(ratios), float(self.reach)
        targets = np.array([float(wait / unit) for wait in waits])
        if self.exit == 0 and targets.max() > MOST_GROWTH:
            raise TooLateError
        if self.polar:
            primitive = -np.array([0.0, *(integrand[1:] / powers[1:])])
            logarithm = float(self.entry.log())
            low = np.full(targets.shape, logarithm - np.log(reach))
            # The integrand is least at the end of the last piece.
            high = np.maximum(targets, low) if self.exit == 0 else np.zeros(targets.shape)
        else:
            primitive = integrand / (powers + 1)
            low, high = np.full(targets.shape, -reach), np.full(targets.shape, reach)

        def told(unknown: Array) -> tuple[Array, Array]:
            z = np.exp(logarithm - unknown) if self.polar else unknown
            table = z[:, None] ** powers
            late = unknown + table @ primitive if self.polar else z * (table @ primitive)
            return late, table @ integrand

        at_entry = told(np.zeros(1) if self.polar else np.array([float(self.entry)]))[0]
        with np.errstate(all="ignore"):
            values, slopes = _increasing_roots(told, targets + at_entry, low, high)
        return [arb(float(v)) for v in values], [arb(float(s)) * unit.mid() for s in slopes]


def _increasing_roots(
    told: Callable[[Array], tuple[Array, Array]], targets: Array, low: Array, high: Array
) -> tuple[Array, Array]:
    """Return where an increasing function, told with its slope, takes values, and its slopes.

    Newton's method, with bisection where it would leave the bracket. What is not finite stays so.
    """
    values = np.clip(targets, low, high)
    for _ in range(_FLOAT_STEPS):
        late, slopes = told(values)
        late = late - targets
        low, high = np.where(late < 0, values, low), np.where(late > 0, values, high)
        moved = values - late / slopes
        inside = (moved >= low) & (moved <= high)
        moved = np.where(inside, moved, (low + high) / 2)
        done = np.abs(moved - values) <= _FLOAT_STEP * (1 + np.abs(values))
        values = moved
        if done.all():
            break
    return values, slopes


def _levels(bits: int) -> list[int]:
    """Return the precisions of Newton's method below the last one, ascending."""
    levels = []
    while (bits := bits // 2 + _SPARE_BITS) > _FLOAT_BITS:
        levels.append(bits)
    return levels[::-1]


def _local(origin: arb, opposite: arb, place: Place) -> arb:
    """Return ``y - origin``, without cancellation where the origin is an end."""
    return -place.far if opposite == 0 else place.near - origin


class SeriesPath:
    """The way of a trajectory that moves, at the precision it is made at.

    The caller holds the lock of the balls, at the same precision, in all calls.
    """

    def __init__(self, regime: Regime, direction: int) -> None:
        """Take a regime of the model softmax or unnormalised.

        Args:
            regime: the regime.
            direction: 1 if gamma rises from its start, -1 if it falls.

        Raises:
            TooCoarseError: if the precision does not show that it does.
        """
        self._regime = regime
        self._up = direction > 0
        self._field = Field.of(regime, direction)
        self._entry = self._place(regime.start)
        if not self._field.speed(self._entry.near) > 0:
            raise TooCoarseError
        self._begin = arb(0)
        self._pieces: list[tuple[_Piece, arb]] = []
        self._length = ceil(_TERMS * flint.ctx.prec) + _LARGER
        self._reach = (arb(2) ** (-arb(flint.ctx.prec + _LARGER) / self._length)).mid()

    def _place(self, overlap: Fraction) -> Place:
        state = State.at(self._regime, overlap)
        return Place(state.gap, state.rise) if self._up else Place(state.rise, state.gap)

    def time_to(self, overlap: Fraction) -> arb:
        """Return the time of arrival at an overlap ahead.

        Raises:
            TooCoarseError: if the precision does not suffice.
        """
        place = self._place(overlap)
        for piece, over in self._along():
            if place.near.mid() >= piece.exit:
                return piece.time_at(place)
            # The speed grows, so the rest takes at most as long as at the present speed.
            leave = self._leave(piece)
            logit = (leave.near / place.near * place.far / leave.far).log()
            rest = (logit / self._field.speed(leave.near)).upper()
            if rest < over * arb(2) ** -flint.ctx.prec:
                return over + arb(rest, rest) / 2
        raise AssertionError("the last piece reaches the end")

    def states(self, times: Sequence[arb]) -> list[State]:
        """Return the states at positive times, ascending.

        Raises:
            TooCoarseError: if the precision does not suffice.
            TooLateError: where y is too small by then.
        """
        found: list[Place] = []
        for piece, over in self._along():
            rest = times[len(found) :]
            inside = [time for time in rest if time.mid() <= over.mid()]
            if inside:
                found += piece.places(inside)
            if len(inside) == len(rest):
                break
        sides = ((p.near, p.far) if self._up else (p.far, p.near) for p in found)
        return [State(1 - gap, gap, rise) for gap, rise in sides]

    def _along(self) -> Iterator[tuple[_Piece, arb]]:
        """Yield the pieces with the times at their exits, made when they are needed."""
        count = 0
        while True:
            if count == len(self._pieces):
                with _truncated(self._length):
                    piece = self._next_piece()
                leave = self._leave(piece)
                over = arb.pos_inf() if piece.exit == 0 else piece.time_at(leave)
                self._entry, self._begin = leave, over
                self._pieces.append((piece, over))
            yield self._pieces[count]
            count += 1

    def _leave(self, piece: _Piece) -> Place:
        """Return where a piece is left."""
        return Place(piece.exit, self._field.end - piece.exit)

    def _next_piece(self) -> _Piece:
        """Return the piece that starts at the present entry."""
        used = self._reach * _USED
        radius = self._radius(arb(0), self._field.end)
        if radius is not None and self._entry.near <= used * radius:
            return self._around_end(arb(0), radius, arb(0))
        if not self._pieces:
            first = self._from_far_end(used) or self._from_equilibrium(used)
            if first is not None:
                return first
        centre, radius = self._disc(used)
        return self._between(centre, radius, (centre - used * radius).mid())

    def _from_far_end(self, used: arb) -> _Piece | None:
        """Return a piece around the end behind, None if the entry is too far from it."""
        end = self._field.end
        radius = self._radius(end, end)
        if radius is None or not self._entry.far <= used * radius:
            return None
        return self._around_end(end, -radius, (end - used * radius).mid())

    def _from_equilibrium(self, used: arb) -> _Piece | None:
        """Return a piece around an equilibrium behind, None if the entry is too far from one."""
        field, y = self._field, self._entry.near
        if field.one_sided:
            return None
        here = field.steepness(y)
        equation = BoundEquation(
            lambda y: -field.speed(y) / here, lambda y: field.steepness(y) / here, y, arb(0)
        )
        centre = certified_root(equation)
        limit = min(centre, field.end - centre)
        radius = min(_OF_POLE * limit, _OF_STRIP * field.narrow_strip).mid()
        if not (radius.is_finite() and 0 < centre - y <= used * radius):
            return None
        return self._around_equilibrium(centre, -radius, (centre - used * radius).mid())

    def _radius(self, centre: arb, limit: arb) -> arb | None:
        """Return the radius of a disc on which the speed is bounded from below, None if too small.

        Args:
            centre: its centre.
            limit: distance to the next pole that is not in the centre.
        """
        field = self._field
        radius = min(_OF_POLE * limit, _OF_STRIP * field.strip).mid()
        enough = field.speed(centre) / 2**_SLOWER
        if not enough > 0:
            return None
        if field.one_sided:
            return radius
        for _ in range(flint.ctx.prec):
            if field.least_speed(centre, radius) >= enough:
                return radius
            radius /= 2
        return None

    def _disc(self, used: arb) -> tuple[arb, arb]:
        """Return centre and radius of a disc between the ends whose used part has the entry."""
        y, end = self._entry.near, self._field.end
        part = used * _OF_POLE * _USED
        centre = max(
            y / (1 + part),
            (y - part * end) / (1 - part),
            y - used * _USED * _OF_STRIP * self._field.strip,
        )
        for _ in range(flint.ctx.prec):
            centre = centre.mid()
            radius = self._radius(centre, min(centre, end - centre))
            if radius is None:
                break
            if used * radius >= y - centre:
                return centre, radius
            centre = y - used * _USED * radius
        raise TooCoarseError

    def _around_end(self, origin: arb, scale: arb, leave: arb) -> _Piece:
        """Return the piece around an end of the domain."""
        end, radius = self._field.end, abs(scale)
        numerator, denominator = self._field.series(origin, scale, self._length)
        integrand = end * denominator / (numerator * arb_series([end, -radius]))
        bound = end / (self._field.least_speed(origin, radius) * (end - radius))
        opposite = end if scale > 0 else arb(0)
        return self._piece((origin, opposite, scale, leave), integrand, self._length, bound, True)

    def _around_equilibrium(self, origin: arb, scale: arb, leave: arb) -> _Piece:
        """Return the piece around a zero of the speed."""
        end, radius = self._field.end, abs(scale)
        numerator, denominator = self._field.series(origin, scale, self._length)
        poles, nearest = self._poles(origin, scale)
        # The constant term is zero.
        divided = arb_series(numerator.coeffs()[1:])
        integrand = end * radius * denominator / (divided * poles)
        bound = end / (self._field.least_steepness(origin, radius) * nearest)
        place = (origin, end - origin, scale, leave)
        return self._piece(place, integrand, self._length - 1, bound, True)

    def _between(self, origin: arb, scale: arb, leave: arb) -> _Piece:
        """Return a piece around a centre that is no pole."""
        end = self._field.end
        numerator, denominator = self._field.series(origin, scale, self._length)
        poles, nearest = self._poles(origin, scale)
        integrand = end * denominator / (numerator * poles)
        bound = end / (self._field.least_speed(origin, scale) * nearest)
        place = (origin, end - origin, scale, leave)
        return self._piece(place, integrand, self._length, bound, False)

    def _poles(self, origin: arb, scale: arb) -> tuple[arb_series, arb]:
        """Return ``y (end - y)`` as a series, and its least size on the disc."""
        end, radius = self._field.end, abs(scale)
        series = arb_series([origin * (end - origin), scale * (end - 2 * origin), -(scale**2)])
        return series, (origin - radius) * (end - origin - radius)

    def _piece(
        self,
        place: tuple[arb, arb, arb, arb],
        integrand: Any,
        terms: int,
        bound: arb,
        polar: bool,
    ) -> _Piece:
        """Return the piece with an integrand.

        Args:
            place: its origin, what is opposite, its scale and where it is left.
            integrand: as a series, but for its sign.
            terms: how many of its terms are known.
            bound: its largest size on the disc.
            polar: whether a pole was taken out of the centre.
        """
        if not bound > 0:
            raise TooCoarseError
        origin, opposite, scale, leave = place
        coefficients = (-integrand if scale < 0 else integrand).coeffs()[:terms]
        tail = bound * self._reach**terms / (1 - self._reach)
        if polar:
            rest = [c / k for k, c in enumerate(coefficients[1:], 1)]
            primitive, error = arb_poly([arb(0), *rest]), 2 * tail / terms
        else:
            primitive, error = arb_poly(coefficients).integral() * scale, 2 * tail * scale
        return _Piece(
            origin=origin,
            opposite=opposite,
            scale=scale,
            polar=polar,
            integrand=arb_poly(coefficients),
            primitive=primitive,
            error=error.upper(),
            integrand_error=tail.upper(),
            reach=self._reach,
            entry=_local(origin, opposite, self._entry) / scale,
            begin=self._begin,
            exit=leave,
        )
