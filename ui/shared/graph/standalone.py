"""The merge graph as one HTML file, drawn by pyvis: it needs no network and runs nothing of a tool.

Three walls. Text of a catalog goes only where vis-network sets it as text; the word that makes
pyvis switch to ``innerHTML`` is broken up by an invisible joiner. Every tag that would fetch
something is cut out. A policy in the file forbids what would be left.
"""

import html
import json
import re
from pathlib import Path

from ui.shared.graph.network import Drawing, LegendKey

POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
OPTIONS = {
    "edges": {"smooth": False},
    "layout": {"randomSeed": 1},
    "interaction": {"hover": True, "multiselect": True, "tooltipDelay": 80},
}
_FETCHES = re.compile(r"<(link|script)\b[^>]*?\b(?:href|src)=[^>]*>(?:\s*</\1>)?", re.DOTALL)
_NO_HREF = "h\0ref"
_HEADINGS = re.compile(r"<center>\s*<h1>.*?</h1>\s*</center>", re.DOTALL)


def library() -> str:
    """vis-network, the copy that pyvis ships."""
    import pyvis

    place = Path(pyvis.__file__).parent / "templates" / "lib" / "vis-9.1.2"
    return (place / "vis-network.min.js").read_text("utf-8")


def graph_html(drawn: Drawing) -> str:
    """A page that shows the drawing on its own, with its legend."""
    from pyvis.network import Network as Pyvis

    made = Pyvis(height="86vh", width="100%", directed=False, cdn_resources="in_line")
    made.nodes = [{**node, "title": _unlinked(node["title"])} for node in drawn.nodes]
    made.edges = [{**drawn.lines[edge["line"]], **edge} for edge in drawn.edges]
    own = {"groups": drawn.groups, "nodes": _names(drawn), "physics": drawn.physics}
    made.set_options(json.dumps({**OPTIONS, **own}))
    page = _HEADINGS.sub("", _FETCHES.sub("", made.generate_html(notebook=False)))
    page = page.replace(json.dumps(_NO_HREF)[1:-1], r"hr\u0065f")  # as JavaScript reads it: href
    head = (
        f'<head><meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<title>{html.escape(drawn.alt)}</title>"
    )
    keys = "".join(_key(key) for key in drawn.legend)
    legend = f'<p style="font:14px sans-serif;line-height:1.8">{keys}</p>'
    return page.replace("<head>", head, 1).replace("</body>", f"{legend}</body>", 1)


def _names(drawn: Drawing) -> dict[str, object]:
    """How large names are, and that they appear when they can be read."""
    label = {"drawThreshold": drawn.label_from}
    return {"font": {"size": drawn.label_size}, "scaling": {"label": label}}


def _unlinked(text: str) -> str:
    """The text with no ``href`` in it that pyvis would find, or it would write titles as HTML."""
    return text.replace("href", _NO_HREF)


def _key(key: LegendKey) -> str:
    line = key.line
    if line:
        sign = f"border-top:{line.css};padding-right:26px"
    else:
        sign = f"color:{key.color or 'inherit'}"
    mark = f'<span style="display:inline-block;{sign}">{html.escape(key.sign)}</span>'
    return f'<span style="margin-right:18px">{mark} {html.escape(key.text)}</span>'
