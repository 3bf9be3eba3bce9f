"""Splits a request into sub-queries: by rule, by a query set's steps, or by a model."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from toolscope_core.files.json_lines import read_rows
from toolscope_core.llm.model_requests import Asker
from toolscope_core.llm.tasks.selection_prompt import SPLIT_TASKS, SplitQuestion, Splitter
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.tool import JsonObject, Tool
from toolscope_core.wording.vocabulary import action_classes, is_plain_verb, leads
from toolscope_core.wording.words import SEARCH_STOP_WORDS

MOST_SUBQUERIES = 8
LEAST_WORDS = 2
"""A part with fewer informative words stays with the part before it."""

_SENTENCE = re.compile(r"(?<=[.!?])[\"'”’)]*\s+(?=[\"'“‘(]?[A-Z0-9])|\n+|;\s+")
_COORDINATOR = re.compile(
    r"(?:,\s*)?\b(?:and then|then|and also|as well as|and finally|finally|after that|and)\b,?\s+"
    r"|,\s+",
    re.IGNORECASE,
)
_POLITE = re.compile(
    r"^(?:please|can you|could you|would you|i(?:'d| would) like (?:you )?to"
    r"|i (?:want|need|have)(?: you)? to|help me(?: to)?|also|then|next|finally|first|second"
    r"|afterwards?|let'?s|kindly|and|lastly|after that)[\s,]+",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z]+")
_ASKING = frozenset("tell give let help provide know need want make do".split())
"""Verbs of requests that name no operation of a tool."""
_MOST_POLITE = 5


def decompose(request: str) -> tuple[str, ...]:
    """The sub-queries of a request in order, at most eight; the request alone if it cannot be
    split.

    Each sentence is one, and so is each clause in it after a comma, *and* or *then* that begins
    with a verb. Lists of things stay together. Empty for a request without text.
    """
    parts: list[str] = []
    for clause in (clause for text in _SENTENCE.split(request) for clause in _clauses(text or "")):
        if parts and _says_little(clause):
            parts[-1] = f"{parts[-1]} {clause}"
        else:
            parts.append(clause)
    if len(parts) > MOST_SUBQUERIES:
        parts[MOST_SUBQUERIES - 1 :] = [" ".join(parts[MOST_SUBQUERIES - 1 :])]
    return tuple(parts)


def _clauses(sentence: str) -> list[str]:
    borders = [0, len(sentence)]
    for match in _COORDINATOR.finditer(sentence):
        if _begins_with_verb(sentence[match.end() :]):
            borders[-1:] = [match.start(), match.end(), len(sentence)]
    clauses = (
        sentence[at:end].strip(" ,") for at, end in zip(borders[::2], borders[1::2], strict=True)
    )
    return [clause for clause in clauses if clause]


def _begins_with_verb(text: str) -> bool:
    text = text.lstrip(" \"'“")
    for _ in range(_MOST_POLITE):
        text = _POLITE.sub("", text)
    match = _WORD.match(text)
    word = match.group().lower() if match else ""
    if word in _ASKING or is_plain_verb(word) or leads(word):
        return True
    return bool(action_classes(word)) and not word.endswith(("s", "ed"))


def _says_little(clause: str) -> bool:
    words = (word.lower() for word in _WORD.findall(clause))
    return sum(word not in SEARCH_STOP_WORDS | _ASKING for word in words) < LEAST_WORDS


IN_VIEW = 15
"""M: the nearest tools that the context splitter sees (Retrieval–Plan–Select, §4.1)."""


def recorded_splits(path: Path, kind: str) -> Mapping[str, tuple[str, ...]]:
    """Like ``splits_in`` for a file. Raises ``ConfigError`` also if it cannot be read."""
    return splits_in(read_rows(path), str(path), kind)


def splits_in(
    rows: Iterable[tuple[int, JsonObject]], label: str, kind: str
) -> Mapping[str, tuple[str, ...]]:
    """The sub-queries by query id from numbered rows with ``id`` and a list of texts under
    ``kind``.

    Raises ``ConfigError``, naming ``label``, for a row without the two, and a repeated id.
    """
    splits: dict[str, tuple[str, ...]] = {}
    for number, row in rows:
        place = f"{label}, line {number}"
        query_id, texts = str(row.get("id", "")), row.get(kind)
        if not isinstance(texts, list) or not all(isinstance(one, str) for one in texts):
            raise ConfigError(
                f"{place}: `{kind}` is {texts!r:.60}; use a list of strings, or another split"
            )
        if not query_id or query_id in splits:
            raise ConfigError(
                f"{place}: `id` is missing or repeated ({query_id!r:.60}); list each query once, "
                "with its id"
            )
        splits[query_id] = tuple(text for text in texts if text.strip())
    return splits


def splits_of_model(
    requests: Sequence[str], in_view: Sequence[Sequence[Tool]], splitter: Splitter, asking: Asker
) -> list[tuple[str, ...]]:
    """The sub-queries of each request by a model; none without a usable answer.

    ``in_view`` has the tools that the model sees with each request: *dummy* sees none.
    """
    questions = [
        SplitQuestion(request, tuple(tools) if splitter == "context" else ())
        for request, tools in zip(requests, in_view, strict=True)
    ]
    answers = asking(SPLIT_TASKS[splitter], questions)
    return [tuple(one.value["steps"]) if one and one.value else () for one in answers]
