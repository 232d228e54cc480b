"""The ``mhflow`` command: exit codes and one-line errors around the commands."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command and exit with its code.

    Exit codes: 0 fine; 1 something is undecided, vacuous or in error; 2 a wrong call, told in one
    line on stderr; 130 interrupted.
    """
    sys.exit(_run(sys.argv[1:]))


def _run(arguments: list[str]) -> int:
    # Started with a closed output, there is nowhere to write to.
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    try:
        from proofs.commands import run

        code = run(arguments)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        # The reader has gone or the disk is full: keep the interpreter from trying again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            print(f"mhflow: cannot write the output: {error.strerror}", file=sys.stderr)
        return 1
