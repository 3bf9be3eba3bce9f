"""OpenAI's chat completions, and its responses, which can group tools in a namespace."""

from toolscope_core.catalog.formats.record_format import RecordFormat, places, value_at, with_value
from toolscope_core.catalog.formats.target import LETTERS, Rules
from toolscope_core.model.catalog import Server
from toolscope_core.model.tool import JsonObject

_RULES = Rules(
    name_rule=LETTERS,
    longest_name=64,
    longest_description=1024,
    most_tools=128,
    declared_object=True,
    whole_object=True,
    typed_items=True,
)
_SOURCE = "https://platform.openai.com/docs/guides/function-calling"
_AS_OF = "2026-11"


class _OpenAi(RecordFormat):
    def sendable(self, record: JsonObject, is_new: bool) -> JsonObject:
        """The parameters say which there are, be it none: nothing is lost by that."""
        path = self.places["schema"][0]
        schema = value_at(record, path)
        says_enough = "properties" in schema if isinstance(schema, dict) else not is_new
        if says_enough:
            return record
        plain = schema if isinstance(schema, dict) else {"type": "object"}
        return with_value(record, path, {**plain, "properties": {}})


class _Responses(_OpenAi):
    def holds(self, server: Server) -> bool:
        return bool(server.raw)


OPENAI_CHAT = _OpenAi(
    name="openai-chat",
    title="OpenAI chat",
    goes="Pass its list as `tools` to `chat.completions.create`.",
    rules=_RULES,
    source=_SOURCE,
    as_of=_AS_OF,
    offered=1,
    in_prompts=True,
    advised=True,
    marks=lambda record: isinstance(record.get("function"), dict),
    template={"type": "function", "function": {}},
    places=places(
        name="function.name", description="function.description", schema="function.parameters"
    ),
)
OPENAI_RESPONSES = _Responses(
    name="openai-responses",
    title="OpenAI responses",
    goes="Pass its list as `tools` to `responses.create`.",
    rules=_RULES,
    source=_SOURCE,
    as_of=_AS_OF,
    offered=2,
    in_prompts=True,
    tool_search={"type": "tool_search"},
    marks=lambda record: record.get("type") == "function" and "name" in record,
    template={
        **{"type": "function", "name": "", "description": "", "parameters": None},
        "strict": False,
    },
    places=places(
        name="name", description="description", schema="parameters", returns="output_schema"
    ),
)
