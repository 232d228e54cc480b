"""The rate of attention entropy: the derivation closes and no false part does."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp

from symbolic.answer import Answer
from symbolic.entropy_rate import RATE, A, B, C, D, Statement, Z, derivation, termwise
from symbolic.notation import beta
from symbolic.rules import equation

TRUE = Statement()


def test_the_identity_closes() -> None:
    assert derivation(TRUE).is_closed
    assert derivation(TRUE).reaches(TRUE.result)


@pytest.mark.parametrize(
    "wrong",
    [
        replace(TRUE, rate=-RATE),
        replace(TRUE, rate=RATE / beta),
        replace(TRUE, rate=2 * RATE),
        replace(TRUE, rate=-(beta**2) * C / Z),
        replace(TRUE, rate=-(beta**2) * (D / Z - B**2 / Z**2)),
        replace(TRUE, weights=A),
        replace(TRUE, scored=beta * C),
        replace(TRUE, scored=A + beta * C + B),
        replace(TRUE, entropy=sp.log(Z) + beta * B / Z),
        replace(TRUE, entropy=sp.log(Z)),
    ],
)
def test_false_parts_do_not_close(wrong: Statement) -> None:
    assert not derivation(wrong).is_closed


def test_what_is_not_linear_in_the_sums_is_refused() -> None:
    before, s = equation(sp.Symbol("left"), sp.Symbol("right")), sp.Symbol("s", real=True)
    weight = sp.exp(beta * s)
    square = termwise(before, equation(sp.Symbol("x"), B**2), (weight * s) ** 2, B**2, "a square")
    assert square.check().answer is not Answer.YES
    constant = termwise(before, equation(sp.Symbol("x"), sp.S.One), sp.S.One, sp.S.One, "a number")
    assert constant.check().answer is not Answer.YES
    scaled = termwise(before, equation(sp.Symbol("x"), s * B), s**2 * weight, s * B, "a score")
    assert scaled.check().answer is not Answer.YES
    other = termwise(before, equation(sp.Symbol("x"), 2 * B), weight * s, B, "another side")
    assert other.check().answer is not Answer.YES
