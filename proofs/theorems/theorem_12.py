"""Theorem 12: robustness to misaligned values."""

from __future__ import annotations

from proofs.claim import Claim

CLAIMS = (
    Claim(
        id="value-misalignment",
        source="Thm 12",
        statement="the gradient structure is robust to small perturbations of value alignment",
        reading="a quantitative lower bound on dE/dt in eta >= |V_h - M_h|, tending to Thm 11 as "
        "eta -> 0",
        model="unnormalised, spherical",
        hypotheses=("score symmetry (Condition 3)", "|V_h - M_h| <= eta", "unit tokens"),
        uses=("total-energy",),
    ),
    Claim(
        id="value-misalignment-strict",
        source="Thm 12 (stronger reading)",
        statement=r"$E$ stays non-decreasing for small $\eta$",
        reading="as written",
        model="unnormalised, spherical",
        hypotheses=("score symmetry (Condition 3)", "|V_h - M_h| <= eta", "unit tokens"),
    ),
)
