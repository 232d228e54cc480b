"""The equiangular reduction that Theorems 22, 25 and 27 live in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
import sympy as sp
from flint import arb

from numeric.balls import Balls, ball_value, exact_ball
from numeric.collocation import Field, solve
from numeric.passage import bound_field
from numeric.walk import converted
from proofs.cases import ScalarCase, random_cases
from proofs.checks import Point, derivation_evidence, pointwise_evidence, settled_agreement
from proofs.claim import Checker, Claim, Settings
from proofs.evidence import Evidence
from proofs.simulated import DIGITS as SIMULATED_DIGITS
from proofs.simulated import Comparison, simulated, simulated_evidence
from symbolic import equiangular
from symbolic.flow import Model
from symbolic.flow_rules import summed_over_heads
from symbolic.notation import gamma, h, n, strengths
from symbolic.numbers import exact_text
from symbolic.passage import eps

Rates = Mapping[Model, sp.Expr]


def check_derivations(rates: Rates, _settings: Settings) -> Evidence:
    """Derive the reduced equation of each model exactly."""
    return derivation_evidence(
        [equiangular.derivation(model, rate) for model, rate in rates.items()],
        [equiangular.one_head(model, rate) for model, rate in rates.items()],
        established="equiangular tokens stay equiangular, and gamma' is the sum over heads of the "
        "stated rates",
        domain="scalar heads of any real strengths, n >= 2, beta >= 0, -1/(n-1) < gamma < 1",
        does_not_show="anything for tokens that are not equiangular, or heads that are not scalar",
    )


def check_points(rates: Rates, settings: Settings) -> Evidence:
    """Compare the rates with the flow in coordinates at exact points."""
    points = (
        _point(rate, case, pair, settings.digits)
        for model, rate in rates.items()
        for case in random_cases(model.value, settings.seed)
        for pair in ((0, 1), (case.tokens - 1, 0))
    )
    return pointwise_evidence(
        points,
        established="the rate of <x_i, x_j> from the flow in coordinates is the stated one, for "
        "two pairs of tokens, at every point tried",
        domain="n = 2 to 6, one to three strengths from -3 to 3, beta to 3, gamma in the interval",
        does_not_show="anything between the points; the exact evidence covers that",
        measures={"digits": str(settings.digits), "seed": str(settings.seed)},
    )


def check_simulated(rates: Rates, settings: Settings) -> Evidence:
    """Follow tokens in coordinates and the stated equation, and compare the overlaps."""
    return simulated_evidence(
        (
            run
            for model, rate in rates.items()
            for case in islice(random_cases(model.value, settings.seed), 3)
            for run in _simulated_runs(rate, case)
        ),
        established="tokens followed in coordinates have the overlap of the stated equation",
        domain="n = 2 to 4, one to three strengths from -3 to 3, beta to 3, times to 1/2",
        does_not_show="more than the runs made; the exact evidence covers the rest",
        seed=settings.seed,
    )


def _simulated_runs(rate: sp.Expr, case: ScalarCase) -> Iterator[Comparison]:
    """Yield the overlap of simulated tokens beside that of the stated equation."""
    times = [Fraction(1, 4), Fraction(1, 2)]
    tokens = simulated(case, times)
    start = exact_ball(case.overlap)
    stated = _followed(summed_over_heads(rate), case, times)
    for time, each, reduced in zip(times, tokens, stated, strict=True):
        moved = each.overlap - start
        yield Comparison(
            {**case.named, "t": exact_text(time)},
            "gamma(t)",
            reduced,
            each.overlap,
            arb(10) ** (2 - SIMULATED_DIGITS),
            # Tokens at rest, as under relu, are to stay where they are.
            arb(1) if moved.contains(0) else abs(moved),
        )


def _followed(rate: sp.Expr, case: ScalarCase, times: list[Fraction]) -> list[arb]:
    """Return the overlap at given times by the stated equation, another problem for the solver."""
    bindings = {key: value for key, value in case.bindings.items() if key != gamma}

    def in_balls(state: Sequence[arb]) -> list[Any]:
        balls = converted(bindings, Balls())
        return list(bound_field(rate.xreplace({gamma: eps}), balls, exact_ball)(state))

    heads = [rate.function.subs(strengths[h], x).subs(_plain(bindings)) for x in case.heads]
    plain = sp.lambdify(gamma, sp.Add(*heads), [{"Max": _larger}, "numpy"])
    run = solve(
        Field(in_balls, lambda states: plain(states) + 0 * states),
        lambda: [exact_ball(case.overlap)],
        times,
        SIMULATED_DIGITS,
    )
    return [state[0] for state in run.states]


def _plain(bindings: Mapping[sp.Basic, Any]) -> dict[sp.Basic, Any]:
    """Return the bindings of numbers, for what only steers the solver."""
    return {key: sp.Rational(str(x)) for key, x in bindings.items() if isinstance(x, Fraction)}


def _larger(first: Any, second: Any) -> Any:
    """Return the numbers with the larger real part: the solver also asks at complex numbers."""
    return np.where(np.real(first) > np.real(second), first, second)


def _point(rate: sp.Expr, case: ScalarCase, pair: tuple[int, int], digits: int) -> Point:
    def compute() -> tuple[arb, arb]:
        stated = ball_value(summed_over_heads(rate), case.bindings)
        return case.flow().overlap_rate(*pair), stated

    holds, value = settled_agreement(compute, digits)
    return Point(case.named, holds, "d<x_i, x_j>/dt in coordinates, and the stated rate", value)


def _wrong(model: Model, rate: sp.Expr) -> Rates:
    return {**equiangular.RATES, model: rate}


_WRONG_RATES = (
    ("softmax without the factor 2", _wrong(Model.SOFTMAX, equiangular.SOFTMAX / 2)),
    (
        "softmax with n for n - 1 in the denominator",
        _wrong(
            Model.SOFTMAX,
            equiangular.SOFTMAX.subs(n, n + 1) * (1 + (n - 1) * gamma) / (1 + n * gamma),
        ),
    ),
    ("unnormalised without 1/n", _wrong(Model.UNNORMALISED, n * equiangular.UNNORMALISED)),
    ("relu with the softmax rate", _wrong(Model.RELU, equiangular.SOFTMAX)),
)

CLAIMS = (
    Claim(
        id="equiangular-reduction",
        source="finding (setting of Thms 22, 25, 27); for one head as in arXiv:2312.10794",
        statement=r"equiangular tokens stay equiangular under scalar heads; $\dot\gamma$ is the "
        r"sum over heads of $2\lambda_h(1-\gamma)(1+(n-1)\gamma)$ times "
        r"$1/(e^{\beta\lambda_h(1-\gamma)}+n-1)$ (softmax), $e^{\beta\lambda_h\gamma}/n$ "
        r"(unnormalised), $\max(0, \lambda_h\gamma)/n$ (relu)",
        reading="the rate of <x_i, x_j>, i != j, for all pairs, in each of the three models",
        model="softmax, unnormalised and relu, spherical",
        hypotheses=("scalar heads", "equiangular tokens", "n >= 2"),
        checkers=(
            Checker("derivations", check_derivations, equiangular.RATES, _WRONG_RATES),
            Checker("flow in coordinates", check_points, equiangular.RATES, _WRONG_RATES),
            Checker("simulated tokens", check_simulated, equiangular.RATES, _WRONG_RATES),
        ),
    ),
)
