"""Theorem 40: only named in the summaries."""

from __future__ import annotations

from proofs.claim import Claim

CLAIMS = (
    Claim(
        id="theorem-40",
        source="Thm 40",
        statement="only named, as resting on the same idealisation",
        reading="none: the summaries do not state it, and nothing is invented",
        model="unknown",
        unavailable="the summaries name the theorem without stating it",
    ),
)
