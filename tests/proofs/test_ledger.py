"""The ledger against the table of claims in the mathematics."""

import re
from pathlib import Path

import pytest

from proofs.claim import Claim
from proofs.ledger import claim, claim_ids, claims
from symbolic.catalogue import formula_names
from symbolic.errors import InputError

# Section 2 of the mathematics, in its order.
STATED = [
    "projection",
    "gradient-structure",
    "total-energy",
    "value-misalignment",
    "value-misalignment-strict",
    "flat-per-head",
    "radial-shadow",
    "radial-dominance",
    "radial-dominance-literal",
    "critical-cosine",
    "critical-cosine-lambert",
    "critical-beta",
    "critical-beta-necessity",
    "late-rate",
    "early-rate",
    "rate-convexity",
    "super-additivity",
    "relu-vs-softmax",
    "relu-late",
    "entropy-identity",
    "entropy-monotone",
    "approximate-orthogonality",
    "trajectory-invariance",
    "long-enough",
    "critical-points",
    "theorem-40",
]


def test_every_claim_of_the_source_is_listed_once() -> None:
    assert len(set(claim_ids())) == len(claim_ids())
    assert set(STATED) <= set(claim_ids())


def test_whatever_else_is_listed_is_a_finding() -> None:
    for entry in claims():
        assert (entry.id in STATED) != entry.source.startswith("finding")


def test_the_table_is_that_of_the_mathematics() -> None:
    page = Path(__file__).parents[3] / "shared" / "mathematics.md"
    if not page.exists():
        pytest.skip("the mathematics page is not beside this checkout")
    section = page.read_text(encoding="utf-8").split("## 2.")[1].split("## 3.")[0]
    assert STATED[:3] == re.findall(r"^\| ([a-z0-9-]+) \|", section, re.MULTILINE)[1:4]
    listed = [i for i in re.findall(r"^\| ([a-z0-9-]+) \|", section, re.MULTILINE) if i != "id"]
    assert sorted(listed) == sorted(STATED)


@pytest.mark.parametrize("entry", claims(), ids=lambda c: c.id)
def test_a_claim_says_what_it_is_about(entry: Claim) -> None:
    assert entry.statement
    assert entry.reading
    assert entry.model
    assert set(entry.formulas) <= set(formula_names())
    assert set(entry.uses) <= set(claim_ids()) - {entry.id}
    assert entry.repairs in (None, *claim_ids())


@pytest.mark.parametrize("entry", [c for c in claims() if c.checkers], ids=lambda c: c.id)
def test_every_checker_has_mutants(entry: Claim) -> None:
    for checker in entry.checkers:
        assert checker.mutants, checker.name
        labels = [label for label, _ in checker.mutants]
        assert len(set(labels)) == len(labels)
        assert all(statement != checker.statement for _, statement in checker.mutants)


def test_uses_has_no_cycle() -> None:
    def visit(claim_id: str, path: tuple[str, ...]) -> None:
        assert claim_id not in path
        for other in claim(claim_id).uses:
            visit(other, (*path, claim_id))

    for claim_id in claim_ids():
        visit(claim_id, ())


def test_an_unknown_claim_is_told_with_the_nearest_ids() -> None:
    with pytest.raises(InputError, match="critical-beta") as error:
        claim("critical-bta")
    assert "\n" not in str(error.value)
