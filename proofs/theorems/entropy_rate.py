"""The rate of attention entropy in general (Thm 27): the identity, and that entropy can fall."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import sympy as sp
from flint import arb, arb_series

from numeric.balls import Balls, ball_value, exact_ball
from numeric.definitions import Flow, inner
from numeric.rounding import rounded_ball
from numeric.walk import walk
from proofs.checks import (
    Point,
    case_evidence,
    derivation_evidence,
    pointwise_evidence,
    settled_agreement,
    settled_signs,
)
from proofs.claim import Checker, Claim, Settings
from proofs.evidence import Counterexample, Evidence, Level
from symbolic import attention_entropy, entropy_rate, equiangular
from symbolic.decide import sign_of
from symbolic.entropy_rate import Statement
from symbolic.notation import beta, gamma, lam, n
from symbolic.numbers import exact_text
from symbolic.positivity import Sign
from symbolic.region import Range, Region, above, at_least, between

# -- entropy-identity -----------------------------------------------------------------------------


def check_identity(statement: Statement, _settings: Settings) -> Evidence:
    """Derive ``dS/dt`` for any scores, term by term."""
    return derivation_evidence(
        [entropy_rate.derivation(statement)],
        [statement.result],
        established="dS/dt = -beta^2 Cov_p(s, s')",
        domain="any number of tokens, any differentiable scores, beta >= 0",
        does_not_show="the sign of the covariance: it can have either",
    )


def check_identity_points(statement: Statement, settings: Settings) -> Evidence:
    """Compare ``-sum p ln p``, expanded as a power series in t, with the stated rate."""
    return pointwise_evidence(
        _identity_points(statement.rate, settings),
        established="the slope of the entropy, from its power series, is the stated rate at every "
        "point tried",
        domain="n = 1 to 8, rational scores and slopes from -3 to 3, beta from 0 to 3",
        does_not_show="anything between the points; the exact evidence covers that",
        measures={"digits": str(settings.digits), "seed": str(settings.seed)},
    )


def _identity_points(stated: sp.Expr, settings: Settings) -> Iterator[Point]:
    source = random.Random(settings.seed)
    for size in range(1, 9):
        for _ in range(3):
            scores, slopes = (
                [Fraction(source.randint(-12, 12), 4) for _ in range(size)] for _ in range(2)
            )
            temperature = Fraction(source.randint(0, 12), 4)

            def compute(
                scores: list[Fraction] = scores,
                slopes: list[Fraction] = slopes,
                temperature: Fraction = temperature,
            ) -> tuple[arb, arb]:
                return (
                    _entropy_slope(scores, slopes, temperature),
                    _stated(stated, scores, slopes, temperature),
                )

            holds, value = settled_agreement(compute, settings.digits)
            yield Point(
                {
                    "s": [exact_text(s) for s in scores],
                    "s'": [exact_text(s) for s in slopes],
                    "beta": exact_text(temperature),
                },
                holds,
                "slope of -sum p ln p, and the stated rate",
                value,
            )


def _entropy_slope(scores: list[Fraction], slopes: list[Fraction], temperature: Fraction) -> arb:
    """Return the slope of ``-sum_j p_j ln p_j``, without a derivative taken by hand."""
    series = [
        (arb_series([exact_ball(s), exact_ball(r)], 2) * exact_ball(temperature)).exp()
        for s, r in zip(scores, slopes, strict=True)
    ]
    total = sum(series[1:], series[0])
    shares = [weight / total for weight in series]
    terms = [share * share.log() for share in shares]
    return arb(-sum(terms[1:], terms[0])[1])


def _stated(
    stated: sp.Expr, scores: list[Fraction], slopes: list[Fraction], temperature: Fraction
) -> arb:
    s, r = ([exact_ball(v) for v in values] for values in (scores, slopes))
    weights = [(exact_ball(temperature) * v).exp() for v in s]
    sums = {
        entropy_rate.Z: sum(weights, arb(0)),
        entropy_rate.A: inner(weights, r),
        entropy_rate.B: inner(weights, s),
        entropy_rate.D: sum((w * a * a for w, a in zip(weights, s, strict=True)), arb(0)),
        entropy_rate.C: sum((w * a * b for w, a, b in zip(weights, s, r, strict=True)), arb(0)),
    }
    return arb(walk(stated, {beta: exact_ball(temperature), **sums}, Balls()))


# -- entropy-rises --------------------------------------------------------------------------------


def check_negative_head(strengths: Range, settings: Settings) -> Evidence:
    """Decide the sign of ``dS/dt`` at equiangular tokens under one head with such a strength.

    ``dS/dt = -beta^2 Cov``, and the covariance at equiangular tokens, are results of the claims
    entropy-identity and entropy-monotone; the rate of the overlap is of equiangular-reduction.
    """
    covariance = attention_entropy.COVARIANCE.subs(attention_entropy.motion, equiangular.SOFTMAX)
    rate = -(beta**2) * covariance
    region = Region(
        {
            n: at_least(2),
            beta: above(0),
            lam: strengths,
            gamma: between(-1 / (n - 1), 1, lower_open=True, upper_open=True),
        }
    )
    derived = sign_of(rate, region) is Sign.NEGATIVE
    case = {n: Fraction(2), beta: Fraction(1), lam: Fraction(-1), gamma: Fraction(1, 2)}
    return case_evidence(
        Level.EXACT,
        derived,
        lambda: Counterexample(
            {"model": "softmax", "n": "2", "lam": ["-1"], "beta": "1", "gamma": "1/2"},
            "dS/dt",
            rounded_ball(lambda: ball_value(rate, case), settings.digits).text,
            "the entropy falls here",
        ),
        established="under one head of negative strength the entropy of equiangular tokens falls, "
        "for every n, beta > 0 and overlap",
        domain="one softmax head, equiangular tokens, gamma in (-1/(n-1), 1)",
        does_not_show="which other heads and tokens let it fall",
        method="sign of the derived rate by exact decision",
    )


@dataclass(frozen=True)
class Rows:
    """Tokens on a circle under one head M = V = I, and the token whose entropy is looked at."""

    tokens: tuple[tuple[Fraction, Fraction], ...]
    token: int
    temperature: Fraction

    def slope(self) -> arb:
        """Return ``dS_i/dt`` from the flow in coordinates."""
        one, zero = arb(1), arb(0)
        identity = [[one, zero], [zero, one]]
        tokens = [[exact_ball(c) for c in x] for x in self.tokens]
        flow = Flow("softmax", tokens, [identity], [identity], exact_ball(self.temperature))
        rates = flow.token_rates()
        x, moves = tokens[self.token], rates[self.token]
        slopes = [inner(moves, y) + inner(x, rate) for y, rate in zip(tokens, rates, strict=True)]
        series = [
            (arb_series([inner(x, y), slope], 2) * exact_ball(self.temperature)).exp()
            for y, slope in zip(tokens, slopes, strict=True)
        ]
        total = sum(series[1:], series[0])
        terms = [w / total * (w / total).log() for w in series]
        return arb(-sum(terms[1:], terms[0])[1])


def check_rows(rows: Rows, settings: Settings) -> Evidence:
    """Decide the sign of one token's ``dS/dt`` in balls, from the flow in coordinates."""
    (sign,) = settled_signs(lambda: (rows.slope(),), settings.digits)
    return case_evidence(
        Level.POINTWISE,
        sign == -1,
        lambda: Counterexample(
            {
                "model": "softmax",
                "M": "identity",
                "V": "identity",
                "x": [f"({exact_text(a)}, {exact_text(b)})" for a, b in rows.tokens],
                "token": str(rows.token + 1),
                "beta": exact_text(rows.temperature),
            },
            "dS_i/dt",
            rounded_ball(rows.slope, settings.digits).text,
            "the entropy of this token falls",
        ),
        established="a token's attention entropy falls under M = V = I",
        domain="one configuration on a circle, one head M = V = I",
        does_not_show="which other tokens let it fall",
        method="flow in coordinates and a power series of the entropy, in balls",
    )


_NEGATIVE = Range(upper=sp.S.Zero, upper_open=True)
_RATE = entropy_rate.RATE
_TRUE = Statement()
_WRONG_RATES = (
    ("the opposite sign", replace(_TRUE, rate=-_RATE)),
    ("beta for beta^2", replace(_TRUE, rate=_RATE / beta)),
    (
        "the second moment for the covariance",
        replace(_TRUE, rate=-(beta**2) * entropy_rate.C / entropy_rate.Z),
    ),
    (
        "the variance for the covariance",
        replace(
            _TRUE,
            rate=_RATE.subs({entropy_rate.A: entropy_rate.B, entropy_rate.C: entropy_rate.D}),
        ),
    ),
    ("sums that are not divided by Z", replace(_TRUE, rate=_RATE.subs(entropy_rate.Z, 1))),
)
_WRONG_PARTS = (
    ("dZ/dt without beta", replace(_TRUE, weights=entropy_rate.A)),
    ("dB/dt without the slope of the scores", replace(_TRUE, scored=beta * entropy_rate.C)),
    ("S = ln Z + beta B/Z", replace(_TRUE, entropy=2 * sp.log(entropy_rate.Z) - _TRUE.entropy)),
)
_ROWS = Rows(
    (
        (Fraction(1), Fraction(0)),
        (Fraction(8, 17), Fraction(15, 17)),
        (Fraction(-99, 101), Fraction(20, 101)),
    ),
    2,
    Fraction(2),
)
_WRONG_ROWS = (
    ("the first token", replace(_ROWS, token=0)),
    ("two tokens", replace(_ROWS, tokens=_ROWS.tokens[:2], token=1)),
)

CLAIMS = (
    Claim(
        id="entropy-identity",
        source="Thm 27",
        statement=r"$dS_i^h/dt = -\beta^2\, \mathrm{Cov}_p(s_j, \dot s_j)$",
        reading="p = softmax(beta s), any smooth s",
        model="softmax",
        checkers=(
            Checker("term by term", check_identity, _TRUE, (*_WRONG_RATES, *_WRONG_PARTS)),
            Checker("entropy as a power series", check_identity_points, _TRUE, _WRONG_RATES),
        ),
    ),
    Claim(
        id="entropy-rises",
        source="finding (Thm 27 in general)",
        statement="the attention entropy of every token rises along the flow",
        reading="softmax, any tokens and heads",
        model="softmax",
        uses=("entropy-identity", "entropy-monotone", "equiangular-reduction"),
        checkers=(
            Checker(
                "one negative head",
                check_negative_head,
                _NEGATIVE,
                (("positive strengths", above(0)), ("strengths of any sign", Range())),
            ),
            Checker("three tokens on a circle", check_rows, _ROWS, _WRONG_ROWS),
        ),
    ),
)
