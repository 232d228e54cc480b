"""The clustering time and the late constant: what closes, and what must not."""

from collections.abc import Callable

import pytest
import sympy as sp

from symbolic import clustering_time, late_constant
from symbolic.answer import Answer
from symbolic.clustering_time import EQUAL_HEADS, INTEGRALS, TIMES, model_derivation
from symbolic.decide import is_zero
from symbolic.derivation import Derivation
from symbolic.flow import Model
from symbolic.flow_rules import summed_over_heads
from symbolic.logit import FIELDS, GAP, u
from symbolic.notation import alpha, beta, lam, n, start, stop
from symbolic.passage import eps
from symbolic.region import Range

TINY = sp.Rational(1, 10**40)
Change = Callable[[sp.Expr], sp.Expr]
CHANGES: list[Change] = [
    lambda x: x * 2,
    lambda x: -x,
    lambda x: x * (1 + TINY),
    lambda x: x + (stop - start) * TINY,
    lambda x: x.subs(n, n + 1),
    lambda x: x.subs({start: stop, stop: start}, simultaneous=True),
]


def fresh(model: Model) -> Derivation:
    """Return a derivation that is not taken from the cache."""
    found = model_derivation.__wrapped__(model, INTEGRALS[model])
    assert isinstance(found, Derivation)
    return found


@pytest.mark.parametrize("model", list(Model))
@pytest.mark.parametrize("change", CHANGES)
def test_another_integral_does_not_close(model: Model, change: Change) -> None:
    mutant = change(INTEGRALS[model])
    assert not model_derivation.__wrapped__(model, mutant).is_closed


@pytest.mark.parametrize("model", list(EQUAL_HEADS))
@pytest.mark.parametrize(
    "change", [*CHANGES, lambda x: x.subs(beta, 2 * beta), lambda x: x.subs(alpha, alpha + TINY)]
)
def test_another_closed_form_of_equal_heads_does_not_close(
    model: Model, change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert fresh(model).is_closed
    monkeypatch.setitem(EQUAL_HEADS, model, change(EQUAL_HEADS[model]))
    assert not fresh(model).is_closed


@pytest.mark.parametrize("change", CHANGES)
def test_another_closed_form_of_relu_does_not_close(
    change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutant = change(clustering_time.RELU_CLOSED)
    monkeypatch.setattr(clustering_time, "RELU_CLOSED", mutant)
    assert not fresh(Model.RELU).is_closed


@pytest.mark.parametrize("model", list(TIMES))
@pytest.mark.parametrize(
    "change",
    [
        lambda x: x * 2,
        lambda x: x + TINY,
        lambda x: x.subs(lam, -lam),
        lambda x: x.subs(eps, 2 * eps),
        lambda x: x.subs(n, n + 1) * (1 + beta * TINY),
    ],
)
def test_what_is_evaluated_is_tied_to_the_integral(
    model: Model, change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The integral over the gap is that of the evaluated function, by one definition.
    definition = TIMES[model].definition
    one_head = clustering_time.IN_GAP[model]
    mutant = summed_over_heads(change(one_head))
    monkeypatch.setattr(TIMES[model], "definition", type(definition)(mutant))
    assert not fresh(model).is_closed


@pytest.mark.parametrize("model", list(TIMES))
def test_a_rate_that_grows_with_the_gap_does_not_close(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Evaluation rests on it: the direction at the start decides.
    monkeypatch.setitem(clustering_time.IN_GAP, model, sp.exp(beta * lam * eps))
    assert not fresh(model).is_closed


@pytest.mark.parametrize("model", list(TIMES))
def test_the_rate_over_the_gap_is_that_of_the_logit(model: Model) -> None:
    over_gap = clustering_time.IN_GAP[model].subs(eps, GAP)
    assert is_zero(over_gap - FIELDS[model], clustering_time.REGION.having({u: Range()})) is (
        Answer.YES
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x * 2,
        lambda x: 1 / x,
        lambda x: x * (1 + TINY),
        lambda x: x.subs(n, n + 1),
        lambda x: x.subs(beta, 2 * beta),
    ],
)
def test_another_late_constant_does_not_close(change: Change) -> None:
    assert late_constant.derivation().is_closed
    assert not late_constant.derivation.__wrapped__(change(late_constant.EXPRESSION)).is_closed


def test_the_evaluated_late_constant_is_tied_to_the_integral(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    definition = late_constant.LateLogarithm.definition
    mutant = type(definition)(definition.field.subs(n, n + 1), regular=True)
    monkeypatch.setattr(late_constant.LateLogarithm, "definition", mutant)
    assert not late_constant.derivation.__wrapped__(late_constant.EXPRESSION).is_closed
