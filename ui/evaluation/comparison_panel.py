"""Two toolsets under the same queries: figures, queries, merges, and tools that queries confuse."""

from __future__ import annotations

import streamlit as st

from toolscope_core.model.numbers import quantity
from toolscope_core.model.plan import Experiment
from ui.evaluation.evaluations import Evaluations
from ui.shared import page_frame, safe_text
from ui.shared.pairs.pair_panel import pair_link
from ui.shared.queries.experiment_tables import (
    QueryRow,
    band_rows,
    figure_rows,
    outcomes,
    query_rows,
)
from ui.shared.services.experiments import MergeRow, confusion_rows, merge_rows
from ui.shared.services.judging import Judging

MOST_ROWS = 2_000
MOST_LINKED = 25
MARKS = {True: "▲ better", False: "▼ worse", None: ""}


def figures_panel(experiment: Experiment) -> None:
    """Size, tokens, gold calls and metrics of both toolsets."""
    result = experiment.result or {}
    counts = outcomes(result)
    before, after = result["before"], result["after"]
    st.markdown(
        f"**{counts['won']}** queries won, **{counts['lost']}** lost, "
        f"**{counts['unchanged']}** unchanged, by nDCG@10."
    )
    rows = figure_rows(result)
    st.dataframe(
        {
            "figure": [row.name for row in rows],
            **safe_text.columns(rows, ["before", "after", "change", "p"]),
            "": [MARKS[row.better] for row in rows],
        },
        key="figures",
        hide_index=True,
        height="content",
        column_config={
            "figure": st.column_config.TextColumn(width=250),
            "before": st.column_config.TextColumn(before["name"], width=165),
            "after": st.column_config.TextColumn(after["name"], width=165),
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
    st.caption(
        "In brackets the 95 % interval over the queries. Fewer tools are mostly easier to search: "
        "a merge is good only if queries that need two of its tools stay rare and gold calls run."
    )
    bands = band_rows(result, page_frame.service(Judging).grades(page_frame.current().id))
    if bands:
        st.subheader("By documentation", anchor=False)
        st.dataframe(bands, key="bands", hide_index=True, alt="Recall by grade of documentation")
    if not before["calls"]:
        st.caption(
            "No gold calls: with `calls` in the query set, ToolScope also measures how many of "
            "them still run after the merge."
        )


def queries_panel(experiment: Experiment) -> None:
    """Every query, with where its answers stood and stand."""
    result = experiment.result or {}
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


def merges_panel(experiment: Experiment) -> None:
    """What each merge does to the queries that meet it; one can be taken back."""
    result = experiment.result or {}
    rows = merge_rows(result)
    if not rows:
        st.info(
            "No query meets a merge here. Merges are looked at one by one where the toolset *as it "
            "is* is measured against a merged one.",
            icon=":material/call_merge:",
        )
        return
    st.caption(
        "Each merge left out in turn: how much nDCG@10 its queries gain by it in sum, that which "
        "harms most first. Queries that meet no merge are not searched again."
    )
    event = st.dataframe(
        {
            "change": [row.change for row in rows],
            "members": [", ".join(map(_named, row.members)) for row in rows],
            **safe_text.columns(rows, ["helped", "hurt", "queries", "joins"]),
        },
        key="measured_merges",
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        column_config={
            "change": st.column_config.NumberColumn("gain", format="%+.3f", width=80),
            "members": st.column_config.TextColumn("merged tools", width=420),
            "helped": st.column_config.NumberColumn(width=70),
            "hurt": st.column_config.NumberColumn(width=60),
            "queries": st.column_config.TextColumn("queries it changes", width=220),
            "joins": st.column_config.TextColumn(
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


def confusions_panel(experiment: Experiment) -> None:
    """The pairs of tools that queries confuse before the merge."""
    rows = confusion_rows(experiment.result or {})
    if not rows:
        st.caption("No query finds another tool before its answer.")
        return
    st.caption(
        "Where a query finds the first tool before the second, which is its answer, or the other "
        "way round. *cost* adds up 1 / the place of the tool that stands in the way."
    )
    for row in rows[:MOST_LINKED]:
        with st.container(horizontal=True, vertical_alignment="center"):
            pair_link(row.key)
            count = f", and {len(row.queries) - 1:,} more" if len(row.queries) > 1 else ""
            st.markdown(
                f"**{row.cost:.2f}** · **{safe_text.untrusted(_named(row.left))}** and "
                f"**{safe_text.untrusted(_named(row.right))}** · "
                f"“{safe_text.untrusted(row.texts[0][:90])}”{count}"
            )
    if len(rows) > MOST_LINKED:
        st.caption(f"And {len(rows) - MOST_LINKED:,} more; all are in the JSON of the experiment.")
