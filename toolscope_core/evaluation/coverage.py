"""Whether gold calls still run on a merged toolset: TCCR and UCC (ToolScope, appendix K.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from jsonschema_rs import Draft202012Validator

from toolscope_core.evaluation.measured_toolsets import Toolset
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.merging.call_validity import takes, validator_of
from toolscope_core.merging.calls import map_call, read_call
from toolscope_core.model.argument_map import ArgumentMap
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.tool import JsonObject


@dataclass(frozen=True, slots=True)
class GoldCall:
    """A call that a query needs: the id of the tool as the query names it, and the arguments.
    ``query`` is the query's place in its set.
    """

    tool: str
    arguments: JsonObject
    query: int = 0


@dataclass(frozen=True, slots=True)
class Coverage:
    """Of ``calls`` gold calls ``runnable`` can be made on the toolset: their tool is there, no
    argument is lost on the way by α, and the arguments validate against its schema. Of
    ``capabilities`` (a tool with a set of argument names) ``supported`` are those of which every
    call can be made. ``refused`` are the places of the others in the list of calls.

    The paper asks for a tool that has arguments of the same names; here values count too, and only
    the tool that φ leads to.
    """

    calls: int
    runnable: int
    capabilities: int
    supported: int
    refused: tuple[int, ...] = ()

    @property
    def tccr(self) -> float | None:
        """Tool-Call Coverage Rate; ``None`` without calls."""
        return self.runnable / self.calls if self.calls else None

    @property
    def ucc(self) -> float | None:
        """Unique Capability Coverage; ``None`` without calls."""
        return self.supported / self.capabilities if self.capabilities else None


def gold_calls(queries: Sequence[Query], catalog: Catalog) -> tuple[GoldCall, ...]:
    """The gold calls of the queries, in order, that are to tools of the catalog: by id, or by a
    name that one tool has. What is no such call is left out.
    """
    ids, used = catalog.by_id, Counter(tool.name for tool in catalog.tools)
    by_name = {tool.name: tool.id for tool in catalog.tools if used[tool.name] == 1}
    calls = []
    for place, query in enumerate(queries):
        for call in filter(None, map(read_call, query.calls)):
            own = call[0] if call[0] in ids else by_name.get(call[0])
            calls += [] if own is None else [GoldCall(own, call[1], place)]
    return tuple(calls)


def coverage(calls: Sequence[GoldCall], toolset: Toolset) -> Coverage:
    """Which gold calls can be made on a toolset."""
    tools = toolset.by_id

    @cache
    def validator(tool_id: str) -> Draft202012Validator | None:
        return validator_of(tools[tool_id].schema)

    def runs(call: GoldCall) -> bool:
        new = toolset.phi.get(call.tool, call.tool)
        if new not in tools:
            return False
        arguments, is_whole = mapped(call, toolset.arguments.get(call.tool))
        return is_whole and takes(validator(new), arguments)

    supported: dict[tuple[str, tuple[str, ...]], bool] = {}
    refused = []
    for at, call in enumerate(calls):
        is_run = runs(call)
        capability = (call.tool, tuple(sorted(call.arguments)))
        supported[capability] = supported.get(capability, True) and is_run
        refused += [] if is_run else [at]
    return Coverage(
        calls=len(calls),
        runnable=len(calls) - len(refused),
        capabilities=len(supported),
        supported=sum(supported.values()),
        refused=tuple(refused),
    )


def mapped(call: GoldCall, alpha: ArgumentMap | None) -> tuple[JsonObject, bool]:
    """The arguments after α, and whether none was lost."""
    if alpha is None:
        return call.arguments, True
    moved = map_call(alpha, call.arguments)
    return moved.arguments, not moved.lost
