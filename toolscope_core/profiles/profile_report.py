"""What a profile comes to: its size, the requests that it serves, what an agent may confuse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from toolscope_core.catalog.formats.format_table import PROMPT_SHAPES
from toolscope_core.catalog.formats.target_table import MATRIX, target_named
from toolscope_core.catalog.tokens import Costs
from toolscope_core.merging.analysis import Analysis
from toolscope_core.model.numbers import quantity
from toolscope_core.model.pair import Pair, Verdict
from toolscope_core.model.plan import MergePlan
from toolscope_core.profiles.intent_cover import Intent, not_asked_for
from toolscope_core.profiles.profile_effect import Misses
from toolscope_core.profiles.profile_tools import ProfileTools


@dataclass(frozen=True, slots=True)
class ProfileReport:
    """The figures of a profile: ``tokens`` of its tools, ``whole`` of all tools of the toolset;
    ``unserved`` are the intents that it does not serve whole, ``unasked`` the tools (ids) that
    serve none, where there are intents; ``confusions`` its pairs that are the same job, a family or
    look alike by the judge, ``misses`` what its requests find before the right tool.
    """

    chosen: ProfileTools
    tokens: int
    whole: int
    intents: tuple[Intent, ...] = ()
    confusions: tuple[Verdict, ...] = ()
    misses: Misses = field(default_factory=Misses)

    @property
    def unserved(self) -> tuple[Intent, ...]:
        return tuple(one for one in self.intents if not one.is_served_by(self.chosen.ids))

    @property
    def unasked(self) -> tuple[str, ...]:
        return not_asked_for(self.intents, self.chosen.ids) if self.intents else ()


def profile_report(
    analysis: Analysis,
    plan: MergePlan,
    chosen: ProfileTools,
    intents: Sequence[Intent],
    costs: Costs,
    shape: str = PROMPT_SHAPES[0],
) -> ProfileReport:
    """The figures of a profile's tools in the toolset of a plan, sizes in ``shape``."""
    return ProfileReport(
        chosen,
        sum(costs.of(item.tool, shape) for item in chosen.tools),
        sum(costs.of(item.tool, shape) for item in plan.tools),
        tuple(intents),
        _confusions(analysis, chosen),
    )


def client_limits() -> dict[int, str]:
    """By each limit on tools that clients and APIs have, the lowest first, who has it."""
    titles: dict[int, list[str]] = {}
    for target in map(target_named, MATRIX):
        if target.rules.most_tools:
            titles.setdefault(target.rules.most_tools, []).append(target.title)
    return {most: ", ".join(names) for most, names in sorted(titles.items())}


def in_words(report: ProfileReport) -> str:
    """The size of a profile in one line."""
    share = 100 * report.tokens / max(1, report.whole)
    tools = quantity(len(report.chosen.tools), "tool")
    return f"{tools}, {report.tokens:,} of {report.whole:,} tokens ({share:.0f} %)"


def _confusions(analysis: Analysis, chosen: ProfileTools) -> tuple[Verdict, ...]:
    """The verdicts on the candidate pairs of the tools that are not *different jobs*, the most
    probable first.
    """
    tools, scores = analysis.catalog.tools, analysis.scores
    pairs = [
        Pair.of(tools[left].id, tools[right].id)
        for left, right in zip(scores.left.tolist(), scores.right.tolist(), strict=True)
        if tools[left].id in chosen.ids and tools[right].id in chosen.ids
    ]
    verdicts = [one for one in analysis.verdicts(pairs) if one.outcome != "keep"] if pairs else []
    return tuple(sorted(verdicts, key=lambda one: (-max(one.probability, one.family), one.pair)))
