from dataclasses import replace

import numpy as np
import pytest

from tests.ui.services import known_angles
from toolscope_core.model.pair import PairScores
from ui.overlap.heatmaps import Heatmaps
from ui.overlap.server_overlap import ServerDuplicates, ServerPair, server_overlap


def judged(analysis, *merges):
    """The analysis with these pairs of names as its only candidates, all merges but the last."""
    rows = np.array([[analysis.rows[name] for name in pair] for pair in merges], dtype=np.int32)
    probability = np.ones(len(merges))
    probability[-1] = analysis.judge.weights.merge_at - 1e-6
    scores = PairScores(rows[:, 0], rows[:, 1], probability, probability, 0 * probability)
    return replace(analysis, scores=scores)


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    return known_angles.analysed(tmp_path_factory.mktemp("six"))


def test_a_twin_is_what_the_judge_would_merge_on_another_server(known):
    found = server_overlap(judged(known, ("a1", "a2"), ("a1", "b1"), ("a2", "b1"), ("a3", "b2")))
    assert found.servers == (
        ServerDuplicates("alpha", 3, 2, "beta"),
        ServerDuplicates("beta", 2, 1, "alpha"),
        ServerDuplicates("gamma", 1, 0, ""),
    )
    assert found.servers[0].share == pytest.approx(2 / 3)
    assert found.pairs == (ServerPair("alpha", "beta", 2, 1),)


def test_copies_are_twins_and_have_each_others_twins(tmp_path):
    first = known_angles.TOOLS[0]
    copies = [replace(first, id=f"z{n}", server=name) for n, name in enumerate(("beta", "gamma"))]
    analysis = known_angles.analysed(tmp_path, (*known_angles.TOOLS, *copies))
    found = server_overlap(judged(analysis, ("a1", "c1"), ("a1", "a2")))
    assert {(row.server, row.duplicates) for row in found.servers} == {
        ("alpha", 1),
        ("beta", 1),
        ("gamma", 2),
    }, "c1 has duplicates on alpha and beta, through the copy"
    assert ServerPair("beta", "gamma", 1, 2) in found.pairs


def test_tools_without_a_server_are_left_aside(tmp_path):
    bare = [replace(tool, server="") for tool in known_angles.TOOLS]
    found = server_overlap(known_angles.analysed(tmp_path, bare))
    assert (found.servers, found.pairs) == ((), ())
    mixed = [replace(t, server="" if t.name == "b1" else t.server) for t in known_angles.TOOLS]
    found = server_overlap(
        judged(known_angles.analysed(tmp_path, mixed), ("a1", "b1"), ("a1", "c1"))
    )
    assert all(row.duplicates == 0 for row in found.servers)


def test_servers_are_compared_once(work, catalog_id):
    assert work.service(Heatmaps).server_overlap(catalog_id) is work.service(
        Heatmaps
    ).server_overlap(catalog_id)


def test_of_servers_with_as_many_twins_the_first_by_name_is_told(known):
    found = server_overlap(judged(known, ("a1", "c1"), ("a1", "b1"), ("a1", "b2")))
    assert found.servers[-1].most == "beta"
    assert {row.server: row.most for row in found.servers}["alpha"] == "beta"
