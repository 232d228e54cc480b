"""Where each formula lives, by name; modules are imported when asked for."""

from __future__ import annotations

from importlib import import_module

from symbolic.derivation import Derivation
from symbolic.errors import InputError
from symbolic.formula import Formula
from symbolic.names import unknown

_HOMES = {
    "critical-cosine": ("symbolic.critical_cosine", "FORMULA"),
    "sharp-critical-cosine": ("symbolic.critical_cosine", "SHARP_FORMULA"),
    "critical-beta": ("symbolic.critical_beta", "FORMULA"),
    "sharp-critical-beta": ("symbolic.critical_beta", "SHARP_FORMULA"),
    "radial-cosine": ("symbolic.radial_cosine", "FORMULA"),
    "rate": ("symbolic.rate", "FORMULA"),
    "rate-peak": ("symbolic.rate_peak", "FORMULA"),
    "rate-inflection": ("symbolic.rate_inflection", "FORMULA"),
    "foreign-strength": ("symbolic.foreign_strength", "FORMULA"),
    "early-rate": ("symbolic.rate", "EARLY_FORMULA"),
    "late-rate": ("symbolic.late_rate", "FORMULA"),
    "clustering-time": ("symbolic.clustering_time", "FORMULA"),
    "late-constant": ("symbolic.late_constant", "FORMULA"),
    "exit-overlap": ("symbolic.exit_overlap", "FORMULA"),
    "exit-time": ("symbolic.exit_time", "FORMULA"),
    "critical-spread": ("symbolic.critical_spread", "FORMULA"),
    "attention-entropy": ("symbolic.attention_entropy", "FORMULA"),
}


def formula_names() -> tuple[str, ...]:
    """Return the names of all formulas, in the order of the theory."""
    return tuple(_HOMES)


def formula(name: str) -> Formula:
    """Return the formula with this name.

    Raises:
        InputError: for an unknown name; the message lists the nearest names.
    """
    if not isinstance(name, str) or name not in _HOMES:
        raise InputError(unknown("formula", name, formula_names()))
    module, attribute = _HOMES[name]
    found = getattr(import_module(module), attribute)
    assert isinstance(found, Formula)
    return found


def derive(name: str) -> Derivation:
    """Return the derivation of the formula with this name, from the model's definition.

    Raises:
        InputError: for an unknown name.
    """
    return formula(name).derivation()
