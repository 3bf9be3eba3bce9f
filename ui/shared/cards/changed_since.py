"""What has changed in the tools of a decision since it was made."""

from collections.abc import Sequence

import streamlit as st

from toolscope_core.check.version_changes import ChangeRow, TextChange
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.decision import Decision
from ui.shared import data_tables, safe_text
from ui.shared.cards import decision_trail
from ui.shared.data_tables import Column
from ui.shared.services import versions
from ui.shared.snapshot import Snapshot

_SHOWN = 3


def on_card(snapshot: Snapshot, cluster: Cluster) -> None:
    """Draw the decisions on a stale cluster, each with the changes since then."""
    for decision in versions.waiting_on(snapshot, cluster)[-_SHOWN:]:
        action, whom = decision_trail.in_words(decision), decision_trail.by_whom(decision)
        has_canonical = "canonical" in decision.detail and decision.action == "accept"
        still = f" {safe_text.untrusted(cluster.canonical)} is still kept." if has_canonical else ""
        st.warning(
            f"{action} ({whom}). A tool has changed since, so this needs another review.{still}",
            icon=":material/update:",
        )
        changed_tools(snapshot, decision)


def changed_tools(snapshot: Snapshot, decision: Decision) -> None:
    """Draw the changes of each tool, field by field, and the changed words in descriptions."""
    for tool in versions.since_decision(snapshot, decision):
        if tool.rows is None:
            name = safe_text.untrusted(tool.tool_id)
            st.caption(f"{name} has changed, and no stored version has its earlier definition.")
            continue
        texts = {item.field for item in tool.reworded}
        table([row for row in tool.rows if row.field not in texts], f"Changes of {tool.tool_id}")
        for item in tool.reworded:
            reworded(item)


def table(rows: Sequence[ChangeRow], alt: str) -> None:
    """Draw the changes, one in each row."""
    if rows:
        data_tables.draw(
            rows,
            [
                Column("change", width=75),
                Column("tool", width=190),
                Column("field", width=190),
                Column("old", width=125),
                Column("new", width=125),
                Column("breaking", title="breaks callers", width=225),
                Column(
                    "warning", title="look at", width=150, visible=any(row.warning for row in rows)
                ),
            ],
            alt,
        )


def reworded(item: TextChange) -> None:
    """Draw a text with its changed words marked."""
    st.caption(f"{safe_text.untrusted(item.tool)}, {safe_text.untrusted(item.field)}")
    st.html(safe_text.word_diff(item.old, item.new))
