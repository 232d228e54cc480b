"""What holds beyond beta*: under equal positive scalar heads every head's energy rises."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp
from flint import arb

from numeric.balls import ball_value
from proofs.cases import ScalarCase
from proofs.checks import Point, derivation_evidence, pointwise_evidence, settled_agreement
from proofs.claim import Checker, Claim, Settings
from proofs.evidence import Evidence
from symbolic import energy_rate
from symbolic.notation import H, alpha, beta, gamma, n
from symbolic.numbers import exact_text
from symbolic.region import Range, between
from symbolic.rules import equation


@dataclass(frozen=True)
class Statement:
    """A closed form of ``dE_h/dt`` that is said to be positive.

    Attributes:
        rate: the closed form.
        strengths: the strengths of two heads that it is tried for.
        overlaps: overlaps for which it is said to be positive; None for those of equiangular
            tokens.
    """

    rate: sp.Expr
    strengths: tuple[int, int] = (1, 1)
    overlaps: Range | None = None


def check_derivation(statement: Statement, _settings: Settings) -> Evidence:
    """Derive the rate of a head's energy at equiangular tokens, and its sign."""
    chain = energy_rate.derivation(statement.rate, overlaps=statement.overlaps)
    goals: list[sp.Basic] = [
        equation(energy_rate.SYMBOL, statement.rate),
        sp.Gt(energy_rate.SYMBOL, 0, evaluate=False),
    ]
    return derivation_evidence(
        [chain],
        goals,
        established="dE_h/dt = H alpha^2 e^(2 beta alpha gamma) (n-1)(1-gamma)(1+(n-1)gamma)/n^2 "
        "> 0 for every head and every beta > 0",
        domain="equal positive scalar heads, equiangular tokens, gamma in (-1/(n-1), 1), n >= 2, "
        "H >= 1",
        does_not_show="anything off equiangular tokens, for heads of mixed sign, or for "
        "orthogonal heads: there energies can fall",
    )


def check_points(statement: Statement, settings: Settings) -> Evidence:
    """Compare ``dE_h/dt`` of two heads from the flow in coordinates with the stated rate."""
    return pointwise_evidence(
        _points(statement, settings.digits),
        established="dE_h/dt from the flow in coordinates is the stated rate at every point tried, "
        "below and beyond beta*",
        domain="n = 2 to 5, two heads, beta = 1/10, 1 and 4, gamma from -1/(2(n-1)) to 9/10",
        does_not_show="anything between the points; the exact evidence covers that",
        measures={"digits": str(settings.digits)},
    )


def _points(statement: Statement, digits: int) -> Iterator[Point]:
    heads = tuple(Fraction(strength) for strength in statement.strengths)
    for tokens in range(2, 6):
        for temperature in (Fraction(1, 10), Fraction(1), Fraction(4)):
            for overlap in (Fraction(-1, 2 * (tokens - 1)), Fraction(0), Fraction(9, 10)):
                case = ScalarCase("unnormalised", tokens, heads, temperature, overlap)
                for head in range(2):
                    yield _point(statement.rate, case, head, digits)


def _point(rate: sp.Expr, case: ScalarCase, head: int, digits: int) -> Point:
    bindings = {
        n: Fraction(case.tokens),
        H: Fraction(len(case.heads)),
        alpha: case.heads[head],
        beta: case.temperature,
        gamma: case.overlap,
    }

    def compute() -> tuple[arb, arb]:
        return case.flow().energy_rate(head), ball_value(rate, bindings)

    agrees, value = settled_agreement(compute, digits)
    named = {**case.named, "h": str(head + 1), "strength": exact_text(case.heads[head])}
    return Point(named, agrees, "dE_h/dt from the flow, and the stated rate", value)


_TRUE = Statement(energy_rate.EXPRESSION)
_ANY_BELOW_ONE = between(-1, 1, lower_open=True, upper_open=True)
_WRONG = (
    ("the rate with the opposite sign", Statement(-energy_rate.EXPRESSION)),
    ("n - 3 for n - 1", Statement(energy_rate.EXPRESSION * (n - 3) / (n - 1))),
    ("without the factor H", Statement(energy_rate.EXPRESSION / H)),
)
_CHECKERS = (
    Checker(
        "derivation",
        check_derivation,
        _TRUE,
        (
            *_WRONG,
            ("overlaps below -1/(n-1) too", Statement(_TRUE.rate, overlaps=_ANY_BELOW_ONE)),
        ),
    ),
    Checker(
        "flow in coordinates",
        check_points,
        _TRUE,
        (
            *_WRONG,
            ("strengths 1 and -2, where an energy falls", Statement(_TRUE.rate, (1, -2))),
        ),
    ),
)
_HYPOTHESES = ("equal positive scalar heads", "beta > 0", "n >= 2")

CLAIMS = (
    Claim(
        id="monotone-beyond-threshold",
        source="finding (Thm 19)",
        statement=r"at orthonormal tokens every $E_h$ rises for every $\beta > 0$, beyond "
        r"$\beta^*$ too",
        reading="dE_h/dt > 0, equal positive scalar heads",
        model="unnormalised, spherical",
        hypotheses=(*_HYPOTHESES, "orthonormal tokens"),
        repairs="critical-beta-necessity",
        checkers=_CHECKERS,
    ),
    Claim(
        id="monotone-along-equiangular",
        source="finding (open problem, scalar regime)",
        statement=r"along the equiangular flow every $E_h$ rises for ever, long after Condition 8 "
        "is lost",
        reading="dE_h/dt > 0 at all equiangular tokens with gamma > -1/(n-1), equal positive "
        "scalar heads",
        model="unnormalised, spherical",
        hypotheses=(*_HYPOTHESES, "equiangular tokens"),
        uses=("equiangular-reduction",),
        repairs="long-enough",
        checkers=_CHECKERS,
    ),
)
