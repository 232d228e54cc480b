"""Theorem 27: attention entropy."""

from __future__ import annotations

from dataclasses import dataclass, replace

import sympy as sp
from flint import arb

from numeric.balls import ball_value, exact_ball
from numeric.definitions import inner
from proofs.cases import ScalarCase, random_cases
from proofs.checks import Point, derivation_evidence, pointwise_evidence, settled_signs
from proofs.claim import Checker, Claim, Settings
from proofs.evidence import Evidence, Outcome
from symbolic import attention_entropy, equiangular
from symbolic.answer import Answer
from symbolic.decide import is_zero, sign_of
from symbolic.flow import Model, equiangular_flow
from symbolic.notation import beta, gamma, lam, n
from symbolic.positivity import Sign
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


motion = sp.Symbol("motion", real=True)
"""The rate gamma' under all heads."""

_SHARE = attention_entropy.SHARE


def check_monotone(statement: Monotone, _settings: Settings) -> Evidence:
    """Decide the sign of the covariance exactly, and derive the entropy with slope and limit.

    Under the stated strengths gamma' > 0 between the ends of the interval, so gamma rises to 1; the
    entropy rises with gamma, to its value ln n there.
    """
    region = attention_entropy.POSITIVE.having({lam: statement.strengths})
    rising = sign_of(equiangular.SOFTMAX, region) is Sign.POSITIVE
    moving = region.having({motion: above(0)})
    negative = rising and sign_of(statement.covariance, moving) is Sign.NEGATIVE
    # Times (1 + odds)^2 it is a polynomial of degree 2 in n: three sizes are enough.
    closed = all(
        is_zero(_covariance(size) - statement.covariance.subs(n, size), moving) is Answer.YES
        for size in (2, 3, 4, 5)
    )
    limit = equation(attention_entropy.SYMBOL.subs(gamma, 1), sp.log(n))
    evidence = derivation_evidence(
        [equiangular.derivation(Model.SOFTMAX), attention_entropy.derivation(statement.entropy)],
        [equation(attention_entropy.SYMBOL, statement.entropy), limit],
        established="Cov = -lambda^2 gamma' p q (1 - gamma) < 0 with p = p_self, q = 1 - p; the "
        "entropy of every head rises with gamma, which rises to 1, and tends to ln n",
        domain="positive strengths, n >= 2, beta > 0, -1/(n-1) < gamma < 1",
        does_not_show="anything beyond equiangular tokens and scalar heads, where entropy can "
        "fall; nor strengths of mixed sign, where gamma can fall",
    )
    if negative and closed:
        return evidence
    return replace(
        evidence,
        outcome=Outcome.UNDECIDED,
        established="nothing: the sign of the covariance is not shown",
        method="closed form or sign of the covariance not shown",
    )


def _covariance(size: int) -> sp.Expr:
    """Return ``Cov_p(s_j, s_j')`` of token 1 from the weights and scores of ``size`` tokens."""
    flow = equiangular_flow(Model.SOFTMAX, size, gamma, [lam], beta)
    weights = flow.weights(0, 0)
    scores = [lam * flow.gram[0, j] for j in range(size)]
    motions = [lam * motion * int(j > 0) for j in range(size)]
    mean = sp.Add(*(p * s for p, s in zip(weights, scores, strict=True)))
    drift = sp.Add(*(p * v for p, v in zip(weights, motions, strict=True)))
    both = sp.Add(*(p * s * v for p, s, v in zip(weights, scores, motions, strict=True)))
    return both - mean * drift


def check_entropy_points(statement: Monotone, settings: Settings) -> Evidence:
    """Compare the covariance, in coordinates, with the stated one, and its sign with 0."""
    cases = random_cases("softmax", settings.seed, positive=True)
    return pointwise_evidence(
        (_entropy_point(statement, case, settings.digits) for case in cases),
        established="the covariance from softmax weights in coordinates is negative and within "
        "1e-20 of the closed form at every point tried",
        domain="n = 2 to 6, one to three positive strengths to 3, beta to 3, gamma in the interval",
        does_not_show="anything between the points; the exact evidence covers that",
        measures={"digits": str(settings.digits), "seed": str(settings.seed)},
    )


def _entropy_point(statement: Monotone, case: ScalarCase, digits: int) -> Point:
    # The rate of the overlap enters linearly, so the closed form is evaluated per unit of it.
    per_unit = statement.covariance.subs(motion, 1)

    def compute() -> tuple[arb, ...]:
        flow = case.flow()
        rate, weights = flow.overlap_rate(0, 1), flow.weights(0, 0)
        strength, others = exact_ball(case.heads[0]), case.tokens - 1
        scores = [strength] + [strength * exact_ball(case.overlap)] * others
        motions = [arb(0)] + [strength * rate] * others
        mean = inner(weights, scores)
        deviations = [score - mean for score in scores]
        covariance = inner([p * s for p, s in zip(weights, deviations, strict=True)], motions)
        stated = ball_value(per_unit, {**case.bindings, lam: case.heads[0]}) * rate
        return covariance, arb(10) ** -20 - abs(covariance - stated)

    signs = settled_signs(compute, digits)
    return Point(
        case.named,
        None if None in signs else signs == (-1, 1),
        "sign of the covariance, and of 1e-20 less its distance from the closed form",
        ", ".join(str(sign) for sign in signs),
    )


_COVARIANCE = -(lam**2) * motion * (1 - _SHARE) * _SHARE * (1 - gamma)
_TRUE = Monotone(attention_entropy.EXPRESSION, _COVARIANCE, above(0))

CLAIMS = (
    Claim(
        id="entropy-identity",
        source="Thm 27",
        statement=r"$dS_i^h/dt = -\beta^2\, \mathrm{Cov}_p(s_j, \dot s_j)$",
        reading="p = softmax(beta s), any smooth s",
        model="softmax",
    ),
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
                        replace(_TRUE, entropy=_TRUE.entropy - sp.log(1 + _SHARE / (1 - _SHARE))),
                    ),
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
                ),
            ),
        ),
    ),
)
