"""A cross-encoder reads a request and a document together and says how well they fit."""

from collections.abc import Sequence

from toolscope_core.model.errors import ConfigError
from toolscope_core.retrieval.fusion import min_max
from toolscope_core.retrieval.rerankers.reranker import Reranker, RerankInputs
from toolscope_core.retrieval.sparse import Scores


def cross_encoder(inputs: RerankInputs) -> Reranker:
    """The reranker with the model that the configuration names. Raises ``ConfigError`` without,
    and when it scores ``ModelError`` as the model does.
    """
    full, scorer = [one.full for one in inputs.documents], inputs.scorer
    if scorer is None:
        raise ConfigError("the search was given no cross-encoder; give its scorer, or rerank late")

    def score(text: str, rows: Sequence[int]) -> Scores:
        return min_max(scorer.scores(text, [full[row] for row in rows]))

    return lambda texts: score
