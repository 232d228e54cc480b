"""Verification as a whole: verdicts of the claims that have checkers, mutants, manifest, jobs."""

import json
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath
import pytest

from proofs import verification
from proofs.claim import Checker, Settings
from proofs.evidence import Evidence, Level, Outcome
from proofs.ledger import claim, claims
from proofs.verdict import Verdict
from proofs.verification import Result, checked_manifest, manifest, run_claim, verify
from symbolic.errors import InputError

PROOF_SHAPE = Evidence(Level.EXACT, Outcome.SUPPORTS, "x", "d", "n", "m")
CHECKED = [c.id for c in claims() if c.checkers]

# What a referee would say; the mathematics page and its leads are the source, not this program.
EXPECTED = {
    "projection": Verdict.HOLDS,
    "critical-cosine": Verdict.HOLDS,
    "critical-cosine-any-sign": Verdict.REFUTED,
    "critical-cosine-lambert": Verdict.REFUTED,
    "critical-cosine-forms": Verdict.HOLDS,
    "critical-beta": Verdict.HOLDS,
    "critical-beta-necessity": Verdict.REFUTED,
    "sharp-critical-beta": Verdict.HOLDS,
    "equiangular-reduction": Verdict.HOLDS,
    "early-rate": Verdict.HOLDS,
    "late-rate": Verdict.HOLDS,
    "rate-convexity": Verdict.HOLDS,
    "rate-peak": Verdict.HOLDS,
    "foreign-heads": Verdict.HOLDS,
    "clustering-time": Verdict.HOLDS,
    "late-constant": Verdict.HOLDS,
    "exit-time": Verdict.HOLDS,
    "entropy-monotone": Verdict.HOLDS,
    "gradient-structure": Verdict.HOLDS,
    "total-energy": Verdict.HOLDS,
    "softmax-energy": Verdict.REFUTED,
    "softmax-energy-one-head": Verdict.HOLDS,
    "relu-energy": Verdict.HOLDS,
    "flat-per-head": Verdict.HOLDS,
    "radial-shadow": Verdict.HOLDS,
    "radial-dominance": Verdict.HOLDS,
    "sharp-radial-dominance": Verdict.HOLDS,
    "radial-dominance-literal": Verdict.REFUTED,
    "super-additivity": Verdict.REFUTED,
    "super-additivity-convex": Verdict.HOLDS,
    "super-additivity-concave": Verdict.HOLDS,
    "super-additivity-peak": Verdict.HOLDS,
    "super-additivity-two-heads": Verdict.HOLDS,
    "entropy-identity": Verdict.HOLDS,
    "entropy-rises": Verdict.REFUTED,
    "relu-vs-softmax": Verdict.HOLDS,
    "relu-late": Verdict.HOLDS,
    "value-misalignment": Verdict.HOLDS,
    "value-misalignment-strict": Verdict.REFUTED,
    "approximate-orthogonality": Verdict.HOLDS,
    "trajectory-invariance": Verdict.REFUTED,
    "long-enough": Verdict.REFUTED,
    "monotone-beyond-threshold": Verdict.HOLDS,
    "monotone-along-equiangular": Verdict.HOLDS,
}


ENTRY = {
    "id": "projection",
    "source": "identities",
    "statement": "",
    "reading": "",
    "verdict": "holds",
    "evidence": [],
}


@pytest.fixture(scope="module")
def results() -> Mapping[str, Result]:
    return {r.claim.id: r for r in verify(digits=30)}


@pytest.fixture(scope="module")
def entries(results: Mapping[str, Result]) -> dict[str, dict[str, Any]]:
    return {e["id"]: e for e in manifest(list(results.values()))["claims"]}


@pytest.mark.parametrize("claim_id", EXPECTED)
def test_verdicts(results: Mapping[str, Result], claim_id: str) -> None:
    assert results[claim_id].verdict is EXPECTED[claim_id]


def test_every_claim_is_decided_or_not_available(results: Mapping[str, Result]) -> None:
    assert set(EXPECTED) == set(CHECKED)
    not_available = {i for i, r in results.items() if r.verdict is Verdict.NOT_AVAILABLE}
    assert set(results) - set(CHECKED) == not_available


@pytest.mark.parametrize("claim_id", CHECKED)
def test_a_decided_claim_has_an_exact_leg_and_an_independent_one(
    entries: Mapping[str, dict[str, Any]], claim_id: str
) -> None:
    entry = entries[claim_id]
    wanted = "supports" if entry["verdict"] == "holds" else "refutes"
    levels = {e["level"] for e in entry["evidence"] if e["outcome"] == wanted}
    assert entry["level"] == "exact"
    assert len(levels) >= 2


def test_a_refuted_claim_has_a_counterexample_and_is_repaired(
    entries: Mapping[str, dict[str, Any]],
) -> None:
    refuted = [e for e in entries.values() if e["verdict"] == "refuted"]
    assert len(refuted) == 10
    for entry in refuted:
        assert entry["counterexample"]["parameters"], entry["id"]
        assert entry["repaired_by"], entry["id"]
        assert all(EXPECTED[other] is Verdict.HOLDS for other in entry["repaired_by"])


def test_claims_without_checker_are_not_checked(results: Mapping[str, Result]) -> None:
    for result in results.values():
        if not result.claim.checkers:
            assert result.verdict in (Verdict.NOT_CHECKED, Verdict.NOT_AVAILABLE)


@pytest.mark.parametrize("claim_id", CHECKED)
def test_every_mutant_is_caught(results: Mapping[str, Result], claim_id: str) -> None:
    runs = results[claim_id].run.mutants
    assert runs
    assert [run.mutant for run in runs if not run.caught] == []


@pytest.mark.parametrize("claim_id", CHECKED)
def test_evidence_says_what_it_does_not_show(
    entries: Mapping[str, dict[str, Any]], claim_id: str
) -> None:
    for found in entries[claim_id]["evidence"]:
        assert found["level"] in set(Level)
        assert found["domain"]
        assert found["does_not_show"]
        assert found["method"]
        assert claim_id in found["rerun"]


def test_a_mutant_put_in_the_place_of_the_statement_never_gets_the_verdict() -> None:
    for claim_id in CHECKED:
        for checker in claim(claim_id).checkers:
            own = checker.check(checker.statement, Settings(digits=20)).outcome
            for label, wrong in checker.mutants:
                outcome = checker.check(wrong, Settings(digits=20)).outcome
                assert outcome is not own, label


def test_a_checker_that_raises_makes_the_claim_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_statement: object, _settings: Settings) -> Any:
        raise ZeroDivisionError("of no avail")

    wrong = replace(claim("projection"), checkers=(Checker("broken", broken, None, ()),))
    monkeypatch.setattr(verification, "claim", lambda _id: wrong)
    (result,) = verify(["projection"], digits=20)
    assert result.verdict is Verdict.ERROR
    assert "of no avail" in result.judgement.reason


def test_counterexample_of_necessity_can_be_recomputed(
    entries: Mapping[str, dict[str, Any]],
) -> None:
    example = entries["critical-beta-necessity"]["counterexample"]
    n, heads, alpha, beta = (int(example["parameters"][k]) for k in ("n", "H", "alpha", "beta"))
    # Orthonormal tokens: E_h from overlaps, its derivative by a tiny explicit Euler step.
    with mpmath.workdps(60):
        step = mpmath.mpf(10) ** -30

        def overlap_after(h: Any) -> Any:
            f = [mpmath.exp(beta * alpha) if k == 0 else mpmath.mpf(1) for k in range(n)]
            velocity = [alpha * heads * c / n for c in f]
            rate = [0 if k == 0 else c for k, c in enumerate(velocity)]
            x, y = [mpmath.mpf(k == 0) + h * rate[k] for k in range(n)], None
            y = [x[1], x[0], *x[2:]]
            norm = mpmath.sqrt(mpmath.fsum(c * c for c in x))
            return mpmath.fsum(a * b for a, b in zip(x, y, strict=True)) / norm**2

        def energy(h: Any) -> Any:
            off = mpmath.exp(beta * alpha * overlap_after(h))
            return (n * mpmath.exp(beta * alpha) + n * (n - 1) * off) / (2 * beta * n**2)

        slope = (energy(step) - energy(-step)) / (2 * step)
        value = Fraction(example["value"])
        assert abs(slope - mpmath.mpf(value.numerator) / value.denominator) < mpmath.mpf(10) ** -25
        threshold = (
            mpmath.log(mpmath.mpf(n - 1) / (heads - 1)) - mpmath.asinh((heads - 1) / mpmath.mpf(2))
        ) / (2 * alpha)
        assert beta > threshold


def test_counterexample_of_lambert_is_the_argument_of_w(
    entries: Mapping[str, dict[str, Any]],
) -> None:
    value = entries["critical-cosine-lambert"]["counterexample"]["value"]
    with mpmath.workdps(50):
        cosine = 2 / (1 + mpmath.sqrt(5))
        assert abs(mpmath.lambertw(mpmath.mpf(value)) - cosine) < mpmath.mpf(10) ** -28


def test_repairs_point_both_ways(entries: Mapping[str, dict[str, Any]]) -> None:
    assert entries["critical-cosine-any-sign"]["repaired_by"] == ["critical-cosine"]
    assert entries["critical-cosine"]["repairs"] == "critical-cosine-any-sign"


def test_the_manifest_is_plain_json_with_the_keys_of_the_contract(
    results: Mapping[str, Result],
) -> None:
    data = manifest(list(results.values()))
    assert json.loads(json.dumps(data)) == data
    keys = [
        "id",
        "source",
        "statement",
        "reading",
        "verdict",
        "counterexample",
        "repairs",
        "repaired_by",
        "uses",
        "evidence",
    ]
    for entry in data["claims"]:
        assert set(keys) <= set(entry)
        for found in entry["evidence"]:
            assert {"level", "domain", "does_not_show"} <= set(found)
        if entry["counterexample"] is not None:
            assert set(entry["counterexample"]) == {"parameters", "quantity", "value", "why"}
    assert data["environment"]["versions"]["sympy"]
    assert all(entry["closed"] for entry in data["formulas"])


def test_a_refuted_claim_always_has_a_counterexample(
    entries: Mapping[str, dict[str, Any]],
) -> None:
    for entry in entries.values():
        assert (entry["counterexample"] is not None) == (entry["verdict"] == "refuted")


def test_worker_processes_give_the_same_verdicts(results: Mapping[str, Result]) -> None:
    ids = ["projection", "critical-cosine-lambert", "critical-cosine-any-sign"]
    parallel = verify(ids, digits=30, jobs=2)
    assert [r.claim.id for r in parallel] == ids
    for result in parallel:
        assert result.judgement == results[result.claim.id].judgement


def test_used_claims_are_judged_without_being_reported() -> None:
    (result,) = verify(["critical-cosine"], digits=20)
    assert result.claim.id == "critical-cosine"
    assert result.verdict is Verdict.HOLDS


def test_an_open_statement_makes_the_claim_undecided_not_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    original = claim("projection")
    unknown = replace(
        PROOF_SHAPE, outcome=Outcome.UNDECIDED, established="nothing", covers_reading=True
    )
    checker = Checker("open", lambda _statement, _settings: unknown, None, (("wrong", 1),))
    monkeypatch.setattr(verification, "claim", lambda _id: replace(original, checkers=(checker,)))
    (result,) = verify("projection", digits=20)
    assert result.verdict is Verdict.UNDECIDED


def test_a_result_renders_in_a_notebook(results: Mapping[str, Result]) -> None:
    page = results["critical-beta-necessity"]._repr_html_()
    assert "refuted, exact" in page
    assert "<b>critical-beta-necessity</b>" in page
    assert " &gt; 0" in page


def test_progress_counts_up_to_the_total() -> None:
    seen: list[tuple[str, int, int]] = []
    verify(["projection"], digits=20, progress=lambda *state: seen.append(state))
    assert seen == [("projection", 1, 1)]


def test_runs_are_reproducible() -> None:
    first, second = (run_claim("critical-cosine", Settings(digits=20)) for _ in range(2))
    assert [e for _, e, _ in first.evidence] == [e for _, e, _ in second.evidence]


@pytest.mark.parametrize("digits", [0, -1, 10_001, True, 1.5, "50"])
def test_digits_out_of_range_are_refused(digits: Any) -> None:
    with pytest.raises(InputError, match="digits"):
        verify(["projection"], digits=digits)


@pytest.mark.parametrize("jobs", [0, -1, True, 1.5])
def test_jobs_out_of_range_are_refused(jobs: Any) -> None:
    with pytest.raises(InputError, match="jobs"):
        verify(["projection"], jobs=jobs)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "no json",
        "[]",
        "{}",
        '{"claims": 1}',
        '{"claims": [{"id": "x"}]}',
        "\x00",
        "[" * 100_000,
        json.dumps({"claims": [{**ENTRY, "verdict": "proved by magic"}]}),
        json.dumps({"claims": [{**ENTRY, "verdict": ["holds"]}]}),
        json.dumps({"claims": [{**ENTRY, "statement": 5}]}),
        json.dumps({"claims": [{**ENTRY, "evidence": [{"level": {}}]}]}),
        json.dumps({"claims": [{**ENTRY, "evidence": [{"level": "sure"}]}]}),
    ],
)
def test_a_file_that_is_no_manifest_is_told_in_one_line(tmp_path: Any, content: str) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(content)
    with pytest.raises(InputError) as error:
        checked_manifest(path)
    assert "\n" not in str(error.value)


def test_a_missing_manifest_is_told_in_one_line(tmp_path: Any) -> None:
    with pytest.raises(InputError, match="cannot read"):
        checked_manifest(tmp_path / "absent.json")


def test_a_manifest_survives_the_file(tmp_path: Any, results: Mapping[str, Result]) -> None:
    data = manifest(list(results.values()))
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(data))
    assert checked_manifest(path) == data
