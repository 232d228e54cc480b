"""Derivations as text, LaTeX or Markdown: every step with its rule, its reason and its check."""

from __future__ import annotations

import textwrap

import sympy as sp

from proofs.typesetting import github_math, latex_prose, markdown_prose
from symbolic.answer import Answer
from symbolic.derivation import Checked, Step
from symbolic.formula import Formula
from symbolic.line_breaks import broken
from symbolic.printing import latex, text

WIDTH = 100
DISPLAY_WIDTH = 31
"""Width in em of a display in a list; in a one-column article at 10 pt there is room for 32."""

_MARKS = {Answer.YES: "closed", Answer.NO: "FAILS", Answer.UNDECIDED: "NOT CLOSED"}


def derivation_text(subject: Formula, layout: str) -> str:
    """Return the derivation of a formula.

    Args:
        subject: the formula.
        layout: ``text``, ``latex`` (a fragment of a document with amsmath) or ``markdown`` (that of
            GitHub, with its blocks of mathematics).
    """
    return {"text": _as_text, "latex": _as_latex, "markdown": _as_markdown}[layout](subject)


def _steps(subject: Formula) -> list[tuple[int, Step, Checked]]:
    derivation = subject.derivation()
    pairs = zip(derivation.steps, derivation.outcomes, strict=True)
    return [(number, step, outcome) for number, (step, outcome) in enumerate(pairs, start=1)]


def _summary(subject: Formula) -> str:
    steps = _steps(subject)
    closed = sum(outcome.answer is Answer.YES for _, _, outcome in steps)
    return f"{closed} of {len(steps)} steps closed by exact decision"


def _as_text(subject: Formula) -> str:
    derivation = subject.derivation()
    lines = _wrapped(f"{subject.name}: {derivation.subject}")
    lines += _wrapped(f"model: {derivation.model}")
    lines.append("given:")
    for premise in derivation.premises:
        lines += _wrapped(text(premise.relation), "    ")
        lines += _wrapped(f"[{premise.source}]", "      ")
    for number, step, outcome in _steps(subject):
        mark = _MARKS[outcome.answer]
        lines += _wrapped(f"{number}. {step.reason} [{step.rule}; {mark}: {outcome.how}]")
        lines += _wrapped(text(step.after), "    ")
    return "\n".join([*lines, _summary(subject), ""])


def _wrapped(line: str, indent: str = "") -> list[str]:
    """Return a line in pieces of at most 100 columns, broken at spaces."""
    return textwrap.wrap(
        line, WIDTH, initial_indent=indent, subsequent_indent=indent + "  ", break_on_hyphens=False
    )


def _as_latex(subject: Formula) -> str:
    derivation = subject.derivation()
    lines = [
        rf"\paragraph{{{latex_prose(subject.name)}}} {latex_prose(derivation.subject)}. "
        rf"Model: {latex_prose(derivation.model)}.",
        r"\begin{itemize}\raggedright",
    ]
    for premise in derivation.premises:
        lines += _latex_item(f"given: {premise.source}", premise.relation)
    lines += [r"\end{itemize}", r"\begin{enumerate}\raggedright"]
    for _, step, outcome in _steps(subject):
        lines += _latex_item(f"{step.reason} ({step.rule}; {_MARKS[outcome.answer]})", step.after)
    return "\n".join([*lines, r"\end{enumerate}", f"{_summary(subject)}.", ""])


def _latex_item(prose: str, relation: sp.Basic) -> list[str]:
    return [
        rf"  \item {latex_prose(prose)}",
        rf"    \[{broken(latex(relation), DISPLAY_WIDTH)}\]",
    ]


def _as_markdown(subject: Formula) -> str:
    derivation = subject.derivation()
    about = f"{derivation.subject}; model: {derivation.model}."
    lines = [f"## {markdown_prose(subject.name)}", "", markdown_prose(about), ""]
    for premise in derivation.premises:
        lines += _markdown_item("-", f"given: {markdown_prose(premise.source)}", premise.relation)
    for number, step, outcome in _steps(subject):
        check = markdown_prose(f"{_MARKS[outcome.answer]}: {outcome.how}")
        prose = f"{markdown_prose(step.reason)} (*{markdown_prose(step.rule)}*, {check})"
        lines += _markdown_item(f"{number}.", prose, step.after)
    return "\n".join([*lines, f"{_summary(subject)}.", ""])


def _markdown_item(marker: str, prose: str, relation: sp.Basic) -> list[str]:
    """Return an item of a list; its block of mathematics is indented as the item's text is."""
    block = f"```math\n{github_math(latex(relation))}\n```"
    return [f"{marker} {prose}", "", textwrap.indent(block, " " * (len(marker) + 1)), ""]
