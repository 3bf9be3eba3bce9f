"""A graph on the screen: vis-network, drawn by ``network_view.js``; a click reaches Python.

The view holds no state of its own. It sends what was clicked, and draws the data it is sent.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from toolscope_core.model.pair import Pair
from ui.shared.graph.network import Drawing, library

KEY = "network"
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
    """What was clicked: nodes (several with Ctrl), or the two ends of an edge (``pair``).

    A node that was clicked twice is to be ``opened``.
    """

    nodes: list[str]
    pair: Pair | None
    opened: bool


_view = st.components.v2.component(
    "toolscope_network",
    html=HTML,
    css=CSS,
    js=f"{library()}\n{Path(__file__).with_name('network_view.js').read_text('utf-8')}",
)


def network_view(
    drawn: Drawing,
    ids: Sequence[str],
    on_click: Callable[[Click], None],
    *,
    key: str = KEY,
    selected: Collection[str] = (),
    edge: Pair | None = None,
) -> None:
    """Show a drawing whose nodes are ``ids``, with the selected ones or the edge standing out.

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
            "graph": drawn.json,
            "selected": [number[node] for node in selected if node in number],
            "edge": [number[edge.left], number[edge.right]] if edge else None,
        },
        on_clicked_change=clicked,
    )
