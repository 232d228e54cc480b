"""Exact numbers in and out: the number grammar, and the refusal of binary floats.

A number is a sum of signed terms, and a term is a literal, a fraction or a power of literals::

    number  = [sign] term {sign term}          at most 100 terms
    term    = literal | literal "/" literal | literal "^" [sign] digits
    literal = (digits ["." [digits]] | "." digits) [("e" | "E") [sign] digits]
    sign    = "+" | "-"

Spaces may stand around operators. Every number is read exactly (``0.1`` is 1/10), and no literal,
power or sum may need more than 100,000 decimal digits above or below the fraction bar. The size is
known before anything is computed, so no short text exhausts memory. Conversions go through GMP:
CPython's limit on the digits of ``int`` and ``str`` is process-wide and stays as it is.
"""

import operator
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import cache
from numbers import Complex, Rational, Real
from typing import Any

import gmpy2

from symbolic.errors import InputError

__all__ = [
    "MAX_DIGITS",
    "MAX_POINTS",
    "MAX_TERMS",
    "exact",
    "exact_text",
    "read_grid",
    "read_list",
    "read_number",
    "shown",
]

MAX_DIGITS = 100_000
"""Most decimal digits of a numerator or denominator that is read."""

MAX_TERMS = 100
"""Most terms of one sum."""

MAX_POINTS = 100_000
"""Most numbers of one list or grid."""

# Points times digits: a list of long numbers must not exhaust memory either.
_MAX_LIST_DIGITS = 10_000_000

_ACCEPTED = "numbers like 3, 0.1, 1e-30, 3/2, 10^100 and sums or differences of them"
_SIZE = f"at most {MAX_DIGITS:,} digits in numerator and denominator"

# No two neighbouring parts take the same characters, so a long wrong text is refused quickly.
# (Possessive quantifiers would say so too, but Python 3.11.2 gets them wrong.)
_LITERAL = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_TERM = re.compile(
    rf" *(?:(?P<sign>[+-]) *)?(?P<literal>{_LITERAL})"
    rf"(?: */ *(?P<divisor>{_LITERAL})| *\^ *(?P<power>[+-]?[0-9]+))? *"
)
_PARTS = re.compile(r"(?P<whole>[0-9]*)\.?(?P<part>[0-9]*)(?:[eE](?P<exponent>[+-]?[0-9]+))?")

# Every larger exponent acts like this one: too many digits, or no effect on 0 and 1.
_HUGE = 10**18


def read_number(text: str, name: str | None = None) -> Fraction:
    """Read a number exactly, by the grammar of this module.

    Args:
        text: the number, such as ``"1 - 10^-40"``.
        name: what the number is for; starts the error message when given.

    Returns:
        The exact value.

    Raises:
        InputError: the text is not in the grammar, divides by zero or exceeds a cap.
    """
    try:
        return _fraction(_read(text))
    except InputError as error:
        raise _named(name, error) from None


def read_list(text: str, name: str | None = None) -> tuple[Fraction, ...]:
    """Read numbers separated by commas, such as ``0.5,1,3/2,2``.

    Args:
        text: one number or more; order and repetitions are kept.
        name: what the list is for; starts the error message when given.

    Returns:
        The exact values, at least one.

    Raises:
        InputError: an item is missing or not a number, or the list exceeds a cap.
    """
    try:
        return _read_items(text)
    except InputError as error:
        raise _named(name, error) from None


def read_grid(text: str, name: str | None = None) -> tuple[Fraction, ...]:
    """Read a grid: numbers separated by commas, or one inclusive range of integers ``2..16``.

    Args:
        text: the grid; each end of a range is a number of the grammar that is an integer.
        name: what the grid is for; starts the error message when given.

    Returns:
        The exact values, at least one; those of a range ascend in steps of 1.

    Raises:
        InputError: the grid is malformed or empty, or exceeds a cap.
    """
    try:
        return _read_range(text) if ".." in text else _read_items(text)
    except InputError as error:
        raise _named(name, error) from None


def exact(value: object, name: str) -> Fraction:
    """Take a number that is exact by its type, or text in the number grammar.

    Args:
        value: an ``int``, ``Fraction``, ``Decimal`` or ``str``, or a rational of gmpy2, NumPy,
            SymPy or python-flint.
        name: the parameter that the value is for; starts the error message.

    Returns:
        The exact value.

    Raises:
        InputError: the value is a binary float, not finite, not real or not a number at all.
    """
    if isinstance(value, str):
        return read_number(value, name)
    if isinstance(value, Fraction):
        return value
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise InputError(f"{name}: the decimal {value} is not finite; accepted: {_ACCEPTED}")
        return read_number(str(value), name)
    if isinstance(value, Real) and not isinstance(value, Rational):
        raise InputError(f"{name}: {_float_message(value)}")
    if isinstance(value, Complex) and not isinstance(value, Real):
        raise InputError(f"{name}: {_brief(str(value))} is complex; accepted: {_ACCEPTED}")
    if not isinstance(value, bool):
        for top, bottom in (("numerator", "denominator"), ("p", "q")):
            try:
                parts: list[Any] = [getattr(value, top), getattr(value, bottom)]
                return Fraction(operator.index(parts[0]), operator.index(parts[1]))
            except (AttributeError, TypeError, ZeroDivisionError):
                continue
    raise InputError(
        f"{name}: {_brief(_safely(repr, value))} of type {type(value).__name__} is not an exact "
        f"number; accepted: int, Fraction, Decimal or {_ACCEPTED} as text"
    )


def exact_text(value: Fraction) -> str:
    """Write a number as the canonical exact text ``p`` or ``p/q``, at any length.

    Args:
        value: any rational number.

    Returns:
        Text that ``read_number`` reads back to the same value, within its caps.
    """
    numerator = str(gmpy2.mpz(value.numerator))
    if value.denominator == 1:
        return numerator
    return f"{numerator}/{gmpy2.mpz(value.denominator)}"


def shown(text: str) -> str:
    """Quote a value for a message: one line of at most 40 characters, control characters escaped.

    Args:
        text: any text, such as a rejected argument.

    Returns:
        The quoted text, with its middle left out when it is long.
    """
    return _brief(repr(text))


def _brief(text: str) -> str:
    """Return printable text cut to 40 characters, with its middle left out."""
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
    return line if len(line) <= 40 else f"{line[:20]}...{line[-17:]}"


def _named(name: str | None, error: InputError) -> InputError:
    return error if name is None else InputError(f"{name}: {error}")


def _safely(describe: Callable[[object], str], value: object) -> str:
    """Describe a foreign object, whatever it does when asked (huge integers raise ValueError)."""
    try:
        return describe(value)
    except Exception:
        return "a value"


def _float_message(value: object) -> str:
    """Say what to pass instead of a binary float."""
    text = _safely(str, value).strip()
    try:
        decimal = exact_text(read_number(text))
    except InputError:
        return f"{_brief(text)} is not an exact number; accepted: {_ACCEPTED}"
    alternatives = [f'"{text}"']
    if len(decimal) <= 40:
        numerator, _, denominator = decimal.partition("/")
        alternatives.append(f'"{decimal}"')
        alternatives.append(f"Fraction({numerator}, {denominator or 1})")
    choice = " or ".join(filter(None, [", ".join(alternatives[:-1]), alternatives[-1]]))
    return f"the binary float {text} is not exact; pass {choice}"


# gmpy2 carries no types: a rational of gmpy2 is Any in what follows.


def _fraction(value: Any) -> Fraction:
    return Fraction(int(value.numerator), int(value.denominator))


def _read(text: str) -> Any:
    """Read a number as a gmpy2 rational."""
    total = gmpy2.mpq(0)
    position = count = 0
    while position < len(text) or count == 0:
        term = _TERM.match(text, position)
        if term is None or (count > 0 and term["sign"] is None):
            raise InputError(f"{shown(text)} is not a number; accepted: {_ACCEPTED}")
        position = term.end()
        count += 1
        if count > MAX_TERMS:
            raise InputError(f"{shown(text)} has too many terms; accepted: at most {MAX_TERMS}")
        value = _term(term, text)
        total = _capped(total - value if term["sign"] == "-" else total + value, text)
    return total


def _term(term: re.Match[str], text: str) -> Any:
    """Compute one term without its sign."""
    value = _literal(term["literal"], text)
    if term["divisor"] is not None:
        divisor = _literal(term["divisor"], text)
        if divisor == 0:
            raise InputError(f"{shown(text)} divides by zero; accepted: {_ACCEPTED}")
        return _capped(value / divisor, text)
    if term["power"] is not None:
        return _power(value, _exponent(term["power"]), text)
    return value


def _literal(literal: str, text: str) -> Any:
    """Read a decimal without sign; its size is checked as it is written, before any power of 10."""
    parts = _PARTS.fullmatch(literal)
    assert parts is not None, literal
    digits = (parts["whole"] + parts["part"]).lstrip("0")
    if not digits:
        return gmpy2.mpq(0)
    scale = _exponent(parts["exponent"] or "0") - len(parts["part"])
    if len(digits) + max(scale, 0) > MAX_DIGITS or -scale >= MAX_DIGITS:
        raise _too_large(text)
    unit = gmpy2.mpz(10) ** abs(scale)
    value = gmpy2.mpz(digits, 10)
    return gmpy2.mpq(value * unit) if scale >= 0 else gmpy2.mpq(value, unit)


def _exponent(text: str) -> int:
    """Read a signed integer exponent, cut off at a size that no result can have."""
    digits = text.lstrip("+-").lstrip("0") or "0"
    size = int(digits) if len(digits) <= 18 else _HUGE
    return -size if text.startswith("-") else size


def _power(base: Any, exponent: int, text: str) -> Any:
    """Raise a value >= 0 to an integer power; its size is bounded before it is computed."""
    if base == 0 and exponent <= 0:
        raise InputError(
            f"{shown(text)} takes 0 to a power that is not positive; accepted: {_ACCEPTED}"
        )
    if base in (0, 1):
        return base
    # 2^b <= m < 2^(b+1) gives m^e at least 0.3 b e digits: this refuses nothing within the cap,
    # and what it lets pass has at most about twice as many digits.
    bits = max(base.numerator.bit_length(), base.denominator.bit_length()) - 1
    if 3 * bits * abs(exponent) > 10 * MAX_DIGITS:
        raise _too_large(text)
    return _capped(base**exponent, text)


def _capped(value: Any, text: str) -> Any:
    """Return a value whose numerator and denominator fit the cap."""
    for part in (value.numerator, value.denominator):
        # num_digits may be one too large.
        if part.num_digits(10) > MAX_DIGITS and abs(part) >= _limit():
            raise _too_large(text)
    return value


@cache
def _limit() -> Any:
    return gmpy2.mpz(10) ** MAX_DIGITS


def _too_large(text: str) -> InputError:
    return InputError(f"{shown(text)} needs too many digits; accepted: {_SIZE}")


def _read_items(text: str) -> tuple[Fraction, ...]:
    """Read numbers separated by commas."""
    if text.count(",") >= MAX_POINTS:
        raise InputError(f"{shown(text)} has too many numbers; accepted: at most {MAX_POINTS:,}")
    values = []
    size = 0
    for item in text.split(","):
        if not item.strip(" "):
            raise InputError(f"{shown(text)} has an empty place; accepted: numbers and commas")
        value = _fraction(_read(item))
        size += _digits(value)
        if size > _MAX_LIST_DIGITS:
            raise _list_too_large(text)
        values.append(value)
    return tuple(values)


def _read_range(text: str) -> tuple[Fraction, ...]:
    """Read an inclusive range of integers."""
    ends = text.split("..")
    if len(ends) != 2 or "," in text:
        raise InputError(
            f"{shown(text)} is not a grid; accepted: numbers like 16,64,256 "
            "or one range of integers like 2..16"
        )
    first, last = (_fraction(_read(end)) for end in ends)
    if first.denominator != 1 or last.denominator != 1 or first > last:
        raise InputError(
            f"{shown(text)} is not a range; accepted: two integers like 2..16, the smaller first"
        )
    count = int(last - first) + 1
    if count > MAX_POINTS:
        raise InputError(f"{shown(text)} has too many points; accepted: at most {MAX_POINTS:,}")
    if count * max(_digits(first), _digits(last)) > _MAX_LIST_DIGITS:
        raise _list_too_large(text)
    return tuple(first + step for step in range(count))


def _digits(value: Fraction) -> int:
    """Return about the number of decimal digits above and below the fraction bar."""
    return (value.numerator.bit_length() + value.denominator.bit_length()) * 3 // 10 + 1


def _list_too_large(text: str) -> InputError:
    return InputError(
        f"{shown(text)} needs too many digits; accepted: at most {_MAX_LIST_DIGITS:,} in all"
    )
