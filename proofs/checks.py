"""Shared shapes of checks: a derivation that must close, and a statement tried at exact points."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import sympy as sp
from flint import arb

from numeric.balls import ball_precision
from proofs.evidence import Counterexample, Evidence, Level, Outcome
from symbolic.derivation import Derivation


def derivation_evidence(
    derivations: Iterable[Derivation],
    goals: Iterable[sp.Basic],
    *,
    established: str,
    domain: str,
    does_not_show: str,
    cited: str = "",
) -> Evidence:
    """Return exact evidence that derivations close and reach all the goals.

    ``cited`` names what the conclusion takes from elsewhere, beyond the steps.

    A gap leaves the outcome undecided: that a derivation does not close refutes nothing.
    """
    chains = tuple(derivations)
    steps = sum(len(chain.steps) for chain in chains)
    gaps = [chain.first_gap for chain in chains if chain.first_gap is not None]
    missing = [goal for goal in goals if not any(chain.reaches(goal) for chain in chains)]
    closed = steps > 0 and not gaps and not missing
    if closed:
        method = f"derivation of {steps} steps, each closed by an exact decision procedure"
        method += f"; cited, not checked here: {cited}" if cited else ""
    elif gaps:
        method = f"the step '{gaps[0][0].reason}' is not closed: {gaps[0][1].how}"
    else:
        method = "the derivation does not reach the statement"
    return Evidence(
        Level.EXACT,
        Outcome.SUPPORTS if closed else Outcome.UNDECIDED,
        established if closed else "nothing: the derivation does not close",
        domain,
        does_not_show,
        method,
        covers_reading=True,
        measures={"steps": str(steps)},
    )


@dataclass(frozen=True)
class Point:
    """A statement tried at one exact point.

    Attributes:
        parameters: exact texts that fix the point.
        holds: whether the statement holds there; None if the balls do not decide.
        quantity: what was compared.
        value: its value there, as text.
    """

    parameters: dict[str, str | list[str]]
    holds: bool | None
    quantity: str
    value: str


def pointwise_evidence(
    points: Iterable[Point],
    *,
    established: str,
    domain: str,
    does_not_show: str,
    measures: dict[str, str],
) -> Evidence:
    """Return pointwise evidence from exact points; one failing point refutes."""
    tried = tuple(points)
    failing = [point for point in tried if point.holds is False]
    open_points = [point for point in tried if point.holds is None]
    counterexample = None
    if not tried:
        outcome = Outcome.VACUOUS
    elif failing:
        outcome = Outcome.REFUTES
        first = failing[0]
        counterexample = Counterexample(
            first.parameters, first.quantity, first.value, "the statement fails at this point"
        )
    else:
        outcome = Outcome.UNDECIDED if open_points else Outcome.SUPPORTS
    return Evidence(
        Level.POINTWISE,
        outcome,
        established if outcome is Outcome.SUPPORTS else f"{len(failing)} points fail",
        domain,
        does_not_show,
        f"ball arithmetic at {len(tried)} exact points; {len(open_points)} undecided",
        counterexample=counterexample,
        measures={"points": str(len(tried)), **measures},
    )


def case_evidence(
    level: Level,
    fails: bool,
    counterexample: Callable[[], Counterexample],
    *,
    established: str,
    domain: str,
    does_not_show: str,
    method: str,
    measures: dict[str, str] | None = None,
) -> Evidence:
    """Return evidence from one case: it refutes the statement if the statement fails there.

    A case at which it does not fail says nothing, and its counterexample is not made.
    """
    return Evidence(
        level,
        Outcome.REFUTES if fails else Outcome.UNDECIDED,
        established if fails else "nothing: the statement is not seen to fail at this case",
        domain,
        does_not_show,
        method,
        counterexample=counterexample() if fails else None,
        measures=measures or {},
    )


def settled_signs(compute: Callable[[], tuple[arb, ...]], digits: int) -> tuple[int | None, ...]:
    """Return the signs of balls, raising the precision until all are decided, or to a cap.

    Args:
        compute: returns balls around the numbers at the precision in force.
        digits: digits to start from; the cap is 32 times as many.

    Returns:
        1, -1, 0 or None (not decided) for each number.
    """
    bits = int(3.33 * digits) + 64
    for factor in (1, 2, 4, 8, 16, 32):
        with ball_precision(factor * bits):
            signs = tuple(ball_sign(ball) for ball in compute())
        if None not in signs:
            break
    return signs


def agree(first: arb, second: arb, digits: int) -> bool | None:
    """Tell whether two balls hold the same number, to ``digits`` digits.

    Returns:
        False if they certainly differ; True if they overlap and are narrow; else None.
    """
    difference = first - second
    if not difference.contains(0):
        return False
    scale = abs(first).max(abs(second)) + arb(10) ** -digits
    narrow = abs(difference) < scale * arb(10) ** (1 - digits)
    return True if narrow else None


def settled_agreement(
    compute: Callable[[], tuple[arb, arb]], digits: int
) -> tuple[bool | None, str]:
    """Return whether two numbers agree to ``digits`` digits, and their balls as text.

    The precision is raised until that is decided, or to a cap.
    """
    bits = int(3.33 * digits) + 64
    for factor in (1, 2, 4, 8, 16, 32):
        with ball_precision(factor * bits):
            first, second = compute()
            found = agree(first, second, digits)
            text = f"{first.str(20)}, {second.str(20)}"
        if found is not None:
            break
    return found, text


def ball_sign(ball: arb) -> int | None:
    """Return 1, -1 or 0 if the ball is certainly positive, negative or zero, else None."""
    if ball > 0:
        return 1
    if ball < 0:
        return -1
    return 0 if ball == 0 else None
