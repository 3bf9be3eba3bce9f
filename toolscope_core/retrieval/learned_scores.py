"""What a model that learned from queries adds to the scores of tools."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from toolscope_core.model.protocols import Vectors
from toolscope_core.model.tool import Tool
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.sparse import Scores


@dataclass(frozen=True, slots=True)
class LearnedShare:
    """For n tools how much of the score of their texts stays, in [0, 1], and what was learned: a
    tool's score is ``kept`` times that of its texts, plus ``added``.
    """

    kept: Scores
    added: Scores

    def scores(self, by_text: Scores) -> Scores:
        """float32 of shape (n,) from the scores of the texts."""
        return self.kept * by_text + self.added


class LearnedScorer(Protocol):
    """Scores the tools of one toolset, in the order in which it was given."""

    def share(self, request: ToolRequest, vectors: Sequence[Vectors]) -> LearnedShare:
        """What was learned about a request, from the vectors of its ``texts``."""


class LearnedRanking(Protocol):
    """A trained model, which may have learned about other tools than are searched."""

    @property
    def embedder(self) -> str:
        """The name of the model whose vectors it learned from."""

    def over(self, tools: Sequence[Tool]) -> LearnedScorer:
        """The scorer of these tools; those that it does not know keep the score of their texts."""
