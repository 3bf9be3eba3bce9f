"""The targets that a toolset is checked against: the formats of tool records, and clients.

A new client is a module in ``catalog.clients`` and its name in ``CLIENTS`` there; docs/targets.md
is written from this table.
"""

from toolscope_core.catalog.clients.client_table import CLIENTS, FURTHER_CLIENTS
from toolscope_core.catalog.formats.format_table import OFFERED, format_named
from toolscope_core.catalog.formats.target import Target

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
