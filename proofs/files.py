"""Writing files whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from symbolic.errors import InputError
from symbolic.numbers import shown


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file: the whole content or nothing (texts in UTF-8, line ends as they are).

    The directory must exist. A file that is there keeps its permissions, a symbolic link stays one,
    and a device or a pipe is written to.

    Raises:
        InputError: if the path cannot be written.
    """
    write_together({path: content})


def write_together(contents: Mapping[Path, str | bytes]) -> None:
    """Write several files, wherever they lie, each as `write_file` does.

    Every content is on the disk before the first file is replaced, so that an error or an interrupt
    up to then leaves everything as it was.

    Raises:
        InputError: if a path cannot be written; then no file is changed.
    """
    with ExitStack() as leftovers:
        temporary: dict[Path, Path | None] = {}
        for path, content in contents.items():
            with _refused(path):
                temporary[path] = _prepared(path, _encoded(content), leftovers)
        for path, content in contents.items():
            with _refused(path):
                _finish(path, _encoded(content), temporary[path])


def write_files(directory: Path, files: Mapping[str, str]) -> None:
    """Write several text files into a directory, which is made if it is not there.

    Every text is on the disk before the first file is replaced, so that an error or an interrupt
    up to then leaves everything as it was.

    Args:
        directory: where to write.
        files: file name to content.

    Raises:
        InputError: if a path cannot be written; then no file is changed.
    """
    with ExitStack() as undo:
        with _refused(directory):
            _make(directory, undo)
        write_together({directory / name: text for name, text in files.items()})
        undo.pop_all()


def check_file(path: Path) -> None:
    """Check before long work that a file can be written; nothing is left behind.

    Raises:
        InputError: if the path cannot be written.
    """
    with ExitStack() as leftovers, _refused(path):
        _prepared(path, b"", leftovers)


def check_directory(directory: Path) -> None:
    """Check before long work that files can be written into a directory; nothing is left behind.

    Raises:
        InputError: if the directory is not there and cannot be made, or cannot be written into.
    """
    with ExitStack() as undo, _refused(directory):
        _make(directory, undo)
        check_file(directory / "mhflow")


def _make(directory: Path, undo: ExitStack) -> None:
    """Make a directory with its parents; ``undo`` takes away what was made."""
    missing = [place for place in (directory, *directory.parents) if not place.exists()]
    if directory.exists() and not directory.is_dir():
        raise NotADirectoryError(0, "it is not a directory")
    for place in reversed(missing):
        place.mkdir(exist_ok=True)
        undo.callback(_remove, place.rmdir)


def _remove(remove: Callable[[], None]) -> None:
    """Remove what may not be there, or may not be ours alone any more."""
    with suppress(OSError):
        remove()


def _encoded(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


def _prepared(path: Path, content: bytes, leftovers: ExitStack) -> Path | None:
    """Write a temporary file beside the path, which ``leftovers`` removes if it stays.

    Returns None for a device or a pipe, which has no place beside it.
    """
    if path.is_dir():
        raise IsADirectoryError(0, "it is a directory")
    if path.exists() and not path.is_file():
        return None
    target = path.resolve()
    temporary = target.with_name(f".mhflow-{secrets.token_hex(8)}.tmp")
    leftovers.callback(_remove, temporary.unlink)
    temporary.open("xb").close()
    if target.exists():
        temporary.chmod(target.stat().st_mode & 0o777)
    temporary.write_bytes(content)
    return temporary


def _finish(path: Path, content: bytes, temporary: Path | None) -> None:
    if temporary is None:
        path.write_bytes(content)
    else:
        os.replace(temporary, path.resolve())


@contextmanager
def _refused(path: Path) -> Iterator[None]:
    """Turn what the system says against a path into one line."""
    try:
        yield
    except OSError as error:
        raise InputError(_message(path, error.strerror or str(error))) from None
    except ValueError as error:  # a null byte in the path
        raise InputError(_message(path, str(error))) from None


def _message(path: Path, reason: str) -> str:
    return (
        f"cannot write {shown(str(path))}: {reason.lower()}; "
        "accepted: a path that can be written, in a directory"
    )
