"""The first page: collisions, shared names, findings, states, and what to do next."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from toolscope_core.catalog.formats.format_table import ADVISED, target_named
from toolscope_core.catalog.formats.offered_names import repeated_names, shared_names
from toolscope_core.catalog.formats.record_format import Rule
from toolscope_core.catalog.formats.target_rules import BrokenRules, violation_counts
from toolscope_core.decisions.constraints import constraints
from toolscope_core.merging.analysis import Analysis
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.pair import Pair, Verdict
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.tool import Tool
from toolscope_core.profiles.profile_effect import client_limits
from ui.shared.cards.queue import ReviewProgress
from ui.shared.kept import kept, kept_under
from ui.shared.pairs import pair_view
from ui.shared.services import learned_searches, review
from ui.shared.snapshot import Snapshot
from ui.shared.tools.catalog_tables import findings_by_kind

WORST = 5
_OF_NAMES, _OF_SERVERS = 0.2, 0.05

_REFUSED: Mapping[Rule, str] = {
    "name": "name",
    "unique": "repeated name",
    "description": "description",
    "schema": "schema",
    "parameter": "parameter name",
}


@dataclass(frozen=True, slots=True)
class Collision:
    """Two tools that interfere with each other, and the judge's verdict."""

    tools: tuple[Tool, Tool]
    verdict: Verdict

    @property
    def in_words(self) -> str:
        """Why agents confuse the two: how similar they are, and whether they share a name or are on
        two servers.
        """
        one, other = self.tools
        names = ", same name" if one.name == other.name else ""
        servers = ", two servers" if one.home != other.home else ""
        return f"Similarity {self.verdict.similarity:.2f}{names}{servers}"

    @property
    def reason(self) -> str:
        """The first two sentences of the evidence; only the first one for identical copies."""
        copies = self.tools[0].content_hash == self.tools[1].content_hash
        return " ".join(self.verdict.evidence[: 1 if copies else 2])


@dataclass(frozen=True, slots=True)
class NextStep:
    """A task to do: its text, and the ``page`` and ``query`` that open it."""

    text: str
    page: str
    query: Mapping[str, str] = field(default_factory=dict)


@kept()
def worst(snapshot: Snapshot) -> tuple[Collision, ...]:
    """The five pairs that an agent confuses most; no tool is in more than one of them.

    Families and neighbours count as well as duplicates. The pairs are ranked by the similarity of
    their texts and names, and pairs on two servers are preferred. Pairs that are kept apart and
    pairs inside an accepted cluster are left out. Raises ``JobError`` before the analysis is done.
    """
    analysis = snapshot.analysis
    kept_apart = constraints(analysis.catalog, snapshot.log).cannot
    accepted = (cluster for cluster in snapshot.plan.clusters if cluster.state == "accepted")
    home = {member: cluster.id for cluster in accepted for member in cluster.members}
    tools = analysis.catalog.by_id
    collisions: list[Collision] = []
    used: set[str] = set()
    for pair in most_confused(analysis):
        merged = pair.left in home and home[pair.left] == home.get(pair.right)
        if merged or pair in kept_apart or used & {pair.left, pair.right}:
            continue
        ends = tools[pair.left], tools[pair.right]
        collisions.append(Collision(ends, analysis.verdict(pair)))
        used |= {pair.left, pair.right}
        if len(collisions) == WORST:
            break
    return tuple(collisions)


@kept()
def names_shared(plan: MergePlan) -> dict[str, list[str]]:
    """The names that tools on several servers share, most shared first. Each name has its servers,
    sorted.
    """
    groups = shared_names(item.tool for item in plan.tools)
    names = {same[0].name: sorted({tool.home for tool in same}) for same in groups}
    by_count = sorted(names, key=lambda name: (-len(names[name]), name.casefold(), name))
    return {name: names[name] for name in by_count}


def reading_steps(catalog: Catalog) -> Iterator[NextStep]:
    """The tasks left after reading the files. This needs no analysis."""
    if problems := len(catalog.problems):
        text = f"{quantity(problems, 'record')} could not be read: see why"
        yield NextStep(text, "catalog", {"part": "Findings"})
    if blocked := len(catalog.blocked):
        are = "is" if blocked == 1 else "are"
        text = f"{quantity(blocked, 'tool')} {are} blocked by the scan: see findings"
        yield NextStep(text, "catalog", {"part": "Findings"})


@kept()
def steps(snapshot: Snapshot) -> tuple[NextStep, ...]:
    """The tasks after the analysis, most urgent first. If there are none, the only step is to
    export.

    Raises ``JobError`` before the analysis is done.
    """
    broken: BrokenRules = kept_under(snapshot.catalog, "broken rules", (), dict)
    progress = review.progress(snapshot)
    waiting = progress.clusters.duplicates.pending
    unsure = 0 if waiting else len(pair_view.undecided(snapshot))
    most_merged = snapshot.plan_under(PlanConfig(accept="all", gateway=True))
    review_part, profile = review_steps(progress, unsure), profile_steps(most_merged)
    order = (review_part, profile) if waiting else (profile, review_part)
    return (*chain(*order), *export_steps(snapshot.plan, broken))


def profile_steps(plan: MergePlan) -> Iterator[NextStep]:
    """The step for a toolset that is too large for a client even after every merge in ``plan``."""
    tools = len(plan.tools)
    over = {most: who for most, who in client_limits().items() if tools > most}
    if over:
        clients = "; ".join(f"{who}: {most:,}" for most, who in over.items())
        text = f"Make a profile: even with every merge, {tools:,} tools are too many ({clients})"
        yield NextStep(text, "profiles")


def learning_steps(snapshot: Snapshot) -> Iterator[NextStep]:
    """A step about a search that learns from the requests of the query sets: what the search gains,
    or that it could be trained.

    There is no such step if there are too few requests, or if learning does not clearly help.
    """
    lessons = learned_searches.lessons(snapshot)
    if not lessons:
        return
    usage: Mapping[str, str] = {"ranking": "Usage"}
    try:
        trained = learned_searches.view(snapshot, "usage")
    except ConfigError:
        trained = None  # a damaged model has to be trained again
    if trained is None:
        text = f"Let the search learn from {quantity(lessons, 'request')}: see what it gains"
        yield NextStep(text, "retrieval", usage)
    elif trained.before.helps:
        by_text, learned = (one.mean for one in trained.before.recalls)
        figures = f"recall@5 {by_text:.3f} by text, {learned:.3f} by usage"
        text = f"Search by usage too: {figures}, on requests left out of training"
        yield NextStep(text, "retrieval", usage)


def most_confused(analysis: Analysis) -> Iterator[Pair]:
    """The candidate pairs, most confusing first.

    The score of a pair is the cosine of the texts (at most 1), plus a bonus for similar names (at
    most ``_OF_NAMES``), plus ``_OF_SERVERS`` if the tools are on two servers, because an agent
    cannot tell them apart by name.
    """
    from rapidfuzz.distance import Levenshtein

    scores, tools = analysis.scores, analysis.catalog.tools
    ends = zip(scores.left.tolist(), scores.right.tolist(), strict=True)
    lookalikes = [
        float(similarity)
        + _OF_NAMES * Levenshtein.normalized_similarity(tools[a].name, tools[b].name)
        + _OF_SERVERS * (tools[a].server != tools[b].server)
        for (a, b), similarity in zip(ends, scores.similarity, strict=True)
    ]
    for row in np.argsort(-np.array(lookalikes), kind="stable").tolist():
        yield Pair.of(tools[scores.left[row]].id, tools[scores.right[row]].id)


def review_steps(progress: ReviewProgress, unsure: int) -> Iterator[NextStep]:
    """The tasks for review: duplicates and families.

    If no duplicates are waiting, the steps are to export and to decide on the pairs about which the
    judge is ``unsure``.
    """
    counts = progress.clusters
    safe, families, waiting = counts.safe, counts.families.pending, counts.duplicates.pending
    if waiting:
        text = f"Review {quantity(waiting, 'same-job proposal')}"
        yield NextStep(text, "review", {"show": "Same job"})
    if families:
        text = f"Review {quantity(families, 'family')}"
        yield NextStep(text, "review", {"show": "Families"})
    if not waiting:
        headline = "Everything is reviewed" if progress.decided else "Nothing is proposed"
        headline = "No tools that do the same job are left to review" if families else headline
        yield NextStep(f"{headline}: export", "export")
        if unsure:
            text = f"Decide on {quantity(unsure, 'undecided pair')}"
            yield NextStep(text, "review", {"show": "Undecided"})
    if safe:
        wait = "waits" if safe == 1 else "wait"
        text = f"{quantity(safe, 'safe merge')} {wait}: accept them all at once"
        yield NextStep(text, "review", {"safe_merges": "open"})


def export_steps(plan: MergePlan, cache: BrokenRules) -> Iterator[NextStep]:
    """A step for each API that would reject the current export, with what it rejects.

    ``cache`` is passed to ``violation_counts``.
    """
    for name in ADVISED:
        target, rules = target_named(name), violation_counts(plan.tools, name, cache)
        if rules["unique"]:  # count each name once, as for the names shared by several servers
            rules["unique"] = len(repeated_names((item.tool for item in plan.tools), target))
        refusals = [quantity(rules[rule], word) for rule, word in _REFUSED.items() if rules[rule]]
        refusals += [f"too many tools (limit: {target.rules.most_tools})"] if rules["count"] else []
        if refusals:
            text = f"{target.title} would reject this toolset: {', '.join(refusals)}"
            yield NextStep(text, "export")


Facet = Mapping[str, Collection[str]]
"""Tool ids grouped by a label that the tools share."""

PROPOSED, _MERGED, ALONE, _LEFT_OUT = "in a proposal", "merged", "in no proposal", "left out"
SHARES_NAME = "shares its name with another server"


@kept()
def findings(catalog: Catalog) -> Facet:
    """The tools grouped by kind of finding, worst kind first."""
    kinds = findings_by_kind(catalog)
    ids = {kind: {one.tool_id for one in own} - {""} for kind, own in kinds.items()}
    return {kind: own for kind, own in ids.items() if own}


@kept()
def tool_states(plan: MergePlan) -> Facet:
    """The tools of a plan grouped by state. Empty states are left out."""
    states: defaultdict[str, set[str]] = defaultdict(set)
    for cluster in plan.clusters:
        states[_MERGED if cluster.state == "accepted" else PROPOSED].update(cluster.members)
    states[_LEFT_OUT].update(plan.removed)
    counted_ids = set().union(*states.values())
    states[ALONE] = {tool.id for tool in plan.catalog.tools} - counted_ids
    for namesakes in shared_names(item.tool for item in plan.tools):
        states[SHARES_NAME].update(tool.id for tool in namesakes)
    order = (PROPOSED, _MERGED, ALONE, _LEFT_OUT, SHARES_NAME)
    return {state: states[state] for state in order if states[state]}
