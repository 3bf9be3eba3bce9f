"""Runs of models as a table: what each asked, how it ended, what it cost."""

from __future__ import annotations

import streamlit as st

from toolscope_core.figures.table_twins import TableRow
from toolscope_core.numbers import quantity
from toolscope_core.workspace.judging import ModelRun
from ui.charts import pictures
from ui.frame import page_frame, safe_text

KINDS = {
    "judge": "verdicts and audits",
    "documents": "words for merged tools",
    "quality": "documentation quality",
}
TITLES = {"tokens_in": "tokens in", "tokens_out": "tokens out"}


def runs_panel() -> None:
    """The runs on this catalog, or all, the newest first."""
    record = page_frame.current()
    every = st.toggle("All catalogs", key="every_catalog", persist_state="session")
    runs = page_frame.workspace().judging.runs(None if every else record.id)
    if not runs:
        st.info(
            "No model was asked yet. Choose one on the Settings page, then ask it on the Review "
            "page.",
            icon=":material/history:",
        )
        return
    names = {one.id: one.name for one in page_frame.workspace().catalogs.newest()}
    rows = [row_of(run, names.get(run.catalog_id, "an earlier version")) for run in runs]
    spent = [run.cost for run in runs if run.cost is not None]
    st.caption(
        f"Runs: {len(runs):,}. Calls: {sum(run.calls for run in runs):,}. Tokens: "
        f"{sum(run.tokens_in + run.tokens_out for run in runs):,}."
        + (f" Money: {sum(spent):,.4f}." if any(spent) else "")
        + " A run that is asked again goes on in its own line. Answers that the store held cost "
        "nothing."
    )
    st.dataframe(
        rows,
        hide_index=True,
        column_config={
            **TITLES,
            "cost": st.column_config.NumberColumn(format="%.4f"),
            "why": st.column_config.TextColumn(width=420),
        },
        alt="Runs of models",
    )
    with st.container(horizontal=True):
        priced = [{**row, "cost": "" if row["cost"] is None else row["cost"]} for row in rows]
        pictures.downloads(priced, "runs")


def row_of(run: ModelRun, catalog: str) -> TableRow:
    """A run as a line; no cost where a call had no price."""
    return {
        "started": safe_text.clock(run.started_at),
        "catalog": catalog,
        "asked": KINDS.get(run.kind, run.kind),
        "model": who(run),
        "state": run.state,
        "calls": run.calls,
        "questions": run.questions,
        "tokens_in": run.tokens_in,
        "tokens_out": run.tokens_out,
        "counted": "reported" if run.counted else "estimated",
        "cost": run.cost,
        "ended": safe_text.clock(run.ended_at),
        "why": run.message,
    }


def who(run: ModelRun) -> str:
    """The model that was asked, and where."""
    told = run.configuration
    return f"{told['model']} at {told['origin'].partition('://')[2]}"


def named(run: ModelRun) -> str:
    """A run in one line, as plain text."""
    return (
        f"{who(run)}, {run.state}, {safe_text.clock(run.started_at)}, {quantity(run.calls, 'call')}"
    )
