"""The options of the commands for large catalogs: files read one by one, work on a cluster."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from toolscope_core.catalog.isolation import read_files
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.protocols import LOCAL, Engine, Progress


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """How a catalog is read, and where texts are embedded, neighbours found and pairs judged, each
    field as an option.
    """

    engine: Annotated[
        Literal["local", "ray"],
        typer.Option(help="Where texts are embedded and pairs judged: here, or on a Ray cluster."),
    ] = "local"
    ray_address: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="The Ray cluster: auto, host:port or ray://host:port; default one of this "
            "machine, for this run.",
        ),
    ] = None

    shards: Annotated[
        bool,
        typer.Option(
            "--shards",
            help="Read each file by itself, for more than one reading takes: one that cannot be "
            "read is named, and servers of one name are one server.",
        ),
    ] = False

    def read(self, paths: Sequence[Path], engine: Engine, progress: Progress) -> Catalog:
        """The catalog of files and folders. Raises ``CatalogError`` where there is none."""
        if not self.shards:
            return read_files(paths)
        from toolscope_core.catalog.shards import read_shards

        return read_shards(paths, engine, progress)

    def start(self) -> AbstractContextManager[Engine]:
        """The engine, which ends with the block. Raises ``ConfigError`` where it cannot start."""
        if self.engine == "ray":
            from toolscope_core.engine.ray_engine import ray_engine

            return ray_engine(self.ray_address)
        if self.ray_address:
            raise ConfigError(
                f"--ray-address is {self.ray_address}, and the engine is local; give --engine ray"
            )
        return nullcontext(LOCAL)


HERE = EngineChoice()
