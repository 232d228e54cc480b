"""The open problems of the source."""

from __future__ import annotations

from proofs.claim import Claim

CLAIMS = (
    Claim(
        id="trajectory-invariance",
        source="open problem",
        statement="radial dominance, once it holds, holds along the trajectory (asked, not "
        "claimed)",
        reading="each regime by itself",
        model="unnormalised and softmax",
    ),
    Claim(
        id="long-enough",
        source="open problem",
        statement="trajectories stay in the monotone region long enough to cluster (asked, not "
        "claimed)",
        reading="each regime by itself",
        model="unnormalised and softmax",
    ),
    Claim(
        id="critical-points",
        source="open problem",
        statement="structure of the critical points of the combined field",
        reading="none: the summaries state no claim",
        model="unnormalised",
        unavailable="the summaries ask for a structure and state none",
    ),
)
