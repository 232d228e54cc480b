"""Verdicts on Theorems 11, 16, 17 and Condition 8, and their witnesses recomputed outside."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
import pytest

from proofs.evidence import Level
from proofs.verdict import Verdict
from proofs.verification import Result, verify

_HOLD = (
    "gradient-structure",
    "total-energy",
    "softmax-energy-one-head",
    "relu-energy",
    "flat-per-head",
    "radial-shadow",
    "radial-dominance",
    "sharp-radial-dominance",
)
_REFUTED = ("softmax-energy", "radial-dominance-literal")


@cache
def _result(claim_id: str) -> Result:
    return verify(claim_id)[0]


@pytest.mark.parametrize("claim_id", _HOLD)
def test_holds_by_an_exact_argument_and_a_second_leg(claim_id: str) -> None:
    result = _result(claim_id)
    assert result.verdict is Verdict.HOLDS
    assert result.judgement.level is Level.EXACT
    assert {e.level for _, e, _ in result.run.evidence} == {Level.EXACT, Level.POINTWISE}


@pytest.mark.parametrize("claim_id", _REFUTED)
def test_refuted_by_an_exact_witness_and_in_balls(claim_id: str) -> None:
    result = _result(claim_id)
    assert result.verdict is Verdict.REFUTED
    assert {e.level for _, e, _ in result.run.evidence} == {Level.EXACT, Level.POINTWISE}
    assert all(e.counterexample is not None for _, e, _ in result.run.evidence)


@pytest.mark.parametrize("claim_id", [*_HOLD, *_REFUTED])
def test_every_mutant_is_caught(claim_id: str) -> None:
    run = _result(claim_id).run
    assert run.mutants
    assert [m.mutant for m in run.mutants if not m.caught] == []


def test_points_of_radial_dominance_are_not_vacuous() -> None:
    for claim_id in ("radial-dominance", "sharp-radial-dominance"):
        points = _result(claim_id).run.evidence[1][1].measures["points"]
        assert int(points) >= 30


def _slope(
    x: list[Fraction], strengths: tuple[int, int], *, softmax: bool, only: int | None
) -> Any:
    """Return the slope of an energy of one token in the plane by a difference quotient."""
    with mpmath.workdps(60):
        c, s = (mpmath.mpf(v.numerator) / v.denominator for v in x)
        images = (strengths[0] * c, strengths[1] * s)
        weights = [mpmath.mpf(1)] * 2 if softmax else [mpmath.exp(images[0] * c)]
        if not softmax:
            weights.append(mpmath.exp(images[1] * s))
        velocity = [w * image for w, image in zip(weights, images, strict=True)]
        radial = velocity[0] * c + velocity[1] * s
        step = mpmath.mpf(10) ** -25
        moved = (c + step * (velocity[0] - radial * c), s + step * (velocity[1] - radial * s))

        def energy(a: Any, b: Any) -> Any:
            terms = (mpmath.exp(strengths[0] * a * a) / 2, mpmath.exp(strengths[1] * b * b) / 2)
            return terms[only] if only is not None else sum(terms)

        return (energy(*moved) - energy(c, s)) / step


def test_softmax_witness_recomputed_by_a_difference_quotient() -> None:
    witness = next(
        e.counterexample
        for _, e, _ in _result("softmax-energy").run.evidence
        if e.level is Level.POINTWISE
    )
    assert witness is not None
    assert witness.parameters["x"] == ["(12/13, 5/13)"]
    found = _slope([Fraction(12, 13), Fraction(5, 13)], (2, 3), softmax=True, only=None)
    with mpmath.workdps(60):
        assert abs(found - mpmath.mpf(witness.value)) < mpmath.mpf(10) ** -15
    assert found < 0


def test_exact_softmax_witness_by_hand() -> None:
    # c^2 = 4/5, s^2 = 1/5, beta = ln 2: c^2 s^2 (3 2^(3/5) - 2 2^(8/5)).
    evidence = _result("softmax-energy").run.evidence[0][1]
    assert evidence.counterexample is not None
    with mpmath.workdps(30):
        two = mpmath.mpf(2)
        by_hand = (3 * two ** mpmath.mpf("0.6") - 2 * two ** mpmath.mpf("1.6")) * 4 / 25
        stated = -4 * two ** (mpmath.mpf(3) / 5) / 25
        assert evidence.counterexample.value == "-4*2**(3/5)/25"
        assert abs(by_hand - stated) < mpmath.mpf(10) ** -25


def test_literal_witness_recomputed_by_a_difference_quotient() -> None:
    x = [Fraction(3, 5), Fraction(4, 5)]
    assert _slope(x, (3, 3), softmax=False, only=0) < 0
    with mpmath.workdps(30):
        c, s = mpmath.mpf(3) / 5, mpmath.mpf(4) / 5
        power = (3 * c * s * mpmath.exp(3 * c * c)) ** 2
        shadow = 3 * s * s * mpmath.exp(3 * s * s)
        assert shadow <= power
