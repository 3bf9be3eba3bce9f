import os

import pytest

from toolscope_core.catalog.sources import load_paths
from toolscope_core.model.errors import CatalogError


def test_files_and_folders(tmp_path):
    for name in ("b.json", "a.jsonl", "notes.txt", "sub/b.json", "c.json", "c.jsonl"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name)
    (tmp_path / "odd.cfg").write_text("odd")
    loaded = load_paths([tmp_path / "odd.cfg", tmp_path, tmp_path / "b.json", tmp_path / "sub"])
    here = [(f"{tmp_path.name}/{name}", name) for name in ("b.json", "c.json", "c.jsonl")]
    rows = [("odd.cfg", "odd"), ("a.jsonl", "a.jsonl"), *here, ("sub/b.json", "sub/b.json")]
    assert [(source.label, source.data.decode()) for source in loaded] == rows


def test_what_cannot_be_loaded(tmp_path):
    with pytest.raises(CatalogError, match=r"missing\.json'"):
        load_paths([tmp_path / "missing.json"])
    with pytest.raises(CatalogError, match="check the path"):
        load_paths([tmp_path / "nul\0.json"])
    with pytest.raises(CatalogError, match="nothing"):
        load_paths([])
    with pytest.raises(CatalogError, match=r"\*\.yaml or \*\.csv"):
        load_paths([tmp_path])
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(CatalogError, match=r"pipe.* neither"):
        load_paths([tmp_path / "pipe.json"])


def test_an_unreadable_folder(tmp_path, monkeypatch):
    def refuse(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(tmp_path), "iterdir", refuse)
    with pytest.raises(CatalogError, match=f"{tmp_path}.* denied"):
        load_paths([tmp_path])
