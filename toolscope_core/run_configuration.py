"""What a run of a model is told: all that decides its questions, and so which answers count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal, get_args

from toolscope_core.backends import Answer, Call, ChatModel, Ledger
from toolscope_core.config import Endpoint, Key, QuestionConfig
from toolscope_core.datamodel import Catalog, JsonObject
from toolscope_core.llm import EndpointModel
from toolscope_core.pipeline import Analysis
from toolscope_core.prompts.audit import Auditing
from toolscope_core.prompts.judge_prompt import Judging
from toolscope_core.prompts.quality import Grading
from toolscope_core.prompts.synthesis_prompt import Writing
from toolscope_core.questioning import Asking

Kind = Literal["judge", "documents", "quality"]
"""Verdicts on pairs and audits of clusters; words for merged tools; documentation quality."""
KINDS: tuple[Kind, ...] = get_args(Kind)
_TASKS = {
    "judge": (Judging(), Auditing()),
    "documents": (Writing(),),
    "quality": (Grading(),),
}


def configuration(
    kind: Kind,
    endpoint: Endpoint,
    catalog: Catalog,
    analysis: Analysis | None = None,
    questions: QuestionConfig | None = None,
) -> JsonObject:
    """As JSON; it holds no key and no budget. Equal ones give equal questions, decisions aside.

    ``analysis`` and ``questions`` are those of a run that judges.
    """
    found: dict[str, Any] = {
        "kind": kind,
        "model": endpoint.model,
        "origin": endpoint.origin,
        "base_url": endpoint.base_url,
        "temperature": endpoint.temperature,
        "prompts": prompts(kind),
        "catalog": catalog.version,
    }
    if analysis is not None:
        found |= {
            "embeddings": analysis.model,
            "threshold": analysis.threshold,
            "neighbours": analysis.config.neighbours,
            "offline": analysis.judge.name,
        }
    return found if questions is None else {**found, "questions": asdict(questions)}


def prompts(kind: Kind) -> dict[str, str]:
    """The versions of the prompts in use, by the name of the task."""
    return {task.name: task.version for task in _TASKS[kind]}


def still_holds(told: JsonObject, catalog: Catalog, analysis: Analysis | None = None) -> bool:
    """Whether a run under this configuration would be told the same today: no prompt, offline
    judge, θ or catalog has changed since. One that another version of this program wrote does not.
    """
    questions = told.get("questions")
    try:
        now = configuration(told["kind"], endpoint_of(told), catalog, analysis)
        known = questions is None or asdict(QuestionConfig(**questions)) == questions
    except (KeyError, TypeError):
        return False
    return known and {**now, "questions": questions} == {"questions": None, **told}


def endpoint_of(told: JsonObject) -> Endpoint:
    """Where a run asked; of what is no part of its configuration, the defaults."""
    return Endpoint(told["base_url"], told["model"], temperature=told["temperature"])


def keyless(endpoint: Endpoint) -> ChatModel:
    """The model, to look up what it said: it has no key and asks nobody."""
    return EndpointModel(endpoint, Key(endpoint.origin, ""))


def remembering(told: JsonObject, ledger: Ledger) -> Asking:
    """Answers under a configuration from the ledger alone."""
    return Asking(keyless(endpoint_of(told)), ledger, None)


class AsOf:
    """A ledger as it was at a time (as ``store.now`` writes it): what came later is not known."""

    def __init__(self, ledger: Ledger, until: str) -> None:
        self._ledger, self._until = ledger, until

    def known(self, keys: Sequence[str]) -> Mapping[str, Answer]:
        """See ``Ledger``."""
        found = self._ledger.known(keys).items()
        return {key: answer for key, answer in found if answer.at <= self._until}

    def commit(self, call: Call, answers: Sequence[Answer]) -> None:
        """See ``Ledger``."""
        self._ledger.commit(call, answers)
