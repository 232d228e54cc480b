"""Running the checkers: evidence, mutants, verdicts, and the manifest made of them."""

from __future__ import annotations

import json
import multiprocessing
import platform
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any

from numeric.evaluate import checked_digits, evaluate
from proofs.claim import Claim, Settings
from proofs.evidence import Evidence, Level, Outcome
from proofs.ledger import claim, claim_ids, claims
from proofs.verdict import Judgement, MutantRun, Verdict, judge
from symbolic.catalogue import formula
from symbolic.errors import InputError
from symbolic.numbers import shown
from symbolic.printing import latex, text, where_latex, where_text

_PACKAGES = ("mhflow", "sympy", "mpmath", "numpy", "scipy", "python-flint", "gmpy2")


@dataclass(frozen=True)
class Run:
    """What the checkers of one claim produced: (checker, evidence, seconds), mutants, an error."""

    evidence: tuple[tuple[str, Evidence, float], ...] = ()
    mutants: tuple[MutantRun, ...] = ()
    error: str = ""


@dataclass(frozen=True)
class Result:
    """A judged claim."""

    claim: Claim
    run: Run
    judgement: Judgement
    settings: Settings = field(default_factory=Settings)

    @property
    def verdict(self) -> Verdict:
        """Return the verdict."""
        return self.judgement.verdict

    def _repr_html_(self) -> str:
        """Return the verdict for notebooks, the statement with its mathematics."""
        level = f", {self.judgement.level}" if self.judgement.level else ""
        return (
            f"<p><b>{escape(self.claim.id)}</b> ({escape(self.claim.source)}): "
            f"{escape(self.claim.statement)}</p>"
            f"<p>{self.verdict}{level}: {escape(self.judgement.reason)}</p>"
        )


def run_claim(claim_id: str, settings: Settings) -> Run:
    """Run all checkers of one claim, each on its statement and on its mutants.

    A checker that raises makes the claim an error; the exception is reported in one line.
    """
    evidence: list[tuple[str, Evidence, float]] = []
    mutants: list[MutantRun] = []
    try:
        for checker in claim(claim_id).checkers:
            start = time.perf_counter()
            found = checker.check(checker.statement, settings)
            evidence.append((checker.name, found, time.perf_counter() - start))
            for label, statement in checker.mutants:
                outcome = checker.check(statement, settings).outcome
                passes = outcome is found.outcome and outcome is not Outcome.UNDECIDED
                mutants.append(MutantRun(checker.name, label, outcome, not passes))
    except Exception as error:  # a broken checker must not take the others down
        return Run(tuple(evidence), tuple(mutants), f"{type(error).__name__}: {error}")
    return Run(tuple(evidence), tuple(mutants))


def verify(
    ids: str | Sequence[str] | None = None,
    *,
    digits: int = 50,
    jobs: int = 1,
    progress: Callable[[str, int, int], None] = lambda _claim, _done, _total: None,
) -> tuple[Result, ...]:
    """Judge claims.

    Args:
        ids: an id or ids of claims; None means every claim of the ledger.
        digits: digits for evidence that has a precision, 1 to 10,000.
        jobs: number of worker processes, at least 1.
        progress: called with a claim's id, the number of claims done and the total.

    Returns:
        One result per id, in the order asked for (of the ledger for None).

    Raises:
        InputError: for an unknown id, and for digits or jobs out of range.
    """
    names = [ids] if isinstance(ids, str) else ids
    wanted = list(dict.fromkeys(names)) if names is not None else list(claim_ids())
    settings = Settings(digits=_checked(digits, jobs))
    needed = _with_used(wanted)
    runs: dict[str, Run] = {}
    for done, (claim_id, run) in enumerate(_run_all(needed, settings, jobs), start=1):
        runs[claim_id] = run
        progress(claim_id, done, len(needed))
    judged: dict[str, Judgement] = {}
    for claim_id in needed:
        judged[claim_id] = _judgement(claim(claim_id), runs[claim_id], judged)
    return tuple(Result(claim(i), runs[i], judged[i], settings) for i in wanted)


def _checked(digits: int, jobs: int) -> int:
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise InputError(f"jobs: {jobs!r} is not accepted; give an integer of at least 1")
    return checked_digits(digits)


def _with_used(ids: Sequence[str]) -> list[str]:
    """Return the ids and all that they use, used claims first."""
    ordered: list[str] = []

    def visit(claim_id: str) -> None:
        if claim_id not in ordered:
            for other in claim(claim_id).uses:
                visit(other)
            ordered.append(claim_id)

    for claim_id in ids:
        visit(claim_id)
    return ordered


def _run_all(ids: Sequence[str], settings: Settings, jobs: int) -> Iterator[tuple[str, Run]]:
    """Yield each claim's run, in any order; worker processes if more than one job is allowed."""
    with_checkers = [i for i in ids if claim(i).checkers]
    yield from ((i, Run()) for i in ids if i not in with_checkers)
    if jobs == 1 or len(with_checkers) < 2:
        yield from ((i, run_claim(i, settings)) for i in with_checkers)
        return
    pool = ProcessPoolExecutor(min(jobs, len(with_checkers)), initializer=_ignore_interrupts)
    try:
        futures = {pool.submit(run_claim, i, settings): i for i in with_checkers}
        for future in as_completed(futures):
            yield futures[future], future.result()
    except BaseException:
        # An interrupted user does not wait for the checks that are under way.
        for worker in multiprocessing.active_children():
            worker.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _ignore_interrupts() -> None:
    """Leave Ctrl-C to the parent, which ends its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _judgement(subject: Claim, run: Run, judged: dict[str, Judgement]) -> Judgement:
    if run.error:
        return Judgement(Verdict.ERROR, None, run.error)
    used = {name: judged[name] for name in subject.uses}
    return judge(subject, [e for _, e, _ in run.evidence], run.mutants, used)


def manifest(results: Sequence[Result]) -> dict[str, Any]:
    """Return the manifest of results: plain data for JSON, with the environment it was made in.

    Beside the claims it lists the formulas that they are about: derived, evaluated and printed.
    """
    digits = results[0].settings.digits if results else 50
    names = dict.fromkeys(name for result in results for name in result.claim.formulas)
    return {
        "claims": [_entry(result) for result in results],
        "formulas": [_formula_entry(name, digits) for name in names],
        "environment": {
            "python": platform.python_version(),
            "platform": platform.system().lower(),
            "versions": {package: version(package) for package in _PACKAGES},
            "digits": digits,
            "seed": results[0].settings.seed if results else None,
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        },
    }


def _formula_entry(name: str, digits: int) -> dict[str, Any]:
    subject = formula(name)
    derivation = subject.derivation()
    return {
        "name": name,
        "text": text(subject.equation),
        "latex": latex(subject.equation),
        "where": where_text(subject.expression),
        "where_latex": where_latex(subject.expression),
        "source": subject.source,
        "steps": len(derivation.steps),
        "closed": derivation.is_closed,
        "example": evaluate(name, digits=digits, **subject.example).to_json(),
    }


def checked_manifest(path: Path) -> dict[str, Any]:
    """Return a manifest read from a file.

    Raises:
        InputError: if the file cannot be read, is not JSON, or has no list of claims with the keys
            that the tables need.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"manifest: cannot read {shown(str(path))}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise InputError(
            f"manifest: {shown(str(path))} is not a JSON file of mhflow verify"
        ) from None
    entries = data.get("claims") if isinstance(data, dict) else None
    if not isinstance(entries, list) or not all(_is_entry(entry) for entry in entries):
        raise InputError(f"manifest: {shown(str(path))} has no claims as mhflow verify writes them")
    return dict(data)


def _is_entry(entry: Any) -> bool:
    """Tell whether an entry of a manifest has what tables and pages need, in the right types."""
    if not isinstance(entry, dict):
        return False
    texts = all(isinstance(entry.get(k), str) for k in ("id", "source", "statement", "reading"))
    evidence = entry.get("evidence")
    return (
        texts
        and entry.get("verdict") in list(Verdict)
        and isinstance(evidence, list)
        and all(isinstance(e, dict) and e.get("level") in list(Level) for e in evidence)
    )


def _entry(result: Result) -> dict[str, Any]:
    subject, judgement = result.claim, result.judgement
    found = (e.counterexample for _, e, _ in result.run.evidence if e.counterexample)
    example = next(found, None) if result.verdict is Verdict.REFUTED else None
    return {
        "id": subject.id,
        "source": subject.source,
        "statement": subject.statement,
        "reading": subject.reading,
        "model": subject.model,
        "hypotheses": list(subject.hypotheses),
        "formulas": list(subject.formulas),
        "verdict": judgement.verdict.value,
        "level": judgement.level.value if judgement.level else None,
        "reason": judgement.reason,
        "counterexample": None if example is None else asdict(example),
        "repairs": subject.repairs,
        "repaired_by": [other.id for other in claims() if other.repairs == subject.id],
        "uses": list(subject.uses),
        "evidence": [
            {
                "checker": checker,
                "level": found.level.value,
                "outcome": found.outcome.value,
                "may_say": found.level.may_say if found.outcome.value == "supports" else None,
                "established": found.established,
                "domain": found.domain,
                "does_not_show": found.does_not_show,
                "method": found.method,
                "measures": found.measures,
                "seconds": round(seconds, 3),
                "rerun": f"mhflow verify {subject.id} --digits {result.settings.digits}",
            }
            for checker, found, seconds in result.run.evidence
        ],
        "mutants": [
            {
                "checker": m.checker,
                "mutant": m.mutant,
                "outcome": m.outcome.value,
                "caught": m.caught,
            }
            for m in result.run.mutants
        ],
    }
