"""The three answers that an exact question can have."""

from __future__ import annotations

from enum import Enum


class Answer(Enum):
    """Answer to an exact question: proved, disproved, or not decided by the method at hand."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "undecided"

    def __bool__(self) -> bool:
        """Refuse silent truth tests: an undecided answer must never pass as a yes.

        Raises:
            TypeError: always; compare with ``Answer.YES`` instead.
        """
        raise TypeError("an Answer has three values; compare it with Answer.YES")
