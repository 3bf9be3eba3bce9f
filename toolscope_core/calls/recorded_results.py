"""Compares tools by results that agents recorded; nothing is called."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from toolscope_core.calls.call_verdicts import AnsweredCall, CallComparison, comparison_of
from toolscope_core.calls.result_columns import CallAnswer, answer_of
from toolscope_core.calls.sent_calls import ComparedTools
from toolscope_core.catalog.calls import arguments_of
from toolscope_core.model.tool import JsonObject, Tool, canonical_json
from toolscope_core.usage.call_counts import CatalogNames
from toolscope_core.usage.call_forms import message_texts
from toolscope_core.usage.traced_calls import CallTrace, TracedCall


def recorded_comparisons(
    pairs: Sequence[ComparedTools], trace: CallTrace, tools: Sequence[Tool]
) -> tuple[CallComparison, ...]:
    """A comparison of each pair, based on the calls in a trace that both of its tools received.

    If a call was recorded twice for each tool, the second time shows which values change by
    themselves.
    """
    names = CatalogNames(tools)
    answers: defaultdict[tuple[str, str], list[CallAnswer]] = defaultdict(list)
    arguments_by_tool: defaultdict[str, dict[str, JsonObject]] = defaultdict(dict)
    for call in trace.calls:
        arguments = arguments_of(call.arguments or {})
        if arguments is not None and (call.result is not None or call.has_failed):
            for tool_id in names.of(call):
                key = canonical_json(arguments)
                answers[tool_id, key].append(_answer(call))
                arguments_by_tool[tool_id][key] = arguments
    comparisons = []
    for pair in pairs:
        source, target = pair.tools
        calls = []
        for key, arguments in arguments_by_tool[source.id].items():
            mapped = pair.mapped(arguments)
            both = answers[source.id, key], answers[target.id, canonical_json(mapped.arguments)]
            rows = [*zip(*both, strict=False)]
            if rows and not mapped.losses:
                again = rows[1] if len(rows) > 1 else None
                calls.append(AnsweredCall(arguments, mapped.arguments, rows[0], again))
        comparisons.append(comparison_of(pair.tools, calls))
    return tuple(comparisons)


def _answer(call: TracedCall) -> CallAnswer:
    """The answer in a recorded result, which may be a text, the parts of a message, or an MCP
    result.
    """
    value: Any = call.result
    if not isinstance(value, dict) or "content" in value:
        texts = message_texts(value if isinstance(value, dict) else {"content": value})
        value = {"content": [{"type": "text", "text": text} for text in texts]}
    else:
        value = {"structuredContent": value}
    return answer_of({**value, "isError": call.has_failed})
