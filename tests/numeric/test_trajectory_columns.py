"""What is told of each head: against the models word for word, in coordinates, and in float64."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from numeric.balls import ball_precision, exact_ball
from numeric.definitions import Flow, equiangular_tokens, scalar_flow
from numeric.trajectory_arrays import Overlaps
from numeric.trajectory_columns import QUANTITIES, ball_columns, float_columns, is_blind
from numeric.trajectory_regime import Regime, State
from symbolic.flow import Model

Values = dict[str, arb]


def word_for_word(regime: Regime, h: int) -> Values:
    """Return all that is told of head h, and gamma', from coordinates at the precision in force."""
    assert regime.beta is not None
    n, beta = regime.n, exact_ball(regime.beta)
    tokens = equiangular_tokens(n, regime.start)
    strengths = [exact_ball(strength) for strength in regime.strengths]
    flow = scalar_flow(str(regime.model), tokens, strengths, beta)
    softmax = scalar_flow("softmax", tokens, strengths, beta)
    told = {
        "motion": flow.overlap_rate(0, 1),
        "power": flow.power(0, h),
        "denergy": flow.energy_rate(h),
        "condition8": flow.condition_8_margin(0, h),
        "condition8_sharp": flow.condition_8_margin(0, h, sharp=True),
        **_entropy(flow, softmax, strengths[h], h),
    }
    if regime.beta > 0:
        scores = [
            strengths[h] * sum((a * b for a, b in zip(x, y, strict=True)), arb(0))
            for x in tokens
            for y in tokens
        ]
        weights = sum(((beta * score).exp() for score in scores), arb(0))
        told["energy"] = weights / (2 * beta * n**2)
    if not is_blind(regime, regime.strengths[h]):
        told["radial_cosine"] = flow.cosine(0, h)
    return told


def _entropy(flow: Flow, softmax: Flow, strength: arb, h: int) -> Values:
    """Return the entropy of the softmax weights of token 0 and ``-beta^2 Cov`` along the flow."""
    shares = softmax.weights(0, h)
    x = flow.tokens[0]
    scores = [
        strength * sum((a * b for a, b in zip(x, y, strict=True)), arb(0)) for y in flow.tokens
    ]
    moves = [arb(0), *(strength * flow.overlap_rate(0, j) for j in range(1, flow.n))]

    def mean(values: list[arb]) -> arb:
        return sum((p * v for p, v in zip(shares, values, strict=True)), arb(0))

    both = mean([s * m for s, m in zip(scores, moves, strict=True)])
    covariance = both - mean(scores) * mean(moves)
    return {
        "entropy": -sum((p * p.log() for p in shares), arb(0)),
        "dentropy": -(flow.beta**2) * covariance,
    }


@st.composite
def regimes(draw: st.DrawFn) -> Regime:
    n = draw(st.integers(2, 5))
    part = draw(st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50))
    start = draw(st.sampled_from([Fraction(0), part, -part / (n - 1)]))
    strengths = draw(st.lists(st.fractions(-2, 2, max_denominator=3), min_size=1, max_size=3))
    beta = draw(st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(2)]))
    return Regime(draw(st.sampled_from(list(Model))), tuple(strengths), beta, n, start)


@settings(max_examples=60)
@given(regimes())
def test_columns_are_those_of_the_models(regime: Regime) -> None:
    with ball_precision(200):
        told = [word_for_word(regime, h) for h in range(len(regime.strengths))]
        motion = told[0]["motion"]
        assume(not motion.contains(0))
        sign = 1 if motion > 0 else -1
        columns = ball_columns(regime, sign, [State.at(regime, regime.start)])
        assert tuple(columns) == QUANTITIES
        for strength, values in zip(regime.strengths, told, strict=True):
            for name, column in columns.items():
                (ball,) = column[strength]
                if name in values:
                    assert ball.overlaps(values[name]), name
                    assert ball.rad() < arb(10) ** -40
                else:
                    assert ball.is_nan() or ball == arb.pos_inf(), name


@settings(max_examples=40)
@given(regimes(), st.sampled_from([1, 2, 40]))
def test_float64_columns_are_close(regime: Regime, warmer: int) -> None:
    assert regime.beta is not None
    regime = replace(regime, beta=regime.beta * warmer)
    with ball_precision(400):
        told = [word_for_word(regime, h) for h in range(len(regime.strengths))]
    motion = np.array([float(told[0]["motion"])])
    assume(abs(motion[0]) > 1e-100 or motion[0] == 0)
    columns = float_columns(regime, Overlaps.exact(regime.start, regime.n), motion)
    for strength, values in zip(regime.strengths, told, strict=True):
        for name in QUANTITIES:
            value = columns[name][strength][0]
            if name not in values:
                assert value == np.inf or np.isnan(value)
                continue
            exact = float(values[name])
            # A margin is a difference: its error is small beside what is subtracted.
            power = 2 * float(values["power"]) if name.startswith("condition8") else 0.0
            assert abs(value - exact) <= 1e-11 * max(abs(exact), abs(power - exact)), name


def test_what_float64_cannot_hold_is_told_by_balls() -> None:
    # e^1200 overflows, e^-1200 underflows; what depends on both is in the range of float64.
    regime = Regime(Model.SOFTMAX, (Fraction(300), Fraction(-300)), Fraction(4), 3, Fraction(0))
    columns = float_columns(regime, Overlaps.exact(Fraction(0), 3), np.array([1.0]))
    strong, weak = regime.strengths
    assert columns["energy"][strong][0] == np.inf
    assert columns["energy"][weak][0] == pytest.approx(2 / 24, rel=1e-12)
    assert columns["entropy"][weak][0] == pytest.approx(np.log(2), rel=1e-12)
    assert 0 <= columns["entropy"][strong][0] < 1e-300
    assert columns["radial_cosine"][strong][0] == 1
    assert columns["condition8"][weak][0] < 0
