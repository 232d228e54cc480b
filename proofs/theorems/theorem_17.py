"""Theorem 17: radial shadows on the sphere."""

from __future__ import annotations

from proofs.claim import Claim

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
    ),
)
