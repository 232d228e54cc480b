"""The tower of generators: how expressions are split, reduced and put back."""

import pytest
import sympy as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from symbolic.errors import InputError
from symbolic.positivity import Sign
from symbolic.region import EVERYWHERE, Range, Region, above, at_least, between
from symbolic.tower import Kind, Tower, assumed_range, exponential_range
from tests.symbolic.reference import expressions, points, regions, value

x, y = sp.symbols("x y", real=True)
p, q = sp.symbols("p q", positive=True)


def kinds(expression: sp.Expr, region: Region = EVERYWHERE) -> dict[Kind, list[sp.Expr]]:
    """Return what the generators of an expression stand for, restored to the original symbols."""
    tower = Tower(region)
    tower.convert(expression)
    found: dict[Kind, list[sp.Expr]] = {}
    for generator in tower.generators:
        if generator.kind is not Kind.SYMBOL:
            found.setdefault(generator.kind, []).append(tower.restored(generator.argument))
    return found


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (sp.sqrt(12), {Kind.ROOT: [3]}),
        (sp.sqrt(sp.Rational(2, 3)), {Kind.ROOT: [2, 3]}),
        (sp.sqrt(p**3 * q), {Kind.ROOT: [p, q]}),
        (sp.sqrt(p**2 - q**2), {Kind.ROOT: [p + q, p - q]}),
        (sp.sqrt(x**2 - y**2), {Kind.ROOT: [(x - y) * (x + y)]}),
        (sp.exp(x + 2 * y), {Kind.EXPONENTIAL: [x, y]}),
        (sp.exp(x * (1 - y)), {Kind.EXPONENTIAL: [x, x * y]}),
        (sp.exp(x) + sp.exp(-x) + sp.exp(3 * x), {Kind.EXPONENTIAL: [x]}),
        (sp.log(p * q**2 / 6), {Kind.LOGARITHM: [p, q, 2, 3]}),
        (sp.log(sp.sqrt(p)), {Kind.ROOT: [p], Kind.LOGARITHM: [p]}),
        (sp.log(x), {Kind.LOGARITHM: [x]}),
        (sp.pi, {Kind.CONSTANT: [sp.pi]}),
        (x**y, {Kind.OPAQUE: [x**y]}),
        (p**y, {Kind.LOGARITHM: [p], Kind.EXPONENTIAL: [y * sp.log(p)]}),
        ((1 + x) ** 10**6, {Kind.OPAQUE: [(1 + x) ** 10**6]}),
    ],
)
def test_generators(expression: sp.Expr, expected: dict[Kind, list[sp.Expr]]) -> None:
    found = kinds(expression)
    assert found.keys() == expected.keys()
    for kind, arguments in expected.items():
        assert set(found[kind]) == set(arguments)


def test_root_is_split_only_where_the_signs_of_the_factors_are_known() -> None:
    root = sp.sqrt((x - 1) * (x + 3))
    assert len(kinds(root)[Kind.ROOT]) == 1
    assert len(kinds(root, Region({x: above(1)}))[Kind.ROOT]) == 2
    # Both factors are negative there, and the roots are those of their opposites.
    both = Region({x: Range(upper=sp.Integer(-3), upper_open=True)})
    assert {sp.expand(a) for a in kinds(root, both)[Kind.ROOT]} == {1 - x, -3 - x}


def test_roots_are_reduced_below_their_order() -> None:
    tower = Tower(EVERYWHERE)
    numerator, denominator = tower.fraction(tower.convert((1 + sp.sqrt(2)) ** 5))
    assert sp.degree(numerator, tower.symbols[-1]) == 1
    assert tower.restored(numerator / denominator) == 41 + 29 * sp.sqrt(2)


def test_denominator_that_is_zero_by_the_relations_is_refused() -> None:
    tower = Tower(EVERYWHERE)
    hidden_zero = sp.Add(sp.Pow(sp.sqrt(2), 2, evaluate=False), -2, evaluate=False)
    with pytest.raises(InputError, match="division by zero"):
        tower.fraction(tower.convert(1 / hidden_zero))


def test_powers_too_large_for_a_product_of_logarithms_are_not_formed() -> None:
    tower = Tower(EVERYWHERE)
    moderate = tower.convert(3 * sp.log(2) - 2 * sp.log(3))
    assert tower.product_of_logarithms(moderate) == sp.Rational(8, 9)
    assert tower.product_of_logarithms(tower.convert(10**9 * sp.log(2) - sp.log(3))) is None


@pytest.mark.parametrize(
    ("sign", "expected"),
    [
        (Sign.POSITIVE, above(1)),
        (Sign.NONNEGATIVE, at_least(1)),
        (Sign.ZERO, at_least(1)),
        (Sign.NONPOSITIVE, between(0, 1, lower_open=True)),
        (Sign.NEGATIVE, between(0, 1, lower_open=True, upper_open=True)),
        (Sign.UNDECIDED, above(0)),
    ],
)
def test_range_of_an_exponential(sign: Sign, expected: Range) -> None:
    assert exponential_range(sign) == expected


@pytest.mark.parametrize(
    ("symbol", "expected"),
    [
        (x, Range()),
        (p, above(0)),
        (sp.Symbol("a", nonnegative=True), at_least(0)),
        (sp.Symbol("a", negative=True), Range(upper=sp.S.Zero, upper_open=True)),
        (sp.Symbol("a", nonpositive=True), Range(upper=sp.S.Zero)),
        (sp.Symbol("a", zero=True), between(0, 0)),
        (sp.Symbol("a"), Range()),
    ],
)
def test_range_by_assumptions(symbol: sp.Symbol, expected: Range) -> None:
    assert assumed_range(symbol) == expected


def test_a_function_of_equal_arguments_is_one_generator() -> None:
    f = sp.Function("f")
    a = sp.IndexedBase("a")
    equal = f(sp.sqrt(8) * x) - f(2 * sp.sqrt(2) * x) + a[2] - a[sp.sqrt(4)]
    tower = Tower(EVERYWHERE)
    assert tower.convert(equal) == 0
    assert tower.convert(a[1] - a[2]) != 0


@settings(max_examples=150)
@given(expressions(), regions, st.data())
def test_conversion_keeps_the_value(
    expression: sp.Expr, region: Region, data: st.DataObject
) -> None:
    tower = Tower(region)
    try:
        numerator, denominator = tower.fraction(tower.convert(expression))
    except InputError:
        assume(False)
    back = tower.restored(numerator) / tower.restored(denominator)
    found = value(expression - back, data.draw(points(region)))
    assume(found is not None)
    assert abs(found) < 10**-60
