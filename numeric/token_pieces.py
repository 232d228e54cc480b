"""The token flow as a field for collocation; relu piece by piece, between changes of scores' signs.

Under relu the right-hand side is smooth as long as no score ``<x_i, M_h x_j>`` changes its sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from flint import arb, arb_mat

from numeric.balls import ball_precision
from numeric.collocation import Field, Switches
from numeric.simulation import Array
from numeric.token_flow import Mask, TokenFlow
from numeric.token_start import Tokens

# Precision at which a score is told from zero, and the rate from which on it leaves zero.
_SIGN_BITS = 256
_STILL = 1e-12


def token_field(flow: TokenFlow, tokens: Tokens) -> Field:
    """Return the right-hand side on states of n d numbers, for a flow that starts at the tokens."""
    if flow.model != "relu":
        return Field(flow.ball_field, flow.float_field)
    return _piece(flow, _active(flow, tokens))


def _piece(flow: TokenFlow, active: Mask) -> Field:
    """Return the relu field that counts the active scores, whatever their sign."""
    piece = replace(flow, active=active)
    signs = np.where(active, 1, -1).ravel()

    def balls(state: Sequence[arb]) -> list[arb]:
        scores = flow.ball_scores(arb_mat(flow.n, flow.d, state))
        every = [score for head in scores for score in head]
        return [score if sign > 0 else -score for score, sign in zip(every, signs, strict=True)]

    def floats(states: Array) -> Array:
        scores = flow.float_scores(states.reshape(len(states), flow.n, flow.d))
        return np.asarray(np.stack(scores, axis=1).reshape(len(states), -1) * signs)

    def after(indices: Sequence[int]) -> Field:
        flipped = active.ravel().copy()
        flipped[list(indices)] ^= True
        return _piece(flow, flipped.reshape(active.shape))

    switches = Switches(balls, floats, after, flow.float_field)
    return Field(piece.ball_field, piece.float_field, switches)


def _active(flow: TokenFlow, tokens: Tokens) -> Mask:
    """Return which scores (H, n, n) are positive, or are zero and about to become positive."""
    with ball_precision(_SIGN_BITS):
        scores = flow.ball_scores(arb_mat(tokens.balls()))
        positive = [[bool(score > 0) for score in head] for head in scores]
        zero = [[bool(score.contains(0)) for score in head] for head in scores]
    shape = (flow.heads.count, flow.n, flow.n)
    rates = flow.float_score_rates(tokens.floats, flow.float_rates(tokens.floats))
    return np.where(np.reshape(zero, shape), np.array(rates) > _STILL, np.reshape(positive, shape))
