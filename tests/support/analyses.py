"""An analysis with the embedder of words, and a run that asks a model and remembers by itself."""

from tests.support.fakes import MemoryLedger, WordEmbedder
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.llm.model_requests import ModelRequests
from toolscope_core.llm.request_workers import Terms
from toolscope_core.merging.analysing import analyse
from toolscope_core.model.configuration import AnalysisConfig


def analysed(catalog, folder, **config):
    return analyse(catalog, AnalysisConfig(**config), WordEmbedder(), VectorCache(folder))


def asking(model, ledger=None, **terms):
    return ModelRequests(model, ledger or MemoryLedger(), Terms("run", **terms))
