"""The time that a gateway adds to a call, and the memory that calls leave in use.

    python -m benchmarks.gateway_speed [--calls 300] [--load 2000] [--memory 10000]
                                       [--fastmcp PYTHON]

The first part uses standard input and output. A client of the SDK calls a stub server
(original_stub.py in tests/mcp/gateway), alternately directly and through a gateway with two such
servers.

The second part uses HTTP. 1, 8 and 32 sessions make ``--load`` calls in total, without a pause and
each with its own arguments. They begin once all sessions are open and have made a first
call. In turn, they call a server at an address (modern_stub.py) directly; a gateway with that
server and another one (minimal); a gateway with 604 tools on 21 servers, a log and the old names
(loaded); and FastMCP's proxy for the server, with its default settings. PYTHON is the interpreter
of an environment that has FastMCP; without it, this row is left out. Finally, a gateway over HTTP
is called many times, and its memory is read.

An overhead is the difference between two medians. The limits are for two quiet cores.
"""

import json
import subprocess
import sys
import tempfile
import time
from asyncio import Barrier
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import numpy as np
from mcp import Client, StdioServerParameters

from benchmarks import measuring
from tests.mcp.gateway.stub_toolset import (
    NORTH,
    STUB,
    TEXT,
    configuration,
    merge_nothing,
    record,
    write_stub_toolset,
)
from tests.mcp.gateway.test_serving import client_at, memory_of_calls, served_over_http

LIMIT_MS = 2.0
SESSION_LIMITS_MS = {1: 3.0, 8: 10.0, 32: 60.0}
ROUNDS = 4
MEMORY_LIMIT_MB, FIRST_CALLS = 50.0, 500
HTTP_STUB = Path(STUB).with_name("modern_stub.py")


DIRECT, MINIMAL, LOADED, PROXY = "direct", "gateway, minimal", "gateway, loaded", "FastMCP's proxy"
FASTMCP = """
import sys
from fastmcp.server import create_proxy
proxy = create_proxy(sys.argv[1])
proxy.run(transport="http", port=int(sys.argv[2]), show_banner=False, log_level="CRITICAL")
"""


def report_load(sessions: int, times: Mapping[str, Sequence[float]], limit_ms: float) -> None:
    """Print the percentiles of each way, and how much longer than the first way the others take."""
    print(f"  {sessions} sessions, {len(times[DIRECT]):,} calls each way (limit {limit_ms:g} more)")
    direct = np.percentile(times[DIRECT], 50)
    for name, seconds in times.items():
        p50, p99 = np.percentile(seconds, (50, 99)) * 1_000
        more = f", overhead p50 {p50 - 1_000 * direct:.2f}" if name != DIRECT else ""
        print(f"    {name}: p50 {p50:.2f}, p99 {p99:.2f}{more}")


def main() -> None:
    parser = measuring.parser_of(__doc__)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--load", type=int, default=2_000)
    parser.add_argument("--fastmcp", default=sys.executable)
    parser.add_argument("--memory", type=int, default=10_000)
    options = parser.parse_args()
    measuring.print_machine(f"{options.calls} calls each way, in ms:")
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        place = Path(folder)
        bundle, config = write_stub_toolset(place), place / "mcp.json"
        config.write_text(configuration(place))
        anyio.run(_standard_streams, place, bundle, options.calls)
        url, process = stack.enter_context(served_over_http(bundle, config))
        urls = stack.enter_context(_ways(place, bundle, options.fastmcp))
        for sessions, limit_ms in SESSION_LIMITS_MS.items():
            times = anyio.run(_sessions, list(urls.values()), sessions, options.load)
            report_load(sessions, dict(zip(urls, times, strict=True)), limit_ms)
        marks = FIRST_CALLS, options.memory
        before, after = anyio.run(memory_of_calls, url, process, marks)
        print(
            f"  memory after {marks[0]:,} and {marks[1]:,} calls over HTTP: {before:.0f} and "
            f"{after:.0f} MB (limit {MEMORY_LIMIT_MB:g} more)"
        )


async def _standard_streams(place: Path, bundle: Path, calls: int) -> None:
    stub = ["-I", "-S", STUB, "north", str(place / "north.json")]
    gateway = ["-m", "toolscope_core", "serve", str(bundle), "--config", str(place / "mcp.json")]
    times: dict[str, list[float]] = {"stdio, direct": [], "stdio, through the gateway": []}
    async with _client(stub) as direct, _client(gateway) as through:
        for number in range(-1, calls):
            for client, seconds in zip((direct, through), times.values(), strict=True):
                seconds.append(await _seconds(client, number))
    before, after = (1_000 * np.percentile(seconds[1:], (50, 95)) for seconds in times.values())
    for name, (p50, p95) in zip(times, (before, after), strict=True):
        print(f"  {name}: p50 {p50:.2f}, p95 {p95:.2f}")
    more = f"overhead p50 {after[0] - before[0]:.2f} (limit {LIMIT_MS:g})"
    print(f"  {more}, ratio {after[0] / before[0]:.2f}")


async def _sessions(urls: Sequence[str], sessions: int, calls: int) -> list[list[float]]:
    """For each address in turn, the seconds of the calls that ``sessions`` sessions make at the
    same time.
    """
    times: list[list[float]] = [[] for _ in urls]
    each = max(10, calls // sessions // ROUNDS)

    async def session(url: str, seconds: list[float], number: int, settled: Barrier) -> None:
        async with client_at(url) as client:
            await client.call_tool("get", {"path": "first"})
            await settled.wait()
            for call in range(each):
                seconds.append(await _seconds(client, number * each + call))

    for turn in range(ROUNDS):
        for url, seconds in zip(urls, times, strict=True):
            settled = Barrier(sessions)
            async with anyio.create_task_group() as group:
                for one in range(sessions):
                    number = turn * sessions + one
                    group.start_soon(session, url, seconds, number, settled)
    return times


async def _seconds(client: Client, number: int) -> float:
    started = time.perf_counter()
    await client.call_tool("get", {"path": str(number)})
    return time.perf_counter() - started


@asynccontextmanager
async def _client(arguments: list[str]) -> AsyncIterator[Client]:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=arguments,
        cwd=str(measuring.ROOT),
        env=measuring.process_environment(),
    )
    async with Client(parameters) as client:
        yield client


@contextmanager
def _ways(place: Path, bundle: Path, python: str) -> Iterator[dict[str, str]]:
    """The names of the ways to call the north server, each with its address."""
    with ExitStack() as stack:
        direct = stack.enter_context(_http_stubs(place))
        servers = json.loads((place / "http.json").read_text())
        many = place / "many"
        many.mkdir()
        large, _ = merge_nothing(many, _many_tools())
        beside = json.loads((many / "mcp.json").read_text())["mcpServers"]
        beside |= {"north": servers["mcpServers"]["north"]}
        (many / "mcp.json").write_text(json.dumps({"mcpServers": beside}))
        log = "--log", str(many / "calls.jsonl"), "--old-names"
        minimal, _ = stack.enter_context(served_over_http(bundle, place / "http.json"))
        loaded, _ = stack.enter_context(served_over_http(large, many / "mcp.json", *log))
        urls = {DIRECT: direct, MINIMAL: minimal, LOADED: loaded}
        has_it = subprocess.run([python, "-c", "import fastmcp"], capture_output=True, check=False)
        if has_it.returncode == 0:
            port = measuring.free_port()
            process = subprocess.Popen([python, "-c", FASTMCP, direct, str(port)])
            stack.callback(process.wait)
            stack.callback(process.kill)
            measuring.wait_for_port(port)
            urls[PROXY] = f"http://127.0.0.1:{port}/mcp"
        else:
            print(f"  FastMCP's proxy is left out: {python} has no fastmcp; give --fastmcp PYTHON")
        yield urls


def _many_tools() -> dict[str, list[Any]]:
    """The tools of the north server, and of twenty servers with thirty tools each."""
    others = {
        f"server{server:02}": [
            record(f"do_{server:02}_{tool:02}", f"Do the {tool}th work.", ["a"], a=TEXT, b=TEXT)
            for tool in range(30)
        ]
        for server in range(20)
    }
    return {"north": NORTH, **others}


@contextmanager
def _http_stubs(place: Path) -> Iterator[str]:
    """Start both servers at addresses, and write their configuration into ``http.json``. Yields the
    address of the north server.
    """
    ports, processes = {name: measuring.free_port() for name in ("north", "south")}, []
    for name, port in ports.items():
        command = [sys.executable, str(HTTP_STUB), name, str(place / f"{name}.json"), str(port)]
        processes.append(subprocess.Popen(command))
    urls = {name: f"http://127.0.0.1:{port}/mcp" for name, port in ports.items()}
    servers = {name: {"type": "http", "url": url} for name, url in urls.items()}
    (place / "http.json").write_text(json.dumps({"mcpServers": servers}))
    try:
        for port in ports.values():
            measuring.wait_for_port(port)
        yield urls["north"]
    finally:
        for process in processes:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
