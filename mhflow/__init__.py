"""mhflow: verification toolkit for the mathematics of multi-head attention dynamics."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numeric.batch import evaluate_many
    from numeric.evaluate import Value, evaluate
    from numeric.float64 import evaluate_float64
    from proofs.ledger import claim, claims
    from proofs.tables import tables
    from proofs.verification import Result, manifest, verify
    from symbolic.catalogue import derive, formula, formula_names
    from symbolic.derivation import Derivation
    from symbolic.errors import InputError, MhflowError, UndecidedError
    from symbolic.formula import Formula

_HOMES = {
    "Derivation": "symbolic.derivation",
    "Formula": "symbolic.formula",
    "InputError": "symbolic.errors",
    "MhflowError": "symbolic.errors",
    "Result": "proofs.verification",
    "UndecidedError": "symbolic.errors",
    "Value": "numeric.evaluate",
    "claim": "proofs.ledger",
    "claims": "proofs.ledger",
    "derive": "symbolic.catalogue",
    "evaluate": "numeric.evaluate",
    "evaluate_float64": "numeric.float64",
    "evaluate_many": "numeric.batch",
    "formula": "symbolic.catalogue",
    "formula_names": "symbolic.catalogue",
    "manifest": "proofs.verification",
    "tables": "proofs.tables",
    "verify": "proofs.verification",
}

__all__ = [
    "Derivation",
    "Formula",
    "InputError",
    "MhflowError",
    "Result",
    "UndecidedError",
    "Value",
    "claim",
    "claims",
    "derive",
    "evaluate",
    "evaluate_float64",
    "evaluate_many",
    "formula",
    "formula_names",
    "manifest",
    "tables",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used.

    Raises:
        AttributeError: for a name that is not public.
    """
    if name not in _HOMES:
        raise AttributeError(f"module 'mhflow' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
