"""The hand-made argument maps: well formed, and followed by the aligner on the development half."""

import json
from collections import Counter
from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parents[1] / "data"


def rows_of(name):
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


ROWS, NEAR = rows_of("alignment.jsonl"), rows_of("alignment_near.jsonl")


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


@pytest.mark.shared_data
def test_near_pairs_are_of_tools_and_parameters_that_there_are(shared_data):
    from benchmarks.alignment_quality import NEAR as FILE
    from benchmarks.alignment_quality import load_gold

    for one in load_gold(FILE):
        ours, theirs = ({p.name for p in tool.parameters} for tool in (one.left, one.right))
        assert {a for a, _ in one.args} <= ours
        assert {b for _, b in one.args} <= theirs


@pytest.mark.shared_data
def test_the_aligner_beats_names_alone_on_the_development_half(shared_data):
    from benchmarks.alignment_quality import (
        counts,
        equal_names,
        fuzzy_names,
        load_gold,
        measures,
        ours,
    )

    dev = [one for one in load_gold() if one.half == "dev"]
    for row, one in zip([row for row in ROWS if row["half"] == "dev"], dev, strict=True):
        every = {p.name for p in one.left.parameters}
        assert every == {a for a, _ in one.args} | set(row["unaligned_left"])
    f1 = {
        aligner: measures(counts(dev, aligner))[2] for aligner in (ours, equal_names, fuzzy_names)
    }
    assert f1[ours] >= 0.95
    assert f1[ours] > max(f1[equal_names], f1[fuzzy_names]) + 0.05
