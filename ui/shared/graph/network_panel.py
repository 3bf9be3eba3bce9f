"""The graph of one cluster, with the chosen tool or link. The cluster can be split at a bridge."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import streamlit as st

from toolscope_core.model.numbers import quantity
from toolscope_core.model.pair import Pair, pair_key
from toolscope_core.model.tool import digest
from ui.shared import data_tables, page_frame, pictures, safe_text
from ui.shared.cards import decision_buttons
from ui.shared.graph import components, network
from ui.shared.pairs import pair_view
from ui.shared.snapshot import Snapshot
from ui.shared.tools import tool_parts, tool_selection

_KEY = "network"
HTML = """
<div class="network">
  <div class="canvas" role="application" tabindex="0"></div>
  <div class="announcement" aria-live="polite"></div>
  <div class="legend"></div>
</div>
"""
CSS = """
.canvas { border: 1px solid var(--st-border-color); border-radius: 8px;
  position: relative; overflow: hidden; }
.canvas:focus-visible { outline: 2px solid var(--st-primary-color); }
.announcement { position: absolute; clip-path: inset(50%); }
.legend { display: flex; flex-wrap: wrap; gap: 2px 18px; margin-top: 8px; font-size: 0.85rem;
  font-family: var(--st-font); color: var(--st-text-color); }
.legend i { display: inline-block; font-style: normal; margin-right: 6px; }
.vis-tooltip { position: absolute; visibility: hidden; padding: 6px 8px; white-space: pre-line;
  max-width: 420px; z-index: 5; pointer-events: none; border-radius: 6px; font-size: 0.85rem;
  font-family: var(--st-font); color: var(--st-text-color);
  background: var(--st-secondary-background-color); border: 1px solid var(--st-border-color); }
"""


@dataclass(frozen=True, slots=True)
class Click:
    """The clicked nodes (with Ctrl, there can be several), or the two ends of a clicked edge
    (``pair``).

    ``opened`` says that a node was double-clicked.
    """

    nodes: list[str]
    pair: Pair | None
    opened: bool


_view = st.components.v2.component(
    "toolscope_network",
    html=HTML,
    css=CSS,
    js=f"{network.library()}\n{Path(__file__).with_name('network_view.js').read_text('utf-8')}",
)


def network_view(
    drawing: network.Drawing,
    ids: Sequence[str],
    on_click: Callable[[Click], None],
    *,
    key: str = _KEY,
    selected: Collection[str] = (),
    edge: Pair | None = None,
) -> None:
    """Draw a drawing whose nodes are ``ids``, with the selected nodes or the edge highlighted.

    ``on_click`` is called before the script runs.
    """
    number = {node: at for at, node in enumerate(ids)}

    def clicked() -> None:
        event = st.session_state[key]["clicked"]
        if event:
            nodes = [ids[at] for at in event["nodes"] if at < len(ids)]
            on_click(Click(nodes, Pair.of(*nodes) if event["edge"] else None, event["opened"]))

    _view(
        key=key,
        data={
            "graph": drawing.json,
            "selected": [number[node] for node in selected if node in number],
            "edge": [number[edge.left], number[edge.right]] if edge else None,
        },
        on_clicked_change=clicked,
    )


_NAMED, _TEXT_SHOWN = 8, 400


def network_panel(snapshot: Snapshot, cluster_id: str) -> None:
    """Draw a cluster and the tools linked to it: the picture, the current choice, and the links as
    a table and as files.
    """
    part = components.network(snapshot, cluster_id)
    edge, tool = _edge(snapshot, part), _tool(snapshot, part)
    left_out = f" {quantity(part.left_out, 'tool')} more did not fit." if part.left_out else ""
    st.caption(
        "What connects these tools, and is there a single weak link between two parts? Click "
        f"a tool or a line, or select a row; arrow keys and Enter work too.{left_out}"
    )
    network_view(
        network.drawing(part),
        [node.id for node in part.nodes],
        partial(_click, snapshot),
        selected=[tool.id] if tool else [],
        edge=edge.pair if edge else None,
    )
    if edge:
        _edge_panel(snapshot, part, edge)
    elif tool:
        _tool_panel(snapshot, tool)
    links = network.doubtful_first(part)
    if tool and not edge:
        links = tuple(one for one in links if tool.id in (one.pair.left, one.pair.right))
    _links(part, links)


def _click(snapshot: Snapshot, click: Click) -> None:
    if click.opened:
        tool_parts.open_tool(click.nodes[0])
    elif click.pair:
        st.query_params["edge"] = pair_key(click.pair)
    else:
        _close()
        tool_selection.select(snapshot, click.nodes, "the merge graph")


def _close() -> None:
    st.query_params.pop("edge", None)


def _edge(snapshot: Snapshot, part: network.Network) -> network.Edge | None:
    """The edge in the address, if it is drawn."""
    pair = pair_view.pair_of_key(snapshot, st.query_params.get("edge", ""))
    return next((edge for edge in part.edges if edge.pair == pair), None)


def _tool(snapshot: Snapshot, part: network.Network) -> network.Node | None:
    """The selected tool, if exactly one of the selected tools is drawn."""
    selection = tool_selection.selected(snapshot)
    nodes = [node for node in part.nodes if selection and node.id in selection.tool_ids]
    return nodes[0] if len(nodes) == 1 else None


def _edge_panel(snapshot: Snapshot, part: network.Network, edge: network.Edge) -> None:
    names = {node.id: safe_text.untrusted(node.name) for node in part.nodes}
    one, other = names[edge.pair.left], names[edge.pair.right]
    text = network.LINKS[edge.link]
    if edge.link in ("merge", "family", "unsure"):
        text += f", probability {edge.probability:.2f}"
    st.markdown(f"**{one} — {other}**: {text}.")
    bridge = components.bridge(snapshot, edge.pair) if edge.parts else None
    if bridge:
        _bridge(snapshot, bridge)
    with st.container(horizontal=True, vertical_alignment="center"):
        page_frame.page_link(
            "overlap",
            "Compare the pair",
            icon="compare_arrows",
            catalog=snapshot.record.name,
            pair=pair_key(edge.pair),
        )
        tool_parts.move_link(snapshot, (edge.pair.left, edge.pair.right))
        st.button("Close", key="edge_close", icon=":material/close:", on_click=_close)


def _bridge(snapshot: Snapshot, bridge: components.Bridge) -> None:
    sides = " and ".join(safe_text.first_few(side, _NAMED) for side in bridge.sides)
    st.markdown(f"Without this link, {sides} would be two groups; nothing else connects them.")
    cluster = bridge.cluster
    if cluster is None:
        st.caption("The two groups are already kept apart: no cluster contains both.")
        return
    st.button(
        "Split here",
        key=f"split_{cluster.id}_{cluster.version[:8]}",
        type="primary",
        icon=":material/call_split:",
        help="Keeps the two sides apart for good. Each side with two or more tools remains a "
        "proposal.",
        on_click=_split,
        args=(snapshot, bridge),
    )


def _split(snapshot: Snapshot, bridge: components.Bridge) -> None:
    """Divide the cluster at the bridge.

    If the address named the cluster, it then names what remains of the cluster.
    """
    if bridge.cluster:
        decision_buttons.take_apart(snapshot, bridge.cluster, bridge.groups, None, [])
        if "drawn" in st.query_params:
            st.query_params["drawn"] = st.query_params.get("cluster", bridge.cluster.id)


def _tool_panel(snapshot: Snapshot, node: network.Node) -> None:
    tool = snapshot.catalog.by_id[node.id]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{safe_text.untrusted(node.name)}**", width="content")
        tool_parts.owner_badge(tool)
        st.badge(network.NODE_SHAPES[node.state][2], color="blue")
        tool_parts.open_button(tool, "graph")
        tool_parts.move_link(snapshot, (node.id,))
    if tool.description:
        st.html(safe_text.untrusted_html(tool.description[:_TEXT_SHOWN]))


def _links(part: network.Network, links: Sequence[network.Edge]) -> None:
    """Draw the links as a table with a row to select, and as files."""
    columns, key = network.edge_columns(part), f"links_{digest([*map(str, links)])[:8]}"

    def choose(row: int) -> None:
        st.query_params["edge"] = pair_key(links[row].pair)

    data_tables.row_chooser(
        links[: pictures.ROWS], columns, f"{network.ALT}, links", most=250, key=key, choose=choose
    )
    with st.container(horizontal=True):
        pictures.downloads(data_tables.records(links, columns), "network_links")
        pictures.file(
            "HTML", "text/html", lambda: network.graph_html(network.drawing(part)), "network"
        )
