"""Names and values in one-line messages."""

from __future__ import annotations

import reprlib
from difflib import get_close_matches

from symbolic.numbers import shown


def unknown(kind: str, name: object, names: tuple[str, ...]) -> str:
    """Return the one-line message for an unknown name, with the nearest known ones."""
    if not isinstance(name, str):
        return f"unknown {kind} {brief(name)}; accepted: a name, such as {names[0]!r}"
    near = get_close_matches(name, dict.fromkeys(names), n=3, cutoff=0.4) or list(names[:8])
    return f"unknown {kind} {shown(name)}; nearest: {', '.join(near)}"


def brief(value: object) -> str:
    """Return one short line for a message that shows any object, however it is written."""
    try:
        return " ".join(reprlib.repr(value).split())
    except ValueError:
        return f"a {type(value).__name__} too long to show"
