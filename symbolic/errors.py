"""The errors that mhflow raises on purpose; anything else that escapes is a bug."""


class MhflowError(Exception):
    """Base of every error that mhflow raises on purpose."""


class InputError(MhflowError, ValueError):
    """A wrong call.

    The message is one line: what was wrong, the value, and what is accepted.
    """


class UndecidedError(MhflowError):
    """A question that could not be decided below a stated cap (precision, size or time)."""
