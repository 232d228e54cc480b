"""Rules for integrals: they accept what is right and refuse what is not."""

import pytest
import sympy as sp

from symbolic.answer import Answer
from symbolic.derivation import Derivation, Premise, Step
from symbolic.errors import InputError
from symbolic.flow_rules import summed_over_heads
from symbolic.integral_rules import limit_at_infinity, named_value, same_slope, separate
from symbolic.notation import h, lam, strengths
from symbolic.region import Range, Region, above, between
from symbolic.rules import equation

x, y, a, b = sp.symbols("x y a b", real=True)
s, r = sp.symbols("s r", positive=True)
rate = sp.Function("rate")
time = sp.Function("time")
value = sp.Function("value")


def answer(step: Step) -> Answer:
    """Return the answer as a derivation takes it: what no rule applies to is undecided."""
    try:
        return step.check().answer
    except InputError:
        return Answer.UNDECIDED


def test_separated_variables() -> None:
    law = equation(rate(x), 1 + x**2)
    right = equation(time(a, b), sp.Integral(1 / (1 + y**2), (y, a, b)))
    assert answer(separate(law, right, "")) is Answer.YES
    assert separate(law, right, "").names == time(a, b)


@pytest.mark.parametrize(
    "wrong",
    [
        equation(time(a, b), sp.Integral(1 + y**2, (y, a, b))),
        equation(time(a, b), sp.Integral(1 / (2 + y**2), (y, a, b))),
        equation(time(a, b), sp.Integral(-1 / (1 + y**2), (y, a, b))),
        equation(time(a, b), sp.Integral(1 / (1 + y**2), (y, y, b))),
        equation(time(a, b), sp.Integral(1 / (1 + y**2), y)),
        equation(time(a, b), sp.Integral(1 / (1 + y**2), (y, a, b), (a, 0, 1))),
        equation(time(a, b), 1 / (1 + a**2)),
        # a name without what the time depends on
        equation(time(a), sp.Integral(1 / (1 + y**2), (y, a, b))),
        equation(time(a, b), sp.Integral(1 / (1 + y**2), (y, y, y + 1))),
        equation(a, sp.Integral(1 / (1 + y**2), (y, a, b))),
    ],
)
def test_variables_separated_wrongly(wrong: sp.Eq) -> None:
    assert answer(separate(equation(rate(x), 1 + x**2), wrong, "")) is Answer.NO


def test_the_rate_must_be_one_of_a_moving_number() -> None:
    law = equation(sp.Symbol("constant"), sp.Integer(2))
    passage = equation(time(a, b), sp.Integral(sp.Rational(1, 2), (y, a, b)))
    assert answer(separate(law, passage, "")) is Answer.NO


@pytest.mark.parametrize(
    ("rate_of_x", "integral"),
    [
        # the variable of the integral is in the rate: free, or as the index of a head
        (x * y, sp.Integral(1 / y**2, (y, a, b))),
        (summed_over_heads(lam * x), sp.Integral(1 / summed_over_heads(lam * h), (h, a, b))),
        (sp.S.Zero, sp.Integral(sp.zoo, (y, a, b))),
    ],
)
def test_a_captured_variable_or_no_rate_at_all(rate_of_x: sp.Expr, integral: sp.Integral) -> None:
    law = equation(sp.Function("rate_of")(y, x), rate_of_x)
    assert answer(separate(law, equation(time(a, b), integral), "")) is not Answer.YES


def test_a_time_is_named_once() -> None:
    law = equation(rate(x), x)
    first, second = (
        separate(law, equation(time(a), sp.Integral(1 / x, (x, 1, end))), "") for end in (2, 3)
    )
    chain = Derivation("", "", (Premise(law, "given"),), (first, second))
    assert [outcome.answer for outcome in chain.outcomes] == [Answer.YES, Answer.UNDECIDED]


def test_a_name_for_a_function_of_a_value() -> None:
    before = equation(time(a), 3 * a)
    twice = equation(value(a), 6 * a)
    assert answer(named_value(before, twice, lambda t: 2 * t, "")) is Answer.YES
    assert named_value(before, twice, lambda t: 2 * t, "").names == value(a)
    assert answer(named_value(before, twice, lambda t: 3 * t, "")) is Answer.NO
    assert answer(named_value(before, equation(a, 6 * a), lambda t: 2 * t, "")) is Answer.NO


@pytest.mark.parametrize(
    ("first", "second", "at", "where"),
    [
        # the base lies elsewhere, with a pole between
        (sp.Integral(1 / y**2, (y, -1, b)), -1 / b - 1, -1, above(0)),
        (sp.Integral(1 / y, (y, 1, b)), sp.log(b**2) / 2, 1, between(-5, 5)),
        # jumps
        (sp.pi / 2, sp.atan(1 / b) + sp.atan(b), 1, between(-1, 1)),
        (b, b + sp.arg(b), 1, between(-1, 1)),
        (sp.atan((1 + b) / (1 - b)), sp.atan(b) + sp.pi / 4, 0, between(-5, 5)),
        (b / b, sp.Abs(b) / b, 1, between(-1, 1)),
    ],
)
def test_poles_and_jumps_on_the_way(first: sp.Expr, second: sp.Expr, at: int, where: Range) -> None:
    region = Region({b: where})
    step = same_slope(
        equation(time(b), first), equation(time(b), second), b, sp.Integer(at), "", region
    )
    assert answer(step) is not Answer.YES


def test_a_free_strength_is_none_of_the_heads() -> None:
    region = Region({b: between(-1, 1)})
    mixed = equation(time(b), summed_over_heads(y).xreplace({y: lam * strengths[h] * b}))
    squares = equation(time(b), summed_over_heads(lam**2 * b))
    assert answer(same_slope(mixed, squares, b, sp.S.Zero, "", region)) is not Answer.YES


INTEGRAL = equation(time(b), sp.Integral(1 / y, (y, a, b)))
POSITIVE = Region({a: above(0), b: above(0)})


def test_an_antiderivative() -> None:
    right = equation(time(b), sp.log(b) - sp.log(a))
    assert answer(same_slope(INTEGRAL, right, b, a, "", POSITIVE)) is Answer.YES


@pytest.mark.parametrize(
    "wrong",
    [
        sp.log(b),  # not zero at the base
        sp.log(b) - sp.log(2 * a),
        sp.log(b) + sp.log(a),
        2 * (sp.log(b) - sp.log(a)),
        (sp.log(b) - sp.log(a)) * (1 + sp.Rational(1, 10**40)),
        b - a,
        sp.Integral(1 / y, (y, b, a)),
        sp.Integral(1 / y**2, (y, a, b)),
    ],
)
def test_a_wrong_antiderivative(wrong: sp.Expr) -> None:
    assert answer(same_slope(INTEGRAL, equation(time(b), wrong), b, a, "", POSITIVE)) is not (
        Answer.YES
    )


def test_another_left_side_is_refused() -> None:
    other = equation(time(a), sp.log(b) - sp.log(a))
    assert answer(same_slope(INTEGRAL, other, b, a, "", POSITIVE)) is Answer.NO


def over_heads(term: sp.Expr, factor: sp.Expr = sp.S.One) -> sp.Eq:
    integrand = factor / summed_over_heads(term)
    return equation(time(b), sp.Integral(integrand, (y, a, b)))


def test_sums_over_heads_are_compared_by_their_terms() -> None:
    square = over_heads((lam + y) ** 2)
    expanded = over_heads(lam**2 + 2 * lam * y + y**2)
    assert answer(same_slope(square, expanded, b, a, "", POSITIVE)) is Answer.YES
    wrong = over_heads(lam**2 + 3 * lam * y + y**2)
    assert answer(same_slope(square, wrong, b, a, "", POSITIVE)) is not Answer.YES


def test_a_factor_without_the_strength_comes_out_of_a_sum() -> None:
    inside, outside = over_heads(y * lam**2), over_heads(lam**2, 1 / y)
    assert answer(same_slope(inside, outside, b, a, "", POSITIVE)) is Answer.YES
    wrong = over_heads(lam**2, 1 / y**2)
    assert answer(same_slope(inside, wrong, b, a, "", POSITIVE)) is not Answer.YES
    # A factor with the strength does not come out.
    mixed = over_heads(lam**3, 1 / y)
    assert answer(same_slope(inside, mixed, b, a, "", POSITIVE)) is not Answer.YES


TERM = lam * (2 - x)
UNIT = Region({lam: above(0), x: between(0, 1)})


def up_to(end: sp.Expr, term: sp.Expr = TERM) -> sp.Integral:
    total = summed_over_heads(term.subs(x, 0))
    decaying = summed_over_heads(term.subs(x, sp.exp(-r)))
    return sp.Integral(total / decaying - 1, (r, 0, end))


def test_a_limit_at_infinity() -> None:
    before = equation(value(s), up_to(s))
    after = equation(time(a), sp.exp(up_to(sp.oo)))
    assert answer(limit_at_infinity(before, after, TERM, x, "", UNIT)) is Answer.YES


@pytest.mark.parametrize(
    ("before", "after", "term", "region"),
    [
        # the integrand itself, another upper end, no exponential
        (up_to(s), sp.exp(up_to(2 * s)), TERM, UNIT),
        (up_to(s), up_to(sp.oo), TERM, UNIT),
        (up_to(s), sp.exp(up_to(sp.oo) + 1), TERM, UNIT),
        (up_to(s), sp.exp(up_to(sp.oo, lam * (3 - x))), TERM, UNIT),
        # a term that is not that of the integrand
        (up_to(s), sp.exp(up_to(sp.oo)), lam * (3 - x), UNIT),
        # a term that vanishes, is not smooth, or may be negative
        (up_to(s, lam * (1 - x)), sp.exp(up_to(sp.oo, lam * (1 - x))), lam * (1 - x), UNIT),
        (
            up_to(s, lam * (2 - sp.sqrt(x))),
            sp.exp(up_to(sp.oo, lam * (2 - sp.sqrt(x)))),
            lam * (2 - sp.sqrt(x)),
            UNIT,
        ),
        (up_to(s), sp.exp(up_to(sp.oo)), TERM, Region({x: between(0, 1)})),
        # a region that does not reach the limit
        (up_to(s), sp.exp(up_to(sp.oo)), TERM, UNIT.having({x: between(sp.Rational(1, 2), 1)})),
        # an integrand that does not decay
        (
            sp.Integral(sp.S.One, (r, 0, s)),
            sp.exp(sp.Integral(sp.S.One, (r, 0, sp.oo))),
            TERM,
            UNIT,
        ),
    ],
)
def test_a_limit_that_is_not_shown(
    before: sp.Expr, after: sp.Expr, term: sp.Expr, region: Region
) -> None:
    step = limit_at_infinity(
        equation(value(s), before), equation(time(a), after), term, x, "", region
    )
    assert answer(step) is not Answer.YES


def test_the_running_variable_is_not_in_the_term() -> None:
    growing = 1 + x * sp.exp(r)
    integrand = summed_over_heads(growing.subs(x, 0)) / summed_over_heads(
        growing.subs(x, sp.exp(-r))
    )
    before = equation(value(s), sp.Integral(integrand - 1, (r, 0, s)))
    after = equation(time(a), sp.exp(sp.Integral(integrand - 1, (r, 0, sp.oo))))
    region = UNIT.having({r: above(0)})
    assert answer(limit_at_infinity(before, after, growing, x, "", region)) is not Answer.YES


def test_the_name_of_a_limit_has_what_it_depends_on() -> None:
    term = lam * (2 + a - x)
    before = equation(value(s), up_to(s, term))
    region = UNIT.having({a: above(0)})
    for name, wanted in ((time(y), False), (time(a), True)):
        after = equation(name, sp.exp(up_to(sp.oo, term)))
        found = answer(limit_at_infinity(before, after, term, x, "", region))
        assert (found is Answer.YES) is wanted
