"""The effect of a profile: what requests find in the profile compared with the whole toolset."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from toolscope_core.catalog.formats.format_table import MATRIX, PROMPT_FORMATS, target_named
from toolscope_core.catalog.tokens import Costs
from toolscope_core.evaluation.comparison import Trial, compared, of_rankings, request_of
from toolscope_core.evaluation.confusions import Mismatch, confusion_matrix
from toolscope_core.evaluation.intervals import rate_text
from toolscope_core.evaluation.measured_toolsets import Ranker, of_plan
from toolscope_core.evaluation.query_sets import Query, relabelled
from toolscope_core.merging.analysis import Analysis
from toolscope_core.model.numbers import interval_text, quantity
from toolscope_core.model.pair import Pair, Verdict
from toolscope_core.model.plan import MergePlan
from toolscope_core.profiles.intent_cover import Intent, not_asked_for
from toolscope_core.profiles.profile_tools import ProfileTools, profile_plan

_CUTOFFS = (1, 5, 10)


@dataclass(frozen=True, slots=True)
class Misses:
    """Requests for a tool of the profile that find another of its tools first.

    ``texts`` gives the texts of these requests for each expected tool and the tool found first,
    most frequent first. ``requests`` is how many requests were checked.
    """

    requests: int = 0
    texts: Mapping[Mismatch, tuple[str, ...]] = field(default_factory=dict)

    @property
    def missed(self) -> int:
        """How many requests find another tool first."""
        return len({one for own in self.texts.values() for one in own})

    @property
    def in_words(self) -> str:
        share = rate_text(self.missed, self.requests)
        return f"requests that find another tool of the profile before the right one: {share}"


def effect_lines(
    plan: MergePlan, toolset: ProfileTools, queries: Sequence[Query], ranker: Ranker, costs: Costs
) -> list[str]:
    """Recall in the whole toolset and in the profile, and the paired difference, with intervals.

    There is one line for each cut-off below the number of tools in the profile, since a higher
    cut-off finds all of them. The list is empty if no query has an answer.
    """
    if not toolset.tools or not any(one.gold for one in queries):
        return []
    of_few = {f"recall@{cutoff}" for cutoff in _CUTOFFS if cutoff < len(toolset.tools)}
    trial = Trial.of(plan.catalog, queries, request_of("rules"), _CUTOFFS)
    before, after = (
        of_rankings(
            side,
            trial,
            ranker.rankings(side.tools, trial.requests, max(_CUTOFFS)),
            lambda tool: costs.of(tool, PROMPT_FORMATS[0]),
        )
        for side in (of_plan(plan, "whole"), of_plan(profile_plan(plan, toolset), "profile"))
    )
    changes = compared(trial, before, after).changes
    lines = [
        f"{own.name}: whole toolset {whole}, profile {text}, difference {change}"
        for old, own in zip(before.rows, after.rows, strict=True)
        if own.name in of_few
        for whole, text, change in [
            [
                interval_text(one.mean, one.low, one.high)
                for one in (old.interval, own.interval, changes[own.name])
            ]
        ]
    ]
    return [*lines, f"measured on {quantity(len(trial.queries), 'request')} with answers"]


def misses_of(
    plan: MergePlan, toolset: ProfileTools, queries: Sequence[Query], ranker: Ranker
) -> Misses:
    """The profile's tools that rank above the expected tool, counted as in ``confusion_matrix``.

    Requests for tools outside the profile are not counted.
    """
    own = [
        one
        for one in relabelled(queries, plan.phi)
        if not toolset.ids.isdisjoint(tool for need in one.gold for tool in need)
    ]
    if not own:
        return Misses()
    requests, tools = list(map(request_of("rules"), own)), [one.tool for one in toolset.tools]
    rankings = ranker.rankings(tools, requests, max(_CUTOFFS))
    cells = confusion_matrix(own, rankings, toolset.ids)
    wrong = {
        one: tuple(own[place].text for place in places)
        for one, places in cells.items()
        if one.is_wrong and {one.expected, one.actual} <= toolset.ids
    }
    return Misses(len(own), dict(sorted(wrong.items(), key=lambda one: -len(one[1]))))


@dataclass(frozen=True, slots=True)
class ProfileReport:
    """The figures for a profile.

    ``tokens`` is the size of the profile's tools, and ``whole`` the size of the whole toolset.
    ``unserved`` are the intents that are not fully served. ``unasked`` are the ids of tools that
    serve no intent; it is empty if there are no intents. ``confusions`` are pairs of the profile's
    tools that do the same job, are a family or look alike, according to the judge. ``misses`` are
    tools that requests find before the right one.
    """

    toolset: ProfileTools
    tokens: int
    whole: int
    intents: tuple[Intent, ...] = ()
    confusions: tuple[Verdict, ...] = ()
    misses: Misses = field(default_factory=Misses)

    @property
    def unserved(self) -> tuple[Intent, ...]:
        return tuple(one for one in self.intents if not one.is_served_by(self.toolset.ids))

    @property
    def unasked(self) -> tuple[str, ...]:
        return not_asked_for(self.intents, self.toolset.ids) if self.intents else ()


def profile_report(
    analysis: Analysis,
    plan: MergePlan,
    toolset: ProfileTools,
    intents: Sequence[Intent],
    costs: Costs,
    format: str = PROMPT_FORMATS[0],
) -> ProfileReport:
    """The figures for a profile's tools in a plan's toolset, with sizes in ``format``."""
    return ProfileReport(
        toolset,
        sum(costs.of(item.tool, format) for item in toolset.tools),
        sum(costs.of(item.tool, format) for item in plan.tools),
        tuple(intents),
        _confusions(analysis, toolset),
    )


def client_limits() -> dict[int, str]:
    """The limits on the number of tools, lowest first, each with the clients and
    APIs that have it.
    """
    titles: dict[int, list[str]] = {}
    for target in map(target_named, MATRIX):
        if target.rules.room:
            titles.setdefault(target.rules.room, []).append(target.title)
    return {most: ", ".join(names) for most, names in sorted(titles.items())}


def in_words(report: ProfileReport) -> str:
    """The size of a profile, in one line."""
    share = 100 * report.tokens / max(1, report.whole)
    tools = quantity(len(report.toolset.tools), "tool")
    return f"{tools}, {report.tokens:,} of {report.whole:,} tokens ({share:.0f} %)"


def _confusions(analysis: Analysis, toolset: ProfileTools) -> tuple[Verdict, ...]:
    """The verdicts other than *different jobs* on candidate pairs in the profile, most probable
    first.
    """
    tools, scores = analysis.catalog.tools, analysis.scores
    pairs = [
        Pair.of(tools[left].id, tools[right].id)
        for left, right in zip(scores.left.tolist(), scores.right.tolist(), strict=True)
        if tools[left].id in toolset.ids and tools[right].id in toolset.ids
    ]
    verdicts = [one for one in analysis.verdicts(pairs) if one.outcome != "keep"] if pairs else []
    return tuple(sorted(verdicts, key=lambda one: (-max(one.same_job, one.family), one.pair)))
