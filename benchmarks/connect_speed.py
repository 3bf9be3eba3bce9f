"""The time to read many servers at once, beside that of the slowest alone.

    python -m benchmarks.connect_speed [--servers 24] [--seconds 1.0]

Stub servers without the SDK (tests/mcp/servers/stub_server.py) that sleep before they answer, each
a little longer than the one before, up to ``--seconds``; all are started at once, listed and ended.
What is over the slowest is ours: starting processes, the protocol, ending them.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from pathlib import Path

from toolscope_core.mcp.servers.server_definitions import read_configuration
from toolscope_core.mcp.servers.sessions import load_sdk
from toolscope_core.mcp.servers.survey import read_offers
from toolscope_core.model.configuration import ConnectionLimits

STUB = Path(__file__).parents[1] / "tests" / "connections" / "stub_server.py"
LIMIT = 3.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--servers", type=int, default=24)
    parser.add_argument("--seconds", type=float, default=1.0)
    options = parser.parse_args()
    load_sdk()
    over = seconds_over_the_slowest(options.servers, options.seconds)
    machine = f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores"
    print(
        f"{machine}: {options.servers} servers, the slowest {options.seconds:g} s, "
        f"{over:.2f} s over it (limit {LIMIT:g} s)"
    )


def seconds_over_the_slowest(servers: int, seconds: float) -> float:
    """The seconds that reading all of them takes beyond the sleep of the slowest."""
    entries = {
        f"s{number}": {
            "command": sys.executable,
            "args": ["-I", "-S", str(STUB), "slow", str(seconds * (number + 1) / servers)],
        }
        for number in range(servers)
    }
    configuration = read_configuration("c", json.dumps({"mcpServers": entries}).encode())
    started = time.perf_counter()
    offers = read_offers(configuration.servers, configuration, os.environ, ConnectionLimits())
    assert all(len(offer.tools) == 2 for offer in offers), [offer.failure for offer in offers]
    return time.perf_counter() - started - seconds


if __name__ == "__main__":
    main()
