"""The energy under misaligned values: identity, bound, and why it can fall (Thm 12)."""

from __future__ import annotations

import sympy as sp

from symbolic.derivation import Derivation, Premise
from symbolic.energy_balance import (
    ENERGY,
    Conditions,
    energy_rate,
    i,
    speed,
)
from symbolic.general_flow import local_sums
from symbolic.notation import beta, n
from symbolic.region import Region, above, at_least
from symbolic.rules import at_most, consequence, equation, monotone, rewrite

_HALF = sp.Rational(1, 2)

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
            Premise(ENERGY, "definition of the energy"),
            Premise(scores, "|<x_i, M_h x_j>| <= |x_i| |M_h| |x_j|, tokens of length 1 or R"),
            Premise(square, "one term, with |<P e_i, x_i'>| <= b |x_i'|"),
        ),
        (
            local_sums(
                ENERGY,
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
