"""The diagnosis of array files, against NumPy loops word for word and the models in balls."""

import json
from math import acos, cos, degrees, exp, log, radians, sin, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import arb

import mhflow
from mhflow import InputError
from numeric.array_diagnosis import ArrayDiagnosis, ArrayHead, diagnose_arrays
from numeric.balls import ball_precision
from numeric.definitions import Flow, Matrix
from numeric.diagnosis import diagnose

Arrays = dict[str, Any]


def unit(rows: Any) -> Any:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def drawn(seed: int, n: int = 5, d: int = 4, heads: int = 3, *, values: bool = True) -> Arrays:
    """Return random arrays; the matrices have no symmetry."""
    rng = np.random.default_rng(seed)
    arrays = {"x": unit(rng.standard_normal((n, d))), "M": rng.standard_normal((heads, d, d))}
    return {**arrays, "V": rng.standard_normal((heads, d, d))} if values else arrays


def diagnosed(path: Path, arrays: Arrays, **parameters: Any) -> ArrayDiagnosis:
    np.savez(path / "heads.npz", **arrays)
    return diagnose_arrays(path / "heads.npz", **parameters)


def loops(arrays: Arrays, model: str, beta: float) -> dict[str, Any]:
    """Return every quantity by loops over heads and tokens, from the definitions."""
    x, scores = arrays["x"], arrays["M"]
    values: Any = arrays.get("V", scores)
    (n, _), heads = x.shape, len(scores)
    f = np.zeros((heads, *x.shape))
    entropy = np.zeros((heads, n))
    for h in range(heads):
        for i in range(n):
            weights = [exp(beta * (x[i] @ scores[h] @ x[j])) for j in range(n)]
            p = [w / sum(weights) for w in weights]
            entropy[h, i] = -sum(q * log(q) for q in p)
            if model == "softmax":
                weights = p
            if model == "relu":
                weights = [max(0.0, x[i] @ scores[h] @ x[j]) for j in range(n)]
            for j in range(n):
                f[h, i] += weights[j] * (values[h] @ x[j])
    a = np.array([[f[h, i] @ x[i] for i in range(n)] for h in range(heads)])
    margins, sharp = np.zeros((heads, n)), np.zeros((heads, n))
    for h in range(heads):
        for i in range(n):
            power = np.sum((f[h, i] - a[h, i] * x[i]) ** 2)
            others = sum(abs(a[k, i]) for k in range(heads) if k != h)
            margins[h, i] = power - np.linalg.norm(f[h, i]) * others
            sharp[h, i] = power - abs(a[h, i]) * others
    speed = np.zeros_like(x)
    for i in range(n):
        v = sum(f[h, i] for h in range(heads)) / (1 if model == "softmax" else n)
        speed[i] = v - (v @ x[i]) * x[i]
    energy, rate = np.zeros(heads), np.zeros(heads)
    for h in range(heads):
        for i in range(n):
            for j in range(n):
                w = exp(beta * (x[i] @ scores[h] @ x[j]))
                energy[h] += w / (2 * beta * n**2)
                change = speed[i] @ scores[h] @ x[j] + x[i] @ scores[h] @ speed[j]
                rate[h] += w * change / (2 * n**2)
    return {
        "a": a, "margins": margins, "sharp": sharp, "entropy": entropy, "energy": energy,
        "rate": rate,
    }  # fmt: skip


@pytest.mark.parametrize("model", ["softmax", "unnormalised", "relu"])
@pytest.mark.parametrize(("seed", "values"), [(0, True), (1, False)])
def test_every_value_is_that_of_the_loops(
    tmp_path: Path, model: str, seed: int, values: bool
) -> None:
    arrays = drawn(seed, values=values)
    found = diagnosed(tmp_path, arrays, model=model, beta="0.7")
    expected = loops(arrays, model, 0.7)
    for h, head in enumerate(found.heads):
        assert head.shadows == pytest.approx(expected["a"][h], rel=1e-10, abs=1e-12)
        for condition, name in ((head.condition8, "margins"), (head.condition8_sharp, "sharp")):
            margins = expected[name][h]
            assert condition.values == pytest.approx(margins, rel=1e-10, abs=1e-12)
            assert condition.answers == tuple("yes" if m > 0 else "no" for m in margins)
            assert condition.worst_token == int(np.argmin(margins)) + 1
            assert condition.worst.value == min(condition.values)
            assert condition.holds == ("yes" if min(margins) > 0 else "no")
        assert head.entropies == pytest.approx(expected["entropy"][h], rel=1e-10, abs=1e-12)
        assert head.energy == pytest.approx(expected["energy"][h], rel=1e-10, abs=1e-12)
        assert head.denergy is not None
        assert head.denergy.value == pytest.approx(expected["rate"][h], rel=1e-10, abs=1e-12)
        assert head.denergy.holds == ("yes" if expected["rate"][h] > 0 else "no")
    assert found.energy == pytest.approx(expected["energy"].sum(), rel=1e-10, abs=1e-12)
    assert found.denergy is not None
    assert found.denergy.value == pytest.approx(expected["rate"].sum(), rel=1e-10, abs=1e-12)


def test_the_answers_of_these_cases_are_mixed(tmp_path: Path) -> None:
    """A sign flipped or an answer inverted anywhere above would show."""
    answers: set[str] = set()
    for model in ("softmax", "unnormalised"):
        for head in diagnosed(tmp_path, drawn(0), model=model, beta="0.7").heads:
            answers |= set(head.condition8.answers)
    assert answers == {"yes", "no"}


def wrong(arrays: Arrays, name: str) -> Any:
    """Return margins of head 0 by a wrong reading of Condition 8, unnormalised."""
    right = loops(arrays, "unnormalised", 0.7)
    a, margins = np.abs(right["a"]), right["margins"]
    others = a[1:].sum(axis=0)
    length = (right["sharp"][0] - margins[0]) / others + a[0]
    return {
        "shadows added": margins[0] + 2 * length * others,
        "own shadow counted": margins[0] - length * a[0],
        "signed shadows": margins[0] + length * (others - right["a"][1:].sum(axis=0)),
        "literal": margins[0] + (length - 1) * others,
        "sharp": right["sharp"][0],
    }[name]


@pytest.mark.parametrize(
    "name", ["shadows added", "own shadow counted", "signed shadows", "literal", "sharp"]
)
def test_a_wrong_margin_would_be_noticed(tmp_path: Path, name: str) -> None:
    arrays = drawn(0)
    found = diagnosed(tmp_path, arrays, model="unnormalised", beta="0.7").heads[0].condition8
    assert found.values == pytest.approx(loops(arrays, "unnormalised", 0.7)["margins"][0])
    assert found.values != pytest.approx(wrong(arrays, name), rel=1e-3)


def rows(matrix: Any) -> Matrix:
    return [[arb(float(entry)) for entry in row] for row in matrix]


@pytest.mark.parametrize("model", ["softmax", "unnormalised", "relu"])
def test_the_floats_are_the_nearest_to_the_definitions_in_balls(tmp_path: Path, model: str) -> None:
    """The models in coordinates at 300 bits, with the binary numbers of the file and tokens."""
    arrays = drawn(2, n=3, d=3, heads=2)
    found = diagnosed(tmp_path, arrays, model=model, beta=0.75)
    with ball_precision(300):
        tokens = []
        for row in rows(arrays["x"]):
            square = row[0] * row[0] + row[1] * row[1] + row[2] * row[2]
            tokens.append([c / square.sqrt() for c in row])
        flow = Flow(
            model, tokens, list(map(rows, arrays["M"])), list(map(rows, arrays["V"])), arb(0.75)
        )
        for h, head in enumerate(found.heads):
            assert head.denergy is not None
            assert same(head.denergy.value, flow.energy_rate(h))
            for i in range(3):
                assert same(head.shadows[i], flow.shadow(i, h))
                assert same(head.condition8.values[i], flow.condition_8_margin(i, h))
                sharp = flow.condition_8_margin(i, h, sharp=True)
                assert same(head.condition8_sharp.values[i], sharp)


def same(value: float, ball: arb) -> bool:
    """Tell whether a float is within two units of rounding of a ball."""
    return bool(abs(arb(value) - ball) <= abs(ball) * arb(2.0**-52))


@pytest.mark.parametrize("model", ["softmax", "unnormalised", "relu"])
def test_scalar_heads_at_orthonormal_tokens_are_the_scalar_diagnosis(
    tmp_path: Path, model: str
) -> None:
    strengths = (0.5, -1.25, 2.0)
    arrays = {"x": np.eye(4), "M": np.array([s * np.eye(4) for s in strengths])}
    found = diagnosed(tmp_path, arrays, model=model, beta="3/2")
    exact = diagnose(model=model, n=4, beta="3/2", lam="1/2,-5/4,2", digits=17)
    for head, reference in zip(found.heads, exact.heads, strict=True):
        for margin, other in (
            (head.condition8.worst, reference.condition8),
            (head.condition8_sharp.worst, reference.condition8_sharp),
            (head.denergy, reference.denergy),
        ):
            assert margin is not None
            assert other is not None
            assert margin.value == pytest.approx(float(str(other.value)), rel=1e-14)
            assert margin.holds == other.holds
        assert head.energy == pytest.approx(float(str(reference.energy)), rel=1e-14)
        assert head.entropies[3] == pytest.approx(float(str(reference.entropy)), rel=1e-12)


def test_the_smallest_witness_of_radial_shadows(tmp_path: Path) -> None:
    """``e^(beta c^2) c^2 s^2 (e^(beta c^2) - e^(beta s^2))``, negative for the smaller share."""
    c, s = 0.6, 0.8
    arrays = {"x": np.array([[c, s]]), "M": np.array([np.diag([1.0, 0]), np.diag([0, 1.0])])}
    found = diagnosed(tmp_path, arrays, model="unnormalised", beta=2)
    first, second = found.heads
    weights = exp(2 * c * c), exp(2 * s * s)
    expected = weights[0] * c * c * s * s * (weights[0] - weights[1])
    assert first.denergy is not None
    assert second.denergy is not None
    assert first.denergy.value == pytest.approx(expected)
    assert (first.denergy.holds, second.denergy.holds) == ("no", "yes")
    assert first.condition8.holds == "no"
    assert found.denergy is not None
    assert found.denergy.holds == "yes"
    assert any("symmetric, aligned and orthogonal" in remark for remark in found.remarks)


def test_a_sign_that_balls_do_not_decide_is_undecided(tmp_path: Path) -> None:
    """Equal shares: the rate is exactly zero, but the token has irrational coordinates."""
    token = np.array([[1.0, 1.0]]) / sqrt(2)
    arrays = {"x": token, "M": np.array([np.diag([1.0, 0]), np.diag([0, 1.0])])}
    found = diagnosed(tmp_path, arrays, model="unnormalised", beta=1)
    for head in found.heads:
        assert head.denergy is not None
        assert head.denergy.holds == "undecided"
        assert abs(head.denergy.value) < 1e-30


def test_one_head_holds_at_a_token_that_does_not_move(tmp_path: Path) -> None:
    token = np.array([[1.0, 2.0, 2.0]]) / 3
    arrays = {"x": token, "M": np.array([np.eye(3)])}
    found = diagnosed(tmp_path, arrays, beta=1)
    assert found.heads[0].condition8.holds == "yes"
    assert 0 <= found.heads[0].condition8_sharp.worst.value < 1e-30
    assert found.pairs == ()
    assert any("trivially" in remark for remark in found.remarks)


def projector(basis: Any) -> Any:
    return basis @ basis.T


def test_angles_and_overlap_of_planes_at_known_angles(tmp_path: Path) -> None:
    """Planes in R^5 that meet at 20 and 75 degrees; the overlap of projectors is cos 20."""
    e = np.eye(5)
    small, large = radians(20), radians(75)
    first = np.column_stack([e[0], e[1]])
    second = np.column_stack(
        [cos(small) * e[0] + sin(small) * e[2], cos(large) * e[1] + sin(large) * e[3]]
    )
    line = 3 * projector(e[:, 4:])
    stack = np.array([projector(first), 2 * projector(second), line, np.zeros((5, 5)), e])
    found = diagnosed(tmp_path, {"x": e, "M": stack}, beta=1)
    pairs = {pair.heads: pair for pair in found.pairs}
    assert len(pairs) == 10
    assert pairs[1, 2].angles == pytest.approx((20, 75))
    assert pairs[1, 2].overlap == pytest.approx(2 * cos(small))
    assert pairs[1, 3].angles == (90, 90)[:1]
    assert pairs[1, 3].overlap == 0
    assert pairs[1, 4].angles == ()
    assert pairs[1, 4].overlap == 0
    assert pairs[1, 5].angles == (0, 0)
    assert pairs[3, 5].overlap == pytest.approx(3)
    assert [head.rank for head in found.heads] == [2, 2, 1, 0, 5]
    assert [head.score_norm for head in found.heads] == pytest.approx([1, 2, 3, 0, 1])


def test_overlap_is_the_larger_of_both_orders_for_matrices_without_symmetry(
    tmp_path: Path,
) -> None:
    one, other = np.zeros((3, 3)), np.zeros((3, 3))
    one[0, 1], other[1, 2] = 2, 5  # one @ other = 10 e0 e2^T, other @ one = 0
    for stack in ([one, other], [other, one]):
        found = diagnosed(tmp_path, {"x": np.eye(3), "M": np.array(stack)}, beta=1)
        assert found.pairs[0].overlap == pytest.approx(10)
        assert found.pairs[0].angles == pytest.approx((90,))
    assert any("column space" in remark for remark in found.remarks)


def test_angles_of_random_subspaces_are_those_of_their_bases(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    first, second = (np.linalg.qr(rng.standard_normal((6, 2)))[0] for _ in range(2))
    stack = np.array([projector(first), projector(second)])
    found = diagnosed(tmp_path, {"x": np.eye(6), "M": stack}, beta=1)
    cosines = np.sqrt(np.linalg.eigvalsh(first.T @ second @ second.T @ first))[::-1]
    assert found.pairs[0].angles == pytest.approx([degrees(acos(c)) for c in cosines])


def test_defects_are_operator_norms(tmp_path: Path) -> None:
    score = np.array([[1.0, 3.0], [0.0, 2.0]])
    value = score + np.diag([0.25, -0.5])
    found = diagnosed(
        tmp_path, {"x": np.eye(2), "M": np.array([score]), "V": np.array([value])}, beta=1
    )
    (head,) = found.heads
    assert head.symmetry_defect == pytest.approx(3)  # 3 times a rotation by 90 degrees
    assert head.alignment_defect == pytest.approx(0.5)
    text = " ".join(found.remarks)
    assert "|M - M^T| up to 3" in text
    assert "|V - M| up to 0.5" in text


def test_energies_are_not_defined_without_attention(tmp_path: Path) -> None:
    found = diagnosed(tmp_path, drawn(3), beta=0)
    assert found.energy is None
    assert found.denergy is None
    assert all(h.energy is None and h.denergy is None for h in found.heads)
    assert found.heads[0].entropies == pytest.approx([log(5)] * 5)
    assert any("beta = 0" in remark for remark in found.remarks)


def test_lengths_that_are_off_are_said(tmp_path: Path) -> None:
    arrays = drawn(4)
    single = {key: array.astype(np.float32) for key, array in arrays.items()}
    found = diagnosed(tmp_path, single, beta=1)
    assert any("normalised" in remark and "e-08" in remark for remark in found.remarks)


def test_json_is_plain_and_complete(tmp_path: Path) -> None:
    found = diagnosed(tmp_path, drawn(5), beta=0.1)
    data = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert set(data) == {"kind", *ArrayDiagnosis.__dataclass_fields__}
    assert set(data["heads"][0]) == set(ArrayHead.__dataclass_fields__)
    # A float beta is the binary number that it is.
    assert data["parameters"]["beta"] == "3602879701896397/36028797018963968"
    assert data["parameters"]["file"] == "heads.npz"
    assert len(data["heads"][0]["condition8"]["values"]) == 5


def test_the_front_door_reads_files(tmp_path: Path) -> None:
    direct = diagnosed(tmp_path, drawn(8), beta=1)
    assert mhflow.diagnose(tmp_path / "heads.npz", beta=1) == direct
    assert mhflow.diagnose(str(tmp_path / "heads.npz"), beta="1") == direct


@pytest.mark.parametrize(
    ("changes", "parameters", "message"),
    [
        ({"x": 2 * np.eye(3)}, {"beta": 1}, "row 1 has length 2"),
        ({"x": np.eye(4)}, {"beta": 1}, "x has shape (4, 4)"),
        ({"M": np.eye(3)}, {"beta": 1}, "give (H, d, d)"),
        ({"M": np.full((1, 3, 3), np.nan)}, {"beta": 1}, "finite"),
        ({"V": np.zeros((2, 3, 3))}, {"beta": 1}, "V"),
        ({"y": np.eye(3)}, {"beta": 1}, "keys"),
        ({}, {"beta": -1}, "beta: -1 is outside its domain"),
        ({}, {"beta": float("nan")}, "beta: "),
        ({}, {"beta": "x"}, "beta: 'x'"),
        ({}, {"beta": 10**6}, "beta: 1000000 times a score <x_i, M_h x_j> of 1 (head 1)"),
        ({}, {"beta": "10^400"}, "exponents up to 700"),
        (
            {"M": np.array([np.eye(3)] * 2)},
            {"beta": 500, "model": "unnormalised"},
            "numbers beyond floats",
        ),
        ({"V": np.full((1, 3, 3), 1e200)}, {"beta": 0}, "V: an entry of size 1e+200"),
        ({}, {"beta": 1, "model": "gelu"}, "model: 'gelu'"),
    ],
)
def test_wrong_files_and_calls_are_told_in_one_line(
    tmp_path: Path, changes: Arrays, parameters: Arrays, message: str
) -> None:
    arrays = {"x": np.eye(3), "M": np.array([np.eye(3)]), **changes}
    with pytest.raises(InputError) as error:
        diagnosed(tmp_path, arrays, **parameters)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_large_entries_and_exponents_are_no_overflow(tmp_path: Path) -> None:
    arrays = {"x": np.eye(3), "M": np.array([1e100 * np.eye(3), np.zeros((3, 3))])}
    assert diagnosed(tmp_path, arrays, beta=0).heads[0].condition8.holds == "yes"
    found = diagnosed(tmp_path, {"x": np.eye(3), "M": np.array([np.eye(3)] * 2)}, beta=600)
    assert found.heads[0].energy == pytest.approx(exp(600) / (2 * 600 * 3))
    assert found.heads[0].condition8.holds == "no"


def test_files_that_are_none_are_told_in_one_line(tmp_path: Path) -> None:
    pickled = tmp_path / "pickled.npz"
    np.savez(pickled, x=np.array([{}], dtype=object), M=np.eye(2))
    text = tmp_path / "text.npz"
    text.write_text("1,2,3")
    for path in (pickled, text, tmp_path / "absent.npz", tmp_path):
        with pytest.raises(InputError) as error:
            diagnose_arrays(path, beta=1)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ("MOST_SCORES", "n = 5, d = 4, H = 3 make H n^2 = 75 scores; accepted: up to 0"),
        ("MOST_SECONDS", "n = 5, d = 4, H = 3 take about 0 minutes; accepted: arrays that"),
    ],
)
def test_arrays_that_are_too_large_are_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, message: str
) -> None:
    monkeypatch.setattr(f"numeric.array_diagnosis.{limit}", 0)
    with pytest.raises(InputError) as error:
        diagnosed(tmp_path, drawn(0), beta=1)
    assert message in str(error.value)


@pytest.mark.parametrize("name", ["n", "lam", "gamma", "digits"])
def test_what_belongs_to_scalar_heads_is_refused(tmp_path: Path, name: str) -> None:
    call: Any = diagnose
    with pytest.raises(InputError, match=f"no parameter '{name}'"):
        call(tmp_path / "heads.npz", beta=1, **{name: 2})
    with pytest.raises(InputError, match="missing parameter beta"):
        call(tmp_path / "heads.npz")
