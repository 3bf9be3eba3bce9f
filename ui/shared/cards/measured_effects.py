"""What an experiment says of one pair, and logs of one merge, where people decide on it."""

from collections.abc import Sequence

import streamlit as st

from toolscope_core.model.cluster import Cluster
from toolscope_core.model.numbers import listed, quantity
from toolscope_core.model.pair import Pair
from ui.shared import safe_text
from ui.shared.services import experiments, usage_evidence
from ui.shared.snapshot import Snapshot

MOST_SHOWN = 3


def calls_line(snapshot: Snapshot, cluster: Cluster) -> None:
    """What share of calls failed before and after an accepted merge, if there are logs."""
    calls = usage_evidence.after_merges(snapshot).get(cluster.id)
    if calls is not None and calls.went_bad:
        st.error(f"Went bad: {calls.in_words}.", icon=":material/trending_down:")
    elif calls is not None:
        st.caption(f"By the logs: {calls.in_words}.")


def confused_line(snapshot: Snapshot, pair: Pair) -> None:
    """The queries that confuse two tools, if an experiment measured it."""
    measured = experiments.confusion_of(snapshot, pair)
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
