"""Findings on times: when equiangular tokens cluster, how late they are, when dominance ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from typing import Any

import sympy as sp
from flint import arb

from numeric.balls import ball_value, exact_ball
from numeric.multiprecision import mpmath_value
from proofs.cases import ScalarCase, random_cases
from proofs.checks import Point, derivation_evidence, pointwise_evidence, settled_agreement
from proofs.claim import Checker, Claim, Settings
from proofs.evidence import Evidence
from proofs.simulated import Comparison, simulated, simulated_evidence
from symbolic import clustering_time, exit_overlap, exit_time, late_constant
from symbolic.clustering_time import EQUAL_HEADS, INTEGRALS, SYMBOLS, TIMES
from symbolic.exit_overlap import ExitOverlap
from symbolic.flow import Model
from symbolic.notation import H, alpha, beta, lam, n, start, stop, strengths
from symbolic.numbers import exact_text
from symbolic.rules import equation

# Digits of integrals by mpmath: simulated tokens have 30.
_INTEGRAL_DIGITS = 25

Times = Mapping[Model, sp.Expr]

# -- clustering-time ------------------------------------------------------------------------------


def check_times(times: Times, _settings: Settings) -> Evidence:
    """Derive the times of all models, with their closed forms, exactly."""
    return derivation_evidence(
        [clustering_time.model_derivation(model, time) for model, time in times.items()],
        [equation(SYMBOLS[model], time) for model, time in times.items()],
        established="the time from one overlap to another is the stated integral; it is elementary "
        "under relu and by the exponential integral under equal heads of the other models, whose "
        "flow never slows down in the logit of the overlap, so that its direction at the start "
        "decides whether it arrives",
        domain="scalar heads of any real strengths, n >= 2, beta >= 0, -1/(n-1) < gamma < 1",
        does_not_show="anything for tokens that are not equiangular",
        cited="separation of variables for a scalar autonomous equation",
    )


def check_closed_forms(closed: Times, settings: Settings) -> Evidence:
    """Compare the closed forms, by Arb's Ei, with the certified quadrature over the gap."""
    points = (
        _closed_point(model, form, case, settings.digits)
        for model, form in closed.items()
        for case in random_cases(model.value, settings.seed, positive=True)
    )
    return pointwise_evidence(
        points,
        established="the certified quadrature over the gap and the closed form of equal heads "
        "agree at every point tried",
        domain="n = 2 to 6, one to three equal strengths to 3, beta to 3, gamma up to 1 - 1e-12",
        does_not_show="unequal strengths; the simulated tokens have them",
        measures={"digits": str(settings.digits), "seed": str(settings.seed)},
    )


def _closed_point(model: Model, form: sp.Expr, case: ScalarCase, digits: int) -> Point:
    heads = (case.heads[0],) * len(case.heads)
    ends = {start: case.overlap, stop: 1 - Fraction(1, 10**12) * (1 - case.overlap)}
    bindings = {n: Fraction(case.tokens), beta: case.temperature, **ends}

    def compute() -> tuple[arb, arb]:
        quadrature = TIMES[model](1 - start, 1 - stop, n, beta)
        return (
            ball_value(quadrature, {**bindings, strengths: heads}),
            ball_value(form, {**bindings, alpha: heads[0], H: Fraction(len(heads))}),
        )

    holds, value = settled_agreement(compute, digits)
    return Point(case.named, holds, "the time by quadrature and in closed form", value)


def check_times_simulated(times: Times, settings: Settings) -> Evidence:
    """Follow tokens for the stated time, and compare their overlap with the one they go for."""
    return simulated_evidence(
        (
            run
            for model, time in times.items()
            for case in islice(random_cases(model.value, settings.seed, positive=True), 3)
            for run in _arrivals(time, case)
        ),
        established="simulated tokens have the overlap gamma_1 at the stated time",
        domain="n = 2 to 4, one to three positive strengths to 3, beta to 3, half way to gamma = 1",
        does_not_show="more than the runs made, whose stated times mpmath integrates",
        seed=settings.seed,
    )


def _arrivals(time: sp.Expr, case: ScalarCase) -> Iterator[Comparison]:
    if case.model == Model.RELU.value and case.overlap <= 0:
        case = replace(case, overlap=Fraction(1, 10) - case.overlap / 2)
    last = (1 + case.overlap) / 2
    arrival = _stated(time, {**_numbers(case), start: case.overlap, stop: last})
    (tokens,) = simulated(case, [arrival])
    yield Comparison(
        {**case.named, "stop": exact_text(last), "t": f"{float(arrival):.12g}"},
        "gamma(t)",
        exact_ball(last),
        tokens.overlap,
        arb(10) ** -18,
        exact_ball(last - case.overlap),
    )


def _numbers(case: ScalarCase) -> dict[sp.Basic, Any]:
    return {n: Fraction(case.tokens), beta: case.temperature, strengths: case.heads}


def _stated(expression: sp.Expr, bindings: Mapping[sp.Basic, Any]) -> Fraction:
    """Return the value of an expression as written, by mpmath, as an exact number near it."""
    value = mpmath_value(expression, bindings, _INTEGRAL_DIGITS + 5)
    return Fraction(value.context.nstr(value, _INTEGRAL_DIGITS))


# -- late-constant --------------------------------------------------------------------------------


def check_constant(candidate: sp.Expr, _settings: Settings) -> Evidence:
    """Derive the constant of the late gap exactly."""
    return derivation_evidence(
        [late_constant.derivation(candidate)],
        [equation(late_constant.SYMBOL, candidate)],
        established="(1 - gamma) e^(2 Lambda t) tends to the stated constant C, from gamma = 0",
        domain="positive strengths, n >= 2, beta >= 0, softmax",
        does_not_show="the constant from other starts, or for strengths of mixed sign",
        cited="separation of variables for a scalar autonomous equation",
    )


def check_constant_simulated(candidate: sp.Expr, settings: Settings) -> Evidence:
    """Compare ``(1 - gamma) e^(2 Lambda t)`` late in simulated runs with the constant."""
    cases = islice(random_cases("softmax", settings.seed, positive=True, orthonormal=True), 3)
    return simulated_evidence(
        (run for case in cases for run in _late_runs(candidate, case)),
        established="(1 - gamma) e^(2 Lambda t) of simulated tokens is the stated constant once "
        "the gap is small",
        domain="orthonormal tokens, n = 2 to 4, one to three strengths to 3, beta to 3",
        does_not_show="more than the runs made",
        seed=settings.seed,
    )


def _late_runs(candidate: sp.Expr, case: ScalarCase) -> Iterator[Comparison]:
    # Late enough: from here on the gap falls by e^-2 in every 1/Lambda.
    total = sum(case.heads)
    late = Fraction(round(1000 * (12 + case.tokens) / total), 1000)
    (tokens,) = simulated(case, [late])
    stated = exact_ball(_stated(candidate, _numbers(case)))
    yield Comparison(
        {**case.named, "t": exact_text(late)},
        "ln((1 - gamma) e^(2 Lambda t))",
        stated.log(),
        (tokens.gap * (2 * exact_ball(total * late)).exp()).log(),
        1000 * tokens.gap.upper(),
        arb(1),
    )


# -- exit-time ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Exit:
    """The parts of the claim: the overlap and the time at which Condition 8 is lost."""

    overlap: sp.Expr
    time: sp.Expr


def check_exit(statement: Exit, _settings: Settings) -> Evidence:
    """Derive the overlap and the time of the exit, and that there is one exit, exactly."""
    return derivation_evidence(
        [exit_overlap.derivation(statement.overlap), exit_time.derivation(statement.time)],
        [
            equation(exit_overlap.SYMBOL, statement.overlap),
            equation(exit_time.FORMULA.symbol, statement.time),
        ],
        established="for beta < beta* Condition 8 holds from orthonormal tokens up to one overlap "
        "and never again, for every n and H >= 2: it is lost at the stated time",
        domain="equal positive scalar heads, equiangular tokens, H >= 2, n >= 2, softmax and "
        "unnormalised",
        does_not_show="that energies fall after the exit: under positive scalar heads they rise "
        "for ever; nor anything for orthogonal heads",
        cited="separation of variables for a scalar autonomous equation",
    )


def check_exit_simulated(statement: Exit, settings: Settings) -> Evidence:
    """Find the sign of the margin of Condition 8 of simulated tokens on both sides of the exit."""
    return simulated_evidence(
        (run for tokens, heads in ((4, 2), (5, 2)) for run in _exits(statement, tokens, heads)),
        established="simulated tokens lose Condition 8 at the stated time, to a relative 1e-6",
        domain="two equal heads of strength 1 under softmax, n = 4 and 5, beta = 1/10",
        does_not_show="more than the runs made",
        seed=settings.seed,
    )


def _exits(statement: Exit, tokens: int, heads: int) -> Iterator[Comparison]:
    strength, temperature = Fraction(1), Fraction(1, 10)
    bindings = {
        n: Fraction(tokens),
        H: Fraction(heads),
        lam: strength,
        beta: temperature,
    }
    time = _stated(statement.time, bindings)
    overlap = _stated(statement.overlap, bindings)
    near = Fraction(1, 10**6)
    case = ScalarCase("softmax", tokens, (strength,) * heads, temperature)
    times = [time * (1 - near), time, time * (1 + near)]
    before, at, after = simulated(case, times)
    yield Comparison(
        case.named, "gamma at the exit", exact_ball(overlap), at.overlap, arb(10) ** -15, arb(1)
    )
    for side, each in ((1, before), (-1, after)):
        margin = each.flow.condition_8_margin(0, 0)
        yield Comparison(
            {**case.named, "side": str(side)},
            "sign of the margin of Condition 8",
            arb(side),
            (margin / abs(margin)).mid(),
            arb(10) ** -20 / abs(margin),
            arb(1),
        )


# -- the claims -----------------------------------------------------------------------------------


def _wrong_times(model: Model, time: sp.Expr) -> Times:
    return {**INTEGRALS, model: time}


_WRONG_TIMES = (
    ("softmax twice as long", _wrong_times(Model.SOFTMAX, 2 * INTEGRALS[Model.SOFTMAX])),
    (
        "softmax with n + 1 tokens",
        _wrong_times(Model.SOFTMAX, INTEGRALS[Model.SOFTMAX].subs(n, n + 1)),
    ),
    (
        "unnormalised without 1/n",
        _wrong_times(Model.UNNORMALISED, INTEGRALS[Model.UNNORMALISED] / n),
    ),
    ("relu with the softmax time", _wrong_times(Model.RELU, INTEGRALS[Model.SOFTMAX])),
)
_WRONG_CLOSED_FORMS = tuple(
    (f"{model}, {what}", {**EQUAL_HEADS, model: wrong})
    for model, form in EQUAL_HEADS.items()
    for what, wrong in (
        ("H for 2 H", 2 * form),
        ("n + 1 tokens", form.subs(n, n + 1)),
        ("0.1 per cent too long", form * sp.Rational(1001, 1000)),
    )
)
_CONSTANT = late_constant.EXPRESSION
_WRONG_CONSTANT = (
    ("its square", _CONSTANT**2),
    ("one: no constant", sp.S.One),
    ("with n + 1 tokens", _CONSTANT.subs(n, n + 1)),
)
_EXIT = Exit(exit_overlap.EXPRESSION, exit_time.EXPRESSION)
_WRONG_EXIT = (
    (
        "one head more in the overlap",
        replace(_EXIT, overlap=ExitOverlap(H + 1, beta * lam, n)),
    ),
    ("the squared critical cosine", replace(_EXIT, overlap=exit_overlap.DEFINITION.start)),
    ("twice the time", replace(_EXIT, time=2 * exit_time.EXPRESSION)),
    ("the unnormalised time", replace(_EXIT, time=exit_time.VARIANTS["unnormalised"])),
)

CLAIMS = (
    Claim(
        id="clustering-time",
        source="finding (setting of Thms 22 and 25)",
        statement=r"equiangular tokens under scalar heads move from $\gamma_0$ to $\gamma_1$ in "
        r"the time $\int_{\gamma_0}^{\gamma_1} d\gamma/\dot\gamma$ if they start that way, and "
        r"else never",
        reading="the integrals with the reduced rates; the direction at the start decides",
        model="softmax, unnormalised and relu, spherical",
        hypotheses=("scalar heads", "equiangular tokens", "n >= 2"),
        formulas=("clustering-time",),
        uses=("equiangular-reduction",),
        checkers=(
            Checker("derivations", check_times, INTEGRALS, _WRONG_TIMES),
            Checker("closed forms in balls", check_closed_forms, EQUAL_HEADS, _WRONG_CLOSED_FORMS),
            Checker("simulated tokens", check_times_simulated, INTEGRALS, _WRONG_TIMES),
        ),
    ),
    Claim(
        id="late-constant",
        source="finding (the constant of Thm 22's late rate)",
        statement=r"$1-\gamma \sim C e^{-2\Lambda t}$ from $\gamma = 0$ with $\ln C = "
        r"\int_0^\infty (2\Lambda/G(e^{-s}) - 1)\,ds$, $\dot\varepsilon = -\varepsilon "
        r"G(\varepsilon)$",
        reading="softmax, positive scalar heads, equiangular tokens",
        model="softmax, spherical",
        hypotheses=("positive strengths", "orthonormal tokens at the start", "n >= 2"),
        formulas=("late-constant",),
        uses=("equiangular-reduction", "late-rate"),
        checkers=(
            Checker("derivation", check_constant, _CONSTANT, _WRONG_CONSTANT),
            Checker("simulated tokens", check_constant_simulated, _CONSTANT, _WRONG_CONSTANT),
        ),
    ),
    Claim(
        id="exit-time",
        source="finding (Thm 19 along the equiangular flow)",
        statement=r"for $\beta < \beta^*$ equal heads that start at orthonormal tokens lose "
        r"Condition 8 at one overlap and time, and for good",
        reading="equal positive scalar heads, H >= 2; the stated root and integral",
        model="softmax and unnormalised, spherical",
        hypotheses=("equal positive scalar heads", "orthonormal tokens at the start", "H >= 2"),
        formulas=("exit-overlap", "exit-time"),
        uses=("equiangular-reduction", "critical-cosine", "critical-beta"),
        repairs="trajectory-invariance",
        checkers=(
            Checker("derivations", check_exit, _EXIT, _WRONG_EXIT),
            Checker("simulated tokens", check_exit_simulated, _EXIT, _WRONG_EXIT),
        ),
    ),
)
