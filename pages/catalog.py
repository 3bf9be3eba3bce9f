"""Catalog: what is loaded, what merging would bring, and the way to add a file."""

from __future__ import annotations

import streamlit as st

from pages import _ui
from pages._listing import listing_panel
from pages._upload import upload_panel
from pages._versions import changes_panel

record, explore = _ui.current(), _ui.workspace().explore
seen = explore.overview(record.id)

st.title("Catalog")
owners = f" on {seen.servers:,} servers" if seen.servers else ""
st.markdown(
    f"**{_ui.untrusted(record.name)}** holds {seen.tools:,} tools{owners}. They cost about "
    f"{seen.tokens:,} tokens in every prompt that carries them all."
)
figures, action = st.columns(4), st.container()
upload_panel()
changes_panel()
listing_panel(record.id)

figures[0].metric("Tools", f"{seen.tools:,}", border=True, height="stretch")
figures[1].metric("Servers", f"{seen.servers:,}", border=True, height="stretch")
with action:
    _ui.analysis()
after = explore.forecast(record.id)
figures[2].metric("Overlapping clusters", f"{after.clusters:,}", border=True, height="stretch")
figures[3].metric(
    "Tokens, about",
    f"{seen.tokens:,}",
    f"{after.tokens_after:,} after safe merges",
    delta_color="off",
    delta_arrow="down" if after.tokens_after < seen.tokens else "off",
    border=True,
    height="stretch",
    help=f"Tokens: {seen.counted}. "
    "Safe merges are those that need no person, and those already accepted.",
)
proposals = f"{after.waiting:,} proposal{'' if after.waiting == 1 else 's'}"
label = f"Review {proposals}" if after.waiting else "Everything is reviewed: export"
page = "pages/review.py" if after.waiting else "pages/export.py"
with action.container(key="next", border=True, width="content"):
    st.page_link(page, label=f"**{label}**", icon=":material/arrow_forward:")
