"""The servers of a catalog and what they share; a click opens two of them."""

from collections.abc import Sequence

import streamlit as st

from toolscope_core.model.numbers import quantity
from toolscope_core.model.tool import digest
from ui.graph import server_links
from ui.graph.server_links import (
    ALT,
    MOST_LINKS,
    ServerLink,
    ServerOverlap,
    drawn_servers,
    link_columns,
    server_drawing,
)
from ui.shared import data_tables
from ui.shared.cards import server_advice_panel
from ui.shared.cards.batches import server_pair_key
from ui.shared.charts import pictures
from ui.shared.data_tables import Column
from ui.shared.graph.components import ClusterRow
from ui.shared.graph.network import graph_html
from ui.shared.graph.network_component import Click, network_view
from ui.shared.services import server_advice
from ui.shared.snapshot import Snapshot
from ui.shared.tools.tool_blocks import SERVERS

KEY = "servers_network"
OPENED, CHOSEN = "opened_servers", "chosen_server"
"""Session keys: the two servers to open, as a callback cannot turn the page; the one clicked."""


def server_network_panel(snapshot: Snapshot) -> None:
    """The picture, and the same as a table; nothing where no two servers share a pair."""
    view = server_links.overlap(snapshot)
    if not view.links:
        return
    names, chosen = drawn_servers(view), st.session_state.get(CHOSEN)
    every = quantity(len(view.tools), "server" if view.by == SERVERS else "value")
    every += "" if view.by == SERVERS else f" of the field “{view.by}”"
    linked = len({server for link in view.links for server in link.servers})
    some = f" Drawn are the {MOST_LINKS} widest lines." * (len(view.links) > MOST_LINKS)
    st.markdown(
        f"**Who overlaps with whom, and how much?** {linked:,} of {every} share tools with "
        "another. The number on a line says how many pairs of tools the two have in common; click "
        f"it to see both side by side, or a dot to see its lines alone.{some}"
    )
    links = [link for link in view.links if chosen in link.servers] or view.links
    around = {server for link in links for server in link.servers} if chosen in names else ()
    network_view(server_drawing(view), names, _click, key=KEY, selected=around)
    with st.expander(f"{quantity(len(links), 'line')} as a table, and downloads"):
        _table(view, links)
    if (two := st.session_state.pop(OPENED, None)) is not None:
        _open(snapshot, view, *two)


def _click(click: Click) -> None:
    """A line opens its servers; a dot is chosen, or with the next click no more."""
    if click.pair:
        st.session_state[OPENED] = (click.pair.left, click.pair.right)
    else:
        same = st.session_state.get(CHOSEN) == click.nodes[-1]
        st.session_state[CHOSEN] = None if same else click.nodes[-1]


def _table(view: ServerOverlap, links: Sequence[ServerLink]) -> None:
    columns, key = link_columns(links), digest([link.servers for link in links])[:8]

    def choose(row: int) -> None:
        st.session_state[OPENED] = links[row].servers

    data_tables.row_chooser(
        links, columns, f"{ALT}, as a table", key=f"{key}_rows", choose=choose, height=250
    )
    with st.container(horizontal=True):
        pictures.downloads(data_tables.records(links, columns), KEY)
        pictures.file("HTML", "text/html", lambda: graph_html(server_drawing(view)), KEY)


def _open(snapshot: Snapshot, view: ServerOverlap, one: str, other: str) -> None:
    """Go to the two side by side; where nothing between them can be decided, to their tools."""
    key = server_pair_key(one, other)
    pairs = server_advice.pairs(snapshot) if view.by == SERVERS else ()
    if any(pair.key == key for pair in pairs):
        server_advice_panel.show_pair(one, other)
    query = {"view": "Heatmap", "heatmap_by": view.by, "one": one, "other": other}
    st.switch_page("pages/overlap.py", query_params=query)


COLUMNS: list[Column[ClusterRow]] = [
    Column("name", title="cluster", width=170, pinned=True),
    Column("size", title="tools", width=60),
    Column("state"),
    Column("kind", width=130),
    Column(
        "density",
        title="linked",
        format="percent",
        width=75,
        help="The share of its pairs of tools that the judge links by themselves.",
    ),
    Column("weakest", title="weakest pair", full=1.0, format="%.2f", width=130),
    Column(
        "bridges", width=75, help="Links that alone hold two parts together: without one it splits."
    ),
    Column(
        "intransitive",
        title="through a third",
        width=110,
        help="Pairs of tools that only a third tool joins.",
    ),
    Column("servers"),
    Column("members", width=320),
    Column("reasons", title="why it needs review", width=420),
]


def cluster_table(snapshot: Snapshot, rows: Sequence[ClusterRow]) -> None:
    """Draw the table; a selected row goes into the address, which says what is drawn."""
    key, ids = f"clusters_{snapshot.id}", [row.id for row in rows]
    drawn = st.query_params.get("drawn")
    data_tables.select_rows(key, [ids.index(drawn)] if drawn in ids else [])

    def choose() -> None:
        picked = st.session_state[key]["selection"]["rows"]
        st.query_params.pop("edge", None)
        st.query_params.pop("drawn", None)
        if picked:
            st.query_params["drawn"] = ids[picked[0]]

    data_tables.draw(
        rows,
        COLUMNS,
        "Clusters of three or more tools, the largest first",
        most=320,
        key=key,
        on_select=choose,
        selection_mode="single-row",
    )
