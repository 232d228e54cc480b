"""Any heads on any tokens over formal vectors, against rational coordinates."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp

from numeric.definitions import applied, combined, inner, rational_unit_vector, tangential
from symbolic.answer import Answer
from symbolic.energy_balance import (
    FLAT_ORTHOGONAL,
    ORTHOGONAL,
    Conditions,
    gradient_derivation,
    head_derivation,
    one_head_derivation,
    rate_derivation,
    squares_step,
)
from symbolic.flow import Model
from symbolic.general_flow import GeneralFlow, local_sums
from symbolic.notation import n
from symbolic.overlapping_heads import cross_derivation
from symbolic.radial_shadow import smallest_derivation
from symbolic.rules import equation
from symbolic.value_misalignment import WEIGHT_BOUND, misalignment_derivation, strict_derivation


def _random_square(source: random.Random, d: int, *, symmetric: bool) -> list[list[Fraction]]:
    rows = [[Fraction(source.randint(-5, 5), 3) for _ in range(d)] for _ in range(d)]
    if symmetric:
        rows = [[(rows[i][j] + rows[j][i]) / 2 for j in range(d)] for i in range(d)]
    return rows


def _transposed(matrix: list[list[Fraction]]) -> list[list[Fraction]]:
    return [list(column) for column in zip(*matrix, strict=True)]


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("aligned", [True, False])
@pytest.mark.parametrize("spherical", [True, False])
def test_energy_rate_is_the_one_in_coordinates(
    symmetric: bool, aligned: bool, spherical: bool
) -> None:
    source = random.Random(7)
    tokens, heads, d = 3, 2, 3
    flow = GeneralFlow(tokens, heads, symmetric=symmetric, aligned=aligned, spherical=spherical)
    x = [
        rational_unit_vector([Fraction(source.randint(-5, 5), 2) for _ in range(d - 1)])
        for _ in range(tokens)
    ]
    score = [_random_square(source, d, symmetric=symmetric) for _ in range(heads)]
    value = score
    if not aligned:
        value = [_random_square(source, d, symmetric=False) for _ in range(heads)]
    families = {"M": score, "Mt": [_transposed(m) for m in score], "V": value}
    # The weights are any numbers, symmetric where scores are: the identity needs no more.
    weights = {
        flow.weight(h, i, j): Fraction(source.randint(1, 9), 4)
        for h in range(heads)
        for i in range(tokens)
        for j in range(tokens)
    }
    named = {}
    for kind, h, i in flow._names:
        if kind == "x":
            named[kind, h, i] = x[i]
        elif kind == "y":
            named[kind, h, i] = [Fraction(1)] * d
        else:
            named[kind, h, i] = applied(families[kind][h], x[i])
    values = dict(weights)
    for a, first in enumerate(flow._names):
        for b, second in enumerate(flow._names):
            overlap = inner(named[first], named[second])
            entry = flow.space.gram[a, b]
            if entry.is_Symbol:
                assert values.setdefault(entry, overlap) == overlap
            else:
                assert entry == overlap
    rates = []
    for i in range(tokens):
        velocity = [Fraction(0)] * d
        for h in range(heads):
            images = [applied(value[h], y) for y in x]
            aggregate = combined([weights[flow.weight(h, i, j)] for j in range(tokens)], images)
            velocity = [v + f / tokens for v, f in zip(velocity, aggregate, strict=True)]
        rates.append(tangential(x[i], velocity) if spherical else velocity)
    for h in range(heads):
        expected = Fraction(0)
        for i in range(tokens):
            for j in range(tokens):
                change = inner(rates[i], applied(score[h], x[j]))
                change += inner(x[i], applied(score[h], rates[j]))
                expected += weights[flow.weight(h, i, j)] * change
        expected /= 2 * tokens**2
        rational = {s: sp.Rational(v.numerator, v.denominator) for s, v in values.items()}
        found = flow.energy_rate(h).subs(rational)
        assert found == sp.Rational(expected.numerator, expected.denominator)


def test_overlaps_of_orthogonal_heads_vanish() -> None:
    flow = GeneralFlow(2, 2, orthogonal=True)
    first, second = flow.aggregate(0, 0), flow.aggregate(1, 1)
    assert flow.space.inner(first, second) == 0
    assert flow.space.inner(first, first) != 0


_FULL = Conditions()


@pytest.mark.parametrize("spherical", [True, False])
def test_identities_close(spherical: bool) -> None:
    conditions = replace(_FULL, spherical=spherical)
    assert gradient_derivation(conditions, n).is_closed
    assert rate_derivation(conditions, 1 / n).is_closed
    assert one_head_derivation(replace(conditions, model=Model.SOFTMAX)).is_closed
    orthogonal = ORTHOGONAL if spherical else FLAT_ORTHOGONAL
    assert head_derivation(orthogonal).is_closed


@pytest.mark.parametrize(
    "conditions", [Conditions(symmetric=False), Conditions(aligned=False)], ids=str
)
def test_no_identity_without_symmetry_or_alignment(conditions: Conditions) -> None:
    assert not gradient_derivation(conditions, n).is_closed
    assert not rate_derivation(conditions, 1 / n).is_closed
    assert not head_derivation(replace(conditions, orthogonal=True)).is_closed


def test_wrong_identities_do_not_close() -> None:
    assert not gradient_derivation(_FULL, sp.S.One).is_closed
    assert not rate_derivation(_FULL, 1 / n**2).is_closed
    assert not rate_derivation(replace(_FULL, model=Model.SOFTMAX), 1 / n).is_closed
    assert not one_head_derivation(replace(_FULL, model=Model.SOFTMAX), heads=2).is_closed
    assert not head_derivation(ORTHOGONAL, sign=1).is_closed
    assert not head_derivation(ORTHOGONAL, power_of_n=2).is_closed
    assert not head_derivation(replace(ORTHOGONAL, orthogonal=False)).is_closed


QUARTER = sp.Rational(1, 4)
MISALIGNED = Conditions(aligned=False)


def test_misaligned_values_and_overlapping_heads_close() -> None:
    assert misalignment_derivation(MISALIGNED, QUARTER).is_closed
    assert misalignment_derivation(MISALIGNED, QUARTER).reaches(WEIGHT_BOUND)
    assert strict_derivation().is_closed
    assert cross_derivation(_FULL).is_closed


def test_false_bounds_for_misaligned_values_do_not_close() -> None:
    for constant in (QUARTER / 2, sp.Rational(1, 5), sp.S.Zero):
        assert not misalignment_derivation(MISALIGNED, constant).is_closed
    for conditions in (
        replace(MISALIGNED, symmetric=False),
        replace(MISALIGNED, model=Model.SOFTMAX),
    ):
        assert not misalignment_derivation(conditions, QUARTER).is_closed
    # In the flat flow the identity holds, and the bound of the weights is another.
    flat = misalignment_derivation(replace(MISALIGNED, spherical=False), QUARTER)
    assert not flat.reaches(WEIGHT_BOUND)
    for multiple in (sp.S.Zero, sp.S.One, sp.Integer(2)):
        assert not strict_derivation(multiple).is_closed


def test_false_bounds_for_overlapping_heads_do_not_close() -> None:
    for share in (sp.S.Zero, sp.Rational(1, 2), sp.Rational(99, 100)):
        assert not cross_derivation(_FULL, share=share).is_closed
    assert not cross_derivation(_FULL, sign=-1).is_closed
    assert not cross_derivation(Conditions(aligned=False)).is_closed
    assert not cross_derivation(Conditions(symmetric=False)).is_closed


def test_aligned_values_are_not_misaligned() -> None:
    flow = GeneralFlow(2, 2)
    assert all(sp.expand(c) == 0 for c in flow.misalignment(0))


def test_smallest_witness_closes_on_both_sides_and_no_other_form_does() -> None:
    assert smallest_derivation(0).is_closed
    assert smallest_derivation(1).is_closed
    assert not smallest_derivation(0, sp.S.One).is_closed


def test_a_difference_that_shows_only_at_more_indices_than_stated_is_seen() -> None:
    # Three indices that all differ: zero for one and two tokens.
    def difference(tokens: int, _heads: int) -> sp.Expr:
        if tokens < 3:
            return sp.S.Zero
        return sp.Symbol("d_0_1_2")

    relation = equation(sp.Symbol("left"), sp.Symbol("right"))
    step = local_sums(relation, relation, difference, "too low", tokens=2, heads=1)
    assert step.check().answer is Answer.UNDECIDED


def test_a_sum_of_what_is_no_square_has_no_sign() -> None:
    i = sp.Symbol("i", integer=True)
    speed, rate = sp.Function("speed"), sp.Function("dE")
    limits = (i, 1, n)
    good = equation(rate(), sp.Sum(speed(i) ** 2, limits) / n)
    assert squares_step(good).check().answer is Answer.YES
    for wrong in (
        sp.Sum(speed(i), limits) / n,
        sp.Sum(speed(i) ** 3, limits) / n,
        -sp.Sum(speed(i) ** 2, limits) / n,
        sp.Sum(speed(i) ** 2, limits) * (n - 1),
        sp.Sum(sp.Function("shadow")(i) ** 2, limits),
    ):
        assert squares_step(equation(rate(), wrong)).check().answer is not Answer.YES
