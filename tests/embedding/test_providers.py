"""Embedding models: the packaged one is checked, others load from a folder, nothing is silent."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.tool2vec.tiny_bert import save_tiny_bert
from toolscope_core.embedding import encoders, minilm
from toolscope_core.embedding.encoders import SentenceEmbedder
from toolscope_core.model.errors import ModelError


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory):
    return save_tiny_bert(tmp_path_factory.mktemp("saved"))


def test_another_model_loads_from_its_folder_and_its_files_name_it(tiny_model):
    embedder = SentenceEmbedder(str(tiny_model))
    vectors = embedder.encode(["open the file", "close the door", "open the file"])
    assert vectors.shape == (3, 16)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert np.allclose(vectors[0], vectors[2], atol=1e-6)
    assert not np.allclose(vectors[0], vectors[1], atol=1e-3)
    assert embedder.name.startswith("tiny@")
    (tiny_model / "note.txt").write_text("changed")
    assert SentenceEmbedder(str(tiny_model)).name != embedder.name
    (tiny_model / "note.txt").unlink()
    assert SentenceEmbedder(str(tiny_model)).name == embedder.name


def test_texts_of_many_batches_come_back_in_their_order(tiny_model):
    embedder = SentenceEmbedder(str(tiny_model))
    texts = [" ".join(["open", "file", "door"][at % 3 :] * (1 + at % 7)) for at in range(700)]
    one_by_one = {text: embedder.encode([text])[0] for text in set(texts)}
    expected = np.array([one_by_one[text] for text in texts])
    assert np.allclose(embedder.encode(texts), expected, atol=1e-5)


@pytest.mark.parametrize("name", ["no-such-model-anywhere", "not a valid name!", "folder"])
def test_a_missing_model_is_an_error_that_names_it(tmp_path, name):
    (tmp_path / "folder").mkdir()
    source = str(tmp_path / "folder") if name == "folder" else name
    with pytest.raises(ModelError, match=f"{name}.*loaded"):
        SentenceEmbedder(source).encode(["text"])


def test_a_damaged_model_folder_is_an_error(tiny_model, tmp_path):
    broken = Path(shutil.copytree(tiny_model, tmp_path / "broken"))
    weights = broken / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(ModelError, match="broken"):
        SentenceEmbedder(str(broken)).encode(["text"])


def test_files_of_models_that_are_missing_or_damaged_are_an_error(tmp_path, monkeypatch):
    (tmp_path / "tokenizer.json").write_bytes(b"x")
    package = SimpleNamespace(get_model_path=lambda: tmp_path)
    monkeypatch.setattr(minilm, "import_module", lambda name: package)
    monkeypatch.setattr(minilm, "TOKENIZER", tmp_path / "tokenizer.json")
    for read in (minilm.packaged_model, minilm.shipped_tokenizer):
        with pytest.raises(ModelError, match="reinstall"):
            read()


def test_a_folder_that_cannot_be_read_is_an_error(tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied")

    (tmp_path / "weights").write_text("x")
    monkeypatch.setattr(encoders, "file_sha256", refuse)
    with pytest.raises(ModelError, match="permissions"):
        _ = SentenceEmbedder(str(tmp_path)).name


@pytest.mark.parametrize(("is_available", "device"), [(True, "cuda"), (False, "cpu")])
def test_a_gpu_is_used_where_torch_sees_one(monkeypatch, is_available, device):
    torch = encoders.import_module("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: is_available)
    assert encoders._device() == device


def test_on_a_gpu_batches_are_large_and_one_after_the_other(monkeypatch):
    sizes = []

    def encode(texts, batch_size, **_):
        sizes.append((len(texts), batch_size))
        return np.ones((len(texts), 2), dtype=np.float32)

    on_gpu = SimpleNamespace(device=SimpleNamespace(type="cuda"), encode=encode)
    monkeypatch.setattr(encoders, "_load", lambda _: on_gpu)
    monkeypatch.setattr(encoders, "_in_parallel", None)
    assert SentenceEmbedder("x").encode([f"text {n}" for n in range(300)]).shape == (300, 2)
    assert sizes[1:] == [(256, 256), (44, 44)]
