"""The projection identities: ``<P_x u, u> = |P_x u|^2`` and the symmetry of ``P_x``."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import sympy as sp

from numeric.definitions import inner, rational_unit_vector, tangential
from proofs.checks import Point, pointwise_evidence
from proofs.claim import Checker, Claim, Settings
from proofs.evidence import Evidence, Level, Outcome
from symbolic.answer import Answer
from symbolic.decide import is_zero
from symbolic.numbers import exact_text
from symbolic.vectors import Space

Vector = tuple[sp.Expr, ...]


@dataclass(frozen=True)
class Statement:
    """The identities for a map P on formal vectors.

    Attributes:
        project: returns ``P_x u`` in a space.
        square: what ``<x, x>`` is.
        power: the factor of ``|P_x u|^2`` in the first identity.
    """

    project: Callable[[Space, Vector, Vector], Vector]
    square: sp.Expr = sp.S.One
    power: int = 1


def check_identities(statement: Statement, _settings: Settings) -> Evidence:
    """Decide both identities for formal vectors x, u, v with symbols for all inner products."""
    p, q, r, s, t = sp.symbols("p q r s t", real=True)
    gram = sp.ImmutableMatrix([[statement.square, p, q], [p, r, s], [q, s, t]])
    space = Space(gram)
    x, u, v = (space.basis(k) for k in range(3))
    image, other = statement.project(space, x, u), statement.project(space, x, v)
    differences = (
        space.inner(image, u) - statement.power * space.inner(image, image),
        space.inner(image, v) - space.inner(u, other),
    )
    proved = all(is_zero(d) is Answer.YES for d in differences)
    return Evidence(
        Level.EXACT,
        Outcome.SUPPORTS if proved else Outcome.UNDECIDED,
        "both identities hold for all vectors" if proved else "nothing",
        "unit x, any u and v, any dimension d >= 1",
        "nothing about vectors x that are not unit",
        "polynomial identity in the inner products of x, u, v, modulo <x, x> = 1",
        covers_reading=True,
    )


@dataclass(frozen=True)
class PointStatement:
    """The identities in coordinates, for a map P and a scale of x (1 for unit x)."""

    project: Callable[[list[Fraction], list[Fraction]], list[Fraction]]
    scale: Fraction = Fraction(1)


def check_points(statement: PointStatement, settings: Settings) -> Evidence:
    """Try both identities in exact fractions at random rational vectors of several dimensions."""
    return pointwise_evidence(
        _points(statement, random.Random(settings.seed)),
        established="both identities hold at every point tried",
        domain="rational unit vectors x and rational u, v, dimensions 1 to 8",
        does_not_show="anything between the points; the exact evidence covers that",
        measures={"seed": str(settings.seed)},
    )


def _points(statement: PointStatement, source: random.Random) -> Iterator[Point]:
    def fraction() -> Fraction:
        return Fraction(source.randint(-20, 20), source.randint(1, 20))

    for dimension in range(1, 9):
        for _ in range(25):
            unit = rational_unit_vector([fraction() for _ in range(dimension - 1)])
            x = [statement.scale * c for c in unit]
            u, v = ([fraction() for _ in range(dimension)] for _ in range(2))
            image, other = statement.project(x, u), statement.project(x, v)
            defects = (
                inner(image, u) - inner(image, image),
                inner(image, v) - inner(u, other),
            )
            yield Point(
                {name: [exact_text(c) for c in w] for name, w in (("x", x), ("u", u), ("v", v))},
                defects == (0, 0),
                "<P u, u> - |P u|^2 and <P u, v> - <u, P v>",
                ", ".join(exact_text(d) for d in defects),
            )


_TRUE = Statement(lambda space, x, u: space.projected(x, u))
_TRUE_AT_POINTS = PointStatement(tangential)

CLAIMS = (
    Claim(
        id="projection",
        source="identities",
        statement=r"$\langle P_x u, u\rangle = |P_x u|^2$, and $P_x$ is symmetric",
        reading="unit x, any d: <P_x u, u> = |P_x u|^2 and <P_x u, v> = <u, P_x v>",
        model="none (geometry)",
        hypotheses=("x is a unit vector",),
        checkers=(
            Checker(
                "identities for formal vectors",
                check_identities,
                _TRUE,
                (
                    ("x is not unit", replace(_TRUE, square=sp.Symbol("m", positive=True))),
                    (
                        "P_x u = u + <x, u> x",
                        Statement(
                            lambda space, x, u: tuple(
                                b + space.inner(x, u) * a for a, b in zip(x, u, strict=True)
                            )
                        ),
                    ),
                    (
                        "P_x u = u - <x, u> u",
                        Statement(
                            lambda space, x, u: tuple((1 - space.inner(x, u)) * b for b in u)
                        ),
                    ),
                    ("<P u, u> = 2 |P u|^2", replace(_TRUE, power=2)),
                ),
            ),
            Checker(
                "identities at rational points",
                check_points,
                _TRUE_AT_POINTS,
                (
                    ("|x| = 2", replace(_TRUE_AT_POINTS, scale=Fraction(2))),
                    (
                        "P_x u = u + <x, u> x",
                        PointStatement(
                            lambda x, u: [b + inner(x, u) * a for a, b in zip(x, u, strict=True)]
                        ),
                    ),
                ),
            ),
        ),
    ),
)
