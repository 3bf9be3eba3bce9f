"""What an experiment found about one pair, where people decide on it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from toolscope_core.model.numbers import listed, quantity
from toolscope_core.model.pair import Pair
from ui.shared import page_frame, safe_text
from ui.shared.services.experiments import Experiments

MOST_SHOWN = 3


def confused_line(catalog_id: int, pair: Pair) -> None:
    """The queries that confuse two tools, if an experiment measured it."""
    measured = page_frame.service(Experiments).confusion_of(catalog_id, pair)
    if measured is None:
        return
    number, row = measured
    st.markdown(
        f":material/query_stats: {quantity(len(row.texts), 'query')} of experiment {number} "
        f"{'confuses' if len(row.texts) == 1 else 'confuse'} these two{_quoted(row.texts)}."
    )


def _quoted(texts: Sequence[str]) -> str:
    quoted = [f"“{safe_text.untrusted(text[:90])}”" for text in texts]
    return f": {listed(quoted, MOST_SHOWN, between='; ')}" if quoted else ""
