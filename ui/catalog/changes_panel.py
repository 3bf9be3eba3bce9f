"""What a new version of a catalog changes: before it is added, and afterwards."""

from __future__ import annotations

import streamlit as st

from toolscope_core.datamodel import Catalog
from toolscope_core.views.version_changes import Changes, Doubt
from ui.frame import page_frame, safe_text

SHOWN = 10


def changes_panel() -> None:
    """What the current version changed; nothing for a first version."""
    record, versions = page_frame.current(), page_frame.workspace().versions
    earlier = {other.number: other for other in versions.earlier(record)}
    if not earlier:
        return
    key = f"since_{record.id}"
    chosen = st.session_state.get(key, max(earlier))
    changes = versions.since(record, earlier[chosen])
    label = f"Changes since version {chosen}: {changes.summary}"
    with st.expander(label, icon=":material/difference:"):
        if len(earlier) > 1:
            st.selectbox("Compare with version", list(earlier), key=key, width=160)
        _changes(changes)
    if changes.doubts:
        st.warning(
            "Tools have changed. These decisions are suspended until they are reviewed again:"
        )
        for doubt in changes.doubts[:SHOWN]:
            st.page_link(
                "pages/review.py",
                label=f"Review decision {_in_words(doubt)}",
                icon=":material/history:",
                query_params={"cluster": doubt.cluster} if doubt.cluster else None,
            )
        _rest(len(changes.doubts), "decisions")


def new_version_panel(name: str, catalog: Catalog) -> None:
    """What adding ``catalog`` under ``name`` would change; nothing for a new name."""
    changes = page_frame.workspace().versions.ahead(name, catalog)
    if changes is None:
        return
    title = f"**{safe_text.untrusted(name)}**"
    if changes.same:
        st.info(f"{title} is identical to version {changes.number}. Adding it changes nothing.")
        return
    st.info(
        f"{title} already exists. This would be version {changes.number + 1}: {changes.summary}."
    )
    _changes(changes)
    if changes.doubts:
        st.warning("Tools would change. These decisions would need another review:")
        lines = [f"- decision {_in_words(doubt)}" for doubt in changes.doubts[:SHOWN]]
        st.markdown("\n".join(lines))
        _rest(len(changes.doubts), "decisions")


def _changes(changes: Changes) -> None:
    if not changes.rows:
        return
    st.dataframe(
        changes.rows,
        hide_index=True,
        column_config={
            "change": st.column_config.TextColumn(width=75),
            "tool": st.column_config.TextColumn(width=190),
            "field": st.column_config.TextColumn(width=190),
            "old": st.column_config.TextColumn(width=125),
            "new": st.column_config.TextColumn(width=125),
            "breaking": st.column_config.TextColumn("breaks callers", width=225),
        },
        alt="Changes, breaking ones first",
    )
    for item in changes.reworded[:SHOWN]:
        st.caption(f"{safe_text.untrusted(item.tool)}, {safe_text.untrusted(item.field)}")
        st.html(safe_text.word_diff(item.old, item.new))
    _rest(len(changes.reworded), "texts")


def _in_words(doubt: Doubt) -> str:
    return f"{doubt.seq}, {safe_text.untrusted(doubt.summary)}"


def _rest(count: int, what: str) -> None:
    if count > SHOWN:
        st.caption(f"and {count - SHOWN:,} {what} more")
