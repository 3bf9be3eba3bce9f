"""A bundle in a zip is read as its folder is."""

import io
import lzma
import struct
import tempfile
import tracemalloc
import zipfile

import pytest

from tests.mcp.gateway.stub_toolset import stub_catalog, write_stub_toolset
from toolscope_core.catalog.relabelling import read_relabelling
from toolscope_core.check.baseline import read_baseline
from toolscope_core.evaluation.measured_toolsets import merged_toolset
from toolscope_core.export.bundle import zipped
from toolscope_core.files import archives
from toolscope_core.files.archives import bundle_files_in, bundle_folder
from toolscope_core.mcp.gateway.bundle_routes import read_served_bundle, read_unmerged_bundle
from toolscope_core.model.errors import ConfigError, ExportError


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_stub_toolset(tmp_path_factory.mktemp("town"))


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


def test_every_reader_of_bundles_takes_the_zip(folder, archive):
    assert read_relabelling(archive) == read_relabelling(folder)
    for read in (read_served_bundle, read_unmerged_bundle):
        assert read(archive).table == read(folder).table
    assert read_baseline(archive).relabels == read_baseline(folder).relabels
    catalog = stub_catalog()
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
    monkeypatch.setattr(archives, "MOST_BYTES", 1 << 10)
    with pytest.raises(ConfigError, match=r"town\.zip .* 0 MiB"):
        bundle_files_in(archive.read_bytes(), "town.zip")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"PK\x03\x04 no zip", "cannot be read as a zip"),
        (b"{}", "cannot be read as a zip"),
        (zipped({"a.json": b"{}"}), "relabel.json"),
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

    monkeypatch.setattr("zipfile.ZipFile.open", fail)
    with pytest.raises(ConfigError, match=r"town\.zip cannot"):
        read_served_bundle(archive)


def test_a_zip_that_is_no_baseline_is_refused(tmp_path):
    path = tmp_path / "old.zip"
    path.write_bytes(zipped({"tools.json": b"[]"}))
    with pytest.raises(ConfigError, match=r"old\.zip .*relabel"):
        read_baseline(path)


BOMB = 8 << 20
DIRECTORY, LOCAL = (b"PK\x01\x02", 24), (b"PK\x03\x04", 22)
"""Where an entry of each kind has its size: after its mark, by so many bytes."""


def with_declared_size(content, name, size):
    """The zip with the size of a file as it is declared, in both places, replaced."""
    changed = bytearray(content)
    for mark, place in (DIRECTORY, LOCAL):
        at = -1
        while (at := changed.find(mark, at + 1)) >= 0:
            header = at + (46 if mark == DIRECTORY[0] else 30)
            if changed[header : header + len(name)] == name.encode():
                struct.pack_into("<I", changed, at + place, size)
    return bytes(changed)


def peak_of(work):
    """The most bytes of memory at once while ``work`` runs, beyond what was there."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.case(74)
@pytest.mark.parametrize("declared", [1, BOMB, 0xFFFFFFF0])
def test_what_a_file_becomes_is_counted_whatever_the_zip_says(monkeypatch, declared):
    monkeypatch.setattr(archives, "MOST_BYTES", 1 << 20)
    bomb = zipped({"relabel.json": b"{}", "neutral.json": bytes(BOMB)})
    lying = with_declared_size(bomb, "neutral.json", declared)
    assert len(lying) < 1 << 14

    def read():
        with pytest.raises(ConfigError, match=r" 1 MiB|Bad CRC-32"):
            bundle_files_in(lying, "town.zip")

    assert peak_of(read) < BOMB


def test_what_is_read_is_counted_also_where_zipfile_gives_more_than_is_declared(monkeypatch):
    monkeypatch.setattr(archives, "MOST_BYTES", 1 << 20)
    small = zipped({"relabel.json": b"{}"})
    monkeypatch.setattr("zipfile.ZipFile.open", lambda *args: io.BytesIO(bytes(BOMB)))
    with pytest.raises(ConfigError, match="than 1 MiB"):
        bundle_files_in(small, "town.zip")


def test_files_together_are_counted(monkeypatch):
    monkeypatch.setattr(archives, "MOST_BYTES", 1 << 20)
    half = {"relabel.json": b"{}", "a.json": bytes(600_000)}
    assert len(bundle_files_in(zipped(half), "town.zip")["a.json"]) == 600_000
    with pytest.raises(ConfigError, match="than 1 MiB"):
        bundle_files_in(zipped({**half, "b.json": bytes(600_000)}), "town.zip")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_way_to_compress_that_cannot_be_counted_is_refused(method):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("relabel.json", bytes(BOMB))

    def read():
        with pytest.raises(ConfigError, match="deflate"):
            bundle_files_in(buffer.getvalue(), "town.zip")

    assert peak_of(read) < BOMB


def with_empty_files(number, said):
    """A zip of that many empty files, whose end says it has ``said``."""
    entry = struct.pack("<4s4B4HL2L5H2L", DIRECTORY[0], 20, 3, 20, 0, *([0] * 7), 5, *([0] * 6))
    files = b"".join(entry + b"%05x" % one for one in range(number))
    return files + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, said, said, len(files), 0, 0)


@pytest.mark.parametrize("said", [1, 20_000])
def test_many_empty_files_are_refused_before_they_are_looked_at(monkeypatch, said):
    opened = []
    monkeypatch.setattr("zipfile.ZipInfo.__init__", lambda *args: opened.append(args))
    with pytest.raises(ConfigError, match=r"town\.zip .*too long"):
        bundle_files_in(with_empty_files(200_000, said), "town.zip")
    assert opened == []


def test_more_files_than_a_bundle_has_are_refused():
    few, many = (with_empty_files(number, 1) for number in (10, archives.MOST_FILES + 1))
    with pytest.raises(ConfigError, match=r"relabel\.json"):
        bundle_files_in(few, "town.zip")
    with pytest.raises(ConfigError, match=r"town\.zip .*10,000"):
        bundle_files_in(many, "town.zip")


def test_a_zip_in_a_zip_stays_a_file(monkeypatch):
    monkeypatch.setattr(archives, "MOST_BYTES", 1 << 20)
    inner = zipped({"relabel.json": b"[]", "a.json": bytes(BOMB)})
    kept = bundle_files_in(zipped({"relabel.json": b"{}", "inner.zip": inner}), "town.zip")
    assert kept == {"relabel.json": b"{}", "inner.zip": inner}
