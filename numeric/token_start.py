"""Where tokens start: unit vectors, exact, algebraic or from floats that are read exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import arb

from numeric.balls import ball_precision, exact_ball
from numeric.columns import is_list
from numeric.definitions import equiangular_tokens as equiangular_vectors
from numeric.heads import Parameters, finite_floats, frozen_floats, positive_integer, sha256
from numeric.simulation import Array
from symbolic.errors import InputError
from symbolic.names import brief
from symbolic.numbers import exact, exact_text
from symbolic.parameter import shortened

MOST_COORDINATES = 10_000_000
"""Most coordinates ``n d`` of tokens."""

# Float vectors further from length 1 are refused, others normalised.
_UNIT_DEFECT = 1e-5
# A float64 array with more entries is described by a digest.
_MOST_WRITTEN = 4096
_FLOAT_BITS = 96
_GENERATOR = f"NumPy {np.__version__}: default_rng(seed).standard_normal((n, d)), normalised"


@dataclass(frozen=True, eq=False)
class Tokens:
    """n unit vectors of R^d, immutable.

    Attributes:
        n: number of tokens.
        d: dimension.
        balls: returns the n rows of d balls, at the precision in force.
        parameters: texts that describe the tokens, enough to make them again.
        remarks: what a reader should know, such as the normalisation of floats.
        rows: the tokens in float64, where they come from floats anyway.
    """

    n: int
    d: int
    balls: Callable[[], list[list[arb]]]
    parameters: Parameters
    remarks: tuple[str, ...] = ()
    rows: Array | None = None

    @cached_property
    def floats(self) -> Array:
        """Return the tokens in float64, (n, d), read-only."""
        return frozen_floats(self._computed if self.rows is None else self.rows)

    @property
    def _computed(self) -> Array:
        with ball_precision(_FLOAT_BITS):
            return np.array([[float(x.mid()) for x in row] for row in self.balls()])


def exact_tokens(rows: Sequence[Sequence[object]]) -> Tokens:
    """Return tokens from exact rational unit vectors.

    Args:
        rows: n rows of d exact numbers; the squares of each row must sum to 1.

    Raises:
        InputError: for numbers that are not exact, rows of different lengths, and rows that are not
            unit vectors.
    """
    if not is_list(rows) or len(rows) == 0 or not all(is_list(row) and len(row) for row in rows):
        raise InputError(f"tokens: {brief(rows)} is not accepted; give n rows of d numbers")
    vectors = [[exact(x, "tokens") for x in row] for row in rows]
    if len({len(vector) for vector in vectors}) != 1:
        lengths = ", ".join(str(len(vector)) for vector in vectors)
        raise InputError(f"tokens: rows of lengths {lengths}; give n rows of d numbers")
    for i, vector in enumerate(vectors, 1):
        square = sum((x * x for x in vector), Fraction(0))
        if square != 1:
            raise InputError(
                f"tokens: row {i} has squared length {brief(exact_text(square))}; give unit vectors"
            )
    texts = {f"x_{i}": [exact_text(x) for x in vector] for i, vector in enumerate(vectors, 1)}

    def balls() -> list[list[arb]]:
        return [[exact_ball(x) for x in vector] for vector in vectors]

    return Tokens(len(vectors), len(vectors[0]), balls, {"tokens": "exact", **texts})


def orthonormal_tokens(n: int, d: int | None = None) -> Tokens:
    """Return the first n unit vectors of coordinates.

    Args:
        n: number of tokens, at least 1.
        d: dimension, at least n; n if left out.

    Raises:
        InputError: for numbers outside their domains.
    """
    count, size = _counts(n, d)
    rows = [[Fraction(int(i == j)) for j in range(size)] for i in range(count)]
    tokens = exact_tokens(rows)
    parameters = {"tokens": "orthonormal", "n": str(count), "d": str(size)}
    return Tokens(count, size, tokens.balls, parameters)


def equiangular_tokens(n: int, gamma: object, d: int | None = None) -> Tokens:
    """Return tokens with ``<x_i, x_j> = gamma`` for all pairs.

    Args:
        n: number of tokens, at least 2.
        gamma: exact overlap, ``-1/(n-1) < gamma < 1``.
        d: dimension, at least n; n if left out.

    Raises:
        InputError: for numbers outside their domains.
    """
    count, size = _counts(n, d)
    overlap = _overlap(gamma, "gamma", count)

    def balls() -> list[list[arb]]:
        padding = [arb(0)] * (size - count)
        return [[*vector, *padding] for vector in equiangular_vectors(count, overlap)]

    parameters = {
        "tokens": "equiangular",
        "n": str(count),
        "gamma": exact_text(overlap),
        "d": str(size),
    }
    return Tokens(count, size, balls, parameters)


def block_equiangular_tokens(
    n: int, shares: Sequence[object], overlaps: Sequence[object]
) -> Tokens:
    """Return the tokens ``x_i = sum_h sqrt(s_h) y_i^h`` of the orthogonal-head regime.

    The unit vectors y_i^h are equiangular with overlap rho_h in head h's block of n coordinates.

    Args:
        n: number of tokens, at least 2; d is H n.
        shares: H exact numbers s_h >= 0 with sum 1.
        overlaps: H exact numbers rho_h, ``-1/(n-1) < rho_h < 1``.

    Raises:
        InputError: for numbers outside their domains, and lists of different lengths.
    """
    count, _ = _counts(n, None)
    for name, given in (("shares", shares), ("overlaps", overlaps)):
        if not is_list(given) or len(given) == 0:
            raise InputError(f"{name}: {brief(given)} is not accepted; give one for each head")
    if len(shares) != len(overlaps):
        raise InputError(
            f"shares: {len(shares)} given with {len(overlaps)} overlaps; give one of each for "
            "each head"
        )
    parts = [exact(share, "shares") for share in shares]
    if min(parts) < 0 or sum(parts) != 1:
        raise InputError(f"shares: {_shown(parts)} are not accepted; give numbers >= 0 with sum 1")
    rhos = [_overlap(overlap, "overlaps", count) for overlap in overlaps]

    def balls() -> list[list[arb]]:
        rows: list[list[arb]] = [[] for _ in range(count)]
        for share, rho in zip(parts, rhos, strict=True):
            factor = exact_ball(share).sqrt()
            for row, vector in zip(rows, equiangular_vectors(count, rho), strict=True):
                row.extend(factor * x for x in vector)
        return rows

    parameters: Parameters = {
        "tokens": "block-equiangular",
        "n": str(count),
        "shares": [exact_text(share) for share in parts],
        "overlaps": [exact_text(rho) for rho in rhos],
    }
    return Tokens(count, count * len(parts), balls, parameters)


def random_tokens(n: int, d: int, seed: int) -> Tokens:
    """Return tokens drawn uniformly from the sphere.

    Args:
        n: number of tokens, at least 1.
        d: dimension, at least 1.
        seed: of NumPy's default generator, an integer >= 0; the same seed gives the same tokens.

    Raises:
        InputError: for numbers outside their domains.
    """
    count, size = checked_counts(n, d)
    number = exact(seed, "seed")
    if number.denominator != 1 or number < 0:
        raise InputError(f"seed: {brief(seed)} is not accepted; give an integer >= 0")
    drawn = np.random.default_rng(int(number)).standard_normal((count, size))
    parameters = {
        "tokens": "random",
        "n": str(count),
        "d": str(size),
        "seed": str(int(number)),
        "generator": _GENERATOR,
    }
    return directed_tokens(drawn, parameters)


def float_tokens(array: object) -> Tokens:
    """Return tokens from a float array of unit vectors, read exactly and then normalised.

    Args:
        array: shape (n, d), real and finite, rows of length 1 to about five digits.

    Raises:
        InputError: for another shape, entries that are not finite, and other lengths.
    """
    rows = unit_rows(array, "tokens")
    written: Parameters = {f"x_{i}": _exact_texts(row) for i, row in enumerate(rows, 1)}
    if rows.size > _MOST_WRITTEN:
        written = {"x": sha256(rows.tobytes())}
    return directed_tokens(rows, {"tokens": "floats", **written}, *normalisation(rows))


def unit_rows(array: object, name: str) -> Array:
    """Return a float64 array (n, d) of vectors that are unit vectors to about five digits.

    Raises:
        InputError: for another shape, entries that are not finite, and other lengths.
    """
    given = np.asarray(array)
    if given.ndim != 2 or 0 in given.shape:
        raise InputError(f"{name}: shape {given.shape} is not accepted; give (n, d)")
    rows = finite_floats(given, name)
    lengths = np.linalg.norm(rows, axis=1)
    worst = int(np.argmax(np.abs(lengths - 1)))
    if not abs(lengths[worst] - 1) <= _UNIT_DEFECT:
        raise InputError(
            f"{name}: row {worst + 1} has length {lengths[worst]:.6g}; give unit vectors"
        )
    return rows


def directed_tokens(rows: Array, parameters: Parameters, *remarks: str) -> Tokens:
    """Return tokens in the directions of the rows of a float64 array, which are not zero."""

    def balls() -> list[list[arb]]:
        vectors = [[arb(x) for x in row] for row in rows.tolist()]
        sizes = [sum((x * x for x in vector), arb(0)).sqrt() for vector in vectors]
        return [[x / size for x in v] for v, size in zip(vectors, sizes, strict=True)]

    n, d = rows.shape
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return Tokens(n, d, balls, parameters, remarks, unit)


def normalisation(rows: Array) -> tuple[str, ...]:
    """Return the remark on how far float vectors were from unit vectors; none if they were such."""
    defect = float(np.abs(np.linalg.norm(rows, axis=1) - 1).max())
    if defect == 0:
        return ()
    told = f"their lengths were off by {defect:.1e}"
    return (f"the tokens were given as floats and normalised; {told}",)


def checked_counts(n: int, d: int) -> tuple[int, int]:
    """Return numbers of tokens and coordinates.

    Raises:
        InputError: for what is no integer >= 1, and for more tokens than are simulated.
    """
    count, size = positive_integer(n, "n"), positive_integer(d, "d")
    if count * size > MOST_COORDINATES:
        name, value = ("n", count) if count >= size else ("d", size)
        raise InputError(
            f"{name}: {shortened(Fraction(value))} is too large; accepted: n d up to "
            f"{MOST_COORDINATES:,}"
        )
    return count, size


def _shown(numbers: Sequence[Fraction]) -> str:
    """Return a list of exact numbers as it is typed, a long one in part."""
    more = ",..." if len(numbers) > 4 else ""
    return ",".join(shortened(number, 12) for number in numbers[:4]) + more


def _exact_texts(row: Array) -> list[str]:
    return [exact_text(Fraction(x)) for x in row.tolist()]


def _counts(n: int, d: int | None) -> tuple[int, int]:
    """Return numbers of tokens and coordinates, with d >= n."""
    count, size = checked_counts(n, n if d is None else d)
    if size < count:
        raise InputError(f"d: {size} is not accepted; give at least n = {count}")
    return count, size


def _overlap(value: object, name: str, n: int) -> Fraction:
    """Return an overlap of n equiangular tokens."""
    overlap = exact(value, name)
    if n < 2:
        raise InputError(f"n: {n} is not accepted; give an integer >= 2")
    if not Fraction(-1, n - 1) < overlap < 1:
        raise InputError(
            f"{name}: {brief(exact_text(overlap))} is not accepted; give -1/(n-1) < {name} < 1"
        )
    return overlap
