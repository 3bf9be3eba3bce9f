"""Sends the same calls to two tools on their servers, through the argument maps of their merge."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import anyio

from toolscope_core.calls.call_verdicts import AnsweredCall, CallComparison, comparison_of
from toolscope_core.calls.call_writing import SeenValues, is_guess, written_calls
from toolscope_core.calls.result_columns import CallAnswer, answer_of, resized_lists
from toolscope_core.catalog.calls import MappedCall, foreign_arguments, map_call, unmap_call
from toolscope_core.catalog.schema.walking import properties_of
from toolscope_core.judging.guards import effect
from toolscope_core.mcp.gateway.original_calls import ANY_REQUEST, AS_IT_CAME
from toolscope_core.mcp.gateway.original_servers import Hooks, OriginalServers
from toolscope_core.mcp.gateway.routing import Original
from toolscope_core.mcp.gateway.withheld_tools import DeclaredTools, declared_tools
from toolscope_core.mcp.servers.launches import Launch
from toolscope_core.mcp.servers.offers import read_tools, without_secrets
from toolscope_core.mcp.servers.server_failures import is_answer, only_leaf
from toolscope_core.mcp.servers.sessions import NO_ANSWERS, OpenServer, load_sdk
from toolscope_core.merging.synthesis import Synthesis
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import ArgumentMap, Cluster
from toolscope_core.model.configuration import ConnectionLimits
from toolscope_core.model.errors import ConfigError, ToolScopeError
from toolscope_core.model.numbers import enumerated
from toolscope_core.model.protocols import Progress, Step, silent
from toolscope_core.model.tool import JsonObject, Tool
from toolscope_core.wording.reading import read_tool

LIMITS = ConnectionLimits(answer_seconds=20.0, message_bytes=4 * 1024 * 1024)


@dataclass(frozen=True, slots=True)
class CallBudget:
    """Limits on the calls that are sent. Each call is sent twice to both servers.

    ``calls`` is the most different calls per pair, ``seconds`` the time for all pairs together, and
    ``per_minute`` the number of requests to each server per minute.
    """

    calls: int = 12
    seconds: float = 300.0
    per_minute: float = 120.0

    def __post_init__(self) -> None:
        for name in ("calls", "seconds", "per_minute"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"{name} is {getattr(self, name)}; use more than 0")


@dataclass(frozen=True, slots=True)
class ComparedTools:
    """A tool, and the tool that would take over its calls.

    ``alphas`` are the argument maps of both to their merged tool, which has the ``schema``.
    ``calls`` are arguments that a person wants to see sent, ``left_out`` those that the person does
    not want, and ``guesses`` those that a model wrote. Values found in results make further calls
    unless ``as_shown``. ``versions`` are those of both servers when their tools were listed, empty
    if unknown.
    """

    source: Tool
    target: Tool
    alphas: tuple[ArgumentMap, ArgumentMap]
    schema: JsonObject
    calls: tuple[JsonObject, ...] = ()
    left_out: tuple[JsonObject, ...] = ()
    guesses: tuple[JsonObject, ...] = ()
    as_shown: bool = False
    versions: tuple[str, str] = ("", "")

    @property
    def tools(self) -> tuple[Tool, Tool]:
        return self.source, self.target

    def mapped(self, arguments: JsonObject) -> MappedCall:
        """The call to the target that replaces a call to the source; ``losses`` fit nowhere in
        it.
        """
        merged = map_call(self.alphas[0], arguments)
        foreign = foreign_arguments(self.alphas[1], merged.arguments, properties_of(self.schema))
        types = {one.name: one.type for one in self.target.parameters}
        call = unmap_call(self.alphas[1], merged.arguments, types)
        return replace(call, losses=(*merged.losses, *foreign, *call.losses))

    def new_calls(self, seen: SeenValues, most: int) -> tuple[JsonObject, ...]:
        """The person's calls, a model's and written ones, without those of which an argument would
        be lost.
        """
        written = written_calls(self.source, SeenValues() if self.as_shown else seen, most)
        others = (one for one in (*self.guesses, *written) if one not in self.left_out)
        every = (*self.calls, *others)
        return tuple(one for one in every if not self.mapped(one).losses)[:most]

    def why_no_calls(self, seen: SeenValues) -> str:
        """Why there are no ``new_calls``, in words."""
        every = (*self.calls, *written_calls(self.source, seen, 1))
        lost = dict.fromkeys(f"`{name}`" for one in every for name in self.mapped(one).losses)
        if lost:
            return f"{self.target.id} has no place for {enumerated(lost)} of {self.source.id}"
        return f"nothing gives each argument of {self.source.id} a value; write calls for it"


def merge_pairs(catalog: Catalog, merge: Synthesis | Cluster) -> list[ComparedTools]:
    """Each member of a merge with the kept tool, by the merge's argument maps."""
    alphas = {alpha.tool_id: alpha for alpha in merge.arguments}
    versions = {server.name: server.version for server in catalog.servers}
    kept, schema = catalog.by_id[merge.canonical], merge.document.schema or {}
    return [
        ComparedTools(
            *(tool, kept, (alphas[tool.id], alphas[kept.id]), schema),
            versions=(versions.get(tool.server, ""), versions.get(kept.server, "")),
        )
        for tool in (catalog.by_id[one] for one in alphas if one != kept.id)
    ]


def called_servers(pairs: Sequence[ComparedTools]) -> tuple[str, ...]:
    """The servers that get calls, sorted."""
    return tuple(sorted({tool.server for one in pairs for tool in one.tools}))


def why_not_called(tool: Tool) -> str:
    """Why a person has to say first that the tool only reads; empty if that is clear.

    It is if its server says so and its words do not contradict that.
    """
    by_words = effect(read_tool(replace(tool, annotations={})))
    if tool.annotations.get("readOnlyHint") is not True:
        hint = ", but its words suggest it" if by_words == "reads" else ""
        return f"its server does not say that it only reads{hint}"
    is_odd = by_words == "destroys"
    return "its server says that it only reads, but by its words it deletes" if is_odd else ""


def compare_tools(
    pairs: Sequence[ComparedTools],
    launches: Mapping[str, Callable[[], Launch]],
    budget: CallBudget,
    limits: ConnectionLimits = LIMITS,
    progress: Progress = silent,
) -> tuple[CallComparison, ...]:
    """A comparison of each pair, in order, as far as the budget allows.

    Pairs whose tools need no argument come first, because their results supply values for the
    others. Only the servers of the pairs are started. The work on a pair ends at the first sign of
    an effect, or when a server fails. The thread must not have an event loop.
    """
    load_sdk()

    def needs(at: int) -> int:
        return sum(one.required for one in pairs[at].source.parameters)

    async def run() -> tuple[CallComparison, ...]:
        comparisons: dict[int, CallComparison] = {}
        total = len(pairs) * budget.calls
        async with anyio.create_task_group() as group:
            session = _Session(group, launches, budget, limits)
            for done, at in enumerate(sorted(range(len(pairs)), key=needs)):

                def report(calls: int, before: int = done * budget.calls) -> None:
                    progress(Step("answers", before + calls, total))

                comparisons[at] = await session.compare(pairs[at], report)
            group.cancel_scope.cancel()
        return tuple(comparisons[at] for at in range(len(pairs)))

    try:
        return anyio.run(run)
    except BaseExceptionGroup as group:
        raise only_leaf(group) from None


class _StopError(Exception):
    """Stops the calls of a pair; the message gives the reason."""


@dataclass(slots=True)
class _Session:
    """The servers of one run, the time of the last call to each, and the values seen in results."""

    group: anyio.abc.TaskGroup
    launches: Mapping[str, Callable[[], Launch]]
    budget: CallBudget
    limits: ConnectionLimits
    seen: SeenValues = field(default_factory=SeenValues)
    _declared: dict[str, DeclaredTools] = field(default_factory=dict)
    _next: dict[str, float] = field(default_factory=dict)
    _ends: float = field(init=False)
    _servers: OriginalServers = field(init=False)

    def __post_init__(self) -> None:
        self._ends = time.monotonic() + self.budget.seconds
        hooks = Hooks(look=self._look, tell=_ignore, notice=lambda sentence: None)
        self._servers = OriginalServers(self.group, self.launches, self.limits, hooks)

    async def compare(self, pair: ComparedTools, report: Callable[[int], None]) -> CallComparison:
        calls: list[AnsweredCall] = []
        stopped, versions = f"the {self.budget.seconds:g} seconds are over", ("", "")
        with anyio.move_on_after(self._ends - time.monotonic()):
            try:
                versions = (
                    await self._version(pair.source, pair.versions[0]),
                    await self._version(pair.target, pair.versions[1]),
                )
                await self._send_all(pair, calls, report)
                stopped = ""
            except (_StopError, ToolScopeError) as error:
                stopped = str(error)
        return replace(comparison_of(pair.tools, calls), stopped=stopped, versions=versions)

    async def _send_all(
        self, pair: ComparedTools, calls: list[AnsweredCall], report: Callable[[int], None]
    ) -> None:
        """Send each call to both, then once more; results may give values for further calls.

        Raises ``_StopError`` if there is no call to send.
        """
        while len(calls) < self.budget.calls:
            report(len(calls))
            sent = [one.arguments for one in calls]
            new = pair.new_calls(self.seen, self.budget.calls)
            # a single call is sent again as a new one: two are needed to see which values change by
            # themselves
            again = sent if len(sent) == 1 else []
            left = [*(one for one in new if one not in sent), *again]
            if not left:
                break
            calls.append(await self._answered(pair, left[0]))
        if not calls:
            raise _StopError(pair.why_no_calls(self.seen))

    async def _answered(self, pair: ComparedTools, arguments: JsonObject) -> AnsweredCall:
        """The call after it was sent to both servers, and once more if both answered.

        Raises ``_StopError`` if a list has a different length the second time.
        """
        mapped = pair.mapped(arguments).arguments
        both = (pair.source, arguments), (pair.target, mapped)
        first = await self._answer(*both[0]), await self._answer(*both[1])
        is_unsure = arguments in pair.guesses or is_guess(pair.source, arguments)
        guess = is_unsure and arguments not in pair.calls
        call = AnsweredCall(arguments, mapped, first, is_guess=guess)
        if not call.is_answered:
            return call
        second = await self._answer(*both[0]), await self._answer(*both[1])
        for tool, one, other in zip(pair.tools, first, second, strict=True):
            if lists := resized_lists(one.columns, other.columns):
                raise _StopError(
                    f"`{lists[0]}` in the results of {tool.id} had a different length when the "
                    "call was repeated, so calls may have side effects"
                )
        return call if any(one.refusal for one in second) else replace(call, again=second)

    async def _answer(self, tool: Tool, arguments: JsonObject) -> CallAnswer:
        """The answer to one call.

        Raises ``_StopError`` if the server fails or reports an effect.
        """
        now = time.monotonic()
        at = max(now, self._next.get(tool.server, now))
        self._next[tool.server] = at + 60.0 / self.budget.per_minute
        await anyio.sleep(at - now)
        server = await self._servers.ready(tool.server, NO_ANSWERS)
        body = {"name": tool.name, "arguments": dict(arguments)}
        with server.request() as request:
            try:
                result = await server.client.session.send_request(
                    ANY_REQUEST(method="tools/call", params=body), AS_IT_CAME
                )
            except Exception as error:
                if is_answer(error):
                    return CallAnswer(refusal=server.launch.clean(str(error)))
                doing = f"while it ran {tool.name}"
                raise await self._servers.failure(
                    tool.server, server, error, doing, request
                ) from error
        if result.get("resultType") == "input_required":
            raise _StopError(f"{tool.id} asks for input, which a comparison cannot give")
        answer = answer_of(without_secrets(result, server.launch.keys))
        if answer.effect:
            raise _StopError(f"{tool.id} reports an effect: {answer.effect[:80]}")
        self.seen.add(tool, answer.columns)
        return answer

    async def _version(self, tool: Tool, listed: str) -> str:
        """The version of the tool's server.

        Raises ``_StopError`` if the version is not ``listed`` (unless that is empty), or if the
        server no longer has the tool or now declares it differently from the catalog.
        """
        server = await self._servers.ready(tool.server, NO_ANSWERS)
        now = self._declared[tool.server].by_name.get(tool.name)
        if now is None or now.fingerprint != tool.fingerprint:
            what = "no longer has" if now is None else "has changed"
            raise _StopError(f"{tool.server} {what} {tool.name}; list its tools again")
        info = server.client.server_info
        version = info.version if info else ""
        if listed and version != listed:
            raise _StopError(
                f"{tool.server} has version {version!r}, but the catalog has {listed!r}; list its "
                "tools again"
            )
        return version

    async def _look(self, name: str, server: OpenServer) -> None:
        records, _ = await read_tools(server, self.limits)
        self._declared[name] = declared_tools(name, records, tuple[Original, ...]())


async def _ignore(name: str, method: str, message: object) -> None:
    """Ignores what servers send without being asked."""
