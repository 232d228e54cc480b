"""The commands. Each imports what it needs when it runs, so that ``--help`` is quick."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.exceptions import TyperException

from proofs import diagnose_command, simulate_command
from proofs.options import choice_option, digits_option, integer_option, path_option
from symbolic.errors import InputError, UndecidedError
from symbolic.numbers import shown

if TYPE_CHECKING:
    from proofs.verification import Result

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Verify, evaluate and print the mathematics of multi-head attention dynamics.\n\n"
    "Example: mhflow eval critical-beta n=64 H=4 alpha=1/2 --digits 30",
)

app.command()(diagnose_command.diagnose)
app.add_typer(simulate_command.app, name="simulate")

Digits = Annotated[str, typer.Option(metavar="N", help="Significant digits, 1 to 10,000.")]
FORMATS = ("latex", "markdown", "csv")
# Of any other option, all values but the last would be lost without a word.
_REPEATABLE = ("--grid",)


def run(arguments: list[str]) -> int:
    """Run the command line and return the exit code; wrong calls are told in one line."""
    if not arguments:
        return _told("no command given; commands: " + ", ".join(_command_names()))
    names = _option_names(arguments)
    for name in names:
        if names.count(name) > 1 and name not in _REPEATABLE:
            return _told(f"{name}: given {names.count(name)} times; give it once")
    try:
        code = app(arguments, standalone_mode=False)
    except TyperException as error:
        return _told(_usage_message(error, arguments))
    except InputError as error:
        return _told(str(error))
    except UndecidedError as error:
        print(f"mhflow: undecided: {error}", file=sys.stderr)
        return 1
    return code if isinstance(code, int) else 0


def _option_names(arguments: list[str]) -> list[str]:
    """Return the options of a call by name, as often as they are given."""
    # After a lone -- everything is an argument.
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return [text.partition("=")[0] for text in arguments[:end] if text.startswith("--")]


def _told(message: str) -> int:
    print("mhflow: " + " ".join(message.split()), file=sys.stderr)
    return 2


def _command_names(group: Any = None) -> list[str]:
    """Return the names of the commands, or of those of a group."""
    root: Any = typer.main.get_command(app)
    return list((group or root).commands)


def _usage_message(error: TyperException, arguments: list[str]) -> str:
    message = getattr(error, "format_message", lambda: str(error))().rstrip(".")
    # The nearest names that Typer appends are near for their dashes alone, often.
    message = message.partition(" (Possible options:")[0]
    context = getattr(error, "ctx", None)
    command, words = getattr(context, "command", None), list[str]()
    while context is not None and context.parent is not None:
        words.insert(0, context.info_name)
        context = context.parent
    if message.startswith("No such command"):
        name = shown(arguments[len(words)])
        return f"unknown command {name}; commands: {', '.join(_command_names(command))}"
    if message == "Missing command":
        return f"{words[-1]}: no command given; commands: {', '.join(_command_names(command))}"
    # An option without its value is told without the command that it is of.
    path = words or [name for name in arguments[:1] if name in _command_names()]
    return f"{message}; see: {' '.join(['mhflow', *path, '--help'])}"


def _assignments(items: list[str], what: str) -> dict[str, str]:
    """Return NAME=VALUE items as a dict; a repeated name is an error."""
    given: dict[str, str] = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not equals or not name:
            raise InputError(f"{what}: {shown(item)} is not of the form NAME=VALUE")
        if name in given:
            raise InputError(f"{what}: {shown(name)} is given twice, as {shown(value)} last")
        given[name] = value
    return given


@app.command()
def verify(
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]...", show_default=False)] = None,
    digits: Digits = "50",
    jobs: Annotated[str, typer.Option(metavar="N", help="Worker processes.")] = "1",
    json_file: Annotated[
        str | None, typer.Option("--json", metavar="FILE|-", help="Write the manifest as JSON.")
    ] = None,
    fail_on: Annotated[
        str | None, typer.Option(metavar="refuted", help="Exit 1 also for refuted claims.")
    ] = None,
) -> int:
    """Judge claims: every claim, or those named.

    Exits 1 if a claim is undecided, vacuous or in error.

    Example: mhflow verify critical-beta --digits 100 --json run.json
    """
    from proofs.files import check_file, write_file
    from proofs.verification import manifest
    from proofs.views import verification_view

    if fail_on is not None:
        choice_option("--fail-on", fail_on, ("refuted",))
    if json_file is not None and json_file != "-":
        check_file(path_option("--json", json_file))
    results = _verified(ids or None, digits_option(digits), integer_option("--jobs", jobs, 1, 256))
    data = manifest(results)
    if json_file == "-":
        print(json.dumps(data, indent=2, ensure_ascii=False))
    else:
        if json_file is not None:
            write_file(Path(json_file), json.dumps(data, indent=2, ensure_ascii=False) + "\n")
        verification_view(data)
    failed = any(r.verdict.is_failure for r in results)
    refuted = fail_on == "refuted" and any(r.verdict.value == "refuted" for r in results)
    return 1 if failed or refuted else 0


def _verified(ids: list[str] | None, digits: int, jobs: int = 1) -> tuple[Result, ...]:
    """Verify with progress on stderr."""
    from proofs.verification import verify as verify_claims
    from proofs.views import progress

    with progress() as report:
        return verify_claims(ids, digits=digits, jobs=jobs, progress=report)


@app.command("list")
def list_names(
    kind: Annotated[str | None, typer.Argument(metavar="[claims|formulas]")] = None,
) -> None:
    """List claims and formulas.

    Example: mhflow list formulas
    """
    from proofs.views import claims_list, formulas_list

    chosen = None if kind is None else choice_option("list", kind, ("claims", "formulas"))
    if chosen != "formulas":
        claims_list()
    if chosen != "claims":
        formulas_list()


@app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="ID")],
    digits: Digits = "50",
) -> int:
    """Show the page of a claim (checked now) or of a formula.

    Example: mhflow show critical-beta-necessity
    """
    from proofs.ledger import claim_ids
    from proofs.verification import manifest
    from proofs.views import claim_page, formula_page
    from symbolic.catalogue import formula_names
    from symbolic.names import unknown

    number = digits_option(digits)
    if name not in claim_ids() and name not in formula_names():
        raise InputError(unknown("claim or formula", name, claim_ids() + formula_names()))
    code = 0
    if name in claim_ids():
        results = _verified([name], number)
        claim_page(manifest(results)["claims"][0])
        code = int(results[0].verdict.is_failure)
        if name in formula_names():
            print()
    if name in formula_names():
        formula_page(name, number)
    return code


@app.command()
def cite(
    name: Annotated[str | None, typer.Argument(metavar="[ID]")] = None,
) -> None:
    """Print BibTeX for the source and for mhflow, or for what one claim or formula rests on.

    Example: mhflow cite critical-beta
    """
    from proofs.citation import citation

    print(citation(name))


@app.command()
def derive(
    name: Annotated[str | None, typer.Argument(metavar="FORMULA")] = None,
    every: Annotated[bool, typer.Option("--all", help="Derive every formula.")] = False,
    layout: Annotated[
        str, typer.Option("--format", metavar="text|latex|markdown", help="Output format.")
    ] = "text",
) -> int:
    """Derive a formula step by step from the model's definition, checking each step exactly.

    Exits 1 if a step does not close.

    Example: mhflow derive critical-cosine --format latex
    """
    from proofs.derivation_views import derivation_text
    from symbolic.catalogue import formula, formula_names

    choice_option("--format", layout, ("text", "latex", "markdown"))
    if every == (name is not None):
        raise InputError("derive: give one FORMULA or --all; formulas: mhflow list formulas")
    subjects = [formula(n) for n in (formula_names() if name is None else (name,))]
    print("\n".join(derivation_text(subject, layout) for subject in subjects), end="")
    return 0 if all(subject.derivation().is_closed for subject in subjects) else 1


@app.command("eval")
def evaluate_formula(
    name: Annotated[str, typer.Argument(metavar="FORMULA")],
    parameters: Annotated[
        list[str] | None, typer.Argument(metavar="NAME=VALUE...", show_default=False)
    ] = None,
    digits: Digits = "50",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Evaluate a formula: correctly rounded digits at exact parameters.

    Numbers are read exactly: 3, 0.1, 1e-30, 3/2, 10^100, 1-1e-12.

    Example: mhflow eval critical-beta n=64 H=4 alpha=1/2 --digits 30
    """
    from numeric.evaluate import evaluate

    number = digits_option(digits)
    given = _assignments(parameters or [], name)
    value = evaluate(name, digits=number, **given)
    if as_json:
        print(json.dumps(value.to_json(), ensure_ascii=False))
        return
    print(value.value)
    for remark in value.remarks:
        print(f"remark: {remark}", file=sys.stderr)


@app.command()
def tables(
    out: Annotated[str | None, typer.Option(metavar="DIR", help="Write files here.")] = None,
    layout: Annotated[
        str, typer.Option("--format", metavar="latex|markdown|csv", help="Output format.")
    ] = "latex",
    digits: Digits = "10",
    grid: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=...", help="Values of a parameter: n=16,64 or H=2..16."),
    ] = None,
    macros: Annotated[bool, typer.Option("--macros", help="One LaTeX macro per number.")] = False,
    source: Annotated[
        str | None, typer.Option("--from", metavar="MANIFEST", help="Use a verify manifest.")
    ] = None,
) -> None:
    """Print the formula table, the claims and the value tables.

    Example: mhflow tables --format markdown --grid H=2..8 --grid n=16,64
    """
    from proofs.files import check_directory, write_files
    from proofs.tables import checked_request, render_tables
    from symbolic.numbers import read_grid

    choice_option("--format", layout, FORMATS)
    if macros and layout != "latex":
        raise InputError(f"--macros: only with --format latex, not {layout}")
    number = digits_option(digits)
    grids = {key: read_grid(text, key) for key, text in _assignments(grid or [], "--grid").items()}
    checked_request(layout, number, grids)
    if out is not None:
        check_directory(path_option("--out", out))
    data = _manifest(source)
    files = render_tables(data, format=layout, digits=number, grids=grids, macros=macros)
    if out is not None:
        write_files(Path(out), files)
        print(f"{len(files)} files written to {out}")
        return
    comment: Callable[[str], str] = {
        "latex": "% {}".format,
        "markdown": "<!-- {} -->".format,
        "csv": "# {}".format,
    }[layout]
    for file_name, content in files.items():
        print(comment(file_name))
        print(content)


def _manifest(source: str | None) -> dict[str, Any]:
    """Return the manifest from a file, or from verifying every claim now."""
    from proofs.verification import checked_manifest, manifest

    if source is None:
        return manifest(_verified(None, 50))
    return checked_manifest(path_option("--from", source))


@app.callback(invoke_without_command=True)
def options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Verify, evaluate and print the mathematics of multi-head attention dynamics.

    Example: mhflow eval critical-beta n=64 H=4 alpha=1/2 --digits 30
    """
    if version:
        from importlib.metadata import version as installed

        print(f"mhflow {installed('mhflow')}")
        raise typer.Exit
