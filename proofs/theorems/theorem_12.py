"""Theorem 12: robustness to misaligned values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial

import sympy as sp
from flint import arb

from numeric.balls import exact_ball
from numeric.definitions import inner
from numeric.rounding import rounded_ball
from proofs.checks import (
    Point,
    case_evidence,
    derivation_evidence,
    pointwise_evidence,
    settled_signs,
)
from proofs.claim import Checker, Claim, Settings
from proofs.energy_cases import EnergyCase, Rows, energy_cases, rank_one
from proofs.evidence import Counterexample, Evidence, Level, Outcome
from symbolic import value_misalignment
from symbolic.energy_balance import Conditions
from symbolic.flow import Model
from symbolic.numbers import exact_text

_MISALIGNED = Conditions(aligned=False)


@dataclass(frozen=True)
class Bound:
    """The bound ``dE/dt >= -constant (eta H e^(beta mu))^2``.

    Attributes:
        constant: 1/4 as judged.
        conditions: what is assumed of the heads.
        boosted: whether the factor ``e^(beta mu)`` is there.
    """

    constant: sp.Rational
    conditions: Conditions = field(default_factory=lambda: _MISALIGNED)
    boosted: bool = True


def check_bound(bound: Bound, _settings: Settings) -> Evidence:
    """Derive ``dE/dt`` for any values over formal vectors, and complete the square."""
    return derivation_evidence(
        [value_misalignment.misalignment_derivation(bound.conditions, bound.constant)],
        [
            value_misalignment.MISALIGNED,
            value_misalignment.WEIGHT_BOUND,
            value_misalignment.quarter_relation(bound.constant),
        ],
        established="dE/dt = (1/n) sum_i (|x_i'|^2 - <P e_i, x_i'>) >= (1/n) sum_i |x_i'| (|x_i'| "
        "- eta H e^(beta mu)) >= -(eta H e^(beta mu))^2/4, for |V_h - M_h| <= eta, |M_h| <= mu",
        domain="any n, d and H, unit tokens, spherical",
        does_not_show="the flat flow: once tokens are longer than 1 the bound fails (a mutant)",
        cited="|e_i| <= (1/n) sum_h sum_j w^h_ij |V_h - M_h| <= eta H e^(beta mu), by the triangle "
        "inequality and the operator norm; Cauchy-Schwarz",
    )


def check_bound_points(bound: Bound, settings: Settings) -> Evidence:
    """Try both bounds in balls, from a power series of the energy along the flow."""
    return pointwise_evidence(
        _bound_points(bound, settings),
        established="both bounds hold at every point tried, and the last is met to 1e-3 (relative) "
        "by one token under a rank-one head with eta = 1/100",
        domain="rational unit tokens and matrices, n = 1 to 4, H = 1 to 3, and one small angle; "
        "norms by the Frobenius norm, which is at least the operator norm",
        does_not_show="anything between the points; the exact evidence covers that",
        measures={"digits": str(settings.digits), "seed": str(settings.seed)},
    )


def _bound_points(bound: Bound, settings: Settings) -> Iterator[Point]:
    for case in (*energy_cases(bound.conditions, settings.seed), *_extreme(bound.conditions)):
        signs = settled_signs(partial(_margins, bound, case), settings.digits)
        holds = None if None in signs else all(sign >= 0 for sign in signs if sign is not None)
        yield Point(case.named, holds, "signs of the margins of both bounds", str(signs))
    sharp = small_angle(Fraction(1, 100))

    def compute() -> tuple[arb, ...]:
        _, last = _margins(bound, sharp)
        eta = arb(1) / 100
        return last, eta**2 * arb(2).exp() / 4000 - last

    found = settled_signs(compute, settings.digits)
    holds = None if None in found else all(sign == 1 for sign in found)
    yield Point(
        sharp.named, holds, "signs of the margin, and of 1e-3 of the bound less it", str(found)
    )


def _extreme(conditions: Conditions) -> Iterator[EnergyCase]:
    """Yield cases at which the bound fails, if the conditions leave out a hypothesis."""
    zero, one = Fraction(0), Fraction(1)
    token, model = (one, zero), conditions.model
    if not conditions.symmetric:
        # eta = 0, and dE/dt = -1/2 for every beta.
        turning: Rows = ((zero, Fraction(-2)), (one, zero))
        yield EnergyCase(model, (token,), (turning,), (turning,), one)
    if model is Model.SOFTMAX:
        heads = (rank_one(2, 0, Fraction(2)), rank_one(2, 1, Fraction(3)))
        yield EnergyCase(model, ((Fraction(12, 13), Fraction(5, 13)),), heads, heads, one)
    if not conditions.spherical:
        score, value = rank_one(2, 0, one), rank_one(2, 0, -one)
        longer = (Fraction(11, 10), zero)
        yield EnergyCase(model, (longer,), (score,), (value,), one, spherical=False)


def _margins(bound: Bound, case: EnergyCase) -> tuple[arb, ...]:
    """Return ``dE/dt`` less the bound in speeds, and less the last bound."""
    size, heads = len(case.tokens), len(case.scores)
    eta, mu = _largest_norm(case, differences=True), _largest_norm(case, differences=False)
    most = eta * heads * ((mu * exact_ball(case.temperature)).exp() if bound.boosted else 1)
    rates = case.rates()
    energy = sum((case.energy_slope(h, rates) for h in range(heads)), arb(0))
    speeds = [inner(v, v).sqrt() for v in rates]
    in_speeds = sum((v * (v - most) for v in speeds), arb(0)) / size
    constant = exact_ball(Fraction(int(bound.constant.p), int(bound.constant.q)))
    return energy - in_speeds, energy + constant * most**2


def _largest_norm(case: EnergyCase, *, differences: bool) -> arb:
    """Return the largest Frobenius norm of ``V_h - M_h``, or of ``M_h``."""
    norms = [arb(0)]
    for score, value in zip(case.scores, case.values, strict=True):
        square = sum(
            (
                ((v - m) if differences else m) ** 2
                for score_row, value_row in zip(score, value, strict=True)
                for m, v in zip(score_row, value_row, strict=True)
            ),
            Fraction(0),
        )
        norms.append(exact_ball(square).sqrt())
    largest = norms[0]
    for norm in norms[1:]:
        largest = largest.max(norm)
    return largest


def small_angle(eta: Fraction, multiple: int = 1) -> EnergyCase:
    """Return one token with ``s/c`` about ``multiple eta/2``; V = e_1 e_1^T + eta e_2 e_1^T."""
    t = multiple * eta / 4
    token = ((1 - t**2) / (1 + t**2), 2 * t / (1 + t**2))
    zero = Fraction(0)
    value: Rows = ((Fraction(1), zero), (eta, zero))
    score = rank_one(2, 0, Fraction(1))
    return EnergyCase(Model.UNNORMALISED, (token,), (score,), (value,), Fraction(1))


# -- the strict reading ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Strict:
    """A token with ``s/c = multiple eta`` that lowers E for every eta, and a case to be shown."""

    multiple: sp.Rational
    case: EnergyCase


def check_strict(statement: Strict, settings: Settings) -> Evidence:
    """Refute for every ``eta > 0`` by one token at a small angle, exactly."""
    proof = derivation_evidence(
        [value_misalignment.strict_derivation(statement.multiple)],
        [value_misalignment.STRICT_FAILS],
        established="for every eta > 0 and beta > 0 the energy of one token (c, s), s/c = eta/2, "
        "falls under M = e_1 e_1^T, V = M + eta e_2 e_1^T",
        domain="n = 1, d = 2, H = 1",
        does_not_show="how much E falls along a trajectory (value-misalignment bounds the rate)",
    )
    if proof.outcome is not Outcome.SUPPORTS:
        return proof
    if not _falls(statement.case, settings.digits):
        nothing = "nothing: the energy does not fall at the case that is to be shown"
        return replace(proof, outcome=Outcome.UNDECIDED, established=nothing)
    return replace(
        proof, outcome=Outcome.REFUTES, counterexample=_fall(statement.case, settings.digits)
    )


def check_strict_points(case: EnergyCase, settings: Settings) -> Evidence:
    """Refute by one exact case in balls, from a power series of the energy along the flow."""
    return case_evidence(
        Level.POINTWISE,
        _falls(case, settings.digits),
        lambda: _fall(case, settings.digits),
        established="dE/dt < 0 at the case given",
        domain="one token, eta = " + exact_text(case.values[0][1][0]),
        does_not_show="other eta; the exact evidence covers them",
        method="power series of E along the flow, in balls",
        measures={"digits": str(settings.digits)},
    )


def _falls(case: EnergyCase, digits: int) -> bool:
    (sign,) = settled_signs(lambda: (case.energy_slope(0, case.rates()),), digits)
    return sign == -1


def _fall(case: EnergyCase, digits: int) -> Counterexample:
    value = rounded_ball(lambda: case.energy_slope(0, case.rates()), digits).text
    return Counterexample(case.named, "dE/dt along the flow", value, "the energy falls here")


_QUARTER = Bound(sp.Rational(1, 4))
_WRONG_BOUNDS = (
    ("1/8 for 1/4", Bound(sp.Rational(1, 8))),
    ("1/5 for 1/4", Bound(sp.Rational(1, 5))),
    (
        "without score symmetry",
        replace(_QUARTER, conditions=replace(_MISALIGNED, symmetric=False)),
    ),
    (
        "under softmax",
        replace(_QUARTER, conditions=replace(_MISALIGNED, model=Model.SOFTMAX)),
    ),
    (
        "in the flat flow, tokens longer than 1",
        replace(_QUARTER, conditions=replace(_MISALIGNED, spherical=False)),
    ),
)
_SMALL = small_angle(Fraction(1, 100))
_STRICT = Strict(sp.Rational(1, 2), _SMALL)
_WRONG_CASES = (
    ("at twice eta, where E rises", small_angle(Fraction(1, 100), 4)),
    ("aligned values", replace(_SMALL, values=_SMALL.scores)),
)
_HYPOTHESES = ("score symmetry (Condition 3)", "|V_h - M_h| <= eta", "unit tokens")

CLAIMS = (
    Claim(
        id="value-misalignment",
        source="Thm 12",
        statement="the gradient structure is robust to small perturbations of value alignment",
        reading="a quantitative lower bound on dE/dt in eta >= |V_h - M_h|, tending to Thm 11 as "
        "eta -> 0",
        model="unnormalised, spherical",
        hypotheses=_HYPOTHESES,
        uses=("total-energy",),
        repairs="value-misalignment-strict",
        checkers=(
            Checker(
                "derivation",
                check_bound,
                _QUARTER,
                _WRONG_BOUNDS,
            ),
            Checker(
                "energy as a power series",
                check_bound_points,
                _QUARTER,
                (
                    *_WRONG_BOUNDS,
                    ("1 for 1/4, which is not met", Bound(sp.Rational(1))),
                    ("without e^(beta mu)", replace(_QUARTER, boosted=False)),
                ),
            ),
        ),
    ),
    Claim(
        id="value-misalignment-strict",
        source="Thm 12 (stronger reading)",
        statement=r"$E$ stays non-decreasing for small $\eta$",
        reading="as written",
        model="unnormalised, spherical",
        hypotheses=_HYPOTHESES,
        checkers=(
            Checker(
                "one token at a small angle",
                check_strict,
                _STRICT,
                (
                    ("for every eta, at twice eta", replace(_STRICT, multiple=sp.Integer(2))),
                    ("for every eta, at angle 0", replace(_STRICT, multiple=sp.Integer(0))),
                    *((words, replace(_STRICT, case=wrong)) for words, wrong in _WRONG_CASES),
                ),
            ),
            Checker(
                "the same in balls",
                check_strict_points,
                _SMALL,
                _WRONG_CASES,
            ),
        ),
    ),
)
