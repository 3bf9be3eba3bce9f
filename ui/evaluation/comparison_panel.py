"""Two toolsets under the same queries: figures, queries, merges, and tools that queries confuse."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from toolscope_core.model.numbers import listed, quantity
from toolscope_core.model.tool import JsonObject
from ui.evaluation.evaluations import Evaluations
from ui.evaluation.measure_panel import measured
from ui.shared import page_frame, safe_text
from ui.shared.pairs.pair_panel import pair_link
from ui.shared.queries.experiment_tables import (
    SIGNIFICANT,
    FigureRow,
    QueryRow,
    band_rows,
    figure_rows,
    in_words,
    outcomes,
    query_rows,
)
from ui.shared.services.experiments import MergeRow, confusion_rows, merge_rows
from ui.shared.services.judging import Judging

MOST_ROWS = 2_000
MAIN = ("recall@10", "nDCG@10", "CSR@10")
"""The measures that stand first; the others wait under *More figures*."""
MARKS = {True: "▲ better", False: "▼ worse", None: ""}


def result_panel(catalog_id: int) -> None:
    """Both toolsets under the same queries, the queries won and lost, and each merge."""
    experiment = measured(catalog_id, "comparison")
    if experiment is None:
        return
    result = experiment.result or {}
    merges = merge_rows(result)
    _summary(result, merges)
    _figures(result)
    st.subheader("Queries", anchor=False)
    _queries(result)
    st.subheader("Merges", anchor=False)
    _merges(merges)


def _summary(result: JsonObject, merges: Sequence[MergeRow]) -> None:
    """How many queries won and lost, which merges lose, and whether that is more than chance."""
    counts = outcomes(result)
    lines = [
        f"**{quantity(counts['won'], 'query')} won**, **{counts['lost']:,} lost**, "
        f"{counts['unchanged']:,} unchanged, by how high their answers stand (nDCG@10)."
    ]
    losing = [row for row in merges if row.change < 0]
    if losing:
        verb = "loses" if len(losing) == 1 else "lose"
        names = listed(
            [f"{safe_text.untrusted(_members(row))} (nDCG {row.change:+.3f})" for row in losing],
            3,
            between="; ",
        )
        lines.append(f"**{quantity(len(losing), 'merge')} {verb}**: {names}.")
    elif merges:
        lines.append("No single merge loses.")
    is_moved = any(one["mean"] for one in result["changes"].values())
    if is_moved and min(result["p"].values(), default=1.0) >= SIGNIFICANT:
        lines.append("None of the changes in finding tools is larger than chance alone may show.")
    st.markdown("  \n".join(lines))


def _figures(result: JsonObject) -> None:
    """Size, tokens, gold calls and metrics of both toolsets."""
    rows = figure_rows(result)
    main = [row for row in rows if "@" not in row.name or row.name in MAIN]
    more = [row for row in rows if row not in main]
    _figure_table(result, main, "figures")
    st.caption(
        f"{in_words(row.name for row in main)} Fewer tools are mostly easier to search: a merge is "
        "good only if queries that need two of its tools stay rare and gold calls run."
    )
    if not result["before"]["calls"]:
        st.caption(
            "No gold calls: with `calls` in the query set, ToolScope also measures how many of "
            "them still run after the merge."
        )
    bands = band_rows(result, page_frame.service(Judging).grades(page_frame.current().id))
    with st.expander("More figures", icon=":material/table_rows:"):
        _figure_table(result, more, "more_figures")
        st.caption(in_words(row.name for row in more))
        if bands:
            st.markdown("**By documentation**")
            st.dataframe(bands, key="bands", hide_index=True, alt="Recall by documentation")


def _figure_table(result: JsonObject, rows: Sequence[FigureRow], key: str) -> None:
    st.dataframe(
        {
            "figure": [row.name for row in rows],
            **safe_text.columns(rows, ["before", "after", "change", "p"]),
            "": [MARKS[row.better] for row in rows],
        },
        key=key,
        hide_index=True,
        height="content",
        column_config={
            "figure": st.column_config.TextColumn(width=250),
            "before": st.column_config.TextColumn(result["before"]["name"], width=165),
            "after": st.column_config.TextColumn(result["after"]["name"], width=165),
            "change": st.column_config.TextColumn(
                width=180, help="With the 95 % interval of the difference, paired by query."
            ),
            "p": st.column_config.TextColumn(
                width=60,
                help="How often chance alone would show such a change: paired bootstrap over the "
                "queries, corrected for the number of figures (Holm). Empty where nothing changed.",
            ),
            "": st.column_config.TextColumn(width=90, help="Where p is below .05."),
        },
        alt="The figures of both toolsets",
    )


def _queries(result: JsonObject) -> None:
    """Every query, with where its answers stood and stand."""
    counts = outcomes(result)
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
    rows = query_rows(result, chosen)
    if not rows:
        st.caption("None.")
        return
    event = st.dataframe(
        {
            "query": [row.text for row in rows[:MOST_ROWS]],
            **safe_text.columns(rows[:MOST_ROWS], ["moved", "change", "id"]),
        },
        key="queries",
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        column_config={
            "query": st.column_config.TextColumn(width=430),
            "moved": st.column_config.TextColumn(
                "answers that moved",
                width=300,
                help="Place before → after, and the tool; - is not among the first 10.",
            ),
            "change": st.column_config.NumberColumn("nDCG", format="%+.3f", width=80),
            "id": st.column_config.TextColumn(width=120),
        },
        alt=f"Queries: {chosen}",
    )
    if len(rows) > MOST_ROWS:
        st.caption(f"The first {MOST_ROWS:,} of {quantity(len(rows), 'query')}.")
    picked = event.selection.rows
    if picked and picked[0] < len(rows):
        _searched(rows[picked[0]])
    else:
        st.caption("Select a query to try it on the Retrieval page.")


def _searched(row: QueryRow) -> None:
    st.page_link(
        "pages/retrieval.py",
        label="Search this request",
        icon=":material/search:",
        query_params={"catalog": page_frame.current().name, "q": row.text[:2_000]},
    )


def _merges(rows: Sequence[MergeRow]) -> None:
    """What each merge does to the queries that meet it; one can be taken back."""
    if not rows:
        st.info(
            "No query meets a merge here. Merges are looked at one by one where the toolset *as it "
            "is* is measured against a merged one.",
            icon=":material/call_merge:",
        )
        return
    st.caption(
        "Each merge is left out once, and the queries that meet it are searched again. *gain* adds "
        "up the nDCG@10 that they have with the merge and not without it; below 0 it loses."
    )
    event = st.dataframe(
        {
            "change": [row.change for row in rows],
            "members": [_members(row) for row in rows],
            **safe_text.columns(rows, ["helped", "hurt", "queries", "joins"]),
        },
        key="measured_merges",
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        column_config={
            "change": st.column_config.NumberColumn("gain", format="%+.3f", width=80),
            "members": st.column_config.TextColumn("merged tools", width=420),
            "helped": st.column_config.NumberColumn("won", width=60),
            "hurt": st.column_config.NumberColumn("lost", width=60),
            "queries": st.column_config.TextColumn("queries it changes", width=220),
            "joins": st.column_config.TextColumn(
                "need two of them",
                width=140,
                help="Queries that need two of these tools: perhaps they are not the same job.",
            ),
        },
        alt="What each merge does",
    )
    picked = event.selection.rows
    if picked and picked[0] < len(rows):
        _taken_back(rows[picked[0]])
    else:
        st.caption("Select a merge to take it back.")


def _named(tool_id: str) -> str:
    """The id of a tool, after its name where the id does not say it."""
    tool = page_frame.analysis().catalog.by_id.get(tool_id)
    return tool_id if tool is None or tool.name in tool_id else f"{tool.name} ({tool_id})"


def _members(row: MergeRow) -> str:
    return ", ".join(map(_named, row.members))


def _taken_back(row: MergeRow) -> None:
    names = ", ".join(safe_text.untrusted(_named(name)) for name in row.members[:4])
    if st.button(
        "Take this merge back",
        icon=":material/undo:",
        key="take_back",
        help="Undoes the decision that accepted it; a merge that nobody decided is kept apart. "
        "History lists the decision, with its undo.",
    ):
        work, record = page_frame.workspace(), page_frame.current()
        work.service(Evaluations).take_back(record.id, row.members, page_frame.reviewer())
        st.toast(f"Taken back: {names}", icon=":material/undo:")
        st.rerun()


def confusions_panel(catalog_id: int) -> None:
    """The pairs of tools that queries confuse before the merge."""
    experiment = measured(
        catalog_id,
        "comparison",
        "Which tools stand in each other's way? Every query is searched in the toolset before the "
        "merge; counted is where it finds another tool above its answer.",
    )
    if experiment is None:
        return
    rows = confusion_rows(experiment.result or {})[:MOST_ROWS]
    if not rows:
        st.caption("No query finds another tool above its answer.")
        return
    st.markdown(f"**{quantity(len(rows), 'pair')}** of tools, the worst first.")
    event = st.dataframe(
        {
            "cost": [row.cost for row in rows],
            "left": [_named(row.left) for row in rows],
            "right": [_named(row.right) for row in rows],
            "queries": [len(row.queries) for row in rows],
            "texts": [row.texts[0] for row in rows],
        },
        key="confusions",
        hide_index=True,
        height=min(640, 38 + 35 * len(rows)),
        on_select="rerun",
        selection_mode="single-row",
        column_config={
            "cost": st.column_config.NumberColumn(
                format="%.2f",
                width=70,
                help="For each query 1 / the place of the wrong tool, added up: 1 for one that "
                "stands first.",
            ),
            "left": st.column_config.TextColumn("one tool", width=250),
            "right": st.column_config.TextColumn("the other", width=250),
            "queries": st.column_config.NumberColumn(width=80),
            "texts": st.column_config.TextColumn("such as", width=360),
        },
        alt="Tools that queries confuse",
    )
    picked = event.selection.rows
    if picked and picked[0] < len(rows):
        pair_link(rows[picked[0]].key)
    else:
        st.caption("Select a pair to open it on the Overlap page.")
