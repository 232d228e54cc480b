"""Derivations: ordered steps from the model's definition to a formula, each with an exact check."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import sympy as sp

from symbolic.answer import Answer
from symbolic.errors import InputError


@dataclass(frozen=True)
class Checked:
    """The outcome of an exact check: the answer and one line on how it was reached."""

    answer: Answer
    how: str


@dataclass(frozen=True)
class Premise:
    """A relation that a derivation starts from: a definition, or the result of another claim."""

    relation: sp.Basic
    source: str


@dataclass(frozen=True)
class Step:
    """A relation before, a named rule, a relation after, and the exact check of the passage.

    ``using`` lists further relations the rule needs; they must be known when the step is taken.
    ``names`` is the value that the step names; no known equation may speak of it yet.
    """

    rule: str
    before: sp.Basic
    after: sp.Basic
    reason: str
    check: Callable[[], Checked]
    using: tuple[sp.Basic, ...] = ()
    names: sp.Expr | None = None


@dataclass(frozen=True)
class Derivation:
    """A chain of steps.

    Attributes:
        subject: what is derived, in words.
        model: the model of attention it lives in.
        premises: what is taken as given, each with its source.
        steps: the steps in order; each starts from a premise or an earlier result.
    """

    subject: str
    model: str
    premises: tuple[Premise, ...]
    steps: tuple[Step, ...]

    @cached_property
    def outcomes(self) -> tuple[Checked, ...]:
        """Return one checked outcome per step.

        A step that does not start from known relations, or that no exact rule applies to, is
        undecided; what it claims counts as known to later steps, so that they are checked too.
        """
        return tuple(outcome for _, outcome in self._checked())

    def _checked(self) -> Iterator[tuple[Step, Checked]]:
        """Yield each step with its outcome, checked when it is asked for."""
        known: list[sp.Basic] = [premise.relation for premise in self.premises]
        for step in self.steps:
            yield step, _outcome(step, known)
            known.append(step.after)

    @property
    def is_closed(self) -> bool:
        """Tell whether there are steps and every one of them is exactly checked."""
        return bool(self.steps) and self.first_gap is None

    @cached_property
    def first_gap(self) -> tuple[Step, Checked] | None:
        """Return the first step that does not close, with its outcome; None if all close.

        What comes after it is not checked.
        """
        return next(((s, o) for s, o in self._checked() if o.answer is not Answer.YES), None)

    def _repr_latex_(self) -> str:
        """Return premises and steps as mathematics, for notebooks; a step that fails says so."""
        from symbolic.printing import latex

        rows = [("", premise.relation, "given") for premise in self.premises]
        for number, (step, outcome) in enumerate(zip(self.steps, self.outcomes, strict=True), 1):
            closed = "" if outcome.answer is Answer.YES else ", not closed"
            rows.append((f"{number}.", step.after, step.rule + closed))
        body = r" \\[6pt] ".join(
            rf"\text{{{mark}}} & \displaystyle {latex(relation)} & \text{{{note}}}"
            for mark, relation, note in rows
        )
        return rf"$\begin{{array}}{{rll}} {body} \end{{array}}$"

    def reaches(self, relation: sp.Basic) -> bool:
        """Tell whether ``relation`` is the result of some step, in exactly this form."""
        return any(step.after == relation for step in self.steps)


def _outcome(step: Step, known: list[sp.Basic]) -> Checked:
    missing = [r for r in (step.before, *step.using) if r not in known]
    if missing:
        return Checked(Answer.UNDECIDED, f"rests on an unknown relation {missing[0]}")
    equations = [r for r in known if isinstance(r, sp.Equality)]
    if step.names is not None and any(r.has(step.names.func) for r in equations):
        return Checked(Answer.UNDECIDED, f"the name {step.names} is already in use")
    try:
        return step.check()
    except InputError as error:
        return Checked(Answer.UNDECIDED, str(error))
