"""Verdicts: computed from evidence and from the verdicts of the claims that a claim uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from proofs.claim import Claim
from proofs.evidence import STRENGTH, Evidence, Level, Outcome


class Verdict(StrEnum):
    """What is known about a claim."""

    HOLDS = "holds"
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    VACUOUS = "vacuous"
    NOT_AVAILABLE = "not-available"
    NOT_CHECKED = "not-checked"
    ERROR = "error"

    @property
    def is_failure(self) -> bool:
        """Tell whether ``mhflow verify`` must end with exit code 1 over this verdict."""
        return self in (Verdict.UNDECIDED, Verdict.VACUOUS, Verdict.ERROR)


@dataclass(frozen=True)
class Judgement:
    """A verdict, the level it rests on (None without a proof or refutation), and the reason."""

    verdict: Verdict
    level: Level | None
    reason: str


@dataclass(frozen=True)
class MutantRun:
    """One wrong statement put to a checker.

    Attributes:
        checker: name of the checker.
        mutant: what is wrong about the statement.
        outcome: what the check said of it.
        caught: whether the wrong statement failed to pass.
    """

    checker: str
    mutant: str
    outcome: Outcome
    caught: bool


def judge(
    claim: Claim,
    evidence: Sequence[Evidence],
    mutants: Sequence[MutantRun],
    used: Mapping[str, Judgement],
) -> Judgement:
    """Return the verdict on a claim.

    A proof needs exact or formal support of the whole reading; a refutation needs a rigorous
    failing case. A mutant that passes, or evidence that contradicts other evidence, is an error of
    ours. What rests on a claim that does not hold is undecided.

    Args:
        claim: the claim.
        evidence: what its checkers established.
        mutants: what they said of wrong statements.
        used: the judgements of the claims it uses, by id.
    """
    if not claim.checkers:
        if claim.unavailable:
            return Judgement(Verdict.NOT_AVAILABLE, None, claim.unavailable)
        return Judgement(Verdict.NOT_CHECKED, None, "no checker yet")
    survivors = [run for run in mutants if not run.caught]
    if survivors:
        return Judgement(Verdict.ERROR, None, f"a wrong statement passed: {survivors[0].mutant}")
    proofs = [
        e for e in evidence if e.outcome is Outcome.SUPPORTS and e.level.proves and e.covers_reading
    ]
    against = [e for e in evidence if e.outcome is Outcome.REFUTES]
    refutations = [e for e in against if e.level.is_rigorous]
    in_favour = [e for e in evidence if e.outcome is Outcome.SUPPORTS]
    if (proofs and against) or (refutations and in_favour):
        return Judgement(Verdict.ERROR, None, "the evidence contradicts itself")
    if any(e.outcome is Outcome.VACUOUS for e in evidence):
        return Judgement(Verdict.VACUOUS, None, "no case satisfies the hypotheses")
    decisive = proofs or refutations
    if not decisive:
        return Judgement(Verdict.UNDECIDED, None, "neither proved nor refuted")
    failing = [name for name in claim.uses if used[name].verdict is not Verdict.HOLDS]
    if failing:
        return Judgement(
            Verdict.UNDECIDED, None, f"rests on {failing[0]}, which is {used[failing[0]].verdict}"
        )
    own = min((e.level for e in decisive), key=STRENGTH.index)
    chain = [own, *(judgement.level for judgement in used.values() if judgement.level is not None)]
    weakest = max(chain, key=STRENGTH.index)
    if proofs:
        return Judgement(Verdict.HOLDS, weakest, decisive[0].established)
    return Judgement(Verdict.REFUTED, weakest, decisive[0].established)
