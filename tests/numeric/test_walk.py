"""The walk over expressions, with arithmetics that show what it does."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import fmpq
from sympy.codegen.cfunctions import log1p

from numeric.balls import ball_precision, ball_value
from numeric.exact_values import rational_value
from numeric.float_arithmetic import Floats
from numeric.multiprecision import mpmath_value
from numeric.walk import bind_equation, walk
from symbolic.implicit import Implicit, ImplicitFunction
from symbolic.region import Region, between
from symbolic.written import written

x, y = sp.symbols("x y")


class Spelled(str):
    """Text that writes down the operations done on it."""

    __slots__ = ()

    def __add__(self, other: str) -> "Spelled":
        return Spelled(f"({self}+{other})")

    def __mul__(self, other: Any) -> "Spelled":
        return Spelled(f"({self}*{other})")


class Spelling:
    """Arithmetic that writes itself down and counts its function calls."""

    def __init__(self) -> None:
        self.calls = 0

    def rational(self, value: Fraction) -> Spelled:
        return Spelled(value)

    def power(self, base: Spelled, exponent: int) -> Spelled:
        return Spelled(f"{base}^{exponent}")

    def function(self, name: str, argument: Spelled) -> Spelled:
        self.calls += 1
        return Spelled(f"{name}[{argument}]")

    def larger(self, first: Spelled, second: Spelled) -> Spelled:
        return Spelled(f"max[{first}, {second}]")

    def implicit(self, definition: Implicit, arguments: Sequence[Spelled]) -> Spelled:
        return Spelled(f"root of {definition.residual} at {', '.join(arguments)}")


lam, h = sp.IndexedBase("lam"), sp.Symbol("h", integer=True)
BINDINGS = {x: Spelled("x"), y: Spelled("y"), lam: (Spelled("a"), Spelled("b"), Spelled("c"))}


class Root(ImplicitFunction):
    """The root u of ``u + ln u = s``, at s = 1 it is 1."""

    _u, _s = sp.symbols("u s")
    definition = Implicit(
        variable=_u,
        arguments=(_s,),
        residual=_u + sp.log(_u) - _s,
        lower=sp.S.Zero,
        start=sp.Rational(1, 2) + _s / 4,
        region=Region({_s: between(-1, 3)}),
    )


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (x, "x"),
        (sp.Rational(-3, 7), "-3/7"),
        (written(lambda: y + x + 1), "((y+x)+1)"),
        (written(lambda: y * x * 2), "((y*x)*2)"),
        (x**-3, "x^-3"),
        (sp.sqrt(x), "sqrt[x]^1"),
        (1 / sp.sqrt(x), "sqrt[x]^-1"),
        (sp.Pow(x, sp.Rational(-3, 2)), "sqrt[x]^-3"),
        (sp.Pow(sp.Rational(1, 2), sp.Rational(1, 2), evaluate=False), "sqrt[1/2]^1"),
        (sp.Pow(sp.Rational(1, 3), 2, evaluate=False), "1/3^2"),
        (sp.exp(x), "exp[x]"),
        (sp.log(sp.asinh(x)), "log[asinh[x]]"),
        (sp.Max(x, y), "max[x, y]"),
        (sp.Sum(x * lam[h], (h, 1, y)), "(((x*a)+(x*b))+(x*c))"),
        (Root(x + y), "root of -s + u + log(u) at (x+y)"),
    ],
)
def test_each_kind_of_expression(expression: sp.Expr, text: str) -> None:
    assert walk(expression, BINDINGS, Spelling()) == text


def test_a_sum_over_heads_takes_every_head_once() -> None:
    bindings = {lam: (Fraction(2), Fraction(3), Fraction(3), Fraction(0)), x: Fraction(5)}
    assert rational_value(sp.Sum(x * lam[h] ** 2, (h, 1, y)) + x, bindings) == 5 * 22 + 5
    assert (
        rational_value(sp.Sum(x * lam[h], (h, 1, y)), {lam: (Fraction(7),), x: Fraction(2)}) == 14
    )


@pytest.mark.parametrize("pair", [(2, 3), (3, 2), (-1, -1), (0, -5)])
def test_the_larger_number(pair: tuple[int, int]) -> None:
    bindings = {x: Fraction(pair[0]), y: Fraction(pair[1])}
    assert rational_value(sp.Max(x, y), bindings) == max(pair)
    assert mpmath_value(sp.Max(x, y), bindings, 20) == max(pair)
    with ball_precision(20):
        ball = ball_value(sp.Max(x, y), bindings)
    assert ball.is_exact()
    assert ball == max(pair)


def test_the_parts_of_an_equation_without_the_unknown_are_computed_once() -> None:
    u, s = Root.definition.variable, Root.definition.arguments[0]
    definition = replace(Root.definition, residual=u + sp.log(u + s) - sp.exp(s) - sp.exp(2 * s))
    arithmetic = Spelling()
    equation = bind_equation(definition, [Spelled("t")], arithmetic)
    before = arithmetic.calls
    texts = {str(equation.residual(Spelled(point))) for point in "pq"}
    assert arithmetic.calls == before + 2
    assert len(texts) == 2
    assert (equation.start, equation.lower) == ("(1/2+(1/4*t))", "0")


def test_what_occurs_twice_is_computed_once() -> None:
    arithmetic = Spelling()
    walk(sp.exp(x) + 1 / (1 + sp.exp(x)) + sp.log(sp.exp(x) + 2), BINDINGS, arithmetic)
    assert arithmetic.calls == 2


def test_bindings_are_left_alone() -> None:
    bindings = dict(BINDINGS)
    walk(sp.exp(x) + y, bindings, Spelling())
    assert bindings == BINDINGS


@pytest.mark.parametrize(
    "expression",
    [
        sp.Symbol("z") + x,
        sp.Float(0.5) * x,
        sp.pi * x,
        sp.I * x,
        sp.oo,
        sp.nan,
        x**y,
        2**x,
        sp.cbrt(x),
        sp.Max(x, y, 1),
        sp.Sum(x, (h, 1, y)),
        sp.atan2(x, y),
        sp.Integral(x, (x, 0, y)),
        sp.Piecewise((x, x > 0), (y, True)),
    ],
)
def test_what_has_no_rule_is_refused(expression: sp.Expr) -> None:
    with pytest.raises(NotImplementedError, match="no numeric rule"):
        walk(expression, BINDINGS, Spelling())


def test_symbols_are_told_apart_by_their_assumptions() -> None:
    with pytest.raises(NotImplementedError, match="no numeric rule for Symbol"):
        walk(sp.Symbol("x", positive=True), BINDINGS, Spelling())


# By hand at x = 9/4, y = -2.
HAND = [
    (x + y, Fraction(1, 4)),
    (x * y + 1, Fraction(-7, 2)),
    (sp.sqrt(x), Fraction(3, 2)),
    (x ** sp.Rational(-3, 2), Fraction(8, 27)),
    (y**-3, Fraction(-1, 8)),
    (sp.exp(4 * x - 9) * 5, Fraction(5)),
    (sp.log(x - sp.Rational(5, 4)) + 1, Fraction(1)),
    (sp.asinh(y + 2), Fraction(0)),
    (log1p(y + 2), Fraction(0)),
    (sp.LambertW(y + 2, evaluate=False) * x, Fraction(0)),
    (sp.Max(x, y), Fraction(9, 4)),
]


@pytest.mark.parametrize(("expression", "value"), HAND)
def test_every_arithmetic_finds_values_known_by_hand(expression: sp.Expr, value: Fraction) -> None:
    bindings = {x: Fraction(9, 4), y: Fraction(-2)}
    assert rational_value(expression, bindings) == value
    with ball_precision(100):
        assert ball_value(expression, bindings).contains(fmpq(value.numerator, value.denominator))
    found = mpmath_value(expression, bindings, 40)
    assert abs(found - found.context.mpf(value.numerator) / value.denominator) < 1e-38


@pytest.mark.parametrize(
    "expression",
    [
        Root(x),
        log1p(x),
        sp.LambertW(x),
        sp.sqrt(x),
        sp.exp(x),
        sp.log(x),
        sp.asinh(x),
        sp.sqrt(-x),
        sp.log(x) + sp.sqrt(x),
    ],
)
def test_what_is_not_seen_to_be_rational(expression: sp.Expr) -> None:
    assert rational_value(expression, {x: Fraction(5)}) is None


def test_exact_roots_of_long_fractions() -> None:
    root = Fraction(10**3000 + 1, 3**5000)
    assert rational_value(sp.sqrt(x), {x: root**2}) == root
    assert rational_value(sp.sqrt(x), {x: root**2 + Fraction(1, 10**9000)}) is None


@pytest.mark.parametrize("argument", [Fraction(1), Fraction(-1, 2), Fraction(3)])
def test_roots_in_every_arithmetic(argument: Fraction) -> None:
    root = mpmath_value(Root(x), {x: argument}, 40)
    context = root.context
    assert abs(
        root + context.log(root) - context.mpf(argument.numerator) / argument.denominator
    ) < (context.mpf(10) ** -37)
    with ball_precision(120):
        ball = ball_value(Root(x), {x: argument})
        assert ball.rel_accuracy_bits() > 100
        assert float(ball) == pytest.approx(float(root), rel=1e-14)
    floats = Floats().implicit(Root.definition, [np.array([float(argument)])])
    assert floats == pytest.approx([float(root)], rel=1e-14)
