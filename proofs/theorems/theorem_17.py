"""Theorem 17: radial shadows on the sphere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction

from flint import arb

from proofs.checks import (
    Point,
    derivation_evidence,
    pointwise_evidence,
    settled_agreement,
    settled_signs,
)
from proofs.claim import Checker, Claim, Settings
from proofs.energy_cases import EnergyCase, energy_cases, rank_one
from proofs.evidence import Evidence
from symbolic import energy_balance as balance
from symbolic import radial_shadow
from symbolic.energy_balance import ORTHOGONAL, Conditions
from symbolic.flow import Model


@dataclass(frozen=True)
class Statement:
    """The identity with the sign of its second term, and on which side of c^2 = 1/2 E_1 falls."""

    conditions: Conditions = field(default_factory=lambda: ORTHOGONAL)
    sign: int = -1
    falls_below: bool = True


def check_derivation(statement: Statement, _settings: Settings) -> Evidence:
    """Derive the identity over formal vectors, and the sign of the smallest witness's rate."""
    identity = balance.head_derivation(statement.conditions, sign=statement.sign)
    goals = [balance.head_relation(spherical=True, sign=statement.sign)]
    if statement.falls_below:
        goals += [radial_shadow.smallest_relation(side) for side in (0, 1)]
    else:
        goals += [radial_shadow.smallest_relation(0).reversedsign]
    return derivation_evidence(
        [identity, radial_shadow.smallest_derivation(0), radial_shadow.smallest_derivation(1)],
        goals,
        established="dE_h/dt = (1/n^3) sum_i (|P f_i^h|^2 - a_i^h sum_{h' != h} a_i^h'); and for "
        "one token (c, s) under e_1 e_1^T and e_2 e_2^T, dE_1/dt < 0 if and only if "
        "0 < c^2 < s^2, for every beta > 0",
        domain="the identity: any n, d and H; the witness: n = 1, d = 2, H = 2",
        does_not_show="how often, or for how long, a head's energy falls",
    )


def check_points(statement: Statement, settings: Settings) -> Evidence:
    """Compare each head's energy, expanded along the flow, with powers and shadows."""
    return pointwise_evidence(
        _points(statement, settings.digits, settings.seed),
        established="the slope of E_h along the flow, from its power series, is the stated "
        "balance of powers and shadows at every point tried, and dE_1/dt has the stated sign for "
        "single tokens on both sides of c^2 = 1/2",
        domain="rational unit tokens, heads on planes of their own, n = 1 to 4, H = 1 to 3; "
        "single tokens (3/5, 4/5), (4/5, 3/5), (5/13, 12/13), (12/13, 5/13)",
        does_not_show="anything between the points; the exact evidence covers that",
        measures={"digits": str(settings.digits), "seed": str(settings.seed)},
    )


def _points(statement: Statement, digits: int, seed: int) -> Iterator[Point]:
    for case in energy_cases(statement.conditions, seed):
        for h in range(len(case.scores)):
            yield _identity_point(statement.sign, case, h, digits)
    for pair in ((3, 4, 5), (5, 12, 13)):
        small, large = Fraction(pair[0], pair[2]), Fraction(pair[1], pair[2])
        for token in ((small, large), (large, small)):
            yield _sign_point(statement.falls_below, token, digits)


def _identity_point(sign: int, case: EnergyCase, h: int, digits: int) -> Point:
    def compute() -> tuple[arb, arb]:
        flow = case.flow()
        total = arb(0)
        for i in range(flow.n):
            others = sum((flow.shadow(i, k) for k in flow.heads if k != h), arb(0))
            total += flow.power(i, h) + sign * flow.shadow(i, h) * others
        return case.energy_slope(h, case.rates()), total / flow.n**3

    holds, value = settled_agreement(compute, digits)
    quantity = "dE_h/dt and the stated balance of powers and shadows"
    return Point({**case.named, "h": str(h + 1)}, holds, quantity, value)


def rank_one_case(
    token: tuple[Fraction, Fraction], strengths: tuple[Fraction, Fraction], beta: Fraction
) -> EnergyCase:
    """Return one token of the plane under a rank-one head on each axis."""
    heads = tuple(rank_one(2, axis, strength) for axis, strength in enumerate(strengths))
    return EnergyCase(Model.UNNORMALISED, (token,), heads, heads, beta)


def _sign_point(falls_below: bool, token: tuple[Fraction, Fraction], digits: int) -> Point:
    one = Fraction(1)
    case = rank_one_case(token, (one, one), one)

    def compute() -> tuple[arb, ...]:
        return (case.energy_slope(0, case.rates()),)

    (sign,) = settled_signs(compute, digits)
    stated = -1 if (token[0] < token[1]) is falls_below else 1
    holds = None if sign is None else sign == stated
    return Point(case.named, holds, "sign of dE_1/dt", str(sign))


_TRUE = Statement()
_WRONG = (
    ("the shadows' term with the other sign", replace(_TRUE, sign=1)),
    ("without the shadows' term", replace(_TRUE, sign=0)),
    ("E_1 falls for c^2 > s^2", replace(_TRUE, falls_below=False)),
    ("without score symmetry", replace(_TRUE, conditions=replace(ORTHOGONAL, symmetric=False))),
    ("without value alignment", replace(_TRUE, conditions=replace(ORTHOGONAL, aligned=False))),
    ("without orthogonal heads", replace(_TRUE, conditions=replace(ORTHOGONAL, orthogonal=False))),
)

CLAIMS = (
    Claim(
        id="radial-shadow",
        source="Thm 17",
        statement=r"on the sphere orthogonality is not enough: shadows $a_i^h$ enter $dE_h/dt$ "
        "and can make it negative",
        reading="the identity for dE_h/dt, and existence of a witness with dE_h/dt < 0",
        model="unnormalised, spherical",
        hypotheses=(
            "score symmetry (Condition 3)",
            "value alignment (Condition 4)",
            "orthogonal heads",
        ),
        uses=("projection",),
        checkers=(
            Checker("derivation", check_derivation, _TRUE, _WRONG),
            Checker("energy as a power series", check_points, _TRUE, _WRONG),
        ),
    ),
)
