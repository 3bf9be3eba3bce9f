"""The experiments that are kept of a catalog, and what they found of its tools and pairs."""

from collections.abc import Mapping
from typing import TypeVar

from toolscope_core.evaluation.comparison import Comparison
from toolscope_core.evaluation.results import read_result
from toolscope_core.model.errors import ConfigError, StoreError
from toolscope_core.model.pair import Pair
from toolscope_core.model.plan import Experiment
from toolscope_core.store.experiment_rows import get_experiment, list_experiments
from ui.shared.kept import kept
from ui.shared.services.workspace import Workspace
from ui.shared.snapshot import Snapshot

Result = TypeVar("Result")

ORIGINAL = "as it is"
"""What the catalog before any merge is called as a toolset."""
MOST_READ = 5
"""Comparisons that are looked through for a merge."""
_CONFIGURED = {"queries", "before", "after", "query_count"}
"""What the configuration of every experiment has."""


def all(snapshot: Snapshot) -> tuple[Experiment, ...]:
    """The experiments on every version of the catalog, the newest first, without results."""
    return list_experiments(snapshot.work.store, snapshot.id)


def result_of(experiment: Experiment, kind: type[Result]) -> Result:
    """What an experiment found. Raises ``StoreError`` for one that somebody else wrote in another
    form.
    """
    try:
        if missing := _CONFIGURED - experiment.configuration.keys():
            raise ConfigError(f"it has no {min(missing)!r}")
        return read_result(kind, experiment.result or {})
    except ConfigError as error:
        raise StoreError(
            f"experiment {experiment.number} is damaged ({error}); delete it under Kept runs and "
            "measure again"
        ) from error


def confusion_of(snapshot: Snapshot, pair: Pair) -> tuple[int, tuple[str, ...]] | None:
    """The texts of the queries of the newest comparison on this version that confuse two tools,
    after its number; ``None`` where none does.
    """
    for number in _comparisons(snapshot)[:1]:
        texts = _findings(snapshot.work, number)[0].get(pair)
        if texts is not None:
            return number, texts
    return None


def missed(snapshot: Snapshot) -> Mapping[str, str] | None:
    """``missed_tools`` of the newest comparison on this version; ``None`` without one."""
    newest = _comparisons(snapshot)[:1]
    return _findings(snapshot.work, newest[0])[1] if newest else None


def _comparisons(snapshot: Snapshot) -> list[int]:
    """The finished comparisons on this version with the catalog as it is, newest first."""
    return [
        one.number
        for one in all(snapshot)
        if one.kind == "comparison"
        and one.is_done
        and one.catalog_id == snapshot.id
        and one.configuration.get("before") == ORIGINAL
    ]


@kept(most=MOST_READ)
def _findings(
    work: Workspace, number: int
) -> tuple[Mapping[Pair, tuple[str, ...]], Mapping[str, str]]:
    """The texts of the queries that confuse each pair, and ``missed_tools``."""
    try:
        result = result_of(get_experiment(work.store, number), Comparison)
    except StoreError:
        return {}, {}
    texts = {one.id: one.query for one in result.queries}
    confusions = {
        one.pair: tuple(texts[query] for query in one.queries) for one in result.confusions
    }
    return confusions, missed_tools(result)


def missed_tools(result: Comparison) -> dict[str, str]:
    """By id the tools of the catalog as it is that no query of a comparison found among the first
    places, though it needs them, each with the first such query.
    """
    missed: dict[str, str] = {}
    reached: set[str] = set()
    for query in result.queries:
        for need, place in zip(query.gold, query.places_before, strict=True):
            if place is not None:
                reached.update(need)
            else:
                missed = dict.fromkeys(need, query.query) | missed
    return {tool_id: missed[tool_id] for tool_id in sorted(missed) if tool_id not in reached}
