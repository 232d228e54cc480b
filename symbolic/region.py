"""Stated regions: where a symbol lives, as used by exact sign arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import sympy as sp

from symbolic.errors import InputError

_NOT_REAL = (sp.nan, sp.oo, -sp.oo, sp.zoo, sp.I)


@dataclass(frozen=True)
class Range:
    """An interval of the real line; a missing bound is infinite, bounds may use other symbols."""

    lower: sp.Expr | None = None
    upper: sp.Expr | None = None
    lower_open: bool = False
    upper_open: bool = False

    def __post_init__(self) -> None:
        """Read the bounds exactly; an infinite end is a missing bound.

        Raises:
            InputError: for a bound that is a binary float or not a real expression.
        """
        object.__setattr__(self, "lower", _bound(self.lower, sp.S.NegativeInfinity))
        object.__setattr__(self, "upper", _bound(self.upper, sp.S.Infinity))

    @property
    def bounds(self) -> tuple[sp.Expr, ...]:
        """Return the finite bounds."""
        return tuple(bound for bound in (self.lower, self.upper) if bound is not None)

    @property
    def is_empty(self) -> bool:
        """Tell whether no real number lies between two rational bounds."""
        if self.lower is None or self.upper is None:
            return False
        width = self.upper - self.lower
        if not width.is_Rational:
            return False
        return bool(width < 0 or (width == 0 and (self.lower_open or self.upper_open)))

    def subs(self, symbol: sp.Symbol, value: sp.Expr) -> Range:
        """Return the range with a symbol of its bounds replaced; a bound at a pole is dropped."""
        lower, upper = (
            None if b is None else b.subs(symbol, value) for b in (self.lower, self.upper)
        )
        return Range(
            None if lower is None or lower.has(*_NOT_REAL) else lower,
            None if upper is None or upper.has(*_NOT_REAL) else upper,
            self.lower_open,
            self.upper_open,
        )


def at_least(bound: sp.Expr | int) -> Range:
    """Return the range ``[bound, infinity)``."""
    return Range(lower=bound)


def above(bound: sp.Expr | int) -> Range:
    """Return the range ``(bound, infinity)``."""
    return Range(lower=bound, lower_open=True)


def between(
    lower: sp.Expr | int,
    upper: sp.Expr | int,
    *,
    lower_open: bool = False,
    upper_open: bool = False,
) -> Range:
    """Return the range from ``lower`` to ``upper``, closed unless said otherwise."""
    return Range(lower, upper, lower_open, upper_open)


class Region(Mapping[sp.Symbol, Range]):
    """A set of points, by one range per symbol; a symbol that is not listed is any real number."""

    def __init__(self, ranges: Mapping[sp.Symbol, Range] | None = None) -> None:
        """Store the ranges; the mapping is copied.

        Raises:
            InputError: for a key that is no symbol, an empty range, or bounds that refer to each
                other in a circle.
        """
        self._ranges = dict(ranges or {})
        for symbol, r in self._ranges.items():
            if not isinstance(symbol, sp.Symbol):
                raise InputError(f"{symbol} in a region: only symbols have ranges")
            if r.is_empty:
                raise InputError(f"{symbol}: no number lies from {r.lower} to {r.upper}")
        self.symbols = self._ordered()
        """Every symbol listed or used in a bound, each after those that its bounds use."""

    def __getitem__(self, symbol: sp.Symbol) -> Range:
        """Return the range of ``symbol``."""
        r: Range = self._ranges[symbol]
        return r

    def __iter__(self) -> Iterator[sp.Symbol]:
        """Iterate over the symbols in the order they were listed."""
        return iter(self._ranges)

    def __len__(self) -> int:
        """Return the number of symbols listed."""
        return len(self._ranges)

    def having(self, ranges: Mapping[sp.Symbol, Range]) -> Region:
        """Return this region with some ranges added or replaced."""
        return Region({**self._ranges, **ranges})

    def __str__(self) -> str:
        """Return the region as text, such as ``H >= 2, beta > 0``."""
        parts = []
        for symbol, r in self._ranges.items():
            left = "" if r.lower is None else f"{r.lower} {'<' if r.lower_open else '<='} "
            right = "" if r.upper is None else f" {'<' if r.upper_open else '<='} {r.upper}"
            if left and not right:
                parts.append(f"{symbol} {'>' if r.lower_open else '>='} {r.lower}")
            else:
                parts.append(f"{left}{symbol}{right}" + (" real" if not (left or right) else ""))
        return ", ".join(parts)

    def _ordered(self) -> tuple[sp.Symbol, ...]:
        done: list[sp.Symbol] = []
        waiting = {s: _symbols_of(r) for s, r in self._ranges.items()}
        free = set().union(*waiting.values()) - set(waiting)
        done += sorted(free, key=sp.default_sort_key)
        while waiting:
            ready = [s for s, needed in waiting.items() if needed <= set(done)]
            if not ready:
                names = ", ".join(map(str, waiting))
                raise InputError(f"the bounds of {names} refer to each other in a circle")
            done.append(ready[0])
            del waiting[ready[0]]
        return tuple(done)


def _symbols_of(r: Range) -> set[sp.Symbol]:
    return set().union(*(bound.free_symbols for bound in r.bounds))


def _bound(value: object, missing: sp.Expr) -> sp.Expr | None:
    """Return a bound as an exact expression, None for none."""
    if value is None:
        return None
    try:
        bound = sp.sympify(value, strict=True)
    except sp.SympifyError:
        bound = None
    if bound == missing:
        return None
    if not isinstance(bound, sp.Expr) or bound.has(sp.Float, *_NOT_REAL):
        raise InputError(f"bound {value} of a range: pass an exact real expression")
    return bound


EVERYWHERE = Region()
