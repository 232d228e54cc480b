"""Theorem 25: clustering times of ReLU and softmax attention."""

from __future__ import annotations

from proofs.claim import Claim

CLAIMS = (
    Claim(
        id="relu-vs-softmax",
        source="Thm 25",
        statement=r"linearised near $\gamma = 0$: $T_{\mathrm{softmax}} = O(n)$, "
        r"$T_{\mathrm{ReLU}} = O(n \log d)$ from $\gamma_0 \sim 1/\sqrt{d}$",
        reading="unnormalised (exponential) and relu, both with the factor 1/n",
        model="unnormalised and relu",
        hypotheses=("scalar heads", "equiangular tokens"),
    ),
    Claim(
        id="relu-late",
        source="remark to Thm 25",
        statement="ReLU may be ahead at late times, where softmax over-concentrates",
        reading="the exact region where relu is ahead of softmax; also of unnormalised",
        model="relu against softmax and unnormalised",
        hypotheses=("scalar heads", "equiangular tokens"),
    ),
)
