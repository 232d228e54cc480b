"""Theorem 27: attention entropy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from typing import Any

import sympy as sp
from flint import arb

from numeric.balls import Balls, ball_value, exact_ball
from numeric.definitions import Flow, inner
from numeric.walk import converted, walk
from proofs.cases import ScalarCase, random_cases
from proofs.checks import Point, derivation_evidence, pointwise_evidence, settled_signs
from proofs.claim import Checker, Claim, Settings
from proofs.evidence import Evidence
from proofs.simulated import Comparison, simulated, simulated_evidence
from symbolic import attention_entropy
from symbolic.notation import gamma, lam, n
from symbolic.region import Range, above
from symbolic.rules import equation


@dataclass(frozen=True)
class Monotone:
    """The parts of the claim.

    Attributes:
        entropy: the entropy as a function of the overlap.
        covariance: the covariance, in the rate ``gamma'`` as the symbol ``motion``.
        strengths: where the strengths of all heads live.
    """

    entropy: sp.Expr
    covariance: sp.Expr
    strengths: Range


def check_monotone(statement: Monotone, _settings: Settings) -> Evidence:
    """Derive the covariance with its sign, and the entropy with its slope and limit, exactly."""
    limit = equation(attention_entropy.SYMBOL.subs(gamma, 1), sp.log(n))
    negative = sp.Lt(attention_entropy.COVARIANCE_SYMBOL, 0, evaluate=False)
    return derivation_evidence(
        [
            attention_entropy.covariance_derivation(statement.covariance, statement.strengths),
            attention_entropy.derivation(statement.entropy),
        ],
        [
            equation(attention_entropy.COVARIANCE_SYMBOL, statement.covariance),
            negative,
            equation(attention_entropy.SYMBOL, statement.entropy),
            limit,
        ],
        established="Cov = -lambda^2 gamma' p q (1 - gamma) < 0 with p = p_self, q = 1 - p; the "
        "entropy of every head rises with gamma, which rises to 1, and tends to ln n",
        domain="positive strengths, n >= 2, beta > 0, -1/(n-1) < gamma < 1",
        does_not_show="anything beyond equiangular tokens and scalar heads, where entropy can "
        "fall; nor strengths of mixed sign, where gamma can fall",
        cited="a scalar autonomous equation gamma' > 0 between two zeros tends to the upper one",
    )


def check_entropy_points(statement: Monotone, settings: Settings) -> Evidence:
    """Compare the covariance, in coordinates, with the stated one, and its sign with 0."""
    cases = random_cases("softmax", settings.seed, positive=True)
    return pointwise_evidence(
        (_entropy_point(statement, case, settings.digits) for case in cases),
        established="the covariance from softmax weights in coordinates is negative, and it and "
        "the entropy -sum p ln p are within 1e-20 of the closed forms, at every point tried",
        domain="n = 2 to 6, one to three positive strengths to 3, beta to 3, gamma in the interval",
        does_not_show="anything between the points; the exact evidence covers that",
        measures={"digits": str(settings.digits), "seed": str(settings.seed)},
    )


def check_entropy_simulated(statement: Monotone, settings: Settings) -> Evidence:
    """Compare entropies of simulated tokens, from their weights, with the closed form over time.

    The rate of the entropy, by a difference over a short time, is compared with the covariance.
    """
    return simulated_evidence(
        (
            run
            for case in islice(random_cases("softmax", settings.seed, positive=True), 3)
            for run in _simulated_runs(statement, case)
        ),
        established="the entropy of simulated tokens rises, has the stated value, and changes at "
        "the rate -beta^2 Cov",
        domain="n = 2 to 4, one to three positive strengths to 3, beta to 3, times 0 and 1/2",
        does_not_show="more than the runs made; the exact evidence covers the rest",
        seed=settings.seed,
    )


def _simulated_runs(statement: Monotone, case: ScalarCase) -> Iterator[Comparison]:
    """Yield entropies of simulated tokens and their rates, beside the stated ones."""
    per_unit = statement.covariance.subs(attention_entropy.motion, 1)
    short = Fraction(1, 10**10)
    bindings = {**case.bindings, lam: case.heads[0]}
    tokens = simulated(case, [Fraction(0), short, Fraction(1, 2), Fraction(1, 2) + short])
    entropies = [_entropy(each.flow) for each in tokens]
    for k in (0, 2):
        overlap = tokens[k].overlap
        rate = (tokens[k + 1].overlap - overlap) / exact_ball(short)
        slope = (entropies[k + 1] - entropies[k]) / exact_ball(short)
        entropy = _at_overlap(statement.entropy, bindings, overlap)
        covariance = _at_overlap(per_unit, bindings, overlap) * rate
        yield Comparison(case.named, "entropy", entropy, entropies[k], arb(10) ** -20, arb(1))
        yield Comparison(
            case.named,
            "dS/dt as a difference over 1e-10, and -beta^2 Cov",
            -(exact_ball(case.temperature) ** 2) * covariance,
            slope,
            arb(10) ** -6,
            slope,
        )
        yield Comparison(case.named, "sign of dS/dt", arb(1), slope / abs(slope), arb(0), arb(1))


def _entropy(flow: Flow) -> arb:
    """Return the attention entropy of the first token under the first head."""
    weights = flow.weights(0, 0)
    return -arb(inner(weights, [p.log() for p in weights]))


def _at_overlap(expression: sp.Expr, bindings: Mapping[sp.Basic, Any], overlap: arb) -> arb:
    """Return an expression at exact bindings but for the overlap, which is a ball."""
    arithmetic = Balls()
    return arb(walk(expression, {**converted(bindings, arithmetic), gamma: overlap}, arithmetic))


def _entropy_point(statement: Monotone, case: ScalarCase, digits: int) -> Point:
    # The rate of the overlap enters linearly, so the closed form is evaluated per unit of it.
    per_unit = statement.covariance.subs(attention_entropy.motion, 1)

    def compute() -> tuple[arb, ...]:
        flow = case.flow()
        rate, weights = flow.overlap_rate(0, 1), flow.weights(0, 0)
        strength, others = exact_ball(case.heads[0]), case.tokens - 1
        scores = [strength] + [strength * exact_ball(case.overlap)] * others
        motions = [arb(0)] + [strength * rate] * others
        mean = inner(weights, scores)
        deviations = [score - mean for score in scores]
        covariance = inner([p * s for p, s in zip(weights, deviations, strict=True)], motions)
        entropy = -inner(weights, [p.log() for p in weights])
        bindings = {**case.bindings, lam: case.heads[0]}
        gaps = (
            covariance - ball_value(per_unit, bindings) * rate,
            entropy - ball_value(statement.entropy, bindings),
        )
        return (covariance, *(arb(10) ** -20 - abs(gap) for gap in gaps))

    signs = settled_signs(compute, digits)
    return Point(
        case.named,
        None if None in signs else signs == (-1, 1, 1),
        "sign of the covariance, and of 1e-20 less its and the entropy's distance from the "
        "closed forms",
        ", ".join(str(sign) for sign in signs),
    )


_COVARIANCE = attention_entropy.COVARIANCE
_TRUE = Monotone(attention_entropy.EXPRESSION, _COVARIANCE, above(0))

_SHARE = attention_entropy.SHARE
_WITHOUT_FIRST_TERM = replace(_TRUE, entropy=_TRUE.entropy - sp.log(1 + _SHARE / (1 - _SHARE)))
_RIGHT_AT_FEW = replace(
    _TRUE, covariance=_COVARIANCE * (1 + ((n - 2) * (n - 3) * (n - 4) * (n - 5)) ** 2)
)

CLAIMS = (
    Claim(
        id="entropy-monotone",
        source="Thm 27",
        statement=r"scalar heads, equiangular tokens: covariance $\le 0$, entropy rises to "
        r"$\ln n$",
        reading="as written, gamma > -1/(n-1)",
        model="softmax",
        hypotheses=("positive strengths", "equiangular tokens", "gamma > -1/(n-1)", "beta > 0"),
        formulas=("attention-entropy",),
        uses=("equiangular-reduction",),
        repairs="entropy-rises",
        checkers=(
            Checker(
                "covariance and entropy",
                check_monotone,
                _TRUE,
                (
                    (
                        "the covariance with the opposite sign",
                        replace(_TRUE, covariance=-_COVARIANCE),
                    ),
                    (
                        "the covariance without the factor 1 - gamma",
                        replace(_TRUE, covariance=_COVARIANCE / (1 - gamma)),
                    ),
                    ("strengths of any sign", replace(_TRUE, strengths=Range())),
                    (
                        "the entropy without its first term",
                        _WITHOUT_FIRST_TERM,
                    ),
                    ("a covariance that is right at 2 to 5 tokens only", _RIGHT_AT_FEW),
                ),
            ),
            Checker(
                "covariance in coordinates",
                check_entropy_points,
                _TRUE,
                (
                    (
                        "the covariance with the opposite sign",
                        replace(_TRUE, covariance=-_COVARIANCE),
                    ),
                    (
                        "n for n - 1 in the odds",
                        replace(_TRUE, covariance=_COVARIANCE.subs(n, n + 1)),
                    ),
                    ("the entropy without its first term", _WITHOUT_FIRST_TERM),
                ),
            ),
            Checker(
                "simulated tokens",
                check_entropy_simulated,
                _TRUE,
                (
                    (
                        "the covariance with the opposite sign",
                        replace(_TRUE, covariance=-_COVARIANCE),
                    ),
                    (
                        "n for n - 1 in the odds",
                        replace(_TRUE, covariance=_COVARIANCE.subs(n, n + 1)),
                    ),
                    ("the entropy without its first term", _WITHOUT_FIRST_TERM),
                ),
            ),
        ),
    ),
)
