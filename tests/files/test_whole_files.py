"""Files that somebody names: regular ones of limited size, read by one function."""

import os
import re
from pathlib import Path

import pytest

from toolscope_core.files.folders import read_file
from toolscope_core.files.json_lines import rows_in
from toolscope_core.model.errors import ConfigError

CORE = Path(__file__).parents[2] / "toolscope_core"
READS = re.compile(r"\.read_bytes\(|\.read_text\(|\.open\((?:[\"']r|\))|[^.\w]open\(")
OWN_FILES = {
    "catalog/clients/client_table.py": "text of a script for a client",
    "catalog/scan/orders.py": "package",
    "catalog/shards.py": "JSON Lines of any size, a line at a time, of a regular file",
    "cli/__init__.py": "the program itself",
    "embedding/encoders.py": "tokenizer of a model that is loaded anyway",
    "embedding/vector_cache.py": "cache",
    "files/folders.py": "cache, and what reads every other file",
    "wording/products.py": "package",
    "wording/vocabulary.py": "package",
    "judging/weights.py": "package",
    "llm/tasks/paper_prompts.py": "package",
    "mcp/gateway/tool_calls.py": "its own log",
    "retrieval/fitting.py": "package",
    "wording/wordnet.py": "package",
    "judging/arguments/value_facts.py": "package",
    "wording/words.py": "package",
    "retrieval/client_search.py": "no file: it opens a search",
    "retrieval/index_files.py": "cache",
    "store/subprocess_jobs.py": "folder of a job",
    "tool2vec/tuned_embedder.py": "folder that was just written",
}
"""Modules that read files that nobody names, and which."""


@pytest.mark.case(90)
@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "link", "nul", "missing", "large"])
def test_anything_but_a_regular_file_of_that_size_is_refused_at_once(tmp_path, kind):
    place = tmp_path / "file"
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "device":
        place.symlink_to("/dev/zero")
    elif kind == "folder":
        place.mkdir()
    elif kind == "link":
        place.symlink_to(place)
    elif kind == "large":
        place.write_bytes(b"12345")
    with pytest.raises(OSError) as refused:
        read_file(Path(f"{place}\0") if kind == "nul" else place, 4)
    assert refused.value.strerror


@pytest.mark.case(90)
def test_a_file_of_just_that_size_is_read(tmp_path):
    (tmp_path / "file").write_bytes(b"1234")
    assert read_file(tmp_path / "file", 4) == b"1234"


@pytest.mark.case(90)
def test_no_other_module_reads_a_file_that_somebody_names():
    reading = {
        path.relative_to(CORE).as_posix()
        for path in CORE.rglob("*.py")
        if READS.search(path.read_text("utf-8"))
    }
    assert reading == OWN_FILES.keys()


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_what_json_does_not_have_is_refused_with_its_line(constant):
    lines = f'{{"gold": []}}\n{{"gold": [], "calls": [{{"a": {constant}}}]}}\n'
    with pytest.raises(ConfigError, match=rf"q\.jsonl, line 2 .*\({constant}"):
        list(rows_in(lines.encode(), "q.jsonl"))
