"""What is told of each head along a trajectory of the scalar regime: columns of numbers.

The closed forms come from the symbolic layer, with ``1 - gamma`` and ``1 + (n-1) gamma`` as numbers
of their own, so that they keep their digits near the ends of the domain.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache, reduce
from typing import Any

import numpy as np
import sympy as sp
from flint import arb

from numeric.balls import Balls, ball_precision, exact_ball
from numeric.float_arithmetic import Bounded, BoundedFloats
from numeric.simulation import Array
from numeric.straight_line import Program, Trace
from numeric.trajectory_arrays import Overlaps
from numeric.trajectory_regime import Regime, State
from numeric.trajectory_series import Field
from numeric.walk import Arithmetic, walk
from symbolic import attention_entropy
from symbolic.attention_entropy import motion
from symbolic.equiangular_quantities import (
    ENERGY,
    ENERGY_RATE,
    ENTROPY_RATE,
    POWERS,
    SHADOWS,
)
from symbolic.flow import Model
from symbolic.notation import beta, gamma, lam, n
from symbolic.written import written

QUANTITIES = (
    "energy",
    "denergy",
    "entropy",
    "dentropy",
    "radial_cosine",
    "condition8",
    "condition8_sharp",
)
"""Names of the columns, each with one column for each head, in their order."""
OF_TEMPERATURE = QUANTITIES[:4]
"""Those that depend on beta under relu, too."""

_gap = sp.Symbol("gap", positive=True)
_height = sp.Symbol("height", positive=True)
_NUMBERS = {1 - gamma: _gap, written(lambda: 1 + (n - 1) * gamma): _height}

BallColumns = dict[str, dict[Fraction, list[arb]]]
"""By quantity and strength, one ball for each state."""

# Relative error that a float64 value may have before balls take over, and their precision.
_TOLERANCE, _BALL_BITS = 1e-12, 1024


@cache
def forms(model: Model) -> Mapping[str, sp.Expr]:
    """Return what the columns are computed from, in terms of gamma, gap, height and motion.

    At beta = 0 the energy is infinite.
    """
    written_forms = {
        "energy": ENERGY,
        "denergy": ENERGY_RATE,
        "entropy": attention_entropy.SHARES_FORM,
        "dentropy": ENTROPY_RATE,
        "shadow": SHADOWS[model],
        "power": POWERS[model],
    }
    return {name: form.xreplace(_NUMBERS) for name, form in written_forms.items()}


def is_unknown(regime: Regime, name: str) -> bool:
    """Tell whether a column needs an inverse temperature that was left out."""
    return regime.beta is None and name in OF_TEMPERATURE


def is_blind(regime: Regime, strength: Fraction) -> bool:
    """Tell whether a head's aggregate vanishes, so that it has no radial cosine.

    Under relu gamma never changes its sign.
    """
    return strength == 0 or (regime.model is Model.RELU and strength < 0 and regime.start >= 0)


def ball_columns(regime: Regime, sign: int, states: Sequence[State]) -> BallColumns:
    """Return the columns as balls at the precision in force.

    Args:
        regime: the regime.
        sign: the sign of gamma' along the trajectory.
        states: the states.
    """
    strengths, counts = _distinct(regime)
    motions = [_motion(regime, sign, state) for state in states]
    numbers = [exact_ball(strength) for strength in strengths]
    table = _in_balls(regime, numbers, counts, states, motions)
    columns = {
        name: {strength: [row[h] for row in rows] for h, strength in enumerate(strengths)}
        for name, rows in table.items()
    }
    for strength in strengths:
        if regime.beta == 0:
            columns["energy"][strength] = [arb.pos_inf()] * len(states)
        if is_blind(regime, strength):
            columns["radial_cosine"][strength] = [arb.nan()] * len(states)
    return columns


def float_columns(
    regime: Regime, states: Overlaps, motions: Array
) -> dict[str, dict[Fraction, Array]]:
    """Return the columns as float64 arrays, by quantity and strength.

    Each value has a bound of its rounding error; where that is too large, it is computed in balls
    from the same float64 numbers.

    Args:
        regime: the regime, whose numbers are in the range of float64.
        states: the states, of shape (T,).
        motions: gamma' there.
    """
    strengths, counts = _distinct(regime)
    with np.errstate(all="ignore"):
        table = _bounded(regime, strengths, counts, states, motions)
    columns: dict[str, dict[Fraction, Array]] = {name: {} for name in QUANTITIES}
    rough: dict[tuple[str, int], Any] = {}
    for name, entries in table.items():
        for h, entry in enumerate(entries):
            # Adding zero turns a negative zero into the plain one.
            values = np.array(np.broadcast_to(entry.value + 0.0, motions.shape))
            close = np.isfinite(entry.error) & (entry.error <= _TOLERANCE * np.abs(values))
            rough[name, h] = ~np.broadcast_to(close, motions.shape)
            columns[name][strengths[h]] = values
    places = np.nonzero(np.any(list(rough.values()), axis=0))[0]
    numbers = [arb(float(strength)) for strength in strengths]
    some = [
        State(*(arb(float(part[k])) for part in (states.gamma, states.gap, states.rise)))
        for k in places
    ]
    with ball_precision(_BALL_BITS):
        exact = _in_balls(regime, numbers, counts, some, [arb(float(motions[k])) for k in places])
    for (name, h), mask in rough.items():
        for row, k in zip(exact[name], places, strict=True):
            if mask[k]:
                columns[name][strengths[h]][k] = 0.0 if row[h].contains(0) else float(row[h])
    for strength in strengths:
        if regime.beta == 0:
            columns["energy"][strength][:] = np.inf
        if is_blind(regime, strength):
            columns["radial_cosine"][strength][:] = np.nan
    return columns


def _distinct(regime: Regime) -> tuple[list[Fraction], list[int]]:
    """Return the different strengths, and how many heads have each."""
    counts = Counter(regime.strengths)
    return list(counts), list(counts.values())


def _motion(regime: Regime, sign: int, state: State) -> arb:
    """Return gamma' at a state."""
    if sign == 0:
        return arb(0)
    if regime.model is Model.RELU:
        rate = 2 * exact_ball(regime.drive) * state.gamma
    else:
        near = state.gap if sign > 0 else state.rise
        rate = sign * Field.of(regime, sign).speed(near)
    return rate * state.gap * state.rise / exact_ball(regime.end)


def _in_balls(
    regime: Regime,
    strengths: Sequence[arb],
    counts: Sequence[int],
    states: Sequence[State],
    motions: Sequence[arb],
) -> dict[str, list[list[arb]]]:
    """Return for each quantity a row for each state, with a ball for each strength."""
    names = list(forms(regime.model))
    fixed = (exact_ball(regime.beta or Fraction(0)), exact_ball(Fraction(regime.n)))
    rows = [
        (strength, state.gamma, state.gap, (fixed[1] - 1) * state.rise, moved)
        for state, moved in zip(states, motions, strict=True)
        for strength in strengths
    ]
    values = [
        dict(zip(names, value, strict=True))
        for value in _program(regime.model)(exact_ball)(fixed, rows)
    ]
    table: dict[str, list[list[arb]]] = {name: [] for name in QUANTITIES}
    for begin in range(0, len(values), len(strengths)):
        told = _told(values[begin : begin + len(strengths)], counts, Balls())
        for name, row in told.items():
            table[name].append(row)
    return table


@cache
def _program(model: Model) -> Callable[[Callable[[Fraction], Any]], Program]:
    """Return the compiled forms: beta and n are fixed, then for each row what they depend on."""
    trace = Trace()
    bindings: dict[sp.Symbol, Any] = {symbol: trace.fixed_number() for symbol in (beta, n)}
    for symbol in (lam, gamma, _gap, _height, motion):
        bindings[symbol] = trace.varying_number()
    return trace.program(*(walk(form, bindings, trace) for form in forms(model).values()))


def _bounded(
    regime: Regime,
    strengths: Sequence[Fraction],
    counts: Sequence[int],
    states: Overlaps,
    motions: Array,
) -> dict[str, list[Bounded]]:
    """Return for each quantity arrays with bounds of their errors, one for each strength."""
    arithmetic = BoundedFloats()

    def known(value: Any) -> Bounded:
        return Bounded(np.asarray(value, dtype=np.float64), 0.0)

    bindings = {
        beta: known(float(regime.beta or 0)),
        n: known(float(regime.n)),
        gamma: known(states.gamma),
        _gap: known(states.gap),
        _height: known(float(regime.n - 1)) * known(states.rise),
        motion: known(motions),
    }
    told = [
        {
            name: walk(form, {**bindings, lam: known(float(strength))}, arithmetic)
            for name, form in forms(regime.model).items()
        }
        for strength in strengths
    ]
    return _told(told, counts, arithmetic)


def _told(
    values: Sequence[Mapping[str, Any]], counts: Sequence[int], arithmetic: Arithmetic
) -> dict[str, list[Any]]:
    """Return the quantities from the forms' values, one entry for each strength.

    Args:
        values: the values of the forms for each strength.
        counts: how many heads have each strength.
        arithmetic: that of the values.
    """
    minus = arithmetic.rational(Fraction(-1))
    sizes = [arithmetic.larger(value["shadow"], minus * value["shadow"]) for value in values]
    table: dict[str, list[Any]] = {name: [v[name] for v in values] for name in OF_TEMPERATURE}
    for name in QUANTITIES[len(OF_TEMPERATURE) :]:
        table[name] = []
    for h, value in enumerate(values):
        others = [
            size * arithmetic.rational(Fraction(count - (k == h)))
            for k, (size, count) in enumerate(zip(sizes, counts, strict=True))
        ]
        foreign = reduce(operator.add, others)
        length = arithmetic.function("sqrt", value["shadow"] * value["shadow"] + value["power"])
        table["radial_cosine"].append(value["shadow"] * arithmetic.power(length, -1))
        table["condition8"].append(value["power"] + minus * length * foreign)
        table["condition8_sharp"].append(value["power"] + minus * sizes[h] * foreign)
    return table
