"""Shadows, margins, energies, entropies and their rates, at given tokens; no simulation needed.

Notation of the source: aggregate ``f_i^h``, radial shadow ``a_i^h = <f_i^h, x_i>``, projection
``P f = f - a x``, energy ``E_h = (1/(2 beta n^2)) sum_ij exp(beta s_ij)`` with the scores
``s_ij = <x_i, M_h x_j>``. Rates are along the flow itself, in the model and the dynamics that it
has, whatever the model of the energy: ``s_ij' = <x_i', M_h x_j> + <x_i, M_h x_j'>``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, arb_mat

from numeric.balls import exact_ball
from numeric.simulation import Array
from numeric.token_flow import TokenFlow, ball_inner, ball_rows, ball_sum


@dataclass(frozen=True)
class TokenQuantities:
    """What `token_quantities` returns: float64 arrays, with further axes in front if asked so.

    Attributes:
        shadows: radial shadows ``a_i^h``, (H, n).
        powers: tangential powers ``|P f_i^h|^2``, (H, n).
        cosines: ``cos(f_i^h, x_i)``, (H, n); NaN where the aggregate vanishes.
        margins: ``|P f_i^h|^2 - |f_i^h| sum_{h' != h} |a_i^h'|``, (H, n): Condition 8 holds for a
            head iff all are >= 0.
        sharp_margins: the same with ``|a_i^h|`` for ``|f_i^h|``.
        entropies: entropies of the rows of softmax(beta s), (H, n), in every model.
        entropy_rates: ``-beta^2 Cov_p(s_j, s_j')``, (H, n).
        energies: ``E_h``, (H,); None for beta = 0.
        energy_rates: ``dE_h/dt``, (H,); for beta = 0 its limit.
    """

    shadows: Array
    powers: Array
    cosines: Array
    margins: Array
    sharp_margins: Array
    entropies: Array
    entropy_rates: Array
    energies: Array | None
    energy_rates: Array


@dataclass(frozen=True)
class BallQuantities:
    """What `ball_quantities` returns: the same as balls, lists by head and then by token."""

    shadows: list[list[arb]]
    powers: list[list[arb]]
    cosines: list[list[arb]]
    margins: list[list[arb]]
    sharp_margins: list[list[arb]]
    entropies: list[list[arb]]
    entropy_rates: list[list[arb]]
    energies: list[arb] | None
    energy_rates: list[arb]


def token_quantities(flow: TokenFlow, tokens: Any) -> TokenQuantities:
    """Return the quantities of tokens in float64.

    Args:
        flow: model, heads, beta and dynamics.
        tokens: float64 array (..., n, d); leading axes, such as time, lead in the result, too.
    """
    with np.errstate(all="ignore"):
        aggregates = np.stack(flow.float_aggregates(tokens), axis=-3)
        x = tokens[..., None, :, :]
        shadows = (aggregates * x).sum(axis=-1)
        sizes = np.sqrt((aggregates**2).sum(axis=-1))
        powers = ((aggregates - shadows[..., None] * x) ** 2).sum(axis=-1)
        lengths = np.sqrt((tokens**2).sum(axis=-1))[..., None, :]
        # The cosine of a vector of length zero is NaN.
        cosines = shadows / (sizes * lengths)
        foreign = np.abs(shadows).sum(axis=-2, keepdims=True) - np.abs(shadows)
        if flow.heads.count == 1:
            foreign = np.zeros_like(shadows)
        scores = np.stack(flow.float_scores(tokens), axis=-3)
        moved = np.stack(flow.float_score_rates(tokens, flow.float_rates(tokens)), axis=-3)
        entropies, entropy_rates = _entropies(flow.beta_float * scores, flow.beta_float * moved)
        weights = np.exp(flow.beta_float * scores)
        energies = None
        if flow.beta > 0:
            energies = weights.sum(axis=(-1, -2)) / (2 * flow.beta_float * flow.n**2)
        energy_rates = (weights * moved).sum(axis=(-1, -2)) / (2 * flow.n**2)
        return TokenQuantities(
            shadows,
            powers,
            cosines,
            powers - sizes * foreign,
            powers - np.abs(shadows) * foreign,
            entropies,
            entropy_rates,
            energies,
            energy_rates,
        )


def ball_quantities(flow: TokenFlow, state: Sequence[arb]) -> BallQuantities:
    """Return the quantities of tokens as balls, at the precision in force.

    Args:
        flow: model, heads, beta and dynamics.
        state: the n d coordinates, token by token.
    """
    n, d = flow.n, flow.d
    tokens = arb_mat(n, d, state)
    x = ball_rows(state, d)
    aggregates = [ball_rows(part.entries(), d) for part in flow.ball_aggregates(tokens)]
    shadows = [list(map(ball_inner, part, x)) for part in aggregates]
    sizes = [[_length(f) for f in part] for part in aggregates]
    powers = [list(map(_power, part, a, x)) for part, a in zip(aggregates, shadows, strict=True)]
    lengths = [_length(row) for row in x]
    cosines, margins, sharp_margins = [], [], []
    for h, (a, size, power) in enumerate(zip(shadows, sizes, powers, strict=True)):
        others = [head for k, head in enumerate(shadows) if k != h]
        foreign = [ball_sum([arb(0), *(abs(head[i]) for head in others)]) for i in range(n)]
        cosines.append([a[i] / (size[i] * lengths[i]) for i in range(n)])
        margins.append([power[i] - size[i] * foreign[i] for i in range(n)])
        sharp_margins.append([power[i] - abs(a[i]) * foreign[i] for i in range(n)])
    scores = flow.ball_scores(tokens)
    moved = flow.ball_score_rates(tokens, arb_mat(n, d, flow.ball_rates(tokens)))
    entropies, entropy_rates = _ball_entropies(flow, scores, moved)
    energies, energy_rates = _ball_energies(flow, scores, moved)
    return BallQuantities(
        shadows,
        powers,
        cosines,
        margins,
        sharp_margins,
        entropies,
        entropy_rates,
        energies,
        energy_rates,
    )


def _length(x: Sequence[arb]) -> arb:
    """Return the length of a vector."""
    return ball_inner(x, x).nonnegative_part().sqrt()


def _power(f: Sequence[arb], shadow: arb, x: Sequence[arb]) -> arb:
    """Return ``|f - a x|^2``."""
    part = [u - shadow * v for u, v in zip(f, x, strict=True)]
    return ball_inner(part, part)


def _entropies(exponents: Array, moved: Array) -> tuple[Array, Array]:
    """Return the entropies of softmax over the last axis, and their rates."""
    shifted = exponents - exponents.max(axis=-1, keepdims=True)
    weights = np.exp(shifted)
    total = weights.sum(axis=-1, keepdims=True)
    p = weights / total
    # A weight that has underflowed counts for nothing, however small its logarithm.
    means = (p * np.where(weights > 0, shifted, 0)).sum(axis=-1)
    entropies = np.log(total[..., 0]) - means
    centred = moved - (p * moved).sum(axis=-1, keepdims=True)
    return entropies, -(p * np.where(weights > 0, shifted, 0) * centred).sum(axis=-1)


def _ball_entropies(
    flow: TokenFlow, scores: list[list[arb]], moved: list[list[arb]]
) -> tuple[list[list[arb]], list[list[arb]]]:
    """Return the entropies of softmax(beta s) and their rates, by head and token."""
    beta = exact_ball(flow.beta)
    entropies: list[list[arb]] = []
    rates: list[list[arb]] = []
    for head, change in zip(scores, moved, strict=True):
        entropies.append([])
        rates.append([])
        for row, rate in zip(ball_rows(head, flow.n), ball_rows(change, flow.n), strict=True):
            exponents = [beta * score for score in row]
            weights = [exponent.exp() for exponent in exponents]
            total = ball_sum(weights)
            p = [weight / total for weight in weights]
            mean = ball_inner(p, exponents)
            entropies[-1].append(total.log() - mean)
            centred = [exponent - mean for exponent in exponents]
            shares = [a * b for a, b in zip(p, centred, strict=True)]
            rates[-1].append(-beta * ball_inner(shares, rate))
    return entropies, rates


def _ball_energies(
    flow: TokenFlow, scores: list[list[arb]], moved: list[list[arb]]
) -> tuple[list[arb] | None, list[arb]]:
    """Return the energies, None for beta = 0, and their rates by head."""
    beta = exact_ball(flow.beta)
    weights = [[(beta * score).exp() for score in head] for head in scores]
    energies = None
    if flow.beta > 0:
        energies = [ball_sum(head) / (2 * beta * flow.n**2) for head in weights]
    rates = [
        ball_inner(head, change) / (2 * flow.n**2)
        for head, change in zip(weights, moved, strict=True)
    ]
    return energies, rates
