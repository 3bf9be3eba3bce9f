"""Whose folders are replaced, and what a kill at any step leaves."""

import hashlib
import json
import os
import resource
import shutil
import signal
from pathlib import Path

import pytest

from toolscope_core.catalog.relabelling import read_relabelling
from toolscope_core.files import folders
from toolscope_core.files import folders as module
from toolscope_core.files.folders import app_folder, why_not_ours, write_folder
from toolscope_core.model.errors import ConfigError, ExportError


def bundle(text):
    files = {
        "relabel.json": json.dumps({"version": 3, "entries": []}).encode(),
        "arguments.json": json.dumps({"version": 3, "maps": {}, "note": text}).encode(),
        "clients/cursor.json": text.encode(),
    }
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    about = {"program": "toolscope", "version": 3, "sha256": hashes}
    return {**files, "manifest.json": json.dumps(about).encode()}


def held(folder):
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


OLD, NEW = bundle("old"), bundle("new")


def put(folder, files):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


@pytest.mark.case(63)
@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"manifest.json": b'{"manifest_version": 3, "name": "x"}'}, "other than"),
        ({"manifest.json": b"[]"}, "other than"),
        ({"manifest.json": b"{"}, "other than"),
        ({"notes.txt": b"mine"}, "notes.txt"),
        ({**OLD, "notes.txt": b"mine"}, "notes.txt"),
        ({**OLD, "clients/notes.txt": b"mine"}, "clients/notes.txt"),
        ({**OLD, "clients/cursor.json": b"edited"}, "cursor.json"),
        ({**OLD, "manifest.json": b'{"program": "other", "sha256": {}}'}, "other than"),
        ({"manifest.json": b'{"sha256": []}'}, "other than"),
        ({"manifest.json": b'{"sha256": {}}'}, "other than"),
    ],
)
def test_a_folder_that_this_program_did_not_write_so_is_left_alone(tmp_path, files, why):
    put(tmp_path / "out", files)
    with pytest.raises(ExportError, match=why):
        write_folder(NEW.items(), tmp_path / "out")
    assert held(tmp_path / "out") == files
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.case(63)
def test_folders_of_others_are_left_alone_though_they_are_empty(tmp_path):
    (tmp_path / "out" / "year" / "month").mkdir(parents=True)
    with pytest.raises(ExportError, match=r"\(year/month\)"):
        write_folder(NEW.items(), tmp_path / "out")
    assert (tmp_path / "out" / "year" / "month").is_dir()


@pytest.mark.case(3)
def test_a_full_disk_says_what_to_free_and_keeps_the_old_bundle(tmp_path):
    write_folder(OLD.items(), tmp_path / "out")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
    try:
        with pytest.raises(ExportError, match=r"unchanged; .* 1,0\d\d"):
            write_folder([("manifest.json", b" " * 1_050)], tmp_path / "out")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert held(tmp_path / "out") == OLD


def test_a_bundle_as_it_was_written_is_replaced(tmp_path):
    out = tmp_path / "a" / "out"
    for files in (OLD, NEW, OLD):
        write_folder(files.items(), out)
        assert held(out) == files
        assert why_not_ours(out) == ""
        (out / "arguments.json").unlink()
        assert why_not_ours(out) == "", "what is missing is nobody's"
    assert [path.name for path in out.parent.iterdir()] == ["out"]


def test_a_link_that_leads_nowhere_is_somebodys(tmp_path):
    write_folder(OLD.items(), tmp_path / "out")
    (tmp_path / "out" / "link").symlink_to("nowhere")
    with pytest.raises(ExportError, match="link"):
        write_folder(NEW.items(), tmp_path / "out")


def test_a_loop_of_links_and_a_name_too_long_are_sentences(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    for folder in (tmp_path / "loop" / "out", tmp_path / ("x" * 300)):
        with pytest.raises(ExportError, match="not be written"):
            write_folder(NEW.items(), folder)


STEPS = (
    *((Path, "mkdir"), (Path, "write_bytes"), (Path, "rename"), (folders, "_exchange")),
    (shutil, "rmtree"),
)


def killed_before(step, out):
    """A process that writes the new bundle and is killed before its ``step``-th change to the
    disk, which is after the one before; whether it came to its end.
    """
    child = os.fork()
    if child == 0:
        count = 0

        def deadly(real):
            def call(*args, **kwargs):
                nonlocal count
                count += 1
                if count == step:
                    os.kill(os.getpid(), signal.SIGKILL)
                return real(*args, **kwargs)

            return call

        for place, name in STEPS:
            setattr(place, name, deadly(getattr(place, name)))
        write_folder(NEW.items(), out)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


@pytest.mark.case(2, 64)
def test_whenever_it_is_killed_the_old_or_the_new_bundle_is_there(tmp_path):
    for step in range(1, 50):
        out = tmp_path / str(step) / "out"
        write_folder(OLD.items(), out)
        ended = killed_before(step, out)
        assert held(out) in (OLD, NEW), step
        read_relabelling(out)
        write_folder(NEW.items(), out)
        assert held(out) == NEW
        assert [path.name for path in out.parent.iterdir()] == ["out"], "nothing is left behind"
        if ended:
            break
    assert ended and step > 8


def test_where_folders_cannot_be_exchanged_the_old_one_stays_until_the_new_one_is_there(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(folders, "_exchange", lambda new, folder: False)
    out, rename = tmp_path / "out", Path.rename
    for files in (OLD, NEW):
        write_folder(files.items(), out)
        assert held(out) == files

    def refuse(path, target):
        if path.name == "new":
            raise OSError("no")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(ExportError, match="is unchanged"):
        write_folder(OLD.items(), out)
    assert held(out) == NEW


def test_only_what_a_killed_program_left_is_cleared(tmp_path):
    mine = tmp_path / f".out-{os.getpid()}-0123abcd" / "old"
    mine.mkdir(parents=True)
    gone = tmp_path / ".out-999999999-0123abcd"
    gone.mkdir()
    other = tmp_path / ".out-notes"
    other.mkdir()
    write_folder(NEW.items(), tmp_path / "out")
    assert mine.exists() and other.exists() and not gone.exists()


def test_the_app_is_found_in_a_checkout_where_it_is_installed_and_nowhere(tmp_path, monkeypatch):
    assert (app_folder() / "app.py").is_file()
    checkout, installed = tmp_path, tmp_path / "toolscope_app"
    monkeypatch.setattr(module, "_PLACES", (checkout, installed))
    with pytest.raises(ConfigError, match="workbench"):
        app_folder()
    (installed / "ui").mkdir(parents=True)
    (installed / "app.py").touch()
    assert app_folder() == installed
    (checkout / "ui").mkdir()
    assert app_folder() == installed, "a folder of somebody else's"
    (checkout / "app.py").touch()
    assert app_folder() == checkout
