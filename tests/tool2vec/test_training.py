"""Training and searching with what was learned, on six tools whose texts answer no query."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.support.fakes import WordEmbedder
from tests.tool2vec.lessons import QUERIES, TOOLS
from toolscope_core.catalog.relabelling import with_members
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.model.tool import Augmentation, Tool
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.retriever import Retriever
from toolscope_core.tool2vec.learned_model import Blend
from toolscope_core.tool2vec.linear_head import UsageVectors, normalised
from toolscope_core.tool2vec.model_folder import read_model, write_model
from toolscope_core.tool2vec.training import LearnConfig, Trainer, trained_model
from toolscope_core.tool2vec.training_queries import training_queries
from toolscope_core.tool2vec.tuned_classifier import Checkpoint, tuned_classifier

CONFIG = RetrievalConfig(rerank="none")
ASKED = ToolRequest("fly paris today")


@pytest.fixture
def retriever(tmp_path):
    return Retriever(TOOLS, WordEmbedder(), VectorCache(tmp_path), CONFIG)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("cache"))


def trained(folder, method="mlc", tools=TOOLS, queries=QUERIES, variants=None, encoder=""):
    trainer = Trainer(WordEmbedder(), VectorCache(folder))
    return trained_model(
        tools,
        queries,
        variants or {},
        LearnConfig(method, 4, encoder, described=bool(encoder), retrieval=CONFIG),
        trainer,
    )


@pytest.mark.parametrize("method", ["tool2vec", "mlc"])
def test_queries_lead_to_a_tool_whose_text_does_not(tmp_path, retriever, model, method):
    assert retriever.search(ASKED, 1)[0].tool_id != "book_flight"
    model = model if method == "mlc" else trained(tmp_path, method)
    learned = retriever.with_learned(model)
    (place,) = learned.search(ASKED, 1)
    assert place.tool_id == "book_flight"
    assert place.by == "learned"
    assert sum(place.parts) == pytest.approx(place.score, abs=1e-5)
    figures = model.about["held_out"]["metrics"]
    assert figures["blend"]["recall@3"]["mean"] > figures["text"]["recall@3"]["mean"]
    assert model.about["held_out"]["queries"] == 30


def test_a_tool_without_queries_keeps_the_score_of_its_text(retriever, model):
    learned = retriever.with_learned(model)
    request = ToolRequest("area of a polygon")
    before = {one.tool_id: one for one in retriever.search(request, 6)}
    after = {one.tool_id: one for one in learned.search(request, 6)}
    assert after["unused_tool"].score == pytest.approx(before["unused_tool"].score, abs=1e-6)
    assert learned.search(request, 1)[0].tool_id == "unused_tool"


def test_what_was_learned_ranks_alone_as_in_the_paper(retriever, model):
    """Without any text: a tool without queries has the cosine of its own text there."""
    places = retriever.with_learned(model.alone()).search(ASKED, 6)
    (last,) = model.alone().blend.weights
    learned = model.alone().learned(ASKED, retriever.vectors_of(ASKED.texts))[last]
    ids = sorted(tool.id for tool in TOOLS)
    assert [one.score for one in places] == pytest.approx(sorted(learned, reverse=True))
    assert places[0].tool_id == ids[int(learned.argmax())]
    assert all(one.parts[:3] == (0.0, 0.0, 0.0) for one in places)


@pytest.mark.parametrize("first", ["description", "tool2vec"])
def test_a_refiner_stands_on_another_first_stage(tmp_path, retriever, tiny_model, first):
    tiny = str(tiny_model)
    config = LearnConfig("refiner", 4, "", True, first, tiny, CONFIG)
    trainer = Trainer(WordEmbedder(), VectorCache(tmp_path / "cache"))
    model = trained_model(TOOLS, QUERIES, {}, config, trainer)
    assert list(model.blend.weights) == [first, "refiner"] and model.head is None
    assert (model.refiner.source, model.refiner.depth) == (tiny, 0)
    assert set(model.about["held_out"]["metrics"]) == {"text", first, "refiner", "blend"}
    assert "ndcg@3" in model.about["held_out"]["metrics"]["refiner"]
    own = replace(model, blend=Blend({first: math.inf}))
    vectors = retriever.vectors_of(ASKED.texts)
    centres = model.described if first == "description" else model.centres
    cosines = vectors[0] @ centres.T
    assert own.learned(ASKED, vectors)[first].argmax() == cosines.argmax()
    write_model(model, tmp_path / "model")
    again = replace(read_model(tmp_path / "model"), blend=own.blend)
    assert again.learned(ASKED, vectors)[first] == pytest.approx(own.learned(ASKED, vectors)[first])
    assert (again.first, again.reads_described) == (first, True)


def test_only_a_refiner_has_candidates_of_its_own():
    with pytest.raises(ConfigError, match=r"tool2vec .*refiner"):
        LearnConfig("mlc", first="tool2vec")


def test_a_tool_that_changed_or_is_new_is_found_by_its_text(tmp_path, model):
    changed = (
        *TOOLS[1:],
        Tool("book_flight", "book_flight", "another text"),
        Tool("new_tool", "new_tool", "make origami"),
    )
    assert (model.over(changed).evidence == 0).sum() == 3, "the unused tool too"
    search = Retriever(changed, WordEmbedder(), VectorCache(tmp_path), CONFIG).with_learned(model)
    assert search.search(ToolRequest("origami"), 1)[0].tool_id == "new_tool"
    ranked = [one.tool_id for one in search.search(ASKED, 7)]
    assert sorted(ranked) == sorted(tool.id for tool in changed), "none is unreachable"


def test_questions_of_variants_are_training_queries(tmp_path, retriever):
    variants = {"unused_tool": Augmentation("", ("how big is my garden", "size of my garden"))}
    model = trained(tmp_path, variants=variants)
    assert model.about["questions"] == 2
    assert model.variants == variants
    assert model.variants_of(TOOLS[:3]) == {}
    ranked = retriever.with_learned(model).search(ToolRequest("garden size my"), 1)
    assert ranked[0].tool_id == "unused_tool"


def test_a_model_is_the_same_in_any_order_of_its_queries(tmp_path, model):
    one, other = model, trained(tmp_path, queries=QUERIES[::-1], tools=TOOLS[::-1])
    assert np.array_equal(one.usage.sums, other.usage.sums)
    assert np.array_equal(one.head.weights, other.head.weights)
    assert one.blend == other.blend


def test_what_does_not_help_weighs_nothing(tmp_path):
    by_text = [
        type(QUERIES[0])(f"t{at}", f"{tool.description} {at}", (frozenset({tool.id}),))
        for at in range(5)
        for tool in TOOLS
    ]
    model = trained(tmp_path, queries=by_text)
    assert set(model.blend.weights.values()) == {0.0}, "the text finds all of them"


def test_a_model_of_another_embedder_is_refused(tmp_path, model):
    other = WordEmbedder()
    other.name = "other"
    search = Retriever(TOOLS, other, VectorCache(tmp_path), CONFIG)
    with pytest.raises(ConfigError, match=r"fake-words.* other"):
        search.with_learned(model)


def test_too_few_queries_are_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"queries that name .*: 3"):
        trained(tmp_path, queries=QUERIES[:3])
    with pytest.raises(ConfigError, match="'magic'"):
        LearnConfig("magic")
    with pytest.raises(ConfigError, match="candidates is 1"):
        LearnConfig(candidates=1)


def test_the_same_retriever_over_other_tools_learns_about_those(retriever, model):
    learned = retriever.with_learned(model).over(TOOLS[:2])
    assert learned.search(ASKED, 1)[0].tool_id == "book_flight"
    assert len(learned.search(ASKED, 6)) == 2


def test_a_merged_tool_has_what_was_learned_about_its_members(tmp_path, model):
    merged = Tool("trips", "trips", "whatever it is called after the merge")
    phi = {"book_flight": "trips", "forecast": "trips"}
    tools = (merged, *(tool for tool in TOOLS if tool.id not in phi))

    def first(tools, asked):
        search = Retriever(tools, WordEmbedder(), VectorCache(tmp_path), CONFIG)
        return search.with_learned(model).search(asked, 1)[0]

    assert first(tools, ASKED).by != "learned", "a tool nobody knows"
    assert model.over(tools).evidence.tolist()[0] == 0
    for asked in (ASKED, ToolRequest("rain umbrella today")):
        best = first(with_members(tools, Catalog(TOOLS), phi), asked)
        assert (best.tool_id, best.by) == ("trips", "learned")


def test_all_stages_on_a_tiny_encoder(tmp_path, monkeypatch, tiny_model, retriever):
    monkeypatch.setattr("toolscope_core.tool2vec.refiner_network.DEFAULT_MODEL", str(tiny_model))
    monkeypatch.setattr("toolscope_core.tool2vec.tuned_classifier.EPOCHS", 2)
    monkeypatch.setattr("toolscope_core.tool2vec.refiner_network.EPOCHS", 1)
    monkeypatch.setattr("toolscope_core.tool2vec.learned_model.WEIGHTS", (1.0,))
    model = trained(tmp_path, "refiner", encoder=str(tiny_model))
    assert set(model.about["held_out"]["metrics"]) == {
        "text", "tool2vec", "mlc", "tuned", "refiner", "blend",
    }  # fmt: skip
    assert not list(tmp_path.glob("checkpoints/*.epoch")), "done, so they are gone"
    used = replace(model, blend=Blend(dict.fromkeys(model.blend.weights, 1.0), 1.0))
    write_model(used, tmp_path / "model")
    kept = read_model(tmp_path / "model")
    places = retriever.with_learned(used).search(ASKED, 6)
    assert places == retriever.with_learned(kept).search(ASKED, 6)
    assert len(places) == 6
    assert kept.tuned is not None and kept.refiner is not None


def test_checkpoints_are_checked_and_the_last_one_counts(tmp_path):
    kept = Checkpoint(tmp_path, "one.epoch")
    assert kept.latest() == (0, {})
    kept.keep(1, {"w": np.ones(2, np.float32)})
    kept.keep(2, {"w": np.zeros(2, np.float32)})
    assert [path.name for path in tmp_path.iterdir()] == ["one.epoch"]
    epoch, arrays = kept.latest()
    assert (epoch, arrays["w"].tolist()) == (2, [0.0, 0.0])
    (tmp_path / "one.epoch").write_bytes(b"damaged")
    assert kept.latest() == (0, {})
    kept.clear()
    assert not list(tmp_path.iterdir())


def test_a_training_that_was_broken_off_goes_on(tmp_path, tiny_model):
    queries = training_queries(QUERIES, {}, [tool.id for tool in TOOLS])
    centres, epochs = np.zeros((6, 4), np.float32), []

    def stop(step):
        epochs.append(step.done)
        if step.done >= 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tuned_classifier(queries, centres, str(tiny_model), tmp_path, stop)
    (kept,) = tmp_path.glob("checkpoints/*.epoch")
    done, seen = Checkpoint(kept.parent, kept.name).latest()[0], []
    tuned_classifier(queries, centres, str(tiny_model), tmp_path, seen.append)
    assert done >= 1
    assert seen[0].total == seen[-1].total < 4, "fewer epochs are left"


# Tool2Vec by hand: means, and what falls back.

X, Y = np.array([1.0, 0.0], np.float32), np.array([0.0, 1.0], np.float32)
OWN = np.array([[0.0, -1.0], [0.0, -1.0], [0.6, 0.8]], np.float32)


def asked():
    first = (Query("1", f"q{n}", (frozenset({"a"}),)) for n in range(9))
    return training_queries((*first, Query("2", "q9", (frozenset({"a", "b"}),))), {}, "abc")


def test_a_tool_is_the_mean_of_its_queries_and_one_without_any_its_text():
    queries = asked()
    vectors = np.stack([X] * 9 + [Y])
    usage = UsageVectors.of(queries, vectors)
    assert queries.counts.tolist() == [10, 1, 0]
    assert usage.sums.tolist() == [[9, 1], [0, 1], [0, 0]]
    expected = [[9 / np.sqrt(82), 1 / np.sqrt(82)], [0, 1], [0.6, 0.8]]
    assert usage.vectors(OWN) == pytest.approx(np.array(expected), abs=1e-6)


def test_a_question_that_a_model_wrote_counts_a_third():
    first = [Query("1", f"q{n}", (frozenset({"a"}),)) for n in range(9)]
    last = Query("2", "r", (frozenset({"b"}),))
    variants = {"b": Augmentation("", ("s",))}
    queries = training_queries((*first, last), variants, "ab")
    vectors = np.stack([X] * 9 + [X, Y])
    assert queries.weights == pytest.approx([1] * 10 + [1 / 3])
    usage = UsageVectors.of(queries, vectors)
    assert usage.sums == pytest.approx(np.array([[9, 0], [1, 1 / 3]]))
    assert queries.counts.tolist() == [9, 2] and queries.evidence == pytest.approx([9, 4 / 3])


def test_rows_of_length_nothing_stay():
    assert normalised(np.zeros((1, 2))).tolist() == [[0, 0]]
