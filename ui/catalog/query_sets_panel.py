"""The query sets of a catalog: adding, viewing and deleting them."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from toolscope_core.evaluation.query_sets import Query, QueryProblem
from toolscope_core.model.configuration import MOST_GENERATED, QueryGeneration
from toolscope_core.model.errors import ToolScopeError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.tool import digest
from toolscope_core.store.named_rows import SET_NAME, GeneratedQuery, GeneratedState
from ui.shared import ask_panel, data_tables, page_frame, safe_text
from ui.shared.cards import decision_buttons
from ui.shared.data_tables import Column, Columns
from ui.shared.services import generated_queries, loaded_queries
from ui.shared.services.generated_queries import UNUSABLE, GeneratedView
from ui.shared.snapshot import Snapshot

_ABOUT = (
    "A model sees ten tools at a time, chooses two to five that belong together, writes a "
    "request that needs them, and then rephrases it as a person would. A query is used for "
    "measuring or training only after somebody keeps it."
)

_WITHOUT = (
    "No model is set up, so no queries can be written. Set one up, or add a file with queries."
)

_STATES: tuple[GeneratedState, ...] = ("waiting", "kept", "dropped", "failed")

WITH_WARNINGS = "with warnings"

_SHOWS = ("waiting", WITH_WARNINGS, "kept", "dropped", "failed")

_MOST_ROWS = 1_000

BUTTONS: dict[GeneratedState, tuple[str, str, str]] = {
    "kept": ("Keep", ":material/check:", "Kept"),
    "dropped": ("Drop", ":material/close:", "Dropped"),
    "waiting": ("Put back", ":material/undo:", "Move back to waiting"),
}
"""The label, icon and notice of each button, keyed by the state that it sets."""


def generated_panel(snapshot: Snapshot) -> None:
    """Draw the form that asks a model for queries, and the review of the queries
    already written.
    """
    box = st.expander(
        "Write queries with a model",
        key="ask_for_queries",
        icon=":material/forum:",
        on_change="rerun",
    )
    if not box.open:
        return
    with box:
        st.caption(_ABOUT)
        _ask_panel(snapshot)
        decision_buttons.notice(snapshot)
        if views := generated_queries.views(snapshot):
            _summary(snapshot, views)
            review(snapshot, views)
            with_waiting = st.toggle("Count waiting queries too", True, key="cover_waiting")
            covered_tools = generated_queries.covered_count(snapshot, with_waiting)
            tools = len(snapshot.catalog.tools)
            st.markdown(
                f"**{covered_tools:,}** of {quantity(tools, 'tool')} answer a generated "
                f"query; **{tools - covered_tools:,}** answer none."
            )


def review(snapshot: Snapshot, views: Sequence[GeneratedView]) -> None:
    """Draw the list, the buttons for the ticked rows, and one query with its tools."""
    bar = st.container(horizontal=True, vertical_alignment="bottom")
    show = bar.segmented_control(
        "Show", _SHOWS, default="waiting", required=True, key="generated_shown"
    )
    words = bar.text_input("Search", type="search", key="find_generated").casefold()
    matches = [one for one in views if _is_in(one, show) and words in _searched(one)][:_MOST_ROWS]
    if not matches:
        st.info("No query matches.", icon=":material/filter_alt_off:")
        return
    ticked_views = _table(matches, show)
    if show == "failed":
        return
    st.caption(
        "Tick a row to read that query below, or several rows to decide on their queries at once."
    )
    if len(ticked_views) > 1:
        _batch_buttons(snapshot, ticked_views)
    else:
        _card(snapshot, (ticked_views or matches)[0])


def _attempt(work: Callable[[], object], outcome: str) -> None:
    """Run a button's action. Report how many queries it changed, or why it failed."""
    try:
        count = work()
    except ToolScopeError as error:
        st.session_state["notice"] = (False, str(error))
        return
    text = f"{outcome}: {quantity(count, 'query')}" if isinstance(count, int) else outcome
    st.session_state["notice"] = (True, text)


def _ask_panel(snapshot: Snapshot) -> None:
    """Draw the field for the number of queries, the estimate and the button."""
    if not ask_panel.can_ask(snapshot, "queries", _WITHOUT):
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
            help="Raise the number to continue where the last run stopped; nothing is asked twice.",
        )
        seed = st.number_input(
            "Seed",
            0,
            value=0,
            key="generate_seed",
            persist_state="session",
            width=140,
            help="Another number shows the model other combinations of tools.",
        )
    st.caption(
        "Tools without a query in the catalog's query sets come first. Five requests from "
        "those sets are shown as examples, or requests that come with ToolScope if there are "
        "none."
    )
    generation = QueryGeneration(int(count), int(seed))
    question = ask_panel.Question(
        "queries",
        (generation, len(loaded_queries.sets(snapshot))),
        lambda: generated_queries.estimate(snapshot, generation),
        lambda: generated_queries.start(snapshot, generation),
    )
    safe_text.value_or_error(lambda: ask_panel.question_panel(snapshot, question, "Write queries"))


def _summary(snapshot: Snapshot, views: Sequence[GeneratedView]) -> None:
    """Draw the counts, the button that keeps all queries without objections, and the export."""
    count = Counter[str](view.query.state for view in views)
    clean = sum(view.query.state == "waiting" and not view.flaws for view in views)
    parts = [f"**{count[one]:,}** {one}" for one in _STATES if count[one]]
    st.markdown(f"{quantity(len(views), 'question')}: {', '.join(parts)}.")
    with st.container(horizontal=True):
        if clean:
            st.button(
                f"Keep {quantity(clean, 'query')} without warnings",
                key="keep_clean_queries",
                type="primary",
                icon=":material/done_all:",
                help="Read some of them first: a model may ask for a tool that the request does "
                "not need.",
                on_click=_attempt,
                args=(lambda: generated_queries.keep_clean(page_frame.snapshot()), "Kept"),
            )
        if count["kept"]:
            st.download_button(
                f"Export the {count['kept']:,} kept queries",
                lambda: generated_queries.file(snapshot),
                SET_NAME,
                "application/jsonl",
                key="export_generated",
                on_click="ignore",
                icon=":material/download:",
                help="JSON Lines with `id`, `query` and `gold`, for `evaluate` and `search`.",
            )
        if unusable := count["dropped"] + count["failed"]:
            st.button(
                f"Delete {quantity(unusable, 'dropped or failed query')}",
                key="clear_generated",
                type="tertiary",
                icon=":material/delete_sweep:",
                help="Asking for the same queries again brings them back, at no cost.",
                on_click=_attempt,
                args=(lambda: generated_queries.clear(snapshot), "Cleared"),
            )
    if count["kept"]:
        st.caption(
            f"The kept queries are the query set *{SET_NAME}*: choose it on the Evaluation "
            "or the Retrieval page."
        )


def _is_in(view: GeneratedView, show: str) -> bool:
    if show == WITH_WARNINGS:
        return bool(view.flaws) and view.query.state == "waiting"
    return view.query.state == show


def _searched(view: GeneratedView) -> str:
    return f"{view.query.text} {' '.join(view.query.tools)}".casefold()


def _table(views: Sequence[GeneratedView], show: str) -> list[GeneratedView]:
    """Draw the queries as a table. Returns the ticked ones."""

    def warnings(view: GeneratedView) -> str:
        return view.query.reason if show == "failed" else "; ".join(f.message for f in view.flaws)

    return data_tables.ticked_rows(
        views,
        [
            Column("query", lambda view: view.query.text, width=430),
            Column("tools", lambda view: ", ".join(view.query.tools), width=270),
            Column("warnings", warnings, width=200),
        ],
        f"Generated queries: {show}",
        most=320,
        key=f"generated_{digest(show, [view.query.key for view in views])[:12]}",
        at_first=(),
    )


def _batch_buttons(snapshot: Snapshot, views: Sequence[GeneratedView]) -> None:
    """Draw the buttons that act on several queries."""
    rows = [view.query for view in views]
    key = digest([row.key for row in rows])[:12]
    with st.container(horizontal=True, vertical_alignment="center"):
        for state in BUTTONS:
            disabled = all(row.state == state for row in rows)
            ending = f" the {len(rows):,} ticked"
            _button(snapshot, rows, state, f"ticked_{state}_{key}", ending, disabled=disabled)
        if doubtful := sum(bool(view.flaws) for view in views):
            st.caption(f"With warnings: {doubtful:,}.", width="content")


def _button(
    snapshot: Snapshot,
    queries: Sequence[GeneratedQuery],
    state: GeneratedState,
    key: str,
    ending: str = "",
    **look: Any,
) -> None:
    """Draw a button that puts queries into a state; ``ending`` completes its label."""
    label, icon, outcome = BUTTONS[state]
    work = partial(generated_queries.decide, snapshot, queries, state)
    label = f"{label}{ending}"
    st.button(label, key=key, icon=icon, on_click=_attempt, args=(work, outcome), **look)


def _card(snapshot: Snapshot, view: GeneratedView) -> None:
    """Draw one query beside the texts of its tools, with a field to edit the query."""
    query = view.query
    suffix = digest(query.key, query.text)[:12]
    left, right = st.columns([3, 2], gap="large")
    with left:
        text = st.text_area("Query", query.text, key=f"generated_text_{suffix}", height=110)
        line = " ".join(text.split())
        is_edited = line != query.text
        flaws = generated_queries.flaws(snapshot, query, line) if is_edited else view.flaws
        for flaw in flaws:
            st.warning(safe_text.untrusted(flaw.message), icon=":material/rule:")
        if query.draft != query.text:
            st.caption(f"Original wording: {safe_text.untrusted(query.draft)}")
        st.caption(f"{query.state}, by {safe_text.untrusted(query.source)}")
        with st.container(horizontal=True):
            if is_edited:
                st.button(
                    "Keep as edited",
                    key=f"edit_generated_{suffix}",
                    type="primary",
                    icon=":material/check:",
                    disabled=any(flaw.code in UNUSABLE for flaw in flaws),
                    on_click=_attempt,
                    args=(lambda: generated_queries.edit(snapshot, query, line), "Kept as edited"),
                )
            for state in BUTTONS:
                if state != query.state and not (is_edited and state == "kept"):
                    kind = "primary" if state == "kept" else "secondary"
                    _button(snapshot, [query], state, f"one_{state}_{suffix}", type=kind)
    with right:
        tools = snapshot.catalog.by_id
        st.markdown("**It needs**")
        for one in query.tools:
            about = tools[one].description[:300] if one in tools else "no longer in this catalog"
            st.markdown(f"- **{safe_text.untrusted(one)}** {safe_text.untrusted(about)}")


_SHOWN = 20
_NAMED = 5


def query_sets_panel(snapshot: Snapshot) -> None:
    """Draw the catalog's query sets, and the form to add one. Nothing is stored until the button is
    pressed.
    """
    safe_text.show("queries_error")
    st.caption(
        "Does search find the right tools? A query set is a list of requests to agents, with "
        "the tools that answer them. Retrieval and Evaluation try them on the toolset before "
        "and after the merge. Query sets are kept for all versions of this catalog."
    )
    for view in loaded_queries.sets(snapshot):
        _kept(snapshot, view)
    _form(snapshot)
    generated_panel(snapshot)


def _kept(snapshot: Snapshot, view: loaded_queries.QuerySetView) -> None:
    """Draw one query set, with a button that deletes it."""
    row = st.container(horizontal=True, vertical_alignment="center")
    row.markdown(f"**{safe_text.untrusted(view.name)}**: {_in_words(view)}", width="content")
    row.button(
        "Delete",
        key=f"delete_queries_{snapshot.id}_{view.name}",
        icon=":material/delete:",
        type="tertiary",
        on_click=lambda: loaded_queries.delete(snapshot, view.name),
    )
    _problems(view)


def _form(snapshot: Snapshot) -> None:
    turn = st.session_state.setdefault("queries_turn", 0)
    file = st.file_uploader(
        "Add a query set: JSON Lines or CSV with `query`, and `gold` (ids or names of tools) or "
        "`gold_servers`; optional: `id`, `steps`. For example "
        '`{"query": "Book a room", "gold": ["book_room"]}`.',
        type=["jsonl", "csv"],
        max_upload_size=loaded_queries.MOST_BYTES // 1_000_000,
        key=f"queries_{turn}",
    )
    if file is None:
        return
    view = safe_text.value_or_error(
        lambda: loaded_queries.preview(snapshot.catalog, file.getvalue(), file.name)
    )
    if view is None:
        return
    st.write(_in_words(view))
    _problems(view)
    columns: Columns[Query] = [
        Column("id"),
        Column("query", lambda query: query.text, width=400),
        Column(
            "answers",
            lambda query: ", ".join(
                " or ".join(sorted(need)) for need in query.gold or query.servers
            ),
        ),
    ]
    data_tables.draw(view.content.queries[:_SHOWN], columns, "The first queries")

    def add() -> None:
        content = file.getvalue()
        if safe_text.attempt(
            "queries_error", lambda: loaded_queries.add(snapshot, content, file.name)
        ):
            st.session_state["queries_turn"] = turn + 1

    st.button(
        "Add query set",
        type="primary",
        icon=":material/add:",
        key=f"add_queries_{turn}",
        on_click=add,
    )


def _in_words(view: loaded_queries.QuerySetView) -> str:
    steps = f", {view.with_steps:,} with steps" if view.with_steps else ""
    return f"{quantity(len(view.content.queries), 'query')}, {view.judged:,} with answers{steps}."


def _problems(view: loaded_queries.QuerySetView) -> None:
    """Draw the rows that are not queries, and the answers that the catalog does not contain."""
    problems = view.content.problems
    if problems:
        st.warning(
            f"{quantity(len(problems), 'line')} cannot be read; the other lines are used.",
            icon=":material/warning:",
        )
        columns = [Column[QueryProblem]("line"), Column("reason", width=400)]
        data_tables.draw(problems[:_SHOWN], columns, "Lines that cannot be read")
    if view.unknown:
        names = safe_text.first_few(view.unknown, _NAMED)
        st.warning(
            f"Not in this catalog, so never found: {names}. Queries that need them count as "
            "missed.",
            icon=":material/help:",
        )
