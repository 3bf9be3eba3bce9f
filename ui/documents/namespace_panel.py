"""The descriptions of namespaces: one edited at a time, with what a search by namespace finds."""

from functools import partial

import streamlit as st

from toolscope_core.llm.tasks.namespace_prompt import MOST_TOOLS
from toolscope_core.model.decision import Decision
from toolscope_core.model.tool import digest
from ui.documents import namespace_views
from ui.documents.choice_panel import show_violations
from ui.documents.namespace_views import NamespaceView
from ui.shared import data_tables, page_frame
from ui.shared.cards import decision_buttons
from ui.shared.models import ask_panel
from ui.shared.services import findable_tools
from ui.shared.snapshot import Snapshot

ABOUT = (
    "OpenAI's tool search shows a model the name and description of each namespace first, and "
    "no tool. An export for it makes each server a namespace. Say what its tools are for."
)
NOW, MODEL = "as it stands", "by the model"
SUGGESTED = "found, by the model"


def namespace_panel(snapshot: Snapshot) -> None:
    """All namespaces, and the form for the chosen one."""
    st.caption(ABOUT)
    decision_buttons.notice(snapshot)
    views = {view.server: view for view in namespace_views.views(snapshot)}
    if not views:
        st.info("The tools of this catalog name no servers.", icon=":material/dns:")
        return
    if not all(view.is_measured for view in views.values()):
        page_frame.job_started_once(
            snapshot.job(findable_tools.KIND),
            lambda: findable_tools.start(snapshot, "", namespace_views.texts_to_measure(snapshot)),
            "Searching for every tool by its namespace.",
            "retry_namespaces",
        )
    suggested = [SUGGESTED] if any(one.suggested for one in views.values()) else []
    percent = st.column_config.NumberColumn(format="%d %%")
    data_tables.draw(
        {
            **data_tables.columns(list(views.values()), ["server", "tools", "description"]),
            "found before": [data_tables.percent(view.before) for view in views.values()],
            "found": [data_tables.percent(view.after) for view in views.values()],
            SUGGESTED: [data_tables.percent(view.if_suggested) for view in views.values()],
        },
        "Namespaces, and how many of the requests for their tools find them",
        {
            "tools": st.column_config.NumberColumn(help="OpenAI advises fewer than 10."),
            "found before": percent,
            "found": percent,
            SUGGESTED: st.column_config.NumberColumn(
                format="%d %%", help="With what the model suggests for every server."
            ),
            "description": 600,
        },
        column_order=("server", "tools", "found before", "found", *suggested, "description"),
    )
    st.caption(
        "Found: the mean share of its tools' own requests for which OpenAI's search, as far as it "
        "is known, returns them; before, with what the server says of itself."
    )
    server = st.selectbox("Namespace", list(views), key="namespace")
    _form(snapshot, views[server])
    ask_panel.ask_box(
        snapshot,
        "namespaces",
        "Suggest descriptions with a model",
        "Suggest descriptions",
        "For every namespace, from what its server says and from the names and first sentences of "
        f"{MOST_TOOLS} tools at most. Nothing changes until somebody saves a description.",
    )


def _form(snapshot: Snapshot, view: NamespaceView) -> None:
    suffix = digest(view.server, view.description)[:8]
    start, starts = NOW, {NOW: view.description, MODEL: view.suggested}
    if view.suggested:
        start = st.segmented_control(
            "Start from", list(starts), default=NOW, required=True, key=f"start_{suffix}"
        )
    at = digest(view.server, starts[start])[:8]
    text = st.text_area("Description", starts[start], key=f"namespace_{at}", height=120)
    show_violations(namespace_views.violations(snapshot, view.server, text))
    bar = st.container(horizontal=True)
    for label, wanted, is_off in (
        ("Save", text, text.strip() == view.description or not text.strip()),
        ("Take ours again", "", not view.is_written),
    ):
        with bar:
            decision_buttons.record_button(
                label,
                partial(_describe, snapshot, view.server, wanted),
                f"Described: {view.server}",
                key=f"{label}_{suffix}",
                type="primary" if wanted else "secondary",
                disabled=is_off,
            )


def _describe(snapshot: Snapshot, server: str, text: str) -> Decision:
    return namespace_views.describe(snapshot, server, text, page_frame.reviewer())
