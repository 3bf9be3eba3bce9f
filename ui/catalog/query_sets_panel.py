"""The query sets of a catalog: added, looked at, deleted."""

import streamlit as st

from toolscope_core.evaluation.query_sets import Query, QueryProblem
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import quantity
from ui.catalog.generated_panel import generated_panel
from ui.shared import data_tables, safe_text
from ui.shared.data_tables import Column
from ui.shared.services import loaded_queries
from ui.shared.services.loaded_queries import MOST_BYTES, QuerySetView
from ui.shared.snapshot import Snapshot

SHOWN = 20
NAMED = 5


def query_sets_panel(snapshot: Snapshot) -> None:
    """The sets that the catalog has, and the form to add one; nothing is stored before the button
    is pressed.
    """
    safe_text.show("queries_error")
    st.caption(
        "Does search find the right tools? Query sets are requests to agents with the tools that "
        "answer them. Retrieval and Evaluation try them on the toolset before and after the merge. "
        "They stay with all versions of this catalog."
    )
    for view in loaded_queries.sets(snapshot):
        _kept(snapshot, view)
    _form(snapshot)
    generated_panel(snapshot)


def _kept(snapshot: Snapshot, view: QuerySetView) -> None:
    """One set, with a button that deletes it."""
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
        "`gold_servers`; `id` and `steps` if there are any.",
        type=["jsonl", "csv"],
        max_upload_size=MOST_BYTES // 1_000_000,
        key=f"queries_{turn}",
    )
    if file is None:
        return
    try:
        view = loaded_queries.preview(snapshot.catalog, file.getvalue(), file.name)
    except ConfigError as error:
        safe_text.show_error(error)
        return
    st.write(_in_words(view))
    _problems(view)
    data_tables.draw(
        view.content.queries[:SHOWN],
        [
            Column("id"),
            Column("query", lambda query: query.text, width=400),
            Column("answers", _answers),
        ],
        "The first queries",
    )
    st.button(
        "Add query set",
        type="primary",
        icon=":material/add:",
        key=f"add_queries_{turn}",
        on_click=_add,
        args=(snapshot, turn, file.getvalue(), file.name),
    )


def _answers(query: Query) -> str:
    return ", ".join(" or ".join(sorted(need)) for need in query.gold or query.servers)


def _in_words(view: QuerySetView) -> str:
    steps = f", {view.with_steps:,} with steps" if view.with_steps else ""
    return f"{quantity(len(view.content.queries), 'query')}, {view.judged:,} with answers{steps}."


def _problems(view: QuerySetView) -> None:
    """The rows that are no query, and answers that the catalog does not have."""
    problems = view.content.problems
    if problems:
        st.warning(
            f"{quantity(len(problems), 'line')} cannot be read; the others are used.",
            icon=":material/warning:",
        )
        columns = [Column[QueryProblem]("line"), Column("reason", width=400)]
        data_tables.draw(problems[:SHOWN], columns, "Lines that cannot be read")
    if view.unknown:
        names = safe_text.first_few(view.unknown, NAMED)
        st.warning(
            f"Not in this catalog, so never found: {names}. Queries that ask for them count as "
            "missed.",
            icon=":material/help:",
        )


def _add(snapshot: Snapshot, turn: int, content: bytes, name: str) -> None:
    if safe_text.attempt("queries_error", lambda: loaded_queries.add(snapshot, content, name)):
        st.session_state["queries_turn"] = turn + 1
