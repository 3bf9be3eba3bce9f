"""Which tools confuse a request."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from toolscope_core.evaluation.search_results import Confusion, Found
from toolscope_core.model.numbers import quantity
from ui.shared import safe_text
from ui.shared.pairs.pair_panel import pair_link

MOST_LINKED = 8


def confusion_panel(ties: Sequence[Confusion]) -> None:
    """The near ties, each with a link to the pair."""
    st.subheader("What tools confuse this request", anchor=False)
    if not ties:
        st.caption(
            "None: no two of these tools have nearly the same score and are copies, a family or "
            "siblings by the judge."
        )
        return
    st.caption(
        "Tools of the toolset as it is with nearly the same score, of which the judge says that "
        "they do the same job or a related one. The agent has to choose between them."
    )
    for tie in ties[:MOST_LINKED]:
        with st.container(horizontal=True, vertical_alignment="center"):
            pair_link(tie.key)
            hidden = " :orange[One of them answers the request, the other does not.]"
            st.markdown(
                f"{_named(tie.first)} and {_named(tie.second)}: {tie.kind}, scores "
                f"{tie.gap:.2f} apart.{hidden if tie.hides else ''}"
            )
    if len(ties) > MOST_LINKED:
        st.caption(f"And {quantity(len(ties) - MOST_LINKED, 'near tie')} more.")


def _named(place: Found) -> str:
    """A tool with its place, safe in markdown."""
    of = f" ({safe_text.untrusted(place.server)})" if place.server else ""
    return f"\\#{place.rank} **{safe_text.untrusted(place.name)}**{of}"
