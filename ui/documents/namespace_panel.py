"""The descriptions of namespaces: one edited at a time, with what a search by namespace finds."""

from functools import partial

import streamlit as st

from toolscope_core.llm.tasks.namespace_prompt import MOST_TOOLS
from toolscope_core.model.decision import Decision
from toolscope_core.model.tool import digest
from ui.documents.choice_panel import show_violations
from ui.documents.namespace_views import Namespaces, NamespaceView
from ui.shared import data_tables, page_frame
from ui.shared.cards import decision_buttons
from ui.shared.models import ask_panel
from ui.shared.services.findable_tools import FindableTools

ABOUT = (
    "OpenAI's tool search shows a model the name and description of each namespace first, and "
    "no tool. An export for it makes each server a namespace. Say what its tools are for."
)
NOW, MODEL = "as it stands", "by the model"
SUGGESTED = "found, by the model"


def namespace_panel(catalog_id: int) -> None:
    """All namespaces, and the form for the chosen one."""
    st.caption(ABOUT)
    decision_buttons.notice()
    work = page_frame.service(Namespaces)
    views = {view.server: view for view in work.views(catalog_id)}
    if not views:
        st.info("The tools of this catalog name no servers.", icon=":material/dns:")
        return
    if not all(view.is_measured for view in views.values()):
        page_frame.job_started_once(
            page_frame.service(FindableTools),
            catalog_id,
            "Searching for every tool by its namespace.",
            "retry_namespaces",
            "",
            work.texts_to_measure(catalog_id),
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
    _form(catalog_id, views[server])
    ask_panel.ask_box(
        catalog_id,
        "namespaces",
        "Suggest descriptions with a model",
        "Suggest descriptions",
        "For every namespace, from what its server says and from the names and first sentences of "
        f"{MOST_TOOLS} tools at most. Nothing changes until somebody saves a description.",
    )


def _form(catalog_id: int, view: NamespaceView) -> None:
    work = page_frame.service(Namespaces)
    suffix = digest(view.server, view.description)[:8]
    start, starts = NOW, {NOW: view.description, MODEL: view.suggested}
    if view.suggested:
        start = st.segmented_control(
            "Start from", list(starts), default=NOW, required=True, key=f"start_{suffix}"
        )
    at = digest(view.server, starts[start])[:8]
    text = st.text_area("Description", starts[start], key=f"namespace_{at}", height=120)
    show_violations(work.violations(catalog_id, view.server, text))
    bar = st.container(horizontal=True)
    for label, wanted, is_off in (
        ("Save", text, text.strip() == view.description or not text.strip()),
        ("Take ours again", "", not view.is_written),
    ):
        with bar:
            decision_buttons.record_button(
                label,
                partial(_describe, catalog_id, view.server, wanted),
                f"Described: {view.server}",
                key=f"{label}_{suffix}",
                type="primary" if wanted else "secondary",
                disabled=is_off,
            )


def _describe(catalog_id: int, server: str, text: str) -> Decision:
    return page_frame.service(Namespaces).describe(catalog_id, server, text, page_frame.reviewer())
