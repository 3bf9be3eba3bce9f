"""The parts of the benchmarks that decide what their tables say."""

import time
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.correction_quality import scores
from benchmarks.gold_calls import Call, survival
from benchmarks.held_out import Kept, kept
from benchmarks.labelled_clusters import examples
from benchmarks.llm_calls import Labels, interval
from benchmarks.llm_calls import scores as pair_scores
from benchmarks.merge_quality import components
from benchmarks.stage_profile import SHARES, Watch
from benchmarks.train_judge import Labelled
from tests.fakes import WordEmbedder
from toolscope_core.cache import VectorCache
from toolscope_core.config import AnalysisConfig, QuestionConfig
from toolscope_core.datamodel import ArgumentMap, ArgumentMove, Catalog, Constraints, Pair, Tool
from toolscope_core.pipeline import analyse
from toolscope_core.questioning import opine

TOOLS = tuple(Tool(name, name) for name in "abcdefgh")
PAIRS = {  # a, b, c are one job; d, e another; f is none of them
    "ab": True,
    "ac": True,
    "bc": True,
    "de": True,
    "cf": False,
    "df": False,
}


def labelled(pairs=PAIRS, unsure=()):
    rows = np.array([[ord(one) - ord("a") for one in pair] for pair in pairs], dtype=np.int32)
    return Labelled(
        name="small",
        tools=TOOLS,
        vectors=np.zeros((8, 2), dtype=np.float32),
        left=rows[:, 0],
        right=rows[:, 1],
        merge=np.array(list(pairs.values())),
        family=np.zeros(len(pairs), dtype=bool),
        serves=tuple("both" if merge else "none" for merge in pairs.values()),
        sureness=np.array([0.3 if pair in unsure else 1.0 for pair in pairs]),
        signals=np.zeros((len(pairs), 1)),
        beside=np.ones(len(pairs), dtype=bool),
    )


def test_right_clusters_hold_merges_only_and_wrong_ones_a_keep():
    made = examples(labelled())
    assert [one.rows for one in made if not one.wrong] == [(0, 1, 2)]
    (wrong,) = [one.rows for one in made if one.wrong]
    assert wrong in {(0, 1, 2, 5), (0, 2, 5), (1, 2, 5), (3, 4, 5)}
    assert made == examples(labelled())


def test_a_component_with_a_keep_inside_is_not_right_but_its_cliques_are():
    pairs = {"ab": True, "bc": True, "ac": True, "cd": True, "ad": False}
    assert [one.rows for one in examples(labelled(pairs)) if not one.wrong] == [(0, 1, 2)]


def test_coin_tosses_make_no_cluster():
    assert examples(labelled(unsure=("bc",)))[0].rows == (0, 1, 2)  # joined through a
    assert not examples(labelled({"ab": True, "bc": True}, unsure=("bc",)))


def test_kept_counts_labelled_pairs_in_one_cluster():
    assert kept(labelled(), Catalog(TOOLS), ["abf", "de"]) == Kept(right=2, together=2, merges=4)
    assert kept(labelled(), Catalog(TOOLS), ["cf"]) == Kept(right=0, together=1, merges=4)


def test_precision_recall_and_f1_of_wrong():
    wrong = np.array([True, True, False, False])
    called = np.array([True, False, True, False])
    assert scores(wrong, called) == (0.5, 0.5, 0.5)
    assert scores(wrong, np.zeros(4, dtype=bool)) == (0.0, 0.0, 0.0)


def test_components_are_sorted():
    assert components([("c", "b"), ("e", "d"), ("b", "a")]) == (("a", "b", "c"), ("d", "e"))


@pytest.mark.parametrize(
    ("target", "target_type", "kept_calls"), [("y", "string", 1), ("y", "number", 0)]
)
def test_a_gold_call_is_kept_if_its_mapped_form_is_valid_and_maps_back(
    target, target_type, kept_calls
):
    def takes(name, of):
        return {"type": "object", "properties": {name: {"type": of}}, "required": [name]}

    old = replace(TOOLS[0], schema=takes("x", "string"))
    new = replace(TOOLS[1], schema=takes(target, target_type))
    maps = {"a": ArgumentMap("a", "b", (ArgumentMove("x", "y"),))}
    calls = [Call("a", {"x": "1"}), Call("c", {"z": 1})]
    told = survival(calls, {"a": old}, {"b": new}, maps)
    assert (told.calls, told.touched, told.kept) == (2, 1, kept_calls)


def test_the_watch_of_an_outer_stage_stands_still_while_an_inner_one_runs():
    watch = Watch()
    inner = watch.around("inner", lambda: time.sleep(0.05))
    watch.around("outer", lambda: (inner(), inner()))()
    assert watch.seconds["inner"] >= 0.1
    assert watch.seconds["outer"] < 0.05


def test_the_shares_divide_the_limits():
    assert sum(cold for cold, _ in SHARES.values()) == pytest.approx(90)
    assert sum(again for _, again in SHARES.values()) == pytest.approx(5)


def test_labels_answer_and_the_rest_is_counted_as_offline(tmp_path):
    names = ("find_notes", "search_notes", "find_files")
    tools = tuple(Tool(name, name, f"Will {name}.") for name in sorted(names))
    analysis = analyse(
        Catalog(tools), AnalysisConfig(threshold=0.01), WordEmbedder(), VectorCache(tmp_path)
    )
    labels = {Pair("find_notes", "search_notes"): True, Pair("find_files", "find_notes"): False}
    asker = Labels(analysis, labels)
    told = opine(analysis, Constraints(), asker, QuestionConfig(paper=True))
    outcomes = {pair: said.outcome for pair, said in told.verdicts.items()}
    assert outcomes[Pair("find_notes", "search_notes")] == "merge"
    assert outcomes[Pair("find_files", "find_notes")] == "keep"
    assert (len(asker.asked["judge"]), asker.offline) == (3, 1)
    assert [audit.groups for audit in told.audits] == [(("find_notes", "search_notes"),)]
    spent = (asker.calls, asker.tokens_in)
    opine(analysis, Constraints(), asker, QuestionConfig(paper=True))
    assert (asker.calls, asker.tokens_in) == spent  # what is known is not asked again


def test_f1_of_pairs_put_together():
    merge = np.array([True, True, False, False])
    assert pair_scores(np.array([True, False, True, False]), merge) == (0.5, 0.5, 0.5)
    many = np.tile(merge, 10)
    assert interval(many, many, many) == (0.0, 0.0)
    assert interval(~many, many, many) == (-1.0, -1.0)
