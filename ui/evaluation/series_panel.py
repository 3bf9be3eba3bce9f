"""Stress tests and sweeps: a picture and a table each."""

from __future__ import annotations

import streamlit as st

from toolscope_core.model.plan import Experiment
from ui.evaluation.experiment_charts import stress_lines, sweep_lines
from ui.evaluation.measure_panel import KNOBS
from ui.shared.charts.pictures import picture
from ui.shared.queries.experiment_tables import (
    ablation_rows,
    in_words,
    stress_rows,
    sweep_rows,
)


def stress_panel(experiment: Experiment) -> None:
    """Recall among more and more distractors."""
    result = experiment.result or {}
    if not result:
        return
    rows = stress_rows(result)
    picture(stress_lines(result["toolsets"]), lambda: rows, "stress", "Recall among distractors")
    st.dataframe(rows, key="stress_rows", hide_index=True, alt="The stress test")
    st.caption(in_words(rows[0]))


def ablation_panel(experiment: Experiment) -> None:
    """What the reranker, the merger and its correction give, one by one and together."""
    rows = ablation_rows(experiment.result or {"rows": ()})
    if not rows:
        return
    st.dataframe(rows, key="ablation_rows", hide_index=True, alt="The ablation")
    st.caption(in_words(rows[0]))


def sweep_panel(experiment: Experiment) -> None:
    """What each value of one setting gives."""
    points = (experiment.result or {}).get("points", ())
    if not points:
        st.caption("No value is measured yet.")
        return
    knob = experiment.configuration["knob"]
    title = next(name for name, value in KNOBS.items() if value == knob)
    rows = sweep_rows({"points": points})
    picture(sweep_lines(points, title), lambda: rows, "sweep", f"Sweep: {title}")
    st.dataframe(rows, key="sweep_rows", hide_index=True, alt="The values of the sweep")
    st.caption(in_words(rows[0]))
