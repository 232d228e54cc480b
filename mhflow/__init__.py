"""mhflow: verification toolkit for the mathematics of multi-head attention dynamics."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numeric.array_diagnosis import ArrayDiagnosis
    from numeric.batch import evaluate_many
    from numeric.clustering_map import clustering_times_float64
    from numeric.diagnosis import Diagnosis, diagnose
    from numeric.dominance_window import dominance_window
    from numeric.evaluate import Value, evaluate
    from numeric.float64 import evaluate_float64
    from numeric.heads import Heads, block_heads, dense_heads, diagonal_heads, scalar_heads
    from numeric.simulate_equiangular import simulate_equiangular
    from numeric.simulate_orthogonal_heads import simulate_orthogonal_heads
    from numeric.simulate_tokens import simulate_tokens
    from numeric.simulation import Simulation
    from numeric.token_file import read_arrays
    from numeric.token_start import (
        Tokens,
        equiangular_tokens,
        exact_tokens,
        orthonormal_tokens,
        random_tokens,
    )
    from numeric.trajectory import trajectory
    from proofs.ledger import claim, claims
    from proofs.plots import simulation_plot
    from proofs.simulation_files import simulation_csv
    from proofs.tables import tables
    from proofs.verification import Result, manifest, verify
    from symbolic.catalogue import derive, formula, formula_names
    from symbolic.derivation import Derivation
    from symbolic.errors import InputError, MhflowError, UndecidedError
    from symbolic.formula import Formula

_HOMES = {
    "ArrayDiagnosis": "numeric.array_diagnosis",
    "Derivation": "symbolic.derivation",
    "Diagnosis": "numeric.diagnosis",
    "Formula": "symbolic.formula",
    "Heads": "numeric.heads",
    "InputError": "symbolic.errors",
    "MhflowError": "symbolic.errors",
    "Result": "proofs.verification",
    "Simulation": "numeric.simulation",
    "Tokens": "numeric.token_start",
    "UndecidedError": "symbolic.errors",
    "Value": "numeric.evaluate",
    "block_heads": "numeric.heads",
    "claim": "proofs.ledger",
    "claims": "proofs.ledger",
    "clustering_times_float64": "numeric.clustering_map",
    "dense_heads": "numeric.heads",
    "derive": "symbolic.catalogue",
    "diagnose": "numeric.diagnosis",
    "diagonal_heads": "numeric.heads",
    "dominance_window": "numeric.dominance_window",
    "equiangular_tokens": "numeric.token_start",
    "evaluate": "numeric.evaluate",
    "evaluate_float64": "numeric.float64",
    "evaluate_many": "numeric.batch",
    "exact_tokens": "numeric.token_start",
    "formula": "symbolic.catalogue",
    "formula_names": "symbolic.catalogue",
    "manifest": "proofs.verification",
    "orthonormal_tokens": "numeric.token_start",
    "random_tokens": "numeric.token_start",
    "read_arrays": "numeric.token_file",
    "scalar_heads": "numeric.heads",
    "simulate_equiangular": "numeric.simulate_equiangular",
    "simulate_orthogonal_heads": "numeric.simulate_orthogonal_heads",
    "simulate_tokens": "numeric.simulate_tokens",
    "simulation_csv": "proofs.simulation_files",
    "simulation_plot": "proofs.plots",
    "tables": "proofs.tables",
    "trajectory": "numeric.trajectory",
    "verify": "proofs.verification",
}

__all__ = [
    "ArrayDiagnosis",
    "Derivation",
    "Diagnosis",
    "Formula",
    "Heads",
    "InputError",
    "MhflowError",
    "Result",
    "Simulation",
    "Tokens",
    "UndecidedError",
    "Value",
    "block_heads",
    "claim",
    "claims",
    "clustering_times_float64",
    "dense_heads",
    "derive",
    "diagnose",
    "diagonal_heads",
    "dominance_window",
    "equiangular_tokens",
    "evaluate",
    "evaluate_float64",
    "evaluate_many",
    "exact_tokens",
    "formula",
    "formula_names",
    "manifest",
    "orthonormal_tokens",
    "random_tokens",
    "read_arrays",
    "scalar_heads",
    "simulate_equiangular",
    "simulate_orthogonal_heads",
    "simulate_tokens",
    "simulation_csv",
    "simulation_plot",
    "tables",
    "trajectory",
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
