"""The open problems of the source."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import sympy as sp
from flint import arb

from numeric.evaluate import evaluate
from numeric.simulate_orthogonal_heads import simulate_orthogonal_heads
from proofs.cases import ScalarCase
from proofs.checks import derivation_evidence, settled_signs
from proofs.claim import Checker, Claim, Settings
from proofs.evidence import Counterexample, Evidence, Level, Outcome, parameters_text
from symbolic import exit_overlap
from symbolic.numbers import exact_text
from symbolic.rules import equation


@dataclass(frozen=True)
class Loss:
    """A trajectory of equal heads on which Condition 8 is said to be lost.

    Attributes:
        overlap: the closed form of the overlap at which it is lost.
        model: softmax or unnormalised.
        tokens: number of tokens, orthonormal at the start.
        heads: number of heads of strength 1.
        temperature: inverse temperature.
        later: an overlap to look at later.
    """

    overlap: sp.Expr = exit_overlap.EXPRESSION
    model: str = "softmax"
    tokens: int = 4
    heads: int = 2
    temperature: Fraction = Fraction(1, 10)
    later: Fraction = Fraction(9, 10)

    def case(self, overlap: Fraction) -> ScalarCase:
        """Return the tokens at an overlap."""
        strengths = (Fraction(1),) * self.heads
        return ScalarCase(self.model, self.tokens, strengths, self.temperature, overlap)

    @property
    def named(self) -> dict[str, str | list[str]]:
        """Return the parameters as exact texts."""
        return {**self.case(Fraction(0)).named, "gamma later": exact_text(self.later)}


def check_loss_derivation(loss: Loss, settings: Settings) -> Evidence:
    """Refute by the derived exit: below beta* Condition 8 is lost at one overlap, for good."""
    proof = derivation_evidence(
        [exit_overlap.derivation(loss.overlap)],
        [equation(exit_overlap.SYMBOL, loss.overlap)],
        established="for every n, H >= 2 and beta < beta* Condition 8 holds at orthonormal tokens "
        "and is lost at one overlap below 1, so before the tokens cluster",
        domain="equal positive scalar heads, equiangular tokens, softmax and unnormalised",
        does_not_show="that energies fall then: under equal positive scalar heads they rise for "
        "ever (monotone-along-equiangular); anything about orthogonal heads",
        cited="the overlap increases to 1 under positive strengths (clustering-time)",
    )
    if proof.outcome is not Outcome.SUPPORTS or loss.heads < 2:
        return replace(proof, outcome=Outcome.UNDECIDED, established="nothing")
    parameters = {
        "H": loss.heads,
        "lam": 1,
        "beta": loss.temperature,
        "n": loss.tokens,
    }
    lost = evaluate("exit-overlap", digits=settings.digits, **parameters)
    if not 0 < Fraction(lost.value) < 1:
        return replace(proof, outcome=Outcome.UNDECIDED, established="nothing at this case")
    return replace(
        proof,
        outcome=Outcome.REFUTES,
        counterexample=Counterexample(
            {key: value for key, value in loss.named.items() if key != "gamma later"},
            "exit-overlap: where Condition 8 is lost",
            lost.value,
            "Condition 8 holds at the start (beta < beta*) and fails beyond this overlap, which "
            "the trajectory reaches",
        ),
    )


def check_loss_points(loss: Loss, settings: Settings) -> Evidence:
    """Refute by margins in coordinates: at the start and at a later overlap that is reached."""

    def compute() -> tuple[arb, ...]:
        return tuple(
            loss.case(overlap).flow().condition_8_margin(0, 0)
            for overlap in (Fraction(0), loss.later)
        )

    before, after = settled_signs(compute, settings.digits)
    reached = evaluate(
        "clustering-time",
        digits=20,
        model=loss.model,
        lam=(1,) * loss.heads,
        beta=loss.temperature,
        n=loss.tokens,
        start=0,
        stop=loss.later,
    )
    lost = before == 1 and after == -1 and reached.value != "+inf"
    return Evidence(
        Level.POINTWISE,
        Outcome.REFUTES if lost else Outcome.UNDECIDED,
        "the margin of Condition 8 is positive at the start and negative later on the same "
        "trajectory"
        if lost
        else "nothing: Condition 8 is not seen to be lost",
        f"n = {loss.tokens}, {loss.heads} heads of strength 1, beta = "
        f"{exact_text(loss.temperature)}, {loss.model}",
        "when it is lost in between; other parameters",
        "flow in coordinates in balls, and a certified clustering time",
        counterexample=Counterexample(
            loss.named,
            "time at which the later overlap is reached",
            reached.value,
            "the margin of Condition 8 is positive at gamma = 0 and negative then",
        )
        if lost
        else None,
        measures={"digits": str(settings.digits)},
    )


@dataclass(frozen=True)
class OrthogonalRun:
    """A run of two orthogonal heads of strength 1, orthonormal tokens within each block.

    Attributes:
        quantity: the column that is positive at the start and said to be negative later:
            condition8 or denergy.
        later: the time at which it is looked at.
        shares: shares of the heads at the start.
    """

    quantity: str
    later: Fraction
    shares: tuple[Fraction, Fraction] = (Fraction(13, 25), Fraction(12, 25))

    @property
    def named(self) -> dict[str, str | list[str]]:
        """Return the parameters as exact texts."""
        return {
            "model": "unnormalised",
            "n": "40",
            "beta": "1",
            "lam": ["1", "1"],
            "s": [exact_text(share) for share in self.shares],
            "rho": ["0", "0"],
            "t": exact_text(self.later),
        }


def check_orthogonal_run(run: OrthogonalRun, _settings: Settings) -> Evidence:
    """Follow orthogonal heads and look at the margin, or the energy's rate, of each head."""
    found = simulate_orthogonal_heads(
        lam=(1, 1),
        shares=run.shares,
        overlaps=(0, 0),
        beta=1,
        n=40,
        times=(0, run.later),
        digits=_RUN_DIGITS,
    )
    columns = [found.columns[f"{run.quantity}_h{head}"] for head in (1, 2)]
    first, last = ([Fraction(str(column[row])) for column in columns] for row in (0, 1))
    lowest = min(last)
    # The estimated error is below the last digit; the effect has to be far above it.
    sure = abs(lowest) > Fraction(1, 10**6) * max(abs(value) for value in (*first, *last))
    lost = min(first) > 0 > lowest and sure
    return Evidence(
        Level.SIMULATED,
        Outcome.REFUTES if lost else Outcome.UNDECIDED,
        f"orthogonal heads: {run.quantity} of both heads is positive at the start and that of one "
        "is negative later"
        if lost
        else "nothing: it is not seen to change its sign",
        parameters_text(run.named),
        "a proof: the error is an estimate; for which other shares, strengths and n this happens "
        "is a numerical question",
        "reduced system in (s_h, rho_h) followed by collocation, error estimated",
        counterexample=Counterexample(
            run.named, f"least {run.quantity} of the two heads", str(float(lowest)), "negative then"
        )
        if lost
        else None,
        measures={"digits": str(_RUN_DIGITS)},
    )


_RUN_DIGITS = 15
_DOMINANCE_RUN = OrthogonalRun("condition8", Fraction(2))
_ENERGY_RUN = OrthogonalRun("denergy", Fraction(3))
_WRONG_DOMINANCE_RUN = (("before t = 1.97", replace(_DOMINANCE_RUN, later=Fraction(19, 10))),)
_WRONG_ENERGY_RUN = (("when only Condition 8 is lost", replace(_ENERGY_RUN, later=Fraction(5, 2))),)
_LOSS = Loss()
_WRONG_OVERLAPS = (
    ("an exit at c*^2 for every n", replace(_LOSS, overlap=exit_overlap.DEFINITION.start)),
    ("one head, whose condition is never lost", replace(_LOSS, heads=1)),
)
_WRONG_POINTS = (
    ("one head, whose condition is never lost", replace(_LOSS, heads=1)),
    ("before the exit", replace(_LOSS, later=Fraction(1, 100))),
    ("beyond beta*, where it does not hold at the start", replace(_LOSS, temperature=Fraction(2))),
)
_CHECKERS = (
    Checker("derivation of the exit", check_loss_derivation, _LOSS, _WRONG_OVERLAPS),
    Checker("margins in coordinates", check_loss_points, _LOSS, _WRONG_POINTS),
)
_DOMINANCE = Checker(
    "orthogonal heads, simulated", check_orthogonal_run, _DOMINANCE_RUN, _WRONG_DOMINANCE_RUN
)
_ENERGY = Checker(
    "orthogonal heads, simulated", check_orthogonal_run, _ENERGY_RUN, _WRONG_ENERGY_RUN
)

CLAIMS = (
    Claim(
        id="trajectory-invariance",
        source="open problem",
        statement="radial dominance, once it holds, holds along the trajectory (asked, not "
        "claimed)",
        reading="each regime by itself",
        model="unnormalised and softmax",
        hypotheses=("scalar regime: equal positive scalar heads, H >= 2, equiangular tokens",),
        formulas=("exit-overlap",),
        uses=("equiangular-reduction", "critical-cosine", "critical-beta", "clustering-time"),
        checkers=(*_CHECKERS, _DOMINANCE),
    ),
    Claim(
        id="long-enough",
        source="open problem",
        statement="trajectories stay in the monotone region long enough to cluster (asked, not "
        "claimed)",
        reading="each regime by itself",
        model="unnormalised and softmax",
        hypotheses=(
            "scalar regime: equal positive scalar heads, H >= 2, equiangular tokens",
            "monotone region: where Condition 8 holds",
        ),
        formulas=("exit-overlap", "exit-time"),
        uses=("equiangular-reduction", "critical-cosine", "critical-beta", "clustering-time"),
        checkers=(*_CHECKERS, _ENERGY),
    ),
    Claim(
        id="critical-points",
        source="open problem",
        statement="structure of the critical points of the combined field",
        reading="none: the summaries state no claim",
        model="unnormalised",
        unavailable="the summaries ask for a structure and state none",
    ),
)
