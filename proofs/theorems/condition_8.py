"""Condition 8: radial dominance."""

from __future__ import annotations

from proofs.claim import Claim

_HYPOTHESES = (
    "score symmetry (Condition 3)",
    "value alignment (Condition 4)",
    "orthogonal heads",
)

CLAIMS = (
    Claim(
        id="radial-dominance",
        source="Cond 8",
        statement=r"if shadows do not exceed the head's own tangential power, $E_h$ is "
        "non-decreasing",
        reading="Condition 8, |f_i^h| sum_{h' != h} |a_i^h'| <= |P f_i^h|^2 for all i, implies "
        "dE_h/dt >= 0",
        model="unnormalised, spherical",
        hypotheses=_HYPOTHESES,
        uses=("radial-shadow",),
        repairs="radial-dominance-literal",
    ),
    Claim(
        id="radial-dominance-literal",
        source="Cond 8 (literal reading)",
        statement="the sum of the radial shadows does not exceed the tangential power",
        reading="sum_{h' != h} |a_i^h'| <= |P f_i^h|^2 for all i (not homogeneous) implies "
        "dE_h/dt >= 0",
        model="unnormalised, spherical",
        hypotheses=_HYPOTHESES,
    ),
)
