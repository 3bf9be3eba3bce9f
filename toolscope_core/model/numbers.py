"""Numbers in sentences."""

from __future__ import annotations

_IRREGULAR = {"family": "families", "query": "queries"}


def quantity(number: int, noun: str) -> str:
    """``1 tool``, ``1,234 tools``, ``0 families``."""
    plural = _IRREGULAR.get(noun, f"{noun}s")
    return f"{number:,} {noun if number == 1 else plural}"
