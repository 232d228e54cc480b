"""What a simulation gives: columns over time, with everything needed to run it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
Column: TypeAlias = Sequence[str] | Array
"""Decimal texts for arbitrary precision, float64 numbers for the fast path."""


@dataclass(frozen=True)
class Simulation:
    """A trajectory of a regime.

    Attributes:
        regime: ``equiangular``, ``tokens`` or ``orthogonal-heads``.
        parameters: exact texts by name, lists of them for lists; enough to run it again, with the
            seed of a random start.
        digits: significant digits asked for, None for float64.
        columns: one entry for each time, by column name, in the order of the CSV.
        error: a bound or estimate of the largest relative error of the state, as a short text.
        certified: whether ``error`` is a proved bound.
        remarks: what the reader should know about this run.
        states: tokens at each time, shape (times, n, d), float64; None where there are none.
    """

    regime: str
    parameters: Mapping[str, str | Sequence[str]]
    digits: int | None
    columns: Mapping[str, Column]
    error: str
    certified: bool
    remarks: tuple[str, ...] = ()
    states: Array | None = None
