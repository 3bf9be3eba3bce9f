"""The tools of Anthropic's messages."""

from toolscope_core.catalog.formats.record_format import RecordFormat, places
from toolscope_core.catalog.formats.target import LETTERS, Rules

TOOL_SEARCH = {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}

ANTHROPIC = RecordFormat(
    name="anthropic",
    title="Anthropic",
    goes="Pass its list as `tools` to `messages.create`.",
    rules=Rules(
        name_rule=LETTERS,
        longest_name=64,
        parameter_rule=r"[a-zA-Z0-9_.-]{1,64}",
        top_parameters=True,
        whole_object=True,
    ),
    source="https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use",
    as_of="2026-11",
    offered=3,
    in_prompts=True,
    needs_schema=True,
    advised=True,
    tool_search=TOOL_SEARCH,
    marks=lambda record: "input_schema" in record and "name" in record,
    template={"name": "", "description": "", "input_schema": {"type": "object"}},
    places=places(name="name", description="description", schema="input_schema"),
)
