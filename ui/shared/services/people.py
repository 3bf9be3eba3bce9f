"""Several people on one store: who has which share of the queue."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Literal

from toolscope_core.model.cluster import Cluster
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.tool import Tool, digest
from toolscope_core.store.settings import setting_as, write_setting
from ui.shared.cards.queue import waits
from ui.shared.services.page_service import PageService

Split = Literal["random", "server"]

_SEED = 77


@dataclass(frozen=True, slots=True)
class Shares:
    """Who reviews, and by what the queue is divided among them."""

    people: tuple[str, ...]
    by: Split


class People(PageService):
    """Who reviews what of a catalog."""

    def shares(self, catalog_id: int) -> Shares | None:
        """Who the queue is divided among; ``None`` where it is everybody's."""
        return setting_as(
            self._store,
            _name(catalog_id),
            lambda saved: Shares(tuple(map(str, saved["people"])), saved["by"]),
        )

    def divide(self, catalog_id: int, shares: Shares | None) -> None:
        """Divide the queue from now on, or with ``None`` no longer. Raises ``DecisionError`` for
        fewer than two people.
        """
        if shares is not None and len(set(shares.people)) < 2:
            raise DecisionError(
                f"the queue is divided among {', '.join(shares.people) or 'nobody'}; name two "
                "people or more"
            )
        write_setting(self._store, _name(catalog_id), asdict(shares) if shares else None)

    def owners(self, catalog_id: int) -> dict[str, str]:
        """By id of each cluster that waits the person who has it; empty where nothing is divided.
        Raises ``JobError`` before the analysis is finished.
        """
        shares = self.shares(catalog_id)
        if shares is None:
            return {}
        plan = self._review.plan(catalog_id)
        tools = self._analyses.required(catalog_id).catalog.by_id
        return self._cached(
            ("owners", catalog_id),
            (plan,),
            lambda: shared_out(filter(waits, plan.clusters), tools, shares),
            state=shares,
            most=4,
        )


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


def _name(catalog_id: int) -> str:
    return f"shares/{catalog_id}"
