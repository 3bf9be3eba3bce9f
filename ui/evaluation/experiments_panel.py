"""Experiments other than before and after, and stored experiments: opening, comparing and exporting
them.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from toolscope_core.evaluation.agent.agent_report import AgentRun
from toolscope_core.evaluation.comparison import Comparison
from toolscope_core.evaluation.intervals import Interval
from toolscope_core.evaluation.metrics import SWEPT_METRICS
from toolscope_core.evaluation.stress import Stress, StressPoint
from toolscope_core.evaluation.sweeps import Ablation, Sweep, SweepFigures
from toolscope_core.model.plan import Experiment
from toolscope_core.store.experiment_rows import delete_experiment, get_experiment
from ui.evaluation import evaluations, experiment_tables
from ui.evaluation.agent_panel import agent_panel
from ui.evaluation.comparison_panel import comparison_tables
from ui.evaluation.experiment_kinds import Plans
from ui.evaluation.experiment_tables import PLANS, STRESS, StressRow
from ui.evaluation.measure_panel import described, knob_name, measured_result
from ui.shared import data_tables, pictures, safe_text
from ui.shared.data_tables import Column, Columns, records
from ui.shared.pictures import PALETTE, picture
from ui.shared.services import experiments
from ui.shared.snapshot import Snapshot

_HEIGHT = 360
DASHES = {"random": "dot", "closest": "solid"}


def sweep_lines(points: Sequence[SweepFigures], title: str) -> go.Figure:
    """The results for each value of a sweep.

    Recall and nDCG have intervals. The shares of tools saved and of gold calls kept are drawn only
    if they change.
    """
    values = [point.value for point in points]
    traces = [
        _line(values, [point.metrics[one.name] for point in points], one.title, PALETTE[at])
        for at, one in enumerate(SWEPT_METRICS)
    ]
    shares: dict[str, list[float | None]] = {
        "smaller by": [point.reduction for point in points],
        "gold calls that run (TCCR)": [point.tccr for point in points],
        "capabilities kept (UCC)": [point.ucc for point in points],
    }
    for at, (name, own) in enumerate(shares.items(), len(SWEPT_METRICS)):
        if all(share is not None for share in own) and any(own):
            traces.append(_trace(values, own, name, PALETTE[at], "dash"))
    return _figure(traces, title, {"range": [0, 1.02]})


def stress_lines(toolsets: Mapping[str, Sequence[StressPoint]]) -> go.Figure:
    """Recall against the number of distractors, for each toolset and each kind of noise."""
    traces = []
    for at, (name, points) in enumerate(toolsets.items()):
        for noise, dash in DASHES.items():
            own = [point for point in points if point.noise == noise]
            distractors, recalls = [one.distractors for one in own], [one.recall for one in own]
            label = f"{pictures.label(name)}, {noise}"
            traces.append(_line(distractors, recalls, label, PALETTE[at % len(PALETTE)], dash))
    return _figure(traces, "distractors a query", {"title": "recall", "range": [0, 1.02]})


def _line(
    x: Sequence[float | str],
    intervals: Sequence[Interval],
    name: str,
    color: str,
    dash: str = "solid",
) -> go.Scatter:
    errors = {
        "type": "data",
        "symmetric": False,
        "array": [one.high - one.mean for one in intervals],
        "arrayminus": [one.mean - one.low for one in intervals],
        "thickness": 1,
        "width": 3,
    }
    trace = _trace(x, [one.mean for one in intervals], name, color, dash)
    return trace.update(error_y=errors, hovertemplate="%{x}: %{y:.3f}<extra></extra>")


def _trace(
    x: Sequence[float | str], y: Sequence[float | None], name: str, color: str, dash: str
) -> go.Scatter:
    line = {"color": color, "dash": dash}
    return go.Scatter(x=list(x), y=list(y), name=name, mode="lines+markers", line=line)


def _figure(traces: Sequence[go.Scatter], x: str, y: Mapping[str, Any]) -> go.Figure:
    figure = pictures.figure(list(traces), height=_HEIGHT)
    figure.update_layout(
        xaxis={"title": x, "showgrid": True}, yaxis={**y, "showgrid": True}, legend=pictures.LEGEND
    )
    return figure


def experiments_panel(snapshot: Snapshot) -> None:
    """Draw the chosen experiment. Stored experiments can be chosen too."""
    part = st.segmented_control(
        "Experiment",
        list(_PARTS),
        default="Stress",
        required=True,
        key="experiment",
        bind="query-params",
        label_visibility="collapsed",
    )
    _PARTS[part](snapshot)


def _stress(snapshot: Snapshot) -> None:
    result = measured_result(snapshot, "stress", Stress)
    if result is None:
        return
    toolsets = result[1].toolsets
    rows = [StressRow(name, point) for name, points in toolsets.items() for point in points]
    name = "Recall among distractors"
    picture(stress_lines(toolsets), lambda: records(rows, STRESS), "stress", name)
    _say_measures(STRESS)


def _servers(snapshot: Snapshot) -> None:
    result = measured_result(snapshot, "servers", Comparison)
    if result is not None:
        comparison_tables(snapshot, result[1])


def _sweep(snapshot: Snapshot) -> None:
    result = measured_result(snapshot, "sweep", Sweep)
    if result is None:
        return
    knob, points = knob_name(result[0]), result[1].points
    columns = experiment_tables.sweep_columns(points)
    figure = sweep_lines(points, knob)
    picture(figure, lambda: records(points, columns), "sweep", f"Sweep: {knob}")
    _say_measures(columns)


def _ablation(snapshot: Snapshot) -> None:
    result = measured_result(snapshot, "ablation", Ablation)
    if result is not None:
        rows = result[1].rows
        columns = experiment_tables.ablation_columns(rows)
        data_tables.draw(rows, columns, "Ablation", key="ablation_rows")
        _say_measures(columns)


def _plans(snapshot: Snapshot) -> None:
    result = measured_result(snapshot, "plan", Plans)
    if result is not None:
        data_tables.draw(result[1].plans, PLANS, "Plans", key="plan_rows")
        _say_measures(PLANS)


def _say_measures(columns: Columns[Any]) -> None:
    st.caption(experiment_tables.in_words(one.name for one in columns if one.visible))


def _kept_runs(snapshot: Snapshot) -> None:
    """Draw the list of stored runs, and the actions on the selected ones."""
    runs = experiments.all(snapshot)
    if not runs:
        st.caption("Nothing is measured yet.")
        return
    columns: Columns[Experiment] = [
        Column("number", title="#", width=50),
        Column("kind"),
        Column("what", described, width=520),
        Column("state", partial(_state, snapshot), width=170),
        Column("at", lambda one: safe_text.clock(one.at), title="at (UTC)", width=130),
        Column("seconds", lambda one: round(one.seconds, 1), width=80),
    ]
    ticked = data_tables.ticked_rows(runs, columns, "Experiments", key="experiments", at_first=())
    if not ticked:
        st.caption("Select an experiment to open, export or delete it, or two to compare them.")
        return
    if len(ticked) == 2:
        _compared(snapshot, *ticked)
    for one in ticked[:2]:
        _actions(snapshot, one)


def _state(snapshot: Snapshot, one: Experiment) -> str:
    if not one.is_done:
        return "not finished"
    if one.catalog_id != snapshot.id:
        return "another version"
    is_current = evaluations.is_current(snapshot, one)
    return "current" if is_current else "decisions changed"


def _compared(snapshot: Snapshot, one: Experiment, other: Experiment) -> None:
    first, second = (_single_figures(_read(snapshot, each.number)[1]) for each in (one, other))
    names = [name for name in first if name in second]
    if not names:
        st.info(
            "These two experiments have no figures in common.", icon=":material/compare_arrows:"
        )
        return
    columns: Columns[str] = [
        Column("figure", lambda name: name),
        Column(f"experiment {one.number}", lambda name: round(first[name], 4)),
        Column(f"experiment {other.number}", lambda name: round(second[name], 4)),
        Column("change", lambda name: round(second[name] - first[name], 4)),
    ]
    data_tables.draw(names, columns, "Two experiments side by side", key="compared")


def _read(snapshot: Snapshot, number: int) -> tuple[Experiment, Any]:
    """An experiment with its result parsed. Raises the errors of ``experiments.result_of``."""
    stored = get_experiment(snapshot.work.store, number)
    kind = RESULTS.get(stored.kind)
    return stored, experiments.result_of(stored, kind) if kind and stored.is_done else None


def _single_figures(result: Any) -> dict[str, float]:
    """The single figures in a result, by name. Empty for an unfinished experiment."""
    figures: dict[str, float] = {}
    match result:
        case Comparison(before=before, after=after):
            for side, own in (("before", before), ("after", after)):
                figures |= {f"{side}: tools": own.tools, f"{side}: tokens": own.tokens}
                figures |= {f"{side}: {name}": one.mean for name, one in own.metrics.items()}
        case Stress(toolsets=toolsets):
            for name, points in toolsets.items():
                for one in points:
                    figures[f"{name}, {one.noise} {one.distractors}: recall"] = one.recall.mean
        case AgentRun(sides=sides):
            for work in sides:
                figures[f"{work.name}: correct"] = work.correct.mean
                figures[f"{work.name}: served"] = work.served.mean
                figures[f"{work.name}: calls"] = work.calls
                figures[f"{work.name}: tokens_in"] = work.tokens_in
        case Sweep(points=points):
            for point in points:
                figures[f"{point.value}: recall"] = point.metrics["recall"].mean
                figures[f"{point.value}: tools"] = point.tools
    return figures


def _open(experiment: Experiment) -> None:
    """Open the experiment in the view for its kind, and put it into the address."""
    st.session_state["experiment"] = _VIEWS.get(experiment.kind, "Kept runs")
    st.session_state["evaluation_view"] = "Experiments" if experiment.kind in _VIEWS else "Result"
    st.query_params["x"] = str(experiment.number)


def _actions(snapshot: Snapshot, experiment: Experiment) -> None:
    number = experiment.number
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"Experiment **{number}**", width="content")
        if st.button("Delete", icon=":material/delete:", key=f"delete_{number}"):
            delete_experiment(snapshot.work.store, number)
            st.rerun()
        stored, _ = _read(snapshot, number)
        st.button(
            "Open",
            icon=":material/open_in_new:",
            key=f"open_{number}",
            on_click=_open,
            args=(experiment,),
        )
        for kind, content, mime in (
            ("JSON", evaluations.as_json(stored), "application/json"),
            ("CSV", evaluations.spreadsheet(stored), "text/csv"),
        ):
            name = f"experiment-{number}.{kind.lower()}"
            st.download_button(kind, content, name, mime, key=f"{kind.lower()}_{number}")


_VIEWS = {
    "servers": "Servers",
    "stress": "Stress",
    "sweep": "Sweep",
    "ablation": "Ablation",
    "plan": "Plans",
    "agent": "Agent runs",
}
"""The part of the page that shows each kind of experiment. A comparison is shown as the result."""
RESULTS: dict[str, type] = {
    "comparison": Comparison,
    "servers": Comparison,
    "stress": Stress,
    "sweep": Sweep,
    "ablation": Ablation,
    "plan": Plans,
    "agent": AgentRun,
}
_PARTS: dict[str, Callable[[Snapshot], None]] = {
    "Stress": _stress,
    "Servers": _servers,
    "Sweep": _sweep,
    "Ablation": _ablation,
    "Plans": _plans,
    "Agent runs": agent_panel,
    "Kept runs": _kept_runs,
}
