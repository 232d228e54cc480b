"""The diagnosis of tokens and heads in an array file: float64 numbers in, certified signs out.

The binary numbers of the file are read exactly, and what has a sign is computed in balls of 128
bits; each number is then given as the nearest float. A sign that 128 bits do not decide is
``undecided``: such a number is zero, or zero up to about the 38th digit. Norms, overlaps and angles
of the matrices, which decide nothing, are computed in float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from itertools import combinations
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from flint import arb

from numeric.balls import ball_precision
from numeric.heads import Heads
from numeric.simulation import Array
from numeric.token_file import read_arrays
from numeric.token_flow import TokenFlow, ball_sum
from numeric.token_quantities import BallQuantities, ball_quantities
from numeric.token_start import Tokens
from symbolic.errors import InputError
from symbolic.numbers import exact_text
from symbolic.parameter import INVERSE_TEMPERATURE, MODEL, shortened

BITS = 128
"""Precision of the balls."""
MOST_EXPONENT = 700
"""Largest exponent ``beta <x_i, M_h x_j>``: beyond it floats cannot hold the results."""
MOST_ENTRY = 1e100
"""Largest entry of a matrix: products of two of them are floats."""
MOST_SCORES = 4_000_000
"""Most scores ``<x_i, M_h x_j>``: with half a kilobyte each, two gigabytes."""
MOST_SECONDS = 300
"""Longest time that the arrays may take, as it is estimated from their sizes."""


@dataclass(frozen=True)
class FloatMargin:
    """A number whose sign is the answer.

    Attributes:
        value: the float nearest to it.
        holds: ``yes`` if the number is surely >= 0, ``no`` if it is surely < 0, else ``undecided``.
    """

    value: float
    holds: str


@dataclass(frozen=True)
class TokenMargins:
    """A condition on every token.

    Attributes:
        holds: ``yes`` if it holds at all tokens, ``no`` if it fails at one, else ``undecided``.
        worst_token: the token with the least margin, counted from 1.
        worst: that margin.
        values: the margins of all tokens.
        answers: whether the condition holds at each.
    """

    holds: str
    worst_token: int
    worst: FloatMargin
    values: tuple[float, ...]
    answers: tuple[str, ...]


@dataclass(frozen=True)
class ArrayHead:
    """One head of an array file.

    Attributes:
        head: 1, 2, ... in the order of the file.
        score_norm: operator norm ``|M_h|``.
        rank: numerical rank of ``M_h``, with NumPy's threshold.
        symmetry_defect: operator norm ``|M_h - M_h^T|``, zero under score symmetry.
        alignment_defect: operator norm ``|V_h - M_h|``, zero under value alignment.
        shadows: radial shadow ``a_i^h`` of each token.
        condition8: ``|P f|^2 - |f| sum |a^h'|`` at each token.
        condition8_sharp: ``|P f|^2 - |a| sum |a^h'|`` at each token.
        energy: ``E_h``; None at beta = 0, where it is not defined.
        denergy: ``dE_h/dt`` along the spherical flow of the model; None at beta = 0.
        entropies: attention entropy of each token under softmax weights, at most ln n.
    """

    head: int
    score_norm: float
    rank: int
    symmetry_defect: float
    alignment_defect: float
    shadows: tuple[float, ...]
    condition8: TokenMargins
    condition8_sharp: TokenMargins
    energy: float | None
    denergy: FloatMargin | None
    entropies: tuple[float, ...]


@dataclass(frozen=True)
class HeadPair:
    """Two heads.

    Attributes:
        heads: their numbers.
        overlap: the larger of the operator norms ``|M_h' M_h|`` and ``|M_h M_h'|``, zero for
            orthogonal heads.
        angles: principal angles between the ranges of the score matrices in degrees, ascending, as
            many as the smaller rank; 90 all of them for symmetric orthogonal heads.
    """

    heads: tuple[int, int]
    overlap: float
    angles: tuple[float, ...]


@dataclass(frozen=True)
class ArrayDiagnosis:
    """What holds for the tokens and heads of an array file.

    Attributes:
        parameters: texts by name: model, beta, file with its digest, and the sizes n, d, H.
        heads: one entry for each head.
        pairs: one entry for each two heads.
        energy: ``E``; None at beta = 0.
        denergy: ``dE/dt`` along the spherical flow of the model; None at beta = 0.
        remarks: what the reader should know about these values.
        does_not_show: what these values are no evidence of.
    """

    parameters: dict[str, str]
    heads: tuple[ArrayHead, ...]
    pairs: tuple[HeadPair, ...]
    energy: float | None
    denergy: FloatMargin | None
    remarks: tuple[str, ...]
    does_not_show: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the diagnosis as plain data: what ``mhflow diagnose FILE --json`` prints."""
        return {"kind": "tokens and heads of an array file", **asdict(self)}


def diagnose_arrays(file: str | Path, *, beta: object, model: str = "softmax") -> ArrayDiagnosis:
    """Return what holds for the tokens and heads of an array file; see `numeric.diagnosis`.

    Raises:
        InputError: for a file that cannot be read, wrong parameters, exponents out of the range of
            floats, and arrays that are too large.
    """
    chosen = str(MODEL.read(model))
    temperature = _inverse_temperature(beta)
    heads, tokens = read_arrays(file)
    _check_size(tokens.n, heads.d, heads.count)
    study = _Study(chosen, heads, tokens, temperature)
    study.check_range()
    return study.diagnosis()


def _inverse_temperature(value: object) -> Fraction:
    """Return beta exactly; beside arrays of floats, a float stands for the number it is."""
    if isinstance(value, float | np.floating) and isfinite(value):
        value = Fraction(float(value))
    number = INVERSE_TEMPERATURE.read(value)
    assert isinstance(number, Fraction)
    return number


def _check_size(n: int, d: int, heads: int) -> None:
    """Refuse arrays that would exhaust memory or take long, before the work starts."""
    sizes = f"n = {n}, d = {d}, H = {heads}"
    scores = heads * n * n
    if scores > MOST_SCORES:
        raise InputError(f"{sizes} make H n^2 = {scores} scores; accepted: up to {MOST_SCORES}")
    # Measured: 10 microseconds for each score, and about 40 ns for each product of its sums.
    seconds = 1e-5 * scores + 4e-8 * heads * n * d * (n + d)
    if seconds > MOST_SECONDS:
        raise InputError(
            f"{sizes} take about {seconds / 60:.0f} minutes; accepted: arrays that take up to "
            f"{MOST_SECONDS // 60} minutes"
        )


class _Study:
    """The diagnosis in the making."""

    def __init__(self, model: str, heads: Heads, tokens: Tokens, beta: Fraction) -> None:
        self.heads = heads
        self.tokens = tokens
        self.flow = TokenFlow(model, heads, beta, tokens.n)
        self.factors = [_Factors.of(score.floats) for score in heads.scores]

    def check_range(self) -> None:
        """Check that exponentials and products of matrices are numbers that floats can hold.

        Raises:
            InputError: if not.
        """
        beta = self.flow.beta
        for name, matrices in (("M", self.heads.score_floats), ("V", self.heads.value_floats)):
            if not np.abs(matrices).max() <= MOST_ENTRY:
                raise InputError(
                    f"{name}: an entry of size {np.abs(matrices).max():.4g} is not accepted; give "
                    f"entries up to {MOST_ENTRY:.0e}"
                )
        for h, scores in enumerate(self.flow.float_scores(self.tokens.floats), 1):
            largest = float(np.abs(scores).max())
            if Fraction(largest) * beta > MOST_EXPONENT:
                raise InputError(
                    f"beta: {shortened(beta)} times a score <x_i, M_h x_j> of {largest:.4g} "
                    f"(head {h}) is beyond floats; accepted: exponents up to {MOST_EXPONENT}"
                )

    def diagnosis(self) -> ArrayDiagnosis:
        """Return the whole."""
        with ball_precision(BITS):
            state = [x for row in self.tokens.balls() for x in row]
            found = ball_quantities(self.flow, state)
            heads = [self._head(h, found) for h in range(self.heads.count)]
            energy = None if found.energies is None else _float(ball_sum(found.energies))
            rates = found.energy_rates
            denergy = None if found.energies is None else _margin(ball_sum(rates))
        pairs = _pairs(self.factors)
        return ArrayDiagnosis(
            parameters={
                "model": self.flow.model,
                "beta": exact_text(self.flow.beta),
                **{key: str(value) for key, value in self.tokens.parameters.items()},
                "n": str(self.flow.n),
                "d": str(self.heads.d),
                "H": str(self.heads.count),
            },
            heads=tuple(heads),
            pairs=pairs,
            energy=energy,
            denergy=denergy,
            remarks=tuple(self._remarks(heads, pairs)),
            does_not_show=_DOES_NOT_SHOW,
        )

    def _head(self, h: int, found: BallQuantities) -> ArrayHead:
        score, value = self.heads.scores[h].floats, self.heads.values[h].floats
        # Without shadows of other heads there is nothing to dominate.
        trivial = [
            all(shadows[i] == 0 for k, shadows in enumerate(found.shadows) if k != h)
            for i in range(self.flow.n)
        ]
        energies, rates = found.energies, found.energy_rates
        return ArrayHead(
            head=h + 1,
            score_norm=self.factors[h].norm,
            rank=self.factors[h].rank,
            symmetry_defect=_norm(score - score.T),
            alignment_defect=_norm(value - score),
            shadows=tuple(map(_float, found.shadows[h])),
            condition8=_condition(found.margins[h], trivial),
            condition8_sharp=_condition(found.sharp_margins[h], trivial),
            energy=None if energies is None else _float(energies[h]),
            denergy=None if energies is None else _margin(rates[h]),
            entropies=tuple(map(_float, found.entropies[h])),
        )

    def _remarks(self, heads: Sequence[ArrayHead], pairs: Sequence[HeadPair]) -> list[str]:
        """Return which hypotheses the arrays meet, and what is special about them."""
        remarks = list(self.tokens.remarks)
        symmetry = max(head.symmetry_defect for head in heads)
        alignment = max(head.alignment_defect for head in heads)
        overlap = max((pair.overlap for pair in pairs), default=0.0)
        defects = [
            text
            for size, text in (
                (symmetry, f"not symmetric (Condition 3): |M - M^T| up to {symmetry:.3g}"),
                (alignment, f"not aligned (Condition 4): |V - M| up to {alignment:.3g}"),
                (overlap, f"not orthogonal: |M_h' M_h| up to {overlap:.3g}"),
            )
            if size > 0
        ]
        if defects:
            remarks.append("the heads are " + "; ".join(defects))
        else:
            remarks.append("the heads are symmetric, aligned and orthogonal, to the last digit")
        if symmetry > 0:
            remarks.append(
                "of a matrix that is not symmetric, the principal angles are those of its range "
                "(column space) alone; the overlap also knows its row space"
            )
        model = self.flow.model
        if model != "unnormalised":
            remarks.append(
                f"{model}: the energies E_h belong to the unnormalised model; here dE_h/dt is "
                f"along the {model} flow, and Condition 8 is about its aggregates"
            )
        if self.flow.beta == 0:
            remarks.append("beta = 0: the energies E_h are not defined")
        if len(heads) == 1:
            remarks.append("one head has no other shadows: Condition 8 holds trivially")
        return remarks


_DOES_NOT_SHOW = (
    "Condition 8 at all tokens is sufficient for dE_h/dt >= 0 of symmetric, aligned and orthogonal "
    "heads in the unnormalised model, not necessary; for other heads it decides nothing",
    "signs are those at these tokens; along the trajectory they can change",
    "norms, ranks, overlaps and angles are float64 numbers, with its rounding errors",
)


def _condition(balls: Sequence[arb], trivial: Sequence[bool]) -> TokenMargins:
    """Return the margins of all tokens; where they are squares they are not negative."""
    margins = [
        FloatMargin(max(_float(ball), 0.0), "yes") if square else _margin(ball)
        for ball, square in zip(balls, trivial, strict=True)
    ]
    answers = [margin.holds for margin in margins]
    worst = min(range(len(margins)), key=lambda i: margins[i].value)
    whole = "no" if "no" in answers else "undecided" if "undecided" in answers else "yes"
    return TokenMargins(
        holds=whole,
        worst_token=worst + 1,
        worst=margins[worst],
        values=tuple(margin.value for margin in margins),
        answers=tuple(answers),
    )


@dataclass(frozen=True, eq=False)
class _Factors:
    """A matrix with its singular value decomposition, cut off at the numerical rank."""

    matrix: Array
    left: Array
    sizes: Array
    right: Array

    @classmethod
    def of(cls, matrix: Array) -> _Factors:
        left, sizes, right = np.linalg.svd(matrix)
        rank = int(np.count_nonzero(sizes > sizes[0] * len(matrix) * np.finfo(np.float64).eps))
        return cls(matrix, left[:, :rank], sizes[:rank], right[:rank])

    @property
    def rank(self) -> int:
        return len(self.sizes)

    @property
    def norm(self) -> float:
        return float(max(self.sizes, default=0.0))

    def norm_of_product(self, other: _Factors) -> float:
        """Return the operator norm of this matrix times another."""
        # A product that vanishes exactly is told apart from one of the size of rounding errors.
        if not (self.matrix @ other.matrix).any():
            return 0.0
        return _norm(self.sizes[:, None] * (self.right @ other.left) * other.sizes)


def _pairs(heads: Sequence[_Factors]) -> tuple[HeadPair, ...]:
    """Return overlap and principal angles of each two heads."""
    pairs = []
    for (h, first), (k, second) in combinations(enumerate(heads, 1), 2):
        overlap = max(first.norm_of_product(second), second.norm_of_product(first))
        pairs.append(HeadPair((h, k), overlap, _angles(first, second)))
    return tuple(pairs)


def _angles(first: _Factors, second: _Factors) -> tuple[float, ...]:
    """Return the principal angles between two ranges in degrees, ascending."""
    from scipy.linalg import subspace_angles

    ranks = (first.rank, second.rank)
    if min(ranks) == 0 or max(ranks) == len(first.matrix):
        return (0.0,) * min(ranks)  # no range, or one that is the whole space
    return tuple(np.degrees(subspace_angles(first.left, second.left)[::-1]).tolist())


def _norm(matrix: Array) -> float:
    """Return the operator norm."""
    return float(np.linalg.norm(matrix, 2)) if matrix.any() else 0.0


def _margin(ball: arb) -> FloatMargin:
    holds = "yes" if ball >= 0 else "no" if ball < 0 else "undecided"
    return FloatMargin(_float(ball), holds)


def _float(ball: arb) -> float:
    """Return the float nearest to a ball's midpoint.

    Raises:
        InputError: if there is none.
    """
    value = float(ball.mid())
    if not isfinite(value):
        raise InputError(
            "the arrays and beta make numbers beyond floats; accepted: those whose aggregates, "
            "squared, floats can hold"
        )
    return value
