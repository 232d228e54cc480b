"""Right results from several threads and processes, whatever happens to the precision."""

import multiprocessing
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from functools import partial

import flint
import pytest

from numeric.balls import ball_precision
from numeric.evaluate import evaluate
from numeric.rounding import rounded_ball
from symbolic.catalogue import formula, formula_names
from symbolic.errors import UndecidedError
from tests.numeric.independent import INDEPENDENT, exact_decimals
from tests.numeric.strategies import Values, ordinary

CASES = [(name, ordinary(formula(name)), digits) for name in formula_names() for digits in (5, 35)]
EXPECTED = [
    exact_decimals(digits).plus(INDEPENDENT[name](values) or Decimal("NaN"))
    for name, values, digits in CASES
]


def work(case: tuple[str, Values, int]) -> Decimal:
    """Evaluate one case; runs in threads and in other processes."""
    name, values, digits = case
    return Decimal(evaluate(name, digits=digits, **values).value)


@contextmanager
def meanwhile(action: Callable[[], object]) -> Iterator[None]:
    """Repeat an action in another thread."""
    stop = threading.Event()

    def repeat() -> None:
        while not stop.is_set():
            action()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    yield
    stop.set()
    thread.join(30)
    assert not thread.is_alive()


def test_one_thread() -> None:
    assert [work(case) for case in CASES] == EXPECTED


def test_threads_at_different_precisions() -> None:
    before = flint.ctx.prec
    seen = set()
    with (
        meanwhile(lambda: seen.add(flint.ctx.prec)),
        ThreadPoolExecutor(3) as pool,
    ):
        for _ in range(20):
            assert list(pool.map(work, CASES)) == EXPECTED
    assert flint.ctx.prec == before
    assert before in seen


def test_a_thread_that_sets_the_precision_makes_no_result_wrong() -> None:
    before = flint.ctx.prec
    precisions = iter([53, 20, 2000, 64] * 10**6)

    def disturb() -> None:
        flint.ctx.prec = next(precisions)

    right = 0
    try:
        with meanwhile(disturb):
            for case, expected in [*zip(CASES, EXPECTED, strict=True)] * 5:
                try:
                    assert work(case) == expected
                    right += 1
                except UndecidedError:
                    # Balls as wide as the other thread makes them are never taken for good.
                    continue
    finally:
        flint.ctx.prec = before
    assert right > 0


def test_a_precision_lowered_in_the_middle_makes_no_result_wrong() -> None:
    calls = 0

    def third() -> flint.arb:
        nonlocal calls
        calls += 1
        if calls == 1:
            flint.ctx.prec = 20
        return flint.arb(1) / 3

    assert rounded_ball(third, 30).text == "0." + "3" * 30
    assert calls == 2


def test_ball_work_of_two_threads_does_not_overlap() -> None:
    inside = threading.Event()
    leave = threading.Event()
    order: list[str] = []

    def first() -> None:
        with ball_precision(500):
            inside.set()
            leave.wait(30)
            order.append(f"first at {flint.ctx.prec}")

    def second() -> None:
        with ball_precision(300):
            order.append(f"second at {flint.ctx.prec}")

    threads = [threading.Thread(target=first), threading.Thread(target=second)]
    threads[0].start()
    assert inside.wait(30)
    threads[1].start()
    # The second waits for the lock, and cannot have entered.
    threads[1].join(0.1)
    assert order == []
    leave.set()
    for thread in threads:
        thread.join(30)
    assert order == ["first at 500", "second at 300"]


@pytest.mark.parametrize("name", formula_names())
def test_precision_is_restored_after_evaluation(name: str) -> None:
    before = flint.ctx.prec
    for digits in (1, 300):
        evaluate(name, digits=digits, **ordinary(formula(name)))
        assert flint.ctx.prec == before


def test_precision_is_restored_after_an_error() -> None:
    before = flint.ctx.prec

    def fail() -> flint.arb:
        assert flint.ctx.prec != before
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rounded_ball(fail, 50)
    with pytest.raises(UndecidedError):
        rounded_ball(lambda: flint.arb(0, 1), 50)
    assert flint.ctx.prec == before


def test_other_processes() -> None:
    context = multiprocessing.get_context("spawn")
    evaluate_long = partial(evaluate, "critical-beta", digits=40, H=3, alpha=Fraction(1, 2))
    jobs = [partial(evaluate_long, n=n) for n in (7, 64, 10**50)]
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        values = [future.result(60) for future in [pool.submit(job) for job in jobs]]
    for n, value in zip((7, 64, 10**50), values, strict=True):
        exact = {"n": Fraction(n), "H": Fraction(3), "alpha": Fraction(1, 2)}
        other = INDEPENDENT["critical-beta"](exact)
        assert other is not None
        assert Decimal(value.value) == exact_decimals(40).plus(other)
        assert value.parameters == {"n": str(n), "H": "3", "alpha": "1/2"}
