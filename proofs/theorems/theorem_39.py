"""Theorem 39: robustness to approximate orthogonality."""

from __future__ import annotations

from proofs.claim import Claim

CLAIMS = (
    Claim(
        id="approximate-orthogonality",
        source="Thm 39",
        statement=r"per-head monotonicity is robust to $|M_{h'} M_h| \le \delta$ if small against "
        "the self-energy; trained heads show principal angles of 70-85 degrees",
        reading="monotone if for all i: |P f_i^h|^2 - a_i^h sum_{h' != h} a_i^h' >= "
        "delta |u_i^h| sum_{h' != h} |u_i^h'|",
        model="unnormalised, spherical",
        hypotheses=("score symmetry (Condition 3)", "value alignment (Condition 4)"),
    ),
)
