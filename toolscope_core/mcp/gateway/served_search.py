"""The search that a gateway shows in place of its list of tools: that of the Retrieval page."""

from collections.abc import Sequence

from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.llm.embedders import embedder_of, scorer_of
from toolscope_core.mcp.gateway.routing import Search
from toolscope_core.model.environment import Settings
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.model.tool import Tool
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.decomposition import decompose
from toolscope_core.retrieval.retriever import Retriever


def tool_search(tools: Sequence[Tool], settings: Settings) -> Search:
    """The search over these tools, with the local model. Raises as the retriever does."""
    config = RetrievalConfig()
    cache = VectorCache(settings.cache_dir)
    retriever = Retriever(tools, embedder_of(settings), cache, config, scorer_of(config))

    def search(query: str, limit: int) -> list[str]:
        ranking = retriever.search(ToolRequest(query, decompose(query)), limit)
        return [one.tool_id for one in ranking]

    return search
