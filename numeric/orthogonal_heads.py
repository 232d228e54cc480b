"""Orthogonal heads in numbers: the closed system of shares and overlaps, and what is told of it.

The state is ``(ln(s_2/s_1), ..., ln(s_H/s_1), u_1, ..., u_H)`` with the logits u_h of the overlaps:
shares keep their sum 1 and their relative accuracy however small they get, and so do the gaps
``1 - rho_h``. A logit that never moves is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy as sp
from flint import arb

from numeric.balls import Balls, ball_precision, exact_ball
from numeric.collocation import Field
from numeric.float_arithmetic import Floats
from numeric.straight_line import Program, Trace
from numeric.walk import Arithmetic, walk
from symbolic import logit
from symbolic.block_flow import others, overlap_motion, rho, share, share_motion
from symbolic.flow import Model
from symbolic.notation import beta, lam, n
from symbolic.orthogonal_forms import (
    FORMS,
    GAP,
    LIFT,
    OTHER_WEIGHTS,
    OWN_WEIGHTS,
    REST,
    other_sizes,
)
from symbolic.orthogonal_heads import LIFT_OF_LOGIT, OVERLAP_OF_LOGIT

Bindings = dict[sp.Expr, Any]
"""Numbers for symbols and for whole parts of the closed forms."""

QUANTITIES = (
    "share",
    "overlap",
    "one_minus_overlap",
    "energy",
    "denergy",
    "entropy",
    "dentropy",
    "radial_cosine",
    "condition8",
    "condition8_sharp",
)
"""What is told of each head, in this order."""

# In float64, what vanishes at larger logits is like zero to a flow that goes on.
_LARGEST_LOGIT = 700.0
# Enough that rounding to float64 adds no second error to speak of.
_FLOAT_BITS = 100

_SEES_ITSELF, _SEES_OTHERS = sp.symbols("sees_itself sees_others")
_GIVEN = (lam, _SEES_ITSELF, _SEES_OTHERS)
"""What stays fixed of a head."""


@dataclass(frozen=True)
class OrthogonalHeads:
    """Heads ``lambda_h P_h`` with projectors on orthogonal blocks, n tokens equiangular in each.

    Attributes:
        model: one of the three models.
        lam: the strengths, one for each head.
        shares: the shares at time 0, positive, of sum 1.
        overlaps: the overlaps in each block at time 0, in (-1/(n-1), 1).
        beta: inverse temperature, not negative.
        n: the number of tokens, at least 2.
    """

    model: Model
    lam: tuple[Fraction, ...]
    shares: tuple[Fraction, ...]
    overlaps: tuple[Fraction, ...]
    beta: Fraction
    n: int

    @property
    def heads(self) -> range:
        """Return the indices of the heads."""
        return range(len(self.lam))

    @cached_property
    def own_active(self) -> tuple[bool, ...]:
        """Tell for each head whether relu lets a token see itself; this never changes."""
        return tuple(strength > 0 for strength in self.lam)

    @cached_property
    def others_active(self) -> tuple[bool, ...]:
        """Tell for each head whether relu lets a token see the others.

        This never changes: an overlap that is not seen does not move, and one that is moves away
        from zero.
        """
        return tuple(a * b > 0 for a, b in zip(self.lam, self.overlaps, strict=True))

    @cached_property
    def moving(self) -> tuple[int, ...]:
        """Return the heads whose overlaps move, which is from the start or never."""
        seen = self.others_active if self.model is Model.RELU else (True,) * len(self.lam)
        return tuple(h for h in self.heads if self.lam[h] != 0 and seen[h])

    def is_blind(self, h: int) -> bool:
        """Tell whether the aggregates of a head vanish."""
        sees = self.own_active[h] or self.others_active[h]
        return self.lam[h] == 0 or (self.model is Model.RELU and not sees)

    @property
    def size(self) -> int:
        """Return how many numbers the state has; none means that nothing moves."""
        return len(self.lam) - 1 + len(self.moving)

    def start(self) -> list[arb]:
        """Return the state at time 0 as balls at the precision in force."""
        ratios = [exact_ball(share / self.shares[0]).log() for share in self.shares[1:]]
        logits = self._start_logits()
        return ratios + [logits[h] for h in self.moving]

    def start_in_floats(self) -> npt.NDArray[np.float64]:
        """Return the state at time 0 in float64."""
        with ball_precision(_FLOAT_BITS):
            return np.array([float(x) for x in self.start()])

    def _start_logits(self) -> list[arb]:
        m = self.n - 1
        return [exact_ball((1 + m * x) / (1 - x)).log() for x in self.overlaps]

    @property
    def field(self) -> Field:
        """Return the right-hand side, for balls and for float64 arrays of states."""
        return Field(self._field_in_balls, self._field_in_floats)

    def _field_in_balls(self, state: Sequence[arb]) -> list[arb]:
        shares, _, logits = self._from_state(state)
        rows = zip(*self._given_in_balls(), shares, logits, strict=True)
        rates = _rates(self.model, exact_ball)([exact_ball(self.beta), arb(self.n)], rows)
        first = rates[0][0]
        return [rate - first for rate, _ in rates[1:]] + [rates[h][1] for h in self.moving]

    def _field_in_floats(self, states: Any) -> Any:
        ratios, logits = self._split(states)
        held = np.maximum(np.minimum(logits.real, _LARGEST_LOGIT), -_LARGEST_LOGIT)
        sizes = _sizes(ratios)
        shares = sizes / np.add.reduce(sizes, axis=-1, keepdims=True)
        row = (
            *self._given_in_floats,
            shares.view(_Numbers),
            (logits - (logits.real - held)).view(_Numbers),
        )
        fixed = [float(self.beta), float(self.n)]
        ((drive, rates),) = _rates(self.model, float)(fixed, [row])
        moved = (drive[..., 1:] - drive[..., :1], rates[..., list(self.moving)])
        return np.concatenate(moved, axis=-1).view(np.ndarray)

    def in_balls(self, state: Sequence[arb]) -> list[Bindings]:
        """Return what the closed forms of each head depend on, at a state of balls."""
        fixed = {beta: exact_ball(self.beta), n: arb(self.n)}
        varying = zip(*self._given_in_balls(), *self._from_state(state), strict=True)
        return [
            _bound(
                self.model,
                fixed | dict(zip((*_GIVEN, share, REST, logit.u), numbers, strict=True)),
                Balls(),
            )
            for numbers in varying
        ]

    def in_floats(self, states: npt.NDArray[np.float64]) -> list[Bindings]:
        """Return what the closed forms of each head depend on, at states (times, N), as arrays."""
        bindings = self._float_bindings(*self._split(states))

        def of_head(value: Any, h: int) -> Any:
            return value[..., h] if np.ndim(value) else value

        return [{key: of_head(value, h) for key, value in bindings.items()} for h in self.heads]

    def _given_in_balls(self) -> tuple[list[arb], list[int], list[int]]:
        """Return the numbers of `_GIVEN` for each head."""
        strengths = [exact_ball(strength) for strength in self.lam]
        return strengths, [int(x) for x in self.own_active], [int(x) for x in self.others_active]

    def _from_state(self, state: Sequence[arb]) -> tuple[list[arb], list[arb], list[arb]]:
        """Return shares, their differences from 1 and logits of all heads."""
        count = len(self.lam) - 1
        sizes = [arb(1), *(ratio.exp() for ratio in state[:count])]
        total = sum(sizes[1:], sizes[0])
        rests = [sum(sizes[:h] + sizes[h + 1 :], arb(0)) for h in self.heads]
        logits = self._start_logits()
        for h, value in zip(self.moving, state[count:], strict=True):
            logits[h] = value
        return [size / total for size in sizes], [rest / total for rest in rests], logits

    def _split(self, states: Any) -> tuple[Any, Any]:
        """Return log-ratios to the first share and logits, one of each for every head."""
        count = len(self.lam) - 1
        ratios = np.zeros((*states.shape[:-1], count + 1), states.dtype)
        ratios[..., 1:] = states[..., :count]
        logits = np.empty_like(ratios)
        logits[...] = self._float_logits
        logits[..., list(self.moving)] = states[..., count:]
        return ratios, logits

    @cached_property
    def _float_logits(self) -> npt.NDArray[np.float64]:
        with ball_precision(_FLOAT_BITS):
            return np.array([float(x) for x in self._start_logits()])

    @cached_property
    def _given_in_floats(self) -> list[npt.NDArray[np.float64]]:
        """Return the numbers of `_GIVEN`, one entry for each head."""
        return [np.array(x, np.float64) for x in (self.lam, self.own_active, self.others_active)]

    def _float_bindings(self, ratios: Any, logits: Any) -> Bindings:
        """Return what the closed forms depend on, as arrays whose last axis runs over the heads."""
        sizes = _sizes(ratios)
        total = sizes.sum(axis=-1, keepdims=True)
        numbers = {
            beta: float(self.beta),
            n: float(self.n),
            **dict(zip(_GIVEN, self._given_in_floats, strict=True)),
            share: sizes / total,
            REST: sizes @ (1.0 - np.eye(len(self.lam))) / total,
            logit.u: logits,
        }
        return _bound(self.model, numbers, Floats())

    def quantities(
        self, heads: Sequence[Bindings], arithmetic: Arithmetic
    ) -> Mapping[str, list[Any]]:
        """Return the `QUANTITIES` of each head, in the arithmetic of the bindings.

        Energies belong to ``beta > 0``; they are infinite or no numbers at ``beta = 0``.
        """
        forms = FORMS[self.model]
        shadows = [walk(forms.shadow, head, arithmetic) for head in heads]
        found: dict[str, list[Any]] = {name: [] for name in QUANTITIES}
        for h, head in enumerate(heads):
            foreign = [a for k, a in enumerate(shadows) if k != h]
            bound = head | {
                others: sum(foreign, shadows[h] * 0),
                other_sizes: sum((abs(a) for a in foreign), shadows[h] * 0),
            }
            bound[share_motion] = walk(forms.share_rate, bound, arithmetic)
            bound[overlap_motion] = walk(forms.overlap_rate, bound, arithmetic)
            told = {
                "share": bound[share],
                "overlap": bound[rho],
                "one_minus_overlap": bound[GAP],
                "energy": walk(forms.energy, bound, arithmetic),
                "denergy": walk(forms.energy_rate, bound, arithmetic),
                "entropy": walk(forms.entropy, bound, arithmetic),
                "dentropy": walk(forms.entropy_rate, bound, arithmetic),
                "radial_cosine": walk(forms.cosine, bound, arithmetic),
                "condition8": walk(forms.margin, bound, arithmetic),
                "condition8_sharp": walk(forms.sharp_margin, bound, arithmetic),
            }
            for name in QUANTITIES:
                found[name].append(told[name])
        return found


def _bound(model: Model, numbers: Bindings, arithmetic: Arithmetic) -> Bindings:
    """Return numbers of a head with those of the parts of the closed forms that follow."""
    bound = numbers | {
        rho: walk(OVERLAP_OF_LOGIT, numbers, arithmetic),
        GAP: walk(logit.GAP, numbers, arithmetic),
        LIFT: walk(LIFT_OF_LOGIT, numbers, arithmetic),
    }
    if model is Model.RELU:
        # The branch of each maximum is known, so that the flow is smooth.
        score = bound[lam] * bound[share]
        bound[OWN_WEIGHTS[model]] = bound[_SEES_ITSELF] * score
        bound[OTHER_WEIGHTS[model]] = bound[_SEES_OTHERS] * (score * bound[rho])
    return bound


def _sizes(ratios: Any) -> Any:
    """Return numbers in proportion to the shares, the largest of them 1."""
    return np.exp(ratios - np.maximum.reduce(ratios.real, axis=-1, keepdims=True))


class _Numbers(np.ndarray):
    """Arrays that have functions for methods, as straight lines ask for."""

    def exp(self) -> Any:
        return np.exp(self)

    def tanh(self) -> Any:
        return np.tanh(self)


@cache
def _rates(model: Model, number: Callable[[Fraction], Any]) -> Program:
    """Return the program for fitness and rate of the logit, one head in each row.

    Its numbers are of the kind that ``number`` makes of a fraction.
    """
    trace = Trace()
    numbers = {symbol: trace.fixed_number() for symbol in (beta, n)}
    numbers |= {symbol: trace.varying_number() for symbol in (*_GIVEN, share, logit.u)}
    bound = _bound(model, numbers, trace)
    lines = [walk(form, bound, trace) for form in (FORMS[model].fitness, FORMS[model].logit_rate)]
    return trace.program(*lines)(number)
