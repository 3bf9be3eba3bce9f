"""What benchmarks share: catalogs of the data, options, the machine, times, intervals.

``TOOLSCOPE_DATA`` names the folder of the data.
"""

import argparse
import os
import platform
import subprocess
import tarfile
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import load_paths
from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.embedding.vector_cache import VectorCache, embed_cached
from toolscope_core.files.json_lines import read_rows
from toolscope_core.merging.analysing import Analysis, analyse
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import AnalysisConfig
from toolscope_core.model.environment import read_environment
from toolscope_core.model.protocols import Vectors
from toolscope_core.model.tool import JsonObject, Tool
from toolscope_core.wording.boilerplate import compared_texts

ROOT = Path(__file__).resolve().parents[1]
CATALOGS = ("bfcl", "bfcl-live", "ultratool", "docker-mcp", "livemcpbench", "seal-tools")
"""The public catalogs that are merged as a whole."""
APP_FOLDER = ROOT / "benchmarks" / "data" / "apps"
"""Our own catalogs, with their labels."""
RESAMPLES = 1000


def data_folder(name: str) -> Path:
    """The folder of a catalog of the benchmark data."""
    return Path(read_environment().data_dir) / name


def catalog_file(name: str) -> Path:
    """The file with the tools of a catalog of the benchmark data, of a group of servers, or of one
    of our own.
    """
    for folder in (data_folder("servers"), APP_FOLDER):
        if (folder / f"{name}.json").exists():
            return folder / f"{name}.json"
    return next(data_folder(name).glob("tools.jsonl"), data_folder(name) / "servers.json")


def read_file(path: Path) -> Catalog:
    return read_catalog(load_paths([path]))


@cache
def read_named(name: str) -> Catalog:
    """A catalog of the benchmark data, read once."""
    return read_file(catalog_file(name))


def json_rows(path: Path) -> list[JsonObject]:
    return [row for _, row in read_rows(path)]


def user_cache() -> VectorCache:
    return VectorCache(read_environment().cache_dir)


def vectors_of(tools: Sequence[Tool]) -> Vectors:
    """The tools embedded by the default encoder, through the user's cache."""
    return embed_cached(compared_texts(tools), MiniLmEmbedder(), user_cache())


def analysis_of(catalog: Catalog) -> Analysis:
    """A catalog analysed as the command line does."""
    return analyse(catalog, AnalysisConfig(), MiniLmEmbedder(), user_cache())


def parser_of(doc: str | None) -> argparse.ArgumentParser:
    """A parser that is described by the first line of a benchmark's docstring."""
    return argparse.ArgumentParser(description=(doc or "").partition("\n")[0])


def add_catalogs(parser: argparse.ArgumentParser, names: Sequence[str] = CATALOGS) -> None:
    parser.add_argument("--catalogs", nargs="*", default=list(names), choices=list(names))


def print_machine(*more: str) -> None:
    """The machine and whatever else decides the figures, on a line."""
    python = f"Python {platform.python_version()}"
    print(f"machine: {os.cpu_count()} cores", platform.machine(), python, *more, sep=", ")


def process_environment(**variables: str) -> dict[str, str]:
    """Ours for a process that downloads nothing, with other values of some variables."""
    return {**os.environ, "HF_HUB_OFFLINE": "1", **variables}


def unpack_from_npm(package: str, folder: Path) -> Path:
    """The content of a package, which npm fetches into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["npm", "pack", "--silent", package]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    with tarfile.open(folder / done.stdout.split()[-1]) as archive:
        archive.extractall(folder, filter="data")
    return folder / "package"


def clocked(work: Callable[[], object]) -> float:
    """Wall-clock seconds."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def bootstrap_ends(
    figures_of: Callable[[NDArray[np.int64]], Any], size: int
) -> NDArray[np.float64]:
    """The ends of the 95 % interval of figures of ``size`` rows that are drawn again and again;
    draws of which there is no figure (NaN) are left out.
    """
    rng = np.random.default_rng(0)
    draws = [figures_of(rng.integers(0, size, size)) for _ in range(RESAMPLES)]
    ends: NDArray[np.float64] = np.nanquantile(draws, [0.025, 0.975], axis=0)
    return ends


def f1_of_counts(right: int, called: int, wanted: int) -> tuple[float, float, float]:
    """Precision, recall and F1; 0 where nothing is called, or wanted."""
    return right / max(called, 1), right / max(wanted, 1), 2 * right / max(called + wanted, 1)
