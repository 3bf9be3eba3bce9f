"""The command, as a process of its own: over standard input and output, over HTTP, and killed."""

import asyncio
import gc
import json
import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from typer.testing import CliRunner

from tests.mcp.gateway.stub_toolset import act_of, configuration, stub_reply, write_stub_toolset
from tests.mcp.servers.stubs import MARK, living, new_mark, wait_until
from toolscope_core.cli import app
from toolscope_core.mcp.gateway import running

ROOT = Path(__file__).parents[3]
TOKEN = "a-token-that-only-this-test-has"
OWN = "a-token-of-the-reader-alone"
SAME = "south_same"


@pytest.fixture
def config(tmp_path):
    """The file of a configuration whose servers carry ``mark``, and the mark."""
    mark = new_mark()
    path = tmp_path / "mcp.json"
    path.write_text(configuration(tmp_path, **{MARK: mark}))
    return path, mark


PROGRAM = (sys.executable, "-m", "toolscope_core")


def command(toolset, config, *options, program=PROGRAM):
    return [*program, "serve", str(toolset), "--config", str(config), *options]


def test_over_standard_input_and_output(toolset, config, tmp_path):
    path, mark = config
    log = tmp_path / "calls.jsonl"
    program, *args = command(toolset, path, "--log", str(log), "--old-names")

    async def run():
        parameters = StdioServerParameters(
            command=program, args=args, cwd=str(ROOT), env=dict(os.environ)
        )
        async with Client(parameters) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            answers = [
                stub_reply(await client.call_tool(name, {key: "a"}))
                for name, key in (("get", "path"), ("read_file", "file_path"))
            ]
            return names, answers, living(mark)

    names, answers, while_open = asyncio.run(run())
    assert names == ["get", "north_same", "work", "south_same"]
    assert answers == [{"server": "north", "tool": "get", "arguments": {"path": "a"}}] * 2
    assert len(while_open) == 1
    wait_until(lambda: living(mark) == [])
    call = {"client": "mcp", "tool": "get", "original": "north/get", "server": "north"}
    call["outcome"] = "ok"
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    assert [{k: v for k, v in row.items() if k not in ("at", "ms")} for row in rows] == [
        call,
        {**call, "old_name": "read_file"},
    ]


@contextmanager
def served_over_http(toolset, path, *options, program=PROGRAM):
    """A gateway at an address, and its process."""
    environment = {**os.environ, "TOOLSCOPE_GATEWAY_TOKEN": TOKEN}
    process = subprocess.Popen(
        command(toolset, path, "--http", "127.0.0.1:0", *options, program=program),
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    try:
        for line in process.stderr:
            if "listening at " in line:
                yield line.split("listening at ")[1].strip(), process
                break
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stderr.close()


@asynccontextmanager
async def client_at(url, mode="auto", token=TOKEN):
    """An SDK client that has the token."""
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client


async def names_at(url, token, *calls):
    """The names of the tools that a client lists there, and the servers that answer its calls."""
    async with client_at(url, token=token) as client:
        names = sorted(tool.name for tool in (await client.list_tools()).tools)
        return names, [stub_reply(await client.call_tool(*one))["server"] for one in calls]


def test_over_http_whoever_has_the_token_is_served_until_the_gateway_is_told_to_end(
    profiled, config, monkeypatch
):
    """Each profile has an address, and the reader's a token of its own."""
    path, mark = config
    monkeypatch.setenv("TOOLSCOPE_PROFILE_TOKENS", f"reader={OWN}")
    calls = (("north_same", {"x": 1}), ("south_same", {"x": 2}), ("read_file", {"file_path": "a"}))
    with served_over_http(profiled, path, "--old-names") as (url, process):
        reader, southern, none = (
            url.replace("/mcp", f"/profiles/{name}/mcp") for name in ("reader", "southern", "no")
        )
        for address, token, names in ((reader, OWN, ["open", "work"]), (southern, TOKEN, [SAME])):
            assert asyncio.run(names_at(address, token)) == (names, [])
        for address, token, more, status in (
            (url, "another", {}, 401),
            (url, TOKEN, {"Host": "evil.example"}, 421),
            (url, TOKEN, {"Origin": "http://evil.example"}, 403),
            (url, OWN, {}, 401),
            (reader, TOKEN, {}, 401),
            (southern, OWN, {}, 401),
            (none, TOKEN, {}, 404),
        ):
            headers = {"Authorization": f"Bearer {token}", **more}
            assert httpx2.post(address, headers=headers, json={}).status_code == status
        assert httpx2.post(url, json={}).status_code == 401
        names, answers = asyncio.run(names_at(url, TOKEN, *calls))
        assert len(living(mark)) == 2
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        said = process.stderr.read()
    assert names == ["get", "north_same", SAME, "work"]
    assert answers == ["north", "south", "north"]
    for line in (
        "mcp calls get by its old name read_file",
        "calls: 3 ok",
        "mcp called the old name read_file 1 time",
        "1 of 2 old names called",
    ):
        assert f"{line}\n" in said
    wait_until(lambda: living(mark) == [])


@pytest.mark.parametrize("live", [False, True])
def test_the_list_stays_within_a_session_unless_it_is_to_be_live(toolset, config, live):
    async def use(url):
        async with client_at(url, "legacy") as first, client_at(url, "legacy") as other:
            before = (await first.list_tools()).tools
            await first.call_tool(*act_of("change"))
            held = await first.call_tool("get", {"path": "a"})
            again, now = (await first.list_tools()).tools, (await other.list_tools()).tools
            can_change = first.server_capabilities.tools.list_changed
            return before, again, now, held.is_error, can_change

    options = ("--on-change", "hold", *(["--live-list"] if live else []))
    with served_over_http(toolset, config[0], *options) as (url, _):
        before, again, now, is_held, can_change = asyncio.run(use(url))
    assert is_held and can_change == live
    assert ["get" in {tool.name for tool in one} for one in (before, now)] == [True, False]
    assert again == (now if live else before)


def resident_mb(process):
    """The memory of a process, in MB."""
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1_024


async def memory_of_calls(url, process, marks):
    """The memory of a gateway after so many calls, a hundred in each session."""
    memory = []
    for number in range(0, max(marks), 100):
        async with client_at(url, "legacy") as client:
            for x in range(100):
                await client.call_tool("north_same", {"x": x})
        if number + 100 in marks:
            memory.append(resident_mb(process))
    return memory


@pytest.mark.case(80)
@pytest.mark.nightly
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
def test_ten_thousand_calls_leave_no_memory_taken(toolset, config):
    with served_over_http(toolset, config[0]) as (url, process):
        first, last = asyncio.run(memory_of_calls(url, process, (500, 10_000)))
    assert last - first <= 50


@pytest.mark.case(80)
@pytest.mark.parametrize("options", [(), ("--http", "127.0.0.1:0")])
def test_what_calls_leave_is_collected(toolset, config, monkeypatch, options):
    seen = []
    for name in ("serve_stdio", "serve_over_http"):
        monkeypatch.setattr(running, name, lambda *_: seen.append(gc.isenabled()))
    gc.disable()
    try:
        invoke(toolset, "--config", config[0], *options)
    finally:
        gc.unfreeze()
        gc.enable()
    assert seen == [True]


def invoke(*arguments):
    return CliRunner().invoke(app, ["serve", *map(str, arguments)])


SHARED = "'same' of north is now 'north_same' because south has a tool of that name too"


def test_check_says_what_is_not_as_it_was_exported(toolset, config, tmp_path):
    path, mark = config
    as_it_was = invoke(toolset, "--config", path, "--check")
    assert as_it_was.exit_code == 0
    assert "as exported  north: 4 tools" in as_it_was.stdout
    assert f"    renamed: {SHARED}" in as_it_was.stdout
    north = json.loads((tmp_path / "north.json").read_text())
    north[0]["description"] = "Other."
    north[2]["annotations"] = {"destructiveHint": True}
    new = [{**north[1], "name": one} for one in ("brand_new", "south_same")]
    (tmp_path / "north.json").write_text(json.dumps([north[0], *north[2:], *new]))
    (tmp_path / "south.json").unlink()
    changed = invoke(toolset, "--config", path, "--check", "--json")
    assert changed.exit_code == 1
    north, south = json.loads(changed.stdout)
    assert {key: value for key, value in north.items() if value} == {
        "name": "north",
        "tools": 5,
        "changed": ["same"],
        "passed": ["get"],
        "missing": ["read_file"],
        "new": ["brand_new", "south_same"],
        "renamed": [SHARED],
        "to_be_renamed": ["'south_same' of north would be renamed to 'north_south_same'"],
    }
    assert {"failure", "mended", "withheld", "twice", "notes", "words"} <= north.keys()
    assert "south ended with status 1" in south["failure"]
    assert living(mark) == []


@pytest.mark.parametrize(
    ("needed", "verdict", "status", "reasons"),
    [
        (["get", "north_same"], "ready", 0, ["", ""]),
        (["get", "south_same"], "retry", 75, ["", "exit"]),
        (["south_same", "norht_same"], "never", 1, ["exit", "unknown"]),
        (["work"], "retry", 75, ["exit"]),
        (["file_reading", "read_file"], "never", 1, ["unknown", "held"]),
    ],
)
def test_a_job_learns_whether_its_tools_can_be_called_now_later_or_never(
    toolset, config, tmp_path, needed, verdict, status, reasons
):
    """By an old name too; no other server is started."""
    path, mark = config
    (tmp_path / "south.json").unlink()
    if "read_file" in needed:
        (tmp_path / "north.json").write_text("[]")
    options = [part for one in needed for part in ("--need", one)]
    answer = invoke(toolset, "--config", path, "--check", "--json", "--old-names", *options)
    said = json.loads(answer.stdout)
    assert (said["verdict"], answer.exit_code) == (verdict, status)
    assert [one["reason"] for one in said["tools"]] == reasons
    assert [one["name"] for one in said["tools"]] == needed
    near = [one["did_you_mean"] for one in said["tools"] if one["name"] == "norht_same"]
    assert near in ([], [["north_same", "south_same"]])
    lines = invoke(toolset, "--config", path, "--check", "--old-names", *options).stdout
    assert lines.startswith(f"{said['tools'][0]['verdict']}  {needed[0]}")
    assert living(mark) == []


def test_what_stands_in_the_way_is_said_before_anything_starts(toolset, config, tmp_path):
    path, mark = config
    other = tmp_path / "other.json"
    other.write_text(path.read_text().replace('"north"', '"n1"', 1))
    missing = invoke(toolset, "--config", other, "--check")
    assert missing.exit_code == 2
    assert "called 'north'; it has 'n1', 'south'" in missing.stderr
    assert "--server north=KEY" in missing.stderr
    given = invoke(toolset, "--config", other, "--check", "--server", "north=n1")
    assert given.exit_code == 0
    assert "'north' is 'n1'" in given.stderr
    for options, words in (
        (["--server", "north"], "use CATALOG=KEY"),
        (["--server", "west=south"], "in the toolset: 'north', 'south'"),
        (["--http", "here"], "HOST:PORT, for"),
        (["--http", "0.0.0.0:1"], "can reach 0.0.0.0"),
        (["--log", str(tmp_path)], "cannot be written"),
    ):
        refused = invoke(toolset, "--config", path, *options)
        assert (refused.exit_code, words in refused.stderr) == (2, True), refused.stderr
    assert living(mark) == []


@pytest.mark.parametrize(
    ("hashes", "words"),
    [
        (None, ["fingerprints.json cannot be read"]),
        ("{}", ["changed since", "an export with them would have 1 tool fewer"]),
    ],
)
def test_a_bundle_without_fingerprints_serves_no_tool_as_unchanged(config, tmp_path, hashes, words):
    """Nor does one without gateway tools keep quiet of what they would save."""
    bundle = write_stub_toolset(tmp_path / "plain", gateway=False)
    (bundle / "fingerprints.json").unlink()
    if hashes is not None:
        (bundle / "fingerprints.json").write_text(hashes)
    stderr = invoke(bundle, "--config", config[0], "--check").stderr
    assert all(one in stderr for one in words)
