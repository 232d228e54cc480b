"""Symmetry among tokens and additivity over heads: what closes and what must not."""

import pytest
import sympy as sp

from symbolic import equiangular
from symbolic.answer import Answer
from symbolic.derivation import Derivation, Premise, Step
from symbolic.flow import Model, ScalarFlow, equiangular_flow
from symbolic.flow_rules import additive, summed_over_heads, symmetric
from symbolic.notation import H, beta, gamma, h, lam, strengths
from symbolic.rules import equation

TOTAL = sp.Function("total")(gamma)


def answer(step: object) -> Answer:
    return step.check().answer  # type: ignore[attr-defined, no-any-return]


def pair_rates(model: Model, size: int, gram: sp.ImmutableMatrix | None = None) -> list[sp.Expr]:
    flow = equiangular_flow(model, size, gamma, [lam], beta)
    if gram is not None:
        flow = ScalarFlow(model, gram, (lam,), beta)
    return [flow.overlap_rate(i, j) for i in range(size) for j in range(i)]


def symmetry(rates: object) -> Answer:
    names = sp.symbols("p q")
    step = symmetric(
        equation(names[0], names[1]),
        equation(names[0], names[0]),
        rates,  # type: ignore[arg-type]
        "",
        equiangular.REGION,
    )
    return answer(step)


@pytest.mark.parametrize("model", list(Model))
def test_all_pairs_of_equiangular_tokens_move_alike(model: Model) -> None:
    assert symmetry(lambda size: pair_rates(model, size)) is Answer.YES


def test_pairs_of_other_tokens_do_not() -> None:
    def rates(size: int) -> list[sp.Expr]:
        gram = sp.ones(size, size) * gamma + sp.eye(size) * (1 - gamma)
        gram[0, 1] = gram[1, 0] = gamma / 2
        return pair_rates(Model.UNNORMALISED, size, sp.ImmutableMatrix(gram))

    assert symmetry(rates) is not Answer.YES


def additivity(term: sp.Expr, total: sp.Expr, quantity: object) -> Answer:
    step = additive(
        equation(sp.Symbol("one"), term),
        equation(TOTAL, total),
        quantity,  # type: ignore[arg-type]
        "",
        equiangular.REGION,
    )
    return answer(step)


def flow_rate(heads: list[sp.Expr]) -> sp.Expr:
    return equiangular_flow(Model.SOFTMAX, 3, gamma, heads, beta).overlap_rate(0, 1)


def test_the_rate_is_additive_over_heads() -> None:
    term = equiangular.SOFTMAX
    assert additivity(term, summed_over_heads(term), flow_rate) is Answer.YES


def test_another_sum_or_a_quantity_that_is_not_additive_is_refused() -> None:
    term = equiangular.SOFTMAX
    total = summed_over_heads(term)
    assert additivity(term, summed_over_heads(2 * term), flow_rate) is not Answer.YES
    assert additivity(term, total.subs(H, H + 1), flow_rate) is not Answer.YES
    assert additivity(term, total, lambda heads: flow_rate(heads) ** 2) is not Answer.YES
    assert additivity(term, total, lambda heads: sp.Add(*heads) ** 2) is not Answer.YES


def test_the_sum_over_heads_has_one_term_for_each() -> None:
    total = summed_over_heads(lam**2)
    assert total.subs(H, 2).doit() == strengths[1] ** 2 + strengths[2] ** 2
    assert total.limits == ((h, 1, H),)


def test_the_sum_gets_a_name_of_its_own_once() -> None:
    term, one = equiangular.SOFTMAX, sp.Function("one")(lam)
    before, total = equation(one, term), equation(TOTAL, summed_over_heads(term))

    def step(after: sp.Eq, quantity: object = flow_rate) -> Step:
        return additive(before, after, quantity, "", equiangular.REGION)  # type: ignore[arg-type]

    def chain(*steps: Step) -> Derivation:
        return Derivation("", "", (Premise(before, ""),), steps)

    assert chain(step(total)).is_closed
    assert not chain(step(total), step(total)).is_closed
    assert not chain(step(equation(one, total.rhs))).is_closed
    assert not chain(step(equation(gamma, total.rhs))).is_closed
    # A quantity that is additive, but not the one whose term is summed.
    assert not chain(step(total, lambda heads: sp.Add(*heads))).is_closed
