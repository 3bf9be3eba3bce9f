"""The options of the commands whose work can run on a Ray cluster."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Annotated, Literal

import typer

from toolscope_core.model.errors import ConfigError
from toolscope_core.model.protocols import LOCAL, Engine


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """Where texts are embedded, neighbours found and pairs judged, each field as an option."""

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
