"""The tower of generators behind the exact zero test and the exact sign argument.

An expression is written as a rational function of *generators*: the symbols, and one new symbol for
each exponential, root and logarithm that occurs. Roots and logarithms are split along the
irreducible factors whose sign is known on the stated region, exponentials along the monomials of
their exponents, so that the relations ``sqrt(a*b) = sqrt(a)*sqrt(b)``,
``exp(a + b) = exp(a)*exp(b)`` and ``log(a*b) = log(a) + log(b)`` hold by construction. What remains
of relations, ``r**q = a`` for a root, is used to reduce polynomials. Radicands and arguments of
logarithms are taken to be positive and denominators non-zero: the caller's formula is stated where
it and all its parts have real values. A power with any other exponent is a logarithm's exponential
where its base is shown to be positive, and opaque where it is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import reduce
from math import comb
from operator import mul

import sympy as sp
from sympy.codegen.cfunctions import log1p
from sympy.core.function import AppliedUndef

from symbolic.errors import InputError
from symbolic.positivity import Sign, number_sign, polynomial_sign
from symbolic.region import Range, Region, above, at_least, between

# Integers are split into primes up to this bound; a larger composite is kept whole, which is sound.
_PRIME_LIMIT = 10**5
# Larger powers stay opaque, and products of larger powers are not formed.
_POWER_LIMIT = 500
_TERMS_LIMIT = 2000


class Kind(Enum):
    """What a generator stands for."""

    SYMBOL = "symbol"
    CONSTANT = "constant"
    EXPONENTIAL = "exponential"
    ROOT = "root"
    LOGARITHM = "logarithm"
    OPAQUE = "opaque"


@dataclass(frozen=True)
class Generator:
    """A generator: its symbol, its kind and its argument as an expression in earlier generators.

    ``order`` is q for a root with ``symbol**q = argument``, else 1.
    """

    symbol: sp.Symbol
    kind: Kind
    argument: sp.Expr
    order: int = 1


class Tower:
    """Generators met so far, for expressions over one region."""

    def __init__(self, region: Region) -> None:
        """Start an empty tower over ``region``."""
        self.region = region
        self.generators: list[Generator] = []
        self._by_key: dict[tuple[object, ...], Generator] = {}
        self._ranges: dict[sp.Symbol, Range] = dict(region)
        for symbol in region.symbols:
            self.convert(symbol)

    @property
    def symbols(self) -> list[sp.Symbol]:
        """Return the generators' symbols, earliest first, those of the region before all others."""
        return [g.symbol for g in self.generators]

    # -- conversion -----------------------------------------------------------------------------

    def convert(self, expression: sp.Expr) -> sp.Expr:
        """Return ``expression`` as a rational function of generators.

        Raises:
            InputError: for a binary float, which has no place in exact code, for what is not real,
                and for a division by zero.
        """
        if not isinstance(expression, sp.Expr):
            raise InputError(f"{expression}: not an expression but {type(expression).__name__}")
        if expression.is_Float:
            raise InputError(f"binary float {expression} in exact code; pass a fraction instead")
        if expression.is_Rational:
            return expression
        if expression.is_Symbol:
            if expression.is_extended_real is False or not expression.is_commutative:
                raise InputError(f"{expression}: exact code takes real symbols only")
            return self._generator(Kind.SYMBOL, expression, symbol=expression)
        if expression is sp.S.Exp1:
            return self.exponential(sp.S.One)
        if expression.is_Add or expression.is_Mul:
            parts = [self.convert(argument) for argument in expression.args]
            return sp.Add(*parts) if expression.is_Add else sp.Mul(*parts)
        if isinstance(expression, sp.exp):
            return self.exponential(self.convert(expression.args[0]))
        if expression.is_Pow:
            return self._power(*expression.as_base_exp())
        if isinstance(expression, sp.log):
            return self.logarithm(self.convert(expression.args[0]))
        if isinstance(expression, sp.Max) and len(expression.args) == 2:
            first, second = expression.args
            return self.convert((first + second + sp.Abs(first - second)) / 2)
        if isinstance(expression, sp.Abs):
            return self._absolute(self.convert(expression.args[0]), expression)
        rewritten = _in_exponentials_and_logarithms(expression)
        if rewritten is not None:
            return self.convert(rewritten)
        if expression.is_NumberSymbol:
            return self._generator(Kind.CONSTANT, expression)
        if isinstance(expression, sp.Function | sp.Indexed):
            indexed = isinstance(expression, sp.Indexed)
            inner = expression.indices if indexed else expression.args
            head = expression.base if indexed else expression.func
            key = (Kind.OPAQUE, head, *(_canonical(self.convert(a)) for a in inner))
            return self._generator(Kind.OPAQUE, expression, key=key)
        raise InputError(f"{expression}: no exact rule for {type(expression).__name__}")

    def _power(self, base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
        if base is sp.S.Exp1:
            return self.exponential(self.convert(exponent))
        below, above_it = self.convert(base), self.convert(exponent)
        if below == 0 and above_it.is_Rational and above_it < 0:
            raise InputError(f"division by zero in {sp.Pow(base, exponent, evaluate=False)}")
        if above_it.is_Rational and _is_moderate(below, abs(int(above_it.p))):
            return self.root(below, int(above_it.q)) ** int(above_it.p)
        # Otherwise it is exp(exponent * log(base)) for a base above zero only: (-1)**3 = -1.
        if not above_it.is_Rational and self.sign(below) is Sign.POSITIVE:
            return self.exponential(above_it * self.logarithm(below))
        key = (Kind.OPAQUE, sp.Pow, _canonical(below), _canonical(above_it))
        return self._generator(Kind.OPAQUE, sp.Pow(base, exponent), key=key)

    def _absolute(self, argument: sp.Expr, whole: sp.Expr) -> sp.Expr:
        sign = self.sign(argument)
        if sign.is_nonnegative:
            return argument
        if sign.flipped.is_nonnegative:
            return -argument
        known, rest = self._known_signs(argument)
        if known is not sp.S.One:
            return known * self._absolute(rest, sp.Abs(self.restored(rest)))
        return self._generator(Kind.OPAQUE, whole, key=(Kind.OPAQUE, sp.Abs, _canonical(argument)))

    def _known_signs(self, argument: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
        """Return the absolute value of the factors whose sign is known, and the other factors."""
        known, rest = sp.S.One, sp.S.One
        for factor in sp.Mul.make_args(sp.factor(argument)):
            sign = self.sign(factor)
            if sign.is_nonnegative:
                known *= factor
            elif sign.flipped.is_nonnegative:
                known *= -factor
            else:
                rest *= factor
        return known, rest

    def exponential(self, argument: sp.Expr) -> sp.Expr:
        """Return the exponential of a rational function of generators."""
        numerator, denominator = sp.fraction(sp.cancel(argument))
        if numerator == 0:
            return sp.S.One
        result: sp.Expr = sp.S.One
        whole, rest = _divided(numerator, denominator)
        content, primitive = denominator.as_content_primitive()
        terms = [(term, sp.S.One, sp.S.One) for term in sp.Add.make_args(whole)]
        terms += [(term, content, primitive) for term in sp.Add.make_args(rest)]
        for term, divisor, bottom in terms:
            coefficient, monomial = term.as_coeff_Mul()
            if coefficient == 0:
                continue
            coefficient = coefficient / divisor
            logarithm = self._find(monomial, Kind.LOGARITHM) if bottom == 1 else None
            if abs(coefficient.p) > _POWER_LIMIT:
                result *= self._generator(Kind.EXPONENTIAL, coefficient * monomial / bottom)
            elif logarithm is not None:
                result *= self.root(logarithm.argument, int(coefficient.q)) ** int(coefficient.p)
            else:
                result *= self._exponential_of_monomial(monomial / bottom, coefficient)
        return result

    def _exponential_of_monomial(self, monomial: sp.Expr, coefficient: sp.Rational) -> sp.Expr:
        whole = self._generator(Kind.EXPONENTIAL, monomial)
        if coefficient.q == 1:
            return whole ** int(coefficient.p)
        root = self._generator(Kind.ROOT, whole, order=int(coefficient.q))
        return root ** int(coefficient.p)

    def root(self, radicand: sp.Expr, order: int) -> sp.Expr:
        """Return the real root of the given order of a rational function of generators."""
        if order == 1 or radicand in (0, 1):
            return radicand
        constant, factors = self._factors(radicand)
        outside: sp.Expr = sp.S.One
        inside: sp.Expr = sp.S.One
        for factor, power in factors:
            exponential = self._find(factor, Kind.EXPONENTIAL)
            if exponential is not None:
                outside *= self._exponential_of_monomial(
                    exponential.argument, sp.Rational(power, order)
                )
                continue
            sign = self.sign(factor)
            if sign is Sign.NEGATIVE:
                factor, constant, sign = -factor, constant * (-1) ** (power % 2), Sign.POSITIVE
            if sign is Sign.POSITIVE or sign is Sign.NONNEGATIVE:
                quotient, remainder = divmod(power, order)
                outside *= factor**quotient
                if remainder:
                    outside *= self._generator(Kind.ROOT, factor, order=order) ** remainder
            else:
                inside *= factor**power
        if inside != 1:
            return outside * self._generator(Kind.ROOT, constant * inside, order=order)
        return outside * self._root_of_number(constant, order)

    def _root_of_number(self, value: sp.Rational, order: int) -> sp.Expr:
        if value < 0:
            raise InputError(f"root of order {order} of the negative number {value}")
        if value == 0:
            return sp.S.Zero
        result: sp.Expr = sp.S.One
        for prime, power in _prime_powers(value):
            quotient, remainder = divmod(power, order)
            result *= prime**quotient
            if remainder:
                result *= self._generator(Kind.ROOT, prime, order=order) ** remainder
        return result

    def logarithm(self, argument: sp.Expr) -> sp.Expr:
        """Return the logarithm of a rational function of generators that is positive."""
        constant, factors = self._factors(argument)
        result: sp.Expr = sp.S.Zero
        inside: sp.Expr = sp.S.One
        for factor, power in factors:
            exponential = self._find(factor, Kind.EXPONENTIAL)
            if exponential is not None:
                result += power * exponential.argument
                continue
            root = self._find(factor, Kind.ROOT)
            if root is not None:
                result += sp.Rational(power, root.order) * self.logarithm(root.argument)
                continue
            sign = self.sign(factor)
            if sign is Sign.NEGATIVE:
                factor, constant, sign = -factor, constant * (-1) ** (power % 2), Sign.POSITIVE
            if sign is Sign.POSITIVE or sign is Sign.NONNEGATIVE:
                result += power * self._generator(Kind.LOGARITHM, factor)
            else:
                inside *= factor**power
        if inside != 1:
            return result + self._generator(Kind.LOGARITHM, constant * inside)
        if constant <= 0:
            raise InputError(f"logarithm of {argument}, which is not positive")
        for prime, power in _prime_powers(constant):
            result += power * self._generator(Kind.LOGARITHM, prime)
        return result

    # -- reduction and signs --------------------------------------------------------------------

    def numerator(self, expression: sp.Expr) -> sp.Expr:
        """Return the numerator of a rational function of generators, reduced by the relations.

        It vanishes where the function does. Numerical factors are kept, so the sign is not.
        """
        numerator, _ = self.fraction(expression)
        return numerator

    def fraction(self, expression: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
        """Return numerator and denominator as expanded polynomials, reduced by the relations.

        Raises:
            InputError: if the denominator vanishes identically.
        """
        numerator, denominator = sp.fraction(sp.together(expression))
        numerator, extra_low = self._reduced(numerator)
        denominator, extra_high = self._reduced(denominator)
        if denominator == 0:
            raise InputError(f"division by zero in {self.restored(expression)}")
        return sp.expand(numerator * extra_high), sp.expand(denominator * extra_low)

    def _reduced(self, polynomial: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
        """Return (p, d) with ``polynomial = p/d`` and p of degree < q in each root of order q."""
        denominator: sp.Expr = sp.S.One
        current = sp.expand(polynomial)
        for generator in reversed(self.generators):
            if generator.kind is not Kind.ROOT or not current.has(generator.symbol):
                continue
            poly = sp.Poly(current, generator.symbol)
            lowered = sum(
                coefficient
                * generator.symbol ** (power % generator.order)
                * generator.argument ** (power // generator.order)
                for (power,), coefficient in poly.terms()
            )
            current, bottom = sp.fraction(sp.together(sp.sympify(lowered)))
            current = sp.expand(current)
            denominator *= bottom
        return current, denominator

    def sign(self, expression: sp.Expr) -> Sign:
        """Return what is proved of the sign of a rational function of generators on the region."""
        numerator, denominator = self.fraction(expression)
        return self._product_sign(numerator) * self._product_sign(denominator)

    def _product_sign(self, polynomial: sp.Expr) -> Sign:
        if polynomial == 0:
            return Sign.ZERO
        if not polynomial.free_symbols:
            return number_sign(sp.Rational(polynomial))
        constant, factors = sp.factor_list(polynomial, *self._of(polynomial))
        answer = number_sign(sp.Rational(constant))
        for factor, power in factors:
            sign = self._factor_sign(factor)
            if power % 2 == 0 and sign is not Sign.ZERO:
                strict = sign in (Sign.POSITIVE, Sign.NEGATIVE)
                sign = Sign.POSITIVE if strict else Sign.NONNEGATIVE
            answer = answer * sign
        return answer

    def _factor_sign(self, factor: sp.Expr) -> Sign:
        symbols = self._of(factor)
        # A range may refer to another symbol of the region, so all of these take part.
        region = self.region.symbols
        variables = [*region, *(s for s in symbols if s not in region)]
        answer = polynomial_sign(factor, variables, {s: self._range(s) for s in variables})
        if answer is not Sign.UNDECIDED:
            return answer
        for symbol in reversed(symbols):
            generator = self._generator_of(symbol)
            if generator.kind is Kind.ROOT and generator.order == 2:
                poly = sp.Poly(factor, symbol)
                if poly.degree() == 1:
                    return self._sign_with_root(poly.nth(0), poly.nth(1), generator)
        ratio = self.product_of_logarithms(factor)
        return Sign.UNDECIDED if ratio is None else self.sign(ratio - 1)

    def product_of_logarithms(self, polynomial: sp.Expr) -> sp.Expr | None:
        """Return ``prod a_i**(k*q_i)`` for a polynomial ``sum q_i log(a_i)``, an integer k > 0.

        It is above, at or below 1 where the sum is above, at or below 0. None for other forms, and
        where the powers are too large to be formed.
        """
        logs = [g for g in self.generators if g.kind is Kind.LOGARITHM and polynomial.has(g.symbol)]
        if not logs or polynomial.free_symbols != {g.symbol for g in logs}:
            return None
        poly = sp.Poly(polynomial, *(g.symbol for g in logs))
        if poly.total_degree() != 1 or poly.nth(*[0] * len(logs)) != 0:
            return None
        powers = [sp.Rational(poly.coeff_monomial(g.symbol)) for g in logs]
        scale = sp.ilcm(1, *(q.q for q in powers))
        if any(abs(q * scale) > _POWER_LIMIT for q in powers):
            return None
        return _product([g.argument ** int(q * scale) for g, q in zip(logs, powers, strict=True)])

    def _sign_with_root(self, rest: sp.Expr, slope: sp.Expr, root: Generator) -> Sign:
        """Return the sign of ``rest + slope*root``: equal signs, or the sign of the squares."""
        first, second = self.sign(rest), self.sign(slope)
        if first is Sign.UNDECIDED and second.is_strict:
            # The root decides wherever it is the larger part.
            difference = self.sign(rest**2 - slope**2 * root.argument)
            return second if difference is Sign.NEGATIVE else Sign.UNDECIDED
        if Sign.UNDECIDED in (first, second):
            return Sign.UNDECIDED
        if first.is_nonnegative and second.is_nonnegative:
            strict = first is Sign.POSITIVE
            return Sign.POSITIVE if strict else Sign.NONNEGATIVE
        if first.flipped.is_nonnegative and second.flipped.is_nonnegative:
            strict = first is Sign.NEGATIVE
            return Sign.NEGATIVE if strict else Sign.NONPOSITIVE
        difference = self.sign(rest**2 - slope**2 * root.argument)
        return difference if first.is_nonnegative else difference.flipped

    def is_continuous(self, expression: sp.Expr) -> bool:
        """Tell whether an expression is shown to be real and continuous everywhere on the region.

        It is where no denominator vanishes, arguments of logarithms are positive, radicands are not
        negative, and nothing opaque occurs.
        """
        pending, seen = [self.convert(expression)], set()
        while pending:
            current = pending.pop()
            if not self.sign(sp.denom(sp.together(current))).is_strict:
                return False
            for generator in map(self._generator_of, self._of(current)):
                if generator in seen or generator.kind in (Kind.SYMBOL, Kind.CONSTANT):
                    continue
                if generator.kind is Kind.OPAQUE:
                    return False
                sign = self.sign(generator.argument)
                if generator.kind is Kind.ROOT and not sign.is_nonnegative:
                    return False
                if generator.kind is Kind.LOGARITHM and sign is not Sign.POSITIVE:
                    return False
                seen.add(generator)
                pending.append(generator.argument)
        return True

    def _range(self, symbol: sp.Symbol) -> Range:
        """Return a range of a generator, found once from its argument and then remembered."""
        if symbol not in self._ranges:
            self._ranges[symbol] = self._range_of(self._generator_of(symbol))
        return self._ranges[symbol]

    def _range_of(self, generator: Generator) -> Range:
        if generator.kind is Kind.EXPONENTIAL:
            if generator.argument == 1:  # e = 1 + 1 + 1/2 + ... < 1 + 1 + 1/2 + 1/4 + ...
                return Range(sp.Integer(2), sp.Integer(3), True, True)
            return exponential_range(self.sign(generator.argument))
        if generator.kind is Kind.ROOT:
            positive = self.sign(generator.argument) is Sign.POSITIVE
            return above(0) if positive else at_least(0)
        if generator.kind is Kind.LOGARITHM:
            sign = self.sign(generator.argument - 1)
            if sign.is_nonnegative:
                return Range(lower=sp.S.Zero, lower_open=sign is Sign.POSITIVE)
            if sign.flipped.is_nonnegative:
                return Range(upper=sp.S.Zero, upper_open=sign is Sign.NEGATIVE)
        # SymPy knows the signs of symbols and constants; what it infers beyond is not relied on.
        if generator.kind in (Kind.SYMBOL, Kind.CONSTANT) or isinstance(
            generator.argument, AppliedUndef
        ):
            return assumed_range(generator.argument)
        return at_least(0) if isinstance(generator.argument, sp.Abs) else Range()

    # -- book-keeping ---------------------------------------------------------------------------

    def restored(self, expression: sp.Expr) -> sp.Expr:
        """Return a rational function of generators as an expression in the original symbols."""
        for generator in reversed(self.generators):
            if generator.kind is Kind.SYMBOL:
                continue
            argument = generator.argument
            value = {
                Kind.EXPONENTIAL: lambda a: sp.exp(a),
                Kind.LOGARITHM: lambda a: sp.log(a),
            }.get(generator.kind, lambda a: a)(argument)
            if generator.kind is Kind.ROOT:
                value = argument ** sp.Rational(1, generator.order)
            expression = expression.subs(generator.symbol, value)
        return expression

    def _generator(
        self,
        kind: Kind,
        argument: sp.Expr,
        *,
        order: int = 1,
        symbol: sp.Symbol | None = None,
        key: tuple[object, ...] | None = None,
    ) -> sp.Symbol:
        key = key or (kind, order, _canonical(argument))
        if key not in self._by_key:
            fresh = symbol or sp.Dummy(f"g{len(self.generators)}")
            self._by_key[key] = Generator(fresh, kind, argument, order)
            self.generators.append(self._by_key[key])
        return self._by_key[key].symbol

    def _generator_of(self, symbol: sp.Symbol) -> Generator:
        return next(g for g in self.generators if g.symbol == symbol)

    def _find(self, expression: sp.Expr, kind: Kind) -> Generator | None:
        matches = (g for g in self.generators if g.kind is kind and g.symbol == expression)
        return next(matches, None)

    def _of(self, expression: sp.Expr) -> list[sp.Symbol]:
        """Return the generators that occur in ``expression``, earliest first."""
        return [symbol for symbol in self.symbols if expression.has(symbol)]

    def _factors(self, expression: sp.Expr) -> tuple[sp.Rational, list[tuple[sp.Expr, int]]]:
        """Return the constant and the irreducible factors with powers, negative ones included."""
        numerator, denominator = self.fraction(sp.cancel(expression))
        constant = sp.S.One
        factors: list[tuple[sp.Expr, int]] = []
        for part, direction in ((numerator, 1), (denominator, -1)):
            if not part.free_symbols:
                constant *= sp.Rational(part) ** direction
                continue
            number, found = sp.factor_list(part, *self._of(part))
            constant *= sp.Rational(number) ** direction
            factors += [(factor, direction * power) for factor, power in found]
        return constant, factors


def assumed_range(symbol: sp.Expr) -> Range:
    """Return the range that the assumptions on a symbol, constant or function imply."""
    if symbol.is_zero:
        return between(0, 0)
    if symbol.is_nonnegative:
        return Range(lower=sp.S.Zero, lower_open=bool(symbol.is_positive))
    if symbol.is_nonpositive:
        return Range(upper=sp.S.Zero, upper_open=bool(symbol.is_negative))
    return Range()


def exponential_range(sign: Sign) -> Range:
    """Return the range of an exponential whose exponent has the given sign."""
    if sign.is_nonnegative:
        return Range(lower=sp.S.One, lower_open=sign is Sign.POSITIVE)
    if sign.flipped.is_nonnegative:
        return Range(sp.S.Zero, sp.S.One, True, sign is Sign.NEGATIVE)
    return above(0)


def _is_moderate(base: sp.Expr, power: int) -> bool:
    """Tell whether a power may be multiplied out."""
    terms = len(sp.Add.make_args(base))
    return power <= _POWER_LIMIT and comb(terms + power - 1, power) <= _TERMS_LIMIT


def _divided(numerator: sp.Expr, denominator: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Return quotient and remainder of polynomials, expanded; the remainder is a normal form."""
    if denominator.is_number:
        return sp.S.Zero, sp.expand(numerator)
    (quotient,), remainder = sp.reduced(numerator, [denominator])
    return sp.expand(quotient), sp.expand(remainder)


def _canonical(expression: sp.Expr) -> sp.Expr:
    return sp.cancel(expression) if not expression.is_Atom else expression


def _prime_powers(value: sp.Rational) -> list[tuple[sp.Integer, int]]:
    """Return primes (or large unsplit composites) with their powers, negative ones included."""
    numerator, denominator = (
        sp.factorint(part, limit=_PRIME_LIMIT, use_rho=False, use_pm1=False, use_ecm=False)
        for part in (value.p, value.q)
    )
    powers = [(sp.Integer(p), int(k)) for p, k in sorted(numerator.items()) if p != 1]
    return powers + [(sp.Integer(p), -int(k)) for p, k in sorted(denominator.items()) if p != 1]


def _in_exponentials_and_logarithms(expression: sp.Expr) -> sp.Expr | None:
    """Return hyperbolic functions and their inverses by their definitions, else None."""
    if len(expression.args) != 1:
        return None
    (x,) = expression.args
    definitions = {
        sp.sinh: lambda: (sp.exp(x) - sp.exp(-x)) / 2,
        sp.cosh: lambda: (sp.exp(x) + sp.exp(-x)) / 2,
        sp.tanh: lambda: (sp.exp(2 * x) - 1) / (sp.exp(2 * x) + 1),
        sp.asinh: lambda: sp.log(x + sp.sqrt(x**2 + 1)),
        sp.atanh: lambda: sp.log((1 + x) / (1 - x)) / 2,
        log1p: lambda: sp.log(1 + x),
    }
    definition = definitions.get(expression.func)
    return None if definition is None else definition()


def _product(factors: list[sp.Expr]) -> sp.Expr:
    """Return the product of expressions, 1 for none."""
    return reduce(mul, factors, sp.S.One)
