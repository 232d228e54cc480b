"""Shadow, power and energy at equiangular tokens: derived, and mutants that do not close."""

import pytest
import sympy as sp

from symbolic.equiangular_quantities import ENERGY, ENERGY_RATE, POWERS, SHADOWS, derivation
from symbolic.flow import Model
from symbolic.notation import gamma, lam, n
from symbolic.radial_cosine import SQUARE

models = pytest.mark.parametrize("model", Model)


@models
def test_derived_from_the_definitions(model: Model) -> None:
    found = derivation(model)
    assert found.is_closed
    results = [step.after.rhs for step in found.steps]
    for form in (SHADOWS[model], POWERS[model], ENERGY, ENERGY_RATE):
        assert form in results


@models
@pytest.mark.parametrize(
    "wrong", [lambda form: 2 * form, lambda form: form + lam, lambda form: n * form]
)
def test_mutants_do_not_close(model: Model, wrong: object) -> None:
    assert callable(wrong)
    shadow, power = SHADOWS[model], POWERS[model]
    assert not derivation(model, (wrong(shadow), power)).is_closed
    assert not derivation(model, (shadow, wrong(power))).is_closed


def test_shadow_and_power_make_up_the_square() -> None:
    total = SHADOWS[Model.UNNORMALISED] ** 2 + POWERS[Model.UNNORMALISED]
    assert sp.expand(total - SQUARE.rhs) == 0


def test_relu_heads_that_see_nothing() -> None:
    blind = {lam: sp.Integer(-2), gamma: sp.Rational(1, 3)}
    assert SHADOWS[Model.RELU].subs(blind) == POWERS[Model.RELU].subs(blind) == 0
