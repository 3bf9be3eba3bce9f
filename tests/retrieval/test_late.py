"""Late interaction, and the cache of token vectors under it."""

import numpy as np
import pytest

from tests.support.fakes import WordEmbedder
from toolscope_core.embedding.vector_cache import CHUNK, STEPS, TokenCache, VectorCache, coded
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.model.tool import Tool
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.documents import RequestVectors, SearchDocument
from toolscope_core.retrieval.rerankers import TOOL_SIDE, LateInteraction
from toolscope_core.retrieval.retriever import Retriever, ServerRetriever


class TokenWords(WordEmbedder):
    """Each word of a text is a token with a direction of its own."""

    name = "fake-tokens"

    def __init__(self):
        super().__init__()
        self.texts = []

    def encode_with_tokens(self, texts):
        self.texts += texts
        tokens = [
            self.encode(text.split()) if text.split() else np.zeros((0, 64)) for text in texts
        ]
        return self.encode(texts), tokens


@pytest.fixture
def embedder():
    return TokenWords()


def near(one, other):
    return float(np.abs(one - other).max()) <= 0.5 / STEPS + 1e-6


def test_tokens_are_kept_to_half_a_step_and_computed_once(tmp_path, embedder):
    texts = ["send a mail", "weather", "send a mail"]
    kept = TokenCache(tmp_path).ensure(texts, embedder)
    assert all(near(kept.of(text), TokenWords().encode_with_tokens([text])[1][0]) for text in texts)
    assert sorted(embedder.texts) == ["send a mail", "weather"]
    again = TokenWords()
    other = TokenCache(tmp_path).ensure([*texts, "one more"], again)
    assert again.texts == ["one more"]
    assert near(other.of("one more"), TokenWords().encode_with_tokens(["one more"])[1][0])
    assert other.of("weather").dtype == np.float32


def test_another_model_has_its_own(tmp_path, embedder):
    TokenCache(tmp_path).ensure(["weather"], embedder)
    embedder.name = "another"
    TokenCache(tmp_path).ensure(["weather"], embedder)
    assert embedder.texts == ["weather", "weather"]


def test_progress_is_told_in_texts_and_an_interrupted_run_goes_on(tmp_path, embedder):
    texts = [f"text {number}" for number in range(CHUNK + 5)]

    def stop(step):
        if step.done >= CHUNK and len(embedder.texts) == CHUNK:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        TokenCache(tmp_path).open(texts, embedder).ensure(texts, stop)
    assert len(embedder.texts) == CHUNK
    steps = []
    TokenCache(tmp_path).open(texts, embedder).ensure(texts, steps.append)
    assert len(embedder.texts) == len(texts)
    assert [(step.stage, step.done, step.total) for step in steps] == [
        ("embed", 0, 5),
        ("embed", 5, 5),
    ]


@pytest.mark.parametrize("at", [0, 9, 30, 50, 70, -1, None])
def test_what_is_damaged_is_computed_anew(tmp_path, embedder, at):
    """A byte turned in the table, in its last row or not, or a file that was cut."""
    TokenCache(tmp_path).ensure(["weather"], embedder)
    (file,) = tmp_path.rglob("*.tok")
    body = bytearray(file.read_bytes())
    if at is None:
        del body[-3:]
    else:
        body[at] ^= 0x7F
    file.write_bytes(body)
    kept = TokenCache(tmp_path).ensure(["weather"], embedder)
    assert near(kept.of("weather"), TokenWords().encode_with_tokens(["weather"])[1][0])
    assert embedder.texts == ["weather", "weather"]


def test_an_empty_file_and_a_folder_that_cannot_be_written(tmp_path, embedder):
    TokenCache(tmp_path).ensure(["weather"], embedder)
    (file,) = tmp_path.rglob("*.tok")
    file.write_bytes(b"")
    TokenCache(tmp_path).ensure(["weather"], embedder)
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="be written"):
        TokenCache(tmp_path / "file").ensure(["weather"], embedder)


def test_codes_are_rounded_not_cut():
    assert coded(np.float32([[1.0, -1.0, 0.0039]])).tolist() == [[127, -127, 0]]
    assert coded(np.float32([[0.9999, 0.5]])).tolist() == [[127, 64]]


class Axes:
    """Three words, each an axis."""

    name = "axes"

    def encode(self, texts):
        return self.encode_with_tokens(texts)[0]

    def encode_with_tokens(self, texts):
        axes = np.eye(3, dtype=np.float32)
        tokens = [axes[["abc".index(word) for word in text.split()]] for text in texts]
        return np.array([one.sum(axis=0) for one in tokens]), tokens


class WeighedAxes(Axes):
    """The first word tells three times as much as the others."""

    def coverage(self, text):
        return 1.0

    def token_weights(self, texts):
        return [np.float32([1 + 2 * (word == "a") for word in text.split()]) for text in texts]


def test_the_tokens_of_a_tool_count_by_how_much_they_tell(tmp_path):
    texts = [("1", "a b"), ("2", "c b"), ("3", "")]
    documents = [SearchDocument(id, text, text) for id, text in texts]
    requests = RequestVectors(WeighedAxes(), VectorCache(tmp_path))
    by_tool, by_request = LateInteraction(documents, WeighedAxes(), requests).directions(
        np.eye(3, dtype=np.float32)[[0, 2]], [0, 1, 2]
    )
    assert by_tool.tolist() == [0.75, 0.5, 0.0]
    assert by_request.tolist() == [0.5, 0.5, 0.0]


def test_scores_by_hand(tmp_path):
    late = LateInteraction(
        [
            SearchDocument("1", "a b", "a b"),
            SearchDocument("2", "c", "b c"),
            SearchDocument("3", "a", "a"),
            SearchDocument("4", "", ""),
            SearchDocument("5", "a c", "a c b", "c", plain=SearchDocument("5", "a b", "a b")),
        ],
        Axes(),
        RequestVectors(Axes(), VectorCache(tmp_path)),
    )
    # tool side: of a b one half is in the request, of c none, of a all: .5 0 1
    # request side: a and c; with a b one half, with b c one half, with a one half: all equal
    of_rows = late(["a", ""])
    assert of_rows("a", [0, 1, 2]) == pytest.approx(
        [TOOL_SIDE * 0.5 + (1 - TOOL_SIDE), 0.0, 1.0], abs=1e-6
    )
    assert of_rows("a", [3, 2])[0] == 0.0  # a text without tokens
    assert of_rows("", [0, 1]).tolist() == [0.0, 0.0]
    by_tool, by_request = late.directions(np.eye(3, dtype=np.float32)[[0]], [4, 0])
    assert by_tool.tolist() == [0.25, 0.5], "an augmented tool: one half and none, the mean"
    assert by_request.tolist() == [1.0, 1.0]
    assert of_rows("a", []).shape == (0,)


TOOLS = (
    Tool("a", "send_mail", "send mail to people"),
    Tool("b", "read_mail", "read mail of people"),
    Tool("c", "get_weather", "weather of town"),
)


def ranked(folder, embedder, tools=TOOLS, **config):
    search = Retriever(tools, embedder, VectorCache(folder), RetrievalConfig(**config))
    return search.search(ToolRequest("send mail"), 3)


def test_reranked_places_say_so_and_candidates_alone_are_compared(tmp_path, embedder):
    places = ranked(tmp_path, embedder, rerank="late", candidates=2)
    assert [one.tool_id for one in places] == ["a", "b", "c"]
    assert places[0].parts[2] == pytest.approx(0.7 / 1.7)
    assert places[2].parts[2] == 0.0
    assert all(sum(one.parts) == pytest.approx(one.score) for one in places)
    plain = ranked(tmp_path, embedder, rerank="none")
    assert all(one.parts[2] == 0.0 for one in plain)
    weightless = ranked(tmp_path, embedder, rerank="late", rerank_weight=0.0)
    assert [one.score for one in weightless] == [one.score for one in plain]
    assert ranked(tmp_path, embedder, (), rerank="late") == ()


def test_an_embedder_without_tokens_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"fake-words .*token"):
        ranked(tmp_path, WordEmbedder(), rerank="late")


def test_tools_are_reranked_by_default_where_the_embedder_can_and_servers_are_not(
    tmp_path, embedder
):
    def rerank_parts(one):
        return [place.parts[2] for place in ranked(tmp_path, one)]

    assert max(rerank_parts(embedder)) == pytest.approx(0.7 / 1.7)
    assert rerank_parts(WordEmbedder()) == [0.0, 0.0, 0.0]
    servers = ServerRetriever(Catalog(TOOLS), embedder, VectorCache(tmp_path))
    assert servers.config.rerank == "none"
