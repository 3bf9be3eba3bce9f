"""The default model: as good as the original to the third digit, the same alone and in company."""

import json
import subprocess
import sys

import numpy as np
import pytest

from toolscope_core.embedding.encoders import SentenceEmbedder
from toolscope_core.embedding.minilm import TOKENIZER, TOKENS, MiniLmEmbedder
from toolscope_core.llm.embedding import embedder_of
from toolscope_core.model.environment import read_environment
from toolscope_core.model.errors import ModelError

TEXTS = [
    "get_weather: Get the weather of a city",
    "fetch_weather_data: Fetch weather data",
    "delete_user: Delete a user account for good",
    "",
    "word " * 400 + "open",
    "搜索 наблюдение 🙂",
]


def test_vectors_are_those_of_the_original_within_a_thousandth():
    vectors = MiniLmEmbedder().encode(TEXTS)
    original = SentenceEmbedder("all-MiniLM-L6-v2").encode(TEXTS)
    assert vectors.dtype == np.float32
    assert (vectors * original).sum(axis=1).min() > 0.999
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)


def test_a_text_has_one_vector_alone_and_in_any_company():
    embedder = MiniLmEmbedder()
    together = embedder.encode([*TEXTS, *reversed(TEXTS)])
    for at, text in enumerate(TEXTS):
        alone = embedder.encode([text])[0]
        assert np.array_equal(alone, together[at])
        assert np.array_equal(alone, together[-1 - at])


def test_tokens_come_from_the_same_pass_and_long_texts_are_cut():
    vectors, tokens = MiniLmEmbedder().encode_with_tokens(TEXTS)
    assert np.array_equal(vectors, MiniLmEmbedder().encode(TEXTS))
    assert [len(one) for one in tokens][3:5] == [2, TOKENS]
    assert np.linalg.norm(tokens[0], axis=1) == pytest.approx(np.ones(len(tokens[0])), abs=1e-5)


def test_naming_the_original_and_embedding_import_no_torch():
    code = (
        "import sys; from toolscope_core.embedding.minilm import MiniLmEmbedder; "
        "from toolscope_core.embedding.encoders import SentenceEmbedder; "
        "original = SentenceEmbedder('all-MiniLM-L6-v2'); "
        "assert (original.name, original.encode([]).shape) == ('all-MiniLM-L6-v2', (0, 0)); "
        "MiniLmEmbedder().encode(['a text']); "
        "heavy = ('torch', 'sentence_transformers', 'transformers', 'sklearn'); "
        "sys.exit(', '.join(one for one in heavy if one in sys.modules) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")


def test_it_is_the_default_and_the_original_has_its_name():
    settings = read_environment()
    assert isinstance(embedder_of(settings), MiniLmEmbedder)
    assert isinstance(embedder_of(settings, "all-MiniLM-L6-v2-8bit"), MiniLmEmbedder)
    assert isinstance(embedder_of(settings, "all-MiniLM-L6-v2"), SentenceEmbedder)


@pytest.mark.parametrize("content", [b"oh", b"", None])
def test_a_file_that_is_damaged_or_missing_is_named(content, tmp_path):
    path = tmp_path / "model.onnx"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelError, match=r"model\.onnx.*reinstall"):
        MiniLmEmbedder(path).encode(["text"])


@pytest.mark.parametrize(
    ("text", "share"),
    [
        *(("wie wird das Wetter in Köln", 1.0), ("ACGT" * 40, 1.0), ("🙂", 1.0), ("", 1.0)),
        *(("文件元数据", 0.0), ("найти файл", 0.0), ("ค้นหา", 0.0), ("文件 ab", 0.5)),
    ],
)
def test_it_reads_english_and_says_what_it_cannot_read(text, share):
    assert MiniLmEmbedder().coverage(text) == pytest.approx(share)


def test_a_token_tells_more_the_fewer_tools_say_it():
    texts = ["get weather", "x" * 2_000]
    weights = MiniLmEmbedder().token_weights(texts)
    tokens = MiniLmEmbedder().encode_with_tokens(texts)[1]
    assert list(map(len, weights)) == list(map(len, tokens))
    begin, get, weather, end = weights[0]
    assert 0 < begin == end < get < weather


def test_a_model_with_the_same_tokens_weighs_them_alike(tmp_path):
    tokenizer = json.loads(TOKENIZER.read_text("utf-8"))
    texts = ["Send an invoice", "发送"]
    for name, changes in (("same", {}), ("other", {"model": {"type": "WordLevel"}})):
        (tmp_path / name).mkdir()
        content = json.dumps({**tokenizer, **changes, "padding": {"length": 9}})
        (tmp_path / name / "tokenizer.json").write_text(content, "utf-8")
    own, same = MiniLmEmbedder(), SentenceEmbedder(str(tmp_path / "same"))
    for weights, others in zip(own.token_weights(texts), same.token_weights(texts), strict=True):
        assert np.array_equal(weights, others) and len(weights) > 2
    assert same.coverage(texts[1]) == own.coverage(texts[1]) < 0.5
    other = SentenceEmbedder(str(tmp_path / "other"))
    assert [len(one) for one in other.token_weights(texts)] == [0, 0]
    assert other.coverage(texts[1]) == 1.0
