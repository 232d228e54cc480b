"""Counterexamples recomputed outside the program, with mpmath and from what is printed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mpmath
import pytest

from proofs.verification import manifest, verify

REFUTED = (
    "super-additivity",
    "entropy-rises",
    "value-misalignment-strict",
    "trajectory-invariance",
    "critical-cosine-any-sign",
)


@pytest.fixture(scope="module")
def witnesses() -> Mapping[str, dict[str, Any]]:
    results = verify(REFUTED, digits=30)
    return {e["id"]: e["counterexample"] for e in manifest(results)["claims"]}


def _number(text: str) -> Any:
    numerator, _, denominator = text.partition("/")
    return mpmath.mpf(numerator) / mpmath.mpf(denominator or 1)


def _vector(text: str) -> list[Any]:
    return [_number(part.strip()) for part in text.strip("()").split(",")]


def test_super_additivity(witnesses: Mapping[str, dict[str, Any]]) -> None:
    found = witnesses["super-additivity"]
    parameters = found["parameters"]
    with mpmath.workdps(50):
        n, beta = _number(parameters["n"]), _number(parameters["beta"])
        strengths = [_number(s) for s in parameters["lam"]]
        mean = sum(strengths) / len(strengths)

        def phi(x: Any) -> Any:
            return 2 * x / (mpmath.exp(beta * x) + n - 1)

        gain = sum(phi(s) for s in strengths) - len(strengths) * phi(mean)
        assert gain < 0
        assert abs(gain - _number(found["value"])) < mpmath.mpf(10) ** -25
        # The mean is where phi is convex, so above lambda_c, which is beyond 2/beta.
        assert mean > 2 / beta
        assert mpmath.diff(phi, mean, 2) > 0


def test_entropy_falls_under_a_negative_head(witnesses: Mapping[str, dict[str, Any]]) -> None:
    found = witnesses["entropy-rises"]
    assert found["parameters"] == {
        "model": "softmax",
        "n": "2",
        "lam": ["-1"],
        "beta": "1",
        "gamma": "1/2",
    }
    with mpmath.workdps(60):

        def entropy(gamma: Any) -> Any:
            own, other = mpmath.exp(-1), mpmath.exp(-gamma)
            shares = (own / (own + other), other / (own + other))
            return -sum(p * mpmath.log(p) for p in shares)

        gamma = mpmath.mpf(1) / 2
        # Two tokens: x' = P (p_self x + p_other y) lambda, so gamma' = 2 lambda p_other (1 - g^2).
        other = 1 / (1 + mpmath.exp(-(1 - gamma)))
        rate = -2 * other * (1 - gamma**2)
        step = mpmath.mpf(10) ** -20
        slope = (entropy(gamma + step) - entropy(gamma - step)) / (2 * step) * rate
        assert slope < 0
        assert abs(slope - _number(found["value"])) < mpmath.mpf(10) ** -15


def test_energy_falls_for_misaligned_values(witnesses: Mapping[str, dict[str, Any]]) -> None:
    found = witnesses["value-misalignment-strict"]
    parameters = found["parameters"]
    assert parameters["M_1"] == ["(1, 0)", "(0, 0)"]
    with mpmath.workdps(60):
        eta = _vector(parameters["V_1"][1])[0]
        c, s = _vector(parameters["x"][0])
        assert abs(c * c + s * s - 1) < mpmath.mpf(10) ** -50
        boost = mpmath.exp(c * c)
        velocity = (boost * c, boost * eta * c)
        radial = velocity[0] * c + velocity[1] * s
        step = mpmath.mpf(10) ** -25
        moved = c + step * (velocity[0] - radial * c)
        slope = (mpmath.exp(moved**2) - mpmath.exp(c * c)) / (2 * step)
        assert slope < 0
        assert abs(slope - _number(found["value"])) < mpmath.mpf(10) ** -15


def test_condition_8_is_lost(witnesses: Mapping[str, dict[str, Any]]) -> None:
    found = witnesses["trajectory-invariance"]
    parameters = found["parameters"]
    with mpmath.workdps(50):
        n, beta = _number(parameters["n"]), _number(parameters["beta"])
        heads = len(parameters["lam"])

        def margin(gamma: Any) -> Any:
            # |P f|^2 - (H - 1) |f| |a| under softmax: f = p x_i + q (sum of the others).
            own, other = mpmath.exp(beta), mpmath.exp(beta * gamma)
            total = own + (n - 1) * other
            shadow = (own + (n - 1) * gamma * other) / total
            power = (other / total) ** 2 * (n - 1) * (1 - gamma) * (1 + (n - 1) * gamma)
            return power - (heads - 1) * mpmath.sqrt(power + shadow**2) * shadow

        later = margin(_number(parameters["gamma later"]))
        assert margin(0) > 0 > later
        assert abs(later - _number(found["value"])) < mpmath.mpf(10) ** -28


def test_a_tokens_entropy_falls_on_the_circle() -> None:
    (result,) = verify("entropy-rises", digits=30)
    found = result.run.evidence[1][1].counterexample
    assert found is not None
    assert found.parameters["M"] == found.parameters["V"] == "identity"
    with mpmath.workdps(60):
        tokens = [_vector(x) for x in found.parameters["x"]]
        beta = _number(str(found.parameters["beta"]))
        token = int(str(found.parameters["token"])) - 1
        step = mpmath.mpf(10) ** -20

        def dot(u: Any, v: Any) -> Any:
            return sum(a * b for a, b in zip(u, v, strict=True))

        def shares(points: Any, i: int) -> Any:
            weights = [mpmath.exp(beta * dot(points[i], y)) for y in points]
            return [w / sum(weights) for w in weights]

        def moved(i: int) -> Any:
            p, x = shares(tokens, i), tokens[i]
            v = [sum(w * y[k] for w, y in zip(p, tokens, strict=True)) for k in range(2)]
            radial = dot(v, x)
            return [c + step * (b - radial * c) for b, c in zip(v, x, strict=True)]

        def entropy(points: Any) -> Any:
            return -sum(p * mpmath.log(p) for p in shares(points, token))

        slope = (entropy([moved(i) for i in range(3)]) - entropy(tokens)) / step
        assert slope < 0
        assert abs(slope - _number(found.value)) < mpmath.mpf(10) ** -15


def test_a_negative_cosine_breaks_condition_8(witnesses: Mapping[str, dict[str, Any]]) -> None:
    found = witnesses["critical-cosine-any-sign"]
    tokens = [_number(x) for x in found["parameters"]["tokens (d = 1)"]]
    with mpmath.workdps(40):
        f = sum(mpmath.exp(tokens[0] * x / 4) * x for x in tokens)
        assert f * tokens[0] < 0
        assert abs(-f * f - _number(found["value"])) < mpmath.mpf(10) ** -25
