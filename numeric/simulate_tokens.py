"""The flow of n tokens simulated: tokens over time, with what is told of heads as columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from math import ceil
from typing import Any

import numpy as np
from flint import arb

from numeric.balls import ball_precision
from numeric.decided_text import decided_text
from numeric.evaluate import checked_digits
from numeric.heads import Heads, dense_heads, nearest_float
from numeric.rounding import rounded_rational, upper_text
from numeric.schedule import read_times
from numeric.simulation import Array, Column, Simulation
from numeric.token_flow import TokenFlow, ball_inner, ball_rows, ball_sum
from numeric.token_quantities import (
    BallQuantities,
    TokenQuantities,
    ball_quantities,
    token_quantities,
)
from numeric.token_range import check_exponents, check_range
from numeric.token_start import Tokens, exact_tokens, float_tokens
from numeric.token_trajectory import estimated_error, followed, followed_float64
from symbolic.errors import InputError
from symbolic.numbers import exact_text
from symbolic.parameter import INVERSE_TEMPERATURE, MODEL

Progress = Callable[[float], None]


MOST_DIGITS = 1000
"""Most digits of a flow of tokens."""

MOST_COORDINATES = 10_000
"""Most coordinates ``n d`` of tokens with digits."""

# Digits of the state beyond those of the columns, at first and at most: differences cancel.
_GUARD = 8
_MOST_GUARD = 100
_GUARD_BITS = 64
_DIGIT_BITS = 3.3219281
# Scores that are held at a time in float64.
_MOST_SCORES = 10**6


def simulate_tokens(
    *,
    model: str = "softmax",
    heads: object,
    tokens: object,
    beta: object,
    times: object = None,
    until: object = None,
    points: object = None,
    digits: int | None = 50,
    flat: bool = False,
    progress: Progress | None = None,
) -> Simulation:
    """Return the trajectory of n tokens under any heads.

    Args:
        model: ``softmax``, ``unnormalised`` or ``relu``; under relu only the columns of energies
            and entropies depend on beta.
        heads: `Heads` of `numeric.heads` or of an array file, or else matrices M_h as `dense_heads`
            takes them.
        tokens: `Tokens` of `numeric.token_start` or of an array file, or else n rows of d exact
            numbers or a float array, all unit vectors.
        beta: inverse temperature, exact, not negative.
        times: exact times, not negative, ascending; or else:
        until: the last of evenly spaced times from 0.
        points: how many of these, 50 by default.
        digits: significant digits of all columns, at most 1000; they rest on an estimate of the
            error, which is kept below them. Where a number does not let them be decided, it has
            fewer digits, and a remark says so. None for float64.
        flat: ``x_i' = v_i`` instead of ``x_i' = P_{x_i} v_i``: tokens leave the sphere.
        progress: called now and then with the part that is done, from 0 to 1.

    Returns:
        A `Simulation` with the tokens as ``states`` and the columns t, then for each head k (from
        1), grouped by quantity: energy_h<k>, denergy_h<k> (along the flow), entropy_h<k> and
        dentropy_h<k> (mean over tokens, of softmax(beta s) in every model), radial_cosine_h<k> (the
        largest over tokens, nan if all aggregates vanish), condition8_h<k> and
        condition8_sharp_h<k> (least margin over tokens, not negative where it holds); then the
        totals energy and denergy, and shadow_min_h<k>, the least radial shadow over tokens. At
        beta = 0 energies are ``+inf`` and their derivatives the limits.

    Raises:
        InputError: for values that are not exact, outside their domains or do not match.
        UndecidedError: if the flow cannot be followed to the last time: flat tokens can blow up.
    """
    start, given = _tokens(tokens), _heads(heads)
    if start.d != given.d:
        raise InputError(f"tokens: d = {start.d}, but the heads have d = {given.d}")
    flow = TokenFlow(
        str(MODEL.read(model)), given, INVERSE_TEMPERATURE.read(beta), start.n, bool(flat)
    )
    at, asked = read_times(times, until, points)
    check_range(flow, at[-1], "until" if times is None else "times")
    remarks = [*start.remarks, *_remarks(flow)]
    wanted = None if digits is None else _digits(digits)
    if wanted is None:
        check_exponents(flow, start.floats)
        columns, states, error, more = _float64(flow, start, at)
    else:
        columns, states, error, more = _decimal(flow, start, at, wanted, progress)
    remarks += more
    parameters: dict[str, str | Sequence[str]] = {
        "model": flow.model,
        "dynamics": "flat" if flow.flat else "spherical",
        "beta": exact_text(flow.beta),
        "n": str(flow.n),
        "d": str(flow.d),
        "H": str(given.count),
        **given.parameters,
        **start.parameters,
        **asked,
    }
    return Simulation("tokens", parameters, wanted, columns, error, False, tuple(remarks), states)


def _tokens(given: object) -> Tokens:
    """Return tokens from what a call may give."""
    if isinstance(given, Tokens):
        return given
    if isinstance(given, np.ndarray) and given.dtype.kind == "f":
        return float_tokens(given)
    rows: Any = given
    return exact_tokens(rows)


def _heads(given: object) -> Heads:
    """Return heads from what a call may give."""
    return given if isinstance(given, Heads) else dense_heads(given)


def _digits(digits: int) -> int:
    """Return the number of digits asked for."""
    count = checked_digits(digits)
    if count > MOST_DIGITS:
        raise InputError(f"digits: {count} is not accepted here; give at most {MOST_DIGITS}")
    return count


def _remarks(flow: TokenFlow) -> list[str]:
    """Return what the reader should know of any run of a flow."""
    remarks = []
    if flow.model == "relu":
        remarks.append("relu: beta is only that of energies and entropies")
    if flow.beta == 0:
        remarks.append("beta = 0: energies are infinite, their derivatives are the limits")
    if flow.flat:
        remarks.append(
            "flat: Condition 8 is about the sphere; off it the margins follow its formula"
        )
    return remarks


def _float64(
    flow: TokenFlow, tokens: Tokens, times: Sequence[Fraction]
) -> tuple[dict[str, Column], Array, str, list[str]]:
    """Return columns, tokens, the estimated error and remarks in float64."""
    at = np.array([nearest_float(t) for t in times])
    states = followed_float64(flow, tokens.floats, at)
    error = estimated_error(flow, tokens.floats, at, states)
    step = max(1, _MOST_SCORES // (flow.heads.count * flow.n**2))
    rows = [
        _float_row(token_quantities(flow, states[i : i + step])) for i in range(0, len(at), step)
    ]
    columns = {name: np.concatenate([row[name] for row in rows]) for name in rows[0]}
    defect = float(np.abs((states**2).sum(axis=-1) - 1).max())
    remarks = _length_remarks(flow, f"{defect:.1e}") if defect > 0 else []
    endless = [
        name
        for name, column in columns.items()
        if not np.isfinite(column).all()
        and not name.startswith("radial_cosine")
        and not (flow.beta == 0 and name.startswith("energy"))
    ]
    if endless:
        remarks.append(f"beyond the range of float64 somewhere: {', '.join(endless)}")
    return {"t": at, **columns}, states, f"{error:.1e}", remarks


def _float_row(found: TokenQuantities) -> dict[str, Array]:
    """Return the columns of states at some times."""
    rates = found.energy_rates
    cosines = np.where(np.isnan(found.cosines), -np.inf, found.cosines).max(axis=-1)
    per_head = {
        "energy": np.full_like(rates, np.inf) if found.energies is None else found.energies,
        "denergy": rates,
        "entropy": found.entropies.mean(axis=-1),
        "dentropy": found.entropy_rates.mean(axis=-1),
        "radial_cosine": np.where(np.isneginf(cosines), np.nan, cosines),
        "condition8": found.margins.min(axis=-1),
        "condition8_sharp": found.sharp_margins.min(axis=-1),
        "shadow_min": found.shadows.min(axis=-1),
    }
    heads = {name: list(values.T) for name, values in per_head.items()}
    return _row(heads, lambda columns: np.sum(columns, axis=0))


def _ball_row(found: BallQuantities) -> dict[str, arb]:
    """Return the columns of one state."""
    per_head = {
        "energy": found.energies or [arb.pos_inf()] * len(found.energy_rates),
        "denergy": found.energy_rates,
        "entropy": [_mean(head) for head in found.entropies],
        "dentropy": [_mean(head) for head in found.entropy_rates],
        "radial_cosine": [_largest(head) for head in found.cosines],
        "condition8": [reduce(arb.min, head) for head in found.margins],
        "condition8_sharp": [reduce(arb.min, head) for head in found.sharp_margins],
        "shadow_min": [reduce(arb.min, head) for head in found.shadows],
    }
    return _row(per_head, ball_sum)


def _row(per_head: Mapping[str, list[Any]], total: Callable[[list[Any]], Any]) -> dict[str, Any]:
    """Return the columns by name, in order, from those of each head by quantity."""
    row = {
        f"{name}_h{h}": value
        for name, values in per_head.items()
        if name != "shadow_min"
        for h, value in enumerate(values, 1)
    }
    row |= {name: total(per_head[name]) for name in ("energy", "denergy")}
    return row | {f"shadow_min_h{h}": x for h, x in enumerate(per_head["shadow_min"], 1)}


def _mean(values: list[arb]) -> arb:
    return ball_sum(values) / len(values)


def _largest(cosines: list[arb]) -> arb:
    """Return the largest of the cosines that there are."""
    finite = [cosine for cosine in cosines if cosine.is_finite()]
    return reduce(arb.max, finite) if finite else arb.nan()


def _decimal(
    flow: TokenFlow,
    tokens: Tokens,
    times: Sequence[Fraction],
    digits: int,
    progress: Progress | None,
) -> tuple[dict[str, Column], Array, str, list[str]]:
    """Return columns as texts, tokens in float64, the estimated error and remarks."""
    if flow.n * flow.d > MOST_COORDINATES:
        raise InputError(
            f"digits: {flow.n} tokens of dimension {flow.d} are too many for digits; accepted: "
            f"None for float64, or n d <= {MOST_COORDINATES:,}"
        )
    guard = _GUARD
    while True:
        run = followed(flow, tokens, times, digits + guard, progress)
        with ball_precision(ceil((digits + guard) * _DIGIT_BITS) + _GUARD_BITS):
            rows = [_ball_row(ball_quantities(flow, state)) for state in run.states]
            cells = {name: [_cell(row[name], digits) for row in rows] for name in rows[0]}
            defect = max(_length_defect(state, flow.d) for state in run.states)
        missing = digits - min(
            (kept for column in cells.values() for _, kept in column if kept), default=digits
        )
        if missing <= 0 or guard > _GUARD:
            break
        # Differences have cancelled: that much is made up for, once.
        guard = min(guard + missing + 2, _MOST_GUARD)
    columns: dict[str, Column] = {"t": [rounded_rational(t, digits).text for t in times]}
    columns |= {name: [text for text, _ in column] for name, column in cells.items()}
    states = np.array([[float(x) for x in state] for state in run.states])
    remarks = [] if defect == 0 else _length_remarks(flow, upper_text(defect))
    if run.switched:
        remarks.append(
            f"relu: scores change their signs at {len(run.switched)} times, where the right-hand "
            f"side is not smooth; each time was found and the flow followed from there"
        )
    remarks += _digit_remarks(cells, digits)
    shape = (len(times), flow.n, flow.d)
    return columns, states.reshape(shape), upper_text(max(run.errors)), remarks


def _cell(ball: arb, digits: int) -> tuple[str, int | None]:
    """Return the text of a number, and how many significant digits it has."""
    # The energy at beta = 0.
    return ("+inf", None) if ball == arb.pos_inf() else decided_text(ball, digits)


def _digit_remarks(cells: Mapping[str, list[tuple[str, int | None]]], digits: int) -> list[str]:
    """Return the remarks on numbers with fewer digits than asked for."""
    remarks = []
    least = {
        name: min((kept for _, kept in column if kept), default=digits)
        for name, column in cells.items()
    }
    short = [f"{name} {kept}" for name, kept in least.items() if kept < digits]
    if short:
        remarks.append(f"not all digits are decided somewhere, only: {', '.join(short)}")
    zeros = [name for name, column in cells.items() if any(kept == 0 for _, kept in column)]
    if zeros:
        remarks.append(f"not told from 0 and shown as 0 somewhere: {', '.join(zeros)}")
    return remarks


def _length_defect(state: Sequence[arb], d: int) -> arb:
    """Return the largest distance of a token's squared length from 1."""
    return max((ball_inner(x, x) - 1).abs_upper() for x in ball_rows(state, d))


def _length_remarks(flow: TokenFlow, defect: str) -> list[str]:
    if flow.flat:
        return []
    return [f"squared lengths of tokens stay 1 on the sphere; largest defect {defect}"]
