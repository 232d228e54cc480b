"""Theorem 19: the critical cosine c*(H) and the critical inverse temperature beta*."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import asinh, log

import sympy as sp
from flint import arb

from numeric.balls import ball_value, exact_ball
from numeric.definitions import (
    Flow,
    equiangular_tokens,
    rational_unit_vector,
    scalar_flow,
)
from numeric.evaluate import evaluate
from numeric.multiprecision import mpmath_value
from proofs.checks import Point, derivation_evidence, pointwise_evidence, settled_signs
from proofs.claim import Checker, Claim, Settings
from proofs.evidence import Counterexample, Evidence, Level, Outcome
from symbolic import critical_beta, critical_cosine, energy_rate, radial_cosine
from symbolic.answer import Answer
from symbolic.decide import is_zero
from symbolic.flow import Model, equiangular_flow
from symbolic.notation import H, alpha, beta, gamma, n
from symbolic.numbers import exact_text, read_number
from symbolic.rules import equation

# -- critical-cosine ----------------------------------------------------------------------------


def check_cosine_derivation(candidate: sp.Expr, _settings: Settings) -> Evidence:
    """Derive ``Condition 8 iff cosine <= candidate`` exactly."""
    return derivation_evidence(
        [critical_cosine.derivation(candidate)],
        [equation(critical_cosine.SYMBOL, candidate)],
        established="Condition 8 of a head holds at token i if and only if cos(f_i, x_i) <= c*(H)",
        domain="every H >= 1, every aggregate f_i != 0 with <f_i, x_i> >= 0, any d",
        does_not_show="anything about dE_h/dt: Condition 8 is sufficient for it, not necessary; "
        "nor about cosines below 0, where |cos| must be read",
    )


def check_cosine_points(candidate: sp.Expr, settings: Settings) -> Evidence:
    """Compare Condition 8, from its definition in coordinates, with ``cosine <= candidate``."""
    source = random.Random(settings.seed)
    return pointwise_evidence(
        _cosine_points(candidate, source, settings.digits),
        established="Condition 8 and cos(f_i, x_i) <= c*(H) agree at every point tried",
        domain="equal scalar heads, H = 1 to 5: orthonormal tokens with beta within 1e-9 of the "
        "threshold (relative), and random rational unit tokens, n and d from 2 to 4, cosine >= 0",
        does_not_show="anything between the points; the exact evidence covers that",
        measures={"digits": str(settings.digits), "seed": str(settings.seed)},
    )


def _cosine_points(candidate: sp.Expr, source: random.Random, digits: int) -> Iterator[Point]:
    for heads in range(1, 6):
        for side in (-1, 1):
            tokens = (heads - 1) ** 2 + 2 + source.randint(1, 3)
            strength = Fraction(source.randint(1, 30), 10)
            near = Fraction(source.randint(1, 50), 10)
            if heads > 1:
                near = _near(_threshold(tokens, heads, float(strength)), side)
            case = EqualHeads(heads, strength, near, _orthonormal(tokens))
            yield from _cosine_point(candidate, case, {"tokens": f"{tokens} orthonormal"}, digits)
    for _ in range(40):
        count, dimension = source.randint(2, 4), source.randint(2, 4)
        heads, strength = source.randint(1, 5), Fraction(source.randint(1, 30), 10)
        temperature = Fraction(source.randint(1, 20), 10)
        vectors = tuple(_random_unit_vector(dimension, source) for _ in range(count))
        named: dict[str, str | list[str]] = {
            f"x_{i + 1}": [exact_text(c) for c in vector] for i, vector in enumerate(vectors)
        }
        case = EqualHeads(heads, strength, temperature, vectors)
        yield from _cosine_point(candidate, case, named, digits)


@dataclass(frozen=True)
class EqualHeads:
    """H equal scalar heads on tokens with rational coordinates."""

    heads: int
    strength: Fraction
    temperature: Fraction
    tokens: tuple[tuple[Fraction, ...], ...]

    def flow(self) -> Flow:
        """Return the unnormalised flow in balls at the precision in force."""
        tokens = [[exact_ball(c) for c in token] for token in self.tokens]
        strengths = [exact_ball(self.strength)] * self.heads
        return scalar_flow("unnormalised", tokens, strengths, exact_ball(self.temperature))

    def named(self) -> dict[str, str | list[str]]:
        """Return the parameters as exact texts."""
        return {
            "H": str(self.heads),
            "alpha": exact_text(self.strength),
            "beta": exact_text(self.temperature),
        }


# What does not depend on a candidate is computed once for all candidates.
@lru_cache(maxsize=1000)
def _cosine_and_margin(case: EqualHeads, digits: int) -> tuple[int | None, ...]:
    """Return the signs of the cosine and of the margin of Condition 8 at token 1."""

    def compute() -> tuple[arb, ...]:
        flow = case.flow()
        return flow.cosine(0, 0), flow.condition_8_margin(0, 0)

    return settled_signs(compute, digits)


@lru_cache(maxsize=1000)
def _margin_and_rate(case: EqualHeads, digits: int, sharp: bool) -> tuple[int | None, ...]:
    """Return the signs of the margin of Condition 8 at token 1 and of the head's energy rate."""

    def compute() -> tuple[arb, ...]:
        flow = case.flow()
        return flow.condition_8_margin(0, 0, sharp=sharp), flow.energy_rate(0)

    return settled_signs(compute, digits)


def _random_unit_vector(dimension: int, source: random.Random) -> tuple[Fraction, ...]:
    parameters = [(source.randint(-9, 9), source.randint(1, 9)) for _ in range(dimension - 1)]
    return tuple(rational_unit_vector([Fraction(p, q) for p, q in parameters]))


def _orthonormal(tokens: int) -> tuple[tuple[Fraction, ...], ...]:
    return tuple(tuple(Fraction(int(i == k)) for k in range(tokens)) for i in range(tokens))


def _threshold(tokens: int, heads: int, strength: float) -> float:
    return (log((tokens - 1) / (heads - 1)) - asinh((heads - 1) / 2)) / (2 * strength)


def _sharp_threshold(tokens: int, heads: int, strength: float) -> float:
    return log((tokens - 1) / (heads - 1)) / (2 * strength)


def _near(threshold: float, side: int) -> Fraction:
    """Return an exact number close to a threshold, ``side`` billionths above it.

    Only where to look comes from floats; what is found there does not.
    """
    return Fraction(threshold) * (1 + side * Fraction(1, 10**9))


def _cosine_point(
    candidate: sp.Expr, case: EqualHeads, named: dict[str, str | list[str]], digits: int
) -> Iterator[Point]:
    """Yield the comparison at a case, or nothing where the cosine is negative."""
    cosine, margin = _cosine_and_margin(case, digits)

    def compute() -> tuple[arb, ...]:
        return (ball_value(candidate, {H: Fraction(case.heads)}) - case.flow().cosine(0, 0),)

    (below,) = settled_signs(compute, digits)
    if cosine == -1:
        return
    decided = None not in (cosine, below, margin)
    yield Point(
        {**case.named(), **named},
        (below != -1) == (margin != -1) if decided else None,
        "sign of c*(H) - cos(f_1, x_1) and of the margin of Condition 8",
        f"{below}, {margin}",
    )


# -- critical-beta --------------------------------------------------------------------------------


def check_beta_derivation(candidate: sp.Expr, _settings: Settings) -> Evidence:
    """Derive ``Condition 8 iff beta <= candidate`` exactly, and ``dE_h/dt > 0`` beside it."""
    return derivation_evidence(
        [
            radial_cosine.derivation(),
            critical_beta.derivation(candidate),
            energy_rate.derivation(),
        ],
        [
            equation(critical_beta.SYMBOL, candidate),
            equation(critical_beta.SYMBOL, critical_beta.AS_STATED),
            sp.Gt(energy_rate.SYMBOL, 0, evaluate=False),
        ],
        established="Condition 8 holds for all heads if and only if beta <= beta*; dE_h/dt >= 0 "
        "then (and, see critical-beta-necessity, also beyond)",
        domain="orthonormal tokens, n >= 2, H >= 2 equal positive scalar heads, beta > 0",
        does_not_show="that monotonicity ends at beta*; anything off orthonormal tokens or for "
        "heads of unequal strengths; H = 1, where Condition 8 always holds, is trivial",
    )


def check_sharp_derivation(statement: tuple[sp.Expr, sp.Expr], _settings: Settings) -> Evidence:
    """Derive the sharp bounds of the cosine and of the inverse temperature exactly."""
    cosine, threshold = statement
    return derivation_evidence(
        [critical_cosine.sharp_derivation(cosine), critical_beta.sharp_derivation(threshold)],
        [
            equation(critical_cosine.SHARP_SYMBOL, cosine),
            equation(critical_beta.SHARP_SYMBOL, threshold),
        ],
        established="sharp Condition 8 holds if and only if cos(f_i, x_i) <= 1/sqrt(H); at "
        "orthonormal tokens, if and only if beta <= ln((n-1)/(H-1))/(2 alpha)",
        domain="cosine: every H >= 1, f_i != 0, <f_i, x_i> >= 0; threshold: orthonormal tokens, "
        "n >= 2, H >= 2, beta > 0",
        does_not_show="that the sharp condition is necessary for monotone energies: it is not",
    )


def check_sharp_points(candidate: sp.Expr, settings: Settings) -> Evidence:
    """Compare sharp Condition 8, in coordinates, with ``beta <= candidate``."""
    return pointwise_evidence(
        _beta_points(
            candidate, random.Random(settings.seed), settings.digits, _sharp_threshold, sharp=True
        ),
        established="sharp Condition 8 and beta <= beta_sharp agree at every point tried",
        domain="orthonormal tokens, H = 2 to 5, n to 24, alpha = 1/10 to 3, beta within 1e-9 of "
        "beta_sharp (relative) on both sides, and 10 and 100 per cent above it",
        does_not_show="anything between the points; the exact evidence covers that",
        measures={"digits": str(settings.digits), "seed": str(settings.seed)},
    )


def check_beta_points(candidate: sp.Expr, settings: Settings) -> Evidence:
    """Compare Condition 8, from its definition in coordinates, with ``beta <= candidate``."""
    return pointwise_evidence(
        _beta_points(candidate, random.Random(settings.seed), settings.digits),
        established="Condition 8 and beta <= beta* agree, and every dE_h/dt is positive, at every "
        "point tried",
        domain="orthonormal tokens, H = 2 to 5, n to 24, alpha = 1/10 to 3, beta within 1e-9 of "
        "beta* (relative) on both sides, and 10 and 100 per cent above it",
        does_not_show="anything between the points; the exact evidence covers that",
        measures={"digits": str(settings.digits), "seed": str(settings.seed)},
    )


def _beta_points(
    candidate: sp.Expr,
    source: random.Random,
    digits: int,
    threshold: Callable[[int, int, float], float] = _threshold,
    *,
    sharp: bool = False,
) -> Iterator[Point]:
    for heads in range(2, 6):
        for side in (-1, 1, 10**8, 10**9):
            tokens = (heads - 1) ** 2 + 2 + source.randint(0, 6)
            strength = Fraction(source.randint(1, 30), 10)
            near = _near(threshold(tokens, heads, float(strength)), side)
            case = EqualHeads(heads, strength, near, _orthonormal(tokens))
            yield _beta_point(candidate, case, digits, sharp=sharp)


def _beta_point(candidate: sp.Expr, case: EqualHeads, digits: int, *, sharp: bool) -> Point:
    tokens = len(case.tokens)

    bindings = {H: Fraction(case.heads), n: Fraction(tokens), alpha: case.strength}

    def compute() -> tuple[arb, ...]:
        return (ball_value(candidate, bindings) - exact_ball(case.temperature),)

    (below,) = settled_signs(compute, digits)
    margin, rate = _margin_and_rate(case, digits, sharp)
    signs = (below, margin, rate)
    return Point(
        {"n": str(tokens), **case.named()},
        None if None in signs else below == margin and rate == 1,
        "sign of threshold - beta, of the margin of the condition, and of dE_1/dt",
        ", ".join(str(sign) for sign in signs),
    )


_SAMPLES: tuple[dict[str, str], ...] = (
    {"n": "2", "H": "2", "alpha": "1"},
    {"n": "3", "H": "2", "alpha": "1/3"},
    {"n": "64", "H": "4", "alpha": "1/2"},
    {"n": "11", "H": "4", "alpha": "1e-30"},
    {"n": "10^100", "H": "8", "alpha": "1e6"},
    {"n": "1e9", "H": "1e6", "alpha": "7"},
)


def check_beta_samples(candidate: sp.Expr, settings: Settings) -> Evidence:
    """Compare certified digits with mpmath's value of another form of the threshold."""
    # Too few digits would not tell wrong forms apart.
    wanted = max(settings.digits, 10)
    agreed = []
    for sample in _SAMPLES:
        certified = evaluate("critical-beta", digits=wanted, **sample)
        values = {symbol: read_number(sample[symbol.name]) for symbol in (n, H, alpha)}
        other = mpmath_value(candidate, values, 2 * wanted + 40)
        context = other.context
        difference = abs(other - context.mpf(certified.value))
        scale = abs(other)
        digits = wanted
        if difference > scale * context.mpf(10) ** (1 - digits):
            digits = int(-context.log10(difference / scale)) if difference < scale else 0
        agreed.append(digits)
    least = min(agreed)
    return Evidence(
        Level.SAMPLED,
        Outcome.SUPPORTS if least >= wanted else Outcome.REFUTES,
        f"ball and mpmath values of the two forms of beta* agree to {least} digits",
        f"{len(_SAMPLES)} parameter values, n to 10^100, H to 10^6, alpha from 1e-30 to 1e6",
        "correctness of either form: two equal mistakes would agree",
        "certified balls of the arsinh form against mpmath's value of the form as stated",
        measures={"digits": str(wanted), "agreed digits": str(least)},
    )


# -- critical-beta-necessity ----------------------------------------------------------------------


@dataclass(frozen=True)
class RateStatement:
    """A closed form of dE_h/dt at equiangular tokens, and the strengths it is tried for."""

    rate: sp.Expr = energy_rate.EXPRESSION
    strengths: tuple[int, ...] = (1, 1)


def check_rate_sign(statement: RateStatement, _settings: Settings) -> Evidence:
    """Refute ``beyond beta* some dE_h/dt < 0``: derive the rate exactly and decide its sign."""
    chain = energy_rate.derivation(statement.rate)
    tokens, heads, strength = 3, len(statement.strengths), statement.strengths[0]
    flow = equiangular_flow(
        Model.UNNORMALISED,
        tokens,
        sp.S.Zero,
        [sp.Integer(s) for s in statement.strengths],
        sp.S.One,
    )
    at_point = {n: tokens, H: heads, alpha: strength, beta: 1, gamma: 0}
    value = sp.Rational(statement.rate.subs(at_point).doit())
    confirmed = all(is_zero(flow.energy_rate(h) - value) is Answer.YES for h in range(heads))
    equal = heads > 1 and len(set(statement.strengths)) == 1 and strength > 0
    beyond = False
    if equal:
        threshold = evaluate("critical-beta", n=tokens, H=heads, alpha=strength, digits=10)
        beyond = Fraction(threshold.value) < 1
    refuted = chain.is_closed and equal and beyond and confirmed and value > 0
    return Evidence(
        Level.EXACT,
        Outcome.REFUTES if refuted else Outcome.UNDECIDED,
        "dE_h/dt = H alpha^2 (n-1)/n^2 > 0 at orthonormal tokens for every beta, and positive at "
        "all equiangular tokens with gamma > -1/(n-1)"
        if refuted
        else "nothing: the rate is not derived, or not positive",
        "equal positive scalar heads, every n >= 2, H >= 1, beta > 0",
        "anything about orthogonal heads, for which Condition 8 was made, or strengths of mixed "
        "sign, where an energy can fall",
        "derivation from the definitions, sign by positive factors",
        covers_reading=True,
        counterexample=Counterexample(
            {
                "n": str(tokens),
                "H": str(heads),
                "alpha": str(strength),
                "beta": "1",
                "gamma": "0",
            },
            "dE_h/dt of each head",
            str(value),
            f"beta = 1 is beyond beta* = {threshold.value}, yet no head's energy falls",
        )
        if refuted
        else None,
    )


def check_rate_points(strengths: tuple[Fraction, ...], settings: Settings) -> Evidence:
    """Look, in coordinates, for a falling energy beyond beta*: none at any point refutes there."""
    signs: list[int | None] = []
    for tokens in (2, 3, 5, 8):
        for temperature in (Fraction(1, 10**6), Fraction(1), Fraction(50)):

            def compute(
                tokens: int = tokens, temperature: Fraction = temperature
            ) -> tuple[arb, ...]:
                flow = scalar_flow(
                    "unnormalised",
                    equiangular_tokens(tokens, Fraction(0)),
                    [exact_ball(s) for s in strengths],
                    exact_ball(temperature),
                )
                return tuple(flow.energy_rate(head) for head in range(len(strengths)))

            signs += settled_signs(compute, settings.digits)
    rising = all(sign == 1 for sign in signs)
    outcome = Outcome.REFUTES if rising else Outcome.UNDECIDED
    return Evidence(
        Level.POINTWISE,
        outcome if signs else Outcome.VACUOUS,
        "every head's energy rises at every point tried, below and beyond beta*"
        if rising
        else "some energy does not rise",
        "orthonormal tokens, n = 2 to 8, beta = 1e-6, 1 and 50, three equal heads",
        "anything between the points; the exact evidence covers that",
        f"ball arithmetic from the definitions in coordinates, {len(signs)} rates",
        measures={"digits": str(settings.digits)},
    )


# -- the claims -----------------------------------------------------------------------------------

_COSINE = critical_cosine.EXPRESSION
_WRONG_COSINES = (
    ("without the division by 2", sp.sqrt((H - 1) ** 2 + 4) - (H - 1)),
    ("4 replaced by 1 under the root", (sp.sqrt((H - 1) ** 2 + 1) - (H - 1)) / 2),
    ("H for H - 1", (sp.sqrt(H**2 + 4) - H) / 2),
    ("the other branch of the root", (sp.sqrt((H - 1) ** 2 + 4) + (H - 1)) / 2),
    ("the sharp bound 1/sqrt(H)", 1 / sp.sqrt(H)),
)
_THRESHOLD = critical_beta.EXPRESSION
_WRONG_THRESHOLDS = (
    ("without the factor 2 in 2 alpha", 2 * _THRESHOLD),
    ("n for n - 1", _THRESHOLD.subs(n, n + 1)),
    (
        "arsinh with the opposite sign",
        (sp.log((n - 1) / (H - 1)) + sp.asinh((H - 1) / 2)) / (2 * alpha),
    ),
    ("the sharp threshold", critical_beta.SHARP_EXPRESSION),
    ("H for H - 1 in the ratio", (sp.log((n - 1) / H) - sp.asinh((H - 1) / 2)) / (2 * alpha)),
)
_SHARP = (critical_cosine.SHARP_EXPRESSION, critical_beta.SHARP_EXPRESSION)
_WRONG_SHARP = (
    ("the cosine 1/H", (1 / H, _SHARP[1])),
    ("the cosine c*(H)", (_COSINE, _SHARP[1])),
    ("the threshold of Condition 8 itself", (_SHARP[0], _THRESHOLD)),
    ("without the factor 2 in 2 alpha", (_SHARP[0], 2 * _SHARP[1])),
)

CLAIMS = (
    Claim(
        id="critical-cosine",
        source="Thm 19",
        statement=r"$c^*(H) = \bigl(\sqrt{(H-1)^2+4}-(H-1)\bigr)/2$, and $c^*(2) = 1/\varphi$ "
        r"with the golden ratio $\varphi$",
        reading="equal scalar heads: Condition 8 holds if and only if cos(f_i, x_i) <= c*(H)",
        model="unnormalised and softmax (algebra of Condition 8)",
        hypotheses=(
            "equal scalar heads",
            "f_i is not zero",
            "cos(f_i, x_i) >= 0, as for positive heads at equiangular tokens, the setting of "
            "Thm 19 (without it: see critical-cosine-any-sign)",
        ),
        formulas=("critical-cosine",),
        uses=("projection",),
        repairs="critical-cosine-any-sign",
        checkers=(
            Checker("derivation", check_cosine_derivation, _COSINE, _WRONG_COSINES),
            Checker("Condition 8 in coordinates", check_cosine_points, _COSINE, _WRONG_COSINES),
        ),
    ),
    Claim(
        id="critical-beta",
        source="Thm 19",
        statement=r"$\beta^* = \ln\bigl(c^{*2}(n-1)/(1-c^{*2})\bigr)/(2\alpha)$; below it the "
        "energy of each head is monotone",
        reading="Condition 8 holds if and only if beta <= beta*; and then dE_h/dt >= 0",
        model="unnormalised",
        hypotheses=("equal positive scalar heads", "orthonormal tokens", "beta > 0", "n >= 2"),
        formulas=("critical-beta", "radial-cosine"),
        uses=("critical-cosine", "projection"),
        checkers=(
            Checker("derivation", check_beta_derivation, _THRESHOLD, _WRONG_THRESHOLDS),
            Checker("Condition 8 in coordinates", check_beta_points, _THRESHOLD, _WRONG_THRESHOLDS),
            Checker(
                "two forms, two libraries",
                check_beta_samples,
                critical_beta.AS_STATED,
                _WRONG_THRESHOLDS,
            ),
        ),
    ),
    Claim(
        id="sharp-critical-beta",
        source="finding (sharp form of Thm 19)",
        statement=r"with $|a_i^h|$ for $|f_i^h|$, Condition 8 has the cosine $1/\sqrt{H}$ and the "
        r"inverse temperature $\beta_\sharp = \ln((n-1)/(H-1))/(2\alpha)$",
        reading="sharp Condition 8 iff cos(f_i, x_i) <= 1/sqrt(H), and at orthonormal tokens iff "
        "beta <= beta_sharp",
        model="unnormalised",
        hypotheses=("equal positive scalar heads", "cos(f_i, x_i) >= 0", "beta > 0", "n >= 2"),
        formulas=("sharp-critical-cosine", "sharp-critical-beta"),
        uses=("projection",),
        repairs="critical-beta",
        checkers=(
            Checker("derivation", check_sharp_derivation, _SHARP, _WRONG_SHARP),
            Checker(
                "sharp Condition 8 in coordinates",
                check_sharp_points,
                critical_beta.SHARP_EXPRESSION,
                (
                    ("the threshold of Condition 8 itself", critical_beta.EXPRESSION),
                    ("H for H - 1", sp.log((n - 1) / H) / (2 * alpha)),
                ),
            ),
        ),
    ),
    Claim(
        id="critical-beta-necessity",
        source="Thm 19",
        statement=r"beyond $\beta^*$ the shadows are too strong to be controlled",
        reading="for beta > beta* some dE_h/dt < 0 at orthonormal tokens",
        model="unnormalised",
        hypotheses=("equal positive scalar heads", "orthonormal tokens", "beta > beta*"),
        formulas=("critical-beta",),
        checkers=(
            Checker(
                "sign of the derived rate",
                check_rate_sign,
                RateStatement(),
                (
                    (
                        "the rate with the opposite sign",
                        RateStatement(rate=-energy_rate.EXPRESSION),
                    ),
                    (
                        "n - 3 for n - 1",
                        RateStatement(rate=energy_rate.EXPRESSION * (n - 3) / (n - 1)),
                    ),
                    ("strengths 1 and -2, where an energy falls", RateStatement(strengths=(1, -2))),
                ),
            ),
            Checker(
                "rates in coordinates",
                check_rate_points,
                (Fraction(1),) * 3,
                (("strengths 1 and -2, where an energy falls", (Fraction(1), Fraction(-2))),),
            ),
        ),
    ),
)
