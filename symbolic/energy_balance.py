"""Gradient structure and energy rates of any heads on any tokens (Thms 11, 16, 17).

All identities are between sums over tokens and heads, checked by `general_flow.local_sums` over
formal vectors: they hold for every n, d and H, and for all matrices that meet the conditions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import sympy as sp

from symbolic.answer import Answer
from symbolic.decide import sign_of
from symbolic.derivation import Checked, Derivation, Premise, Step
from symbolic.flow import Model
from symbolic.general_flow import GeneralFlow, local_sums
from symbolic.notation import H, beta, h, n
from symbolic.positivity import Sign
from symbolic.region import Region, at_least
from symbolic.rules import equation

i, j, k = sp.symbols("i j k", integer=True, positive=True)
energy = sp.Function("E")
"""E, or with an index E_h."""
weight = sp.Function("w")
"""w^h_ij."""
gradient = sp.Function("grad_E")
"""<grad_{x_k} E, y> for a vector y."""
velocity = sp.Function("v")
"""<v_k, y> for a vector y."""
energy_rate = sp.Function("dE")
"""dE/dt, or with an index dE_h/dt."""
speed = sp.Function("speed")
"""|x_i'|."""
power = sp.Function("power")
"""|P f_i^h|, in the flat flow |f_i^h|."""
shadow = sp.Function("a")
"""The radial shadow a_i^h."""

_y = sp.Symbol("y")
ENERGY = equation(
    energy(), sp.Sum(weight(h, i, j), (i, 1, n), (j, 1, n), (h, 1, H)) / (2 * beta * n**2)
)
"""Definition of the energy."""
HEAD_ENERGY = equation(energy(h), sp.Sum(weight(h, i, j), (i, 1, n), (j, 1, n)) / (2 * beta * n**2))
"""Definition of the energy of head h."""


@dataclass(frozen=True)
class Conditions:
    """What the heads are assumed to meet, and the model, as in `GeneralFlow`."""

    symmetric: bool = True
    aligned: bool = True
    orthogonal: bool = False
    spherical: bool = True
    model: Model = Model.UNNORMALISED

    def flow(self, tokens: int, heads: int) -> GeneralFlow:
        """Return the flow of so many tokens and heads."""
        return GeneralFlow(
            tokens,
            heads,
            symmetric=self.symmetric,
            aligned=self.aligned,
            orthogonal=self.orthogonal,
            spherical=self.spherical,
            model=self.model,
        )

    @property
    def setting(self) -> str:
        """Return the model and the dynamics in words."""
        return f"{self.model}, {'spherical' if self.spherical else 'flat'}"


def gradient_relation(factor: sp.Expr) -> sp.Eq:
    """Return ``<v_k, y> = factor <grad_{x_k} E, y>``; the factor of Theorem 11 is n."""
    return equation(velocity(k, _y), factor * gradient(k, _y))


def gradient_derivation(conditions: Conditions, factor: sp.Expr) -> Derivation:
    """Return the derivation of ``v_k = factor grad_{x_k} E`` from the energy (Thm 11).

    On the sphere y is the tangential part of any vector.
    """

    def difference(tokens: int, heads: int) -> sp.Expr:
        flow = conditions.flow(tokens, heads)
        along = flow.tangential(0, flow.direction)
        change = sp.Add(*(flow.energy_change(head, {0: along}) for head in range(heads)))
        return flow.space.inner(flow.velocity(0), along) - factor.subs(n, tokens) * change

    return Derivation(
        "the velocity is a gradient of the energy",
        conditions.setting,
        (Premise(ENERGY, "definition of the energy"),),
        (
            local_sums(
                ENERGY,
                gradient_relation(factor),
                difference,
                "the derivative of E along y at token k, term by term",
                tokens=2,
                heads=1,
            ),
        ),
    )


def rate_relation(factor: sp.Expr) -> sp.Eq:
    """Return ``dE/dt = factor sum_i |x_i'|^2``; the factor of Theorem 11 is 1/n."""
    return equation(energy_rate(), factor * sp.Sum(speed(i) ** 2, (i, 1, n)))


def rate_derivation(conditions: Conditions, factor: sp.Expr) -> Derivation:
    """Return the derivation of ``dE/dt = factor sum_i |x_i'|^2`` and of its sign (Thm 11)."""

    def difference(tokens: int, heads: int) -> sp.Expr:
        flow = conditions.flow(tokens, heads)
        rate = sp.Add(*(flow.energy_rate(head) for head in range(heads)))
        squares = sp.Add(*(flow.speed_squared(token) for token in range(tokens)))
        return rate - factor.subs(n, tokens) * squares

    relation = rate_relation(factor)
    return Derivation(
        "dE/dt along the flow",
        conditions.setting,
        (Premise(ENERGY, "definition of the energy"),),
        (
            local_sums(
                ENERGY,
                relation,
                difference,
                "the chain rule along the flow: three sums over tokens, two over heads",
                tokens=3,
                heads=2,
            ),
            squares_step(relation),
        ),
    )


def one_head_derivation(conditions: Conditions, heads: int = 1) -> Derivation:
    """Return the derivation of ``dE/dt >= 0`` under softmax with one head.

    ``dE/dt = (1/n^2) sum_i Z_i |x_i'|^2`` with ``Z_i = sum_j w_ij``: the velocity is the gradient
    divided by a positive number of the token's own. With two heads the numbers differ.

    Args:
        conditions: what is assumed; the model is softmax.
        heads: the number of heads to try.
    """

    def difference(tokens: int, _: int) -> sp.Expr:
        flow = conditions.flow(tokens, heads)
        rate = sp.Add(*(flow.energy_rate(head) for head in range(heads)))
        stated = (flow.total_weight(t, 0) * flow.speed_squared(t) for t in range(tokens))
        return rate - sp.Add(*stated) / sp.Integer(tokens) ** 2

    weighted = equation(energy_rate(), sp.Sum(speed(i) ** 2, (i, 1, n)) / n**2)
    return Derivation(
        "dE/dt under softmax with one head, speeds in units of sqrt(Z_i)",
        conditions.setting,
        (Premise(ENERGY, "definition of the energy"),),
        (
            local_sums(
                ENERGY,
                weighted,
                difference,
                "the chain rule along the flow; speed(i)^2 stands for Z_i |x_i'|^2",
                tokens=3,
                heads=0,
            ),
            squares_step(weighted),
        ),
    )


def squares_step(before: sp.Eq) -> Step:
    """Return the step from ``quantity = factor * Sum(f(i)^2)`` to ``quantity >= 0``.

    Valid for a factor that is positive for n >= 1 and a real f; speeds and powers are lengths.
    """

    def check() -> Checked:
        factor, total = before.rhs.as_independent(sp.Sum)
        positive = sign_of(factor, Region({n: at_least(1)})) is Sign.POSITIVE
        inside = total.function if isinstance(total, sp.Sum) else sp.S.Zero
        square = inside.is_Pow and inside.exp == 2 and inside.base.func in (speed, power)
        answer = Answer.YES if positive and square else Answer.UNDECIDED
        return Checked(answer, "a positive factor times a sum of squares of lengths")

    return Step("sum of squares", before, sp.Ge(before.lhs, 0, evaluate=False), "its sign", check)


def head_relation(*, spherical: bool, sign: int = -1) -> sp.Eq:
    """Return the identity for ``dE_h/dt`` of Theorem 17 (spherical) or 16 (flat)."""
    own = sp.Sum(power(i, h) ** 2, (i, 1, n)) / n**3
    if not spherical:
        return equation(energy_rate(h), own)
    others = sp.Sum(shadow(i, k), (k, 1, H)) - shadow(i, h)
    balance = power(i, h) ** 2 + sign * shadow(i, h) * others
    return equation(energy_rate(h), sp.Sum(balance, (i, 1, n)) / n**3)


def head_derivation(conditions: Conditions, *, sign: int = -1, power_of_n: int = 3) -> Derivation:
    """Return the derivation of the identity for ``dE_h/dt`` (Thms 16 and 17).

    Spherical: ``(1/n^3) sum_i (|P f_i^h|^2 - a_i^h sum_{h' != h} a_i^h')``; flat: without shadows,
    so that the rate is not negative.

    Args:
        conditions: what is assumed.
        sign: the sign of the shadows' term.
        power_of_n: the power of 1/n in front.
    """

    def difference(tokens: int, heads: int) -> sp.Expr:
        flow = conditions.flow(tokens, heads)
        stated = sp.S.Zero
        for token in range(tokens):
            stated += flow.power(token, 0)
            if conditions.spherical:
                others = sp.Add(*(flow.shadow(token, other) for other in range(1, heads)))
                stated += sign * flow.shadow(token, 0) * others
        return flow.energy_rate(0) - stated / sp.Integer(tokens) ** power_of_n

    relation = head_relation(spherical=conditions.spherical, sign=sign)
    relation = equation(relation.lhs, relation.rhs * n ** (3 - power_of_n))
    steps = [
        local_sums(
            HEAD_ENERGY,
            relation,
            difference,
            "the chain rule along the flow: three sums over tokens, one over the other heads",
            tokens=3,
            heads=2,
        )
    ]
    if not conditions.spherical:
        steps.append(squares_step(relation))
    return Derivation(
        "dE_h/dt along the flow",
        conditions.setting,
        (Premise(HEAD_ENERGY, "definition of a head's energy"),),
        tuple(steps),
    )


ORTHOGONAL = Conditions(orthogonal=True)
"""Symmetric, aligned, orthogonal heads on the sphere."""
FLAT_ORTHOGONAL = replace(ORTHOGONAL, spherical=False)
"""The same in the flat flow."""
