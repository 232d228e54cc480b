r"""Formula table, claims table and value tables, from a manifest, the catalogue and grids.

Numbers come from certified evaluation only. Files, with the extension of the format: ``formulas``,
``claims``, one per entry of `VALUE_TABLES`; for LaTeX also ``mhflow-tables.tex``, which takes them
all in, and on request ``mhflow-macros.tex`` with one macro per number.

The name of a macro is ``\mhflow``, then the words of the formula's name, each with a capital, then
for each parameter, in the order of the formula, ``X`` and the exact value: the letters a to j for
the digits 0 to 9, ``M`` for a minus sign, ``O`` between numerator and denominator. A word that
begins with x is written ``Xx...``; so no two numbers share a name. `critical-beta` at n = 64,
H = 4, alpha = 1/2 is ``\mhflowCriticalBetaXgeXeXbOc``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from proofs.typesetting import (
    Cell,
    Code,
    Column,
    Listing,
    Math,
    Number,
    Table,
    Words,
    csv_table,
    latex_document,
    latex_macros,
    latex_table,
    markdown_table,
)
from symbolic.errors import InputError
from symbolic.names import brief
from symbolic.numbers import exact, exact_text, read_grid, shown

if TYPE_CHECKING:
    from numeric.evaluate import Value
    from symbolic.formula import Formula
    from symbolic.parameter import Parameter

FORMATS = ("latex", "markdown", "csv")
"""The formats that `render_tables` writes."""

MAX_ROWS = 10_000
"""Most rows of one value table."""

MACROS = "mhflow-macros"
"""Name of the file of macros."""

Grids = Mapping[str, tuple[Fraction, ...]]


@dataclass(frozen=True)
class ValueTable:
    """A table of values: one entry here is all that a new one needs.

    Attributes:
        name: name of its file and label.
        title: start of its caption; a name in braces stands for the symbol of that formula or
            parameter.
        formulas: the formulas, all with the same parameters.
        grid: default values of each parameter, as grids of the number grammar, one after another.
        not_positive: what a value that is not positive means; such values are marked.
    """

    name: str
    title: str
    formulas: tuple[str, ...]
    grid: Mapping[str, tuple[str, ...]]
    not_positive: str = ""


VALUE_TABLES = (
    ValueTable(
        name="critical-cosine",
        title="Critical cosine {critical-cosine} and sharp critical cosine {sharp-critical-cosine} "
        "of {H} equal scalar heads",
        formulas=("critical-cosine", "sharp-critical-cosine"),
        grid={"H": ("1..16", "32,64")},
    ),
    ValueTable(
        name="critical-beta",
        title="Critical inverse temperature {critical-beta} and sharp critical inverse temperature "
        "{sharp-critical-beta} at {n} orthonormal tokens, for {H} equal scalar heads of "
        "strength {alpha}",
        formulas=("critical-beta", "sharp-critical-beta"),
        grid={"n": ("16,64,256,1024",), "H": ("1,2,4,8",), "alpha": ("1",)},
        not_positive="not positive: the condition holds for no inverse temperature above 0",
    ),
    ValueTable(
        name="rate-peak",
        title="Strength {rate-peak} at which the rate function is largest, and strength "
        "{rate-inflection} beyond which it is convex, at {n} tokens and inverse temperature {beta}",
        formulas=("rate-peak", "rate-inflection"),
        grid={"n": ("2,16,64,256,1024,10^6",), "beta": ("1/2,1,2,4",)},
    ),
)
"""The value tables, in order."""


def render_tables(
    manifest: Mapping[str, Any],
    *,
    format: str,
    digits: int,
    grids: Grids,
    macros: bool,
) -> dict[str, str]:
    """Return all tables as files.

    The same input gives the same bytes; nothing of the manifest's environment goes in.

    Args:
        manifest: what ``mhflow verify --json`` writes, as a dict.
        format: ``latex``, ``markdown`` or ``csv``.
        digits: significant digits of the values, 1 to 10,000.
        grids: values of a parameter, by its name, in place of the default ones; repetitions count
            once.
        macros: whether to write the file of macros, too.

    Returns:
        File name to content.

    Raises:
        InputError: for an unknown format or parameter, a value outside the parameter's domain,
            digits out of range, more than 10,000 rows, or a manifest that is none.
        UndecidedError: if the digits of a value cannot be decided.
    """
    grids_used = checked_request(format, digits, grids)
    claims = _claims(manifest)
    computed = [
        _Computed(entry, used, digits) for entry, used in zip(VALUE_TABLES, grids_used, strict=True)
    ]
    tables = [_formula_table(claims), _claims_table(claims), *(c.table() for c in computed)]
    return _files(tables, format, computed if macros else None)


def checked_request(
    format: str, digits: int, grids: Grids
) -> tuple[Mapping[str, tuple[Fraction, ...]], ...]:
    """Return the grid of each value table; with this one learns of a wrong request before the work.

    Raises:
        InputError: as `render_tables`, but for the manifest.
    """
    from numeric.evaluate import checked_digits

    if format not in FORMATS:
        raise InputError(f"format: {shown(format)} is not accepted; give {', '.join(FORMATS)}")
    checked_digits(digits)
    known = tuple(dict.fromkeys(name for entry in VALUE_TABLES for name in entry.grid))
    for name in grids:
        if name not in known:
            raise InputError(
                f"grid: no parameter {shown(name)} in the value tables; accepted: "
                f"{', '.join(known)}"
            )
    return tuple(_checked_grid(entry, grids) for entry in VALUE_TABLES)


def tables(
    manifest: Mapping[str, Any] | None = None,
    *,
    format: str = "latex",
    digits: int = 10,
    grids: Mapping[str, Sequence[object]] | None = None,
    macros: bool = False,
) -> dict[str, str]:
    """Return all tables as files; without a manifest every claim is verified first.

    Grids take exact values: integers, fractions or texts. See `render_tables` for the rest.
    """
    from proofs.verification import manifest as manifest_of
    from proofs.verification import verify

    exact_grids = {
        name: tuple(exact(value, name) for value in _values_of(name, values))
        for name, values in (grids or {}).items()
    }
    checked_request(format, digits, exact_grids)
    if manifest is None:
        manifest = manifest_of(verify())
    return render_tables(manifest, format=format, digits=digits, grids=exact_grids, macros=macros)


def _values_of(name: str, values: object) -> Iterable[object]:
    """Return the values of a grid, which must be a sequence of them."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(f"{name}: {brief(values)} is not accepted; give a list of exact values")
    return values


def macro_name(formula: str, values: Iterable[Fraction]) -> str:
    """Return the name of a number's macro, without backslash; this module says how it is made.

    Args:
        formula: name of a formula, words of small letters joined by hyphens.
        values: the exact values of its parameters, in order.

    Raises:
        ValueError: if the name of the formula has another form.
    """
    if not re.fullmatch(r"[a-z]+(-[a-z]+)*", formula):
        raise ValueError(f"not a name of words joined by hyphens: {formula!r}")
    words = (f"X{word}" if word[0] == "x" else word.capitalize() for word in formula.split("-"))
    return "mhflow" + "".join(words) + "".join("X" + _spelled(value) for value in values)


def _spelled(value: Fraction) -> str:
    return exact_text(value).translate(str.maketrans("0123456789-/", "abcdefghijMO"))


def _files(
    tables: Sequence[Table], format: str, with_macros: Sequence[_Computed] | None
) -> dict[str, str]:
    extension, render = {
        "latex": ("tex", latex_table),
        "markdown": ("md", markdown_table),
        "csv": ("csv", csv_table),
    }[format]
    rendered = {table.name: render(table) for table in tables}
    files = {f"{name}.{extension}": content for name, content in rendered.items()}
    if format == "latex":
        from proofs.citation import CAVEAT

        macros = None if with_macros is None else MACROS
        files["mhflow-tables.tex"] = latex_document(rendered, macros=macros, caveat=CAVEAT)
    if with_macros is not None:
        files[f"{MACROS}.tex"] = latex_macros(_definitions(with_macros))
    return files


def _definitions(computed: Sequence[_Computed]) -> list[tuple[str, str, str]]:
    """Return name, number and description of each macro, once each."""
    definitions = {}
    for table in computed:
        for row, values in table.rows:
            for value in values:
                where = ", ".join(f"{key}={text}" for key, text in value.parameters.items())
                name = macro_name(value.formula, row)
                definitions[name] = (name, value.value, f"{value.formula} {where}")
    return list(definitions.values())


# -- Claims -------------------------------------------------------------------------------------


def _claims(manifest: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the claims of a manifest after a look at what the tables need of them."""
    claims = manifest.get("claims")
    if not isinstance(claims, list) or not all(_is_claim(claim) for claim in claims):
        raise InputError(
            "manifest: it has no list of claims with id, source, verdict and evidence; accepted: "
            "what mhflow verify --json writes"
        )
    return claims


def _is_claim(claim: object) -> bool:
    if not isinstance(claim, Mapping):
        return False
    evidence, formulas = claim.get("evidence"), claim.get("formulas", [])
    return (
        all(isinstance(claim.get(key), str) for key in ("id", "source", "verdict"))
        and isinstance(evidence, list)
        and all(isinstance(e, Mapping) and _rank(e.get("level")) is not None for e in evidence)
        and isinstance(formulas, list)
        and (claim.get("level") is None or _rank(claim["level"]) is not None)
    )


def _rank(level: object) -> int | None:
    """Return the place of a level among all, strongest first; None for what is no level."""
    from proofs.evidence import STRENGTH

    return next((rank for rank, known in enumerate(STRENGTH) if known.value == level), None)


def _strongest(levels: Iterable[str]) -> str:
    return min(levels, key=lambda level: _rank(level) or 0, default="-")


def _levels(claim: Mapping[str, Any]) -> list[str]:
    """Return the levels of a claim's evidence, strongest first, each once."""
    found = {str(evidence["level"]) for evidence in claim["evidence"]}
    return sorted(found, key=lambda level: _rank(level) or 0)


def _claims_table(claims: Sequence[Mapping[str, Any]]) -> Table:
    from proofs.citation import CAVEAT

    columns = {"id": "Claim", "source": "Source", "verdict": "Verdict", "levels": "Evidence"}
    return Table(
        name="claims",
        caption=(
            Words("Claims, their verdicts and the levels of the evidence. Claims are judged "),
            Words(f"{CAVEAT}."),
        ),
        columns=tuple(Column(Words(heading), key) for key, heading in columns.items()),
        rows=tuple(
            (
                Code(claim["id"]),
                Words(claim["source"]),
                Words(claim["verdict"]),
                Words(", ".join(_levels(claim)) or "-"),
            )
            for claim in claims
        ),
    )


# -- Formulas -----------------------------------------------------------------------------------


def _formula_table(claims: Sequence[Mapping[str, Any]]) -> Table:
    from proofs.citation import CAVEAT
    from symbolic.catalogue import formula, formula_names

    columns = {
        "name": "Name",
        "formula": "Formula",
        "parameters": "Parameters",
        "source": "Source",
        "evidence": "Evidence",
    }
    relations = _relations()
    rows: list[tuple[Cell, ...]] = []
    for subject in map(formula, formula_names()):
        rows.append(_formula_row(subject, claims))
        rows += [_relation_row(r, subject) for r in relations if r.formula == subject.name]
    return Table(
        name="formulas",
        caption=(
            Words("Formulas, their parameters, where they come from ("),
            Words(f"{CAVEAT}), and the strongest level of evidence for a claim about them. "),
            Words("A second name, after a comma, is that of a relation in the derivation of the "),
            Words("formula: exact, if all steps close."),
        ),
        columns=tuple(Column(Words(heading), key) for key, heading in columns.items()),
        rows=tuple(rows),
        stacked=True,
    )


def _formula_row(subject: Formula, claims: Sequence[Mapping[str, Any]]) -> tuple[Cell, ...]:
    return (
        Code(subject.name),
        Listing((*equations(subject), *definitions(subject))),
        Listing(tuple(_domain(parameter) for parameter in subject.parameters)),
        Words(subject.source),
        Words(_strongest(_support(subject.name, claims))),
    )


def equations(subject: Formula) -> tuple[Math, ...]:
    """Return the equation of a formula, or one for each model if they differ."""
    import sympy as sp

    if not subject.variants:
        return (_math(subject.equation),)
    found = []
    for model, expression in subject.variants.items():
        line = _math(sp.Eq(subject.symbol, expression, evaluate=False))
        found.append(Math(rf"{line.latex} \quad\text{{({model})}}", f"{line.text} ({model})"))
    return tuple(found)


def definitions(subject: Formula) -> tuple[Math, ...]:
    """Return what defines the implicit functions in a formula, led by "where", if it has any."""
    from symbolic.printing import where_latex, where_text

    line = where_latex(subject.expression)
    if line is None:
        return ()
    return (Math(rf"\text{{where }} {line}", f"where {where_text(subject.expression)}"),)


@dataclass(frozen=True)
class _Relation:
    """A relation in the derivation of a formula that has a row of its own.

    Attributes:
        formula: name of the formula.
        name: its own name.
        reason: how the reason of the step that reaches it begins.
        where: what its symbols stand for.
    """

    formula: str
    name: str
    reason: str
    where: tuple[Any, ...]


def _relations() -> tuple[_Relation, ...]:
    """Return the relations with rows of their own, in order: the forms in Lambert W and large n."""
    import sympy as sp

    from symbolic.notation import beta, n, rate_peak
    from symbolic.rate_inflection import ScaledInflection
    from symbolic.rate_peak import LARGE, L, x
    from symbolic.rules import equation

    u, r = sp.symbols("u r", positive=True)
    peak, inflection = equation(x, beta * rate_peak(n, beta)), equation(x, ScaledInflection(n))
    ratio = equation(n - 1, r * sp.exp(2))
    shifted = (equation(u, x - 2), sp.Gt(u, 0, evaluate=False), inflection, ratio)
    large = (LARGE, sp.Gt(L, 0, evaluate=False))
    return (
        _Relation("rate-peak", "large n", "lambda_peak beta for large n", (peak, *large)),
        _Relation("rate-inflection", "tanh", "the symmetric form for all n", (inflection,)),
        _Relation("rate-inflection", "two tokens", "two tokens", (inflection, equation(n, 2))),
        _Relation("rate-inflection", "r-Lambert", "u = W_{-r}(4r)", shifted),
        _Relation("rate-inflection", "large n", "lambda_c beta for large n", (inflection, *large)),
    )


def _relation_row(relation: _Relation, subject: Formula) -> tuple[Cell, ...]:
    derivation = subject.derivation()
    (step,) = (s for s in derivation.steps if s.reason.startswith(relation.reason))
    where = [_math(found) for found in relation.where]
    symbols = step.after.free_symbols.union(*(found.free_symbols for found in relation.where))
    meaning = Math(
        r"\text{where } " + r",\; ".join(found.latex for found in where),
        "where " + ", ".join(found.text for found in where),
    )
    return (
        Code(f"{subject.name}, {relation.name}"),
        Listing((_math(step.after), meaning)),
        Listing(tuple(_domain(p) for p in subject.parameters if p.symbol in symbols)),
        Words(f"{subject.source}; derived here"),
        Words("exact" if derivation.is_closed else "-"),
    )


def _support(formula: str, claims: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the levels of the claims about a formula that hold.

    A claim's own level counts where the manifest has it: it is the weakest of all it rests on.
    """
    about = [c for c in claims if c["verdict"] == "holds" and formula in c.get("formulas", [])]
    levels = [c.get("level") or _strongest(_levels(c)) for c in about]
    return [level for level in levels if level != "-"]


def _domain(parameter: Parameter) -> Math:
    r"""Return a parameter with its domain, such as "integer n >= 2"."""
    return Math(_domain_latex(parameter), f"{parameter.name}: {parameter.domain}")


def _domain_latex(parameter: Parameter) -> str:
    from symbolic.printing import latex

    if parameter.choices:
        return rf"\text{{{parameter.name}: {parameter.domain}}}"
    symbol, bounds = latex(parameter.symbol), parameter.range
    below = "<" if bounds.lower_open else r"\le"
    left = right = ""
    if bounds.lower is not None and bounds.upper is None:
        above = ">" if bounds.lower_open else r"\ge"
        right = f" {above} {latex(bounds.lower)}"
    elif bounds.lower is not None:
        left = f"{latex(bounds.lower)} {below} "
    if bounds.upper is not None:
        below = "<" if bounds.upper_open else r"\le"
        right = f" {below} {latex(bounds.upper)}"
    kind = r"\text{integer }" if parameter.integer else ""
    kind = kind or ("" if left or right else r"\text{real }")
    return kind + left + symbol + right


def _math(subject: Any) -> Math:
    from symbolic.printing import latex, text

    return Math(latex(subject), text(subject))


# -- Values -------------------------------------------------------------------------------------


def _checked_grid(entry: ValueTable, grids: Grids) -> dict[str, tuple[Fraction, ...]]:
    from symbolic.catalogue import formula

    checked = {}
    for parameter in formula(entry.formulas[0]).parameters:
        default = [value for text in entry.grid[parameter.name] for value in read_grid(text)]
        values = dict.fromkeys(grids.get(parameter.name, default))
        if not values:
            raise InputError(f"{parameter.name}: the grid is empty; accepted: at least one value")
        checked[parameter.name] = tuple(_read(parameter, value) for value in values)
    rows = prod(len(values) for values in checked.values())
    if rows > MAX_ROWS:
        raise InputError(
            f"grid: {' x '.join(checked)} gives {rows} rows; accepted: at most {MAX_ROWS}"
        )
    return checked


def _read(parameter: Parameter, value: Fraction) -> Fraction:
    """Return a value after checking it; the parameters of value tables are numbers."""
    checked = parameter.read(value)
    assert isinstance(checked, Fraction)
    return checked


@dataclass(frozen=True)
class _Computed:
    """A value table with its numbers."""

    entry: ValueTable
    grid: Mapping[str, tuple[Fraction, ...]]
    digits: int

    @cached_property
    def rows(self) -> list[tuple[tuple[Fraction, ...], list[Value]]]:
        """Return the parameters of each row, and one value per formula."""
        from numeric.evaluate import evaluate

        return [
            (
                row,
                [
                    evaluate(name, digits=self.digits, **dict(zip(self.grid, row, strict=True)))
                    for name in self.entry.formulas
                ],
            )
            for row in product(*self.grid.values())
        ]

    def table(self) -> Table:
        """Return the table; a parameter with one value goes into the caption."""
        from symbolic.catalogue import formula

        subjects = [formula(name) for name in self.entry.formulas]
        fixed = self._fixed()
        parameters = subjects[0].parameters
        return Table(
            name=self.entry.name,
            caption=tuple(self._caption(subjects, fixed)),
            columns=(
                *(Column(_math(p.symbol), p.name, p.name in fixed) for p in parameters),
                *(Column(_math(s.symbol), s.name) for s in subjects),
            ),
            rows=tuple(
                (
                    *(Number(_decimal(value), exact=True) for value in row),
                    *(self._number(value) for value in values),
                )
                for row, values in self.rows
            ),
            grouped=len(self.grid) - len(fixed) > 1,
        )

    def _fixed(self) -> list[str]:
        """Return the parameters that have one value, unless that is all of them."""
        fixed = [name for name, values in self.grid.items() if len(values) == 1]
        return fixed if len(fixed) < len(self.grid) else fixed[1:]

    def _number(self, value: Value) -> Number:
        return Number(value.value, marked=self._is_marked(value))

    def _is_marked(self, value: Value) -> bool:
        return bool(self.entry.not_positive) and (value.value == "0" or value.value[0] == "-")

    def _caption(self, subjects: Sequence[Formula], fixed: Sequence[str]) -> Iterable[Cell]:
        symbols = {p.name: p.symbol for p in subjects[0].parameters}
        symbols |= {subject.name: subject.symbol for subject in subjects}
        for piece in re.split(r"\{([a-zA-Z-]+)\}", self.entry.title):
            yield _math(symbols[piece]) if piece in symbols else Words(piece)
        for place, name in enumerate(fixed):
            yield Words(", " if place else "; ")
            yield _math(symbols[name])
            yield Words(" = ")
            yield Number(_decimal(self.grid[name][0]), exact=True)
        plural = "" if self.digits == 1 else "s"
        yield Words(f". Values rounded to {self.digits} significant digit{plural}, half to even.")
        yield from self._notes()

    def _notes(self) -> Iterable[Cell]:
        values = [value for _, found in self.rows for value in found]
        for text in ("+inf", "-inf"):
            remarks = dict.fromkeys(r for v in values if v.value == text for r in v.remarks)
            if remarks:
                yield Words(" Where the value is ")
                yield Number(text)
                yield Words(f", {'; '.join(remarks)}.")
        if any(self._is_marked(value) for value in values):
            yield Words(" Values with ")
            yield Math(r"\dagger", "")
            yield Words(f" are {self.entry.not_positive}.")


def _decimal(value: Fraction) -> str:
    """Return an exact number as a plain decimal if it is one, else as ``p/q``."""
    text = exact_text(abs(value))
    sign = "-" if value < 0 else ""
    places = _places(value.denominator)
    if not places:
        return sign + text
    scaled = exact_text(abs(value) * 10**places).zfill(places + 1)
    return f"{sign}{scaled[:-places]}.{scaled[-places:]}"


def _places(denominator: int) -> int | None:
    """Return how many decimals ``1/denominator`` has, or None if it has no end."""
    twos = fives = 0
    while denominator % 2 == 0:
        denominator, twos = denominator // 2, twos + 1
    while denominator % 5 == 0:
        denominator, fives = denominator // 5, fives + 1
    return max(twos, fives) if denominator == 1 else None
