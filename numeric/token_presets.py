"""Heads and tokens together, by name: the regimes of the mathematics."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from numeric.heads import Heads, block_heads, positive_integer, scalar_heads
from numeric.token_start import (
    Tokens,
    block_equiangular_tokens,
    checked_counts,
    equiangular_tokens,
    orthonormal_tokens,
    random_tokens,
)
from symbolic.errors import InputError


def orthonormal(lam: object, n: int, d: int | None = None) -> tuple[Heads, Tokens]:
    """Return scalar heads of strengths ``lam`` and n orthonormal tokens of dimension d >= n.

    Raises:
        InputError: for numbers outside their domains; d is n if left out.
    """
    tokens = orthonormal_tokens(n, d)
    return scalar_heads(lam, tokens.d), tokens


def equiangular(lam: object, n: int, gamma: object, d: int | None = None) -> tuple[Heads, Tokens]:
    """Return scalar heads of strengths ``lam`` and n tokens with all overlaps ``gamma``.

    Raises:
        InputError: for numbers outside their domains; d is n if left out.
    """
    tokens = equiangular_tokens(n, gamma, d)
    return scalar_heads(lam, tokens.d), tokens


def random(lam: object, n: int, d: int, seed: int) -> tuple[Heads, Tokens]:
    """Return scalar heads of strengths ``lam`` and n tokens drawn from the sphere by a seed.

    Raises:
        InputError: for numbers outside their domains.
    """
    tokens = random_tokens(n, d, seed)
    return scalar_heads(lam, tokens.d), tokens


def orthogonal_heads(
    lam: Sequence[object] | str,
    n: int,
    shares: Sequence[object] | None = None,
    overlaps: Sequence[object] | None = None,
    seed: int | None = None,
) -> tuple[Heads, Tokens]:
    """Return heads ``lambda_h P_h`` on orthogonal blocks of n coordinates each, and n tokens.

    Args:
        lam: strengths, one for each head.
        n: number of tokens.
        shares: s_h for each head, of sum 1; equal if left out.
        overlaps: of the tokens' parts in each block; 0 if left out.
        seed: draw the tokens from the sphere instead; then there are no shares and overlaps.

    Raises:
        InputError: for numbers outside their domains, and a seed beside shares or overlaps.
    """
    strengths = scalar_heads(lam, 1).strengths
    assert strengths is not None
    count = len(strengths)
    checked_counts(n, count * positive_integer(n, "n"))
    heads = block_heads(strengths, [n] * count)
    if seed is not None:
        if shares is not None or overlaps is not None:
            raise InputError(f"seed: {seed} given beside shares or overlaps; give one or the other")
        return heads, random_tokens(n, heads.d, seed)
    parts = [Fraction(1, count)] * count if shares is None else shares
    rhos = [0] * count if overlaps is None else overlaps
    for name, given in (("shares", parts), ("overlaps", rhos)):
        if len(given) != count:
            raise InputError(
                f"{name}: {len(given)} given for {count} strengths; give one for each head"
            )
    return heads, block_equiangular_tokens(n, parts, rhos)


PRESETS = {
    "orthonormal": orthonormal,
    "equiangular": equiangular,
    "random": random,
    "orthogonal-heads": orthogonal_heads,
}
"""The functions above by their names on the command line."""
