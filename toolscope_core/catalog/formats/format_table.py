"""The list of formats: what is read, written, offered and counted.

A new format of tool records is a module beside this one and its name in ``RECORD_FORMATS``. All
lists below, the choices of the command line and the screen, the formats in which tokens are counted
and the targets that a toolset is checked against (``target_table``) follow from that.
"""

from toolscope_core.catalog.clients.client_table import CLIENTS, FURTHER_CLIENTS
from toolscope_core.catalog.formats.benchmark_sets import BFCL, SEAL_TOOLS, ULTRATOOL
from toolscope_core.catalog.formats.mcp_records import MCP
from toolscope_core.catalog.formats.model_apis import (
    ANTHROPIC,
    GEMINI,
    OPENAI_CHAT,
    OPENAI_RESPONSES,
)
from toolscope_core.catalog.formats.neutral import GENERIC, NEUTRAL
from toolscope_core.catalog.formats.record_format import RecordFormat, Target
from toolscope_core.model.errors import ExportError

_IN_ORDER: tuple[RecordFormat, ...] = (
    NEUTRAL,
    OPENAI_CHAT,
    OPENAI_RESPONSES,
    ANTHROPIC,
    GEMINI,
    SEAL_TOOLS,
    ULTRATOOL,
    BFCL,
    MCP,
    GENERIC,
)
RECORD_FORMATS = {form.name: form for form in _IN_ORDER}
"""By name, in the order in which they are tried: a record is read in the first that it fits."""
_ON_OFFER = sorted((form for form in _IN_ORDER if form.offered), key=lambda form: form.offered)

OUTPUTS = tuple(RECORD_FORMATS)
"""The formats of tool records, in which a toolset can leave."""
INPUTS = (*OUTPUTS, "openapi", "csv", "mcp-client")
"""The formats that a source can be in: tool records, and other documents."""
OFFERED = tuple(form.name for form in _ON_OFFER)
"""The formats that an export offers, in its order."""
PROMPT_SHAPES = tuple(form.name for form in _ON_OFFER if form.in_prompts)
"""The formats in which tools stand in prompts; the first is the one that totals are given in."""
ADVISED = tuple(form.name for form in _ON_OFFER if form.advised)
"""The targets of which the first page says what they would refuse."""


def format_named(name: str) -> RecordFormat:
    """The format of tool records. Raises ``ExportError`` for a name not in ``OUTPUTS``."""
    if name not in RECORD_FORMATS:
        raise ExportError(f"the format {name!r} is unknown; give one of {', '.join(OUTPUTS)}")
    return RECORD_FORMATS[name]


_CHECKED_CLIENTS: dict[str, Target] = {
    client.name: client
    for client in (*(one for one in CLIENTS if one.is_checked), *FURTHER_CLIENTS)
}

MATRIX = (*OFFERED, *_CHECKED_CLIENTS)
"""The targets whose rules are shown side by side, in their order."""


def target_named(name: str) -> Target:
    """The format or client that a toolset is checked against.

    Raises ``ExportError`` for a name that is neither.
    """
    return _CHECKED_CLIENTS[name] if name in _CHECKED_CLIENTS else format_named(name)
