"""What a gateway adds to a call over standard input and output, beside direct calls in one run.

    python -m benchmarks.gateway_speed [--calls 300] [--at-once 200]

A client of the SDK calls a stub server (tests/mcp/gateway/original_stub.py) directly and through a
gateway with two such servers, in turn. The overhead is the difference of the medians; the limit is
2 ms. Then ``--at-once`` calls to both servers are under way at the same time, and each answer is
held against its call.
"""

import json
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters

from benchmarks.measuring import ROOT, parser_of, print_machine, process_environment
from tests.mcp.gateway.stub_toolset import STUB, configuration, write_stub_toolset

LIMIT_MS = 2.0


@dataclass(frozen=True, slots=True)
class GatewayTimes:
    """Seconds of each call, and how many of the calls at once got the answer of another."""

    direct: tuple[float, ...]
    through: tuple[float, ...]
    at_once: float
    mixed_up: int

    @property
    def overhead_ms(self) -> float:
        """The difference of the medians, in milliseconds."""
        return 1_000 * (statistics.median(self.through) - statistics.median(self.direct))


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--at-once", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        times = anyio.run(_measure, Path(place), options.calls, options.at_once)
    print_machine(f"{options.calls} calls each way, in ms:")
    for name, seconds in (("direct", times.direct), ("through the gateway", times.through)):
        quantiles = statistics.quantiles((1_000 * one for one in seconds), n=20)
        print(f"  {name}: p50 {quantiles[9]:.2f}, p95 {quantiles[18]:.2f}")
    print(f"  overhead p50 {times.overhead_ms:.2f} (limit {LIMIT_MS:g})")
    print(f"  {options.at_once} at once: {times.at_once:.2f} s, {times.mixed_up} mixed up")


async def _measure(place: Path, calls: int, at_once: int) -> GatewayTimes:
    bundle = write_stub_toolset(place)
    config = place / "mcp.json"
    config.write_text(configuration(place))
    stub = ["-I", "-S", STUB, "north", str(place / "north.json")]
    gateway = ["-m", "toolscope_core", "serve", str(bundle), "--config", str(config)]
    async with _client(stub) as direct, _client(gateway) as through:
        for client in (direct, through):
            await _answer(client, "get", {"path": "first"})
        times: dict[int, list[float]] = {0: [], 1: []}
        for number in range(2 * calls):
            started = time.perf_counter()
            await _answer((direct, through)[number % 2], "get", {"path": str(number)})
            times[number % 2].append(time.perf_counter() - started)
        started = time.perf_counter()
        mixed_up = await _calls_at_once(through, at_once)
        seconds = time.perf_counter() - started
    return GatewayTimes(tuple(times[0]), tuple(times[1]), seconds, mixed_up)


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
    return json.loads(result.content[0].text)  # type: ignore[union-attr]


@asynccontextmanager
async def _client(arguments: list[str]) -> AsyncIterator[Client]:
    parameters = StdioServerParameters(
        command=sys.executable, args=arguments, cwd=str(ROOT), env=process_environment()
    )
    async with Client(parameters) as client:
        yield client


if __name__ == "__main__":
    main()
