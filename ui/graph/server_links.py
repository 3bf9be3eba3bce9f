"""How many pairs of tools each two servers share, and of what kind."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

from toolscope_core.merging.analysis import Analysis
from toolscope_core.merging.pair_graph import unsure_pairs
from toolscope_core.model.kinds import KINDS, ProposalKind, kind_of
from toolscope_core.model.plan import MergePlan
from ui.shared.charts.chart_style import TableRow
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


def link_rows(links: Sequence[ServerLink]) -> list[TableRow]:
    """A row for each two servers, a column for each kind that occurs."""
    kinds = [kind for kind in KINDS if any(link.counts.get(kind) for link in links)]
    return [
        {
            "server A": link.servers[0],
            "server B": link.servers[1],
            "pairs": link.pairs,
            **{KINDS[kind].name: link.counts.get(kind, 0) for kind in kinds},
        }
        for link in links
    ]


def _pairs(one: int, other: int, *, within: bool) -> int:
    """How many pairs so many tools of two servers, or of one ``within`` itself, make."""
    return one * (one - 1) // 2 if within else one * other
