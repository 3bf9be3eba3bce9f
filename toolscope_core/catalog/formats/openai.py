"""OpenAI's chat completions, and its responses, which can group tools in a namespace."""

from toolscope_core.catalog.formats.record_format import RecordFormat, places
from toolscope_core.catalog.formats.target import LETTERS, Rules
from toolscope_core.model.catalog import Server

_RULES = Rules(
    name_rule=LETTERS,
    longest_name=64,
    longest_description=1024,
    most_tools=128,
    whole_object=True,
    typed_items=True,
)


class _Responses(RecordFormat):
    def holds(self, server: Server) -> bool:
        return bool(server.raw)


OPENAI_CHAT = RecordFormat(
    name="openai-chat",
    title="OpenAI chat",
    goes="Pass its list as `tools` to `chat.completions.create`.",
    rules=_RULES,
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
    offered=2,
    in_prompts=True,
    marks=lambda record: record.get("type") == "function" and "name" in record,
    template={
        **{"type": "function", "name": "", "description": "", "parameters": None},
        "strict": False,
    },
    places=places(
        name="name", description="description", schema="parameters", returns="output_schema"
    ),
)
