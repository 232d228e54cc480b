"""Derivations: a chain is closed only if every step is checked and rests on what is known."""

import sympy as sp

from symbolic.answer import Answer
from symbolic.derivation import Checked, Derivation, Premise, Step
from symbolic.region import Region, above
from symbolic.rules import at_most, equation, rewrite, scale, substitute, threshold

x, y, z = sp.symbols("x y z", real=True)
f, g = sp.Function("f"), sp.Function("g")

START = equation(x, (y + 1) ** 2)
EXPANDED = equation(x, y**2 + 2 * y + 1)
DOUBLED = equation(2 * x, 2 * y**2 + 4 * y + 2)
FIRST = rewrite(START, EXPANDED, "expand")
SECOND = scale(EXPANDED, DOUBLED, sp.Integer(2), "double")


def chain(*steps: Step, premises: tuple[sp.Rel, ...] = (START,)) -> Derivation:
    given = tuple(Premise(relation, "given") for relation in premises)
    return Derivation("a test", "none", given, steps)


def test_chain_of_checked_steps_is_closed() -> None:
    derivation = chain(FIRST, SECOND)
    assert derivation.is_closed
    assert derivation.first_gap is None
    assert derivation.reaches(DOUBLED)
    assert not derivation.reaches(equation(2 * x, 2 * (y + 1) ** 2))


def test_chain_without_steps_is_not_closed() -> None:
    assert not chain().is_closed


def test_step_that_starts_from_an_unknown_relation_is_open() -> None:
    broken = chain(SECOND)
    assert not broken.is_closed
    gap = broken.first_gap
    assert gap is not None
    assert gap[0] is SECOND
    assert gap[1].answer is Answer.UNDECIDED
    assert "unknown relation" in gap[1].how


def test_steps_in_the_wrong_order_are_open() -> None:
    assert not chain(SECOND, FIRST).is_closed


def test_step_that_uses_an_unknown_relation_is_open() -> None:
    used = equation(y, z)
    step = substitute(START, equation(x, (z + 1) ** 2), "put in y", using=(used,))
    assert not chain(step).is_closed
    assert chain(step, premises=(START, used)).is_closed


def test_one_wrong_step_opens_the_whole_chain() -> None:
    wrong = equation(x, y**2 + 2 * y + 2)
    derivation = chain(rewrite(START, wrong, "a slip"), rewrite(wrong, wrong, "and on"))
    assert [outcome.answer for outcome in derivation.outcomes] == [Answer.NO, Answer.YES]
    assert not derivation.is_closed


def test_undecided_step_opens_the_chain() -> None:
    undecided = Step("none", START, EXPANDED, "-", lambda: Checked(Answer.UNDECIDED, "not shown"))
    assert not chain(FIRST, undecided).is_closed


def test_step_to_which_no_exact_rule_applies_is_open_with_the_reason() -> None:
    for wrong, reason in (
        (equation(x, sp.Float("0.5") * y), "binary float"),
        (equation(x, sp.sqrt(-1 - y**2)), "negative"),
    ):
        derivation = chain(rewrite(START, wrong, "a slip"))
        assert derivation.outcomes[0].answer is Answer.UNDECIDED
        assert reason in derivation.outcomes[0].how


def test_name_is_given_once() -> None:
    one, two = at_most(x, z + 1), at_most(x, z + 2)
    first = threshold(one, equation(f(z), z + 1), "a name")
    second = threshold(two, equation(f(z), z + 2), "the same name")
    other = threshold(two, equation(g(z), z + 2), "another name")
    assert chain(first, other, premises=(one, two)).is_closed
    assert not chain(first, second, premises=(one, two)).is_closed
    known = equation(f(1), sp.Integer(7))
    assert not chain(first, premises=(one, known)).is_closed


def test_region_of_a_step_does_not_reach_into_the_next() -> None:
    inverse = equation(1 / x, 1 / (y + 1) ** 2)
    at_most_one = at_most(x, 1)
    on_positive = scale(at_most_one, at_most(1, 1 / x), 1 / x, "divide", Region({x: above(0)}))
    anywhere = scale(at_most_one, at_most(1, 1 / x), 1 / x, "divide")
    assert chain(on_positive, premises=(at_most_one, inverse)).is_closed
    assert not chain(anywhere, premises=(at_most_one, inverse)).is_closed
