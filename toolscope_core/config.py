"""Frozen knobs, and the one place where the environment is read."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from toolscope_core.datamodel import digest
from toolscope_core.errors import ConfigError

AcceptPolicy = Literal["auto", "all", "none"]
ACCEPT_POLICIES: tuple[AcceptPolicy, ...] = ("auto", "all", "none")


@dataclass(frozen=True, slots=True)
class Settings:
    """Where data lives. See ``read_environment``."""

    store_url: str
    cache_dir: Path
    data_dir: Path
    token_cache: Path | None = None


@dataclass(frozen=True, slots=True)
class AnalysisConfig:
    """What decides which pairs are judged.

    ``threshold`` is the least cosine of a candidate pair, ``None`` for the default of the
    embedding model; ``neighbours`` how many nearest tools are looked at for each tool (ToolScope,
    Table 7: 30).
    """

    threshold: float | None = None
    neighbours: int = 30

    def __post_init__(self) -> None:
        if self.threshold is not None and not 0.0 < self.threshold <= 1.0:
            raise ConfigError(
                f"threshold is {self.threshold}; give a cosine above 0 and at most 1, such as 0.7"
            )
        if self.neighbours < 1:
            raise ConfigError(f"neighbours is {self.neighbours}; give at least 1")

    @property
    def key(self) -> str:
        """Hash (64 hex digits) of the knobs: equal keys give equal analyses."""
        return digest(asdict(self))


@dataclass(frozen=True, slots=True)
class PlanConfig:
    """What decides how judged pairs become a toolset.

    ``accept`` says which proposed clusters are taken without a recorded decision (DESIGN,
    auto-accept); ``routers`` whether accepted clusters that need a gateway are exported;
    ``correct`` switches Auto-Correction off (ToolScope, section 3.2).
    """

    accept: AcceptPolicy = "none"
    routers: bool = False
    correct: bool = True

    def __post_init__(self) -> None:
        if self.accept not in ACCEPT_POLICIES:
            raise ConfigError(
                f"accept is {self.accept!r}; give one of {', '.join(ACCEPT_POLICIES)}"
            )


@dataclass(frozen=True, slots=True)
class Prices:
    """Price of a million tokens, in one currency."""

    tokens_in: float
    tokens_out: float

    def __post_init__(self) -> None:
        for value in (self.tokens_in, self.tokens_out):
            if not 0.0 <= value < math.inf:
                raise ConfigError(f"a price is {value}; give the price of a million tokens")

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / 1e6


@dataclass(frozen=True, slots=True)
class Budget:
    """The most a run may spend: calls, and money in the currency of the prices; ``None``: any."""

    calls: int | None = None
    money: float | None = None

    def __post_init__(self) -> None:
        if self.calls is not None and self.calls < 0:
            raise ConfigError(f"budget is {self.calls} calls; give 0 or more")
        if self.money is not None and not 0.0 <= self.money < math.inf:
            raise ConfigError(f"budget is {self.money}; give an amount of money from 0")


@dataclass(frozen=True, slots=True)
class Patience:
    """How long an endpoint that does not answer is asked again.

    One call is sent at most ``attempts`` times and not again after ``seconds`` spent in calls; a
    wait that the endpoint asks for is kept up to ``longest_wait`` seconds. ``failures`` calls given
    up in a row stop the run.
    """

    attempts: int = 6
    seconds: float = 90.0
    longest_wait: float = 120.0
    first_wait: float = 0.5
    failures: int = 3

    def pause(self, attempt: int, told: float) -> float | None:
        """Seconds before attempt ``attempt`` + 1 (from 1), at least as long as ``told``.

        ``None`` where that attempt is one too many, or the wait too long.
        """
        if attempt >= self.attempts or told > self.longest_wait:
            return None
        return max(told, min(self.first_wait * 2.0 ** (attempt - 1), 8.0))


@dataclass(frozen=True, slots=True)
class QuestionConfig:
    """What a model is asked about.

    ``paper`` asks about every candidate pair and every cluster (ToolScope, section 3.2). Otherwise
    pairs that the offline judge gives less than ``sure_below`` are taken for *keep*, and a cluster
    of more than ``largest_cluster`` tools is corrected offline before its parts are audited.
    ``batch`` pairs are asked about in one call.
    """

    paper: bool = False
    sure_below: float = 0.1
    largest_cluster: int = 80
    batch: int = 8

    def __post_init__(self) -> None:
        if not 0.0 <= self.sure_below <= 1.0:
            raise ConfigError(f"sure_below is {self.sure_below}; give a probability")
        if self.batch < 1 or self.largest_cluster < 2:
            raise ConfigError(
                f"batch is {self.batch} and largest_cluster {self.largest_cluster}; give at least "
                "1 and 2"
            )


def read_environment(environ: Mapping[str, str] | None = None) -> Settings:
    """Settings from ``TOOLSCOPE_STORE_URL``, ``TOOLSCOPE_CACHE_DIR`` and ``TOOLSCOPE_DATA``, and
    from tiktoken's ``TIKTOKEN_CACHE_DIR``.

    Defaults: ``sqlite:///store.db``, the user's cache directory, ``../shared/data``, none.
    """
    env = os.environ if environ is None else environ
    user_cache = Path(env.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Settings(
        store_url=env.get("TOOLSCOPE_STORE_URL") or "sqlite:///store.db",
        cache_dir=Path(env.get("TOOLSCOPE_CACHE_DIR") or user_cache / "toolscope"),
        data_dir=Path(env.get("TOOLSCOPE_DATA") or "../shared/data"),
        token_cache=Path(env["TIKTOKEN_CACHE_DIR"]) if env.get("TIKTOKEN_CACHE_DIR") else None,
    )
