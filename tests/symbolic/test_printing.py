"""LaTeX and text of formulas: snapshots read by a person, rules, and determinism."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import sympy as sp
from latex2mathml.converter import convert
from sympy.parsing.sympy_parser import (
    convert_xor,
    implicit_multiplication,
    parse_expr,
    standard_transformations,
)

from symbolic.answer import Answer
from symbolic.catalogue import formula, formula_names
from symbolic.critical_spread import ScaledSpread
from symbolic.derivation import Checked, Derivation, Premise, Step
from symbolic.exit_overlap import ExitOverlap
from symbolic.implicit import ImplicitFunction
from symbolic.notation import H, alpha, beta, early_rate, gamma, h, lam, n, strengths
from symbolic.notation import cosine as c
from symbolic.passage import PassageTime
from symbolic.printing import latex, text, where_latex, where_text
from symbolic.rate_inflection import ScaledInflection
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
    "rate": (
        r"\phi(\lambda) = \frac{2\lambda}{e^{\beta\lambda}+n-1}",
        "phi(lam) = 2 lam/(e^(beta lam) + n - 1)",
    ),
    "rate-peak": (
        r"\lambda_{\mathrm{peak}}(n, \beta) = \frac{1+W_0\left(\frac{n-1}{e}\right)}{\beta}",
        "lambda_peak(n, beta) = (1 + W_0((n - 1)/e))/beta",
    ),
    "rate-inflection": (
        r"\lambda_c(n, \beta) = \frac{x_c(n)}{\beta}",
        "lambda_c(n, beta) = x_c(n)/beta",
    ),
    "foreign-strength": (
        r"\mu^{*}(n, H, \beta, \lambda) = \frac{W_0\left(\frac{\beta\lambda(n-1)}"
        r"{(H-1)\sqrt{e^{2\beta\lambda}+n-1}}\right)}{\beta}",
        "mu*(n, H, beta, lam) = W_0(beta lam (n - 1)/((H - 1) sqrt(e^(2 beta lam) + n - 1)))/beta",
    ),
    "early-rate": (
        r"r_{\mathrm{early}}(\lambda_1, \dots, \lambda_H, \beta, n) = "
        r"\sum_{h=1}^{H} \frac{2\lambda_h}{e^{\beta\lambda_h}+n-1}",
        "r_early(lam_1, ..., lam_H, beta, n) = sum(2 lam_h/(e^(beta lam_h) + n - 1), h=1..H)",
    ),
    "late-rate": (
        r"r_{\mathrm{late}}(\lambda_1, \dots, \lambda_H, \beta) = \sum_{h=1}^{H} 2\lambda_h",
        "r_late(lam_1, ..., lam_H, beta) = sum(2 lam_h, h=1..H)",
    ),
    "clustering-time": (
        r"T(\lambda_1, \dots, \lambda_H, \beta, n, \gamma_0, \gamma_1) = \int_{\gamma_0}^{"
        r"\gamma_1} \frac{1}{\sum_{h=1}^{H} \frac{2\lambda_h(1-\gamma)(1+(n-1)\gamma)}{e^{"
        r"\beta\lambda_h(1-\gamma)}+n-1}}\,d\gamma",
        "T(lam_1, ..., lam_H, beta, n, gamma_0, gamma_1) = integral(1/sum(2 lam_h (1 - ga"
        "mma) (1 + (n - 1) gamma)/(e^(beta lam_h (1 - gamma)) + n - 1), h=1..H), gamma=ga"
        "mma_0..gamma_1)",
    ),
    "late-constant": (
        r"C(\lambda_1, \dots, \lambda_H, \beta, n) = \exp\left(\int_{0}^{\infty} \left(\fr"
        r"ac{\sum_{h=1}^{H} 2\lambda_h}{\sum_{h=1}^{H} \frac{2(n-(n-1)e^{-r})\lambda_h}{n+"
        r"e^{\beta\lambda_he^{-r}}-1}}-1\right)\,dr\right)",
        "C(lam_1, ..., lam_H, beta, n) = exp(integral((sum(2 lam_h, h=1..H))/sum(2 (n - ("
        "n - 1) e^(-r)) lam_h/(n + e^(beta lam_h e^(-r)) - 1), h=1..H) - 1, r=0..inf))",
    ),
    "exit-time": (
        r"t_{\mathrm{exit}}(H, \lambda, \beta, n) = \int_{0}^{g(H, \beta\lambda, n)} \frac"
        r"{1}{\frac{2H\lambda(1-\gamma)(1+(n-1)\gamma)}{e^{\beta\lambda(1-\gamma)}+n-1}}\,"
        r"d\gamma",
        "t_exit(H, lam, beta, n) = integral(1/(2 H lam (1 - gamma) (1 + (n - 1) gamma)/(e"
        "^(beta lam (1 - gamma)) + n - 1)), gamma=0..g(H, beta lam, n))",
    ),
    "exit-overlap": (
        r"\gamma_{\mathrm{exit}}(H, \lambda, \beta, n) = g(H, \beta\lambda, n)",
        "gamma_exit(H, lam, beta, n) = g(H, beta lam, n)",
    ),
    "critical-spread": (
        r"\delta_c(\bar\lambda, \beta, n) = \frac{s_c\left(\beta\bar\lambda"
        r"\tanh\left(\frac{\beta\bar\lambda-\ln(n-1)}{2}\right)\right)}{\beta}",
        "delta_c(mean, beta, n) = s_c(beta mean tanh((beta mean - ln(n - 1))/2))/beta",
    ),
    "attention-entropy": (
        r"S(\lambda, \beta, n, \gamma) = \ln(1+(n-1)e^{-\beta\lambda(1-\gamma)})"
        r"+\frac{\beta\lambda(1-\gamma)(n-1)e^{-\beta\lambda(1-\gamma)}}"
        r"{1+(n-1)e^{-\beta\lambda(1-\gamma)}}",
        "S(lam, beta, n, gamma) = ln(1 + (n - 1) e^(-beta lam (1 - gamma))) "
        "+ beta lam (1 - gamma) (n - 1) e^(-beta lam (1 - gamma))"
        "/(1 + (n - 1) e^(-beta lam (1 - gamma)))",
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
    ("foreign-strength", "decaying"): (
        r"\frac{W_0\left(\frac{\beta\lambda(n-1)e^{-\beta\lambda}}"
        r"{(H-1)\sqrt{1+(n-1)e^{-2\beta\lambda}}}\right)}{\beta}",
        "W_0(beta lam (n - 1) e^(-beta lam)/((H - 1) sqrt(1 + (n - 1) e^(-2 beta lam))))/beta",
    ),
    ("attention-entropy", "shares"): (
        r"\frac{\operatorname{log1p}((n-1)e^{-\beta\lambda(1-\gamma)})}"
        r"{1+(n-1)e^{-\beta\lambda(1-\gamma)}}"
        r"+\frac{\ln(n-1)+\operatorname{log1p}\left(\frac{e^{\beta\lambda(1-\gamma)}}{n-1}\right)}"
        r"{1+\frac{e^{\beta\lambda(1-\gamma)}}{n-1}}",
        "log1p((n - 1) e^(-beta lam (1 - gamma)))/(1 + (n - 1) e^(-beta lam (1 - gamma))) "
        "+ (ln(n - 1) + log1p(e^(beta lam (1 - gamma))/(n - 1)))"
        "/(1 + e^(beta lam (1 - gamma))/(n - 1))",
    ),
}

VARIANTS = {
    ("late-rate", "softmax"): (r"\sum_{h=1}^{H} 2\lambda_h", "sum(2 lam_h, h=1..H)"),
    ("late-rate", "unnormalised"): (
        r"\sum_{h=1}^{H} 2\lambda_he^{\beta\lambda_h}",
        "sum(2 lam_h e^(beta lam_h), h=1..H)",
    ),
    ("late-rate", "relu"): (
        r"\sum_{h=1}^{H} 2\lambda_h\max(0, \lambda_h)",
        "sum(2 lam_h max(0, lam_h), h=1..H)",
    ),
    ("clustering-time", "softmax"): (
        r"\int_{\gamma_0}^{\gamma_1} \frac{1}{\sum_{h=1}^{H} \frac{2\lambda_h(1-\gamma)(1+"
        r"(n-1)\gamma)}{e^{\beta\lambda_h(1-\gamma)}+n-1}}\,d\gamma",
        "integral(1/sum(2 lam_h (1 - gamma) (1 + (n - 1) gamma)/(e^(beta lam_h (1 - gamma"
        ")) + n - 1), h=1..H), gamma=gamma_0..gamma_1)",
    ),
    ("clustering-time", "unnormalised"): (
        r"\int_{\gamma_0}^{\gamma_1} \frac{1}{\sum_{h=1}^{H} \frac{2\lambda_he^{\beta\lamb"
        r"da_h\gamma}(1-\gamma)(1+(n-1)\gamma)}{n}}\,d\gamma",
        "integral(1/sum(2 lam_h e^(beta lam_h gamma) (1 - gamma) (1 + (n - 1) gamma)/n, h"
        "=1..H), gamma=gamma_0..gamma_1)",
    ),
    ("clustering-time", "relu"): (
        r"\frac{n\gamma_0\ln\left(\frac{\gamma_1}{\gamma_0}\right)}{2\sum_{h=1}^{H} \lambd"
        r"a_h\max(0, \gamma_0\lambda_h)}+\frac{\gamma_0\ln\left(\frac{1-\gamma_0}{1-\gamma"
        r"_1}\right)}{2\sum_{h=1}^{H} \lambda_h\max(0, \gamma_0\lambda_h)}-\frac{(n-1)\gam"
        r"ma_0\ln\left(\frac{1+(n-1)\gamma_1}{1+(n-1)\gamma_0}\right)}{2\sum_{h=1}^{H} \la"
        r"mbda_h\max(0, \gamma_0\lambda_h)}",
        "n gamma_0 ln(gamma_1/gamma_0)/(2 sum(lam_h max(0, gamma_0 lam_h), h=1..H)) + gam"
        "ma_0 ln((1 - gamma_0)/(1 - gamma_1))/(2 sum(lam_h max(0, gamma_0 lam_h), h=1..H)"
        ") - (n - 1) gamma_0 ln((1 + (n - 1) gamma_1)/(1 + (n - 1) gamma_0))/(2 sum(lam_h"
        " max(0, gamma_0 lam_h), h=1..H))",
    ),
}
VARIANTS |= {
    ("exit-overlap", model): (
        r"g(H, \beta\lambda, n)",
        "g(H, beta lam, n)",
    )
    for model in ("softmax", "unnormalised")
}
VARIANTS["exit-time", "softmax"] = (
    r"\int_{0}^{g(H, \beta\lambda, n)} \frac{1}{\frac{2H\lambda(1-\gamma)(1+(n-1)\gamm"
    r"a)}{e^{\beta\lambda(1-\gamma)}+n-1}}\,d\gamma",
    "integral(1/(2 H lam (1 - gamma) (1 + (n - 1) gamma)/(e^(beta lam (1 - gamma)) + "
    "n - 1)), gamma=0..g(H, beta lam, n))",
)
VARIANTS["exit-time", "unnormalised"] = (
    r"\int_{0}^{g(H, \beta\lambda, n)} \frac{1}{\frac{2H\lambda(1-\gamma)(1+(n-1)\gamm"
    r"a)e^{\beta\lambda\gamma}}{n}}\,d\gamma",
    "integral(1/(2 H lam (1 - gamma) (1 + (n - 1) gamma) e^(beta lam gamma)/n), gamma"
    "=0..g(H, beta lam, n))",
)
VARIANTS["exit-time", "relu"] = (
    r"0",
    "0",
)
VARIANTS["exit-overlap", "relu"] = ("0", "0")

DEFINITIONS = {
    "rate-inflection": (
        r"x = x_c(n) > 2 \text{ solves } x-\ln(n-1)+\ln\left(\frac{x-2}{x+2}\right) = 0",
        "x = x_c(n) > 2 solves x - ln(n - 1) + ln((x - 2)/(x + 2)) = 0",
    ),
    "exit-time": (
        r"\gamma = g(H, \beta\lambda, n) > 0 \text{ solves } \sqrt{(1-\gamma)\left(\gamma+"
        r"\frac{1}{n-1}\right)}-\left(\gamma+\frac{e^{\beta\lambda(1-\gamma)}}{n-1}\right)"
        r"\sqrt{e^{2\operatorname{arsinh}((H-1)/2)}-1} = 0",
        "gamma = g(H, beta lam, n) > 0 solves sqrt((1 - gamma) (gamma + 1/(n - 1))) - (ga"
        "mma + e^(beta lam (1 - gamma))/(n - 1)) sqrt(e^(2 arsinh((H - 1)/2)) - 1) = 0",
    ),
    "exit-overlap": (
        r"\gamma = g(H, \beta\lambda, n) > 0 \text{ solves } "
        r"\sqrt{(1-\gamma)\left(\gamma+\frac{1}{n-1}\right)}"
        r"-\left(\gamma+\frac{e^{\beta\lambda(1-\gamma)}}{n-1}\right)"
        r"\sqrt{e^{2\operatorname{arsinh}((H-1)/2)}-1} = 0",
        "gamma = g(H, beta lam, n) > 0 solves sqrt((1 - gamma) (gamma + 1/(n - 1))) "
        "- (gamma + e^(beta lam (1 - gamma))/(n - 1)) sqrt(e^(2 arsinh((H - 1)/2)) - 1) = 0",
    ),
    "critical-spread": (
        r"s = s_c\left(\beta\bar\lambda\tanh\left(\frac{\beta\bar\lambda-\ln(n-1)}{2}"
        r"\right)\right) > 0 \text{ solves } \beta\bar\lambda\tanh\left(\frac{s}{2}\right)"
        r"\tanh\left(\frac{\beta\bar\lambda-\ln(n-1)}{2}\right)-s = 0",
        "s = s_c(beta mean tanh((beta mean - ln(n - 1))/2)) > 0 solves "
        "beta mean tanh(s/2) tanh((beta mean - ln(n - 1))/2) - s = 0",
    ),
}

# Relations of derivations, by formula and the beginning of the step's or premise's reason.
RELATIONS = {
    ("rate", "definition: the rate of <x_i, x_j>"): (
        r"\dot\gamma_{\mathrm{softmax}}(\lambda, \gamma) = \frac{d}{dt}\langle x_i, x_j\rangle",
        "gamma'_softmax(lam, gamma) = d<x_i, x_j>/dt",
    ),
    ("rate", "the aggregates of the heads are added"): (
        r"\dot\gamma_{\mathrm{softmax}}(\gamma) = \sum_{h=1}^{H} "
        r"\frac{2\lambda_h(1-\gamma)(1+(n-1)\gamma)}{e^{\beta\lambda_h(1-\gamma)}+n-1}",
        "gamma'_softmax(gamma) = sum(2 lam_h (1 - gamma) (1 + (n - 1) gamma)"
        "/(e^(beta lam_h (1 - gamma)) + n - 1), h=1..H)",
    ),
    ("rate-peak", "a name for the slope"): (
        r"\phi'(\lambda) = \frac{d\phi(\lambda)}{d\lambda}",
        "phi'(lam) = d/dlam phi(lam)",
    ),
    ("rate-peak", "clear the denominator"): (
        r"(x-1)e^{x-1} = \frac{n-1}{e}",
        "(x - 1) e^(x - 1) = (n - 1)/e",
    ),
    ("rate-peak", "lambda_peak beta for large n"): (
        r"x = L-\ln(L)+\frac{1+\ln(L)}{L}+O\left(\frac{(\ln(L))^2}{L^2}\right)",
        "x = L - ln(L) + (1 + ln(L))/L + O((ln(L))^2/L^2)",
    ),
    ("rate-inflection", "curvature of the rate function"): (
        r"\frac{d^2\phi(\lambda)}{d\lambda^2} = \frac{2\beta((\beta\lambda-2)e^{\beta\lambda}"
        r"-(n-1)(\beta\lambda+2))e^{\beta\lambda}}{(n+e^{\beta\lambda}-1)^3}",
        "d^2/dlam^2 phi(lam) = 2 beta ((beta lam - 2) e^(beta lam) - (n - 1) (beta lam + 2)) "
        "e^(beta lam)/(n + e^(beta lam) - 1)^3",
    ),
    ("rate-inflection", "concave before x_c"): (
        r"x_c(n)-\ln(n-1)+\ln\left(\frac{x_c(n)-2}{x_c(n)+2}\right) = 0",
        "x_c(n) - ln(n - 1) + ln((x_c(n) - 2)/(x_c(n) + 2)) = 0",
    ),
    ("rate-inflection", "the symmetric form for all n"): (
        r"x\tanh\left(\frac{x-\ln(n-1)}{2}\right) = 2",
        "x tanh((x - ln(n - 1))/2) = 2",
    ),
    ("rate-inflection", "two tokens"): (r"x\tanh\left(\frac{x}{2}\right) = 2", "x tanh(x/2) = 2"),
    ("rate-inflection", "for the form in the r-Lambert"): ("n-1 = re^2", "n - 1 = r e^2"),
    ("rate-inflection", "u = W_{-r}(4r)"): ("ue^u-ru = 4r", "u e^u - r u = 4 r"),
    ("rate-inflection", "lambda_c beta for large n"): (
        r"x = L+\frac{4}{L}-\frac{32}{3L^3}+O\left(\frac{1}{L^5}\right)",
        "x = L + 4/L - 32/(3 L^3) + O(1/L^5)",
    ),
    ("exit-overlap", "the hypothesis is beta < beta*"): (
        r"\frac{\ln\left(\frac{n-1}{H-1}\right)-\operatorname{arsinh}\left(\frac{H-1}{2}\right)}"
        r"{2\lambda} > \beta",
        "(ln((n - 1)/(H - 1)) - arsinh((H - 1)/2))/(2 lam) > beta",
    ),
    ("exit-overlap", "the squared cosine is above the overlap"): (
        r"(\cos\angle(f_i^h, x_i; \lambda, \beta, n, \gamma))^2 > \gamma",
        "(cos(f_i^h, x_i; lam, beta, n, gamma))^2 > gamma",
    ),
    ("critical-spread", "the question: when do the strengths"): (
        r"\phi(d+\bar\lambda)+\phi(\bar\lambda-d) > 2\phi(\bar\lambda)",
        "phi(d + mean) + phi(mean - d) > 2 phi(mean)",
    ),
    ("critical-spread", "slope of the residual"): (
        r"\frac{\partial r(K, s)}{\partial s} = "
        r"\frac{K\left(1-\left(\tanh\left(\frac{s}{2}\right)\right)^2\right)}{2}-1",
        "d/ds r(K, s) = K (1 - (tanh(s/2))^2)/2 - 1",
    ),
    ("critical-spread", "for 0 < K <= 2 the residual falls"): ("r'(K, s) < 0", "r'(K, s) < 0"),
    ("attention-entropy", "a name for the slope"): (
        r"S'(\gamma) = \frac{\partial S(\lambda, \beta, n, \gamma)}{\partial\gamma}",
        "S'(gamma) = d/dgamma S(lam, beta, n, gamma)",
    ),
    ("attention-entropy", "softmax weight of the token itself"): (
        r"p_{\mathrm{self}} = \frac{e^{\beta\lambda}}{Z}",
        "p_self = e^(beta lam)/Z",
    ),
}


def test_every_formula_has_a_snapshot() -> None:
    assert set(FORMULAS) == set(formula_names())
    forms = {(name, form.name) for name in formula_names() for form in formula(name).forms}
    assert set(FORMS) == forms
    variants = {(name, str(m)) for name in formula_names() for m in formula(name).variants}
    assert set(VARIANTS) == variants
    assert set(DEFINITIONS) == {name for name in formula_names() if formula(name).implicit}


@pytest.mark.parametrize("name", FORMULAS)
def test_formula(name: str) -> None:
    equality = formula(name).equation
    assert (latex(equality), text(equality)) == FORMULAS[name]


@pytest.mark.parametrize(("name", "form"), FORMS)
def test_form(name: str, form: str) -> None:
    expression = next(f.expression for f in formula(name).forms if f.name == form)
    assert (latex(expression), text(expression)) == FORMS[name, form]


@pytest.mark.parametrize(("name", "model"), VARIANTS)
def test_variant(name: str, model: str) -> None:
    expression = formula(name).variants[model]
    assert (latex(expression), text(expression)) == VARIANTS[name, model]


@pytest.mark.parametrize("name", formula_names())
def test_definition(name: str) -> None:
    expression = formula(name).expression
    assert (where_latex(expression), where_text(expression)) == DEFINITIONS.get(name, (None, None))


@pytest.mark.parametrize(("name", "reason"), RELATIONS)
def test_relation_of_a_derivation(name: str, reason: str) -> None:
    derivation = formula(name).derivation()
    known = [(step.reason, step.after) for step in derivation.steps]
    known += [(premise.source, premise.relation) for premise in derivation.premises]
    (relation,) = (found for why, found in known if why.startswith(reason))
    assert (latex(relation), text(relation)) == RELATIONS[name, reason]


def read_back(line: str, symbols: set[sp.Symbol]) -> sp.Expr:
    """Read text with SymPy's own parser, which knows nothing of ours."""
    names = {symbol.name: symbol for symbol in symbols}
    names |= {"ln": sp.log, "arsinh": sp.asinh, "e": sp.E, "W_0": sp.LambertW, "max": sp.Max}
    names |= {"g": ExitOverlap, "s_c": ScaledSpread}
    names |= {"log1p": lambda argument: sp.log(1 + argument), "x_c": ScaledInflection}
    rules = (*standard_transformations, convert_xor, implicit_multiplication)
    return parse_expr(line, local_dict=names, transformations=rules)


def of_one_head(expression: sp.Expr, line: str) -> tuple[sp.Expr, str]:
    """Return the term of one head if it is a sum over heads, with a symbol for its strength."""
    if not isinstance(expression, sp.Sum):
        return expression, line
    assert (line[:4], line[-9:]) == ("sum(", ", h=1..H)")
    return expression.function.xreplace({strengths[h]: sp.Symbol("lam_h", real=True)}), line[4:-9]


@pytest.mark.parametrize("name", formula_names())
def test_text_means_the_formula(name: str) -> None:
    subject = formula(name)
    expressions = [subject.expression, subject.evaluation, *subject.variants.values()]
    expressions += [form.expression for form in subject.forms]
    # SymPy's parser knows no sums over heads inside others, and no integrals.
    readable = [
        x
        for x in expressions
        if isinstance(x, sp.Sum) or not x.has(sp.Sum, sp.Integral, PassageTime)
    ]
    for whole in readable:
        expression, line = of_one_head(whole, text(whole))
        symbols = expression.free_symbols
        parsed = read_back(line, symbols)
        point = {s: sp.Rational(7 + 2 * i, 3) for i, s in enumerate(sorted(symbols, key=str))}
        if expression.has(ImplicitFunction):
            assert parsed == expression.doit()
        else:
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
    (a + 2, "a+2", "a + 2"),
    (a + 1, "1+a", "1 + a"),
    (2 - a, "2-a", "2 - a"),
    (2 + a - b, "a-b+2", "a - b + 2"),
    (sp.exp(2) * a, "ae^2", "a e^2"),
    # numbers that SymPy multiplied into a sum
    ((a + b) / 2, r"\frac{a+b}{2}", "(a + b)/2"),
    (a * ((b - 1) / 2), r"\frac{a(b-1)}{2}", "a (b - 1)/2"),
    (2 * (a + 1) / (b + 1), r"\frac{2(1+a)}{1+b}", "2 (1 + a)/(1 + b)"),
    (1 / (2 * a + 2), r"\frac{1}{2(1+a)}", "1/(2 (1 + a))"),
    (1 / (a / 2 + b / 2), r"\frac{2}{a+b}", "2/(a + b)"),
    (sp.exp(2 * a - 2), "e^{2(a-1)}", "e^(2 (a - 1))"),
    (2 * a + b, "b+2a", "b + 2 a"),
    (-a / 2 - b / 2, r"\frac{-a-b}{2}", "(-a - b)/2"),
    (sp.Add(b, 2 * a + 2, evaluate=False), "b+2(1+a)", "b + 2 (1 + a)"),
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
    (sp.exp(1, evaluate=False), "e", "e"),
    (a / sp.exp(1, evaluate=False), r"\frac{a}{e}", "a/e"),
    (a * sp.exp(-2), r"\frac{a}{e^2}", "a/e^2"),
    (sp.exp(-1), r"\frac{1}{e}", "1/e"),
    (b - a * sp.exp(-1), r"b-\frac{a}{e}", "b - a/e"),
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
    (sp.Symbol("p_other"), r"p_{\mathrm{other}}", "p_other"),
    (sp.Symbol("lam_1"), r"\lambda_1", "lam_1"),
    (strengths[h] ** 2, r"\lambda_h^2", "lam_h^2"),
    (beta * strengths[h], r"\beta\lambda_h", "beta lam_h"),
    (strengths, r"\lambda_1, \dots, \lambda_H", "lam_1, ..., lam_H"),
    (early_rate(beta, n), r"r_{\mathrm{early}}(\lambda_1, \dots, \lambda_H, \beta, n)",
     "r_early(lam_1, ..., lam_H, beta, n)"),
    (ScaledInflection(n) ** 2, "x_c(n)^2", "x_c(n)^2"),
    (sp.Symbol("rate"), r"\mathrm{rate}", "rate"),
    # functions
    (sp.Derivative(sp.Function("g")(a), a), r"\frac{dg(a)}{da}", "d/da g(a)"),
    (sp.Derivative(sp.Function("g")(a, b), (a, 3)), r"\frac{\partial^3g(a, b)}{\partial a^3}",
     "d^3/da^3 g(a, b)"),
    (sp.Function("O")(1 / a), r"O\left(\frac{1}{a}\right)", "O(1/a)"),
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
    (sp.Ei(-a), r"\operatorname{Ei}(-a)", "Ei(-a)"),
    (sp.Integral(1 / a, (a, b, sp.oo)), r"\int_{b}^{\infty} \frac{1}{a}\,da",
     "integral(1/a, a=b..inf)"),
    (sp.Integral(1 + a, (a, 0, b)), r"\int_{0}^{b} (1+a)\,da", "integral(1 + a, a=0..b)"),
    (sp.exp(sp.Integral(a, (a, 0, b))), r"\exp\left(\int_{0}^{b} a\,da\right)",
     "exp(integral(a, a=0..b))"),
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


def test_a_derivation_in_a_notebook() -> None:
    known, result = equation(a, b), equation(a, c)
    steps = (
        Step("scale", known, result, "why", lambda: Checked(Answer.YES, "how")),
        Step("rewrite", known, result, "why", lambda: Checked(Answer.UNDECIDED, "how")),
    )
    shown = Derivation("a", "any", (Premise(known, "definition"),), steps)._repr_latex_()
    assert shown == (
        r"$\begin{array}{rll} \text{} & \displaystyle a = b & \text{given} \\[6pt] "
        r"\text{1.} & \displaystyle a = c & \text{scale} \\[6pt] "
        r"\text{2.} & \displaystyle a = c & \text{rewrite, not closed} \end{array}$"
    )


@pytest.mark.parametrize("name", formula_names())
def test_derivations_convert_to_mathml(name: str) -> None:
    shown = formula(name).derivation()._repr_latex_()
    assert convert(shown.strip("$")).count("<mtr>") >= len(formula(name).derivation().steps)
    assert "not closed" not in shown


PRINT_ALL = """
from symbolic.catalogue import formula, formula_names
from symbolic.printing import latex, text, where_text
for name in formula_names():
    subject = formula(name)
    derivation = subject.derivation()
    print(where_text(subject.expression))
    relations = [subject.equation, *(p.relation for p in derivation.premises)]
    relations += subject.variants.values()
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
