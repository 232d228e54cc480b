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
    try:
        from proofs.commands import run

        code = run(arguments)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader has gone; keep the interpreter from complaining when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
