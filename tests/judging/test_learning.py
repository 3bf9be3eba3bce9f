"""What the judge learns from decisions: which ones count, and that it is checked and bounded."""

from dataclasses import replace

import numpy as np
import pytest

from toolscope_core.judging import learned_weights
from toolscope_core.judging.judge import OfflineJudge
from toolscope_core.judging.learned_weights import (
    LEAST_DECISIONS,
    JudgeUpdate,
    WeightUpdate,
    described,
    fitted,
    learned,
    lessons,
)
from toolscope_core.judging.signals import SIGNALS
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.decision import Decision
from toolscope_core.model.pair import Pair
from toolscope_core.model.tool import Tool

TOOLS = tuple(Tool(f"t{i}", f"tool {i}", f"Does thing {i}.") for i in range(6))
CATALOG = Catalog(TOOLS)


def of(seq, action, *places, **detail):
    tools = [TOOLS[place] for place in places]
    prints = tuple(tool.fingerprint for tool in tools)
    for key in ("groups", "drop"):
        if key in detail:
            detail[key] = (
                [[TOOLS[at].fingerprint for at in group] for group in detail[key]]
                if key == "groups"
                else [TOOLS[at].fingerprint for at in detail[key]]
            )
    ids = tuple(tool.id for tool in tools)
    return Decision(action, prints, ids, "ann", "2026-01-01", seq, detail)


def taught(*log):
    return {(one.pair.left, one.pair.right): one.same for one in lessons(CATALOG, log)}


def test_each_kind_of_decision_says_what_it_says_and_no_more():
    assert taught(of(1, "accept", 0, 1)) == {("t0", "t1"): True}
    assert taught(of(1, "accept", 0, 1, relation="family")) == {("t0", "t1"): False}
    assert taught(of(1, "keep_apart", 0, 1)) == {("t0", "t1"): False}
    apart = taught(of(1, "recut", 0, 1, 2, groups=[[0, 1], [2]]))
    assert apart == {("t0", "t2"): False, ("t1", "t2"): False}, "what is left open says nothing"
    assert taught(of(1, "drop", 0, 1, 2, drop=[2])) == apart
    assert taught(of(1, "propose", 0, 1), of(2, "flag", 0, 1, note="look")) == {}


def test_batches_undone_and_changed_ones_teach_nothing_and_the_last_word_counts():
    assert taught(of(1, "accept", 0, 1, batch="x")) == {}
    undo = Decision("undo", (), (), "ann", "", 2, {"retracts": 1})
    assert taught(of(1, "accept", 0, 1), undo) == {}
    assert taught(of(1, "accept", 0, 1), undo, of(3, "keep_apart", 0, 1)) == {("t0", "t1"): False}
    changed = of(1, "accept", 0, 1)
    assert taught(replace(changed, fingerprints=("gone", changed.fingerprints[1]))) == {}


def test_a_decision_on_many_tools_counts_as_a_tree_of_pairs():
    pairs = lessons(CATALOG, (of(1, "keep_apart", 0, 1, 2, 3),))
    assert len(pairs) == 6
    assert sum(one.weight for one in pairs) == pytest.approx(3.0)


def pairs(seed=0, count=400):
    rng = np.random.default_rng(seed)
    signals = rng.normal(size=(count, len(SIGNALS)))
    return rng, signals, rng.normal(size=count)


def test_the_fit_finds_what_the_judge_weighs_wrong_and_leaves_a_right_judge_alone():
    rng, signals, odds = pairs()
    truth = odds + 2.0 * signals[:, 3]
    same = (rng.random(len(odds)) < 1 / (1 + np.exp(-truth))).astype(float)
    update = fitted("j", signals, odds, same, np.ones(len(odds)))
    assert max(update.weights, key=lambda name: abs(update.weights[name])) == SIGNALS[3]
    assert update.weights[SIGNALS[3]] == pytest.approx(2.0, abs=0.8)
    right = (rng.random(len(odds)) < 1 / (1 + np.exp(-odds))).astype(float)
    calm = fitted("j", signals, odds, right, np.ones(len(odds)))
    assert max(map(abs, calm.weights.values())) < 0.4 and abs(calm.slope) < 0.4
    assert JudgeUpdate.of_json(update.as_json()) == update
    assert update.version != calm.version


def vectors(count):
    rows = np.random.default_rng(1).normal(size=(count, 8)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def judged(count):
    """A judge over pairs of tools that differ by a word, or by the object they are about."""
    tools = []
    for at in range(count):
        thing = f"thing{chr(97 + at % 26)}{chr(97 + at // 26)}"
        tools.append(Tool(f"get_{thing}", f"get_{thing}", f"Get the {thing} of a shop."))
        same = at % 2 == 0
        verb = "fetch" if same else "delete"
        text = f"{verb.title()} the {thing} of a shop."
        tools.append(Tool(f"{verb}_{thing}", f"{verb}_{thing}", text))
    return OfflineJudge.of(tools, vectors(2 * count))


def test_it_learns_only_from_enough_of_both_kinds_and_checks_on_decisions_left_out(monkeypatch):
    monkeypatch.setattr(learned_weights, "_RESAMPLES", 100)
    judge = judged(40)

    def lesson(at, same):
        ends = Pair.of(judge.tools[2 * at].id, judge.tools[2 * at + 1].id)
        return replace(lessons(CATALOG, (of(1, "accept", 0, 1),))[0], pair=ends, same=same, seq=at)

    upside_down = [lesson(at, at % 2 == 1) for at in range(40)]
    assert learned(judge, upside_down[: LEAST_DECISIONS - 1]) is None
    assert learned(judge, [replace(one, same=True) for one in upside_down]) is None
    update = learned(judge, upside_down)
    assert isinstance(update, WeightUpdate)
    assert update.decisions == update.pairs == 40
    assert update.before < 0.3 < 0.9 < update.after and update.helps
    assert not replace(update, low=0.0).helps
    noise = np.random.default_rng(3)
    random = learned(judge, [replace(one, same=bool(noise.random() < 0.5)) for one in upside_down])
    assert random is not None and not random.helps, "nothing to learn, nothing offered"


def test_probabilities_do_not_depend_on_the_order_of_the_two():
    judge = judged(4)
    left, right = np.array([0, 2], dtype=np.int32), np.array([1, 5], dtype=np.int32)
    update = JudgeUpdate(judge.name, 0.5, 0.1, {SIGNALS[0]: 1.0})
    assert np.array_equal(
        update.probabilities(judge, left, right), update.probabilities(judge, right, left)
    )
    signals, odds = described(judge, left, right)
    assert signals.shape == (2, len(SIGNALS)) and np.isfinite(odds).all()
    empty = np.zeros(0, dtype=np.int32)
    assert update.probabilities(judge, empty, empty).shape == (0,)
