"""Each call is answered, and by its own answer, whatever a server does; many calls each night."""

import json
import random
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from mcp import MCPError

from tests.mcp.gateway.stub_toolset import QUICK, merge_nothing, record, through
from toolscope_core.mcp.gateway import original_servers
from toolscope_core.mcp.gateway.tool_calls import CallLog

STUB = Path(__file__).with_name("chaos_stub.py")
NUMBER, TEXT = {"type": "integer"}, {"type": "string"}
TOOLS = [record(name, "Do it.", ["do", "x"], do=TEXT, x=NUMBER) for name in ("stays", "goes")]
FAULTS = ("silent", "wrong_id", "half", "die", "die_half", "vanish", "twice")
ACTS = ("answer", "late", *FAULTS)
WEIGHTS = (40, 20, *(1 for _ in FAULTS))
AT_ONCE = 8


@pytest.mark.parametrize(
    "calls", [160, pytest.param(5_000, marks=[pytest.mark.nightly, pytest.mark.timeout(1_800)])]
)
def test_no_call_is_lost_and_none_gets_the_answer_of_another(tmp_path, monkeypatch, calls):
    monkeypatch.setattr(original_servers, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(original_servers, "LONGEST_WAIT", 0.05)
    bundle, config = merge_nothing(tmp_path, {"chaos": TOOLS})
    tools = str(tmp_path / "chaos.json")
    entry = {"command": sys.executable, "args": ["-I", "-S", str(STUB), tools]}
    config.write_text(json.dumps({"mcpServers": {"chaos": entry}}))
    drawn = random.Random(calls)
    todo = [(x, drawn.choices(ACTS, WEIGHTS)[0]) for x in range(calls)]
    outcomes, wrong = Counter(), []
    log = CallLog(tmp_path / "calls.jsonl")

    async def use(client, gateway):
        async def worker():
            while todo:
                x, act = todo.pop()
                arguments = {"do": act, "x": x}
                with anyio.fail_after(60):
                    try:
                        result = await client.call_tool(("stays", "goes")[x % 2], arguments)
                    except MCPError:
                        outcomes["protocol error"] += 1
                        continue
                outcomes["error" if result.is_error else "ok"] += 1
                if not result.is_error and result.content[0].text != str(x):
                    wrong.append((x, act, result.content[0].text))

        async with anyio.create_task_group() as group:
            for _ in range(AT_ONCE):
                group.start_soon(worker)
        with anyio.fail_after(60):
            while (await client.call_tool("stays", {"do": "answer", "x": 7})).is_error:
                await anyio.sleep(0.05)

    limits = replace(QUICK, answer_seconds=0.5)
    through(bundle, config.read_text(), use, log=log, limits=limits, seconds=1_800)
    log.close()
    rows = [json.loads(line) for line in (tmp_path / "calls.jsonl").read_text().splitlines()]
    answered = [row for row in rows if row["outcome"] not in ("waiting", "changed")]
    assert wrong == [] and outcomes.total() == calls
    assert len(answered) > calls and "cancelled" not in {row["outcome"] for row in answered}
    assert outcomes["ok"] > calls / 4
