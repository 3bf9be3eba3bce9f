"""The questions to a model about a catalog: no more than are needed, unless ``paper`` is chosen.

Pairs are asked about first, and among them the uncertain ones. They may be further apart than
candidates if the offline judge considers them one job. Then come the pairs that drop-ins and
families still need, and after these the clusters and families that they form. Two kinds of pairs
are left out: those that the offline judge is sure are neither a merge nor a family, and those of
its merges that the model's answers already imply. A pair below its merge threshold is never skipped
because of its neighbours, so that a chain whose ends do not belong together is still found.
``paper`` asks about every candidate pair and every cluster, as ToolScope (section 3.2) does.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.candidate_pairs import cosines, nearest
from toolscope_core.judging.weights import EVEN
from toolscope_core.llm import audit_questions
from toolscope_core.llm.model_requests import Asker
from toolscope_core.llm.tasks.fence import PromptText, prompt_text
from toolscope_core.llm.tasks.judge_prompt import JUDGE_TASK, OUTCOME_OF_ANSWER, ToolPair, serves_of
from toolscope_core.merging.analysis import Analysis
from toolscope_core.merging.model_verdicts import ModelVerdicts, SkippedPairs
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import QuestionConfig
from toolscope_core.model.decision import Constraints
from toolscope_core.model.pair import Pair, PairOutcome, Verdict
from toolscope_core.model.protocols import Answer, Task
from toolscope_core.model.tool import Tool

_FURTHER = 0.2
"""How far the cosine of a pair may be below the threshold for the pair still to be asked about."""
_TASK_WORDS = re.compile(
    r"\b(?:merg(?:e|es|ed|ing|eable)|verdicts?|confidence|duplicates?|identical|equivalent"
    r"|same (?:job|tool|thing|function|purpose)|synonym\w*|alias(?:es)?|interchangeable|replaces?"
    r"|supersedes?|subsum\w+|parametric|serve[sd]?|callers?|in place of|groups?|answers?"
    r"|evaluat\w+|judges?|grad(?:e|es|ing)|score|reviewer|auditor|curator|t\d+)\b",
    re.IGNORECASE,
)
"""Words that could sway an answer. If an honest text contains them, a person reviews the merge."""


def ask_for_verdicts(
    analysis: Analysis, links: Constraints, asker: Asker, config: QuestionConfig | None = None
) -> ModelVerdicts:
    """Verdicts on pairs, and audits of clusters.

    Pairs that people decided (``links``) are not asked about. Questions that stay open are
    *unanalysed*, with ``asker.message``.
    """
    config, analysis = config or QuestionConfig(), analysis.without_verdicts()
    plan, task = pairs_to_ask(analysis, links, config), replace(JUDGE_TASK, batch=config.batch)
    if config.paper:
        verdicts = _verdicts(analysis, plan.pairs, asker, task)
    else:
        verdicts = _in_rounds(analysis, plan, asker, task)
    implied = len(plan.pairs) - len(verdicts)
    model_verdicts = ModelVerdicts(asker.name, suspicious_ids=_suspect_readers(analysis.catalog))
    model_verdicts = _with_verdicts(analysis, model_verdicts, verdicts)
    if not config.paper:
        model_verdicts = _with_missing_pairs(analysis, links, model_verdicts, asker, task)
    sets = audit_questions.clusters_to_audit(analysis, links, model_verdicts, config)
    model_verdicts = audit_questions.with_audits(analysis, model_verdicts, sets, asker)
    if not config.paper:  # again, now with the pairs that the audits took apart
        model_verdicts = _with_missing_pairs(analysis, links, model_verdicts, asker, task)
        families = audit_questions.families_to_audit(analysis, links, model_verdicts)
        model_verdicts = audit_questions.with_audits(
            analysis, model_verdicts, families, asker, family=True
        )
        sets += families
    return replace(
        model_verdicts,
        costs=asker.costs,
        saved=SkippedPairs(plan.sure, implied, sum(not one.doubtful for one in sets)),
        message=asker.message,
    )


def verdicts_on(analysis: Analysis, pairs: Iterable[Pair], asker: Asker) -> ModelVerdicts:
    """Verdicts on these pairs only; exact copies are not asked about."""
    tools = analysis.catalog.by_id
    apart = [
        pair
        for pair in dict.fromkeys(pairs)
        if tools[pair.left].content_hash != tools[pair.right].content_hash
    ]
    texts = {tool: _prompt_text(tools[tool]) for pair in apart for tool in (pair.left, pair.right)}
    verdicts = _careful(_verdicts(analysis, apart, asker, JUDGE_TASK), texts)
    return ModelVerdicts(asker.name, verdicts, costs=asker.costs)


@dataclass(frozen=True, slots=True)
class PairsToAsk:
    """Candidate pairs, in the order in which they are asked about.

    ``same_job`` gives the offline judge's probability of the same job for each pair. ``sure`` is
    the number of other pairs, about which the offline judge is sure.
    """

    pairs: tuple[Pair, ...]
    same_job: Mapping[Pair, float]
    sure: int


def pairs_to_ask(analysis: Analysis, links: Constraints, config: QuestionConfig) -> PairsToAsk:
    """All pairs that may be asked about, most uncertain first.

    Exact copies are left out, and so are pairs that the offline judge is sure are neither a merge
    nor a family.
    """
    tools, scores = analysis.catalog.tools, analysis.scores
    columns: list[tuple[NDArray[Any], ...]] = [
        (scores.left, scores.right, scores.same_job, scores.family)
    ]
    if not config.paper:
        columns.append(_further_columns(analysis))
    candidates = {
        Pair.of(tools[a].id, tools[b].id): (same, family)
        for own in columns
        for a, b, same, family in zip(*(column.tolist() for column in own), strict=True)
        if tools[a].content_hash != tools[b].content_hash
    }
    if not config.paper:
        candidates = {
            pair: p for pair, p in candidates.items() if not audit_questions.is_decided(pair, links)
        }
    least = 0.0 if config.paper else config.sure_below
    likely = {pair: p for pair, p in candidates.items() if sum(p) >= least}
    order = sorted(likely, key=lambda pair: (max(*likely[pair], 1.0 - sum(likely[pair])), pair))
    same_job = {pair: same for pair, (same, _) in likely.items()}
    return PairsToAsk(tuple(order), same_job, len(candidates) - len(likely))


def _further_columns(analysis: Analysis) -> tuple[NDArray[Any], ...]:
    """Four columns for pairs slightly further apart than candidates: left, right, same job and
    family.

    The offline judge considers these pairs one job.
    """
    first = np.unique(analysis.first)
    least = analysis.threshold - _FURTHER
    near = nearest(analysis.vectors[first], analysis.config.neighbours, least)
    left, right = first[near.left], first[near.right]
    scores, size = analysis.scores, len(analysis.rows)
    codes = left.astype(np.int64) * size + right
    is_new = ~np.isin(codes, scores.left.astype(np.int64) * size + scores.right)
    left, right = left[is_new], right[is_new]
    same = analysis.row_probabilities(left, right)
    keep = same >= EVEN
    left, right = left[keep], right[keep]
    return left, right, same[keep], analysis.row_family_probabilities(left, right)


def tool_pairs(analysis: Analysis, pairs: Iterable[Pair]) -> list[ToolPair]:
    """The tools of pairs, as items of ``JUDGE_TASK``."""
    tools, by_pair = analysis.catalog.by_id, []
    for pair in pairs:
        two = tools[pair.left], tools[pair.right]
        by_pair.append(ToolPair(*two, audit_questions.described_servers(analysis.catalog, two)))
    return by_pair


def side_by_side(pairs: Sequence[Pair], batch: int) -> list[Pair]:
    """The pairs, reordered so that the pairs of one call share tools; a prompt shows each tool
    once.

    Each call begins with the first remaining pair, so the order between calls is kept.
    """
    pairs_of_tool: dict[str, list[Pair]] = {}
    for pair in pairs:
        pairs_of_tool.setdefault(pair.left, []).append(pair)
        pairs_of_tool.setdefault(pair.right, []).append(pair)
    ordered: dict[Pair, None] = {}
    for first in pairs:
        if first in ordered:
            continue
        call = {first: None}
        for other in (*pairs_of_tool[first.left], *pairs_of_tool[first.right]):
            if len(call) < batch and other not in ordered:
                call[other] = None
        ordered |= call
    return list(ordered)


def suspicious_ids_of(catalog: Catalog) -> frozenset[str]:
    """The ids of tools whose text addresses its reader, or mentions the questions asked here."""
    swaying = {tool.id for tool in catalog.tools if _TASK_WORDS.search(_prompt_text(tool).text)}
    return catalog.addressing | swaying


def _suspect_readers(catalog: Catalog) -> frozenset[str]:
    """The result of ``suspicious_ids_of``, and the tools of servers whose own
    text does the same.
    """
    servers = {
        one.name for one in catalog.servers if _TASK_WORDS.search(f"{one.title}\n{one.description}")
    }
    return suspicious_ids_of(catalog) | {one.id for one in catalog.tools if one.server in servers}


def _in_rounds(
    analysis: Analysis, plan: PairsToAsk, asker: Asker, task: Task[ToolPair]
) -> dict[Pair, Verdict]:
    """The verdicts on all pairs that other verdicts cannot imply, and on a few of the offline
    judge's merges.

    Each round asks about a spanning forest of the merges that are not connected yet.
    """
    from toolscope_core.merging.graph import spanning_pairs  # loads networkx

    merge_at = analysis.judge.weights.merge_at
    open_pairs = [pair for pair in plan.pairs if plan.same_job[pair] >= merge_at]
    now = [pair for pair in plan.pairs if plan.same_job[pair] < merge_at]
    verdicts: dict[Pair, Verdict] = {}
    while True:
        merged = [pair for pair, verdict in verdicts.items() if verdict.outcome == "merge"]
        forest = spanning_pairs(open_pairs, merged)
        if not now and not forest:
            return verdicts
        verdicts |= _verdicts(analysis, [*now, *forest], asker, task)
        now, open_pairs = [], [pair for pair in open_pairs if pair not in verdicts]


def _with_missing_pairs(
    analysis: Analysis,
    links: Constraints,
    model_verdicts: ModelVerdicts,
    asker: Asker,
    task: Task[ToolPair],
) -> ModelVerdicts:
    """The verdicts, with those on the pairs that drop-ins and families still need.

    No more questions are asked once as many pairs have a verdict as there are candidates.
    """
    while True:
        room = len(analysis.scores) - len(model_verdicts.verdicts)
        missing = audit_questions.missing_pairs(analysis, links, model_verdicts)[:room]
        if not missing:
            return model_verdicts
        verdicts = _verdicts(analysis, missing, asker, task)
        model_verdicts = _with_verdicts(analysis, model_verdicts, verdicts)


def _with_verdicts(
    analysis: Analysis, model_verdicts: ModelVerdicts, verdicts: Mapping[Pair, Verdict]
) -> ModelVerdicts:
    """The verdicts with further ones added, and notes on what the model was not shown."""
    tools = analysis.catalog.by_id
    ids = sorted({tool for pair in verdicts for tool in (pair.left, pair.right)})
    texts = {tool: _prompt_text(tools[tool]) for tool in ids}
    notes = {tool: text.notes for tool, text in texts.items() if text.notes}
    return replace(
        model_verdicts,
        verdicts={**model_verdicts.verdicts, **_careful(verdicts, texts)},
        notes={**model_verdicts.notes, **notes},
    )


def _verdicts(
    analysis: Analysis, pairs: Sequence[Pair], asker: Asker, task: Task[ToolPair]
) -> dict[Pair, Verdict]:
    pairs = side_by_side(pairs, task.batch)
    items = tool_pairs(analysis, pairs)
    answers = asker(task, items)
    left, right = (
        np.array([analysis.rows[tool] for tool in side], dtype=np.int32)
        for side in ([p.left for p in pairs], [p.right for p in pairs])
    )
    similarities = cosines(analysis.vectors, left, right).tolist()
    return {
        pair: _verdict(pair, cosine, item, answer, asker)
        for pair, cosine, item, answer in zip(pairs, similarities, items, answers, strict=True)
    }


def _verdict(
    pair: Pair, cosine: float, item: ToolPair, answer: Answer | None, asker: Asker
) -> Verdict:
    value = audit_questions.value_of(answer)
    if value is None:
        reason = audit_questions.why_open(answer, asker)
        return Verdict(pair, cosine, 0.5, "unanalysed", (reason,), asker.name)
    outcome = OUTCOME_OF_ANSWER[value["relation"]]
    same, family = _probabilities(outcome, value["confidence"])
    return Verdict(
        pair=pair,
        similarity=cosine,
        same_job=round(same, 6),
        outcome=outcome,
        evidence=(value["reason"],) if value["reason"] else (),
        judge=asker.name,
        relation="different" if outcome == "unsure" else value["relation"],
        family=round(family, 6),
        serves=serves_of(item, value),
    )


def _probabilities(outcome: PairOutcome, confidence: float) -> tuple[float, float]:
    """The probabilities of the same job and of a family.

    The outcome gets the model's confidence; the two other outcomes share the rest of 1 equally.
    """
    if outcome == "unsure":
        return 0.5, 0.25
    rest = (1.0 - confidence) / 2
    return (confidence if outcome == "merge" else rest, confidence if outcome == "family" else rest)


def _careful(
    verdicts: Mapping[Pair, Verdict], texts: Mapping[str, PromptText]
) -> dict[Pair, Verdict]:
    """The verdicts, where *merge* and *family* become *unsure* if a tool was not shown completely.

    The parts left out of the prompt are listed as evidence.
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
    """A tool as the model reads it, with its server."""
    return prompt_text(tool, (tool.server,))
