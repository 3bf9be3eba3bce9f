"""The sub-queries of requests as a file has them, or as a model gives them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from toolscope_core.files.json_lines import read_rows
from toolscope_core.llm.requests.model_requests import Asker
from toolscope_core.llm.tasks.subquery_prompt import SPLIT_TASKS, SplitQuestion, Splitter
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.tool import Tool

IN_VIEW = 15
"""M: the nearest tools that the context splitter sees (Retrieval–Plan–Select, §4.1)."""


def recorded_splits(path: Path, kind: str) -> Mapping[str, tuple[str, ...]]:
    """By query id the sub-queries of a JSONL file with ``id`` and a list of texts under ``kind``.

    Raises ``ConfigError`` for a file that cannot be read, a row without the two, and an id that
    comes twice.
    """
    splits: dict[str, tuple[str, ...]] = {}
    for number, row in read_rows(path):
        place = f"{path}, line {number}"
        given, texts = str(row.get("id", "")), row.get(kind)
        if not isinstance(texts, list) or not all(isinstance(one, str) for one in texts):
            raise ConfigError(
                f"{place}: `{kind}` is {texts!r:.60}; give a list of texts, or another --decompose"
            )
        if not given or given in splits:
            raise ConfigError(f"{place}: `id` is {given!r:.60}; give each query's id once")
        splits[given] = tuple(text for text in texts if text.strip())
    return splits


def splits_of_model(
    requests: Sequence[str], in_view: Sequence[Sequence[Tool]], splitter: Splitter, asking: Asker
) -> list[tuple[str, ...]]:
    """The sub-queries of each request as a model has them; none where it gave no usable answer.

    ``in_view`` has for each request the tools that the model sees beside it: *dummy* sees none.
    """
    questions = [
        SplitQuestion(request, tuple(tools) if splitter == "context" else ())
        for request, tools in zip(requests, in_view, strict=True)
    ]
    answers = asking(SPLIT_TASKS[splitter], questions)
    return [tuple(one.value["steps"]) if one and one.value else () for one in answers]
