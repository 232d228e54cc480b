"""The flow of tokens: against the definitions in coordinates and the scalar regime."""

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from flint import arb, arb_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from numeric.balls import ball_precision, exact_ball
from numeric.collocation import Trajectory
from numeric.definitions import Flow, inner, rational_unit_vector
from numeric.heads import Heads, block_heads, dense_heads, diagonal_heads, scalar_heads
from numeric.token_flow import TokenFlow
from numeric.token_quantities import ball_quantities, token_quantities
from numeric.token_start import (
    Tokens,
    equiangular_tokens,
    exact_tokens,
    orthonormal_tokens,
    random_tokens,
)
from numeric.token_trajectory import estimated_error, followed, followed_float64
from symbolic.errors import UndecidedError

F = Fraction
MODELS = ("softmax", "unnormalised", "relu")
SMALL = st.fractions(F(-2), F(2), max_denominator=6)


@st.composite
def heads_and_tokens(draw: st.DrawFn) -> tuple[Heads, Tokens]:
    """Draw a few tokens under a few heads of every form, asymmetric and misaligned included."""
    n, d, count = draw(st.integers(1, 4)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    vector = st.lists(SMALL, min_size=d, max_size=d)
    matrices = st.lists(st.lists(vector, min_size=d, max_size=d), min_size=count, max_size=count)
    strengths = st.lists(SMALL, min_size=count, max_size=count)
    heads = draw(
        st.one_of(
            strengths.map(lambda lam: scalar_heads(lam, d)),
            st.lists(vector, min_size=count, max_size=count).map(diagonal_heads),
            matrices.map(dense_heads),
            st.tuples(matrices, matrices).map(lambda pair: dense_heads(*pair)),
        )
    )
    parameters = st.lists(SMALL, min_size=d - 1, max_size=d - 1)
    rows = [rational_unit_vector(draw(parameters)) for _ in range(n)]
    return heads, exact_tokens(rows)


def reference(flow: TokenFlow, tokens: list[list[arb]]) -> Flow:
    """Return the definitions word for word, for the same heads, as balls."""

    def entries(matrices: Sequence[Any]) -> list[list[list[arb]]]:
        unit = arb_mat([[int(i == j) for j in range(flow.d)] for i in range(flow.d)])
        # The rows of these images are the columns of the matrix.
        return [matrix.ball_images(unit).transpose().tolist() for matrix in matrices]

    return Flow(
        flow.model,
        tokens,
        entries(flow.heads.scores),
        entries(flow.heads.values),
        exact_ball(flow.beta),
    )


def state_of(tokens: Tokens) -> list[arb]:
    return [x for row in tokens.balls() for x in row]


def assert_overlap(found: Sequence[arb], expected: Sequence[Any]) -> None:
    for a, b in zip(found, expected, strict=True):
        assert a.overlaps(arb(b))
        assert not a.is_finite() or a.rad() < arb(10) ** -40


def assert_floats(found: Any, balls: Any) -> None:
    """Compare float64 numbers with balls, to what float64 keeps of numbers of this size."""
    floats = np.array([float(x.mid()) for x in np.array(balls, dtype=object).ravel()])
    finite = np.isfinite(floats)
    scale = max(1.0, float(np.abs(floats[finite]).max(initial=0.0)))
    assert np.abs(np.ravel(found)[finite] - floats[finite]).max(initial=0.0) < 1e-11 * scale


@settings(max_examples=60)
@given(
    heads_and_tokens(),
    st.sampled_from(MODELS),
    st.sampled_from([F(0), F(1, 2), F(2)]),
    st.booleans(),
)
def test_rates_and_quantities_are_those_of_the_definitions(
    drawn: tuple[Heads, Tokens], model: str, beta: Fraction, flat: bool
) -> None:
    heads, tokens = drawn
    flow = TokenFlow(model, heads, beta, tokens.n, flat)
    with ball_precision(200):
        state = state_of(tokens)
        flow_by_words = reference(flow, tokens.balls())
        n, count = range(flow.n), range(heads.count)
        rates = [flow_by_words.velocity(i) for i in n] if flat else flow_by_words.token_rates()
        found = flow.ball_field(state)
        assert_overlap(found, [x for row in rates for x in row])
        quantities = ball_quantities(flow, state)
        for h in count:
            assert_overlap(quantities.shadows[h], [flow_by_words.shadow(i, h) for i in n])
            assert_overlap(quantities.powers[h], [flow_by_words.power(i, h) for i in n])
            for i in n:
                f = flow_by_words.aggregate(i, h)
                if inner(f, f) > 0:
                    assert_overlap([quantities.cosines[h][i]], [flow_by_words.cosine(i, h)])
                    for margins, sharp in (
                        (quantities.margins, False),
                        (quantities.sharp_margins, True),
                    ):
                        margin = flow_by_words.condition_8_margin(i, h, sharp=sharp)
                        assert_overlap([margins[h][i]], [margin])
            if beta > 0 and not flat:
                assert quantities.energy_rates is not None
                assert_overlap([quantities.energy_rates[h]], [flow_by_words.energy_rate(h)])
        assert (quantities.energies is None) == (beta == 0)
    assert_floats(flow.float_field(tokens.floats.ravel()[None]), found)
    floats = token_quantities(flow, tokens.floats)
    for name in ("shadows", "powers", "margins", "sharp_margins", "entropies", "entropy_rates"):
        assert_floats(getattr(floats, name), getattr(quantities, name))
    if beta > 0:
        assert_floats(floats.energies, quantities.energies)
        assert_floats(floats.energy_rates, quantities.energy_rates)


def test_quantities_at_several_times_are_those_at_each() -> None:
    rng = np.random.default_rng(2)
    heads = dense_heads(rng.standard_normal((2, 3, 3)), rng.standard_normal((2, 3, 3)))
    flow = TokenFlow("softmax", heads, F(1), 4)
    states = np.array([random_tokens(4, 3, seed).floats for seed in range(5)])
    together = token_quantities(flow, states)
    for k, state in enumerate(states):
        alone = token_quantities(flow, state)
        for name in vars(alone):
            assert np.allclose(getattr(together, name)[k], getattr(alone, name), rtol=1e-13)


def overlap_at(
    lam: Sequence[Fraction], beta: Fraction, n: int, model: str, start: Fraction, time: Fraction
) -> str:
    """Return the overlap of equiangular tokens by quadrature of the inverse, in mpmath.

    With ``u = ln((1+(n-1) gamma)/(1-gamma))``, ``dt = du/u'(u)``; the time is inverted by Newton.
    """
    with mpmath.workdps(75):
        strengths = [mpmath.mpf(x.numerator) / x.denominator for x in lam]
        b = mpmath.mpf(beta.numerator) / beta.denominator
        t = mpmath.mpf(time.numerator) / time.denominator

        def rate(u: Any) -> Any:
            gap = n / (mpmath.exp(u) + n - 1)
            if model == "softmax":
                return sum(2 * n * s / (mpmath.exp(b * s * gap) + n - 1) for s in strengths)
            if model == "unnormalised":
                return sum(2 * s * mpmath.exp(b * s * (1 - gap)) for s in strengths)
            return sum(2 * s * max(mpmath.mpf(0), s * (1 - gap)) for s in strengths)

        g = mpmath.mpf(start.numerator) / start.denominator
        first = u = mpmath.log((1 + (n - 1) * g) / (1 - g))
        passed = mpmath.mpf(0)
        for _ in range(40):
            step = (t - passed) * rate(u)
            passed += mpmath.quad(lambda v: 1 / rate(v), mpmath.linspace(u, u + step, 4))
            u += step
            if abs(step) < mpmath.mpf(10) ** -70:
                break
        assert u != first
        return str(mpmath.nstr((mpmath.exp(u) - 1) / (mpmath.exp(u) + n - 1), 72))


def assert_equiangular(trajectory: Trajectory, n: int, d: int, gamma: str, digits: int) -> None:
    """Assert that the last state is equiangular with this overlap, to the digits asked for."""
    with ball_precision(4 * digits + 60):
        x = arb_mat(n, d, [coordinate.mid() for coordinate in trajectory.states[-1]])
        gram = (x * x.transpose()).tolist()
        for i in range(n):
            for j in range(n):
                off = abs(gram[i][j] - (arb(1) if i == j else arb(gamma)))
                assert off < arb(10) ** -digits


@pytest.mark.parametrize("model", ["softmax", "unnormalised"])
def test_orthonormal_tokens_reproduce_the_scalar_regime(model: str) -> None:
    # The case of the benchmark; the other model with fewer tokens.
    n, time = (16, F(1)) if model == "softmax" else (6, F(1, 2))
    lam = (F(1), F(3, 2))
    flow = TokenFlow(model, scalar_heads(lam, n), F(1), n)
    trajectory = followed(flow, orthonormal_tokens(n), [time], 50)
    gamma = overlap_at(lam, F(1), n, model, F(0), time)
    assert_equiangular(trajectory, n, n, gamma, 50)
    assert trajectory.errors[0] < arb(10) ** -50


@pytest.mark.parametrize(
    ("model", "gamma", "lam"),
    [
        ("relu", F(1, 4), (F(1), F(3, 2))),
        ("relu", F(-1, 4), (F(-2), F(1))),
        ("softmax", F(-1, 4), (F(1), F(-1, 2), F(0))),
    ],
)
def test_equiangular_tokens_reproduce_the_scalar_regime(
    model: str, gamma: Fraction, lam: tuple[Fraction, ...]
) -> None:
    n = 4
    flow = TokenFlow(model, scalar_heads(lam, n), F(2), n)
    trajectory = followed(flow, equiangular_tokens(n, gamma), [F(2)], 40)
    assert_equiangular(trajectory, n, n, overlap_at(lam, F(2), n, model, gamma, F(2)), 40)


def test_relu_at_orthonormal_tokens_stays_put() -> None:
    flow = TokenFlow("relu", scalar_heads("1,2", 3), F(1), 3)
    trajectory = followed(flow, orthonormal_tokens(3), [F(7)], 30)
    assert trajectory.switched == []
    with ball_precision(200):
        for ball, exact in zip(trajectory.states[0], np.eye(3).ravel().tolist(), strict=True):
            assert abs(ball.mid() - exact) < arb(10) ** -30


def test_relu_across_changes_of_sign_by_a_closed_form() -> None:
    # One token at angle theta: theta' = 1 + max(0, cos 2 theta), by a rotation as value matrix.
    turn = [[0, -1], [1, 0]]
    heads = dense_heads([[[1, 0], [0, 1]], [[1, 0], [0, -1]]], [turn, turn])
    flow = TokenFlow("relu", heads, F(0), 1)
    times = [F(1, 4), F(1), F(2), F(9, 4)]
    trajectory = followed(flow, exact_tokens([[1, 0]]), times, 50)
    # tan theta = 2 t up to theta = pi/4; then theta' = 1 up to 3 pi/4; then the tangent again.
    assert trajectory.switched == pytest.approx([0.5, 0.5 + np.pi / 2], abs=1e-12)
    with ball_precision(300):
        quarter = arb.pi() / 4
        angles = [
            (arb(1) / 2).atan(),
            quarter + arb(1) / 2,
            quarter + arb(3) / 2,
            arb.pi() + (2 * (arb(9) / 4 - arb(1) / 2 - 2 * quarter) - 1).atan(),
        ]
        for state, angle in zip(trajectory.states, angles, strict=True):
            for ball, truth in zip(state, (angle.cos(), angle.sin()), strict=True):
                assert abs(ball.mid() - truth) < arb(10) ** -50
                assert ball.contains(truth.mid())


def moved(state: Sequence[arb], n: int, d: int, rotation: Sequence[Sequence[Fraction]]) -> arb_mat:
    """Return the rows of a state, rotated."""
    q = arb_mat([[exact_ball(x) for x in row] for row in rotation])
    return arb_mat(n, d, [x.mid() for x in state]) * q.transpose()


def product(*matrices: Any) -> Any:
    """Return a product of matrices of fractions."""
    result = np.array(matrices[0], dtype=object)
    for matrix in matrices[1:]:
        result = result @ np.array(matrix, dtype=object)
    return result


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("flat", [False, True])
def test_rotations_and_permutations_commute_with_the_flow(model: str, flat: bool) -> None:
    scores = [[[1, F(1, 2), 0], [0, 1, F(1, 3)], [F(-1, 2), 0, F(1, 2)]]]
    values = [[[F(1, 2), 0, 0], [F(1, 3), 1, 0], [0, F(1, 2), F(-1, 2)]]]
    rows = [rational_unit_vector(p) for p in ([F(1), F(2)], [F(1, 3), F(1)], [F(2), F(-1, 2)])]
    q = product(
        [[F(3, 5), F(-4, 5), 0], [F(4, 5), F(3, 5), 0], [0, 0, 1]],
        [[1, 0, 0], [0, F(5, 13), F(-12, 13)], [0, F(12, 13), F(5, 13)]],
    )

    def run(heads: Heads, x: Any) -> list[arb]:
        flow = TokenFlow(model, heads, F(1), 3, flat)
        return followed(flow, exact_tokens(x), [F(1, 10)], 30).states[0]

    def turned(matrices: Any) -> Any:
        return [product(q, matrix, q.T).tolist() for matrix in matrices]

    plain = run(dense_heads(scores, values), rows)
    order = [2, 0, 1]
    other = run(
        dense_heads(turned(scores), turned(values)),
        [product(q, rows[i]).tolist() for i in order],
    )
    with ball_precision(200):
        expected = moved(plain, 3, 3, q.tolist()).tolist()
        found = arb_mat(3, 3, [x.mid() for x in other]).tolist()
        for k, i in enumerate(order):
            for a, b in zip(found[k], expected[i], strict=True):
                assert abs(a - b) < arb(10) ** -28


def test_float64_agrees_with_forty_digits_within_its_estimate() -> None:
    rng = np.random.default_rng(5)
    cases = [
        ("softmax", scalar_heads("1,3/2", 4), random_tokens(4, 4, 3), F(2)),
        ("unnormalised", scalar_heads("-1", 3), random_tokens(5, 3, 3), F(10)),
        ("softmax", dense_heads(rng.standard_normal((2, 3, 3))), random_tokens(3, 3, 8), F(2)),
    ]
    for model, heads, tokens, time in cases:
        flow = TokenFlow(model, heads, F(1), tokens.n)
        at = np.array([0.0, float(time)])
        states = followed_float64(flow, tokens.floats, at)
        error = estimated_error(flow, tokens.floats, at, states)
        exact = followed(flow, tokens, [time], 40).states[0]
        true = np.abs(states[1].ravel() - [float(x) for x in exact]).max()
        assert true <= error < 1e-8
        assert error <= 1e6 * max(true, 1e-15)
        assert (states[0] == tokens.floats).all()


def test_float64_relu_agrees_with_digits_across_changes_of_sign() -> None:
    flow = TokenFlow("relu", scalar_heads("-1", 3), F(1), 4)
    tokens = random_tokens(4, 3, 1)
    trajectory = followed(flow, tokens, [F(8)], 25)
    assert len(trajectory.switched) >= 2
    states = followed_float64(flow, tokens.floats, np.array([8.0]))
    exact = np.array([float(x) for x in trajectory.states[0]])
    assert np.abs(states.ravel() - exact).max() < 1e-8


@pytest.mark.parametrize("digits", [10, 35])
def test_the_estimate_holds_for_tokens(digits: int) -> None:
    rng = np.random.default_rng(11)
    heads = dense_heads(rng.standard_normal((2, 3, 3)), rng.standard_normal((2, 3, 3)))
    flow, tokens = TokenFlow("softmax", heads, F(2), 4), random_tokens(4, 3, 2)
    times = [F(1, 2), F(1)]
    coarse = followed(flow, tokens, times, digits)
    fine = followed(flow, tokens, times, digits + 20)
    with ball_precision(400):
        for a, b, error in zip(coarse.states, fine.states, coarse.errors, strict=True):
            true = max(abs(x.mid() - y.mid()).upper() for x, y in zip(a, b, strict=True))
            assert true <= max(x.rad() for x in a)
            assert max(x.rad() for x in a) <= true * 10**6
            assert error <= arb(10) ** -digits


@pytest.mark.parametrize("model", MODELS)
def test_tokens_stay_on_the_sphere_also_where_the_projection_alone_would_lose_them(
    model: str,
) -> None:
    # Repulsive heads: under the projection alone, defects of lengths grow like e^(2 t).
    flow, tokens = TokenFlow(model, scalar_heads("-1", 2), F(1), 3), random_tokens(3, 2, 4)
    at = np.array([1.0, 40.0])
    states = followed_float64(flow, tokens.floats, at)
    assert np.abs((states**2).sum(axis=-1) - 1).max() < 1e-11
    last = followed(flow, tokens, [F(40)], 20).states[0]
    with ball_precision(200):
        for i in range(3):
            x, y = (coordinate.mid() for coordinate in last[2 * i : 2 * i + 2])
            assert abs(x * x + y * y - 1) < arb(10) ** -20


@pytest.mark.parametrize("digits", [None, 20])
@pytest.mark.parametrize(("model", "end"), [("unnormalised", 1), ("relu", 2)])
def test_flat_tokens_that_blow_up_are_told(model: str, end: int, digits: int | None) -> None:
    flow = TokenFlow(model, scalar_heads("1", 2), F(1), 1, flat=True)
    tokens = exact_tokens([[1, 0]])
    # |x|^2 = y: y' = 2 y e^y, or y' = 2 y^2 with its pole at t = 1/2.
    pole = float(mpmath.expint(1, 1)) / 2 if model == "unnormalised" else 0.5

    def run() -> object:
        if digits is None:
            return followed_float64(flow, tokens.floats, np.array([float(end)]))
        return followed(flow, tokens, [F(end)], digits)

    with pytest.raises(UndecidedError) as caught:
        run()
    told = re.fullmatch(r".*cannot be followed beyond t = ([0-9.]+): .*", str(caught.value))
    assert told is not None
    assert float(told[1]) == pytest.approx(pole, rel=1e-4)


def test_a_flat_flow_by_a_closed_form() -> None:
    # One token, y = |x|^2 under relu: y' = 2 y^2.
    flow = TokenFlow("relu", scalar_heads("1", 2), F(1), 1, flat=True)
    (state,) = followed(flow, exact_tokens([["3/5", "4/5"]]), [F(49, 100)], 50).states
    with ball_precision(300):
        size = (1 / (1 - 2 * arb(49) / 100)).sqrt()
        assert abs(state[0].mid() - size * 3 / 5) < arb(10) ** -48
        assert abs(state[1].mid() - size * 4 / 5) < arb(10) ** -48


@pytest.mark.parametrize("flat", [False, True])
def test_total_energy_rises_by_the_squares_of_the_rates(flat: bool) -> None:
    # Unnormalised, symmetric, aligned (Thm 11): dE/dt = (1/n) sum |x_i'|^2.
    scores = [[[1, F(1, 2)], [F(1, 2), -1]], [[F(1, 3), 0], [0, 1]]]
    tokens = exact_tokens([rational_unit_vector([p]) for p in (F(1, 3), F(2), F(-1, 2))])
    flow = TokenFlow("unnormalised", dense_heads(scores), F(3, 2), 3, flat)
    with ball_precision(200):
        state = state_of(tokens)
        rates = ball_quantities(flow, state).energy_rates
        assert rates is not None
        squares = sum((x * x for x in flow.ball_field(state)), arb(0)) / 3
        assert (rates[0] + rates[1] - squares).contains(0)
        assert squares > arb(1) / 100


def test_total_energy_falls_under_two_softmax_heads() -> None:
    # n = 1, M_1 = diag(2, 0), M_2 = diag(0, 3): dE/dt = c^2 s^2 (3 e^(3 b s^2) - 2 e^(2 b c^2)).
    flow = TokenFlow("softmax", diagonal_heads(["2,0", "0,3"]), F(2), 1)
    with ball_precision(200):
        rates = ball_quantities(flow, [arb(12) / 13, arb(5) / 13]).energy_rates
        assert rates is not None
        c, s = arb(144) / 169, arb(25) / 169
        truth = c * s * (3 * (6 * s).exp() - 2 * (4 * c).exp())
        assert (rates[0] + rates[1] - truth).contains(0)
        assert truth < -1


@pytest.mark.parametrize("model", ["softmax", "unnormalised", "relu"])
@pytest.mark.parametrize("flat", [False, True])
def test_rates_are_those_of_difference_quotients(model: str, flat: bool) -> None:
    rng = np.random.default_rng(4)
    heads = dense_heads(rng.standard_normal((2, 2, 2)), rng.standard_normal((2, 2, 2)))
    flow, tokens = TokenFlow(model, heads, F(1, 2), 3, flat), random_tokens(3, 2, 6)
    middle, step = F(1, 16), F(1, 10**12)
    times = [middle - step, middle, middle + step]
    with ball_precision(300):
        before, at, after = (
            ball_quantities(flow, state) for state in followed(flow, tokens, times, 50).states
        )
        assert at.energies is not None
        assert at.energy_rates is not None
        assert before.energies is not None
        assert after.energies is not None
        span = 2 * exact_ball(step)
        for h in range(2):
            quotient = (after.energies[h] - before.energies[h]) / span
            # The error is of the size of the third derivative times the square of the step.
            assert abs(quotient - at.energy_rates[h]) < arb(10) ** -20
            for i in range(3):
                quotient = (after.entropies[h][i] - before.entropies[h][i]) / span
                assert abs(quotient - at.entropy_rates[h][i]) < arb(10) ** -20


def test_quantities_at_equiangular_tokens_by_closed_forms() -> None:
    n, gamma, beta, lam = 5, F(1, 3), F(2), F(3, 2)
    flow = TokenFlow("softmax", scalar_heads([lam], n), beta, n)
    with ball_precision(250):
        found = ball_quantities(flow, state_of(equiangular_tokens(n, gamma)))
        b, g, one = exact_ball(beta * lam), exact_ball(gamma), arb(1)
        total = b.exp() + (n - 1) * (b * g).exp()
        p, q = b.exp() / total, (n - 1) * (b * g).exp() / total
        rate = 2 * exact_ball(lam) * (1 - g) * (1 + (n - 1) * g) / ((b * (1 - g)).exp() + n - 1)
        assert found.energies is not None
        assert found.energy_rates is not None
        truths = {
            "entropy": (found.entropies[0][2], total.log() - b * (p + q * g)),
            "entropy rate": (found.entropy_rates[0][2], b**2 * rate * p * q * (1 - g)),
            "energy": (found.energies[0], total / (2 * exact_ball(beta) * n)),
            "energy rate": (
                found.energy_rates[0],
                exact_ball(lam) * (b * g).exp() * rate * (n - 1) / (2 * n),
            ),
            "shadow": (found.shadows[0][0], exact_ball(lam) * (p + q * g)),
            "margin": (found.margins[0][0], found.powers[0][0]),
            "length": (one, sum((x * x for x in equiangular_tokens(n, gamma).balls()[0]), arb(0))),
        }
        for name, (value, truth) in truths.items():
            assert value.overlaps(truth), name
            assert value.rad() < arb(10) ** -60, name


def test_radial_cosine_of_an_aggregate_that_vanishes_is_nan() -> None:
    flow = TokenFlow("relu", scalar_heads("-1", 2), F(1), 1)
    assert np.isnan(token_quantities(flow, np.array([[1.0, 0.0]])).cosines).all()
    with ball_precision(100):
        assert ball_quantities(flow, [arb(1), arb(0)]).cosines[0][0].is_nan()


def test_large_exponents_do_not_overflow_in_float64() -> None:
    flow = TokenFlow("softmax", block_heads("500,2", [2, 2]), F(4), 3)
    tokens = random_tokens(3, 4, 0)
    found = token_quantities(flow, tokens.floats)
    for name in ("shadows", "entropies", "entropy_rates", "margins"):
        assert np.isfinite(getattr(found, name)).all()
    with ball_precision(300):
        balls = ball_quantities(flow, state_of(tokens))
        assert_floats(found.entropies, balls.entropies)
    scalar = TokenFlow("softmax", scalar_heads("500", 4), F(4), 3)
    rates = scalar.float_field(tokens.floats.ravel()[None])
    with ball_precision(300):
        assert_floats(rates, scalar.ball_field(state_of(tokens)))
