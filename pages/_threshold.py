"""The live threshold: move it, and see which clusters come and go before anything is changed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from pages import _ui
from pages._picture import picture
from toolscope_core.figures import curves, tables
from toolscope_core.workspace.thresholds import (
    LEAST_PROBABILITY,
    Cut,
    Effect,
    Moved,
    NextToFall,
)

NAMED = 6
SHOWN = 300


@st.fragment
def threshold_panel(catalog_id: int) -> None:
    """Two sliders, what they would bring, and the sweep of either."""
    work = _ui.workspace().thresholds
    own = work.cut(catalog_id)
    cut = _sliders(own)
    _figures(*work.effects(catalog_id, cut))  # on the screen while the rest is worked out
    moved = work.moved(catalog_id, cut)
    names = {tool.id: tool.name for tool in _ui.analysis().catalog.tools}
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
    rows = partial(tables.sweep_rows, view)
    picture(curves.sweep(view, removed), rows, "swept", "Sweep of the threshold")


def _sliders(own: Cut) -> Cut:
    bar = st.container(horizontal=True)
    similarity = bar.slider(
        f"Least similarity (θ), stored from {own.similarity:.2f} on",
        own.similarity, 1.0, own.similarity, 0.01, key="theta", bind="query-params",
        help="Pairs below were never judged, so it can only be raised here.",
    )  # fmt: skip
    probability = bar.slider(
        f"Least probability, in the plan {own.probability:.2f}",
        LEAST_PROBABILITY, 1.0, own.probability, 0.01, key="probability", bind="query-params",
        help="That two tools do the same job. Families have a probability of their own.",
    )  # fmt: skip
    return Cut(round(similarity, 4), round(probability, 4))


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
    one, other = (f"**{_ui.untrusted(names[i])}**" for i in (fall.pair.left, fall.pair.right))
    apart = " from ".join(_ui.untrusted(_named(side, names)) for side in fall.sides)
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
        f"Against the plan **{len(found.appeared):,}** clusters appear, **{len(found.grown):,}** "
        f"grow, **{len(found.split):,}** split, **{len(found.vanished):,}** vanish."
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
