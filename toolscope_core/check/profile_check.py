"""A profile of the baseline in the catalog of today, and which of its limits it does not keep."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from toolscope_core.check.baseline import Baseline
from toolscope_core.check.matched import Matched
from toolscope_core.decisions.constraints import profiles
from toolscope_core.decisions.decision_lines import under_new_ids
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.merging.pipeline import Analysis, plan_merge
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.tool import Tool
from toolscope_core.profiles.intent_cover import intents_to_serve
from toolscope_core.profiles.profile_report import ProfileReport, profile_report
from toolscope_core.profiles.profile_tools import profile_tools
from toolscope_core.retrieval.retriever import Retriever


@dataclass(frozen=True, slots=True)
class ProfileLimits:
    """The most that a profile may have: tokens, tools, requests that it does not serve, and pairs
    of tools that are alike. ``None`` is no limit.
    """

    tokens: int | None = None
    tools: int | None = None
    unserved: int | None = None
    confusions: int | None = None

    def broken(self, report: ProfileReport) -> Iterator[str]:
        """What is over a limit, a sentence each."""
        counts = {
            "token": (report.tokens, self.tokens),
            "tool": (len(report.chosen.tools), self.tools),
            "unserved request": (len(report.unserved), self.unserved),
            "confusable pair": (len(report.confusions), self.confusions),
        }
        for noun, (count, most) in counts.items():
            if most is not None and count > most:
                name = report.chosen.profile.name
                yield f"profile {name}: {quantity(count, noun)}, at most {most:,} allowed"


def checked_profile(
    name: str,
    baseline: Baseline,
    tools: Matched,
    analysis: Analysis,
    queries: Sequence[Query],
    search: Callable[[Sequence[Tool]], Retriever],
) -> ProfileReport:
    """The profile of the baseline's decisions in the catalog that was analysed, merged as the
    baseline was; it has to serve the queries, or where there are none its own intents.

    Raises ``ConfigError`` for a profile that the baseline does not have.
    """
    renamed = {old: new for new, old in tools.before.items()}
    log = [under_new_ids(one, renamed) for one in baseline.log]
    standing = profiles(analysis.catalog, log)
    if name not in standing:
        names = ", ".join(standing) or "none"
        raise ConfigError(f"the baseline has no profile {name!r}; it has {names}")
    plan = plan_merge(analysis, log, baseline.plan)
    queries = queries or [Query("", text) for text in standing[name].intents]
    intents = intents_to_serve(queries, plan, lambda: search([one.tool for one in plan.tools]))
    chosen = profile_tools(plan, standing[name])
    return profile_report(analysis, plan, chosen, intents, analysis.syntheses.costs)
