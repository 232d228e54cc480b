"""The definitions of the flow, against a computation with explicit coordinates."""

import random
from collections.abc import Sequence
from typing import Any

import pytest
import sympy as sp
from mpmath.ctx_mp import MPContext

from symbolic.answer import Answer
from symbolic.decide import is_zero
from symbolic.flow import Model, ScalarFlow, equiangular_flow, equiangular_gram
from symbolic.region import Region, at_least
from symbolic.vectors import Space, combined

mp = MPContext()
mp.dps = 60

STRENGTHS = (sp.Rational(3, 2), sp.Rational(-4, 5), sp.Rational(1, 3))
BETA = sp.Rational(7, 10)
DIMENSION = 4


class Coordinates:
    """Tokens as explicit vectors, and the flow of section 1 word for word with full matrices."""

    def __init__(self, model: Model, tokens: Sequence[Sequence[Any]]) -> None:
        self.model = model
        self.tokens = [mp.matrix(list(token)) for token in tokens]
        identity = mp.eye(len(tokens[0]))
        self.heads = [_number(strength) * identity for strength in STRENGTHS]
        self.beta = _number(BETA)

    def aggregate(self, i: int, h: int) -> Any:
        matrix = self.heads[h]
        scores = [_dot(self.tokens[i], matrix * x) for x in self.tokens]
        if self.model is Model.RELU:
            weights = [max(mp.zero, score) for score in scores]
        else:
            weights = [mp.exp(self.beta * score) for score in scores]
        if self.model is Model.SOFTMAX:
            total = mp.fsum(weights)
            weights = [weight / total for weight in weights]
        result = mp.zeros(len(self.tokens[0]), 1)
        for weight, x in zip(weights, self.tokens, strict=True):
            result += weight * (matrix * x)
        return result

    def velocity(self, i: int) -> Any:
        total = mp.zeros(len(self.tokens[0]), 1)
        for h in range(len(self.heads)):
            total += self.aggregate(i, h)
        return total if self.model is Model.SOFTMAX else total / len(self.tokens)

    def tangential(self, i: int, u: Any) -> Any:
        x = self.tokens[i]
        return u - _dot(x, u) * x

    def energy(self, h: int) -> Any:
        weights = [
            mp.exp(self.beta * _dot(a, self.heads[h] * b)) for a in self.tokens for b in self.tokens
        ]
        return mp.fsum(weights) / (2 * self.beta * len(self.tokens) ** 2)

    def moved(self, time: Any) -> "Coordinates":
        """Return the tokens after a short time on great circles along the flow's velocities."""
        moved = []
        for i, x in enumerate(self.tokens):
            direction = self.tangential(i, self.velocity(i))
            speed = mp.sqrt(_dot(direction, direction))
            moved.append(mp.cos(speed * time) * x + mp.sin(speed * time) / speed * direction)
        return Coordinates(self.model, moved)


def _number(value: sp.Rational) -> Any:
    return mp.mpf(int(value.p)) / int(value.q)


def _dot(a: Any, b: Any) -> Any:
    return mp.fsum(s * t for s, t in zip(a, b, strict=True))


def _close(exact: sp.Expr, number: Any) -> bool:
    return bool(abs(mp.mpf(str(sp.N(exact, 50))) - number) < mp.mpf(10) ** -40)


def rational_unit_vectors(count: int, seed: int) -> list[list[sp.Rational]]:
    """Return unit vectors with rational coordinates, by stereographic projection."""
    draw = random.Random(seed)
    vectors = []
    for _ in range(count):
        flat = [sp.Rational(draw.randint(-5, 5), draw.randint(1, 4)) for _ in range(DIMENSION - 1)]
        square = sum(t**2 for t in flat)
        vectors.append([2 * t / (square + 1) for t in flat] + [(square - 1) / (square + 1)])
    return vectors


@pytest.fixture(params=[(model, seed) for model in Model for seed in (1, 2)], ids=str)
def pair(request: pytest.FixtureRequest) -> tuple[ScalarFlow, Coordinates]:
    """Return one flow twice: by its Gram matrix, and in coordinates."""
    model, seed = request.param
    tokens = rational_unit_vectors(3, seed)
    gram = sp.ImmutableMatrix(3, 3, lambda i, j: sp.Matrix(tokens[i]).dot(sp.Matrix(tokens[j])))
    flow = ScalarFlow(model, gram, STRENGTHS, BETA)
    return flow, Coordinates(model, [[_number(t) for t in token] for token in tokens])


Pair = tuple[ScalarFlow, Coordinates]
HEADS = range(len(STRENGTHS))
TOKENS = range(3)


def in_coordinates(vector: Sequence[sp.Expr], coordinates: Coordinates) -> Any:
    total = mp.zeros(DIMENSION, 1)
    for coefficient, token in zip(vector, coordinates.tokens, strict=True):
        total += mp.mpf(str(sp.N(coefficient, 50))) * token
    return total


def test_tokens_are_unit_vectors_and_differ(pair: Pair) -> None:
    flow, _ = pair
    assert all(flow.gram[i, i] == 1 for i in TOKENS)
    assert all(abs(flow.gram[i, j]) < 1 for i in TOKENS for j in TOKENS if i != j)


def test_aggregates_and_velocities(pair: Pair) -> None:
    flow, coordinates = pair
    for i in TOKENS:
        for h in HEADS:
            difference = in_coordinates(flow.aggregate(i, h), coordinates)
            difference -= coordinates.aggregate(i, h)
            assert mp.norm(difference) < mp.mpf(10) ** -40
        difference = in_coordinates(flow.velocity(i), coordinates) - coordinates.velocity(i)
        assert mp.norm(difference) < mp.mpf(10) ** -40


def test_shadows_squares_and_powers(pair: Pair) -> None:
    flow, coordinates = pair
    for i in TOKENS:
        for h in HEADS:
            aggregate = coordinates.aggregate(i, h)
            tangential = coordinates.tangential(i, aggregate)
            assert _close(flow.shadow(i, h), _dot(aggregate, coordinates.tokens[i]))
            assert _close(flow.square(i, h), _dot(aggregate, aggregate))
            assert _close(flow.power(i, h), _dot(tangential, tangential))


def test_token_and_overlap_rates(pair: Pair) -> None:
    flow, coordinates = pair
    rates = [coordinates.tangential(i, coordinates.velocity(i)) for i in TOKENS]
    for i in TOKENS:
        difference = in_coordinates(flow.token_rate(i), coordinates) - rates[i]
        assert mp.norm(difference) < mp.mpf(10) ** -40
        for j in TOKENS:
            expected = _dot(rates[i], coordinates.tokens[j]) + _dot(coordinates.tokens[i], rates[j])
            assert _close(flow.overlap_rate(i, j), expected)


def test_energy_rate_is_the_derivative_of_the_energy_along_the_flow(pair: Pair) -> None:
    flow, coordinates = pair
    for h in HEADS:
        derivative = mp.diff(lambda t, h=h: coordinates.moved(t).energy(h), 0)
        exact = mp.mpf(str(sp.N(flow.energy_rate(h), 50)))
        assert abs(exact - derivative) < mp.mpf(10) ** -18
        assert abs(exact) > mp.mpf(10) ** -3


def test_energy_rate_is_not_confused_by_the_names_of_parameters() -> None:
    overlap = sp.Symbol("overlap")
    flow = equiangular_flow(Model.UNNORMALISED, 2, overlap, [sp.S.One], BETA)
    renamed = equiangular_flow(Model.UNNORMALISED, 2, sp.Symbol("gamma"), [sp.S.One], BETA)
    expected = renamed.energy_rate(0).subs(sp.Symbol("gamma"), overlap)
    assert is_zero(flow.energy_rate(0) - expected) is Answer.YES
    named = equiangular_flow(Model.UNNORMALISED, 2, sp.Rational(1, 3), [sp.S.One], overlap)
    plain = equiangular_flow(Model.UNNORMALISED, 2, sp.Rational(1, 3), [sp.S.One], sp.Symbol("b"))
    expected = plain.energy_rate(0).subs(sp.Symbol("b"), overlap)
    assert is_zero(named.energy_rate(0) - expected) is Answer.YES


def test_power_is_square_less_square_of_the_shadow() -> None:
    gamma, lam, beta = sp.symbols("gamma lam beta", real=True)
    flow = equiangular_flow(Model.UNNORMALISED, 3, gamma, [lam], beta)
    pythagoras = flow.power(0, 0) - flow.square(0, 0) + flow.shadow(0, 0) ** 2
    assert is_zero(pythagoras) is Answer.YES


def test_softmax_divides_the_unnormalised_aggregate_by_the_sum_of_weights() -> None:
    gamma, lam, beta = sp.symbols("gamma lam beta", real=True)
    plain = equiangular_flow(Model.UNNORMALISED, 3, gamma, [lam], beta)
    softmax = equiangular_flow(Model.SOFTMAX, 3, gamma, [lam], beta)
    total = sp.Add(*plain.weights(0, 0))
    for a, b in zip(plain.aggregate(0, 0), softmax.aggregate(0, 0), strict=True):
        assert is_zero(a - total * b) is Answer.YES


def test_relu_drops_negative_scores() -> None:
    half = sp.Rational(1, 2)
    attracting = equiangular_flow(Model.RELU, 2, -half, [sp.Integer(2)], sp.S.One)
    repelling = equiangular_flow(Model.RELU, 2, -half, [sp.Integer(-2)], sp.S.One)
    assert attracting.weights(0, 0) == [2, 0]
    assert repelling.weights(0, 0) == [0, 1]
    assert repelling.aggregate(0, 0) == (0, -2)


def test_formal_vectors_are_bilinear_and_projection_is_orthogonal() -> None:
    a, b, gamma = sp.symbols("a b gamma", real=True)
    space = Space(equiangular_gram(3, gamma))
    u, v, w = (space.basis(k) for k in range(3))
    mixed = combined([a, b], [u, v])
    assert mixed == (a, b, 0)
    expected = a * space.inner(u, w) + b * space.inner(v, w)
    assert is_zero(space.inner(mixed, w) - expected) is Answer.YES
    shadowless = space.projected(u, mixed)
    assert is_zero(space.inner(shadowless, u)) is Answer.YES
    # Claim projection: <P u, u> = |P u|^2.
    difference = space.inner(shadowless, mixed) - space.inner(shadowless, shadowless)
    assert is_zero(difference, Region({a: at_least(0)})) is Answer.YES
