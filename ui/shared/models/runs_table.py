"""Model runs as a table: the task, how each ended, what it cost."""

import streamlit as st

from toolscope_core.model.numbers import quantity
from toolscope_core.store.runs import ModelRun
from ui.shared import cell_tables, safe_text
from ui.shared.charts import pictures
from ui.shared.charts.pictures import TableRow
from ui.shared.services import judging
from ui.shared.snapshot import Snapshot

KINDS = {
    "judge": "verdicts and audits",
    "documents": "wording of merged tools",
    "quality": "documentation quality",
    "variants": "document variants",
    "plan": "plans of requests",
    "siblings": "siblings told apart",
    "namespaces": "descriptions of namespaces",
    "queries": "generated queries",
    "agent": "agent runs",
}
TITLES = {
    "asked": "task",
    "tokens_in": "tokens in",
    "tokens_out": "tokens out",
    "counted": "token counts",
}


def runs_panel(snapshot: Snapshot) -> None:
    """Draw the runs on this catalog, or all, the newest first."""
    every = st.toggle("All catalogs", key="every_catalog", persist_state="session")
    runs = judging.runs(snapshot, of_all=every)
    if not runs:
        st.info(
            "No model runs yet. Set up a model in Settings, then start a run in Review.",
            icon=":material/history:",
        )
        return
    names = {one.id: name for name, one in snapshot.newest.items()}
    rows = [row_of(run, names.get(run.catalog_id, "an earlier version")) for run in runs]
    costs = [run.cost for run in runs if run.cost is not None]
    st.caption(
        f"Runs: {len(runs):,}. Calls: {sum(run.calls for run in runs):,}. Tokens: "
        f"{sum(run.tokens_in + run.tokens_out for run in runs):,}."
        + (f" Cost: {sum(costs):,.4f}." if any(costs) else "")
        + " A resumed run keeps its line. Answers that were already stored cost nothing."
    )
    cell_tables.draw(
        rows,
        "Model runs",
        {**TITLES, "cost": st.column_config.NumberColumn(format="%.4f"), "why": ("message", 420)},
    )
    with st.container(horizontal=True):
        pictures.downloads([_without_none(row) for row in rows], "runs")


def row_of(run: ModelRun, catalog: str) -> dict[str, str | float | int | None]:
    """A run as a line; the cost is ``None`` where a call had no price."""
    return {
        "started": safe_text.clock(run.started_at),
        "catalog": catalog,
        "asked": KINDS.get(run.kind, run.kind),
        "model": model_at(run),
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


def _without_none(row: dict[str, str | float | int | None]) -> TableRow:
    return {name: "" if value is None else value for name, value in row.items()}


def model_at(run: ModelRun) -> str:
    """The model that was asked, and where."""
    configuration = run.configuration
    return f"{configuration['model']} at {configuration['origin'].partition('://')[2]}"


def in_one_line(run: ModelRun) -> str:
    """A run in one line, as plain text."""
    calls = quantity(run.calls, "call")
    return f"{model_at(run)}, {run.state}, {safe_text.clock(run.started_at)}, {calls}"
