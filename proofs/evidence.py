"""Evidence: what was established, how, on which domain, and what it does not show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Level(StrEnum):
    """Levels of evidence, strongest first."""

    FORMAL = "formal"
    EXACT = "exact"
    ENCLOSED = "enclosed"
    POINTWISE = "pointwise"
    SAMPLED = "sampled"
    SIMULATED = "simulated"

    @property
    def proves(self) -> bool:
        """Tell whether this level can carry a verdict ``holds`` by itself."""
        return self in (Level.FORMAL, Level.EXACT)

    @property
    def is_rigorous(self) -> bool:
        """Tell whether one failing case at this level is a refutation."""
        return self not in (Level.SAMPLED, Level.SIMULATED)

    @property
    def may_say(self) -> str:
        """Return the words that evidence of this level may use."""
        return _MAY_SAY[self]


_MAY_SAY = {
    Level.FORMAL: "proved",
    Level.EXACT: "proved",
    Level.ENCLOSED: "verified on the stated box",
    Level.POINTWISE: "consistent at the stated points",
    Level.SAMPLED: "consistent with the statement",
    Level.SIMULATED: "consistent with the statement",
}

STRENGTH = tuple(Level)
"""The levels from strongest to weakest."""


class Outcome(StrEnum):
    """What a check says about the statement it was given."""

    SUPPORTS = "supports"
    REFUTES = "refutes"
    UNDECIDED = "undecided"
    VACUOUS = "vacuous"


def parameters_text(parameters: Mapping[str, str | list[str]]) -> str:
    """Return exact parameters as text: ``name = value, ...``, lists in parentheses."""
    return ", ".join(
        f"{name} = {value if isinstance(value, str) else '(' + ', '.join(value) + ')'}"
        for name, value in parameters.items()
    )


@dataclass(frozen=True)
class Counterexample:
    """A case at which a statement fails, with enough to recompute it outside.

    Attributes:
        parameters: exact texts, or lists of them.
        quantity: what to compute.
        value: its value (exact text or certified digits).
        why: why this value refutes the statement.
    """

    parameters: dict[str, str | list[str]]
    quantity: str
    value: str
    why: str


@dataclass(frozen=True)
class Evidence:
    """What one check established.

    Attributes:
        level: how strong it is.
        outcome: what it says about the statement.
        established: what was established, in one sentence.
        domain: where.
        does_not_show: what it leaves open.
        method: how it was done.
        covers_reading: whether support of this kind settles the whole reading.
        counterexample: for a refutation, the case.
        measures: digits, radius, margin, number of points, seed, and the like, as texts.
    """

    level: Level
    outcome: Outcome
    established: str
    domain: str
    does_not_show: str
    method: str
    covers_reading: bool = False
    counterexample: Counterexample | None = None
    measures: dict[str, str] = field(default_factory=dict)
