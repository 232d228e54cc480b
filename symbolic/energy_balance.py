"""Gradient structure and energy rates of any heads on any tokens (Thms 11, 16, 17, Condition 8).

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
from symbolic.region import Region, above, at_least, between
from symbolic.rules import at_most, consequence, equation, monotone, rewrite

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
_HALF = sp.Rational(1, 2)
_DEFINITION = equation(
    energy(), sp.Sum(weight(h, i, j), (i, 1, n), (j, 1, n), (h, 1, H)) / (2 * beta * n**2)
)
_HEAD = equation(energy(h), sp.Sum(weight(h, i, j), (i, 1, n), (j, 1, n)) / (2 * beta * n**2))


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
        (Premise(_DEFINITION, "definition of the energy"),),
        (
            local_sums(
                _DEFINITION,
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
        (Premise(_DEFINITION, "definition of the energy"),),
        (
            local_sums(
                _DEFINITION,
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

    def difference(tokens: int, _heads: int) -> sp.Expr:
        flow = conditions.flow(tokens, heads)
        rate = sp.Add(*(flow.energy_rate(head) for head in range(heads)))
        stated = (flow.total_weight(t, 0) * flow.speed_squared(t) for t in range(tokens))
        return rate - sp.Add(*stated) / sp.Integer(tokens) ** 2

    weighted = equation(energy_rate(), sp.Sum(speed(i) ** 2, (i, 1, n)) / n**2)
    return Derivation(
        "dE/dt under softmax with one head, speeds in units of sqrt(Z_i)",
        conditions.setting,
        (Premise(_DEFINITION, "definition of the energy"),),
        (
            local_sums(
                _DEFINITION,
                weighted,
                difference,
                "the chain rule along the flow; speed(i)^2 stands for Z_i |x_i'|^2",
                tokens=3,
                heads=1,
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
            _HEAD,
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
        (Premise(_HEAD, "definition of a head's energy"),),
        tuple(steps),
    )


ORTHOGONAL = Conditions(orthogonal=True)
"""Symmetric, aligned, orthogonal heads on the sphere."""
FLAT_ORTHOGONAL = replace(ORTHOGONAL, spherical=False)
"""The same in the flat flow."""

error = sp.Function("e")
"""<P e_i, x_i'> with e_i the part of the velocity that misaligned values add."""
_score, _norm, _length = (
    sp.Symbol("s", real=True),
    sp.Symbol("mu", positive=True),
    sp.Symbol("R", positive=True),
)
WEIGHT_BOUND = at_most(sp.exp(beta * _score), sp.exp(beta * _norm))
"""w^h_ij <= e^(beta mu), for unit tokens and |M_h| <= mu."""
_speed = sp.Symbol("r", nonnegative=True)
_bound = sp.Symbol("b", nonnegative=True)
loss = sp.Function("loss")
"""r (r - b) of one token with speed r, where b bounds |e_i|."""
MISALIGNED = equation(energy_rate(), sp.Sum(speed(i) ** 2 - error(i), (i, 1, n)) / n)
"""dE/dt for any values: `misalignment_derivation`."""


def quarter_relation(constant: sp.Rational) -> sp.Ge:
    """Return ``r (r - b) >= -constant b^2``; the constant of Theorem 12 is 1/4."""
    return sp.Ge(loss(_speed, _bound), -constant * _bound**2, evaluate=False)


def misalignment_derivation(conditions: Conditions, constant: sp.Rational) -> Derivation:
    """Return the derivation of ``dE/dt = (1/n) sum_i (|x_i'|^2 - <P e_i, x_i'>)`` (Thm 12).

    And of ``r (r - b) >= -b^2/4``, which bounds each term if ``|e_i| <= b``.
    """

    def difference(tokens: int, heads: int) -> sp.Expr:
        flow = conditions.flow(tokens, heads)
        rate = sp.Add(*(flow.energy_rate(head) for head in range(heads)))
        for token in range(tokens):
            moved = flow.token_rate(token)
            added = flow.tangential(token, flow.misalignment(token))
            term = flow.space.inner(moved, moved) - flow.space.inner(added, moved)
            rate -= term / tokens
        return rate

    # Tokens of the flat flow may be longer than 1: their scores reach mu R^2.
    largest = _norm if conditions.spherical else _norm * _length**2
    scores = at_most(beta * _score, beta * largest)
    weights = at_most(sp.exp(beta * _score), sp.exp(beta * largest))
    square = equation(loss(_speed, _bound), _speed * (_speed - _bound))
    completed = equation(loss(_speed, _bound), (_speed - _bound / 2) ** 2 - _bound**2 / 4)
    region = Region({_speed: at_least(0), _bound: at_least(0)})
    return Derivation(
        "dE/dt along the flow, values not aligned",
        conditions.setting,
        (
            Premise(_DEFINITION, "definition of the energy"),
            Premise(scores, "|<x_i, M_h x_j>| <= |x_i| |M_h| |x_j|, tokens of length 1 or R"),
            Premise(square, "one term, with |<P e_i, x_i'>| <= b |x_i'|"),
        ),
        (
            local_sums(
                _DEFINITION,
                MISALIGNED,
                difference,
                "the chain rule along the flow: three sums over tokens, two over heads",
                tokens=3,
                heads=2,
            ),
            monotone(scores, weights, sp.exp, "the weights"),
            rewrite(square, completed, "complete the square", region),
            consequence(completed, quarter_relation(constant), "a square is left", region),
        ),
    )


misaligned_rate = sp.Function("dE_eta")
"""dE/dt of one token (c, s), s/c = eta/2, under M = e_1 e_1^T and V = M + eta e_2 e_1^T."""
_eta = sp.Symbol("eta", positive=True)
STRICT_FAILS = sp.Lt(misaligned_rate(beta, _eta), 0, evaluate=False)


def misaligned_witness(tangent: sp.Expr) -> sp.Expr:
    """Return ``dE/dt`` of one token with ``s/c = tangent``, from the model (Thm 12)."""
    c = 1 / sp.sqrt(1 + tangent**2)
    s = tangent * c
    boost = sp.exp(beta * c**2)
    # f = e^(beta c^2) (c, eta c), and E = e^(beta c^2)/(2 beta).
    radial = boost * c * (c + _eta * s)
    return boost * c * (boost * c - radial * c)


def strict_derivation(multiple: sp.Rational = _HALF) -> Derivation:
    """Return the derivation that for every ``eta > 0`` some token lowers E (Thm 12, strict).

    The token has ``s/c = multiple eta``.
    """
    definition = equation(misaligned_rate(beta, _eta), misaligned_witness(multiple * _eta))
    square = 1 + (multiple * _eta) ** 2
    closed = equation(
        misaligned_rate(beta, _eta),
        -sp.exp(2 * beta / square) * multiple * (1 - multiple) * _eta**2 / square**2,
    )
    region = Region({beta: above(0), _eta: above(0)})
    return Derivation(
        "one token at a small angle, values misaligned by eta",
        "unnormalised, spherical",
        (Premise(definition, "aggregate, velocity and energy from their definitions"),),
        (
            rewrite(definition, closed, "c^4 t (t - eta) at t = s/c", region),
            consequence(closed, STRICT_FAILS, "a negative multiple of eta^2", region),
        ),
    )


cross = sp.Function("cross")
"""sum_{h' != h} <f_i^h, f_i^h'>."""
APPROXIMATE = equation(
    energy_rate(h),
    sp.Sum(
        power(i, h) ** 2
        - shadow(i, h) * (sp.Sum(shadow(i, k), (k, 1, H)) - shadow(i, h))
        + cross(i, h),
        (i, 1, n),
    )
    / n**3,
)
"""dE_h/dt for heads that need not be orthogonal: `cross_derivation`."""


_excess, _allowance, _cross = sp.symbols("m d c", real=True)
left_over = sp.Function("term")
"""One term of dE_h/dt."""
NOT_NEGATIVE = sp.Ge(left_over(_excess, _allowance, _cross), 0, evaluate=False)


def cross_derivation(
    conditions: Conditions, sign: int = 1, share: sp.Rational = sp.S.One
) -> Derivation:
    """Return the derivation of ``dE_h/dt`` with the cross terms of other heads (Thm 39).

    And of the sign of one term, ``share d + m + c``: ``d = delta |u_i^h| sum |u_i^h'|``, m what the
    condition with ``share d`` leaves, c the cross terms, at most d in size.

    Args:
        conditions: what is assumed.
        sign: the sign of the cross terms.
        share: the part of d that the condition asks for.
    """

    def difference(tokens: int, heads: int) -> sp.Expr:
        flow = conditions.flow(tokens, heads)
        stated = sp.S.Zero
        for token in range(tokens):
            own = flow.aggregate(token, 0)
            stated += flow.power(token, 0)
            for other in range(1, heads):
                stated -= flow.shadow(token, 0) * flow.shadow(token, other)
                stated += sign * flow.space.inner(own, flow.aggregate(token, other))
        return flow.energy_rate(0) - stated / sp.Integer(tokens) ** 3

    term = equation(
        left_over(_excess, _allowance, _cross), share * _allowance + _excess + sign * _cross
    )
    region = Region(
        {
            _excess: at_least(0),
            _allowance: at_least(0),
            _cross: between(-_allowance, _allowance),
        }
    )
    return Derivation(
        "dE_h/dt along the flow, heads not orthogonal",
        conditions.setting,
        (
            Premise(_HEAD, "definition of a head's energy"),
            Premise(term, "one term under the condition, with Cauchy-Schwarz: -d <= c <= d"),
        ),
        (
            local_sums(
                _HEAD,
                APPROXIMATE,
                difference,
                "the chain rule along the flow: three sums over tokens, one over the other heads",
                tokens=3,
                heads=2,
            ),
            consequence(term, NOT_NEGATIVE, "the condition outweighs the cross terms", region),
        ),
    )


_p, _r, _up, _down = sp.symbols("p r u v", real=True)
_REGION = Region({_p: at_least(0), _r: at_least(0), _up: at_least(0), _down: at_least(0)})
excess = sp.Function("excess")
"""(|f| sum |a^h'|)^2 - (a sum a^h')^2 at one token."""
_SHADOWS = (_up + _down) / 2
_SIGNED = (_up - _down) / 2
EXCESS = (_p + _r) * _SHADOWS**2 - _r * _SIGNED**2
"""Condition 8 as fixed: the length of the whole aggregate, |f|^2 = p + r."""
SHARP_EXCESS = _r * _SHADOWS**2 - _r * _SIGNED**2
"""Sharp Condition 8: the length of the radial part."""
LITERAL_EXCESS = _SHADOWS**2 - _r * _SIGNED**2
"""The literal reading: no length of the head's own."""
DOMINATES = sp.Ge(excess(_p, _r, _up, _down), 0, evaluate=False)
"""|f| sum |a^h'| is at least |a sum a^h'|, in squares of numbers that are not negative."""


def dominance_derivation(bound: sp.Expr = EXCESS) -> Derivation:
    """Return the derivation of ``|a sum a^h'| <= |f| sum |a^h'|`` at one token (Condition 8).

    ``p = |P f|^2 >= 0`` and ``r = a^2 = <f, x>^2``, so that ``|f|^2 = p + r`` for a unit token; u
    and v are the sums of ``|a^h'| + a^h'`` and of ``|a^h'| - a^h'`` over the other heads, neither
    negative. Both sides are compared by their squares.
    """
    definition = equation(excess(_p, _r, _up, _down), bound)
    return Derivation(
        "the shadows' term is bounded by the left side of Condition 8",
        "unnormalised, spherical",
        (Premise(definition, "|f|^2 = |P f|^2 + <f, x>^2 for a unit token x"),),
        (consequence(definition, DOMINATES, "every coefficient is positive", _REGION),),
    )


shadow_rate = sp.Function("dE_1")
"""dE_1/dt of one token under e_1 e_1^T and e_2 e_2^T, by beta and the share p = c^2."""
_share = sp.Symbol("p", real=True)
_SIDES = (
    (between(0, _HALF, lower_open=True, upper_open=True), sp.Lt),
    (between(_HALF, 1, lower_open=True, upper_open=True), sp.Gt),
)


def smallest_rate(share: sp.Expr) -> sp.Expr:
    """Return ``dE_1/dt`` of one token (c, s), ``c^2 = share``, from the model (Thm 17)."""
    c, s = sp.sqrt(share), sp.sqrt(1 - share)
    # f^1 = exp(beta c^2) c e_1 and f^2 = exp(beta s^2) s e_2, and E_1 = exp(beta c^2)/(2 beta).
    first, second = sp.exp(beta * c**2) * c, sp.exp(beta * s**2) * s
    radial = first * c + second * s
    return sp.exp(beta * c**2) * c * (first - radial * c)


def smallest_relation(side: int) -> sp.Rel:
    """Return the sign of ``dE_1/dt`` for a share below (side 0) or above (side 1) one half."""
    return _SIDES[side][1](shadow_rate(beta, _share), 0, evaluate=False)


def smallest_derivation(side: int, candidate: sp.Expr | None = None) -> Derivation:
    """Return the derivation of the sign of ``dE_1/dt`` for shares on one side of one half.

    ``dE_1/dt = p (1-p) e^(beta p) (e^(beta p) - e^(beta (1-p)))``, for every beta > 0: negative if
    and only if ``0 < c^2 < s^2`` (it is zero at p = 0, 1/2 and 1).

    Args:
        side: 0 for shares below one half, 1 for shares above.
        candidate: another closed form to try.
    """
    wanted = _share * (1 - _share) * sp.exp(2 * beta * _share)
    closed = wanted * (1 - sp.exp(beta * (1 - 2 * _share))) if candidate is None else candidate
    region = Region({beta: above(0), _share: _SIDES[side][0]})
    definition = equation(shadow_rate(beta, _share), smallest_rate(_share))
    after = equation(shadow_rate(beta, _share), closed)
    return Derivation(
        "the smallest witness: one token, two rank-one heads",
        "unnormalised, spherical",
        (Premise(definition, "aggregates, velocity and energy from their definitions"),),
        (
            rewrite(definition, after, "the factors", region),
            consequence(after, smallest_relation(side), "the sign of 1 - 2p decides", region),
        ),
    )
