"""Two toolsets under the same queries: figures, queries, merges, and tools that queries confuse."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

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
from toolscope_core.model.numbers import listed, quantity
from toolscope_core.model.pair import Pair, pair_key
from toolscope_core.model.tool import JsonObject
from ui.evaluation import evaluations, experiment_tables
from ui.evaluation.experiment_tables import FigureRow
from ui.evaluation.measure_panel import measured
from ui.shared import cell_tables, page_frame, safe_text
from ui.shared.pairs.pair_panel import pair_link
from ui.shared.services import judging
from ui.shared.services.experiments import MergeRow, confusion_rows, merge_rows
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
    cell_tables.draw(
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
    state = cell_tables.draw(
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


MOST_ROWS = 2_000
MAIN = ("recall@10", "nDCG@10", "CSR@10")
"""The measures that stand first; the others wait under *More figures*."""
CAUTION = (
    "Fewer tools are mostly easier to search: a merge is good only if queries that need two of its "
    "tools stay rare and gold calls run."
)
NO_CALLS = (
    "No gold calls: with `calls` in the query set, ToolScope also measures how many of them still "
    "run after the merge."
)
MARKS = {True: "▲ better", False: "▼ worse", None: ""}


def result_panel(snapshot: Snapshot) -> None:
    """Both toolsets under the same queries, the queries won and lost, and each merge."""
    experiment = measured(snapshot, "comparison")
    if experiment is None:
        return
    result = experiment.result or {}
    merges = merge_rows(result)
    _summary(snapshot, result, merges)
    _figures(snapshot, result)
    st.subheader("Queries", anchor=False)
    _queries(snapshot, result)
    st.subheader("Merges", anchor=False)
    _merges(snapshot, merges)


def _summary(snapshot: Snapshot, result: JsonObject, merges: Sequence[MergeRow]) -> None:
    """How many queries won and lost, which merges lose, and whether that is more than chance."""
    counts = experiment_tables.outcomes(result)
    lines = [
        f"**{quantity(counts['won'], 'query')} won**, **{counts['lost']:,} lost**, "
        f"{counts['unchanged']:,} unchanged, by how high their answers stand (nDCG@10)."
    ]
    losing = [row for row in merges if row.change < 0]
    if losing:
        verb = "loses" if len(losing) == 1 else "lose"
        names = [safe_text.first_few(_names(snapshot, row.members), 4) for row in losing]
        costs = [f"{name} ({row.change:+.3f})" for name, row in zip(names, losing, strict=True)]
        lines.append(
            f"**{quantity(len(losing), 'merge')} {verb}** nDCG: {listed(costs, 3, between='; ')}."
        )
    elif merges:
        lines.append("No single merge loses.")
    is_moved = any(one["mean"] for one in result["changes"].values())
    if is_moved and min(result["p"].values(), default=1.0) >= experiment_tables.SIGNIFICANT:
        lines.append("None of the changes in finding tools is larger than chance alone may show.")
    st.markdown("  \n".join(lines))


def _figures(snapshot: Snapshot, result: JsonObject) -> None:
    """Size, tokens, gold calls and metrics of both toolsets."""
    rows = experiment_tables.figure_rows(result)
    main = [row for row in rows if "@" not in row.name or row.name in MAIN]
    more = [row for row in rows if row not in main]
    _figure_table(result, main, "figures")
    st.caption(f"{experiment_tables.in_words(row.name for row in main)} {CAUTION}")
    if not result["before"]["calls"]:
        st.caption(NO_CALLS)
    grades = judging.grades(snapshot)
    bands = experiment_tables.band_rows(result, grades)
    with st.expander("More figures", icon=":material/table_rows:"):
        _figure_table(result, more, "more_figures")
        st.caption(experiment_tables.in_words(row.name for row in more))
        if bands:
            st.markdown("**By documentation**")
            cell_tables.draw(bands, "Recall by documentation", key="bands")


def _figure_table(result: JsonObject, rows: Sequence[FigureRow], key: str) -> None:
    cell_tables.draw(
        {
            "figure": [row.name for row in rows],
            **cell_tables.columns(rows, ["before", "after", "change"]),
            "p": [f"{row.p} {MARKS[row.better]}".strip() for row in rows],
        },
        "The figures of both toolsets",
        {
            "figure": 220,
            "before": st.column_config.TextColumn(result["before"]["name"], width=150),
            "after": st.column_config.TextColumn(result["after"]["name"], width=150),
            "change": st.column_config.TextColumn(
                width=165, help="With the 95 % interval of the difference, paired by query."
            ),
            "p": st.column_config.TextColumn(
                width=105,
                help="How often chance alone would show such a change: paired bootstrap over the "
                "queries, corrected for the number of figures (Holm). Better or worse is said "
                "below .05; empty where nothing changed.",
            ),
        },
        key=key,
        height="content",
    )


def _queries(snapshot: Snapshot, result: JsonObject) -> None:
    """Every query, with where its answers stood and stand."""
    counts = experiment_tables.outcomes(result)
    chosen = st.segmented_control(
        "Outcome",
        list(counts),
        default="lost" if counts["lost"] else "won",
        required=True,
        key="outcome",
        bind="query-params",
        format_func=lambda outcome: f"{outcome} ({counts[outcome]:,})",
        label_visibility="collapsed",
    )
    rows = experiment_tables.query_rows(result, chosen)
    shown = rows[:MOST_ROWS]
    if not rows:
        st.caption("None.")
        return
    picked = cell_tables.chosen_row(
        shown,
        {
            "change": [row.change for row in shown],
            "query": [row.text for row in shown],
            **cell_tables.columns(shown, ["moved", "id"]),
        },
        f"Queries: {chosen}",
        {
            "query": 380,
            "moved": st.column_config.TextColumn(
                "answers that moved",
                width=320,
                help="Place before → after, and the tool; - is not among the first 10.",
            ),
            "change": st.column_config.NumberColumn("nDCG", format="%+.3f", width=80),
            "id": 120,
        },
        most=480,
        key="queries",
    )
    if len(rows) > MOST_ROWS:
        st.caption(f"The first {MOST_ROWS:,} of {quantity(len(rows), 'query')}.")
    if picked is None:
        st.caption("Select a query to try it on the Retrieval page.")
    else:
        name, text = snapshot.record.name, picked.text[:2_000]
        page_frame.page_link("retrieval", "Search this request", catalog=name, q=text)


def _merges(snapshot: Snapshot, rows: Sequence[MergeRow]) -> None:
    """What each merge does to the queries that meet it; one can be taken back."""
    if not rows:
        st.info(
            "No query meets a merge here. Merges are looked at one by one where the toolset *as it "
            "is* is measured against a merged one.",
            icon=":material/call_merge:",
        )
        return
    st.caption(
        "Each merge is left out once, and the queries that meet it are searched again. *gain*: by "
        "how much their nDCG@10 is higher with the merge, added up; below 0 the merge loses."
    )
    picked = cell_tables.chosen_row(
        rows,
        {
            "change": [row.change for row in rows],
            "members": [", ".join(_names(snapshot, row.members)) for row in rows],
            **cell_tables.columns(rows, ["helped", "hurt", "queries", "joins"]),
        },
        "What each merge does",
        {
            "change": st.column_config.NumberColumn("gain", format="%+.3f", width=80),
            "members": ("merged tools", 420),
            "helped": ("won", 60),
            "hurt": ("lost", 60),
            "queries": ("queries it changes", 220),
            "joins": st.column_config.TextColumn(
                "need two of them",
                width=140,
                help="Queries that need two of these tools: perhaps they are not the same job.",
            ),
        },
        most=480,
        key="measured_merges",
    )
    if picked is None:
        st.caption("Select a merge to take it back.")
    else:
        _taken_back(snapshot, picked)


def _names(snapshot: Snapshot, ids: Iterable[str]) -> list[str]:
    """The ids of tools, each after its name where the id does not say it."""
    by_id = snapshot.analysis.catalog.by_id
    return [safe_text.named(one, by_id[one].name) if one in by_id else one for one in ids]


def _taken_back(snapshot: Snapshot, row: MergeRow) -> None:
    names = safe_text.first_few(_names(snapshot, row.members), 4)
    if st.button(
        "Take this merge back",
        icon=":material/undo:",
        key="take_back",
        help="Undoes the decision that accepted it; a merge that nobody decided is kept apart. "
        "History lists the decision, with its undo.",
    ):
        evaluations.take_back(snapshot, row.members, page_frame.reviewer())
        st.toast(f"Taken back: {names}", icon=":material/undo:")
        st.rerun()


def confusions_panel(snapshot: Snapshot) -> None:
    """What is found where another tool is asked for, before the merge, and pairs so confused."""
    experiment = measured(
        snapshot,
        "comparison",
        "Which tools stand in each other's way? Every query is searched in the toolset before the "
        "merge; counted is where it finds another tool above its answer.",
    )
    if experiment is None:
        return
    confusion_matrix_panel(snapshot, experiment.result or {})
    st.subheader("Pairs", anchor=False)
    rows = confusion_rows(experiment.result or {})[:MOST_ROWS]
    if not rows:
        st.caption("No query finds another tool above its answer.")
        return
    st.markdown(f"**{quantity(len(rows), 'pair')}** of tools, the worst first.")
    picked = cell_tables.chosen_row(
        rows,
        {
            "cost": [row.cost for row in rows],
            "left": _names(snapshot, (row.left for row in rows)),
            "right": _names(snapshot, (row.right for row in rows)),
            "queries": [len(row.queries) for row in rows],
            "texts": [row.texts[0] for row in rows],
        },
        "Tools that queries confuse",
        {
            "cost": st.column_config.NumberColumn(
                format="%.2f",
                width=70,
                help="Each query counts 1 divided by the place of the wrong tool: 1 if it came "
                "first, ½ if second.",
            ),
            "left": ("one tool", 250),
            "right": ("the other", 250),
            "queries": 80,
            "texts": ("such as", 360),
        },
        most=480,
        key="confusions",
    )
    if picked is None:
        st.caption("Select a pair to open it on the Overlap page.")
    else:
        pair_link(snapshot, picked.key)
