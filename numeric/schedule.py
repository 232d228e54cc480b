"""The times of a simulation, as they are given: listed, or evenly spaced from 0."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from symbolic.errors import InputError
from symbolic.numbers import MAX_POINTS, exact_text
from symbolic.parameter import STRENGTHS, Parameter, shortened
from symbolic.region import above, at_least, between

TIMES = Parameter("times", STRENGTHS.symbol, "reals >= 0, ascending", at_least(0), many=True)
UNTIL = Parameter("until", STRENGTHS.symbol, "real > 0", above(0))
POINTS = Parameter(
    "points", STRENGTHS.symbol, f"integer, 2 to {MAX_POINTS}", between(2, MAX_POINTS), integer=True
)

DEFAULT_POINTS = 50
"""How many evenly spaced times there are if nothing else is said."""

Given = dict[str, str | Sequence[str]]
"""Exact texts of what was given."""


def read_times(times: object, until: object, points: object) -> tuple[tuple[Fraction, ...], Given]:
    """Return exact times, ascending, and the parameters that give them.

    Raises:
        InputError: unless either ``times``, or ``until`` with or without ``points`` is given, in
            its domain.
    """
    if (times is None) == (until is None) or (times is not None and points is not None):
        ways = {"until": until, "times": times, "points": points}
        given = " and ".join(name for name, value in ways.items() if value is not None)
        raise InputError(
            f"times: {given or 'nothing'} given; accepted: until, with points if not "
            f"{DEFAULT_POINTS}, or times alone"
        )
    if times is not None:
        if isinstance(times, Sequence) and len(times) == 0:
            raise InputError(f"times: the list is empty; give {TIMES.domain}, at least one")
        listed = tuple(TIMES.read(times))
        if any(a >= b for a, b in pairwise(listed)):
            brief = ",".join(shortened(t, 12) for t in listed[:4])
            more = ",..." if len(listed) > 4 else ""
            raise InputError(f"times: {brief}{more} are not ascending; give {TIMES.domain}")
        return listed, {"times": [exact_text(t) for t in listed]}
    last, count = UNTIL.read(until), read_points(points)
    spaced = tuple(last * k / (count - 1) for k in range(count))
    return spaced, {"until": exact_text(last), "points": str(count)}


def read_points(points: object) -> int:
    """Return a number of evenly spaced times, the default for None.

    Raises:
        InputError: for what is no such number.
    """
    return int(POINTS.read(DEFAULT_POINTS if points is None else points))
