"""Signs of polynomials on regions with ends of every kind."""

from itertools import product

import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from symbolic.decide import sign_of
from symbolic.errors import InputError
from symbolic.positivity import Sign, polynomial_sign
from symbolic.region import Range, Region, above, at_least, between
from tests.symbolic.reference import points

x, y, z = sp.symbols("x y z", real=True)
n = sp.Symbol("n", integer=True, positive=True)

POSITIVE, NONNEGATIVE, ZERO = Sign.POSITIVE, Sign.NONNEGATIVE, Sign.ZERO
NEGATIVE, NONPOSITIVE, UNDECIDED = Sign.NEGATIVE, Sign.NONPOSITIVE, Sign.UNDECIDED


def sign_in(polynomial: sp.Expr, ranges: dict[sp.Symbol, Range]) -> Sign:
    region = Region(ranges)
    return polynomial_sign(sp.expand(polynomial), list(region.symbols), region)


@pytest.mark.parametrize(
    ("polynomial", "ranges", "expected"),
    [
        (x, {x: above(0)}, POSITIVE),
        (x, {x: at_least(0)}, NONNEGATIVE),
        (-x, {x: at_least(0)}, NONPOSITIVE),
        (x - 1, {x: Range(upper=1, upper_open=True)}, NEGATIVE),
        (x - 1, {x: Range(upper=1)}, NONPOSITIVE),
        (1 - x, {x: between(0, 1)}, NONNEGATIVE),
        (1 - x, {x: between(0, 1, upper_open=True)}, POSITIVE),
        (x * (1 - x), {x: between(0, 1)}, NONNEGATIVE),
        (x * (1 - x), {x: between(0, 1, lower_open=True, upper_open=True)}, POSITIVE),
        (x * (1 - x), {x: between(0, 1, lower_open=True)}, NONNEGATIVE),
        (x**2 + 1, {x: Range()}, POSITIVE),
        (x**2 - x + 1, {x: Range()}, POSITIVE),
        (-(x**4) - x - 1, {x: Range()}, NEGATIVE),
        (x**2 - 2, {x: at_least(sp.Rational(3, 2))}, POSITIVE),
        (x**2 - 2, {x: at_least(sp.Rational(7, 5))}, UNDECIDED),
        (x**2 - 2, {x: Range(upper=sp.Rational(-3, 2))}, POSITIVE),
        (x**3 - x, {x: at_least(1)}, NONNEGATIVE),
        (x**3 - x, {x: above(1)}, POSITIVE),
        ((x - 1) * (x**2 - 4 * x + 5), {x: at_least(1)}, NONNEGATIVE),
        ((x - 1) * (x**2 - 4 * x + 5), {x: above(1)}, POSITIVE),
        ((1 - x) * (x**2 - 4 * x + 5), {x: between(1, 9)}, NONPOSITIVE),
        (x, {x: Range()}, UNDECIDED),
        (x - 1, {x: between(1, 1)}, ZERO),
        (x - 3, {x: between(1, 1)}, NEGATIVE),
        (x, {x: between(0, sp.oo)}, NONNEGATIVE),
        (-x, {x: Range(lower=-sp.oo, upper=0, upper_open=True)}, POSITIVE),
    ],
)
def test_sign_with_open_closed_and_infinite_ends(
    polynomial: sp.Expr, ranges: dict[sp.Symbol, Range], expected: Sign
) -> None:
    assert sign_in(polynomial, ranges) is expected


@pytest.mark.parametrize(
    ("polynomial", "ranges", "expected"),
    [
        # The bound of y reaches 1 only where x does: the end of x counts although x is not there.
        (1 - y, {x: between(0, 1), y: Range(upper=x)}, NONNEGATIVE),
        (1 - y, {x: between(0, 1), y: Range(upper=x, upper_open=True)}, POSITIVE),
        (1 - y, {x: between(0, 1, upper_open=True), y: Range(upper=x)}, POSITIVE),
        (1 + y, {x: between(0, 1), y: at_least(-x)}, NONNEGATIVE),
        (y - x, {x: Range(), y: at_least(x)}, UNDECIDED),
        (y - x, {x: at_least(-5), y: above(x)}, POSITIVE),
        (y, {y: above(x), x: at_least(0)}, POSITIVE),
        (y, {y: between(x, x), x: at_least(1)}, POSITIVE),
        (z - y - x, {x: at_least(0), y: at_least(x), z: at_least(2 * y)}, NONNEGATIVE),
        (1 + (n - 1) * x, {n: at_least(2), x: between(-1 / (n - 1), 1)}, NONNEGATIVE),
        (1 + (n - 1) * x, {n: at_least(2), x: between(-1 / (n - 1), 1, lower_open=True)}, POSITIVE),
        (1 + x, {n: at_least(2), x: between(-1 / (n - 1), 1)}, NONNEGATIVE),
        (1 + x, {n: at_least(3), x: between(-1 / (n - 1), 1)}, POSITIVE),
        # At x = 1 the bound of y has a pole, and is of no help.
        (y + 5, {x: between(0, 1), y: at_least(1 / (x - 1))}, UNDECIDED),
    ],
)
def test_sign_with_bounds_that_use_other_symbols(
    polynomial: sp.Expr, ranges: dict[sp.Symbol, Range], expected: Sign
) -> None:
    assert sign_in(polynomial, ranges) is expected


@pytest.mark.parametrize("bound", [sp.sqrt(2), sp.pi, sp.exp(y), sp.log(2)])
def test_bound_that_is_no_rational_function_is_left_out(bound: sp.Expr) -> None:
    region = {y: at_least(1), x: between(1, bound)}
    assert sign_in(x, region) is POSITIVE
    assert sign_in(100 - x, region) is UNDECIDED


@pytest.mark.parametrize(
    "bound", [0.5, sp.Float("0.1"), sp.nan, sp.zoo, sp.I, "1/2", sp.true, sp.sqrt(2) * sp.Float(2)]
)
def test_bound_that_is_not_exact_is_refused(bound: object) -> None:
    with pytest.raises(InputError, match="exact real expression"):
        Range(lower=bound)


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        ({x: between(2, 1)}, "x: no number lies from 2 to 1"),
        ({x: between(1, 1, lower_open=True)}, "x: no number"),
        ({x: at_least(y), y: at_least(x)}, "circle"),
        ({x: at_least(x)}, "circle"),
        ({x + y: at_least(0)}, "only symbols"),
    ],
)
def test_region_without_a_point_or_order_is_refused(
    ranges: dict[sp.Symbol, Range], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        Region(ranges)


def test_symbols_of_a_region_come_after_those_their_bounds_use() -> None:
    region = Region({z: above(y), y: between(x, 2), n: at_least(1)})
    assert region.symbols.index(x) < region.symbols.index(y) < region.symbols.index(z)


@pytest.mark.parametrize(("first", "second"), list(product(Sign, Sign)))
def test_joined_and_product_agree_with_sample_signs(first: Sign, second: Sign) -> None:
    samples = {
        POSITIVE: {1},
        NONNEGATIVE: {0, 1},
        ZERO: {0},
        NONPOSITIVE: {-1, 0},
        NEGATIVE: {-1},
        UNDECIDED: {-1, 0, 1},
    }
    assert samples[first.joined(second)] >= samples[first] | samples[second]
    products = {a * b for a in samples[first] for b in samples[second]}
    assert samples[first * second] >= products
    assert samples[first.flipped] == {-a for a in samples[first]}
    assert first.is_nonnegative is (min(samples[first]) >= 0)
    assert first.is_strict is (0 not in samples[first])


ends = st.integers(-3, 3).map(sp.Integer)
kinds = st.booleans()


@given(
    st.lists(st.integers(-4, 4), min_size=2, max_size=6),
    ends,
    st.integers(0, 3),
    kinds,
    kinds,
    st.data(),
)
def test_sign_in_one_variable_agrees_with_values(
    coefficients: list[int],
    lower: sp.Integer,
    width: int,
    lower_open: bool,
    upper_open: bool,
    data: st.DataObject,
) -> None:
    is_point = width == 0
    r = between(
        lower,
        lower + width,
        lower_open=lower_open and not is_point,
        upper_open=upper_open and not is_point,
    )
    polynomial = sp.Poly(coefficients, x).as_expr()
    sign = sign_in(polynomial, {x: r})
    found = {
        sp.sign(polynomial.subs(x, data.draw(points(Region({x: r}), (x,)))[x])) for _ in range(8)
    }
    found |= {sp.sign(polynomial.subs(x, lower))} if not r.lower_open else set()
    found |= {sp.sign(polynomial.subs(x, lower + width))} if not r.upper_open else set()
    assert not (sign is POSITIVE and found - {1})
    assert not (sign is NEGATIVE and found - {-1})
    assert not (sign is ZERO and found - {0})
    assert not (sign is NONNEGATIVE and -1 in found)
    assert not (sign is NONPOSITIVE and 1 in found)
    # In one variable only a root inside the range leaves the sign open.
    if sign is UNDECIDED:
        inside = sp.Poly(polynomial, x).count_roots(r.lower, r.upper)
        assert inside > 0


def test_sign_of_sees_even_powers_and_products() -> None:
    assert sign_of((x - 1) ** 2 * (y**2 + 1)) is NONNEGATIVE
    assert sign_of(-((x - 1) ** 4) - 1) is NEGATIVE
    assert sign_of(x**3, Region({x: above(0)})) is POSITIVE
    assert sign_of(1 / x**2) is NONNEGATIVE
