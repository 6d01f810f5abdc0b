"""Whether the answer of a problem is the only one."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Uniqueness"]


class Uniqueness(NamedTuple):
    """Whether an answer is the only one, as far as that can be told, to working precision."""

    word: str
    """``"global"``: the problem has no other answer. ``"local"``: there is none nearby. ``"not"``: there
    are others, and some were verified. ``"unknown"``: it cannot be told."""
    dimension: int
    """With ``"not"``: the number of independent directions, at least, along which there are others; a
    structure that is so many times hyperstatic. Else 0."""
    claim: str
    """What is claimed, in words; with ``"unknown"`` why."""
