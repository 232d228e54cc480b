"""Verdicts are computed: each rule of `judge`, and what may never pass."""

from dataclasses import replace

import pytest

from proofs.claim import Checker, Claim
from proofs.evidence import STRENGTH, Evidence, Level, Outcome
from proofs.verdict import Judgement, MutantRun, Verdict, judge

PROOF = Evidence(Level.EXACT, Outcome.SUPPORTS, "x", "d", "n", "m", covers_reading=True)
REFUTATION = replace(PROOF, outcome=Outcome.REFUTES)
CHECKER = Checker("c", lambda statement, settings: PROOF, None, ())
CLAIM = Claim("a", "s", "t", "r", "m", checkers=(CHECKER,))
CAUGHT = MutantRun("c", "wrong", Outcome.UNDECIDED, True)


def verdict(*evidence: Evidence, claim: Claim = CLAIM) -> Verdict:
    return judge(claim, evidence, (CAUGHT,), {}).verdict


def test_exact_support_of_the_whole_reading_holds() -> None:
    assert verdict(PROOF) is Verdict.HOLDS


@pytest.mark.parametrize("level", [e for e in Level if not e.proves])
def test_no_weaker_level_can_carry_a_proof(level: Level) -> None:
    assert verdict(replace(PROOF, level=level)) is Verdict.UNDECIDED


def test_support_of_a_part_of_the_reading_is_no_proof() -> None:
    assert verdict(replace(PROOF, covers_reading=False)) is Verdict.UNDECIDED


def test_an_undecided_check_is_never_a_pass() -> None:
    assert verdict(replace(PROOF, outcome=Outcome.UNDECIDED)) is Verdict.UNDECIDED
    assert verdict() is Verdict.UNDECIDED


@pytest.mark.parametrize("level", [e for e in Level if e.is_rigorous])
def test_a_rigorous_failing_case_refutes(level: Level) -> None:
    assert verdict(replace(REFUTATION, level=level)) is Verdict.REFUTED


@pytest.mark.parametrize("level", [Level.SAMPLED, Level.SIMULATED])
def test_a_sampled_failure_refutes_nothing(level: Level) -> None:
    assert verdict(replace(REFUTATION, level=level)) is Verdict.UNDECIDED


@pytest.mark.parametrize("level", list(Level))
def test_a_proof_beside_any_failure_is_an_error(level: Level) -> None:
    assert verdict(PROOF, replace(REFUTATION, level=level)) is Verdict.ERROR


def test_a_refutation_beside_support_is_an_error() -> None:
    weak = replace(PROOF, level=Level.SAMPLED, covers_reading=False)
    assert verdict(REFUTATION, weak) is Verdict.ERROR


def test_vacuous_evidence_is_reported_as_such() -> None:
    assert verdict(PROOF, replace(PROOF, outcome=Outcome.VACUOUS)) is Verdict.VACUOUS


def test_a_surviving_mutant_is_an_error() -> None:
    survivor = replace(CAUGHT, outcome=Outcome.SUPPORTS, caught=False)
    judgement = judge(CLAIM, (PROOF,), (CAUGHT, survivor), {})
    assert judgement.verdict is Verdict.ERROR
    assert "wrong" in judgement.reason


@pytest.mark.parametrize("used", [v for v in Verdict if v is not Verdict.HOLDS])
@pytest.mark.parametrize("own", [PROOF, REFUTATION])
def test_what_rests_on_a_claim_that_does_not_hold_is_undecided(
    used: Verdict, own: Evidence
) -> None:
    claim = replace(CLAIM, uses=("b",))
    judgement = judge(claim, (own,), (), {"b": Judgement(used, None, "")})
    assert judgement.verdict is Verdict.UNDECIDED
    assert "b" in judgement.reason


def test_the_level_is_the_weakest_along_what_is_used() -> None:
    claim = replace(CLAIM, uses=("b", "c"))
    used = {
        "b": Judgement(Verdict.HOLDS, Level.FORMAL, ""),
        "c": Judgement(Verdict.HOLDS, Level.EXACT, ""),
    }
    formal = replace(PROOF, level=Level.FORMAL)
    assert judge(claim, (formal,), (), used).level is Level.EXACT
    assert judge(claim, (formal, PROOF), (), {**used, "c": used["b"]}).level is Level.FORMAL


def test_without_a_checker_nothing_is_claimed() -> None:
    bare = replace(CLAIM, checkers=())
    assert judge(bare, (), (), {}).verdict is Verdict.NOT_CHECKED
    silent = replace(bare, unavailable="not stated")
    assert judge(silent, (), (), {}) == Judgement(Verdict.NOT_AVAILABLE, None, "not stated")


def test_exit_codes_follow_the_verdict() -> None:
    failures = {v for v in Verdict if v.is_failure}
    assert failures == {Verdict.UNDECIDED, Verdict.VACUOUS, Verdict.ERROR}


def test_levels_are_ordered_from_formal_to_simulated() -> None:
    assert STRENGTH[0] is Level.FORMAL
    assert STRENGTH[-1] is Level.SIMULATED
