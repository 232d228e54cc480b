"""The rate of attention entropy for any scores: ``dS/dt = -beta^2 Cov_p(s, s')`` (Thm 27).

With ``w_j = e^(beta s_j)`` and the sums ``Z = sum w_j``, ``B = sum w_j s_j``, ``A = sum w_j s_j'``
and ``C = sum w_j s_j s_j'`` everything is a function of these four, for any number of tokens:
finite sums are differentiated term by term, so identities of one general term suffice.
"""

from __future__ import annotations

import sympy as sp

from symbolic.notation import beta

Z = sp.Symbol("Z", positive=True)
"""Sum of the weights."""
A, B, C = sp.symbols("A B C", real=True)
"""Sums of w_j s_j', of w_j s_j and of w_j s_j s_j'."""

COVARIANCE = C / Z - A * B / Z**2
"""Cov_p(s, s') for p_j = w_j/Z."""
RATE = -(beta**2) * COVARIANCE
"""dS/dt as stated."""

_t, _s, _rate = sp.symbols("t s r", real=True)
_score = sp.Function("s", real=True)(_t)


def _slope(term: sp.Expr) -> sp.Expr:
    """Return the derivative of a term in s along t, in s and its rate r."""
    moved = sp.diff(term.subs(_s, _score), _t)
    return moved.subs(sp.Derivative(_score, _t), _rate).subs(_score, _s)


def differences(stated: sp.Expr = RATE) -> dict[str, sp.Expr]:
    """Return what must vanish identically for ``dS/dt = stated``, each with what it says.

    The first three speak of one term of a sum, the last of the four sums. ``stated`` is in beta and
    the sums.
    """
    weight = sp.exp(beta * _s)
    share = weight / Z
    entropy = sp.log(Z) - beta * B / Z
    # Z' = beta A and B' = A + beta C, by the second and third identity summed over the terms.
    rate = sp.diff(entropy, Z) * beta * A + sp.diff(entropy, B) * (A + beta * C)
    log_share = beta * _s - sp.log(Z)
    return {
        "p_j ln p_j = p_j (beta s_j - ln Z)": sp.exp(log_share) - share,
        "w_j' = beta w_j s_j'": _slope(weight) - beta * weight * _rate,
        "(w_j s_j)' = w_j s_j' + beta w_j s_j s_j'": _slope(weight * _s)
        - weight * _rate
        - beta * weight * _s * _rate,
        "dS/dt from S = ln Z - beta B/Z": rate - stated,
    }
