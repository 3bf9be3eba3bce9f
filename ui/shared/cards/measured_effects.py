"""What an experiment found about one merge or one pair, where people decide on it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from toolscope_core.evaluation.intervals import effect_text
from toolscope_core.model.numbers import listed, quantity
from toolscope_core.model.pair import Pair
from ui.shared import page_frame, safe_text
from ui.shared.services.experiments import Experiments

MOST_SHOWN = 3


def merge_line(catalog_id: int, members: Sequence[str]) -> None:
    """How many queries move by the merge of these tools, if an experiment measured it."""
    measured = page_frame.service(Experiments).effect_of(catalog_id, members)
    if measured is None:
        return
    number, row = measured
    joins = f"; {safe_text.untrusted(row.joins)} need two of these tools" if row.joins else ""
    st.markdown(
        f":material/query_stats: Measured (experiment {number}): "
        f"{quantity(row.helped + row.hurt, 'query')} of the query set "
        f"{'moves' if row.helped + row.hurt == 1 else 'move'} by this merge: "
        f"{row.helped} gain, {row.hurt} lose{joins}; "
        f"{effect_text(row.helped, row.hurt, row.corrected_p)}{_quoted(row.texts)}."
    )


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
