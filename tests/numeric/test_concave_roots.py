"""Certified roots of concave residuals, in balls, in float64 and compiled."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
import sympy as sp
from flint import arb
from hypothesis import example, given
from hypothesis import strategies as st

from numeric.balls import Balls, ball_precision, bracket, certified_root, slack, turn
from numeric.float_arithmetic import Bounded, BoundedFloats, Floats
from numeric.multiprecision import mpmath_value
from numeric.straight_line import Trace
from numeric.walk import bind_equation
from symbolic.implicit import Implicit, ImplicitFunction
from symbolic.region import Region, above

x = sp.Symbol("x", real=True)
y = sp.Symbol("y", positive=True)

ROOT = Implicit(
    variable=x,
    arguments=(y,),
    residual=y - x**2,
    lower=sp.S.Zero,
    start=y + 1,
    region=Region({y: above(0)}),
    concave=True,
)
"""The square root of y."""

numbers = st.one_of(
    st.integers(1, 10**6).map(Fraction),
    st.builds(lambda e: Fraction(10) ** e, st.integers(-60, 60)),
    st.builds(Fraction, st.integers(1, 999), st.integers(1, 999)),
)


def found(definition: Implicit, argument: arb) -> arb:
    return certified_root(bind_equation(definition, [argument], Balls()))


def exact(number: arb) -> Fraction:
    mantissa, exponent = number.man_exp()
    return int(mantissa) * Fraction(2) ** int(exponent)


@given(numbers, st.sampled_from([30, 64, 100, 200, 2000]))
@example(Fraction(10**17), 30)
@example(Fraction(10**60), 30)
@example(Fraction(1, 10**60), 30)
@example(Fraction(10**60), 100)
def test_a_ball_holds_the_root(number: Fraction, bits: int) -> None:
    with ball_precision(bits):
        ball = found(ROOT, arb(number.numerator) / number.denominator)
        assert ball.rel_accuracy_bits() > bits - 12
    # Rationally, without balls: the ends of the ball are on both sides of the root.
    low, high = exact(ball.mid()) - exact(ball.rad()), exact(ball.mid()) + exact(ball.rad())
    assert low > 0
    assert low**2 <= number <= high**2


def test_an_exact_root_is_found() -> None:
    with ball_precision(100):
        ball = found(ROOT, arb(4))
        assert ball.contains(2)
        assert ball.rad() < arb("1e-25")


def test_an_argument_known_to_some_digits_makes_a_ball_for_all_of_it() -> None:
    with ball_precision(100):
        ball = found(ROOT, arb(2, "1e-10"))
        low, high = (arb(2) - arb("1e-10")).sqrt(), (arb(2) + arb("1e-10")).sqrt()
        assert ball.contains(low.mid())
        assert ball.contains(high.mid())
        assert ball.rad() < arb("1e-9")


@pytest.mark.parametrize(
    "changes",
    [
        # Starts from which Newton's method does not come to the root.
        {"start": sp.S.Zero},
        {"start": -y - 1},
        {"start": sp.log(-y)},
        # No root, or none beyond the bound, or one where the residual turns positive.
        {"residual": -y - x**2},
        {"lower": y + 2},
        {"residual": x**2 - y},
        {"residual": -((x - 1) ** 2)},
        # Not real on one side of the root.
        {"residual": -sp.sqrt(x**2 - y)},
    ],
)
def test_what_is_not_proved_is_not_finite(changes: dict[str, Any]) -> None:
    with ball_precision(100):
        assert not found(replace(ROOT, **changes), arb(3)).is_finite()


def test_a_turn_needs_both_signs_beyond_the_bound() -> None:
    low, high, plus, minus = arb(1), arb(2), arb(1), arb(-1)
    wide = arb(0, 1)
    assert turn(low, high, plus, minus, arb(0)).contains(arb("1.5"))
    for before, after, bound in (
        (minus, plus, arb(0)),
        (plus, plus, arb(0)),
        (wide, minus, arb(0)),
        (plus, wide, arb(0)),
        (plus, arb("nan"), arb(0)),
        (plus, minus, arb(1)),
        (plus, minus, arb(3)),
    ):
        assert not turn(low, high, before, after, bound).is_finite()


def test_a_root_far_below_the_start() -> None:
    definition = replace(ROOT, start=sp.Integer(10) ** 60)
    with ball_precision(100):
        assert found(definition, arb(2)).overlaps(arb(2).sqrt())
        # Very steep on one side of the root: the square root of 1e-80.
        steep = replace(ROOT, residual=sp.sqrt(y) - sp.sqrt(x), start=y * 10**30)
        ball = found(steep, arb("1e-80"))
        assert not ball.is_finite() or ball.overlaps(arb("1e-80"))


def test_the_same_bracket_is_compiled() -> None:
    trace = Trace()
    argument, twice, least = (trace.fixed_number() for _ in range(3))
    start = trace.varying_number()
    equation = bind_equation(ROOT, [argument], trace)
    lines = bracket(equation, start, equation.residual(start), twice, least)
    with ball_precision(64):
        program = trace.program(*lines)(lambda value: arb(value.numerator) / value.denominator)
        near = arb(3).sqrt().mid()
        ((*ends,),) = program([arb(3), arb(0, 2), slack()], [(near,)])
        direct = bind_equation(ROOT, [arb(3)], Balls())
        others = bracket(direct, near, direct.residual(near), arb(0, 2), slack())
        assert [str(end) for end in ends] == [str(end) for end in others]
        assert turn(ends[0], ends[1], ends[2], ends[3], arb(0)).contains(near)


@given(numbers)
def test_float64_and_mpmath_find_it_too(number: Fraction) -> None:
    class Root(ImplicitFunction):
        nargs = 1
        definition = ROOT

    expected = float(number) ** 0.5
    with np.errstate(all="ignore"):
        plain = Floats().implicit(ROOT, [np.array([float(number)])])
        bounded = BoundedFloats().implicit(ROOT, [Bounded(np.array([float(number)]), 0.0)])
    if 1e-30 < number < 1e30:
        assert abs(plain[0] - expected) <= 1e-14 * expected
        assert bounded.error[0] <= 1e-14 * expected
    value = mpmath_value(Root(y), {y: number}, 50)
    assert (
        abs(value**2 - value.context.mpf(number.numerator) / number.denominator)
        <= value**2 / 10**45
    )


@given(st.floats(1e-10, 1e10), st.floats(0, 0.1), st.sampled_from([-1, 0, 1]))
def test_the_bounds_of_float64_hold(number: float, share: float, side: int) -> None:
    argument = Bounded(np.array([number]), number * share)
    with np.errstate(all="ignore"):
        bounded = BoundedFloats().implicit(ROOT, [argument])
    true = flint.arb(Fraction(number).numerator) / Fraction(number).denominator
    true = true * (1 + arb(share) * side)
    distance = abs(true.sqrt() - float(bounded.value[0]))
    assert np.isinf(bounded.error[0]) or distance <= arb(float(bounded.error[0])) * arb(1, "1e-9")


def test_float64_claims_nothing_without_a_proof() -> None:
    with np.errstate(all="ignore"):
        for changes in ({"residual": -y - x**2}, {"lower": y + 2}, {"residual": x**2 - y}):
            definition = replace(ROOT, **changes)
            bounded = BoundedFloats().implicit(definition, [Bounded(np.array([3.0]), 0.0)])
            assert np.all(np.isinf(bounded.error))
