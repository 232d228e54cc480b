"""Theorem 11: the flow is a gradient ascent of the energy."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction

import sympy as sp
from flint import arb

from numeric.balls import ball_value, exact_ball
from numeric.definitions import inner
from numeric.rounding import rounded_ball
from proofs.checks import (
    Point,
    case_evidence,
    derivation_evidence,
    pointwise_evidence,
    settled_agreement,
    settled_signs,
)
from proofs.claim import Checker, Claim, Settings
from proofs.energy_cases import EnergyCase, Rows, energy_cases
from proofs.evidence import Counterexample, Evidence, Level, parameters_text
from symbolic import energy_balance as balance
from symbolic.decide import sign_of
from symbolic.energy_balance import Conditions
from symbolic.flow import Model
from symbolic.notation import n
from symbolic.positivity import Sign

_HYPOTHESES = ("score symmetry (Condition 3)", "value alignment (Condition 4)", "beta > 0")
_DOMAIN = "any n, d and H, flat and spherical"


@dataclass(frozen=True)
class Statement:
    """An identity of Theorem 11 with its factor, under conditions; both dynamics are judged."""

    factor: sp.Expr
    conditions: Conditions = field(default_factory=Conditions)

    @property
    def both(self) -> tuple[Conditions, Conditions]:
        """Return the conditions on the sphere and in the flat flow."""
        return self.conditions, replace(self.conditions, spherical=False)


def check_gradient_derivation(statement: Statement, _settings: Settings) -> Evidence:
    """Derive ``v_i = factor grad_{x_i} E`` over formal vectors."""
    return derivation_evidence(
        [balance.gradient_derivation(c, statement.factor) for c in statement.both],
        [balance.gradient_relation(statement.factor)],
        established="<v_i, y> = n <grad_{x_i} E, y> for every vector y; on the sphere for every "
        "tangential y",
        domain=_DOMAIN,
        does_not_show="the formulation with measures (Wasserstein), which needs the limit of many "
        "tokens; matrices that are not symmetric or not aligned",
    )


def check_gradient_points(statement: Statement, settings: Settings) -> Evidence:
    """Compare velocities in coordinates with the energy expanded along a direction."""
    return pointwise_evidence(
        (
            _gradient_point(statement.factor, case, settings)
            for conditions in statement.both
            for case in energy_cases(conditions, settings.seed)
        ),
        established="the slope of E along a direction, from its power series, is <v_i, y>/n at "
        "every point tried",
        domain="rational unit tokens and matrices, n = 1 to 4, d = 2 to 3, H = 1 to 3, beta to 2",
        does_not_show="anything between the points; the exact evidence covers that",
        measures={"digits": str(settings.digits), "seed": str(settings.seed)},
    )


def _gradient_point(factor: sp.Expr, case: EnergyCase, settings: Settings) -> Point:
    source = random.Random(settings.seed)
    tokens, dimension = len(case.tokens), len(case.tokens[0])
    direction = [Fraction(source.randint(-9, 9), 5) for _ in range(dimension)]

    def compute() -> tuple[arb, arb]:
        rest = [arb(0)] * dimension
        moved = case.along([[exact_ball(c) for c in direction]] + [rest] * (tokens - 1))
        slopes = [case.energy_slope(h, moved) for h in range(len(case.scores))]
        scale = ball_value(factor, {n: Fraction(tokens)})
        return inner(case.flow().velocity(0), moved[0]), scale * sum(slopes, arb(0))

    holds, value = settled_agreement(compute, settings.digits)
    quantity = "<v_1, y> and the stated multiple of the slope of E at x_1 along y"
    return Point(case.named, holds, quantity, value)


def check_rate_derivation(statement: Statement, _settings: Settings) -> Evidence:
    """Derive ``dE/dt = factor sum_i |x_i'|^2`` and its sign over formal vectors."""
    chains = [balance.rate_derivation(c, statement.factor) for c in statement.both]
    relation = balance.rate_relation(statement.factor)
    return derivation_evidence(
        chains,
        [relation, sp.Ge(relation.lhs, 0, evaluate=False)],
        established="dE/dt = (1/n) sum_i |x_i'|^2 >= 0 along the flow",
        domain=_DOMAIN,
        does_not_show="any single head's energy (Thms 16 and 17), nor matrices that are not "
        "symmetric or not aligned",
    )


def check_rate_points(statement: Statement, settings: Settings) -> Evidence:
    """Compare the energy expanded along the flow, in coordinates, with the tokens' speeds."""
    return pointwise_evidence(
        (
            _rate_point(statement.factor, case, settings.digits)
            for conditions in statement.both
            for case in energy_cases(conditions, settings.seed)
        ),
        established="the slope of E along the flow, from its power series, is the stated multiple "
        "of sum_i |x_i'|^2 at every point tried",
        domain="rational unit tokens and matrices, n = 1 to 4, d = 2 to 3, H = 1 to 3, beta to 2",
        does_not_show="anything between the points; the exact evidence covers that",
        measures={"digits": str(settings.digits), "seed": str(settings.seed)},
    )


def _rate_point(factor: sp.Expr, case: EnergyCase, digits: int) -> Point:
    def compute() -> tuple[arb, arb]:
        rates = case.rates()
        slopes = [case.energy_slope(h, rates) for h in range(len(case.scores))]
        scale = ball_value(factor, {n: Fraction(len(rates))})
        return sum(slopes, arb(0)), scale * sum((inner(v, v) for v in rates), arb(0))

    holds, value = settled_agreement(compute, digits)
    return Point(case.named, holds, "dE/dt and the stated multiple of sum_i |x_i'|^2", value)


# -- softmax --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DiagonalWitness:
    """One token (c, s) under heads ``strengths[h] e_h e_h^T`` on an axis each, exact.

    Attributes:
        strengths: one for each axis; 0 for no head there.
        share: ``c^2``, rational.
        exp_beta: ``e^beta``, rational.
        model: unnormalised or softmax.
    """

    strengths: tuple[int, int]
    share: sp.Rational
    exp_beta: int
    model: Model = Model.SOFTMAX

    @property
    def rate(self) -> sp.Expr:
        """Return ``dE/dt`` from the definitions; the weight of a single token is 1 in softmax."""
        x = (sp.sqrt(self.share), sp.sqrt(1 - self.share))
        images = [strength * c for strength, c in zip(self.strengths, x, strict=True)]
        weights = [
            sp.Integer(self.exp_beta) ** (image * c) for image, c in zip(images, x, strict=True)
        ]
        used = weights if self.model is Model.UNNORMALISED else [sp.S.One, sp.S.One]
        velocity = [w * image for w, image in zip(used, images, strict=True)]
        radial = sp.Add(*(v * c for v, c in zip(velocity, x, strict=True)))
        moves = [v - radial * c for v, c in zip(velocity, x, strict=True)]
        terms = (w * m * image for w, m, image in zip(weights, moves, images, strict=True))
        return sp.factor(sp.expand(sp.Add(*terms)))


def check_softmax_exact(witness: DiagonalWitness, _settings: Settings) -> Evidence:
    """Decide the sign of ``dE/dt`` at one case with algebraic data exactly."""
    rate = witness.rate
    sign = sign_of(rate)
    share = witness.share
    parameters: dict[str, str | list[str]] = {
        "model": f"{witness.model}, spherical",
        "x": [f"sqrt({share})", f"sqrt({1 - share})"],
        "M_1": [f"({witness.strengths[0]}, 0)", "(0, 0)"],
        "M_2": ["(0, 0)", f"(0, {witness.strengths[1]})"],
        "beta": f"ln({witness.exp_beta})",
    }
    return _softmax_evidence(parameters, Level.EXACT, sign is Sign.NEGATIVE, lambda: str(rate))


def check_softmax_points(case: EnergyCase, settings: Settings) -> Evidence:
    """Decide the sign of ``dE/dt`` at one case in balls, by a power series along the flow."""

    def compute() -> tuple[arb, ...]:
        rates = case.rates()
        return (sum((case.energy_slope(h, rates) for h in range(len(case.scores))), arb(0)),)

    (sign,) = settled_signs(compute, settings.digits)

    def value() -> str:
        return rounded_ball(lambda: compute()[0], settings.digits).text

    return _softmax_evidence(case.named, Level.POINTWISE, sign == -1, value)


def _softmax_evidence(
    parameters: dict[str, str | list[str]], level: Level, falls: bool, value: Callable[[], str]
) -> Evidence:
    exact = level is Level.EXACT
    return case_evidence(
        level,
        falls,
        lambda: Counterexample(
            parameters, "dE/dt along the flow", value(), "the energy falls here"
        ),
        established="dE/dt < 0 at the case given",
        domain="one case: " + parameters_text(parameters),
        does_not_show="for which other parameters the energy falls",
        method="exact arithmetic with algebraic numbers"
        if exact
        else "power series of E along the flow, in balls",
    )


def check_one_head(heads: int, _settings: Settings) -> Evidence:
    """Derive the identity and the sign of ``dE/dt`` under softmax with so many heads."""
    softmax = Conditions(model=Model.SOFTMAX)
    both = (softmax, replace(softmax, spherical=False))
    chains = [balance.one_head_derivation(conditions, heads) for conditions in both]
    return derivation_evidence(
        chains,
        [sp.Ge(balance.energy_rate(), 0, evaluate=False)],
        established="dE/dt = (1/n^2) sum_i Z_i |x_i'|^2 >= 0 with Z_i = sum_j w_ij",
        domain="softmax, one head, any n and d, flat and spherical",
        does_not_show="anything about two heads: there the energy can fall (softmax-energy)",
    )


def check_one_head_points(heads: int, settings: Settings) -> Evidence:
    """Try the sign of ``dE/dt`` under softmax in balls, with so many heads."""
    return pointwise_evidence(
        _softmax_points(heads, settings),
        established="dE/dt >= 0 at every point tried",
        domain="rational unit tokens, n = 1 to 4, d = 2 to 3, beta to 2, and one diagonal case",
        does_not_show="anything between the points; the exact evidence covers that",
        measures={"digits": str(settings.digits), "seed": str(settings.seed)},
    )


def _softmax_points(heads: int, settings: Settings) -> Iterator[Point]:
    random_cases = energy_cases(Conditions(model=Model.SOFTMAX), settings.seed)
    for case in (*random_cases, _WITNESS):
        taken = replace(case, scores=case.scores[:heads], values=case.values[:heads])

        def compute(taken: EnergyCase = taken) -> tuple[arb, ...]:
            rates = taken.rates()
            slopes = (taken.energy_slope(h, rates) for h in range(len(taken.scores)))
            return (sum(slopes, arb(0)),)

        (sign,) = settled_signs(compute, settings.digits)
        holds = None if sign is None else sign >= 0
        yield Point(taken.named, holds, "sign of dE/dt", str(sign))


def _diagonal(first: int, second: int) -> Rows:
    return ((Fraction(first), Fraction(0)), (Fraction(0), Fraction(second)))


_HEADS = (_diagonal(2, 0), _diagonal(0, 3))
_WITNESS = EnergyCase(
    Model.SOFTMAX, ((Fraction(12, 13), Fraction(5, 13)),), _HEADS, _HEADS, Fraction(1)
)
_EXACT_WITNESS = DiagonalWitness((2, 3), sp.Rational(4, 5), 2)
_WRONG_EXACT_WITNESS = (
    ("under the unnormalised model", replace(_EXACT_WITNESS, model=Model.UNNORMALISED)),
    ("with one head", replace(_EXACT_WITNESS, strengths=(2, 0))),
    ("at an angle where E rises", replace(_EXACT_WITNESS, share=sp.Rational(1, 5))),
)
_WRONG_WITNESS = (
    ("under the unnormalised model", replace(_WITNESS, model=Model.UNNORMALISED)),
    ("with one head", replace(_WITNESS, scores=_HEADS[:1], values=_HEADS[:1])),
    ("at an angle where E rises", replace(_WITNESS, tokens=((Fraction(3, 5), Fraction(4, 5)),))),
)

# -- the claims -----------------------------------------------------------------------------------

_GRADIENT = Statement(n)
_RATE = Statement(1 / n)
_RELU = Statement(1 / n, Conditions(model=Model.RELU))


def _dropped(statement: Statement) -> tuple[tuple[str, Statement], ...]:
    """Return the statement without each hypothesis in turn."""
    free = statement.conditions
    return (
        ("without score symmetry", replace(statement, conditions=replace(free, symmetric=False))),
        ("without value alignment", replace(statement, conditions=replace(free, aligned=False))),
    )


_SOFTMAX = ("under softmax", Statement(1 / n, Conditions(model=Model.SOFTMAX)))
_WRONG_GRADIENT = (
    *_dropped(_GRADIENT),
    ("v_i = grad_{x_i} E", Statement(sp.S.One)),
    ("v_i = -n grad_{x_i} E", Statement(-n)),
    ("under softmax", Statement(n, Conditions(model=Model.SOFTMAX))),
)
_WRONG_RATE = (
    *_dropped(_RATE),
    ("sum_i |x_i'|^2 without 1/n", Statement(sp.S.One)),
    ("1/n^2 for 1/n", Statement(1 / n**2)),
    _SOFTMAX,
)
_WRONG_RELU = (*_dropped(_RELU), ("1/(2n) for 1/n", replace(_RELU, factor=1 / (2 * n))))

CLAIMS = (
    Claim(
        id="gradient-structure",
        source="Thm 11",
        statement=r"the flow is a (Wasserstein) gradient ascent of $E$",
        reading="v_i = n grad_{x_i} E, its tangential part on the sphere",
        model="unnormalised",
        hypotheses=_HYPOTHESES,
        uses=("projection",),
        checkers=(
            Checker("derivation", check_gradient_derivation, _GRADIENT, _WRONG_GRADIENT),
            Checker("energy as a power series", check_gradient_points, _GRADIENT, _WRONG_GRADIENT),
        ),
    ),
    Claim(
        id="total-energy",
        source="Thm 11",
        statement=r"$dE/dt = \frac1n \sum_i |\dot x_i|^2 \ge 0$, flat and spherical",
        reading="the identity, any n, d, H",
        model="unnormalised",
        hypotheses=_HYPOTHESES,
        uses=("gradient-structure",),
        checkers=(
            Checker("derivation", check_rate_derivation, _RATE, _WRONG_RATE),
            Checker("energy as a power series", check_rate_points, _RATE, _WRONG_RATE),
        ),
    ),
    Claim(
        id="softmax-energy",
        source="finding (Thm 11 in another model)",
        statement=r"under softmax, too, $dE/dt \ge 0$",
        reading="as written, for any number of heads",
        model="softmax, spherical",
        hypotheses=_HYPOTHESES,
        checkers=(
            Checker("exact witness", check_softmax_exact, _EXACT_WITNESS, _WRONG_EXACT_WITNESS),
            Checker("witness in balls", check_softmax_points, _WITNESS, _WRONG_WITNESS),
        ),
    ),
    Claim(
        id="softmax-energy-one-head",
        source="finding (Thm 11 in another model)",
        statement=r"under softmax with one head $dE/dt \ge 0$",
        reading="dE/dt = (1/n^2) sum_i Z_i |x_i'|^2 with Z_i = sum_j w_ij",
        model="softmax, flat and spherical",
        hypotheses=(*_HYPOTHESES, "H = 1"),
        repairs="softmax-energy",
        checkers=(
            Checker("derivation", check_one_head, 1, (("two heads", 2),)),
            Checker("energy as a power series", check_one_head_points, 1, (("two heads", 2),)),
        ),
    ),
    Claim(
        id="relu-energy",
        source="finding (Thm 11 for relu)",
        statement=r"ReLU has an energy of its own, $\frac{1}{4n^2}\sum_h\sum_{ij}"
        r"\max(0,s^h_{ij})^2$, with $dE/dt = \frac1n \sum_i |\dot x_i|^2 \ge 0$",
        reading="the identity, any n, d, H",
        model="relu",
        hypotheses=_HYPOTHESES[:2],
        checkers=(
            Checker("derivation", check_rate_derivation, _RELU, _WRONG_RELU),
            Checker("energy as a power series", check_rate_points, _RELU, _WRONG_RELU),
        ),
    ),
)
