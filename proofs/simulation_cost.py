"""What a simulation costs: rough seconds, told before a run that is long.

The constants were measured on one core of a common machine; an estimate is right within a factor of
about four, which is what a user needs to know before waiting.
"""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from typing import TYPE_CHECKING

from symbolic.errors import InputError
from symbolic.numbers import read_list, read_number

if TYPE_CHECKING:
    from numeric.heads import HeadMatrix, Heads

_LONG = 10.0
"""Seconds from which a run is long."""
_YEAR = 365 * 86400.0

# Wrong values are told at once, and then nothing else is said.
_SECONDS_BEFORE_TELLING = 0.5


def equiangular_seconds(lam: str, points: int, digits: int | None) -> float:
    """Return about how long a trajectory of equiangular tokens takes."""
    if digits is None:
        return 0.0
    entries = points * len(set(read_list(lam, "lam")))
    return 3.5e-4 * entries * (1 + digits / 300) + 1.5 * math.pow(digits / 1000, 2.2)


def token_seconds(
    model: str, heads: Heads, n: int, beta: str, until: float, points: int, digits: int | None
) -> float:
    """Return about how long a flow of n tokens takes, up to a time."""
    size = n * (n + heads.d)
    turns = until * _drive(model, map(_stretch, heads.values), beta)
    if digits is None:
        return 1e-7 * heads.count * n**2 * heads.d * (1 + turns / 10 + points / 100)
    per_point = 2.3e-5 * heads.count * size * (digits + 30) / 80
    # However short the way, one panel at full precision is solved.
    panels = turns + 0.15
    return 2.7e-3 * panels * size * math.pow((digits + 30) / 80, 3.8) + per_point * points


def orthogonal_heads_seconds(
    model: str, lam: str, beta: str, until: float, points: int, digits: int | None
) -> float:
    """Return about how long the reduced system of orthogonal heads takes, up to a time."""
    if digits is None:
        return 0.0
    strengths = [_float(strength) for strength in read_list(lam, "lam")]
    turns = until * _drive(model, strengths, beta)
    guarded = math.pow((digits + 30) / 80, 2.8)
    return len(strengths) * guarded * (0.1 + 0.01 * turns + 8e-4 * points)


def span(times: str | None, until: str | None, points: str | None) -> tuple[float, int]:
    """Return the last time and the number of times as given, for an estimate.

    Where they cannot be read, which the simulation tells, it is as if they were not given.
    """
    with suppress(InputError):
        if times is not None:
            listed = read_list(times)
            return _float(listed[-1]), len(listed)
    last, count = 0.0, 50
    with suppress(InputError):
        last = last if until is None else _float(read_number(until))
    with suppress(InputError):
        count = count if points is None else int(min(read_number(points), Fraction(10**6)))
    return last, count


def _drive(model: str, strengths: Iterable[float], beta: str) -> float:
    """Return about how fast tokens can move."""
    sizes = [abs(strength) for strength in strengths]
    if model == "unnormalised":
        exponent = _float(read_number(beta, "beta")) * max(sizes)
        return sum(sizes) * math.exp(min(exponent, 100.0))
    return sum(sizes) if model == "softmax" else sum(size**2 for size in sizes)


def _float(number: Fraction) -> float:
    """Return a number in float64, cut off where an estimate is endless anyway."""
    return float(max(min(number, Fraction(10**100)), Fraction(-(10**100))))


def _stretch(matrix: HeadMatrix) -> float:
    """Return about the norm of a matrix, by a few steps of the power iteration."""
    import numpy as np

    vector = np.random.default_rng(0).standard_normal((1, matrix.d))
    size = float(np.linalg.norm(vector))
    # What overflows here is refused by the simulation.
    with np.errstate(all="ignore"):
        for _ in range(8):
            vector = matrix.float_images(vector / size)
            size = float(np.linalg.norm(vector))
            if not 0 < size < math.inf:
                break
    return size


@contextmanager
def told_before(seconds: float, *, floats: bool = False) -> Iterator[None]:
    """Say on stderr, as the work starts, how long it takes if that is long.

    Args:
        seconds: how long it takes.
        floats: whether it is in float64 already, so that fewer digits are no advice.
    """
    if not seconds >= _LONG:
        yield
        return
    from proofs.views import duration

    time = "more than a year" if seconds > _YEAR else f"about {duration(seconds)}"
    line = f"this takes {time}; Ctrl-C stops it and leaves no file"
    line += "" if floats else "; fewer digits, or --digits float64, are faster"
    timer = threading.Timer(_SECONDS_BEFORE_TELLING, lambda: print(line, file=sys.stderr))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
