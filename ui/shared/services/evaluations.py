"""Experiments on the screen: configured, run as jobs, kept, compared, exported."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

from toolscope_core.catalog.formats.format_table import PROMPT_SHAPES
from toolscope_core.catalog.formats.spreadsheets import csv_bytes
from toolscope_core.catalog.tokens import Costs
from toolscope_core.decisions.constraints import constraints
from toolscope_core.embedding.encoders import SentenceEmbedder
from toolscope_core.evaluation.ablation import Ablation
from toolscope_core.evaluation.comparison import SPLIT_NAMES, Trial, compared, measured, request_of
from toolscope_core.evaluation.confusions import pair_confusions
from toolscope_core.evaluation.encoder_comparison import EncoderSweep
from toolscope_core.evaluation.merge_effects import MergeEffect, merge_effects
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.evaluation.results import (
    ablation_row,
    comparison_result,
    stress_result,
    sweep_point,
    table_of,
)
from toolscope_core.evaluation.stress import stress_test
from toolscope_core.evaluation.sweeps import SettingSweep, SweepPoint
from toolscope_core.evaluation.synthetic import synthetic_queries
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.configuration import (
    AcceptPolicy,
    Knob,
    PlanConfig,
    RetrievalConfig,
    Split,
)
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import ConfigError, DecisionError, StoreError
from toolscope_core.model.pair import Pair
from toolscope_core.model.plan import Experiment
from toolscope_core.model.protocols import Embedder, Progress, silent
from toolscope_core.model.tool import JsonObject, Tool, digest
from toolscope_core.store import (
    Job,
    Store,
    delete_experiment,
    get_experiment,
    keep_result,
    list_experiments,
    open_experiment,
)
from ui.shared.queries.experiment_tables import ConfusionRow, MergeRow, confusion_rows, merge_rows
from ui.shared.services.analyses import Analyses
from ui.shared.services.catalogs import Catalogs
from ui.shared.services.loaded_queries import LoadedQueries
from ui.shared.services.measured_sides import ORIGINAL, POLICIES, MeasuredSides
from ui.shared.services.result_cache import ResultCache
from ui.shared.services.review import Review
from ui.shared.services.searches import Searches

Kind = Literal["comparison", "stress", "sweep", "ablation"]

SYNTHETIC = "made from descriptions"
CUTOFFS = (1, 5, 10)
MOST_CONFUSIONS = 5_000
MOST_READ = 5
"""Comparisons that are looked through for a merge."""
_PARTS = {
    "comparison": (
        "before",
        "after",
        "changes",
        "p",
        "queries",
        "merges",
        "confusions",
        "joined",
        "never",
    ),
    "stress": ("toolsets",),
    "sweep": ("points",),
    "ablation": ("rows",),
    "agent": ("sides", "requests"),
}
"""What the result of a finished experiment has."""
_ASKED = ("queries", "before", "after", "query_count")
_SEARCHED = ("rerank", "split", "knob")
"""What the configuration of an experiment has, and that of one that searches."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """An experiment as a page asks for it. ``queries`` names a query set, or is ``SYNTHETIC``;
    ``before`` and ``after`` are toolsets, see ``MeasuredSides``; ``knob`` is what a sweep
    moves, of the merge under the policy of ``after``; ``encoders`` are names or folders of
    sentence-transformers models.
    """

    kind: Kind = "comparison"
    queries: str = SYNTHETIC
    before: str = ORIGINAL
    after: str = "accepted and safe"
    rerank: str = "auto"
    split: Split = "rules"
    knob: Knob = "theta"
    encoders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Findings:
    """What a comparison found of merges, by their members, and of pairs."""

    merges: Mapping[tuple[str, ...], MergeRow]
    confusions: Mapping[Pair, ConfusionRow]


class Evaluations:
    """Experiments on analysed catalogs."""

    def __init__(
        self,
        store: Store,
        catalogs: Catalogs,
        analyses: Analyses,
        review: Review,
        queries: LoadedQueries,
        searches: Searches,
    ) -> None:
        self._store = store
        self._analyses = analyses
        self._review = review
        self._queries = queries
        self._searches = searches
        self.sides = MeasuredSides(store, catalogs, analyses, review, searches)
        self._costs = Costs()
        self._read: ResultCache[_Findings] = ResultCache(most=MOST_READ)
        self._hashes: ResultCache[str] = ResultCache()

    def query_sets(self, catalog_id: int) -> tuple[str, ...]:
        """The names of what can be asked: the query sets with gold tools, then ``SYNTHETIC``."""
        judged = (
            view.name
            for view in self._queries.sets(catalog_id)
            if any(query.gold for query in view.content.queries)
        )
        return (*judged, SYNTHETIC)

    @property
    def encoder(self) -> str:
        """The name of the encoder that searches."""
        return self._searches.embedder.name

    def start(self, catalog_id: int, wanted: Wanted) -> str:
        """Run an experiment in the background; returns the job's id (that of a running one of its
        kind, if any).
        """
        return self._analyses.background(
            catalog_id, job_kind(wanted.kind), lambda step: self.run(catalog_id, wanted, step)
        )

    def job(self, catalog_id: int, kind: Kind) -> Job | None:
        """The latest job for this kind of experiment on the catalog."""
        return self._analyses.job(catalog_id, job_kind(kind))

    def run(self, catalog_id: int, wanted: Wanted, progress: Progress = silent) -> int:
        """Run an experiment here and now, or go on with one that was broken off; its number.

        Raises ``ConfigError`` where no query has a gold answer.
        """
        analysis = self._analyses.required(catalog_id)
        trial = self._trial(catalog_id, wanted)
        kept = open_experiment(
            self._store, catalog_id, wanted.kind, self._configuration(catalog_id, wanted, trial)
        )
        start = time.monotonic() - kept.seconds

        def keep(result: JsonObject, *, is_done: bool) -> None:
            seconds = time.monotonic() - start
            keep_result(self._store, kept.number, result, seconds, is_done=is_done)

        if wanted.kind == "comparison":
            keep(self._compare(catalog_id, wanted, trial, progress), is_done=True)
        elif wanted.kind == "stress":
            keep(self._stress(catalog_id, wanted, trial, progress), is_done=True)
        elif wanted.kind == "ablation":
            log, searches = self._review.log(catalog_id), self._searches
            ablation = Ablation(analysis, log, trial, searches.ranker, self._tokens)
            size = len(analysis.catalog.tools)
            rows = [ablation_row(row, size) for row in ablation.rows(progress)]
            keep({"rows": rows}, is_done=True)
        else:
            points = list((kept.result or {}).get("points", ()))
            done = [point["value"] for point in points]
            for point in self._sweep(catalog_id, wanted, trial, done, progress):
                points.append(sweep_point(point, len(analysis.catalog.tools)))
                keep({"points": points}, is_done=False)
            keep({"points": points}, is_done=True)
        return kept.number

    def all(self, catalog_id: int) -> tuple[Experiment, ...]:
        """The experiments on every version of the catalog, the newest first, without results."""
        return list_experiments(self._store, catalog_id)

    def get(self, number: int) -> Experiment:
        """An experiment with its result. Raises ``StoreError`` where there is none, or one that
        somebody else wrote in another form.
        """
        kept = get_experiment(self._store, number)
        result, asked = kept.result or {}, kept.configuration
        missing = [key for key in _PARTS.get(kept.kind, ()) if key not in result]
        needed = _ASKED if kept.kind == "agent" else (*_ASKED, *_SEARCHED)
        missing += [key for key in needed if key not in asked]
        if kept.is_done and missing:
            raise StoreError(
                f"experiment {number} is damaged (it has no {missing[0]!r}); delete it under "
                "Experiments and measure again"
            )
        return kept

    def delete(self, number: int) -> None:
        """Delete an experiment."""
        delete_experiment(self._store, number)

    def is_current(self, catalog_id: int, experiment: Experiment) -> bool:
        """Whether the catalog and its decisions are those that the experiment measured."""
        return experiment.catalog_id == catalog_id and experiment.configuration.get(
            "decisions"
        ) == self.decided(catalog_id)

    def as_json(self, experiment: Experiment) -> str:
        """All of an experiment."""
        return json.dumps(
            {
                "kind": experiment.kind,
                "at": experiment.at,
                "seconds": round(experiment.seconds, 3),
                "configuration": experiment.configuration,
                "result": experiment.result,
            },
            indent=1,
        )

    def spreadsheet(self, experiment: Experiment) -> bytes:
        """The rows of an experiment as CSV in UTF-8."""
        rows = table_of(experiment.kind, experiment.result or {})
        names = list(dict.fromkeys(name for row in rows for name in row))
        return csv_bytes(names, ([row.get(name, "") for name in names] for row in rows))

    def effect_of(self, catalog_id: int, members: Sequence[str]) -> tuple[int, MergeRow] | None:
        """What the newest comparison on this version that left out the merge of these tools found,
        with the experiment's number; ``None`` where none did.
        """
        wanted = tuple(sorted(members))
        for number in self._comparisons(catalog_id):
            effect = self._findings(number).merges.get(wanted)
            if effect is not None:
                return number, effect
        return None

    def confusion_of(self, catalog_id: int, pair: Pair) -> tuple[int, ConfusionRow] | None:
        """The queries of the newest comparison on this version that confuse two tools, with its
        number; ``None`` where none does.
        """
        for number in self._comparisons(catalog_id)[:1]:
            confusion = self._findings(number).confusions.get(pair)
            if confusion is not None:
                return number, confusion
        return None

    def _comparisons(self, catalog_id: int) -> list[int]:
        """The finished comparisons on this version with the catalog as it is, newest first."""
        return [
            one.number
            for one in self.all(catalog_id)
            if one.kind == "comparison"
            and one.is_done
            and one.catalog_id == catalog_id
            and one.configuration.get("before") == ORIGINAL
        ][:MOST_READ]

    def _findings(self, number: int) -> _Findings:
        def read() -> _Findings:
            try:
                result = self.get(number).result or {}
            except StoreError:
                return _Findings({}, {})
            merges = {tuple(sorted(row.members)): row for row in merge_rows(result)}
            confusions = {Pair.of(row.left, row.right): row for row in confusion_rows(result)}
            return _Findings(merges, confusions)

        return self._read.get(number, (), read)

    def take_back(self, catalog_id: int, members: Sequence[str], reviewer: str) -> Decision:
        """Undo the merge of these tools: the decision that accepted it, or where nobody decided a
        *keep apart*. Raises ``DecisionError`` where there is no such merge any more.
        """
        for decision in self._review.standing(catalog_id):
            if decision.action == "accept" and sorted(decision.ids) == sorted(members):
                return self._review.undo(catalog_id, reviewer, decision.seq)
        cluster = self._merge_of(catalog_id, members)
        if cluster is None:
            raise DecisionError(
                f"{', '.join(members[:3])} are not proposed as one any more; run the experiment "
                "again"
            )
        return self._review.decide(catalog_id, "reject", cluster, reviewer)

    def _merge_of(self, catalog_id: int, members: Sequence[str]) -> Cluster | None:
        clusters = self._review.plan(catalog_id, PlanConfig(accept="all")).clusters
        return next((one for one in clusters if sorted(one.members) == sorted(members)), None)

    def _trial(self, catalog_id: int, wanted: Wanted) -> Trial:
        catalog = self._analyses.required(catalog_id).catalog
        queries = self.queries_of(catalog_id, wanted.queries)
        for side in (wanted.before, wanted.after):
            model = self.sides.model(catalog_id, side)
            if model is not None:
                queries = tuple(one for one in queries if not model.learned_from(one.text))
        if not queries:
            raise ConfigError(
                f"the model learned from every query of {wanted.queries!r}; choose a set that was "
                "added after the training"
            )
        return Trial.of(catalog, queries, request_of(wanted.split), CUTOFFS)

    def queries_of(self, catalog_id: int, name: str) -> tuple[Query, ...]:
        """The queries of a set in ``query_sets``. Raises ``ConfigError`` where there is none."""
        if name == SYNTHETIC:
            return tuple(synthetic_queries(self._analyses.required(catalog_id).catalog))
        for view in self._queries.sets(catalog_id):
            if view.name == name:
                return view.content.queries
        raise ConfigError(f"there is no query set {name!r}; choose another")

    def _compare(
        self, catalog_id: int, wanted: Wanted, trial: Trial, progress: Progress
    ) -> JsonObject:
        before, _ = self.sides.side(catalog_id, wanted.before)
        after, plan = self.sides.side(catalog_id, wanted.after)
        models = [self.sides.model(catalog_id, side) for side in (wanted.before, wanted.after)]
        ranker, other = (self._searches.ranker(_retrieval(wanted), one) for one in models)
        if models[0] is models[1]:
            other = ranker  # compared in memory once
        first = second = measured(before, trial, ranker, self._tokens, progress)
        if after.version != before.version or other is not ranker:
            second = measured(after, trial, other, self._tokens, progress)
        effects: Sequence[MergeEffect] = ()
        if plan is not None and wanted.before == ORIGINAL:
            effects = merge_effects(plan, trial, first, second, ranker, progress)
        confused = pair_confusions(first.golds, first.rankings)[:MOST_CONFUSIONS]
        second = replace(second, toolset=after)
        never = constraints(trial.catalog, self._review.log(catalog_id)).cannot
        return comparison_result(compared(trial, first, second), effects, confused, never)

    def _sweep(
        self,
        catalog_id: int,
        wanted: Wanted,
        trial: Trial,
        done: Sequence[float | str],
        progress: Progress,
    ) -> Iterator[SweepPoint]:
        """The points of a sweep that are not ``done``."""
        log, accept = self._review.log(catalog_id), POLICIES.get(wanted.after, "auto")
        searches, config = self._searches, _retrieval(wanted)
        if wanted.knob == "encoder":
            encoders = EncoderSweep(
                trial, log, self._encoder, searches.cache, self._tokens, accept, config
            )
            return encoders.points(wanted.encoders, done, progress)
        settings = SettingSweep(
            self._analyses.required(catalog_id),
            log,
            trial,
            searches.ranker,
            self._tokens,
            accept,
            config,
        )
        return settings.points(wanted.knob, done, progress)

    def _encoder(self, name: str) -> Embedder:
        """The one that is loaded already, or another."""
        own = self._searches.embedder
        return own if name == own.name else SentenceEmbedder(name)

    def _stress(
        self, catalog_id: int, wanted: Wanted, trial: Trial, progress: Progress
    ) -> JsonObject:
        config = replace(_retrieval(wanted), rerank="none")  # the pools are small
        tests = {}
        for side in dict.fromkeys((wanted.before, wanted.after)):
            toolset, _ = self.sides.side(catalog_id, side)
            retriever = self._searches.retriever(toolset.tools, config)
            for split in dict.fromkeys(("none", wanted.split)):
                asked = trial.split_by(split)
                tests[f"{side}, {SPLIT_NAMES[split]}"] = stress_test(
                    toolset, retriever, asked, progress
                )
        return stress_result(trial, tests)

    def _configuration(self, catalog_id: int, wanted: Wanted, trial: Trial) -> JsonObject:
        """All that decides the figures."""
        questions = [
            (one.id, one.text, [sorted(need) for need in one.gold], one.steps, one.calls)
            for one in trial.queries
        ]
        return {
            **asdict(wanted),
            "retrieval": asdict(_retrieval(wanted)),
            "embedder": self._searches.embedder.name,
            "tools": len(trial.catalog.tools),
            "decisions": self.decided(catalog_id),
            "query_count": len(trial.queries),
            "query_digest": digest(questions),
        }

    def decided(self, catalog_id: int) -> str:
        """A hash of the decisions and of the merges that follow from them and from the judge."""
        log = [(one.seq, one.action) for one in self._review.log(catalog_id)]
        policies: tuple[AcceptPolicy, ...] = ("auto", "all")
        plans = [self._review.plan(catalog_id, PlanConfig(accept=one)) for one in policies]
        return self._hashes.get(
            catalog_id, tuple(plans), lambda: digest(log, *(plan.phi for plan in plans))
        )

    def _tokens(self, tool: Tool) -> int:
        return self._costs.of(tool, PROMPT_SHAPES[0])


def job_kind(kind: Kind) -> str:
    """The kind of the job that runs an experiment."""
    return f"experiment: {kind}"


def _retrieval(wanted: Wanted) -> RetrievalConfig:
    return RetrievalConfig(rerank=wanted.rerank)
