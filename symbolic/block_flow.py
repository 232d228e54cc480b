"""One block of orthogonal heads, word for word: tokens that are equiangular in it, one head in it.

The heads are ``lambda_h P_h`` with projectors P_h on mutually orthogonal blocks, and the tokens
``x_i = sum_h sqrt(s_h) y_i^h``: in each block unit vectors y_i^h of one overlap rho_h, the same
shares s_h for all tokens, of sum 1. In its block a head acts like a scalar head on the parts
``P_h x_i``; of all other heads it feels only the sum of their radial shadows, through the
projection that keeps the tokens on the sphere. So one block speaks for any number of heads.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import sympy as sp

from symbolic.flow import Model, ScalarFlow, Vector
from symbolic.notation import beta, lam, n
from symbolic.region import Range, Region, at_least, between
from symbolic.vectors import Space, combined

share = sp.Symbol("s_h", positive=True)
"""The share s_h = |P_h x_i|^2 of head h in a token."""
rho = sp.Symbol("rho_h", real=True)
"""The overlap rho_h of two different tokens' directions in the block of head h."""
others = sp.Symbol("other_shadow_sum", real=True)
"""The sum of the radial shadows of all other heads."""
share_motion = sp.Symbol("share_rate", real=True)
"""The rate s_h'."""
overlap_motion = sp.Symbol("block_overlap_rate", real=True)
"""The rate rho_h'."""

REGION = Region(
    {
        n: at_least(2),
        beta: at_least(0),
        lam: Range(),
        share: between(0, 1, lower_open=True),
        rho: between(-1 / (n - 1), 1, lower_open=True, upper_open=True),
        others: Range(),
    }
)

TIME_SCALES = {Model.UNNORMALISED: 1 / n, Model.SOFTMAX: sp.S.One, Model.RELU: 1 / n}
"""The factor of the aggregates' sum in the velocity."""


@dataclass(frozen=True)
class BlockFlow:
    """Head h at tokens of this regime, beside any other heads in other blocks.

    The vectors are combinations of three families: the parts ``P_h x_i`` in the block, the rest
    ``z_i`` of each token, and the sum ``F_i`` of the other heads' aggregates. The last two are
    orthogonal to the block, and ``<F_i, x_i>`` is the sum of the other shadows. Their other inner
    products are left open; no result knows them.

    Attributes:
        model: one of the three models.
        n: the number of tokens.
    """

    model: Model
    n: int

    @cached_property
    def head(self) -> ScalarFlow:
        """Return head h as a scalar head on the parts in its block."""
        gram = sp.ImmutableMatrix(self.n, self.n, lambda i, j: share if i == j else share * rho)
        return ScalarFlow(self.model, gram, (lam,), beta)

    @cached_property
    def space(self) -> Space:
        """Return the space spanned by the three families, in this order."""
        zz, zf, ff, f_square = sp.symbols("z_i.z_j z_i.F_j F_i.F_j F_i.F_i", real=True)
        rest = _family(self.n, 1 - share, zz)
        mixed = _family(self.n, others, zf)
        outside = sp.BlockMatrix([[rest, mixed], [mixed, _family(self.n, f_square, ff)]])
        return Space(sp.ImmutableMatrix(sp.diag(self.head.gram, outside.as_explicit())))

    def token(self, i: int) -> Vector:
        """Return ``x_i``."""
        return combined([sp.S.One] * 2, [self.part(i), self.space.basis(self.n + i)])

    def part(self, i: int) -> Vector:
        """Return ``P_h x_i``."""
        return self.space.basis(i)

    def aggregate(self, i: int) -> Vector:
        """Return ``f_i^h``."""
        return self._in_space(self.head.aggregate(i, 0))

    def _in_space(self, in_block: Vector) -> Vector:
        return in_block + (sp.S.Zero,) * (2 * self.n)

    def token_rate(self, i: int) -> Vector:
        """Return ``x_i' = P_{x_i} v_i``."""
        own = self._in_space(self.head.velocity(i))
        foreign = self.space.basis(2 * self.n + i)
        velocity = combined([sp.S.One, TIME_SCALES[self.model].subs(n, self.n)], [own, foreign])
        return self.space.projected(self.token(i), velocity)

    def pair_rate(self, i: int, j: int) -> sp.Expr:
        """Return the rate of ``<x_i, P_h x_j>``: of the share for i = j."""
        inner = self.space.inner
        return inner(self.token_rate(i), self.part(j)) + inner(self.part(i), self.token_rate(j))

    def shadow(self, i: int) -> sp.Expr:
        """Return ``a_i^h = <f_i^h, x_i>``."""
        return self.space.inner(self.aggregate(i), self.token(i))

    def square(self, i: int) -> sp.Expr:
        """Return ``|f_i^h|^2``."""
        return self.space.inner(self.aggregate(i), self.aggregate(i))

    def power(self, i: int) -> sp.Expr:
        """Return ``|P f_i^h|^2``."""
        part = self.space.projected(self.token(i), self.aggregate(i))
        return self.space.inner(part, part)

    def energy(self) -> sp.Expr:
        """Return ``E_h = (1/(2 beta n^2)) sum_ij e^(beta <x_i, M_h x_j>)``."""
        scores = [lam * overlap for overlap in self.head.gram]
        return sp.Add(*(sp.exp(beta * score) for score in scores)) / (2 * beta * self.n**2)

    def covariance(self) -> sp.Expr:
        """Return ``Cov_p(s_j, s_j')`` of token 1 for softmax weights p and scores s_j."""
        head = ScalarFlow(Model.SOFTMAX, self.head.gram, (lam,), beta)
        weights = head.weights(0, 0)
        scores = [lam * head.gram[0, j] for j in range(self.n)]
        pair_motion = rho * share_motion + share * overlap_motion
        rates = [lam * (pair_motion if j else share_motion) for j in range(self.n)]

        def mean(values: list[sp.Expr]) -> sp.Expr:
            return sp.Add(*(p * v for p, v in zip(weights, values, strict=True)))

        both = mean([a * b for a, b in zip(scores, rates, strict=True)])
        return both - mean(scores) * mean(rates)


def _family(size: int, diagonal: sp.Expr, other: sp.Expr) -> sp.Matrix:
    return sp.Matrix(size, size, lambda i, j: diagonal if i == j else other)
