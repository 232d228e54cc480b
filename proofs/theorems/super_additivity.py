"""Super-additivity of the early rate (Thm 22): refuted as stated, and the statements that hold."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction

import sympy as sp
from flint import arb

from numeric.balls import ball_precision, ball_value, exact_ball
from numeric.definitions import equiangular_tokens, scalar_flow
from numeric.rounding import rounded_ball
from proofs.cases import ScalarCase
from proofs.checks import (
    Point,
    case_evidence,
    derivation_evidence,
    pointwise_evidence,
    settled_signs,
)
from proofs.claim import Checker, Claim, Settings
from proofs.evidence import Counterexample, Evidence, Level, Outcome, parameters_text
from symbolic import critical_spread, rate, rate_inflection, rate_peak, super_additivity
from symbolic.flow import Model
from symbolic.notation import beta, mean_strength, n
from symbolic.numbers import exact_text
from symbolic.rules import equation

# -- the refutation -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Family:
    """The closed form of the advantage of equal strengths over a list with a vanishing one."""

    advantage: sp.Expr
    example: Witness


@dataclass(frozen=True)
class Witness:
    """Unequal strengths that are said to start slower than equal ones of the same total."""

    strengths: tuple[Fraction, ...]
    tokens: int = 2
    temperature: Fraction = Fraction(1)

    @property
    def mean(self) -> Fraction:
        """Return the mean strength."""
        return sum(self.strengths, Fraction(0)) / len(self.strengths)

    @property
    def named(self) -> dict[str, str | list[str]]:
        """Return the parameters as exact texts."""
        return {
            "model": "softmax",
            "n": str(self.tokens),
            "beta": exact_text(self.temperature),
            "lam": [exact_text(strength) for strength in self.strengths],
            "equal strengths": exact_text(self.mean),
        }

    def start(self, strengths: tuple[Fraction, ...]) -> arb:
        """Return the early rate of strengths from the flow in coordinates."""
        case = ScalarCase("softmax", self.tokens, strengths, self.temperature)
        return arb(case.flow().overlap_rate(0, 1))

    def loses(self, digits: int) -> bool:
        """Tell whether it is a counterexample: positive strengths, mean above lambda_c, slower."""
        above, gain = settled_signs(self.differences, digits)
        return above == 1 and gain == -1 and all(strength > 0 for strength in self.strengths)

    def differences(self) -> tuple[arb, ...]:
        """Return how far the mean is above lambda_c, and the gain over equal strengths."""
        bindings = {n: Fraction(self.tokens), beta: self.temperature}
        above = exact_ball(self.mean) - ball_value(rate_inflection.EXPRESSION, bindings)
        equal = (self.mean,) * len(self.strengths)
        return above, self.start(self.strengths) - self.start(equal)


def check_family(family: Family, settings: Settings) -> Evidence:
    """Refute for every n, beta and H >= 2 by lists with one strength near 0, exactly.

    The advantage of the equal list over the list with one strength 0 is positive for every mean,
    above lambda_c too; the early rate is continuous in the strengths, so it stays positive for
    small positive ones.
    """
    proof = derivation_evidence(
        [rate.derivation(), super_additivity.derivation(family.advantage)],
        [
            equation(super_additivity.SYMBOL, family.advantage),
            sp.Gt(super_additivity.SYMBOL, 0, evaluate=False),
        ],
        established="for every n, beta > 0, H >= 2 and every mean, also above lambda_c, equal "
        "strengths start strictly faster than H - 1 equal ones and one close enough to 0",
        domain="every n >= 2, beta > 0, H >= 2, every positive mean",
        does_not_show="for which other lists unequal strengths lose; see the statements that "
        "repair this one",
        cited="the early rate is continuous in the strengths",
    )
    if proof.outcome is not Outcome.SUPPORTS:
        return proof
    if not family.example.loses(settings.digits):
        nothing = "nothing: the list that is to be shown is no counterexample"
        return replace(proof, outcome=Outcome.UNDECIDED, established=nothing)
    return replace(
        proof,
        outcome=Outcome.REFUTES,
        counterexample=_counterexample(family.example, settings.digits),
    )


def check_witness(witness: Witness, settings: Settings) -> Evidence:
    """Refute by one list in balls, from the flow in coordinates."""
    return case_evidence(
        Level.POINTWISE,
        witness.loses(settings.digits),
        lambda: _counterexample(witness, settings.digits),
        established="mean strength above lambda_c, and the unequal strengths start slower than "
        "equal ones",
        domain=parameters_text(witness.named),
        does_not_show="anything about other lists",
        method="flow in coordinates in balls",
        measures={"digits": str(settings.digits)},
    )


def _counterexample(witness: Witness, digits: int) -> Counterexample:
    value = rounded_ball(lambda: witness.differences()[1], digits).text
    return Counterexample(
        witness.named,
        "early rate of lam less that of equal strengths",
        value,
        "the mean is above lambda_c, and the unequal strengths start slower",
    )


# -- what holds -----------------------------------------------------------------------------------


class Side(Enum):
    """Which strengths a repaired statement speaks of, by a threshold."""

    ALL_ABOVE = "all strengths at least"
    ALL_BELOW = "all strengths at most"
    MEAN_BELOW = "mean strength at most"


@dataclass(frozen=True)
class Jensen:
    """Unequal against equal strengths on one side of a threshold.

    Attributes:
        side: which strengths it speaks of.
        threshold: the threshold, of n and beta.
        gain: 1 if unequal strengths start strictly faster, -1 if strictly slower.
    """

    side: Side
    threshold: sp.Expr
    gain: int


def check_jensen(statement: Jensen, _settings: Settings) -> Evidence:
    """Derive peak and inflection; the rest is Jensen's inequality.

    All strengths on one side of lambda_c lie where phi is strictly convex, or strictly concave.
    With the mean m at most lambda_peak the tangent at m does not fall: it is above phi on
    ``(0, lambda_c]``, where phi is concave, and beyond, where phi is below ``phi(lambda_c)``.
    """
    below_peak = statement.side is Side.MEAN_BELOW
    if below_peak:
        chains = [rate_peak.derivation(statement.threshold), rate_inflection.derivation()]
        goals = [
            equation(rate_peak.SYMBOL, statement.threshold),
            equation(rate_inflection.SYMBOL, rate_inflection.EXPRESSION),
        ]
        turn = rate_peak.RISES
    else:
        chains = [rate_inflection.derivation(statement.threshold)]
        goals = [equation(rate_inflection.SYMBOL, statement.threshold)]
        turn = rate_inflection.CONVEX
    # Where phi rises, or is convex, is derived; the stated gain asks for that or for its opposite.
    side = 1 if statement.side is Side.ALL_ABOVE else -1
    as_derived = statement.gain == side
    goals.append(turn if as_derived else sp.Lt(turn.lhs, turn.rhs, evaluate=False))
    comparison = "strictly faster" if statement.gain == 1 else "strictly slower"
    return derivation_evidence(
        [rate.early_derivation(), *chains],
        goals,
        established=f"unequal positive strengths start {comparison} than equal ones of the same "
        "total",
        domain="every n >= 2, beta > 0, lists of any length, not all equal",
        does_not_show="anything on lists on both sides of the threshold; anything after the start",
        cited="the tangent argument in the checker's docstring, from peak and inflection"
        if below_peak
        else "Jensen's inequality for a strictly convex or concave function",
    )


def check_jensen_points(statement: Jensen, settings: Settings) -> Evidence:
    """Compare early rates of unequal and equal strengths in balls, on that side."""
    return pointwise_evidence(
        _jensen_points(statement, settings),
        established="the gain over equal strengths has the stated sign at every list tried",
        domain="n = 2, 3, 64 and 10^6, beta = 1/3 and 2, lists of 2, 3 and 5 strengths"
        + (", and of 1000 with one outlier" if statement.side is Side.MEAN_BELOW else "")
        + "; early rates from the flow in coordinates for n = 2 and 3, else from phi",
        does_not_show="anything about other lists; the exact evidence covers that",
        measures={"digits": str(settings.digits), "seed": str(settings.seed)},
    )


def _jensen_points(statement: Jensen, settings: Settings) -> Iterator[Point]:
    source = random.Random(settings.seed)
    for tokens in (2, 3, 64, 10**6):
        for temperature in (Fraction(1, 3), Fraction(2)):
            for heads in (2, 3, 5):
                parts = [(_factor(statement.side, source), 1) for _ in range(heads)]
                if len({factor for factor, _ in parts}) > 1:
                    yield _list_point(statement, tokens, temperature, parts, settings.digits)
            if statement.side is Side.MEAN_BELOW:
                # One strength far out, the others a little below the threshold: mean 99.9 %.
                outlier = [(Fraction(6), 1), (Fraction(999 * 1000 - 6000, 999 * 1000), 999)]
                yield _list_point(statement, tokens, temperature, outlier, settings.digits)


_IN_COORDINATES = 4
"""Fewer tokens than this are followed in coordinates."""


def _factor(side: Side, source: random.Random) -> Fraction:
    """Return a strength in units of the threshold."""
    if side is Side.ALL_ABOVE:
        return 1 + Fraction(source.randint(0, 30), 100)
    return Fraction(source.randint(70, 100), 100)


def _list_point(
    statement: Jensen,
    tokens: int,
    temperature: Fraction,
    parts: list[tuple[Fraction, int]],
    digits: int,
) -> Point:
    total = sum(count for _, count in parts)
    middle = sum((factor * count for factor, count in parts), Fraction(0)) / total

    def phi(strength: arb) -> arb:
        if tokens < _IN_COORDINATES:
            heads = equiangular_tokens(tokens, Fraction(0))
            flow = scalar_flow(Model.SOFTMAX, heads, [strength], exact_ball(temperature))
            return arb(flow.overlap_rate(0, 1))
        return 2 * strength / ((strength * exact_ball(temperature)).exp() + tokens - 1)

    def compute() -> tuple[arb, ...]:
        # The middle of the ball is exact; it is within its radius of the threshold.
        at = ball_value(statement.threshold, {n: Fraction(tokens), beta: temperature}).mid()
        unequal = sum((count * phi(exact_ball(factor) * at) for factor, count in parts), arb(0))
        return (unequal - total * phi(exact_ball(middle) * at),)

    (sign,) = settled_signs(compute, digits)
    return Point(
        {
            "n": str(tokens),
            "beta": exact_text(temperature),
            "strengths over the threshold": [f"{exact_text(f)} ({c} times)" for f, c in parts],
        },
        None if sign is None else sign == statement.gain,
        "sign of the gain over equal strengths",
        str(sign),
    )


# -- two heads ------------------------------------------------------------------------------------


def check_spread(candidate: sp.Expr, _settings: Settings) -> Evidence:
    """Derive the critical half-spread, unique, and the mean beyond which there is one."""
    return derivation_evidence(
        [rate.early_derivation(), critical_spread.derivation(candidate)],
        [equation(critical_spread.SYMBOL, candidate)],
        established="two heads mean +- spread start faster than equal ones if and only if the mean "
        "is above lambda_c and 0 < spread < delta_c, and slower if spread > delta_c",
        domain="every n >= 2, beta > 0, mean > lambda_c, 0 < spread < mean",
        does_not_show="anything about three heads or more, or after the start",
    )


def check_spread_points(candidate: sp.Expr, settings: Settings) -> Evidence:
    """Compare early rates of two heads in coordinates on both sides of the candidate."""
    return pointwise_evidence(
        _spread_points(candidate, settings.digits),
        established="the gain of two heads, from the flow in coordinates, is positive just inside "
        "delta_c and negative just outside, at every point tried",
        domain="n = 2 to 4, beta = 1 and 2, means 5, 20 and 60 per cent above lambda_c, spreads "
        "within 1e-6 of delta_c (relative)",
        does_not_show="anything between the points; the exact evidence covers that",
        measures={"digits": str(settings.digits)},
    )


def _spread_points(candidate: sp.Expr, digits: int) -> Iterator[Point]:
    for tokens in (2, 3, 4):
        for temperature in (Fraction(1), Fraction(2)):
            bindings = {n: Fraction(tokens), beta: temperature}
            with ball_precision(100):
                turning = float(ball_value(rate_inflection.EXPRESSION, bindings))
            for excess in (5, 20, 60):
                middle = Fraction(round(turning * (100 + excess) * 1000), 10**5)
                yield _spread_point(candidate, Witness((middle,), tokens, temperature), digits)


def _spread_point(candidate: sp.Expr, equal: Witness, digits: int) -> Point:
    bindings = {
        n: Fraction(equal.tokens),
        beta: equal.temperature,
        mean_strength: equal.mean,
    }
    with ball_precision(400):
        middle = ball_value(candidate, bindings).mid()
        spread = Fraction(int((middle * 10**30).floor().mid().fmpq().p), 10**30)
    signs: list[int | None] = []
    for side in (-1, 1):
        half = spread * (1 + side * Fraction(1, 10**6))
        strengths = (equal.mean - half, equal.mean + half)

        def compute(strengths: tuple[Fraction, ...] = strengths) -> tuple[arb, ...]:
            return (equal.start(strengths) - equal.start((equal.mean,) * 2),)

        signs += settled_signs(compute, digits)
    named = {**equal.named, "mean": exact_text(equal.mean)}
    named.pop("lam")
    holds = None if None in signs else signs == [1, -1]
    return Point(named, holds, "sign of the gain inside and outside", str(signs))


# -- the claims -----------------------------------------------------------------------------------

_WITNESS = Witness((Fraction(3, 2), Fraction(7, 2)))
_WRONG_WITNESS = (
    ("a mean below lambda_c", Witness((Fraction(1), Fraction(3)))),
    ("a spread that gains", Witness((Fraction(49, 20), Fraction(51, 20)))),
    ("equal strengths", Witness((Fraction(5, 2), Fraction(5, 2)))),
    ("a negative strength", Witness((Fraction(-1), Fraction(6)))),
)
_FAMILY = Family(super_additivity.EXPRESSION, _WITNESS)
_WRONG_FAMILY = (
    ("the opposite sign", replace(_FAMILY, advantage=-super_additivity.EXPRESSION)),
    ("without the factor 2", replace(_FAMILY, advantage=super_additivity.EXPRESSION / 2)),
    *((words, replace(_FAMILY, example=wrong)) for words, wrong in _WRONG_WITNESS),
)
_CONVEX = Jensen(Side.ALL_ABOVE, rate_inflection.EXPRESSION, 1)
_CONCAVE = Jensen(Side.ALL_BELOW, rate_inflection.EXPRESSION, -1)
_PEAK = Jensen(Side.MEAN_BELOW, rate_peak.EXPRESSION, -1)
_SPREAD = critical_spread.EXPRESSION


def _wrong(statement: Jensen, other: sp.Expr, words: str) -> tuple[tuple[str, Jensen], ...]:
    return (
        (words, replace(statement, threshold=other)),
        ("the opposite inequality", replace(statement, gain=-statement.gain)),
    )


_WRONG_CONVEX = _wrong(_CONVEX, rate_peak.EXPRESSION, "beyond the peak")
_WRONG_CONCAVE = _wrong(_CONCAVE, 2 * rate_inflection.EXPRESSION, "up to twice lambda_c")
_WRONG_PEAK = _wrong(_PEAK, rate_inflection.EXPRESSION, "mean up to lambda_c")
_WRONG_SPREAD = (
    ("1 per cent more", _SPREAD * sp.Rational(101, 100)),
    ("1 per cent less", _SPREAD * sp.Rational(99, 100)),
)
_USES = ("early-rate", "rate-convexity")


def _repair(
    claim_id: str, words: str, statement: Jensen, wrong: tuple[tuple[str, Jensen], ...]
) -> Claim:
    """Return a repaired statement about lists of any length."""
    return Claim(
        id=claim_id,
        source="finding (repair of Thm 22)",
        statement=words,
        reading="as written, lists of any length",
        model="softmax",
        hypotheses=("positive strengths", "orthonormal tokens", "not all equal"),
        uses=(*_USES, "rate-peak"),
        repairs="super-additivity",
        checkers=(
            Checker("derivation", check_jensen, statement, wrong),
            Checker("lists in balls", check_jensen_points, statement, wrong),
        ),
    )


CLAIMS = (
    Claim(
        id="super-additivity",
        source="Thm 22",
        statement=r"mean strength above $\lambda_c$: unequal strengths have a strictly larger "
        "early rate than equal ones of the same total",
        reading="as written",
        model="softmax",
        hypotheses=("positive strengths", "mean strength above lambda_c", "not all equal"),
        uses=_USES,
        checkers=(
            Checker("lists with a vanishing strength", check_family, _FAMILY, _WRONG_FAMILY),
            Checker("witness in coordinates", check_witness, _WITNESS, _WRONG_WITNESS),
        ),
    ),
    _repair(
        "super-additivity-convex",
        r"all strengths at least $\lambda_c$: unequal strengths have a strictly larger early rate "
        "than equal ones of the same total",
        _CONVEX,
        _WRONG_CONVEX,
    ),
    _repair(
        "super-additivity-concave",
        r"all strengths at most $\lambda_c$: unequal strengths have a strictly smaller early rate "
        "than equal ones of the same total",
        _CONCAVE,
        _WRONG_CONCAVE,
    ),
    _repair(
        "super-additivity-peak",
        r"mean strength at most $\lambda_{\mathrm{peak}}$: unequal strengths have a strictly "
        "smaller early rate than equal ones of the same total",
        _PEAK,
        _WRONG_PEAK,
    ),
    Claim(
        id="super-additivity-two-heads",
        source="finding (repair of Thm 22)",
        statement=r"two heads $\bar\lambda \pm \delta$, $\bar\lambda > \lambda_c$: they have a "
        r"strictly larger early rate than equal ones iff $0 < \delta < \delta_c$",
        reading="as written, with the critical half-spread delta_c of formula critical-spread",
        model="softmax",
        hypotheses=("two positive strengths", "orthonormal tokens", "mean above lambda_c"),
        formulas=("critical-spread",),
        uses=_USES,
        repairs="super-additivity",
        checkers=(
            Checker("derivation", check_spread, _SPREAD, _WRONG_SPREAD),
            Checker("two heads in coordinates", check_spread_points, _SPREAD, _WRONG_SPREAD),
        ),
    ),
)
