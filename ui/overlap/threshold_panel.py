"""The thresholds: a preview of the clusters that a change adds or removes, and applying it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from toolscope_core.model.configuration import LEAST_PROBABILITY, MergeThresholds
from toolscope_core.model.numbers import listed
from ui.overlap import curve_charts
from ui.overlap.figures import sweep_rows
from ui.overlap.thresholds import MEASURES, Effect, Moved, NextToFall, Thresholds
from ui.shared import page_frame, safe_text
from ui.shared.cards import decision_buttons, decision_trail
from ui.shared.charts.pictures import picture

NAMED = 6
SHOWN = 300


@st.fragment
def threshold_panel(catalog_id: int) -> None:
    """Two sliders, the preview of what they change, and the sweep of either."""
    work = page_frame.service(Thresholds)
    plan, own = work.in_use(catalog_id), work.own(catalog_id)
    thresholds = _sliders(plan, own)
    _apply(catalog_id, thresholds, plan)
    _metrics(*work.effects(catalog_id, thresholds))  # on the screen while the rest is computed
    moved = work.moved(catalog_id, thresholds)
    names = {tool.id: tool.name for tool in page_frame.analysis().catalog.tools}
    for fall in moved.falls:
        st.markdown(_next_split(fall, names))
    _changes(moved, names)
    measure = st.segmented_control(
        "Sweep", MEASURES, default="similarity", required=True,
        key="sweep", bind="query-params",
    )  # fmt: skip
    view = work.sweep(catalog_id, thresholds, measure)
    if not view.labelled:
        st.caption(
            "Once pairs are accepted or rejected, the chart shows how many of them it gets right."
        )
    removed = len(names) - moved.now.tools_left
    rows = partial(sweep_rows, view)
    picture(curve_charts.sweep_chart(view, removed), rows, "swept", "Threshold sweep")


def _sliders(plan: MergeThresholds, own: MergeThresholds) -> MergeThresholds:
    bar = st.container(horizontal=True)
    similarity = bar.slider(
        f"Similarity threshold (θ), in the plan {plan.similarity:.2f}",
        own.similarity, 1.0, plan.similarity, 0.01, key="theta", bind="query-params",
        help=f"The scale starts at {own.similarity:.2f}: pairs below were not judged.",
    )  # fmt: skip
    probability = bar.slider(
        f"Probability threshold, in the plan {plan.probability:.2f}",
        LEAST_PROBABILITY, 1.0, plan.probability, 0.01, key="probability", bind="query-params",
        help="The probability that two tools do the same job. Families have their own.",
    )  # fmt: skip
    return MergeThresholds(round(similarity, 4), round(probability, 4))


def _apply(catalog_id: int, thresholds: MergeThresholds, plan: MergeThresholds) -> None:
    """The button that applies the thresholds of the sliders to the plan, and the one to undo it."""
    work, review = page_frame.service(Thresholds), page_frame.workspace().review
    applied = next((one for one in review.standing(catalog_id) if one.action == "threshold"), None)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Apply to the plan",
            key="apply_cut",
            disabled=thresholds == plan,
            help="Replaces the proposals; decisions stay. Recorded under your name and in the "
            "bundle's manifest. One undo reverts it.",
            on_click=decision_buttons.carry_out,
            args=(
                lambda: work.apply(catalog_id, thresholds, page_frame.reviewer()),
                f"Applied to the plan: similarity {thresholds.similarity:.2f}, probability "
                f"{thresholds.probability:.2f}",
            ),
        )
        if applied is not None:
            st.caption(
                f"{decision_trail.in_words(applied)} :gray[({decision_trail.by_whom(applied)})]",
                width="content",
            )
            decision_buttons.undo_one(applied, "cut_back")
    decision_buttons.notice()


def _metrics(now: Effect, plan: Effect) -> None:
    row = st.container(horizontal=True)
    for title, value, before in (
        ("Candidate pairs", now.candidates, plan.candidates),
        ("Pairs to merge", now.merges, plan.merges),
        ("Clusters", len(now.groups), len(plan.groups)),
        ("Tools left", now.tools_left, plan.tools_left),
        ("Tokens left ≈", now.tokens_left, plan.tokens_left),
    ):
        change = f"{value - before:+,}" if value != before else None
        row.metric(title, f"{value:,}", change, delta_color="off")
    st.caption(
        "Preview only, without families that nobody accepted. Deltas are against the current plan. "
        "Counts assume that every cluster is merged, at the tokens of its longest tool, after "
        "correction as in the plan. The chart below counts the tools removed without correction."
    )


def _next_split(fall: NextToFall, names: dict[str, str]) -> str:
    one, other = (f"**{safe_text.untrusted(names[i])}**" for i in (fall.pair.left, fall.pair.right))
    apart = " from ".join(safe_text.untrusted(_named(side, names)) for side in fall.sides)
    return (
        f"Above a {fall.measure} of {fall.value:.3f}, {one} and {other} are no longer joined. "
        f"That separates {apart}."
    )


def _changes(moved: Moved, names: dict[str, str]) -> None:
    changes = moved.changes
    if not len(changes):
        st.info("The clusters are the same as in the plan.", icon=":material/check_circle:")
        return
    st.markdown(
        f"Clusters compared with the plan: **{len(changes.appeared):,}** new, "
        f"**{len(changes.grown):,}** larger, **{len(changes.split):,}** split, "
        f"**{len(changes.vanished):,}** removed."
    )
    rows = [
        *(("new", members, ()) for members in changes.appeared),
        *(("larger", item.members, item.parts) for item in changes.grown),
        *(("split", item.members, item.parts) for item in changes.split),
        *(("removed", members, ()) for members in changes.vanished),
    ]
    if len(rows) > SHOWN:
        st.caption(f"Showing the first {SHOWN:,} of {len(rows):,}.")
    st.dataframe(
        [
            {
                "change": change,
                "tools": len(members),
                "cluster": _named(members, names),
                "parts": " | ".join(_named(part, names) for part in parts[:NAMED]),
            }
            for change, members, parts in rows[:SHOWN]
        ],
        hide_index=True,
        height=min(320, 38 + 35 * len(rows)),
        column_config={"change": st.column_config.TextColumn(width=80)},
        alt="Clusters that differ from the plan",
    )


def _named(members: Sequence[str], names: dict[str, str]) -> str:
    return listed((names[member] for member in members), NAMED)
