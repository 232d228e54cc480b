"""Theorem 25: clustering times of ReLU and softmax attention."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import sympy as sp
from flint import arb

from numeric.balls import ball_value, exact_ball
from proofs.cases import ScalarCase
from proofs.checks import Point, derivation_evidence, pointwise_evidence, settled_signs
from proofs.claim import Checker, Claim, Settings
from proofs.evidence import Evidence, Level, Outcome
from symbolic import linearised_times, relu_late
from symbolic.answer import Answer
from symbolic.decide import is_zero, sign_of
from symbolic.flow import Model
from symbolic.notation import beta, gamma, lam, n, start, stop
from symbolic.numbers import exact_text

# -- relu-vs-softmax ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Times:
    """The three linearised times."""

    drive: sp.Expr = linearised_times.DRIVE_TIME
    slope: sp.Expr = linearised_times.SLOPE_TIME
    relu: sp.Expr = linearised_times.RELU_TIME


def check_times(times: Times, _settings: Settings) -> Evidence:
    """Decide that the times are those of the linearised rates, and their orders."""
    zero = linearised_times.identities(times.drive, times.slope, times.relu)
    bounds = linearised_times.bounds(times.drive, times.slope, times.relu)
    region = linearised_times.REGION
    gaps = [words for words, d in zero.items() if is_zero(d, region) is not Answer.YES]
    gaps += [words for words, d in bounds.items() if not sign_of(d, region).is_nonnegative]
    return Evidence(
        Level.EXACT,
        Outcome.UNDECIDED if gaps else Outcome.SUPPORTS,
        f"nothing: '{gaps[0]}' is not shown"
        if gaps
        else "T = n gamma_1/(2 lambda) with constant drive, and at most that with the slope, so "
        "O(n); relu: (n/(2 lambda^2)) ln(gamma_1/gamma_0), at most (n/(4 lambda^2)) ln d from "
        "gamma_0 = 1/sqrt(d), so O(n log d)",
        "one head of strength lambda > 0, n >= 2, beta > 0, 0 < gamma_0 <= gamma_1 <= 1",
        "that the orders are sharp: with the slope the time is of order log n; anything about the "
        "nonlinear flow, where relu takes about (n/2) ln(1 + sqrt(d)/n)",
        f"{len(zero)} identities and {len(bounds)} signs by exact decision",
        covers_reading=True,
    )


def check_times_points(times: Times, settings: Settings) -> Evidence:
    """Compare the times with those of rates linearised numerically, from flows in coordinates."""
    return pointwise_evidence(
        _times_points(times, settings.digits),
        established="the times agree to 1e-15 with those of the rate and its difference quotient "
        "at gamma = 0, from the flows in coordinates, at every point tried",
        domain="n = 2, 3 and 6, beta = 1/2 and 2, lambda = 1/2 and 3, gamma_0 = 1/100, gamma_1 = "
        "1/10 and 1/2",
        does_not_show="anything between the points; the exact evidence covers that",
        measures={"digits": str(settings.digits)},
    )


def _times_points(times: Times, digits: int) -> Iterator[Point]:
    for tokens in (2, 3, 6):
        for temperature in (Fraction(1, 2), Fraction(2)):
            for strength in (Fraction(1, 2), Fraction(3)):
                for end in (Fraction(1, 10), Fraction(1, 2)):
                    yield _times_point(times, tokens, temperature, strength, end, digits)


def _times_point(
    times: Times,
    tokens: int,
    temperature: Fraction,
    strength: Fraction,
    end: Fraction,
    digits: int,
) -> Point:
    small, begin = Fraction(1, 10**30), Fraction(1, 100)
    bindings = {
        n: Fraction(tokens),
        beta: temperature,
        lam: strength,
        start: begin,
        stop: end,
    }

    def line(model: Model) -> tuple[arb, arb]:
        values = [
            ScalarCase(model, tokens, (strength,), temperature, at).flow().overlap_rate(0, 1)
            for at in (Fraction(0), small)
        ]
        return values[0], (values[1] - values[0]) / exact_ball(small)

    def compute() -> tuple[arb, ...]:
        value, tilt = line(Model.UNNORMALISED)
        _, growth = line(Model.RELU)
        last, first = exact_ball(end), exact_ball(begin)
        measured = (
            last / value,
            (1 + tilt * last / value).log() / tilt,
            (last / first).log() / growth,
        )
        stated = (times.drive, times.slope, times.relu)
        return tuple(
            arb(10) ** -15 - abs(ball_value(time, bindings) - found)
            for time, found in zip(stated, measured, strict=True)
        )

    signs = settled_signs(compute, max(digits, 40))
    holds = None if None in signs else all(sign == 1 for sign in signs)
    named: dict[str, str | list[str]] = {
        "n": str(tokens),
        "beta": exact_text(temperature),
        "lam": exact_text(strength),
        "gamma_0": exact_text(begin),
        "gamma_1": exact_text(end),
    }
    return Point(named, holds, "1e-15 less the distance of each time, signs", str(signs))


# -- relu-late ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ahead:
    """Where one relu head is said to be ahead of one softmax and of one unnormalised head.

    Attributes:
        softmax: the region in which it is ahead of softmax.
        unnormalised: the region in which it is ahead of the unnormalised model.
        late_slope: what has to be positive for it to be ahead of softmax late, for lambda = 1.
        never: the strength for which it is never ahead of the unnormalised model.
    """

    softmax: sp.Gt = relu_late.AHEAD_OF_SOFTMAX
    unnormalised: sp.Gt = relu_late.AHEAD_OF_UNNORMALISED
    late_slope: sp.Expr = relu_late.LATE_SLOPE
    never: int = 1

    @property
    def regions(self) -> dict[Model, sp.Gt]:
        """Return the regions by the other model."""
        return {Model.SOFTMAX: self.softmax, Model.UNNORMALISED: self.unnormalised}


def check_ahead(statement: Ahead, _settings: Settings) -> Evidence:
    """Derive both regions from the rates of the overlap, by equivalences, and who is ahead late.

    The margin against softmax vanishes at eps = 0, so its first derivative there that does not
    vanish has its sign for small eps.
    """
    chains = [relu_late.derivation(model, region) for model, region in statement.regions.items()]
    return derivation_evidence(
        [
            *chains,
            relu_late.late_derivation(statement.late_slope),
            relu_late.never_derivation(statement.never),
        ],
        [
            *statement.regions.values(),
            *relu_late.late_relations(statement.late_slope),
            relu_late.NEVER,
        ],
        established="relu is ahead of softmax iff e^(beta lambda eps) > 1 + n (1 - lambda gamma)/"
        "(lambda gamma), for lambda = 1: iff e^(beta eps) > 1 + n eps/(1 - eps), so for all "
        "small eps if beta > n or beta = n >= 3, and for none if beta < n or beta = n = 2; it is "
        "ahead of the unnormalised model iff lambda gamma > e^(beta lambda gamma), never for "
        "lambda = 1",
        domain="one head of strength lambda > 0, n >= 2, beta >= 0, gamma = 1 - eps in (0, 1)",
        does_not_show="which model clusters first: that takes whole trajectories; anything at "
        "gamma <= 0, where relu stands still; from which beta on it is ahead of softmax somewhere",
        cited="Taylor: the first derivative at 0 that does not vanish has the sign near 0",
    )


def check_ahead_points(statement: Ahead, settings: Settings) -> Evidence:
    """Compare rates of the overlap from the flows in coordinates with the stated regions."""
    signs: set[tuple[Model, int]] = set()
    evidence = pointwise_evidence(
        _ahead_points(statement, settings.digits, signs),
        established="relu is ahead exactly in the stated regions at every point tried, and both "
        "ahead and behind occur for both models",
        domain="n = 2, 3 and 5, beta = 1/10 to 8, lambda = 1/2, 1 and 4, gamma = 1/10 to 99/100; "
        "lambda = 1 and beta within 1e-6 of the boundary against softmax (relative)",
        does_not_show="anything between the points; the exact evidence covers that",
        measures={"digits": str(settings.digits)},
    )
    if signs >= {(model, sign) for model in statement.regions for sign in (-1, 1)}:
        return evidence
    return replace(evidence, outcome=Outcome.UNDECIDED, established="nothing: one side only")


_STRENGTHS = (Fraction(1, 2), Fraction(1), Fraction(4))


def _ahead_points(statement: Ahead, digits: int, signs: set[tuple[Model, int]]) -> Iterator[Point]:
    """Yield the points, and note in ``signs`` which sides of which regions were met."""
    for tokens in (2, 3, 5):
        for overlap in _OVERLAPS:
            grid = product((Fraction(1, 10), Fraction(1), Fraction(4), Fraction(8)), _STRENGTHS)
            for temperature, strength in (*grid, *_near_boundary(tokens, overlap)):
                for model, region in statement.regions.items():
                    case = ScalarCase(model, tokens, (strength,), temperature, overlap)
                    point, sign = _ahead_point(region, case, digits)
                    signs.add((model, sign))
                    yield point


def _near_boundary(tokens: int, overlap: Fraction) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield inverse temperatures close to the boundary against softmax, for strength 1."""
    eps = float(1 - overlap)
    boundary = math.log1p(tokens * eps / (1 - eps)) / eps
    for side in (-1, 1):
        yield Fraction(round(boundary * (1 + side * 1e-6) * 10**12), 10**12), Fraction(1)


_OVERLAPS = (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10), Fraction(99, 100))


def _ahead_point(region: sp.Gt, case: ScalarCase, digits: int) -> tuple[Point, int]:
    relu = ScalarCase(Model.RELU, case.tokens, case.heads, case.temperature, case.overlap)
    bindings = {
        n: Fraction(case.tokens),
        beta: case.temperature,
        lam: case.heads[0],
        gamma: case.overlap,
    }

    def compute() -> tuple[arb, ...]:
        difference = relu.flow().overlap_rate(0, 1) - case.flow().overlap_rate(0, 1)
        return difference, ball_value(region.lhs - region.rhs, bindings)

    rates, stated = settled_signs(compute, digits)
    holds = None if None in (rates, stated) else rates == stated
    named = {**case.named, "against": str(case.model), "model": "relu"}
    return Point(named, holds, "signs of the difference of rates and of the region", str(rates)), (
        rates or 0
    )


_TIMES = Times()
_WRONG_TIMES = (
    ("half the drive's time", Times(drive=_TIMES.drive / 2)),
    ("n - 1 for n - 2 in the slope", Times(slope=_TIMES.slope.subs(beta, beta + 1 / lam))),
    ("lambda for lambda^2 under relu", Times(relu=_TIMES.relu * lam)),
    ("relu without 1/n", Times(relu=_TIMES.relu / n)),
)
_AHEAD = Ahead()
_EXPONENT = relu_late.AHEAD_OF_SOFTMAX.lhs
_WRONG_REGIONS = (
    (
        "n - 1 for n",
        Ahead(
            softmax=sp.Gt(
                _EXPONENT,
                1 + (n - 1) * (1 - lam * gamma) / (lam * gamma),
                evaluate=False,
            )
        ),
    ),
    ("without the 1", Ahead(softmax=sp.Gt(_EXPONENT, _AHEAD.softmax.rhs - 1, evaluate=False))),
    (
        "lambda gamma > e^(-beta lambda gamma)",
        Ahead(unnormalised=sp.Gt(lam * gamma, sp.exp(-beta * lam * gamma), evaluate=False)),
    ),
    (
        "gamma for lambda gamma",
        Ahead(unnormalised=sp.Gt(gamma, sp.exp(beta * lam * gamma), evaluate=False)),
    ),
)
_WRONG_AHEAD = (
    *_WRONG_REGIONS,
    ("late from beta > 2 n", Ahead(late_slope=beta - 2 * n)),
    ("late for every beta", Ahead(late_slope=beta)),
    ("never ahead of unnormalised for lambda = 4", Ahead(never=4)),
)

CLAIMS = (
    Claim(
        id="relu-vs-softmax",
        source="Thm 25",
        statement=r"linearised near $\gamma = 0$: $T_{\mathrm{softmax}} = O(n)$, "
        r"$T_{\mathrm{ReLU}} = O(n \log d)$ from $\gamma_0 \sim 1/\sqrt{d}$",
        reading="unnormalised (exponential) and relu, both with the factor 1/n",
        model="unnormalised and relu",
        hypotheses=(
            "one scalar head of positive strength",
            "equiangular tokens",
            "beta > 0",
            "0 < gamma_0 <= gamma_1 <= 1",
        ),
        uses=("equiangular-reduction",),
        checkers=(
            Checker("identities and bounds", check_times, _TIMES, _WRONG_TIMES),
            Checker("flows in coordinates", check_times_points, _TIMES, _WRONG_TIMES),
        ),
    ),
    Claim(
        id="relu-late",
        source="remark to Thm 25",
        statement="ReLU may be ahead at late times, where softmax over-concentrates",
        reading="the exact region where relu is ahead of softmax; also of unnormalised",
        model="relu against softmax and unnormalised",
        hypotheses=(
            "one scalar head of positive strength",
            "equiangular tokens",
            "a positive overlap",
        ),
        uses=("equiangular-reduction",),
        checkers=(
            Checker("derivation", check_ahead, _AHEAD, _WRONG_AHEAD),
            Checker("flows in coordinates", check_ahead_points, _AHEAD, _WRONG_REGIONS),
        ),
    ),
)
