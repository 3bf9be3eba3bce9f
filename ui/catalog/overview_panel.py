"""The overview of the first page: figures, the worst collisions, what to do next.

``draw_catalog`` draws what needs no analysis and keeps room for the rest, which ``fill_in`` draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from toolscope_core.model.numbers import quantity
from ui.catalog.overview import Collision, Forecast, NextStep, Overview
from ui.shared import page_frame, safe_text
from ui.shared.cards import server_advice_panel
from ui.shared.pairs.pair_list import PairLists
from ui.shared.services.server_advice import ServerAdvice

MOST_SERVERS = 3


@dataclass(frozen=True, slots=True)
class Places:
    """The room that is kept for the results of the analysis."""

    tokens: DeltaGenerator
    overlap: DeltaGenerator
    worst: DeltaGenerator
    steps: DeltaGenerator


def draw_catalog() -> Places:
    """Draw what needs no analysis; returns the places for the rest."""
    record = page_frame.current()
    totals = page_frame.service(Overview).figures(record.id)
    owners = f" on {quantity(totals.servers, 'server')}" if totals.servers else ""
    st.markdown(
        f"**{safe_text.untrusted(record.name)}** holds {quantity(totals.tools, 'tool')}{owners}. "
        "They cost about "
        f"{totals.tokens:,} tokens in every prompt that includes all of them."
    )
    metrics = st.columns(3)
    metrics[0].metric("Tools", f"{totals.tools:,}", border=True, height="stretch")
    metrics[1].metric("Servers", f"{totals.servers:,}", border=True, height="stretch")
    overlap = st.container()
    worst, next_steps = st.columns([3, 2], gap="medium")
    steps = next_steps.container(key="next", border=True, height="stretch")
    steps.markdown("**Next steps**")
    first = steps.container()
    waiting = page_frame.service(Overview).known_steps(record.id)
    if waiting:
        with steps:
            _links(waiting)
    return Places(metrics[2], overlap, worst.container(border=True, height="stretch"), first)


def fill_in(places: Places) -> None:
    """Draw the results of the analysis; before it is finished, its progress, and the page ends."""
    record = page_frame.current()
    with places.steps:
        page_frame.analysis()
    overview = page_frame.service(Overview)
    with places.steps, st.spinner("Estimating what merging saves"):
        totals, after = overview.figures(record.id), overview.forecast(record.id)
        collisions, steps = overview.worst(record.id), overview.steps(record.id)
    with places.overlap:
        _servers(record.id)
        _overlap(record.id)
    places.tokens.metric(
        "Tokens ≈",
        f"{totals.tokens:,}",
        _after(totals.tokens, after),
        delta_color="off",
        delta_arrow="down" if after.tokens_after < totals.tokens else "off",
        border=True,
        height="stretch",
        help=f"Tokens: {totals.counted}. "
        "Merges that are safe to accept without review, and those already accepted, leave fewer.",
    )
    with places.worst:
        _worst(collisions)
    with places.steps:
        _links(steps, first=True)


def _after(tokens: int, after: Forecast) -> str | None:
    """The tokens left, and what takes the others away; ``None`` where nothing does."""
    kinds = [word for word in ("accepted", "safe") if getattr(after, word)]
    if kinds:
        return f"{after.tokens_after:,} after {' and '.join(kinds)} merges"
    return f"{after.tokens_after:,} as decided" if after.tokens_after != tokens else None


def _servers(catalog_id: int) -> None:
    """The servers that could be switched off: people decide by server before they do by tool."""
    advice = page_frame.service(ServerAdvice).advice(catalog_id)
    if advice.switch_off or advice.copies:
        with st.container(border=True):
            saved = sum(one.tokens for one in advice.switch_off)
            st.markdown(f"**Servers you could switch off** (−{saved:,} tokens in all)")
            server_advice_panel.advice(catalog_id, MOST_SERVERS)


def _overlap(catalog_id: int) -> None:
    """Duplicates, families and siblings, each with a link to the page where they are handled."""
    work = page_frame.workspace()
    counts, pairs = (
        work.review.progress(catalog_id).clusters,
        work.service(PairLists).counts(catalog_id),
    )
    one_job, families = counts.duplicates, counts.families
    prunes = f"; {counts.prunes:,} can be pruned now" if one_job.total else ""
    gateways = one_job.total - counts.prunes
    needs = "needs" if gateways == 1 else "need"
    prunes += f", {gateways:,} {needs} a gateway" if gateways else ""
    for place, (title, count, note, help_text, link, page, query) in zip(
        st.columns(3),
        (
            (
                "Duplicates", one_job.total,
                f"{one_job.accepted:,} accepted, "
                f"{one_job.waiting:,} waiting, {counts.safe:,} of them safe{prunes}",
                "Clusters of tools that do the same job. Where one tool can already serve the "
                "callers of all the others, these can be pruned: switched off, no code needed. "
                "Includes accepted ones.",
                "Review duplicates", "review", {"show": "Duplicates"},
            ),
            (
                "Families a gateway could merge", families.total,
                f"{families.accepted:,} accepted, {families.waiting:,} waiting",
                "Clusters of the same operation for several providers or fixed values. The value "
                "is not an argument, so none of their tools can be pruned.",
                "Review families", "review", {"show": "Families"},
            ),
            (
                "Siblings to tell apart", pairs.siblings,
                "similar pairs that do different jobs",
                "Related candidate pairs that the offline judge keeps apart. An agent must tell "
                "them apart by their descriptions.",
                "Compare siblings", "overlap", {"verdict": "keep"},
            ),
        ),
        strict=True,
    ):  # fmt: skip
        with place.container(border=True, height="stretch"):
            st.metric(title, f"{count:,}", help=help_text)
            st.caption(note)
            page_frame.page_link(page, link, query, disabled=not count)


def _worst(collisions: Sequence[Collision]) -> None:
    st.markdown(
        "**Worst confusions**",
        help="The tools that an agent mistakes for each other most easily: by their texts, their "
        "names, and whether another server has one like it.",
    )
    if not collisions:
        st.caption("All of them are reviewed.")
    for item in collisions:
        names = [
            safe_text.untrusted(f"{name} · {server}" if server else name)
            for name, server in ((item.left, item.left_server), (item.right, item.right_server))
        ]
        page_frame.page_link(
            "overlap",
            f"{item.in_words}: **{names[0]}** and **{names[1]}**",
            pair=item.key,
        )
        st.caption(safe_text.untrusted(item.reason))


def _links(steps: Sequence[NextStep], first: bool = False) -> None:
    for place, step in enumerate(steps):
        text = safe_text.untrusted(step.text)
        label = f"**{text}**" if first and place == 0 else text
        icon = "search" if step.page == "catalog" else ""
        page_frame.page_link(step.page, label, step.query, icon=icon)
