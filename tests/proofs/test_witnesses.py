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


def test_condition_8_turns_at_the_stated_overlap(witnesses: Mapping[str, dict[str, Any]]) -> None:
    found = witnesses["trajectory-invariance"]
    parameters = found["parameters"]
    with mpmath.workdps(50):
        n, beta = _number(parameters["n"]), _number(parameters["beta"])
        heads = len(parameters["lam"])

        def margin(gamma: Any) -> Any:
            # |P f|^2 - (H - 1) |f| |a| with f = e^beta x_i + e^(beta gamma) (sum of the others).
            own, other = mpmath.exp(beta), mpmath.exp(beta * gamma)
            shadow = own + (n - 1) * gamma * other
            power = other**2 * (n - 1) * (1 - gamma) * (1 + (n - 1) * gamma)
            return power - (heads - 1) * mpmath.sqrt(power + shadow**2) * shadow

        lost, near = _number(found["value"]), mpmath.mpf(10) ** -20
        assert margin(0) > 0
        assert margin(lost - near) > 0 > margin(lost + near)


def test_a_negative_cosine_breaks_condition_8(witnesses: Mapping[str, dict[str, Any]]) -> None:
    found = witnesses["critical-cosine-any-sign"]
    tokens = [_number(x) for x in found["parameters"]["tokens (d = 1)"]]
    with mpmath.workdps(40):
        f = sum(mpmath.exp(tokens[0] * x / 4) * x for x in tokens)
        assert f * tokens[0] < 0
        assert abs(-f * f - _number(found["value"])) < mpmath.mpf(10) ** -25
