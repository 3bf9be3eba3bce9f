"""How well the requests of ETOM find their tools and servers: 2,375 tools of 491 real servers.

    python -m benchmarks.etom [--levels 1 2] [--requests N]

A request of level 1 names its platform and needs one tool. A request of level 2 needs any one of a
set of tools. Requests are split by rule. The benchmark prints the recall of tools and of servers,
with 95 % bootstrap intervals over requests.
"""

import json
from collections.abc import Sequence

from benchmarks import measuring
from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.evaluation.comparison import request_of
from toolscope_core.evaluation.metrics import metric_rows
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.model.tool import JsonObject
from toolscope_core.retrieval.retriever import Retriever, ServerRetriever

CUTOFFS = (1, 3, 5, 10)


def etom_requests(catalog: Catalog, levels: Sequence[int]) -> list[Query]:
    """The requests of these levels. Up to level 2, the gold tools of a request are alternatives."""
    ids = {(tool.server, tool.name): tool.id for tool in catalog.tools}
    queries = []
    for row in measuring.json_rows(measuring.data_folder("etom") / "requests.jsonl"):
        if row["level"] not in levels:
            continue
        needs = [frozenset(ids[one["server"], one["name"]] for one in need) for need in row["gold"]]
        if row["level"] <= 2:
            needs = [frozenset().union(*needs)]
        queries.append(Query(row["id"], row["query"], tuple(needs)))
    return queries


def etom_equal_sets(catalog: Catalog) -> list[list[str]]:
    """The ids in each set of tools that a model called equal."""
    ids = {(tool.server, tool.name): tool.id for tool in catalog.tools}
    sets: list[JsonObject] = json.loads(
        (measuring.data_folder("etom") / "equal_sets.json").read_text("utf-8")
    )
    return [[ids[one["server"], one["name"]] for one in own["tools"]] for own in sets]


def main() -> None:
    parser = measuring.parser_of(__doc__)
    parser.add_argument("--levels", nargs="*", type=int, default=[1, 2])
    parser.add_argument("--requests", type=int, help="so many of each level")
    options = parser.parse_args()
    measuring.print_machine()
    catalog, config = measuring.read_named("etom"), RetrievalConfig()
    owners = {tool.id: tool.owner for tool in catalog.tools}
    tools = Retriever(catalog.tools, config=config)
    servers = ServerRetriever(catalog, MiniLmEmbedder(), measuring.user_cache(), config)
    for level in options.levels:
        queries = etom_requests(catalog, [level])[: options.requests]
        requests = list(map(request_of("rules"), queries))
        found = [[one.tool_id for one in own] for own in tools.search_each(requests, max(CUTOFFS))]
        owned = [[one.server for one in own] for own in servers.search_each(requests, max(CUTOFFS))]
        for what, rankings, golds in (
            ("tools", found, [query.gold for query in queries]),
            ("servers", owned, [query.server_gold(owners) for query in queries]),
        ):
            rows = [row for row in metric_rows(golds, rankings, CUTOFFS) if row.metric == "recall"]
            figures = "  ".join(f"@{row.k} {row.interval.text}" for row in rows)
            print(f"level {level}, n = {len(queries)}, recall of {what}: {figures}", flush=True)


if __name__ == "__main__":
    main()
