"""Frozen settings of each stage; each refuses values that cannot be meant."""

import math
from dataclasses import asdict, dataclass, field
from typing import Literal, get_args

from toolscope_core.model.environment import origin_of
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.tool import digest

AcceptPolicy = Literal["auto", "all", "none"]
ReasoningEffort = Literal["none", "minimal", "low", "medium", "high"]
"""How long a model thinks that can be told."""
REASONING_EFFORTS: tuple[ReasoningEffort, ...] = get_args(ReasoningEffort)
RequestSplit = Literal["none", "rules", "steps"]
"""What an experiment splits requests by."""
Knob = Literal["threshold", "alpha", "candidates", "k", "encoder"]
"""A setting that a sweep moves."""
LearningMethod = Literal["tool2vec", "mlc", "refiner"]
"""What is trained of a learned search; each stands on those before it."""
FirstStageName = Literal["description", "tool2vec", "mlc"]
"""What a refiner takes its candidates by: the texts of tools, their queries, or a classifier."""
ACCEPT_POLICIES: tuple[AcceptPolicy, ...] = ("auto", "all", "none")


@dataclass(frozen=True, slots=True)
class AnalysisConfig:
    """The settings that decide which pairs are judged.

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
        """Hash (64 hex digits) of the settings: equal keys give equal analyses."""
        return digest(asdict(self))


@dataclass(frozen=True, slots=True)
class PlanConfig:
    """The settings that decide how judged pairs become a toolset.

    ``accept`` says which proposed clusters are taken without a recorded decision (*auto*: the safe
    ones); ``gateway`` whether accepted clusters that need a gateway are exported;
    ``correct`` switches Auto-Correction off (ToolScope, section 3.2). With ``expanded`` a tool that
    still has its own description goes out under that of its accepted document variant. With
    ``leave_out_refused`` a tool that the target refuses holds back itself and not the export.
    ``eager`` are the ids of outgoing tools that stay in every prompt where clients search for the
    others; ``None`` where they search for none.

    Example: ``PlanConfig(accept="auto", gateway=True)``
    """

    accept: AcceptPolicy = "none"
    gateway: bool = False
    correct: bool = True
    expanded: bool = False
    leave_out_refused: bool = False
    eager: tuple[str, ...] | None = None

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
                raise ConfigError(f"a price is {value}; give the price per million tokens")

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
    """The limits on asking an endpoint again that does not answer.

    One call is sent at most ``attempts`` times and not again after ``seconds`` spent in calls; a
    wait that the endpoint asks for is kept up to ``longest_wait`` seconds. ``failures`` calls given
    up in a row stop the run.
    """

    attempts: int = 8
    seconds: float = 90.0
    longest_wait: float = 120.0
    first_wait: float = 0.5
    failures: int = 3

    def pause(self, attempt: int, requested_wait: float) -> float | None:
        """Seconds before attempt ``attempt`` + 1 (from 1), at least as long as ``requested_wait``.

        ``None`` where that attempt is one too many, or the wait too long.
        """
        if attempt >= self.attempts or requested_wait > self.longest_wait:
            return None
        return max(requested_wait, min(self.first_wait * 2.0 ** (attempt - 1), 30.0))


@dataclass(frozen=True, slots=True)
class AgentConfig:
    """How an agent works on a query set: at most ``turns`` of ``turn_tokens`` and ``seconds`` for a
    request, with the ``k`` tools that are found for it (``None``: all), and no more than
    ``concurrency`` requests at a time; tools that may change something are called only with
    ``changes``. ``reset`` is a command that is run before each request, with each toolset, after
    which its servers are started anew; empty for none.
    """

    turns: int = 8
    k: int | None = None
    changes: bool = False
    concurrency: int = 4
    seconds: float = 600.0
    turn_tokens: int = 4_000
    reset: str = ""

    def __post_init__(self) -> None:
        for name, value, most in (
            ("turns", self.turns, 50),
            ("k", 1 if self.k is None else self.k, 128),
            ("concurrency", self.concurrency, 64),
            ("seconds", self.seconds, 86_400),
            ("turn_tokens", self.turn_tokens, 200_000),
        ):
            if not 1 <= value <= most:
                raise ConfigError(f"{name} is {value}; give 1 to {most}")
        if self.reset and self.concurrency > 1:
            raise ConfigError(
                f"concurrency is {self.concurrency}, but --reset undoes what requests at the "
                "same time would share; give 1"
            )


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible server and the model asked there; it holds no key.

    ``base_url`` is the address up to ``/chat/completions``; ``deadline`` the seconds of one call,
    its body included; ``most_tokens`` what a reply that was cut off may grow to, thoughts included.
    Without ``reasoning`` the model thinks as long as it does by itself.
    """

    base_url: str
    model: str
    concurrency: int = 8
    deadline: float = 60.0
    temperature: float = 0.0
    most_tokens: int = 16_384
    reasoning: ReasoningEffort | None = None
    prices: Prices | None = None
    budget: Budget = field(default_factory=Budget)

    def __post_init__(self) -> None:
        origin_of(self.base_url)
        if not self.model.strip() or not self.model.isprintable():
            raise ConfigError(f"the model is {self.model!r}; give the name that the endpoint uses")
        if not 1 <= self.concurrency <= 64:
            raise ConfigError(
                f"concurrency is {self.concurrency}; the number of parallel calls must be between "
                "1 and 64"
            )
        if not 0.0 < self.deadline <= 600.0:
            raise ConfigError(f"deadline is {self.deadline}; give up to 600 seconds")
        if not 0.0 <= self.temperature <= 2.0:
            raise ConfigError(f"temperature is {self.temperature}; give 0 to 2")
        if not 100 <= self.most_tokens <= 1_000_000:
            raise ConfigError(
                f"the most tokens of a reply are {self.most_tokens}; give 100 to 1,000,000"
            )
        if self.reasoning is not None and self.reasoning not in REASONING_EFFORTS:
            raise ConfigError(
                f"reasoning is {self.reasoning!r}; give one of {', '.join(REASONING_EFFORTS)}"
            )

    @property
    def origin(self) -> str:
        return origin_of(self.base_url)


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """The limits on one MCP server, in seconds, numbers and bytes.

    ``start_seconds`` until it is ready (``npx`` and ``uvx`` may have to download it first),
    ``answer_seconds`` for each answer, ``total_seconds`` for reading all that it offers,
    ``grace_seconds`` between asking it to end and each sharper signal. ``parallel`` servers run at
    a time. More than ``tools`` in
    ``pages``, a message of more than ``message_bytes``, or a listing that goes on after
    ``listing_bytes``, is not read.
    """

    start_seconds: float = 60.0
    answer_seconds: float = 30.0
    total_seconds: float = 120.0
    grace_seconds: float = 1.0
    parallel: int = 24
    tools: int = 10_000
    pages: int = 1_000
    message_bytes: int = 32 * 1024 * 1024
    listing_bytes: int = 64 * 1024 * 1024

    def __post_init__(self) -> None:
        for name in ("start_seconds", "answer_seconds", "total_seconds"):
            if not 0.0 < getattr(self, name) <= 3_600.0:
                raise ConfigError(
                    f"{name} is {getattr(self, name)}; give more than 0 and up to 3600 seconds"
                )
        if not 1 <= self.parallel <= 64:
            raise ConfigError(f"parallel is {self.parallel}; give 1 to 64 servers at a time")


def ready_within(seconds: float, parallel: int = 24) -> ConnectionLimits:
    """The limits for servers that have so many seconds to be ready, and for each answer."""
    total = min(3 * seconds, 3_600.0)
    return ConnectionLimits(seconds, seconds, total, parallel=parallel)


@dataclass(frozen=True, slots=True)
class QuestionConfig:
    """The settings that decide what a model is asked about.

    ``paper`` asks about every candidate pair and every cluster (ToolScope, section 3.2). Otherwise
    pairs that the offline judge gives less than ``sure_below`` for the same job and a family
    together are taken for *keep*, and a cluster of more than ``largest_cluster`` tools is
    corrected offline before its parts are audited.
    ``batch`` pairs are asked about in one call.
    """

    paper: bool = False
    sure_below: float = 0.25
    largest_cluster: int = 80
    batch: int = 16

    def __post_init__(self) -> None:
        if not 0.0 <= self.sure_below <= 1.0:
            raise ConfigError(f"sure_below is {self.sure_below}; give a probability")
        if self.batch < 1 or self.largest_cluster < 2:
            raise ConfigError(
                f"batch is {self.batch} and largest_cluster {self.largest_cluster}; give at least "
                "1 and 2"
            )


REQUEST_TOOLS = (2, 5)
"""How many tools a generated query needs: at least and at most (Tool2Vec, appendix C.3)."""
REQUEST_LENGTH = (12, 600)
"""Characters of a generated query, at least and at most."""
MOST_GENERATED = 5_000


@dataclass(frozen=True, slots=True)
class QueryGeneration:
    """How many queries a model is asked for, and the ``seed`` of what it is shown for each."""

    count: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.count <= MOST_GENERATED:
            raise ConfigError(
                f"{self.count:,} queries are wanted; give 1 to {MOST_GENERATED:,}, and another "
                "seed for more"
            )
        if self.seed < 0:
            raise ConfigError(f"the seed is {self.seed}; give 0 or more")


LEAST_PROBABILITY = 0.5
"""Below it the judge considers two tools different, so merging them is not proposed."""


@dataclass(frozen=True, slots=True)
class MergeThresholds:
    """The least cosine and the least probability of candidate pairs that are merges."""

    similarity: float
    same_job: float
