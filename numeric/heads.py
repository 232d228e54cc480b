"""Heads: score and value matrices, exact or float64, with what is known of their form.

Exact entries are fractions. A float64 matrix stands for the binary numbers it holds, so that it has
an exact meaning at any precision, too.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import flint
import numpy as np
from flint import arb_mat

from numeric.balls import exact_ball
from numeric.columns import is_list
from numeric.simulation import Array
from symbolic.errors import InputError
from symbolic.names import brief
from symbolic.numbers import exact, exact_text, read_list
from symbolic.parameter import shortened

Rows = tuple[tuple[Fraction, ...], ...]
Parameters = Mapping[str, str | Sequence[str]]

# A float64 matrix with more entries is described by a digest.
_MOST_WRITTEN = 4096


class HeadMatrix(Protocol):
    """A d by d matrix of a head."""

    @property
    def d(self) -> int:
        """Return the dimension."""

    @property
    def symmetric(self) -> bool:
        """Tell whether the matrix equals its transpose, exactly."""

    @property
    def floats(self) -> Array:
        """Return the matrix in float64, read-only."""

    def float_images(self, tokens: Any) -> Any:
        """Return the image of each row of an array (..., n, d), real or complex."""

    def ball_images(self, tokens: arb_mat) -> arb_mat:
        """Return the image of each row of a matrix n by d, at the precision in force."""


@dataclass(frozen=True)
class Scalar:
    """A multiple of the identity."""

    strength: Fraction
    d: int

    symmetric = True

    @cached_property
    def strength_float(self) -> float:
        """Return the strength in float64."""
        return nearest_float(self.strength)

    @cached_property
    def floats(self) -> Array:
        """Return the matrix in float64, read-only."""
        return frozen_floats(np.diag(np.full(self.d, self.strength_float)))

    def float_images(self, tokens: Any) -> Any:
        """Return the image of each row of an array (..., n, d), real or complex."""
        return self.strength_float * tokens

    def ball_images(self, tokens: arb_mat) -> arb_mat:
        """Return the image of each row of a matrix n by d, at the precision in force."""
        return tokens * exact_ball(self.strength)


@dataclass(frozen=True)
class Diagonal:
    """A diagonal matrix."""

    entries: tuple[Fraction, ...]

    symmetric = True

    @property
    def d(self) -> int:
        """Return the dimension."""
        return len(self.entries)

    @cached_property
    def floats(self) -> Array:
        """Return the matrix in float64, read-only."""
        return frozen_floats(np.diag(self._diagonal))

    @cached_property
    def _diagonal(self) -> Array:
        return frozen_floats([nearest_float(entry) for entry in self.entries])

    def float_images(self, tokens: Any) -> Any:
        """Return the image of each row of an array (..., n, d), real or complex."""
        return self._diagonal * tokens

    def ball_images(self, tokens: arb_mat) -> arb_mat:
        """Return the image of each row of a matrix n by d, at the precision in force."""
        factors = [exact_ball(entry) for entry in self.entries]
        entries = tokens.entries()
        images = [x * factors[i % self.d] for i, x in enumerate(entries)]
        return arb_mat(tokens.nrows(), self.d, images)


@dataclass(frozen=True, eq=False)
class Dense:
    """A matrix of exact fractions, or of float64 numbers that are read exactly."""

    rows: Rows | Array
    _balls: dict[int, arb_mat] = field(default_factory=dict, init=False, repr=False)

    @property
    def d(self) -> int:
        """Return the dimension."""
        return len(self.rows)

    @cached_property
    def symmetric(self) -> bool:
        """Tell whether the matrix equals its transpose, exactly."""
        if isinstance(self.rows, np.ndarray):
            return bool((self.rows == self.rows.T).all())
        return self.rows == tuple(zip(*self.rows, strict=True))

    @cached_property
    def floats(self) -> Array:
        """Return the matrix in float64, read-only."""
        if isinstance(self.rows, np.ndarray):
            return self.rows
        return frozen_floats([[nearest_float(entry) for entry in row] for row in self.rows])

    def float_images(self, tokens: Any) -> Any:
        """Return the image of each row of an array (..., n, d), real or complex."""
        return tokens @ self.floats.T

    def ball_images(self, tokens: arb_mat) -> arb_mat:
        """Return the image of each row of a matrix n by d, at the precision in force."""
        return tokens * self._transposed()

    def _transposed(self) -> arb_mat:
        """Return the transpose as balls at the precision in force, kept for the last one."""
        bits = flint.ctx.prec
        if bits not in self._balls:
            self._balls.clear()
            if isinstance(self.rows, np.ndarray):
                self._balls[bits] = arb_mat(self.rows.T.tolist())
            else:
                columns = zip(*self.rows, strict=True)
                self._balls[bits] = arb_mat([[exact_ball(x) for x in c] for c in columns])
        return self._balls[bits]


@dataclass(frozen=True, eq=False)
class Heads:
    """H heads, immutable.

    Attributes:
        scores: the matrices M_h, all of the same dimension d.
        values: the matrices V_h; the same object as ``scores`` for aligned heads (V_h = M_h).
        parameters: texts that describe the heads, enough to make them again.
    """

    scores: tuple[HeadMatrix, ...]
    values: tuple[HeadMatrix, ...]
    parameters: Parameters

    @property
    def count(self) -> int:
        """Return the number of heads H."""
        return len(self.scores)

    @property
    def d(self) -> int:
        """Return the dimension."""
        return self.scores[0].d

    @property
    def aligned(self) -> bool:
        """Tell whether the heads were given without values of their own, so that V_h = M_h."""
        return self.values is self.scores

    @property
    def symmetric(self) -> bool:
        """Tell whether all score matrices are symmetric, exactly (Condition 3)."""
        return all(score.symmetric for score in self.scores)

    @cached_property
    def strengths(self) -> tuple[Fraction, ...] | None:
        """Return the strengths if these are scalar heads ``M_h = V_h = lambda_h I``, else None."""
        if not self.aligned:
            return None
        scalars = [score for score in self.scores if isinstance(score, Scalar)]
        return tuple(s.strength for s in scalars) if len(scalars) == self.count else None

    @cached_property
    def strength_floats(self) -> tuple[float, ...]:
        """Return the strengths of scalar heads in float64; none for other heads."""
        return tuple(nearest_float(strength) for strength in self.strengths or ())

    @property
    def score_floats(self) -> Array:
        """Return the score matrices in float64, (H, d, d)."""
        return np.array([score.floats for score in self.scores])

    @property
    def value_floats(self) -> Array:
        """Return the value matrices in float64, (H, d, d)."""
        return np.array([value.floats for value in self.values])


def scalar_heads(strengths: object, d: int) -> Heads:
    """Return the heads ``M_h = V_h = lambda_h I``.

    Args:
        strengths: one exact number for each head, a sequence or a text such as ``1,3/2``.
        d: dimension, at least 1.

    Raises:
        InputError: for strengths that are not exact, an empty list or a wrong dimension.
    """
    read = _numbers(strengths, "lam")
    size = positive_integer(d, "d")
    matrices = tuple(Scalar(strength, size) for strength in read)
    return _aligned(matrices, {"heads": "scalar", "lam": _texts(read), "d": str(size)})


def block_heads(strengths: object, sizes: Sequence[int]) -> Heads:
    """Return orthogonal heads: multiples of the projectors on consecutive blocks of coordinates.

    Args:
        strengths: one exact number for each head, a sequence or a text.
        sizes: the dimension of each head's block, each at least 1; d is their sum.

    Raises:
        InputError: for strengths that are not exact, or sizes that do not match them.
    """
    read = _numbers(strengths, "lam")
    if not is_list(sizes) or len(sizes) != len(read):
        raise InputError(f"sizes: {brief(sizes)} is not accepted; give {len(read)} block sizes")
    blocks = [positive_integer(size, "sizes") for size in sizes]
    owners = [h for h, size in enumerate(blocks) for _ in range(size)]
    matrices = tuple(
        Diagonal(tuple(strength if owner == h else Fraction(0) for owner in owners))
        for h, strength in enumerate(read)
    )
    parameters = {"heads": "blocks", "lam": _texts(read), "sizes": tuple(map(str, blocks))}
    return _aligned(matrices, parameters)


def diagonal_heads(diagonals: Sequence[object]) -> Heads:
    """Return aligned heads with diagonal matrices.

    Args:
        diagonals: for each head its d diagonal entries, a sequence of exact numbers or a text.

    Raises:
        InputError: for entries that are not exact, or lists of different lengths.
    """
    if not is_list(diagonals) or len(diagonals) == 0:
        raise InputError(f"diagonals: {brief(diagonals)} is not a list of lists of numbers")
    read = [_numbers(diagonal, f"M_{h}") for h, diagonal in enumerate(diagonals, 1)]
    if len({len(diagonal) for diagonal in read}) != 1:
        lengths = ", ".join(str(len(diagonal)) for diagonal in read)
        raise InputError(f"diagonals: lengths {lengths} differ; give d entries for each head")
    parameters: dict[str, str | Sequence[str]] = {"heads": "diagonal"}
    for h, diagonal in enumerate(read, 1):
        parameters[f"M_{h}"] = _texts(diagonal)
    return _aligned(tuple(map(Diagonal, read)), parameters)


def dense_heads(scores: object, values: object = None) -> Heads:
    """Return heads with any matrices.

    Args:
        scores: H matrices M_h: nested sequences of exact numbers, or a float array (H, d, d) whose
            binary numbers are read exactly.
        values: the matrices V_h likewise; V_h = M_h if left out.

    Raises:
        InputError: for entries that are not exact or not finite, and wrong shapes.
    """
    matrices = _matrices(scores, "M")
    parameters = {"heads": "dense", **_entries(matrices, "M")}
    if values is None:
        return _aligned(matrices, parameters)
    others = _matrices(values, "V")
    if len(others) != len(matrices) or others[0].d != matrices[0].d:
        raise InputError(
            f"V: {len(others)} matrices of dimension {others[0].d} do not match M: "
            f"{len(matrices)} of dimension {matrices[0].d}"
        )
    return Heads(matrices, others, {**parameters, **_entries(others, "V")})


def array_heads(scores: Array, values: Array | None, parameters: Parameters) -> Heads:
    """Return heads from checked float64 arrays (H, d, d), described by the given parameters."""
    matrices = tuple(Dense(frozen_floats(matrix)) for matrix in scores)
    if values is None:
        return _aligned(matrices, parameters)
    return Heads(matrices, tuple(Dense(frozen_floats(matrix)) for matrix in values), parameters)


def positive_integer(value: object, name: str) -> int:
    """Return an integer that is at least 1.

    Raises:
        InputError: for anything else.
    """
    number = exact(value, name)
    if number.denominator != 1 or number < 1:
        raise InputError(f"{name}: {shortened(number)} is not accepted; give an integer >= 1")
    return int(number)


def _aligned(matrices: tuple[HeadMatrix, ...], parameters: Parameters) -> Heads:
    return Heads(matrices, matrices, parameters)


def _numbers(given: object, name: str) -> tuple[Fraction, ...]:
    """Return exact numbers from a text or a sequence."""
    if isinstance(given, str):
        return read_list(given, name)
    items: Any = given
    if not is_list(given) or len(items := list(items)) == 0:
        raise InputError(f"{name}: {brief(given)} is not accepted; give a list of numbers")
    return tuple(exact(item, name) for item in items)


def _matrices(given: Any, name: str) -> tuple[Dense, ...]:
    """Return square matrices of the same size."""
    if isinstance(given, np.ndarray) and given.dtype.kind == "f":
        return tuple(Dense(frozen_floats(matrix)) for matrix in float_stack(given, name))
    if not is_list(given) or len(given) == 0 or not all(is_list(rows) for rows in given):
        raise InputError(f"{name}: {brief(given)} is not a list of matrices; give H matrices")
    read = []
    for h, rows in enumerate(given, 1):
        read.append(tuple(_numbers(row, f"{name}_{h}") for row in rows))
        if len(read[-1]) != len(read[0]) or {len(row) for row in read[-1]} != {len(read[0])}:
            shape = f"rows of {', '.join(str(len(row)) for row in read[-1]) or 'nothing'}"
            raise InputError(
                f"{name}_{h}: {shape}; give square matrices of the same dimension for all heads"
            )
    return tuple(map(Dense, read))


def float_stack(given: Any, name: str) -> Array:
    """Return H square matrices as a float64 array (H, d, d).

    Raises:
        InputError: for another shape, no heads, or entries that are not finite.
    """
    array = np.asarray(given)
    if array.ndim != 3 or array.shape[1] != array.shape[2] or 0 in array.shape:
        raise InputError(f"{name}: shape {array.shape} is not accepted; give (H, d, d)")
    return finite_floats(array, name)


def finite_floats(array: Any, name: str) -> Array:
    """Return an array of real numbers as float64.

    Raises:
        InputError: for entries of another kind, or not finite.
    """
    if array.dtype.kind not in "iuf":
        kind = array.dtype
        raise InputError(f"{name}: entries of type {kind} are not accepted; give real numbers")
    floats = array.astype(np.float64)
    if not np.isfinite(floats).all():
        culprit = floats[~np.isfinite(floats)].flat[0]
        raise InputError(f"{name}: the entry {culprit} is not accepted; give finite numbers")
    return np.asarray(floats)


def nearest_float(number: Fraction) -> float:
    """Return the float64 nearest to a number, an infinity beyond the range."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def sha256(content: bytes) -> str:
    """Return a text that identifies content that is too long to be written out."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _entries(matrices: tuple[Dense, ...], name: str) -> dict[str, str | Sequence[str]]:
    """Return the entries of matrices as exact texts, row by row; a digest of many floats."""
    entries: dict[str, str | Sequence[str]] = {}
    for h, matrix in enumerate(matrices, 1):
        rows = matrix.rows
        if isinstance(rows, np.ndarray) and rows.size > _MOST_WRITTEN:
            entries[f"{name}_{h}"] = sha256(rows.tobytes())
        else:
            entries[f"{name}_{h}"] = _texts([Fraction(entry) for row in rows for entry in row])
    return entries


def _texts(numbers: Sequence[Fraction]) -> tuple[str, ...]:
    return tuple(exact_text(number) for number in numbers)


def frozen_floats(values: Any) -> Array:
    """Return a float64 copy that cannot be written to."""
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array
