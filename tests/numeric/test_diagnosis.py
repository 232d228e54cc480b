"""The diagnosis of scalar heads, against the models in coordinates, mpmath and its thresholds."""

import json
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from flint import arb
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mpmath.ctx_mp import MPContext

import mhflow
from mhflow import InputError
from numeric.balls import ball_precision, exact_ball
from numeric.definitions import Flow, equiangular_tokens, inner, scalar_flow
from numeric.diagnosis import Diagnosis, HeadDiagnosis, Margin, diagnose
from numeric.scalar_diagnosis import MAX_HEADS

DIGITS = 12
BITS = 3000

strengths = st.one_of(
    st.lists(st.builds(Fraction, st.integers(-12, 12), st.integers(1, 4)), min_size=1, max_size=3),
    st.builds(
        lambda head, signs: [head * sign for sign in signs],
        st.sampled_from([Fraction(1), Fraction(3, 2)]),
        st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=4),
    ),
)
betas = st.sampled_from(
    [Fraction(0), Fraction(1, 10**30), Fraction(1), Fraction(5, 2), Fraction(40)]
)
models = st.sampled_from(["softmax", "unnormalised", "relu"])


@st.composite
def points(draw: st.DrawFn) -> dict[str, Any]:
    n = draw(st.integers(2, 4))
    share = draw(st.sampled_from(["0", "1e-30", "1/3", "1/2", "9/10", "1-1e-30"]))
    low = Fraction(-1, n - 1)
    gamma = draw(st.sampled_from([Fraction(0), low + (1 - low) * Fraction(str_share(share))]))
    lam = tuple(draw(strengths))
    return {"model": draw(models), "n": n, "beta": draw(betas), "lam": lam, "gamma": gamma}


def str_share(text: str) -> Fraction:
    """Return a share strictly between 0 and 1."""
    value = Fraction(1) - Fraction(1, 10**30) if text == "1-1e-30" else Fraction(text)
    return value or Fraction(1, 10**60)


def flow_of(point: dict[str, Any]) -> Flow:
    """Return the point in coordinates, at the precision in force."""
    tokens = equiangular_tokens(point["n"], point["gamma"])
    heads = [exact_ball(x) for x in point["lam"]]
    return scalar_flow(point["model"], tokens, heads, exact_ball(point["beta"]))


def agrees(value: str | None, reference: arb) -> bool:
    """Tell whether a text is within half a unit of its last digit of a ball."""
    assert value is not None
    if value == "0":
        return bool(reference.contains(0)) and bool(reference.rad() < arb("1e-100"))
    return bool(abs(arb(value) - reference) < abs(reference) * arb(f"1e-{DIGITS - 2}"))


def told(margin: Margin | None, reference: arb) -> bool:
    """Tell whether a margin has the value and the sign of a ball."""
    assert margin is not None
    sign = "no" if reference < 0 else "yes"
    return agrees(margin.value, reference) and margin.holds == sign


def entropy(flow: Flow, h: int) -> arb:
    """Return the attention entropy of token 0 under softmax weights, term by term."""
    softmax = Flow("softmax", flow.tokens, flow.scores, flow.values, flow.beta)
    total = arb(0)
    for p in softmax.weights(0, h):
        total -= p * p.log()
    return total


def energy(flow: Flow, h: int) -> arb:
    """Return ``E_h``, summed over all pairs of tokens."""
    softmax = Flow("unnormalised", flow.tokens, flow.scores, flow.values, flow.beta)
    total = arb(0)
    for i in range(flow.n):
        for weight in softmax.weights(i, h):
            total += weight
    mean: arb = total / (2 * flow.beta * flow.n**2)
    return mean


@given(points())
@example(
    {
        "model": "softmax",
        "n": 2,
        "beta": Fraction(0),
        "lam": (Fraction(1),) * 2,
        "gamma": Fraction(0),
    }
)
@example(
    {
        "model": "unnormalised",
        "n": 3,
        "beta": Fraction(40),
        "lam": (Fraction(1), Fraction(-1)),
        "gamma": Fraction(-1, 4),
    }
)
@settings(max_examples=40)
def test_every_value_is_that_of_the_definitions(point: dict[str, Any]) -> None:
    found = diagnose(**point, digits=DIGITS)
    with ball_precision(BITS):
        flow = flow_of(point)
        assert told(found.rates.overlap_rate, flow.overlap_rate(0, 1))
        for h, head in enumerate(found.heads):
            assert told(head.condition8, flow.condition_8_margin(0, h))
            assert told(head.condition8_sharp, flow.condition_8_margin(0, h, sharp=True))
            assert agrees(head.entropy, entropy(flow, h))
            if point["beta"] == 0:
                assert head.energy is None
                assert head.denergy is None
            else:
                assert agrees(head.energy, energy(flow, h))
                assert told(head.denergy, flow.energy_rate(h))
            if head.radial_cosine is not None:
                assert agrees(head.radial_cosine, flow.cosine(0, h))


@pytest.mark.parametrize("model", ["softmax", "unnormalised"])
def test_more_strengths_than_are_treated_exactly(model: str) -> None:
    lam = tuple(Fraction(k, 7) for k in (-3, 1, 2, 5, 8, 9, 11, 13, 13))
    point: dict[str, Any] = {
        "model": model,
        "n": 4,
        "beta": Fraction(2),
        "lam": lam,
        "gamma": Fraction(1, 5),
    }
    found = diagnose(**point, digits=DIGITS)
    with ball_precision(BITS):
        flow = flow_of(point)
        for h, head in enumerate(found.heads):
            assert told(head.condition8, flow.condition_8_margin(0, h))
            assert told(head.condition8_sharp, flow.condition_8_margin(0, h, sharp=True))


def other_shadows(flow: Flow, h: int) -> arb:
    total = arb(0)
    for k in flow.heads:
        if k != h:
            total += abs(flow.shadow(0, k))
    return total


WRONG: dict[str, Callable[[Flow, int], arb]] = {
    "shadows added": lambda f, h: f.power(0, h) + f.shadow(0, h) * other_shadows(f, h),
    "own shadow counted": lambda f, h: (
        f.power(0, h) - length(f, h) * (other_shadows(f, h) + abs(f.shadow(0, h)))
    ),
    "signed shadows": lambda f, h: (
        f.power(0, h)
        - length(f, h) * (f.shadow(0, 0) + f.shadow(0, 1) + f.shadow(0, 2) - f.shadow(0, h))
    ),
    "sharp for stated": lambda f, h: f.condition_8_margin(0, h, sharp=True),
    "power for its root": lambda f, h: f.power(0, h).sqrt() - length(f, h) * other_shadows(f, h),
    "the literal reading": lambda f, h: f.power(0, h) - other_shadows(f, h),
    "margin with the other sign": lambda f, h: -f.condition_8_margin(0, h),
}


def length(flow: Flow, h: int) -> arb:
    aggregate = flow.aggregate(0, h)
    root: arb = inner(aggregate, aggregate).sqrt()
    return root


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_margin_would_be_noticed(name: str) -> None:
    lam = (Fraction(1), Fraction(-1, 2), Fraction(3, 2))
    point: dict[str, Any] = {
        "model": "softmax",
        "n": 3,
        "beta": Fraction(1),
        "lam": lam,
        "gamma": Fraction(1, 4),
    }
    found = diagnose(**point, digits=DIGITS)
    with ball_precision(BITS):
        flow = flow_of(point)
        assert all(
            told(head.condition8, flow.condition_8_margin(0, h))
            for h, head in enumerate(found.heads)
        )
        assert not all(
            told(head.condition8, WRONG[name](flow, h)) for h, head in enumerate(found.heads)
        )


def test_exact_zeros_are_zeros_and_hold() -> None:
    orthonormal = diagnose(model="unnormalised", n=2, beta=3, lam=(1, -1))
    assert [h.condition8_sharp for h in orthonormal.heads] == [Margin("0", "yes")] * 2
    assert [h.condition8.holds for h in orthonormal.heads] == ["no", "no"]
    assert [h.denergy for h in orthonormal.heads] == [Margin("0", "yes")] * 2
    without_attention = diagnose(n=4, beta=0, lam=[1] * 4)
    assert without_attention.heads[0].condition8_sharp == Margin("0", "yes")
    assert without_attention.equal_heads is not None
    assert without_attention.equal_heads.sharp.margin_beta == Margin("0", "yes")
    assert without_attention.equal_heads.sharp.margin_cosine == Margin("0", "yes")
    idle = diagnose(n=3, beta=1, lam=(0, 0), gamma="1/3")
    assert all(
        h.condition8 == h.condition8_sharp == h.denergy == Margin("0", "yes") for h in idle.heads
    )


def test_a_margin_far_below_the_cap_of_precision_has_its_sign() -> None:
    """``1 - sqrt(1 + e^(-2 beta))``, about ``-e^(-2 beta)/2``, by hand."""
    start = time.perf_counter()
    (first, _) = diagnose(model="unnormalised", n=2, beta="10^50", lam=(1, -1), digits=5).heads
    assert first.condition8.holds == "no"
    context: Any = MPContext()
    context.dps = 80
    exponent = -2 * context.mpf(10) ** 50 / context.log(10) - context.log10(2)
    power = context.floor(exponent)
    mantissa = context.nstr(-(context.mpf(10) ** (exponent - power)), 5)
    assert first.condition8.value == f"{mantissa}e{int(power)}"
    assert time.perf_counter() - start < 30


@given(
    heads=st.integers(1, 9),
    n=st.integers(2, 120),
    alpha=st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(7, 3)]),
    beta=st.sampled_from([Fraction(k, 8) for k in range(0, 33, 3)]),
    model=st.sampled_from(["softmax", "unnormalised"]),
    gamma=st.sampled_from([Fraction(0), Fraction(1, 50), Fraction(2, 5)]),
)
@settings(max_examples=40)
def test_thresholds_and_margins_agree(
    heads: int, n: int, alpha: Fraction, beta: Fraction, model: str, gamma: Fraction
) -> None:
    found = diagnose(model=model, n=n, beta=beta, lam=[alpha] * heads, gamma=gamma)
    equal, head = found.equal_heads, found.heads[0]
    assert equal is not None
    assert equal.stated.margin_cosine.holds == head.condition8.holds
    assert equal.sharp.margin_cosine.holds == head.condition8_sharp.holds
    at_start = diagnose(model=model, n=n, beta=beta, lam=[alpha] * heads).heads[0]
    assert equal.stated.margin_beta.holds == at_start.condition8.holds
    assert equal.sharp.margin_beta.holds == at_start.condition8_sharp.holds
    assert all(h.denergy is None or h.denergy.holds == "yes" for h in found.heads)


def phi(context: Any, strength: Any, beta: Any, n: int) -> Any:
    return 2 * strength / (context.exp(strength * beta) + n - 1)


@given(
    n=st.integers(2, 200),
    beta=st.sampled_from([Fraction(1, 3), Fraction(2), Fraction(9)]),
    lam=st.lists(
        st.builds(Fraction, st.integers(1, 40), st.integers(1, 7)), min_size=1, max_size=4
    ),
)
@settings(max_examples=25)
def test_rates_positions_and_gain_by_derivatives_of_phi(
    n: int, beta: Fraction, lam: list[Fraction]
) -> None:
    """The slope and the curvature of phi, by numerical differentiation, tell the position."""
    context: Any = MPContext()
    context.dps = 60
    found = diagnose(n=n, beta=beta, lam=lam, digits=15)
    b = context.mpf(beta.numerator) / beta.denominator
    total = context.mpf(0)
    for strength, head in zip(lam, found.heads, strict=True):
        x = context.mpf(strength.numerator) / strength.denominator
        total += phi(context, x, b, n)
        slope, curvature = (context.diff(lambda s: phi(context, s, b, n), x, k) for k in (1, 2))
        beyond = "above the inflection" if curvature > 0 else "between peak and inflection"
        assert head.position == ("below the peak" if slope > 0 else beyond)
        assert close(context, head.rate, phi(context, x, b, n))
        for above, value in (
            (head.above_peak, found.rates.rate_peak),
            (head.above_inflection, found.rates.rate_inflection),
        ):
            assert above is not None
            assert value is not None
            assert close(context, above.value, x - context.mpf(value), "1e-10")
    mean = sum(lam, Fraction(0)) / len(lam)
    assert found.rates.mean_strength == str(mean)
    m = context.mpf(mean.numerator) / mean.denominator
    gain = total - len(lam) * phi(context, m, b, n)
    assert close(context, found.rates.early_rate, total)
    if len(set(lam)) == 1:
        assert found.rates.gain == Margin("0", "yes")
    else:
        assert close(context, found.rates.gain.value, gain, "1e-13")
        assert found.rates.gain.holds == ("yes" if gain > 0 else "no")


def close(context: Any, value: str | None, reference: Any, tolerance: str = "1e-13") -> bool:
    assert value is not None
    # What differentiation and cancellation leave of 60 digits is far more than is compared.
    return bool(
        abs(context.mpf(value) - reference)
        <= context.mpf(tolerance) * (abs(reference) + context.mpf("1e-40"))
    )


def test_the_counterexample_to_super_additivity_loses() -> None:
    found = diagnose(n=2, beta=1, lam="1.5,3.5").rates
    assert found.mean_above_inflection is not None
    assert found.mean_above_inflection.holds == "yes"
    assert found.gain.holds == "no"


def passage_time(
    model: str, lam: tuple[float, ...], n: int, beta: float, ends: tuple[str, ...]
) -> float:
    """Return the integral of 1/gamma' of the reduced equation in gamma, by mpmath."""

    def pace(gamma: Any) -> Any:
        speed = 0
        for s in lam:
            if model == "softmax":
                speed += s / (mpmath.exp(beta * s * (1 - gamma)) + n - 1)
            elif model == "unnormalised":
                speed += s * mpmath.exp(beta * s * gamma) / n
            else:
                speed += s * s * gamma / n
        return 1 / (2 * (1 - gamma) * (1 + (n - 1) * gamma) * speed)

    context = mpmath.mp
    return float(context.quad(pace, [context.mpf(end) for end in ends]))


@pytest.mark.parametrize("model", ["softmax", "unnormalised", "relu"])
def test_the_clustering_time_is_that_of_the_reduced_equation(model: str) -> None:
    found = diagnose(model=model, n=5, beta=1, lam="1/2,2", gamma="1/10", digits=12).passage
    assert (found.start, found.stop) == ("1/10", "991/1000")
    expected = passage_time(model, (0.5, 2), 5, 1, ("0.1", "0.5", "0.9", "0.991"))
    assert found.clustering_time is not None
    assert float(found.clustering_time) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("model", ["softmax", "unnormalised"])
def test_the_exit_time_is_that_of_the_reduced_equation(model: str) -> None:
    found = diagnose(model=model, n=64, beta=1, lam="1,1", gamma="1/2", digits=12)
    equal = found.equal_heads
    assert equal is not None
    assert equal.exit_overlap is not None
    assert equal.exit_time is not None
    ends = ("0", "0.02", "0.1", equal.exit_overlap)
    expected = passage_time(model, (1, 1), 64, 1, ends)
    assert float(equal.exit_time) == pytest.approx(expected, rel=1e-10)
    assert any("from orthonormal tokens" in remark for remark in found.remarks)


def shifted(overlap: str, relative: str) -> Fraction:
    return Fraction(overlap) * (1 + Fraction(relative))


@pytest.mark.parametrize("model", ["softmax", "unnormalised"])
@pytest.mark.parametrize("beta", ["1/2", "9/5", "2"])
def test_dominance_is_lost_at_the_exit_overlap(model: str, beta: str) -> None:
    """The margins themselves change their sign there; at beta = 2 they gained it before."""

    def holds(gamma: object) -> str:
        at = diagnose(model=model, n=64, beta=beta, lam="1,1", gamma=gamma)
        return at.heads[0].condition8.holds

    found = diagnose(model=model, n=64, beta=beta, lam="1,1").equal_heads
    assert found is not None
    assert found.exit_overlap is not None
    if beta == "2":
        assert found.exit_overlap == "0"
        assert found.window is not None
        gained, lost = found.window
        assert (holds(shifted(gained, "-1e-8")), holds(shifted(gained, "1e-8"))) == ("no", "yes")
    else:
        assert found.window is None
        assert holds(0) == "yes"
        lost = found.exit_overlap
    assert (holds(shifted(lost, "-1e-8")), holds(shifted(lost, "1e-8"))) == ("yes", "no")


def test_no_window_far_above_the_threshold() -> None:
    found = diagnose(n=64, beta=5, lam="1,1").equal_heads
    assert found is not None
    assert (found.exit_overlap, found.window) == ("0", None)


@given(
    n=st.integers(2, 60),
    beta=st.sampled_from([Fraction(1, 2), Fraction(3)]),
    mean=st.builds(Fraction, st.integers(1, 90), st.just(6)),
    share=st.builds(Fraction, st.integers(1, 19), st.just(20)),
)
@settings(max_examples=25)
def test_beyond_the_critical_spread_and_only_there_two_heads_lose(
    n: int, beta: Fraction, mean: Fraction, share: Fraction
) -> None:
    lam = (mean * (1 + share), mean * (1 - share))
    rates = diagnose(n=n, beta=beta, lam=lam).rates
    assert rates.spread == str(mean * share)
    if rates.critical_spread is None:
        assert rates.mean_above_inflection is not None
        assert rates.mean_above_inflection.holds == "no"
        assert rates.gain.holds == "no"
    else:
        assert rates.above_critical_spread is not None
        assert {rates.above_critical_spread.holds, rates.gain.holds} == {"yes", "no"}
        difference = float(mean * share) - float(rates.critical_spread)
        value = float(str(rates.above_critical_spread.value))
        assert value == pytest.approx(difference, rel=1e-6, abs=1e-8)


def test_relu_does_not_leave_orthonormal_tokens() -> None:
    found = diagnose(model="relu", n=5, beta=1, lam=(1, 2))
    assert found.passage.clustering_time == "+inf"
    assert found.rates.overlap_rate == Margin("0", "yes")
    assert found.equal_heads is None


def test_one_head_holds_trivially() -> None:
    found = diagnose(n=2, beta=1, lam=3)
    (head,) = found.heads
    assert (head.condition8.holds, head.condition8_sharp.holds) == ("yes", "yes")
    assert found.equal_heads is not None
    assert found.equal_heads.stated.critical_beta == "+inf"
    assert found.equal_heads.stated.margin_beta == Margin("+inf", "yes")
    assert found.equal_heads.exit_overlap is None
    assert any("trivially" in remark for remark in found.remarks)


def test_thresholds_that_no_beta_meets_are_remarked() -> None:
    found = diagnose(n=10, beta=1, lam=[1] * 4)
    assert any("least n is (H-1)^2 + 2 = 11" in remark for remark in found.remarks)


def test_a_limit_and_what_is_not_defined_there_are_said() -> None:
    found = diagnose(n=3, beta=0, lam="1,-2,0")
    text = " ".join(found.remarks)
    assert "beta = 0" in text
    assert "not positive" in text
    assert all(h.energy is None and h.denergy is None and h.above_peak is None for h in found.heads)
    assert [h.position for h in found.heads] == ["undefined", "not positive", "not positive"]


@pytest.mark.parametrize("model", ["softmax", "unnormalised"])
def test_astronomic_parameters_are_decided(model: str) -> None:
    found = diagnose(model=model, n="10^100", beta=1000, lam="1,1/2,-1", gamma="1/10", digits=6)
    answers = [h.condition8.holds for h in found.heads] + [found.rates.gain.holds]
    assert "undecided" not in answers
    assert all(h.denergy is not None and h.denergy.holds != "undecided" for h in found.heads)


def test_times_that_would_take_long_are_left_out() -> None:
    found = diagnose(n="10^100", beta="10^50", lam="1,1")
    assert found.passage.clustering_time is None
    assert any("times are left out" in remark for remark in found.remarks)
    assert found.equal_heads is not None
    assert found.heads[0].condition8.holds == "no"
    assert diagnose(model="relu", n=9, beta="10^50", lam=1).passage.clustering_time == "+inf"


def test_json_is_plain_and_complete() -> None:
    found = diagnose(n=64, beta=2, lam="1/2,1")
    data = json.loads(json.dumps(found.to_json()))
    assert data["parameters"] == {
        "model": "softmax",
        "n": "64",
        "beta": "2",
        "lam": ["1/2", "1"],
        "gamma": "0",
    }
    assert set(data["heads"][0]) == set(HeadDiagnosis.__dataclass_fields__)
    assert set(data) == {"kind", *Diagnosis.__dataclass_fields__}
    assert data["heads"][1]["condition8"]["holds"] in ("yes", "no", "undecided")
    assert data["does_not_show"]


def test_the_front_door_has_it() -> None:
    assert mhflow.diagnose(n=64, beta=2, lam=1) == diagnose(n=64, beta=2, lam=1)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "missing parameter n (integer >= 2)"),
        ({"n": 2, "beta": 1}, "missing parameter lam"),
        ({"n": 1, "beta": 1, "lam": 1}, "n: 1 is outside its domain: integer >= 2"),
        ({"n": 2, "beta": -1, "lam": 1}, "beta: -1 is outside its domain: real >= 0"),
        ({"n": 2, "beta": 0.5, "lam": 1}, "beta: the binary float 0.5"),
        ({"n": 2, "beta": 1, "lam": []}, "lam: the list is empty"),
        ({"n": 2, "beta": 1, "lam": "1,x"}, "lam: 'x'"),
        ({"n": 2, "beta": 1, "lam": 1, "model": "gelu"}, "model: 'gelu'"),
        ({"n": 2, "beta": 1, "lam": 1, "gamma": 1}, "gamma: 1 is outside its domain"),
        ({"n": 3, "beta": 1, "lam": 1, "gamma": "-1/2"}, "gamma: -1/2 is outside its domain"),
        ({"n": 2, "beta": 1, "lam": 1, "digits": 0}, "digits: 0"),
        ({"n": 2, "beta": 1, "lam": 1, "H": 2}, "no parameter 'H'"),
        ({"n": 2, "beta": 1, "lam": [1] * (MAX_HEADS + 1)}, f"at most {MAX_HEADS}"),
    ],
)
def test_wrong_calls_are_told_in_one_line(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        diagnose(**parameters)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
