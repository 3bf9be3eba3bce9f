"""The stored experiments on a catalog, and what they found about tools and pairs."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

from toolscope_core.evaluation.comparison import ComparedQuery, Comparison
from toolscope_core.evaluation.results import read_result
from toolscope_core.model.errors import ConfigError, StoreError
from toolscope_core.model.pair import Pair
from toolscope_core.model.plan import Experiment
from toolscope_core.store.experiment_rows import get_experiment, list_experiments
from ui.shared.kept import kept
from ui.shared.services.workspace import Workspace
from ui.shared.snapshot import Snapshot

ExperimentResult = TypeVar("ExperimentResult")

ORIGINAL = "as it is"
"""The toolset name of the catalog before any merge."""
_CONFIGURED = {"queries", "before", "after", "query_count"}
"""The keys that the configuration of every experiment has."""


def all(snapshot: Snapshot) -> tuple[Experiment, ...]:
    """The experiments on every version of the catalog, newest first, without results."""
    return list_experiments(snapshot.work.store, snapshot.id)


def result_of(experiment: Experiment, kind: type[ExperimentResult]) -> ExperimentResult:
    """The result of an experiment. Raises ``StoreError`` if it was stored in another form."""
    try:
        if missing_settings := _CONFIGURED - experiment.configuration.keys():
            raise ConfigError(f"the setting {min(missing_settings)!r} is missing")
        return read_result(kind, experiment.result or {})
    except ConfigError as error:
        raise StoreError(
            f"experiment {experiment.number} is damaged ({error}); delete it under Kept runs and "
            "measure again"
        ) from error


def confusion_of(snapshot: Snapshot, pair: Pair) -> tuple[int, tuple[str, ...]] | None:
    """The number of the newest comparison, and the queries in it that confuse the two tools.

    Only comparisons on this version count. ``None`` if there are no such queries.
    """
    number = _newest_comparison(snapshot)
    texts = None if number is None else _findings(snapshot.work, number)[0].get(pair)
    return None if number is None or texts is None else (number, texts)


def missed(snapshot: Snapshot) -> Mapping[str, str] | None:
    """The ``missed_tools`` of the newest comparison on this version; ``None`` if there is no
    comparison.
    """
    number = _newest_comparison(snapshot)
    return None if number is None else _findings(snapshot.work, number)[1]


def _newest_comparison(snapshot: Snapshot) -> int | None:
    """The newest finished comparison on this version that compares with the unchanged catalog."""
    comparisons = (
        one.number
        for one in all(snapshot)
        if one.kind == "comparison"
        and one.is_done
        and one.catalog_id == snapshot.id
        and one.configuration.get("before") == ORIGINAL
    )
    return next(comparisons, None)


@kept(limit=5)
def _findings(
    work: Workspace, number: int
) -> tuple[Mapping[Pair, tuple[str, ...]], Mapping[str, str]]:
    """The queries that confuse each pair of tools, and the ``missed_tools``."""
    try:
        result = result_of(get_experiment(work.store, number), Comparison)
    except StoreError:
        return {}, {}
    texts = {one.id: one.query for one in result.queries}
    confusions = {
        one.pair: tuple(texts[query] for query in one.queries) for one in result.confusions
    }
    return confusions, missed_tools(result.queries)


def missed_tools(queries: Iterable[ComparedQuery]) -> dict[str, str]:
    """The original tools that queries of a comparison need, but that no query finds among the first
    places.

    They are sorted by id. Each has the first query that needs it.
    """
    missed: dict[str, str] = {}
    found_ids: set[str] = set()
    for query in queries:
        for need, place in zip(query.gold, query.places_before, strict=True):
            if place is not None:
                found_ids.update(need)
            else:
                missed = dict.fromkeys(need, query.query) | missed
    return {tool_id: missed[tool_id] for tool_id in sorted(missed) if tool_id not in found_ids}
