"""Protocols of what is replaceable (embedder, engine, chat model, ledger) and of progress."""

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
        """float32 of shape (len(texts), d), rows L2-normalised, in the order of ``texts``.

        Raises ``ModelError`` where the model cannot be loaded.
        """


@runtime_checkable
class TokenEmbedder(Embedder, Protocol):
    """An embedder that also gives the vectors of a text's tokens."""

    def encode_with_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[Vectors]]:
        """What ``encode`` gives, and for each text float32 of shape (tokens, d), rows
        L2-normalised, from one pass.

        Raises ``ModelError`` where the model cannot be loaded.
        """


@runtime_checkable
class VocabularyEmbedder(Embedder, Protocol):
    """An embedder that says how well it can read a text, and how much each token tells."""

    def token_weights(self, texts: Sequence[str]) -> list[Vectors]:
        """For each text float32 of shape (tokens,), all above 0: the rarer a token is in what is
        written about tools, the higher; those of ``TokenEmbedder``, in their order.
        """

    def coverage(self, text: str) -> float:
        """The share in [0, 1] of a text's letters that its vocabulary has in words or pieces of
        words; 1 for a text without any.
        """


class PairScorer(Protocol):
    """Scores how well a text answers another: a cross-encoder."""

    @property
    def name(self) -> str: ...

    def scores(self, text: str, others: Sequence[str]) -> NDArray[np.float32]:
        """float32 of shape (len(others),), in any range, higher for a better answer.

        Raises ``ModelError`` where the model cannot be loaded.
        """


@dataclass(frozen=True, slots=True)
class Step:
    """True progress of long work: ``done`` of ``total`` items of ``stage``."""

    stage: str
    done: int
    total: int


Progress = Callable[[Step], None]
"""Called after every batch; may raise to cancel the work."""


def silent(step: Step) -> None:
    """Progress that is not shown."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class SharedState(Generic[SharedValue]):
    """A value that every worker reads: an array, an encoder, a judge.

    It crosses to a worker once, when it is first needed there, and where it was put is free again
    when nobody holds this any more.
    """

    value: SharedValue


class Engine(Protocol):
    """Runs a function on blocks of work: here, or on the workers of a cluster."""

    def map_blocks(
        self,
        function: Callable[[SharedValue, WorkBlock], WorkResult],
        shared: SharedState[SharedValue],
        blocks: Iterable[WorkBlock],
    ) -> Iterator[WorkResult]:
        """``function`` of the shared value and each block, in the order of the blocks.

        The function stands at the top of a module (or is a ``partial`` of such a one), and what it
        returns depends on its arguments alone: it may run elsewhere, and again. Raises what it
        raises, and ``EngineError`` where workers are lost.
        """


class LocalEngine:
    """The engine of one process: a block is worked on when its result is asked for."""

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

    ``schema`` is the JSON Schema of that object and ``name`` what the endpoint calls it (letters
    and underscores); ``most_tokens`` limits the reply.
    """

    system: str
    user: str
    name: str
    schema: JsonObject
    most_tokens: int = 1_000

    @property
    def tokens(self) -> int:
        """Estimated tokens of the prompt, the schema included: four bytes each."""
        return -(-self._bytes // 4)

    @property
    def tokens_at_most(self) -> int:
        """Never fewer than a vocabulary of bytes makes of the prompt and what frames it."""
        return self._bytes + 200

    @property
    def _bytes(self) -> int:
        texts = (self.system, self.user, canonical_json(self.schema))
        return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """The outcome of a call; ``reason`` says why there is nothing usable.

    ``final`` is false where the model has not answered (no connection, 429, a time-out): asking
    again may succeed after ``wait`` seconds; ``None`` where this very request would fail again.
    ``text`` is the reply as it came, ``finish`` why it ended (``length``: cut off; ``too long``:
    the question was), ``seconds`` the time it took. ``counted`` is false where the endpoint does
    not report tokens.
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
    """An answer in JSON: ``value``, an object that the task has to check."""

    value: JsonObject | None


@runtime_checkable
class RemoteModel(Protocol):
    """A model by its ``name`` at an ``origin``."""

    @property
    def name(self) -> str: ...

    @property
    def origin(self) -> str: ...


class ChatModel(RemoteModel, Protocol):
    """A model that answers in JSON, asked with ``parameters``.

    Name, origin and parameters are part of every ledger key.
    """

    @property
    def parameters(self) -> JsonObject: ...

    def ask(self, request: ChatRequest) -> ChatReply:
        """One call, never repeated, at most as long as its deadline; what fails is in the reply.

        Safe to call from several threads. Raises ``ModelStopError`` where no further call can
        succeed (the key is refused, the quota used up, the model unknown).
        """


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a model asks for; ``arguments`` are ``None`` where it gave no JSON object."""

    id: str
    name: str
    arguments: JsonObject | None


@dataclass(frozen=True, slots=True)
class AgentReply(ModelReply):
    """A model's next turn in a conversation with tools: the ``calls`` it asks for, or a ``text``
    that ends it; ``message`` is the turn as the next request repeats it.
    """

    calls: tuple[ToolCall, ...] = ()
    message: JsonObject = field(default_factory=dict)


class AgentModel(RemoteModel, Protocol):
    """A model that calls tools."""

    def turn(
        self, messages: Sequence[JsonObject], tools: Sequence[JsonObject], most_tokens: int
    ) -> AgentReply:
        """The next turn, of at most so many tokens; ``messages`` and ``tools`` are in the form of
        OpenAI's chat completions. One call, never repeated; safe to call from several threads.

        Raises ``ModelStopError`` where no further call can succeed.
        """


Item_contra = TypeVar("Item_contra", contravariant=True)


class Task(Protocol[Item_contra]):
    """A kind of question to a model about items of one kind, and the parser of its reply.

    ``version`` changes with the prompt; ``batch`` is the most that one call holds, of which an item
    takes its ``size``.
    """

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def batch(self) -> int: ...

    def size(self, item: Item_contra) -> int:
        """How much of a batch the item takes, 1 or more; one larger than a batch is alone."""

    def subjects(self, item: Item_contra) -> tuple[str, ...]:
        """Sorted hashes of the tools that the answer depends on: content hashes, or fingerprints
        where their servers are shown.
        """

    def request(self, items: Mapping[str, Item_contra]) -> ChatRequest:
        """The call that asks about these items, by ledger key; the same in any order of them."""

    def read(
        self, items: Mapping[str, Item_contra], value: JsonObject
    ) -> dict[str, JsonObject | str]:
        """By key the answer, or (text) what is wrong with it; pure, never raises."""


def question_key(task: str, version: str, subjects: Sequence[str], model: ChatModel) -> str:
    """Ledger key (64 hex digits) of one question; ``subjects`` in any order."""
    return digest(task, version, sorted(subjects), model.name, model.origin, dict(model.parameters))


@dataclass(frozen=True, slots=True)
class Answer:
    """One row of the ledger. ``value`` is ``None``, with the ``reason``, where the model gave no
    usable answer: then it is in no ledger, and the next run asks again.
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
    """One line of the log of calls, failed ones too (``error``); ``run`` names the run.

    ``cost`` is in the currency of the price table, ``None`` where there is no price.
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
    """The cost of a task: different ``questions``, how many ``reused`` an answer of the ledger, and
    how many have no usable answer.
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
    """The counts of all tasks together, without their cost."""
    rows = list(costs)
    counts = ("questions", "reused", "unanalysed", "calls", "tokens_in", "tokens_out")
    return TaskCost("all", **{name: sum(getattr(one, name) for one in rows) for name in counts})


class Ledger(Protocol):
    """Answers that were paid for. What is committed is never asked again."""

    def answers(self, keys: Sequence[str]) -> Mapping[str, Answer]:
        """The committed ones among ``keys``."""

    def commit(self, call: Call, answers: Sequence[Answer]) -> None:
        """Keep a call and its answers, all or nothing; a key that has an answer stays as it is."""
