"""Exact points at which claims about energies of any heads on any tokens are tried."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, arb_series

from numeric.balls import exact_ball
from numeric.definitions import Flow, Vector, inner, rational_unit_vector, tangential
from symbolic.energy_balance import Conditions
from symbolic.flow import Model
from symbolic.numbers import exact_text

Rows = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class EnergyCase:
    """Tokens under heads, all rational.

    Attributes:
        model: the model of attention.
        tokens: n unit vectors, d coordinates each.
        scores: H score matrices, d by d.
        values: H value matrices, d by d.
        temperature: inverse temperature.
        spherical: whether tokens stay on the sphere; else the flow is flat.
    """

    model: Model
    tokens: Rows
    scores: tuple[Rows, ...]
    values: tuple[Rows, ...]
    temperature: Fraction
    spherical: bool = True

    def flow(self) -> Flow:
        """Return the flow in coordinates, in balls at the precision in force."""
        return Flow(
            self.model,
            _balls(self.tokens),
            [_balls(matrix) for matrix in self.scores],
            [_balls(matrix) for matrix in self.values],
            exact_ball(self.temperature),
        )

    def rates(self) -> list[Vector]:
        """Return ``x_i'`` of the flow, flat or spherical, in balls."""
        flow = self.flow()
        velocities = [flow.velocity(i) for i in range(flow.n)]
        return self.along(velocities)

    def along(self, vectors: Sequence[Vector]) -> list[Vector]:
        """Return the tangential part of a vector at each token; in the flat flow the vector."""
        if not self.spherical:
            return list(vectors)
        return [tangential(x, u) for x, u in zip(_balls(self.tokens), vectors, strict=True)]

    def energy_slope(self, h: int, rates: Sequence[Vector]) -> arb:
        """Return how fast ``E_h`` changes if the tokens move at these rates, by a power series.

        ``E_h`` is written out along ``x_i + t x_i'`` and expanded to first order in t: no
        derivative is taken by hand. Under relu it is ReLU's own energy.
        """
        moving = [
            [arb_series([a, b], 2) for a, b in zip(x, rate, strict=True)]
            for x, rate in zip(_balls(self.tokens), rates, strict=True)
        ]
        matrix, beta = _balls(self.scores[h]), exact_ball(self.temperature)
        total = arb(0)
        for x in moving:
            for y in moving:
                image = [_dot([arb_series([c], 2) for c in row], y) for row in matrix]
                score = _dot(x, image)
                if self.model is Model.RELU:
                    term = score * score / 4 if score[0] > 0 else arb_series([0], 2)
                else:
                    term = (score * beta).exp() / (2 * beta)
                total += term[1]
        return total / len(moving) ** 2

    @property
    def named(self) -> dict[str, str | list[str]]:
        """Return the parameters as exact texts; matrices by rows, one text each."""
        matrices = {"M": self.scores} | ({} if self.values == self.scores else {"V": self.values})
        named: dict[str, str | list[str]] = {
            "model": f"{self.model}, {'spherical' if self.spherical else 'flat'}",
            "x": [_row(x) for x in self.tokens],
            "beta": exact_text(self.temperature),
        }
        for name, family in matrices.items():
            named |= {f"{name}_{h + 1}": [_row(r) for r in m] for h, m in enumerate(family)}
        return named


def _balls(rows: Rows) -> list[Vector]:
    return [[exact_ball(c) for c in row] for row in rows]


def _dot(u: Sequence[arb_series], v: Sequence[arb_series]) -> arb_series:
    total: arb_series = inner(list(u), list(v))
    return total


def _row(row: Sequence[Fraction]) -> str:
    return "(" + ", ".join(exact_text(c) for c in row) + ")"


def rank_one(dimension: int, axis: int, strength: Fraction) -> Rows:
    """Return ``strength e e^T`` for the unit vector e of an axis (from 0)."""
    return tuple(
        tuple(strength if row == column == axis else Fraction(0) for column in range(dimension))
        for row in range(dimension)
    )


def energy_cases(conditions: Conditions, seed: int, *, points: int = 12) -> Iterator[EnergyCase]:
    """Yield cases that meet the conditions: 1 to 4 tokens, 1 to 3 heads, dimension 2 to 6.

    Orthogonal heads act on planes of coordinates of their own.
    """
    source = random.Random(seed)
    for point in range(points):
        tokens, heads = 1 + point % 4, 1 + (point + point // 4) % 3
        dimension = 2 * heads if conditions.orthogonal else 2 + point % 2
        scores = tuple(_matrix(source, dimension, h, conditions) for h in range(heads))
        values = scores
        if not conditions.aligned:
            values = tuple(_matrix(source, dimension, h, conditions) for h in range(heads))
        yield EnergyCase(
            conditions.model,
            tuple(_unit(source, dimension) for _ in range(tokens)),
            scores,
            values,
            Fraction(source.randint(1, 8), 4),
            conditions.spherical,
        )


def _unit(source: random.Random, dimension: int) -> tuple[Fraction, ...]:
    parameters = [Fraction(source.randint(-6, 6), 4) for _ in range(dimension - 1)]
    return tuple(rational_unit_vector(parameters))


def _matrix(source: random.Random, dimension: int, h: int, conditions: Conditions) -> Rows:
    inside = range(2 * h, 2 * h + 2) if conditions.orthogonal else range(dimension)
    entries = [[Fraction(0)] * dimension for _ in range(dimension)]
    for row in inside:
        for column in inside:
            if column >= row or not conditions.symmetric:
                entries[row][column] = Fraction(source.randint(-6, 6), 4)
                if conditions.symmetric:
                    entries[column][row] = entries[row][column]
    return tuple(tuple(row) for row in entries)
