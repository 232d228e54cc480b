"""The number grammar, against ``fractions`` and ``decimal`` as independent readers."""

import decimal
import subprocess
import sys
import time
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import flint
import gmpy2
import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import example, given
from hypothesis import strategies as st

from symbolic.errors import InputError, MhflowError
from symbolic.numbers import (
    MAX_DIGITS,
    MAX_POINTS,
    MAX_TERMS,
    exact,
    exact_text,
    read_grid,
    read_list,
    read_number,
    shown,
)

digits = st.text("0123456789", min_size=1, max_size=12)
exponents = st.builds(
    "{}{}{}".format, st.sampled_from("eE"), st.sampled_from(["", "+", "-"]), digits
)
exponents = st.builds(
    "{}{}{:d}".format, st.sampled_from("eE"), st.sampled_from(["", "+", "-"]), st.integers(0, 50)
)
mantissas = st.one_of(
    digits,
    st.builds("{}.{}".format, digits, st.one_of(st.just(""), digits)),
    st.builds(".{}".format, digits),
)
literals = st.builds("{}{}".format, mantissas, st.one_of(st.just(""), exponents))
spaces = st.sampled_from(["", " ", "   "])


@st.composite
def terms(draw: st.DrawFn) -> tuple[str, Fraction]:
    """Draw a term and its value."""
    text = draw(literals)
    value = Fraction(Decimal(text))
    operator = f"{draw(spaces)}{draw(st.sampled_from('/^'))}{draw(spaces)}"
    match draw(st.sampled_from(["literal", "fraction", "power"])):
        case "fraction":
            divisor = draw(literals.filter(lambda text: Decimal(text) != 0))
            return text + operator.replace("^", "/") + divisor, value / Fraction(Decimal(divisor))
        case "power":
            exponent = draw(st.integers(1 if value == 0 else -20, 20))
            return f"{text}{operator.replace('/', '^')}{exponent}", value**exponent
        case _:
            return text, value


@st.composite
def sums(draw: st.DrawFn) -> tuple[str, Fraction]:
    """Draw a number of the grammar and its value."""
    text, total = "", Fraction(0)
    for index in range(draw(st.integers(1, 5))):
        sign = draw(st.sampled_from(["+", "-", ""] if index == 0 else ["+", "-"]))
        term, value = draw(terms())
        total += -value if sign == "-" else value
        text += draw(spaces) + sign + draw(spaces) + term
    return text + draw(spaces), total


def message_of(function: Callable[..., object], *arguments: object) -> str:
    """Return the message of the InputError, after checking what holds of every one."""
    with pytest.raises(InputError) as caught:
        function(*arguments)
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) <= 200
    assert caught.value.__cause__ is None
    return message


def texts(values: tuple[Fraction, ...]) -> list[str]:
    return [exact_text(value) for value in values]


class TestReadNumber:
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("3", Fraction(3)),
            ("-0", Fraction(0)),
            ("+7", Fraction(7)),
            ("007", Fraction(7)),
            ("0.1", Fraction(1, 10)),
            (".5", Fraction(1, 2)),
            ("5.", Fraction(5)),
            ("5.e1", Fraction(50)),
            ("1e-30", Fraction(1, 10**30)),
            ("2.5E+3", Fraction(2500)),
            ("3/2", Fraction(3, 2)),
            ("0.3/1.5", Fraction(1, 5)),
            ("10^100", Fraction(10**100)),
            ("2^-3", Fraction(1, 8)),
            ("2^+3", Fraction(8)),
            ("-2^2", Fraction(-4)),
            ("0.5^-2", Fraction(4)),
            ("1-1e-12", 1 - Fraction(1, 10**12)),
            ("1 - 10^-40", 1 - Fraction(1, 10**40)),
            ("- 1 / 2 + 1", Fraction(1, 2)),
            (" 2 ", Fraction(2)),
            ("0e999999999999999999999999", Fraction(0)),
            ("1^999999999999999999999999", Fraction(1)),
            ("0^999999999999999999999999", Fraction(0)),
        ],
    )
    def test_values(self, text: str, value: Fraction) -> None:
        assert read_number(text) == value

    @given(sums())
    def test_agrees_with_fractions(self, number: tuple[str, Fraction]) -> None:
        text, value = number
        result = read_number(text)
        assert result == value
        assert type(result) is Fraction
        assert type(result.numerator) is int
        assert type(result.denominator) is int

    @given(st.text("0123456789.eE+-/^ ", max_size=12))
    @example("1/2/3")
    def test_any_text_of_the_alphabet_is_read_right_or_refused(self, text: str) -> None:
        try:
            value = read_number(text)
        except InputError:
            # Where Python reads an ordinary number, so must we.
            try:
                oracle = Decimal(text.strip(" "))
            except decimal.InvalidOperation:
                return
            assert abs(oracle.adjusted()) >= MAX_DIGITS
        else:
            assert value == _python_value(text)

    @given(st.text(max_size=20))
    @example("\ud800")
    def test_any_text_gives_a_number_or_one_line(self, text: str) -> None:
        try:
            read_number(text)
        except InputError:
            message_of(read_number, text)

    @pytest.mark.parametrize(
        "text",
        [
            *("", " ", "nan", "NaN", "inf", "-inf", "infinity", "__import__('os')", "abc", "pi"),
            *("1_000", "1,5", "1;2", "0x10", "1j", "True", "(1)", "2*3", "2**3", "1//2", "1!"),
            *("1 2", "1. 5", "1 e3", "1e 3", "1e", "e3", ".", "-", "+", "--1", "+-1", "1--1"),
            *("1+-1", "1-", "1/", "/2", "1/-2", "1/2/3", "2^", "^2", "2^3^4", "10^10^10"),
            *("2^0.5", "2^1e3", "2^3/4", "1/2^3", "1\t", "1\n", "\n1", "1\r2", "1\0", "\x1b[31m"),
            *("\u0661", "\uff11", "\u00b2", "\u00bd", "\u22121", "1\u00a0", "\u20031"),
        ],
    )
    def test_refused(self, text: str) -> None:
        message = message_of(read_number, text)
        assert message == (
            f"{shown(text)} is not a number; "
            "accepted: numbers like 3, 0.1, 1e-30, 3/2, 10^100 and sums or differences of them"
        )

    @pytest.mark.parametrize("text", ["1/0", "1/0.00", "1/0e5", "0/0", "1 - 3/0e-999999999999"])
    def test_division_by_zero(self, text: str) -> None:
        assert "divides by zero" in message_of(read_number, text)

    @pytest.mark.parametrize("text", ["0^-1", "0^0", "0.0^-99999999999999999999", "0e5^0"])
    def test_power_of_zero(self, text: str) -> None:
        assert "takes 0 to a power that is not positive" in message_of(read_number, text)

    def test_name_starts_the_message(self) -> None:
        with pytest.raises(MhflowError, match=r"^beta: 'nan' is not a number; accepted: "):
            read_number("nan", "beta")


def _python_value(text: str) -> Fraction:
    """Read a sum by splitting it, unlike the reader under test."""
    total, rest = Fraction(0), text.replace(" ", "")
    while rest:
        sign = -1 if rest[0] == "-" else 1
        rest = rest.lstrip("+-") if rest[0] in "+-" else rest
        end = next(
            (i for i, c in enumerate(rest) if c in "+-" and rest[i - 1] not in "eE^"), len(rest)
        )
        term, rest = rest[:end], rest[end:]
        if "/" in term:
            top, bottom = term.split("/")
            value = Fraction(Decimal(top)) / Fraction(Decimal(bottom))
        elif "^" in term:
            base, power = term.split("^")
            value = Fraction(Decimal(base)) ** int(power)
        else:
            value = Fraction(Decimal(term))
        total += sign * value
    return total


class TestSize:
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            (f"1e{MAX_DIGITS - 1}", Fraction(10 ** (MAX_DIGITS - 1))),
            (f"1e-{MAX_DIGITS - 1}", Fraction(1, 10 ** (MAX_DIGITS - 1))),
            (f"10^{MAX_DIGITS - 1}", Fraction(10 ** (MAX_DIGITS - 1))),
            (f"10^-{MAX_DIGITS - 1}", Fraction(1, 10 ** (MAX_DIGITS - 1))),
            (f"10^{MAX_DIGITS - 1}-1", Fraction(10 ** (MAX_DIGITS - 1) - 1)),
            ("9" * MAX_DIGITS, Fraction(10**MAX_DIGITS - 1)),
            ("0" * 300_000 + "1", Fraction(1)),
        ],
        ids=lambda value: shown(value) if isinstance(value, str) else "",
    )
    def test_up_to_the_cap(self, text: str, value: Fraction) -> None:
        assert read_number(text) == value

    @pytest.mark.parametrize(
        "text",
        [
            f"1e{MAX_DIGITS}",
            f"1e-{MAX_DIGITS}",
            f"10^{MAX_DIGITS}",
            f"10^-{MAX_DIGITS}",
            f"{'9' * MAX_DIGITS}+1",
            f"1e{MAX_DIGITS - 1}/1e-1",
            f"0.{'1' * MAX_DIGITS}",
            "1" * (MAX_DIGITS + 1),
            "1" * 3_000_000,
            "1e999999999999",
            "1e-999999999999",
            f"1e{'9' * 100_000}",
            "9^99999999",
            "9^-99999999",
            "1.0000000001^99999",
            f"2^{'9' * 100_000}",
            "1e99999^99999",
            "1/3e99999 + 1/7^99999",
        ],
        ids=shown,
    )
    def test_beyond_the_cap(self, text: str) -> None:
        start = time.process_time()
        message = message_of(read_number, text)
        assert time.process_time() - start < 1
        assert message.endswith("at most 100,000 digits in numerator and denominator")

    @pytest.mark.parametrize("text", ["." * 200_000, "1" + " " * 200_000 + "x", "1 " * 100_000])
    def test_long_nonsense_is_refused_in_linear_time(self, text: str) -> None:
        start = time.process_time()
        assert "is not a number" in message_of(read_number, text)
        assert time.process_time() - start < 1

    def test_number_of_terms(self) -> None:
        assert read_number("+1" * MAX_TERMS) == MAX_TERMS
        message = message_of(read_number, "+1" * (MAX_TERMS + 1))
        assert message.endswith("has too many terms; accepted: at most 100")

    @given(st.integers(2, 10**6), st.integers(-MAX_DIGITS, MAX_DIGITS).filter(bool))
    def test_power_is_refused_exactly_beyond_the_cap(self, base: int, exponent: int) -> None:
        fits = abs(gmpy2.mpz(base) ** abs(exponent)) < gmpy2.mpz(10) ** MAX_DIGITS
        if fits:
            value = read_number(f"{base}^{exponent}")
            assert max(value.numerator, value.denominator) == gmpy2.mpz(base) ** abs(exponent)
        else:
            message_of(read_number, f"{base}^{exponent}")


class TestExactText:
    @given(st.fractions())
    def test_round_trip(self, value: Fraction) -> None:
        assert exact_text(value) == str(value)
        assert read_number(exact_text(value)) == value

    def test_beyond_the_limit_of_python(self) -> None:
        limit = sys.get_int_max_str_digits()
        value = Fraction(7**60_000, 3**100_000)
        text = exact_text(value)
        assert len(text) > 10 * limit
        assert read_number(text) == value
        assert read_number("-" + text) == -value
        assert sys.get_int_max_str_digits() == limit


class TestExact:
    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            (3, Fraction(3)),
            (10**5000, Fraction(10**5000)),
            (Fraction(-3, 2), Fraction(-3, 2)),
            ("1 - 1e-12", 1 - Fraction(1, 10**12)),
            (Decimal("0.1"), Fraction(1, 10)),
            (Decimal("-1E+5"), Fraction(-(10**5))),
            (Decimal("-0"), Fraction(0)),
            (gmpy2.mpz(3), Fraction(3)),
            (gmpy2.mpq(-3, 2), Fraction(-3, 2)),
            (np.int8(-3), Fraction(-3)),
            (np.uint64(2**64 - 1), Fraction(2**64 - 1)),
            (sympy.Rational(-3, 2), Fraction(-3, 2)),
            (sympy.Integer(3), Fraction(3)),
            (flint.fmpz(3), Fraction(3)),
            (flint.fmpq(-3, 2), Fraction(-3, 2)),
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_accepted(self, value: object, expected: Fraction) -> None:
        result = exact(value, "beta")
        assert result == expected
        assert type(result) is Fraction
        assert type(result.numerator) is int

    def test_pair_of_p_and_q(self) -> None:
        class Ratio:
            p = -3
            q = 2

        assert exact(Ratio(), "beta") == Fraction(-3, 2)

    @given(st.fractions(), st.decimals(allow_nan=False, allow_infinity=False))
    def test_exact_types_keep_their_value(self, fraction: Fraction, value: Decimal) -> None:
        assert exact(fraction, "beta") == fraction
        assert exact(gmpy2.mpq(fraction), "beta") == fraction
        assert exact(value, "beta") == Fraction(value)

    @pytest.mark.parametrize(
        ("value", "advice"),
        [
            (0.1, '0.1 is not exact; pass "0.1", "1/10" or Fraction(1, 10)'),
            (np.float64(0.1), '0.1 is not exact; pass "0.1", "1/10" or Fraction(1, 10)'),
            (np.float32(0.1), '0.1 is not exact; pass "0.1", "1/10" or Fraction(1, 10)'),
            (mpmath.mpf(2), '2.0 is not exact; pass "2.0", "2" or Fraction(2, 1)'),
            (-2.5, '-2.5 is not exact; pass "-2.5", "-5/2" or Fraction(-5, 2)'),
            (1e-300, '1e-300 is not exact; pass "1e-300"'),
        ],
        ids=repr,
    )
    def test_binary_float(self, value: object, advice: str) -> None:
        assert message_of(exact, value, "beta") == f"beta: the binary float {advice}"

    @pytest.mark.parametrize(
        "value",
        [
            *(float("nan"), float("inf"), Decimal("nan"), Decimal("sNaN"), Decimal("-Infinity")),
            *(1j, np.complex64(1), mpmath.mpc(1), gmpy2.mpfr("0.1"), sympy.Float("0.1")),
            *(True, np.True_, None, b"1", [1], (1, 2), np.array(3), object(), int, "nan", ""),
            *(sympy.pi, sympy.oo, sympy.nan, sympy.zoo, sympy.Symbol("x"), flint.arb(1)),
            *(Decimal("1e999999999"), Decimal("1e-999999999"), [10**5000], "x\ny", ["x\ny" * 99]),
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_refused(self, value: object) -> None:
        assert message_of(exact, value, "beta").startswith("beta: ")

    def test_zero_denominator(self) -> None:
        class Ratio:
            numerator = 1
            denominator = 0

        message_of(exact, Ratio(), "beta")


class TestLists:
    @pytest.mark.parametrize("read", [read_list, read_grid])
    @given(numbers=st.lists(sums(), min_size=1, max_size=6))
    def test_values(self, read: Any, numbers: list[tuple[str, Fraction]]) -> None:
        text = ",".join(text for text, _ in numbers)
        assert read(text) == tuple(value for _, value in numbers)

    def test_example(self) -> None:
        assert texts(read_list("0.5,1,3/2,2")) == ["1/2", "1", "3/2", "2"]
        assert texts(read_list(" 2 , 1 ,1")) == ["2", "1", "1"]
        assert texts(read_grid("16,64,256")) == ["16", "64", "256"]
        assert texts(read_grid("2..5")) == ["2", "3", "4", "5"]

    @given(st.integers(), st.integers(0, 100), spaces)
    def test_range(self, first: int, length: int, space: str) -> None:
        values = read_grid(f"{first}{space}..{space}{first + length}")
        assert values == tuple(range(first, first + length + 1))
        assert all(type(value) is Fraction for value in values)

    def test_ends_of_a_range_are_numbers_of_the_grammar(self) -> None:
        assert texts(read_grid("10^20-1..1e20")) == ["9" * 20, "1" + "0" * 20]

    @pytest.mark.parametrize("read", [read_list, read_grid])
    @pytest.mark.parametrize(
        "text", ["", ",", "1,", ",1", "1,,2", "1, ,2", "1;2", "1,nan", "1,1/0"]
    )
    def test_refused(self, read: Any, text: str) -> None:
        message_of(read, text)
        assert message_of(read, text, "lam").startswith("lam: ")

    def test_a_list_takes_no_range(self) -> None:
        message_of(read_list, "2..16")

    @pytest.mark.parametrize(
        "text",
        [
            *("2..16..2", "..", "2..", "..2", "2...16", "1/2..3", "1..5/2", "3..2", "2..4,8"),
            *("nan..2", "1..inf", "1..1e999999999", "0..100000", "1..10^20", "x\n..2"),
            *(f"1e99998..1e99998+{MAX_POINTS - 1}", "-9" * 200 + "..1"),
        ],
        ids=shown,
    )
    def test_refused_grid(self, text: str) -> None:
        message_of(read_grid, text)
        assert message_of(read_grid, text, "n").startswith("n: ")

    @pytest.mark.parametrize("read", [read_list, read_grid])
    def test_caps(self, read: Any) -> None:
        assert read(",".join(["7"] * MAX_POINTS)) == (7,) * MAX_POINTS
        assert "at most 100,000" in message_of(read, ",".join(["7"] * (MAX_POINTS + 1)))
        assert "at most 10,000,000" in message_of(read, ",".join(["1e99999"] * 1000))

    def test_largest_range(self) -> None:
        assert len(read_grid(f"1..{MAX_POINTS}")) == MAX_POINTS


@given(st.text(max_size=200))
@example("\x1b]0;title\x07" * 30)
@example("'\"\n")
def test_shown_is_short_and_printable(text: str) -> None:
    quoted = shown(text)
    assert len(quoted) <= 40
    assert quoted.isprintable()
    assert quoted == repr(text) or "..." in quoted


def test_import_is_light() -> None:
    code = "import sys, symbolic.numbers; print(*{'sympy', 'numpy', 'mpmath'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
