"""The configuration of a run: everything that decides its questions, and so which answers count."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal, get_args

from toolscope_core.llm.chat import EndpointModel
from toolscope_core.llm.model_requests import ModelRequests
from toolscope_core.llm.tasks.paper_prompts import prompt_version
from toolscope_core.merging.analysis import Analysis
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import Endpoint, PromptWording, QuestionConfig
from toolscope_core.model.environment import ApiKey
from toolscope_core.model.protocols import Answer, Call, ChatModel, Ledger
from toolscope_core.model.tool import JsonObject

RunKind = Literal[
    "judge",
    "documents",
    "quality",
    "variants",
    "plan",
    "siblings",
    "namespaces",
    "queries",
    "calls",
    "agent",
    "experiment",
]
"""What a run produces. In order: verdicts on pairs and audits of clusters; words for merged tools;
documentation grades; document variants of tools; tools for the jobs of a request; descriptions that
tell siblings apart; descriptions of namespaces; queries; calls to compare tools; an agent's work on
queries; the tools that queries in an experiment take.
"""
RUN_KINDS: tuple[RunKind, ...] = get_args(RunKind)
_TASKS: dict[RunKind, tuple[str, ...]] = {
    "judge": ("judge", "audit", "family audit"),
    "documents": ("synthesis",),
    "quality": ("quality",),
    "variants": ("augmentation",),
    "siblings": ("siblings",),
    "namespaces": ("namespaces",),
    "queries": ("query drafts", "query polish"),
    "calls": ("calls",),
    "agent": ("agent run",),
    "plan": ("rephrasing", "worker", "plan filter"),
    "experiment": ("dummy split", "context split", "selection", "rephrasing", "worker"),
}


def configuration(
    kind: RunKind,
    endpoint: Endpoint,
    catalog: Catalog,
    analysis: Analysis | None = None,
    questions: QuestionConfig | None = None,
) -> JsonObject:
    """The configuration as JSON, without the key and the budget.

    Equal configurations give equal questions, provided that people's decisions are equal too.
    ``analysis`` and ``questions`` belong to a judging run.
    """
    run_config: dict[str, Any] = {
        "kind": kind,
        "model": endpoint.model,
        "origin": endpoint.origin,
        "base_url": endpoint.base_url,
        "temperature": endpoint.temperature,
        "reasoning": endpoint.reasoning,
        "prompts": prompts(kind, endpoint.prompts),
        "catalog": catalog.version,
    }
    if endpoint.prompts != "own":
        run_config["wording"] = endpoint.prompts
    if analysis is not None:
        run_config |= {
            "embeddings": analysis.model,
            "threshold": analysis.threshold,
            "neighbours": analysis.config.neighbours,
            "offline": analysis.judge.name,
        }
    return run_config if questions is None else {**run_config, "questions": asdict(questions)}


def prompts(kind: RunKind, wording: PromptWording = "own") -> dict[str, str]:
    """The version of each current prompt, by task name."""
    return {task: prompt_version(task, wording == "paper") for task in _TASKS[kind]}


def still_holds(run_config: JsonObject, catalog: Catalog, analysis: Analysis | None = None) -> bool:
    """Whether a run with this configuration would ask the same questions today.

    For that, the prompts, the offline judge, the threshold, the catalog and the program's version
    must all be unchanged.
    """
    questions = run_config.get("questions")
    try:
        now = configuration(run_config["kind"], endpoint_of(run_config), catalog, analysis)
        same_keys = questions is None or asdict(QuestionConfig(**questions)) == questions
    except (KeyError, TypeError):
        return False
    before = {key: value for key, value in run_config.items() if key != "generation"}
    return same_keys and {**now, "questions": questions} == {"questions": None, **before}


def endpoint_of(run_config: JsonObject) -> Endpoint:
    """The endpoint that a run asked; missing values get their defaults."""
    return Endpoint(
        run_config["base_url"],
        run_config["model"],
        temperature=run_config["temperature"],
        reasoning=run_config["reasoning"],
        prompts=run_config.get("wording", "own"),
    )


def model_without_key(endpoint: Endpoint) -> ChatModel:
    """The model without a key, which serves to look up its stored answers; it sends nothing."""
    return EndpointModel(endpoint, ApiKey(endpoint.origin, ""))


def stored_answers(run_config: JsonObject, ledger: Ledger) -> ModelRequests:
    """The stored answers for a configuration; nothing is sent."""
    return ModelRequests(model_without_key(endpoint_of(run_config)), ledger, None)


class AsOf:
    """A ledger as it was at a time (in the form of ``store.now``), without later answers."""

    def __init__(self, ledger: Ledger, until: str) -> None:
        self._ledger, self._until = ledger, until

    def answers(self, keys: Sequence[str]) -> Mapping[str, Answer]:
        """See ``Ledger``."""
        answers = self._ledger.answers(keys)
        return {key: answer for key, answer in answers.items() if answer.at <= self._until}

    def commit(self, call: Call, answers: Sequence[Answer]) -> None:
        """See ``Ledger``."""
        self._ledger.commit(call, answers)
