"""The tables of Tool-to-Agent: the servers found for the requests of LiveMCPBench."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from benchmarks.papers.paper_sets import SPARSE, PaperSet, PaperTable, intervals
from toolscope_core.evaluation.comparison import request_of
from toolscope_core.evaluation.metrics import metric_rows
from toolscope_core.model.configuration import RequestSplit
from toolscope_core.model.search_configuration import PAPER_SEARCHES, RetrievalConfig
from toolscope_core.model.tool import JsonObject
from toolscope_core.retrieval.retriever import ServerRetriever

ALGORITHM = PAPER_SEARCHES["tool-to-agent"]
SEARCHES: Mapping[str, tuple[RetrievalConfig, RequestSplit, str]] = {
    "BM25 of servers": (replace(SPARSE, corpus="servers"), "steps", "recall .20 .20 .20"),
    "Q.Retrieval: cosine of servers to the request": (
        replace(ALGORITHM, dense_weight=1.0, corpus="servers"),
        "none",
        "recall .31 .47 .56",
    ),
    "algorithm 1, by step": (ALGORITHM, "steps", "recall .61 .77 .83; MiniLM @5 .80"),
    "algorithm 1, tools alone": (replace(ALGORITHM, corpus="tools"), "steps", ""),
    "algorithm 1, servers alone": (replace(ALGORITHM, corpus="servers"), "steps", ""),
    "ours, by step": (RetrievalConfig(), "steps", ""),
    "ours, by step, late interaction": (RetrievalConfig(rerank="late"), "steps", ""),
    "ours, by rule": (RetrievalConfig(), "rules", ""),
    "ours, not split": (RetrievalConfig(), "none", ""),
}
PUBLISHED = {
    "MCPZero, as published": "recall .44 .66 .70",
    "ScaleMCP, as published": "recall .49 .68 .74",
}


def servers(one: PaperSet) -> Iterator[JsonObject]:
    """Table 1, at 1, 3 and 5, with MiniLM's row from table 2.

    Of the paper's figures, only recall is printed beside ours. The paper's mAP falls as K grows
    (.61 .49 .34); ours cannot fall, because all needed servers count at each K. The paper does not
    define its mAP.
    """
    bench = one.bench
    owners = {tool.id: tool.owner for tool in one.tools}
    queries = [query for query in one.queries if query.server_gold(owners)]
    golds = [query.server_gold(owners) for query in queries]
    for title, (config, split, paper) in SEARCHES.items():
        retriever = ServerRetriever(bench.catalog, bench.embedder, bench.cache, config)
        result_lists = retriever.search_each(list(map(request_of(split), queries)), 5)
        rankings = [[place.server for place in places] for places in result_lists]
        rows = metric_rows(golds, rankings, (1, 3, 5))
        places = [place.tool_id is not None for own in result_lists for place in own]
        yield {
            "search": title,
            **intervals(row for row in rows if row.metric in ("recall", "map", "ndcg")),
            "places from tools": round(sum(places) / max(1, len(places)), 3),
            "paper": paper or None,
        }
    yield from ({"search": title, "paper": own} for title, own in PUBLISHED.items())


TABLES: Mapping[str, PaperTable] = {
    "t2a-1": PaperTable("servers for a request", ("livemcpbench",), 1, servers)
}
