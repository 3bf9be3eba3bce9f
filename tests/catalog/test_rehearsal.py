"""RELIABILITY 33 and the limits: too large is refused fast, in words, before it does harm."""

import json
import time

import pytest

from toolscope_core.catalog import Source, load_paths, parts, read_catalog, rehearsal
from toolscope_core.errors import CatalogError


def lines(count):
    return b"".join(
        b'{"name": "t%d", "description": "Number %d."}\n' % (n, n) for n in range(count)
    )


@pytest.fixture
def everything_is_big(monkeypatch):
    monkeypatch.setattr(rehearsal, "BIG_BYTES", 0)


def test_33_a_200_mb_file_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(200 * 2**20)
    started = time.perf_counter()
    with pytest.raises(CatalogError, match=r"huge\.json has 200\.0 MiB; at most 64 MiB"):
        load_paths([path])
    data = bytes(200 * 2**20)
    with pytest.raises(CatalogError, match=r"upload\.json has 200\.0 MiB; at most 64 MiB"):
        read_catalog([Source("upload.json", data)])
    assert time.perf_counter() - started < 5


def test_many_files_together_have_a_limit(tmp_path):
    for n in range(5):
        with (tmp_path / f"{n}.json").open("wb") as file:
            file.truncate(60 * 2**20)
    with pytest.raises(CatalogError, match=r"the input \(5 files\) has 300\.0 MiB; at most 256"):
        load_paths([tmp_path])


def test_a_big_file_is_read_by_a_child_first_and_then_here(everything_is_big):
    catalog = read_catalog([Source("t.jsonl", lines(50))])
    assert len(catalog.tools) == 50
    assert read_catalog([Source("t.txt", b"name\na\n")], "csv").tools[0].name == "a"


def test_what_the_child_refuses_is_said_in_its_words(everything_is_big):
    with pytest.raises(CatalogError, match=r"to 100,001 records or more; at most 100,000"):
        read_catalog([Source("t.json", b"[" + b"1," * 100_000 + b"1]")])


def test_the_childs_memory_and_time_have_an_end(everything_is_big, monkeypatch):
    bomb = Source("bomb.json", b"[" + b"{}," * 2_000_000 + b"{}]")
    monkeypatch.setattr(rehearsal, "CHILD_BYTES", 100 * 2**20)
    with pytest.raises(CatalogError, match=r"bomb\.json needs more than 60 s or 100 MiB"):
        read_catalog([bomb])
    monkeypatch.undo()
    monkeypatch.setattr(rehearsal, "BIG_BYTES", 0)
    monkeypatch.setattr(rehearsal, "CHILD_SECONDS", 0.01)
    with pytest.raises(CatalogError, match="split it into several files"):
        read_catalog([bomb])


def test_records_are_counted_over_all_files(monkeypatch):
    monkeypatch.setattr(parts, "MAX_RECORDS", 3)
    two = b'[{"name": "a"}, {"name": "b"}]'
    with pytest.raises(CatalogError, match="brings the input to 4 records or more; at most 3"):
        read_catalog([Source("a.json", two), Source("b.json", two)])


def test_a_text_that_is_too_long_is_a_problem_of_its_record():
    long = {"name": "long", "description": "x" * 1_000_001}
    catalog = read_catalog([Source("t.json", json.dumps([{"name": "ok"}, long]).encode())])
    assert catalog.problems[0].reason == (
        "description has 1,000,001 characters; at most 1,000,000 are read, cut it"
    )


def test_what_a_child_does_without_being_one():
    told = rehearsal.answer(Source("x", b"[1]"), "openapi")
    assert told == {"refused": ""}
    assert "unknown" in rehearsal.answer(Source("x", b"[1]"), "xml")["refused"]


def test_servers_and_pages_are_no_records(monkeypatch):
    monkeypatch.setattr(parts, "MAX_RECORDS", 3)
    listed = [{"server": name, "tools": [{"name": "go"}]} for name in "abc"]
    assert len(read_catalog([Source("t.json", json.dumps(listed).encode())]).tools) == 3
