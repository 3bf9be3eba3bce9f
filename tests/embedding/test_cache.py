"""Vectors on disk: read back, repaired, resumed, shared."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolscope_core.embedding import vector_cache
from toolscope_core.embedding.vector_cache import VectorCache, embed_cached
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.protocols import Step

MODEL = "letters"


class LetterCounts:
    """An embedder with structure: a text is its letter counts; remembers what it was asked."""

    name = MODEL

    def __init__(self):
        self.embedded = []

    def encode(self, texts):
        self.embedded.extend(texts)
        counts = np.array([[t.count(c) for c in "abcdefgh"] for t in texts], dtype=np.float32)
        counts[:, 0] += 1
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)


def vectors_of(texts):
    return dict(zip(texts, LetterCounts().encode(texts), strict=True))


def files(folder):
    return sorted(folder.rglob("*.vec"))


def test_a_written_vector_is_read_back_exactly_and_only_for_its_model(tmp_path):
    cache = VectorCache(tmp_path)
    cache.write(MODEL, vectors_of(["bad", "cab"]))
    vectors = cache.read(MODEL, ["cab", "unknown"])
    assert list(vectors) == ["cab"]
    assert np.array_equal(vectors["cab"], vectors_of(["cab"])["cab"])
    assert cache.read("another model", ["cab"]) == {}
    assert cache.read(MODEL, []) == {}


@pytest.mark.case(6)
@pytest.mark.parametrize("damage", ["truncate", "flip", "empty"])
def test_a_damaged_file_is_noticed_and_rebuilt(tmp_path, damage):
    cache, texts = VectorCache(tmp_path), ["bad", "cab"]
    right = embed_cached(texts, LetterCounts(), cache)
    (file,) = files(tmp_path)
    body = bytearray(file.read_bytes())
    if damage == "flip":
        body[-3] ^= 0x10
    file.write_bytes({"truncate": body[:-5], "flip": body, "empty": b""}[damage])
    again = LetterCounts()
    assert np.array_equal(embed_cached(texts, again, cache), right)
    assert sorted(again.embedded) == texts
    assert cache.read(MODEL, texts).keys() == set(texts)


def test_a_file_of_another_layout_is_left_alone(tmp_path):
    cache = VectorCache(tmp_path)
    cache.write(MODEL, vectors_of(["bad"]))
    (file,) = files(tmp_path)
    body = b"TSVEC999" + file.read_bytes()[8:]
    newer = file.with_name(f"{vector_cache.hashlib.sha256(body).hexdigest()}.vec")
    newer.write_bytes(body)
    file.unlink()
    assert cache.read(MODEL, ["bad"]) == {}
    assert newer.exists()


@pytest.mark.parametrize("texts", [["a" * n for n in range(1, 60)], ["bad"] * 60])
def test_many_writers_are_folded_without_losing_any(tmp_path, texts):
    """Nor is the file lost in which the same is written again and again."""
    for text in texts:
        VectorCache(tmp_path).write(MODEL, vectors_of([text]))
    assert len(files(tmp_path)) <= 25
    assert VectorCache(tmp_path).read(MODEL, texts).keys() == set(texts)


def test_a_file_that_vanishes_while_reading_only_costs_its_entries(tmp_path, monkeypatch):
    cache = VectorCache(tmp_path)
    cache.write(MODEL, vectors_of(["bad"]))
    listed = cache._files(MODEL)
    listed[0].unlink()
    monkeypatch.setattr(VectorCache, "_files", lambda self, model: listed)
    assert cache.read(MODEL, ["bad"]) == {}


def test_an_unusable_folder_is_named_with_the_remedy(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(ConfigError, match=r"file.*CACHE_DIR"):
        VectorCache(tmp_path / "file").write(MODEL, vectors_of(["bad"]))


def test_a_full_disk_leaves_no_partial_file(tmp_path, monkeypatch):
    cache = VectorCache(tmp_path)

    def full(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(ConfigError, match="No space left"):
        cache.write(MODEL, vectors_of(["bad"]))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@given(st.lists(st.text(alphabet="abcd\ud800é", max_size=4), max_size=12))
def test_embedding_through_the_cache_equals_embedding_directly(tmp_path_factory, texts):
    cache = VectorCache(tmp_path_factory.mktemp("cache"))
    first, second = LetterCounts(), LetterCounts()
    direct = embed_cached(texts, first, cache)
    assert np.array_equal(direct, embed_cached(texts, second, cache))
    if texts:
        assert np.array_equal(direct, LetterCounts().encode(texts))
    assert sorted(first.embedded) == sorted(set(texts))
    assert second.embedded == []
    assert direct.shape == ((len(texts), 8) if texts else (0, 0))


def test_progress_moves_within_a_chunk(tmp_path, monkeypatch):
    monkeypatch.setattr(vector_cache, "PIECE", 2)
    steps = []
    embed_cached([*"abcde"], LetterCounts(), VectorCache(tmp_path), steps.append)
    assert [step.done for step in steps] == [0, 2, 4, 5]


@pytest.mark.case(2)
def test_a_cancelled_run_goes_on_where_it_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(vector_cache, "CHUNK", 2)
    cache, texts = VectorCache(tmp_path), ["a", "bb", "ccc", "dddd", "eeeee", "a"]
    steps = []

    def cancel_at_two(step):
        steps.append(step)
        if step.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        embed_cached(texts, LetterCounts(), cache, cancel_at_two)
    resumed = LetterCounts()
    embed_cached(texts, resumed, cache, steps.append)
    assert resumed.embedded == ["ccc", "dddd", "eeeee"]
    assert steps == [Step("embed", done, 5) for done in (0, 2, 2, 4, 5)]
