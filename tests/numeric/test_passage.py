"""Times of passage: against closed forms, another variable and another quadrature; soundness."""

import math
from fractions import Fraction
from typing import Any

import pytest
from flint import acb, arb
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import MPContext

from numeric import passage
from numeric.balls import ball_precision, ball_value, exact_ball
from numeric.evaluate import evaluate
from numeric.passage import _distance, passage_time
from symbolic.clustering_time import EQUAL_HEADS, TIMES
from symbolic.errors import UndecidedError
from symbolic.flow import Model
from symbolic.notation import H, alpha, beta, n, start, stop, strengths

MODELS = list(TIMES)
Values = dict[str, Any]


def time_ball(model: Model, values: Values, bits: int) -> arb:
    """Return the ball of the clustering time at a precision."""
    bindings = {
        strengths: values["lam"],
        beta: values["beta"],
        n: values["n"],
        start: values["start"],
        stop: values["stop"],
    }
    with ball_precision(bits):
        return ball_value(TIMES[model](1 - start, 1 - stop, n, beta), bindings)


def closed_form(model: Model, values: Values, bits: int) -> arb:
    """Return the closed form of equal heads, by the exponential integral of Arb."""
    bindings = {
        alpha: values["lam"][0],
        H: Fraction(len(values["lam"])),
        beta: values["beta"],
        n: values["n"],
        start: values["start"],
        stop: values["stop"],
    }
    with ball_precision(bits):
        return ball_value(EQUAL_HEADS[model], bindings)


def by_arb(model: Model, values: Values, bits: int) -> arb:
    """Return the time by Arb's own quadrature over the logit, certified too."""

    def integrand(u: acb, _analytic: bool) -> acb:
        grown = u.exp()
        if model is Model.SOFTMAX:
            gap = tokens / (grown + tokens - 1)
            rates = [2 * tokens * x / ((b * x * gap).exp() + tokens - 1) for x in heads]
        else:
            overlap = (grown - 1) / (grown + tokens - 1)
            rates = [2 * x * (b * x * overlap).exp() for x in heads]
        return 1 / sum(rates[1:], rates[0])

    def logit(gamma: Fraction) -> arb:
        return exact_ball((1 + (values["n"] - 1) * gamma) / (1 - gamma)).log()

    with ball_precision(bits):
        heads, tokens = [exact_ball(x) for x in values["lam"]], exact_ball(values["n"])
        b = exact_ball(values["beta"])
        return acb.integral(integrand, logit(values["start"]), logit(values["stop"])).real


def ends(low: Fraction) -> st.SearchStrategy[Fraction]:
    """Draw overlaps inside the domain, near its ends too."""
    shares = st.one_of(
        st.builds(Fraction, st.integers(1, 98), st.just(99)),
        st.integers(1, 60).map(lambda k: Fraction(1, 10**k)),
        st.integers(1, 60).map(lambda k: 1 - Fraction(1, 10**k)),
    )
    return shares.map(lambda share: low + (1 - low) * share)


@st.composite
def passages(draw: st.DrawFn, steepest: int = 60) -> Values:
    """Draw positive strengths with ``beta*lam`` up to a bound, and two overlaps."""
    tokens = Fraction(draw(st.sampled_from([2, 3, 5, 64, 1000, 10**30])))
    temperature = draw(st.sampled_from([Fraction(1, 10**20), Fraction(1, 3), Fraction(2)]))
    sizes = st.builds(Fraction, st.integers(1, steepest * 10), st.just(20))
    heads = draw(st.lists(sizes, min_size=1, max_size=3))
    low = Fraction(-1, int(tokens) - 1)
    first, second = sorted(draw(st.lists(ends(low), min_size=2, max_size=2, unique=True)))
    return {"lam": tuple(heads), "beta": temperature, "n": tokens, "start": first, "stop": second}


@pytest.mark.parametrize("model", MODELS)
@settings(max_examples=60)
@given(values=passages(steepest=400), count=st.integers(1, 3))
def test_equal_heads_by_the_exponential_integral(model: Model, values: Values, count: int) -> None:
    values = {**values, "lam": values["lam"][:1] * count}
    found, other = time_ball(model, values, 500), closed_form(model, values, 4000)
    assert other.rel_accuracy_bits() > 150
    assert found.overlaps(other)
    assert found.rel_accuracy_bits() > 150


@pytest.mark.parametrize("model", MODELS)
@settings(max_examples=15)
@given(values=passages(steepest=3))
def test_arbs_quadrature_over_the_logit(model: Model, values: Values) -> None:
    found, other = time_ball(model, values, 400), by_arb(model, values, 400)
    assert found.overlaps(other)
    assert min(found.rel_accuracy_bits(), other.rel_accuracy_bits()) > 80


@pytest.mark.parametrize("model", MODELS)
@settings(max_examples=40)
@given(values=passages())
def test_less_precision_gives_a_ball_around_more(model: Model, values: Values) -> None:
    fine = time_ball(model, values, 600)
    for bits in (80, 130, 300):
        assert time_ball(model, values, bits).contains(fine)


@pytest.mark.parametrize("model", MODELS)
@settings(max_examples=30)
@given(values=passages(), share=st.builds(Fraction, st.integers(1, 9), st.just(10)))
def test_times_add_up_along_a_path(model: Model, values: Values, share: Fraction) -> None:
    between = values["start"] + share * (values["stop"] - values["start"])
    first = time_ball(model, {**values, "stop": between}, 300)
    second = time_ball(model, {**values, "start": between}, 300)
    assert (first + second).overlaps(time_ball(model, values, 300))


@pytest.mark.parametrize("model", MODELS)
@settings(max_examples=30)
@given(values=passages())
def test_heads_of_the_other_sign_lead_away(model: Model, values: Values) -> None:
    away = {**values, "lam": tuple(-x for x in values["lam"])}
    assert time_ball(model, away, 200) == arb.pos_inf()
    back = {**away, "start": values["stop"], "stop": values["start"]}
    assert time_ball(model, back, 200) > 0
    assert time_ball(model, {**back, "lam": values["lam"]}, 200) == arb.pos_inf()


@pytest.mark.parametrize("exponent", [10, 40, 1000, 5000])
def test_the_late_rate_shows_in_the_time_to_tiny_gaps(exponent: int) -> None:
    # From one tiny gap to the next, T grows by ln(10)/(2 Lambda), but for terms of that gap.
    values = {"lam": "1/2,1,3/2,2", "beta": 2, "n": 64, "start": 0}
    early, late = (
        Fraction(evaluate("clustering-time", stop=f"1-1e-{k}", digits=60, **values).value)
        for k in (exponent, exponent + 1)
    )
    with ball_precision(300):
        difference = exact_ball(late - early) - arb(10).log() / 10
        assert abs(difference) < arb(10) ** -min(exponent - 3, 50)


@pytest.mark.parametrize("digits", [15, 50, 200, 700])
def test_the_benchmark_case(digits: int) -> None:
    # By mpmath.quad at 80 digits, over the logit.
    known = "1.9068282016527095078894070498702280591001854005098"
    found = evaluate(
        "clustering-time", lam="0.5,1,3/2,2", beta=2, n=64, start=0, stop="1-1e-6", digits=digits
    ).value
    shared = min(digits, 50) - 1
    assert found[: shared + 1] == known[: shared + 1]


@pytest.mark.parametrize(
    ("model", "heads", "temperature"),
    [
        *(
            (model, heads, 0)
            for model in ("softmax", "unnormalised")
            for heads in ("1,-1", "2,-1,-1")
        ),
        *(
            (model, heads, 3)
            for model in ("softmax", "unnormalised", "relu")
            for heads in ("0,0", "0")
        ),
    ],
)
@pytest.mark.parametrize("last", ["1/2", "-1/20"])
def test_tokens_at_rest_never_arrive(model: str, heads: str, temperature: int, last: str) -> None:
    found = evaluate(
        "clustering-time", model=model, lam=heads, beta=temperature, n=9, start="1/3", stop=last
    )
    assert found.value == "+inf"
    assert found.remarks


def test_unnormalised_heads_that_cancel_at_orthonormal_tokens() -> None:
    values: Values = {"model": "unnormalised", "lam": "1/3,-1/3", "beta": 1, "n": 5, "start": 0}
    assert evaluate("clustering-time", stop="1/2", **values).value == "+inf"
    assert evaluate("clustering-time", stop="1/2", **{**values, "start": "1e-9"}).value != "+inf"


def test_relu_keeps_the_sign_of_the_overlap() -> None:
    base: Values = {"model": "relu", "n": 4, "digits": 20}
    for heads, first, last, arrives in (
        ("1", "1/4", "1/2", True),
        ("1", "1/2", "1/4", False),
        ("1", "-1/4", "-1/5", False),
        ("1", "-1/4", "1/4", False),
        ("-1", "-1/10", "-1/5", True),
        ("-1", "1/10", "1/5", False),
        ("1", 0, "1/2", False),
        ("2,-5", "1/4", "1/2", True),
    ):
        found = evaluate("clustering-time", lam=heads, start=first, stop=last, **base)
        assert (found.value != "+inf") is arrives, (heads, first, last)
    # Heads of the other sign do nothing.
    one, both = (
        evaluate("clustering-time", lam=heads, start="1/4", stop="1/2", **base).value
        for heads in ("2", "2,-5")
    )
    assert one == both


def test_what_is_too_steep_is_undecided_and_not_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passage, "_MOST_PIECES", 3)
    monkeypatch.setattr("numeric.rounding.CAP_BITS", 2000)
    with pytest.raises(UndecidedError):
        evaluate("clustering-time", lam="300,1", beta=2, n=64, start=0, stop="1-1e-6")


@pytest.mark.parametrize("exponent", [3, 12, 40, 100])
def test_a_steep_head_agrees_with_the_closed_form_of_mpmath(exponent: int) -> None:
    found = evaluate(
        "clustering-time", lam=1, beta=f"10^{exponent}", n=64, start="1/2", stop="9/10", digits=20
    )
    context = MPContext()
    context.dps = 60 + exponent
    rate, end = context.mpf(10) ** exponent, context.mpf(64) / 63

    def primitive(gap: Any) -> Any:
        # Where exponents are huge, E1 and Ei are e^x/x times a series that is cut where it is 1.
        series = [context.factorial(k) for k in range(60)]

        def scaled(x: Any) -> Any:
            if abs(x) < 500:
                return context.ei(x)
            return context.exp(x) / x * sum(c / x**k for k, c in enumerate(series))

        steep = scaled(rate * gap) + context.exp(rate * end) * -scaled(rate * (gap - end))
        return (63 * (context.log(gap) - context.log(end - gap)) + steep) / 128

    expected = primitive(context.mpf(1) / 2) - primitive(context.mpf(1) / 10)
    assert abs(context.mpf(found.value) / expected - 1) < context.mpf(10) ** -18


@pytest.mark.parametrize(
    ("heads", "first", "last"),
    [
        ("1,1000000", "0", "999999/1000000"),
        ("1/2,3,-1/7,100000", "0", "9999/10000"),
        ("1,5000,1000000", "1/2", "9999999/10000000"),
        ("1,-30000,2", "0", "-1/100"),
        ("2000,-3,1", "0", "-1/90"),
    ],
)
def test_heads_of_very_different_strength_agree_with_mpmath(
    heads: str, first: str, last: str
) -> None:
    found = evaluate("clustering-time", lam=heads, beta=1, n=64, start=first, stop=last, digits=20)
    context = MPContext()
    context.dps = 30
    sizes, (begin, end) = (
        [context.mpf(x.numerator) / x.denominator for x in map(Fraction, texts)]
        for texts in (heads.split(","), (first, last))
    )

    def time(gap: Any) -> Any:
        rate = sum(128 * x / (context.exp(x * gap) + 63) for x in sizes)
        return (1 / gap + 63 / (64 - 63 * gap)) / rate

    low, high = sorted((1 - begin, 1 - end))
    marks = [low + context.mpf(10) ** k for k in range(-8, 1)]
    places = [low, *(mark for mark in marks if mark < high), high]
    expected = context.quad(time, places, maxdegree=9) * (1 if begin < end else -1)
    assert abs(context.mpf(found.value) / expected - 1) < context.mpf(10) ** -18


@pytest.mark.parametrize("lost", ["error", "rest"])
def test_a_forgotten_error_is_found(lost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Few nodes, and pieces left out too early: the ball must pay for both.
    if lost == "error":
        monkeypatch.setattr(passage._Piece, "nodes", lambda self, tolerance: 4)
    else:
        monkeypatch.setattr(passage._Path, "_piece", _only_the_last_tenth)
        monkeypatch.setattr(passage._Path, "_size", lambda self, pieces, poles: arb(10) ** 47)
    values: Values = {
        "lam": (Fraction(1), Fraction(3)),
        "beta": Fraction(2),
        "n": Fraction(64),
        "start": Fraction(0),
        "stop": Fraction(9, 10),
    }
    rough = time_ball(Model.SOFTMAX, values, 150)
    monkeypatch.undo()
    fine = time_ball(Model.SOFTMAX, values, 300)
    assert rough.is_finite()
    assert rough.contains(fine)
    # Without the ball around it, it would have missed.
    assert not rough.mid().overlaps(fine)


def _only_the_last_tenth(self: Any, low: arb, high: arb, poles: Any) -> Any:
    if low < arb(0.85):
        return None
    for rho in self.ellipses:
        bound = self._bound((low + high) / 2, (high - low) / 2, rho, poles)
        if bound is not None:
            return passage._Piece(low, high, rho, bound)
    return None


@given(
    half=st.floats(1e-3, 10), rho=st.floats(1.2, 30), place=st.floats(0, 40), inside=st.booleans()
)
def test_the_distance_to_an_ellipse_is_never_too_large(
    half: float, rho: float, place: float, inside: bool
) -> None:
    wide, tall = half * (rho + 1 / rho) / 2, half * (rho - 1 / rho) / 2
    with ball_precision(60):
        claimed = _distance(arb(place), arb(half), arb(wide), arb(tall), inside)
    if not claimed.is_finite():
        return
    points = [2 * math.pi * k / 4000 for k in range(4001)]
    nearest = min(math.hypot(wide * math.cos(t) - place, tall * math.sin(t)) for t in points)
    assert float(claimed.lower()) <= nearest * (1 + 1e-4) + 1e-9


def test_a_path_without_length_has_no_time() -> None:
    with ball_precision(100):
        field = passage.bound_field(
            TIMES[Model.SOFTMAX].definition.field,
            {strengths: (arb(1),), beta: arb(1), n: arb(5)},
            exact_ball,
        )
        wide = arb(0.5, 0.1)
        assert not passage_time(field, wide, arb(0.5), arb(5), regular=False).is_finite()
