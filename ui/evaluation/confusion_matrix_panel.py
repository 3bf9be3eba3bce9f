"""What is found where other tools are asked for: the matrix, the queries of a cell, the cases."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence

import streamlit as st

from toolscope_core.evaluation.confusions import (
    NONE,
    NOT_A_TOOL,
    FoundInstead,
    case_rows,
    confusion_matrix,
)
from toolscope_core.evaluation.intervals import rate_text
from toolscope_core.evaluation.results import searched_queries
from toolscope_core.model.address_keys import pair_key
from toolscope_core.model.numbers import quantity
from toolscope_core.model.pair import Pair
from toolscope_core.model.tool import JsonObject
from ui.evaluation import evaluations
from ui.shared import data_tables, safe_text
from ui.shared.pairs.pair_panel import pair_link
from ui.shared.snapshot import Snapshot

MOST_SIDE = 40
"""Rows and columns that are drawn: those with the most confused queries."""
ASKED = "asked for"


def confusion_matrix_panel(snapshot: Snapshot, result: JsonObject) -> None:
    """The matrix of an experiment; a chosen cell opens its queries below."""
    queries, rankings = searched_queries(result)
    if not queries:
        st.caption("Measure again: what each query finds was not kept then.")
        return
    bar = st.container(horizontal=True, vertical_alignment="center")
    is_joined = bar.toggle(
        "Count equal tools as one",
        key="equal_as_one",
        help="Tools of accepted merges, and members of a family: the same operation for another "
        "provider or value. In the file of cases each of them is right too.",
    )
    equal = evaluations.equal_tools(snapshot) if is_joined else {}
    tools = snapshot.analysis.catalog.by_id
    cells = confusion_matrix(queries, rankings, tools, equal)
    cases = case_rows(queries, rankings, tools, equal)
    bar.download_button(
        "Save as cases",
        "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in cases),
        "cases.jsonl",
        "application/jsonl",
        icon=":material/download:",
        key="save_cases",
        help="A query a line: what it asks for, what else may stand there, and what was found "
        "instead. *check --cases* replays them in CI, without a model.",
    )
    wrong = {one: places for one, places in cells.items() if one.is_wrong}
    confused = {place for places in wrong.values() for place in places}
    rate = rate_text(len(queries) - len(confused), len(queries))
    st.markdown(f"Queries that find what they ask for: {safe_text.untrusted(rate)}.")
    chosen = _matrix(cells, wrong)
    if chosen is None:
        st.caption("Select a cell to read its queries.")
        return
    wanted, instead = map(safe_text.untrusted, (chosen.wanted, chosen.instead))
    places = cells.get(chosen, ())
    st.markdown(f"Asked for **{wanted}**, found **{instead}**: {quantity(len(places), 'query')}.")
    if not places:
        return
    data_tables.draw(
        {"query": [queries[at].text for at in places], "id": [queries[at].id for at in places]},
        "The queries of the cell",
        key="cell_queries",
    )
    if chosen.is_wrong and {chosen.wanted, chosen.instead} <= tools.keys():
        pair_link(snapshot, pair_key(Pair.of(chosen.wanted, chosen.instead)))


def _matrix(
    cells: Mapping[FoundInstead, Sequence[int]], wrong: Mapping[FoundInstead, Sequence[int]]
) -> FoundInstead | None:
    """Draw what is asked for down, what is found in its place across; the cell that is chosen."""
    wanted, instead = Counter({NONE: 0, NOT_A_TOOL: 0}), Counter[str]()
    for one, places in wrong.items():
        wanted[one.wanted] += len(places)
        instead[one.instead] += len(places)
    rows, most_instead = _most(wanted), _most(instead)
    beside = dict.fromkeys(one.instead for row in rows for one in wrong if one.wanted == row)
    columns = [name for name in beside if name in most_instead]
    grid = [[FoundInstead(row, name) for row in rows] for name in columns]
    grid.insert(0, [FoundInstead(row, row) for row in rows])
    counts = [[len(cells[one]) if one in cells else None for one in column] for column in grid]
    state = data_tables.draw(
        {ASKED: rows, **{str(number): column for number, column in enumerate(counts)}},
        "How many queries find what, by what they ask for",
        {
            ASKED: st.column_config.TextColumn(width=240, pinned=True),
            **{
                str(number): st.column_config.NumberColumn(name, width=110, help=name)
                for number, name in enumerate(["itself", *columns])
            },
        },
        most=640,
        key="confusion_matrix",
        on_select="rerun",
        selection_mode="single-cell",
        placeholder="",
    )
    if len(wanted) > len(rows) or len(instead) > len(columns):
        st.caption(f"The {MOST_SIDE} tools that are confused most; the file has every query.")
    for row, column in state["selection"]["cells"]:
        if column != ASKED and int(column) < len(grid) and row < len(rows):
            return grid[int(column)][int(row)]
    return None


def _most(counts: Mapping[str, int]) -> list[str]:
    """The names with the highest counts, and what is no tool, last."""
    others = (NONE, NOT_A_TOOL)
    most = sorted(counts, key=lambda name: (name not in others, -counts[name], name))[:MOST_SIDE]
    return sorted(most, key=lambda name: (name in others, name))
