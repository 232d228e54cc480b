"""Certified times of passage: Gauss-Legendre quadrature on balls with a proved bound of the error.

The integrand is ``(1/eps + 1/(e - eps))/F(eps)`` with ``e = n/(n-1)``. Its poles at the ends of the
domain are taken out and integrated by hand where the path comes close to one, so that what is left
is smooth up to 1 - gamma = 0 and few nodes are enough. Where the integrand g is analytic with
``|g| <= M`` on the Bernstein ellipse with parameter rho around a piece of half-length h, N nodes
integrate it with an error of at most ``(64/15) M h rho^(-2N)/(1 - rho^(-2))`` (Trefethen, Is Gauss
quadrature better than Clenshaw-Curtis?, 2008, Theorem 4.5). Balls over a cover of the ellipse show
that 1/F is analytic there, and bound it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from math import ceil, log
from typing import Any

import flint
import sympy as sp
from flint import acb, arb

from numeric.straight_line import Program, Trace
from numeric.walk import walk
from symbolic.passage import eps

Field = Callable[[Sequence[Any]], list[Any]]
"""Takes gaps, real or complex, and returns the rate of the logit at each."""

_ELLIPSES = (2.2, 3, 4.5, 7, 12, 24)
# From this precision on nodes cost more than values: pieces are halved until few nodes do.
_MANY_BITS, _LEAST_RHO = 1500, 7
# Boxes that cover half an ellipse, lengthwise and across.
_BOXES = (6, 3)
_PLAN_BITS = 64
_MOST_PIECES = 1000
# A pole is taken out where it is nearer than the path is long, unless that costs these bits.
_MOST_CANCELLED = arb(2) ** 16


def passage_time(field: Field, start: arb, stop: arb, tokens: arb, *, regular: bool) -> arb:
    """Return a ball around the time in which the gap moves from ``start`` to ``stop``.

    Args:
        field: the rate of the logit of the overlap as a function of the gap, which must not
            increase. So a flow that starts in the right direction gains speed and arrives.
        start: first gap, between 0 and n/(n-1).
        stop: last gap.
        tokens: number of tokens.
        regular: whether to leave out ``ln(start/stop)/F(0)``, so that ``stop`` may be 0.

    Returns:
        A ball at the precision in force; infinity, exactly, where the field leads away from the
        last gap; a ball that is not finite where the precision is too low.
    """
    up = start > stop
    if not up and not start < stop:
        return arb("nan")
    low, high = (stop, start) if up else (start, stop)
    least = _LEAST_RHO if flint.ctx.prec >= _MANY_BITS else 0
    ellipses = [rho for rho in _ELLIPSES if rho >= least]
    path = _Path(field, low, high, tokens / (tokens - 1), 1 if up else -1, ellipses)
    (rate,) = path.rates([start])
    if not rate > 0:
        return arb.pos_inf() if rate <= 0 else arb("nan")
    poles = path.poles(regular)
    plan = path.plan(poles)
    if plan is None:
        return arb("nan")
    by_hand = [pole.integral for pole in poles if not (regular and pole.at_consensus)]
    return sum(by_hand, path.integral(plan.pieces, poles) + plan.rest)


def bound_field(
    field: sp.Expr, bindings: Mapping[sp.Basic, Any], number: Callable[[Fraction], arb]
) -> Field:
    """Return a field as a function of gaps, compiled, at given numbers of its other symbols.

    Args:
        field: an expression in `eps`.
        bindings: a ball for each symbol, a tuple of balls for the strengths of heads.
        number: returns the ball of a rational constant.
    """
    shapes = tuple(
        (symbol, len(value) if isinstance(value, tuple) else None)
        for symbol, value in bindings.items()
    )
    fixed = [
        ball
        for value in bindings.values()
        for ball in (value if isinstance(value, tuple) else (value,))
    ]
    program = _field_program(field, shapes)(number)

    def rates(gaps: Sequence[Any]) -> list[Any]:
        found = program(fixed, ((gap,) for gap in gaps))
        wide = [k for k, rate in enumerate(found) if not rate.is_finite()]
        if wide and isinstance(field, sp.Sum):
            repaired = _head_by_head(field, bindings, number, [gaps[k] for k in wide])
            for k, rate in zip(wide, repaired, strict=True):
                found[k] = rate
        return found

    return rates


def _head_by_head(
    total: sp.Sum,
    bindings: Mapping[sp.Basic, Any],
    number: Callable[[Fraction], arb],
    gaps: Sequence[Any],
) -> list[Any]:
    """Return a sum over heads at gaps, each head in the form that has a finite ball there.

    Where an exponent is large, a box wider than its period makes the exponential a ball around 0,
    and a sum with it may vanish. The inverse exponential is then small, and no denominator with it
    does. Wide boxes thus cover all of the path on which a steep head is idle, or saturated.
    """
    (strength,) = total.function.atoms(sp.Indexed)
    heads = bindings[strength.base]
    others = {symbol: ball for symbol, ball in bindings.items() if symbol != strength.base}
    shapes = ((strength, None), *((symbol, None) for symbol in others))
    forms = (total.function, _by_inverse_exponentials(total.function))
    programs = [_field_program(form, shapes)(number) for form in forms]
    sums = [arb(0)] * len(gaps)
    for head in heads:
        tables = [
            program([head, *others.values()], ((gap,) for gap in gaps)) for program in programs
        ]
        terms = [
            next((t for t in row if t.is_finite()), row[0]) for row in zip(*tables, strict=True)
        ]
        sums = [done + term for done, term in zip(sums, terms, strict=True)]
    return sums


@cache
def _by_inverse_exponentials(expression: sp.Expr) -> sp.Expr:
    """Return an equal expression with ``exp(-x)`` instead of each ``exp(x)``."""
    inverses = {power: sp.Dummy() for power in expression.atoms(sp.exp)}
    quotient = sp.cancel(expression.xreplace({p: 1 / e for p, e in inverses.items()}))
    return quotient.xreplace({e: sp.exp(-p.args[0]) for p, e in inverses.items()})


@cache
def _field_program(
    field: sp.Expr, shapes: tuple[tuple[sp.Basic, int | None], ...]
) -> Callable[[Callable[[Fraction], Any]], Program]:
    trace = Trace()
    bindings: dict[sp.Basic, Any] = {
        symbol: trace.fixed_number()
        if count is None
        else tuple(trace.fixed_number() for _ in range(count))
        for symbol, count in shapes
    }
    return trace.program(walk(field, {**bindings, eps: trace.varying_number()}, trace))


@dataclass(frozen=True)
class _Pole:
    """A pole of the integrand that is taken out: the place, the residue, its integral by hand."""

    at_consensus: bool
    residue: arb
    integral: arb


@dataclass(frozen=True)
class _Piece:
    """An interval with an ellipse on which the integrand is bounded.

    Attributes:
        low: its lower end.
        high: its upper end.
        rho: the parameter of the ellipse.
        bound: of the integrand on the ellipse.
    """

    low: arb
    high: arb
    rho: float
    bound: arb

    @property
    def middle(self) -> arb:
        """Return the middle, at the precision in force."""
        return (self.low + self.high) / 2

    @property
    def half(self) -> arb:
        """Return half the length, at the precision in force."""
        return (self.high - self.low) / 2

    def nodes(self, tolerance: arb) -> int:
        """Return how many nodes make the error at most the tolerance, a multiple of four."""
        ratio = (5 * self.bound * self.half / tolerance).log().upper()
        wanted = float(ratio) / (2 * log(self.rho))
        return 4 * max(1, ceil(wanted / 4))

    def error(self, nodes: int) -> arb:
        """Return a bound of the error of the quadrature."""
        square = arb(self.rho) ** -2
        return arb(64) / 15 * self.bound * self.half * square**nodes / (1 - square)


@dataclass(frozen=True)
class _Plan:
    """The pieces to integrate over, and a ball that holds the integral over all the rest."""

    pieces: Sequence[_Piece]
    rest: arb


@dataclass(frozen=True)
class _Path:
    """The integral over the gap from low to high, of the time along the direction."""

    field: Field
    low: arb
    high: arb
    end: arb
    direction: int
    ellipses: Sequence[float]

    def rates(self, gaps: Sequence[Any]) -> list[Any]:
        """Return the rates of the logit in the direction of the path."""
        return [self.direction * rate for rate in self.field(gaps)]

    def poles(self, regular: bool) -> list[_Pole]:
        """Return the poles to take out: those that are near, if the field goes along there."""
        length = self.high - self.low
        near = [
            (True, arb(0), self.low, (self.high / self.low).log()),
            (
                False,
                self.end,
                self.high,
                ((self.end - self.low) / (self.end - self.high)).log(),
            ),
        ]
        found = []
        for at_consensus, place, side, logarithm in near:
            here, beside = self.rates([place, side])
            wanted = regular and at_consensus
            close = abs(place - side) < length and beside < here * _MOST_CANCELLED
            if here > 0 and (wanted or close):
                found.append(_Pole(at_consensus, 1 / here, logarithm / here))
        return found

    def plan(self, poles: Sequence[_Pole]) -> _Plan | None:
        """Return pieces that make up the path, None if there are too many."""
        wanted = flint.ctx.prec
        # Low precision does, unless strengths nearly cancel.
        for bits in (_PLAN_BITS, wanted):
            with flint.ctx.workprec(bits):
                plan = self._plan(poles, wanted)
            if plan is not None:
                return plan
        return None

    def _plan(self, poles: Sequence[_Pole], wanted: int) -> _Plan | None:
        waiting = [(self.low, self.high)]
        done: list[_Piece] = []
        rest, size = arb(0), self._size([], poles)
        while waiting:
            low, high = waiting.pop()
            piece = self._piece(low, high, poles)
            if piece is not None:
                done.append(piece)
                size += self._size([piece], []).mid()
                continue
            bound = self._crude_bound(low, high, poles)
            middle = ((low + high) / 2).mid()
            if bound < size / arb(2) ** (wanted + 10):
                rest += arb(0, bound.upper())
            elif len(done) + len(waiting) < _MOST_PIECES:
                # The slower end, where the most time is spent, comes first.
                halves = [(low, middle), (middle, high)]
                waiting += halves if self.direction > 0 else halves[::-1]
            else:
                return None
        return _Plan(done, rest)

    def _crude_bound(self, low: arb, high: arb, poles: Sequence[_Pole]) -> arb:
        """Return a bound of the integral over a piece: the field is slowest where it starts."""
        (slowest,) = self.rates([high if self.direction > 0 else low])
        residues = {pole.at_consensus: pole.residue for pole in poles}
        left, right = (1 / slowest + residues.get(key, arb(0)) for key in (True, False))
        return arb((high - low) * (left / low + right / (self.end - high)))

    def _piece(self, low: arb, high: arb, poles: Sequence[_Pole]) -> _Piece | None:
        """Return a piece with the largest ellipse on which a bound is shown, if there is one."""
        found = None
        for rho in self.ellipses:
            bound = self._bound((low + high) / 2, (high - low) / 2, rho, poles)
            if bound is None:
                break
            found = _Piece(low, high, rho, bound)
        return found

    def _bound(self, middle: arb, half: arb, rho: float, poles: Sequence[_Pole]) -> arb | None:
        """Return a bound of the integrand on an ellipse, None where it may not be analytic."""
        wide, tall = half * (rho + 1 / arb(rho)) / 2, half * (rho - 1 / arb(rho)) / 2
        distances = []
        for at_consensus, place in ((True, arb(0)), (False, self.end)):
            taken_out = [pole for pole in poles if pole.at_consensus == at_consensus]
            distance = _distance(abs(place - middle), half, wide, tall, bool(taken_out))
            if not distance > 0:
                return None
            distances.append((distance, taken_out[0].residue if taken_out else arb(0)))
        slowest = [rate.abs_lower() for rate in self.rates(_cover(middle, wide, tall))]
        # Not a number compares as false: it is refused here, and would be passed over by `min`.
        if not all(rate > 0 for rate in slowest):
            return None
        largest = 1 / min(slowest)
        terms = [(largest + abs(residue)) / distance for distance, residue in distances]
        return arb(terms[0] + terms[1]).upper()

    def integral(self, pieces: Sequence[_Piece], poles: Sequence[_Pole]) -> arb:
        """Return the integral without the parts of the poles, with its error in the ball."""
        tolerance = self._size(pieces, poles) / len(pieces) / arb(2) ** flint.ctx.prec
        if not tolerance > 0:
            # Too close to an end of the domain for this precision.
            return arb("nan")
        counts = [piece.nodes(tolerance) for piece in pieces]
        gaps, weights, error = [], [], arb(0)
        for piece, count in zip(pieces, counts, strict=True):
            error += piece.error(count)
            middle, half = piece.middle, piece.half
            for place, weight in _gauss_legendre(count, flint.ctx.prec):
                gaps += [middle - half * place, middle + half * place]
                weights += [half * weight] * 2
        total = self._sum(gaps, weights, poles)
        return total + arb(0, error.upper())

    def _sum(self, gaps: Sequence[arb], weights: Sequence[arb], poles: Sequence[_Pole]) -> arb:
        """Return the weighted sum of the integrand without the parts of the poles."""
        residues = {pole.at_consensus: pole.residue for pole in poles}
        left, right = residues.get(True, arb(0)), residues.get(False, arb(0))
        total = arb(0)
        for gap, weight, rate in zip(gaps, weights, self.rates(gaps), strict=True):
            time = 1 / rate
            total += weight * ((time - left) / gap + (time - right) / (self.end - gap))
        return total

    def _size(self, pieces: Sequence[_Piece], poles: Sequence[_Pole]) -> arb:
        """Return about how large the integral is, poles included; a scale for the tolerance."""
        middles = [piece.middle for piece in pieces]
        rest = self._sum(middles, [2 * piece.half for piece in pieces], poles)
        return (
            abs(rest) + sum((abs(p.integral) for p in poles if p.integral.is_finite()), arb(0))
        ).mid()


def _distance(place: arb, half: arb, wide: arb, tall: arb, inside: bool) -> arb:
    """Return how far an ellipse is from a point on its long axis, not a number if not known.

    Args:
        place: distance of the point from the middle.
        half: distance of the foci from the middle.
        wide: the long half-axis.
        tall: the short half-axis.
        inside: whether the point may be inside.
    """
    if place > wide:
        return place - wide
    if inside and place * wide < half**2:
        return tall * (1 - (place / half) ** 2).sqrt()
    if inside and place < wide:
        # Beyond the focus of curvature the vertex is nearest; elsewhere it is not, so not known.
        return wide - place if place * wide > half**2 else arb("nan")
    return arb("nan")


def _cover(middle: arb, wide: arb, tall: arb) -> list[acb]:
    """Return boxes that cover the upper half of an ellipse; the lower half mirrors it."""
    along, across = _BOXES
    boxes = []
    for k in range(along):
        left, right = arb(2 * k - along) / along, arb(2 * k + 2 - along) / along
        nearest = min(abs(left), abs(right))
        height = tall * (1 - nearest**2).sqrt()
        real = middle + wide * left.union(right)
        boxes += [
            acb(real, height * (arb(j) / across).union(arb(j + 1) / across)) for j in range(across)
        ]
    return boxes


@lru_cache(maxsize=256)
def _gauss_legendre(count: int, _bits: int) -> list[tuple[arb, arb]]:
    """Return the positive half of the nodes with their weights, at the precision in force."""
    return [arb.legendre_p_root(count, k, weight=True) for k in range(count // 2)]
