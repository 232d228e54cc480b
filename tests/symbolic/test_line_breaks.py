"""Breaking of long formulas, and the measure of width against TeX itself."""

import re
import subprocess
from pathlib import Path

import pytest

from symbolic.catalogue import formula, formula_names
from symbolic.line_breaks import broken, width
from symbolic.printing import latex, where_latex
from tests.support import require

COLUMN = 24.6


def everything_printed() -> list[str]:
    lines = {}
    for name in formula_names():
        subject = formula(name)
        derivation = subject.derivation()
        subjects = [subject.equation, *(form.expression for form in subject.forms)]
        subjects += subject.variants.values()
        subjects += [premise.relation for premise in derivation.premises]
        subjects += [step.after for step in derivation.steps]
        lines.update(dict.fromkeys(latex(each) for each in subjects))
        if subject.implicit:
            lines[str(where_latex(subject.expression))] = None
    return list(lines)


def set_by_tex(lines: list[str], place: Path) -> list[float]:
    """Return the widths in em that TeX gives the lines in display style; it must know them all."""
    body = "\n".join(
        rf"\settowidth\size{{$\displaystyle {line}$}}\typeout{{width=\the\size}}" for line in lines
    )
    document = (
        r"\documentclass{article}\usepackage{amsmath}\newlength\size\begin{document}"
        + f"\n{body}\n"
        + r"\end{document}"
    )
    (place / "widths.tex").write_text(document, encoding="utf-8")
    command = [require("pdflatex"), "-interaction=nonstopmode", "-halt-on-error", "widths.tex"]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=True)
    return [float(size) / 10 for size in re.findall(r"width=([\d.]+)pt", done.stdout)]


def test_the_measure_is_that_of_tex(tmp_path: Path) -> None:
    lines = everything_printed()
    sizes = set_by_tex(lines, tmp_path)
    assert len(sizes) == len(lines) > 180
    for line, size in zip(lines, sizes, strict=True):
        assert 0.97 * size <= width(line) <= 1.3 * size + 0.3, line


def test_broken_formulas_fit_a_column(tmp_path: Path) -> None:
    lines = [broken(line, COLUMN) for line in everything_printed()]
    blocks = [line for line in lines if line.startswith(r"\begin{aligned}")]
    assert len(blocks) >= 5
    whole = [line for line in lines if line not in blocks and width(line) > COLUMN]
    for size in set_by_tex(blocks, tmp_path):
        # One fraction of the radial cosine is wider by itself.
        assert size <= COLUMN * 1.2
    # What is left whole has no sign outside brackets, fractions and roots.
    assert all(line.startswith(r"\frac") for line in whole)


def test_a_formula_that_fits_stays_as_it_is() -> None:
    assert broken("a = b+c", 10) == "a = b+c"


@pytest.mark.parametrize(
    ("line", "limit", "lines"),
    [
        ("a = b+c+d", 5.5, ["a&= b+c", r"&\qquad {}+d"]),
        ("a = b = c", 4, ["a&= b", "&= c"]),
        ("b+c-d", 3.5, ["&b+c", r"&\quad {}-d"]),
        (r"aaaaaaaa \le bbbbbbbb", 7, ["&aaaaaaaa", r"&\quad \le bbbbbbbb"]),
        ("a = -b+c", 4.5, ["a&= -b", r"&\qquad {}+c"]),
        (r"a = \frac{b+c}{d}(e+f)+g", 9, [r"a&= \frac{b+c}{d}(e+f)", r"&\qquad {}+g"]),
        (r"a = \left(b+c\right)+d", 7, [r"a&= \left(b+c\right)", r"&\qquad {}+d"]),
    ],
)
def test_breaks(line: str, limit: float, lines: list[str]) -> None:
    wanted = "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"
    assert broken(line, limit) == wanted


def test_what_has_no_break_is_left_whole() -> None:
    assert broken(r"\frac{a+b+c+d+e+f}{g}", 2) == r"\frac{a+b+c+d+e+f}{g}"
