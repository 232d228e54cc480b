"""The rate of the overlap's logit: derived for each model; wrong ones do not close."""

import pytest
import sympy as sp

from symbolic import logit
from symbolic.answer import Answer
from symbolic.decide import is_zero
from symbolic.flow import Model
from symbolic.logit import GAP, LOGIT, OVERLAP, u
from symbolic.notation import beta, gamma, lam, n

models = pytest.mark.parametrize("model", list(Model))


@models
def test_the_derivation_closes_and_reaches_the_sum_over_heads(model: Model) -> None:
    derivation = logit.derivation(model)
    assert derivation.is_closed
    assert derivation.steps[-1].after.rhs == logit.TOTAL_FIELDS[model]


@models
@pytest.mark.parametrize(
    "change",
    [
        lambda field: field * 2,
        lambda field: -field,
        lambda field: field + sp.Rational(1, 10**40),
        lambda field: field.subs(n, n + 1),
        lambda field: field.subs(u, -u),
        lambda field: field.subs(lam, 2 * lam),
    ],
)
def test_another_rate_does_not_close(model: Model, change: object) -> None:
    assert callable(change)
    assert not logit.derivation(model, change(logit.FIELDS[model])).is_closed


@pytest.mark.parametrize("model", [Model.SOFTMAX, Model.UNNORMALISED])
def test_another_temperature_does_not_close(model: Model) -> None:
    assert not logit.derivation(model, logit.FIELDS[model].subs(beta, 2 * beta)).is_closed


def test_overlap_gap_and_logit_belong_together() -> None:
    assert is_zero(OVERLAP + GAP - 1, logit.REGION) is Answer.YES
    assert is_zero(LOGIT.subs(gamma, OVERLAP) - u, logit.REGION) is Answer.YES
    assert is_zero(LOGIT.subs(gamma, GAP) - u, logit.REGION) is not Answer.YES
