"""The tables: their structure, their numbers against another source, and LaTeX that compiles."""

import csv
import io
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proofs.tables import VALUE_TABLES, macro_name, render_tables, tables
from proofs.typesetting import (
    Code,
    Column,
    Math,
    Number,
    Table,
    Words,
    csv_table,
    latex_table,
    markdown_table,
)
from symbolic.catalogue import formula, formula_names
from symbolic.errors import InputError
from tests.support import require

ROOT = Path(__file__).resolve().parents[2]
CAVEAT = "as summarised; the paper itself was not read"


def claim(name: str, verdict: str, levels: list[str], **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "source": "Thm 19",
        "statement": r"\beta^*",
        "reading": "as written",
        "verdict": verdict,
        "counterexample": None,
        "repairs": None,
        "repaired_by": [],
        "uses": [],
        "evidence": [{"level": level, "domain": "", "does_not_show": ""} for level in levels],
        **more,
    }


MANIFEST: dict[str, Any] = {
    "claims": [
        claim(
            "critical-cosine",
            "holds",
            ["pointwise", "exact"],
            formulas=["critical-cosine", "radial-cosine"],
        ),
        claim("critical-beta", "holds", ["simulated", "sampled"], formulas=["critical-beta"]),
        claim(
            "critical-beta-necessity",
            "refuted",
            ["exact"],
            formulas=["critical-beta", "sharp-critical-beta"],
        ),
        claim("total-energy", "not-checked", []),
    ],
    "environment": {"time": "2026-01-01T00:00:00Z", "seed": 7},
}


def rendered(
    format: str = "latex",
    *,
    manifest: Mapping[str, Any] = MANIFEST,
    digits: int = 10,
    macros: bool = False,
    **grids: Sequence[Any],
) -> dict[str, str]:
    exact = {name: tuple(Fraction(value) for value in values) for name, values in grids.items()}
    return render_tables(manifest, format=format, digits=digits, grids=exact, macros=macros)


def rows_of(name: str, **options: Any) -> list[dict[str, str]]:
    content = rendered("csv", **options)[f"{name}.csv"]
    return list(csv.DictReader(io.StringIO(content, newline="")))


# -- Structure ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("format", "extension", "more"),
    [("latex", "tex", {"mhflow-tables.tex"}), ("markdown", "md", set()), ("csv", "csv", set())],
)
def test_files(format: str, extension: str, more: set[str]) -> None:
    names = {"formulas", "claims", *(entry.name for entry in VALUE_TABLES)}
    wanted = {f"{name}.{extension}" for name in names} | more
    assert set(rendered(format)) == wanted
    assert set(rendered(format, macros=True)) == wanted | {"mhflow-macros.tex"}


def test_default_grids() -> None:
    heads = [int(row["H"]) for row in rows_of("critical-cosine")]
    assert heads == [*range(1, 17), 32, 64]
    places = [(int(row["n"]), int(row["H"]), row["alpha"]) for row in rows_of("critical-beta")]
    assert places == [(n, H, "1") for n in (16, 64, 256, 1024) for H in (1, 2, 4, 8)]
    strengths = [(int(row["n"]), row["beta"]) for row in rows_of("rate-peak")]
    tokens = (2, 16, 64, 256, 1024, 10**6)
    assert strengths == [(n, beta) for n in tokens for beta in ("0.5", "1", "2", "4")]


def test_formulas_have_the_strongest_level_of_claims_that_hold() -> None:
    rows = {row["name"]: row for row in rows_of("formulas")}
    assert [name for name in rows if "," not in name] == list(formula_names())
    levels = {name: rows[name]["evidence"] for name in formula_names()}
    assert {name: level for name, level in levels.items() if level != "-"} == {
        "critical-cosine": "exact",
        # The refutation of another claim about it is no evidence for the formula.
        "critical-beta": "sampled",
        "radial-cosine": "exact",
    }
    assert rows["critical-beta"]["parameters"] == (
        "n: integer >= 2; H: integer >= 1; alpha: real > 0"
    )


def test_the_formula_table_says_what_a_formula_needs() -> None:
    rows = {row["name"]: row for row in rows_of("formulas")}
    assert rows["rate-inflection"]["formula"] == (
        "lambda_c(n, beta) = x_c(n)/beta; "
        "where x = x_c(n) > 2 solves x - ln(n - 1) + ln((x - 2)/(x + 2)) = 0"
    )
    assert rows["late-rate"]["formula"].count("r_late(lam_1, ..., lam_H, beta) = sum(2 lam_h") == 3
    for model in ("softmax", "unnormalised", "relu"):
        assert f"h=1..H) ({model})" in rows["late-rate"]["formula"]
    assert rows["late-rate"]["parameters"] == (
        "model: softmax, unnormalised or relu; lam: list of reals, one for each head; "
        "beta: real >= 0"
    )
    latex = rendered()["formulas.tex"]
    assert r"\text{model: softmax, unnormalised or relu}$; $\text{real }\lambda_1, \dots," in latex
    assert r"\text{where } x = x_c(n) > 2 \text{ solves } x-\ln(n-1)" in latex


def test_relations_have_rows_of_their_own() -> None:
    rows = {row["name"]: row for row in rows_of("formulas") if "," in row["name"]}
    assert {name: row["formula"] for name, row in rows.items()} == {
        "rate-peak, large n": "x = L - ln(L) + (1 + ln(L))/L + O((ln(L))^2/L^2); "
        "where x = beta lambda_peak(n, beta), ln(n - 1) = L, L > 0",
        "rate-inflection, tanh": "x tanh((x - ln(n - 1))/2) = 2; where x = x_c(n)",
        "rate-inflection, two tokens": "x tanh(x/2) = 2; where x = x_c(n), n = 2",
        "rate-inflection, r-Lambert": "u e^u - r u = 4 r; "
        "where u = x - 2, u > 0, x = x_c(n), n - 1 = r e^2",
        "rate-inflection, large n": "x = L + 4/L - 32/(3 L^3) + O(1/L^5); "
        "where x = x_c(n), ln(n - 1) = L, L > 0",
    }
    assert {row["evidence"] for row in rows.values()} == {"exact"}
    assert all(row["source"].startswith("Thm 22") for row in rows.values())
    assert rows["rate-inflection, tanh"]["parameters"] == "n: integer >= 2"


@pytest.mark.parametrize("n", [2, 7, 10**6, 10**40])
def test_relations_hold_in_numbers(n: int) -> None:
    with mpmath.workdps(50):
        x, L = inflection(mpmath.mpf(n)), mpmath.log(n - 1)
        u, r = x - 2, (n - 1) / mpmath.e**2
        assert abs(x * mpmath.tanh((x - L) / 2) - 2) < mpmath.mpf("1e-40")
        assert abs(u * mpmath.exp(u) - r * u - 4 * r) < mpmath.mpf("1e-40") * (1 + r) * x
        if n > 10**4:
            assert abs(x - (L + 4 / L - 32 / (3 * L**3))) < 100 / L**5
            peak = 1 + mpmath.lambertw((n - 1) / mpmath.e).real
            series = L - mpmath.log(L) + (1 + mpmath.log(L)) / L
            assert abs(peak - series) < 2 * mpmath.log(L) ** 2 / L**2


def test_the_level_that_the_manifest_gives_counts() -> None:
    weaker = claim("a", "holds", ["exact"], formulas=["critical-beta"], level="enclosed")
    rows = {row["name"]: row for row in rows_of("formulas", manifest={"claims": [weaker]})}
    assert rows["critical-beta"]["evidence"] == "enclosed"


def test_claims() -> None:
    rows = {row["id"]: row for row in rows_of("claims")}
    assert rows["critical-cosine"]["levels"] == "exact, pointwise"
    assert rows["critical-beta"]["levels"] == "sampled, simulated"
    assert rows["total-energy"] == {
        "id": "total-energy",
        "source": "Thm 19",
        "verdict": "not-checked",
        "levels": "-",
    }


def test_csv_is_rfc_4180() -> None:
    for content in rendered("csv").values():
        assert content.endswith("\r\n")
        assert "\n" not in content.replace("\r\n", "")
        rows = list(csv.reader(io.StringIO(content, newline=""), strict=True))
        assert len({len(row) for row in rows}) == 1


def test_markdown_is_one_table_per_file() -> None:
    for content in rendered("markdown").values():
        caption, empty, *table = content.splitlines()
        assert caption
        assert not empty
        cells = [len(re.findall(r"(?<!\\)\|", line)) for line in table]
        assert len(set(cells)) == 1
        assert re.fullmatch(r"\|( (:---|---:) \|)+", table[1])
        # GitHub refuses one, and takes the other for emphasis.
        assert "operatorname" not in content
        assert "*" not in content


def test_latex_structure() -> None:
    files = rendered()
    for name in ("formulas", "claims", *(entry.name for entry in VALUE_TABLES)):
        content = files[f"{name}.tex"]
        assert content.count(r"\caption{") == 1
        assert rf"\label{{tab:mhflow-{name}}}" in content
        assert all(rule in content for rule in (r"\toprule", r"\midrule", r"\bottomrule"))
        assert not re.search(r"\\hline|\{[lcrS@{}]*\|", content)
        assert rf"\input{{{name}}}" in files["mhflow-tables.tex"]
    for name in ("formulas", "claims"):
        assert CAVEAT in files[f"{name}.tex"]
    assert r"$\alpha$ = $1$" in files["critical-beta.tex"]
    assert r"(1+(n-2)\gamma)" in files["formulas.tex"]


def test_infinity_and_negative_values_are_marked() -> None:
    latex = rendered()["critical-beta.tex"]
    assert r"16 & 1 & {$\infty$} & {$\infty$} \\" in latex
    assert r"16 & 8 & -0.6017902098 {$\dagger$} & 0.3810700260 \\" in latex
    assert "Condition~8 holds for every inverse temperature" in latex
    markdown = rendered("markdown")["critical-beta.md"]
    assert r"| 16 | 1 | $\infty$ | $\infty$ |" in markdown
    assert "| 16 | 8 | -0.6017902098 † | 0.3810700260 |" in markdown
    assert rows_of("critical-beta")[0]["critical-beta"] == "+inf"
    # n = H: the sharp threshold is exactly zero, which is not positive either.
    at_zero = rendered("markdown", n=[4], H=[4])["critical-beta.md"]
    assert "| 0 † |" in at_zero


def test_a_parameter_with_one_value_goes_into_the_caption() -> None:
    content = rendered("markdown", n=[16, 64], H=[2], alpha=["1/3"])["critical-beta.md"]
    caption, _, heading, *_ = content.splitlines()
    assert r"$H$ = 2, $\alpha$ = $1/3$" in caption
    assert heading.startswith("| $n$ | $\\beta")
    content = rendered("markdown", n=[16], H=[2])["critical-beta.md"]
    assert content.splitlines()[2].startswith("| $n$ | $\\beta")
    content = rendered("markdown", alpha=[1, "0.5"])["critical-beta.md"]
    assert content.splitlines()[2].startswith(r"| $n$ | $H$ | $\alpha$ |")
    assert "| 16 | 2 | 0.5 | 2.226838376 |" in content


# -- Numbers ------------------------------------------------------------------------------------


def inflection(n: Any) -> Any:
    """Return x_c(n) by bisection of the sign of the curvature, in mpmath's precision."""

    def is_convex(x: Any) -> bool:
        return bool((x - 2) * mpmath.exp(x) > (n - 1) * (x + 2))

    low, high = mpmath.mpf(2), 6 + mpmath.log(n)
    for _ in range(mpmath.mp.prec + 10):
        middle = (low + high) / 2
        low, high = (low, middle) if is_convex(middle) else (middle, high)
    return low


def strength(name: str, parameters: Mapping[str, Fraction]) -> Decimal:
    """Compute the peak or the inflection of the rate function with mpmath."""
    with mpmath.workdps(120):
        n, beta = (mpmath.mpf(p.numerator) / p.denominator for p in parameters.values())
        peak = name == "rate-peak"
        x = 1 + mpmath.lambertw((n - 1) / mpmath.e).real if peak else inflection(n)
        return Decimal(mpmath.nstr(x / beta, 110))


def independent(name: str, parameters: Mapping[str, Fraction]) -> Decimal:
    """Compute a value with the decimal module, by the formulas of the mathematics."""
    if name in ("rate-peak", "rate-inflection"):
        return strength(name, parameters)
    exact = {key: Decimal(v.numerator) / Decimal(v.denominator) for key, v in parameters.items()}
    m = exact["H"] - 1
    if name == "critical-cosine":
        return ((m * m + 4).sqrt() - m) / 2
    if name == "sharp-critical-cosine":
        return 1 / exact["H"].sqrt()
    ratio = ((exact["n"] - 1) / m).ln()
    gap = (m / 2 + (m * m / 4 + 1).sqrt()).ln() if name == "critical-beta" else 0
    return (ratio - gap) / (2 * exact["alpha"])


@pytest.mark.parametrize("digits", [1, 2, 10, 40])
@pytest.mark.parametrize("table", [entry.name for entry in VALUE_TABLES])
def test_numbers_are_rounded_right(table: str, digits: int) -> None:
    grids: dict[str, list[Any]] = {
        "n": [2, 3, 9, 1000, 10**12],
        "H": [1, 2, 3, 8, 1000],
        "alpha": ["1/3", 1, "0.001", 10**9],
        "beta": ["1/3", 1, "0.001", 10**9],
    }
    entry = next(entry for entry in VALUE_TABLES if entry.name == table)
    for row in rows_of(table, digits=digits, **grids):
        parameters = {key: Fraction(row[key]) for key in entry.grid}
        for name in entry.formulas:
            if row[name] == "+inf":
                assert parameters["H"] == 1
                continue
            with localcontext(prec=120):
                value = independent(name, parameters)
            rounded = Context(prec=digits, rounding=ROUND_HALF_EVEN).plus(value)
            assert Decimal(row[name]) == rounded
            figures = re.sub(r"e.*|^-|\.", "", row[name]).lstrip("0")
            assert row[name] == "0" or len(figures) == digits


def test_all_formats_have_the_same_numbers() -> None:
    columns = ("critical-beta", "sharp-critical-beta")
    numbers = [row[name] for row in rows_of("critical-beta") for name in columns]
    latex = re.findall(r"-?\d\.\d{5,}", rendered()["critical-beta.tex"])
    markdown = re.findall(r"-?\d\.\d{5,}", rendered("markdown")["critical-beta.md"])
    assert latex == markdown == [number for number in numbers if number != "+inf"]


# -- Grids --------------------------------------------------------------------------------------


def test_repeated_values_count_once() -> None:
    rows = rows_of("critical-beta", n=[16, 16, 8, 16], H=[2], alpha=["0.5", "1/2"])
    assert [(row["n"], row["alpha"]) for row in rows] == [("16", "0.5"), ("8", "0.5")]


def test_exact_parameters_stay_exact() -> None:
    rows = rows_of("critical-beta", n=[10**30], H=[2], alpha=["1/3", "1e-9", "2.50", 7])
    assert [row["alpha"] for row in rows] == ["1/3", "0.000000001", "2.5", "7"]
    assert rows[0]["n"] == "1" + 30 * "0"
    latex = rendered(n=[10**30, 5], H=[2], alpha=["1/3", "1e-40"])["critical-beta.tex"]
    assert "$10^{30}$ & $1/3$" in latex
    assert "$10^{-40}$" in latex


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"gamma": [1]},
            "grid: no parameter 'gamma' in the value tables; accepted: H, n, alpha, beta",
        ),
        ({"H": [0]}, "H: 0 is outside its domain: integer >= 1"),
        ({"H": ["5/2"]}, "H: 5/2 is outside its domain: integer >= 1"),
        ({"n": [1]}, "n: 1 is outside its domain: integer >= 2"),
        ({"beta": [0]}, "beta: 0 is outside its domain: real > 0"),
        ({"alpha": [0]}, "alpha: 0 is outside its domain: real > 0"),
        ({"alpha": [-(10**100)]}, "alpha: -1000"),
        ({"n": []}, "n: the grid is empty"),
        ({"n": range(2, 202), "H": range(1, 102)}, "grid: n x H x alpha gives 20200 rows"),
        ({"digits": 0}, "digits: 0 is not accepted"),
        ({"digits": 10_001}, "digits: 10001 is not accepted"),
        ({"format": "word"}, "format: 'word' is not accepted; give latex, markdown, csv"),
        ({"manifest": {}}, "manifest: "),
        ({"manifest": {"claims": [{"id": "a"}]}}, "manifest: "),
        ({"manifest": {"claims": [claim("a", "holds", ["certain"])]}}, "manifest: "),
        ({"manifest": {"claims": [claim("a", "holds", [], formulas="b")]}}, "manifest: "),
        ({"manifest": {"claims": {"a": 1}}}, "manifest: "),
    ],
)
def test_bad_input_is_refused_in_one_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        rendered(**options)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 200


# -- Macros -------------------------------------------------------------------------------------

WORDS = st.lists(st.text("abx", min_size=1, max_size=3), min_size=1, max_size=3).map("-".join)
NUMBERS = st.tuples(WORDS, st.lists(st.fractions(), max_size=3).map(tuple))


def test_macro_names_of_the_documentation() -> None:
    values = [Fraction(64), Fraction(4), Fraction(1, 2)]
    assert macro_name("critical-beta", values) == "mhflowCriticalBetaXgeXeXbOc"
    assert macro_name("a-xy", [Fraction(-10, 3)]) == "mhflowAXxyXMbaOd"
    with pytest.raises(ValueError, match="critical_beta"):
        macro_name("critical_beta", [])


@given(NUMBERS, NUMBERS)
@example(("a-xa", ()), ("a", (Fraction(0),)))
@example(("a", (Fraction(1), Fraction(2))), ("a", (Fraction(12),)))
def test_macro_names_are_injective(one: Any, other: Any) -> None:
    names = [macro_name(*one), macro_name(*other)]
    assert (names[0] == names[1]) == (one == other)
    assert all(re.fullmatch("mhflow[A-Za-z]+", name) for name in names)


def test_one_macro_per_number() -> None:
    content = rendered(macros=True)["mhflow-macros.tex"]
    found = dict(re.findall(r"^\\newcommand\{\\(\w+)\}\{(.*)\}% ", content, re.MULTILINE))
    assert len(found) == content.count(r"\newcommand") == 2 * (18 + 16 + 24)
    assert found["mhflowCriticalBetaXbgXiXb"] == "-0.6017902098"
    assert found["mhflowCriticalBetaXbgXbXb"] == r"\ensuremath{\infty}"
    assert found["mhflowSharpCriticalCosineXbg"] == "0.2500000000"
    assert found["mhflowRatePeakXcXbOc"] == "2.556929086"


# -- Determinism --------------------------------------------------------------------------------

RENDER_ALL = """
import json, sys
from proofs.tables import render_tables
manifest = json.loads(sys.argv[1])
for format in ("latex", "markdown", "csv"):
    files = render_tables(manifest, format=format, digits=12, grids={}, macros=True)
    sys.stdout.buffer.write(json.dumps(files).encode())
"""


def test_the_same_bytes_every_time() -> None:
    import json

    outputs = set()
    for seed, time in (("0", "2026-01-01"), ("1", "2027-12-31")):
        manifest = {**MANIFEST, "environment": {"time": time}}
        done = subprocess.run(
            [sys.executable, "-c", RENDER_ALL, json.dumps(manifest)],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            check=True,
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1


def test_a_wrong_request_is_told_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proofs.verification.verify", lambda: pytest.fail("it verified"))
    with pytest.raises(InputError, match="n: 1 is outside"):
        tables(grids={"n": [1]})


def test_nothing_heavy_is_imported_early() -> None:
    code = "import sys, proofs.tables; print([m for m in ('sympy', 'flint', 'jinja2', 'numeric') if m in sys.modules])"  # noqa: E501
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


# -- LaTeX that compiles ------------------------------------------------------------------------

COMPLAINT = re.compile(r"^.*(?:Warning|Overfull|Underfull|^!).*$", re.MULTILINE)


def compiled(files: Mapping[str, str], place: Path, main: str = "mhflow-tables.tex") -> str:
    """Run pdflatex twice and return what the second run complains about."""
    for name, content in files.items():
        (place / name).write_text(content, encoding="utf-8", newline="")
    command = [require("pdflatex"), "-interaction=nonstopmode", "-halt-on-error", main]
    for _ in range(2):
        done = subprocess.run(command, cwd=place, capture_output=True)
        assert done.returncode == 0, done.stdout[-2000:].decode(errors="replace")
    log = (place / main).with_suffix(".log").read_text(encoding="utf-8", errors="replace")
    return "\n".join(COMPLAINT.findall(log))


AWKWARD = {
    "claims": [
        claim(
            "a" * 30,
            "not-available",
            ["formal", "exact", "enclosed", "pointwise", "sampled", "simulated"],
            source='100% of #1 & ~$x$_{i}^2 <\\> "|é" Mező ≥ \u0000\n\t{Thm} 19, section 3',
        )
        for _ in range(60)
    ]
}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"digits": 1},
        {"digits": 25, "alpha": [1, "1/3"]},
        {"digits": 60},
        {"n": range(2, 252), "H": [1, 2]},
        {"n": [2, 10**100, 10**40 + 7], "H": [1, 10**6], "alpha": ["1/3", "1e-40", 10**12]},
        {"n": [7], "H": [3], "beta": ["0.5"]},
        {"manifest": AWKWARD},
        {"manifest": {"claims": []}},
    ],
    ids=["default", "short", "medium", "long", "many", "extreme", "single", "awkward", "empty"],
)
def test_the_document_compiles_without_a_complaint(options: Any, tmp_path: Path) -> None:
    assert compiled(rendered(macros=True, **options), tmp_path) == ""


def test_fragments_fit_a_one_column_article(tmp_path: Path) -> None:
    files = rendered(digits=30)
    narrow = files["mhflow-tables.tex"].replace("margin=25mm", "textwidth=345pt")
    assert compiled({**files, "mhflow-tables.tex": narrow}, tmp_path) == ""


def test_tables_of_500_rows_go_over_pages() -> None:
    files = rendered(n=range(2, 252), H=[1, 2])
    assert r"\begin{longtable}" in files["critical-beta.tex"]
    assert files["critical-beta.tex"].count(r"\endhead") == 1
    assert r"\begin{longtable}" not in files["critical-cosine.tex"]
    assert r"\begin{longtable}" not in rendered()["critical-beta.tex"]


def test_macros_in_a_document(tmp_path: Path) -> None:
    files = rendered(macros=True, digits=3, n=[10**20], H=[2], alpha=["1e-9", 1])
    main = r"""\documentclass{article}\usepackage{siunitx}\input{mhflow-macros}\begin{document}
\num{\mhflowCriticalBetaXbaaaaaaaaaaaaaaaaaaaaXcXbObaaaaaaaaa} \mhflowCriticalCosineXc
\end{document}
"""
    macros = files["mhflow-macros.tex"]
    assert "Obaaaaaaaaa}{2.28e10}" in macros
    assert compiled({"main.tex": main, "mhflow-macros.tex": macros}, tmp_path, "main.tex") == ""


# -- Typesetting --------------------------------------------------------------------------------


def small_table(*cells: Any) -> Table:
    columns = tuple(Column(Words(f"c{i}"), f"c{i}") for i in range(len(cells)))
    return Table("t", (Words("Caption."),), columns, (cells,))


def test_text_is_escaped() -> None:
    table = small_table(Words("50% a_b | *x* <y> ≥"), Code("a_b"), Math("|x|", "|x|"))
    assert r"50\% a\_b $|$ *x* $<$y$>$ [U+2265] & \texttt{a\_b} & $|x|$" in latex_table(table)
    assert r"| 50% a\_b \| \*x\* \<y\> ≥ | `a_b` | $\vert x\vert $ |" in markdown_table(table)
    assert csv_table(table) == "c0,c1,c2\r\n50% a_b | *x* <y> ≥,a_b,|x|\r\n"


@pytest.mark.parametrize(
    ("texts", "format"),
    [
        (["1.25", "-10.5"], "-2.2"),
        (["3", "100"], "3"),
        (["1.5e-12", "2.5e+3"], "1.1e-2"),
        (["1.5e+12", "0.25"], "1.2e2"),
        (["+inf"], "1"),
    ],
)
def test_numbers_are_aligned(texts: list[str], format: str) -> None:
    column = (Column(Words("c"), "c"),)
    table = Table("t", (), column, tuple((Number(text),) for text in texts))
    assert f"S[table-format={format}]" in latex_table(table)


def test_long_numbers_are_broken_into_lines() -> None:
    digits = "0." + 10 * "123"
    pair = (Number(digits), Number(digits + digits[2:]))
    columns = (Column(Words("a"), "a"), Column(Words("b"), "b"))
    content = latex_table(Table("t", (), columns, (pair,)))
    lines = [line for line in content.splitlines() if "123" in line]
    assert len(lines) > 1
    assert re.sub(r"\D", "", "".join(line.split("&")[1] for line in lines)) == "0" + 20 * "123"


def test_symbols_of_the_entries_exist() -> None:
    for entry in VALUE_TABLES:
        for name in entry.formulas:
            assert [p.name for p in formula(name).parameters] == list(entry.grid)
