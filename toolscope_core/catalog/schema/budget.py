"""The budget for writing out references: how many values one document may grow by."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from toolscope_core.catalog.limits import MAX_EXPANDED

TEXT = 100
"""A text counts as one value more for each so many characters."""


class Extent(NamedTuple):
    """The number of values in a JSON value, itself included, and the number of levels."""

    values: int
    levels: int


@dataclass(slots=True)
class ExpansionBudget:
    """The values that all readers of one document may still write out."""

    left: int = MAX_EXPANDED

    def take(self, values: int) -> bool:
        """Whether so many are left; if so, they are taken."""
        if values > self.left:
            return False
        self.left -= values
        return True


def measure(value: Any) -> Extent:
    """The extent of a JSON value; keys count as texts."""
    if isinstance(value, str):
        return Extent(1 + len(value) // TEXT, 0)
    if not isinstance(value, (dict, list)):
        return Extent(1, 0)
    inside = [measure(item) for item in (value.values() if isinstance(value, dict) else value)]
    keys = sum(len(key) // TEXT for key in value) if isinstance(value, dict) else 0
    return Extent(
        1 + keys + sum(extent.values for extent in inside),
        1 + max((extent.levels for extent in inside), default=0),
    )
