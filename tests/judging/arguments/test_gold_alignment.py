"""The gold argument maps: well formed, unchanged, and followed by the aligner on both halves."""

import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest

from benchmarks import alignment_quality

DATA = Path(__file__).resolve().parents[2] / "data"


def rows_of(name):
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


ROWS, NEAR = rows_of("alignment.jsonl"), rows_of("alignment_near.jsonl")


def digest(rows):
    text = "".join(json.dumps(row, sort_keys=True) for row in rows if row["half"] == "test")
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def test_what_is_measured_on_is_what_was_labelled():
    """The test halves are never corrected after an aligner has run on them."""
    assert (digest(ROWS), digest(NEAR)) == ("8c9c2d97d1a0448e", "f1e90cfa26656be0")


def test_the_maps_are_one_to_one_and_halved_in_each_catalog():
    assert len(ROWS) == 566
    for row in ROWS:
        left, right = ([arg[side] for arg in row["args"]] for side in (0, 1))
        for names, rest in ((left, row["unaligned_left"]), (right, row["unaligned_right"])):
            assert len({*names, *rest}) == len(names) + len(rest)
    first = [row for row in ROWS if "round" not in row]
    assert all(row["half"] == "dev" for row in ROWS if row not in first)
    halves = Counter((row["catalog"], row["half"]) for row in first)
    assert all(halves[name, "dev"] == halves[name, "test"] for name, _ in halves)
    assert sum(row["half"] == "test" for row in ROWS) == 75


def test_no_tool_of_the_test_half_is_in_a_later_round():
    tools = {half: set() for half in ("dev", "test")}
    for row in ROWS:
        if "round" in row or row["half"] == "test":
            tools[row["half"]] |= {(row["catalog"], row[side]) for side in ("left", "right")}
    assert tools["dev"].isdisjoint(tools["test"])


def test_near_pairs_are_one_to_one_and_share_no_tool_with_either_test_half():
    assert len(NEAR) == 1663
    assert len({(row["catalog"], row["left"], row["right"]) for row in NEAR}) == len(NEAR)
    tools = {"dev": set(), "test": set()}
    for row in NEAR:
        assert all(len(set(names)) == len(row["args"]) for names in zip(*row["args"], strict=True))
        tools[row["half"]] |= {(row["catalog"], row[side]) for side in ("left", "right")}
    assert tools["dev"].isdisjoint(tools["test"])
    test = [row for row in ROWS if row["half"] == "test"]
    by_hand = {(row["catalog"], row[side]) for row in test for side in ("left", "right")}
    assert by_hand.isdisjoint(tools["dev"] | tools["test"])


@pytest.fixture
def gold(benchmark_catalog, monkeypatch):
    """Reads a file of maps over the catalogs that this run of the tests has read."""
    monkeypatch.setattr(alignment_quality.measuring, "read_named", benchmark_catalog)
    return lambda name: alignment_quality.load_gold(DATA / name)


@pytest.mark.nightly
@pytest.mark.shared_data
def test_near_pairs_are_of_tools_and_parameters_that_there_are(gold):
    for one in gold("alignment_near.jsonl"):
        ours, theirs = ({p.name for p in tool.parameters} for tool in (one.left, one.right))
        assert {a for a, _ in one.args} <= ours
        assert {b for _, b in one.args} <= theirs


@pytest.mark.shared_data
def test_the_maps_made_by_hand_say_of_each_parameter_what_it_is(gold):
    for row, one in zip(ROWS, gold("alignment.jsonl"), strict=True):
        for side, tool, rest in ((0, one.left, "left"), (1, one.right, "right")):
            aligned = {arg[side] for arg in row["args"]}
            assert {p.name for p in tool.parameters} == aligned | set(row[f"unaligned_{rest}"])


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("name", "half", "least"),
    [
        ("alignment.jsonl", "dev", 0.95),
        ("alignment.jsonl", "test", 0.92),
        pytest.param("alignment_near.jsonl", "dev", 0.86, marks=pytest.mark.nightly),
        pytest.param("alignment_near.jsonl", "test", 0.87, marks=pytest.mark.nightly),
    ],
)
def test_the_aligner_beats_names_alone_and_gets_no_worse(gold, name, half, least):
    maps = [one for one in gold(name) if one.half == half]
    names_alone = (alignment_quality.equal_names, alignment_quality.fuzzy_names)
    f1, *of_names = (
        alignment_quality.measures(alignment_quality.counts(maps, aligner))[2]
        for aligner in (alignment_quality.own_alignment, *names_alone)
    )
    assert f1 >= least
    assert f1 > max(of_names) + 0.05
