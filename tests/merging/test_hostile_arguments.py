"""Every command with every hostile path and content: a sentence, never a traceback or a wait."""

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.support.fakes import WordEmbedder
from toolscope_core.cli import app

TOOLS = [{"name": "add", "description": "Adds."}, {"name": "sum", "description": "Adds."}]
PAIR = '{"left": "add", "right": "sum"}'
DEEP = "[" * 5_000 + "]" * 5_000
HUGE = "9" * 5_000


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    """A folder with good inputs and with a hostile path of each kind."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("toolscope_core.llm.embedding.MiniLmEmbedder", WordEmbedder)
    monkeypatch.setenv("TOOLSCOPE_STORE_URL", f"sqlite:///{tmp_path / 'store.db'}")
    monkeypatch.setenv("TOOLSCOPE_CACHE_DIR", str(tmp_path / "cache"))
    Path("good.json").write_text(json.dumps(TOOLS), "utf-8")
    Path("good.jsonl").write_text(f"{PAIR}\n", "utf-8")
    Path("queries.jsonl").write_text('{"gold": ["add"], "calls": []}\n', "utf-8")
    Path("good").mkdir()
    rows = [
        {"old_id": name, "new_id": name, "old_name": name, "new_name": name}
        for name in ("add", "sum")
    ]
    Path("good/relabel.json").write_text(json.dumps({"version": 3, "entries": rows}), "utf-8")
    Path("good/arguments.json").write_text('{"version": 3, "maps": {}}', "utf-8")
    Path("folder").mkdir()
    Path("folder/theirs.txt").write_text("not ours", "utf-8")
    Path("file").write_text("[]", "utf-8")
    Path("loop").symlink_to("loop")
    Path("dangling").symlink_to("nowhere")
    os.mkfifo("pipe")
    Path("pipe.json").symlink_to("pipe")
    Path("shut.json").write_text("[]", "utf-8")
    Path("shut.json").chmod(0)


INPUTS = [
    "nowhere.json",
    "n" * 300,
    f"{'n/' * 3_000}x",
    "loop",
    "loop/x.json",
    "dangling",
    "file/x.json",
    "folder",
    "pipe",
    "pipe.json",
    "/dev/zero",
    "/dev/stdin",
    "/proc/self/mem",
    "a\0b",
    "\udcff.json",
    "",
    pytest.param("shut.json", marks=pytest.mark.skipif(os.geteuid() == 0, reason="root reads all")),
]
READING = [
    ("inspect", "X"),
    ("diff", "X", "good.json"),
    ("diff", "good.json", "X"),
    ("merge", "X", "--out", "o"),
    ("merge", "good.json", "--out", "o", "--decisions", "X"),
    ("judge", "X", "--pairs", "good.jsonl", "--out", "o"),
    ("judge", "good.json", "--pairs", "X", "--out", "o"),
    ("quality", "X", "--out", "o", "--model", "m", "--base-url", "http://127.0.0.1:9/v1"),
    ("estimate", "X", "--model", "m", "--base-url", "http://127.0.0.1:9/v1"),
    ("relabel", "X", "--bundle", "good", "--out", "o"),
    ("relabel", "queries.jsonl", "--bundle", "X", "--out", "o"),
]
OUTPUTS = [
    "n" * 300,
    f"{'n/' * 3_000}x",
    "loop",
    "loop/x",
    "file/x",
    "folder",
    "folder/theirs.txt/deep/er",
    "pipe",
    "pipe/x",
    "/dev/zero/x",
    "/proc/x",
    "a\0b",
    "",
]
WRITING = [
    ("merge", "good.json", "--out", "X"),
    ("judge", "good.json", "--pairs", "good.jsonl", "--out", "X"),
    ("relabel", "queries.jsonl", "--bundle", "good", "--out", "X"),
]


def run(args, value):
    """The exit status of the command with ``value`` in the place of X, told in a sentence."""
    given = [value if arg == "X" else arg for arg in args]
    done = CliRunner().invoke(app, given, prog_name="toolscope")
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exc_info
    assert "Traceback" not in done.output
    if done.exit_code == 2:
        assert done.stderr.startswith(("toolscope: ", "Usage: ")) and len(done.stderr) < 9_000
    return done.exit_code


def test_what_is_good_is_taken():
    goods = ("good.json", "good.jsonl", "queries.jsonl", "good")
    for number, command in enumerate((*READING, *WRITING)):
        args = [f"out{number}" if arg == "o" else arg for arg in command]
        if args[0] != "quality" and "--decisions" not in args:
            assert any(not run(args, good) for good in (*goods, f"fresh{number}")), args


@pytest.mark.parametrize("args", READING, ids=" ".join)
@pytest.mark.parametrize("path", INPUTS, ids=lambda path: ascii(path)[:24])
def test_no_command_reads_what_is_no_file_of_its_kind(args, path):
    assert run(args, path) == 2


@pytest.mark.parametrize("args", WRITING, ids=" ".join)
@pytest.mark.parametrize("path", OUTPUTS, ids=lambda path: ascii(path)[:24])
def test_no_command_writes_where_nothing_can_be_written(args, path):
    assert run(args, path) == 2
    assert Path("folder/theirs.txt").read_text("utf-8") == "not ours"
    assert Path("pipe").is_fifo() and Path("loop").is_symlink()


CONTENTS = {
    "empty": b"",
    "blank": b" \n\n ",
    "cut": b'[{"name": "a"',
    "null": b"null",
    "a number": b"7",
    "a huge number": HUGE.encode(),
    "an endless number": b"1e999",
    "NaN": b"NaN",
    "a text": b'"x"',
    "a list of numbers": b"[1, 2]",
    "a list of lists": b"[[[]]]",
    "deep": DEEP.encode(),
    "deep objects": b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
    "no text": b"\xff\xfe\xfd\x00",
    "NULs": b"\0" * 100,
}


@pytest.mark.parametrize("args", READING[:-1], ids=" ".join)
@pytest.mark.parametrize("suffix", ["json", "jsonl", "csv", "yaml"])
@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
def test_no_content_is_a_traceback(args, suffix, content):
    Path(f"given.{suffix}").write_bytes(content)
    code = run(args, f"given.{suffix}")
    may_be_empty = not content.strip() and args[0] in ("relabel", "judge", "merge")
    assert (
        code == 2 or may_be_empty or (args[0] in ("inspect", "diff") and suffix in ("csv", "yaml"))
    )


@pytest.mark.parametrize(
    "text", [",,,", ",,,\n,,,", "name,description\nNaN,NaN", "name\n", '"a', "\0,\0"]
)
@pytest.mark.parametrize("args", READING[:4], ids=" ".join)
def test_no_table_is_a_traceback(args, text):
    Path("given.csv").write_text(text, "utf-8")
    run(args, "given.csv")


ROWS = [
    {"gold": ["\ud800"], "calls": [{"name": "\udfff", "arguments": {"\ud800": "\udc00"}}]},
    {"gold": 5, "calls": 7},
    {"gold": [None, {}], "calls": [None, 5, "x", [], {"name": []}]},
    {"gold": {"a": 1}, "calls": {"name": "add"}},
    {"left": "\ud800", "right": []},
    {"action": "accept", "ids": ["\ud800", "add"], "reviewer": "\udfff"},
    {"action": [], "ids": 5, "fingerprints": {}, "detail": 7},
    {"action": "undo", "detail": {"retracts": 10**4000}, "reviewer": "a", "seq": 10**4000},
    {"action": "threshold", "detail": {"similarity": 1e308, "same_job": -1}, "reviewer": "a"},
    {"action": "edit", "ids": ["add"], "detail": {"schema": {"type": 5}}, "reviewer": "a"},
    {"action": "edit", "ids": ["add"], "detail": {"renames": {"a": "\ud800"}}, "reviewer": "a"},
    {"action": "recut", "ids": ["add", "sum"], "detail": {"groups": [[[]], {}]}, "reviewer": "a"},
    {"action": "canonical", "ids": ["add", "sum"], "detail": {"canonical": {}}, "reviewer": "a"},
    {"action": "omit", "ids": ["add"], "detail": {"reason": "\ud800"}, "reviewer": "a", "at": {}},
]


@pytest.mark.parametrize(
    "args", [args for args in READING if args[0] in ("relabel", "judge", "merge")], ids=" ".join
)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: ascii(row)[:40])
def test_no_row_is_a_traceback(args, row):
    Path("given.jsonl").write_text(json.dumps(row), "utf-8")
    run(args, "given.jsonl")


BAD = ["[]", "7", "null", "NaN", '"x"', HUGE, DEEP, "{}", '{"version": 3}', '{"version": "x"}', ""]
BAD_ENTRIES = [{"entries": bad} for bad in (5, {}, [5], [{}], [{"old_id": 5}], [None])]
BAD_MAPS = [
    {"maps": bad}
    for bad in (5, [], {"a": 5}, {"a": {"to": 5, "args": {}, "constants": [], "dropped": 5}})
]


@pytest.mark.parametrize("name", ["relabel.json", "arguments.json"])
@pytest.mark.parametrize(
    "text",
    [*BAD, *(json.dumps({"version": 3, **bad}) for bad in (*BAD_ENTRIES, *BAD_MAPS))],
    ids=lambda text: text[:30],
)
def test_a_malformed_bundle_is_refused(name, text):
    Path("good", name).write_text(text, "utf-8")
    assert run(READING[-1], "good") == 2


@pytest.mark.parametrize("name", ["relabel.json", "arguments.json", "manifest.json"])
@pytest.mark.parametrize("kind", ["folder", "pipe", "loop", "zero"])
def test_a_bundle_of_other_things_than_files_is_refused_at_once(name, kind):
    place = Path("good", name)
    place.unlink(missing_ok=True)
    making = {
        "folder": place.mkdir,
        "pipe": lambda: os.mkfifo(place),
        "loop": lambda: place.symlink_to(name),
        "zero": lambda: place.symlink_to("/dev/zero"),
    }
    making[kind]()
    if name != "manifest.json":
        assert run(READING[-1], "good") == 2
    assert run(("merge", "good.json", "--out", "X"), "good") == 2
    run(("inspect", "X"), "good")


NOBODY = ("--base-url", "http://127.0.0.1:9/v1")
STORES = ["folder", "file", "pipe", "/dev/zero", "loop", "file/store.db", "n" * 300, "nowhere/x.db"]
STORING = [
    ("prepare",),
    ("quality", "good.json", "--out", "o", "--model", "m", "--base-url", "http://127.0.0.1:9/v1"),
    ("estimate", "good.json", "--model", "m", "--base-url", "http://127.0.0.1:9/v1"),
    ("merge", "good.json", "--out", "o", "--judge", "llm", "--model", "m", *NOBODY),
]


@pytest.mark.parametrize("args", STORING, ids=" ".join)
@pytest.mark.parametrize("store", STORES)
def test_a_store_that_is_none_is_refused(args, store, monkeypatch):
    Path("file").write_bytes(b"no database at all" * 100)
    monkeypatch.setenv("TOOLSCOPE_STORE_URL", f"sqlite:///{Path(store).absolute()}")
    code = run(args, "")
    assert code == 2 or args[0] == "estimate"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("args", STORING, ids=" ".join)
def test_a_store_that_may_not_be_written_is_refused(args, monkeypatch):
    Path("store.db").touch(0o444)
    Path.cwd().chmod(0o555)
    code = run(args, "")
    Path.cwd().chmod(0o755)
    assert code == 2
