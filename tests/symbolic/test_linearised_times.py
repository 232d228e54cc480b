"""Linearised times: identities and orders against the solved equations, false ones refused."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
import sympy as sp

from symbolic.answer import Answer
from symbolic.decide import is_zero, sign_of
from symbolic.linearised_times import (
    DRIVE_TIME,
    REGION,
    RELU_TIME,
    SLOPE_TIME,
    bounds,
    identities,
)
from symbolic.notation import beta, lam, n, start, stop

TRUE = (DRIVE_TIME, SLOPE_TIME, RELU_TIME)


def hold(times: tuple[sp.Expr, sp.Expr, sp.Expr]) -> bool:
    zero = (is_zero(d, REGION) is Answer.YES for d in identities(*times).values())
    return all(zero) and all(sign_of(d, REGION).is_nonnegative for d in bounds(*times).values())


def test_times_and_orders_hold() -> None:
    assert hold(TRUE)


@pytest.mark.parametrize(
    "wrong",
    [
        (DRIVE_TIME / 2, SLOPE_TIME, RELU_TIME),
        (DRIVE_TIME + 1, SLOPE_TIME, RELU_TIME),
        (DRIVE_TIME, SLOPE_TIME.subs(beta, beta + 1 / lam), RELU_TIME),
        (DRIVE_TIME, 2 * SLOPE_TIME, RELU_TIME),
        (DRIVE_TIME, SLOPE_TIME, RELU_TIME * lam),
        (DRIVE_TIME, SLOPE_TIME, 2 * RELU_TIME),
    ],
)
def test_false_times_do_not(wrong: tuple[sp.Expr, sp.Expr, sp.Expr]) -> None:
    assert not hold(wrong)


@pytest.mark.parametrize("tokens", [2, 7, 100])
@pytest.mark.parametrize("strength", [Fraction(1, 2), Fraction(3)])
def test_times_are_integrals_of_the_linearised_rates(tokens: int, strength: Fraction) -> None:
    values = {n: tokens, lam: sp.Rational(strength), beta: 2, start: sp.Rational(1, 50)}
    values[stop] = sp.Rational(1, 4)
    with mpmath.workdps(40):
        x = mpmath.mpf(strength.numerator) / strength.denominator
        drive = 2 * x / tokens
        tilt = drive * (2 * x + tokens - 2)
        growth = 2 * x * x / tokens
        first, last = mpmath.mpf(1) / 50, mpmath.mpf(1) / 4
        expected = (
            last / drive,
            mpmath.quad(lambda g: 1 / (drive + tilt * g), [0, last]),
            mpmath.quad(lambda g: 1 / (growth * g), [first, last]),
        )
        for time, found in zip(TRUE, expected, strict=True):
            stated = mpmath.mpf(str(sp.N(time.subs(values), 38)))
            assert abs(stated / found - 1) < mpmath.mpf(10) ** -30
