"""A catalog of six tools, queries about it, and rankings that are known."""

from toolscope_core.evaluation.comparison import Trial
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import ArgumentMap, ArgumentMove
from toolscope_core.model.plan import MergedTool, MergePlan, Relabel
from toolscope_core.model.tool import Tool
from toolscope_core.retrieval.assembly import ToolRequest


def tool(name, **properties):
    types = {key: {"type": kind} for key, kind in properties.items()}
    schema = {"type": "object", "properties": types, "required": list(properties)}
    return Tool(name, name, f"{name}.", schema=schema)


TOOLS = {
    one.id: one
    for one in (
        tool("book", seat="string"),
        tool("cancel", seat="string"),
        tool("find", query="string"),
        tool("mail", to="string"),
        tool("search", text="string"),
        tool("weather", city="string"),
    )
}
CATALOG = Catalog(tuple(TOOLS.values()))

QUERIES = (
    Query("1", "look for it", (frozenset({"search"}),), calls=(
        {"tool": "search", "arguments": {"text": "it"}},
    )),
    Query("2", "find it, then mail it", (frozenset({"find"}), frozenset({"mail"})), calls=(
        {"tool": "find", "arguments": {"query": "it"}},
        {"tool": "mail", "arguments": {"to": 7}},
    )),
    Query("3", "find and search", (frozenset({"find"}), frozenset({"search"}))),
    Query("4", "rain?", (frozenset({"weather"}),)),
    Query("5", "no answer is known"),
)  # fmt: skip

ORDERS = {
    "look for it": ["find", "search", "mail", "book", "cancel", "weather"],
    "find it, then mail it": ["find", "search", "mail", "book", "cancel", "weather"],
    "find and search": ["mail", "find", "search", "book", "cancel", "weather"],
    "rain?": ["find", "search", "book", "cancel", "mail", "weather"],
}
"""What is found for each request, whatever the toolset has of it."""

PHI = {name: "find" if name == "search" else name for name in TOOLS}
MEMBERS = {new: tuple(old for old in PHI if PHI[old] == new) for new in PHI.values()}
MERGED = MergePlan(
    catalog=CATALOG,
    clusters=(),
    tools=tuple(MergedTool(TOOLS[name], members) for name, members in MEMBERS.items()),
    relabels=tuple(
        Relabel(old, new, "", old, new, "merged" if new == "find" else "kept")
        for old, new in PHI.items()
    ),
    arguments=(
        ArgumentMap("find", "find", (ArgumentMove("query", "query"),)),
        ArgumentMap("search", "find", (ArgumentMove("text", "query"),)),
    ),
)
"""*search* is *find* now."""


class KnownOrder:
    """A ranker that knows its answers; ``asked`` are the requests of each ranking."""

    def __init__(self):
        self.asked = []

    def rankings(self, tools, requests, k, progress=None):
        ids = {one.id for one in tools}
        self.asked.append([one.text for one in requests])
        return tuple(
            tuple(name for name in ORDERS[one.text] if name in ids)[:k] for one in requests
        )


def trial(cutoffs=(1, 3)):
    return Trial.of(CATALOG, QUERIES, lambda query: ToolRequest(query.text), cutoffs)
