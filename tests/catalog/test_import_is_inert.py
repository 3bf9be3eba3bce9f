"""RELIABILITY 46: importing opens no socket or foreign file, starts and unpickles nothing."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"

WATCH = """
import json, sys
from pathlib import Path
from toolscope_core.catalog import load_paths, read_catalog, Source
import jsonschema
seen = []
def watch(event, args):
    if event.split(".")[0] in ("socket", "subprocess", "os", "pickle", "exec", "compile", "shutil",
                               "marshal", "urllib", "ctypes") or event in ("open", "import"):
        seen.append([event, repr(args)[:200]])
sys.addaudithook(watch)
paths = [Path(path) for path in sys.argv[2:]]
for path in paths:
    try:
        read_catalog(load_paths([path]))
    except Exception as error:
        assert type(error).__name__ == "CatalogError", repr(error)
print(json.dumps(seen))
"""

HOSTILE = {
    "remote.json": {"name": "a", "inputSchema": {"$ref": "http://127.0.0.1:9/x", "properties": {}}},
    "file.json": {
        "name": "a",
        "inputSchema": {"properties": {"x": {"$ref": "file:///etc/passwd"}}},
    },
    "api.json": {
        "openapi": "3.1.0",
        "servers": [{"url": "http://127.0.0.1:9"}],
        "paths": {
            "/x": {"$ref": "http://127.0.0.1:9/y"},
            "/z": {"post": {"requestBody": {"$ref": "file:///etc/passwd"}}},
        },
    },
    "client.json": {"mcpServers": {"a": {"command": "touch", "args": ["/tmp/started"]}}},
}
TEXTS = {
    "object.yaml": "!!python/object/apply:os.system ['touch started']\n",
    "list.yaml": "- name: !!python/object/apply:os.system ['touch started']\n",
    "pickle.json": "\x80\x04\x95cos\nsystem\n(S'touch started'\ntR.",
}


def test_46_reading_touches_nothing_but_the_files_given(tmp_path):
    for name, value in HOSTILE.items():
        (tmp_path / name).write_text(json.dumps(value))
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text, "latin-1")
    files = [path for path in (*DATA.rglob("*"), *tmp_path.iterdir()) if path.is_file()]
    done = subprocess.run(
        [sys.executable, "-c", WATCH, "", *map(str, files)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    allowed = {str(path) for path in files}
    strange = []
    for event, args in json.loads(done.stdout):
        own = event == "open" and any(path in args for path in allowed)
        if not own and event not in ("os.listdir", "os.scandir"):
            strange.append((event, args))
    assert [item for item in strange if not _loads_python(item)] == []
    assert not list(tmp_path.rglob("started"))


def _loads_python(item):
    """Whether the event is Python loading a module of the standard library late."""
    event, args = item
    return event in ("import", "marshal.loads", "exec", "os.listdir") or (
        event == "open" and ("/encodings/" in args or args.startswith(f"('{sys.base_prefix}/lib"))
    )
