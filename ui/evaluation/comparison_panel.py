"""Two toolsets under the same queries: figures, queries, merges, and tools that queries confuse."""

from collections.abc import Iterable, Sequence

import streamlit as st

from toolscope_core.model.numbers import listed, quantity
from toolscope_core.model.tool import JsonObject
from ui.evaluation import evaluations
from ui.evaluation.confusion_matrix_panel import confusion_matrix_panel
from ui.evaluation.measure_panel import measured
from ui.shared import data_tables, page_frame, safe_text
from ui.shared.pairs.pair_panel import pair_link
from ui.shared.queries import experiment_tables
from ui.shared.queries.experiment_tables import FigureRow
from ui.shared.services import judging
from ui.shared.services.experiments import MergeRow, confusion_rows, merge_rows
from ui.shared.snapshot import Snapshot

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
            data_tables.draw(bands, "Recall by documentation", key="bands")


def _figure_table(result: JsonObject, rows: Sequence[FigureRow], key: str) -> None:
    data_tables.draw(
        {
            "figure": [row.name for row in rows],
            **data_tables.columns(rows, ["before", "after", "change"]),
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
    picked = data_tables.chosen_row(
        shown,
        {
            "change": [row.change for row in shown],
            "query": [row.text for row in shown],
            **data_tables.columns(shown, ["moved", "id"]),
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
    picked = data_tables.chosen_row(
        rows,
        {
            "change": [row.change for row in rows],
            "members": [", ".join(_names(snapshot, row.members)) for row in rows],
            **data_tables.columns(rows, ["helped", "hurt", "queries", "joins"]),
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
    picked = data_tables.chosen_row(
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
