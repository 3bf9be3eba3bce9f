"""Tuned networks on a model of a few kilobytes: they learn, stop, resume and come back."""

import numpy as np
import pytest

from toolscope_core.embedding.encoders import SentenceEmbedder
from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.model.errors import ModelError
from toolscope_core.tool2vec.encoder_layers import EncoderLayers
from toolscope_core.tool2vec.refiner_network import RefinerExample, RefinerNetwork
from toolscope_core.tool2vec.tuned_classifier import LabelledTexts, TunedClassifier
from toolscope_core.tool2vec.tuned_embedder import TunedEmbedder

SIZE = 4


@pytest.fixture(autouse=True)
def _one_thread():
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def examples(count=32):
    """The candidate that lies far in the first direction serves the request."""
    rng = np.random.default_rng(5)
    made = []
    for at in range(count):
        vectors = rng.normal(size=(6, SIZE)).astype(np.float32) * 0.1
        serves = np.eye(6, dtype=np.float32)[rng.integers(6)]
        vectors[:, 0] += serves
        text = ["open the door", "get weather"][at % 2]
        made.append(RefinerExample(text, vectors, rng.random(6, np.float32), serves))
    return made


def right(network, some):
    tops = (np.argmax(network.logits(one.text, one.vectors, one.scores)) for one in some)
    return np.mean([one.serves[top] for one, top in zip(some, tops, strict=True)])


def test_a_refiner_begins_with_the_first_stage_and_learns(tiny_model, monkeypatch):
    monkeypatch.setattr("toolscope_core.tool2vec.refiner_network.RATE", 1e-2)
    monkeypatch.setattr("toolscope_core.tool2vec.refiner_network.FIRST_SCALE", 1.0)
    network = RefinerNetwork(SIZE, str(tiny_model))
    some, steps = examples(), []
    one = some[0]
    order = np.argsort(network.logits(one.text, one.vectors, one.scores))
    assert order.tolist() == np.argsort(one.scores).tolist()
    before = right(network, some)
    network.train(some, 20, steps.append)
    assert right(network, some) > max(0.9, before)
    assert steps[-1].done == steps[-1].total == 40
    again = RefinerNetwork(SIZE, str(tiny_model))
    again.put(network.arrays())
    for one in some[:3]:
        asked = (one.text, one.vectors, one.scores)
        assert again.logits(*asked) == pytest.approx(network.logits(*asked), abs=1e-5)


def test_weights_of_another_network_are_refused(tiny_model):
    network = RefinerNetwork(SIZE, str(tiny_model))
    with pytest.raises(ModelError, match="encoder"):
        RefinerNetwork(SIZE + 1, str(tiny_model)).put(network.arrays())
    with pytest.raises(ModelError, match="size 4"):
        network.logits("open", np.zeros((2, 5), np.float32), np.zeros(2, np.float32))


def test_long_requests_are_read_to_the_end_as_far_as_the_encoder_reads(tiny_model):
    """The encoder made here reads 128 tokens; MiniLM reads on."""
    words = "open " * 200
    ids, mask = EncoderLayers(str(tiny_model)).tokens([words, "open"])
    assert ids.shape == mask.shape == (2, 128)
    assert EncoderLayers().tokens([words])[0].shape == (1, 202)


def lessons(texts, labels, checked, weights=None):
    each = np.ones(len(texts), np.float32) if weights is None else weights
    return LabelledTexts(texts, lambda rows: labels[rows], each, checked)


def test_a_text_is_learned_by_what_it_counts_for(tiny_model, monkeypatch):
    """*open* is both tools, one of them for nothing; so are the candidates of a refiner."""
    monkeypatch.setattr("toolscope_core.tool2vec.tuned_classifier.HEAD_RATE", 1.0)
    labels = np.tile(np.eye(2, dtype=np.float32), (8, 1))
    weights = np.tile(np.array([1, 0], np.float32), 8)
    network = TunedClassifier(np.zeros((2, SIZE), np.float32), str(tiny_model))
    none = np.zeros(16, dtype=bool)
    network.train(lessons(["open"] * 16, labels, none, weights), 4, lambda *_: None)
    first, second = network.logits(["open"])[0]
    assert first > second + 1
    monkeypatch.setattr("toolscope_core.tool2vec.refiner_network.RATE", 1e-2)
    refiner = RefinerNetwork(SIZE, str(tiny_model))
    vectors, scores = np.eye(2, SIZE, dtype=np.float32), np.full(2, 0.5, np.float32)
    refiner.train(
        [RefinerExample("open", vectors, scores, labels[at], weights[at]) for at in range(16)], 20
    )
    first, second = refiner.logits("open", vectors, scores)
    assert first > second + 0.01


def test_a_classifier_learns_keeps_checkpoints_and_the_best_epoch(tiny_model, monkeypatch):
    monkeypatch.setattr("toolscope_core.tool2vec.tuned_classifier.HEAD_RATE", 1.0)
    monkeypatch.setattr("toolscope_core.tool2vec.tuned_classifier.PATIENCE", 6)
    texts = ["open", "file", "weather"] * 8
    labels = np.tile(np.eye(3, dtype=np.float32), (8, 1))
    network, kept = TunedClassifier(np.zeros((3, SIZE), np.float32), str(tiny_model)), []
    checked = np.arange(24) >= 21
    best = network.train(lessons(texts, labels, checked), 30, lambda *one: kept.append(one))
    assert network.logits(texts[:3]).argmax(axis=1).tolist() == [0, 1, 2]
    assert [number for number, _ in kept] == list(range(1, len(kept) + 1))
    assert 1 <= best <= len(kept)
    again = TunedClassifier(np.zeros((3, SIZE), np.float32), str(tiny_model))
    again.put(kept[best - 1][1])
    assert again.logits(texts[:3]) == pytest.approx(network.logits(texts[:3]), abs=1e-5)


def test_training_stops_when_held_out_texts_get_worse(tiny_model):
    labels = np.eye(3, dtype=np.float32)
    network = TunedClassifier(np.zeros((3, SIZE), np.float32), str(tiny_model))
    worse = np.stack([labels[0]] * 4 + [labels[1]] * 2)
    epochs = []
    texts = lessons(["open door"] * 6, worse, np.arange(6) >= 4)
    best = network.train(texts, 30, lambda number, _: epochs.append(number))
    assert best <= len(epochs) <= best + 2 < 30


def test_an_embedder_moves_requests_to_what_serves_them_and_is_saved_as_one(
    tiny_model, monkeypatch, tmp_path
):
    monkeypatch.setattr("toolscope_core.tool2vec.tuned_embedder.RATE", 1e-2)
    monkeypatch.setattr("toolscope_core.tool2vec.tuned_embedder.MARGIN", 1.0)
    words = ["open the door", "get weather", "close the file"]

    def gap(folder):
        anchor, serving, mistaken = SentenceEmbedder(str(folder)).encode(words)
        return anchor @ serving - anchor @ mistaken

    tuned, steps = TunedEmbedder(str(tiny_model)), []
    tuned.train([tuple(words)] * 200, steps.append)
    for name, content in tuned.files().items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    assert gap(tmp_path) > gap(tiny_model) + 0.2
    assert steps[-1].done == steps[-1].total == 13
    assert (tmp_path / "model.safetensors").exists() and not list(tmp_path.rglob("*.bin"))


def test_the_real_encoder_is_tuned_as_well():
    texts = ["open the door", "what is the weather", "read a file", "mail my boss"] * 4
    labels = np.tile(np.eye(4, dtype=np.float32), (4, 1))
    network = TunedClassifier(MiniLmEmbedder().encode(texts[1:5]))  # each begins at another text
    checked = np.arange(len(texts)) >= 12

    def right():
        return float(np.trace(network.logits(texts[:4])))

    before = right()
    assert network.train(lessons(texts, labels, checked), 3, lambda *_: None) == 3
    assert right() > before + 0.1
