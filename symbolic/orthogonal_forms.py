"""Closed forms of orthogonal heads at tokens that are equiangular in every block.

All are those of one head beside any number of others, of which the sum of their radial shadows
enters, or that of their sizes. `orthogonal_heads` and `orthogonal_columns` derive them.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from symbolic import attention_entropy
from symbolic.block_flow import TIME_SCALES, others, overlap_motion, rho, share, share_motion
from symbolic.flow import Model
from symbolic.notation import beta, gamma, lam, n
from symbolic.written import written

other_sizes = sp.Symbol("other_shadows", nonnegative=True)
"""The sum of the sizes of the radial shadows of all other heads."""

# The forms below have these as parts, so that numbers can be put in that are known more exactly.
GAP = written(lambda: 1 - rho)
LIFT = written(lambda: 1 + (n - 1) * rho)
REST = written(lambda: 1 - share)
"""The sum of the shares of all other heads."""

OWN_WEIGHTS = {
    Model.UNNORMALISED: written(lambda: sp.exp(beta * lam * share)),
    Model.SOFTMAX: written(lambda: 1 / (1 + (n - 1) * sp.exp(-beta * lam * share * GAP))),
    Model.RELU: written(lambda: sp.Max(0, lam * share)),
}
"""The weight of the token itself in its aggregate."""
OTHER_WEIGHTS = {
    Model.UNNORMALISED: written(lambda: sp.exp(beta * lam * share * rho)),
    Model.SOFTMAX: written(lambda: 1 / (sp.exp(beta * lam * share * GAP) + n - 1)),
    Model.RELU: written(lambda: sp.Max(0, lam * share * rho)),
}
"""The weight of each other token."""


@dataclass(frozen=True)
class Forms:
    """The closed forms of head h among others under one model.

    Attributes:
        shadow: the radial shadow a^h.
        square: ``|f_i^h|^2``.
        length: ``|f_i^h|``.
        power: ``|P f_i^h|^2``, a sum of terms of one sign.
        share_rate: s_h'.
        pair_rate: the rate of ``<x_i, P_h x_j> = s_h rho_h``, i != j.
        overlap_rate: rho_h'; no other head enters.
        logit_rate: the rate of ``ln((1 + (n-1) rho_h)/(1 - rho_h))``.
        fitness: what head h adds to the rate of ``ln(s_h/s_k)``, from which that of k is taken.
        energy: ``E_h``.
        energy_rate: its derivative along the flow, in terms of s_h' and rho_h'.
        entropy: the attention entropy of a token, of the softmax weights in every model.
        entropy_rate: its derivative along the flow, in terms of s_h' and rho_h'.
        cosine: the radial cosine of ``f_i^h``.
        margin: ``|P f_i^h|^2 - |f_i^h| sum |a_i^k|``, not negative iff Condition 8 holds.
        sharp_margin: ``|P f_i^h|^2 - |a_i^h| sum |a_i^k|``, the same for its sharp form.
    """

    shadow: sp.Expr
    square: sp.Expr
    length: sp.Expr
    power: sp.Expr
    share_rate: sp.Expr
    pair_rate: sp.Expr
    overlap_rate: sp.Expr
    logit_rate: sp.Expr
    fitness: sp.Expr
    energy: sp.Expr
    energy_rate: sp.Expr
    entropy: sp.Expr
    entropy_rate: sp.Expr
    cosine: sp.Expr
    margin: sp.Expr
    sharp_margin: sp.Expr


def _pull(model: Model) -> sp.Expr:
    """Return the sum of the weights times the overlaps with the token in the block."""
    return OWN_WEIGHTS[model] + (n - 1) * OTHER_WEIGHTS[model] * rho


def _spread(model: Model) -> sp.Expr:
    """Return the squared length of what the weights make of the tokens besides that."""
    return OTHER_WEIGHTS[model] ** 2 * (n - 1) * GAP * LIFT


def _forms(model: Model) -> Forms:
    own, other, scale = OWN_WEIGHTS[model], OTHER_WEIGHTS[model], TIME_SCALES[model]
    energetic, logit_factor = OTHER_WEIGHTS[Model.UNNORMALISED], sp.cancel(2 * n * scale)
    shadow = written(lambda: lam * share * _pull(model))
    square = written(lambda: lam**2 * share * (_pull(model) ** 2 + _spread(model)))
    length = written(
        lambda: sp.Max(lam, -lam) * sp.sqrt(share * (_pull(model) ** 2 + _spread(model)))
    )
    power = written(lambda: lam**2 * share * (REST * _pull(model) ** 2 + _spread(model)))
    sharing = {lam: lam * share, gamma: rho}
    scores = written(lambda: beta * lam * share * GAP)
    return Forms(
        shadow=shadow,
        square=square,
        length=length,
        power=power,
        share_rate=written(lambda: 2 * scale * share * (REST * lam * _pull(model) - others)),
        pair_rate=written(
            lambda: (
                2
                * scale
                * share
                * (
                    lam * (own * rho + other * (1 + (n - 2) * rho))
                    - rho * (lam * share * _pull(model) + others)
                )
            )
        ),
        overlap_rate=written(lambda: 2 * scale * lam * other * GAP * LIFT),
        logit_rate=written(lambda: logit_factor * lam * other),
        fitness=written(lambda: 2 * scale * lam * _pull(model)),
        energy=written(
            lambda: (OWN_WEIGHTS[Model.UNNORMALISED] + (n - 1) * energetic) / (2 * beta * n)
        ),
        energy_rate=written(
            lambda: (
                lam
                * (
                    _pull(Model.UNNORMALISED) * share_motion
                    + (n - 1) * energetic * share * overlap_motion
                )
                / (2 * n)
            )
        ),
        entropy=written(lambda: attention_entropy.SHARES_FORM.xreplace(sharing)),
        entropy_rate=written(
            lambda: (
                beta
                * scores
                * lam
                * (share * overlap_motion - GAP * share_motion)
                / ((1 + (n - 1) * sp.exp(-scores)) * (1 + sp.exp(scores) / (n - 1)))
            )
        ),
        cosine=written(lambda: shadow / length),
        margin=written(lambda: power - length * other_sizes),
        sharp_margin=written(lambda: power - sp.Max(shadow, -shadow) * other_sizes),
    )


FORMS = {model: _forms(model) for model in Model}
"""The closed forms, by model."""
