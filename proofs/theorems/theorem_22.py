"""Theorem 22: clustering rates of the equiangular regime, and super-additivity."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import islice

import sympy as sp
from flint import arb

from numeric.balls import ball_value, exact_ball
from numeric.definitions import equiangular_tokens, scalar_flow
from numeric.evaluate import evaluate
from proofs.cases import ScalarCase, random_cases
from proofs.checks import (
    Point,
    derivation_evidence,
    pointwise_evidence,
    settled_agreement,
    settled_signs,
)
from proofs.claim import Checker, Claim, Settings
from proofs.evidence import Evidence, Outcome
from proofs.simulated import Comparison, simulated, simulated_evidence
from symbolic import equiangular, foreign_strength, late_rate, rate, rate_inflection, rate_peak
from symbolic.answer import Answer
from symbolic.decide import is_zero
from symbolic.flow import Model
from symbolic.flow_rules import summed_over_heads
from symbolic.notation import H, beta, gamma, lam, n
from symbolic.numbers import exact_text
from symbolic.rules import equation

_COUNTS = (2, 3, 64, 10**6)
_TEMPERATURES = (Fraction(1, 3), Fraction(2))

# -- early-rate -----------------------------------------------------------------------------------


def check_early_derivation(term: sp.Expr, _settings: Settings) -> Evidence:
    """Derive ``gamma' = sum of terms`` at orthonormal tokens exactly."""
    total = summed_over_heads(term)
    return derivation_evidence(
        [rate.derivation(term), rate.early_derivation(total)],
        [equation(rate.SYMBOL, term), equation(rate.EARLY_SYMBOL, total)],
        established="gamma' = sum_h phi(lambda_h) at gamma = 0",
        domain="scalar heads of any real strengths, orthonormal tokens, n >= 2, beta >= 0",
        does_not_show="anything at later times: away from gamma = 0 the rate function is another",
    )


def check_early_points(term: sp.Expr, settings: Settings) -> Evidence:
    """Compare the sum of terms with the softmax flow in coordinates at orthonormal tokens."""
    total = summed_over_heads(term)
    cases = random_cases("softmax", settings.seed, orthonormal=True)
    return pointwise_evidence(
        (_early_point(total, case, settings.digits) for case in cases),
        established="the rate of <x_1, x_2> from the flow in coordinates is the early rate at "
        "every point tried",
        domain="orthonormal tokens, n = 2 to 6, one to three strengths from -3 to 3, beta to 3",
        does_not_show="anything between the points; the exact evidence covers that",
        measures={"digits": str(settings.digits), "seed": str(settings.seed)},
    )


def _early_point(total: sp.Expr, case: ScalarCase, digits: int) -> Point:
    def compute() -> tuple[arb, arb]:
        return case.flow().overlap_rate(0, 1), ball_value(total, case.bindings)

    holds, value = settled_agreement(compute, digits)
    return Point(
        case.named, holds, "d<x_1, x_2>/dt in coordinates, and the stated early rate", value
    )


def check_early_simulated(term: sp.Expr, settings: Settings) -> Evidence:
    """Compare the overlap soon after the start, over time, with the sum of terms."""
    total, soon = summed_over_heads(term), Fraction(1, 10**15)

    def compared(case: ScalarCase) -> Comparison:
        (tokens,) = simulated(case, [soon])
        stated = ball_value(total, case.bindings)
        return Comparison(
            case.named,
            "gamma(t)/t at t = 1e-15",
            stated,
            tokens.overlap / exact_ball(soon),
            arb(10) ** -12,
            arb(1),
        )

    return simulated_evidence(
        (compared(case) for case in _few(random_cases("softmax", settings.seed, orthonormal=True))),
        established="the overlap of simulated tokens starts at the early rate",
        domain="orthonormal tokens, n = 2 to 4, one to three strengths from -3 to 3, beta to 3",
        does_not_show="more than the runs made; the exact evidence covers the rest",
        seed=settings.seed,
    )


def _few(cases: Iterator[ScalarCase]) -> Iterator[ScalarCase]:
    """Return the cases with the fewest tokens: simulations take long."""
    return islice(cases, 3)


# -- late-rate ------------------------------------------------------------------------------------


def check_late_derivation(term: sp.Expr, _settings: Settings) -> Evidence:
    """Derive the limit of ``gamma'/(1 - gamma)``, and the next order that excludes a zero total.

    Let ``eps' = -eps r(eps)``; r is analytic at 0 and ``r(0) = 2 Lambda``. If Lambda < 0, or
    Lambda = 0 and ``r'(0) < 0``, then eps grows near 0 and nothing clusters. So Lambda > 0, eps
    decays exponentially, and ``ln eps + 2 Lambda t``, whose slope is O(eps), converges.
    """
    contraction = sp.cancel(equiangular.SOFTMAX / (1 - gamma))
    slope = sp.diff(contraction, gamma).subs(gamma, 1)
    # With the total zero only the second term is left: negative unless beta or all strengths are 0.
    expected = 2 * lam * (n - 1) / n + 2 * beta * lam**2 / n
    next_order = is_zero(slope - expected, late_rate.CLOSED_REGION) is Answer.YES
    evidence = derivation_evidence(
        [late_rate.model_derivation(Model.SOFTMAX, summed_over_heads(term))],
        [equation(late_rate.FORMULA.symbol, summed_over_heads(term))],
        established="eps' = -eps r(eps) with r analytic at 0 and r(0) = 2 Lambda; a trajectory "
        "that clusters has Lambda > 0, and eps e^(2 Lambda t) converges to some C > 0",
        domain="scalar heads of any real strengths, n >= 2, beta >= 0, where gamma -> 1",
        does_not_show="the value of C, nor which trajectories cluster (positive strengths suffice)",
        cited="the argument on eps' = -eps r(eps) in the checker's docstring, from r(0) and r'(0), "
        "which are derived",
    )
    if next_order:
        return evidence
    return replace(evidence, outcome=Outcome.UNDECIDED, established="nothing: r'(0) is not derived")


def check_late_points(term: sp.Expr, settings: Settings) -> Evidence:
    """Compare the contraction of almost agreeing tokens, in coordinates, with the sum of terms."""
    total = summed_over_heads(term)
    points = (
        _late_point(total, replace(case, overlap=1 - eps), settings.digits)
        for case in random_cases("softmax", settings.seed, positive=True)
        for eps in (Fraction(1, 10**6), Fraction(1, 10**20))
    )
    return pointwise_evidence(
        points,
        established="the contraction -eps'/eps from the flow in coordinates is within 100 eps of "
        "2 Lambda at every point tried",
        domain="n = 2 to 6, one to three strengths to 3, beta to 3, eps = 1e-6 and 1e-20",
        does_not_show="the limit itself; the exact evidence covers that",
        measures={"digits": str(settings.digits), "seed": str(settings.seed)},
    )


def _late_point(total: sp.Expr, case: ScalarCase, digits: int) -> Point:
    def compute() -> tuple[arb, ...]:
        eps = exact_ball(1 - case.overlap)
        contraction = case.flow().overlap_rate(0, 1) / eps
        return (100 * eps - abs(contraction - ball_value(total, case.bindings)),)

    (sign,) = settled_signs(compute, digits)
    return Point(
        case.named,
        None if sign is None else sign == 1,
        "sign of 100 eps - |contraction - 2 Lambda|",
        str(sign),
    )


def check_late_simulated(term: sp.Expr, settings: Settings) -> Evidence:
    """Compare the decay of the gap late in simulated runs with the sum of terms."""
    total = summed_over_heads(term)

    def compared(case: ScalarCase) -> Comparison:
        late = _late_time(case)
        first, last = simulated(case, [late, late + 1])
        return Comparison(
            case.named,
            "ln(eps(t)/eps(t + 1))",
            ball_value(total, case.bindings),
            (first.gap / last.gap).log(),
            1000 * first.gap.upper(),
            arb(1),
        )

    return simulated_evidence(
        (compared(case) for case in _few(random_cases("softmax", settings.seed, positive=True))),
        established="the gap between simulated tokens decays at the rate 2 Lambda once it is small",
        domain="n = 2 to 4, one to three strengths to 3, beta to 3, gaps below 1e-11",
        does_not_show="more than the runs made; the exact evidence covers the rest",
        seed=settings.seed,
    )


def _late_time(case: ScalarCase) -> Fraction:
    """Return a time at which the gap is about 1e-12; that it is small is measured, not assumed."""
    found = evaluate(
        "clustering-time",
        digits=6,
        model=case.model,
        lam=case.heads,
        beta=case.temperature,
        n=case.tokens,
        start=case.overlap,
        stop=1 - Fraction(1, 10**12),
    )
    return Fraction(found.value)


# -- rate-convexity and rate-peak -----------------------------------------------------------------


def check_inflection_derivation(candidate: sp.Expr, _settings: Settings) -> Evidence:
    """Derive the one inflection exactly: signs of the curvature on both sides of it."""
    return derivation_evidence(
        [rate.derivation(), rate_inflection.derivation(candidate)],
        [equation(rate_inflection.SYMBOL, candidate)],
        established="on lambda > 0 the rate function has exactly one inflection lambda_c, with "
        "lambda_c beta > 2, beyond the peak; it is concave before it and convex beyond",
        domain="every n >= 2, beta > 0, lambda > 0",
        does_not_show="anything for lambda < 0, where there is a second inflection",
    )


def check_inflection_points(candidate: sp.Expr, settings: Settings) -> Evidence:
    """Compare chords of the rate function with its middle, on both sides of the candidate."""
    return pointwise_evidence(
        _side_points(candidate, _chord, settings.digits),
        established="the rate function lies below short chords just beyond lambda_c and above them "
        "just before it, at every point tried",
        domain="n = 2, 3, 64, 10^6, beta = 1/3 and 2, chords within 1e-6 of lambda_c (relative)",
        does_not_show="anything between the points; the exact evidence covers that",
        measures={"digits": str(settings.digits)},
    )


def check_peak_derivation(candidate: sp.Expr, _settings: Settings) -> Evidence:
    """Derive the peak exactly: the zero of the slope, its uniqueness, the branch of W."""
    return derivation_evidence(
        [rate.derivation(), rate_peak.derivation(candidate)],
        [equation(rate_peak.SYMBOL, candidate)],
        established="the rate function rises up to lambda_peak = (1 + W_0((n-1)/e))/beta and falls "
        "beyond; the argument is positive, so no other branch is real",
        domain="every n >= 2, beta > 0, lambda > 0",
        does_not_show="anything for lambda <= 0, where the rate function is not positive",
    )


def check_peak_points(candidate: sp.Expr, settings: Settings) -> Evidence:
    """Compare the rate function at points on both sides of the candidate."""
    return pointwise_evidence(
        _side_points(candidate, _rise, settings.digits),
        established="the rate function rises just before lambda_peak and falls just beyond, at "
        "every point tried",
        domain="n = 2, 3, 64, 10^6, beta = 1/3 and 2, within 1e-6 of lambda_peak (relative)",
        does_not_show="anything between the points; the exact evidence covers that",
        measures={"digits": str(settings.digits)},
    )


Phi = Callable[[arb], arb]


def _chord(phi: Phi, low: arb, middle: arb, high: arb) -> arb:
    """Return how far the chord is above the middle: positive where phi is convex."""
    return phi(low) + phi(high) - 2 * phi(middle)


def _rise(phi: Phi, low: arb, _middle: arb, high: arb) -> arb:
    """Return how far phi falls from low to high: positive beyond a peak."""
    return phi(low) - phi(high)


def _side_points(
    candidate: sp.Expr, quantity: Callable[[Phi, arb, arb, arb], arb], digits: int
) -> Iterator[Point]:
    """Yield whether a quantity is negative just before the candidate and positive just beyond."""
    for tokens in _COUNTS:
        for temperature in _TEMPERATURES:
            yield _side_point(candidate, quantity, tokens, temperature, digits)


def _side_point(
    candidate: sp.Expr,
    quantity: Callable[[Phi, arb, arb, arb], arb],
    tokens: int,
    temperature: Fraction,
    digits: int,
) -> Point:
    def phi(strength: arb) -> arb:
        return 2 * strength / ((strength * exact_ball(temperature)).exp() + tokens - 1)

    def compute() -> tuple[arb, ...]:
        at = ball_value(candidate, {n: Fraction(tokens), beta: temperature})
        step = arb(10) ** -6
        # Balls of uncertain points would blur the quantity: their middles are exact.
        ends = [(at * (1 + k * step)).mid() for k in (-3, -1, 1, 3)]
        return tuple(
            quantity(phi, low, (low + high) / 2, high) for low, high in (ends[:2], ends[2:])
        )

    before, beyond = settled_signs(compute, digits)
    return Point(
        {"n": str(tokens), "beta": exact_text(temperature)},
        None if None in (before, beyond) else (before, beyond) == (-1, 1),
        "sign before and beyond",
        f"{before}, {beyond}",
    )


def check_inflection_simulated(candidate: sp.Expr, settings: Settings) -> Evidence:
    """Compare early growth under one head of three strengths, on both sides of the candidate."""
    return simulated_evidence(
        _simulated_sides(candidate, _chord),
        established="simulated tokens under strengths well beyond lambda_c grow faster on average "
        "over two strengths than under their mean, and slower well before it",
        domain="orthonormal tokens, n = 3, beta = 2, strengths 10 to 20 per cent from lambda_c",
        does_not_show="where between these strengths the rate function turns",
        seed=settings.seed,
    )


def check_peak_simulated(candidate: sp.Expr, settings: Settings) -> Evidence:
    """Compare early growth under one head of two strengths, on both sides of the candidate."""
    return simulated_evidence(
        _simulated_sides(candidate, _rise),
        established="simulated tokens grow faster under stronger heads before lambda_peak, and "
        "slower beyond it",
        domain="orthonormal tokens, n = 3, beta = 2, strengths 10 to 20 per cent from lambda_peak",
        does_not_show="where between these strengths the peak is",
        seed=settings.seed,
    )


def _simulated_sides(
    candidate: sp.Expr, quantity: Callable[[Phi, arb, arb, arb], arb]
) -> Iterator[Comparison]:
    """Yield the sign of a quantity of simulated growth, before the candidate and beyond it."""
    tokens, temperature, soon = 3, Fraction(2), Fraction(1, 10**15)

    def growth(strength: arb) -> arb:
        case = ScalarCase("softmax", tokens, (_short(strength),), temperature)
        (late,) = simulated(case, [soon])
        return late.overlap / exact_ball(soon)

    at = ball_value(candidate, {n: Fraction(tokens), beta: temperature})
    for side, (near, far) in ((-1, (1.2, 1.1)), (1, (1.1, 1.2))):
        ends = [at * (1 + side * (arb(end) - 1)) for end in (near, far)]
        value = quantity(growth, ends[0], (ends[0] + ends[1]) / 2, ends[1])
        yield Comparison(
            {"n": str(tokens), "beta": exact_text(temperature), "side": str(side)},
            "sign before or beyond",
            arb(side),
            (value / abs(value)).mid(),
            arb(10) ** -9 / abs(value),
            arb(1),
        )


def _short(strength: arb) -> Fraction:
    """Return an exact strength close to a ball's middle."""
    return Fraction(round(float(strength) * 10**6), 10**6)


# -- foreign-heads --------------------------------------------------------------------------------


def check_foreign_derivation(candidate: sp.Expr, _settings: Settings) -> Evidence:
    """Derive the bound on the strength of the other heads exactly."""
    return derivation_evidence(
        [foreign_strength.derivation(candidate)],
        [equation(foreign_strength.SYMBOL, candidate)],
        established="H - 1 heads of strength mu > 0 leave Condition 8 of a head of strength "
        "lambda > 0 intact if and only if mu is at most the stated value of W_0",
        domain="orthonormal tokens, n >= 2, H >= 2, beta > 0",
        does_not_show="Condition 8 of the other heads, which is another condition",
    )


def check_foreign_points(candidate: sp.Expr, settings: Settings) -> Evidence:
    """Compare Condition 8 of the head, in coordinates, with ``mu <= candidate``."""
    return pointwise_evidence(
        _foreign_points(candidate, random.Random(settings.seed), settings.digits),
        established="Condition 8 of the head and mu <= mu* agree at every point tried",
        domain="orthonormal tokens, n = 2 to 8, H = 2 to 4, mu within 1e-9 of mu* (relative)",
        does_not_show="anything between the points; the exact evidence covers that",
        measures={"digits": str(settings.digits), "seed": str(settings.seed)},
    )


def _foreign_points(candidate: sp.Expr, source: random.Random, digits: int) -> Iterator[Point]:
    for heads in (2, 3, 4):
        for side in (-1, 1):
            strength = Fraction(source.randint(1, 30), 10)
            temperature = Fraction(source.randint(1, 30), 10)
            case = ScalarCase("unnormalised", source.randint(2, 8), (strength,), temperature)
            yield _foreign_point(candidate, case, heads, side, digits)


def _foreign_point(
    candidate: sp.Expr, case: ScalarCase, heads: int, side: int, digits: int
) -> Point:
    bindings = {**case.bindings, H: Fraction(heads), lam: case.heads[0]}

    def compute() -> tuple[arb, ...]:
        bound = ball_value(foreign_strength.EXPRESSION, bindings)
        other = bound.mid() * (1 + side * arb(10) ** -9)
        flow = scalar_flow(
            case.model,
            equiangular_tokens(case.tokens, case.overlap),
            [exact_ball(case.heads[0])] + [other] * (heads - 1),
            exact_ball(case.temperature),
        )
        return ball_value(candidate, bindings) - other, flow.condition_8_margin(0, 0)

    below, margin = settled_signs(compute, digits)
    return Point(
        {**case.named, "H": str(heads), "side": str(side)},
        None if None in (below, margin) else below == margin,
        "sign of mu* - mu and of the margin of Condition 8",
        f"{below}, {margin}",
    )


# -- the claims -----------------------------------------------------------------------------------

_PHI = rate.EXPRESSION
_WRONG_PHI = (
    ("without the factor 2", lam / (sp.exp(lam * beta) + n - 1)),
    ("n for n - 1", 2 * lam / (sp.exp(lam * beta) + n)),
    ("the exponent with the opposite sign", 2 * lam / (sp.exp(-lam * beta) + n - 1)),
    ("the unnormalised rate 2 lam/n", 2 * lam / n),
)
_LATE = late_rate.ONE_HEAD[Model.SOFTMAX]
_WRONG_LATE = (
    ("Lambda for 2 Lambda", lam),
    ("the unnormalised rate", late_rate.ONE_HEAD[Model.UNNORMALISED]),
    ("the relu rate", 2 * lam**2),
    ("divided by n", 2 * lam / n),
)
_INFLECTION = rate_inflection.EXPRESSION
_WRONG_INFLECTION = (
    ("the peak", rate_peak.EXPRESSION),
    ("2/beta", 2 / beta),
    ("0.1 per cent too far", _INFLECTION * sp.Rational(1001, 1000)),
    ("times beta for divided by beta", _INFLECTION * beta**2),
)
_PEAK = rate_peak.EXPRESSION
_WRONG_PEAK = (
    ("W at n/e", (1 + sp.LambertW(n / sp.exp(1), evaluate=False)) / beta),
    ("without the 1", sp.LambertW((n - 1) / sp.exp(1), evaluate=False) / beta),
    ("the inflection", rate_inflection.EXPRESSION),
)
# Simulated growth is compared well away from the strength, so it tells only what is far off.
_FAR_FROM_INFLECTION = (
    ("the peak", rate_peak.EXPRESSION),
    ("a third too far", _INFLECTION * sp.Rational(4, 3)),
)
_FAR_FROM_PEAK = (
    ("without the 1", sp.LambertW((n - 1) / sp.exp(1), evaluate=False) / beta),
    ("the inflection", rate_inflection.EXPRESSION),
)
_FOREIGN = foreign_strength.EXPRESSION
_WRONG_FOREIGN = (
    ("H for H - 1", _FOREIGN.subs(H, H + 1)),
    ("without W: the argument itself", _FOREIGN.args[0].args[0] / beta),
    ("twice as much", 2 * _FOREIGN),
)

CLAIMS = (
    Claim(
        id="late-rate",
        source="Thm 22",
        statement=r"$\varepsilon \sim C e^{-2\Lambda t}$",
        reading="late-time rate 2 Lambda of eps = 1 - gamma on a trajectory that clusters",
        model="softmax",
        hypotheses=("scalar heads", "equiangular tokens", "the trajectory clusters"),
        formulas=("late-rate",),
        uses=("equiangular-reduction",),
        checkers=(
            Checker("derivation", check_late_derivation, _LATE, _WRONG_LATE),
            Checker("flow in coordinates", check_late_points, _LATE, _WRONG_LATE),
            Checker("simulated tokens", check_late_simulated, _LATE, _WRONG_LATE),
        ),
    ),
    Claim(
        id="early-rate",
        source="Thm 22",
        statement=r"rate function $\phi(\lambda) = 2\lambda/(e^{\lambda\beta}+n-1)$",
        reading="gamma' at gamma = 0 is sum_h phi(lambda_h)",
        model="softmax",
        hypotheses=("scalar heads", "orthonormal tokens"),
        formulas=("rate", "early-rate"),
        uses=("equiangular-reduction",),
        checkers=(
            Checker("derivation", check_early_derivation, _PHI, _WRONG_PHI),
            Checker("flow in coordinates", check_early_points, _PHI, _WRONG_PHI),
            Checker("simulated tokens", check_early_simulated, _PHI, _WRONG_PHI),
        ),
    ),
    Claim(
        id="rate-convexity",
        source="Thm 22",
        statement=r"$\phi$ is convex beyond a point $\lambda_c$",
        reading="on lambda > 0 the rate function has exactly one inflection, concave before it and "
        "convex beyond",
        model="softmax",
        hypotheses=("lambda > 0", "beta > 0", "n >= 2"),
        formulas=("rate-inflection",),
        uses=("early-rate", "rate-peak"),
        checkers=(
            Checker("derivation", check_inflection_derivation, _INFLECTION, _WRONG_INFLECTION),
            Checker("chords in balls", check_inflection_points, _INFLECTION, _WRONG_INFLECTION),
            Checker(
                "simulated tokens", check_inflection_simulated, _INFLECTION, _FAR_FROM_INFLECTION
            ),
        ),
    ),
    Claim(
        id="rate-peak",
        source="finding (leads of Thm 22)",
        statement=r"$\phi$ is largest at $\lambda_{\mathrm{peak}} = (1+W_0((n-1)/e))/\beta$",
        reading="on lambda > 0 the rate function rises up to lambda_peak and falls beyond",
        model="softmax",
        hypotheses=("lambda > 0", "beta > 0", "n >= 2"),
        formulas=("rate-peak",),
        uses=("early-rate",),
        checkers=(
            Checker("derivation", check_peak_derivation, _PEAK, _WRONG_PEAK),
            Checker("values in balls", check_peak_points, _PEAK, _WRONG_PEAK),
            Checker("simulated tokens", check_peak_simulated, _PEAK, _FAR_FROM_PEAK),
        ),
    ),
    Claim(
        id="foreign-heads",
        source="finding (Condition 8 for unequal strengths)",
        statement=r"$H-1$ heads of strength $\mu > 0$ leave Condition 8 of a head of strength "
        r"$\lambda > 0$ intact iff $\mu \le W_0(\beta\lambda(n-1)/((H-1)"
        r"\sqrt{e^{2\beta\lambda}+n-1}))/\beta$",
        reading="as written, Condition 8 of that head alone, at orthonormal tokens",
        model="unnormalised",
        hypotheses=("positive strengths", "orthonormal tokens", "beta > 0", "H >= 2"),
        formulas=("foreign-strength",),
        checkers=(
            Checker("derivation", check_foreign_derivation, _FOREIGN, _WRONG_FOREIGN),
            Checker("Condition 8 in coordinates", check_foreign_points, _FOREIGN, _WRONG_FOREIGN),
        ),
    ),
)
