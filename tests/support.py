"""What tests of every layer share."""

import decimal
import os
import random
import shutil
import signal
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import flint
import gmpy2
import mpmath
import numpy as np
import pytest
from sympy.core.parameters import global_parameters


def require(program: str) -> str:
    """Return the path of an outside program.

    Without it the test is skipped, or fails where MHFLOW_REQUIRE_ALL=1 says that nothing may be.
    """
    path = shutil.which(program)
    if path is not None:
        return path
    if os.environ.get("MHFLOW_REQUIRE_ALL") == "1":
        pytest.fail(f"{program} is not installed, and MHFLOW_REQUIRE_ALL=1 requires it")
    pytest.skip(f"{program} is not installed")


class Setting(NamedTuple):
    """A piece of global state: how to read it, and how to put it back."""

    name: str
    read: Callable[[], Any]
    write: Callable[[Any], object]


def _attribute(name: str, owner: Any, attribute: str) -> Setting:
    return Setting(
        f"{name}.{attribute}",
        lambda: getattr(owner(), attribute),
        lambda value: setattr(owner(), attribute, value),
    )


def _numpy_generator() -> tuple[Any, ...]:
    # As plain numbers: arrays do not compare to one truth value.
    state: Any = np.random.get_state(legacy=True)
    return (state[0], tuple(state[1].tolist()), *state[2:])


SETTINGS = (
    _attribute("mpmath.mp", lambda: mpmath.mp, "prec"),
    _attribute("mpmath.mp", lambda: mpmath.mp, "dps"),
    _attribute("mpmath.iv", lambda: mpmath.iv, "prec"),
    _attribute("flint.ctx", lambda: flint.ctx, "prec"),
    _attribute("flint.ctx", lambda: flint.ctx, "cap"),
    _attribute("flint.ctx", lambda: flint.ctx, "threads"),
    _attribute("gmpy2.get_context()", gmpy2.get_context, "precision"),
    _attribute("sympy.global_parameters", lambda: global_parameters, "evaluate"),
    _attribute("sympy.global_parameters", lambda: global_parameters, "distribute"),
    _attribute("sympy.global_parameters", lambda: global_parameters, "exp_is_pow"),
    _attribute("decimal.getcontext()", decimal.getcontext, "prec"),
    Setting("numpy.geterr()", np.geterr, lambda state: np.seterr(**state)),
    Setting("random.getstate()", random.getstate, random.setstate),
    Setting("numpy.random.get_state()", _numpy_generator, np.random.set_state),
    Setting("int_max_str_digits", sys.get_int_max_str_digits, sys.set_int_max_str_digits),
)


def global_state() -> dict[str, Any]:
    """Return everything that no call of mhflow may be seen to change."""
    return {setting.name: setting.read() for setting in SETTINGS}


def restore_changed(before: dict[str, Any]) -> list[str]:
    """Put back what differs from ``before`` and say what that was, one line per setting."""
    changes = []
    for setting in SETTINGS:
        old, new = before[setting.name], setting.read()
        if old != new:
            setting.write(old)
            values = f": {old!r} -> {new!r}" if isinstance(old, int | dict) else ""
            changes.append(setting.name + values)
    return changes


def let_interrupts_in() -> None:
    """Take SIGINT as usual in a child process, also where the tests run with it ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
