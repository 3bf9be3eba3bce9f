"""A model on disk: the same after reading, damage is seen, nothing of others is replaced."""

import json

import numpy as np
import pytest

from tests.support.fakes import WordEmbedder
from tests.tool2vec.lessons import QUERIES, TOOLS
from tests.tool2vec.test_training import ASKED, CONFIG, trained
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.model.errors import ConfigError, ExportError
from toolscope_core.model.tool import Augmentation
from toolscope_core.retrieval.retriever import Retriever
from toolscope_core.tool2vec.model_folder import read_model, write_model


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    variants = {"unused_tool": Augmentation("how large", ("how big is my garden",))}
    return trained(tmp_path_factory.mktemp("cache"), variants=variants)


@pytest.fixture
def folder(model, tmp_path):
    write_model(model, tmp_path / "model")
    return tmp_path / "model"


def test_a_model_is_the_same_after_reading(model, folder, tmp_path):
    kept = read_model(folder)
    assert kept.blend == model.blend
    assert kept.variants == model.variants
    assert kept.about == json.loads(json.dumps(model.about))
    assert np.array_equal(kept.head.weights, model.head.weights)
    search = Retriever(TOOLS, WordEmbedder(), VectorCache(tmp_path), CONFIG)
    assert search.with_learned(kept).search(ASKED, 6) == search.with_learned(model).search(ASKED, 6)
    assert not any(path.suffix in (".pkl", ".pt", ".bin") for path in folder.iterdir())


def test_a_model_takes_the_place_of_a_model_only(model, folder, tmp_path):
    write_model(model, folder)
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(ExportError, match=r"\(notes\.txt\)"):
        write_model(model, folder)
    bundle = tmp_path / "bundle"
    bundle.mkdir()
    (bundle / "manifest.json").write_text('{"program": "toolscope", "sha256": {}}')
    with pytest.raises(ExportError, match="other than"):
        write_model(model, bundle)


@pytest.mark.parametrize("name", ["weights.safetensors", "model.json", "variants.jsonl"])
def test_damage_is_seen(folder, name):
    content = bytearray((folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(ConfigError, match=f"damaged .{name}"):
        read_model(folder)
    (folder / name).unlink()
    with pytest.raises(ConfigError, match=f"damaged .{name} cannot"):
        read_model(folder)


def resealed(folder, **changes):
    from toolscope_core.files.folders import MODEL_PROGRAM, manifest_of

    card = json.loads((folder / "model.json").read_text())
    (folder / "model.json").write_text(json.dumps({**card, **changes}))
    files = {p.name: p.read_bytes() for p in folder.iterdir() if p.name != "manifest.json"}
    (folder / "manifest.json").write_bytes(manifest_of(files, MODEL_PROGRAM))


def test_another_form_and_nonsense_are_refused(folder, tmp_path):
    resealed(folder, form=99)
    with pytest.raises(ConfigError, match="format 99"):
        read_model(folder)
    resealed(folder, form=1, fingerprints=["x"])
    with pytest.raises(ConfigError, match="number of tools"):
        read_model(folder)
    (folder / "weights.safetensors").write_bytes(b"no weights")
    resealed(folder)
    with pytest.raises(ConfigError, match="damaged"):
        read_model(folder)
    with pytest.raises(ConfigError, match="trained model"):
        read_model(tmp_path / "gone")
    (folder / "manifest.json").write_text('{"program": "toolscope", "sha256": {}}')
    with pytest.raises(ConfigError, match="trained model"):
        read_model(folder)
    (folder / "manifest.json").write_text("[")
    with pytest.raises(ConfigError, match="manifest"):
        read_model(folder)


def test_queries_are_kept_nowhere_but_as_means(folder):
    text = b"".join(path.read_bytes() for path in folder.iterdir())
    assert not any(query.text.encode() in text for query in QUERIES)
