"""The servers of a catalog as vis-network draws them: as large as their tools are many, joined by
lines as wide as they share pairs. Pure functions.
"""

import math
from functools import lru_cache

from toolscope_core.model.kinds import KINDS
from ui.graph.server_links import ServerOverlap
from ui.shared.charts.chart_style import GREY, PALETTE
from ui.shared.graph.network import Drawing, LegendKey, Line, short_text

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
