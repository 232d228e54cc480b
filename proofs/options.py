"""Values of options as they are typed: complaints name the option, the value and the range."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from symbolic.errors import InputError
from symbolic.numbers import shown


def integer_option(name: str, text: str, least: int, most: int, *, besides: str = "") -> int:
    """Return an option's integer, or complain in one line.

    Args:
        name: the option.
        text: its value.
        least: the least integer accepted.
        most: the largest one.
        besides: what else is accepted, for the complaint.
    """
    # Only plain ASCII digits: int() would also take underscores, spaces and other scripts.
    digits = text.removeprefix("+").removeprefix("-")
    if digits.isascii() and digits.isdigit() and len(digits) <= 9 and least <= int(text) <= most:
        return int(text)
    accepted = f"an integer from {least} to {most}{besides}"
    raise InputError(f"{name}: {shown(text)} is not accepted; give {accepted}")


def digits_option(text: str) -> int:
    """Return a number of significant digits."""
    return integer_option("--digits", text, 1, 10_000)


def path_option(name: str, text: str) -> Path:
    """Return an option's path; the empty text, which would mean this directory, is refused."""
    if not text:
        raise InputError(f"{name}: '' is not accepted; give a path")
    return Path(text)


def choice_option(name: str, value: str, accepted: tuple[str, ...]) -> str:
    """Return an option's word if it is one of those accepted."""
    if value not in accepted:
        raise InputError(f"{name}: {shown(value)} is not accepted; give {' or '.join(accepted)}")
    return value


@contextmanager
def named_as_options(context: typer.Context) -> Iterator[None]:
    """Name an option in an error as it is typed."""
    try:
        yield
    except InputError as error:
        name, colon, rest = str(error).partition(":")
        if colon and name in context.params:
            raise InputError(f"--{name}:{rest}") from None
        raise
