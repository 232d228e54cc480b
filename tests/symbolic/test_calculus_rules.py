"""The rules of calculus: valid steps close, wrong variants do not."""

import pytest
import sympy as sp

from symbolic.answer import Answer
from symbolic.calculus_rules import asymptotic, differentiate, lambert, unique_root
from symbolic.implicit import Implicit, ImplicitFunction
from symbolic.rate_inflection import BALANCE, DEFINITION, ScaledInflection
from symbolic.rate_peak import LOGARITHMIC, L
from symbolic.region import EVERYWHERE, Region, above
from symbolic.rules import at_most, equation

x = sp.Symbol("x", real=True)
y = sp.Symbol("y", positive=True)
z = sp.Symbol("z", positive=True)
n = sp.Symbol("n", integer=True, positive=True)
f = sp.Function("f")


def answer(step: object) -> Answer:
    return step.check().answer  # type: ignore[attr-defined, no-any-return]


def test_a_derivative_closes() -> None:
    before = equation(f(x), x * sp.exp(x))
    after = equation(sp.Derivative(f(x), x), (1 + x) * sp.exp(x))
    assert answer(differentiate(before, after, x, 1, "")) is Answer.YES


@pytest.mark.parametrize(
    ("after", "order"),
    [
        (equation(sp.Derivative(f(x), x), x * sp.exp(x)), 1),
        (equation(sp.Derivative(f(x), (x, 2)), (1 + x) * sp.exp(x)), 2),
        (equation(sp.Derivative(f(x), x), (1 + x) * sp.exp(x)), 2),
        (equation(f(x), (1 + x) * sp.exp(x)), 1),
    ],
)
def test_a_wrong_derivative_does_not(after: sp.Eq, order: int) -> None:
    before = equation(f(x), x * sp.exp(x))
    assert answer(differentiate(before, after, x, order, "")) is not Answer.YES


def w(argument: sp.Expr) -> sp.Expr:
    return sp.LambertW(argument, evaluate=False)


POSITIVE = Region({x: above(0), z: above(0)})


@pytest.mark.parametrize("relation", [equation, at_most])
def test_lambert_inverts_u_exp_u_on_positive_numbers(relation: object) -> None:
    step = lambert(
        relation(x * sp.exp(x), z),  # type: ignore[operator]
        relation(x, w(z)),  # type: ignore[operator]
        "",
        POSITIVE,
    )
    assert answer(step) is Answer.YES


@pytest.mark.parametrize(
    ("before", "after", "region"),
    [
        # Two real branches below zero.
        (equation(x * sp.exp(x), z), equation(x, w(z)), EVERYWHERE),
        (equation(x * sp.exp(x), -z), equation(x, w(-z)), POSITIVE),
        (equation(x * sp.exp(2 * x), z), equation(x, w(z)), POSITIVE),
        (equation(x * sp.exp(x), z), equation(x, w(2 * z)), POSITIVE),
        (at_most(x * sp.exp(x), z), equation(x, w(z)), POSITIVE),
        (
            sp.Ge(x * sp.exp(x), z, evaluate=False),
            sp.Ge(x, w(z), evaluate=False),
            POSITIVE,
        ),
        (equation(x * sp.exp(x), z), equation(x, sp.LambertW(z, -1, evaluate=False)), POSITIVE),
    ],
)
def test_lambert_refuses_other_branches_and_forms(
    before: sp.Rel, after: sp.Rel, region: Region
) -> None:
    assert answer(lambert(before, after, "", region)) is not Answer.YES


RESIDUAL = sp.Gt(DEFINITION.residual, 0, evaluate=False)
COMPANION = sp.Gt(BALANCE, 0, evaluate=False)
N = DEFINITION.arguments[0]
ROOT = equation(DEFINITION.residual.subs(DEFINITION.variable, ScaledInflection(N)), 0)


UPPER = 6 + sp.log(N - 1)


def root_step(
    *,
    before: sp.Rel = RESIDUAL,
    after: sp.Rel = ROOT,
    implicit: Implicit = DEFINITION,
    companion: sp.Rel = COMPANION,
    upper: sp.Expr = UPPER,
) -> Answer:
    return answer(unique_root(before, after, implicit, companion, upper, ""))


def test_the_inflection_is_isolated() -> None:
    assert root_step() is Answer.YES


def test_a_root_is_not_taken_where_none_is_shown() -> None:
    assert root_step(upper=sp.Integer(2)) is not Answer.YES
    assert root_step(upper=sp.Integer(3)) is not Answer.YES
    assert root_step(upper=-sp.log(N - 1)) is not Answer.YES
    assert root_step(companion=sp.Gt(-BALANCE, 0, evaluate=False)) is not Answer.YES
    assert root_step(before=sp.Lt(DEFINITION.residual, 0, evaluate=False)) is not Answer.YES
    assert root_step(after=equation(DEFINITION.residual, 0)) is not Answer.YES
    assert root_step(after=equation(ROOT.lhs + 1, 0)) is not Answer.YES


def test_a_residual_with_too_little_slope_is_refused() -> None:
    variable, arguments = DEFINITION.variable, DEFINITION.arguments
    flat = Implicit(
        variable,
        arguments,
        DEFINITION.residual - variable / 2,
        DEFINITION.lower,
        DEFINITION.start,
        DEFINITION.region,
    )

    class Flat(ImplicitFunction):
        nargs = 1
        definition = flat

    before = sp.Gt(flat.residual, 0, evaluate=False)
    after = equation(flat.residual.subs(variable, Flat(N)), 0)
    assert root_step(before=before, after=after, implicit=flat) is not Answer.YES


ELL = sp.Symbol("ell", real=True)
X = LOGARITHMIC.variable


def series_step(series: sp.Expr, remainder: sp.Expr, order: sp.Expr) -> Answer:
    after = equation(X, sp.Add(*sp.Add.make_args(series), sp.Function("O")(order), evaluate=False))
    return answer(
        asymptotic(
            equation(LOGARITHMIC.residual, 0),
            after,
            LOGARITHMIC,
            remainder=remainder,
            small=y,
            values={y: 1 / L, ELL: sp.log(L)},
            reason="",
        )
    )


FIRST = L - sp.log(L)
SECOND = FIRST + (sp.log(L) + 1) / L
FIRST_REMAINDER = sp.log(1 - (ELL + 1) * y)
SECOND_REMAINDER = (ELL + 1) * y + sp.log(1 - (ELL + 1) * y + (ELL + 1) * y**2)


def test_the_series_of_the_peak_have_their_orders() -> None:
    assert series_step(FIRST, FIRST_REMAINDER, sp.log(L) / L) is Answer.YES
    assert series_step(SECOND, SECOND_REMAINDER, sp.log(L) ** 2 / L**2) is Answer.YES
    assert series_step(SECOND, SECOND_REMAINDER, sp.log(L) ** 3 / L**2) is Answer.YES


@pytest.mark.parametrize(
    ("before", "left"),
    [
        (equation(LOGARITHMIC.residual, 0), sp.Symbol("other", real=True)),
        (equation(LOGARITHMIC.residual, 0), X - 1),
        (equation(LOGARITHMIC.residual + 1, 0), X),
        (equation(sp.Symbol("other", real=True), 0), X),
    ],
)
def test_a_series_is_of_the_unknown_of_its_own_equation(before: sp.Eq, left: sp.Expr) -> None:
    order = sp.Function("O")(sp.log(L) ** 2 / L**2)
    step = asymptotic(
        before,
        equation(left, sp.Add(*sp.Add.make_args(SECOND), order, evaluate=False)),
        LOGARITHMIC,
        remainder=SECOND_REMAINDER,
        small=y,
        values={y: 1 / L, ELL: sp.log(L)},
        reason="",
    )
    assert answer(step) is not Answer.YES


@pytest.mark.parametrize(
    "order",
    [1 / L**2, sp.log(L) / L**2, 1 / (L**2 * sp.log(L) ** 5), sp.log(L) ** 2 / L**3, sp.log(L)],
)
def test_powers_of_the_logarithm_count(order: sp.Expr) -> None:
    assert series_step(SECOND, SECOND_REMAINDER, order) is not Answer.YES


def test_a_series_does_not_get_a_better_order_or_a_wrong_term() -> None:
    assert series_step(FIRST, FIRST_REMAINDER, 1 / L**2) is not Answer.YES
    assert series_step(SECOND, SECOND_REMAINDER, 1 / L**3) is not Answer.YES
    assert series_step(SECOND + 1 / L, SECOND_REMAINDER, 1 / L**2) is not Answer.YES
    wrong = FIRST + 2 * (sp.log(L) + 1) / L
    remainder = 2 * (ELL + 1) * y + sp.log(1 - (ELL + 1) * y + 2 * (ELL + 1) * y**2)
    assert series_step(wrong, remainder, 1 / L**2) is not Answer.YES
