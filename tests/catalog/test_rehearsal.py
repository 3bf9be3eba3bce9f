"""RELIABILITY 33 and the limits: too large is refused fast, in words, before it does harm."""

import io
import json
import runpy
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

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


ODD = Source("a\0 \ud800.json", b'[{"name": "a"}]')


@pytest.mark.parametrize(
    ("work", "ends"),
    [("while True: pass", {-signal.SIGXCPU, -signal.SIGKILL}), ("bytearray(2**30)", {1})],
)
def test_the_kernel_holds_the_child_to_its_limits(work, ends):
    program = f"from {rehearsal.MODULE} import _limit\n_limit(2**30, 1)\n{work}"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=rehearsal.ROOT, capture_output=True, check=False
    )
    assert done.returncode in ends
    assert done.returncode < 0 or b"MemoryError" in done.stderr


@pytest.mark.parametrize(
    ("child", "told"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "needs more than 60 s or"),
        ("raise MemoryError", "needs more than 60 s or 3072 MiB of memory"),
        ("import time; time.sleep(9)", "needs more than 1 s or"),
        ("", "ended without an answer .exit status 0.; try again, or split it"),
        ("print('[1]')", "without an answer"),
        ("print('{}')", "without an answer"),
        ("print('{\"refused\": 1}')", "without an answer"),
        ("import nothing_of_this_name", "without an answer .exit status 1."),
        ('print(\'{"refused": "because"}\')', "^because$"),
    ],
)
def test_a_child_that_fails_is_an_error_with_its_remedy(
    everything_is_big, monkeypatch, child, told
):
    monkeypatch.setattr(rehearsal, "_command", lambda: [sys.executable, "-c", child])
    if "sleep" in child:
        monkeypatch.setattr(rehearsal, "CHILD_SECONDS", 1)
    with pytest.raises(CatalogError, match=told):
        read_catalog([ODD])


def test_a_child_that_cannot_be_started(everything_is_big, monkeypatch):
    monkeypatch.setattr(rehearsal, "_command", lambda: ["./no such program"])
    with pytest.raises(CatalogError, match=r"cannot be started \(No such file"):
        rehearsal.rehearse(ODD)


def test_a_label_may_hold_anything(everything_is_big):
    assert read_catalog([ODD]).files[0].label == ODD.label


def test_the_child_takes_no_module_from_where_its_parent_stands(
    everything_is_big, monkeypatch, tmp_path
):
    (tmp_path / "json.py").write_text("raise SystemExit(5)")
    monkeypatch.chdir(tmp_path)
    rehearsal.rehearse(ODD)


def test_the_child_imports_what_its_parent_can(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "vendored")
    assert rehearsal._python_path().split(rehearsal.os.pathsep) == [
        str(rehearsal.ROOT),
        "vendored",
    ]
    monkeypatch.delenv("PYTHONPATH")
    assert rehearsal._python_path() == str(rehearsal.ROOT)


@pytest.fixture
def as_child(monkeypatch, capsys):
    """Runs the child's program here, with limits that are noted instead of set."""

    def run(data, has_limits=True):
        noted = {}
        limits = {name: name for name in ("RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_CORE")}
        fake = SimpleNamespace(**limits, setrlimit=noted.__setitem__) if has_limits else None
        monkeypatch.setitem(sys.modules, "resource", fake)
        monkeypatch.delitem(sys.modules, rehearsal.MODULE)
        monkeypatch.setattr(sys, "argv", ["child", "100", "7"])
        head = json.dumps(["x.json", None]).encode()
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(head + b"\n" + data)))
        runpy.run_module(rehearsal.MODULE, run_name="__main__")
        return json.loads(capsys.readouterr().out), noted

    return run


def test_the_childs_program(as_child):
    limits = {"RLIMIT_AS": (100, 100), "RLIMIT_CPU": (8, 8), "RLIMIT_CORE": (0, 0)}
    assert as_child(b'[{"name": "a"}]') == ({"refused": ""}, limits)


def test_the_childs_program_on_windows(as_child):
    assert as_child(b'[{"name": "a"}]', has_limits=False) == ({"refused": ""}, {})


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


def test_one_record_too_many_is_enough_to_refuse(monkeypatch):
    monkeypatch.setattr(parts, "MAX_RECORDS", 3)
    with pytest.raises(CatalogError, match="brings the input to 4 records or more"):
        read_catalog([Source("t.json", b'[{"name": "a"}, 1, 2, 3, 4, 5, 6]')])
