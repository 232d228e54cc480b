"""Where relu is ahead: derivations close, false regions do not; late limits as numbers say."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
import sympy as sp

from symbolic.flow import Model
from symbolic.notation import beta, gamma, lam, n
from symbolic.relu_late import (
    AHEAD_OF_SOFTMAX,
    AHEAD_OF_UNNORMALISED,
    NEVER,
    derivation,
    late_derivation,
    late_relations,
    never_derivation,
)


def test_regions_close() -> None:
    assert derivation(Model.SOFTMAX, AHEAD_OF_SOFTMAX).is_closed
    assert derivation(Model.UNNORMALISED, AHEAD_OF_UNNORMALISED).is_closed
    assert never_derivation().reaches(NEVER)
    assert never_derivation().is_closed


@pytest.mark.parametrize(
    ("model", "left", "right"),
    [
        (Model.SOFTMAX, AHEAD_OF_SOFTMAX.lhs, AHEAD_OF_SOFTMAX.rhs - 1),
        (Model.SOFTMAX, AHEAD_OF_SOFTMAX.rhs, AHEAD_OF_SOFTMAX.lhs),
        (Model.SOFTMAX, AHEAD_OF_SOFTMAX.lhs, 1 + n * (1 - gamma) / gamma),
        (Model.UNNORMALISED, gamma, sp.exp(beta * lam * gamma)),
        (Model.UNNORMALISED, lam * gamma, sp.exp(-beta * lam * gamma)),
        (Model.UNNORMALISED, AHEAD_OF_UNNORMALISED.rhs, AHEAD_OF_UNNORMALISED.lhs),
    ],
)
def test_false_regions_do_not_close(model: Model, left: sp.Expr, right: sp.Expr) -> None:
    assert not derivation(model, sp.Gt(left, right, evaluate=False)).is_closed


def test_late_limits_close_and_false_ones_do_not() -> None:
    chain = late_derivation()
    assert chain.is_closed
    assert all(chain.reaches(relation) for relation in late_relations())
    for wrong in (beta - 2 * n, beta, n - beta, beta - n + 1):
        assert not late_derivation(wrong).is_closed
    assert not never_derivation(4).is_closed


@pytest.mark.parametrize(
    ("tokens", "temperature", "ahead"),
    [
        (3, Fraction(3), True),
        (4, Fraction(4), True),
        (3, Fraction(301, 100), True),
        (2, Fraction(201, 100), True),
        (2, Fraction(2), False),
        (3, Fraction(299, 100), False),
    ],
)
def test_late_limits_agree_with_the_rates(tokens: int, temperature: Fraction, ahead: bool) -> None:
    with mpmath.workdps(80):
        eps = mpmath.mpf(10) ** -8
        b = mpmath.mpf(temperature.numerator) / temperature.denominator
        softmax = 1 / (mpmath.exp(b * eps) + tokens - 1)
        assert ((1 - eps) / tokens > softmax) is ahead
