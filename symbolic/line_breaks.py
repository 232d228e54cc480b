r"""Long formulas broken into aligned lines, by a stated measure of width.

The measure is in em of the document's font size, for display style in Computer Modern: a column of
width ``\columnwidth`` holds ``\columnwidth / 1em`` (34.5 in a one-column article at 10 pt, 24.6 in
a column of 246 pt). It is an estimate, a few percent on the wide side, for what
`symbolic.printing.latex` writes.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[^\\]", re.DOTALL)

_RELATIONS = {"=", "<", ">", r"\le", r"\ge", r"\ne"}
_SIGNS = {"+", "-"}
_OPENING = {"(", "{", r"\left"}
_CLOSING = {")", "}", r"\right"}


def broken(latex: str, limit: float) -> str:
    r"""Return a formula in lines of at most ``limit`` em, where breaks allow it.

    A formula that fits is returned as it is. Else it becomes an ``aligned`` block (amsmath), broken
    before relation signs, plus and minus that stand outside all brackets, fractions and roots. A
    piece without such a place is left whole, whatever its width.
    """
    if width(latex) <= limit:
        return latex
    left, *rights = (_split(side, _SIGNS) for side in _split(latex, _RELATIONS))
    if not rights:
        first, *rest = _filled(left, limit, limit - 1)
        lines = [f"&{first}", *(rf"&\quad {line}" for line in rest)]
    else:
        lines = _around_relations(left, rights, limit)
    return latex if len(lines) == 1 else _aligned(lines)


def _around_relations(left: list[str], rights: list[list[str]], limit: float) -> list[str]:
    """Return lines aligned at the relation signs, each right side on lines of its own."""
    start, indent = " ".join(left), ""
    if width(start) + max(width(right[0]) for right in rights) > limit:
        first, *rest = _filled(left, limit, limit - 1)
        lines = [f"&{first}", *(rf"&\quad {line}" for line in rest)]
        start, indent = "", r"\quad "
    else:
        lines = []
    room = limit - width(start) - (1 if indent else 0)
    for right in rights:
        first, *rest = _filled(right, room, room - 2)
        lines += [f"{start}&{indent}{first}", *(rf"&{indent}\qquad {line}" for line in rest)]
        start = ""
    return lines


def _aligned(lines: list[str]) -> str:
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def _filled(pieces: list[str], first: float, others: float) -> list[str]:
    """Return the pieces in as few lines as fit; a sign that leads a line keeps its spacing."""
    lines = [pieces[0]]
    for piece in pieces[1:]:
        room = first if len(lines) == 1 else others
        if width(lines[-1] + piece) > room:
            lines.append("{}" + piece)
        else:
            lines[-1] += piece
    return lines


def _split(latex: str, signs: set[str]) -> list[str]:
    """Return the parts before, between and after top-level signs; a part keeps its leading sign."""
    parts, depth, before = [""], 0, ""
    for token in _TOKEN.findall(latex):
        depth += (token in _OPENING) - (token in _CLOSING)
        if depth == 0 and token in signs and _follows_term(before):
            parts.append("")
        parts[-1] += token
        before = token if token.strip() else before
    return [part.strip() for part in parts]


def _follows_term(before: str) -> bool:
    """Tell whether a sign after this token is binary, and not that of a number or a script."""
    return before not in {"", "^", "_", *_RELATIONS}


# Widths in em of Computer Modern at 10 pt; signs with their spaces.
_SIGN, _SIGN_IN_SCRIPT, _RELATION = 1.24, 0.85, 1.42
_BRACKET, _TALL_BRACKET = 0.39, 0.8
_LETTER, _CAPITAL, _DIGIT, _GREEK = 0.58, 0.86, 0.5, 0.64
_UPRIGHT, _OPERATOR_SPACE = 0.51, 0.17
_ROOT, _FRACTION, _SUM = 1.0, 0.24, 1.45
# Styles of TeX: the parts of a fraction take the next one; script and below are smaller.
_DISPLAY, _SCRIPT = 0, 2
_SMALLER = 0.8
_WIDTHS = {
    r"\ln": 1.0,
    r"\langle": 0.39,
    r"\rangle": 0.39,
    r"\angle": 0.73,
    r"\cos": 1.55,
    r"\cdot": 0.73,
    r"\tanh": 1.93,
    r"\max": 1.9,
    r"\infty": 1.0,
    r"\dots": 1.34,
    r"\sharp": 0.39,
    r"\quad": 1.0,
    r"\qquad": 2.0,
    ",": 0.45,
    ";": 0.45,
    "|": 0.28,
    "/": 0.5,
    "*": 0.5,
    "'": 0.28,
    "m": 0.88,
    "w": 0.72,
}
_INVISIBLE = {r"\displaystyle", "&", " ", "\n", "{", "}", r"\dot", r"\hat"}


def width(latex: str) -> float:
    """Return the estimated width of a formula in em; the module says what that means."""
    return _Measure(latex).sequence()


class _Measure:
    """Measures a formula token by token, from the left."""

    def __init__(self, latex: str, style: int = _DISPLAY) -> None:
        self._tokens = _TOKEN.findall(latex)
        self._place = 0
        self._style = style

    def sequence(self) -> float:
        total = 0.0
        while self._place < len(self._tokens):
            total += self._item()
        return total

    def _next(self) -> str:
        token = str(self._tokens[self._place])
        self._place += 1
        return token

    def _item(self) -> float:
        token = self._next()
        if token in ("^", "_"):
            return self._scripts(token)
        if token == r"\frac":
            smaller = self._style + 1
            return max(self._argument(smaller), self._argument(smaller)) + _FRACTION
        if token == r"\sum":
            return self._sum()
        if token == r"\sqrt":
            return self._argument(self._style) + _ROOT
        if token in (r"\left", r"\right"):
            self._next()
            return _TALL_BRACKET
        if token in (r"\operatorname", r"\mathrm", r"\text"):
            return len(self._group()) * _UPRIGHT + _OPERATOR_SPACE
        return self._single(token)

    def _single(self, token: str) -> float:
        if token in _SIGNS:
            return _SIGN_IN_SCRIPT if self._style >= _SCRIPT else _SIGN
        if token in _RELATIONS:
            return _SIGN_IN_SCRIPT if self._style >= _SCRIPT else _RELATION
        if token in _WIDTHS or token in _INVISIBLE:
            return _WIDTHS.get(token, 0.0)
        if token in "()[]":
            return _BRACKET
        if token.startswith("\\"):
            return _GREEK
        if token.isdigit():
            return _DIGIT
        return _CAPITAL if token.isupper() else _LETTER

    def _sum(self) -> float:
        """Measure a sum sign; its limits stand above and below in display style, else beside."""
        limits = [0.0]
        while self._tokens[self._place : self._place + 1] in (["_"], ["^"]):
            self._next()
            limits.append(self._argument(_SCRIPT))
        widest = max(limits)
        return _OPERATOR_SPACE + (max(_SUM, widest) if self._style == _DISPLAY else _SUM + widest)

    def _scripts(self, mark: str) -> float:
        """Measure a script; a superscript right after a subscript stands above it."""
        size = self._argument(_SCRIPT)
        if mark == "_" and self._place < len(self._tokens) and self._tokens[self._place] == "^":
            self._next()
            size = max(size, self._argument(_SCRIPT))
        return size

    def _argument(self, style: int) -> float:
        size = _Measure(self._group(), max(style, self._style)).sequence()
        return size * _SMALLER if style >= _SCRIPT > self._style else size

    def _group(self) -> str:
        """Return the next token, or the inside of the group that it opens."""
        token = self._next()
        if token != "{":
            return token
        body, depth = "", 1
        while depth:
            token = self._next()
            depth += (token == "{") - (token == "}")
            body += token if depth else ""
        return body
