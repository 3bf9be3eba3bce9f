"""The time that a gateway adds to a call, and the memory that calls leave in use.

 python -m benchmarks.gateway_speed [--calls 300] [--at-once 200] [--memory 10000]

Over standard input and output a client of the SDK calls a stub server (original_stub.py of
tests/mcp/gateway) directly and through a gateway with two such servers, in turn; then ``--at-once``
calls to both servers run at the same time, and each answer is compared with its call.

Over HTTP, one session is compared with one over standard input and output, with the same servers.
Then 1, 8 and 32 sessions call at the same time, each without a pause, a server at an address
(modern_stub.py) directly and through the gateway in turn. Last come the calls after which the
memory of a gateway over HTTP is read.

An overhead is the difference of the medians; limits are for two quiet cores.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import numpy as np
from mcp import Client, StdioServerParameters

from benchmarks.measuring import (
    ROOT,
    free_port,
    parser_of,
    print_machine,
    process_environment,
    wait_for_port,
)
from tests.mcp.gateway.stub_toolset import STUB, configuration, write_stub_toolset
from tests.mcp.gateway.test_serving import client_at, memory_of_calls, served_over_http

LIMIT_MS, HTTP_LIMIT_MS = 2.0, 3.0
SESSION_LIMITS_MS = {1: 3.0, 8: 10.0, 32: 60.0}
ROUNDS = 4
MEMORY_LIMIT_MB, FIRST_CALLS = 50.0, 500
HTTP_STUB = Path(STUB).with_name("modern_stub.py")


Seconds = tuple[list[float], list[float]]
"""The time of each call in two ways; the second is compared with the first."""


def report(first: str, second: str, times: Seconds, limit_ms: float) -> None:
    """Print both ways, their ratio and the additional time of the second."""
    for name, seconds in zip((first, second), times, strict=True):
        p50, p95 = np.percentile(seconds, (50, 95)) * 1_000
        print(f"  {name}: p50 {p50:.2f}, p95 {p95:.2f}")
    before, after = (1_000 * statistics.median(seconds) for seconds in times)
    more = f"overhead p50 {after - before:.2f} (limit {limit_ms:g})"
    print(f"  {more}, ratio {after / before:.2f}")


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--at-once", type=int, default=200)
    parser.add_argument("--memory", type=int, default=10_000)
    options = parser.parse_args()
    print_machine(f"{options.calls} calls each way, in ms:")
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        place = Path(folder)
        bundle, config = write_stub_toolset(place), place / "mcp.json"
        config.write_text(configuration(place))
        anyio.run(_standard_streams, place, bundle, options.calls, options.at_once)
        url, process = stack.enter_context(served_over_http(bundle, config))
        anyio.run(_beside_http, bundle, config, url, options.calls)
        with _http_stubs(place) as direct:
            through, _ = stack.enter_context(served_over_http(bundle, place / "http.json"))
            for sessions, limit_ms in SESSION_LIMITS_MS.items():
                times = anyio.run(_sessions, (direct, through), sessions, options.calls)
                names = f"{sessions} sessions, direct", "  through the gateway"
                report(*names, times, limit_ms)
        marks = FIRST_CALLS, options.memory
        before, after = anyio.run(memory_of_calls, url, process, marks)
        print(
            f"  memory after {marks[0]:,} and {marks[1]:,} calls over HTTP: {before:.0f} and "
            f"{after:.0f} MB (limit {MEMORY_LIMIT_MB:g} more)"
        )


async def _standard_streams(place: Path, bundle: Path, calls: int, at_once: int) -> None:
    stub = ["-I", "-S", STUB, "north", str(place / "north.json")]
    async with _client(stub) as direct, _client(_gateway(bundle, place / "mcp.json")) as through:
        times = await _in_turn(direct, through, calls)
        report("stdio, direct", "stdio, through the gateway", times, LIMIT_MS)
        started = time.perf_counter()
        mixed_up = await _calls_at_once(through, at_once)
        print(f"  {at_once} at once: {time.perf_counter() - started:.2f} s, {mixed_up} mixed up")


async def _beside_http(bundle: Path, config: Path, url: str, calls: int) -> None:
    async with _client(_gateway(bundle, config)) as stdio, client_at(url) as http:
        times = await _in_turn(stdio, http, calls)
    report("gateway over stdio", "gateway over HTTP", times, HTTP_LIMIT_MS)


async def _sessions(urls: tuple[str, str], sessions: int, calls: int) -> Seconds:
    """The calls of so many sessions at once to the server itself and to the gateway, in turn."""
    times: Seconds = ([], [])
    each = max(10, calls // sessions // ROUNDS)

    async def session(url: str, seconds: list[float]) -> None:
        async with client_at(url) as client:
            await client.call_tool("get", {"path": "first"})
            for number in range(each):
                seconds.append(await _seconds(client, number))

    for _ in range(ROUNDS):
        for url, seconds in zip(urls, times, strict=True):
            async with anyio.create_task_group() as group:
                for _ in range(sessions):
                    group.start_soon(session, url, seconds)
    return times


async def _in_turn(first: Client, second: Client, calls: int) -> Seconds:
    times: Seconds = ([], [])
    for number in range(-1, calls):
        for client, seconds in zip((first, second), times, strict=True):
            seconds.append(await _seconds(client, number))
    return times[0][1:], times[1][1:]  # without the first call of each


async def _seconds(client: Client, number: int) -> float:
    started = time.perf_counter()
    await _answer(client, "get", {"path": str(number)})
    return time.perf_counter() - started


async def _calls_at_once(client: Client, calls: int) -> int:
    wrong = 0

    async def call(number: int) -> None:
        nonlocal wrong
        name, server = (("north_same", "north"), ("south_same", "south"))[number % 2]
        answer = await _answer(client, name, {"x": number})
        wrong += (answer["server"], answer["arguments"]["x"]) != (server, number)

    async with anyio.create_task_group() as group:
        for number in range(calls):
            group.start_soon(call, number)
    return wrong


async def _answer(client: Client, name: str, arguments: dict[str, Any]) -> Any:
    result = await client.call_tool(name, arguments)
    return json.loads(result.content[0].text)


def _gateway(bundle: Path, config: Path) -> list[str]:
    return ["-m", "toolscope_core", "serve", str(bundle), "--config", str(config)]


@asynccontextmanager
async def _client(arguments: list[str]) -> AsyncIterator[Client]:
    parameters = StdioServerParameters(
        command=sys.executable, args=arguments, cwd=str(ROOT), env=process_environment()
    )
    async with Client(parameters) as client:
        yield client


@contextmanager
def _http_stubs(place: Path) -> Iterator[str]:
    """Both servers at addresses, their configuration in ``http.json``; yields the north server's
    address.
    """
    ports, processes = {name: free_port() for name in ("north", "south")}, []
    for name, port in ports.items():
        command = [sys.executable, str(HTTP_STUB), name, str(place / f"{name}.json"), str(port)]
        processes.append(subprocess.Popen(command))
    urls = {name: f"http://127.0.0.1:{port}/mcp" for name, port in ports.items()}
    servers = {name: {"type": "http", "url": url} for name, url in urls.items()}
    (place / "http.json").write_text(json.dumps({"mcpServers": servers}))
    try:
        for port in ports.values():
            wait_for_port(port)
        yield urls["north"]
    finally:
        for process in processes:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
