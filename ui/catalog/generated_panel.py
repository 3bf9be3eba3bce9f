"""Queries that a model writes: asked for, counted, shown by the tools they cover, exported."""

from collections import Counter
from collections.abc import Callable, Sequence

import streamlit as st

from toolscope_core.model.configuration import MOST_GENERATED, QueryGeneration
from toolscope_core.model.errors import ToolScopeError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.tool import digest
from toolscope_core.store.generated_rows import SET_NAME, GeneratedState
from ui.shared import data_tables, page_frame, safe_text
from ui.shared.cards import decision_buttons
from ui.shared.models import ask_panel
from ui.shared.services.generated_queries import UNUSABLE, GeneratedQueries, GeneratedView
from ui.shared.services.loaded_queries import LoadedQueries

ABOUT = (
    "A model is shown ten tools at a time, chooses two to five that belong together, writes a "
    "request that needs them, and then says it as a person would. Nothing is measured or trained "
    "on a query before somebody keeps it."
)

WITHOUT = "No model is set up, so no queries can be written. Set one up, or add a file of queries."

STATES: tuple[GeneratedState, ...] = ("waiting", "kept", "dropped", "failed")

WITH_WARNINGS = "with warnings"

SHOWS = ("waiting", WITH_WARNINGS, "kept", "dropped", "failed")

MOST_ROWS = 1_000

BUTTONS: tuple[tuple[str, str, GeneratedState, str], ...] = (
    ("Keep", ":material/check:", "kept", "Kept"),
    ("Drop", ":material/close:", "dropped", "Dropped"),
    ("Put back", ":material/undo:", "waiting", "Put back to wait"),
)
"""Label, icon, the state it leads to, and what is said then."""


def generated_panel(catalog_id: int) -> None:
    """The form that asks for queries, and the review of those that were written."""
    box = st.expander(
        "Write queries with a model",
        key="ask_for_queries",
        icon=":material/forum:",
        on_change="rerun",
    )
    if not box.open:
        return
    with box:
        st.caption(ABOUT)
        _asking(catalog_id)
        decision_buttons.notice()
        if views := page_frame.service(GeneratedQueries).views(catalog_id):
            _summary(catalog_id, views)
            review(catalog_id, views)
            _coverage(catalog_id)


def review(catalog_id: int, views: Sequence[GeneratedView]) -> None:
    """The list, the buttons for the ticked rows, and one query with its tools."""
    bar = st.container(horizontal=True, vertical_alignment="bottom")
    show = bar.segmented_control(
        "Show", SHOWS, default="waiting", required=True, key="generated_shown"
    )
    words = bar.text_input("Search", type="search", key="find_generated").casefold()
    listed = [one for one in views if _is_in(one, show) and words in _searched(one)][:MOST_ROWS]
    if not listed:
        st.info("No query matches.", icon=":material/filter_alt_off:")
        return
    ticked = _table(listed, show)
    if show == "failed":
        return
    st.caption("Tick a row to read that query below, several to decide on them at once.")
    if len(ticked) > 1:
        _together(catalog_id, ticked)
    else:
        _card(catalog_id, (ticked or listed)[0])


def attempt(work: Callable[[], object], done: str) -> None:
    """Do what a button is for, and say how many queries it was done to, or why it was not."""
    try:
        count = work()
    except ToolScopeError as error:
        st.session_state["notice"] = (False, str(error))
        return
    text = f"{done}: {quantity(count, 'query')}" if isinstance(count, int) else done
    st.session_state["notice"] = (True, text)


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
    parts = [f"**{count[one]:,}** {one}" for one in STATES if count[one]]
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
                on_click=attempt,
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
                on_click=attempt,
                args=(lambda: work.clear(catalog_id), "Cleared"),
            )
    if count["kept"]:
        st.caption(
            f"The kept queries are the query set *{SET_NAME}*: choose it on the Evaluation "
            "or the Retrieval page."
        )


def _coverage(catalog_id: int) -> None:
    """How many tools have no query."""
    with_waiting = st.toggle("Count waiting queries too", True, key="cover_waiting")
    covered = page_frame.service(GeneratedQueries).covered(catalog_id, with_waiting)
    tools = len(page_frame.workspace().catalogs.open(catalog_id).tools)
    st.markdown(
        f"**{covered:,}** of {quantity(tools, 'tool')} answer a generated query; "
        f"**{tools - covered:,}** answer none."
    )


def _is_in(view: GeneratedView, show: str) -> bool:
    if show == WITH_WARNINGS:
        return bool(view.flaws) and view.query.state == "waiting"
    return view.query.state == show


def _searched(view: GeneratedView) -> str:
    return f"{view.query.text} {' '.join(view.query.tools)}".casefold()


def _table(listed: Sequence[GeneratedView], show: str) -> list[GeneratedView]:
    """The queries as a table; the ticked ones."""
    rows = [view.query for view in listed]
    ticked = data_tables.ticked_rows(
        {
            "query": [row.text for row in rows],
            "tools": [", ".join(row.tools) for row in rows],
            "warnings": [
                view.query.reason if show == "failed" else "; ".join(f.message for f in view.flaws)
                for view in listed
            ],
        },
        f"Generated queries: {show}",
        {"query": 430, "tools": 270, "warnings": 200},
        most=320,
        key=f"generated_{digest(show, [row.key for row in rows])[:12]}",
        at_first=(),
    )
    return [listed[at] for at in ticked]


def _together(catalog_id: int, ticked: Sequence[GeneratedView]) -> None:
    """The buttons for several queries."""
    work, rows = page_frame.service(GeneratedQueries), [view.query for view in ticked]
    key = digest([row.key for row in rows])[:12]
    with st.container(horizontal=True, vertical_alignment="center"):
        for label, icon, state, done in BUTTONS:
            st.button(
                f"{label} the {len(rows):,} ticked",
                key=f"ticked_{state}_{key}",
                icon=icon,
                disabled=all(row.state == state for row in rows),
                on_click=attempt,
                args=(lambda to=state: work.decide(catalog_id, rows, to), done),
            )
        if doubtful := sum(bool(view.flaws) for view in ticked):
            st.caption(f"{doubtful:,} of them have warnings.", width="content")


def _card(catalog_id: int, view: GeneratedView) -> None:
    """One query beside what its tools say, with the text to edit."""
    work, shown = page_frame.service(GeneratedQueries), view.query
    suffix = digest(shown.key, shown.text)[:12]
    left, right = st.columns([3, 2], gap="large")
    with left:
        text = st.text_area("Query", shown.text, key=f"generated_text_{suffix}", height=110)
        line = " ".join(text.split())
        is_edited = line != shown.text
        flaws = work.flaws(catalog_id, shown, line) if is_edited else view.flaws
        for flaw in flaws:
            st.warning(safe_text.untrusted(flaw.message), icon=":material/rule:")
        if shown.draft != shown.text:
            st.caption(f"First written as: {safe_text.untrusted(shown.draft)}")
        st.caption(f"{shown.state}, by {safe_text.untrusted(shown.source)}")
        with st.container(horizontal=True):
            if is_edited:
                st.button(
                    "Keep as edited",
                    key=f"edit_generated_{suffix}",
                    type="primary",
                    icon=":material/check:",
                    disabled=any(flaw.code in UNUSABLE for flaw in flaws),
                    on_click=attempt,
                    args=(lambda: work.edit(catalog_id, shown, line), "Kept as edited"),
                )
            for label, icon, state, done in BUTTONS:
                if state != shown.state and not (is_edited and state == "kept"):
                    st.button(
                        label,
                        key=f"one_{state}_{suffix}",
                        type="primary" if state == "kept" else "secondary",
                        icon=icon,
                        on_click=attempt,
                        args=(lambda to=state: work.decide(catalog_id, [shown], to), done),
                    )
    with right:
        tools = page_frame.workspace().catalogs.open(catalog_id).by_id
        st.markdown("**It needs**")
        for one in shown.tools:
            about = tools[one].description[:300] if one in tools else "not in this catalog now"
            st.markdown(f"- **{safe_text.untrusted(one)}** {safe_text.untrusted(about)}")
