"""A merge of eleven thousand tools with very many near pairs, in a process of its own; each night."""

import resource
import subprocess
import sys

import pytest

from tests.support.json_files import write_json

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(1800)]
MOST_KB = 2 << 20
VERBS = "get list create update delete send find count move copy search".split()


@pytest.mark.case(60)
def test_more_than_ten_thousand_tools_take_less_than_two_gigabytes(tmp_path):
    tools = [
        {
            "name": f"{verb}_{noun}_{number}",
            "description": f"{verb.title()} the {noun} of account {number}.",
            "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}},
        }
        for verb in VERBS
        for noun in (f"record{at:02}" for at in range(25))
        for number in range(40)
    ]
    catalog = write_json(tmp_path / "tools.json", {"tools": tools})
    words = ["merge", str(catalog), "--threshold", ".5", "--out", str(tmp_path / "bundle")]
    done = subprocess.run(
        [sys.executable, "-m", "toolscope_core", *words], capture_output=True, text=True, check=True
    )
    assert "11,000 tools in" in done.stdout
    assert (tmp_path / "bundle" / "pairs.jsonl").read_bytes().count(b"\n") >= 200_000
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < MOST_KB
