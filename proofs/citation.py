"""BibTeX for the source paper, the prior work and mhflow itself."""

from __future__ import annotations

from importlib.metadata import version

from proofs.ledger import claim, claim_ids
from symbolic.catalogue import formula, formula_names
from symbolic.errors import InputError
from symbolic.names import unknown

_SOURCE = """@misc{pendharkar2026gradient,
  author        = {Pendharkar, A.},
  title         = {Gradient Flow Structure and Quantitative Dynamics of Multi-Head Self-Attention},
  eprint        = {2605.04279},
  archivePrefix = {arXiv},
  year          = {2026},
  note          = {NOTE}
}"""
_PRIOR = """@misc{geshkovski2023mathematical,
  author        = {Geshkovski, Borjan and Letrouit, Cyril and Polyanskiy, Yury and
                   Rigollet, Philippe},
  title         = {A mathematical perspective on transformers},
  eprint        = {2312.10794},
  archivePrefix = {arXiv},
  year          = {2023}
}"""
_TOOL = """@software{mhflow,
  author  = {{mhflow developers}},
  title   = {mhflow: verification toolkit for multi-head attention dynamics},
  version = {VERSION},
  year    = {2026}
}"""
CAVEAT = "as summarised; the paper itself was not read"


def citation(name: str | None = None) -> str:
    """Return BibTeX entries: all of them, or those that one claim or formula rests on.

    Raises:
        InputError: for a name that is neither a claim nor a formula.
    """
    tool = _TOOL.replace("VERSION", version("mhflow"))
    if name is None:
        return "\n\n".join([_SOURCE.replace("NOTE", CAVEAT), _PRIOR, tool])
    if name in claim_ids():
        place = claim(name).source
    elif name in formula_names():
        place = formula(name).source
    else:
        raise InputError(unknown("claim or formula", name, claim_ids() + formula_names()))
    return "\n\n".join([_SOURCE.replace("NOTE", f"{place}; {CAVEAT}"), tool])
