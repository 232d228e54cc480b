"""What holds at a user's own parameters or arrays, and by what margin; nothing is simulated."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from symbolic.errors import InputError
from symbolic.numbers import shown

if TYPE_CHECKING:
    from numeric.array_diagnosis import ArrayDiagnosis


@dataclass(frozen=True)
class Margin:
    """A number whose sign is the answer.

    Attributes:
        value: correctly rounded digits, ``0`` for an exact zero, ``+inf`` or ``-inf``; None where
            they are not decided.
        holds: ``yes`` if the number is >= 0, ``no`` if it is < 0, else ``undecided``.
    """

    value: str | None
    holds: str


@dataclass(frozen=True)
class HeadDiagnosis:
    """One head at equiangular tokens; every token sees the same.

    Attributes:
        head: 1, 2, ... in the order given.
        strength: exact text.
        condition8: ``|P f|^2 - |f| sum |a^h'|``; Condition 8 holds iff it is >= 0.
        condition8_sharp: ``|P f|^2 - |a| sum |a^h'|``.
        energy: ``E_h``; None at beta = 0, where it is not defined.
        denergy: ``dE_h/dt`` along the spherical flow of the model; None at beta = 0.
        entropy: attention entropy S under softmax weights, at most ln n.
        radial_cosine: ``cos(f, x)``; None unless the strength is positive, and under relu.
        rate: ``phi(lam)``, the head's share of the early rate under softmax.
        above_peak: ``lam - lambda_peak``; None at beta = 0.
        above_inflection: ``lam - lambda_c``; None at beta = 0.
        position: ``below the peak``, ``between peak and inflection`` (phi falls, concave),
            ``above the inflection`` (phi falls, convex), ``not positive``, or ``undefined``.
    """

    head: int
    strength: str
    condition8: Margin
    condition8_sharp: Margin
    energy: str | None
    denergy: Margin | None
    entropy: str | None
    radial_cosine: str | None
    rate: str | None
    above_peak: Margin | None
    above_inflection: Margin | None
    position: str


@dataclass(frozen=True)
class Threshold:
    """A threshold of Condition 8 for equal positive heads, as stated or sharp.

    Attributes:
        critical_beta: the largest beta at which it holds at orthonormal tokens.
        margin_beta: ``critical_beta - beta``.
        critical_cosine: the largest radial cosine at which it holds, at any overlap.
        margin_cosine: ``critical_cosine - radial_cosine`` at the overlap looked at.
    """

    critical_beta: str | None
    margin_beta: Margin
    critical_cosine: str | None
    margin_cosine: Margin


@dataclass(frozen=True)
class EqualHeads:
    """What is known of equal positive heads, from orthonormal tokens where not said otherwise.

    Attributes:
        strength: their common strength, exact text.
        stated: thresholds of Condition 8 as stated.
        sharp: thresholds of the sharp Condition 8.
        exit_overlap: overlap at which radial dominance is first lost, ``0`` where it does not hold
            at the start; None for one head, or where it is not decided.
        exit_time: time of that; also None where it is left out, see `Passage`.
        window: overlaps between which radial dominance holds though not at the start, None where
            there is no such window.
    """

    strength: str
    stated: Threshold
    sharp: Threshold
    exit_overlap: str | None
    exit_time: str | None
    window: tuple[str, str] | None


@dataclass(frozen=True)
class Rates:
    """How fast the overlap moves.

    Attributes:
        overlap_rate: ``gamma'`` under the model at the overlap looked at.
        early_rate: ``gamma'`` under softmax at orthonormal tokens.
        late_rate: the rate at which ``1 - gamma`` decays at last under the model.
        rate_peak: ``lambda_peak``; None at beta = 0.
        rate_inflection: ``lambda_c``; None at beta = 0.
        mean_strength: exact text.
        mean_above_inflection: mean strength minus ``lambda_c``; None at beta = 0.
        gain: early rate minus that of as many equal heads of the same total.
        spread: for two heads, half the difference of the strengths, exact text.
        above_critical_spread: for two heads whose mean is above ``lambda_c``, ``spread`` minus the
            half-spread at which the gain vanishes.
        critical_spread: that half-spread.
    """

    overlap_rate: Margin
    early_rate: str | None
    late_rate: str | None
    rate_peak: str | None
    rate_inflection: str | None
    mean_strength: str
    mean_above_inflection: Margin | None
    gain: Margin
    spread: str | None
    above_critical_spread: Margin | None
    critical_spread: str | None


@dataclass(frozen=True)
class Passage:
    """A time of the flow.

    Attributes:
        start: the overlap looked at, exact text.
        stop: the overlap at which ``1 - gamma`` is a hundredth of what it was, exact text.
        clustering_time: time from one to the other, ``+inf`` where the flow does not arrive; None
            where it is not decided or, for exponents ``beta lam`` beyond 1000, left out.
    """

    start: str
    stop: str
    clustering_time: str | None


@dataclass(frozen=True)
class Diagnosis:
    """What holds for scalar heads at equiangular tokens.

    Attributes:
        parameters: exact texts by name, a list of them for the strengths.
        digits: significant digits of all values.
        heads: one entry for each head.
        equal_heads: thresholds and exits; None unless all strengths are equal and positive, and
            under relu.
        rates: how fast the overlap moves.
        passage: how long it takes.
        remarks: what the reader should know about these values.
        does_not_show: what these values are no evidence of.
    """

    parameters: dict[str, str | list[str]]
    digits: int
    heads: tuple[HeadDiagnosis, ...]
    equal_heads: EqualHeads | None
    rates: Rates
    passage: Passage
    remarks: tuple[str, ...]
    does_not_show: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the diagnosis as plain data: what ``mhflow diagnose --json`` prints."""
        return {"kind": "scalar heads at equiangular tokens", **asdict(self)}


@overload
def diagnose(
    file: None = None,
    *,
    model: str = "softmax",
    n: object,
    beta: object,
    lam: object,
    gamma: object = 0,
    digits: int = 10,
) -> Diagnosis: ...


@overload
def diagnose(
    file: str | os.PathLike[str], *, model: str = "softmax", beta: object
) -> ArrayDiagnosis: ...


def diagnose(
    file: str | os.PathLike[str] | None = None, **parameters: Any
) -> Diagnosis | ArrayDiagnosis:
    """Return what holds at given parameters, or for an array file, and by what margin.

    ``diagnose(n=64, beta=2, lam="1/2,1")`` looks at scalar heads at equiangular tokens, exactly:
    every digit is right and every sign certified. ``diagnose("heads.npz", beta=2)`` looks at tokens
    and heads of any form; their floats are read exactly, and signs are certified where 128 bits
    decide them.

    Args:
        file: an ``.npz`` file with tokens ``x`` (n, d), score matrices ``M`` (H, d, d) and, if they
            are not those, value matrices ``V`` (H, d, d).
        **parameters: ``model`` (softmax by default, unnormalised or relu) and ``beta`` (>= 0). For
            scalar heads, as exact numbers: ``n`` (integer >= 2), ``lam`` (strengths, at most 256),
            ``gamma`` (overlap of the tokens, 0 by default, -1/(n-1) < gamma < 1) and ``digits``
            (10 by default).

    Raises:
        InputError: for a wrong or missing parameter, or a file that cannot be read.
    """
    if file is None:
        from numeric.scalar_diagnosis import diagnose_scalar_heads

        _check(parameters, _SCALAR, ("model", "gamma", "digits"))
        return diagnose_scalar_heads(**parameters)
    from numeric.array_diagnosis import diagnose_arrays

    _check(parameters, _ARRAYS, ("model",))
    return diagnose_arrays(Path(file), **parameters)


_SCALAR = {"n": "integer >= 2", "beta": "real >= 0", "lam": "list of reals, one for each head"}
_ARRAYS = {"beta": "real >= 0"}


def _check(given: Mapping[str, Any], needed: Mapping[str, str], optional: Sequence[str]) -> None:
    """Check the names of parameters, so that a wrong call is told in one line."""
    for name in given:
        if name not in (*needed, *optional):
            accepted = ", ".join((*needed, *optional))
            raise InputError(f"diagnose: no parameter {shown(name)}; it takes {accepted}")
    for name, domain in needed.items():
        if name not in given:
            raise InputError(f"diagnose: missing parameter {name} ({domain})")
