"""The first view: the price tag, what a new version changed, the advice, what to do next."""

from collections.abc import Sequence

import streamlit as st

from toolscope_core.model.address_keys import pair_key
from toolscope_core.model.kinds import outcome_word
from toolscope_core.model.numbers import listed, quantity
from ui.catalog import overview, price_panel
from ui.catalog.changes_panel import changes_panel
from ui.catalog.findability_panel import found_figure
from ui.catalog.overview import Collision, NextStep, SharedToolName
from ui.catalog.tool_facets import SHARES_NAME
from ui.shared import page_frame, safe_text
from ui.shared.cards import server_advice_panel
from ui.shared.pairs import pair_list
from ui.shared.services import experiments, loaded_queries, server_advice
from ui.shared.snapshot import Snapshot

MOST_SERVERS = 3
MOST_NAMES = 5
MOST_MISSED = 5
NAMED = 2


def overview_panel(snapshot: Snapshot) -> None:
    """Draw what needs no analysis, then its results; before it is finished its progress, and the
    page ends.
    """
    newest = st.container()
    tag = price_panel.draw_today(snapshot)
    advice, beside = st.container(key="beside").columns([3, 2], gap="medium")
    done = st.container()
    changes_panel(snapshot, newest, done)
    with tag.card:
        _links(overview.reading_steps_of(snapshot))
    with tag.room[0]:
        page_frame.wait_for_analysis(snapshot)
    with beside.container(border=True, key="next", gap="xsmall"):
        st.markdown("**Next steps**")
        with st.spinner("Adding up what merging saves"):
            _links(overview.steps(snapshot), first=True)
    price_panel.fill_in(snapshot, tag)
    with tag.card:
        found_figure(snapshot)
    with advice:
        _servers(snapshot)
        _worst(snapshot, overview.worst(snapshot))
    with beside:
        _shared_names(overview.names_shared(snapshot.plan))
        _missed(snapshot)


def _servers(snapshot: Snapshot) -> None:
    """The servers that could be switched off: people decide by server before they do by tool."""
    given = server_advice.advice(snapshot)
    if not given.switch_off and not given.copies:
        return
    with st.container(border=True, gap="xsmall", key="advised_servers"):
        st.markdown("**Servers to switch off**: which can go, as others do their work?")
        server_advice_panel.advice(snapshot, MOST_SERVERS)


def _worst(snapshot: Snapshot, collisions: Sequence[Collision]) -> None:
    with st.container(border=True, gap="xsmall", key="worst_confusions"):
        st.markdown(
            "**Worst confusions**: which tools does an agent mistake for each other?",
            help="By their texts, their names, and whether another server has one like it.",
        )
        if not collisions:
            st.caption("None is left that nobody has reviewed.")
        for item in collisions:
            names = [
                safe_text.untrusted(f"{tool.name} · {tool.home}" if tool.home else tool.name)
                for tool in item.tools
            ]
            page_frame.page_link(
                "overlap",
                f"**{names[0]}** and **{names[1]}**: {item.in_words}",
                pair=pair_key(item.verdict.pair),
            )
            st.caption(safe_text.untrusted(item.reason))
        if siblings := pair_list.pair_counts(snapshot.analysis).siblings:
            page_frame.page_link(
                "overlap",
                f"{quantity(siblings, 'close pair')} that do different jobs",
                verdict=outcome_word("keep"),
            )


def _shared_names(names: Sequence[SharedToolName]) -> None:
    """The names that cannot say which server is meant, a line each."""
    if not names:
        return
    with st.container(border=True, gap="xsmall"):
        st.markdown(
            f"**{quantity(len(names), 'name')} on several servers**: which server is meant?"
        )
        for one in names[:MOST_NAMES]:
            servers = safe_text.untrusted(listed(one.servers, NAMED))
            page_frame.page_link(
                "catalog",
                f"**{safe_text.untrusted(one.name)}**: {servers}",
                {"part": "Tools", "catalog_find": one.name, "state": SHARES_NAME},
                icon="table_rows",
            )
        if (more := len(names) - MOST_NAMES) > 0:
            page_frame.page_link(
                "catalog",
                f"{more:,} more",
                {"part": "Tools", "state": SHARES_NAME},
                icon="table_rows",
            )


def _missed(snapshot: Snapshot) -> None:
    """The tools that queries need and search does not find, as the newest measurement has it; where
    there are queries and nothing is measured, the way there.
    """
    missed = experiments.missed(snapshot)
    sets = loaded_queries.sets(snapshot)
    if missed is None and not sets:
        return
    with st.container(border=True, gap="xsmall"):
        st.markdown("**Tools that search misses**: what would an agent never be shown?")
        if missed is None:
            count = quantity(sum(len(one.content.queries) for one in sets), "query")
            page_frame.page_link("evaluation", f"Measure the {count} of this catalog to see")
            return
        if not missed:
            st.caption("Each tool that a query needs was among the first ten for one of them.")
        tools = snapshot.catalog.by_id
        for tool_id, query in list(missed.items())[:MOST_MISSED]:
            name = safe_text.untrusted(tools[tool_id].name if tool_id in tools else tool_id)
            page_frame.page_link(
                "retrieval", f"**{name}**, for: {safe_text.untrusted(query)}", q=query
            )
        if (more := len(missed) - MOST_MISSED) > 0:
            page_frame.page_link("evaluation", f"{more:,} more")


def _links(steps: Sequence[NextStep], first: bool = False) -> None:
    for place, step in enumerate(steps):
        text = safe_text.untrusted(step.text)
        label = f"**{text}**" if first and place == 0 else text
        icon = "search" if step.page == "catalog" else ""
        page_frame.page_link(step.page, label, step.query, icon=icon)
