"""Evidence from simulated flows: agreement within an error that is small against the effect."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import pytest
from flint import arb

from numeric.balls import ball_precision
from proofs.cases import ScalarCase
from proofs.evidence import Evidence, Level, Outcome
from proofs.simulated import BITS, Comparison, simulated, simulated_evidence

EXACT = arb(0)
RUN = Comparison({"n": "3"}, "a number", arb(2), arb(2), EXACT, arb(1))


def judged(*runs: Comparison) -> Evidence:
    return simulated_evidence(
        runs, established="agrees", domain="here", does_not_show="elsewhere", seed=7
    )


def test_agreement_supports_and_says_how_far() -> None:
    found = judged(RUN, replace(RUN, simulated=arb(2) + arb(10) ** -9, allowance=arb(10) ** -8))
    assert (found.level, found.outcome) == (Level.SIMULATED, Outcome.SUPPORTS)
    assert found.established == "agrees"
    assert not found.covers_reading
    assert found.measures["runs"] == "2"
    assert found.measures["agreed digits"] in ("7", "8")
    assert found.measures["error relative to the effect"] == "1.0e-08"


@pytest.mark.parametrize("simulated_value", [arb(2) + arb(10) ** -7, arb(-2), arb(0)])
def test_a_difference_beyond_the_error_speaks_against(simulated_value: arb) -> None:
    found = judged(RUN, replace(RUN, simulated=simulated_value, allowance=arb(10) ** -8))
    assert found.outcome is Outcome.REFUTES
    assert found.counterexample is None
    assert "stated 2" in found.established


def test_the_error_of_the_simulated_tokens_counts() -> None:
    assert judged(replace(RUN, simulated=arb(2.0001, 0.001))).outcome is Outcome.UNDECIDED
    close = replace(RUN, simulated=arb(2.0001, 0.0002), effect=arb(1000))
    assert judged(close).outcome is Outcome.SUPPORTS


@pytest.mark.parametrize("effect", [arb(0), arb(10) ** -6, arb(0, 1)])
def test_an_error_that_is_not_small_against_the_effect_decides_nothing(effect: arb) -> None:
    vague = replace(RUN, allowance=arb(10) ** -6, effect=effect)
    assert judged(vague).outcome is Outcome.UNDECIDED
    # Neither for nor against.
    assert judged(replace(vague, simulated=arb(5))).outcome is Outcome.UNDECIDED
    assert judged(RUN, vague).outcome is Outcome.UNDECIDED


def test_no_run_is_vacuous() -> None:
    assert judged().outcome is Outcome.VACUOUS


def test_the_first_run_that_fails_is_the_last() -> None:
    made = []

    def runs() -> Iterator[Comparison]:
        for value in (2, 3, 2):
            made.append(value)
            yield replace(RUN, simulated=arb(value))

    assert judged(*[]).outcome is Outcome.VACUOUS
    found = simulated_evidence(runs(), established="", domain="", does_not_show="", seed=1)
    assert found.outcome is Outcome.REFUTES
    assert made == [2, 3]


def test_numbers_that_are_not_finite_decide_nothing() -> None:
    assert judged(replace(RUN, simulated=arb("nan"))).outcome is Outcome.UNDECIDED
    assert judged(replace(RUN, stated=arb(2, arb("inf")))).outcome is Outcome.UNDECIDED


def test_simulated_tokens_follow_the_flow() -> None:
    # Two tokens under relu, one head: gamma' = (1 - gamma^2) gamma, a logistic equation.
    case = ScalarCase("relu", 2, (Fraction(1),), Fraction(1), Fraction(1, 2))
    (late,) = simulated(case, [Fraction(1)])
    with ball_precision(BITS):
        odds = arb(1) / 3 * arb(2).exp()
        overlap = (odds / (1 + odds)).sqrt()
        assert abs(late.overlap - overlap) < arb(10) ** -28
        assert abs(late.gap - (1 - overlap)) < arb(10) ** -28
        assert abs(late.flow.overlap_rate(0, 1) - overlap * (1 - overlap**2)) < arb(10) ** -27
