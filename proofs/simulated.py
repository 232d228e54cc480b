"""Evidence from the simulated flow: tokens followed in coordinates, beside what a claim says."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb

from numeric.balls import ball_precision
from numeric.definitions import Flow, inner
from numeric.heads import scalar_heads
from numeric.token_flow import TokenFlow, ball_rows
from numeric.token_start import equiangular_tokens
from numeric.token_trajectory import followed
from proofs.cases import ScalarCase
from proofs.evidence import Evidence, Level, Outcome

DIGITS = 30
"""Digits asked of the simulated tokens; what a claim says is compared to fewer."""

BITS = 400
"""Precision for quantities computed from simulated tokens."""

# A comparison decides nothing unless its error is below this part of the effect.
_SMALL = arb(1) / 1000


@dataclass(frozen=True)
class Comparison:
    """A number of the simulated flow beside the stated one.

    Attributes:
        parameters: exact texts that fix the run.
        quantity: what was compared.
        stated: what the claim says.
        simulated: the same from the simulated flow, the estimated error of the flow as radius.
        allowance: bound of what the comparison itself leaves out, such as terms of higher order.
        effect: the size of what the claim is about.
    """

    parameters: dict[str, str | list[str]]
    quantity: str
    stated: arb
    simulated: arb
    allowance: arb
    effect: arb

    @property
    def error(self) -> arb:
        """Return what the simulation does not resolve."""
        return (self.allowance + self.simulated.rad() + self.stated.rad()).upper()

    @property
    def difference(self) -> arb:
        """Return how far the two numbers are apart, from their midpoints."""
        return abs(self.simulated.mid() - self.stated.mid())

    @property
    def decides(self) -> bool:
        """Tell whether the error is small against the effect."""
        return bool(self.error < abs(self.effect) * _SMALL)

    @property
    def agrees(self) -> bool:
        """Tell whether the two numbers agree within the error."""
        return bool(self.difference <= self.error)

    @property
    def digits(self) -> int:
        """Return how many digits of the effect agree, those of the simulated tokens at most."""
        ratio = self.difference.max(self.error) / abs(self.effect)
        if not ratio.is_finite():
            return 0
        return next((k for k in range(DIGITS, 0, -1) if ratio < arb(10) ** -k), 0)


def simulated_evidence(
    comparisons: Iterable[Comparison],
    *,
    established: str,
    domain: str,
    does_not_show: str,
    seed: int,
) -> Evidence:
    """Return evidence from simulated runs, made at the precision `BITS` up to the first that fails.

    It supports if every run agrees within its error, and that error is small against the effect;
    it is undecided if an error is not small. A run that disagrees speaks against the claim, but
    refutes nothing by itself: errors of simulated tokens are estimates.
    """
    with ball_precision(BITS):
        runs: list[Comparison] = []
        against: list[Comparison] = []
        for run in comparisons:
            runs.append(run)
            if run.decides and not run.agrees:
                against.append(run)
                # One is enough, and runs take long.
                break
        vague = [run for run in runs if not run.decides]
        worst = max((_share(run) for run in runs), default=0.0)
        agreed = min((run.digits for run in runs), default=0)
        texts = [
            f"{run.quantity}: stated {run.stated.str(12)}, simulated {run.simulated.str(12)}"
            for run in against
        ]
    if not runs:
        outcome = Outcome.VACUOUS
    elif against:
        outcome = Outcome.REFUTES
    else:
        outcome = Outcome.UNDECIDED if vague else Outcome.SUPPORTS
    if outcome is Outcome.SUPPORTS:
        said = established
    elif against:
        said = f"nothing: a run disagrees; {texts[0]}"
    else:
        said = f"nothing: {len(vague)} of {len(runs)} runs have errors that are not small"
    return Evidence(
        Level.SIMULATED,
        outcome,
        said,
        domain,
        does_not_show,
        f"{len(runs)} runs of the flow of tokens in coordinates, by Chebyshev collocation",
        measures={
            "runs": str(len(runs)),
            "agreed digits": str(agreed),
            "error relative to the effect": f"{worst:.1e}",
            "digits": str(DIGITS),
            "seed": str(seed),
        },
    )


def _share(run: Comparison) -> float:
    """Return the error relative to the effect, infinite if there is none to speak of."""
    share = (run.error / abs(run.effect)).upper()
    return float(share) if share.is_finite() else math.inf


@dataclass(frozen=True)
class SimulatedTokens:
    """Tokens of a run at one time, as balls."""

    case: ScalarCase
    rows: Sequence[Sequence[arb]]

    @property
    def overlap(self) -> arb:
        """Return ``<x_1, x_2>``."""
        return arb(inner(list(self.rows[0]), list(self.rows[1])))

    @property
    def gap(self) -> arb:
        """Return ``1 - <x_1, x_2>`` as ``|x_1 - x_2|^2/2``, which keeps its digits."""
        apart = [a - b for a, b in zip(self.rows[0], self.rows[1], strict=True)]
        return arb(inner(apart, apart)) / 2

    @property
    def flow(self) -> Flow:
        """Return the flow at these tokens, word for word."""
        return self.case.flow_at([list(row) for row in self.rows])


def simulated(case: ScalarCase, times: Sequence[Fraction]) -> list[SimulatedTokens]:
    """Return the tokens of a case at given times, followed in coordinates from its overlap."""
    return list(_simulated(case, tuple(times)))


# What a claim says does not enter: its mutants meet the same runs.
@lru_cache(maxsize=64)
def _simulated(case: ScalarCase, times: tuple[Fraction, ...]) -> tuple[SimulatedTokens, ...]:
    flow = TokenFlow(
        case.model, scalar_heads(list(case.heads), case.tokens), case.temperature, case.tokens
    )
    start = equiangular_tokens(case.tokens, case.overlap)
    run = followed(flow, start, times, DIGITS)
    return tuple(SimulatedTokens(case, ball_rows(state, case.tokens)) for state in run.states)
