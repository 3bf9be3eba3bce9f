"""Queries that a model writes: asked for, counted, shown by the tools they cover, exported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from toolscope_core.model.configuration import MOST_GENERATED, QueryGeneration
from toolscope_core.model.errors import ToolScopeError
from toolscope_core.model.numbers import quantity
from ui.shared import page_frame, safe_text
from ui.shared.cards import decision_buttons
from ui.shared.charts.pictures import picture
from ui.shared.charts.query_coverage import coverage_bars, coverage_rows
from ui.shared.models import ask_panel
from ui.shared.queries import generated_review
from ui.shared.services.generated_queries import SET_NAME, GeneratedQueries, GeneratedView
from ui.shared.services.judging import Judging
from ui.shared.services.loaded_queries import LoadedQueries

GENERATED = "Generated queries"
ABOUT = (
    "A model is shown ten tools at a time, chooses two to five that belong together, writes a "
    "request that needs them, and then says it as a person would. Nothing is measured or trained "
    "on a query before somebody keeps it."
)
WITHOUT = (
    "No model is set up, so no queries can be written. Set one up, or add a file of queries as a "
    "query set on the Catalog page."
)


def generated_panel(catalog_id: int) -> None:
    """The form that asks for queries, and the review of those that were written."""
    st.caption(ABOUT)
    work = page_frame.workspace()
    views = work.service(GeneratedQueries).views(catalog_id)
    runs = [run for run in work.service(Judging).runs(catalog_id) if run.kind == "queries"]
    box = st.expander(
        "Write queries with a model",
        expanded=not views or any(run.state != "done" for run in runs[:1]),
        key="ask_for_queries",
        icon=":material/forum:",
        on_change="rerun",
    )
    if box.open:
        with box:
            _asking(catalog_id)
    decision_buttons.notice()
    if views:
        _summary(catalog_id, views)
        generated_review.review(catalog_id, views)
        _coverage(catalog_id)


def _asking(catalog_id: int) -> None:
    """How many are wanted, the estimate and the button."""
    if not ask_panel.can_ask(catalog_id, "queries", WITHOUT):
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        count = st.number_input(
            "Queries to ask for",
            1,
            MOST_GENERATED,
            100,
            key="generate_count",
            persist_state="session",
            width=200,
            help="A larger number goes on where a smaller one ended: what was asked is not asked "
            "again.",
        )
        seed = st.number_input(
            "Seed",
            0,
            value=0,
            key="generate_seed",
            persist_state="session",
            width=140,
            help="Another number shows the model other tools together.",
        )
    st.caption(
        "Tools without a query in the catalog's query sets come first. Five requests of those sets "
        "are shown as examples; where there is none, requests that come with ToolScope are."
    )
    work, wanted = page_frame.service(GeneratedQueries), QueryGeneration(int(count), int(seed))
    question = ask_panel.Question(
        "queries",
        (wanted, len(page_frame.service(LoadedQueries).sets(catalog_id))),
        lambda: work.estimate(catalog_id, wanted),
        lambda: work.start(catalog_id, wanted),
    )
    try:
        ask_panel.question_panel(catalog_id, question, "Write queries")
    except ToolScopeError as error:
        safe_text.show_error(error)


def _summary(catalog_id: int, views: Sequence[GeneratedView]) -> None:
    """Counts, the button that keeps what nothing speaks against, and the export."""
    work = page_frame.service(GeneratedQueries)
    count = Counter[str](view.query.state for view in views)
    clean = sum(view.query.state == "waiting" and not view.flaws for view in views)
    parts = [f"**{count[one]:,}** {one}" for one in generated_review.STATES if count[one]]
    st.markdown(f"{quantity(len(views), 'question')}: {', '.join(parts)}.")
    with st.container(horizontal=True):
        if clean:
            st.button(
                f"Keep {quantity(clean, 'query')} without warnings",
                key="keep_clean_queries",
                type="primary",
                icon=":material/done_all:",
                help="Read some of them first: a model may call for a tool that the request does "
                "not need.",
                on_click=generated_review.attempt,
                args=(lambda: work.keep_clean(catalog_id), "Kept"),
            )
        if count["kept"]:
            st.download_button(
                f"Export the {count['kept']:,} kept",
                lambda: work.file(catalog_id),
                SET_NAME,
                "application/jsonl",
                key="export_generated",
                on_click="ignore",
                icon=":material/download:",
                help="JSON Lines with `id`, `query` and `gold`, for `evaluate` and `search`.",
            )
        if gone := count["dropped"] + count["failed"]:
            st.button(
                f"Clear {gone:,} dropped or failed",
                key="clear_generated",
                type="tertiary",
                icon=":material/delete_sweep:",
                help="Asking for the same queries again brings them back, at no cost.",
                on_click=generated_review.attempt,
                args=(lambda: work.clear(catalog_id), "Cleared"),
            )
    if count["kept"]:
        st.caption(
            f"The kept queries are the query set *{SET_NAME}*: choose it in the other views of "
            "this page, or on the Retrieval page."
        )


def _coverage(catalog_id: int) -> None:
    """How many tools have no query, one, two and so on."""
    st.subheader("Tools covered", anchor=False)
    with_waiting = st.toggle("Count waiting queries too", True, key="cover_waiting")
    view = page_frame.service(GeneratedQueries).coverage(catalog_id, with_waiting)
    without = len(view.queries) - view.covered
    st.markdown(
        f"**{view.covered:,}** of {quantity(len(view.queries), 'tool')} answer a generated query; "
        f"**{without:,}** answer none."
    )
    picture(
        coverage_bars(view),
        lambda: coverage_rows(view),
        "query_coverage",
        "How many tools answer how many generated queries",
    )
