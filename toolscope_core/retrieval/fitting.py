"""Estimates whether any tool of a toolset serves a request.

The scores of a search do not tell: they compare tools with each other, so the best is near 1 even
if none fits.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from toolscope_core.model.tool import Tool
from toolscope_core.retrieval.assembly import best_first
from toolscope_core.retrieval.rerankers import LateInteraction
from toolscope_core.retrieval.searching import TextScores
from toolscope_core.wording.reading import read_tool
from toolscope_core.wording.vocabulary import total_weight
from toolscope_core.wording.words import keys_of

FIT_WEIGHTS = Path(__file__).with_name("fit_weights.json")
"""The file of weights that ``benchmarks.nothing_fits`` writes."""
SIGNALS = (
    "cosine",
    "margin",
    "tool_tokens",
    "request_tokens",
    "request_words",
    "name_words",
    "object",
)
"""The inputs of the probability (``signals``)."""
NO_TOOL = "No tool does this; these are the nearest."
_NEAREST = 12


@dataclass(frozen=True, slots=True)
class Fit:
    """The ``probability`` that a tool of the toolset serves a request, in [0, 1].

    It assumes that half of all requests are served.
    """

    probability: float

    @property
    def is_none(self) -> bool:
        """Whether to say that no tool serves the request.

        This happens for 5 % of the requests that a tool serves.
        """
        return self.probability < float(fit_weights()["none_below"])

    @property
    def is_uncertain(self) -> bool:
        """Whether a model should decide, if one is named."""
        return self.probability < float(fit_weights()["uncertain_below"])

    @property
    def sentence(self) -> str:
        """The sentence to show if no tool does the job; empty if one may."""
        return NO_TOOL if self.is_none else ""


def fit_of(values: Sequence[float]) -> Fit:
    """The fit for the ``signals`` of a request."""
    weights = fit_weights()
    logit = weights["intercept"] + sum(
        weights["signals"][name] * value for name, value in zip(SIGNALS, values, strict=True)
    )
    return Fit(1 / (1 + math.exp(-logit)))


def signals(
    text: str, scores: TextScores, tools: Sequence[Tool], late: LateInteraction
) -> tuple[float, ...]:
    """How well a request and the tools fit, in the order of ``SIGNALS``.

    They are the highest cosine, and by how many deviations it exceeds the mean. For the nearest
    tools, they are the highest share of a tool's tokens with a similar one in the request, and of
    the request's with a similar one in the tool. For the best tool, they are the share of the
    request's words in the tool, the share of its name's words in the request, and whether the
    request names what it works on.
    """
    nearest = best_first(scores.scores, _NEAREST)
    by_tool, by_request = late.sides(text, nearest)
    dense = scores.dense
    cosine = float(dense.max())
    best = read_tool(tools[nearest[0]])
    request = read_tool(Tool("", "", text))  # the request is read like a tool's description
    return (
        cosine,
        (cosine - float(dense.mean())) / (float(dense.std()) or 1.0),
        float(by_tool.max()),
        float(by_request.max()),
        _share(request.text_words, best.all_keys),
        _share(best.name_words, request.word_keys),
        float(any(keys_of(word) & request.word_keys for word in best.objects or best.nouns)),
    )


def _share(words: Sequence[str], keys: frozenset[Any]) -> float:
    """The weight of the words with one of the keys, as a share of the weight of all."""
    known = [word for word in words if keys_of(word) & keys]
    return total_weight(known) / (total_weight(words) or 1.0)


@cache
def fit_weights() -> dict[str, Any]:
    """The trained weights of the fit.

    They are the intercept, the weight of each signal, the probabilities below which no tool fits
    and below which that is uncertain, and the embedder for whose cosines they were trained.
    """
    weights: dict[str, Any] = json.loads(FIT_WEIGHTS.read_text("utf-8"))
    return weights
