"""Evaluation: whether a merge helps, measured on queries whose answers are known."""

from __future__ import annotations

import streamlit as st

from ui.evaluation.agent_panel import AGENT_RUNS, agent_panel
from ui.evaluation.comparison_panel import (
    confusions_panel,
    figures_panel,
    merges_panel,
    queries_panel,
)
from ui.evaluation.experiments_panel import experiments_panel
from ui.evaluation.measure_panel import EXPERIMENTS, request_panel, shown_experiment
from ui.evaluation.series_panel import ablation_panel, stress_panel, sweep_panel
from ui.shared import page_frame
from ui.shared.queries.generated_panel import GENERATED, generated_panel

PANELS = {
    "Before and after": figures_panel,
    "Queries": queries_panel,
    "Merges": merges_panel,
    "Confusions": confusions_panel,
    "Stress": stress_panel,
    "Sweep": sweep_panel,
    "Ablation": ablation_panel,
}

st.title("Evaluation")
page_frame.analysis()
catalog_id = page_frame.current().id
part = st.segmented_control(
    "View",
    [*PANELS, AGENT_RUNS, EXPERIMENTS, GENERATED],
    default="Before and after",
    required=True,
    key="evaluation_view",
    bind="query-params",
    label_visibility="collapsed",
)
if part == EXPERIMENTS:
    experiments_panel(catalog_id)
elif part == AGENT_RUNS:
    agent_panel(catalog_id)
elif part == GENERATED:
    generated_panel(catalog_id)
else:
    wanted = request_panel(catalog_id, part)
    experiment = shown_experiment(catalog_id, wanted)
    if experiment is not None:
        PANELS[part](experiment)
