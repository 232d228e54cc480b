"""Any heads on any tokens: aggregates, velocities and energy rates over formal vectors.

The tokens and their images under the heads are named vectors with a Gram matrix of free symbols, so
that an identity found here holds in every dimension d, for all matrices that meet the conditions.
The step from given numbers of tokens and heads to all of them is `local_sums`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import sympy as sp

from symbolic.answer import Answer
from symbolic.derivation import Checked, Step
from symbolic.flow import Model
from symbolic.notation import beta
from symbolic.vectors import Space, combined

Vector = tuple[sp.Expr, ...]


@dataclass(frozen=True)
class GeneralFlow:
    """The flow of given numbers of tokens and heads, over formal vectors.

    Attributes:
        n: number of tokens.
        heads: number of heads.
        symmetric: score symmetry, ``M_h = M_h^T`` (Condition 3).
        aligned: value alignment, ``V_h = M_h`` (Condition 4).
        orthogonal: orthogonal heads, ``M_h' M_h = 0`` for two heads (with Condition 3).
        spherical: whether tokens are unit vectors and move on the sphere; else the flow is flat.
        model: the model of attention. Weights are free symbols: under softmax those before the
            division by a sum that is a symbol too.
    """

    n: int
    heads: int
    symmetric: bool = True
    aligned: bool = True
    orthogonal: bool = False
    spherical: bool = True
    model: Model = Model.UNNORMALISED

    @cached_property
    def _names(self) -> tuple[tuple[str, int, int], ...]:
        """Return the named vectors: tokens, a free direction, images of tokens under the heads."""
        kinds = ["M"]
        kinds += [] if self.symmetric else ["Mt"]
        kinds += [] if self.aligned else ["V"]
        tokens = [("x", 0, i) for i in range(self.n)]
        images = list(product(kinds, range(self.heads), range(self.n)))
        return (*tokens, ("y", 0, 0), *images)

    @cached_property
    def space(self) -> Space:
        """Return the space spanned by tokens, direction and images."""
        size = len(self._names)
        return Space(sp.ImmutableMatrix(size, size, lambda a, b: self._overlap(a, b)))

    def _overlap(self, a: int, b: int) -> sp.Expr:
        (kind, h, i), (other, k, j) = sorted((self._names[a], self._names[b]), reverse=True)
        # In this order the direction y and the tokens x come first, then images under V, Mt, M.
        if kind == other == "x":
            return sp.S.One if i == j and self.spherical else _symbol("g", *sorted((i, j)))
        if kind == "x" and other in ("M", "Mt"):
            return self.score(k, i, j) if other == "M" else self.score(k, j, i)
        images = {kind, other} <= {"M", "Mt"}
        if images and self.orthogonal and self.symmetric and h != k:
            return sp.S.Zero
        if kind == other == "M" and self.symmetric:
            # <M_h x_i, M_k x_j> = <x_i, M_h M_k x_j>.
            return _symbol("q", *sorted(((h, i), (k, j))))
        return _symbol("p", (kind, h, i), (other, k, j))

    def score(self, h: int, i: int, j: int) -> sp.Expr:
        """Return ``<x_i, M_h x_j>``."""
        return _symbol("s", h, *(sorted((i, j)) if self.symmetric else (i, j)))

    def weight(self, h: int, i: int, j: int) -> sp.Expr:
        """Return the symbol for ``w^h_ij`` (relu: for ``max(0, <x_i, M_h x_j>)``)."""
        return sp.Symbol(f"w_{self.score(h, i, j).name}", positive=True)

    def token(self, i: int) -> Vector:
        """Return ``x_i``."""
        return self._named("x", 0, i)

    @property
    def direction(self) -> Vector:
        """Return a vector about which nothing is known."""
        return self._named("y", 0, 0)

    def _named(self, kind: str, h: int, i: int) -> Vector:
        return self.space.basis(self._names.index((kind, h, i)))

    def aggregate(self, i: int, h: int) -> Vector:
        """Return ``f_i^h``."""
        kind = "M" if self.aligned else "V"
        scale = 1 / self.total_weight(i, h) if self.model is Model.SOFTMAX else sp.S.One
        return combined(
            [scale * self.weight(h, i, j) for j in range(self.n)],
            [self._named(kind, h, j) for j in range(self.n)],
        )

    def total_weight(self, i: int, h: int) -> sp.Expr:
        """Return the symbol for ``sum_k w^h_ik``, by which softmax divides."""
        return sp.Symbol(f"z_{h}_{i}", positive=True)

    def velocity(self, i: int) -> Vector:
        """Return ``v_i``."""
        factor = sp.S.One if self.model is Model.SOFTMAX else sp.Rational(1, self.n)
        heads = range(self.heads)
        return combined([factor for _ in heads], [self.aggregate(i, h) for h in heads])

    def misalignment(self, i: int) -> Vector:
        """Return ``e_i = (1/n) sum_h sum_j w^h_ij (V_h - M_h) x_j``, zero for aligned values."""
        terms = list(product(range(self.heads), range(self.n)))
        kind = "M" if self.aligned else "V"
        weights = [self.weight(h, i, j) / self.n for h, j in terms]
        return combined(
            [*weights, *(-w for w in weights)],
            [self._named(name, h, j) for name in (kind, "M") for h, j in terms],
        )

    def tangential(self, i: int, vector: Vector) -> Vector:
        """Return ``P_{x_i} u`` on the sphere, ``u`` itself in the flat flow."""
        return self.space.projected(self.token(i), vector) if self.spherical else vector

    def token_rate(self, i: int) -> Vector:
        """Return ``x_i'``."""
        return self.tangential(i, self.velocity(i))

    def shadow(self, i: int, h: int) -> sp.Expr:
        """Return the radial shadow ``a_i^h``."""
        return self.space.inner(self.aggregate(i, h), self.token(i))

    def power(self, i: int, h: int) -> sp.Expr:
        """Return ``|P f_i^h|^2`` (flat: ``|f_i^h|^2``)."""
        image = self.tangential(i, self.aggregate(i, h))
        return self.space.inner(image, image)

    def speed_squared(self, i: int) -> sp.Expr:
        """Return ``|x_i'|^2``."""
        return self.space.inner(self.token_rate(i), self.token_rate(i))

    def energy_change(self, h: int, rates: dict[int, Vector]) -> sp.Expr:
        """Return how fast ``E_h`` changes if token i moves at the rate ``rates[i]``, others rest.

        By the chain rule: ``E_h = (1/(2 beta n^2)) sum_ij exp(beta <x_i, M_h x_j>)``. Under relu
        the energy is ``(1/(4 n^2)) sum_ij max(0, <x_i, M_h x_j>)^2``.
        """
        score = sp.Dummy("score", positive=True)
        if self.model is Model.RELU:
            # Where the score is not positive, both the weight and the slope vanish.
            weight_of_score, term = score, score**2 / (4 * self.n**2)
        else:
            weight_of_score = sp.exp(beta * score)
            term = weight_of_score / (2 * beta * self.n**2)
        slope = sp.diff(term, score) / weight_of_score
        total = []
        transposed = "M" if self.symmetric else "Mt"
        for i, j in product(range(self.n), repeat=2):
            change = sp.S.Zero
            if i in rates:
                change += self.space.inner(rates[i], self._named("M", h, j))
            if j in rates:
                change += self.space.inner(self._named(transposed, h, i), rates[j])
            total.append(slope * self.weight(h, i, j) * change)
        return sp.Add(*total)

    def energy_rate(self, h: int) -> sp.Expr:
        """Return ``dE_h/dt`` along the flow."""
        return self.energy_change(h, {i: self.token_rate(i) for i in range(self.n)})


def _symbol(name: str, *indices: object) -> sp.Symbol:
    marks = "_".join(str(part) for index in indices for part in _flat(index))
    return sp.Symbol(f"{name}_{marks}", real=True)


def _flat(index: object) -> tuple[object, ...]:
    return index if isinstance(index, tuple) else (index,)


def local_sums(
    before: sp.Eq,
    after: sp.Rel,
    difference: Callable[[int, int], sp.Expr],
    reason: str,
    *,
    tokens: int,
    heads: int,
) -> Step:
    """Return a step between sums over tokens and heads that agree for any number of them.

    Let the difference of the two sides, times a power of n, be a sum over at most so many token
    indices and head indices, each term made of the data of those tokens and heads alone. Group the
    terms by the set of tokens and heads that they use. The group of a set is, by inclusion and
    exclusion, a signed sum of the differences of its subsets taken alone. So if the difference
    vanishes identically for all sizes up to the number of indices, every group vanishes, and with
    them the difference for every n and H. One size more is computed of each, where a bound that is
    too low shows itself.

    Args:
        before: the definition, for the reader.
        after: the relation reached, for the reader.
        difference: takes numbers of tokens and of heads, returns the difference of the two sides
            over formal vectors.
        reason: why so many indices suffice.
        tokens: bound of the number of token indices in a term.
        heads: bound of the number of head indices in a term.
    """

    def check() -> Checked:
        for n, count in product(range(1, tokens + 2), range(1, heads + 2)):
            if sp.expand(difference(n, count)) != 0:
                where = f"{n} tokens and {count} heads"
                return Checked(Answer.UNDECIDED, f"the two sides are not the same at {where}")
        return Checked(
            Answer.YES,
            f"same polynomial in free symbols for up to {tokens + 1} tokens, {heads + 1} heads",
        )

    return Step("local sums", before, after, reason, check)
