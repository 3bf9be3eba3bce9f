"""Two states of the toolset side by side: any version of the catalog, at any decision."""

from __future__ import annotations

from collections import Counter

import streamlit as st

from ui.history import histories
from ui.history.histories import KINDS, change_rows
from ui.shared import data_tables, page_frame, safe_text
from ui.shared.snapshot import Snapshot

HEIGHT = 480


def state_panel(snapshot: Snapshot) -> None:
    """Draw the choice of two states and what differs between them."""
    page_frame.wait_for_analysis(snapshot)
    records = {one.id: one for one in (snapshot.record, *snapshot.earlier)}
    analyses = snapshot.work.analyses
    analysed = [one for one in records if analyses.offline(one) is not None]
    log = snapshot.log
    numbers = [0, *(one.seq for one in log if one.action not in ("note", "flag"))]
    by_seq = {one.seq: one for one in log}

    def point(seq: int) -> str:
        if not seq:
            return "before any decision"
        one = by_seq[seq]
        return f"after {seq}: {one.action} by {one.reviewer}, {safe_text.clock(one.at)}"

    sides = []
    for column, title, seq in zip(
        st.columns(2), ("Before", "After"), (0, len(numbers) - 1), strict=True
    ):
        with column:
            version = st.selectbox(
                f"{title}: version", analysed, key=f"state_version_{title}",
                format_func=lambda one: f"version {records[one].number}",
            )  # fmt: skip
            at = st.selectbox(
                f"{title}: decisions", numbers[::-1], len(numbers) - 1 - seq,
                key=f"state_at_{title}_{numbers[-1]}", format_func=point,
            )  # fmt: skip
            sides.append((version, at))
    changes = histories.compare(snapshot.work, *sides)
    counts = Counter(change.kind for change in changes)
    before, after = (
        sum(len(getattr(one, side)) for one in changes) for side in ("before", "after")
    )
    st.markdown(
        f"**{before:,} tools before, {after:,} after**: "
        f"{', '.join(f'{counts[kind]:,} {kind}' for kind in KINDS if counts[kind])}."
    )
    kinds = [kind for kind in KINDS if counts[kind]]
    chosen = st.pills(
        "Show", kinds, selection_mode="multi", key="state_kinds",
        default=[kind for kind in kinds if kind != "unchanged"],
    )  # fmt: skip
    rows = change_rows(one for one in changes if one.kind in chosen)
    if not rows:
        st.info("Nothing of what is shown differs between the two.", icon=":material/check_circle:")
        return
    data_tables.draw(
        rows, "What differs between the two states", {"change": 90}, most=HEIGHT, key="state_rows"
    )
    st.caption("Merges that need a gateway count as made, whatever Export is set to.")
    if len(analysed) < len(records):
        st.caption("Versions that are not analysed yet cannot be compared; open one to analyse it.")
