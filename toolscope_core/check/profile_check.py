"""A profile of the baseline in the catalog of today, and which of its limits it does not keep."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from toolscope_core.check.baseline import Baseline
from toolscope_core.check.matched import Matched
from toolscope_core.decisions.constraints import profiles
from toolscope_core.decisions.decision_lines import under_new_ids
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.evaluation.ranking import ToolsetRanker
from toolscope_core.merging.pipeline import Analysis, plan_merge
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import quantity
from toolscope_core.profiles.intent_cover import intents_of
from toolscope_core.profiles.profile_effect import misses_of
from toolscope_core.profiles.profile_report import ProfileReport, profile_report
from toolscope_core.profiles.profile_tools import profile_tools
from toolscope_core.retrieval.client_search import SearchSetup

NOUNS = {
    "tokens": "token",
    "tools": "tool",
    "unserved": "unserved request",
    "confusions": "confusable pair",
    "misses": "missed request",
}
"""What a profile may have a limit on, and what it counts."""


def profile_limits(texts: Sequence[str], profile: str | None, has_cases: bool) -> dict[str, int]:
    """The limits of a profile as they are typed: ``tokens=8000``. Raises ``ConfigError``, also for
    limits of none, and on misses without cases.
    """
    if texts and profile is None:
        raise ConfigError("--profile-limit is of a profile; give --profile")
    limits = {}
    for text in texts:
        what, _, most = text.partition("=")
        if what not in NOUNS or not most.isdecimal():
            raise ConfigError(
                f"--profile-limit is {text!r}; give a number for one of {', '.join(NOUNS)}, such "
                "as tokens=8000"
            )
        limits[what] = int(most)
    if "misses" in limits and not has_cases:
        raise ConfigError("--profile-limit misses is of cases; give --cases")
    return limits


def broken_limits(report: ProfileReport, limits: Mapping[str, int]) -> Iterator[str]:
    """What is over a limit, a sentence each."""
    counts = {
        "tokens": report.tokens,
        "tools": len(report.chosen.tools),
        "unserved": len(report.unserved),
        "confusions": len(report.confusions),
        "misses": report.misses.missed,
    }
    for what, most in limits.items():
        if counts[what] > most:
            amount = quantity(counts[what], NOUNS[what])
            yield f"profile {report.chosen.profile.name}: {amount}, at most {most:,} allowed"


def checked_profile(
    name: str,
    baseline: Baseline,
    tools: Matched,
    analysis: Analysis,
    queries: Sequence[Query],
    setup: SearchSetup,
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
    intents = intents_of(queries, plan, lambda: setup.open([one.tool for one in plan.tools]))
    chosen = profile_tools(plan, standing[name])
    report = profile_report(analysis, plan, chosen, intents, analysis.syntheses.costs)
    return replace(report, misses=misses_of(plan, chosen, queries, ToolsetRanker(setup)))
