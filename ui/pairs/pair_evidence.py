"""What the judge weighed for a pair: in words, as a waterfall, and against the nearest tools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial

import streamlit as st

from toolscope_core.datamodel import Verdict
from toolscope_core.figures.waterfall import waterfall, waterfall_rows
from toolscope_core.views.pair_view import Neighbour, PairView
from ui.charts.pictures import picture
from ui.frame import safe_text

SIDES = ("One", "Other")


def evidence_panel(view: PairView, show_pair: Callable[[str], None]) -> None:
    """Only what is open is made: a chart and two tables more would hold up every page of a pair.

    ``show_pair`` is called with the key of a pair that somebody wants to see instead.
    """
    parts = {
        "Why, in words": _why,
        "What each signal adds": _signals,
        "Nearest tools of each": partial(_neighbours, show_pair=show_pair),
    }
    part = st.segmented_control(
        "More on the pair",
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
    job.metric("Same job", f"{verdict.probability:.2f}", help="What the bars below add up to.")
    family.metric(
        "Family",
        f"{verdict.family:.2f}",
        help="The same operation for another provider or value. It has a model of its own; from "
        f"{view.family_at:.2f} on the judge says so, unless it says merge.",
    )
    rows = partial(waterfall_rows, view.waterfall)
    picture(waterfall(view.waterfall), rows, "waterfall", "What each signal adds")


def _why(view: PairView) -> None:
    if view.asked:
        st.markdown(f"**{safe_text.untrusted(view.verdict.judge)}**")
        _words(view.verdict)
        st.markdown("**The offline judge**")
    _words(view.offline)


def _words(said: Verdict) -> None:
    st.markdown(
        "\n".join(f"- {safe_text.untrusted(one)}" for one in said.evidence or ("No reason.",))
    )


def _neighbours(view: PairView, show_pair: Callable[[str], None]) -> None:
    st.caption("Choose a row to compare.")
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
            "similarity": st.column_config.NumberColumn("cosine", format="%.2f"),
            "probability": st.column_config.NumberColumn(format="%.2f"),
        },
        alt=f"Nearest tools of the {side.lower()} tool",
    )
