"""The ledger: all claims, in the order of the theory."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from proofs.claim import Claim
from symbolic.errors import InputError
from symbolic.names import unknown

_HOMES = (
    "projection",
    "theorem_11",
    "theorem_12",
    "theorem_16",
    "theorem_17",
    "condition_8",
    "theorem_19",
    "critical_cosine",
    "scalar_monotonicity",
    "equiangular_reduction",
    "theorem_22",
    "super_additivity",
    "clustering",
    "theorem_25",
    "theorem_27",
    "entropy_rate",
    "theorem_39",
    "theorem_40",
    "open_problems",
)


@cache
def claims() -> tuple[Claim, ...]:
    """Return every claim."""
    modules = (import_module(f"proofs.theorems.{home}") for home in _HOMES)
    return tuple(entry for module in modules for entry in module.CLAIMS)


def claim_ids() -> tuple[str, ...]:
    """Return the ids of all claims."""
    return tuple(entry.id for entry in claims())


def claim(claim_id: str) -> Claim:
    """Return the claim with this id.

    Raises:
        InputError: for an unknown id; the message lists the nearest ones.
    """
    for entry in claims():
        if entry.id == claim_id:
            return entry
    raise InputError(unknown("claim", claim_id, claim_ids()))
