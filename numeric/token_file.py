"""Heads and tokens from array files (``.npz``)."""

from __future__ import annotations

import io
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from numeric.heads import Heads, array_heads, float_stack, sha256
from numeric.token_start import Tokens, directed_tokens, normalisation, unit_rows
from symbolic.errors import InputError
from symbolic.numbers import shown

_BROKEN = (zipfile.BadZipFile, zlib.error)
_KEYS = "x (n, d), M (H, d, d) and optionally V (H, d, d)"


def read_arrays(path: str | Path) -> tuple[Heads, Tokens]:
    """Return the heads and tokens of an array file.

    Args:
        path: an ``.npz`` file with the arrays ``x`` (n, d), unit vectors, ``M`` (H, d, d) and
            optionally ``V`` (H, d, d); V_h = M_h if left out. Nothing in the file is executed.

    Raises:
        InputError: for a file that cannot be read, other keys, shapes that do not match, and
            entries that are not real and finite.
    """
    name = shown(str(path))
    try:
        content = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"file {name} cannot be read: {reason}") from None
    arrays = _arrays(content, name)
    if not {"x", "M"} <= arrays.keys() <= {"x", "M", "V"}:
        keys = ", ".join(map(shown, sorted(arrays)[:5])) or "none"
        raise InputError(f"file {name}: its keys are {keys}; accepted: {_KEYS}")
    scores = float_stack(arrays["M"], f"file {name}, M")
    values = float_stack(arrays["V"], f"file {name}, V") if "V" in arrays else None
    rows = unit_rows(arrays["x"], f"file {name}, x")
    for key, shape in (("V", scores.shape if values is None else values.shape), ("x", rows.shape)):
        expected = scores.shape if key == "V" else (len(rows), scores.shape[1])
        if shape != expected:
            raise InputError(
                f"file {name}: {key} has shape {shape}, M {scores.shape}; accepted: {_KEYS}"
            )
    parameters = {"file": Path(path).name, "digest": sha256(content)}
    heads = array_heads(scores, values, {"heads": "file", **parameters})
    tokens = directed_tokens(rows, {"tokens": "file", **parameters}, *normalisation(rows))
    return heads, tokens


def _arrays(content: bytes, name: str) -> dict[str, Any]:
    """Return the arrays of a file's content by key."""
    # A file with a single array is not accepted, and NumPy would return it without keys.
    if content.startswith(b"PK"):
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as file:
                return {key: file[key] for key in file.files}
        except (ValueError, OSError, EOFError, KeyError, NotImplementedError, *_BROKEN):
            pass
    raise InputError(f"file {name} is no array file; accepted: an .npz file with {_KEYS}")
