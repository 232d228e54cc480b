"""Condition 8: radial dominance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

import sympy as sp
from flint import arb

from numeric.definitions import Flow
from numeric.rounding import rounded_ball
from proofs.checks import (
    Point,
    case_evidence,
    derivation_evidence,
    pointwise_evidence,
    settled_signs,
)
from proofs.claim import Checker, Claim, Settings
from proofs.energy_cases import EnergyCase, energy_cases
from proofs.evidence import Counterexample, Evidence, Level, parameters_text
from proofs.theorems.theorem_17 import rank_one_case
from symbolic import energy_balance as balance
from symbolic import radial_shadow
from symbolic.decide import sign_of
from symbolic.energy_balance import ORTHOGONAL, Conditions
from symbolic.positivity import Sign


class Form(StrEnum):
    """The forms of the condition, by what multiplies the sum of the other heads' shadows."""

    FIXED = "|f_i^h|"
    SHARP = "|a_i^h|"
    LITERAL = "1"

    @property
    def excess(self) -> sp.Expr:
        """Return the square of this form's left side, less that of the shadows' term."""
        return {
            Form.FIXED: radial_shadow.EXCESS,
            Form.SHARP: radial_shadow.SHARP_EXCESS,
            Form.LITERAL: radial_shadow.LITERAL_EXCESS,
        }[self]

    def margin(self, flow: Flow, i: int, h: int) -> arb:
        """Return ``|P f|^2`` less the left side, for token i and head h: >= 0 iff it holds."""
        if self is Form.LITERAL:
            others = sum((abs(flow.shadow(i, k)) for k in flow.heads if k != h), arb(0))
            return arb(flow.power(i, h) - others)
        return arb(flow.condition_8_margin(i, h, sharp=self is Form.SHARP))


@dataclass(frozen=True)
class Statement:
    """That a form of the condition suffices, under conditions on the heads."""

    form: Form
    conditions: Conditions = ORTHOGONAL


def check_sufficient(statement: Statement, _settings: Settings) -> Evidence:
    """Derive the identity for ``dE_h/dt`` and the bound of the shadows' term at each token."""
    return derivation_evidence(
        [
            balance.head_derivation(statement.conditions),
            radial_shadow.dominance_derivation(statement.form.excess),
        ],
        [balance.head_relation(spherical=True), radial_shadow.DOMINATES],
        established=f"where {statement.form} sum_{{h' != h}} |a_i^h'| <= |P f_i^h|^2 for all i, "
        "every term of dE_h/dt is at least 0",
        domain="any n, d and H",
        does_not_show="that the condition is necessary: it is not; nor how long it holds along a "
        "trajectory",
        cited="a sum of terms that are at least 0 is at least 0; of two numbers that are not "
        "negative the one with the larger square is larger",
    )


def check_sufficient_points(statement: Statement, settings: Settings) -> Evidence:
    """Try dE_h/dt >= 0, by a power series in balls, wherever the condition holds."""
    return pointwise_evidence(
        _points(statement, settings),
        established="dE_h/dt >= 0 at every point tried at which the condition holds",
        domain="rational unit tokens, heads on planes of their own, n = 1 to 4, H = 1 to 3, and "
        "single tokens under two rank-one heads",
        does_not_show="anything between the points; the exact evidence covers that",
        measures={"digits": str(settings.digits), "seed": str(settings.seed)},
    )


def _points(statement: Statement, settings: Settings) -> Iterator[Point]:
    """Yield the points at which the condition holds; the others say nothing."""
    for case in (*energy_cases(statement.conditions, settings.seed, points=36), *_rank_one_cases()):
        for h in range(len(case.scores)):
            margins, rate = _signs(statement.form, case, h, settings.digits)
            if any(sign == -1 for sign in margins):
                continue
            certain = None not in margins and rate is not None
            holds = rate >= 0 if certain and rate is not None else None
            yield Point({**case.named, "h": str(h + 1)}, holds, "sign of dE_h/dt", str(rate))


def _rank_one_cases() -> Iterator[EnergyCase]:
    for a, b, c in ((3, 4, 5), (4, 3, 5), (12, 5, 13), (5, 12, 13)):
        for strength in (1, 3):
            token = Fraction(a, c), Fraction(b, c)
            yield rank_one_case(token, (Fraction(strength), Fraction(strength)), Fraction(1))


def _signs(
    form: Form, case: EnergyCase, h: int, digits: int
) -> tuple[tuple[int | None, ...], int | None]:
    """Return the signs of the margins at all tokens, and of ``dE_h/dt``."""

    def compute() -> tuple[arb, ...]:
        flow = case.flow()
        margins = [form.margin(flow, i, h) for i in range(flow.n)]
        return (*margins, case.energy_slope(h, case.rates()))

    *margins, rate = settled_signs(compute, digits)
    return tuple(margins), rate


# -- the literal reading --------------------------------------------------------------------------


@dataclass(frozen=True)
class Witness:
    """One token (c, s) under ``strength e_h e_h^T`` on each axis, and the form that it refutes."""

    form: Form
    strength: int = 3
    c: Fraction = Fraction(3, 5)
    s: Fraction = Fraction(4, 5)

    @property
    def case(self) -> EnergyCase:
        """Return the case, at beta = 1."""
        equal = Fraction(self.strength), Fraction(self.strength)
        return rank_one_case((self.c, self.s), equal, Fraction(1))


def check_literal_exact(witness: Witness, _settings: Settings) -> Evidence:
    """Decide the condition and the sign of ``dE_1/dt`` at the witness exactly.

    ``f^1 = k c e^(k c^2) e_1`` and ``f^2 = k s e^(k s^2) e_2`` for the strength k, at beta = 1.
    """
    k = sp.Integer(witness.strength)
    c, s = (sp.Rational(x.numerator, x.denominator) for x in (witness.c, witness.s))
    own, other = (k * x * sp.exp(k * x**2) for x in (c, s))
    power, shadows = (own * s) ** 2, other * s
    sharp, fixed = own * c * shadows, own * shadows
    left = {Form.FIXED: fixed, Form.SHARP: sharp, Form.LITERAL: shadows}[witness.form]
    # A common positive factor is taken out, for the decision.
    scale = sp.exp(-k * s**2)
    margin = sign_of(sp.expand(scale * (power - left)))
    rate = sign_of(sp.expand(scale * (power - sharp)))
    refuted = margin.is_nonnegative and rate is Sign.NEGATIVE
    value = f"margin {margin.value}, dE_1/dt {rate.value}"
    return _literal_evidence(witness, Level.EXACT, refuted, lambda: value)


def check_literal_points(witness: Witness, settings: Settings) -> Evidence:
    """Decide the same in balls, from the flow in coordinates and a power series."""
    margins, rate = _signs(witness.form, witness.case, 0, settings.digits)
    refuted = all(sign in (0, 1) for sign in margins) and rate == -1

    def value() -> str:
        case = witness.case
        slope = rounded_ball(lambda: case.energy_slope(0, case.rates()), settings.digits)
        return f"dE_1/dt = {slope.text}"

    return _literal_evidence(witness, Level.POINTWISE, refuted, value)


def _literal_evidence(
    witness: Witness, level: Level, refuted: bool, value: Callable[[], str]
) -> Evidence:
    case = witness.case
    return case_evidence(
        level,
        refuted,
        lambda: Counterexample(
            case.named,
            f"the condition with {witness.form} for head 1, and dE_1/dt",
            value(),
            "the condition holds for head 1 and its energy falls",
        ),
        established="the condition holds for head 1 and dE_1/dt < 0 at the case given",
        domain=f"one case: {parameters_text(case.named)}",
        does_not_show="for which other parameters the condition fails to suffice",
        method="exact arithmetic with exponentials of rational numbers"
        if level is Level.EXACT
        else "flow in coordinates and a power series of E_1 along it, in balls",
    )


_FIXED, _SHARP = Statement(Form.FIXED), Statement(Form.SHARP)
_WRONG = (
    ("the literal reading", Statement(Form.LITERAL)),
    ("without orthogonal heads", Statement(Form.FIXED, replace(ORTHOGONAL, orthogonal=False))),
    ("without value alignment", Statement(Form.FIXED, replace(ORTHOGONAL, aligned=False))),
    ("without score symmetry", Statement(Form.FIXED, replace(ORTHOGONAL, symmetric=False))),
)
_WITNESS = Witness(Form.LITERAL)
_WRONG_WITNESS = (
    ("Condition 8 as fixed", Witness(Form.FIXED)),
    ("sharp Condition 8", Witness(Form.SHARP)),
    ("a token nearer to head 1", replace(_WITNESS, c=Fraction(4, 5), s=Fraction(3, 5))),
    ("strengths of 1", replace(_WITNESS, strength=1)),
)
_HYPOTHESES = (
    "score symmetry (Condition 3)",
    "value alignment (Condition 4)",
    "orthogonal heads",
)

CLAIMS = (
    Claim(
        id="radial-dominance",
        source="Cond 8",
        statement=r"if shadows do not exceed the head's own tangential power, $E_h$ is "
        "non-decreasing",
        reading="Condition 8, |f_i^h| sum_{h' != h} |a_i^h'| <= |P f_i^h|^2 for all i, implies "
        "dE_h/dt >= 0",
        model="unnormalised, spherical",
        hypotheses=_HYPOTHESES,
        uses=("radial-shadow",),
        repairs="radial-dominance-literal",
        checkers=(
            Checker("derivation", check_sufficient, _FIXED, _WRONG),
            Checker("energy as a power series", check_sufficient_points, _FIXED, _WRONG),
        ),
    ),
    Claim(
        id="sharp-radial-dominance",
        source="finding (sharp form of Cond 8)",
        statement=r"sharp Condition 8, $|a_i^h| \sum_{h' \ne h} |a_i^{h'}| \le |P f_i^h|^2$, "
        "suffices",
        reading="sharp Condition 8 for all i implies dE_h/dt >= 0",
        model="unnormalised, spherical",
        hypotheses=_HYPOTHESES,
        uses=("radial-shadow",),
        repairs="radial-dominance",
        checkers=(
            Checker("derivation", check_sufficient, _SHARP, _WRONG),
            Checker("energy as a power series", check_sufficient_points, _SHARP, _WRONG),
        ),
    ),
    Claim(
        id="radial-dominance-literal",
        source="Cond 8 (literal reading)",
        statement="the sum of the radial shadows does not exceed the tangential power",
        reading="sum_{h' != h} |a_i^h'| <= |P f_i^h|^2 for all i (not homogeneous) implies "
        "dE_h/dt >= 0",
        model="unnormalised, spherical",
        hypotheses=_HYPOTHESES,
        checkers=(
            Checker("exact witness", check_literal_exact, _WITNESS, _WRONG_WITNESS),
            Checker("witness in balls", check_literal_points, _WITNESS, _WRONG_WITNESS),
        ),
    ),
)
