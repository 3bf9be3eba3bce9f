"""The checks of the command `check`.

They look for new pairs, confusions, findings and names of removed tools, stale decisions, and
growth.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from toolscope_core.catalog.formats.format_table import PROMPT_FORMATS
from toolscope_core.catalog.tokens import Costs, SizeChange, tokenizer
from toolscope_core.check.baseline import Baseline, BaselineChanges
from toolscope_core.decisions.constraints import profiles
from toolscope_core.decisions.decision_lines import under_new_ids
from toolscope_core.decisions.log import active
from toolscope_core.embedding.candidate_pairs import (
    PairRows,
    candidates,
    default_threshold,
    same_named,
)
from toolscope_core.embedding.vector_cache import VectorCache, embed_cached
from toolscope_core.evaluation.comparison import PLACES, request_of
from toolscope_core.evaluation.confusions import Mismatch, failed_case
from toolscope_core.evaluation.measured_toolsets import Ranker, ToolsetRanker
from toolscope_core.evaluation.query_sets import Query, with_ids, with_names
from toolscope_core.judging.judge import OfflineJudge
from toolscope_core.judging.weights import shipped_weights
from toolscope_core.merging.analysing import plan_merge
from toolscope_core.merging.analysis import Analysis
from toolscope_core.merging.clusters import find_dangling
from toolscope_core.model.catalog import Catalog, Finding
from toolscope_core.model.configuration import AnalysisConfig
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.pair import Pair, PairOutcome, Verdict
from toolscope_core.model.plan import DanglingReference, MergedTool, Relabel
from toolscope_core.model.protocols import Embedder, Progress, Step, silent
from toolscope_core.model.tool import Tool
from toolscope_core.profiles.intent_cover import intents_of
from toolscope_core.profiles.profile_effect import ProfileReport, misses_of, profile_report
from toolscope_core.profiles.profile_tools import profile_tools
from toolscope_core.retrieval.client_search import SearchSetup
from toolscope_core.wording.boilerplate import compared_texts


@dataclass(frozen=True, slots=True)
class PairJudge:
    """All that is needed to judge pairs: the embedding model, its cache, and the settings for
    near pairs.
    """

    embedder: Embedder
    cache: VectorCache
    config: AnalysisConfig
    progress: Progress = silent


@dataclass(frozen=True, slots=True)
class NewPairs:
    """The verdicts on new pairs, sorted by left and right id: *merge*, *family* and *unsure*."""

    overlaps: tuple[Verdict, ...] = ()
    families: tuple[Verdict, ...] = ()
    unsure: tuple[Verdict, ...] = ()


def new_pairs(
    catalog: Catalog, changes: BaselineChanges, baseline: Baseline, judge: PairJudge
) -> NewPairs:
    """The pairs with a new or changed tool that have newly become an overlap, a family or unsure.

    Pairs that people keep apart or put together are left out.
    """
    verdicts = _near_verdicts(catalog, changes.new_ids, judge)
    earlier = _old_outcomes(changes, baseline, judge) if verdicts else {}
    kinds: dict[PairOutcome, list[Verdict]] = {"merge": [], "family": [], "unsure": []}
    for verdict in verdicts:
        outcome = _outcome(verdict, baseline.least_probability)
        old_pair = changes.earlier(verdict.pair)
        before = None if old_pair is None else earlier.get(old_pair)
        skip = old_pair in baseline.decided_pairs or verdict.similarity < baseline.least_similarity
        if outcome in kinds and not skip and not _was_there(outcome, before):
            kinds[outcome].append(verdict)
    return NewPairs(tuple(kinds["merge"]), tuple(kinds["family"]), tuple(kinds["unsure"]))


def _was_there(now: PairOutcome, before: PairOutcome | None) -> bool:
    """Whether the pair had this outcome before; a former overlap or family is not newly unsure."""
    return before == now or (now == "unsure" and before in ("merge", "family"))


def _old_outcomes(
    changes: BaselineChanges, baseline: Baseline, judge: PairJudge
) -> Mapping[Pair, PairOutcome]:
    """The earlier verdicts on pairs whose tools both existed; if there are none, they are judged
    now.
    """
    if baseline.outcomes is not None:
        return baseline.outcomes
    changed_ids = {change.old.id for change in changes.diff.changed}
    return {one.pair: one.outcome for one in _near_verdicts(baseline.catalog, changed_ids, judge)}


def _outcome(verdict: Verdict, least: float | None) -> PairOutcome:
    """The outcome of a verdict at the ``least`` probability that people set, if they set one."""
    if least is None or verdict.outcome == "family":
        return verdict.outcome
    if verdict.same_job >= least:
        return "merge"
    return "unsure" if verdict.outcome == "merge" else verdict.outcome


def _near_verdicts(catalog: Catalog, ids: Collection[str], judge: PairJudge) -> tuple[Verdict, ...]:
    """All verdicts except *keep* on near pairs that contain a tool in ``ids``."""
    if not ids:
        return ()
    texts = compared_texts(catalog.tools)
    vectors = embed_cached(texts, judge.embedder, judge.cache, judge.progress)
    threshold = judge.config.threshold or default_threshold(judge.embedder.name)
    is_asked = np.array([tool.id in ids for tool in catalog.tools])
    first = _first_copies(catalog, is_asked)
    offline = OfflineJudge.of(catalog.tools, vectors, model=judge.embedder.name)
    named = same_named(offline.signals.plain, vectors, judge.config.neighbours)
    near = candidates(vectors, first, judge.config.neighbours, threshold, named)
    mask = is_asked[near.left] | is_asked[near.right]
    left, right = near.left[mask], near.right[mask]
    judge.progress(Step("judge", 0, len(left)))
    scores = offline.pair_probabilities(left, right)
    weights = shipped_weights()
    likely = (scores.same_job >= weights.unsure_at) | (scores.family >= weights.family_at)
    judge.progress(Step("judge", len(left), len(left)))
    return offline.verdicts(left[likely], right[likely])


def _first_copies(catalog: Catalog, is_new: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> PairRows:
    """For each row, the row that represents all tools with the same content.

    It is the first old row, so that a new copy is paired with an old tool.
    """
    first: dict[str, int] = {}
    for row in np.argsort(is_new, kind="stable").tolist():
        first.setdefault(catalog.tools[row].content_hash, row)
    return np.array([first[tool.content_hash] for tool in catalog.tools], dtype=np.int32)


def new_danglings(
    catalog: Catalog, changes: BaselineChanges, baseline: Baseline
) -> tuple[DanglingReference, ...]:
    """New references to removed tools, in the order of the tools."""
    phi = {row.old_id: row for row in baseline.relabels}
    remaining = []
    for tool in catalog.tools:
        row = phi.get(changes.old_ids.get(tool.id, ""))
        if row is None or row.new_id == row.old_id:
            name = tool.name if row is None or row.status == "kept" else row.new_name
            remaining.append(MergedTool(replace(tool, name=name or tool.name), (tool.id,)))
    return tuple(
        item
        for item in find_dangling(remaining, gone_tools(changes, baseline))
        if (changes.old_ids.get(item.tool_id, item.tool_id), item.cites) not in baseline.dangling
    )


def gone_tools(changes: BaselineChanges, baseline: Baseline) -> tuple[Relabel, ...]:
    """What happened to each tool that was removed or renamed since the baseline or by the
    baseline's merges.
    """
    merged = (row for row in baseline.relabels if row.status != "kept")
    return (*_gone_rows(changes), *merged)


def _gone_rows(changes: BaselineChanges) -> Iterator[Relabel]:
    """The tools that have left the catalog, or that now have another name."""
    for tool in changes.diff.removed:
        yield Relabel(tool.id, None, tool.server, tool.name, None, "removed")
    for change in changes.diff.changed:
        old, new = change.old, change.new
        if old.name != new.name:
            yield Relabel(old.id, new.id, old.server, old.name, new.name, "renamed")


@dataclass(frozen=True, slots=True)
class CaseConfusion:
    """A case with current ids, and the tool that the case finds instead of the expected one."""

    case: Query
    confusion: Mismatch


@dataclass(frozen=True, slots=True)
class ReplayedCases:
    """The number of cases, the number of failures, and the new confusions."""

    cases: int = 0
    failures: int = 0
    new_confusions: tuple[CaseConfusion, ...] = ()


def replayed_cases(
    before: Catalog, now: Catalog, changes: BaselineChanges, cases: Sequence[Query], ranker: Ranker
) -> ReplayedCases:
    """The results of searching for the cases in both catalogs; requests are split by rules.

    A case may name a tool by a unique name or by its old id.
    """
    names = {old: new for new, old in changes.old_ids.items() if old not in now.by_id}
    current_cases = [with_names(case, names) for case in with_ids(cases, now.tools)]
    requests = list(map(request_of("rules"), current_cases))
    rankings = ranker.rankings(now.tools, requests, PLACES)
    old_rankings = [
        [names.get(one, one) for one in ranking]
        for ranking in ranker.rankings(before.tools, requests, PLACES)
    ]
    old_ids = {names.get(tool.id, tool.id) for tool in before.tools}
    failed, new = 0, []
    for case, ranking, old_ranking in zip(current_cases, rankings, old_rankings, strict=True):
        failures = failed_case(case, ranking, now.by_id)
        failed += bool(failures)
        earlier = failed_case(case, old_ranking, old_ids)
        new += [CaseConfusion(case, one) for one in failures if one not in earlier]
    return ReplayedCases(len(cases), failed, tuple(new))


def new_findings(old: Catalog, new: Catalog, changes: BaselineChanges) -> tuple[Finding, ...]:
    """New *block* and *warn* findings, the worst first, otherwise in the order of the tools.

    A finding on an unchanged tool is not new, even in another place, because places may depend on
    the order of fields.
    """
    old_keys = {_key(item, item.tool_id) for item in old.findings}
    kinds = {(item.tool_id, item.severity, item.code) for item in old.findings}
    fresh = []
    for item in new.findings:
        before = changes.old_ids.get(item.tool_id, "")
        is_as_it_was = bool(item.tool_id) and item.tool_id not in changes.new_ids
        was_there = is_as_it_was and (before, item.severity, item.code) in kinds
        if item.severity != "info" and not was_there and _key(item, before) not in old_keys:
            fresh.append(item)
    return tuple(sorted(fresh, key=lambda item: (item.severity != "block", item.tool_id)))


def _key(item: Finding, tool_id: str) -> tuple[str, ...]:
    of = (tool_id, item.server, item.severity, item.code)
    return (*of, item.field, item.message, item.excerpt)


_CHANGES_NOTHING = ("flag", "note")


@dataclass(frozen=True, slots=True)
class StaleDecision:
    """A decision, with the ids of its tools that have changed and of those that are gone."""

    decision: Decision
    changed_ids: tuple[str, ...]
    gone_ids: tuple[str, ...]


def stale_decisions(
    catalog: Catalog, baseline: Baseline, changes: BaselineChanges
) -> tuple[StaleDecision, ...]:
    """The active decisions on tools that changed or left since the baseline, in order.

    A renamed tool counts as changed. Tools that had already changed in the baseline do not count.
    """
    known_ids = {*catalog.by_id, *changes.old_ids.values()}
    prints_now = {tool.fingerprint for tool in catalog.tools}
    prints_then = {tool.fingerprint for tool in baseline.catalog.tools}
    stale = []
    for decision in active(baseline.log):
        if decision.action in _CHANGES_NOTHING:
            continue
        named = zip(decision.fingerprints, decision.ids, strict=True)
        lost_ids = [tool_id for member, tool_id in named if member in prints_then - prints_now]
        changed = tuple(tool_id for tool_id in lost_ids if tool_id in known_ids)
        gone = tuple(tool_id for tool_id in lost_ids if tool_id not in known_ids)
        if lost_ids:
            stale.append(StaleDecision(decision, changed, gone))
    return tuple(stale)


@dataclass(frozen=True, slots=True)
class TokenGrowth:
    """Token counts of both catalogs, by format and by server.

    The format used for totals comes first; servers are sorted. ``estimator`` says whether the
    counts are estimates.
    """

    formats: tuple[SizeChange, ...]
    servers: tuple[SizeChange, ...]
    estimator: str

    @property
    def total(self) -> SizeChange:
        return self.formats[0]


def token_growth(old: Catalog, new: Catalog) -> TokenGrowth:
    """The sizes of both catalogs.

    The tokens of a tool in both catalogs are computed only once.
    """
    costs = Costs()
    by_server: defaultdict[str, tuple[list[Tool], list[Tool]]] = defaultdict(lambda: ([], []))
    for side, catalog in enumerate((old, new)):
        for tool in catalog.tools:
            by_server[tool.server][side].append(tool)
    return TokenGrowth(
        tuple(costs.change(old.tools, new.tools, format) for format in PROMPT_FORMATS),
        tuple(
            SizeChange(name, change.before, change.after)
            for name, tools in sorted(by_server.items())
            for change in [costs.change(*tools, PROMPT_FORMATS[0])]
        ),
        tokenizer().label,
    )


def checked_profile(
    name: str,
    baseline: Baseline,
    changes: BaselineChanges,
    analysis: Analysis,
    queries: Sequence[Query],
    setup: SearchSetup,
) -> ProfileReport:
    """A report on one of the baseline's profiles in the analysed catalog, merged like the baseline.

    The profile must serve ``queries``, or its own intents if there are none. Raises ``ConfigError``
    if the baseline has no such profile.
    """
    new_ids = {old: new for new, old in changes.old_ids.items()}
    log = [under_new_ids(one, new_ids) for one in baseline.log]
    saved = profiles(analysis.catalog, log)
    if name not in saved:
        names = ", ".join(saved) or "none"
        raise ConfigError(f"the baseline has no profile {name!r}; it has {names}")
    plan = plan_merge(analysis, log, baseline.plan)
    queries = queries or [Query("", text) for text in saved[name].intents]
    intents = intents_of(queries, plan, lambda: setup.open([one.tool for one in plan.tools]))
    choice = profile_tools(plan, saved[name])
    report = profile_report(analysis, plan, choice, intents, analysis.syntheses.costs)
    return replace(report, misses=misses_of(plan, choice, queries, ToolsetRanker(setup)))
