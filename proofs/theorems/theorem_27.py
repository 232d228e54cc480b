"""Theorem 27: attention entropy."""

from __future__ import annotations

from proofs.claim import Claim

CLAIMS = (
    Claim(
        id="entropy-identity",
        source="Thm 27",
        statement=r"$dS_i^h/dt = -\beta^2\, \mathrm{Cov}_p(s_j, \dot s_j)$",
        reading="p = softmax(beta s), any smooth s",
        model="softmax",
    ),
    Claim(
        id="entropy-monotone",
        source="Thm 27",
        statement=r"scalar heads, equiangular tokens: covariance $\le 0$, entropy rises to "
        r"$\ln n$",
        reading="as written, gamma > -1/(n-1)",
        model="softmax",
        hypotheses=("positive strengths", "equiangular tokens", "gamma > -1/(n-1)"),
        uses=("entropy-identity",),
    ),
)
