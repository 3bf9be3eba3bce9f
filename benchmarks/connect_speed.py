"""The time to read many servers at once, compared with the slowest of them alone.

 python -m benchmarks.connect_speed [--servers 24] [--seconds 1.0]

The servers are stubs without the SDK (tests/mcp/servers/stub_server.py). Each sleeps a little
longer than the one before, up to ``--seconds``, and then answers. All are started at once, listed
and ended. The time beyond that of the slowest server is ours: starting processes, the protocol, and
stopping the processes.
"""

import os
import time

from benchmarks.measuring import parser_of, print_machine
from tests.mcp.servers.stubs import configuration, entry
from toolscope_core.mcp.servers.offers import read_offers
from toolscope_core.mcp.servers.sessions import load_sdk
from toolscope_core.model.configuration import ConnectionLimits

LIMIT = 3.0


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--servers", type=int, default=24)
    parser.add_argument("--seconds", type=float, default=1.0)
    options = parser.parse_args()
    load_sdk()
    over = seconds_over_the_slowest(options.servers, options.seconds)
    print_machine(f"{options.servers} servers, the slowest {options.seconds:g} s")
    print(f"{over:.2f} s over it (limit {LIMIT:g} s)")


def seconds_over_the_slowest(servers: int, seconds: float) -> float:
    """How many seconds longer it takes to read all of them than the slowest of them sleeps."""
    stubs = configuration(
        **{f"s{at}": entry("slow", seconds * (at + 1) / servers) for at in range(servers)}
    )
    started = time.perf_counter()
    offers = read_offers(stubs.servers, stubs, os.environ, ConnectionLimits())
    assert all(len(offer.tools) == 2 for offer in offers), [offer.failure for offer in offers]
    return time.perf_counter() - started - seconds


if __name__ == "__main__":
    main()
