"""The data behind the plots: what is drawn over a simulation's own columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal

import numpy as np

from numeric.simulation import Array, Column, Simulation
from symbolic.catalogue import formula_names
from symbolic.errors import InputError
from symbolic.numbers import read_number

# Far enough down that the curve is straight for the eye.
_LATE = -2.0
_DIGITS = 17
_LARGEST_LOGARITHM = 650.0


@dataclass(frozen=True)
class Asymptote:
    """The late-time line ``1 - gamma ~ C e^(-rate t)``.

    Attributes:
        rate: the late rate.
        log10_constant: the decimal logarithm of C.
        fitted: whether C was fitted at the last point, for want of a formula.
    """

    rate: float
    log10_constant: float
    fitted: bool

    def log10_gap(self, times: Array) -> Array:
        """Return the decimal logarithm of the line at each time."""
        return self.log10_constant - self.rate * times / math.log(10)


@dataclass(frozen=True)
class Dominance:
    """When Condition 8 holds for all heads along a trajectory.

    Attributes:
        windows: first and last time of each stretch where it holds; ends between two points are
            interpolated.
        exit: the time when it is first lost, None if it is not or never held.
        bracket: the points between which it is lost; both are ``exit`` where that is the value of
            the formula ``exit-time``.
    """

    windows: tuple[tuple[float, float], ...]
    exit: float | None
    bracket: tuple[float, float] | None


def numbers(column: Column) -> Array:
    """Return a column as float64 numbers, infinite or zero where they are beyond them."""
    return np.array([float(value) for value in column])


def log10(column: Column) -> Array:
    """Return the decimal logarithms of a column, also of decimal texts beyond float64."""
    context = Context(prec=20, Emin=MIN_EMIN, Emax=MAX_EMAX)
    return np.array([float(context.log10(Decimal(str(value)))) for value in column])


def head_count(simulation: Simulation, name: str) -> int:
    """Return how many heads have a column ``<name>_h<k>``."""
    count = 0
    while f"{name}_h{count + 1}" in simulation.columns:
        count += 1
    return count


def head_columns(simulation: Simulation, name: str) -> list[Array]:
    """Return the columns ``<name>_h<k>`` as float64, none where there is no finite number."""
    heads = range(1, head_count(simulation, name) + 1)
    columns = [numbers(simulation.columns[f"{name}_h{head}"]) for head in heads]
    return columns if any(np.isfinite(column).any() for column in columns) else []


def log_tokens(simulation: Simulation) -> float:
    """Return ``ln n``, which no attention entropy exceeds."""
    if simulation.states is not None:
        return math.log(simulation.states.shape[1])
    return math.log(int(read_number(str(simulation.parameters["n"]))))


def least_overlaps(simulation: Simulation) -> Array:
    """Return the least overlap of two directions of tokens at each time; there are two tokens."""
    assert simulation.states is not None
    least = []
    for tokens in simulation.states:
        directions = tokens / np.linalg.norm(tokens, axis=1, keepdims=True)
        overlaps = directions @ directions.T
        np.fill_diagonal(overlaps, 1)
        least.append(overlaps.min())
    return np.array(least)


def late_asymptote(simulation: Simulation) -> Asymptote | None:
    """Return the late-time line of an equiangular trajectory, None where there is none to draw.

    C comes from the formula ``late-constant`` where it applies (softmax, positive strengths), else
    it is fitted at the last point if gamma is past 0.99 there.
    """
    from numeric.evaluate import evaluate

    given = {
        name: simulation.parameters[name]
        for name in ("model", "lam", "beta")
        if name in simulation.parameters
    }
    rate = float(evaluate("late-rate", digits=_DIGITS, **given).value)
    if rate <= 0:
        return None
    constant = _log10_constant(simulation, rate)
    if constant is not None:
        return Asymptote(rate, constant, fitted=False)
    last = float(log10([simulation.columns["one_minus_gamma"][-1]])[0])
    if not last < _LATE:
        return None
    time = float(simulation.columns["t"][-1])
    return Asymptote(rate, last + rate * time / math.log(10), fitted=True)


def _log10_constant(simulation: Simulation, rate: float) -> float | None:
    """Return the decimal logarithm of C by formula, None where the formula does not apply."""
    from numeric.evaluate import evaluate

    parameters = simulation.parameters
    if (
        "late-constant" not in formula_names()
        or parameters["model"] != "softmax"
        or any(read_number(strength) <= 0 for strength in parameters["lam"])
    ):
        return None
    given = {name: parameters[name] for name in ("lam", "beta", "n")}
    if not _is_in_range(rate, parameters["lam"], str(given["beta"]), str(given["n"])):
        return None
    value = evaluate("late-constant", digits=_DIGITS, **given).value
    # The formula's clock starts at gamma = 0.
    start, zero = str(parameters["start"]), "0"
    ahead = read_number(start) > 0
    ends = {"start": zero, "stop": start} if ahead else {"start": start, "stop": zero}
    passed = float(evaluate("clustering-time", digits=_DIGITS, **given, **ends).value)
    shift = passed if ahead else -passed
    return float(log10([value])[0]) - rate * shift / math.log(10)


def _is_in_range(rate: float, lam: Sequence[str], beta: str, n: str) -> bool:
    """Tell whether C is in the range of float64, from the time until gamma is 0.9.

    C is exponential in that time, which is exponential in beta: beyond, its value is out of reach.
    """
    from numeric.clustering_map import clustering_times_float64

    try:
        strengths = [float(read_number(strength)) for strength in lam]
        late = clustering_times_float64(
            lam=strengths, beta=float(read_number(beta)), n=float(read_number(n)), stop=0.9
        )
    except (InputError, OverflowError):
        return False
    return bool(rate * late < _LARGEST_LOGARITHM)


def dominance(simulation: Simulation) -> Dominance:
    """Return when Condition 8 holds for all heads, from the columns of its margins."""
    times = numbers(simulation.columns["t"])
    margins = head_columns(simulation, "condition8")
    if not margins:
        return Dominance((), None, None)
    windows = _windows(times, np.min(margins, axis=0))
    lost = [end for _, end in windows if end < times[-1]]
    if not lost:
        return Dominance(windows, None, None)
    exact = _exit_time(simulation)
    if exact is not None and windows[0][0] == times[0]:
        return Dominance(((times[0], exact), *windows[1:]), exact, (exact, exact))
    after = int(np.searchsorted(times, lost[0], side="right"))
    return Dominance(windows, lost[0], (float(times[after - 1]), float(times[after])))


def _windows(times: Array, margin: Array) -> tuple[tuple[float, float], ...]:
    """Return where a margin is not negative, its zeros interpolated between the points."""
    windows: list[tuple[float, float]] = []
    start: float | None = None
    for k, value in enumerate(margin):
        holds = bool(value >= 0)
        if holds and start is None:
            start = _zero(times, margin, k) if k else float(times[0])
        elif not holds and start is not None:
            windows.append((start, _zero(times, margin, k)))
            start = None
    if start is not None:
        windows.append((start, float(times[-1])))
    return tuple(windows)


def _zero(times: Array, margin: Array, k: int) -> float:
    """Return where the straight line between the points k - 1 and k is zero."""
    before, after = margin[k - 1], margin[k]
    share = before / (before - after) if np.isfinite([before, after]).all() else 0.5
    return float(times[k - 1] + share * (times[k] - times[k - 1]))


def _exit_time(simulation: Simulation) -> float | None:
    """Return the value of the formula ``exit-time``, None where it does not apply."""
    from numeric.evaluate import evaluate

    given = simulation.parameters
    strengths: Iterable[str] = given.get("lam", ())
    if (
        "exit-time" not in formula_names()
        or simulation.regime != "equiangular"
        or given["model"] == "relu"
        or given["start"] != "0"
        or len(set(strengths)) != 1
    ):
        return None
    strength, *others = strengths
    if not others or read_number(strength) <= 0:
        return None
    value = evaluate(
        "exit-time",
        digits=_DIGITS,
        model=given["model"],
        H=1 + len(others),
        lam=strength,
        beta=given["beta"],
        n=given["n"],
    ).value
    return float(value) if value != "0" else None
