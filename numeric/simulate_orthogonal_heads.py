"""Trajectories of orthogonal heads at tokens equiangular in every block, at any precision."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from numeric.balls import Balls, ball_precision
from numeric.collocation import Field, solve
from numeric.evaluate import checked_digits
from numeric.float_arithmetic import Floats
from numeric.orthogonal_heads import QUANTITIES, OrthogonalHeads
from numeric.rounding import rounded_ball, rounded_rational, upper_text
from numeric.schedule import read_times
from numeric.simulation import Array, Column, Simulation
from symbolic.errors import InputError, UndecidedError
from symbolic.flow import Model
from symbolic.notation import n as tokens_symbol
from symbolic.numbers import exact, exact_text
from symbolic.parameter import INVERSE_TEMPERATURE, MODEL, STRENGTHS, TOKENS, Parameter, shortened
from symbolic.region import Range, above

Progress = Callable[[float], None]

SHARES = Parameter(
    "shares", STRENGTHS.symbol, "reals > 0 of sum 1, one for each head", above(0), many=True
)
OVERLAPS = Parameter(
    "overlaps",
    STRENGTHS.symbol,
    "reals, -1/(n-1) < overlap < 1, one for each head",
    Range(-1 / (tokens_symbol - 1), 1, lower_open=True, upper_open=True),
    many=True,
)

# Digits beyond those asked for: more where differences cancel, up to the third attempt.
_GUARDS = (12, 40, 100)
# The finest tolerance that SciPy takes, and the one that shows what is left of it.
_TOLERANCES = (1e-12, 3e-14)


def simulate_orthogonal_heads(
    *,
    model: str = "unnormalised",
    lam: object,
    shares: object,
    overlaps: object,
    beta: object,
    n: object,
    times: object = None,
    until: object = None,
    points: object = None,
    digits: int | None = 50,
    progress: Progress | None = None,
) -> Simulation:
    """Return the trajectory of heads ``lambda_h P_h`` with projectors on orthogonal blocks.

    The n tokens ``sum_h sqrt(s_h) y_i^h`` are equiangular with overlap rho_h in the block of head h
    and keep this form; the spherical flow moves shares and overlaps.

    Args:
        model: ``unnormalised``, ``softmax`` or ``relu``; under relu only energy and entropy depend
            on beta.
        lam: strengths lambda_h, exact reals, one for each head.
        shares: shares s_h at time 0, exact, positive, of sum 1.
        overlaps: overlaps rho_h at time 0, exact, in (-1/(n-1), 1).
        beta: inverse temperature, exact, not negative.
        n: number of tokens, an integer from 2.
        times: exact times, not negative, ascending; or else:
        until: the last of evenly spaced times from 0.
        points: how many of these, 50 by default.
        digits: significant digits of all columns; they rest on an estimate of the error, which is
            kept below them. None for float64: shares and gaps keep their relative accuracy,
            overlaps and what changes sign only that of their terms.
        progress: called now and then with the part that is done, from 0 to 1.

    Returns:
        A `Simulation` with the columns t, then for each head k (from 1): share_h<k>, overlap_h<k>,
        one_minus_overlap_h<k>, energy_h<k>, denergy_h<k>, entropy_h<k>, dentropy_h<k>,
        radial_cosine_h<k>, condition8_h<k>, condition8_sharp_h<k>, grouped by quantity. Energies
        are the exponential ones and entropies those of softmax weights, in every model; margins of
        Condition 8 are not negative where it holds.

    Raises:
        InputError: for values that are not exact, outside their domains or do not match.
        UndecidedError: if the flow cannot be followed to the last time.
    """
    system = _system(model, lam, shares, overlaps, beta, n)
    at, asked = read_times(times, until, points)
    wanted = None if digits is None else checked_digits(digits)
    remarks = _remarks(system)
    try:
        if wanted is None:
            columns, error = _float64(system, at)
        else:
            columns, error, zeros = _decimal(system, at, wanted, progress)
            if zeros:
                remarks.append(f"not told from 0 by {_GUARDS[-1]} more digits: {', '.join(zeros)}")
    except OverflowError:
        raise UndecidedError(
            "a parameter lies beyond the range of float64, which every run needs for its steps"
        ) from None
    parameters: dict[str, str | Sequence[str]] = {
        "model": str(system.model),
        "lam": [exact_text(x) for x in system.lam],
        "shares": [exact_text(x) for x in system.shares],
        "overlaps": [exact_text(x) for x in system.overlaps],
        "beta": exact_text(system.beta),
        "n": exact_text(Fraction(system.n)),
        **asked,
    }
    return Simulation("orthogonal-heads", parameters, wanted, columns, error, False, tuple(remarks))


def _system(
    model: object, lam: object, shares: object, overlaps: object, beta: object, n: object
) -> OrthogonalHeads:
    """Return the system of checked parameters."""
    count = int(TOKENS.read(n))
    strengths, parts, starts = STRENGTHS.read(lam), SHARES.read(shares), OVERLAPS.read(overlaps)
    for parameter, values in ((SHARES, parts), (OVERLAPS, starts)):
        if len(values) != len(strengths):
            raise InputError(
                f"{parameter.name}: {len(values)} given for {len(strengths)} strengths; "
                "give one for each head"
            )
    if sum(parts) != 1:
        raise InputError(
            f"{SHARES.name}: their sum is {shortened(sum(parts, Fraction(0)))}; "
            f"accepted: {SHARES.domain}"
        )
    for overlap in starts:
        if not Fraction(-1, count - 1) < overlap < 1:
            raise InputError(
                f"{OVERLAPS.name}: {shortened(overlap)} is outside its domain: {OVERLAPS.domain}"
            )
    temperature = INVERSE_TEMPERATURE.read(beta)
    return OrthogonalHeads(Model(MODEL.read(model)), strengths, parts, starts, temperature, count)


def _remarks(system: OrthogonalHeads) -> list[str]:
    remarks = []
    if system.model is Model.RELU:
        remarks.append(
            "relu: no score ever changes its sign, so each maximum keeps its branch and the flow "
            "is smooth; overlaps with lam rho <= 0 do not move; beta is only that of energy and "
            "entropy"
        )
    if system.beta == 0:
        remarks.append("beta = 0: energies are infinite, their derivatives are the limits")
    if any(system.is_blind(h) for h in system.heads):
        remarks.append("a head whose aggregate vanishes has no radial cosine: nan")
    return remarks


def _named(per_head: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Return columns with their names, in order."""
    return {
        f"{name}_h{k}": column for name in QUANTITIES for k, column in enumerate(per_head[name], 1)
    }


def _float64(system: OrthogonalHeads, times: Sequence[Fraction]) -> tuple[dict[str, Column], str]:
    """Return the columns as float64 arrays, and the error of the state as estimated."""
    at = np.array([float(t) for t in times])
    with np.errstate(all="ignore"):
        coarse, fine = (_followed(system, at, tolerance) for tolerance in _TOLERANCES)
        found = system.quantities(system.in_floats(fine), Floats())
    columns = {
        name: np.array(np.broadcast_to(column, at.shape), np.float64)
        for name, column in _named(found).items()
    }
    for name, rows in _exact(system, times).items():
        for row, value in rows.items():
            columns[name][row] = float(value)
    # The state is logarithmic, so its absolute error is a relative one of shares and gaps.
    error = float(np.abs(coarse - fine).max(initial=0.0))
    return {"t": at, **columns}, f"{max(error, _TOLERANCES[-1]):.1e}"


def _followed(system: OrthogonalHeads, at: Array, tolerance: float) -> Array:
    """Return the states at the times, (times, N), by SciPy."""
    # Imported late: SciPy's solvers are slow to load.
    from scipy.integrate import solve_ivp

    start = system.start_in_floats()
    if not system.size or at[-1] == 0:
        return np.tile(start, (len(at), 1))
    rates = system.field.floats
    run = solve_ivp(
        lambda _, state: rates(state),
        (0.0, float(at[-1])),
        start,
        method="DOP853",
        t_eval=at,
        rtol=tolerance,
        atol=tolerance,
    )
    states = np.asarray(run.y).T
    if not run.success or not np.isfinite(states).all():
        reached = f"{run.t[-1]:.6g}" if len(run.t) else "0"
        raise UndecidedError(f"float64 cannot follow the flow beyond t = {reached}; give digits")
    return states


def _decimal(
    system: OrthogonalHeads, times: Sequence[Fraction], digits: int, progress: Progress | None
) -> tuple[dict[str, Column], str, list[str]]:
    """Return the columns as texts, the error of the state, and columns with zeros not proved."""
    known = _exact(system, times)
    for guard in _GUARDS:
        states, error = _states(system, times, digits + guard, progress)
        with ball_precision(int(3.33 * (digits + guard)) + 64):
            balls = _in_time(system, states)
        texts = {name: [_text(ball, digits) for ball in column] for name, column in balls.items()}
        for name, rows in known.items():
            for row, value in rows.items():
                texts[name][row] = rounded_rational(value, digits).text
        if not any(None in column for column in texts.values()):
            break
    zeros = []
    columns: dict[str, Column] = {"t": [rounded_rational(t, digits).text for t in times]}
    for name, column in texts.items():
        open_rows = [row for row, text in enumerate(column) if text is None]
        if any(balls[name][row].contains(0) for row in open_rows):
            zeros.append(name)
        for row in open_rows:
            column[row] = _tie(balls[name][row], digits)
        columns[name] = [str(text) for text in column]
    return columns, error, zeros


def _exact(system: OrthogonalHeads, times: Sequence[Fraction]) -> dict[str, dict[int, Fraction]]:
    """Return what is known exactly, by column and row: the start, and overlaps that stay."""
    known: dict[str, dict[int, Fraction]] = {}
    at_start = [row for row, time in enumerate(times) if time == 0]
    for h in system.heads:
        rows = at_start if h in system.moving else range(len(times))
        known[f"share_h{h + 1}"] = dict.fromkeys(at_start, system.shares[h])
        known[f"overlap_h{h + 1}"] = dict.fromkeys(rows, system.overlaps[h])
        known[f"one_minus_overlap_h{h + 1}"] = dict.fromkeys(rows, 1 - system.overlaps[h])
    return known


def _states(
    system: OrthogonalHeads, times: Sequence[Fraction], digits: int, progress: Progress | None
) -> tuple[list[list[arb]], str]:
    """Return the states, and their largest error as estimated, relative to numbers above 1.

    The state is logarithmic, so it needs no relative accuracy near zero: a number that stays 1 goes
    along, to measure errors against.
    """
    later = [t for t in times if t > 0] if system.size else []
    with ball_precision(int(3.33 * digits) + 64):
        start = system.start()
    if not later:
        return [start] * len(times), "0"
    field = Field(
        lambda state: [*system.field.balls(state[:-1]), arb(0)],
        lambda states: np.concatenate(
            [system.field.floats(states[..., :-1]), 0 * states[..., -1:]], axis=-1
        ),
    )
    run = solve(field, lambda: [*system.start(), arb(1)], later, digits, progress)
    before = [start] * (len(times) - len(later))
    return [*before, *(state[:-1] for state in run.states)], upper_text(max(run.errors))


def _in_time(system: OrthogonalHeads, states: Iterable[Sequence[arb]]) -> dict[str, list[arb]]:
    """Return the columns as balls."""
    rows = [_named(system.quantities(system.in_balls(state), Balls())) for state in states]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    if system.beta == 0:
        columns |= {
            name: [arb.pos_inf()] * len(rows) for name in columns if name.startswith("energy")
        }
    return columns


def _text(ball: arb, digits: int) -> str | None:
    """Return the rounded text of a number, None if the ball is too wide to tell."""
    if ball.is_nan():
        return "nan"
    if ball == 0:
        return "0"
    if ball.is_finite() and ball.contains(0):
        return None
    try:
        return rounded_ball(lambda: ball, digits).text
    except UndecidedError:
        return None


def _tie(ball: arb, digits: int) -> str:
    """Return the text of a number that many more digits do not tell from zero or from a tie.

    Raises:
        UndecidedError: for a number that is not known to these digits.
    """
    if ball.contains(0):
        return "0"
    more = digits + _GUARDS[0]
    if ball.rel_accuracy_bits() < 3.33 * more:
        raise UndecidedError(f"{digits} digits are not decided with {_GUARDS[-1]} more in the flow")
    tie = exact(rounded_ball(ball.mid, more).text, "tie")
    return rounded_rational(tie, digits).text
