"""Shows the tools of a gateway to an agent, and passes the agent's calls to the gateway."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from toolscope_core.catalog.calls import unmap_call
from toolscope_core.catalog.formats.target_rules import FixedTool, fixed
from toolscope_core.catalog.formats.writers import write_record
from toolscope_core.evaluation.agent.agent_loop import ToolResult
from toolscope_core.llm.tasks.fence import cleaned_texts
from toolscope_core.mcp.gateway.call_mapping import chosen_original
from toolscope_core.mcp.gateway.routing import Route
from toolscope_core.merging.former_names import NewNames, composed
from toolscope_core.model.cluster import ArgumentMap
from toolscope_core.model.plan import MergedTool
from toolscope_core.model.protocols import ToolCall
from toolscope_core.model.tool import JsonObject, Tool

TARGET = "openai-chat"
NOT_CARRIED_OUT = (
    "This call was recorded but not carried out, because it may change something. Continue "
    "as if it had succeeded."
)

CallTool = Callable[[str, JsonObject], Awaitable[tuple[str, bool]]]
"""A function from a tool's name and arguments to its answer as text and whether that is an
error.
"""
ToolChooser = Callable[[str], Sequence[str]]
"""A function from a request to the ids of the tools that the agent gets."""


@dataclass(frozen=True, slots=True)
class _Offer:
    """A tool as the model sees it, with the data that maps the model's calls back."""

    route: Route
    record: JsonObject
    alpha: ArgumentMap

    @property
    def only_reads(self) -> bool:
        return dict(self.route.record.get("annotations") or {}).get("readOnlyHint") is True


class OfferedTools:
    """``AgentTools`` that pass their calls to a gateway through ``call_tool``.

    Names and schemas that chat completions refuse are changed, and changed back in calls. ``tools``
    are the tools of the gateway's bundle. ``choice`` picks tools by id; without it, all are
    offered. A tool that does not declare itself read-only is called only if ``changes`` is true.
    """

    def __init__(
        self,
        call_tool: CallTool,
        routes: Sequence[Route],
        tools: Sequence[Tool],
        choice: ToolChooser | None = None,
        changes: bool = False,
    ) -> None:
        self._call_tool, self._choice, self._changes = call_tool, choice, changes
        by_id = {tool.id: tool for tool in tools}
        merged = [
            MergedTool(replace(by_id[route.tool_id], name=route.name), (route.tool_id,))
            for route in routes
        ]
        mended = fixed(merged, TARGET)
        self._offers = {}
        for route, item in zip(routes, merged, strict=True):
            offer = _offer(route, mended.get(item.tool.id, FixedTool(item.tool)))
            self._offers[offer.record["function"]["name"]] = offer
        self._names = {offer.route.tool_id: name for name, offer in self._offers.items()}

    def definitions(self, request: str) -> list[JsonObject]:
        """See ``AgentTools``."""
        if self._choice is None:
            return [offer.record for offer in self._offers.values()]
        names = [self._names[one] for one in self._choice(request) if one in self._names]
        return [self._offers[name].record for name in names]

    async def call(self, call: ToolCall) -> ToolResult:
        """See ``AgentTools``."""
        offer = self._offers.get(call.name)
        if offer is None:
            return ToolResult("no tool", f"There is no tool {call.name!r}.")
        if call.arguments is None:
            return ToolResult("error", "The arguments are not a JSON object.")
        arguments = unmap_call(offer.alpha, call.arguments, {}).arguments
        original = chosen_original(offer.route, arguments)
        tool_id = original.tool_id if original else ""
        if not (offer.only_reads or self._changes):
            return ToolResult("not carried out", NOT_CARRIED_OUT, tool_id)
        text, is_error = await self._call_tool(offer.route.name, arguments)
        return ToolResult("error" if is_error else "ok", text, tool_id)


def _offer(route: Route, mended: FixedTool) -> _Offer:
    tool, renaming = mended.tool, mended.renaming
    alpha = ArgumentMap(tool.id, tool.id)
    if renaming.names:
        alpha = composed(alpha, NewNames(renaming.top, renaming.nested))
    return _Offer(route, cleaned_texts(write_record(tool, TARGET)), alpha)
