"""Experiments beyond before and after, and those that are kept: opened, compared, exported."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from toolscope_core.evaluation.metrics import METRIC_NAMES, SWEPT_METRICS
from toolscope_core.model.plan import Experiment
from toolscope_core.model.tool import JsonObject
from toolscope_core.store.experiment_rows import delete_experiment
from ui.evaluation import evaluations, experiment_tables
from ui.evaluation.agent_panel import agent_panel
from ui.evaluation.evaluations import Kind
from ui.evaluation.measure_panel import described, knob_name, measured
from ui.shared import cell_tables, safe_text
from ui.shared.charts import pictures
from ui.shared.charts.pictures import PALETTE, picture
from ui.shared.services import experiments
from ui.shared.snapshot import Snapshot

HEIGHT = 360
DASHES = {"random": "dot", "closest": "solid"}
SHARES = {
    "reduction": "smaller by",
    "tccr": "gold calls that run (TCCR)",
    "ucc": "capabilities kept (UCC)",
}


def sweep_lines(points: Sequence[JsonObject], title: str) -> go.Figure:
    """What each value gives: recall and nDCG with their intervals; the share of tools saved and of
    gold calls kept where they change.
    """
    values = [point["value"] for point in points]
    traces = [
        _line(values, [point["metrics"][key] for point in points], METRIC_NAMES[key], PALETTE[at])
        for at, key in enumerate(SWEPT_METRICS)
    ]
    for at, (key, name) in enumerate(SHARES.items(), len(SWEPT_METRICS)):
        shares = [point[key] for point in points]
        if all(share is not None for share in shares) and any(shares):
            traces.append(_trace(values, shares, name, PALETTE[at], "dash"))
    return _figure(traces, title, {"range": [0, 1.02]})


def stress_lines(toolsets: Mapping[str, Sequence[JsonObject]]) -> go.Figure:
    """Recall by the number of distractors, for each toolset and kind of noise."""
    traces = [
        _line(
            [point["distractors"] for point in points if point["noise"] == noise],
            [point["recall"] for point in points if point["noise"] == noise],
            f"{pictures.label(name)}, {noise}",
            PALETTE[at % len(PALETTE)],
            dash,
        )
        for at, (name, points) in enumerate(toolsets.items())
        for noise, dash in DASHES.items()
    ]
    return _figure(traces, "distractors a query", {"title": "recall", "range": [0, 1.02]})


def _line(
    x: Sequence[float],
    intervals: Sequence[Mapping[str, float]],
    name: str,
    color: str,
    dash: str = "solid",
) -> go.Scatter:
    means = [one["mean"] for one in intervals]
    errors = {
        "type": "data",
        "symmetric": False,
        "array": [one["high"] - one["mean"] for one in intervals],
        "arrayminus": [one["mean"] - one["low"] for one in intervals],
        "thickness": 1,
        "width": 3,
    }
    hover = "%{x}: %{y:.3f}<extra></extra>"
    return _trace(x, means, name, color, dash).update(error_y=errors, hovertemplate=hover)


def _trace(x: Sequence[float], y: Sequence[float], name: str, color: str, dash: str) -> go.Scatter:
    line = {"color": color, "dash": dash}
    return go.Scatter(x=list(x), y=list(y), name=name, mode="lines+markers", line=line)


def _figure(traces: Sequence[go.Scatter], x: str, y: Mapping[str, Any]) -> go.Figure:
    figure = pictures.figure(list(traces), height=HEIGHT)
    figure.update_layout(
        xaxis={"title": x, "showgrid": True}, yaxis={**y, "showgrid": True}, legend=pictures.LEGEND
    )
    return figure


def experiments_panel(snapshot: Snapshot) -> None:
    """The experiment that is chosen; the kept ones are a choice too."""
    part = st.segmented_control(
        "Experiment",
        list(PARTS),
        default="Stress",
        required=True,
        key="experiment",
        bind="query-params",
        label_visibility="collapsed",
    )
    PARTS[part](snapshot)


def _series(kind: Kind, snapshot: Snapshot) -> None:
    """What was measured at each level, value or combination of parts: a picture, if there is one
    of it, and a table.
    """
    experiment = measured(snapshot, kind)
    if experiment is None or experiment.result is None:
        return
    result, rows = experiment.result, ROWS[kind](experiment.result)
    if kind == "stress":
        figure, name = stress_lines(result["toolsets"]), "Recall among distractors"
        picture(figure, lambda: rows, kind, name)
    elif kind == "sweep":
        knob = knob_name(experiment)
        picture(sweep_lines(result["points"], knob), lambda: rows, kind, f"Sweep: {knob}")
    else:
        cell_tables.draw(rows, VIEWS[kind], key=f"{kind}_rows")
    st.caption(experiment_tables.in_words(name for row in rows[:1] for name in row))


def _kept_runs(snapshot: Snapshot) -> None:
    """The list, and what can be done with those that are selected."""
    kept = experiments.all(snapshot)
    if not kept:
        st.caption("Nothing is measured yet.")
        return
    picked = cell_tables.ticked_rows(
        {
            **cell_tables.columns(kept, ["number", "kind"]),
            "what": [described(one) for one in kept],
            "state": [_state(snapshot, one) for one in kept],
            "at": [safe_text.clock(one.at) for one in kept],
            "seconds": [round(one.seconds, 1) for one in kept],
        },
        "Experiments",
        {"number": ("#", 50), "what": 520, "state": 170, "at": ("at (UTC)", 130), "seconds": 80},
        key="experiments",
        at_first=(),
    )
    if not picked:
        st.caption("Select an experiment to open, export or delete it; two to compare them.")
        return
    if len(picked) == 2:
        _compared(snapshot, *(kept[row] for row in picked))
    for row in picked[:2]:
        _actions(snapshot, kept[row])


def _state(snapshot: Snapshot, one: Experiment) -> str:
    if not one.is_done:
        return "not finished"
    if one.catalog_id != snapshot.id:
        return "another version"
    is_current = evaluations.is_current(snapshot, one)
    return "current" if is_current else "decisions changed"


def _compared(snapshot: Snapshot, one: Experiment, other: Experiment) -> None:
    pair = (experiments.get(snapshot.work.store, run.number) for run in (one, other))
    rows = experiment_tables.compared_rows(*pair)
    if not rows:
        st.info("These two have no figures in common.", icon=":material/compare_arrows:")
        return
    cell_tables.draw(rows, "Two experiments side by side", key="compared")


def _open(chosen: Experiment) -> None:
    """Show it on its view; the address names it."""
    st.session_state["experiment"] = VIEWS.get(chosen.kind, "Kept runs")
    st.session_state["evaluation_view"] = "Experiments" if chosen.kind in VIEWS else "Result"
    st.query_params["x"] = str(chosen.number)


def _actions(snapshot: Snapshot, chosen: Experiment) -> None:
    number = chosen.number
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"Experiment **{number}**", width="content")
        if st.button("Delete", icon=":material/delete:", key=f"delete_{number}"):
            delete_experiment(snapshot.work.store, number)
            st.rerun()
        whole = experiments.get(snapshot.work.store, number)
        st.button(
            "Open",
            icon=":material/open_in_new:",
            key=f"open_{number}",
            on_click=_open,
            args=(chosen,),
        )
        for kind, content, mime in (
            ("JSON", evaluations.as_json(whole), "application/json"),
            ("CSV", evaluations.spreadsheet(whole), "text/csv"),
        ):
            name = f"experiment-{number}.{kind.lower()}"
            st.download_button(kind, content, name, mime, key=f"{kind.lower()}_{number}")


VIEWS = {
    "stress": "Stress",
    "sweep": "Sweep",
    "ablation": "Ablation",
    "plan": "Plans",
    "agent": "Agent runs",
}
"""The part that shows each kind of experiment; a comparison is the result."""
ROWS: dict[Kind, Callable[[JsonObject], list[dict[str, Any]]]] = {
    "stress": experiment_tables.stress_rows,
    "sweep": experiment_tables.sweep_rows,
    "ablation": experiment_tables.ablation_rows,
    "plan": experiment_tables.plan_rows,
}
PARTS: dict[str, Callable[[Snapshot], None]] = {
    **{VIEWS[kind]: partial(_series, kind) for kind in ROWS},
    "Agent runs": agent_panel,
    "Kept runs": _kept_runs,
}
