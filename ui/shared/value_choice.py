"""A box of labels that stand for values; the address names the label."""

from collections.abc import Mapping
from typing import TypeVar

from streamlit.delta_generator import DeltaGenerator

T = TypeVar("T")


def chosen_value(
    place: DeltaGenerator,
    label: str,
    values: Mapping[str, T],
    key: str,
    width: int,
    about: str | None = None,
) -> T:
    """Draw the box; the value whose label is chosen, at first the first."""
    chosen = place.selectbox(
        label, list(values), key=key, bind="query-params", width=width, help=about
    )
    return values[chosen]
