"""The float64 path, against independent methods and mpmath, and how it treats arrays."""

import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mpmath.ctx_mp import MPContext

from numeric import float64
from numeric.float64 import TOLERANCE, evaluate_float64
from numeric.float_arithmetic import Bounded, BoundedFloats
from symbolic.catalogue import formula, formula_names
from symbolic.errors import InputError
from symbolic.formula import Formula
from symbolic.rate_inflection import DEFINITION
from tests.numeric.independent import INDEPENDENT, exact_decimals
from tests.numeric.strategies import INTEGRALS, Values, draws, ordinary

Array = npt.NDArray[np.float64]
CLOSE = exact_decimals(60)


Point = dict[str, Any]
"""A float, a tuple of floats or a word for each parameter."""


# Integrals have no float64 rule: balls take over, and the other methods take long.
ELEMENTARY = [name for name in formula_names() if name not in INTEGRALS]


def exact(point: Point) -> Values:
    """Return floats as fractions."""
    return {key: each(Fraction, value) for key, value in point.items()}


def each(convert: Callable[[Any], Any], value: Any) -> Any:
    """Return a number or all of a tuple converted, and a word as it is."""
    if isinstance(value, tuple):
        return tuple(convert(number) for number in value)
    return value if isinstance(value, str) else convert(value)


def truth(name: str, point: Point) -> Decimal | None:
    """Return the value at exactly these floats, by another method."""
    return INDEPENDENT[name](exact(point))


def relative_error(found: float, other: Decimal) -> float:
    """Return the relative error of a float, infinite if only one of the two is zero or infinite."""
    if not other or not other.is_finite() or not np.isfinite(found):
        return 0.0 if Decimal(float(found)) == other else np.inf
    error = CLOSE.subtract(Decimal(float(found)), other)
    return abs(float(CLOSE.divide(error, other)))


def points(parameters: dict[str, Any], size: int) -> list[Point]:
    """Return the points of arrays of one size, of tuples of them, and of words."""
    return [
        {key: each(partial(_item, place=k), value) for key, value in parameters.items()}
        for k in range(size)
    ]


def _item(array: Array, place: int) -> float:
    return float(array[place])


def grid(name: str, size: int) -> dict[str, Any]:
    """Return random points of the size that users ask for."""
    random = np.random.default_rng(20_240_607)
    n = random.integers(2, 2000, size).astype(float)
    drawn = {
        "H": random.integers(2, 65, size).astype(float),
        "n": n,
        "alpha": random.uniform(0.1, 5, size),
        "lam": random.uniform(0.1, 5, size),
        "beta": random.uniform(0.01, 6, size),
        "gamma": random.uniform(-0.9 / (n - 1), 1),
    }
    # Where formulas have a value, and not only 0.
    drawn["mean"] = random.uniform(10, 30, size) / drawn["beta"]
    if name == "exit-overlap":
        drawn |= {"H": np.full(size, 2.0), "n": n + 100, "lam": drawn["lam"] / drawn["beta"] / 5}
    lists = {"lam": tuple(random.uniform(-2, 5, size) for _ in range(3)), "model": "unnormalised"}
    return {
        p.name: lists[p.name] if p.many or p.choices else drawn[p.name]
        for p in formula(name).parameters
    }


# Worst seen of 3,000 points in units of the last place, a little above 1e-16 each; the large ones
# are where terms cancel, just below the cancellation that goes to balls, or an exponent is rounded.
UNITS = {
    "critical-cosine": 3,
    "sharp-critical-cosine": 2,
    "critical-beta": 100,
    "sharp-critical-beta": 100,
    "radial-cosine": 30,
    "rate": 20,
    "rate-peak": 4,
    "rate-inflection": 4,
    "foreign-strength": 30,
    "attention-entropy": 30,
}


@pytest.mark.parametrize("name", ELEMENTARY)
def test_accuracy_at_ordinary_points(name: str) -> None:
    parameters = grid(name, 200)
    found = evaluate_float64(name, **parameters)
    others = [truth(name, point) for point in points(parameters, 200)]
    errors = [relative_error(x, other) for x, other in zip(found, others, strict=True) if other]
    assert len(errors) > 195
    assert max(errors) <= UNITS.get(name, 100) * 2.0**-52
    assert np.median(errors) <= 2.0**-51


def rounded(subject: Formula, values: Values) -> Point | None:
    """Return the nearest floats, None if they are infinite or leave the domain."""
    try:
        point = {key: each(float, value) for key, value in values.items()}
        subject.read(exact(point))
    except (InputError, OverflowError):
        return None
    return point


def at_rounded_end(subject: Formula, point: Point) -> bool:
    """Tell whether floats count as an end of the domain that they only round to."""
    case = subject.special_case({key: each(np.float64, value) for key, value in point.items()})
    return case is not None and case is not subject.special_case(exact(point))


def out_of_range(found: float, other: Decimal) -> bool:
    """Tell whether a value is the nearest float to one where floats are far apart, or infinite."""
    size = other.copy_abs()
    if size < Decimal("1e-300"):
        return found == float(other)
    return size > Decimal("1.797e308") and found == float(Decimal("inf").copy_sign(other))


@pytest.mark.parametrize("name", INTEGRALS)
def test_integrals_are_rounded_from_balls(name: str) -> None:
    point = rounded(formula(name), ordinary(formula(name)))
    assert point is not None
    found = evaluate_float64(name, **point)
    assert found.shape == ()
    assert relative_error(float(found), truth(name, point) or Decimal(0)) <= 2.0**-52


@pytest.mark.parametrize("name", ELEMENTARY)
@settings(max_examples=300)
@given(data=st.data())
def test_accuracy_and_error_bound_anywhere(name: str, data: st.DataObject) -> None:
    subject = formula(name)
    point = rounded(subject, data.draw(draws(subject)))
    if point is None or at_rounded_end(subject, point):
        return
    found, other = float(evaluate_float64(name, **point)), truth(name, point)
    if other is None:
        assert np.isnan(found)
        return
    assert relative_error(found, other) <= TOLERANCE or out_of_range(found, other)
    if subject.special_case(exact(point)) is None:
        check_error_bound(subject, point, other)


def check_error_bound(subject: Formula, point: Point, other: Decimal) -> None:
    """Assert that the bound carried along holds, whatever its size."""
    columns = {key: each(lambda v: np.array(v, dtype=float), v) for key, v in point.items()}
    with np.errstate(all="ignore"):
        bounded = float64._bounded(subject, columns)
    if np.isfinite(bounded.value) and np.isfinite(bounded.error):
        error = CLOSE.abs(CLOSE.subtract(Decimal(float(bounded.value)), other))
        assert error <= CLOSE.multiply(Decimal(float(bounded.error)), Decimal("1.000001"))


# Where plain float64 arithmetic fails: cancellation, overflow, and infinity times zero.
HARD: list[tuple[str, Point]] = [
    ("critical-cosine", {"H": 1e200}),
    ("critical-beta", {"n": 1e16, "H": 1e8, "alpha": 1.0}),
    ("critical-beta", {"n": 27.0, "H": 6.0, "alpha": 1.0}),
    ("critical-beta", {"n": 1e300, "H": 3e149, "alpha": 1e-300}),
    ("sharp-critical-beta", {"n": 1e15 + 1, "H": 1e15, "alpha": 1e-3}),
    ("radial-cosine", {"lam": 1.0, "beta": 1.0, "n": 1e200, "gamma": 0.5}),
    ("radial-cosine", {"lam": 1.0, "beta": 230.0, "n": 1e200, "gamma": 1e-3}),
    ("radial-cosine", {"lam": 1e-9, "beta": 1e-9, "n": 1e4, "gamma": -1.00009999e-4}),
    ("rate", {"lam": 700.0, "beta": 1.0, "n": 1e304}),
    ("rate-inflection", {"n": 1e308, "beta": 1e-300}),
    ("foreign-strength", {"n": 2.0, "H": 1e20, "beta": 300.0, "lam": 2.0}),
    ("early-rate", {"lam": (1.0, -1.0), "beta": 1e-12, "n": 64.0}),
    ("early-rate", {"lam": (1e3, 0.5, -0.5), "beta": 1.0, "n": 1e9}),
    ("late-rate", {"model": "unnormalised", "lam": (1.0, -1.0), "beta": 1e-10}),
    ("late-rate", {"model": "unnormalised", "lam": (2.0, -800.0), "beta": 1.0}),
    ("attention-entropy", {"lam": -1.0, "beta": 1e6, "n": 3.0, "gamma": 0.0}),
    ("attention-entropy", {"lam": -3.0, "beta": 200.0, "n": 2.0, "gamma": 0.0}),
]


@pytest.mark.parametrize(("name", "point"), HARD)
def test_hard_points(name: str, point: dict[str, float]) -> None:
    other = truth(name, point)
    assert other is not None
    assert relative_error(float(evaluate_float64(name, **point)), other) <= 2.0**-51


def test_hard_points_need_the_error_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(float64, "TOLERANCE", np.inf)
    wrong = 0
    for name, point in HARD:
        other = truth(name, point)
        assert other is not None
        with np.errstate(all="ignore"):
            wrong += not relative_error(float(evaluate_float64(name, **point)), other) <= TOLERANCE
    assert wrong >= 3


def test_ordinary_points_take_no_balls(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> float:
        raise AssertionError("balls")

    monkeypatch.setattr(float64, "_in_balls", refuse)
    gamma = np.linspace(0, 1, 1001)
    assert evaluate_float64("radial-cosine", lam=1, beta=2, n=64, gamma=gamma).shape == (1001,)
    # Special cases take none either: at beta = 0 and both ends the expression has no float.
    ends = evaluate_float64("radial-cosine", lam=1, beta=[0, 1], n=3, gamma=np.array([[1], [-0.5]]))
    assert ends.shape == (2, 2)
    assert evaluate_float64("critical-cosine", H=np.arange(1, 1000)).shape == (999,)
    assert evaluate_float64("critical-beta", n=1e5, H=np.arange(1, 30), alpha=0.5).shape == (29,)
    n = np.arange(2, 1002)
    for name in ("rate-peak", "rate-inflection"):
        assert evaluate_float64(name, n=[*n, 1e100, 1e300], beta=2).shape == (1002,)
    assert evaluate_float64("rate", lam=[[-3], [0], [4]], n=n, beta=2).shape == (3, 1000)
    assert evaluate_float64("foreign-strength", lam=3, H=[2, 9], n=n[:, None], beta=2).size == 2000
    assert evaluate_float64("early-rate", lam=[1, 2, 3.5], n=n, beta=2).shape == (1000,)
    # No head counts under relu: exactly zero, and no negative zero.
    none = evaluate_float64("late-rate", lam=[-n, -2, 0], model="relu")
    assert none.shape == (1000,)
    assert not none.any()
    assert not np.signbit(none).any()
    for strength in (-2, 2):
        evaluate_float64("attention-entropy", lam=strength, beta=1, n=n, gamma=[[0], [0.5], [1]])
    with pytest.raises(AssertionError, match="balls"):
        evaluate_float64("critical-beta", n=1e16, H=1e8, alpha=1.0)


def test_lists_run_over_heads_along_the_first_axis() -> None:
    one = [evaluate_float64("rate", lam=x, beta=2, n=[[5], [7]]) for x in ([1, 2, 3], 4, [5, 6, 7])]
    expected = one[0] + one[1] + one[2]
    found = evaluate_float64("early-rate", lam=[[1, 2, 3], 4, [5, 6, 7]], beta=2, n=[[5], [7]])
    assert found.shape == (2, 3)
    assert found == pytest.approx(expected, rel=1e-14)
    square = np.array([[1.0, 2, 3], [4, 4, 4], [5, 6, 7]])
    assert np.all(evaluate_float64("early-rate", lam=square, beta=2, n=[[5], [7]]) == found)
    assert evaluate_float64("early-rate", lam=square[:, :0], beta=2, n=5).shape == (0,)
    alone = evaluate_float64("early-rate", lam=3, beta=2, n=5)
    assert alone == evaluate_float64("rate", lam=3, beta=2, n=5)
    assert np.all(evaluate_float64("early-rate", lam=np.array(3), beta=2, n=5) == alone)


def test_models_and_what_they_leave_out() -> None:
    lam = [np.array([1.0, -1.0]), 2]
    assert evaluate_float64("late-rate", lam=lam).tolist() == [6, 2]
    assert evaluate_float64("late-rate", lam=lam, model="softmax", beta=[[1], [2]]).shape == (2, 2)
    assert evaluate_float64("late-rate", lam=lam, model="relu").tolist() == [10, 8]
    found = evaluate_float64("late-rate", lam=lam, model="unnormalised", beta=0.5)
    assert found == pytest.approx(2 * (np.array([np.exp(0.5), -np.exp(-0.5)]) + 2 * np.e))
    for beta in (-1, np.nan):
        with pytest.raises(InputError, match=r"^beta: .* is outside its domain"):
            evaluate_float64("late-rate", lam=lam, beta=beta)


def test_overflow_on_the_way_goes_to_balls(monkeypatch: pytest.MonkeyPatch) -> None:
    H = formula("critical-cosine").parameters[0].symbol
    for evaluation, value in [
        (sp.log(sp.exp(H**2, evaluate=False), evaluate=False), 1e4),
        (sp.Mul(sp.exp(H**2), sp.exp(-(H**2)), evaluate=False), 1),
        (sp.exp(H**2), np.inf),
        (-sp.exp(-(H**2)), 0),
    ]:
        subject = replace(formula("critical-cosine"), evaluation=evaluation)
        monkeypatch.setattr(float64, "formula", lambda _, subject=subject: subject)
        assert evaluate_float64("critical-cosine", H=[100.0]).tolist() == [value]


@pytest.mark.parametrize("name", formula_names())
def test_shapes(name: str) -> None:
    point = {key: each(float, value) for key, value in ordinary(formula(name)).items()}
    one = evaluate_float64(name, **point)
    assert one.shape == ()
    first = next(key for key, value in point.items() if isinstance(value, float))
    others: dict[str, Any] = {key: number for key, number in point.items() if key != first}
    column = evaluate_float64(name, **others, **{first: np.full((3, 1), point[first])})
    assert column.shape == (3, 1)
    assert np.all(column == one)
    assert evaluate_float64(name, **others, **{first: np.zeros(0)}).shape == (0,)
    for result in (one, column):
        assert result.dtype == np.float64
        assert result.flags.writeable
        assert result.flags.owndata


def test_broadcasting() -> None:
    n, heads = np.array([[16], [64], [256]]), [1, 2, 4, 8]
    found = evaluate_float64("critical-beta", n=n, H=heads, alpha=0.5)
    assert found.shape == (3, 4)
    for i, j in np.ndindex(3, 4):
        assert found[i, j] == evaluate_float64("critical-beta", n=n[i, 0], H=heads[j], alpha=0.5)
    assert np.all(found[:, 0] == np.inf)
    assert np.all(np.isfinite(found[:, 1:]))


def test_the_caller_keeps_its_arrays() -> None:
    heads = np.array([1.0, 2.0, 3.0])
    evaluate_float64("critical-cosine", H=heads)[:] = 0
    assert heads.tolist() == [1, 2, 3]


def test_special_cases() -> None:
    found = evaluate_float64(
        "radial-cosine", lam=1, beta=[0, 0, 1, 1], n=5, gamma=[1, -0.25, 1, -0.25]
    )
    assert found.tolist()[0] == 1
    assert np.isnan(found[1])
    assert found.tolist()[2:] == [1, 1]
    assert evaluate_float64("sharp-critical-beta", n=9, H=9, alpha=1) == 0
    # The nearest float to -1/(n-1) is taken for the end, on whichever side of it it lies.
    n = np.arange(2, 200)
    ends = evaluate_float64("radial-cosine", lam=1, beta=1, n=n, gamma=-1 / (n - 1))
    assert np.all(ends == 1)
    # Here n - 1 is no float, the end is rounded twice, and the float after it is outside as well.
    n_above = 2.0**53 + 67_125_262
    outside = float(np.nextafter(-1 / (n_above - 1), 0))
    assert Fraction(outside) < Fraction(-1, int(n_above) - 1)
    assert np.isnan(evaluate_float64("radial-cosine", lam=1, beta=1, n=n_above, gamma=outside))


@pytest.mark.parametrize("name", formula_names())
@pytest.mark.parametrize("state", ["raise", "warn"])
def test_no_warning_and_no_change_of_the_error_state(name: str, state: Any) -> None:
    with np.errstate(all=state), warnings.catch_warnings():
        warnings.simplefilter("error")
        before = np.geterr()
        for scale in (1.0, 1e300):
            # Without much attention there is no critical spread.
            varied = ("gamma",) if name == "critical-spread" else ("gamma", "beta")
            point: Point = {
                key: np.array([float(value), 1e-300, 1.0])
                if key in varied
                else each(
                    lambda number: float(number) * (1 if key in ("start", "stop") else scale),  # noqa: B023
                    value,
                )
                for key, value in ordinary(formula(name)).items()
            }
            if "gamma" in point and scale > 1:
                point["gamma"] = 0.5
            values = evaluate_float64(name, **point)
            # Integrals of the steepest exponentials have no value.
            assert not np.any(np.isnan(values)) or (name in INTEGRALS and scale > 1)
        with pytest.raises(InputError):
            evaluate_float64(name, **dict.fromkeys(point, np.nan))
        assert np.geterr() == before


@pytest.mark.parametrize(
    "heads",
    [2, 2.0, np.float32(2), np.uint8(2), Fraction(2), Decimal(2), np.longdouble(2), [2], (2.0,)],
)
def test_real_numbers_of_all_kinds(heads: Any) -> None:
    assert np.all(evaluate_float64("critical-cosine", H=heads) == 2 / (1 + np.sqrt(5)))


@pytest.mark.parametrize(
    "heads",
    ["2", ["2"], b"2", 2j, [1j], None, True, [True], 10**400, [[1], [1, 2]], object(), {"a": 1}],
)
def test_what_is_not_a_real_number_is_refused(heads: Any) -> None:
    with pytest.raises(InputError, match=r"^H: .*; give real numbers|^H: nan") as found:
        evaluate_float64("critical-cosine", H=heads)
    assert "\n" not in str(found.value)
    assert len(str(found.value)) < 120


def test_integers_too_long_to_write_out_are_refused() -> None:
    limit = sys.get_int_max_str_digits()
    with pytest.raises(InputError, match=r"^H: .* is not accepted"):
        evaluate_float64("critical-cosine", H=10**5000)
    assert sys.get_int_max_str_digits() == limit


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("critical-cosin", {"H": 2}, "nearest: critical-cosine"),
        ("critical-cosine", {}, "parameters none given; it takes H"),
        ("critical-cosine", {"H": 2, "K": 2}, "parameters H, K given; it takes H"),
        ("critical-cosine", {"H": [1, 2, 0]}, "H: 0.0 is outside its domain: integer >= 1"),
        ("critical-cosine", {"H": 1.5}, "H: 1.5 is outside its domain"),
        ("critical-cosine", {"H": np.nan}, "H: nan is outside its domain"),
        ("critical-cosine", {"H": [np.inf]}, "H: inf is outside its domain"),
        ("critical-beta", {"n": 4, "H": 2, "alpha": [1, 0]}, "alpha: 0.0 is outside its domain"),
        ("critical-beta", {"n": [4, 5], "H": [2, 3, 4], "alpha": 1}, "n (2,), H (3,), alpha ()"),
        ("late-rate", {}, "parameters none given; it takes model, lam, beta"),
        ("late-rate", {"lam": []}, "lam: the list is empty"),
        ("late-rate", {"lam": np.zeros((0, 3))}, "lam: the list is empty"),
        ("late-rate", {"lam": "1,2"}, "lam: '1,2' is not accepted"),
        ("late-rate", {"lam": {1: 2}}, "lam: {1: 2} is not accepted"),
        ("late-rate", {"lam": [1, "2"]}, "lam: '2' is not accepted"),
        ("late-rate", {"lam": [1, [1, 2], [1, 2, 3]]}, "lam () (2,) (3,)"),
        ("late-rate", {"lam": [1, np.inf]}, "lam: inf is outside its domain"),
        ("late-rate", {"lam": 1, "model": "foo"}, "model: 'foo' is not accepted"),
        ("late-rate", {"lam": 1, "model": ["relu"]}, "model: ['relu'] is not accepted"),
        ("late-rate", {"lam": 1, "model": "unnormalised"}, "parameters lam, model given"),
        ("rate-peak", {"n": 5, "beta": [1, 0]}, "beta: 0.0 is outside its domain: real > 0"),
        (
            "radial-cosine",
            {"lam": 1, "beta": 1, "n": [2, 5], "gamma": -0.5},
            "gamma: -0.5 is outside its domain: real, -1/(n-1) <= gamma <= 1",
        ),
        ("radial-cosine", {"lam": 1, "beta": 1, "n": [1], "gamma": 0}, "n: 1.0 is outside"),
    ],
)
def test_wrong_calls_are_refused(name: str, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as found:
        evaluate_float64(name, **parameters)
    assert message in str(found.value)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("function", ["sqrt", "exp", "log", "asinh", "log1p", "LambertW"])
@given(st.floats(1e-300, 1e300), st.floats(0, 1))
@example(1.0, 0.0)
@example(1.0, 1e-13)
@example(700.0, 1e-3)
def test_the_bounds_of_functions_hold(function: str, middle: float, share: float) -> None:
    # What the function does to the interval must lie within the bound around its value.
    context: Any = MPContext()
    context.dps = 60
    error = middle * share
    with np.errstate(all="ignore"):
        argument = Bounded(np.float64(middle), np.float64(error))
        bounded = BoundedFloats().function(function, argument)
    assert np.isfinite(bounded.value) or function == "exp"
    assert np.isfinite(bounded.error) or function == "exp" or share == 1
    if np.isfinite(bounded.value) and np.isfinite(bounded.error):
        for end in (context.mpf(middle) - error, context.mpf(middle) + error):
            distance = abs(getattr(context, function.lower())(end) - float(bounded.value))
            assert distance <= context.mpf(float(bounded.error)) * (1 + 1e-12)


@given(st.integers(2, 10**9) | st.floats(2, 300).map(lambda e: float(int(10**e))))
def test_the_bounds_of_roots_hold(n: float) -> None:
    context: Any = MPContext()
    context.dps = 60
    with np.errstate(all="ignore"):
        tokens = Bounded(np.array([float(n)]), 0.0)
        bounded = BoundedFloats().implicit(DEFINITION, [tokens])
    low, high = (context.mpf(float(bounded.value[0])) + s * bounded.error[0] for s in (-1, 1))
    logarithm = context.log(context.mpf(float(n)) - 1)
    residuals = [context.log((x - 2) / (x + 2)) + x - logarithm for x in (low, high)]
    assert residuals[0] <= 0 <= residuals[1]
    assert bounded.error[0] <= 1e-14 * bounded.value[0]


def test_a_root_that_was_not_found_has_a_wide_bound() -> None:
    with np.errstate(all="ignore"):
        for start in (sp.Integer(3), sp.Integer(10**9), sp.Integer(2), sp.Integer(1)):
            definition = replace(DEFINITION, start=start)
            bounded = BoundedFloats().implicit(definition, [Bounded(np.array([64.0]), 0.0)])
            error = abs(bounded.value[0] - 4.991965836822176)
            assert not bounded.error[0] < error
        # A root of the residual below the bound is another matter.
        definition = replace(DEFINITION, lower=sp.Integer(5))
        bounded = BoundedFloats().implicit(definition, [Bounded(np.array([64.0]), 0.0)])
        assert bounded.error == np.inf


floats = st.floats(allow_nan=False, allow_infinity=False)
errors = st.just(0.0) | st.floats(0, 1e300) | st.floats(0, 1)


@given(floats, errors, floats, errors, st.sampled_from([1, -1]), st.sampled_from([1, -1]))
@example(1.0, 0.0, 1e-16, 0.0, 1, 1)
@example(1 / 3, 0.0, 1 / 3, 0.0, 1, 1)
@example(1e-200, 0.0, 1e-200, 0.0, 1, 1)
@example(0.0, 1.0, 0.0, 1.0, 1, -1)
def test_the_bounds_of_sums_and_products_hold(
    x: float, x_error: float, y: float, y_error: float, x_sign: int, y_sign: int
) -> None:
    a = Bounded(np.float64(x), np.float64(x_error))
    b = Bounded(np.float64(y), np.float64(y_error))
    with np.errstate(all="ignore"):
        results = a + b, a * b
    true_x = Fraction(x) + x_sign * Fraction(x_error)
    true_y = Fraction(y) + y_sign * Fraction(y_error)
    for bounded, true in zip(results, (true_x + true_y, true_x * true_y), strict=True):
        if np.isfinite(bounded.value) and np.isfinite(bounded.error):
            distance = abs(true - Fraction(float(bounded.value)))
            # The bound is itself rounded; where it is rounded to a subnormal number, by a unit.
            slack = Fraction(float(bounded.error)) / 10**12
            assert distance <= Fraction(float(bounded.error)) + slack


@given(
    st.floats(1e-300, 1e300),
    st.just(0.0) | st.floats(0, 0.999),
    st.sampled_from([-3, -2, -1, 0, 1, 2, 3]),
)
def test_the_bounds_of_powers_hold(middle: float, share: float, exponent: int) -> None:
    error = middle * share
    with np.errstate(all="ignore"):
        base = Bounded(np.float64(middle), np.float64(error))
        bounded = BoundedFloats().power(base, exponent)
    for end in (Fraction(middle) - Fraction(error), Fraction(middle) + Fraction(error)):
        if np.isfinite(bounded.value) and np.isfinite(bounded.error):
            distance = abs(end**exponent - Fraction(float(bounded.value)))
            assert distance <= Fraction(float(bounded.error)) * Fraction(1001, 1000)


def test_a_function_without_a_bound_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="no float64 rule for gamma"):
        BoundedFloats().function("gamma", Bounded(np.float64(1), 0.0))
