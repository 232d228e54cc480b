"""The family of lists that refutes super-additivity."""

from __future__ import annotations

import mpmath
import sympy as sp

from symbolic.notation import H, n
from symbolic.super_additivity import EXPRESSION, SYMBOL, derivation, x


def test_the_advantage_is_derived_and_positive() -> None:
    chain = derivation()
    assert chain.is_closed
    assert chain.reaches(sp.Gt(SYMBOL, 0, evaluate=False))


def test_false_advantages_do_not_close() -> None:
    for wrong in (-EXPRESSION, EXPRESSION / 2, EXPRESSION * H, EXPRESSION + 1, EXPRESSION * x):
        assert not derivation(wrong).is_closed


def test_the_closed_form_is_the_difference_of_the_rates() -> None:
    for heads, tokens, score in ((2, 2, 5), (3, 64, 1), (10, 3, 7)):
        with mpmath.workdps(40):

            def rate(y: mpmath.mpf, tokens: int = tokens) -> mpmath.mpf:
                return 2 * y / (mpmath.exp(y) + tokens - 1)

            mean = mpmath.mpf(score)
            gain = heads * rate(mean) - (heads - 1) * rate(heads * mean / (heads - 1))
            stated = EXPRESSION.subs({H: heads, n: tokens, x: score})
            assert gain > 0
            assert abs(mpmath.mpf(str(sp.N(stated, 38))) / gain - 1) < mpmath.mpf(10) ** -25
