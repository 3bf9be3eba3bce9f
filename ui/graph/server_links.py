"""How many pairs of tools each two servers share, of what kind, and how that is drawn."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement

from toolscope_core.merging.analysis import Analysis
from toolscope_core.merging.pair_graph import unsure_pairs
from toolscope_core.model.cluster import KINDS, ProposalKind, kind_of
from toolscope_core.model.plan import MergePlan
from ui.shared.charts.pictures import GREY, PALETTE
from ui.shared.data_tables import Column
from ui.shared.graph.network import Drawing, LegendKey, Line, short_text
from ui.shared.kept import kept
from ui.shared.snapshot import Snapshot
from ui.shared.tools.tool_blocks import CLUSTERS, SERVERS, Block, blocks_of, groupings


@dataclass(frozen=True, slots=True)
class ServerLink:
    """Two servers, sorted, and their pairs of tools: ``counts`` by kind, a key of ``KINDS``."""

    servers: tuple[str, str]
    counts: Mapping[ProposalKind, int]

    @property
    def pairs(self) -> int:
        return sum(self.counts.values())

    @property
    def kind(self) -> ProposalKind:
        """The kind of most pairs; of equal ones the clearest."""
        return max(KINDS, key=lambda kind: self.counts.get(kind, 0))

    @property
    def in_words(self) -> str:
        """The kinds that occur, as in *drop-in: 3; looks alike: 1*."""
        counts = {words.name: self.counts.get(kind, 0) for kind, words in KINDS.items()}
        return "; ".join(f"{words}: {count:,}" for words, count in counts.items() if count)


@dataclass(frozen=True, slots=True, eq=False)
class ServerOverlap:
    """The servers with how many tools each has, and the links between two, the most pairs first.

    ``by`` is what the blocks are: servers, or where hardly a tool has one the values of a field.
    ``inside`` are the pairs of tools of one server.
    """

    by: str
    tools: Mapping[str, int]
    links: tuple[ServerLink, ...]
    inside: Mapping[str, int]


@kept()
def overlap(snapshot: Snapshot) -> ServerOverlap:
    """By servers, else by the first category field. Raises ``JobError`` before the analysis is
    finished.
    """
    plan = snapshot.plan
    by = groupings(plan.catalog)[0]
    blocks = blocks_of(plan, by) if by != CLUSTERS else ()
    return server_overlap(snapshot.analysis, plan, blocks, by)


def server_overlap(
    analysis: Analysis, plan: MergePlan, blocks: Sequence[Block], by: str = SERVERS
) -> ServerOverlap:
    """Two tools overlap where a cluster holds both, or where the judge is unsure (they look
    alike).
    """
    ids, counts = tuple(analysis.rows), dict[tuple[str, str], Counter[ProposalKind]]()
    home = {ids[row]: block.name for block in blocks for row in block.rows.tolist()}
    together = {}
    for cluster in (one for one in plan.clusters if one.state != "rejected"):
        together.update(dict.fromkeys(cluster.members, cluster.id))
        tools = Counter(home[member] for member in cluster.members if member in home)
        for one, other in combinations_with_replacement(sorted(tools), 2):
            pairs = _pairs(tools[one], tools[other], within=one == other)
            counts.setdefault((one, other), Counter())[kind_of(cluster)] += pairs
    for pair in unsure_pairs(analysis):
        ends = sorted(home[tool] for tool in (pair.left, pair.right) if tool in home)
        apart = pair.left not in together or together[pair.left] != together.get(pair.right)
        if len(ends) == len((pair.left, pair.right)) and apart:
            counts.setdefault((ends[0], ends[1]), Counter())["unknown"] += 1
    links = [ServerLink(two, +kinds) for two, kinds in counts.items() if two[0] != two[1]]
    return ServerOverlap(
        by=by,
        tools={block.name: len(block) for block in blocks},
        links=tuple(sorted(links, key=lambda link: (-link.pairs, link.servers))),
        inside={two[0]: n.total() for two, n in counts.items() if two[0] == two[1] and n.total()},
    )


def link_columns(links: Sequence[ServerLink]) -> list[Column[ServerLink]]:
    """The two servers, their pairs, and those of each kind that occurs."""

    def of_kind(kind: ProposalKind) -> Column[ServerLink]:
        return Column(KINDS[kind].name, lambda link: link.counts.get(kind, 0))

    return [
        Column("server A", lambda link: link.servers[0]),
        Column("server B", lambda link: link.servers[1]),
        Column("pairs"),
        *(of_kind(kind) for kind in KINDS if any(link.counts.get(kind) for link in links)),
    ]


def _pairs(one: int, other: int, *, within: bool) -> int:
    """How many pairs so many tools of two servers, or of one ``within`` itself, make."""
    return one * (one - 1) // 2 if within else one * other


ALT = "Servers that overlap"
MOST_LINKS = 45
"""Up to as many links are drawn, those of the most pairs: of more no line can be followed."""
LETTERS = 20
"""Letters of a name."""
COLOURS = {
    "copy": PALETTE[2],
    "prune": PALETTE[0],
    "router": PALETTE[1],
    "family": PALETTE[3],
    "unknown": GREY,
}
_GROUND = "rgba(86,180,233,0.9)"


def drawn_servers(view: ServerOverlap) -> list[str]:
    """The servers that are drawn, sorted: those with a link that is."""
    return sorted({server for link in view.links[:MOST_LINKS] for server in link.servers})


@lru_cache(maxsize=4)
def server_drawing(view: ServerOverlap) -> Drawing:
    """A node for each of ``drawn_servers``; a line has the colour of most of its pairs."""
    names, links = drawn_servers(view), view.links[:MOST_LINKS]
    number = {name: at for at, name in enumerate(names)}
    kinds = [kind for kind in KINDS if any(link.kind == kind for link in links)]
    lines = [Line(KINDS[kind].name, lambda _: True, 3, COLOURS[kind]) for kind in kinds]
    return Drawing(
        alt=ALT,
        nodes=[
            {
                "id": number[name],
                "label": short_text(name, LETTERS),
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
                "width": round(1.5 + 1.2 * math.log2(link.pairs), 1),
                "label": f"{link.pairs:,}" if link.pairs > 1 else "",
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
                    "highlight": {"background": _GROUND, "border": PALETTE[0]},
                },
            }
        },
        lines=[line.options for line in lines],
        label_size=12,
        legend=tuple(LegendKey(f"mostly {line.name}", line=line) for line in lines),
    )


def _server(view: ServerOverlap, name: str) -> str:
    inside = view.inside.get(name, 0)
    within = f"\n{inside:,} overlapping pairs of its own" if inside else ""
    return f"{short_text(name)}\n{view.tools[name]:,} tools{within}"
