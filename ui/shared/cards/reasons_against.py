"""What speaks against merges, by kind, for lists that are filtered by it."""

from __future__ import annotations

from collections.abc import Mapping

KINDS: Mapping[str, tuple[str, ...]] = {
    "Cannot be applied": ("would be lost", "; rewrite the", "; drop it, or", "belongs to another"),
    "Hidden or hostile text": ("blocking finding", "text that speaks to models"),
    "Needs a gateway": ("so a gateway is needed", "a family:"),
    "Several servers": ("live on", "their names imply", "other tools of"),
    "State of its own": ("nothing says that they share",),
    "Another effect": ("differ in effect", "does not say so", "does not say what others warn of"),
    "Another scope": ("differ in scope",),
    "Another result": ("they differ in",),
    "Weak pair or chain": ("its weakest pair is", "longer chain", "only through a third"),
    "Put forward by a person": ("a person put it forward", "a person wants to look"),
    "The judges disagree": ("says merge", "neither judge", "no usable answer", " says unsure"),
    "Wording or arguments": ("",),
}
"""Each kind with marks of its sentences (``auto_accept``, ``guards``, ``unmatched_words``). The
first that fits counts, and the last fits all.
"""


def reason_kind(reason: str) -> str:
    """The kind of a sentence that speaks against a merge."""
    return next(kind for kind, marks in KINDS.items() if any(mark in reason for mark in marks))
