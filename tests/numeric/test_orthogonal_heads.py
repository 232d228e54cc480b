"""The closed system of orthogonal heads against the models word for word, in coordinates."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import example, given, settings
from hypothesis import strategies as st

from numeric.balls import Balls, ball_precision, exact_ball
from numeric.definitions import (
    Flow,
    applied,
    equiangular_tokens,
    inner,
)
from numeric.float_arithmetic import Floats
from numeric.orthogonal_heads import QUANTITIES, OrthogonalHeads
from numeric.walk import walk
from symbolic.block_flow import others, overlap_motion, rho, share, share_motion
from symbolic.flow import Model
from symbolic.orthogonal_forms import FORMS, GAP, LIFT, REST, other_sizes

BITS = 300
Matrix = list[list[arb]]


def token_flow(system: OrthogonalHeads) -> tuple[Flow, list[Matrix]]:
    """Return the system in coordinates, one block of n coordinates for each head, and the P_h."""
    size, heads = system.n, len(system.lam)
    blocks = [equiangular_tokens(size, overlap) for overlap in system.overlaps]
    roots = [exact_ball(part).sqrt() for part in system.shares]
    tokens = [
        [root * x for root, block in zip(roots, blocks, strict=True) for x in block[i]]
        for i in range(size)
    ]

    def diagonal(h: int, value: arb) -> Matrix:
        rows = range(size * heads)
        return [[value if i == j and i // size == h else arb(0) for j in rows] for i in rows]

    projectors = [diagonal(h, arb(1)) for h in range(heads)]
    matrices = [diagonal(h, exact_ball(system.lam[h])) for h in range(heads)]
    flow = Flow(str(system.model), tokens, matrices, matrices, exact_ball(system.beta))
    return flow, projectors


def told_in_coordinates(flow: Flow, projectors: Sequence[Matrix]) -> dict[str, list[Any]]:
    """Return what is told of each head, from the tokens alone."""
    x, rates = flow.tokens, flow.token_rates()
    softmax = Flow("softmax", x, flow.scores, flow.values, flow.beta)
    found: dict[str, list[Any]] = {name: [] for name in QUANTITIES}
    for h, projector in enumerate(projectors):
        parts = [applied(projector, v) for v in x[:2]]
        size, product = inner(parts[0], parts[0]), inner(parts[0], parts[1])
        scores = [inner(x[0], applied(flow.scores[h], y)) for y in x]
        score_rates = [
            inner(rates[0], applied(flow.scores[h], y)) + inner(x[0], applied(flow.scores[h], v))
            for y, v in zip(x, rates, strict=True)
        ]
        p = softmax.weights(0, h)
        mean, drift = inner(p, scores), inner(p, score_rates)
        both = inner(p, [a * b for a, b in zip(scores, score_rates, strict=True)])
        weights = [(flow.beta * inner(y, applied(flow.scores[h], z))).exp() for y in x for z in x]
        told = {
            "share": size,
            "overlap": product / size,
            "one_minus_overlap": 1 - product / size,
            "energy": sum(weights, arb(0)) / (2 * flow.beta * flow.n**2),
            "denergy": flow.energy_rate(h),
            "entropy": -sum((w * w.log() for w in p), arb(0)),
            "dentropy": -(flow.beta**2) * (both - mean * drift),
            "radial_cosine": flow.cosine(0, h),
            "condition8": flow.condition_8_margin(0, h),
            "condition8_sharp": flow.condition_8_margin(0, h, sharp=True),
        }
        for name, value in told.items():
            found[name].append(value)
    return found


def fractions(low: str, high: str) -> st.SearchStrategy[Fraction]:
    return st.fractions(Fraction(low), Fraction(high), max_denominator=1000)


@st.composite
def systems(draw: st.DrawFn, models: Sequence[Model] = tuple(Model)) -> OrthogonalHeads:
    heads = draw(st.integers(1, 3))
    size = draw(st.integers(2, 4))
    parts = [draw(st.integers(1, 50)) for _ in range(heads)]
    lowest = Fraction(-1, size - 1)
    spots = [draw(fractions("1/1000", "999/1000")) for _ in range(heads)]
    near = draw(st.sampled_from([Fraction(0), Fraction(0), Fraction(1, 10**12)]))
    return OrthogonalHeads(
        draw(st.sampled_from(models)),
        tuple(draw(fractions("-3", "3")) for _ in range(heads)),
        tuple(Fraction(part, sum(parts)) for part in parts),
        tuple((1 - near if near else lowest + spot * (1 - lowest)) for spot in spots),
        draw(fractions("1/100", "4")),
        size,
    )


def agree(first: arb, second: arb) -> bool:
    """Tell whether two balls share a point and are small enough for that to mean something."""
    small = max(first.rad(), second.rad()) < arb(10) ** -50 * (1 + abs(first))
    return bool(small and first.overlaps(second))


SMALL = OrthogonalHeads(
    Model.UNNORMALISED,
    (Fraction(1), Fraction(13, 10)),
    (Fraction(9, 10), Fraction(1, 10)),
    (Fraction(3, 5), Fraction(3, 5)),
    Fraction(2),
    8,
)


@settings(max_examples=100)
@given(systems())
@example(SMALL)
def test_all_that_is_told_agrees_with_the_tokens(system: OrthogonalHeads) -> None:
    with ball_precision(BITS):
        told = system.quantities(system.in_balls(system.start()), Balls())
        flow, projectors = token_flow(system)
        expected = told_in_coordinates(flow, projectors)
        for name in QUANTITIES:
            for h in system.heads:
                if name == "radial_cosine" and system.is_blind(h):
                    assert told[name][h].is_nan()
                else:
                    assert agree(told[name][h], expected[name][h]), (name, h)


@settings(max_examples=100)
@given(systems())
@example(SMALL)
def test_the_state_moves_as_the_tokens_do(system: OrthogonalHeads) -> None:
    with ball_precision(BITS):
        state = system.start()
        rates = list(system.field.balls(state))
        flow, projectors = token_flow(system)
        moved = flow.token_rates()
        sizes, size_rates, logit_rates = [], [], []
        for projector in projectors:
            parts = [applied(projector, v) for v in flow.tokens[:2]]
            size, product = inner(parts[0], parts[0]), inner(parts[0], parts[1])
            size_rate = 2 * inner(parts[0], moved[0])
            product_rate = inner(parts[0], moved[1]) + inner(moved[0], parts[1])
            overlap = product / size
            overlap_rate = (product_rate - overlap * size_rate) / size
            sizes.append(size)
            size_rates.append(size_rate)
            slope = 1 / (1 - overlap) + (flow.n - 1) / (1 + (flow.n - 1) * overlap)
            logit_rates.append(slope * overlap_rate)
        heads = range(1, len(system.lam))
        expected = [size_rates[h] / sizes[h] - size_rates[0] / sizes[0] for h in heads]
        expected += [logit_rates[h] for h in system.moving]
        assert len(rates) == len(expected) == len(state) == system.size
        assert all(agree(a, b) for a, b in zip(rates, expected, strict=True))
        still = set(system.heads) - set(system.moving)
        assert all(abs(logit_rates[h]) < arb(10) ** -50 for h in still)


@settings(max_examples=60)
@given(systems())
@example(SMALL)
def test_float64_agrees_with_balls(system: OrthogonalHeads) -> None:
    with ball_precision(BITS):
        state = system.start()
        rates = np.array([float(x) for x in system.field.balls(state)])
        told = system.quantities(system.in_balls(state), Balls())
        exact = {name: [float(value) for value in told[name]] for name in QUANTITIES}
    floats = system.start_in_floats()
    many = np.tile(floats, (5, 1))
    with np.errstate(all="ignore"):
        quick = system.quantities(system.in_floats(many), Floats())
    assert system.field.floats(many).shape == (5, system.size)
    # Complex steps, too.
    assert system.field.floats(many + 1e-30j).dtype == np.complex128
    for found in (system.field.floats(floats), system.field.floats(many)[3]):
        scale = max(1.0, *np.abs(rates)) if len(rates) else 1.0
        assert np.allclose(found, rates, rtol=1e-9, atol=1e-11 * scale)
    for name, values in exact.items():
        for h, value in enumerate(values):
            column = np.broadcast_to(quick[name][h], 5)
            # What changes sign is a difference of terms that may be larger.
            signed = name in ("denergy", "condition8", "condition8_sharp")
            close = 1e-11 * max(1.0, *map(abs, values)) if signed else 1e-12
            assert np.allclose(column, value, rtol=1e-9, atol=close, equal_nan=True), name


def test_the_derivative_of_the_float64_field_by_a_complex_step() -> None:
    for model in Model:
        system = OrthogonalHeads(
            model, SMALL.lam, SMALL.shares, SMALL.overlaps, SMALL.beta, SMALL.n
        )
        state = system.start_in_floats()
        direction = np.array([0.3, -0.7, 1.1])
        step = np.imag(system.field.floats(state + 1e-20j * direction)) / 1e-20
        ahead, behind = (system.field.floats(state + s * 1e-5 * direction) for s in (1, -1))
        assert np.allclose(step, (ahead - behind) / 2e-5, rtol=1e-8, atol=1e-9)


def test_logits_beyond_the_range_of_float64_are_held() -> None:
    state = np.array([[-2000.0, 800.0, 900.0], [2000.0, -800.0, -900.0]])
    for model in Model:
        system = OrthogonalHeads(
            model, SMALL.lam, SMALL.shares, SMALL.overlaps, SMALL.beta, SMALL.n
        )
        with np.errstate(all="ignore"):
            rates = system.field.floats(state)
            complex_rates = system.field.floats(state + 1e-30j)
            found = system.quantities(system.in_floats(state), Floats())
        assert np.isfinite(rates).all()
        assert np.isfinite(complex_rates).all()
        assert np.allclose(complex_rates.real, rates)
        assert np.array_equal(found["overlap"][0], [1.0, -1 / 7])
        assert np.array_equal(found["one_minus_overlap"][1], [0.0, 8 / 7])
        assert np.array_equal(found["share"][1], [0.0, 1.0])


def test_numbers_are_put_in_for_the_parts_that_would_lose_digits() -> None:
    """At 64 bits, gaps and rests far below 2^-64 still have their digits."""
    tiny = Fraction(1, 10**40)
    system = OrthogonalHeads(
        Model.UNNORMALISED,
        (Fraction(1), Fraction(2)),
        (1 - tiny, tiny),
        (1 - tiny, Fraction(1, 2)),
        Fraction(1),
        5,
    )
    with ball_precision(64):
        told = system.quantities(system.in_balls(system.start()), Balls())
        margin = told["condition8_sharp"][0]
        assert margin.rel_accuracy_bits() > 30
        assert told["one_minus_overlap"][0].rel_accuracy_bits() > 50
    with ball_precision(500):
        flow, _ = token_flow(system)
        assert flow.condition_8_margin(0, 0, sharp=True).overlaps(margin)


def test_every_node_that_is_bound_is_looked_up() -> None:
    """A number put in for a part replaces it; otherwise it would be computed from its symbols."""
    with ball_precision(100):
        head = SMALL.in_balls(SMALL.start())[0]
        bound = head | {others: arb(1), other_sizes: arb(1)}
        bound |= {share_motion: arb(1), overlap_motion: arb(1)}
        forms = FORMS[Model.UNNORMALISED]
        for part, form in (
            (REST, forms.power),
            (REST, forms.share_rate),
            (GAP, forms.power),
            (LIFT, forms.power),
            (GAP, forms.entropy),
            (GAP, forms.entropy_rate),
            (LIFT, forms.overlap_rate),
        ):
            moved = bound | {part: bound[part] * 2}
            before, after = (walk(form, b, Balls()) for b in (bound, moved))
            assert not before.overlaps(after)
        assert {rho, share} <= set(head)


def test_the_head_with_the_smaller_share_loses_energy() -> None:
    """A lead of the mathematics: n = 8, beta = 2, strengths 1 and 13/10, shares 9/10 and 1/10."""
    with ball_precision(BITS):
        flow, _ = token_flow(SMALL)
        told = SMALL.quantities(SMALL.in_balls(SMALL.start()), Balls())
        first, second = told["denergy"]
        assert first > 0
        assert second < 0
        assert agree(second, flow.energy_rate(1))


@pytest.mark.parametrize("model", list(Model))
def test_equal_heads_with_equal_shares_stay_equal(model: Model) -> None:
    half, third = Fraction(1, 2), Fraction(1, 3)
    system = OrthogonalHeads(model, (half, half), (half, half), (third, third), Fraction(2), 5)
    with ball_precision(BITS):
        ratio, first, second = system.field.balls(system.start())
        assert abs(ratio) < arb(10) ** -80
        assert agree(first, second)
        assert first > 0


def test_relu_knows_what_moves() -> None:
    zero, third = Fraction(0), Fraction(1, 3)
    lam = (Fraction(1), Fraction(1), Fraction(-1), Fraction(-1), Fraction(1), zero)
    shares = (Fraction(1, 6),) * 6
    system = OrthogonalHeads(
        Model.RELU, lam, shares, (third, -third, third, -third, zero, third), Fraction(1), 3
    )
    assert system.moving == (0, 3)
    assert [system.is_blind(h) for h in system.heads] == [False, False, True, False, False, True]
    assert system.size == 7
