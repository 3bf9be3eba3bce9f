"""A bundle in a zip is read as its folder is."""

import lzma
import tempfile

import pytest

from tests.gateway.town import town_catalog, write_town
from toolscope_core import unpacking
from toolscope_core.bundle import zipped
from toolscope_core.commands.evaluate_command import merged_toolset
from toolscope_core.errors import ConfigError, ExportError
from toolscope_core.gate.baseline import read_baseline
from toolscope_core.gateway.bundle_routes import read_served_bundle, read_unmerged_bundle
from toolscope_core.relabelling import read_relabelling
from toolscope_core.unpacking import bundle_files_in, bundle_folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_town(tmp_path_factory.mktemp("town"))


def files_of(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module", params=["", "town/"], ids=["flat", "in a folder"])
def archive(folder, request, tmp_path_factory):
    path = tmp_path_factory.mktemp("zips") / "town.zip"
    path.write_bytes(
        zipped({request.param + name: body for name, body in files_of(folder).items()})
    )
    return path


def without_place(catalog):
    return [(tool.id, tool.fingerprint) for tool in catalog.tools]


def test_every_reader_of_bundles_takes_the_zip(folder, archive):
    assert read_relabelling(archive) == read_relabelling(folder)
    for read in (read_served_bundle, read_unmerged_bundle):
        assert read(archive).table == read(folder).table
    assert read_baseline(archive).relabels == read_baseline(folder).relabels
    catalog = town_catalog()
    merged = merged_toolset(archive, catalog)
    assert merged.tools == merged_toolset(folder, catalog).tools


def test_nothing_is_left_of_what_was_unpacked(archive, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with bundle_folder(archive) as unpacked:
        assert unpacked.parent.parent == tmp_path
        assert (unpacked / "relabel.json").is_file()
    assert list(tmp_path.iterdir()) == []


def test_names_lead_nowhere_else():
    evil = ("b/../../evil.json", "/evil.json", "b/./../evil.json", "b/x\\..\\evil", "b/c/evil\n")
    kept = bundle_files_in(
        zipped({"b/relabel.json": b"{}", "b/in/a b.json": b"1", **dict.fromkeys(evil, b"2")}), "z"
    )
    assert kept == {"relabel.json": b"{}", "in/a b.json": b"1"}


def test_a_bundle_too_large_to_unpack_is_refused(archive, monkeypatch):
    monkeypatch.setattr(unpacking, "MOST_BYTES", 1 << 10)
    with pytest.raises(ConfigError, match=r"town.zip holds more than 0 MiB; give the zip"):
        bundle_files_in(archive.read_bytes(), "town.zip")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"PK\x03\x04 no zip", "cannot be read as a zip"),
        (b"{}", "cannot be read as a zip"),
        (zipped({"a.json": b"{}"}), "has no relabel.json; give the zip that Export makes"),
        (zipped({"relabel.json": b"{}", "relabel.json/x": b"{}"}), "cannot be unpacked"),
        (zipped({"relabel.json": b"{"}), "is not JSON"),
    ],
)
def test_a_file_that_is_no_bundle_is_refused_in_words(tmp_path, content, reason):
    path = tmp_path / "town.zip"
    path.write_bytes(content)
    with pytest.raises((ConfigError, ExportError), match=reason) as refused:
        read_served_bundle(path)
    assert "town.zip" in str(refused.value)


@pytest.mark.parametrize("error", [lzma.LZMAError("x"), ValueError("y"), IndexError("z")])
def test_whatever_zipfile_raises_is_a_sentence(archive, monkeypatch, error):
    def fail(*args):
        raise error

    monkeypatch.setattr("zipfile.ZipFile.read", fail)
    with pytest.raises(ConfigError, match=r"town.zip cannot be read as a zip"):
        read_served_bundle(archive)


def test_a_zip_that_is_no_baseline_is_refused(tmp_path):
    path = tmp_path / "old.zip"
    path.write_bytes(zipped({"tools.json": b"[]"}))
    with pytest.raises(ConfigError, match=r"old.zip has no relabel.json"):
        read_baseline(path)
