"""The merge graph with the chosen tool or edge; a cluster can be split at a bridge."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from toolscope_core.model.address_keys import pair_key
from toolscope_core.model.pair import Pair
from toolscope_core.model.tool import digest
from ui.graph.cluster_table import choose_holders
from ui.graph.components import Bridge, MergeGraphs
from ui.graph.network import NODE_SHAPES, Colouring
from ui.graph.network_component import ALT, Click, network_view
from ui.graph.network_rows import (
    LINKS,
    Edge,
    Network,
    Node,
    doubtful_first,
    network_rows,
    node_rows,
)
from ui.graph.standalone import graph_html
from ui.shared import page_frame, safe_text
from ui.shared.cards import decision_buttons
from ui.shared.charts import pictures
from ui.shared.charts.chart_style import TableRow
from ui.shared.pairs.pair_view import Pairs
from ui.shared.tools import tool_parts, tool_selection

SOURCE = "the merge graph"
TITLES = {
    "cutting it leaves": "tools on either side",
    "joined to": "merge links",
}
"""The headings of the columns of tables of links and tools."""
NAMED, TEXT_SHOWN = 8, 400


def network_panel(catalog_id: int, part: Network, colour: Colouring) -> None:
    """The graph, beside it what is chosen, below it the same data as tables and files."""
    edge, tools = _edge(catalog_id, part), _tools(catalog_id, part)
    drawn, chosen = st.columns([7, 4], gap="medium")
    with drawn:
        network_view(
            part,
            colour,
            [tool.id for tool in tools],
            edge.pair if edge else None,
            _click,
        )
    with chosen:
        decision_buttons.notice()
        if edge:
            _edge_panel(catalog_id, part, edge)
        elif len(tools) == 1:
            _tool_panel(catalog_id, part, tools[0])
        else:
            _overview(part, len(tools))
    more = pictures.table_expander("network")
    if more.open:
        with more:
            _data_table(catalog_id, part)


def _click(click: Click) -> None:
    if click.opened:
        tool_parts.open_tool(click.tools[0])
    elif click.pair:
        choose_edge(click.pair)
    else:
        close()
        tool_selection.select(page_frame.current().id, click.tools, SOURCE)


def choose_edge(pair: Pair) -> None:
    """Write the edge into the address, which decides what is shown."""
    st.query_params["edge"] = pair_key(pair)


def close() -> None:
    """Remove the edge from the address."""
    st.query_params.pop("edge", None)


def _edge(catalog_id: int, part: Network) -> Edge | None:
    """The edge that the address names, if it is drawn."""
    pair = page_frame.service(Pairs).named(catalog_id, st.query_params.get("edge", ""))
    return next((edge for edge in part.edges if edge.pair == pair), None)


def _tools(catalog_id: int, part: Network) -> list[Node]:
    """The selected tools that are drawn."""
    selection = tool_selection.selected(catalog_id)
    return [node for node in part.nodes if selection and node.id in selection.tool_ids]


def _edge_panel(catalog_id: int, part: Network, edge: Edge) -> None:
    names = {node.id: safe_text.untrusted(node.name) for node in part.nodes}
    one, other = names[edge.pair.left], names[edge.pair.right]
    st.subheader(f"{one} — {other}", anchor=False)
    text = LINKS[edge.link]
    if edge.link in ("merge", "family", "unsure"):
        text += f", probability {edge.probability:.2f}"
    st.markdown(f"{text[0].upper()}{text[1:]}.")
    bridge = page_frame.service(MergeGraphs).bridge(catalog_id, edge.pair) if edge.parts else None
    if bridge:
        _bridge(bridge)
    with st.container(horizontal=True, vertical_alignment="center"):
        page_frame.page_link(
            "overlap",
            "Compare the pair",
            icon="compare_arrows",
            catalog=page_frame.current().name,
            pair=pair_key(edge.pair),
        )
        tool_parts.move_link(catalog_id, (edge.pair.left, edge.pair.right))
        st.button("Close", key="edge_close", icon=":material/close:", on_click=close)


def _bridge(bridge: Bridge) -> None:
    sizes = " and ".join(f"{len(side):,}" for side in bridge.sides)
    st.markdown(f"A **bridge**: without this link the component splits into {sizes} tools.")
    for side in bridge.sides:
        st.markdown(f"- {safe_text.first_few(side, NAMED)}")
    cluster = bridge.cluster
    if cluster is None:
        st.caption("Correction already keeps the two apart: no cluster holds both.")
        return
    if len(cluster.members) < sum(map(len, bridge.sides)):
        inside = " and ".join(f"{len(group):,}" for group in bridge.groups)
        st.caption(
            f"The cluster {safe_text.untrusted(cluster.document.name)} holds {inside} of them."
        )
    st.button(
        "Split here",
        key=f"split_{cluster.id}_{cluster.version[:8]}",
        type="primary",
        icon=":material/call_split:",
        help="Never merges the two sides of the cluster; a side of two or more tools stays a "
        "proposal of its own.",
        on_click=_split,
        args=(bridge,),
    )


def _split(bridge: Bridge) -> None:
    """Divide the cluster at the bridge; draw the resulting clusters next."""
    if bridge.cluster:
        decision_buttons.take_apart(bridge.cluster, bridge.groups, None, [])
        choose_holders(bridge.cluster.members)


def _tool_panel(catalog_id: int, part: Network, node: Node) -> None:
    st.subheader(safe_text.untrusted(node.name), anchor=False)
    with st.container(horizontal=True):
        st.badge(
            safe_text.owner(node.id, node.name, node.server), color="gray", icon=":material/dns:"
        )
        st.badge(NODE_SHAPES[node.state][2], color="blue")
        tool = page_frame.workspace().catalogs.open(catalog_id).by_id[node.id]
        tool_parts.open_button(tool, "graph")
        tool_parts.move_link(catalog_id, (node.id,))
    if tool.description:
        st.html(safe_text.untrusted_html(tool.description[:TEXT_SHOWN]))
    own = [edge for edge in doubtful_first(part) if node.id in (edge.pair.left, edge.pair.right)]
    names = {other.id: other.name for other in part.nodes}
    rows: list[TableRow] = [
        {
            "neighbour": names[edge.pair.right if edge.pair.left == node.id else edge.pair.left],
            "relation": LINKS[edge.link],
            "probability": round(edge.probability, 2),
        }
        for edge in own
    ]
    st.caption("Its links; select one for details.")
    _choice(rows, f"links_{digest(node.id)[:8]}", "Links of the tool", own)


def _overview(part: Network, chosen: int) -> None:
    """Draw the instructions, and the bridges to begin with."""
    if chosen:
        st.markdown(f"**{chosen:,} selected tools** are drawn here.")
    st.caption(
        "Click a tool or a link; Ctrl-click adds tools. With the keyboard, arrow keys move between "
        "tools and Enter selects. The tables below offer the same."
    )
    bridges = [edge for edge in doubtful_first(part) if edge.parts]
    if bridges:
        names = {node.id: node.name for node in part.nodes}
        rows: list[TableRow] = [
            {
                "cutting it leaves": "{:,} and {:,}".format(*edge.parts or (0, 0)),
                "tool A": names[edge.pair.left],
                "tool B": names[edge.pair.right],
                "probability": round(edge.probability, 2),
            }
            for edge in bridges
        ]
        st.markdown(f"**Bridges ({len(bridges):,})**: single links that hold a component together.")
        _choice(rows, f"bridges_{_version(part)}", "Bridges", bridges)


def _choice(rows: list[TableRow], key: str, alt: str, edges: Sequence[Edge]) -> None:
    """A table of edges, of which one can be chosen."""
    shown = rows[: pictures.ROWS]
    st.dataframe(
        shown, key=key, hide_index=True, on_select=partial(_choose_row, key, edges),
        selection_mode="single-row", alt=alt, height=min(330, 38 + 35 * len(shown)),
        column_config=TITLES,
    )  # fmt: skip


def _choose_row(key: str, edges: Sequence[Edge]) -> None:
    """Choose the edge whose row was selected in the table."""
    rows = st.session_state[key]["selection"]["rows"]
    if rows:
        choose_edge(edges[rows[0]].pair)


def _data_table(catalog_id: int, part: Network) -> None:
    """The links and the tools as tables, selectable with the keyboard, and as files."""
    edges = doubtful_first(part)
    ids = [node.id for node in part.nodes[: pictures.ROWS]]
    key = f"network_{_version(part)}"
    links, tools = f"{key}_links", f"{key}_tools"
    st.markdown("**Links**: select a row, like a click in the graph")
    rows = network_rows(part)
    pictures.table(
        rows, links, f"{ALT}, links",
        on_select=partial(_choose_row, f"{links}_rows", edges), selection_mode="single-row",
        column_config=TITLES,
    )  # fmt: skip
    with st.container(horizontal=True):
        pictures.downloads(rows, "network_links")
        pictures.file("HTML", "text/html", lambda: graph_html(part, ALT), "network")
    st.caption("The HTML file is a standalone graph that works offline.")

    def tick() -> None:
        tool_selection.ticked(catalog_id, ids, f"{tools}_rows", SOURCE)

    st.markdown("**Tools**: tick rows to select them in every view")
    chosen = {node.id for node in _tools(catalog_id, part)}
    ticked = [at for at, tool in enumerate(ids) if tool in chosen]
    st.session_state[f"{tools}_rows"] = {"selection": {"rows": ticked, "columns": [], "cells": []}}
    rows = node_rows(part)
    pictures.table(
        rows, tools, f"{ALT}, tools",
        on_select=tick, selection_mode="multi-row", column_config=TITLES,
    )  # fmt: skip
    with st.container(horizontal=True):
        pictures.downloads(rows, "network_tools")


def _version(part: Network) -> str:
    """A digest of the drawing: row numbers are valid for one drawing only."""
    return digest([node.id for node in part.nodes], len(part.edges))[:8]
