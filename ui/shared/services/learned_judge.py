"""What the judge learned from the decisions on a catalog: offered, used by choice, switched off."""

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from toolscope_core.judging.judge_update import JudgeUpdate
from toolscope_core.model.pair import Pair
from toolscope_core.store.settings import setting_as, write_setting
from ui.shared.cards.queue import waits
from ui.shared.services.page_service import PageService


class LearnedJudge(PageService):
    """An update changes the order of the queue and nothing else: what is proposed, what is *safe*
    and what is merged stay with the judge and the people.
    """

    def chosen(self, catalog_id: int) -> JudgeUpdate | None:
        """The update in use; none where it was learned for another judge."""
        saved = setting_as(self._store, _name(catalog_id), JudgeUpdate.of_json)
        analysis = self._analyses.get(catalog_id) if saved else None
        if saved is None or analysis is None or saved.judge != analysis.judge.name:
            return None
        return saved

    def use(self, catalog_id: int, update: JudgeUpdate) -> None:
        """Order by this update from now on."""
        write_setting(self._store, _name(catalog_id), update.as_json())

    def switch_off(self, catalog_id: int) -> None:
        """Use no update; what was learned can be learned again."""
        write_setting(self._store, _name(catalog_id), None)

    def of_clusters(self, catalog_id: int) -> Mapping[str, float]:
        """By cluster id the learned probability of the weakest pair of its members, of those that
        wait; empty where no update is in use.
        """
        update = self.chosen(catalog_id)
        if update is None:
            return {}
        analysis, plan = self._analyses.required(catalog_id), self._review.plan(catalog_id)

        def make() -> Mapping[str, float]:
            clusters = [one for one in plan.clusters if waits(one)]
            pairs = [[Pair.of(*two) for two in combinations(one.members, 2)] for one in clusters]
            every: list[Pair] = [pair for own in pairs for pair in own]
            left = np.array([analysis.rows[pair.left] for pair in every], dtype=np.int32)
            right = np.array([analysis.rows[pair.right] for pair in every], dtype=np.int32)
            values = iter(update.probabilities(analysis.judge, left, right).tolist())
            return {
                one.id: min(next(values) for _ in own)
                for one, own in zip(clusters, pairs, strict=True)
            }

        return self._cached(
            ("of_clusters", catalog_id), (plan,), make, state=update.version, most=4
        )


def _name(catalog_id: int) -> str:
    return f"learned/{catalog_id}"
