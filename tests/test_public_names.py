"""``import mhflow``: the one import a user needs."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import mpmath
import pytest

import mhflow
from mhflow import InputError


@pytest.mark.parametrize("name", mhflow.__all__)
def test_every_public_name_is_there_with_a_docstring(name: str) -> None:
    assert getattr(mhflow, name).__doc__


def test_dir_lists_the_public_names() -> None:
    assert dir(mhflow) == sorted(mhflow.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        mhflow.nonsense  # noqa: B018


def test_the_import_alone_loads_no_heavy_library() -> None:
    heavy = ("sympy", "flint", "numpy", "mpmath", "scipy", "matplotlib")
    program = f"import sys, mhflow; dir(mhflow); print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_the_example_of_the_design() -> None:
    value = mhflow.evaluate("critical-beta", n=64, H=4, alpha="1/2", digits=50)
    with mpmath.workdps(70):
        cosine = (mpmath.sqrt(13) - 3) / 2
        threshold = mpmath.log(63 * cosine**2 / (1 - cosine**2))
        assert value.value == mpmath.nstr(threshold, 50)
    assert value.certified


def test_floats_are_refused_with_what_to_pass_instead() -> None:
    with pytest.raises(InputError, match="1/10"):
        mhflow.evaluate("critical-beta", n=64, H=4, alpha=0.1)


@pytest.mark.parametrize(
    "call",
    [
        lambda: mhflow.evaluate(None),  # type: ignore[arg-type]
        lambda: mhflow.formula(3),  # type: ignore[arg-type]
        lambda: mhflow.claim(["projection"]),  # type: ignore[arg-type]
        lambda: mhflow.verify([None]),  # type: ignore[list-item]
        lambda: mhflow.tables({"claims": []}, grids={"n": 16}),  # type: ignore[dict-item]
        lambda: mhflow.tables({"claims": []}, grids={"n": "16"}),
    ],
)
def test_arguments_of_a_wrong_type_are_told_in_one_line(call: Callable[[], object]) -> None:
    with pytest.raises(InputError) as error:
        call()
    assert "\n" not in str(error.value)


def test_one_claim_may_be_named_by_itself() -> None:
    (result,) = mhflow.verify("projection", digits=10)
    assert result.claim.id == "projection"


def test_tables_take_exact_grids_and_refuse_floats() -> None:
    manifest: dict[str, Any] = {"claims": []}
    files = mhflow.tables(manifest, format="csv", grids={"H": [2, "3"]})
    assert files["critical-cosine.csv"].splitlines()[1:] == [
        "2,0.6180339887,0.7071067812",
        "3,0.4142135624,0.5773502692",
    ]
    with pytest.raises(InputError, match="float"):
        mhflow.tables(manifest, grids={"H": [2.0]})


def test_a_formula_renders_in_a_notebook() -> None:
    assert mhflow.formula("critical-cosine")._repr_latex_().startswith("$")
