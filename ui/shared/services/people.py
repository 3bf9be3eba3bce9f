"""Several people on one store: who has which share of the queue."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Literal

from toolscope_core.model.cluster import Cluster
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.tool import Tool, digest
from toolscope_core.store.settings import write_setting
from ui.shared.cards.queue import waits
from ui.shared.kept import kept
from ui.shared.snapshot import Snapshot

Split = Literal["random", "server"]

_SEED = 77


@dataclass(frozen=True, slots=True)
class Shares:
    """Who reviews, and by what the queue is divided among them."""

    people: tuple[str, ...]
    by: Split


def shares(snapshot: Snapshot) -> Shares | None:
    """Who the queue is divided among; ``None`` where it is everybody's."""
    return snapshot.setting(
        _name(snapshot), lambda saved: Shares(tuple(map(str, saved["people"])), saved["by"])
    )


def divide(snapshot: Snapshot, shares: Shares | None) -> None:
    """Divide the queue from now on, or with ``None`` no longer. Raises ``DecisionError`` for
    fewer than two people.
    """
    if shares is not None and len(set(shares.people)) < 2:
        raise DecisionError(
            f"the queue is divided among {', '.join(shares.people) or 'nobody'}; name two "
            "people or more"
        )
    write_setting(snapshot.work.store, _name(snapshot), asdict(shares) if shares else None)


@kept()
def owners(snapshot: Snapshot) -> dict[str, str]:
    """By id of each cluster that waits the person who has it; empty where nothing is divided.
    Raises ``JobError`` before the analysis is finished.
    """
    divided = shares(snapshot)
    if divided is None:
        return {}
    tools = snapshot.analysis.catalog.by_id
    return shared_out(filter(waits, snapshot.plan.clusters), tools, divided)


def shared_out(
    clusters: Iterable[Cluster], tools: Mapping[str, Tool], shares: Shares
) -> dict[str, str]:
    """By cluster id the person who has it. A cluster, or all of the server of its canonical, goes
    to the person whose hash with it is highest: the queue may change and people may come without
    moving what others have.
    """

    def person(cluster: Cluster) -> str:
        about = cluster.id if shares.by == "random" else tools[cluster.canonical].owner
        return max(shares.people, key=lambda one: digest(_SEED, one, about))

    return {cluster.id: person(cluster) for cluster in clusters} if shares.people else {}


def _name(snapshot: Snapshot) -> str:
    return f"shares/{snapshot.id}"
