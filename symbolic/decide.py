"""Exact decisions: is an expression identically zero, which sign has it, does a relation hold.

`is_zero` is sound and incomplete. YES: the normal form over the tower of generators is zero, so the
expression vanishes wherever all its parts have real values. NO: it is not identically zero (where a
radicand is negative: as a complex function), by elimination of the roots and the independence of
the remaining generators (the symbols; exponentials of distinct monomials and logarithms of distinct
irreducible polynomials, Ax 1971; e, by Lindemann-Weierstrass; logarithms of primes in linear
position, by Baker), on a region that contains an open set (for an integer symbol: an unbounded set
of integers, which is more than the zeros of such a function). UNDECIDED: neither was shown.

`sign_of` likewise speaks of the points where all parts have real values.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from math import prod

import sympy as sp
from sympy.core.relational import Relational

from symbolic.answer import Answer
from symbolic.errors import InputError
from symbolic.positivity import Sign
from symbolic.region import EVERYWHERE, Range, Region
from symbolic.tower import Generator, Kind, Tower, assumed_range, exponential_range

# Roots are eliminated up to this product of orders; BPSW has no counterexample below 2^64.
_ORDER_LIMIT = 32
_CERTAIN_PRIMES = 2**64


_Ranges = tuple[tuple[sp.Symbol, Range], ...]


def _key(region: Region) -> _Ranges:
    return tuple(region.items())


def is_zero(expression: sp.Expr, region: Region = EVERYWHERE) -> Answer:
    """Decide whether ``expression`` vanishes identically on ``region``.

    Returns:
        YES, NO ("not identically zero") or UNDECIDED.

    Raises:
        InputError: for binary floats and for functions without an exact rule.
    """
    return _zero_answer(exact_expression(expression), _key(region))


# Derivations and their mutants put many of the same questions.
@lru_cache(maxsize=10_000)
def _zero_answer(expression: sp.Expr, ranges: _Ranges) -> Answer:
    region = Region(dict(ranges))
    answer = _is_zero(expression, region)
    if answer is Answer.NO and not _is_open(region, expression):
        return Answer.UNDECIDED
    if answer is not Answer.UNDECIDED:
        return answer
    # An identity in a fresh variable is an identity in the exponential it stands for.
    general, wider = _with_whole_exponentials(expression, region)
    wanted = general != expression and _is_zero(general, wider) is Answer.YES
    return Answer.YES if wanted else Answer.UNDECIDED


def exact_expression(expression: object) -> sp.Expr:
    """Return an exact expression; text is not read, since SymPy would run it.

    Raises:
        InputError: for anything else, and for a binary float in it, which SymPy may cancel unseen.
    """
    try:
        exact = sp.sympify(expression, strict=True)
    except sp.SympifyError:
        exact = None
    if not isinstance(exact, sp.Expr):
        raise InputError(f"{expression!r}: not an exact expression; pass a SymPy expression")
    if exact.has(sp.Float):
        raise InputError(f"binary float in {exact}: pass a fraction or a decimal string instead")
    return exact


def _is_zero(expression: sp.Expr, region: Region) -> Answer:
    tower = Tower(region)
    numerator = tower.numerator(tower.convert(expression))
    if numerator == 0 or _zero_by_products(numerator, tower) is Answer.YES:
        return Answer.YES
    return Answer.NO if _is_independent(numerator, tower) else Answer.UNDECIDED


def sign_of(expression: sp.Expr, region: Region = EVERYWHERE) -> Sign:
    """Return what is proved of the sign of ``expression`` everywhere on ``region``.

    Raises:
        InputError: for binary floats and for functions without an exact rule.
    """
    return _sign_answer(exact_expression(expression), _key(region))


@lru_cache(maxsize=10_000)
def _sign_answer(expression: sp.Expr, ranges: _Ranges) -> Sign:
    region = Region(dict(ranges))
    sign = _sign_of(*_with_whole_exponentials(expression, region))
    return _sign_of(expression, region) if sign is Sign.UNDECIDED else sign


def is_continuous(expression: sp.Expr, region: Region = EVERYWHERE) -> bool:
    """Tell whether ``expression`` is shown to be real and continuous everywhere on ``region``.

    Raises:
        InputError: for binary floats and for functions without an exact rule.
    """
    return Tower(region).is_continuous(exact_expression(expression))


def _sign_of(expression: sp.Expr, region: Region) -> Sign:
    tower = Tower(region)
    return tower.sign(tower.convert(expression))


def _with_whole_exponentials(expression: sp.Expr, region: Region) -> tuple[sp.Expr, Region]:
    """Replace each exponential, unsplit, by a fresh variable, in the range its exponent implies."""
    found = sorted(expression.atoms(sp.exp), key=sp.default_sort_key)
    contents = {e: _content(e.args[0]) for e in found}
    ranges: dict[sp.Symbol, Range] = {}
    replacements: dict[sp.Expr, sp.Expr] = {}
    for primitive in dict.fromkeys(primitive for _, primitive in contents.values()):
        # Multiples of one exponent become powers of one variable.
        multiples = {e: c for e, (c, other) in contents.items() if other == primitive}
        unit = sp.Rational(1, sp.ilcm(1, *(c.q for c in multiples.values())))
        fresh = sp.Dummy("e")
        ranges[fresh] = exponential_range(sign_of(primitive, region))
        replacements |= {e: fresh ** (c / unit) for e, c in multiples.items()}
    return expression.xreplace(replacements), region.having(ranges)


def _content(exponent: sp.Expr) -> tuple[sp.Rational, sp.Expr]:
    """Return (c, p) with ``exponent = c*p`` and p primitive, without a leading minus sign."""
    content, primitive = exponent.as_content_primitive()
    if primitive.could_extract_minus_sign():
        return -content, -primitive
    return content, primitive


def holds(relation: sp.Rel, region: Region = EVERYWHERE) -> Answer:
    """Decide whether a relation holds everywhere on ``region``.

    An equation is settled by `is_zero`, anything else by `sign_of`; NO for an inequality means that
    its negation holds everywhere.

    Raises:
        InputError: for what is no relation, and as `is_zero`.
    """
    if not isinstance(relation, Relational):
        raise InputError(f"{relation}: not a relation (build it with evaluate=False)")
    difference = exact_expression(relation.lhs) - exact_expression(relation.rhs)
    if isinstance(relation, sp.Equality):
        return is_zero(difference, region)
    sign = sign_of(difference, region)
    if isinstance(relation, sp.Unequality):
        if sign.is_strict:
            return Answer.YES
        return Answer.NO if sign is Sign.ZERO else Answer.UNDECIDED
    if isinstance(relation, sp.StrictLessThan | sp.LessThan):
        sign = sign.flipped
    strict = isinstance(relation, sp.StrictLessThan | sp.StrictGreaterThan)
    if sign is Sign.POSITIVE or (not strict and sign.is_nonnegative):
        return Answer.YES
    if sign is Sign.NEGATIVE or (strict and sign.flipped.is_nonnegative):
        return Answer.NO
    return Answer.UNDECIDED


def _is_open(region: Region, expression: sp.Expr) -> bool:
    """Tell whether the region is shown to contain an open set, for integers an unbounded one."""
    symbols = dict.fromkeys((*region.symbols, *expression.free_symbols))
    for symbol in symbols:
        limits = (region.get(symbol, Range()), assumed_range(symbol))
        lower = [r.lower for r in limits if r.lower is not None]
        upper = [r.upper for r in limits if r.upper is not None]
        if symbol.is_integer and lower and upper:
            return False
        widths = (high - low for high, low in product(upper, lower))
        if any(sign_of(width, region) is not Sign.POSITIVE for width in widths):
            return False
    return True


def _zero_by_products(numerator: sp.Expr, tower: Tower) -> Answer:
    """Settle a polynomial linear in logarithms: sum q_i log(a_i) = 0 if prod a_i^q_i = 1."""
    logarithms = [g.symbol for g in tower.generators if g.kind is Kind.LOGARITHM]
    others = sorted(numerator.free_symbols - set(logarithms), key=tower.symbols.index)
    # One condition for each monomial of the other generators.
    conditions = sp.Poly(numerator, *others).coeffs() if others else [numerator]
    for condition in conditions:
        ratio = tower.product_of_logarithms(condition)
        if ratio is None or tower.numerator(ratio - 1) != 0:
            return Answer.UNDECIDED
    return Answer.YES


def _is_independent(numerator: sp.Expr, tower: Tower) -> bool:
    """Tell whether a non-zero reduced numerator is certainly a non-zero function."""
    involved = _involved(numerator, tower)
    roots = [g for g in involved if g.kind is Kind.ROOT]
    if not _has_norm(numerator, involved):
        return False
    used = [g for g in involved if g.kind is not Kind.ROOT]
    plain = {g.symbol for g in tower.generators if g.kind is Kind.SYMBOL}
    constant_logs: list[sp.Symbol] = []
    arguments: list[sp.Expr] = []
    for generator in used:
        if generator.kind is Kind.SYMBOL:
            continue
        argument = generator.argument
        over_symbols = argument.free_symbols <= plain and sp.denom(sp.together(argument)) == 1
        if generator.kind is Kind.EXPONENTIAL and over_symbols:
            if argument.as_coeff_Mul()[0] != 1:
                return False
            continue
        if generator.kind is Kind.LOGARITHM and over_symbols and argument.free_symbols:
            _, factors = sp.factor_list(argument)
            if len(factors) != 1 or factors[0][1] != 1 or factors[0][0] in arguments:
                return False
            arguments.append(factors[0][0])
            continue
        small = argument.is_Integer and argument < _CERTAIN_PRIMES
        if generator.kind is Kind.LOGARITHM and small and sp.isprime(argument):
            constant_logs.append(generator.symbol)
            continue
        return False
    if not constant_logs:
        return True
    has_e = any(g.kind is Kind.EXPONENTIAL and g.argument == 1 for g in used)
    return not roots and not has_e and sp.Poly(numerator, *constant_logs).total_degree() <= 1


def _involved(numerator: sp.Expr, tower: Tower) -> list[Generator]:
    """Return the generators that occur in ``numerator`` or in radicands of such, earliest first."""
    symbols = set(numerator.free_symbols)
    for generator in reversed(tower.generators):
        if generator.kind is Kind.ROOT and generator.symbol in symbols:
            symbols |= generator.argument.free_symbols
    return [g for g in tower.generators if g.symbol in symbols]


def _has_norm(numerator: sp.Expr, involved: list[Generator]) -> bool:
    """Tell whether a polynomial is shown to stay non-zero when the roots are eliminated.

    Its norm is the product over all choices of the roots, a polynomial in the other generators;
    with numbers put in for these, it is a number, and one that is not zero is enough.
    """
    roots = [g for g in involved if g.kind is Kind.ROOT]
    if not roots:
        return True
    if prod(g.order for g in roots) > _ORDER_LIMIT:
        return False
    others = [g.symbol for g in involved if g.kind is not Kind.ROOT]
    values = {symbol: sp.prime(7 + 3 * index) for index, symbol in enumerate(others)}
    norm = numerator.subs(values)
    for generator in reversed(roots):
        top, bottom = sp.fraction(sp.together(generator.argument.subs(values)))
        # A pole, or a leading coefficient that may vanish.
        if not bottom.is_Rational or bottom == 0:
            return False
        relation = bottom * generator.symbol**generator.order - top
        norm = sp.expand(sp.resultant(norm, relation, generator.symbol))
    return bool(norm != 0)
