"""The overview of the first page: figures, the worst collisions, what to do next.

``known`` draws what needs no analysis and keeps room for the rest, which ``found`` fills in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages import _ui
from toolscope_core.workspace.overview import Collision, NextStep

ICONS = {
    "review": ":material/rule:",
    "export": ":material/ios_share:",
    "catalog": ":material/search:",
}


@dataclass(frozen=True, slots=True)
class Places:
    """The room that is kept for what the analysis finds."""

    clusters: DeltaGenerator
    tokens: DeltaGenerator
    worst: DeltaGenerator
    steps: DeltaGenerator


def known() -> Places:
    """What is known without an analysis."""
    record = _ui.current()
    seen = _ui.workspace().explore.overview(record.id)
    owners = f" on {seen.servers:,} servers" if seen.servers else ""
    st.markdown(
        f"**{_ui.untrusted(record.name)}** holds {seen.tools:,} tools{owners}. They cost about "
        f"{seen.tokens:,} tokens in every prompt that carries them all."
    )
    figures = st.columns(4)
    figures[0].metric("Tools", f"{seen.tools:,}", border=True, height="stretch")
    figures[1].metric("Servers", f"{seen.servers:,}", border=True, height="stretch")
    worst, next_steps = st.columns([3, 2], gap="medium")
    steps = next_steps.container(key="next", border=True, height="stretch")
    steps.markdown("**What to do next**")
    first = steps.container()
    waiting = _ui.workspace().overview.known_steps(record.id)
    if waiting:
        with steps:
            _links(waiting)
    return Places(figures[2], figures[3], worst.container(border=True, height="stretch"), first)


def found(places: Places) -> None:
    """What the analysis found; before it is finished, its progress, and the page ends."""
    record = _ui.current()
    with places.steps:
        _ui.analysis()
    explore, overview = _ui.workspace().explore, _ui.workspace().overview
    with places.steps, st.spinner("Working out what merging brings"):
        seen, after = explore.overview(record.id), explore.forecast(record.id)
        collisions, steps = overview.worst(record.id), overview.steps(record.id)
    places.clusters.metric(
        "Overlapping clusters", f"{after.clusters:,}", border=True, height="stretch"
    )
    places.tokens.metric(
        "Tokens, about",
        f"{seen.tokens:,}",
        f"{after.tokens_after:,} after safe merges",
        delta_color="off",
        delta_arrow="down" if after.tokens_after < seen.tokens else "off",
        border=True,
        height="stretch",
        help=f"Tokens: {seen.counted}. "
        "Safe merges are those that need no person, and those already accepted.",
    )
    with places.worst:
        _worst(collisions)
    with places.steps:
        _links(steps, first=True)


def _worst(collisions: Sequence[Collision]) -> None:
    st.markdown("**The worst collisions**")
    if not collisions:
        st.caption("None is left that nobody has settled.")
    for item in collisions:
        names = [
            _ui.untrusted(f"{name} · {server}" if server else name)
            for name, server in ((item.left, item.left_server), (item.right, item.right_server))
        ]
        st.page_link(
            "pages/overlap.py",
            label=f"{item.probability:.2f} **{names[0]}** and **{names[1]}**",
            icon=":material/join_inner:",
            query_params={"pair": item.key},
        )
        st.caption(_ui.untrusted(item.reason))


def _links(steps: Sequence[NextStep], first: bool = False) -> None:
    for place, step in enumerate(steps):
        text = _ui.untrusted(step.text)
        st.page_link(
            f"pages/{step.page}.py",
            label=f"**{text}**" if first and place == 0 else text,
            icon=ICONS[step.page],
            query_params=dict(step.query) or None,
        )
