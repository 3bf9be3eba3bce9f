"""The rerankers by the name that a configuration gives; every other name is a cross-encoder's."""

from collections.abc import Callable, Mapping

from toolscope_core.model.protocols import TokenEmbedder
from toolscope_core.retrieval.rerankers.cross_encoder import cross_encoder
from toolscope_core.retrieval.rerankers.late_interaction import late_interaction
from toolscope_core.retrieval.rerankers.reranker import Reranker, RerankInputs

Builder = Callable[[RerankInputs], Reranker | None]


def _automatic(inputs: RerankInputs) -> Reranker | None:
    """Late interaction where the embedder gives vectors of tokens, else none."""
    return late_interaction(inputs) if isinstance(inputs.embedder, TokenEmbedder) else None


RERANKERS: Mapping[str, Builder] = {
    "auto": _automatic,
    "none": lambda inputs: None,
    "late": late_interaction,
}
"""A new one is its module, a line here, and its name in ``configuration.RERANKERS``."""


def reranker_of(name: str, inputs: RerankInputs) -> Reranker | None:
    """The reranker of that name over some documents; ``None`` where none is wanted or possible."""
    if not inputs.documents:
        return None
    build: Builder = RERANKERS.get(name, cross_encoder)
    return build(inputs)
