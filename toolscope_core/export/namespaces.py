"""Servers as namespaces: a model that searches sees their names and descriptions, but no tools."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from textwrap import shorten

from toolscope_core.model.catalog import Server
from toolscope_core.model.cluster import grouped
from toolscope_core.model.plan import MergedTool
from toolscope_core.model.tool import Tool
from toolscope_core.wording.tool_text import tool_name_words

_NAMED = 24
"""The most tools that a description names. With eight, fewer requests find their server; with
more than this, no more requests do.
"""
_LONGEST_NAME, _LONGEST_ABOUT = 64, 300


def described_servers(
    servers: Iterable[Server], tools: Iterable[Tool], texts: Mapping[str, str]
) -> tuple[Server, ...]:
    """Each server with tools, sorted by name, with a description.

    The description is the one that people wrote (``texts``), or else the ``namespace_text``.
    """
    return tuple(
        replace(server, description=texts.get(server.name) or namespace_text(server, own))
        for server, own in servers_with_tools(servers, tools)
    )


def servers_with_tools(
    servers: Iterable[Server], tools: Iterable[Tool]
) -> tuple[tuple[Server, Sequence[Tool]], ...]:
    """Each server that has tools, with these tools, sorted by the server's name."""
    by_name = {server.name: server for server in servers}
    by_server = grouped(tools, lambda tool: tool.server)
    names = sorted(by_server.keys() - {""})
    return tuple((by_name.get(name, Server(name)), by_server[name]) for name in names)


def namespace_text(server: Server, tools: Sequence[Tool]) -> str:
    """The server's own description, shortened if it is long, and the names of its tools in
    words.
    """
    about = shorten(server.description, _LONGEST_ABOUT, placeholder=" …")
    names = list(dict.fromkeys(" ".join(tool_name_words(tool)) or tool.name for tool in tools))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{about} Tools: {', '.join(names[:_NAMED])}{more}.".strip()


def in_namespaces(
    tools: Iterable[MergedTool], servers: Sequence[Server]
) -> tuple[tuple[MergedTool, ...], tuple[Server, ...]]:
    """The tools and their servers, renamed so that OpenAI accepts the names as namespaces.

    Each server is one namespace. ``servers`` must include every server that the tools name.
    """
    new_names: dict[str, str] = {}
    for server in servers:
        name = plain = re.sub(r"[^a-zA-Z0-9_-]", "_", server.name)[:_LONGEST_NAME]
        numbers = count(2)
        while name in new_names.values():
            name = f"{plain[:56]}_{next(numbers)}"
        new_names[server.name] = name
    namespaces = (
        replace(server, name=new_names[server.name], raw={"type": "namespace", **server.raw})
        for server in servers
    )
    new_tools = (
        replace(item, tool=replace(item.tool, server=new_names.get(item.tool.server, "")))
        for item in tools
    )
    return tuple(new_tools), tuple(namespaces)
