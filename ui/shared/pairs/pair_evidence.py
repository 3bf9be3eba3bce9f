"""The evidence on a pair: the reasons, the signals as a waterfall, and the most similar tools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial

import streamlit as st

from toolscope_core.model.pair import Verdict
from ui.shared import safe_text
from ui.shared.charts.pictures import picture
from ui.shared.charts.waterfall import waterfall, waterfall_rows
from ui.shared.pairs.pair_tools import SIDES
from ui.shared.pairs.pair_view import Neighbour, PairView


def evidence_panel(view: PairView, show_pair: Callable[[str], None]) -> None:
    """Draw the chosen part only: one chart and two more tables would slow every page of a pair.

    ``show_pair`` is called with the key of a pair to show instead.
    """
    parts: dict[str, Callable[[PairView], None]] = {
        "Reasons": _reasons,
        "Signals": _signals,
        "Most similar tools": partial(_neighbours, show_pair=show_pair),
    }
    part = st.segmented_control(
        "Evidence",
        list(parts),
        default=next(iter(parts)),
        required=True,
        key="pair_more",
        label_visibility="collapsed",
    )
    parts[part](view)


def _signals(view: PairView) -> None:
    verdict = view.offline
    job, family = st.columns(2)
    job.metric("Same job", f"{verdict.probability:.2f}", help="The sum of the bars below.")
    family.metric(
        "Family",
        f"{verdict.family:.2f}",
        help="The same operation for another provider or value. It has its own model; at "
        f"{view.family_at:.2f} or more the verdict is family, unless it is merge.",
    )
    rows = partial(waterfall_rows, view.waterfall)
    picture(waterfall(view.waterfall), rows, "waterfall", "Contribution of each signal")


def _reasons(view: PairView) -> None:
    if view.asked:
        st.markdown(f"**{safe_text.untrusted(view.verdict.judge)}**")
        _listed(view.verdict)
        st.markdown("**The offline judge**")
    _listed(view.offline)


def _listed(verdict: Verdict) -> None:
    reasons = verdict.evidence or ("No reason given.",)
    st.markdown("\n".join(f"- {safe_text.untrusted(reason)}" for reason in reasons))


def _neighbours(view: PairView, show_pair: Callable[[str], None]) -> None:
    st.caption("Select a row to compare.")
    for column, side, tool, near in zip(
        st.columns(2), SIDES, view.tools, view.neighbours, strict=True
    ):
        with column:
            st.caption(f"{side}: {safe_text.untrusted(tool.id)}")
            _nearest(view, side, near, show_pair)


def _nearest(
    view: PairView, side: str, near: Sequence[Neighbour], show_pair: Callable[[str], None]
) -> None:
    key = f"near_{side}_{view.key}"

    def pick() -> None:
        rows = st.session_state[key]["selection"]["rows"]
        if rows and rows[0] < len(near):
            show_pair(near[rows[0]].key)

    st.dataframe(
        [asdict(row) for row in near],
        key=key,
        on_select=pick,
        selection_mode="single-row",
        hide_index=True,
        column_order=("tool", "server", "similarity", "probability", "verdict"),
        column_config={
            "verdict": st.column_config.TextColumn(width=70),
            "similarity": st.column_config.NumberColumn("similarity", format="%.2f", help="Cosine"),
            "probability": st.column_config.NumberColumn(format="%.2f"),
        },
        alt=f"Tools most similar to {side}",
    )
