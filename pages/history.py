"""History: every decision with its effect and undo, states, model runs, people and learning."""

import streamlit as st

from ui.history.decision_list import decision_list, import_panel, state_panel
from ui.history.learning_panel import learning_panel
from ui.history.people_panel import has_several_people, people_panel
from ui.shared import page_frame
from ui.shared.cards import decision_buttons
from ui.shared.runs_table import runs_panel
from ui.shared.snapshot import Snapshot


def decisions(snapshot: Snapshot) -> None:
    """Draw the result of the last button, the log, and the form to import one."""
    decision_buttons.notice(snapshot)
    decision_list(snapshot)
    import_panel(snapshot)


def more(snapshot: Snapshot) -> None:
    """Draw the parts that few people need, one below the other."""
    if not several:
        people_panel(snapshot)
        st.divider()
    learning_panel(snapshot)


st.title("History")
snapshot = page_frame.snapshot()
several = has_several_people(snapshot)
people = {"People": people_panel} if several else {}
page_frame.draw_tabs(
    snapshot,
    {
        "Decisions": decisions,
        "Compare": state_panel,
        "Model runs": runs_panel,
        **people,
        "More": more,
    },
    "history_part",
)
