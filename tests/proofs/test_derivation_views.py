"""Derivations and formulas on pages: LaTeX that compiles, Markdown that GitHub reads."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from proofs.derivation_views import derivation_text
from proofs.verification import manifest, verify
from proofs.views import formula_page, verification_view
from symbolic.catalogue import formula, formula_names
from symbolic.printing import latex
from tests.support import require

ROOT = Path(__file__).resolve().parents[2]


def test_latex_compiles_in_a_plain_article_without_a_complaint(tmp_path: Path) -> None:
    fragments = "\n".join(derivation_text(formula(name), "latex") for name in formula_names())
    (tmp_path / "all.tex").write_text(
        r"\documentclass{article}\usepackage{amsmath}\begin{document}"
        f"\n{fragments}\n"
        r"\end{document}",
        encoding="utf-8",
    )
    command = [require("pdflatex"), "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done.stdout[-2000:].decode(errors="replace")
    log = (tmp_path / "all.log").read_text(encoding="utf-8", errors="replace")
    assert re.findall(r"^.*(?:Warning|Overfull|Underfull|^!).*$", log, re.MULTILINE) == []


def test_long_formulas_are_broken() -> None:
    content = derivation_text(formula("radial-cosine"), "latex")
    assert "\\[\\begin{aligned}\n" in content


def test_prose_is_escaped_in_latex() -> None:
    content = derivation_text(formula("rate"), "latex")
    assert r"given: definition: the rate of $<$x\_i, x\_j$>$, i != j, under one head" in content


def blocks_of(markdown: str) -> list[str]:
    """Return the formulas of a document; a block is indented like the text of its list item."""
    found = []
    for marker, block in re.findall(
        r"^(- |\d+\. )[^\n]+\n\n((?: +[^\n]+\n)+)", markdown, re.MULTILINE
    ):
        lines = block.splitlines()
        indent = " " * len(marker)
        assert all(line.startswith(indent) and line[len(indent)] != " " for line in lines)
        first, *body, last = (line.strip() for line in lines)
        assert (first, last) == ("```math", "```")
        found += body
    return found


@pytest.mark.parametrize("name", formula_names())
def test_markdown_is_that_of_github(name: str) -> None:
    derivation = formula(name).derivation()
    content = derivation_text(formula(name), "markdown")
    blocks = blocks_of(content)
    assert len(blocks) == len(derivation.premises) + len(derivation.steps)
    assert all(block.count("{") == block.count("}") for block in blocks)
    assert "operatorname" not in content
    prose = re.sub(r"```math.*?```", "", content, flags=re.DOTALL)
    # Nothing is taken for a tag, a formula or emphasis but the names of the rules.
    assert not re.search(r"(?<!\\)[<>$_`|{}]", prose)
    assert len(re.findall(r"(?<!\\)\*", prose)) == 2 * len(derivation.steps)


def test_markdown_has_the_formula() -> None:
    subject = formula("rate-inflection")
    assert latex(subject.equation) in blocks_of(derivation_text(subject, "markdown"))


def test_every_layout_names_every_rule() -> None:
    subject = formula("rate-inflection")
    for layout in ("text", "latex", "markdown"):
        content = derivation_text(subject, layout)
        assert all(step.rule in content for step in subject.derivation().steps)
        assert "27 of 27 steps closed by exact decision" in content


def test_a_page_says_what_defines_the_function(capsys: pytest.CaptureFixture[str]) -> None:
    formula_page("rate-inflection", 5)
    page = capsys.readouterr().out
    assert "formula: lambda_c(n, beta) = x_c(n)/beta" in page
    assert "  where x = x_c(n) > 2 solves x - ln(n - 1) + ln((x - 2)/(x + 2)) = 0" in page
    assert r"LaTeX: \text{where } x = x_c(n) > 2 \text{ solves } x-\ln(n-1)" in page


def test_a_page_has_the_formula_of_each_model(capsys: pytest.CaptureFixture[str]) -> None:
    formula_page("late-rate", 5)
    page = capsys.readouterr().out
    assert "sum(2 lam_h, h=1..H) (softmax)" in page
    assert "sum(2 lam_h e^(beta lam_h), h=1..H) (unnormalised)" in page
    assert "sum(2 lam_h max(0, lam_h), h=1..H) (relu)" in page


def test_a_manifest_says_what_defines_the_function(capsys: pytest.CaptureFixture[str]) -> None:
    data = manifest(verify(["rate-convexity", "late-rate"], digits=5))
    entries = {entry["name"]: entry for entry in data["formulas"]}
    where = "x = x_c(n) > 2 solves x - ln(n - 1) + ln((x - 2)/(x + 2)) = 0"
    assert entries["rate-inflection"]["where"] == where
    assert entries["rate-inflection"]["where_latex"].startswith(r"x = x_c(n) > 2 \text{ solves }")
    assert entries["late-rate"]["where"] is entries["late-rate"]["where_latex"] is None
    verification_view(data)
    assert f"where {where}" in capsys.readouterr().out


PRINT_ALL = """
from proofs.derivation_views import derivation_text
from symbolic.catalogue import formula, formula_names
for name in formula_names():
    for layout in ("text", "latex", "markdown"):
        print(derivation_text(formula(name), layout))
"""


def test_the_same_bytes_under_other_hash_seeds() -> None:
    outputs = set()
    for seed in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", PRINT_ALL],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            check=True,
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1
