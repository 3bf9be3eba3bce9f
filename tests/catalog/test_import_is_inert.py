"""Importing opens no socket or foreign file, starts and unpickles nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"

WATCHED = (
    "WATCHED = 'socket subprocess os pickle exec compile shutil marshal urllib ctypes open import'"
)
"""What audit events begin with."""
WATCH = f"""
{WATCHED}.split()
import json, sys
from pathlib import Path
from toolscope_core.catalog.isolation import read_isolated
from toolscope_core.catalog.sources import Source, load_paths
import jsonschema
seen = []
def watch(event, args):
    if event.split(".")[0] in WATCHED:
        seen.append([event, repr(args)[:200]])
sys.addaudithook(watch)
paths = [Path(path) for path in sys.argv[2:]]
for path in paths:
    try:
        read_isolated(load_paths([path]))
    except Exception as error:
        assert type(error).__name__ == "CatalogError", repr(error)
print(json.dumps(seen))
"""

PASSWORDS = {"$ref": "file:///etc/passwd"}
HOSTILE = {
    "remote.json": {"name": "a", "inputSchema": {"$ref": "http://127.0.0.1:9/x", "properties": {}}},
    "file.json": {"name": "a", "inputSchema": {"properties": {"x": PASSWORDS}}},
    "api.json": {
        "openapi": "3.1.0",
        "servers": [{"url": "http://127.0.0.1:9"}],
        "paths": {
            "/x": {"$ref": "http://127.0.0.1:9/y"},
            "/z": {"post": {"requestBody": PASSWORDS}},
        },
    },
    "client.json": {"mcpServers": {"a": {"command": "touch", "args": ["started"]}}},
}
TEXTS = {
    "object.yaml": "!!python/object/apply:os.system ['touch started']\n",
    "list.yaml": "- name: !!python/object/apply:os.system ['touch started']\n",
    "pickle.json": "\x80\x04\x95cos\nsystem\n(S'touch started'\ntR.",
}


def write_hostile(folder):
    for name, value in HOSTILE.items():
        (folder / name).write_text(json.dumps(value))
    for name, text in TEXTS.items():
        (folder / name).write_text(text, "latin-1")
    return sorted(folder.iterdir())


def events_of(program, files, **env):
    """What the program did that is watched, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", program, "", *map(str, files)],
        cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, **env},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


WATCH_CHILD = f"""
{WATCHED}.split()
import json, os, sys
log = os.open(os.environ["WATCH_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
reading = False
def watch(event, args):
    global reading
    if event == "resource.setrlimit" and not reading:  # the last thing before a file is read
        reading = True
        os.write(log, b'["read", ""]\\n')
    elif reading and event.split(".")[0] in WATCHED:
        os.write(log, json.dumps([event, repr(args)[:200]]).encode() + b"\\n")
sys.addaudithook(watch)
"""


@pytest.mark.case(46)
def test_reading_touches_nothing_but_the_files_given(tmp_path):
    hook, files = tmp_path / "hook", tmp_path / "files"
    hook.mkdir()
    files.mkdir()
    (hook / "sitecustomize.py").write_text(WATCH_CHILD)
    paths = [path for path in (*DATA.rglob("*"), *write_hostile(files)) if path.is_file()]
    log = tmp_path / "log"
    events = events_of(WATCH, paths, PYTHONPATH=str(hook), WATCH_LOG=str(log))
    (started,) = [args for event, args in events if event == "subprocess.Popen"]
    assert started.startswith(f"('{sys.executable}', ['{sys.executable}', '-P', '-c', 'from tools")
    inside = [json.loads(line) for line in log.read_text().splitlines()]
    assert inside.count(["read", ""]) == len(paths)
    inside = [item for item in inside if item != ["read", ""]]
    ours = [item for item in events if not (_is_given(item, paths) or _speaks_to_it(item))]
    strange = [item for item in (*ours, *inside) if not _loads_python(item)]
    assert strange == [], strange
    assert not list(tmp_path.rglob("started"))


def _is_given(item, paths):
    """Whether the event opens a file that was given, or a pipe."""
    event, args = item
    return event == "open" and (args[1].isdigit() or any(str(path) in args for path in paths))


def _speaks_to_it(item):
    """Whether the event starts the process that reads, or speaks to it over a pair of sockets."""
    event, args = item
    return event in ("subprocess.Popen", "socket.__new__") or (
        "family=1," in args if event == "socket.sendmsg" else args.startswith("('/dev/null'")
    )


def _loads_python(item):
    """Whether the event is Python loading a module of the standard library late, or ``ast``
    parsing a text, which names no file.
    """
    event, args = item
    is_parsed = event == "compile" and args.startswith("(b") and args.endswith("'<unknown>')")
    return (
        is_parsed
        or event in ("import", "marshal.loads", "exec", "os.listdir", "os.scandir")
        or (
            event == "open"
            and ("/encodings/" in args or args.startswith(f"('{sys.base_prefix}/lib"))
        )
    )
