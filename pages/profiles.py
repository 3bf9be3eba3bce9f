"""Profiles: the tools of each agent, ticked by a person or derived from the agent's requests."""

import streamlit as st

from ui.profiles import profile_edits
from ui.profiles.make_profile_panel import make_profile_panel
from ui.profiles.profile_detail_panel import chosen_profile, profile_detail_panel
from ui.profiles.profile_table_panel import profile_table_panel
from ui.shared import page_frame
from ui.shared.cards import decision_buttons

st.title("Profiles")
snapshot = page_frame.analysed_snapshot()
chosen = profile_edits.tools_by_profile(snapshot)
decision_buttons.notice(snapshot)
if not chosen:
    st.caption(
        "An agent seldom needs every tool. A profile is a named selection from the toolset for "
        "one agent or role. When its tools are merged, the merged tool takes their place. Every "
        "export includes the profiles."
    )
with st.expander("Make a profile", expanded=not chosen, icon=":material/add:"):
    make_profile_panel(snapshot)
if chosen:
    profile_table_panel(snapshot, chosen)
    st.divider()
    profile_detail_panel(snapshot, chosen[chosen_profile(list(chosen))])
