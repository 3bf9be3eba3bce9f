"""Whether gold calls still run on a merged toolset: TCCR and UCC (ToolScope, appendix K.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from jsonschema_rs import Draft202012Validator

from toolscope_core.catalog.naming import ids_by_name
from toolscope_core.evaluation.measured_toolsets import Toolset
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.merging.call_validity import takes, validator_of
from toolscope_core.merging.calls import map_call, read_call
from toolscope_core.model.argument_map import ArgumentMap
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.tool import JsonObject


@dataclass(frozen=True, slots=True)
class GoldCall:
    """A call that a query needs: the id of the tool as the query names it, and the arguments."""

    tool: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class CallCoverage:
    """Of ``calls`` gold calls ``runnable`` can be made on the toolset: their tool is there, no
    argument is lost on the way by α, and the arguments validate against its schema. Of
    ``capabilities`` (a tool with a set of argument names) ``supported`` are those of which every
    call can be made.

    The paper asks for a tool that has arguments of the same names; here values count too, and only
    the tool that φ leads to.
    """

    calls: int
    runnable: int
    capabilities: int
    supported: int

    @property
    def tccr(self) -> float | None:
        """Tool-Call CallCoverage Rate; ``None`` without calls."""
        return self.runnable / self.calls if self.calls else None

    @property
    def ucc(self) -> float | None:
        """Unique Capability CallCoverage; ``None`` without calls."""
        return self.supported / self.capabilities if self.capabilities else None


def gold_calls(queries: Sequence[Query], catalog: Catalog) -> tuple[GoldCall, ...]:
    """The gold calls of the queries, in order, that are to tools of the catalog: by id, or by a
    name that one tool has. What is no such call is left out.
    """
    ids = ids_by_name(catalog.tools)
    calls = (call for query in queries for call in filter(None, map(read_call, query.calls)))
    return tuple(GoldCall(ids[name], arguments) for name, arguments in calls if name in ids)


def coverage(calls: Sequence[GoldCall], toolset: Toolset) -> CallCoverage:
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

    by_capability: dict[tuple[str, ...], list[bool]] = {}
    for call in calls:
        capability = (call.tool, *sorted(call.arguments))
        by_capability.setdefault(capability, []).append(runs(call))
    return CallCoverage(
        calls=len(calls),
        runnable=sum(map(sum, by_capability.values())),
        capabilities=len(by_capability),
        supported=sum(map(all, by_capability.values())),
    )


def mapped(call: GoldCall, alpha: ArgumentMap | None) -> tuple[JsonObject, bool]:
    """The arguments after α, and whether none was lost."""
    if alpha is None:
        return call.arguments, True
    moved = map_call(alpha, call.arguments)
    return moved.arguments, not moved.lost
