"""Tables without a format, and the same tables as LaTeX, Markdown and CSV.

LaTeX needs amsmath, array, booktabs, longtable and siunitx; a fragment is at most as wide as the
text of a one-column article. Markdown is GitHub's, with formulas between dollar signs. CSV is
RFC 4180 with a header, plain decimal strings and UTF-8.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import jinja2

TEXT_WIDTH = 34.2
"""Width in em that a fragment may take: a one-column article at 10 pt has 34.5."""

LONG_FROM = 40
"""A table with more lines than this breaks across pages."""

_COLUMN_GAP = 1.2
_DIGIT, _CODE_LETTER, _LETTER = 0.5, 0.525, 0.47
_NARROWEST = 7.0
# Font sizes of tables, widest first, with the em of each in em of the document.
_SIZES = {"": 1.0, r"\small": 0.92, r"\footnotesize": 0.85}
_KEPT_TOGETHER = 20
_DAGGER, _SPACE = r"$\dagger$", r"\addlinespace"


@dataclass(frozen=True)
class Words:
    """Plain prose."""

    text: str


@dataclass(frozen=True)
class Code:
    """A name that one types."""

    text: str


@dataclass(frozen=True)
class Math:
    """A formula, as LaTeX for math mode and as plain text."""

    latex: str
    text: str


@dataclass(frozen=True)
class Listing:
    """Formulas one after another: separated by semicolons, or on lines of their own."""

    items: tuple[Math, ...]


@dataclass(frozen=True)
class Number:
    """An exact or rounded number as text: decimal, e-notation, ``p/q``, ``+inf`` or ``-inf``.

    A marked number has a dagger, which the caption explains. An exact one may be shown in a shorter
    notation; a rounded one shows its digits as they are.
    """

    text: str
    marked: bool = False
    exact: bool = False

    @property
    def shown(self) -> str:
        """Return the text for a page."""
        return _short(self.text) if self.exact else self.text


Cell = Words | Code | Math | Listing | Number


@dataclass(frozen=True)
class Column:
    """A column: its heading, its name in CSV, and whether only CSV has it.

    What only CSV has is the same in every row, and stated in the caption.
    """

    heading: Cell
    key: str
    only_csv: bool = False


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        name: name of its file and label.
        caption: pieces of the caption, in order.
        columns: the columns.
        rows: one cell per column.
        grouped: whether rows with the same first cell belong together.
        stacked: whether a row is set as a block of lines: for tables of formulas, whose second
            column is a list of formulas, set on lines of their own, and whose third is a list.
    """

    name: str
    caption: tuple[Cell, ...]
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    grouped: bool = False
    stacked: bool = False


def _visible(table: Table) -> tuple[list[Column], list[list[Cell]]]:
    """Return the columns and rows that a page shows."""
    places = [place for place, column in enumerate(table.columns) if not column.only_csv]
    return (
        [table.columns[place] for place in places],
        [[row[place] for place in places] for row in table.rows],
    )


# -- CSV ----------------------------------------------------------------------------------------


def csv_table(table: Table) -> str:
    """Return a table as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([column.key for column in table.columns])
    writer.writerows([[_plain(cell) for cell in row] for row in table.rows])
    return out.getvalue()


def _plain(cell: Cell) -> str:
    if isinstance(cell, Listing):
        return "; ".join(item.text for item in cell.items)
    return cell.text


# -- Markdown -----------------------------------------------------------------------------------


def markdown_table(table: Table) -> str:
    """Return a table as GitHub Markdown, led by its caption."""
    columns, rows = _visible(table)
    right = [all(isinstance(row[place], Number) for row in rows) for place in range(len(columns))]
    return _rendered(
        "table.md.j2",
        caption="".join(_markdown(piece) for piece in table.caption),
        headings=[_markdown(column.heading) for column in columns],
        rules=["---:" if is_right else ":---" for is_right in right],
        rows=[[_markdown(cell) for cell in row] for row in rows],
    )


def _markdown(cell: Cell) -> str:
    match cell:
        case Words(text):
            return markdown_prose(text)
        case Code(text):
            return f"`{_one_line(text).replace('`', '').replace('|', chr(92) + '|')}`"
        case Math(latex, _):
            return f"${github_math(latex)}$"
        case Listing(items):
            return "; ".join(_markdown(item) for item in items)
        case Number():
            body = _number_as_math(cell.shown)
            return (cell.shown if body is None else f"${body}$") + (" †" if cell.marked else "")


def markdown_prose(text: str) -> str:
    """Return plain text as GitHub Markdown that shows it as it is."""
    return re.sub(r"([\\`*_{}\[\]<>|$#~])", r"\\\1", _one_line(text))


def github_math(latex: str) -> str:
    r"""Return LaTeX without what GitHub refuses (``\operatorname``) or takes for Markdown."""
    latex = latex.replace(r"\operatorname{", r"\mathrm{").replace("|", r"\vert ")
    return re.sub(r"\s+", " ", latex.replace("*", r"\ast ")).replace(r"\ast }", r"\ast}")


# -- LaTeX --------------------------------------------------------------------------------------


def latex_table(table: Table) -> str:
    """Return a table as a LaTeX fragment with caption and label ``tab:mhflow-<name>``."""
    if table.stacked:
        return _stacked(table)
    columns, rows = _visible(table)
    setters, size = _setters(columns, rows)
    body = _spaced([_set_row(row, setters) for row in rows], _group_ends(table, rows))
    height = sum(_height(row, setters) for row in rows) + body.count(_SPACE) / 2
    return _rendered(
        "table.tex.j2",
        **_frame(table),
        columns=" ".join(setter.kind for setter in setters),
        heading=" & ".join(setter.heading for setter in setters),
        body=body,
        long=height > LONG_FROM,
        size=size,
    )


def latex_document(fragments: Mapping[str, str], *, macros: str | None, caveat: str) -> str:
    """Return the document that takes in fragments (by name), and the file of macros if any."""
    return _rendered(
        "document.tex.j2",
        # Tables that float must be out before one that does not, or they change places.
        parts=[(name, r"\begin{longtable}" in fragment) for name, fragment in fragments.items()],
        macros=macros,
        caveat=caveat,
    )


def latex_macros(definitions: Sequence[tuple[str, str, str]]) -> str:
    """Return a file of macros from (name without backslash, number, what it is)."""
    return _rendered(
        "macros.tex.j2",
        definitions=[
            (name, _number_in_macro(number), _escaped_comment(what))
            for name, number, what in definitions
        ],
    )


def _frame(table: Table) -> dict[str, Any]:
    return {
        "caption": "".join(_tex(piece) for piece in table.caption),
        "label": f"tab:mhflow-{table.name}",
        "name": table.name,
    }


# Three columns that fill the line exactly, so that a line across all of them does too.
_STACKED_COLUMNS = (
    r"{@{}>{\raggedright}p{0.34\linewidth}>{\raggedright}p{0.44\linewidth}"
    r">{\raggedright\arraybackslash}p{\dimexpr0.22\linewidth-4\tabcolsep\relax}@{}}"
)


def _stacked(table: Table) -> str:
    from symbolic.line_breaks import broken

    blocks = []
    for name, formulas, listing, *others in table.rows:
        assert isinstance(formulas, Listing)
        blocks.append(
            {
                "top": [_tex(cell) for cell in (name, *others)],
                "formulas": [broken(line.latex, TEXT_WIDTH - 2) for line in formulas.items],
                "listing": _tex(listing),
            }
        )
    first, _, _, *rest = table.columns
    return _rendered(
        "stacked.tex.j2",
        **_frame(table),
        columns=_STACKED_COLUMNS,
        headings=[_tex(column.heading) for column in (first, *rest)],
        blocks=blocks,
        long=sum(4 + 2 * len(block["formulas"]) for block in blocks) > LONG_FROM,
    )


@dataclass(frozen=True)
class _Setter:
    """How one column is set: TeX column type, heading, width if its cells must be broken."""

    kind: str
    heading: str
    room: float | None = None
    is_s_column: bool = False

    def lines(self, cell: Cell) -> list[str]:
        """Return the cell as the table lines it takes."""
        if not isinstance(cell, Number):
            return [_tex(cell)]
        mark = rf" {{{_DAGGER}}}" if cell.marked else ""
        if not self.is_s_column:
            first, *others = _digit_lines(cell.shown, self.room)
            return [first + mark, *others]
        if "inf" in cell.text:
            return [f"{{${_infinity(cell.text)}$}}"]
        return [_siunitx(cell.shown) + mark]


def _setters(
    columns: Sequence[Column], rows: Sequence[Sequence[Cell]]
) -> tuple[list[_Setter], str]:
    """Choose how to set each column so that all fit the width of the text, and the font size."""
    cells = [
        [column.heading, *(row[place] for row in rows)] for place, column in enumerate(columns)
    ]
    natural = [max(_width(cell) for cell in found) for found in cells]
    least = [max(_least_width(cell) for cell in found) for found in cells]
    limit = TEXT_WIDTH - _COLUMN_GAP * (len(columns) - 1)
    fitting = [size for size, em in _SIZES.items() if sum(natural) <= limit / em]
    size = fitting[0] if fitting else r"\small"
    rooms = _rooms(natural, least, limit / _SIZES[size])
    setters = [
        _setter(column, found[1:], room if room < full else None)
        for column, found, full, room in zip(columns, cells, natural, rooms, strict=True)
    ]
    return setters, size


def _rooms(natural: Sequence[float], least: Sequence[float], limit: float) -> list[float]:
    """Return a width per column; the widest give way, to the same width where they can."""
    rooms = list(natural)
    level = max(natural)
    while sum(rooms) > limit and level > 0:
        level -= 0.25
        rooms = [max(min(size, level), bound) for size, bound in zip(natural, least, strict=True)]
    return rooms


def _setter(column: Column, cells: Sequence[Cell], room: float | None) -> _Setter:
    heading = _tex(column.heading)
    numbers = [cell for cell in cells if isinstance(cell, Number)]
    if not numbers:
        kind = "l" if room is None else rf">{{\raggedright\arraybackslash}}p{{{room:.1f}em}}"
        return _Setter(kind, heading, room)
    if room is not None or not all(_fits_s_column(number) for number in numbers):
        return _Setter("r" if room is None else "l", heading, room)
    options = f"table-format={_table_format([number.shown for number in numbers])}"
    if any(number.marked for number in numbers):
        options += f",table-space-text-post={{{_DAGGER}}}"
    # A heading in braces, not across columns: so longtable settles in two runs.
    return _Setter(f"S[{options}]", f"{{{heading}}}", is_s_column=True)


def _fits_s_column(number: Number) -> bool:
    text = number.shown
    return "inf" in text or (
        _DECIMAL.fullmatch(text) is not None and not (number.exact and "e" in text)
    )


def _set_row(row: Sequence[Cell], setters: Sequence[_Setter]) -> list[str]:
    """Return the lines of one row; a number that is broken takes several."""
    cells = [setter.lines(cell) for setter, cell in zip(setters, row, strict=True)]
    lines = [" & ".join(parts) for parts in zip_longest(*cells, fillvalue="")]
    # A short block stays on its page.
    stay = "*" if len(lines) <= _KEPT_TOGETHER else ""
    return [rf"{line} \\{stay}" for line in lines[:-1]] + [rf"{lines[-1]} \\"]


def _group_ends(table: Table, rows: Sequence[Sequence[Cell]]) -> list[bool]:
    """Tell for each row whether a group ends with it; groups of one row are no groups."""
    ends = [
        table.grouped and place + 1 < len(rows) and row[0] != rows[place + 1][0]
        for place, row in enumerate(rows)
    ]
    return ends if ends.count(True) + 1 < len(rows) else [False] * len(rows)


def _spaced(body: Sequence[Sequence[str]], ends: Sequence[bool]) -> list[str]:
    """Return the lines of all rows, with space after groups and after rows of several lines."""
    spaced: list[str] = []
    for place, (lines, ends_group) in enumerate(zip(body, ends, strict=True)):
        spaced += lines
        if (ends_group or len(lines) > 1) and place + 1 < len(body):
            spaced.append(_SPACE)
    return spaced


def _tex(cell: Cell) -> str:
    match cell:
        case Words(text):
            # Theorem and number stay on one line.
            return re.sub(r"(?<=\w) (?=\d)", "~", latex_prose(text))
        case Code(text):
            return rf"\texttt{{{latex_prose(text)}}}"
        case Math(latex, _):
            return f"${latex}$"
        case Listing(items):
            return "; ".join(_tex(item) for item in items)
        case Number():
            return _digit_lines(cell.shown, None)[0] + (_DAGGER if cell.marked else "")


def _width(cell: Cell) -> float:
    """Return the estimated width of a cell in em."""
    match cell:
        case Words(text):
            return _LETTER * len(text)
        case Code(text):
            return _CODE_LETTER * len(text)
        case Math(latex, _):
            from symbolic.line_breaks import width

            return width(latex)
        case Listing(items):
            return sum(_width(item) + 1 for item in items)
        case Number():
            # Thin spaces between groups of three digits add a sixth of an em each.
            digits = len(cell.shown)
            return _DIGIT * digits + digits / 18 + 0.5 * cell.marked + 1.0 * ("e" in cell.shown)


def _least_width(cell: Cell) -> float:
    """Return the width below which a cell cannot be broken into lines."""
    match cell:
        case Words(text):
            return _LETTER * max(len(word) for word in ["", *text.split()])
        case Number():
            return min(_width(cell), _NARROWEST)
        case _:
            return _width(cell)


def _height(row: Sequence[Cell], setters: Sequence[_Setter]) -> int:
    """Return about how many lines a row takes."""
    return max(
        ceil(1.15 * _width(cell) / setter.room)
        if setter.room and isinstance(cell, Words)
        else len(setter.lines(cell))
        for cell, setter in zip(row, setters, strict=True)
    )


# -- Numbers ------------------------------------------------------------------------------------

_DECIMAL = re.compile(r"(?P<sign>-?)(?P<whole>\d+)(?:\.(?P<part>\d+))?(?:e(?P<power>[+-]?\d+))?")


def _short(text: str) -> str:
    """Return a number in e-notation where that says the same much shorter (10^100, 1e-40)."""
    if len(text) <= 12 or not (found := _DECIMAL.fullmatch(text)) or found["power"]:
        return text
    digits = (found["whole"] + (found["part"] or "")).lstrip("0")
    mantissa = digits.rstrip("0")
    exponent = len(digits) - 1 - len(found["part"] or "")
    shorter = f"{found['sign']}{mantissa[0]}{'.' * (len(mantissa) > 1)}{mantissa[1:]}e{exponent}"
    return shorter if len(shorter) + 6 < len(text) else text


def _number_as_math(text: str) -> str | None:
    """Return LaTeX for a number that is no plain decimal, or None for one that is."""
    if "inf" in text:
        return _infinity(text)
    mantissa, _, power = text.partition("e")
    if power:
        return _scientific(mantissa, power)
    return text if "/" in text else None


def _infinity(text: str) -> str:
    return r"-\infty" if text.startswith("-") else r"\infty"


def _scientific(mantissa: str, power: str) -> str:
    exponent = rf"10^{{{int(power)}}}"
    if mantissa in ("1", "-1"):
        return mantissa[:-1] + exponent
    return rf"{mantissa} \times {exponent}"


def _siunitx(text: str) -> str:
    return text.replace("e+", "e")


def _number_in_macro(text: str) -> str:
    return rf"\ensuremath{{{_infinity(text)}}}" if "inf" in text else _siunitx(text)


def _table_format(texts: Sequence[str]) -> str:
    """Return siunitx's ``table-format`` that leaves room for all these numbers."""
    found = [match for text in texts if (match := _DECIMAL.fullmatch(text))]
    if not found:
        return "1"
    sign = "-" if any(match["sign"] for match in found) else ""
    whole = max(len(match["whole"]) for match in found)
    part = max(len(match["part"] or "") for match in found)
    powers = [int(match["power"]) for match in found if match["power"]]
    scale = ""
    if powers:
        size = len(str(max(abs(power) for power in powers)))
        scale = f"e{'-' * any(power < 0 for power in powers)}{size}"
    return f"{sign}{whole}{f'.{part}' if part else ''}{scale}"


def _digit_lines(text: str, room: float | None) -> list[str]:
    """Return a number in math mode, its digits in groups of three, in lines of ``room`` em."""
    mantissa, _, power = text.partition("e")
    if "inf" in text or (power and len(mantissa) <= 2):
        return [f"${_number_as_math(text)}$"]
    groups = _groups(mantissa)
    if power:
        groups.append(rf"\times 10^{{{int(power)}}}")
    most = len(groups) if room is None else max(int((room - 1) / (3 * _DIGIT + 0.17)), 1)
    count = -(-len(groups) // most)
    per_line = -(-len(groups) // count)
    return [
        "$" + r"\,".join(groups[start : start + per_line]) + "$"
        for start in range(0, len(groups), per_line)
    ]


def _groups(text: str) -> list[str]:
    """Return digits in groups of three away from the point; the point ends its group."""
    whole, point, part = text.partition(".")
    if not point and len(whole) <= 4:
        return [whole]
    if not point:
        head = len(whole) % 3 or 3
        return [whole[:head], *(whole[i : i + 3] for i in range(head, len(whole), 3))]
    tail = [part[i : i + 3] for i in range(0, len(part), 3)]
    *front, last = _groups(whole)
    return [*front, last + "." + tail[0], *tail[1:]]


# -- Text ---------------------------------------------------------------------------------------

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    '"': "''",
}


def latex_prose(text: str) -> str:
    """Return plain text as LaTeX that pdflatex sets with its default fonts."""
    return "".join(
        _SPECIAL.get(c, c if _is_settable(c) else _code_point(c)) for c in _one_line(text)
    )


def _is_settable(character: str) -> bool:
    """Tell whether it is ASCII, or an ASCII letter with an accent that old fonts have."""
    if character.isascii():
        return True
    parts = unicodedata.normalize("NFD", character)
    return len(parts) == 2 and parts[0].isascii() and parts[0].isalpha() and parts[1] in _ACCENTS


_ACCENTS = "\u0300\u0301\u0302\u0303\u0308\u030b\u030c"


def _code_point(character: str) -> str:
    return f"[U+{ord(character):04X}]"


def _one_line(text: str) -> str:
    return re.sub(" +", " ", "".join(c if c.isprintable() else " " for c in text))


def _escaped_comment(text: str) -> str:
    return "".join(c if c.isascii() else "?" for c in _one_line(text))


def _rendered(template: str, **values: Any) -> str:
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> jinja2.Environment:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=jinja2.StrictUndefined,
        block_start_string="((*",
        block_end_string="*))",
        variable_start_string="(((",
        variable_end_string=")))",
        comment_start_string="((=",
        comment_end_string="=))",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
