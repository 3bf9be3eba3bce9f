"""A proposal split anew by hand: each tool in a part, with a live look at what becomes of it."""

from collections.abc import Sequence

import streamlit as st

from toolscope_core.model.address_keys import tool_key
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.kinds import kind_name
from toolscope_core.model.numbers import quantity
from toolscope_core.model.tool import Tool
from ui.review.queue_panel import Listing
from ui.shared import page_frame, safe_text
from ui.shared.cards import argument_panel, decision_buttons, shortcuts
from ui.shared.cards.cluster_card import size_badge
from ui.shared.services import reshapes, review
from ui.shared.services.reshapes import APART, MOST_TOOLS, Parts, Reshaped
from ui.shared.snapshot import Snapshot
from ui.shared.tools import tool_parts

OPEN = "reshaping"
"""Session key: the id of the cluster that is split, and its parts."""
LEAST_CHOICES, MOST_CHOICES = 3, 9
TEXT_SHOWN = 300


def open_panel(shown: Cluster) -> None:
    """Begin to split this cluster. Call it in a widget's callback."""
    st.session_state[OPEN] = (shown.id, dict.fromkeys(shown.members, 1))


def open_from_address(snapshot: Snapshot, shown: Cluster) -> None:
    """Begin to split the shown cluster where a link asks for it, with the tools that it names."""
    named = set(st.query_params.pop(tool_parts.CUT, "").split())
    if not named:
        return
    parts: dict[str, int] = dict.fromkeys(shown.members, 1)
    for tool in snapshot.analysis.catalog.tools:
        if tool_key(tool.id) in named and tool.id not in parts:
            parts = reshapes.with_tool(snapshot, parts, tool.id)
    st.session_state[OPEN] = (shown.id, parts)


def close() -> None:
    """Stop cutting; nothing is recorded."""
    st.session_state.pop(OPEN, None)


def parts_of(shown: Cluster) -> dict[str, int] | None:
    """The parts of the cluster that is shown, where it is being split."""
    cluster_id, parts = st.session_state.get(OPEN, ("", {}))
    return parts if cluster_id == shown.id else None


def reshape_panel(snapshot: Snapshot, listed: Listing, parts: dict[str, int]) -> None:
    """The tools with their parts, what may be added, what comes of it, and the button."""
    tools = snapshot.analysis.catalog.by_id
    name = safe_text.untrusted(listed.shown.document.name)
    st.subheader(f"Split {name}, or move tools in and out", anchor=False)
    st.caption(
        "Tools with one number become one proposal; tools with different numbers are kept apart, "
        "and a tool that is *apart* is merged with none of them. Nothing is accepted yet, and one "
        "undo takes it back. By key: **1** to **9** give the tool in focus its number, **0** sets "
        "it apart, and the focus goes on to the next."
    )
    from_elsewhere = [one for one in parts if one not in listed.shown.members]
    for tool_id in (*listed.shown.members, *from_elsewhere):
        _line(tools[tool_id], parts)
    _additions(snapshot, listed.shown, parts)
    if len(parts) > MOST_TOOLS:
        st.warning(f"{len(parts):,} tools are too many to divide by hand: {MOST_TOOLS} at most.")
        _cancel_button()
        return
    seen = reshapes.preview(snapshot, listed.shown, parts, page_frame.reviewer())
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Propose this split",
            key=f"reshape_record_{seen.version[:12]}",
            type="primary",
            disabled=seen.decision is None or bool(seen.refusal),
            on_click=_record,
            args=(snapshot, listed, seen),
        )
        st.button("All in one", key="reshape_one", on_click=_set_all, args=(parts, 1))
        st.button("All apart", key="reshape_apart", on_click=_set_all, args=(parts, APART))
        _cancel_button()
    _preview(snapshot, listed.shown, parts, seen)


def _cancel_button() -> None:
    st.button("Cancel", key="reshape_cancel", shortcut=shortcuts.CLOSE, on_click=close)


def _line(tool: Tool, parts: dict[str, int]) -> None:
    """One tool with the part that it is in."""
    key = f"part_{tool_key(tool.id)}"
    most = min(MOST_CHOICES, max(LEAST_CHOICES, len(parts)))
    st.session_state[key] = parts[tool.id]

    def choose() -> None:
        parts[tool.id] = st.session_state[key]

    owner = safe_text.owner(tool.id, tool.name, tool.server)
    text = safe_text.untrusted(" ".join(tool.description[: TEXT_SHOWN // 3].split()))
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.segmented_control(
            f"Part of {tool.name}", [*range(1, most + 1), APART], key=key, required=True,
            format_func=lambda part: "apart" if part == APART else str(part),
            label_visibility="collapsed", on_change=choose, width="content",
        )  # fmt: skip
        st.markdown(
            f"**{safe_text.untrusted(tool.name)}** :gray-badge[{owner}] :gray[:small[{text}]]"
        )


def _additions(snapshot: Snapshot, shown: Cluster, parts: dict[str, int]) -> None:
    """Boxes to search for another tool or cluster."""
    free = [tool for tool in snapshot.analysis.catalog.tools if tool.id not in parts]
    clusters = {
        one.id: f"{one.document.name} ({quantity(len(one.members), 'tool')})"
        for one in reshapes.joinable(snapshot, shown)
        if parts.keys().isdisjoint(one.members)
    }
    names = {tool.id: f"{tool.name} ({tool.owner or tool.id})" for tool in free}

    def add_tool() -> None:
        parts.update(reshapes.with_tool(snapshot, parts, st.session_state["reshape_tool"]))
        st.session_state["reshape_tool"] = None

    def add_cluster() -> None:
        chosen = st.session_state["reshape_cluster"]
        parts.update(reshapes.with_cluster(snapshot, parts, chosen))
        st.session_state["reshape_cluster"] = None

    with st.container(horizontal=True):
        st.selectbox(
            "Add a tool", list(names), None, key="reshape_tool", on_change=add_tool,
            format_func=lambda one: names.get(one, one), placeholder="search by name",
        )  # fmt: skip
        st.selectbox(
            "Add a proposal, the nearest first", list(clusters), None, key="reshape_cluster",
            on_change=add_cluster, format_func=lambda one: clusters.get(one, one),
            placeholder="search by name",
        )  # fmt: skip


def _set_all(parts: dict[str, int], part: int) -> None:
    parts.update(dict.fromkeys(parts, part))


def _preview(snapshot: Snapshot, shown: Cluster, parts: Parts, seen: Reshaped) -> None:
    """What the plan would make of the parts: names (φ), arguments (α) and documents."""
    if seen.refusal:
        st.error(safe_text.untrusted(seen.refusal), icon=":material/error:")
        return
    st.markdown("**What becomes of it**" if seen.decision else "**As it is now**")
    for number in seen.otherwise:
        st.warning(
            f"Part {number} comes out differently, because of earlier decisions on its tools.",
            icon=":material/warning:",
        )
    for cluster in seen.clusters:
        cluster_preview(snapshot, cluster, parts)
    if seen.alone:
        tools = snapshot.analysis.catalog.by_id
        names = ", ".join(f"**{safe_text.untrusted(tools[one].name)}**" for one in seen.alone)
        st.markdown(f"Stay as they are, in no proposal: {names}")


def cluster_preview(snapshot: Snapshot, cluster: Cluster, parts: Parts) -> None:
    """One cluster of a plan that is only looked at: names, arguments, document, doubts."""
    card = review.card(snapshot, cluster)
    with st.container(border=True, gap="small"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{safe_text.untrusted(cluster.document.name)}**", width="content")
            st.badge(kind_name(cluster).capitalize(), color="gray")
            st.badge(f"Weakest pair {cluster.weakest_edge:.2f}", color="gray")
            size_badge(card.size)
            for number in sorted({parts[one] for one in cluster.members if one in parts} - {APART}):
                st.badge(f"Part {number}", color="blue")
        names = ", ".join(safe_text.untrusted(tool.name) for tool in card.tools)
        st.markdown(f"{names} → **{safe_text.untrusted(cluster.document.name)}**")
        text = cluster.document.description[:TEXT_SHOWN]
        st.caption(safe_text.untrusted(text) or "No description.")
        argument_panel.arguments(card)
        if against := [*filter(None, [card.larger]), *cluster.reasons]:
            with st.expander(f"What speaks against it ({len(against)})"):
                st.markdown("\n".join(f"- {safe_text.sentence(one)}" for one in against))


def _record(snapshot: Snapshot, listed: Listing, seen: Reshaped) -> None:
    """Record the new split, and show what became of it in its place."""
    name = listed.shown.document.name
    sizes = " and ".join(quantity(len(one.members), "tool") for one in seen.clusters)
    message = f"{name}: {f'{sizes} to be decided' if sizes else 'all kept apart'}"
    if decision_buttons.attempt(lambda: reshapes.record(snapshot, seen), message):
        close()
        left: Sequence[str] = [one.id for one in seen.clusters]
        decision_buttons.stand_in(listed.shown, left, listed.order)
        st.query_params["cluster"] = next(iter(left), listed.onward)
