"""Frozen settings of each stage; each refuses values that make no sense."""

import math
from dataclasses import dataclass, field
from typing import Literal, get_args

from toolscope_core.model.environment import origin_of
from toolscope_core.model.errors import ConfigError

AcceptPolicy = Literal["auto", "all", "none"]
ReasoningEffort = Literal["none", "minimal", "low", "medium", "high"]
"""How long a model should reason, if the model has such a setting."""
REASONING_EFFORTS: tuple[ReasoningEffort, ...] = get_args(ReasoningEffort)
PromptWording = Literal["own", "paper"]
"""Whose words a model is asked in: ours, or those that the papers print."""
PROMPT_WORDINGS: tuple[PromptWording, ...] = get_args(PromptWording)
RequestSplit = Literal["none", "rules", "steps"]
"""What an experiment splits requests by."""
Knob = Literal["threshold", "alpha", "candidates", "k", "encoder"]
"""A setting that a sweep varies."""
LearningMethod = Literal["tool2vec", "mlc", "refiner"]
"""The trained parts of a learned search; each part needs those before it."""
FirstStageName = Literal["description", "tool2vec", "mlc"]
"""What selects a refiner's candidates: the texts of tools, their queries, or a classifier."""
ACCEPT_POLICIES: tuple[AcceptPolicy, ...] = ("auto", "all", "none")


@dataclass(frozen=True, slots=True)
class AnalysisConfig:
    """The settings that decide which pairs are judged.

    ``threshold`` is the lowest cosine of a candidate pair; ``None`` uses the default of the
    embedding model. ``neighbours`` is the number of nearest tools considered for each tool
    (ToolScope, Table 7: 30).
    """

    threshold: float | None = None
    neighbours: int = 30

    def __post_init__(self) -> None:
        if self.threshold is not None and not 0.0 < self.threshold <= 1.0:
            raise ConfigError(
                f"the threshold is {self.threshold}; use a cosine above 0 and up to 1, such as 0.7"
            )
        if self.neighbours < 1:
            raise ConfigError(f"the number of neighbours is {self.neighbours}; use at least 1")


@dataclass(frozen=True, slots=True)
class PlanConfig:
    """The settings that decide how judged pairs become a toolset.

    ``accept`` says which proposed clusters are accepted without a recorded decision (*auto*: the
    safe ones). ``gateway`` exports accepted clusters that need a gateway. ``correct`` turns
    Auto-Correction on or off (ToolScope, section 3.2). ``expanded`` exports the description of a
    tool's accepted document variant if the tool still has its own description.
    ``leave_out_refused`` leaves out tools that the target refuses, instead of stopping the export.
    ``eager`` are the ids of outgoing tools that stay in every prompt when clients search for the
    others; ``None`` if clients do not search.

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
                f"`accept` is {self.accept!r}; use one of {', '.join(ACCEPT_POLICIES)}"
            )


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices per million tokens, both in the same currency."""

    tokens_in: float
    tokens_out: float

    def __post_init__(self) -> None:
        for value in (self.tokens_in, self.tokens_out):
            if not 0.0 <= value < math.inf:
                raise ConfigError(f"a price is {value}; use 0 or more per million tokens")

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / 1e6


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a run: calls, and money in the currency of the prices; ``None`` means no limit."""

    calls: int | None = None
    money: float | None = None

    def __post_init__(self) -> None:
        if self.calls is not None and self.calls < 0:
            raise ConfigError(f"the budget is {self.calls} calls; use 0 calls or more")
        if self.money is not None and not 0.0 <= self.money < math.inf:
            raise ConfigError(f"the budget is {self.money}; use an amount of 0 or more")


@dataclass(frozen=True, slots=True)
class Patience:
    """Limits on retrying an endpoint that does not answer.

    A call is sent at most ``attempts`` times, and no more once ``seconds`` have been spent. If the
    endpoint asks for a wait, it is kept up to ``longest_wait`` seconds. The run stops after
    ``failures`` failed calls in a row.
    """

    attempts: int = 8
    seconds: float = 90.0
    longest_wait: float = 120.0
    first_wait: float = 0.5
    failures: int = 3

    def pause(self, attempt: int, requested_wait: float) -> float | None:
        """Seconds before attempt ``attempt`` + 1 (from 1), at least ``requested_wait``.

        ``None`` if no attempt is left or the wait is too long.
        """
        if attempt >= self.attempts or requested_wait > self.longest_wait:
            return None
        return max(requested_wait, min(self.first_wait * 2.0 ** (attempt - 1), 30.0))


@dataclass(frozen=True, slots=True)
class AgentConfig:
    """Limits of an agent working on a query set.

    For each request it gets at most ``turns`` of ``turn_tokens``, ``seconds`` in all, and the ``k``
    tools found for the request (``None``: all). At most ``concurrency`` requests run at a time.
    Tools that may change something are called only with ``changes``. The command ``reset`` runs
    before each request with each toolset, and the toolset's servers are then restarted; empty for
    none.
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
                raise ConfigError(f"{name} is {value}; use 1 to {most}")
        if self.reset and self.concurrency > 1:
            raise ConfigError(
                f"the concurrency is {self.concurrency}, but with --reset, parallel requests would "
                "disturb each other; use a concurrency of 1"
            )


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible server and its model, without the key.

    ``base_url`` is the address up to ``/chat/completions``. ``deadline`` is the time of one call in
    seconds, including its body. ``most_tokens`` is the limit when a truncated reply is asked for
    again, including reasoning. Without ``reasoning`` the model uses its own default.
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
    prompts: PromptWording = "own"

    def __post_init__(self) -> None:
        origin_of(self.base_url)
        if not self.model.strip() or not self.model.isprintable():
            raise ConfigError(f"the model is {self.model!r}; use the name that the endpoint uses")
        if not 1 <= self.concurrency <= 64:
            raise ConfigError(f"the concurrency is {self.concurrency}; use 1 to 64 parallel calls")
        if not 0.0 < self.deadline <= 600.0:
            raise ConfigError(
                f"the deadline is {self.deadline}; use more than 0 and at most 600 seconds"
            )
        if not 0.0 <= self.temperature <= 2.0:
            raise ConfigError(f"the temperature is {self.temperature}; use 0 to 2")
        if not 100 <= self.most_tokens <= 1_000_000:
            raise ConfigError(f"a reply's token limit is {self.most_tokens}; use 100 to 1,000,000")
        if self.reasoning is not None and self.reasoning not in REASONING_EFFORTS:
            raise ConfigError(
                f"`reasoning` is {self.reasoning!r}; use one of {', '.join(REASONING_EFFORTS)}"
            )
        if self.prompts not in PROMPT_WORDINGS:
            raise ConfigError(f"the prompts are {self.prompts!r}; use own or paper")

    @property
    def origin(self) -> str:
        return origin_of(self.base_url)


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Limits on one MCP server, in seconds, numbers and bytes.

    The server has ``start_seconds`` to be ready (``npx`` and ``uvx`` may have to download it
    first), ``answer_seconds`` for each answer and ``total_seconds`` for its whole listing.
    ``grace_seconds`` pass between the request to stop and each stronger signal. ``parallel``
    servers run at a time. Reading stops at more than ``tools`` in ``pages``, at a message above
    ``message_bytes``, and at a listing above ``listing_bytes``.
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
                    f"{name} is {getattr(self, name)}; use more than 0 and at most 3600 seconds"
                )
        if not 1 <= self.parallel <= 64:
            raise ConfigError(f"the number of parallel servers is {self.parallel}; use 1 to 64")


def ready_within(seconds: float, parallel: int = 24) -> ConnectionLimits:
    """The limits with this number of seconds to be ready, and for each answer."""
    total = min(3 * seconds, 3_600.0)
    return ConnectionLimits(seconds, seconds, total, parallel=parallel)


@dataclass(frozen=True, slots=True)
class QuestionConfig:
    """The settings that decide what a model is asked about.

    ``paper`` asks about every candidate pair and every cluster (ToolScope, section 3.2). Otherwise
    a pair counts as *keep* if the offline judge gives same job and family together less than
    ``sure_below``, and a cluster of more than ``largest_cluster`` tools is corrected offline before
    its parts are audited. One call asks about ``batch`` pairs.
    """

    paper: bool = False
    sure_below: float = 0.25
    largest_cluster: int = 80
    batch: int = 16

    def __post_init__(self) -> None:
        if not 0.0 <= self.sure_below <= 1.0:
            raise ConfigError(f"`sure_below` is {self.sure_below}; use a probability from 0 to 1")
        if self.batch < 1 or self.largest_cluster < 2:
            raise ConfigError(
                f"`batch` is {self.batch} and `largest_cluster` is {self.largest_cluster}; use at "
                "least 1 for `batch` and at least 2 for `largest_cluster`"
            )


REQUEST_TOOLS = (2, 5)
"""How many tools a generated query needs: at least and at most (Tool2Vec, appendix C.3)."""
REQUEST_LENGTH = (12, 600)
"""Characters of a generated query, at least and at most."""
MOST_GENERATED = 5_000


@dataclass(frozen=True, slots=True)
class QueryGeneration:
    """How many queries a model writes, and the ``seed`` that picks what it is shown for each."""

    count: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.count <= MOST_GENERATED:
            raise ConfigError(
                f"the number of queries is {self.count:,}; use 1 to {MOST_GENERATED:,}, and "
                "another seed for more"
            )
        if self.seed < 0:
            raise ConfigError(f"the seed is {self.seed}; use 0 or more")


LEAST_PROBABILITY = 0.5
"""Below it the judge considers two tools different, so merging them is not proposed."""


@dataclass(frozen=True, slots=True)
class MergeThresholds:
    """The lowest cosine and the lowest probability at which candidate pairs are merged."""

    similarity: float
    same_job: float
