"""The exact decisions: what must be proved, what must be refused, and what must stay open."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from symbolic.answer import Answer
from symbolic.critical_beta import AS_STATED, EXPRESSION, REGION, SHARP_EXPRESSION
from symbolic.critical_cosine import ARSINH_FORM, METALLIC_FORM
from symbolic.critical_cosine import EXPRESSION as C_STAR
from symbolic.decide import holds, is_continuous, is_zero, sign_of
from symbolic.errors import InputError
from symbolic.notation import H, alpha, n
from symbolic.positivity import Sign
from symbolic.region import EVERYWHERE, Range, Region, above, at_least, between
from tests.symbolic.reference import REWRITINGS, expressions, points, regions, value

x, y, z = sp.symbols("x y z", real=True)
p, q = sp.symbols("p q", positive=True)
m = sp.Symbol("m", integer=True)
f = sp.Function("f")

sqrt, log, exp = sp.sqrt, sp.log, sp.exp
ONE_UP = Region({H: at_least(1)})


def test_answer_refuses_to_be_a_truth_value() -> None:
    for answer in Answer:
        with pytest.raises(TypeError, match=r"Answer\.YES"):
            bool(answer)


# -- zero tests ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "region"),
    [
        (sp.S.Zero, EVERYWHERE),
        ((x + y) ** 3 - x**3 - 3 * x**2 * y - 3 * x * y**2 - y**3, EVERYWHERE),
        (1 / (x - y) + 1 / (x + y) - 2 * x / (x**2 - y**2), EVERYWHERE),
        (sqrt(6) - sqrt(2) * sqrt(3), EVERYWHERE),
        ((sqrt(2) + sqrt(3)) ** 2 - 5 - 2 * sqrt(6), EVERYWHERE),
        (1 / (sqrt(3) - sqrt(2)) - sqrt(3) - sqrt(2), EVERYWHERE),
        (sp.cbrt(2) ** 4 - 2 * sp.cbrt(2), EVERYWHERE),
        (sqrt(8) + sqrt(18) - sqrt(50), EVERYWHERE),
        (sqrt(p * q) - sqrt(p) * sqrt(q), EVERYWHERE),
        (sqrt(x**2) - x, Region({x: at_least(0)})),
        (sqrt((x - 1) ** 2) + x - 1, Region({x: Range(upper=sp.S.One)})),
        (sp.Abs(x) + x, Region({x: Range(upper=sp.S.Zero)})),
        (exp(x + y) - exp(x) * exp(y), EVERYWHERE),
        (exp(x) * exp(-x) - 1, EVERYWHERE),
        ((exp(x / 2) + 1) ** 2 - exp(x) - 2 * exp(x / 2) - 1, EVERYWHERE),
        ((exp(x / 4) + 1) ** 2 - exp(x / 2) - 2 * exp(x / 4) - 1, EVERYWHERE),
        (exp(x * (1 - y)) - exp(x) / exp(x * y), EVERYWHERE),
        (sp.cosh(x) ** 2 - sp.sinh(x) ** 2 - 1, EVERYWHERE),
        (sp.tanh(x / 2) - (exp(x) - 1) / (exp(x) + 1), EVERYWHERE),
        (sp.asinh(x) - log(x + sqrt(1 + x**2)), EVERYWHERE),
        (sp.atanh(x) - log((1 + x) / (1 - x)) / 2, Region({x: between(0, sp.Rational(1, 2))})),
        (exp(sp.asinh(x)) - x - sqrt(x**2 + 1), EVERYWHERE),
        (exp(-sp.asinh(x)) + x - sqrt(x**2 + 1), EVERYWHERE),
        (log(p * q) - log(p) - log(q), EVERYWHERE),
        (log(p**3 / q) - 3 * log(p) + log(q), EVERYWHERE),
        (log(12) - 2 * log(2) - log(3), EVERYWHERE),
        (log(sqrt(p)) - log(p) / 2, EVERYWHERE),
        (log(3 + 2 * sqrt(2)) + log(3 - 2 * sqrt(2)), EVERYWHERE),
        (log(1 + sqrt(2)) + log(sqrt(2) - 1), EVERYWHERE),
        (log(exp(x) * (1 + y**2)) - x - log(1 + y**2), EVERYWHERE),
        (p ** (x + 1) - p * p**x, EVERYWHERE),
        (sp.E ** (2 * x) - exp(x) ** 2, EVERYWHERE),
        (f(x + x) - f(2 * x), EVERYWHERE),
        (f(sqrt(8)) - f(2 * sqrt(2)), EVERYWHERE),
        (sp.Add(x, -x, evaluate=False), EVERYWHERE),
        (sp.Mul(2, sp.Add(x, 1, evaluate=False), evaluate=False) - 2 * x - 2, EVERYWHERE),
        (1 - C_STAR**2 - (H - 1) * C_STAR, ONE_UP),
        (C_STAR - METALLIC_FORM, ONE_UP),
        (C_STAR - ARSINH_FORM, ONE_UP),
        (AS_STATED - EXPRESSION, REGION),
        (SHARP_EXPRESSION - EXPRESSION - sp.asinh((H - 1) / 2) / (2 * alpha), REGION),
        (C_STAR.subs(H, 2) - 2 / (1 + sqrt(5)), EVERYWHERE),
    ],
)
def test_identity_is_proved(expression: sp.Expr, region: Region) -> None:
    assert is_zero(expression, region) is Answer.YES


def near(number: sp.Expr, digits: int = 40) -> sp.Rational:
    """Return a rational that agrees with a number to about so many digits."""
    return sp.Rational(str(sp.N(number, digits)))


TINY = sp.Rational(1, 10**40)
ROOTS = sqrt(2) + sqrt(3)
AT_64 = EXPRESSION.subs({n: 64, H: 4, alpha: 1})


@pytest.mark.parametrize(
    ("expression", "region"),
    [
        (ROOTS - near(ROOTS), EVERYWHERE),
        (x * ROOTS - x * near(ROOTS), EVERYWHERE),
        (sqrt(2) ** 3 * sp.cbrt(3) - near(2 * sqrt(2) * sp.cbrt(3)), EVERYWHERE),
        (log(2) - near(log(2)), EVERYWHERE),
        (near(log(3) / log(2)) * log(2) - log(3), EVERYWHERE),
        (log(2 + TINY) - log(2), EVERYWHERE),
        (sp.E - near(sp.E), EVERYWHERE),
        (exp(x) * near(sp.E) - exp(x + 1), EVERYWHERE),
        (sqrt(1 + TINY) - 1, EVERYWHERE),
        (sqrt(x**2 + TINY) - x, Region({x: above(0)})),
        (exp(x) * (1 + TINY) - exp(x), EVERYWHERE),
        (exp(x * (1 + TINY)) - exp(x), EVERYWHERE),
        (log(x + TINY) - log(x), Region({x: above(0)})),
        (p ** (1 + TINY) - p, EVERYWHERE),
        (C_STAR.subs(H, 2) - near(C_STAR.subs(H, 2)), EVERYWHERE),
        (C_STAR - METALLIC_FORM + TINY, ONE_UP),
        (C_STAR - ARSINH_FORM * (1 + TINY), ONE_UP),
        (1 - C_STAR**2 - (H - 1 + TINY) * C_STAR, ONE_UP),
        (AS_STATED - EXPRESSION + TINY, REGION),
        (AS_STATED - EXPRESSION * (1 + TINY), REGION),
        (AT_64 - near(AT_64), EVERYWHERE),
        (log((n - 1) / (H - 1)) - log((n - 1 + TINY) / (H - 1)), REGION),
        (exp(sp.pi * sqrt(163)) - 262537412640768744, EVERYWHERE),
        (sp.tanh(50 * log(10)) - 1, EVERYWHERE),
    ],
)
def test_near_identity_is_not_accepted(expression: sp.Expr, region: Region) -> None:
    assert abs(sp.N(expression.subs({x: 3, p: 3, n: 50, H: 3, alpha: 1}), 30)) < 1e-11
    assert is_zero(expression, region) is not Answer.YES


@pytest.mark.parametrize(
    ("expression", "region"),
    [
        (x, EVERYWHERE),
        (sqrt(2) - 1, EVERYWHERE),
        (sqrt(x) - x, Region({x: above(0)})),
        (exp(x) - 1 - x, EVERYWHERE),
        (exp(x**2) - exp(x), EVERYWHERE),
        (log(1 + x**2) - x, EVERYWHERE),
        (log(2) - log(3), EVERYWHERE),
        (log(2) - 1, EVERYWHERE),
        (sp.E - 3, EVERYWHERE),
        (x + m, EVERYWHERE),
        (m * (m - 1), Region({m: at_least(0)})),
        (x - y, Region({x: at_least(0), y: between(x, x + 1)})),
        (C_STAR - 1, ONE_UP),
    ],
)
def test_other_function_is_refuted(expression: sp.Expr, region: Region) -> None:
    assert is_zero(expression, region) is Answer.NO


@pytest.mark.parametrize(
    ("expression", "region"),
    [
        # Zero, but by relations that the tower does not know.
        (sqrt(5 + 2 * sqrt(6)) - sqrt(2) - sqrt(3), EVERYWHERE),
        (sp.GoldenRatio - (1 + sqrt(5)) / 2, EVERYWHERE),
        (sp.sin(x) ** 2 + sp.cos(x) ** 2 - 1, EVERYWHERE),
        (sp.Abs(x) ** 2 - x**2 + f(x) - f(x * (1 + TINY)), EVERYWHERE),
        # Not zero, or not known.
        (exp(sp.pi * sqrt(163)) - 262537412640768744, EVERYWHERE),
        (sp.pi - sp.Rational(355, 113), EVERYWHERE),
        (sp.E + sp.pi, EVERYWHERE),
        (exp(sp.E) - 15, EVERYWHERE),
        (log(2) * log(3) - log(5), EVERYWHERE),
        (2**x - 3**y, EVERYWHERE),
        (sp.E - 4 * log(2), EVERYWHERE),
        (sqrt(2) * log(2) - 1, EVERYWHERE),
        (log(2 * z) ** 2 - (log(z) + log(2)) ** 2, EVERYWHERE),
        (log(z * (z + 1)) ** 2 - (log(z) + log(z + 1)) ** 2, EVERYWHERE),
        ((log(2 * z) - log(3 * z)) ** 2 - (log(4 * z) - log(6 * z)) ** 2, EVERYWHERE),
        (
            (exp(400 * x) + 1) * (exp(600 * x + y) + 1)
            - (exp(1000 * x + y) + exp(400 * x) + exp(600 * x + y) + 1),
            EVERYWHERE,
        ),
        (f(x) - f(y), EVERYWHERE),
        # True for one sign of x only.
        (sqrt(x**2 + 2 * x + 1) - x - 1, EVERYWHERE),
        # A power is an exponential of a logarithm for a positive base only: (-1)**3 = -1.
        (sqrt(z ** (2 * m)) - z**m, EVERYWHERE),
        (sp.Abs(x) ** m - x**m, EVERYWHERE),
        # Zero on the whole region, which contains no open set.
        (x - 1, Region({x: between(1, 1)})),
        (m * (m - 1), Region({m: between(0, 1)})),
        (x - y, Region({x: between(y, y)})),
        (x - y, Region({y: at_least(0), x: between(y, y)})),
        (sp.Symbol("o", zero=True), EVERYWHERE),
        (p, Region({p: Range(upper=sp.S.Zero)})),
        # Too large to be multiplied out.
        ((1 + x) ** 3000 - 1, EVERYWHERE),
        ((1 + x + y + z) ** 100 - 1, EVERYWHERE),
        (x ** sp.Rational(1, 10**9) - 1, Region({x: above(1)})),
        (sum(sqrt(prime) for prime in (2, 3, 5, 7, 11, 13, 17, 19)) - 25, EVERYWHERE),
    ],
)
def test_what_the_method_does_not_decide_stays_open(expression: sp.Expr, region: Region) -> None:
    assert is_zero(expression, region) is Answer.UNDECIDED


# -- signs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "region", "expected"),
    [
        (exp(x), EVERYWHERE, Sign.POSITIVE),
        (exp(x) - 1, Region({x: above(0)}), Sign.POSITIVE),
        (exp(x) - 1, Region({x: at_least(0)}), Sign.NONNEGATIVE),
        (1 - exp(x), Region({x: above(0)}), Sign.NEGATIVE),
        (1 - exp(-x), Region({x: at_least(0)}), Sign.NONNEGATIVE),
        (exp(2 * x) + exp(x) - 2, Region({x: above(0)}), Sign.POSITIVE),
        (exp(x) - 1, EVERYWHERE, Sign.UNDECIDED),
        (exp(x) - exp(y), Region({y: Range(), x: above(y)}), Sign.UNDECIDED),
        (log(1 + x**2), EVERYWHERE, Sign.NONNEGATIVE),
        (log(x), Region({x: above(1)}), Sign.POSITIVE),
        (log(x), Region({x: between(0, 1, lower_open=True)}), Sign.NONPOSITIVE),
        (log(x), Region({x: above(0)}), Sign.UNDECIDED),
        (log(sp.Rational(1, 2)), EVERYWHERE, Sign.NEGATIVE),
        (log(3) - log(2), EVERYWHERE, Sign.POSITIVE),
        (5 * log(2) - 3 * log(3), EVERYWHERE, Sign.POSITIVE),
        (19 * log(2) - 12 * log(3), EVERYWHERE, Sign.NEGATIVE),
        (sqrt(x), Region({x: above(0)}), Sign.POSITIVE),
        (sqrt(x), EVERYWHERE, Sign.NONNEGATIVE),
        (sqrt(2) + sqrt(3) - 3, EVERYWHERE, Sign.POSITIVE),
        (ROOTS - near(ROOTS) - 10 * TINY, EVERYWHERE, Sign.NEGATIVE),
        (ROOTS - near(ROOTS) + 10 * TINY, EVERYWHERE, Sign.POSITIVE),
        (sqrt(x**2 + 1) - x, EVERYWHERE, Sign.POSITIVE),
        (sqrt(x**2 + 1) - 2 * x, EVERYWHERE, Sign.UNDECIDED),
        ((x - 1) ** 2 + sqrt(y), Region({y: at_least(0)}), Sign.NONNEGATIVE),
        (-((x - 1) ** 2) - sqrt(y), Region({y: at_least(0)}), Sign.NONPOSITIVE),
        (sqrt(x**2 + 1) - x, Region({x: at_least(0)}), Sign.POSITIVE),
        (sqrt(x**2 + 1) + x, Region({x: Range(upper=sp.S.Zero)}), Sign.POSITIVE),
        (x - sqrt(x**2 + 1), Region({x: at_least(0)}), Sign.NEGATIVE),
        (sp.Abs(x), EVERYWHERE, Sign.NONNEGATIVE),
        (sp.Abs(x) + 1, EVERYWHERE, Sign.POSITIVE),
        (sp.Max(x, 0), Region({x: above(0)}), Sign.POSITIVE),
        (sp.Max(x, 0), Region({x: Range(upper=sp.S.Zero)}), Sign.ZERO),
        (sp.E - 2, EVERYWHERE, Sign.POSITIVE),
        (sp.E - 3, EVERYWHERE, Sign.NEGATIVE),
        (sp.Abs(x) - x, EVERYWHERE, Sign.UNDECIDED),
        (sp.pi, EVERYWHERE, Sign.POSITIVE),
        (p, EVERYWHERE, Sign.POSITIVE),
        (-sp.Symbol("a", nonnegative=True), EVERYWHERE, Sign.NONPOSITIVE),
        (sp.Symbol("a", negative=True), EVERYWHERE, Sign.NEGATIVE),
        (sp.Function("g", positive=True)(x), EVERYWHERE, Sign.POSITIVE),
        (f(x), EVERYWHERE, Sign.UNDECIDED),
        (p**x, EVERYWHERE, Sign.POSITIVE),
        # (-1)**3 < 0, and 0**1 = 0.
        (x**m, EVERYWHERE, Sign.UNDECIDED),
        (x**y, Region({x: at_least(0), y: above(0)}), Sign.UNDECIDED),
        (x - x, EVERYWHERE, Sign.ZERO),
        (C_STAR, ONE_UP, Sign.POSITIVE),
        (1 - C_STAR, ONE_UP, Sign.NONNEGATIVE),
        (1 - C_STAR, Region({H: at_least(2)}), Sign.POSITIVE),
        (SHARP_EXPRESSION - EXPRESSION, REGION, Sign.POSITIVE),
        (EXPRESSION, REGION, Sign.UNDECIDED),
        (sqrt(p) ** 2 - p, EVERYWHERE, Sign.ZERO),
    ],
)
def test_sign(expression: sp.Expr, region: Region, expected: Sign) -> None:
    assert sign_of(expression, region) is expected


def test_free_symbol_in_a_bound_is_any_number_its_assumptions_admit() -> None:
    assert sign_of(x, Region({x: above(p)})) is Sign.POSITIVE
    assert sign_of(x, Region({x: above(y)})) is Sign.UNDECIDED


# -- relations -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("relation", "region", "expected"),
    [
        (sp.Eq(sqrt(6), sqrt(2) * sqrt(3), evaluate=False), EVERYWHERE, Answer.YES),
        (sp.Eq(x, 1, evaluate=False), EVERYWHERE, Answer.NO),
        (sp.Gt(x, 0, evaluate=False), Region({x: above(0)}), Answer.YES),
        (sp.Gt(x, 0, evaluate=False), Region({x: at_least(0)}), Answer.UNDECIDED),
        (sp.Ge(x, 0, evaluate=False), Region({x: at_least(0)}), Answer.YES),
        (sp.Lt(x, 0, evaluate=False), Region({x: at_least(0)}), Answer.NO),
        (sp.Le(x, 0, evaluate=False), Region({x: at_least(0)}), Answer.UNDECIDED),
        (sp.Le(x, 0, evaluate=False), Region({x: above(0)}), Answer.NO),
        (sp.Le(0, x, evaluate=False), Region({x: at_least(0)}), Answer.YES),
        (sp.Gt(x, 0, evaluate=False), EVERYWHERE, Answer.UNDECIDED),
        (sp.Gt(x, x, evaluate=False), EVERYWHERE, Answer.NO),
        (sp.Ge(x, x, evaluate=False), EVERYWHERE, Answer.YES),
        (sp.Ne(x, 0, evaluate=False), Region({x: at_least(0)}), Answer.UNDECIDED),
        (sp.Ne(x, 0, evaluate=False), Region({x: above(0)}), Answer.YES),
        (sp.Ne(x, 0, evaluate=False), Region({x: Range(upper=sp.Integer(-1))}), Answer.YES),
        (sp.Ne(x, x, evaluate=False), EVERYWHERE, Answer.NO),
    ],
)
def test_relation(relation: sp.Rel, region: Region, expected: Answer) -> None:
    assert holds(relation, region) is expected


def test_relation_with_a_binary_float_that_sympy_cancels_is_refused() -> None:
    for kind in (sp.Eq, sp.Le, sp.Ne):
        with pytest.raises(InputError, match="binary float"):
            holds(kind(x, sp.Float(1) * x, evaluate=False))


@pytest.mark.parametrize("relation", [sp.true, sp.false, x, sp.Lt(1, 2), sp.And(x > 0, x < 1)])
def test_what_is_no_relation_is_refused(relation: Any) -> None:
    with pytest.raises(InputError, match="not a relation"):
        holds(relation)


@pytest.mark.parametrize(
    ("expression", "region", "expected"),
    [
        (x**2 + exp(x), EVERYWHERE, True),
        (1 / x, EVERYWHERE, False),
        (1 / x, Region({x: above(0)}), True),
        (exp(1 / x), EVERYWHERE, False),
        (sqrt(x), Region({x: at_least(0)}), True),
        (sqrt(x), EVERYWHERE, False),
        (log(x), Region({x: at_least(0)}), False),
        (log(x), Region({x: above(0)}), True),
        (1 + sqrt(x - 1), Region({x: at_least(0)}), False),
        (-sp.acot(x), EVERYWHERE, False),
        (f(x), EVERYWHERE, False),
    ],
)
def test_continuity(expression: sp.Expr, region: Region, expected: bool) -> None:
    assert is_continuous(expression, region) is expected


# -- wrong input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "expression",
    [
        0.0,
        0.1,
        sp.Float("0.1"),
        Decimal("0.1"),
        x * sp.Float(2),
        x ** sp.Float("0.5"),
        f(sp.Float(1)),
        exp(sp.Float("0.5") * x),
        sp.Abs(x - sp.Float("0.5")),
    ],
)
@pytest.mark.parametrize("decide", [is_zero, sign_of])
def test_binary_float_is_refused(decide: Any, expression: object) -> None:
    with pytest.raises(InputError, match="binary float"):
        decide(expression)


@pytest.mark.parametrize(
    "expression",
    [
        "1/3",
        "__import__('os').getcwd()",
        None,
        True,
        sp.true,
        [1],
        sp.Matrix([1]),
        sp.I,
        x * sp.I,
        sp.oo,
        -sp.oo,
        sp.zoo,
        sp.nan,
        sp.Min(0, x),
        sp.Piecewise((x, x > 0), (0, True)),
        sp.Derivative(f(x), x),
        sp.Sum(m, (m, 1, n)),
        sp.Symbol("w", imaginary=True) ** 2,
        sp.Symbol("w", commutative=False),
        sqrt(-2),
        sqrt(-1 - x**2),
        log(-1 - x**2),
        sp.Integer(-8) ** sp.Rational(1, 3),
        sp.Pow(sp.Add(x, -x, evaluate=False), -1, evaluate=False),
        1 / (sp.Pow(sqrt(2), 2, evaluate=False) - 2),
        x / sp.Add(sp.cosh(x) ** 2, -(sp.sinh(x) ** 2), -1, evaluate=False),
    ],
)
@pytest.mark.parametrize("decide", [is_zero, sign_of])
def test_wrong_input_is_refused_by_name(decide: Any, expression: object) -> None:
    with pytest.raises(InputError) as caught:
        decide(expression)
    assert "\n" not in str(caught.value)


def test_integers_and_fractions_are_read_exactly() -> None:
    assert is_zero(0) is Answer.YES
    assert is_zero(Fraction(1, 3)) is Answer.NO
    assert sign_of(Fraction(-1, 3)) is Sign.NEGATIVE


# -- random expressions against 120 digits -------------------------------------------------------


@st.composite
def differences(draw: st.DrawFn) -> sp.Expr:
    """Draw an expression minus itself rewritten, which is often zero, and sometimes only nearly."""
    expression = draw(expressions())
    rewritten = expression
    for rewriting in draw(st.lists(st.sampled_from(REWRITINGS), min_size=1, max_size=2)):
        rewritten = rewriting(rewritten)
    offset = draw(st.sampled_from([0, 0, 0, TINY, x * TINY]))
    difference = expression - rewritten + offset
    assume(not difference.has(sp.zoo, sp.nan, sp.oo, sp.I))
    return difference


@settings(max_examples=250)
@given(differences(), regions, st.data())
def test_zero_test_agrees_with_values(
    difference: sp.Expr, region: Region, data: st.DataObject
) -> None:
    try:
        answer = is_zero(difference, region)
    except InputError:
        assume(False)
    if answer is Answer.UNDECIDED:
        return
    drawn = [data.draw(points(region)) for _ in range(3 if answer is Answer.YES else 8)]
    values = [value(difference, point, real=answer is Answer.YES) for point in drawn]
    if answer is Answer.YES:
        assert all(abs(v) < 10**-60 for v in values if v is not None)
    else:
        known = [v for v in values if v is not None]
        assert len(known) < 4 or any(abs(v) > 10**-60 for v in known)


@settings(max_examples=250)
@given(expressions(), regions, st.data())
def test_sign_agrees_with_values(expression: sp.Expr, region: Region, data: st.DataObject) -> None:
    try:
        sign = sign_of(expression, region)
    except InputError:
        assume(False)
    lowest, highest = {
        Sign.POSITIVE: (0, None),
        Sign.NONNEGATIVE: (-(10**-60), None),
        Sign.ZERO: (-(10**-60), 10**-60),
        Sign.NONPOSITIVE: (None, 10**-60),
        Sign.NEGATIVE: (None, 0),
        Sign.UNDECIDED: (None, None),
    }[sign]
    for _ in range(4):
        found = value(expression, data.draw(points(region)))
        if found is not None:
            assert lowest is None or found > lowest
            assert highest is None or found < highest


@settings(max_examples=60)
@given(st.integers(2, 200), st.integers(2, 200), st.integers(20, 60))
def test_sum_of_two_roots_is_no_rational_however_close(a: int, b: int, digits: int) -> None:
    number = sqrt(a) + sqrt(b)
    assume(not number.is_rational)
    close = near(number, digits)
    assert is_zero(number - close) is Answer.NO
    above_it, below_it = close + sp.Rational(1, 10**15), close - sp.Rational(1, 10**15)
    assert sign_of(number - above_it) is Sign.NEGATIVE
    assert sign_of(number - below_it) is Sign.POSITIVE
