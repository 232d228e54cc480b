"""Many values at once: the same balls as one by one, and refusals."""

import threading
from decimal import Decimal
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
import sympy as sp
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from numeric import batch
from numeric.balls import ball_precision
from numeric.batch import evaluate_many
from numeric.evaluate import evaluate
from numeric.rounding import _decide
from numeric.straight_line import Trace
from numeric.walk import walk
from symbolic.catalogue import formula, formula_names
from symbolic.errors import InputError
from symbolic.formula import Formula
from symbolic.notation import beta, n
from tests.numeric.independent import INDEPENDENT, exact_decimals
from tests.numeric.strategies import Values, draws, ordinary

SCALAR = [
    name
    for name in formula_names()
    if not any(p.many or p.choices for p in formula(name).parameters)
]


def columns(rows: list[Values]) -> dict[str, list[Fraction]]:
    """Return rows as columns."""
    return {key: [row[key] for row in rows] for key in rows[0]}


def defined(name: str, rows: list[Values]) -> list[Values]:
    """Return the rows where the formula has a value."""
    cases = [formula(name).special_case(row) for row in rows]
    return [
        row for row, case in zip(rows, cases, strict=True) if case is None or case.value is not None
    ]


def check(name: str, row: Values, ball: arb, digits: int) -> None:
    """Assert that a ball is as good as promised and has the digits of a single evaluation."""
    answer = evaluate(name, digits=digits, **row)
    if "inf" in answer.value:
        assert ball == arb(answer.value)
        return
    assert ball.is_finite()
    with ball_precision(20 * digits + 400):
        assert ball.rad() * 2 * arb(10) ** digits <= abs(ball.mid())
        text = Decimal(answer.value)
        if not text:
            assert ball == 0
            return
        # Half a unit of the last digit, and a little for the ball.
        unit = Decimal(1).scaleb(text.adjusted() - digits + 1, exact_decimals(5))
        assert abs(ball - arb(answer.value)) <= arb(str(unit)) * 1.1
        rounded = _decide(ball, digits)
    assert rounded is None or rounded.text == answer.value


@pytest.mark.parametrize("name", SCALAR)
@settings(max_examples=60)
@given(data=st.data())
def test_many_values_are_those_of_one_by_one(name: str, data: st.DataObject) -> None:
    drawn = data.draw(st.lists(draws(formula(name)), min_size=1, max_size=4))
    digits = data.draw(st.sampled_from([1, 15, 50, 51, 200]))
    rows = defined(name, drawn)
    if not rows:
        return
    balls = evaluate_many(name, digits=digits, **columns(rows))
    assert len(balls) == len(rows)
    for row, ball in zip(rows, balls, strict=True):
        check(name, row, ball, digits)


@pytest.mark.parametrize("name", SCALAR)
@pytest.mark.parametrize("digits", [50, 1000])
def test_ordinary_points_need_no_second_look(
    name: str, digits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = ordinary(formula(name))
    rows = [{**one, "n": n} for n in range(50, 60)] if "n" in one else [{"H": H} for H in (2, 3)]
    expected = [evaluate(name, digits=digits, **row).value for row in rows]

    def refuse(*_: object) -> arb:
        raise AssertionError("one by one")

    monkeypatch.setattr(batch, "_one_ball", refuse)
    for ball, text in zip(
        evaluate_many(name, digits=digits, **columns(rows)), expected, strict=True
    ):
        with ball_precision(4 * digits + 64):
            rounded = _decide(ball, digits)
        assert rounded is not None
        assert rounded.text == text
    with pytest.raises(AssertionError, match="one by one"):
        evaluate_many("sharp-critical-beta", n=[10**60], H=10**60, alpha=1)


@pytest.mark.parametrize("name", SCALAR)
def test_by_an_independent_method(name: str) -> None:
    one = ordinary(formula(name))
    key = "n" if "n" in one else "H"
    counts = [2, 3, 10, 64, 1000, 10**6, 10**30]
    rows = defined(name, [{**one, key: Fraction(count)} for count in counts])
    assert len(rows) >= 4
    balls = evaluate_many(name, digits=30, **{**one, key: [row[key] for row in rows]})
    for row, ball in zip(rows, balls, strict=True):
        other = INDEPENDENT[name](row)
        assert other is not None
        with ball_precision(300):
            assert abs(ball - arb(str(other))) <= abs(ball) * arb("0.6e-30")


def test_points_beyond_float64() -> None:
    tokens = [2, 10**100, 10**308, 10**309, 10**5000]
    rows = [{"n": n, "beta": b} for n in tokens for b in ("1e-30", "10^6", "1e-400")]
    for row, ball in zip(rows, evaluate_many("rate-inflection", **columns(rows)), strict=True):  # type: ignore[arg-type]
        check("rate-inflection", row, ball, 50)


@pytest.mark.parametrize("digits", [1, 2, 1000, 10_000])
def test_numbers_of_digits(digits: int) -> None:
    rows = [{"n": Fraction(n), "beta": Fraction(3, 7)} for n in (2, 64)]
    for name in ("rate-inflection", "rate-peak"):
        balls = evaluate_many(name, digits=digits, **columns(rows))
        for row, ball in zip(rows, balls, strict=True):
            check(name, row, ball, digits)


def test_a_start_that_is_far_off_makes_no_wrong_root(monkeypatch: pytest.MonkeyPatch) -> None:
    right = evaluate_many("rate-inflection", n=range(2, 12), beta=1)
    for wrong in (2.5, 1.0, -3.0, 1e300, float("nan"), float("inf")):
        monkeypatch.setattr(
            batch, "_floats", lambda column, wrong=wrong: np.full(len(column), wrong)
        )
        found = evaluate_many("rate-inflection", n=range(2, 12), beta=1)
        assert all(a.overlaps(b) for a, b in zip(right, found, strict=True))
        assert all(ball.rel_accuracy_bits() > 167 for ball in found)


@pytest.mark.parametrize(
    "tokens",
    [
        [2, 3, 4],
        (2, 3, 4),
        range(2, 5),
        np.arange(2, 5),
        np.arange(2, 5, dtype=np.uint8),
        ["2", "6/2", 4],
        [Fraction(2), Decimal(3), sp.Integer(4)],
        (n for n in (2, 3, 4)),
    ],
)
def test_columns_of_all_kinds(tokens: Any) -> None:
    found = evaluate_many("rate-peak", n=tokens, beta="1/2", digits=20)
    for count, ball in zip((2, 3, 4), found, strict=True):
        check("rate-peak", {"n": Fraction(count), "beta": Fraction(1, 2)}, ball, 20)


def test_single_values_and_columns_mix() -> None:
    one_by_one = [
        evaluate_many("rate-inflection", n=n, beta=b)[0] for n in (5, 7) for b in ("1/3", 2)
    ]
    assert len(evaluate_many("rate-inflection", n=5, beta=2)) == 1
    by_tokens = [
        ball for n in (5, 7) for ball in evaluate_many("rate-inflection", n=n, beta=["1/3", 2])
    ]
    assert all(a.overlaps(b) for a, b in zip(one_by_one, by_tokens, strict=True))
    assert evaluate_many("rate-inflection", n=[], beta=2) == []
    assert evaluate_many("critical-cosine", H=[]) == []


def test_special_cases_and_exact_values() -> None:
    heads = [1, 2, 1, 3]
    found = evaluate_many("critical-beta", n=10, H=heads, alpha=1)
    assert [ball == arb.pos_inf() for ball in found] == [True, False, True, False]
    assert evaluate_many("rate", lam=[0, 1, 0], beta=1, n=5)[::2] == [0, 0]
    assert evaluate_many("sharp-critical-beta", n=[9, 10**40], H=[9, 10**40], alpha=1) == [0, 0]
    assert evaluate_many("radial-cosine", lam=1, beta=[0, 1], n=5, gamma=1) == [1, 1]
    with pytest.raises(InputError, match="no value at beta = 0 and gamma"):
        evaluate_many("radial-cosine", lam=1, beta=[1, 0], n=5, gamma="-1/4")


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("rate-pea", {"n": [2]}, "nearest: rate-peak"),
        ("rate-peak", {"n": [2, 3], "beta": [1]}, "columns of different lengths: n 2, beta 1"),
        ("rate-peak", {"n": [2, 3], "beta": []}, "columns of different lengths: n 2, beta 0"),
        ("rate-peak", {"n": [2, 3]}, "missing parameter beta"),
        ("rate-peak", {"n": [2], "beta": 1, "gamma": 0}, "no parameter 'gamma'"),
        ("rate-peak", {"n": [2, 1], "beta": 1}, "n: 1 is outside its domain: integer >= 2"),
        ("rate-peak", {"n": [2, "5/2", 9], "beta": 1}, "n: 5/2 is outside its domain"),
        ("rate-peak", {"n": [2, 2.5], "beta": 1}, "the binary float 2.5 is not exact"),
        ("rate-peak", {"n": np.array([2.0]), "beta": 1}, "the binary float 2.0 is not exact"),
        ("rate-peak", {"n": [2, True], "beta": 1}, "n: True of type bool is not an exact number"),
        ("rate-peak", {"n": [[2, 3]], "beta": 1}, "n: [2, 3] of type list"),
        ("rate-peak", {"n": {2: 3}, "beta": 1}, "n: {2: 3} of type dict"),
        ("rate-peak", {"n": [2, 3], "beta": [1, 0]}, "beta: 0 is outside its domain: real > 0"),
        (
            "radial-cosine",
            {"lam": 1, "beta": 1, "n": [3, 4], "gamma": ["-1/2", "-1/2"]},
            "gamma: -1/2 is outside its domain",
        ),
        ("radial-cosine", {"lam": 1, "beta": 1, "n": [3, 4], "gamma": "-1/2"}, "gamma: -1/2"),
        ("radial-cosine", {"lam": 1, "beta": 1, "n": 3, "gamma": [0, 2]}, "gamma: 2 is outside"),
        ("early-rate", {"lam": [1], "beta": 1, "n": 2}, "early-rate: takes a list of strengths"),
        ("late-rate", {"lam": [1]}, "late-rate: takes a list of strengths"),
    ],
)
def test_wrong_calls_are_refused(name: str, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as found:
        evaluate_many(name, **parameters)
    assert message in str(found.value)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("digits", [0, 10_001, 5.0])
def test_wrong_numbers_of_digits_are_refused(digits: Any) -> None:
    with pytest.raises(InputError, match=r"^digits: "):
        evaluate_many("rate-peak", n=[2], beta=1, digits=digits)


def test_a_thread_that_sets_the_precision_makes_no_result_wrong() -> None:
    before = flint.ctx.prec
    expected = evaluate_many("rate-inflection", n=range(2, 3000), beta=2)
    stop = threading.Event()

    def disturb() -> None:
        while not stop.is_set():
            flint.ctx.prec = 20
            flint.ctx.prec = 500

    thread = threading.Thread(target=disturb, daemon=True)
    thread.start()
    try:
        found = evaluate_many("rate-inflection", n=range(2, 3000), beta=2)
    finally:
        stop.set()
        thread.join(30)
        flint.ctx.prec = before
    assert all(a.overlaps(b) for a, b in zip(expected, found, strict=True))
    assert all(ball.rel_accuracy_bits() >= 168 for ball in found)


def test_what_does_not_vary_is_computed_once() -> None:
    calls: list[float] = []

    class Counted(float):
        __slots__ = ()

        def exp(self) -> float:
            calls.append(self)
            return float(np.exp(self))

    trace = Trace()
    bindings = {beta: trace.fixed_number(), n: trace.varying_number()}
    program = trace.program(walk(sp.exp(beta) * n + sp.exp(beta), bindings, trace))(float)
    assert program([Counted(2)], [(1.0,), (2.0,)]) == [2 * np.exp(2), 3 * np.exp(2)]
    assert calls == [2]


@given(st.integers(-3, 3), st.fractions(1, 50), st.fractions(1, 50))
def test_programs_do_what_walks_do(power: int, first: Fraction, second: Fraction) -> None:
    trace = Trace()
    expression = sp.Add(n**power / beta, beta / n, 3 * n * beta - sp.Rational(2, 7), evaluate=False)
    bindings = {beta: trace.fixed_number(), n: trace.varying_number()}
    program = trace.program(walk(expression, bindings, trace))(Fraction)
    values = [first**power / second + second / first + 3 * first * second - Fraction(2, 7)]
    assert program([second], [(first,)]) == values


def test_roots_have_no_straight_line() -> None:
    subject: Formula = formula("rate-inflection")
    trace = Trace()
    with pytest.raises(NotImplementedError, match="no straight line"):
        walk(subject.evaluation, {n: trace.varying_number(), beta: trace.fixed_number()}, trace)
