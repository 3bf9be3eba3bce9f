"""The experiments that are kept of a catalog, and what they found of its merges and pairs."""

from collections.abc import Mapping
from dataclasses import dataclass

from toolscope_core.model.errors import StoreError
from toolscope_core.model.numbers import listed
from toolscope_core.model.pair import Pair, pair_key
from toolscope_core.model.plan import Experiment
from toolscope_core.model.tool import JsonObject
from toolscope_core.store.engine import Store
from toolscope_core.store.experiment_rows import get_experiment, list_experiments
from ui.shared.kept import kept
from ui.shared.services.workspace import Workspace
from ui.shared.snapshot import Snapshot

ORIGINAL = "as it is"
"""What the catalog before any merge is called as a toolset."""
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
class MergeRow:
    """A merge with what it does: the sum of what nDCG gains over its queries. ``joins`` are the
    queries that need two of its tools.
    """

    tool: str
    members: tuple[str, ...]
    change: float
    helped: int
    hurt: int
    queries: str
    joins: str


@dataclass(frozen=True, slots=True)
class ConfusionRow:
    """Two tools that queries confuse, by their ids and ``texts``; ``key`` names the pair in an
    address.
    """

    left: str
    right: str
    cost: float
    queries: tuple[str, ...]
    texts: tuple[str, ...]
    key: str


@dataclass(frozen=True, slots=True)
class _Findings:
    """What a comparison found of pairs; ``missed`` as in ``missed_tools``."""

    confusions: Mapping[Pair, ConfusionRow]
    missed: Mapping[str, str]


def all(snapshot: Snapshot) -> tuple[Experiment, ...]:
    """The experiments on every version of the catalog, the newest first, without results."""
    return list_experiments(snapshot.work.store, snapshot.id)


def get(store: Store, number: int) -> Experiment:
    """An experiment with its result. Raises ``StoreError`` where there is none, or one that
    somebody else wrote in another form.
    """
    kept = get_experiment(store, number)
    result, configuration = kept.result or {}, kept.configuration
    missing = [key for key in _PARTS.get(kept.kind, ()) if key not in result]
    needed = _ASKED if kept.kind == "agent" else (*_ASKED, *_SEARCHED)
    missing += [key for key in needed if key not in configuration]
    if kept.is_done and missing:
        raise StoreError(
            f"experiment {number} is damaged (it has no {missing[0]!r}); delete it under "
            "Kept runs and measure again"
        )
    return kept


def confusion_of(snapshot: Snapshot, pair: Pair) -> tuple[int, ConfusionRow] | None:
    """The queries of the newest comparison on this version that confuse two tools, with its
    number; ``None`` where none does.
    """
    for number in _comparisons(snapshot)[:1]:
        confusion = _findings(snapshot.work, number).confusions.get(pair)
        if confusion is not None:
            return number, confusion
    return None


def missed(snapshot: Snapshot) -> Mapping[str, str] | None:
    """``missed_tools`` of the newest comparison on this version; ``None`` without one."""
    newest = _comparisons(snapshot)[:1]
    return _findings(snapshot.work, newest[0]).missed if newest else None


def _comparisons(snapshot: Snapshot) -> list[int]:
    """The finished comparisons on this version with the catalog as it is, newest first."""
    return [
        one.number
        for one in all(snapshot)
        if one.kind == "comparison"
        and one.is_done
        and one.catalog_id == snapshot.id
        and one.configuration.get("before") == ORIGINAL
    ][:MOST_READ]


@kept(most=MOST_READ)
def _findings(work: Workspace, number: int) -> _Findings:
    try:
        result = get(work.store, number).result or {}
    except StoreError:
        return _Findings({}, {})
    confusions = {Pair.of(row.left, row.right): row for row in confusion_rows(result)}
    return _Findings(confusions, missed_tools(result))


def merge_rows(result: JsonObject) -> list[MergeRow]:
    """The merges that queries meet, that which harms most first."""
    return [
        MergeRow(
            row["tool"],
            tuple(row["members"]),
            row["change"],
            row["helped"],
            row["hurt"],
            listed([one["id"] for one in row["queries"] if _changes(one)], 5),
            listed(row["joins"], 5),
        )
        for row in result["merges"]
    ]


def confusion_rows(result: JsonObject) -> list[ConfusionRow]:
    """The pairs that queries confuse before the merge, the costliest first."""
    texts = {row["id"]: row["query"] for row in result["queries"]}
    return [
        ConfusionRow(
            row["left"],
            row["right"],
            row["cost"],
            tuple(row["queries"]),
            tuple(texts[one] for one in row["queries"]),
            pair_key(Pair.of(row["left"], row["right"])),
        )
        for row in result["confusions"]
    ]


def missed_tools(result: JsonObject) -> dict[str, str]:
    """By id the tools of the catalog as it is that no query of a comparison found among the first
    places, though it needs them, each with the first such query.
    """
    missed: dict[str, str] = {}
    reached: set[str] = set()
    for row in result["queries"]:
        for need, place in zip(row["gold"], row["places_before"], strict=True):
            if place is not None:
                reached.update(need)
            else:
                missed = dict.fromkeys(need, row["query"]) | missed
    return {tool_id: missed[tool_id] for tool_id in sorted(missed) if tool_id not in reached}


def _changes(row: Mapping[str, float]) -> bool:
    return row["ndcg_with"] != row["ndcg_without"]
