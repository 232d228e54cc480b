"""The open problems of the source."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction

import sympy as sp
from flint import arb

from numeric.evaluate import evaluate
from numeric.rounding import rounded_ball
from numeric.simulate_orthogonal_heads import simulate_orthogonal_heads
from proofs.cases import ScalarCase
from proofs.checks import case_evidence, derivation_evidence, settled_signs
from proofs.claim import Checker, Claim, Settings
from proofs.evidence import Counterexample, Evidence, Level, Outcome, parameters_text
from symbolic import exit_overlap
from symbolic.numbers import exact_text
from symbolic.region import Range, at_least
from symbolic.rules import equation


@dataclass(frozen=True)
class Loss:
    """A trajectory of equal heads of strength 1 on which Condition 8 is said to be lost.

    Attributes:
        tokens: number of tokens, orthonormal at the start.
        heads: number of heads.
        temperature: inverse temperature.
        later: an overlap at which it does not hold any more.
    """

    tokens: int = 3
    heads: int = 2
    temperature: Fraction = Fraction(1, 20)
    later: Fraction = Fraction(1, 10)

    def case(self, model: str, overlap: Fraction) -> ScalarCase:
        """Return the tokens at an overlap."""
        strengths = (Fraction(1),) * self.heads
        return ScalarCase(model, self.tokens, strengths, self.temperature, overlap)

    def parameters(self, model: str) -> dict[str, object]:
        """Return the parameters of formula exit-time."""
        return {
            "model": model,
            "H": self.heads,
            "lam": 1,
            "beta": self.temperature,
            "n": self.tokens,
        }

    def time_to(self, model: str, overlap: Fraction) -> Fraction | None:
        """Return the time from orthonormal tokens to an overlap, None if it is not reached."""
        found = evaluate(
            "clustering-time",
            digits=_DIGITS,
            model=model,
            lam=(1,) * self.heads,
            beta=self.temperature,
            n=self.tokens,
            start=0,
            stop=overlap,
        )
        return None if found.value == "+inf" else Fraction(found.value)

    def is_seen(self, digits: int) -> bool:
        """Tell whether it holds at the start and fails later, at an overlap that is reached.

        From the margins of the flow in coordinates, under both models.
        """

        def margins() -> tuple[arb, ...]:
            return tuple(
                self.case(model, overlap).flow().condition_8_margin(0, 0)
                for model in _MODELS
                for overlap in (Fraction(0), self.later)
            )

        turned = settled_signs(margins, digits) == (1, -1) * len(_MODELS)
        return turned and all(self.time_to(model, self.later) is not None for model in _MODELS)

    def counterexample(self, digits: int) -> Counterexample:
        """Return it as a case to recompute."""
        named = self.case(_MODELS[0], Fraction(0)).named
        later = self.case(_MODELS[0], self.later)
        value = rounded_ball(lambda: later.flow().condition_8_margin(0, 0), digits).text
        return Counterexample(
            {**named, "gamma later": exact_text(self.later)},
            "the margin of Condition 8 later",
            value,
            "it is positive at the start, and this overlap is reached in a finite time",
        )


_MODELS = ("softmax", "unnormalised")
_DIGITS = 20


@dataclass(frozen=True)
class Statement:
    """The overlap at which Condition 8 is lost, for which numbers of heads, and a case."""

    overlap: sp.Expr = exit_overlap.EXPRESSION
    heads: Range = field(default_factory=lambda: at_least(2))
    loss: Loss = field(default_factory=Loss)


def check_loss_derivation(statement: Statement, settings: Settings) -> Evidence:
    """Refute by derivation: Condition 8 fails near consensus, and below beta* holds at the start.

    The case that is shown is tried as well.
    """
    proof = derivation_evidence(
        [
            exit_overlap.derivation(statement.overlap),
            exit_overlap.consensus_derivation(statement.heads),
        ],
        [equation(exit_overlap.SYMBOL, statement.overlap), exit_overlap.LOST_AT_CONSENSUS],
        established="for every n, H >= 2 and beta Condition 8 fails near consensus; for beta < "
        "beta* it holds at orthonormal tokens and is lost at one overlap below 1, so before the "
        "tokens cluster",
        domain="equal positive scalar heads, equiangular tokens, softmax and unnormalised",
        does_not_show="that energies fall then: under equal positive scalar heads they rise for "
        "ever (monotone-along-equiangular); anything about orthogonal heads",
        cited="the margin is continuous; the overlap increases to 1 (clustering-time)",
    )
    if proof.outcome is not Outcome.SUPPORTS:
        return proof
    if not statement.loss.is_seen(settings.digits):
        nothing = "nothing: the case that is to be shown is no counterexample"
        return replace(proof, outcome=Outcome.UNDECIDED, established=nothing)
    return replace(
        proof,
        outcome=Outcome.REFUTES,
        counterexample=statement.loss.counterexample(settings.digits),
    )


def check_loss_points(loss: Loss, settings: Settings) -> Evidence:
    """Refute by margins in coordinates: at the start and at a later overlap that is reached."""
    return case_evidence(
        Level.POINTWISE,
        loss.is_seen(settings.digits),
        lambda: loss.counterexample(settings.digits),
        established="the margin of Condition 8 is positive at the start and negative later on the "
        "same trajectory, under softmax and unnormalised heads",
        domain=parameters_text(loss.case("both models", loss.later).named),
        does_not_show="when it is lost in between; other parameters",
        method="flow in coordinates in balls, and a certified clustering time",
        measures={"digits": str(settings.digits)},
    )


def check_exit_first(loss: Loss, _settings: Settings) -> Evidence:
    """Refute by times: Condition 8 is lost before the tokens come to the later overlap."""
    pairs = []
    for model in _MODELS:
        found = evaluate("exit-time", digits=_DIGITS, **loss.parameters(model))
        pairs.append((Fraction(found.value), loss.time_to(model, loss.later)))
    earlier = all(late is not None and 0 < lost < late for lost, late in pairs)
    lost, late = pairs[0]
    return case_evidence(
        Level.POINTWISE,
        earlier,
        lambda: Counterexample(
            {**loss.case(_MODELS[0], Fraction(0)).named, "stop": exact_text(loss.later)},
            "exit-time, and the clustering time to stop",
            f"{float(lost):.15g} and {'none' if late is None else f'{float(late):.15g}'}",
            "Condition 8 is lost first",
        ),
        established="Condition 8 is lost before the tokens come close, under softmax and "
        "unnormalised heads",
        domain=parameters_text(loss.case("both models", loss.later).named),
        does_not_show="other parameters; the exact evidence covers them",
        method="certified exit and clustering times",
        measures={"digits": str(_DIGITS)},
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
    return case_evidence(
        Level.SIMULATED,
        min(first) > 0 > lowest and sure,
        lambda: Counterexample(
            run.named, f"least {run.quantity} of the two heads", str(float(lowest)), "negative then"
        ),
        established=f"orthogonal heads: {run.quantity} of both heads is positive at the start and "
        "that of one is negative later",
        domain=parameters_text(run.named),
        does_not_show="a proof: the error is an estimate; for which other shares, strengths and n "
        "this happens is a numerical question",
        method="reduced system in (s_h, rho_h) followed by collocation, error estimated",
        measures={"digits": str(_RUN_DIGITS)},
    )


_RUN_DIGITS = 15
_DOMINANCE_RUN = OrthogonalRun("condition8", Fraction(2))
_ENERGY_RUN = OrthogonalRun("denergy", Fraction(3))
_WRONG_DOMINANCE_RUN = (("before t = 1.97", replace(_DOMINANCE_RUN, later=Fraction(19, 10))),)
_WRONG_ENERGY_RUN = (("when only Condition 8 is lost", replace(_ENERGY_RUN, later=Fraction(5, 2))),)
_LOSS = Loss()
_CLUSTERED = replace(_LOSS, later=1 - Fraction(1, 10**6))
_TRUE = Statement()
_WRONG_LOSSES = (
    ("one head, whose condition is never lost", replace(_LOSS, heads=1)),
    ("before the exit", replace(_LOSS, later=Fraction(1, 100))),
    ("beyond beta*, where it does not hold at the start", replace(_LOSS, temperature=Fraction(2))),
)
_DERIVATION = Checker(
    "derivation of the exit",
    check_loss_derivation,
    _TRUE,
    (
        ("an exit at c*^2 for every n", replace(_TRUE, overlap=exit_overlap.DEFINITION.start)),
        ("one head too", replace(_TRUE, heads=at_least(1))),
        *((words, replace(_TRUE, loss=wrong)) for words, wrong in _WRONG_LOSSES),
    ),
)
_MARGINS = Checker("margins in coordinates", check_loss_points, _LOSS, _WRONG_LOSSES)
_TIMES = Checker(
    "exit before clustering",
    check_exit_first,
    _CLUSTERED,
    (
        ("an overlap before the exit", replace(_CLUSTERED, later=Fraction(1, 100))),
        ("beyond beta*: lost at the start", replace(_CLUSTERED, temperature=Fraction(2))),
    ),
)
_DOMINANCE = Checker(
    "orthogonal heads, simulated", check_orthogonal_run, _DOMINANCE_RUN, _WRONG_DOMINANCE_RUN
)
_ENERGY = Checker(
    "orthogonal heads, simulated", check_orthogonal_run, _ENERGY_RUN, _WRONG_ENERGY_RUN
)
_SCALAR = "scalar regime: equal positive scalar heads, H >= 2, equiangular tokens"
_ORTHOGONAL = "orthogonal-head regime (simulated only): equiangular tokens within each block"

CLAIMS = (
    Claim(
        id="trajectory-invariance",
        source="open problem",
        statement="radial dominance, once it holds, holds along the trajectory (asked, not "
        "claimed)",
        reading="each regime by itself",
        model="unnormalised and softmax",
        hypotheses=(_SCALAR, _ORTHOGONAL),
        formulas=("exit-overlap",),
        uses=("equiangular-reduction", "critical-cosine", "critical-beta", "clustering-time"),
        checkers=(_DERIVATION, _MARGINS, _DOMINANCE),
    ),
    Claim(
        id="long-enough",
        source="open problem",
        statement="trajectories stay in the monotone region long enough to cluster (asked, not "
        "claimed)",
        reading="each regime by itself",
        model="unnormalised and softmax",
        hypotheses=(_SCALAR, _ORTHOGONAL, "monotone region: where Condition 8 holds"),
        formulas=("exit-overlap", "exit-time"),
        uses=("equiangular-reduction", "critical-cosine", "critical-beta", "clustering-time"),
        checkers=(_DERIVATION, _TIMES, _ENERGY),
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
