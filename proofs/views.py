"""What the terminal shows: readable in 100 columns, colour only on a terminal."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from proofs.citation import CAVEAT
from proofs.evidence import parameters_text

WIDTH = 100
_SECONDS_BETWEEN_LINES = 10
_LINKS = (
    ("repairs or sharpens", "repairs"),
    ("repaired or sharpened by", "repaired_by"),
    ("uses", "uses"),
)
_STYLES = {
    "holds": "green",
    "refuted": "magenta",
    "undecided": "yellow",
    "vacuous": "yellow",
    "error": "bold red",
}


def new_console(*, stderr: bool = False) -> Console:
    """Return a console of at most 100 columns, with colour only on a terminal."""
    made = Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    made.width = min(WIDTH, made.width) if made.is_terminal else WIDTH
    return made


def _verdict(verdict: str) -> Text:
    return Text(verdict, style=_STYLES.get(verdict, "dim"))


@contextmanager
def progress() -> Iterator[Callable[[str, int, int], None]]:
    """Yield a progress callback: a bar on a terminal, plain lines elsewhere, both on stderr."""
    console = new_console(stderr=True)
    if not console.is_terminal:
        yield lambda claim, done, total: console.print(f"[{done}/{total}] {claim}")
        return
    columns = (
        TextColumn("checking {task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("")

        def report(claim: str, done: int, total: int) -> None:
            bar.update(task, description=claim, completed=done, total=total)

        yield report


@contextmanager
def time_left() -> Iterator[Callable[[float], None]]:
    """Yield a callback for the part that is done, from 0 to 1: progress with the time left.

    A bar on a terminal, a plain line every ten seconds elsewhere, both on stderr.
    """
    console = new_console(stderr=True)
    start = said = time.monotonic()

    def remaining(part: float) -> float:
        return (time.monotonic() - start) * (1 - part) / part

    if not console.is_terminal:

        def tell(part: float) -> None:
            nonlocal said
            if 0 < part < 1 and time.monotonic() - said >= _SECONDS_BETWEEN_LINES:
                said = time.monotonic()
                console.print(f"{part:.0%} done, about {duration(remaining(part))} left")

        yield tell
        return
    columns = (BarColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as bar:
        # A pulse until something is known.
        task = bar.add_task("", total=None)

        def report(part: float) -> None:
            if part > 0:
                left = f"{part:.0%} done, about {duration(remaining(part))} left"
                bar.update(task, total=1, completed=part, description=left)

        yield report


def duration(seconds: float) -> str:
    """Return a time to wait in the unit that people would use: ``40 s``, ``3 min``, ``5 h``."""
    for unit, size in (("s", 1), ("min", 60), ("h", 3600)):
        if seconds < 90 * size:
            return f"{max(1, round(seconds / size))} {unit}"
    return f"{round(seconds / 86400)} days"


def verification_view(manifest: Mapping[str, Any]) -> None:
    """Print a manifest: the verdicts, the formulas with certified digits, and what is open."""
    console = new_console()
    claims = manifest["claims"]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("claim", "source", "verdict", "level", "evidence", "mutants caught"):
        table.add_column(heading, overflow="fold", no_wrap=heading in ("claim", "verdict"))
    for entry in claims:
        caught = sum(m["caught"] for m in entry["mutants"])
        table.add_row(
            entry["id"],
            entry["source"],
            _verdict(entry["verdict"]),
            entry["level"] or "-",
            ", ".join(dict.fromkeys(e["level"] for e in entry["evidence"])) or "-",
            f"{caught}/{len(entry['mutants'])}" if entry["mutants"] else "-",
        )
    console.print(table)
    for entry in claims:
        if entry["verdict"] not in ("not-checked", "not-available"):
            _verdict_note(console, entry)
    if manifest["formulas"]:
        console.print()
        console.print("Formulas, derived from the flow and evaluated in balls", style="bold")
    for entry in manifest["formulas"]:
        _formula_note(console, entry)
    counts = Counter(entry["verdict"] for entry in claims)
    console.print()
    console.print("; ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    console.print(f"Claims {CAVEAT}. mhflow show ID: what each verdict rests on and leaves open.")


def _verdict_note(console: Console, entry: Mapping[str, Any]) -> None:
    console.print()
    console.print(Text.assemble(entry["id"], ": ", _verdict(entry["verdict"])))
    _paragraph(console, entry["reason"])
    counterexample = entry["counterexample"]
    if counterexample:
        _paragraph(console, f"counterexample: {_counterexample(counterexample)}")


def _counterexample(counterexample: Mapping[str, Any]) -> str:
    parameters = parameters_text(counterexample["parameters"])
    return (
        f"{parameters}: {counterexample['quantity']} is {counterexample['value']}; "
        f"{counterexample['why']}"
    )


def _formula_note(console: Console, entry: Mapping[str, Any]) -> None:
    state = "all closed exactly" if entry["closed"] else "NOT all closed"
    console.print(f"{entry['name']} ({entry['steps']} steps, {state})")
    _paragraph(console, entry["text"])
    if entry["where"] is not None:
        _paragraph(console, f"where {entry['where']}")
    example = entry["example"]
    at = ", ".join(f"{name} = {value}" for name, value in example["parameters"].items())
    _paragraph(console, f"at {at}: {example['value']}")


def _paragraph(console: Console, text: str, indent: int = 2) -> None:
    console.print(Padding(Text(text, overflow="fold"), (0, 0, 0, indent)))


def claims_list() -> None:
    """Print the claims of the ledger: id, source, model, and whether there is a checker."""
    from proofs.ledger import claims

    rows = [
        (c.id, c.source, c.model, f"{len(c.checkers)}" if c.checkers else "none") for c in claims()
    ]
    _list(("claim", "source", "model", "checkers"), rows)


def formulas_list() -> None:
    """Print the formulas of the catalogue: name, parameters with domain, what it is."""
    from symbolic.catalogue import formula, formula_names

    rows = []
    for name in formula_names():
        subject = formula(name)
        parameters = ", ".join(f"{p.name} ({p.domain})" for p in subject.parameters)
        rows.append((name, parameters, subject.title))
    _list(("formula", "parameters", "what it is"), rows)


def _list(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*row)
    new_console().print(table)


def claim_page(entry: Mapping[str, Any]) -> None:
    """Print the page of a judged claim, from its entry in a manifest: what a referee reads."""
    console = new_console()
    console.print(Text.assemble((entry["id"], "bold"), f"  ({entry['source']})"))
    _field(console, f"as stated ({CAVEAT})", entry["statement"])
    _field(console, "reading that is judged", entry["reading"])
    _field(console, "model", entry["model"])
    _field(console, "hypotheses", "; ".join(entry["hypotheses"]) or "none")
    console.print()
    console.print(Text.assemble("verdict: ", _verdict(entry["verdict"])))
    _field(console, "why", entry["reason"])
    if entry["level"]:
        _field(console, "level", entry["level"])
    if entry["counterexample"]:
        _field(console, "counterexample", _counterexample(entry["counterexample"]))
    for heading, key in _LINKS:
        if entry[key]:
            value = entry[key] if isinstance(entry[key], str) else ", ".join(entry[key])
            _field(console, heading, value)
    if entry["formulas"]:
        _field(console, "formulas", ", ".join(entry["formulas"]))
    for found in entry["evidence"]:
        _evidence(console, found)
    if entry["mutants"]:
        console.print()
        console.print("wrong statements put to the same checks")
        for mutant in entry["mutants"]:
            outcome = "caught" if mutant["caught"] else "NOT CAUGHT"
            _paragraph(console, f"{outcome}: {mutant['mutant']} ({mutant['checker']})")


def _evidence(console: Console, found: Mapping[str, Any]) -> None:
    console.print()
    console.print(
        f"evidence: {found['checker']} ({found['level']}, {found['outcome']}, {found['seconds']} s)"
    )
    _field(console, "established", found["established"])
    _field(console, "domain", found["domain"])
    _field(console, "does not show", found["does_not_show"])
    _field(console, "how", found["method"])
    if found["measures"]:
        _field(console, "measures", ", ".join(f"{k} {v}" for k, v in found["measures"].items()))
    _field(console, "run again", found["rerun"])


def _field(console: Console, name: str, value: str) -> None:
    _paragraph(console, f"{name}: {value}")


def formula_page(name: str, digits: int) -> None:
    """Print the page of a formula: domain, forms, special cases, derivation, an example."""
    from numeric.evaluate import evaluate
    from proofs.ledger import claims
    from proofs.tables import definitions, equations
    from symbolic.catalogue import formula
    from symbolic.printing import text

    console = new_console()
    subject = formula(name)
    said, where = equations(subject), definitions(subject)
    derivation = subject.derivation()
    closed = sum(outcome.answer.value == "yes" for outcome in derivation.outcomes)
    console.print(Text.assemble((name, "bold"), f"  ({subject.source})"))
    _field(console, "what it is", subject.title)
    for line in said:
        _field(console, "formula", line.text)
    for line in where:
        _paragraph(console, line.text)
    for form in subject.forms:
        _field(console, f"equal form {form.name}", text(form.expression))
    for line in (*said, *where):
        _field(console, "LaTeX", line.latex)
    for parameter in subject.parameters:
        _field(console, f"parameter {parameter.name}", parameter.domain)
    _field(console, "model", subject.model)
    for case in subject.special_cases:
        limit = "no value" if case.value is None else text(case.value)
        _field(console, f"at {case.condition}", f"{limit}: {case.remark}")
    _field(
        console,
        "derivation",
        f"{closed} of {len(derivation.steps)} steps closed exactly; mhflow derive {name}",
    )
    about = [entry.id for entry in claims() if name in entry.formulas]
    _field(console, "claims about it", ", ".join(about) or "none")
    arguments = " ".join(f"{key}={value}" for key, value in subject.example.items())
    value = evaluate(name, digits=digits, **subject.example)
    _field(console, "example", f"mhflow eval {name} {arguments} --digits {digits}")
    _field(console, "its value", value.value)
