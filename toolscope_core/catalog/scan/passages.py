"""Every text that an agent may read of a tool or a server, with its place."""

from collections.abc import Set
from typing import Any, NamedTuple

from toolscope_core.catalog.flaws import below
from toolscope_core.catalog.scan.hidden import visible
from toolscope_core.model.catalog import Finding, Server, Severity
from toolscope_core.model.tool import Tool

AROUND = 30
SHOWN = 90


class Passage(NamedTuple):
    """A text and its path in the definition (``schema/properties/x/description``); what only the
    record holds is under ``raw``.
    """

    path: str
    text: str

    def finding(
        self, tool_id: str, severity: Severity, code: str, message: str, at: int = 0
    ) -> Finding:
        """A finding on this text, ``{field}`` of the message filled in; ``at`` is where to look."""
        field = visible(self.path)
        return Finding(tool_id, severity, code, field, message.format(field=field), self.cut(at))

    def cut(self, at: int) -> str:
        """The neighbourhood of a position, in one line, invisible characters written out."""
        start, end = max(0, at - AROUND), at + SHOWN
        shown = " ".join(visible(self.text[start:end]).split())
        return f"{'…' if start else ''}{shown}{'…' if end < len(self.text) else ''}"


def passages(tool: Tool) -> tuple[Passage, ...]:
    """The texts of a tool in reading order, keys and unknown fields of its record included; what
    the record only repeats is left out.
    """
    definition = {
        "name": tool.name,
        "description": tool.description,
        "server": tool.server,
        "schema": tool.schema,
        "returns": tool.returns,
        "annotations": tool.annotations,
    }
    own: list[Passage] = []
    _collect(definition, "", own, set())
    _collect(tool.raw, "raw", own, {passage.text for passage in own})
    return tuple(own)


def server_passages(server: Server) -> tuple[Passage, ...]:
    """The texts of a server, those of its namespace included."""
    own: list[Passage] = []
    _collect({"name": server.name, "description": server.description}, "", own, set())
    _collect(server.raw, "raw", own, {passage.text for passage in own})
    return tuple(own)


def _collect(value: Any, path: str, collected: list[Passage], skipped: Set[str]) -> None:
    """Add to ``collected`` every string of a JSON value, keys included, with its path, but for
    those in ``skipped``.
    """
    if isinstance(value, str):
        if value not in skipped:
            collected.append(Passage(path, value))
    elif isinstance(value, dict):
        for key, item in value.items():
            where = below(path, key)
            if path and key not in skipped:
                collected.append(Passage(where, key))
            if isinstance(item, (str, dict, list, tuple)):
                _collect(item, where, collected, skipped)
    elif isinstance(value, (list, tuple)):
        for row, item in enumerate(value):
            _collect(item, below(path, row), collected, skipped)
