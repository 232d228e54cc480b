"""Energy, entropy, radial cosine and margins of Condition 8 of orthogonal heads, derived.

They belong to tokens that are equiangular in every block, where `orthogonal_heads` derives how the
shares and overlaps move.
"""

from __future__ import annotations

from functools import cache

import sympy as sp

from symbolic import attention_entropy, orthogonal_heads
from symbolic.block_flow import (
    REGION,
    BlockFlow,
    others,
    overlap_motion,
    rho,
    share,
    share_motion,
)
from symbolic.calculus_rules import differentiate
from symbolic.derivation import Derivation, Premise, Step
from symbolic.flow import Model
from symbolic.notation import beta, gamma, lam, n
from symbolic.orthogonal_forms import FORMS, Forms, other_sizes
from symbolic.orthogonal_heads import MOVING, WEIGHT_SUM, closed, power, shadow, square
from symbolic.region import Region, above
from symbolic.rules import equation, substitute

_WARM = MOVING.having({beta: above(0)})
_energy, _entropy = sp.Function("E_h"), sp.Function("S_h")


@cache
def derivation(model: Model, forms: Forms | None = None) -> Derivation:
    """Return the derivation of what is told of each head along the flow.

    Args:
        model: one of the three models.
        forms: the closed forms to derive, those of `FORMS` by default.
    """
    forms = FORMS[model] if forms is None else forms
    system = orthogonal_heads.derivation(model, forms)
    parts = (_energy_rate(model, forms), _entropy_rate(forms), _margins(forms))
    return Derivation(
        "energy, entropy and Condition 8 of orthogonal heads at tokens equiangular in every block",
        f"{model}, spherical",
        (*system.premises, *(premise for premises, _ in parts for premise in premises)),
        (*system.steps, *(step for _, steps in parts for step in steps)),
    )


def _along_the_flow(
    quantity: sp.Expr, form: sp.Expr, name: str, rate: sp.Expr, region: Region
) -> tuple[Premise, list[Step]]:
    """Return premise and steps to the rate of a quantity of share and overlap, by the chain rule.

    Args:
        quantity: a function of share and overlap.
        form: its closed form, which is known.
        name: name of its rate.
        rate: the rate in terms of s_h' and rho_h'.
        region: where the parameters live.
    """
    motion = sp.Symbol(name, real=True)
    closed_form = equation(quantity, form)
    slopes = {
        variable: equation(sp.Derivative(quantity, variable), sp.diff(form, variable))
        for variable in (share, rho)
    }
    chain = equation(motion, slopes[share].lhs * share_motion + slopes[rho].lhs * overlap_motion)
    steps = [
        differentiate(closed_form, slope, variable, 1, f"slope in {variable}", region)
        for variable, slope in slopes.items()
    ]
    steps.append(
        substitute(
            chain,
            equation(motion, rate),
            "put in the slopes",
            using=tuple(slopes.values()),
            region=region,
        )
    )
    return Premise(chain, "chain rule"), steps


def _energy_rate(model: Model, forms: Forms) -> tuple[list[Premise], list[Step]]:
    """Return premises and steps to the energy of head h and its rate."""
    i, j = sp.symbols("i j", integer=True)
    score = sp.Function("score")(i, j)
    energy = _energy(share, rho)
    definition = Premise(
        equation(energy, sp.Sum(sp.exp(beta * score), (i, 1, n), (j, 1, n)) / (2 * beta * n**2)),
        "definition of E_h",
    )
    at_size = closed(
        definition.relation,
        forms.energy,
        lambda size: BlockFlow(model, size).energy(),
        2,
        multiplier=n**2,
        region=_WARM,
    )
    chain, steps = _along_the_flow(energy, forms.energy, "energy_rate", forms.energy_rate, _WARM)
    rate = steps[-1].after
    steps = [at_size, *steps]
    if model is Model.UNNORMALISED:
        product = (forms.power - forms.shadow * others) / n**2
        steps.append(
            substitute(
                rate,
                equation(rate.lhs, product),
                "tangential power less the product with the others' shadows, over n^2",
                using=(
                    equation(share_motion, forms.share_rate),
                    equation(overlap_motion, forms.overlap_rate),
                ),
                region=_WARM,
            )
        )
    return [definition, chain], steps


def _entropy_rate(forms: Forms) -> tuple[list[Premise], list[Step]]:
    """Return premises and steps to the attention entropy, its rate and the covariance behind it."""
    scalar = attention_entropy.derivation()
    as_scalar = {lam: lam * share, gamma: rho}
    entropy = _entropy(share, rho)
    same = Premise(
        equation(entropy, attention_entropy.SYMBOL.xreplace(as_scalar)),
        "the scores lam s and lam s rho are those of a scalar head of strength lam s",
    )
    covariance = Premise(
        equation(sp.Symbol("covariance", real=True), sp.Function("Cov_p")(*sp.symbols("s_j s_j'"))),
        "definition, with s_j = <x_i, M_h x_j> and its rate",
    )
    in_block = equation(same.relation.rhs, forms.entropy)
    chain, steps = _along_the_flow(
        entropy, forms.entropy, "entropy_rate", forms.entropy_rate, MOVING
    )
    steps = [
        *scalar.steps,
        substitute(
            equation(attention_entropy.SYMBOL, attention_entropy.SHARES_FORM),
            in_block,
            "a scalar head of strength lam s at overlap rho",
            values=as_scalar,
            region=MOVING.having({gamma: attention_entropy.REGION[gamma]}),
        ),
        substitute(
            same.relation,
            equation(entropy, forms.entropy),
            "put it in",
            using=(in_block,),
            region=MOVING,
        ),
        *steps,
        closed(
            covariance.relation,
            -forms.entropy_rate / beta**2,
            lambda size: BlockFlow(Model.SOFTMAX, size).covariance(),
            2,
            multiplier=WEIGHT_SUM**2,
            region=_WARM,
        ),
    ]
    return [*scalar.premises, same, covariance, chain], steps


def _margins(forms: Forms) -> tuple[list[Premise], list[Step]]:
    """Return premises and steps to the radial cosine and the margins of Condition 8."""
    cosine, margin, sharp = sp.symbols("radial_cosine margin sharp_margin", real=True)
    length = sp.Symbol("f_norm", nonnegative=True)
    premises = [
        Premise(equation(length, sp.sqrt(square)), "length from the square"),
        Premise(equation(cosine, shadow / length), "definition of the cosine"),
        Premise(equation(margin, power - length * other_sizes), "Condition 8: margin >= 0"),
        Premise(
            equation(sharp, power - sp.Max(shadow, -shadow) * other_sizes),
            "sharp Condition 8: margin >= 0",
        ),
    ]
    results = {
        length: (forms.length, (square,)),
        cosine: (forms.cosine, (shadow, length)),
        margin: (forms.margin, (power, length)),
        sharp: (forms.sharp_margin, (power, shadow)),
    }
    known = {
        shadow: forms.shadow,
        square: forms.square,
        power: forms.power,
        length: forms.length,
    }
    steps = [
        substitute(
            premise.relation,
            equation(premise.relation.lhs, results[premise.relation.lhs][0]),
            "put in the closed forms",
            using=[equation(part, known[part]) for part in results[premise.relation.lhs][1]],
            region=REGION,
        )
        for premise in premises
    ]
    return premises, steps
