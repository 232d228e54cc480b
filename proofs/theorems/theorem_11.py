"""Theorem 11: the flow is a gradient ascent of the energy."""

from __future__ import annotations

from proofs.claim import Claim

_HYPOTHESES = ("score symmetry (Condition 3)", "value alignment (Condition 4)", "beta > 0")

CLAIMS = (
    Claim(
        id="gradient-structure",
        source="Thm 11",
        statement=r"the flow is a (Wasserstein) gradient ascent of $E$",
        reading="v_i = n grad_{x_i} E, its tangential part on the sphere",
        model="unnormalised",
        hypotheses=_HYPOTHESES,
    ),
    Claim(
        id="total-energy",
        source="Thm 11",
        statement=r"$dE/dt = \frac1n \sum_i |\dot x_i|^2 \ge 0$, flat and spherical",
        reading="the identity, any n, d, H",
        model="unnormalised",
        hypotheses=_HYPOTHESES,
        uses=("gradient-structure",),
    ),
)
