"""Claims: statements with their reading, hypotheses and checkers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from proofs.evidence import Evidence


@dataclass(frozen=True)
class Settings:
    """How checks are run.

    Attributes:
        digits: decimal digits for evidence that has a precision.
        seed: seed of every random choice.
    """

    digits: int = 50
    seed: int = 20260504


@dataclass(frozen=True)
class Checker:
    """A check of a statement, and the wrong statements that it must not let pass.

    Attributes:
        name: what the check does, in a few words.
        check: takes a statement and the settings, returns evidence; it never sees which is which.
        statement: the statement of the claim, as data.
        mutants: wrong statements, each with what is wrong about it. The check passes a mutant by
            the outcome it has for the claim's own statement; none may pass.
    """

    name: str
    check: Callable[[Any, Settings], Evidence]
    statement: Any
    mutants: tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Claim:
    """A statement to be judged.

    Attributes:
        id: permanent name in kebab-case.
        source: where it stands in the source.
        statement: as stated there (as summarised), text with LaTeX.
        reading: the reading that is judged.
        model: the model or models it is about.
        hypotheses: what the reading assumes, one by one.
        formulas: names of the formulas it is about.
        uses: ids of the claims its proof rests on.
        repairs: id of the claim that this one repairs or sharpens.
        checkers: what computes its evidence.
        unavailable: why the source does not say enough to judge it, if so.
    """

    id: str
    source: str
    statement: str
    reading: str
    model: str
    hypotheses: tuple[str, ...] = ()
    formulas: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    repairs: str | None = None
    checkers: tuple[Checker, ...] = ()
    unavailable: str = ""
