"""LaTeX and text of formulas: snapshots read by a person, rules, and determinism."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import sympy as sp
from sympy.parsing.sympy_parser import (
    convert_xor,
    implicit_multiplication,
    parse_expr,
    standard_transformations,
)

from symbolic.catalogue import formula, formula_names
from symbolic.notation import H, alpha, beta, gamma, lam, n
from symbolic.notation import cosine as c
from symbolic.printing import latex, text
from symbolic.rules import equation
from symbolic.written import written

ROOT = Path(__file__).resolve().parents[2]

# Written by hand from the formulas of the theory; a new formula needs a line of its own here.
FORMULAS = {
    "critical-cosine": (
        r"c^{*}(H) = \frac{\sqrt{(H-1)^2+4}-(H-1)}{2}",
        "c*(H) = (sqrt((H - 1)^2 + 4) - (H - 1))/2",
    ),
    "sharp-critical-cosine": (
        r"c_{\sharp}(H) = \frac{1}{\sqrt{H}}",
        "c_sharp(H) = 1/sqrt(H)",
    ),
    "critical-beta": (
        r"\beta^{*}(n, H, \alpha) = \frac{\ln\left(\frac{n-1}{H-1}\right)"
        r"-\operatorname{arsinh}\left(\frac{H-1}{2}\right)}{2\alpha}",
        "beta*(n, H, alpha) = (ln((n - 1)/(H - 1)) - arsinh((H - 1)/2))/(2 alpha)",
    ),
    "sharp-critical-beta": (
        r"\beta_{\sharp}(n, H, \alpha) = \frac{\ln\left(\frac{n-1}{H-1}\right)}{2\alpha}",
        "beta_sharp(n, H, alpha) = ln((n - 1)/(H - 1))/(2 alpha)",
    ),
    "radial-cosine": (
        r"\cos\angle(f_i^h, x_i; \lambda, \beta, n, \gamma) = "
        r"\frac{e^{\beta\lambda(1-\gamma)}+(n-1)\gamma}"
        r"{\sqrt{e^{2\beta\lambda(1-\gamma)}+2(n-1)\gamma e^{\beta\lambda(1-\gamma)}"
        r"+(n-1)(1+(n-2)\gamma)}}",
        "cos(f_i^h, x_i; lam, beta, n, gamma) = "
        "(e^(beta lam (1 - gamma)) + (n - 1) gamma)"
        "/sqrt(e^(2 beta lam (1 - gamma)) + 2 (n - 1) gamma e^(beta lam (1 - gamma)) "
        "+ (n - 1) (1 + (n - 2) gamma))",
    ),
}

FORMS = {
    ("critical-cosine", "metallic-mean"): (
        r"\frac{2}{H-1+\sqrt{(H-1)^2+4}}",
        "2/(H - 1 + sqrt((H - 1)^2 + 4))",
    ),
    ("critical-cosine", "arsinh"): (
        r"e^{-\operatorname{arsinh}((H-1)/2)}",
        "e^(-arsinh((H - 1)/2))",
    ),
    ("critical-beta", "as-stated"): (
        r"\frac{\ln\left(\frac{\left(\frac{\sqrt{(H-1)^2+4}-(H-1)}{2}\right)^2(n-1)}"
        r"{1-\left(\frac{\sqrt{(H-1)^2+4}-(H-1)}{2}\right)^2}\right)}{2\alpha}",
        "ln(((sqrt((H - 1)^2 + 4) - (H - 1))/2)^2 (n - 1)"
        "/(1 - ((sqrt((H - 1)^2 + 4) - (H - 1))/2)^2))/(2 alpha)",
    ),
    ("radial-cosine", "tangent"): (
        r"\frac{1}{\sqrt{1+(n-1)(1-\gamma)(1+(n-1)\gamma)"
        r"\left(\frac{e^{-\beta\lambda(1-\gamma)}}"
        r"{1+(n-1)\gamma e^{-\beta\lambda(1-\gamma)}}\right)^2}}",
        "1/sqrt(1 + (n - 1) (1 - gamma) (1 + (n - 1) gamma) "
        "(e^(-beta lam (1 - gamma))/(1 + (n - 1) gamma e^(-beta lam (1 - gamma))))^2)",
    ),
}


def test_every_formula_has_a_snapshot() -> None:
    assert set(FORMULAS) == set(formula_names())
    forms = {(name, form.name) for name in formula_names() for form in formula(name).forms}
    assert set(FORMS) == forms


@pytest.mark.parametrize("name", FORMULAS)
def test_formula(name: str) -> None:
    equality = formula(name).equation
    assert (latex(equality), text(equality)) == FORMULAS[name]


@pytest.mark.parametrize(("name", "form"), FORMS)
def test_form(name: str, form: str) -> None:
    expression = next(f.expression for f in formula(name).forms if f.name == form)
    assert (latex(expression), text(expression)) == FORMS[name, form]


def read_back(line: str, symbols: set[sp.Symbol]) -> sp.Expr:
    """Read text with SymPy's own parser, which knows nothing of ours."""
    names = {symbol.name: symbol for symbol in symbols}
    names |= {"ln": sp.log, "arsinh": sp.asinh, "e": sp.E}
    rules = (*standard_transformations, convert_xor, implicit_multiplication)
    return parse_expr(line, local_dict=names, transformations=rules)


@pytest.mark.parametrize("name", formula_names())
def test_text_means_the_formula(name: str) -> None:
    subject = formula(name)
    forms = [form.expression for form in subject.forms]
    for expression in (subject.expression, subject.evaluation, *forms):
        symbols = expression.free_symbols
        parsed = read_back(text(expression), symbols)
        point = {s: sp.Rational(7 + 2 * i, 3) for i, s in enumerate(sorted(symbols, key=str))}
        assert abs(sp.N((parsed - expression).subs(point), 30)) < sp.Float("1e-25")


f_i, x_i, a, b = sp.symbols("f_i x_i a b")
k = sp.Symbol("k", integer=True)
inner = sp.Function("inner")
shadow, f_norm, f_square, others = sp.symbols("shadow f_norm f_square other_shadows")

RULES = [
    # written order
    (written(lambda: (1 - gamma) * (1 + (n - 1) * gamma)), r"(1-\gamma)(1+(n-1)\gamma)",
     "(1 - gamma) (1 + (n - 1) gamma)"),
    (written(lambda: (n - 1) * gamma), r"(n-1)\gamma", "(n - 1) gamma"),
    (written(lambda: a - (b - 1)), "a-(b-1)", "a - (b - 1)"),
    (written(lambda: b - a), "b-a", "b - a"),
    # what SymPy sorted
    (H - 1, "H-1", "H - 1"),
    (-1 + n + sp.exp(2 * alpha * beta), r"n+e^{2\alpha\beta}-1", "n + e^(2 alpha beta) - 1"),
    (c**2 + c * (H - 1) - 1, "c^2+c(H-1)-1", "c^2 + c (H - 1) - 1"),
    (1 - c**2, "1-c^2", "1 - c^2"),
    (-a - b, "-a-b", "-a - b"),
    (beta * alpha * 2 * (1 - gamma), r"2\alpha\beta(1-\gamma)", "2 alpha beta (1 - gamma)"),
    # signs and ones
    (sp.Mul(-1, a + b, evaluate=False), "-(a+b)", "-(a + b)"),
    (sp.Mul(1, a, evaluate=False), "a", "a"),
    (sp.Mul(1, a + b, evaluate=False), "a+b", "a + b"),
    (sp.Mul(-1, -1, a, evaluate=False), "a", "a"),
    (sp.Add(b, sp.Mul(1, a + c, evaluate=False), evaluate=False), "b+(a+c)", "b + (a + c)"),
    (sp.Add(b, sp.Mul(-1, a - 1, evaluate=False), evaluate=False), "b-(a-1)", "b - (a - 1)"),
    (sp.Mul(a, sp.Mul(-1, b, evaluate=False), evaluate=False), "-ab", "-a b"),
    (sp.Mul(sp.Rational(-2, 3), a, evaluate=False), r"-\frac{2a}{3}", "-2 a/3"),
    (sp.Mul(2, 3, evaluate=False), r"2 \cdot 3", "2 * 3"),
    (sp.Mul(a, 2, evaluate=False), r"a \cdot 2", "a * 2"),
    (sp.Integer(-3), "-3", "-3"),
    (sp.Integer(0), "0", "0"),
    (sp.Rational(-1, 2), r"-\frac{1}{2}", "-1/2"),
    # quotients
    (a / (2 * alpha), r"\frac{a}{2\alpha}", "a/(2 alpha)"),
    ((a - 1) / b, r"\frac{a-1}{b}", "(a - 1)/b"),
    (1 / (a * b), r"\frac{1}{ab}", "1/(a b)"),
    (1 / a**2, r"\frac{1}{a^2}", "1/a^2"),
    (1 / sp.sqrt(H), r"\frac{1}{\sqrt{H}}", "1/sqrt(H)"),
    (sp.sqrt(5) / 2, r"\frac{\sqrt{5}}{2}", "sqrt(5)/2"),
    (sp.Mul(a, sp.Pow(written(lambda: b / c), -1, evaluate=False), evaluate=False),
     r"\frac{a}{\frac{b}{c}}", "a/(b/c)"),
    # powers
    (a**b, "a^b", "a^b"),
    (a**10, "a^{10}", "a^10"),
    (a ** (b - 1), "a^{b-1}", "a^(b - 1)"),
    ((a + b) ** 2, "(a+b)^2", "(a + b)^2"),
    (sp.Pow(-2, a, evaluate=False), "(-2)^a", "(-2)^a"),
    (sp.Pow(sp.Rational(1, 2), a, evaluate=False), r"\left(\frac{1}{2}\right)^a", "(1/2)^a"),
    (a ** sp.Rational(3, 2), "a^{3/2}", "a^(3/2)"),
    (sp.exp(-a / 2), "e^{-a/2}", "e^(-a/2)"),
    (sp.Pow(sp.exp(a), 2, evaluate=False), "(e^a)^2", "(e^a)^2"),
    (sp.E, "e", "e"),
    (sp.log(a) ** 2, r"(\ln(a))^2", "(ln(a))^2"),
    # names
    (lam * (1 - gamma), r"\lambda(1-\gamma)", "lam (1 - gamma)"),
    (shadow**2, "(a_i^h)^2", "(a_i^h)^2"),
    (f_norm**2, "|f_i^h|^2", "|f_i^h|^2"),
    (f_square**2, "(|f_i^h|^2)^2", "(|f_i^h|^2)^2"),
    (sp.Function("c_star")(H) ** 2, "c^{*}(H)^2", "c*(H)^2"),
    (f_norm * others, r"|f_i^h|\sum_{h' \ne h} |a_i^{h'}|", "|f_i^h| sum(|a_i^h'|, h' != h)"),
    (sp.Symbol("lambda_c"), r"\lambda_c", "lambda_c"),
    (sp.Symbol("x_12"), "x_{12}", "x_12"),
    (sp.Symbol("rate"), r"\mathrm{rate}", "rate"),
    # functions
    (inner(f_i, x_i), r"\langle f_i, x_i\rangle", "<f_i, x_i>"),
    (sp.tanh(a), r"\tanh(a)", "tanh(a)"),
    (sp.asinh(a / 2), r"\operatorname{arsinh}\left(\frac{a}{2}\right)", "arsinh(a/2)"),
    (sp.LambertW(a), "W_0(a)", "W_0(a)"),
    (sp.LambertW(a, -1), "W_{-1}(a)", "W_-1(a)"),
    (abs(sp.Symbol("x", real=True)), "|x|", "|x|"),
    (sp.Max(b, a), r"\max(a, b)", "max(a, b)"),
    (sp.KroneckerDelta(1, k), r"\delta_{1k}", "delta(1, k)"),
    (sp.Sum(a * (1 - sp.KroneckerDelta(1, k)), (k, 1, H)),
     r"\sum_{k=1}^{H} a(1-\delta_{1k})", "sum(a (1 - delta(1, k)), k=1..H)"),
    (sp.Sum(a + k, (k, 1, n)), r"\sum_{k=1}^{n} (a+k)", "sum(a + k, k=1..n)"),
    (a * sp.Sum(k, (k, 1, n)), r"a\sum_{k=1}^{n} k", "a sum(k, k=1..n)"),
    (sp.Mul(b, sp.Sum(k, (k, 1, n)), a, evaluate=False),
     r"b\left(\sum_{k=1}^{n} k\right)a", "b (sum(k, k=1..n)) a"),
    (sp.oo, r"\infty", "inf"),
    (-sp.oo, r"-\infty", "-inf"),
    # relations
    (equation(a, b), "a = b", "a = b"),
    (sp.Le(a, b, evaluate=False), r"a \le b", "a <= b"),
    (sp.Ge(a, b, evaluate=False), r"a \ge b", "a >= b"),
    (sp.Lt(a, b, evaluate=False), "a < b", "a < b"),
    (sp.Gt(a, b, evaluate=False), "a > b", "a > b"),
]  # fmt: skip


@pytest.mark.parametrize(("subject", "in_latex", "in_text"), RULES)
def test_rule(subject: sp.Basic, in_latex: str, in_text: str) -> None:
    assert latex(subject) == in_latex
    assert text(subject) == in_text


PRINT_ALL = """
from symbolic.catalogue import formula, formula_names
from symbolic.printing import latex, text
for name in formula_names():
    subject = formula(name)
    derivation = subject.derivation()
    relations = [subject.equation, *(p.relation for p in derivation.premises)]
    relations += [relation for s in derivation.steps for relation in (s.before, s.after)]
    for relation in relations:
        print(latex(relation), text(relation))
"""


def test_the_same_under_other_hash_seeds_and_ground_types() -> None:
    outputs = set()
    for seed, ground_types in (("0", "auto"), ("1", "auto"), ("2", "python"), ("3", "flint")):
        environment = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "SYMPY_GROUND_TYPES": ground_types,
            "PYTHONPATH": str(ROOT),
        }
        done = subprocess.run(
            [sys.executable, "-c", PRINT_ALL],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1
    assert outputs.pop().count("\n") > 100
