"""Where the results of ``mhflow simulate`` go: checked before the work, written whole after it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from proofs.options import path_option
from symbolic.errors import InputError
from symbolic.numbers import shown

_SUFFIXES = {"--out": (".csv",), "--plot": (".png", ".svg", ".pdf"), "--states": (".npz",)}


@dataclass(frozen=True)
class Outputs:
    """Where the results go; a CSV without a path goes to stdout."""

    out: Path | None
    plot: Path | None
    states: Path | None

    @classmethod
    def checked(
        cls, out: str | None, plot: str | None, states: str | None = None, source: str | None = None
    ) -> Outputs:
        """Return the paths after checking, before any work, that they can be written.

        Args:
            out: the path of the CSV.
            plot: that of the plot.
            states: that of the tokens.
            source: that of the input, which no output may replace.

        Raises:
            InputError: for a path that cannot be written, of another suffix, or in use.
        """
        from proofs.files import check_file

        paths = {"--out": out, "--plot": plot, "--states": states}
        taken = {} if source is None else {_place(path_option("--file", source)): "--file"}
        for option, text in paths.items():
            if text is None:
                continue
            path, suffixes = path_option(option, text), _SUFFIXES[option]
            if path.suffix not in suffixes:
                *others, last = suffixes
                raise InputError(
                    f"{option}: {shown(text)} is not accepted; give a path that ends in "
                    f"{' or '.join(filter(None, (', '.join(others), last)))}"
                )
            check_file(path)
            if _place(path) in taken:
                raise InputError(
                    f"{option}: {shown(text)} is also {taken[_place(path)]}; "
                    "give each output a path of its own"
                )
            taken[_place(path)] = option
        return cls(*(None if text is None else Path(text) for text in paths.values()))

    def deliver(self, csv: str, others: dict[Path, str | bytes], *, printed: bool = True) -> None:
        """Write all files or none; print a CSV that has no file, if it is to be printed."""
        from proofs.files import write_together

        files = others if self.out is None else {self.out: csv, **others}
        write_together(files)
        if self.out is None and printed:
            sys.stdout.write(csv)
        else:
            print("written: " + ", ".join(map(str, files)))


def _place(path: Path) -> Path:
    """Return where a path leads, whatever its spelling; a path that leads nowhere as it is."""
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError):  # a loop of links, a null byte: told by who reads
        return path
