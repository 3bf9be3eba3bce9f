"""What the judge has learned from the decisions on a catalog: proposed, used and switched off."""

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from toolscope_core.judging.learned_weights import JudgeUpdate
from toolscope_core.model.pair import Pair
from toolscope_core.store.stored_state import write_setting
from ui.shared.cards.queue import waits
from ui.shared.kept import kept
from ui.shared.snapshot import Snapshot


def update_in_use(snapshot: Snapshot) -> JudgeUpdate | None:
    """The update in use; ``None`` if there is none, or if it was learned for another judge."""
    saved = snapshot.setting(_name(snapshot), JudgeUpdate.of_json)
    analysis = snapshot.analysed if saved else None
    if saved is None or analysis is None or saved.judge != analysis.judge.name:
        return None
    return saved


def use(snapshot: Snapshot, update: JudgeUpdate) -> None:
    """From now on, use this update to order the queue."""
    write_setting(snapshot.work.store, _name(snapshot), update.as_json())


def switch_off(snapshot: Snapshot) -> None:
    """Stop using the update. It can be learned again."""
    write_setting(snapshot.work.store, _name(snapshot), None)


@kept()
def of_clusters(snapshot: Snapshot) -> Mapping[str, float]:
    """For each waiting cluster, the learned probability of its weakest pair, by cluster id.

    Empty if no update is in use.
    """
    update = update_in_use(snapshot)
    if update is None:
        return {}
    analysis = snapshot.analysis
    clusters = [one for one in snapshot.plan.clusters if waits(one)]
    pairs = [[Pair.of(*two) for two in combinations(one.members, 2)] for one in clusters]
    all_pairs: list[Pair] = [pair for own in pairs for pair in own]
    left = np.array([analysis.rows[pair.left] for pair in all_pairs], dtype=np.int32)
    right = np.array([analysis.rows[pair.right] for pair in all_pairs], dtype=np.int32)
    values = iter(update.probabilities(analysis.judge, left, right).tolist())
    return {
        one.id: min(next(values) for _ in own) for one, own in zip(clusters, pairs, strict=True)
    }


def _name(snapshot: Snapshot) -> str:
    return f"learned/{snapshot.id}"
