"""Protocols of replaceable parts (embedder, engine, chat model, ledger) and of progress."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from toolscope_core.model.tool import JsonObject, canonical_json, digest

Vectors = NDArray[np.float32]

SharedValue = TypeVar("SharedValue")
WorkBlock = TypeVar("WorkBlock")
WorkResult = TypeVar("WorkResult")


class Embedder(Protocol):
    """Turns texts into vectors.

    ``name`` identifies the model and its version: equal names give equal vectors, so it is part
    of every cache key.
    """

    @property
    def name(self) -> str: ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """The vectors: float32 of shape (len(texts), d), L2-normalised, in the order of ``texts``.

        Raises ``ModelError`` if the model cannot be loaded.
        """


@runtime_checkable
class TokenEmbedder(Embedder, Protocol):
    """An embedder that also returns a vector for each token of a text."""

    def encode_with_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[Vectors]]:
        """The result of ``encode``, and for each text float32 of shape (tokens, d), rows
        L2-normalised, in one pass.

        Raises ``ModelError`` if the model cannot be loaded.
        """


@runtime_checkable
class VocabularyEmbedder(Embedder, Protocol):
    """An embedder that knows how well it reads a text and how informative each token is."""

    def token_weights(self, texts: Sequence[str]) -> list[Vectors]:
        """For each text, float32 weights of shape (tokens,), all above 0.

        Rare tokens in texts about tools weigh more. The order is that of ``TokenEmbedder``. Empty
        if no weights are known; then all tokens count alike.
        """

    def coverage(self, text: str) -> float:
        """The share in [0, 1] of a text's letters that the vocabulary covers by words or pieces of
        words; 1 for a text without letters.
        """


class PairScorer(Protocol):
    """Scores how well a text answers another, such as a cross-encoder."""

    def scores(self, text: str, others: Sequence[str]) -> NDArray[np.float32]:
        """The scores: float32 of shape (len(others),), in any range; a better answer scores higher.

        Raises ``ModelError`` if the model cannot be loaded.
        """


@dataclass(frozen=True, slots=True)
class Step:
    """Progress of long work: ``done`` of ``total`` items of ``stage``."""

    stage: str
    done: int
    total: int


Progress = Callable[[Step], None]
"""Called after every batch; may raise to cancel the work."""


def silent(step: Step) -> None:
    """Discards progress."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class SharedState(Generic[SharedValue]):
    """A value that every worker reads: an array, an encoder, a judge.

    It is sent to a worker once, on first use, and its memory is freed once nothing refers to it.
    """

    value: SharedValue


class Engine(Protocol):
    """Runs a function on blocks of work, here or on the workers of a cluster."""

    def map_blocks(
        self,
        function: Callable[[SharedValue, WorkBlock], WorkResult],
        shared: SharedState[SharedValue],
        blocks: Iterable[WorkBlock],
    ) -> Iterator[WorkResult]:
        """The results of ``function`` on the shared value and each block, in the order of the
        blocks.

        The function is defined at the top of a module (or is a ``partial`` of such a function), and
        its result depends only on its arguments: it may run elsewhere, or twice. Raises what the
        function raises, and ``EngineError`` if workers are lost.
        """


class LocalEngine:
    """An engine in this process: it works on a block when its result is requested."""

    def map_blocks(
        self,
        function: Callable[[SharedValue, WorkBlock], WorkResult],
        shared: SharedState[SharedValue],
        blocks: Iterable[WorkBlock],
    ) -> Iterator[WorkResult]:
        return (function(shared.value, block) for block in blocks)


LOCAL = LocalEngine()


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call of a chat model, answered by one JSON object.

    ``schema`` is the JSON Schema of that object; without one the answer is a text, which is read as
    ``{"text": …}``. ``name`` is its name at the endpoint (letters and underscores). ``most_tokens``
    limits the reply.
    """

    system: str
    user: str
    name: str
    schema: JsonObject | None
    most_tokens: int = 1_000

    @property
    def tokens(self) -> int:
        """Estimated tokens of the prompt and the schema, at four bytes each."""
        return -(-self._bytes // 4)

    @property
    def tokens_at_most(self) -> int:
        """An upper bound on the tokens of the prompt and its frame: one for each byte."""
        return self._bytes + 200

    @property
    def _bytes(self) -> int:
        texts = (self.system, self.user, canonical_json(self.schema))
        return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """The outcome of a call; ``reason`` says why there is no usable answer.

    ``final`` is false if the model has not answered (no connection, 429, a time-out): a retry may
    succeed after ``wait`` seconds, or never with this request if that is ``None``. ``text`` is the
    reply as it came. ``finish`` says why it ended (``length``: cut off; ``too long``: the question
    was). ``seconds`` is the time it took. ``counted`` is false if the endpoint does not report
    tokens.
    """

    reason: str = ""
    text: str = ""
    final: bool = True
    finish: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    counted: bool = True
    seconds: float = 0.0
    wait: float | None = None


@dataclass(frozen=True, slots=True)
class ChatReply(ModelReply):
    """An answer in JSON: ``value`` is an object that the task has to check."""

    value: JsonObject | None


@runtime_checkable
class RemoteModel(Protocol):
    """A model by its ``name`` at an ``origin``."""

    @property
    def name(self) -> str: ...

    @property
    def origin(self) -> str: ...


class ChatModel(RemoteModel, Protocol):
    """A model that answers in JSON, called with ``parameters``.

    Name, origin and parameters are part of every ledger key.
    """

    @property
    def parameters(self) -> JsonObject: ...

    def ask(self, request: ChatRequest) -> ChatReply:
        """One call, never repeated, within its deadline; failures are reported in the reply.

        Safe to call from several threads. Raises ``ModelStopError`` if no further call can succeed
        (key refused, quota used up, model unknown).
        """


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a model requests; ``arguments`` are ``None`` if it gave no JSON object."""

    id: str
    name: str
    arguments: JsonObject | None


@dataclass(frozen=True, slots=True)
class AgentReply(ModelReply):
    """A model's next turn in a conversation with tools.

    It has the ``calls`` that the model requests, or a ``text`` that ends the conversation.
    ``message`` is the turn in the form in which the next request repeats it.
    """

    calls: tuple[ToolCall, ...] = ()
    message: JsonObject = field(default_factory=dict)


class AgentModel(RemoteModel, Protocol):
    """A model that calls tools."""

    def turn(
        self, messages: Sequence[JsonObject], tools: Sequence[JsonObject], most_tokens: int
    ) -> AgentReply:
        """The next turn, of at most ``most_tokens``.

        ``messages`` and ``tools`` have the form of OpenAI's chat completions. One call, never
        repeated; safe to call from several threads.

        Raises ``ModelStopError`` if no further call can succeed.
        """


Item_contra = TypeVar("Item_contra", contravariant=True)


class Task(Protocol[Item_contra]):
    """One kind of question to a model, and the parser of its reply.

    ``version`` changes with the prompt. ``batch`` is the capacity of one call; each item uses its
    ``size`` of it.
    """

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def batch(self) -> int: ...

    def size(self, item: Item_contra) -> int:
        """How much of a batch the item uses, 1 or more; an item larger than a batch goes alone."""

    def subjects(self, item: Item_contra) -> tuple[str, ...]:
        """Sorted hashes of the tools that the answer depends on.

        They are content hashes, or fingerprints if the prompt shows servers.
        """

    def request(self, items: Mapping[str, Item_contra]) -> ChatRequest:
        """The call for these items by ledger key; the same in any order of the items."""

    def read(
        self, items: Mapping[str, Item_contra], value: JsonObject
    ) -> dict[str, JsonObject | str]:
        """The answer by key, or a text that says what is wrong with it; pure, never raises."""


def question_key(task: str, version: str, subjects: Sequence[str], model: ChatModel) -> str:
    """Ledger key (64 hex digits) of one question; ``subjects`` in any order."""
    return digest(task, version, sorted(subjects), model.name, model.origin, dict(model.parameters))


@dataclass(frozen=True, slots=True)
class Answer:
    """One row of the ledger.

    If the model gave no usable answer, ``value`` is ``None`` and ``reason`` says why. Such a row is
    not stored, so the next run asks again.
    """

    key: str
    task: str
    version: str
    subjects: tuple[str, ...]
    model: str
    origin: str
    value: JsonObject | None
    reason: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """One line of the log of calls, including failed ones (``error``); ``run`` names the run.

    ``cost`` is in the currency of the price table, ``None`` without a price.
    """

    run: str
    task: str
    model: str
    origin: str
    questions: int
    tokens_in: int = 0
    tokens_out: int = 0
    counted: bool = True
    cost: float | None = None
    seconds: float = 0.0
    finish: str = ""
    error: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True)
class TaskCost:
    """The cost of a task: its distinct ``questions``, how many ``reused`` a stored answer, and how
    many have no usable answer.
    """

    task: str
    questions: int = 0
    reused: int = 0
    unanalysed: int = 0
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None


def sum_of_tasks(costs: Iterable[TaskCost]) -> TaskCost:
    """The summed counts of all tasks, without costs."""
    rows = list(costs)
    counts = ("questions", "reused", "unanalysed", "calls", "tokens_in", "tokens_out")
    return TaskCost("all", **{name: sum(getattr(one, name) for one in rows) for name in counts})


class Ledger(Protocol):
    """Answers that were paid for. A committed answer is never asked for again."""

    def answers(self, keys: Sequence[str]) -> Mapping[str, Answer]:
        """The committed answers for these keys."""

    def commit(self, call: Call, answers: Sequence[Answer]) -> None:
        """Stores a call and its answers, all or nothing; existing answers are kept."""
