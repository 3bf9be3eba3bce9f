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
    found = versions.since(record, earlier[chosen])
    label = f"What changed since version {chosen}: {found.said}"
    with st.expander(label, icon=":material/difference:"):
        if len(earlier) > 1:
            st.selectbox("Since version", list(earlier), key=key, width=160)
        _changes(found)
    if found.doubts:
        st.warning("Tools have changed. These decisions are suspended until somebody looks again:")
        for doubt in found.doubts[:SHOWN]:
            st.page_link(
                "pages/review.py",
                label=f"Review decision {_in_words(doubt)}",
                icon=":material/history:",
                query_params={"cluster": doubt.cluster} if doubt.cluster else None,
            )
        _rest(len(found.doubts), "decisions")


def ahead_panel(name: str, catalog: Catalog) -> None:
    """What adding ``catalog`` under ``name`` would change; nothing for a new name."""
    found = page_frame.workspace().versions.ahead(name, catalog)
    if found is None:
        return
    called = f"**{safe_text.untrusted(name)}**"
    if found.same:
        st.info(f"{called} is this very catalog, version {found.number}. Adding it does nothing.")
        return
    st.info(f"{called} is here already. This would be version {found.number + 1}: {found.said}.")
    _changes(found)
    if found.doubts:
        st.warning("Tools would change. These decisions would wait for a second look:")
        said = [f"- decision {_in_words(doubt)}" for doubt in found.doubts[:SHOWN]]
        st.markdown("\n".join(said))
        _rest(len(found.doubts), "decisions")


def _changes(found: Changes) -> None:
    if not found.rows:
        return
    st.dataframe(
        found.rows,
        hide_index=True,
        column_config={
            "change": st.column_config.TextColumn(width=75),
            "tool": st.column_config.TextColumn(width=190),
            "field": st.column_config.TextColumn(width=190),
            "old": st.column_config.TextColumn(width=125),
            "new": st.column_config.TextColumn(width=125),
            "breaking": st.column_config.TextColumn("breaks callers", width=225),
        },
        alt="What changed, breaking changes first",
    )
    for item in found.reworded[:SHOWN]:
        st.caption(f"{safe_text.untrusted(item.tool)}, {safe_text.untrusted(item.field)}")
        st.html(safe_text.word_diff(item.old, item.new))
    _rest(len(found.reworded), "texts")


def _in_words(doubt: Doubt) -> str:
    return f"{doubt.seq}, {safe_text.untrusted(doubt.said)}"


def _rest(count: int, what: str) -> None:
    if count > SHOWN:
        st.caption(f"and {count - SHOWN:,} {what} more")
