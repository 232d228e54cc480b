"""The rule on global state, by breaking it."""

import os

import pytest

from tests.support import require

pytest_plugins = ["pytester"]

LEAKS = {
    "mpmath.mp.prec": "import mpmath; mpmath.mp.prec = 99",
    "mpmath.iv.prec": "import mpmath; mpmath.iv.prec = 99",
    "flint.ctx.prec": "import flint; flint.ctx.prec = 99",
    "flint.ctx.cap": "import flint; flint.ctx.cap = 99",
    "flint.ctx.threads": "import flint; flint.ctx.threads = 2",
    "gmpy2.get_context().precision": "import gmpy2; gmpy2.get_context().precision = 99",
    "sympy.global_parameters.evaluate": (
        "import tests.support as s; s.global_parameters.evaluate = False"
    ),
    "sympy.global_parameters.distribute": (
        "import tests.support as s; s.global_parameters.distribute = False"
    ),
    "sympy.global_parameters.exp_is_pow": (
        "import tests.support as s; s.global_parameters.exp_is_pow = True"
    ),
    "decimal.getcontext().prec": "import decimal; decimal.getcontext().prec = 99",
    "numpy.geterr()": "import numpy; numpy.seterr(all='ignore')",
    "random.getstate()": "import random; random.random()",
    "numpy.random.get_state()": "import numpy; numpy.random.random()",
    "int_max_str_digits": "import sys; sys.set_int_max_str_digits(9999)",
}

INNER = """
import pytest
from hypothesis import given, strategies as st
from tests.conftest import global_state_unchanged

def test_leak():
    {leak}

def test_restored():
    pass

@given(st.floats(), st.randoms())
def test_hypothesis(x, r):
    import random, numpy
    random.random()
    numpy.random.random()
"""


@pytest.mark.parametrize("name", LEAKS)
def test_a_leak_fails_the_test_and_is_put_back(pytester: pytest.Pytester, name: str) -> None:
    pytester.makepyfile(INNER.format(leak=LEAKS[name]))
    result = pytester.runpytest_inprocess("-p", "no:xdist", "-p", "no:benchmark")
    result.assert_outcomes(passed=3, errors=1)
    result.stdout.fnmatch_lines([f"*global state changed: {name.replace('[', '?')}*"])


def test_require(monkeypatch: pytest.MonkeyPatch) -> None:
    assert os.path.isabs(require("sh"))
    monkeypatch.setenv("MHFLOW_REQUIRE_ALL", "0")
    with pytest.raises(pytest.skip.Exception):
        require("no-such-program")
    monkeypatch.setenv("MHFLOW_REQUIRE_ALL", "1")
    with pytest.raises(pytest.fail.Exception):
        require("no-such-program")
