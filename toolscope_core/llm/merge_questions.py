"""The questions to a model about a catalog: no more than needed, unless ``paper`` is chosen.

Pairs first, the uncertain before the others; then the clusters that they form. Left out are pairs
that the offline judge is sure are neither a merge nor a family, and those of its merges that the
model's answers already imply: a pair below its merge threshold is never skipped for what its
neighbours are, so a chain whose ends do not belong together is still found. ``paper`` asks about
every candidate pair and every cluster, as ToolScope (section 3.2) does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from toolscope_core.embedding.candidate_pairs import cosines
from toolscope_core.llm.requests.model_requests import Asker
from toolscope_core.llm.tasks.audit import AuditTask, ClusterTools, audit_groups
from toolscope_core.llm.tasks.fence import PromptText, prompt_text
from toolscope_core.llm.tasks.judge_prompt import OUTCOMES, JudgeTask, ToolPair, serves_of
from toolscope_core.merging.analysis import Analysis, bars_of
from toolscope_core.merging.graph import MergeGraph, merge_graph, spanning_pairs
from toolscope_core.merging.grouping import correct_pairs
from toolscope_core.merging.model_verdicts import Audit, ModelVerdicts, Saved
from toolscope_core.merging.pair_graph import merge_edges
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import QuestionConfig
from toolscope_core.model.decision import Constraints
from toolscope_core.model.pair import Outcome, Pair, Verdict
from toolscope_core.model.protocols import Answer
from toolscope_core.model.tool import JsonObject, Tool

MODEL_CODES = frozenset(
    "instruction-like insists ordering-claim asks-context cites-tool redefines-tool".split()
)
"""Codes of findings of the scan on text that addresses its reader."""
_TASK_WORDS = re.compile(
    r"\b(?:merg(?:e|es|ed|ing|eable)|verdicts?|confidence|duplicates?|identical|equivalent"
    r"|same (?:job|tool|thing|function|purpose)|synonym\w*|alias(?:es)?|interchangeable|replaces?"
    r"|supersedes?|subsum\w+|parametric|serve[sd]?|callers?|in place of|groups?|answers?"
    r"|evaluat\w+|judges?|grad(?:e|es|ing)|score|reviewer|auditor|curator|t\d+)\b",
    re.IGNORECASE,
)
"""Words that could sway an answer; where an honest text has them, a person looks at the merge."""


def ask_for_verdicts(
    analysis: Analysis,
    links: Constraints,
    asker: Asker,
    config: QuestionConfig | None = None,
) -> ModelVerdicts:
    """Verdicts on pairs and audits of clusters. People's decisions (``links``) are not asked
    about; questions that stay open are *unanalysed* with ``asker.message``.
    """
    config = config or QuestionConfig()
    plan, task = pairs_to_ask(analysis, links, config), JudgeTask(batch=config.batch)
    if config.paper:
        verdicts = _verdicts(analysis, plan.pairs, asker, task)
    else:
        verdicts = _in_rounds(analysis, plan, asker, task)
    tool_ids = {tool for pair in verdicts for tool in (pair.left, pair.right)}
    texts = {tool.id: _prompt_text(tool) for tool in analysis.catalog.tools if tool.id in tool_ids}
    model_verdicts = ModelVerdicts(
        judge=asker.name,
        verdicts=_careful(verdicts, texts),
        notes={tool: text.notes for tool, text in texts.items() if text.notes},
        wary=wary_of(analysis.catalog),
    )
    clusters = _clusters(analysis, links, model_verdicts, config)
    doubtful = [ids for ids, needed in clusters if needed]
    return replace(
        model_verdicts,
        audits=_audits(analysis, doubtful, asker, AuditTask()),
        spent=asker.spent,
        saved=Saved(plan.sure, len(plan.pairs) - len(verdicts), len(clusters) - len(doubtful)),
        message=asker.message,
    )


@dataclass(frozen=True, slots=True)
class PairsToAsk:
    """Candidate pairs in the order in which they are asked about, with the offline judge's
    probability of each, and how many others it is sure about.
    """

    pairs: tuple[Pair, ...]
    probability: Mapping[Pair, float]
    sure: int


def pairs_to_ask(analysis: Analysis, links: Constraints, config: QuestionConfig) -> PairsToAsk:
    """The pairs to ask about at most, the most uncertain first. Left out are exact copies, and
    pairs that the offline judge is sure are no merge, its own families among them.
    """
    tools, scores = analysis.catalog.tools, analysis.scores
    columns = (scores.left, scores.right, scores.probability)
    candidates = {
        Pair.of(tools[a].id, tools[b].id): p
        for a, b, p in zip(*(column.tolist() for column in columns), strict=True)
        if tools[a].content_hash != tools[b].content_hash
    }
    if not config.paper:
        candidates = {pair: p for pair, p in candidates.items() if not _decided(pair, links)}
    least = 0.0 if config.paper else config.sure_below
    asked = {pair: p for pair, p in candidates.items() if p >= least}
    order = sorted(asked, key=lambda pair: (abs(asked[pair] - 0.5), pair))
    return PairsToAsk(tuple(order), asked, len(candidates) - len(asked))


def tool_pairs(analysis: Analysis, pairs: Iterable[Pair]) -> list[ToolPair]:
    """The tools of pairs, as a ``JudgeTask`` takes them."""
    tools, rows = analysis.catalog.tools, analysis.rows
    return [ToolPair(tools[rows[pair.left]], tools[rows[pair.right]]) for pair in pairs]


def side_by_side(pairs: Sequence[Pair], batch: int) -> list[Pair]:
    """The pairs in such an order that those of one call share tools, each shown once in a prompt.

    Each call begins with the first pair left, so that the order holds from call to call.
    """
    near: dict[str, list[Pair]] = {}
    for pair in pairs:
        near.setdefault(pair.left, []).append(pair)
        near.setdefault(pair.right, []).append(pair)
    ordered: dict[Pair, None] = {}
    for first in pairs:
        if first in ordered:
            continue
        call = {first: None}
        for other in (*near[first.left], *near[first.right]):
            if len(call) < batch and other not in ordered:
                call[other] = None
        ordered |= call
    return list(ordered)


def addressing_of(catalog: Catalog) -> frozenset[str]:
    """Ids of the tools whose text addresses its reader."""
    return frozenset(
        f.tool_id for f in catalog.findings if f.code in MODEL_CODES and f.severity != "info"
    )


def wary_of(catalog: Catalog) -> frozenset[str]:
    """Ids of the tools whose text addresses its reader, or mentions what a model is asked here."""
    swaying = {tool.id for tool in catalog.tools if _TASK_WORDS.search(_prompt_text(tool).text)}
    return addressing_of(catalog) | swaying


def _in_rounds(
    analysis: Analysis, plan: PairsToAsk, asker: Asker, task: JudgeTask
) -> dict[Pair, Verdict]:
    """The verdicts on all pairs that no others may imply, and on as few of the offline judge's
    merges as join the model's: round by round, a spanning forest of those still apart.
    """
    merge_at = analysis.judge.weights.merge_at
    waiting = [pair for pair in plan.pairs if plan.probability[pair] >= merge_at]
    now = [pair for pair in plan.pairs if plan.probability[pair] < merge_at]
    verdicts: dict[Pair, Verdict] = {}
    while True:
        merged = [pair for pair, verdict in verdicts.items() if verdict.outcome == "merge"]
        forest = spanning_pairs(waiting, merged)
        if not now and not forest:
            return verdicts
        verdicts |= _verdicts(analysis, [*now, *forest], asker, task)
        now, waiting = [], [pair for pair in waiting if pair not in verdicts]


def _verdicts(
    analysis: Analysis, pairs: Sequence[Pair], asker: Asker, task: JudgeTask
) -> dict[Pair, Verdict]:
    pairs = side_by_side(pairs, task.batch)
    items = tool_pairs(analysis, pairs)
    answers = asker(task, items)
    left, right = (
        np.array([analysis.rows[tool] for tool in side], dtype=np.int32)
        for side in ([p.left for p in pairs], [p.right for p in pairs])
    )
    near = cosines(analysis.vectors, left, right).tolist()
    return {
        pair: _verdict(pair, cosine, item, answer, asker)
        for pair, cosine, item, answer in zip(pairs, near, items, answers, strict=True)
    }


def _verdict(
    pair: Pair, cosine: float, item: ToolPair, answer: Answer | None, asker: Asker
) -> Verdict:
    value = _value(answer)
    if value is None:
        reason = _why_open(answer, asker)
        return Verdict(pair, cosine, 0.5, "unanalysed", (reason,), asker.name)
    outcome = OUTCOMES[value["relation"]]
    same, family = _probabilities(outcome, value["confidence"])
    return Verdict(
        pair=pair,
        similarity=cosine,
        probability=round(same, 6),
        outcome=outcome,
        evidence=(value["reason"],) if value["reason"] else (),
        judge=asker.name,
        relation="different" if outcome == "unsure" else value["relation"],
        family=round(family, 6),
        serves=serves_of(item, value),
    )


def _probabilities(outcome: Outcome, confidence: float) -> tuple[float, float]:
    """The probabilities of the same job and of a family: that of the outcome is one half or more,
    by the confidence.
    """
    p = (1.0 + confidence) / 2
    return {
        "merge": (p, 0.0),
        "family": (1.0 - p, p),
        "keep": ((1.0 - p) / 2, (1.0 - p) / 2),
    }.get(outcome, (0.5, 0.25))


def _careful(
    verdicts: Mapping[Pair, Verdict], texts: Mapping[str, PromptText]
) -> dict[Pair, Verdict]:
    """The verdicts, *unsure* in place of *merge* and *family* where a tool was not shown whole;
    what was left out of the prompt stands as evidence.
    """
    careful = {}
    for pair, verdict in verdicts.items():
        sides = [(tool, texts[tool]) for tool in (pair.left, pair.right)]
        notes = tuple(f"{tool}: {note}" for tool, text in sides for note in text.notes)
        result = replace(verdict, evidence=(*verdict.evidence, *notes))
        if verdict.outcome in ("merge", "family") and any(text.cut for _, text in sides):
            result = replace(result, outcome="unsure", relation="different", serves="none")
        careful[pair] = result
    return careful


def _prompt_text(tool: Tool) -> PromptText:
    """A tool as the model reads it, its server included."""
    return prompt_text(tool, (tool.server,))


def _clusters(
    analysis: Analysis, links: Constraints, model_verdicts: ModelVerdicts, config: QuestionConfig
) -> list[tuple[tuple[str, ...], bool]]:
    """The clusters that the verdicts form, each with whether it is to be audited."""
    bars, tools = bars_of(analysis), analysis.catalog.by_id
    edges = model_verdicts.edges(
        merge_edges(analysis), bars, analysis.threshold, analysis.far_candidates(analysis.threshold)
    )
    graph = merge_graph(edges, links)
    weakest: dict[str, float] = {}
    for pair, p in graph.edges.items():
        # an edge of the model is raised to where merges begin
        verdict = model_verdicts.verdicts.get(pair)
        sure = verdict.probability if verdict else p
        for tool in (pair.left, pair.right):
            weakest[tool] = min(sure, weakest.get(tool, 1.0))
    clusters = []
    for component in graph.components:
        whole = config.paper or len(component) <= config.largest_cluster
        parts = [component] if whole else _parts(analysis, links, model_verdicts, graph, component)
        for ids in parts:
            contents = {tools[tool].content_hash for tool in ids}
            if len(contents) == 1 or frozenset(ids) in links.must:
                continue
            weak = min(weakest[tool] for tool in ids) < bars.auto_at
            clusters.append((ids, config.paper or len(contents) > 2 or weak))
    return clusters


def _parts(
    analysis: Analysis,
    links: Constraints,
    model_verdicts: ModelVerdicts,
    graph: MergeGraph,
    component: tuple[str, ...],
) -> list[tuple[str, ...]]:
    """The parts of a component too large for one question that correction leaves together."""
    inside = set(component)
    own = [pair for pair in graph.edges if pair.left in inside]
    judge = partial(
        model_verdicts.probabilities, offline=analysis.probabilities, bars=bars_of(analysis)
    )
    groups = correct_pairs(analysis, own, links, judge)
    return [group.members for group in groups if not group.decided]


def _audits(
    analysis: Analysis, clusters: Sequence[tuple[str, ...]], asker: Asker, task: AuditTask
) -> tuple[Audit, ...]:
    tools = analysis.catalog.by_id
    items = [ClusterTools(tuple(tools[member] for member in ids)) for ids in clusters]
    audits = []
    for ids, item, answer in zip(clusters, items, asker(task, items), strict=True):
        if value := _value(answer):
            audits.append(Audit(ids, audit_groups(item, value), value["reason"]))
        else:
            audits.append(Audit(ids, reason=_why_open(answer, asker)))
    return tuple(audits)


def _decided(pair: Pair, links: Constraints) -> bool:
    together = any({pair.left, pair.right} <= group for group in links.must)
    return together or pair in links.cannot


def _why_open(answer: Answer | None, asker: Asker) -> str:
    return answer.reason if answer else asker.message or "it was not asked yet"


def _value(answer: Answer | None) -> JsonObject | None:
    return answer.value if answer else None
