"""The servers of a catalog and how they overlap. Clicking a line opens its two servers."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import streamlit as st

from toolscope_core.model.cluster import KINDS, ProposalKind, proposal_kind
from toolscope_core.model.numbers import listed, quantity
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.tool import digest
from ui.shared import data_tables, pictures
from ui.shared.cards.batches import server_pair_key, server_pair_query
from ui.shared.cards.queue import short_kind
from ui.shared.data_tables import Column, Columns
from ui.shared.graph.components import ClusterRow
from ui.shared.graph.network import Drawing, LegendKey, Line, graph_html, short_text
from ui.shared.graph.network_panel import Click, network_view
from ui.shared.kept import kept
from ui.shared.services import server_advice
from ui.shared.snapshot import Snapshot
from ui.shared.tools.tool_blocks import CLUSTERS, SERVERS, ToolBlock, blocks_of, groupings


@dataclass(frozen=True, slots=True)
class ServerLink:
    """Two servers, sorted by name, and the number of jobs that both do.

    ``counts`` has that number for each kind, a key of ``KINDS``.
    """

    servers: tuple[str, str]
    counts: Mapping[ProposalKind, int]

    @property
    def jobs(self) -> int:
        return sum(self.counts.values())

    @property
    def kind(self) -> ProposalKind:
        """The most frequent kind of job. If several kinds are equally frequent, this is the
        clearest of them.
        """
        return max(KINDS, key=lambda kind: self.counts.get(kind, 0))

    @property
    def in_words(self) -> str:
        """The kinds that occur, as in *drop-in: 3; gateway tool: 1*."""
        counts = {words.name: self.counts.get(kind, 0) for kind, words in KINDS.items()}
        return "; ".join(f"{words}: {count:,}" for words, count in counts.items() if count)


@dataclass(frozen=True, slots=True, eq=False)
class ServerOverlap:
    """The number of tools on each server, and the links between servers, those with the most jobs
    first.

    ``grouping`` says what the blocks are: servers or, if hardly any tool has a server, the values
    of a field. ``inside`` counts the jobs that several tools on one server do.
    """

    grouping: str
    tools: Mapping[str, int]
    links: tuple[ServerLink, ...]
    inside: Mapping[str, int]


@kept()
def shared_jobs(snapshot: Snapshot) -> ServerOverlap:
    """The overlap of the servers or, without servers, of the values of the first category field.

    Raises ``JobError`` before the analysis is done.
    """
    plan = snapshot.plan
    grouping = groupings(plan.catalog)[0]
    blocks = blocks_of(plan, grouping) if grouping != CLUSTERS else ()
    return server_overlap(plan, blocks, grouping)


def server_overlap(
    plan: MergePlan, blocks: Sequence[ToolBlock], grouping: str = SERVERS
) -> ServerOverlap:
    """The overlap of the blocks.

    A job is a cluster that nobody has rejected. The tools of a family or of lookalikes do different
    jobs, so these do not count.
    """
    tools = plan.catalog.tools
    home = {tools[row].id: block.name for block in blocks for row in block.rows.tolist()}
    counts: defaultdict[tuple[str, str], Counter[ProposalKind]] = defaultdict(Counter)
    inside = Counter[str]()
    for cluster in plan.clusters:
        kind = proposal_kind(cluster)
        if cluster.state != "kept_apart" and kind not in ("family", "looks_alike"):
            owners = Counter(home[member] for member in cluster.members if member in home)
            inside.update(one for one, members in owners.items() if members > 1)
            for two in combinations(sorted(owners), 2):
                counts[two][kind] += 1
    links = [ServerLink(two, kinds) for two, kinds in counts.items()]
    return ServerOverlap(
        grouping=grouping,
        tools={block.name: len(block) for block in blocks},
        links=tuple(sorted(links, key=lambda link: (-link.jobs, link.servers))),
        inside=inside,
    )


def link_columns(links: Sequence[ServerLink]) -> list[Column[ServerLink]]:
    """The columns for the two servers, for the number of shared jobs, and for each kind of job that
    occurs.
    """

    def of_kind(kind: ProposalKind) -> Column[ServerLink]:
        return Column(KINDS[kind].name, lambda link: link.counts.get(kind, 0))

    return [
        Column("server A", lambda link: link.servers[0]),
        Column("server B", lambda link: link.servers[1]),
        Column("jobs"),
        *(of_kind(kind) for kind in KINDS if any(link.counts.get(kind) for link in links)),
    ]


_ALT = "Servers that overlap"
MOST_LINKS = 45
"""The maximum number of links drawn, those with the most jobs. With more, the picture could not be
read.
"""
_LOWEST, _FOR_EACH, _HIGHEST = 400, 9, 800
"""The height of the picture in pixels: the minimum, the height added for each server, and the
maximum.
"""
_LETTERS = 20
"""The maximum number of letters of a name."""
COLOURS = {
    "copy": pictures.PALETTE[2],
    "drop_in": pictures.PALETTE[0],
    "gateway": pictures.PALETTE[1],
}
_GROUND = "rgba(86,180,233,0.9)"


def drawn_servers(view: ServerOverlap) -> list[str]:
    """The servers that have a drawn link, sorted."""
    return sorted({server for link in view.links[:MOST_LINKS] for server in link.servers})


@lru_cache(maxsize=4)
def server_drawing(view: ServerOverlap) -> Drawing:
    """A drawing with a node for each of ``drawn_servers``. A line has the colour of its most
    frequent kind.
    """
    names, links = drawn_servers(view), view.links[:MOST_LINKS]
    number = {name: at for at, name in enumerate(names)}
    kinds = [kind for kind in KINDS if any(link.kind == kind for link in links)]
    lines = [Line(KINDS[kind].name, lambda _: True, 3, COLOURS[kind]) for kind in kinds]
    return Drawing(
        alt=_ALT,
        nodes=[
            {
                "id": number[name],
                "label": short_text(name, _LETTERS),
                "title": _server(view, name),
                "group": "server",
                "size": round(4 + 1.4 * math.sqrt(view.tools[name])),
            }
            for name in names
        ],
        edges=[
            {
                "from": number[link.servers[0]],
                "to": number[link.servers[1]],
                "line": kinds.index(link.kind),
                "width": round(1.5 + 1.2 * math.log2(link.jobs), 1),
                "label": f"{link.jobs:,}",
                "title": f"{' and '.join(map(short_text, link.servers))}\n{link.in_words}",
            }
            for link in links
        ],
        groups={
            "server": {
                "shape": "dot",
                "color": {
                    "background": _GROUND,
                    "border": _GROUND,
                    "highlight": {"background": _GROUND, "border": pictures.PALETTE[0]},
                },
            }
        },
        lines=[line.options for line in lines],
        label_size=12,
        height=min(_LOWEST + _FOR_EACH * max(0, len(names) - 8), _HIGHEST),
        legend=tuple(LegendKey(f"mostly {line.name}", line=line) for line in lines),
    )


def _server(view: ServerOverlap, name: str) -> str:
    inside = view.inside.get(name, 0)
    within = f"\n{quantity(inside, 'job')} done by several of its tools" if inside else ""
    return f"{short_text(name)}\n{quantity(view.tools[name], 'tool')}{within}"


_KEY = "servers_network"
NAMED_MEMBERS = 8
OPENED, _CHOSEN = "opened_servers", "chosen_server"
"""Session keys. ``OPENED`` has the two servers to open, since a callback cannot switch pages;
``_CHOSEN`` has the clicked server.
"""


def server_network_panel(snapshot: Snapshot) -> None:
    """Draw the picture and its table. Nothing is drawn if no two servers share a job."""
    view = shared_jobs(snapshot)
    if not view.links:
        return
    names, chosen_server = drawn_servers(view), st.session_state.get(_CHOSEN)
    total = quantity(len(view.tools), "server" if view.grouping == SERVERS else "value")
    total += "" if view.grouping == SERVERS else f" of the field “{view.grouping}”"
    linked = len({server for link in view.links for server in link.servers})
    some = f" Only the {MOST_LINKS} widest lines are drawn." * (len(view.links) > MOST_LINKS)
    st.markdown(
        f"**Which servers do the same jobs, and how many?** {linked:,} of {total} share a job with "
        "another server. The number on a line is the number of jobs that both do; click it to see "
        f"both servers side by side, or click a dot to see only its lines.{some}"
    )
    links = [link for link in view.links if chosen_server in link.servers] or view.links
    around = {server for link in links for server in link.servers} if chosen_server in names else ()
    network_view(server_drawing(view), names, _click, key=_KEY, selected=around)
    with st.expander(f"{quantity(len(links), 'line')} as a table, and downloads"):
        _table(view, links)
    if (two := st.session_state.pop(OPENED, None)) is not None:
        _open(snapshot, view, *two)


def _click(click: Click) -> None:
    """A click on a line opens the two servers. A click on a dot chooses that server; another click
    on the same dot undoes the choice.
    """
    if click.pair:
        st.session_state[OPENED] = (click.pair.left, click.pair.right)
    else:
        is_selected = st.session_state.get(_CHOSEN) == click.nodes[-1]
        st.session_state[_CHOSEN] = None if is_selected else click.nodes[-1]


def _table(view: ServerOverlap, links: Sequence[ServerLink]) -> None:
    columns, key = link_columns(links), digest([link.servers for link in links])[:8]

    def choose(row: int) -> None:
        st.session_state[OPENED] = links[row].servers

    data_tables.row_chooser(
        links, columns, f"{_ALT}, as a table", key=f"{key}_rows", choose=choose, height=250
    )
    with st.container(horizontal=True):
        pictures.downloads(data_tables.records(links, columns), _KEY)
        pictures.file("HTML", "text/html", lambda: graph_html(server_drawing(view)), _KEY)


def _open(snapshot: Snapshot, view: ServerOverlap, one: str, other: str) -> None:
    """Open the two servers side by side. If there is nothing to decide between them, open the
    heatmap of their tools.
    """
    key = server_pair_key(one, other)
    pairs = server_advice.pairs(snapshot) if view.grouping == SERVERS else ()
    if any(pair.key == key for pair in pairs):
        st.switch_page("pages/review.py", query_params=server_pair_query(one, other))
    query = {"view": "Heatmap", "heatmap_by": view.grouping, "one": one, "other": other}
    st.switch_page("pages/overlap.py", query_params=query)


def cluster_table(snapshot: Snapshot, rows: Sequence[ClusterRow]) -> None:
    """Draw the table. Selecting a row writes that cluster into the address, which decides what is
    drawn.
    """
    key, ids = f"clusters_{snapshot.id}", [row.cluster.id for row in rows]
    cluster_id = st.query_params.get("drawn")
    data_tables.select_rows(key, [ids.index(cluster_id)] if cluster_id in ids else [])

    def choose() -> None:
        rows_selected = st.session_state[key]["selection"]["rows"]
        st.query_params.pop("edge", None)
        st.query_params.pop("drawn", None)
        if rows_selected:
            st.query_params["drawn"] = ids[rows_selected[0]]

    tools = snapshot.catalog.by_id

    def servers(row: ClusterRow) -> str:
        return ", ".join(sorted({tools[one].server for one in row.cluster.members} - {""}))

    def names(row: ClusterRow) -> str:
        return listed((tools[one].name for one in row.cluster.members), NAMED_MEMBERS)

    columns: Columns[ClusterRow] = [
        Column(
            "name", lambda row: row.cluster.document.name, title="cluster", width=170, pinned=True
        ),
        Column("size", lambda row: len(row.cluster.members), title="tools", width=60),
        Column("state", lambda row: row.cluster.state),
        Column("kind", lambda row: short_kind(row.cluster), width=130),
        Column(
            "density",
            title="linked",
            format="percent",
            width=75,
            help="Share of the cluster's pairs of tools that the judge links directly.",
        ),
        Column(
            "weakest",
            lambda row: row.cluster.weakest_edge,
            title="weakest pair",
            full=1.0,
            format="%.2f",
            width=130,
        ),
        Column(
            "bridges",
            width=75,
            help="Links that are the only connection between two parts; without one, the cluster "
            "splits.",
        ),
        Column(
            "intransitive",
            title="through a third",
            width=110,
            help="Pairs of tools that are connected only through a third tool.",
        ),
        Column("servers", servers),
        Column("members", names, width=320),
        Column(
            "reasons",
            lambda row: "; ".join(row.cluster.reasons),
            title="why it needs review",
            width=420,
        ),
    ]
    data_tables.draw(
        rows,
        columns,
        "Clusters of three or more tools (largest first)",
        most=320,
        key=key,
        on_select=choose,
        selection_mode="single-row",
    )
