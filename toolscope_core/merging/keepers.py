"""Which of two servers the merges between them keep: the one that the other replaces less."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from toolscope_core.embedding.candidate_pairs import Rows
from toolscope_core.model.tool import Tool


def replaceable_shares(
    tools: Sequence[Tool], first: Rows, left: Rows, right: Rows
) -> Mapping[str, float]:
    """By server the share of its tools, 0 to 1, that some other server has too: an exact copy
    (``first`` is by row that of the first of equal content), or the other end of a pair of rows
    that are merges.
    """
    places: defaultdict[int, set[str]] = defaultdict(set)
    for tool, own in zip(tools, first.tolist(), strict=True):
        places[own].add(tool.server)
    near = {own: {own} for own in places}
    for a, b in zip(first[left].tolist(), first[right].tolist(), strict=True):
        near[a].add(b)
        near[b].add(a)
    elsewhere = Counter(
        tool.server
        for tool, own in zip(tools, first.tolist(), strict=True)
        if tool.server and any(places[other] - {tool.server, ""} for other in near[own])
    )
    sizes = Counter(tool.server for tool in tools if tool.server)
    return {server: elsewhere[server] / size for server, size in sizes.items()}
