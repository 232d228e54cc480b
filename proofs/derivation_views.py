"""Derivations as text, LaTeX or Markdown: every step with its rule, its reason and its check."""

from __future__ import annotations

import textwrap

from symbolic.answer import Answer
from symbolic.derivation import Checked, Step
from symbolic.formula import Formula
from symbolic.printing import latex, text

WIDTH = 100
_MARKS = {Answer.YES: "closed", Answer.NO: "FAILS", Answer.UNDECIDED: "NOT CLOSED"}


def derivation_text(subject: Formula, layout: str) -> str:
    """Return the derivation of a formula.

    Args:
        subject: the formula.
        layout: ``text``, ``latex`` (a fragment of a document with amsmath) or ``markdown``.
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
        rf"\paragraph{{{subject.name}}} {_escaped(derivation.subject)}. "
        rf"Model: {_escaped(derivation.model)}.",
        r"\begin{itemize}",
    ]
    lines += [
        rf"  \item given: \({latex(p.relation)}\) ({_escaped(p.source)})"
        for p in derivation.premises
    ]
    lines += [r"\end{itemize}", r"\begin{enumerate}"]
    for _, step, outcome in _steps(subject):
        lines.append(
            rf"  \item {_escaped(step.reason)} ({step.rule}; {_MARKS[outcome.answer]}): "
            rf"\[{latex(step.after)}\]"
        )
    return "\n".join([*lines, r"\end{enumerate}", f"{_summary(subject)}.", ""])


def _as_markdown(subject: Formula) -> str:
    derivation = subject.derivation()
    lines = [f"## {subject.name}", "", f"{derivation.subject}; model: {derivation.model}.", ""]
    lines += [f"- given: ${latex(p.relation)}$ ({p.source})" for p in derivation.premises]
    lines.append("")
    for number, step, outcome in _steps(subject):
        mark = _MARKS[outcome.answer]
        lines.append(f"{number}. {step.reason} (*{step.rule}*, {mark}: {outcome.how})")
        lines += ["", f"   $${latex(step.after)}$$", ""]
    return "\n".join([*lines, f"{_summary(subject)}.", ""])


def _escaped(prose: str) -> str:
    r"""Return prose safe in LaTeX text: special characters escaped, relations as mathematics."""
    escapes = {
        "\\": r"\textbackslash{}",
        "^": r"\^{}",
        "_": r"\_",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "&": r"\&",
        "%": r"\%",
        "#": r"\#",
        "$": r"\$",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "|": r"\textbar{}",
    }
    return "".join(escapes.get(character, character) for character in prose)
