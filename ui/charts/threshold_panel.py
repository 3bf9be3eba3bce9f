"""The live threshold: move it, and see which clusters come and go before anything is changed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from toolscope_core.config import LEAST_PROBABILITY, Cut
from toolscope_core.figures import curve_charts, table_twins
from toolscope_core.views.threshold_preview import Effect, Moved, NextToFall
from ui.charts.pictures import picture
from ui.deciding import decision_buttons
from ui.frame import page_frame, safe_text

NAMED = 6
SHOWN = 300


@st.fragment
def threshold_panel(catalog_id: int) -> None:
    """Two sliders, what they would bring, and the sweep of either."""
    work = page_frame.workspace().thresholds
    plan, own = work.cut(catalog_id), work.own(catalog_id)
    cut = _sliders(plan, own)
    _apply(catalog_id, cut, plan)
    _figures(*work.effects(catalog_id, cut))  # on the screen while the rest is worked out
    moved = work.moved(catalog_id, cut)
    names = {tool.id: tool.name for tool in page_frame.analysis().catalog.tools}
    for fall in moved.falls:
        st.markdown(_falling(fall, names))
    _changes(moved, names)
    measure = st.segmented_control(
        "Sweep", ["similarity", "probability"], default="similarity", required=True,
        key="sweep", bind="query-params",
    )  # fmt: skip
    view = work.sweep(catalog_id, cut, measure)
    if not view.labelled:
        st.caption("Once people accept or reject pairs, the picture shows how many it gets right.")
    removed = len(names) - moved.now.tools_left
    rows = partial(table_twins.sweep_rows, view)
    picture(curve_charts.sweep_chart(view, removed), rows, "swept", "Sweep of the threshold")


def _sliders(plan: Cut, own: Cut) -> Cut:
    bar = st.container(horizontal=True)
    similarity = bar.slider(
        f"Least similarity (θ), in the plan {plan.similarity:.2f}",
        own.similarity, 1.0, plan.similarity, 0.01, key="theta", bind="query-params",
        help=f"Pairs below {own.similarity:.2f} were never judged, so it begins there.",
    )  # fmt: skip
    probability = bar.slider(
        f"Least probability, in the plan {plan.probability:.2f}",
        LEAST_PROBABILITY, 1.0, plan.probability, 0.01, key="probability", bind="query-params",
        help="That two tools do the same job. Families have a probability of their own.",
    )  # fmt: skip
    return Cut(round(similarity, 4), round(probability, 4))


def _apply(catalog_id: int, cut: Cut, plan: Cut) -> None:
    """Make the plan with the cut of the sliders, or take that back."""
    standing = page_frame.workspace().review.standing(catalog_id)
    applied = next((one for one in standing if one.action == "threshold"), None)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Make the plan with this",
            key="apply_cut",
            disabled=cut == plan,
            help="Proposals below it go, others come; what people decided stays. Recorded with "
            "your name, in the bundle's manifest, and one undo takes it back.",
            on_click=_applied,
            args=(catalog_id, cut),
        )
        if applied is not None:
            st.caption(
                f"{decision_buttons.done(applied)} :gray[({decision_buttons.by_whom(applied)})]",
                width="content",
            )
            st.button(
                "Take back",
                key=f"cut_back_{applied.seq}",
                on_click=decision_buttons.undo,
                args=((applied.seq,),),
            )
    decision_buttons.notice()


def _applied(catalog_id: int, cut: Cut) -> None:
    review = page_frame.workspace().review
    text = f"The plan is made with {cut.similarity:.2f} and {cut.probability:.2f}"
    decision_buttons.attempt(lambda: review.apply_cut(catalog_id, cut, page_frame.reviewer()), text)


def _figures(now: Effect, plan: Effect) -> None:
    row = st.container(horizontal=True)
    for title, value, before in (
        ("pairs near enough", now.candidates, plan.candidates),
        ("pairs to merge", now.merges, plan.merges),
        ("clusters", len(now.groups), len(plan.groups)),
        ("tools left", now.tools_left, plan.tools_left),
        ("tokens left ≈", now.tokens_left, plan.tokens_left),
    ):
        change = f"{value - before:+,}" if value != before else None
        row.metric(title, f"{value:,}", change, delta_color="off")
    st.caption(
        "If every cluster is merged; each counts the tokens of its longest tool. Clusters are "
        "corrected, as in the plan. Nothing is changed by moving; differences are to the plan as "
        "it stands."
    )


def _falling(fall: NextToFall, names: dict[str, str]) -> str:
    one, other = (f"**{safe_text.untrusted(names[i])}**" for i in (fall.pair.left, fall.pair.right))
    apart = " from ".join(safe_text.untrusted(_named(side, names)) for side in fall.sides)
    return (
        f"Next to fall as the {fall.measure} rises above {fall.value:.3f}: {one} with {other}. "
        f"It parts {apart}."
    )


def _changes(moved: Moved, names: dict[str, str]) -> None:
    found = moved.changes
    if not len(found):
        st.info("The clusters are those of the plan.", icon=":material/check_circle:")
        return
    st.markdown(
        f"Clusters against the plan: **{len(found.appeared):,}** new, **{len(found.grown):,}** "
        f"grown, **{len(found.split):,}** split, **{len(found.vanished):,}** gone."
    )
    rows = [
        *(("appears", members, ()) for members in found.appeared),
        *(("grows", item.members, item.parts) for item in found.grown),
        *(("splits", item.members, item.parts) for item in found.split),
        *(("vanishes", members, ()) for members in found.vanished),
    ]
    if len(rows) > SHOWN:
        st.caption(f"The first {SHOWN:,} of {len(rows):,}.")
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
    more = len(members) - NAMED
    said = ", ".join(names[member] for member in members[:NAMED])
    return f"{said} and {more:,} more" if more > 0 else said
