"""The parts of the benchmarks that decide what their tables say."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import new_calls, train_judge
from benchmarks.held_out import MergeCounts, merge_counts
from benchmarks.merge_quality import calls_kept
from benchmarks.sentences import source_templates
from benchmarks.train_judge import LabelledCatalog, as_json, fit, folds, left_out, prunable
from toolscope_core.evaluation.comparison import GoldCall
from toolscope_core.judging.signals import SIGNALS
from toolscope_core.judging.weights import MODELS, Weights
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import ArgumentMap, ArgumentMove
from toolscope_core.model.tool import Tool

TOOLS = tuple(Tool(name, name) for name in "abcdefgh")
PAIRS = dict.fromkeys(("ab", "ac", "bc", "de"), True) | dict.fromkeys(("cf", "df"), False)
"""a, b, c are one job; d, e another; f is none of them."""


def catalog_of(left, right, merge, **more):
    """Pairs of ``TOOLS`` by row; nothing is a family, and the signals say nothing."""
    size = len(merge)
    given = {
        "name": "small",
        "tools": TOOLS,
        "vectors": np.zeros((8, 2), dtype=np.float32),
        "left": np.asarray(left, dtype=np.int32),
        "right": np.asarray(right, dtype=np.int32),
        "merge": np.asarray(merge),
        "family": np.zeros(size, dtype=bool),
        "serves": np.where(merge, "both", "none"),
        "sureness": np.ones(size),
        "signals": np.zeros((size, 1)),
        "one_server": np.ones(size, dtype=bool),
    }
    return LabelledCatalog(**given | more)


def test_kept_counts_labelled_pairs_in_one_cluster():
    left, right = ([ord(pair[side]) - ord("a") for pair in PAIRS] for side in (0, 1))
    labelled, catalog = catalog_of(left, right, list(PAIRS.values())), Catalog(TOOLS)
    assert merge_counts(labelled, catalog, ["abf", "de"]) == MergeCounts(
        right=2, together=2, merges=4
    )
    assert merge_counts(labelled, catalog, ["cf"]) == MergeCounts(right=0, together=1, merges=4)


@pytest.mark.parametrize(("target_type", "is_kept"), [("string", True), ("number", False)])
def test_a_gold_call_is_kept_if_its_mapped_form_is_valid_and_maps_back(target_type, is_kept):
    def takes(name, of):
        return {"type": "object", "properties": {name: {"type": of}}, "required": [name]}

    old = replace(TOOLS[0], schema=takes("x", "string"))
    new = replace(TOOLS[1], schema=takes("y", target_type))
    maps = {"a": ArgumentMap("a", "b", (ArgumentMove("x", "y"),))}
    calls = [GoldCall("a", {"x": "1"}), GoldCall("c", {"z": 1})]
    assert calls_kept(calls, {"a": old}, {"b": new}, maps) == [is_kept]


def drawn(name, size=60, seed=0):
    """A catalog whose first signal tells the same job and whose second one a family."""
    rng = np.random.default_rng(seed)
    kind = np.arange(size) % 3
    signals = rng.normal(size=(size, len(SIGNALS)))
    signals[:, 0] += 3.0 * (kind == 0)
    signals[:, 1] += 3.0 * (kind == 1)
    signals[::5, 2] = np.nan
    rows = np.zeros(size), np.ones(size)
    one_server = np.arange(size) % 2 == 0
    more = {"name": name, "family": kind == 1, "signals": signals, "one_server": one_server}
    return catalog_of(*rows, kind == 0, **more)


def test_the_models_learn_the_same_job_and_families_apart(tmp_path):
    catalogs = [drawn("bfcl"), drawn("ultratool", seed=1)]
    weights = fit(catalogs)
    for name in MODELS:
        weight = getattr(weights, name).weight
        telling = 1 if name.startswith("family") else 0
        assert max(weight) == weight[telling] > 0.5
    path = tmp_path / "weights.json"
    path.write_text(as_json(weights, catalogs), "utf-8")
    again = Weights.read(path)
    assert again == replace(weights, name=again.name)
    assert again.name.startswith(f"offline-{train_judge.VERSION}-")


def test_a_judge_is_left_out_of_a_catalog_and_of_others_by_its_author():
    catalogs = [drawn("bfcl"), drawn("shops", seed=1), drawn("offices", seed=2)]
    assert left_out(catalogs, "shops") == left_out(catalogs, "offices") == fit(catalogs[:1])
    assert left_out(catalogs, "bfcl") == fit(catalogs[1:])


def test_the_folds_judge_every_pair_once_by_judges_that_saw_neither_server():
    servers = [f"s{at}" for at in range(12)]
    tools = tuple(Tool(name, name, server=name) for name in servers)
    left, right = np.triu_indices(12, 1)
    catalog = replace(
        drawn("registry", size=len(left)),
        tools=tools,
        left=left.astype(np.int32),
        right=right.astype(np.int32),
    )
    times = np.zeros(len(left), dtype=int)
    for held, seen in folds(catalog):
        times += held
        ours = set(left[held]) | set(right[held])
        theirs = set(left[seen]) | set(right[seen])
        assert not ours & theirs
    assert (times == 1).all()


def test_a_pair_is_prunable_where_one_schema_takes_all_calls():
    def takes(name, *needed):
        properties = {one: {"type": "boolean"} for one in needed}
        schema = {"type": "object", "properties": properties, "required": list(needed)}
        return Tool(name, "get_box", schema=schema)

    catalog = replace(
        drawn("bfcl", size=2),
        tools=(takes("a", "wide"), takes("b", "wide"), takes("c", "colour", "weight")),
        left=np.array([0, 0], dtype=np.int32),
        right=np.array([1, 2], dtype=np.int32),
    )
    assert prunable(catalog).tolist() == [True, False]


def test_a_sentence_fits_the_text_of_the_source_that_makes_it():
    templates = dict(source_templates())
    assert any("in another order" in sentence for sentence in templates)
    assert templates["only `…` says …"].fullmatch("only `get_door` says “door”")
    assert not templates["only `…` says …"].fullmatch("`get_door` says “door”")


def test_arguments_of_a_stratum_without_labels_leave_the_share_as_it_is(capsys):
    tool = Tool("t", "t", "")
    cells = [new_calls.Cell("x", tool, "a", "b", tool, "a", one) for one in ("own", "guessed")]
    new_calls.report(cells, set())
    assert "arrive where they mean: 1.000" in capsys.readouterr().out
