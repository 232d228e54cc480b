"""Theorem 16: per-head monotonicity in the flat flow."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp
from flint import arb

from numeric.definitions import inner
from proofs.checks import Point, derivation_evidence, pointwise_evidence, settled_agreement
from proofs.claim import Checker, Claim, Settings
from proofs.energy_cases import EnergyCase, energy_cases
from proofs.evidence import Evidence
from symbolic import energy_balance as balance
from symbolic.energy_balance import FLAT_ORTHOGONAL, Conditions


def check_derivation(conditions: Conditions, _settings: Settings) -> Evidence:
    """Derive ``dE_h/dt = (1/n^3) sum_i |f_i^h|^2`` over formal vectors."""
    relation = balance.head_relation(spherical=False)
    return derivation_evidence(
        [balance.head_derivation(conditions)],
        [relation, sp.Ge(relation.lhs, 0, evaluate=False)],
        established="dE_h/dt = (1/n^3) sum_i |f_i^h|^2 >= 0 for every head",
        domain="flat flow, any n, d and H, as long as it exists",
        does_not_show="anything on the sphere (radial-shadow); how long the flat flow exists",
    )


def check_points(conditions: Conditions, settings: Settings) -> Evidence:
    """Compare each head's energy, expanded along the flow in coordinates, with its aggregates."""
    return pointwise_evidence(
        (
            _point(case, h, settings.digits)
            for case in energy_cases(conditions, settings.seed)
            for h in range(len(case.scores))
        ),
        established="the slope of E_h along the flow, from its power series, is "
        "(1/n^3) sum_i |f_i^h|^2 at every point tried",
        domain="rational unit tokens, heads on planes of their own, n = 1 to 4, H = 1 to 3",
        does_not_show="anything between the points; the exact evidence covers that",
        measures={"digits": str(settings.digits), "seed": str(settings.seed)},
    )


def _point(case: EnergyCase, h: int, digits: int) -> Point:
    def compute() -> tuple[arb, arb]:
        flow = case.flow()
        aggregates = [flow.aggregate(i, h) for i in range(flow.n)]
        own = sum((inner(f, f) for f in aggregates), arb(0)) / flow.n**3
        return case.energy_slope(h, case.rates()), own

    holds, value = settled_agreement(compute, digits)
    quantity = "dE_h/dt and (1/n^3) sum_i |f_i^h|^2"
    return Point({**case.named, "h": str(h + 1)}, holds, quantity, value)


_WRONG = (
    ("without score symmetry", replace(FLAT_ORTHOGONAL, symmetric=False)),
    ("without value alignment", replace(FLAT_ORTHOGONAL, aligned=False)),
    ("without orthogonal heads", replace(FLAT_ORTHOGONAL, orthogonal=False)),
    ("on the sphere", replace(FLAT_ORTHOGONAL, spherical=True)),
)

CLAIMS = (
    Claim(
        id="flat-per-head",
        source="Thm 16",
        statement=r"flat dynamics, orthogonal heads: every $E_h$ is non-decreasing",
        reading="as written",
        model="unnormalised, flat",
        hypotheses=(
            "score symmetry (Condition 3)",
            "value alignment (Condition 4)",
            "orthogonal heads",
        ),
        checkers=(
            Checker("derivation", check_derivation, FLAT_ORTHOGONAL, _WRONG),
            Checker("energy as a power series", check_points, FLAT_ORTHOGONAL, _WRONG),
        ),
    ),
)
