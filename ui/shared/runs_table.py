"""The runs of a model as a table: the task, how each run ended, and its cost."""

import streamlit as st

from toolscope_core.llm.model_requests import IN_THEIR_WORDS
from toolscope_core.model.numbers import quantity
from toolscope_core.store.runs import ModelRun
from ui.shared import data_tables, pictures, safe_text
from ui.shared.data_tables import Column, Columns
from ui.shared.services import judging
from ui.shared.snapshot import Snapshot

_KINDS = {
    "judge": "verdicts and audits",
    "documents": "wording of merged tools",
    "quality": "documentation quality",
    "variants": "document variants",
    "plan": "plans of requests",
    "siblings": "similar tools told apart",
    "namespaces": "descriptions of namespaces",
    "queries": "generated queries",
    "calls": "calls to compare tools",
    "agent": "agent runs",
    "experiment": "tools of an experiment",
}


def runs_panel(snapshot: Snapshot) -> None:
    """Draw the runs on this catalog (or on all catalogs), newest first."""
    all_catalogs = st.toggle("All catalogs", key="every_catalog", persist_state="session")
    runs = judging.runs(snapshot, of_all=all_catalogs)
    if not runs:
        st.info(
            "No model runs yet. Set up a model in Settings, then start a run in Review.",
            icon=":material/history:",
        )
        return
    names = {one.id: name for name, one in snapshot.newest.items()}
    columns: Columns[ModelRun] = [
        Column("started", lambda run: safe_text.clock(run.started_at)),
        Column("catalog", lambda run: names.get(run.catalog_id, "an earlier version")),
        Column("asked", lambda run: _KINDS.get(run.kind, run.kind), title="task"),
        Column("model", model_at),
        Column("state"),
        Column("calls"),
        Column("questions"),
        Column("tokens_in", title="tokens in"),
        Column("tokens_out", title="tokens out"),
        Column(
            "counted", lambda run: "reported" if run.counted else "estimated", title="token counts"
        ),
        Column("cost", format="%.4f"),
        Column("ended", lambda run: safe_text.clock(run.ended_at)),
        Column("why", lambda run: run.message, title="message", width=420),
    ]
    costs = [run.cost for run in runs if run.cost is not None]
    st.caption(
        f"Runs: {len(runs):,}. Calls: {sum(run.calls for run in runs):,}. Tokens: "
        f"{sum(run.tokens_in + run.tokens_out for run in runs):,}."
        + (f" Cost: {sum(costs):,.4f}." if any(costs) else "")
        + " A resumed run keeps its line. Answers that were already stored cost nothing."
    )
    data_tables.draw(runs, columns, "Model runs")
    rows = data_tables.records(runs, columns)
    for row in rows:
        if row["cost"] is None:  # a call without a price
            row["cost"] = ""
    with st.container(horizontal=True):
        pictures.downloads(rows, "runs")


def model_at(run: ModelRun) -> str:
    """The model that was asked and its host. If the prompts were not ours, it also says whose they
    were.
    """
    configuration = run.configuration
    wording = IN_THEIR_WORDS if configuration.get("wording") else ""
    return f"{configuration['model']} at {configuration['origin'].partition('://')[2]}{wording}"


def in_one_line(run: ModelRun) -> str:
    """A run on one line, as plain text."""
    calls = quantity(run.calls, "call")
    return f"{model_at(run)}, {run.state}, {safe_text.clock(run.started_at)}, {calls}"
