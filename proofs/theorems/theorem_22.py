"""Theorem 22: clustering rates of the equiangular regime, and super-additivity."""

from __future__ import annotations

from proofs.claim import Claim

CLAIMS = (
    Claim(
        id="late-rate",
        source="Thm 22",
        statement=r"$\varepsilon \sim C e^{-2\Lambda t}$",
        reading="late-time rate 2 Lambda of eps = 1 - gamma on a trajectory that clusters",
        model="softmax",
        hypotheses=("scalar heads", "equiangular tokens", "the trajectory clusters"),
    ),
    Claim(
        id="early-rate",
        source="Thm 22",
        statement=r"rate function $\phi(\lambda) = 2\lambda/(e^{\lambda\beta}+n-1)$",
        reading="gamma' at gamma = 0 is sum_h phi(lambda_h)",
        model="softmax",
        hypotheses=("scalar heads", "orthonormal tokens"),
    ),
    Claim(
        id="rate-convexity",
        source="Thm 22",
        statement=r"$\phi$ is convex beyond a point $\lambda_c$",
        reading="on lambda > 0 the rate function has exactly one inflection, concave before it and "
        "convex beyond",
        model="softmax",
        hypotheses=("lambda > 0", "beta > 0", "n >= 2"),
    ),
    Claim(
        id="super-additivity",
        source="Thm 22",
        statement=r"mean strength above $\lambda_c$: unequal strengths have a strictly larger "
        "early rate than equal ones of the same total",
        reading="as written",
        model="softmax",
        hypotheses=("positive strengths", "mean strength above lambda_c", "not all equal"),
        uses=("early-rate", "rate-convexity"),
    ),
)
