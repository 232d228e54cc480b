"""Theorem 16: per-head monotonicity in the flat flow."""

from __future__ import annotations

from proofs.claim import Claim

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
    ),
)
