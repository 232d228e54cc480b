"""Heads and tokens: what they hold, exactly and in float64, and what is refused."""

import io
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import arb, arb_mat, fmpq
from hypothesis import given
from hypothesis import strategies as st

from numeric.balls import ball_precision
from numeric.heads import (
    Dense,
    Diagonal,
    HeadMatrix,
    Heads,
    Scalar,
    block_heads,
    dense_heads,
    diagonal_heads,
    scalar_heads,
)
from numeric.token_file import read_arrays
from numeric.token_presets import PRESETS, equiangular, orthogonal_heads, orthonormal, random
from numeric.token_start import (
    Tokens,
    block_equiangular_tokens,
    equiangular_tokens,
    exact_tokens,
    float_tokens,
    orthonormal_tokens,
    random_tokens,
)
from symbolic.errors import InputError
from symbolic.numbers import exact

F = Fraction
NUMBERS = st.fractions(F(-5), F(5), max_denominator=20)


def rows_of(matrix: HeadMatrix) -> list[list[Fraction]]:
    """Return the entries that a matrix stands for, read off its float64 form."""
    return [[F(x) for x in row] for row in matrix.floats.tolist()]


def refused(call: Callable[[], Any], *words: str) -> str:
    """Return the one-line message of a refusal, which has the words."""
    with pytest.raises(InputError) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message, message
    return message


def overlaps(tokens: Tokens, digits: int = 60) -> list[list[arb]]:
    """Return the Gram matrix as balls of some sixty digits."""
    with ball_precision(4 * digits):
        x = arb_mat(tokens.balls())
        return (x * x.transpose()).tolist()


def assert_close(ball: arb, value: Fraction) -> None:
    with ball_precision(400):
        truth = arb(fmpq(value.numerator, value.denominator))
        assert ball.contains(truth)
        assert ball.rad() < arb(10) ** -60


def test_scalar_heads() -> None:
    heads = scalar_heads("0.5, 3/2", 3)
    assert heads.count == 2
    assert heads.d == 3
    assert heads.aligned
    assert heads.symmetric
    assert heads.strengths == (F(1, 2), F(3, 2))
    assert (heads.score_floats[1] == 1.5 * np.eye(3)).all()
    assert heads.parameters == {"heads": "scalar", "lam": ("1/2", "3/2"), "d": "3"}


def test_block_heads_are_orthogonal() -> None:
    heads = block_heads([2, F(1, 3)], [1, 2])
    first, second = heads.score_floats
    assert (first == np.diag([2, 0, 0])).all()
    assert (second == np.diag([0, 1 / 3, 1 / 3])).all()
    assert (first @ second == 0).all()
    assert heads.strengths is None
    assert heads.symmetric
    assert heads.parameters["sizes"] == ("1", "2")


def test_diagonal_heads() -> None:
    heads = diagonal_heads(["2,0", (0, 3)])
    assert (heads.score_floats == [np.diag([2, 0]), np.diag([0, 3])]).all()
    assert heads.parameters == {"heads": "diagonal", "M_1": ("2", "0"), "M_2": ("0", "3")}


def test_dense_heads_exact_and_float() -> None:
    exact_ = dense_heads([[["1/3", 2], [0, -1]]])
    assert not exact_.symmetric
    assert exact_.aligned
    assert exact_.parameters["M_1"] == ("1/3", "2", "0", "-1")
    array = np.array([[[0.1, 2.0], [2.0, -1.0]]])
    floats = dense_heads(array, [[[1, 0], [0, 1]]])
    assert floats.symmetric
    assert not floats.aligned
    assert floats.strengths is None
    written = floats.parameters["M_1"]
    assert [exact(text, "M") for text in written] == [F(x) for x in array.ravel().tolist()]
    assert floats.parameters["V_1"] == ("1", "0", "0", "1")


def test_many_floats_are_described_by_a_digest() -> None:
    large = dense_heads(np.eye(65)[None])
    same, other = dense_heads(np.eye(65)[None]), dense_heads(2 * np.eye(65)[None])
    text = large.parameters["M_1"]
    assert isinstance(text, str)
    assert text.startswith("sha256:")
    assert same.parameters == large.parameters != other.parameters


def test_arrays_given_and_held_are_independent_and_read_only() -> None:
    array = np.array([[[1.0, 2.0], [3.0, 4.0]]])
    heads = dense_heads(array)
    array[:] = 0
    assert heads.score_floats[0][1, 1] == 4
    with pytest.raises(ValueError, match="read-only"):
        heads.scores[0].floats[0, 0] = 5
    tokens = float_tokens(np.eye(2))
    with pytest.raises(ValueError, match="read-only"):
        tokens.floats[0, 0] = 5


@given(st.data(), st.integers(1, 4), st.integers(1, 4))
def test_images_are_those_of_the_matrix(data: st.DataObject, n: int, d: int) -> None:
    entries = st.lists(NUMBERS, min_size=d, max_size=d)
    square = st.lists(entries.map(tuple), min_size=d, max_size=d).map(tuple)
    matrix: HeadMatrix = data.draw(
        st.one_of(
            NUMBERS.map(lambda x: Scalar(x, d)),
            entries.map(lambda x: Diagonal(tuple(x))),
            square.map(Dense),
            square.map(lambda rows: Dense(np.array(rows, dtype=float))),
        )
    )
    tokens = data.draw(st.lists(entries, min_size=n, max_size=n))
    expected = np.array(tokens, dtype=float) @ matrix.floats.T
    found = matrix.float_images(np.array(tokens, dtype=float))
    assert np.allclose(found, expected, rtol=1e-14, atol=1e-14)
    assert np.allclose(matrix.float_images(np.array(tokens, dtype=complex) * 1j), 1j * expected)
    with ball_precision(100):
        given_ = arb_mat([[arb(x.numerator) / x.denominator for x in row] for row in tokens])
        balls = matrix.ball_images(given_)
        assert (balls.nrows(), balls.ncols()) == (n, d)
        assert all(
            abs(float(balls[i, j]) - expected[i, j]) < 1e-13 for i in range(n) for j in range(d)
        )
    with ball_precision(200):
        finer = matrix.ball_images(given_)
        assert all(x.overlaps(y) for x, y in zip(balls.entries(), finer.entries(), strict=True))
    assert matrix.d == d
    assert matrix.symmetric == (matrix.floats == matrix.floats.T).all()


def test_a_strength_beyond_float64_is_infinite_there() -> None:
    assert (scalar_heads("1e400", 2).score_floats[0] == [[np.inf, 0], [0, np.inf]]).all()
    assert diagonal_heads(["-1e400"]).score_floats[0, 0, 0] == -np.inf


REFUSED_HEADS: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    "float strength": (lambda: scalar_heads([0.5], 2), ("lam", "0.5", "1/2")),
    "no strengths": (lambda: scalar_heads([], 2), ("lam", "list")),
    "one number": (lambda: scalar_heads(3, 2), ("lam", "3")),
    "text": (lambda: scalar_heads("1,x", 2), ("lam", "'x'")),
    "dimension 0": (lambda: scalar_heads([1], 0), ("d", "0", ">= 1")),
    "dimension 3/2": (lambda: scalar_heads([1], F(3, 2)), ("d", "3/2")),  # type: ignore[arg-type]
    "sizes": (lambda: block_heads([1, 2], [3]), ("sizes", "2")),
    "size 0": (lambda: block_heads([1], [0]), ("sizes", "0")),
    "lengths": (lambda: diagonal_heads([[1, 2], [1]]), ("2, 1",)),
    "no diagonals": (lambda: diagonal_heads([]), ("diagonals",)),
    "not square": (lambda: dense_heads([[[1, 2], [3]]]), ("M_1", "2, 1")),
    "sizes differ": (lambda: dense_heads([[[1]], [[1, 0], [0, 1]]]), ("M_2",)),
    "empty matrix": (lambda: dense_heads([[]]), ("M_1",)),
    "a number": (lambda: dense_heads(3), ("M", "3")),
    "floats in lists": (lambda: dense_heads([[[0.5]]]), ("M_1", "0.5")),
    "two axes": (lambda: dense_heads(np.eye(2)), ("M", "(2, 2)", "(H, d, d)")),
    "nan": (lambda: dense_heads(np.full((1, 2, 2), np.nan)), ("M", "nan", "finite")),
    "V of other shape": (lambda: dense_heads([[[1]]], [[[1]], [[2]]]), ("V", "2 matrices")),
    "V of other size": (lambda: dense_heads([[[1]]], [[[1, 0], [0, 1]]]), ("V", "dimension 2")),
}


@pytest.mark.parametrize("case", REFUSED_HEADS)
def test_refused_heads(case: str) -> None:
    call, words = REFUSED_HEADS[case]
    refused(call, *words)


@pytest.mark.parametrize("d", [None, 5])
def test_orthonormal_tokens(d: int | None) -> None:
    tokens = orthonormal_tokens(3, d)
    assert (tokens.n, tokens.d) == (3, d or 3)
    for i, row in enumerate(overlaps(tokens)):
        for j, ball in enumerate(row):
            assert ball == int(i == j)


@given(st.integers(2, 6), st.fractions(F(1, 1000), F(999, 1000)))
def test_equiangular_tokens(n: int, place: Fraction) -> None:
    low = F(-1, n - 1)
    gamma = low + place * (1 - low)
    tokens = equiangular_tokens(n, gamma, n + 1)
    assert tokens.d == n + 1
    for i, row in enumerate(overlaps(tokens)):
        for j, ball in enumerate(row):
            assert_close(ball, F(1) if i == j else gamma)
    assert exact(tokens.parameters["gamma"], "gamma") == gamma


def test_block_equiangular_tokens() -> None:
    shares, rhos = (F(1, 4), F(3, 4)), (F(3, 5), F(-1, 4))
    tokens = block_equiangular_tokens(3, shares, rhos)
    assert (tokens.n, tokens.d) == (3, 6)
    with ball_precision(240):
        rows = tokens.balls()
        for h, (share, rho) in enumerate(zip(shares, rhos, strict=True)):
            block = arb_mat([row[3 * h : 3 * h + 3] for row in rows])
            gram = (block * block.transpose()).tolist()
            for i in range(3):
                for j in range(3):
                    assert_close(gram[i][j], share if i == j else share * rho)


def test_random_tokens_are_unit_and_depend_on_the_seed_alone() -> None:
    first, same, other = random_tokens(4, 3, 7), random_tokens(4, 3, 7), random_tokens(4, 3, 8)
    assert (first.floats == same.floats).all()
    assert (first.floats != other.floats).any()
    drawn = np.random.default_rng(7).standard_normal((4, 3))
    assert np.allclose(first.floats * np.linalg.norm(drawn, axis=1, keepdims=True), drawn)
    for i, row in enumerate(overlaps(first)):
        assert_close(row[i], F(1))
    assert first.parameters["seed"] == "7"
    with ball_precision(200):
        balls = np.array([[float(x) for x in row] for row in first.balls()])
    assert np.abs(balls - first.floats).max() < 3e-16


def test_random_tokens_are_uniform_in_sign_and_size() -> None:
    x = random_tokens(20000, 3, 0).floats
    # Each coordinate of a uniform point of the sphere of R^3 is uniform on [-1, 1].
    for coordinate in x.T:
        assert np.abs(np.quantile(coordinate, [0.25, 0.5, 0.75]) - [-0.5, 0, 0.5]).max() < 0.03


def test_exact_tokens() -> None:
    tokens = exact_tokens([["3/5", "4/5"], [0, -1]])
    assert tokens.parameters == {"tokens": "exact", "x_1": ["3/5", "4/5"], "x_2": ["0", "-1"]}
    assert np.allclose(tokens.floats, np.array([[0.6, 0.8], [0, -1]]), rtol=0, atol=1e-16)
    assert_close(overlaps(tokens)[0][1], F(-4, 5))


def test_float_tokens_are_read_exactly_and_normalised() -> None:
    array = np.array([[0.6, 0.8], [1 / 3, np.sqrt(8) / 3]])
    tokens = float_tokens(array)
    assert exact(tokens.parameters["x_1"][0], "x") == F(0.6)
    for i, row in enumerate(overlaps(tokens)):
        assert_close(row[i], F(1))
    with ball_precision(200):
        x, y = tokens.balls()[0]
        assert (x / y).overlaps(arb(0.6) / arb(0.8))
    # Lengths that are 1 in float64 are not worth a remark.
    assert tokens.remarks == ()
    assert "normalised" in float_tokens(array * (1 + 1e-9)).remarks[0]


REFUSED_TOKENS: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    "not unit": (lambda: exact_tokens([[1, 1]]), ("row 1", "2", "unit")),
    "float": (lambda: exact_tokens([[0.6, 0.8]]), ("tokens", "0.6")),
    "empty": (lambda: exact_tokens([]), ("tokens",)),
    "lengths": (lambda: exact_tokens([[1], [1, 0]]), ("1, 2",)),
    "a number": (lambda: exact_tokens(3), ("tokens", "3")),  # type: ignore[arg-type]
    "d below n": (lambda: orthonormal_tokens(3, 2), ("d", "2", "3")),
    "n = 0": (lambda: orthonormal_tokens(0), ("n", "0")),
    "gamma = 1": (lambda: equiangular_tokens(3, 1), ("gamma", "1")),
    "gamma too small": (lambda: equiangular_tokens(3, "-1/2"), ("gamma", "-1/2")),
    "float gamma": (lambda: equiangular_tokens(3, 0.5), ("gamma", "0.5")),
    "one token": (lambda: equiangular_tokens(1, 0), ("n", "1")),
    "shares": (lambda: block_equiangular_tokens(3, ["1/2"], [0]), ("shares",)),
    "negative share": (lambda: block_equiangular_tokens(3, [2, -1], [0, 0]), ("shares",)),
    "one overlap": (lambda: block_equiangular_tokens(3, ["1/2", "1/2"], [0]), ("overlaps",)),
    "overlap 1": (lambda: block_equiangular_tokens(3, [1], [1]), ("overlaps", "1")),
    "seed": (lambda: random_tokens(3, 3, -1), ("seed", "-1")),
    "long rows": (lambda: float_tokens(np.ones((2, 2))), ("row 1", "1.41421")),
    "zero row": (lambda: float_tokens(np.array([[1.0, 0], [0, 0]])), ("row 2", "0")),
    "one axis": (lambda: float_tokens(np.ones(3)), ("(3,)",)),
    "no rows": (lambda: float_tokens(np.ones((0, 3))), ("(0, 3)",)),
    "nan": (lambda: float_tokens(np.array([[np.nan]])), ("nan",)),
    "complex": (lambda: float_tokens(np.array([[1j]])), ("complex",)),
    "preset": (lambda: orthogonal_heads("1,2", 3, shares=["1/2", "1/2"], seed=1), ("seed",)),
}


@pytest.mark.parametrize("case", REFUSED_TOKENS)
def test_refused_tokens(case: str) -> None:
    call, words = REFUSED_TOKENS[case]
    refused(call, *words)


def test_presets() -> None:
    assert set(PRESETS) == {"orthonormal", "equiangular", "random", "orthogonal-heads"}
    for heads, tokens in (
        orthonormal("1,2", 3, 4),
        equiangular("1,2", 3, "1/2", 4),
        random("1,2", 3, 4, 5),
    ):
        assert heads.strengths == (F(1), F(2))
        assert (tokens.n, tokens.d, heads.d) == (3, 4, 4)
    for arguments in ({}, {"shares": ["1/4", "3/4"], "overlaps": [0, "1/2"]}, {"seed": 3}):
        heads, tokens = orthogonal_heads("1,2", 3, **arguments)
        assert (tokens.n, tokens.d, heads.d, heads.count) == (3, 6, 6, 2)
        assert (heads.score_floats[0] @ heads.score_floats[1] == 0).all()


def write(path: Path, **arrays: Any) -> Path:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    path.write_bytes(buffer.getvalue())
    return path


X, M = np.eye(3)[:2], np.array([np.eye(3), 2 * np.ones((3, 3))])


def test_array_files(tmp_path: Path) -> None:
    heads, tokens = read_arrays(write(tmp_path / "a.npz", x=X, M=M))
    assert (tokens.n, tokens.d, heads.count) == (2, 3, 2)
    assert heads.aligned
    assert (heads.score_floats == M).all()
    assert (tokens.floats == X).all()
    assert heads.parameters["file"] == "a.npz"
    digest = heads.parameters["digest"]
    assert tokens.parameters["digest"] == digest
    other, _ = read_arrays(write(tmp_path / "b.npz", x=X, M=M.astype(np.float32), V=-M))
    assert (other.value_floats == -M).all()
    assert not other.aligned
    assert other.parameters["digest"] != digest


BAD_FILES: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "no M": ({"x": X}, ("'x'", "M (H, d, d)")),
    "other keys": ({"x": X, "M": M, "W": M}, ("'W'",)),
    "M of two axes": ({"x": X, "M": np.eye(3)}, ("M", "(3, 3)")),
    "x of one axis": ({"x": np.ones(3), "M": M}, ("x", "(3,)")),
    "dimensions": ({"x": np.eye(2), "M": M}, ("x", "(2, 2)", "(2, 3, 3)")),
    "V of other shape": ({"x": X, "M": M, "V": M[:1]}, ("V", "(1, 3, 3)")),
    "nan": ({"x": X, "M": np.nan * M}, ("M", "nan")),
    "infinite": ({"x": X, "M": M, "V": np.full((2, 3, 3), np.inf)}, ("V", "inf")),
    "long tokens": ({"x": 2 * X, "M": M}, ("x", "row 1", "length 2")),
    "objects": ({"x": X, "M": M.astype(object)}, ("no array file",)),
    "text": ({"x": X, "M": M.astype(str)}, ("M", "real numbers")),
    "complex": ({"x": X * 1j, "M": M}, ("x", "complex")),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_array_files(case: str, tmp_path: Path) -> None:
    arrays, words = BAD_FILES[case]
    path = write(tmp_path / "bad.npz", **arrays)
    message = refused(lambda: read_arrays(path), *words)
    assert "bad.npz" in message


def test_files_that_are_no_array_files(tmp_path: Path) -> None:
    for name, content in {
        "junk": b"junk",
        "empty": b"",
        "zip": b"PK\x03\x04junk",
        "pickle": b"\x80\x04K\x01.",
    }.items():
        path = tmp_path / name
        path.write_bytes(content)
        refused(lambda path=path: read_arrays(path), "no array file", name)  # type: ignore[misc]
    single = tmp_path / "one.npy"
    np.save(single, X)
    refused(lambda: read_arrays(single), "no array file")
    refused(lambda: read_arrays(tmp_path / "missing.npz"), "missing.npz", "cannot be read")
    refused(lambda: read_arrays(tmp_path), "cannot be read")
    refused(lambda: read_arrays("a\0b"), "cannot be read")
    whole = write(tmp_path / "whole.npz", x=X, M=M).read_bytes()
    for cut in (len(whole) // 3, len(whole) - 30):
        (tmp_path / "cut.npz").write_bytes(whole[:cut])
        refused(lambda: read_arrays(tmp_path / "cut.npz"), "no array file")


def test_heads_of_a_file_hold_its_binary_numbers(tmp_path: Path) -> None:
    scores = np.random.default_rng(3).standard_normal((1, 3, 3))
    heads, _ = read_arrays(write(tmp_path / "a.npz", x=X, M=scores))
    assert isinstance(heads, Heads)
    assert rows_of(heads.scores[0]) == [[F(x) for x in row] for row in scores[0].tolist()]
    with ball_precision(64):
        images = heads.scores[0].ball_images(arb_mat(np.eye(3).tolist()))
        assert [float(x) for x in images.entries()] == scores[0].T.ravel().tolist()
        assert all(x.rad() == 0 for x in images.entries())
