"""Two toolsets compared on the same queries: figures, queries, merges and confused tools."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import get_args

import streamlit as st

from toolscope_core.evaluation import confusions
from toolscope_core.evaluation.comparison import (
    ComparedQuery,
    Comparison,
    MergeEffect,
    QueryOutcome,
)
from toolscope_core.evaluation.intervals import rate_text
from toolscope_core.evaluation.metrics import SWEPT_METRICS
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.model.numbers import listed, quantity
from toolscope_core.model.pair import Pair, pair_key
from ui.evaluation import evaluations, experiment_tables
from ui.evaluation.experiment_tables import BAND_COLUMNS, FigureRow
from ui.evaluation.measure_panel import measured_result
from ui.shared import data_tables, page_frame, safe_text
from ui.shared.data_tables import Column, Columns
from ui.shared.pairs.pair_panel import pair_link
from ui.shared.services import judging
from ui.shared.snapshot import Snapshot

_MOST_SIDE = 40
"""The maximum number of rows and of columns that are drawn. Tools with the most confused queries
are kept.
"""
ASKED = "expected"


def confusion_matrix_panel(snapshot: Snapshot, result: Comparison) -> None:
    """Draw the matrix of an experiment. Choosing a cell opens its queries below."""
    queries = [one.as_query for one in result.searched]
    rankings = [one.ranking or () for one in result.searched]
    if not queries:
        st.caption("Measure again; this run did not record what each query finds.")
        return
    bar = st.container(horizontal=True, vertical_alignment="center")
    is_joined = bar.toggle(
        "Count equal tools as one",
        key="equal_as_one",
        help="Applies to tools of accepted merges and to members of a family (the same operation "
        "for another provider or value). In the file of cases, each of them counts as right "
        "too.",
    )
    equal = evaluations.equal_tools(snapshot) if is_joined else {}
    tools = snapshot.analysis.catalog.by_id
    cells = confusions.confusion_matrix(queries, rankings, tools, equal)
    cases = confusions.case_rows(queries, rankings, tools, equal)
    bar.download_button(
        "Save as cases",
        "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in cases),
        "cases.jsonl",
        "application/jsonl",
        icon=":material/download:",
        key="save_cases",
        help="One query per line: the tool it should find, other acceptable tools, and the tool "
        "that was found instead. *check --cases* replays them in CI, without a model.",
    )
    wrong = {one: places for one, places in cells.items() if one.is_wrong}
    confused = {place for places in wrong.values() for place in places}
    rate = rate_text(len(queries) - len(confused), len(queries))
    st.markdown(f"Queries that find the expected tool: {safe_text.untrusted(rate)}.")
    cell = _matrix(cells, wrong)
    if cell is None:
        st.caption("Select a cell to read its queries.")
        return
    expected, actual = map(safe_text.untrusted, (cell.expected, cell.actual))
    places = cells.get(cell, ())
    st.markdown(f"Expected **{expected}**, found **{actual}**: {quantity(len(places), 'query')}.")
    if not places:
        return
    columns = [Column[Query]("query", lambda query: query.text), Column[Query]("id")]
    own = [queries[at] for at in places]
    data_tables.draw(own, columns, "Queries in the selected cell", key="cell_queries")
    if cell.is_wrong and {cell.expected, cell.actual} <= tools.keys():
        pair_link(snapshot, pair_key(Pair.of(cell.expected, cell.actual)))


def _matrix(
    cells: Mapping[confusions.Mismatch, Sequence[int]],
    wrong: Mapping[confusions.Mismatch, Sequence[int]],
) -> confusions.Mismatch | None:
    """Draw the matrix of expected tools (down) and found tools (across). Returns
    the chosen cell.
    """
    expected, actual = Counter({confusions.NONE: 0, confusions.NOT_A_TOOL: 0}), Counter[str]()
    for one, places in wrong.items():
        expected[one.expected] += len(places)
        actual[one.actual] += len(places)
    rows, most_instead = _most_frequent(expected), _most_frequent(actual)
    others = dict.fromkeys(one.actual for row in rows for one in wrong if one.expected == row)
    columns = [name for name in others if name in most_instead]
    grid = [[confusions.Mismatch(row, name) for row in rows] for name in columns]
    grid.insert(0, [confusions.Mismatch(row, row) for row in rows])

    def count(column: Sequence[confusions.Mismatch], row: int) -> int | None:
        return len(cells[column[row]]) if column[row] in cells else None

    state = data_tables.draw(
        range(len(rows)),
        [
            Column[int](ASKED, rows.__getitem__, width=240, pinned=True),
            *(
                Column[int](str(number), partial(count, column), title=name, width=110, help=name)
                for number, (name, column) in enumerate(
                    zip(["itself", *columns], grid, strict=True)
                )
            ),
        ],
        "Number of queries, by expected tool and tool found",
        most=640,
        key="confusion_matrix",
        on_select="rerun",
        selection_mode="single-cell",
        placeholder="",
    )
    if len(expected) > len(rows) or len(actual) > len(columns):
        st.caption(f"The {_MOST_SIDE} most confused tools; the file has every query.")
    for row, column in state["selection"]["cells"]:
        if column != ASKED and int(column) < len(grid) and row < len(rows):
            return grid[int(column)][int(row)]
    return None


def _most_frequent(counts: Mapping[str, int]) -> list[str]:
    """The names with the highest counts. Entries that are not tools come last."""
    unnamed = (confusions.NONE, confusions.NOT_A_TOOL)
    order = sorted(counts, key=lambda name: (name not in unnamed, -counts[name], name))[:_MOST_SIDE]
    return sorted(order, key=lambda name: (name in unnamed, name))


_MOST_ROWS = 2_000
MAIN = [f"{metric.title}@10" for metric in SWEPT_METRICS]
"""The metrics that are shown first. The others are under *More figures*."""
CAUTION = (
    "Fewer tools are usually easier to search. A merge pays off only if few queries need two "
    "of its tools and known-good calls still work."
)
NO_CALLS = (
    "No gold calls. With `calls` in the query set, ToolScope also measures how many of them "
    "still run after the merge."
)
_MISSED = "missed"
"""The queries that miss an answer after the merge, whether or not they missed it before."""
_NAMED = 3
_MARKS = {True: "▲ better", False: "▼ worse", None: ""}


def result_panel(snapshot: Snapshot) -> None:
    """Draw both toolsets compared on the same queries, the queries won and lost, and each merge."""
    comparison = measured_result(snapshot, "comparison", Comparison)
    if comparison is None:
        return
    _, result = comparison
    comparison_tables(snapshot, result)
    st.subheader("Merges", anchor=False)
    _merges(snapshot, result.merges)


def comparison_tables(snapshot: Snapshot, result: Comparison) -> None:
    """Draw the figures of both toolsets, and the queries won and lost."""
    _summary(snapshot, result)
    _figures(snapshot, result)
    st.subheader("Queries", anchor=False)
    _queries(snapshot, result)


def _summary(snapshot: Snapshot, result: Comparison) -> None:
    """Show how many queries are won and lost, the merges that lose queries, and whether this may be
    chance.
    """
    lines = [
        (
            f"**{quantity(result.count('won'), 'query')} won**, **{result.count('lost'):,} "
            f"lost**, {result.count('unchanged'):,} unchanged, by how high their answers rank "
            "(nDCG@10)."
        )
    ]
    losing = [row for row in result.merges if row.change < 0]
    if losing:
        verb = "loses" if len(losing) == 1 else "lose"
        names = [safe_text.first_few(_names(snapshot, row.members), 4) for row in losing]
        costs = [f"{name} ({row.change:+.3f})" for name, row in zip(names, losing, strict=True)]
        lines.append(
            f"**{quantity(len(losing), 'merge')} {verb}** nDCG: {listed(costs, 3, between='; ')}."
        )
    elif result.merges:
        lines.append("No single merge makes the search worse.")
    is_moved = any(one.mean for one in result.changes.values())
    if is_moved and min(result.p.values(), default=1.0) >= experiment_tables.SIGNIFICANT:
        lines.append("None of the changes in finding tools is larger than chance could explain.")
    st.markdown("  \n".join(lines))


def _figures(snapshot: Snapshot, result: Comparison) -> None:
    """Draw the size, tokens, gold calls and metrics of both toolsets."""
    rows = experiment_tables.figure_rows(result)
    main = [row for row in rows if "@" not in row.name or row.name in MAIN]
    more = [row for row in rows if row not in main]
    _figure_table(result, main, "figures")
    st.caption(f"{experiment_tables.in_words(row.name for row in main)} {CAUTION}")
    if not result.before.calls:
        st.caption(NO_CALLS)
    grades = judging.grades(snapshot)
    bands = experiment_tables.band_rows(result, grades)
    with st.expander("More figures", icon=":material/table_rows:"):
        _figure_table(result, more, "more_figures")
        st.caption(experiment_tables.in_words(row.name for row in more))
        if bands:
            st.markdown("**By documentation**")
            data_tables.draw(bands, BAND_COLUMNS, "Recall by kind of description", key="bands")


def _figure_table(result: Comparison, rows: Sequence[FigureRow], key: str) -> None:
    columns: Columns[FigureRow] = [
        Column("figure", lambda row: row.name, width=220),
        Column("before", title=result.before.name, width=150),
        Column("after", title=result.after.name, width=150),
        Column(
            "change", width=165, help="With the 95 % interval of the difference, paired by query."
        ),
        Column(
            "p",
            lambda row: f"{row.p} {_MARKS[row.better]}".strip(),
            width=105,
            help="How often chance alone would produce such a change: paired bootstrap over the "
            "queries, corrected for the number of figures (Holm). Better or worse is stated "
            "below .05; empty if nothing changed.",
        ),
    ]
    data_tables.draw(rows, columns, "Figures of both toolsets", key=key, height="content")


def _change_in_words(row: ComparedQuery) -> str:
    """The answers whose place has changed, with the old and the new place."""
    moves = zip(row.gold, row.places_before, row.places_after, strict=True)
    return "; ".join(
        f"{old or '-'} → {new or '-'} {need[0]}{' or another' if len(need) > 1 else ''}"
        for need, old, new in moves
        if old != new
    )


def _missing(row: ComparedQuery) -> list[str]:
    """The answers that are not among the first places after the merge."""
    needs = zip(row.gold, row.places_after, strict=True)
    return [" or ".join(need[:_NAMED]) for need, place in needs if place is None]


def _places(places: Sequence[int | None]) -> str:
    return ", ".join(str(place or "-") for place in places)


QUERIES: Columns[ComparedQuery] = [
    Column("change", title="nDCG", format="%+.3f", width=80),
    Column("query", width=380),
    Column(
        "before",
        lambda row: _places(row.places_before),
        title="ranks before",
        width=95,
        help="The ranks of its answers, in their order; - means not among the first 10.",
    ),
    Column("after", lambda row: _places(row.places_after), title="after", width=75),
    Column("missing", lambda row: ", ".join(_missing(row)), title="not found", width=200),
    Column(
        "moved",
        _change_in_words,
        title="answers that moved",
        width=320,
        help="Rank before → after, and the tool; - means not among the first 10.",
    ),
    Column("id", width=120),
]


def _queries(snapshot: Snapshot, result: Comparison) -> None:
    """Draw every query, with the places of its answers before and after the merge."""
    missed = [one for one in result.queries if _missing(one)]
    counts = {outcome: result.count(outcome) for outcome in get_args(QueryOutcome)}
    counts |= {_MISSED: len(missed)}
    change = st.segmented_control(
        "Outcome",
        list(counts),
        default=next((one for one in ("lost", "won", _MISSED) if counts[one]), "won"),
        required=True,
        key="outcome",
        bind="query-params",
        format_func=lambda outcome: f"{outcome} ({counts[outcome]:,})",
        label_visibility="collapsed",
    )
    is_missed = change == _MISSED
    rows = missed if is_missed else [one for one in result.queries if one.outcome == change]
    rows.sort(key=lambda one: (-abs(one.change), one.id))
    if not rows:
        st.caption("None.")
        return
    alt = f"Queries: {change}"
    query = data_tables.chosen_row(rows[:_MOST_ROWS], QUERIES, alt, most=480, key="queries")
    if len(rows) > _MOST_ROWS:
        st.caption(f"The first {_MOST_ROWS:,} of {quantity(len(rows), 'query')}.")
    if query is None:
        st.caption("Select a query to try it on the Retrieval page.")
    else:
        name, text = snapshot.record.name, query.query[:2_000]
        page_frame.page_link(
            "retrieval", "Try this query on the Retrieval page", catalog=name, q=text
        )


def _merges(snapshot: Snapshot, rows: Sequence[MergeEffect]) -> None:
    """Draw the effect of each merge on the queries that involve it, with a button
    to undo a merge.
    """
    if not rows:
        st.info(
            "No query needs a merged tool here. To look at merges one by one, compare the "
            "toolset *as it is* with a merged one.",
            icon=":material/call_merge:",
        )
        return
    st.caption(
        "Each merge is left out in turn, and the queries that need its tools are searched again. "
        "*gain*: by how much the sum of the queries' nDCG@10 is higher with the merge; below 0, "
        "the merge makes the search worse."
    )
    columns: Columns[MergeEffect] = [
        Column("change", title="gain", format="%+.3f", width=80),
        Column(
            "members",
            lambda row: ", ".join(_names(snapshot, row.members)),
            title="merged tools",
            width=420,
        ),
        Column("helped", title="won", width=60),
        Column("hurt", title="lost", width=60),
        Column(
            "queries",
            lambda row: listed(row.changed_queries, 5),
            title="queries that it changes",
            width=220,
        ),
        Column(
            "joins",
            lambda row: listed(row.joins, 5),
            title="need two of the tools",
            width=140,
            help="Queries that need two of these tools: perhaps the tools do not do the same job.",
        ),
    ]
    alt = "Effect of each merge"
    merge = data_tables.chosen_row(rows, columns, alt, most=480, key="measured_merges")
    if merge is None:
        st.caption("Select a merge to undo it.")
    else:
        _taken_back(snapshot, merge)


def _names(snapshot: Snapshot, ids: Iterable[str]) -> list[str]:
    """The ids of the tools. Each follows the tool's name unless the id contains the name."""
    return [_name(snapshot, one) for one in ids]


def _name(snapshot: Snapshot, tool_id: str) -> str:
    tool = snapshot.analysis.catalog.by_id.get(tool_id)
    return safe_text.named_tool(tool_id, tool.name) if tool else tool_id


def _taken_back(snapshot: Snapshot, row: MergeEffect) -> None:
    names = safe_text.first_few(_names(snapshot, row.members), 4)
    if st.button(
        "Undo this merge",
        icon=":material/undo:",
        key="take_back",
        help="Undoes the decision that accepted the merge. If nobody decided on it, its tools are "
        "kept apart. The decision is listed in History and can be undone there.",
    ):
        evaluations.take_back(snapshot, row.members, page_frame.reviewer())
        st.toast(f"Undone: {names}", icon=":material/undo:")
        st.rerun()


def confusions_panel(snapshot: Snapshot) -> None:
    """Draw the tools that were found instead of the expected one before the merge, and the pairs
    that are confused.
    """
    comparison = measured_result(
        snapshot,
        "comparison",
        Comparison,
        "Which tools compete with each other? Every query is searched in the toolset before the "
        "merge; a query counts as a confusion if another tool ranks above the right one.",
    )
    if comparison is None:
        return
    _, result = comparison
    confusion_matrix_panel(snapshot, result)
    st.subheader("Pairs", anchor=False)
    rows = result.confusions[:_MOST_ROWS]
    if not rows:
        st.caption("In no query does another tool rank above the right one.")
        return
    st.markdown(f"**{quantity(len(rows), 'pair')}** of tools, worst first.")
    texts = {one.id: one.query for one in result.queries}
    columns: Columns[confusions.PairConfusion] = [
        Column(
            "cost",
            format="%.2f",
            width=70,
            help="Each query counts as 1 divided by the rank of the wrong tool: 1 if that tool "
            "came first, ½ if second.",
        ),
        Column("left", lambda row: _name(snapshot, row.left), title="one tool", width=250),
        Column("right", lambda row: _name(snapshot, row.right), title="the other", width=250),
        Column("queries", lambda row: len(row.queries), width=80),
        Column("texts", lambda row: texts[row.queries[0]], title="such as", width=360),
    ]
    alt = "Tools that queries confuse"
    confusion = data_tables.chosen_row(rows, columns, alt, most=480, key="confusions")
    if confusion is None:
        st.caption("Select a pair to open it on the Overlap page.")
    else:
        pair_link(snapshot, pair_key(confusion.pair))
