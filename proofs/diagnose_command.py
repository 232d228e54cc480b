"""``mhflow diagnose``: what holds at a user's own parameters or arrays, and by what margin."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from proofs.options import digits_option, named_as_options
from symbolic.errors import InputError
from symbolic.numbers import shown


def diagnose(
    context: typer.Context,
    file: Annotated[str | None, typer.Argument(metavar="[FILE.npz]", show_default=False)] = None,
    model: Annotated[
        str, typer.Option(metavar="softmax|unnormalised|relu", help="Model.")
    ] = "softmax",
    n: Annotated[str | None, typer.Option(metavar="N", help="Number of tokens, >= 2.")] = None,
    beta: Annotated[
        str | None, typer.Option(metavar="B", help="Inverse temperature, >= 0.")
    ] = None,
    lam: Annotated[
        str | None, typer.Option(metavar="L1,L2,...", help="Strength of each scalar head.")
    ] = None,
    gamma: Annotated[
        str | None, typer.Option(metavar="G", help="Overlap of the tokens; 0 if not said.")
    ] = None,
    digits: Annotated[
        str | None, typer.Option(metavar="N", help="Significant digits; 10 if not said.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say what holds at given parameters and by what margin; nothing is simulated.

    Either scalar heads at equiangular tokens (--n, --beta, --lam), exactly; or an array file with
    tokens x (n, d), score matrices M (H, d, d) and, if not those, value matrices V (H, d, d).

    Example: mhflow diagnose --n 64 --beta 2 --lam 1/2,1,3/2,2
    """
    from numeric.diagnosis import Diagnosis
    from numeric.diagnosis import diagnose as diagnosis_of

    given: dict[str, Any] = {"n": n, "beta": beta, "lam": lam, "gamma": gamma, "digits": digits}
    given = {name: value for name, value in given.items() if value is not None}
    if "digits" in given:
        given["digits"] = digits_option(given["digits"])
    if file is None:
        _needed(given, ("n", "beta", "lam"), "FILE.npz, or --n, --beta and --lam")
    else:
        _needed(given, ("beta",), "--beta with FILE.npz")
        _only_for_scalar_heads(given)
    with named_as_options(context):
        found = diagnosis_of(file, model=model, **given)
    if as_json:
        print(json.dumps(found.to_json(), ensure_ascii=False, allow_nan=False))
        return
    from proofs.diagnosis_view import arrays_view, scalar_view

    if isinstance(found, Diagnosis):
        scalar_view(found)
    else:
        arrays_view(found)


def _needed(given: dict[str, Any], names: tuple[str, ...], wanted: str) -> None:
    missing = [f"--{name}" for name in names if name not in given]
    if missing:
        raise InputError(f"diagnose: missing {', '.join(missing)}; give {wanted}")


def _only_for_scalar_heads(given: dict[str, Any]) -> None:
    for name in ("n", "lam", "gamma", "digits"):
        if name in given:
            raise InputError(
                f"--{name}: {shown(str(given[name]))} is not accepted with FILE.npz; "
                "give it with scalar heads only"
            )
