"""Certified evaluation: texts, special places, extreme input and refusals."""

import json
import pickle
import sys
import time
from dataclasses import asdict, replace
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from math import isqrt
from typing import Any

import gmpy2
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from numeric.evaluate import MAX_DIGITS, Value, checked_digits, evaluate, evaluate_formula
from symbolic.catalogue import formula, formula_names
from symbolic.errors import InputError, MhflowError, UndecidedError
from symbolic.formula import SpecialCase
from tests.numeric.independent import INDEPENDENT, exact_decimals
from tests.numeric.strategies import INTEGRALS, draws, ordinary

# Integrals of ten thousand digits take minutes.
QUICK = [name for name in formula_names() if name not in INTEGRALS]


def value(name: str, digits: int = 50, **parameters: object) -> str:
    """Return the digits only."""
    return evaluate(name, digits=digits, **parameters).value


# OEIS A094214, A002193 (minus one), A002162 and A002391 (ln 3).
GOLDEN = "0.61803398874989484820458683436563811772030917980576"
SILVER = "0.41421356237309504880168872420969807856967187537695"
LN_2 = "0.69314718055994530941723212145817656807550013436026"
LN_3 = "1.09861228866811"


def test_values_of_the_literature() -> None:
    assert value("critical-cosine", H=2) == GOLDEN
    assert value("critical-cosine", H=3) == SILVER
    assert value("sharp-critical-beta", n=3, H=2, alpha="1/2") == LN_2
    assert value("sharp-critical-beta", n=4, H=2, alpha="1/2", digits=15) == LN_3
    assert value("critical-cosine", H=1, digits=5) == "1.0000"
    assert value("sharp-critical-cosine", H=4, digits=5) == "0.50000"


def test_the_whole_answer() -> None:
    assert evaluate("critical-beta", n="10^2", H="2", alpha="0.50", digits=5) == Value(
        formula="critical-beta",
        parameters={"n": "100", "H": "2", "alpha": "1/2"},
        digits=5,
        value="4.1139",  # ln 99 - arsinh(1/2) = 4.5951 - 0.4812
        radius=evaluate("critical-beta", n=100, H=2, alpha=Fraction(1, 2), digits=5).radius,
        certified=True,
        remarks=(),
    )


@pytest.mark.parametrize("name", formula_names())
def test_the_answer_is_plain_data(name: str) -> None:
    answer = evaluate(name, digits=20, **ordinary(formula(name)))
    assert json.loads(json.dumps(asdict(answer)))["value"] == answer.value
    assert pickle.loads(pickle.dumps(answer)) == answer
    again = evaluate(name, digits=20, **answer.parameters)
    assert again == answer


@pytest.mark.parametrize("name", QUICK)
@given(data=st.data())
def test_the_radius_bounds_the_error(name: str, data: st.DataObject) -> None:
    check_radius(name, data)


@pytest.mark.parametrize("name", INTEGRALS)
@settings(max_examples=8)
@given(data=st.data())
def test_the_radius_bounds_the_error_of_an_integral(name: str, data: st.DataObject) -> None:
    # mpmath takes up to seconds for one.
    check_radius(name, data)


def is_beside_a_tie(number: Decimal, digits: int) -> bool:
    """Tell whether a number is next to one half of the last digit, as far as it is known."""
    exact = exact_decimals(80)
    rest = exact.remainder(exact.scaleb(abs(number), digits - 1 - number.adjusted()), Decimal(1))
    return abs(rest - Decimal("0.5")) < Decimal("1e-25")


def check_radius(name: str, data: st.DataObject) -> None:
    values = data.draw(draws(formula(name)))
    digits = data.draw(st.integers(1, 30))
    other = INDEPENDENT[name](values)
    if other is None:
        with pytest.raises(InputError, match="no value at"):
            evaluate(name, digits=digits, **values)
        return
    try:
        answer = evaluate(name, digits=digits, **values)
    except UndecidedError:
        # As for -7500000 but for e^(-3*10^6), at one digit.
        assert is_beside_a_tie(other, digits)
        return
    if not other.is_finite():
        assert (answer.value, answer.radius) == ("+inf" if other > 0 else "-inf", "0")
        return
    # Radius before rounding, half a unit of the last digit for it, and what the other method lacks.
    exact = exact_decimals(80)
    text = Decimal(answer.value)
    unit = exact.scaleb(Decimal(1), text.adjusted() - digits + 1)
    bound = exact.add(Decimal(answer.radius), exact.divide(unit, Decimal(2)))
    error = exact.abs(exact.subtract(text, other))
    if text:
        assert error <= exact.multiply(bound, Decimal("1.000001"))
        assert Decimal(answer.radius) <= unit
    else:
        assert other == 0
        assert answer.radius == "0"


@pytest.mark.parametrize(
    ("root", "digits", "text"),
    [(8, 2, "0.12"), (4, 1, "0.2"), (16, 2, "0.062"), (32, 3, "0.0312"), (40, 1, "0.02")],
)
def test_exact_ties_go_to_even(root: int, digits: int, text: str) -> None:
    answer = evaluate("sharp-critical-cosine", H=root**2, digits=digits)
    assert (answer.value, answer.radius) == (text, "0")


@pytest.mark.parametrize(("gamma", "text"), [("-1/4", "0.2"), ("-0.17", "0.4"), ("-19/300", "0.4")])
def test_exact_ties_of_the_radial_cosine(gamma: str, text: str) -> None:
    # Without attention the cosine of four tokens is sqrt((1 + 3 gamma)/4): 1/4, 7/20, 9/20.
    assert value("radial-cosine", lam=1, beta=0, n=4, gamma=gamma, digits=1) == text


@pytest.mark.parametrize("distance", [5, 30, 100, 2000])
def test_a_hair_above_a_tie(distance: int) -> None:
    # sixteen orthonormal tokens: 1/4 at beta = 0, and more above.
    given_beta = Fraction(1, 10**distance)
    assert value("radial-cosine", lam=1, beta=given_beta, n=16, gamma=0, digits=1) == "0.3"


@pytest.mark.parametrize(("above", "text"), [(True, "1.0000"), (False, "0.99999")])
@pytest.mark.parametrize("beta", [Fraction(0), Fraction(1, 10**200)])
def test_a_carry_into_the_next_power_of_ten(beta: Fraction, above: bool, text: str) -> None:
    # A tie between 0.99999 and 1.0000 but for 10^-100, which the last term of 10^-200 cannot turn.
    cosine = 1 - Fraction(5, 10**6) + (1 if above else -1) * Fraction(1, 10**100)
    gamma = (4 * cosine**2 - 1) / 3
    assert value("radial-cosine", lam=1, beta=beta, n=4, gamma=gamma, digits=5) == text


@pytest.mark.parametrize("beta", ["1e6", "10^100", "10^4000"])
def test_what_rounds_to_one_is_one(beta: str) -> None:
    answer = evaluate("radial-cosine", lam=1, beta=beta, n="10^100", gamma="0.1", digits=7)
    assert answer.value == "1.000000"
    # Below one by an amount that no radius may claim to know.
    assert answer.radius != "0"


@pytest.mark.parametrize("exponent", [10, 100, 5000])
def test_the_ends_of_the_overlap_and_beside_them(exponent: int) -> None:
    hair, n = Fraction(1, 10**exponent), 10
    low = Fraction(-1, n - 1)
    fixed = {"lam": 1, "n": n, "digits": 3}
    assert value("radial-cosine", beta=1, gamma=1 - hair, **fixed) == "1.00"
    assert value("radial-cosine", beta=1, gamma=low + hair, **fixed) == "1.00"
    # Without attention the square is (1 + 9 gamma)/10 = 0.9 times the hair.
    near = Decimal(value("radial-cosine", beta=0, gamma=low + hair, **fixed))
    assert near == exact_decimals(3).sqrt(Decimal(9).scaleb(-exponent - 1))
    for beta in (0, 1):
        with pytest.raises(InputError, match=r"gamma: .* outside its domain"):
            evaluate("radial-cosine", beta=beta, gamma=low - hair, **fixed)
        with pytest.raises(InputError, match=r"gamma: .* outside its domain"):
            evaluate("radial-cosine", beta=beta, gamma=1 + hair, **fixed)


def test_special_cases_are_answers() -> None:
    one_head = evaluate("critical-beta", n=5, H=1, alpha=1)
    assert (one_head.value, one_head.radius) == ("+inf", "0")
    assert one_head.certified
    assert len(one_head.remarks) == 1
    agreeing = evaluate("radial-cosine", lam=1, beta=0, n=5, gamma=1, digits=4)
    assert (agreeing.value, agreeing.radius) == ("1.000", "0")
    with pytest.raises(InputError, match="no value at beta = 0 and gamma") as found:
        evaluate("radial-cosine", lam=1, beta=0, n=5, gamma="-1/4")
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    ("special", "text", "radius"),
    [
        (-sp.oo, "-inf", "0"),
        (sp.S.Zero, "0", "0"),
        (sp.Rational(-5, 2), "-2.50", "0"),
        (sp.log(2), "0.693", None),
    ],
)
def test_values_a_special_case_may_have(special: sp.Expr, text: str, radius: str | None) -> None:
    case = SpecialCase(lambda values: values["H"] == 7, "H = 7", special, "made up")
    subject = replace(formula("critical-cosine"), special_cases=(case,))
    answer = evaluate_formula(subject, digits=3, H=7)
    assert answer.value == text
    assert answer.remarks == ("made up",)
    assert radius is None or answer.radius == radius
    assert evaluate_formula(subject, digits=3, H=2).value == GOLDEN[:5]


@pytest.mark.parametrize(("n", "sign"), [(6, 1), (5, -1), (2, -1)])
def test_remark_where_the_critical_value_is_not_positive(n: int, sign: int) -> None:
    # The least n is (H-1)^2 + 2 = 6 at H = 3.
    answer = evaluate("critical-beta", n=n, H=3, alpha=1, digits=3)
    assert answer.value.startswith("-") == (sign < 0)
    assert bool(answer.remarks) == (sign < 0)


def test_exact_zero_has_the_text_zero() -> None:
    answer = evaluate("sharp-critical-beta", n=10**60, H=10**60, alpha="1e-30")
    assert (answer.value, answer.radius) == ("0", "0")
    assert answer.remarks


def test_beside_zero_of_the_critical_value() -> None:
    # n = (H-1)^2 + 2 at H - 1 = m: the argument of the logarithm is 1 + m^-4 + ..., by the
    # continued fraction of the metallic mean, so that beta* = m^-4/(2 alpha) (1 - O(m^-2)).
    m = 10**40
    above = evaluate("critical-beta", n=m**2 + 2, H=m + 1, alpha=Fraction(1, 2), digits=50)
    assert Decimal(above.value) == Decimal("1e-160")
    below = evaluate("critical-beta", n=m**2 + 1, H=m + 1, alpha=Fraction(1, 2), digits=50)
    assert Decimal(below.value) == Decimal("-1e-80")
    assert not above.remarks
    assert below.remarks


def test_integers_of_any_length() -> None:
    limit = sys.get_int_max_str_digits()
    long = 10**5000
    answer = evaluate("sharp-critical-cosine", H=long, digits=3)
    assert answer.value == "1.00e-2500"
    assert len(answer.parameters["H"]) == 5001
    # 1/sqrt(H) is between s and s + 10^-13000, for s with 10,500 digits.
    root = Decimal(isqrt(10**26_000 // (long + 1))).scaleb(-13_000, exact_decimals(20_000))
    text = evaluate("sharp-critical-cosine", H=long + 1, digits=10_000).value
    assert Decimal(text) == exact_decimals(10_000).plus(root)
    # ln(10^5000 - 1) less what no digit shows, against decimal.
    context = exact_decimals(40)
    logarithm = context.multiply(context.ln(Decimal(10)), Decimal(5000))
    text = evaluate("sharp-critical-beta", n=long, H=2, alpha=Fraction(1, 2), digits=30).value
    assert Decimal(text) == exact_decimals(30).plus(logarithm)
    assert evaluate("radial-cosine", lam=1, beta=0, n=long, gamma=0, digits=2).value == "1.0e-2500"
    with pytest.raises(InputError, match=r"H: .* outside its domain"):
        evaluate("critical-cosine", H=-long)
    assert sys.get_int_max_str_digits() == limit


EXTREMES: list[tuple[str, dict[str, Any]]] = [
    ("critical-cosine", {"H": 10**6}),
    ("critical-beta", {"n": "10^100", "H": 10**6, "alpha": "1e-30"}),
    ("critical-beta", {"n": "10^100", "H": 2, "alpha": "10^100"}),
    ("sharp-critical-beta", {"n": 2, "H": "10^100", "alpha": "1e6"}),
    ("radial-cosine", {"lam": 1, "beta": "1e-30", "n": "10^100", "gamma": "1/2"}),
    ("radial-cosine", {"lam": "1e-30", "beta": "1e6", "n": "10^100", "gamma": "1e-100"}),
    ("radial-cosine", {"lam": "10^100", "beta": "1e-98", "n": "10^100", "gamma": "-10^-100"}),
    ("rate", {"lam": "1e6", "beta": "1e6", "n": "10^100"}),
    ("rate", {"lam": "-1e6", "beta": "1e6", "n": 2}),
    ("rate-peak", {"n": "10^100", "beta": "1e-30"}),
    ("rate-peak", {"n": 2, "beta": "1e6"}),
    ("rate-inflection", {"n": "10^100", "beta": "1e-30"}),
    ("rate-inflection", {"n": 2, "beta": "1e6"}),
    ("foreign-strength", {"n": 2, "H": "10^100", "beta": "1e6", "lam": "1e6"}),
    ("foreign-strength", {"n": "10^100", "H": 2, "beta": "1e-30", "lam": "1e-30"}),
    ("early-rate", {"lam": "1,-1", "beta": "1e-30", "n": "10^100"}),
    ("early-rate", {"lam": "1e6,0,-1e6,1e-6", "beta": "1e6", "n": 2}),
    ("late-rate", {"model": "unnormalised", "lam": "1e6,-1e6", "beta": "1e6"}),
    ("late-rate", {"model": "unnormalised", "lam": "1,1,-2", "beta": "1e-30"}),
    ("attention-entropy", {"lam": 1, "beta": "1e12", "n": "10^100", "gamma": "1/2"}),
    ("attention-entropy", {"lam": -1, "beta": "1e12", "n": 2, "gamma": "-1"}),
    ("attention-entropy", {"lam": 1, "beta": "1e-30", "n": 2, "gamma": "1-1e-30"}),
]


@pytest.mark.parametrize(("name", "parameters"), EXTREMES)
@pytest.mark.parametrize("digits", [1, 30])
def test_extreme_input_is_ordinary(name: str, parameters: dict[str, Any], digits: int) -> None:
    other = INDEPENDENT[name](formula(name).read(parameters))
    assert other is not None
    answer = evaluate(name, digits=digits, **parameters)
    assert Decimal(answer.value) == exact_decimals(digits).plus(other)
    assert (
        0 < Decimal(answer.radius) < exact_decimals(9).scaleb(Decimal(1), other.adjusted() - digits)
    )


@pytest.mark.parametrize("exponent", [13, 100, 1500])
def test_rates_with_exponents_that_decimals_do_not_have(exponent: int) -> None:
    # 2 x e^-x at x = 10^exponent, but for digits far beyond those printed.
    with localcontext(exact_decimals(exponent + 60)):
        logarithm = exponent + Decimal(2).log10() - Decimal(10) ** exponent / Decimal(10).ln()
        power = logarithm.to_integral_value(ROUND_FLOOR)
        figures = exact_decimals(20).plus(Decimal(10) ** (logarithm - power))
    for tokens in (2, 10**9):
        text = value("rate", lam=10**exponent, beta=1, n=tokens, digits=20)
        assert text == f"{figures}e{power:f}"


def test_tokens_of_any_number() -> None:
    # x_c = L + 4/L - 32/(3 L^3) + ..., and x = L - ln L + ... at the peak, L = ln(n-1).
    context = exact_decimals(60)
    tokens = 10**5000
    large = context.multiply(context.ln(Decimal(10)), Decimal(5000))
    found = Decimal(value("rate-inflection", n=tokens, beta=1, digits=40))
    with localcontext(context):
        assert abs(found - large - 4 / large + 32 / (3 * large**3)) < 1000 / large**5
        peak = Decimal(value("rate-peak", n=tokens, beta=1, digits=40))
        assert abs((peak - 1).ln() + peak - large) < Decimal("1e-35")


@pytest.mark.parametrize("heads", [1, 2, 100])
def test_lists_of_any_length(heads: int) -> None:
    equal = evaluate("early-rate", lam=["1/3"] * heads, beta=2, n=5, digits=30)
    assert equal.parameters["lam"] == ["1/3"] * heads
    one = Decimal(value("rate", lam=Fraction(heads, 3), beta=Fraction(2, heads), n=5, digits=40))
    assert Decimal(equal.value) == exact_decimals(30).plus(one)
    mixed = [Fraction(k - heads // 2, 7) for k in range(heads)]
    total = evaluate("late-rate", lam=mixed, digits=5)
    assert Decimal(total.value) == exact_decimals(5).divide(
        Decimal((2 * sum(mixed, Fraction(0))).numerator),
        Decimal((2 * sum(mixed, Fraction(0))).denominator),
    )


def test_rates_that_are_exactly_zero() -> None:
    for name, parameters in [
        ("early-rate", {"lam": "0,0", "beta": 1, "n": 5}),
        ("early-rate", {"lam": "1,-1", "beta": 0, "n": 5}),
        ("late-rate", {"lam": "1,-1/2,-1/2"}),
        ("late-rate", {"lam": "-1,-2", "model": "relu"}),
        ("late-rate", {"lam": "1,-1", "model": "unnormalised", "beta": 0}),
        ("rate", {"lam": 0, "beta": 1, "n": 5}),
    ]:
        answer = evaluate(name, **parameters)  # type: ignore[arg-type]
        assert (answer.value, answer.radius) == ("0", "0")


def test_the_model_and_what_it_leaves_out() -> None:
    default = evaluate("late-rate", lam="1,2", digits=3)
    assert (default.value, default.remarks) == ("6.00", ())
    assert default.parameters == {"model": "softmax", "lam": ["1", "2"]}
    given_too = evaluate("late-rate", model="relu", lam="1,2", beta=3, digits=3)
    assert given_too.value == "10.0"
    assert given_too.remarks == ("beta does not enter in the model relu",)
    assert value("late-rate", model="unnormalised", lam="1,2", beta=0, digits=3) == "6.00"


@pytest.mark.parametrize("alpha", ["1e-30", "1e6"])
def test_the_strength_only_scales(alpha: str) -> None:
    power = {"1e-30": 30, "1e6": -6}[alpha]
    scaled = Decimal(value("critical-beta", n=64, H=4, alpha=alpha, digits=40))
    assert scaled == Decimal(value("critical-beta", n=64, H=4, alpha=1, digits=40)).scaleb(
        power, exact_decimals(40)
    )


@pytest.mark.parametrize("digits", [1, 2, 999, MAX_DIGITS])
@pytest.mark.parametrize("name", QUICK)
def test_as_many_digits_as_asked_for(name: str, digits: int) -> None:
    text = value(name, digits=digits, **ordinary(formula(name)))
    figures = text.partition("e")[0].lstrip("-").replace(".", "").lstrip("0")
    assert len(figures) == digits


@pytest.mark.parametrize("digits", [1, 2, 300])
@pytest.mark.parametrize("name", INTEGRALS)
def test_as_many_digits_of_an_integral_as_asked_for(name: str, digits: int) -> None:
    text = value(name, digits=digits, **ordinary(formula(name)))
    assert len(text.partition("e")[0].replace(".", "").lstrip("0")) == digits


@pytest.mark.parametrize("name", QUICK)
def test_ten_thousand_digits_are_quick(name: str) -> None:
    values = ordinary(formula(name))
    times = []
    for _ in range(3):
        start = time.perf_counter()
        evaluate(name, digits=MAX_DIGITS, **values)
        times.append(time.perf_counter() - start)
    # Measured: 30 ms at most.
    assert min(times) < 0.5


@pytest.mark.parametrize(
    "heads",
    [2, "2", "4/2", Fraction(2), Decimal(2), np.int64(2), np.uint8(2), gmpy2.mpz(2), sp.Integer(2)],
)
def test_exact_numbers_of_all_kinds(heads: object) -> None:
    assert value("critical-cosine", H=heads) == GOLDEN


@pytest.mark.parametrize("heads", [2.0, np.float64(2), float("nan"), 2j, True, None, [2]])
def test_floats_and_other_things_are_refused(heads: object) -> None:
    with pytest.raises(InputError, match=r"^H: "):
        evaluate("critical-cosine", H=heads)


@pytest.mark.parametrize("digits", [1, 50, MAX_DIGITS, np.int64(7), gmpy2.mpz(7)])
def test_numbers_of_digits(digits: int) -> None:
    checked = checked_digits(digits)
    assert checked == digits
    assert type(checked) is int
    assert type(evaluate("critical-cosine", H=2, digits=digits).digits) is int


class Rude:
    """An object that does not say what it is."""

    def __repr__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("digits", "shown"),
    [
        (0, "0"),
        (-3, "-3"),
        (10_001, "10001"),
        (10.0, "10.0"),
        (True, "True"),
        ("50", "'50'"),
        (None, "None"),
        (Fraction(5), "Fraction(5, 1)"),
        ("a\n" * 100, "'a"),
        (np.ones((2, 2)), "array"),
        (Rude(), "Rude"),
    ],
)
def test_other_numbers_of_digits_are_refused(digits: object, shown: str) -> None:
    with pytest.raises(InputError, match=r"^digits: .*give an integer from 1 to 10000$") as found:
        evaluate("critical-cosine", H=2, digits=digits)  # type: ignore[arg-type]
    assert shown in str(found.value)
    assert "\n" not in str(found.value)
    assert len(str(found.value)) < 120


def test_a_number_of_digits_too_long_to_write_out_is_refused() -> None:
    with pytest.raises(InputError, match=r"^digits: 10+\.\.\.0+ is not accepted"):
        evaluate("critical-cosine", H=2, digits=10**5000)


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("critical-cosin", {"H": 2}, "nearest: critical-cosine"),
        ("critical-cosine", {}, "missing parameter H"),
        ("critical-cosine", {"H": 2, "K": 3}, "no parameter 'K'"),
        ("critical-cosine", {"H": 0}, "H: 0 is outside its domain: integer >= 1"),
        ("critical-cosine", {"H": "3/2"}, "H: 3/2 is outside its domain"),
        ("critical-beta", {"n": 1, "H": 2, "alpha": 1}, "n: 1 is outside its domain"),
        ("critical-beta", {"n": 4, "H": 2, "alpha": 0}, "alpha: 0 is outside its domain"),
        ("critical-beta", {"n": 4, "H": 2, "alpha": "nan"}, "alpha: 'nan' is not a number"),
        ("late-rate", {}, "missing parameter lam (list of reals, one for each head)"),
        ("late-rate", {"lam": ""}, "lam: '' has an empty place"),
        ("late-rate", {"lam": []}, "lam: the list is empty"),
        ("late-rate", {"lam": "1,,2"}, "lam: '1,,2' has an empty place"),
        ("late-rate", {"lam": [1, 2.5]}, "lam: the binary float 2.5 is not exact"),
        ("late-rate", {"lam": np.array([0.5])}, "lam: the binary float 0.5 is not exact"),
        ("late-rate", {"lam": {1: 2}}, "lam: {1: 2} of type dict"),
        ("late-rate", {"lam": {1}}, "lam: {1} of type set"),
        ("late-rate", {"lam": b"12"}, "lam: b'12' of type bytes"),
        ("late-rate", {"lam": [[1, 2]]}, "lam: [1, 2] of type list"),
        ("late-rate", {"lam": np.array(3)}, "lam: array(3) of type ndarray"),
        ("late-rate", {"lam": 1, "model": "foo"}, "model: 'foo' is not accepted"),
        ("late-rate", {"lam": 1, "model": None}, "model: None is not accepted"),
        ("late-rate", {"lam": 1, "model": np.array(["relu", "relu"])}, "is not accepted"),
        ("late-rate", {"lam": 1, "model": "unnormalised"}, "missing parameter beta (real >= 0)"),
        ("late-rate", {"lam": 1, "beta": -1}, "beta: -1 is outside its domain"),
        ("rate-inflection", {"n": 2, "beta": 0}, "beta: 0 is outside its domain: real > 0"),
    ],
)
def test_wrong_calls_are_refused(name: str, parameters: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as found:
        evaluate(name, **parameters)  # type: ignore[arg-type]
    assert message in str(found.value)
    assert isinstance(found.value, MhflowError)
    assert "\n" not in str(found.value)
