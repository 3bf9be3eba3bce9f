from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ui.services import small_workspace
from toolscope_core.merging.analysis import own_thresholds
from toolscope_core.model.configuration import MergeThresholds
from toolscope_core.model.decision import Constraints
from toolscope_core.model.environment import read_environment
from toolscope_core.model.pair import PairScores
from ui.overlap import threshold_panel
from ui.overlap.threshold_panel import effect

IDS = [tool.id for tool in small_workspace.catalog().tools]
COSTS = {tool_id: 10 * (row + 1) for row, tool_id in enumerate(IDS)}
NOTHING = Constraints()
VALUES = st.sampled_from([0.6, 0.7, 0.8, 0.85, 0.9, 1.0])
SCORES = st.dictionaries(
    st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda pair: pair[0] < pair[1]),
    st.tuples(VALUES, VALUES),
    max_size=14,
)


@pytest.fixture(scope="module")
def analysis(shared):
    work, catalog_id = shared
    return replace(work.snapshot(catalog_id).analysed, threshold=0.6)


def scored(analysis, scores):
    """The analysis with other candidates: {(row, row): (similarity, probability)}."""
    ends = sorted(scores)
    left, right = (np.array([e[at] for e in ends], dtype=np.int32) for at in (0, 1))
    near, probable = (np.array([scores[e][at] for e in ends], dtype=float) for at in (0, 1))
    return replace(analysis, scores=PairScores(left, right, near, probable, 0 * probable))


def plain(analysis, thresholds, links=NOTHING):
    return effect(analysis, links, thresholds, COSTS, divide=False)


def ids(*rows):
    return tuple(IDS[row] for row in rows)


CHAIN = {(0, 1): (0.9, 0.95), (1, 2): (0.7, 0.9), (2, 3): (0.8, 0.99), (5, 6): (1.0, 0.6)}


def test_counts_by_hand(analysis):
    found = plain(scored(analysis, CHAIN), MergeThresholds(0.6, 0.85))
    assert (found.candidates, found.merges) == (4, 3)
    assert found.groups == (ids(0, 1, 2, 3),)
    assert found.tools_left == 8 - 3
    assert found.tokens_left == sum(COSTS.values()) - (10 + 20 + 30)
    found = plain(scored(analysis, CHAIN), MergeThresholds(0.75, 0.5))
    assert found.groups == (ids(0, 1), ids(2, 3), ids(5, 6))
    assert (found.candidates, found.merges, found.tools_left) == (3, 3, 5)


@given(scores=SCORES, one=st.tuples(VALUES, VALUES), other=st.tuples(VALUES, VALUES))
def test_a_higher_cut_refines_the_clusters_and_lowers_every_count(analysis, scores, one, other):
    found = scored(analysis, scores)
    low = plain(found, MergeThresholds(min(one[0], other[0]), min(one[1], other[1])))
    high = plain(found, MergeThresholds(max(one[0], other[0]), max(one[1], other[1])))
    assert all(any(set(g) <= set(big) for big in low.groups) for g in high.groups)
    assert high.candidates <= low.candidates
    assert high.merges <= low.merges
    assert high.tools_left >= low.tools_left
    assert high.tokens_left >= low.tokens_left


# --- over the store ---------------------------------------------------------------------------


@pytest.mark.shared_data
def test_at_its_own_cut_the_effect_is_the_plan_of_a_real_catalog(benchmark_catalog):
    work = small_workspace.opened(read_environment())
    record = work.catalogs.add("Real", benchmark_catalog("livemcpbench"))
    work.analyses.run(record.id)
    own = own_thresholds(work.snapshot(record.id).analysis)
    now = threshold_panel.moved_clusters(work.snapshot(record.id), own).now
    assert now.groups
    clusters = work.snapshot(record.id).plan.clusters
    assert set(now.groups) == {c.members for c in clusters if c.relation != "family"}
