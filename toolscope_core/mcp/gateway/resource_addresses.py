"""Finds the server to which a resource's address belongs; no other server receives the address."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from toolscope_core.files.json_lines import objects_of_list
from toolscope_core.mcp.gateway.routing import Route
from toolscope_core.model.tool import JsonObject

LONGEST_ADDRESS = 4_000
"""A longer text is not treated as an address."""
_MOST_NAMED = 10_000
"""The most addresses that are kept from a server's results; the oldest are dropped first."""
APP = "ui://"
_EXPRESSION = re.compile(r"\{([^{}]*)\}")
_OPERATORS = ("+", "#", "/", "?", "&", ".", ";")
_OF_ALL = frozenset("file http https ftp data ws wss".split())
"""Schemes that belong to no particular server. A template with such a scheme must also name a host
or a folder.
"""

SEPARATOR = "+"
"""``notes+file:///a.txt`` is the resource ``file:///a.txt`` of the server *notes*, because a scheme
may contain a plus sign. Clients that show apps accept only the scheme of apps, so
``ui://notes+card`` stands for ``ui://card``.
"""


def prefixes_of(names: Iterable[str]) -> dict[str, str]:
    """The prefix for each server: the server's name, written with the characters that a scheme may
    contain.
    """
    by_name: dict[str, str] = {}
    for name in sorted(names):
        plain = re.sub(r"[^a-z0-9.-]+", "-", name.lower()).strip("-.") or "server"
        plain = plain if plain[0].isalpha() else f"s-{plain}"
        number, prefix = 1, plain
        while prefix in by_name.values():
            number += 1
            prefix = f"{plain}-{number}"
        by_name[name] = prefix
    return by_name


Owners = frozenset[str]
_NOBODY: Owners = frozenset()


@dataclass(slots=True)
class ResourceAddresses:
    """The addresses of resources, and the servers to which they belong.

    ``by_tools`` has the addresses that the toolset's tools name. Other addresses are listed by a
    server, named in the results of a server's tools, or match a server's template. A plain address
    belongs to the one server that offers it in any of these ways; an address that several servers
    offer belongs to nobody. ``prefixes`` maps each server to the prefix of its addresses here.
    """

    by_tools: Mapping[str, Owners] = field(default_factory=dict)
    prefixes: Mapping[str, str] = field(default_factory=dict)
    _lists: dict[str, frozenset[str]] = field(default_factory=dict)
    _templates: dict[str, frozenset[str]] = field(default_factory=dict)
    _results: defaultdict[str, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))

    def name_here(self, server: str, own: str) -> str:
        """The name under which the gateway offers a server's address or prompt."""
        scheme = APP if own.startswith(APP) else ""
        return f"{scheme}{self.prefixes[server]}{SEPARATOR}{own.removeprefix(scheme)}"

    def split(self, text: str) -> tuple[str, str]:
        """The server that ``text`` names, and the server's own name for the resource or prompt.

        If the text names no server, the only server is meant; with several servers, the first value
        is empty.
        """
        scheme = APP if text.startswith(APP) else ""
        prefix, plus, rest = text.removeprefix(scheme).partition(SEPARATOR)
        server = next((one for one, own in self.prefixes.items() if plus and own == prefix), "")
        if server:
            return server, f"{scheme}{rest}"
        return (next(iter(self.prefixes)) if len(self.prefixes) == 1 else ""), text

    def note_listed(self, server: str, addresses: Iterable[str]) -> None:
        """Record the addresses that a server lists now."""
        self._lists[server] = frozenset(one for one in addresses if len(one) <= LONGEST_ADDRESS)

    def note_templates(self, server: str, templates: Iterable[str]) -> None:
        """Record the templates that a server lists now."""
        self._templates[server] = frozenset(one for one in templates if len(one) <= LONGEST_ADDRESS)

    def note_result(self, server: str, result: JsonObject) -> None:
        """Record the addresses that a result from a server's tool contains."""
        for item in objects_of_list(result.get("content")):
            inner = item.get("resource")
            address = (inner if isinstance(inner, dict) else item).get("uri")
            if isinstance(address, str) and len(address) <= LONGEST_ADDRESS:
                self._results[server][address] = None
        while len(self._results[server]) > _MOST_NAMED:
            del self._results[server][next(iter(self._results[server]))]

    def is_of(self, server: str, address: str) -> bool:
        """Whether the server, or one of its tools, has offered the address."""
        return (
            server in self.by_tools.get(address, _NOBODY)
            or address in self._lists.get(server, _NOBODY)
            or address in self._results[server]
            or any(matches(one, address) for one in self._templates.get(server, _NOBODY))
        )

    def owners(self, address: str) -> Owners:
        """The servers that offer a plain address in any way.

        If several servers offer the address, clients must write a server's prefix before it.
        """
        offers = [*self._lists.items(), *self._results.items()]
        return (
            self.by_tools.get(address, _NOBODY)
            | {server for server, addresses in offers if address in addresses}
            | self._matching(address)
        )

    def _matching(self, address: str) -> Owners:
        """The servers with a template that matches the address.

        The pages of apps are listed one by one, so templates for them do not count. Any other
        template must name a place, so that no server takes every unlisted address. A scheme alone
        is enough if it is not in ``_OF_ALL`` and no other server has an address with the same
        scheme.
        """
        return frozenset(
            server
            for server, templates in self._templates.items()
            if any(matches(one, address) and self._has_a_place(server, one) for one in templates)
        )

    def _has_a_place(self, server: str, template: str) -> bool:
        literal = template.partition("{")[0].casefold()
        scheme, colon, place = literal.partition(":")
        if not colon or f"{scheme}://" == APP:
            return False
        if scheme in _OF_ALL:
            return "/" in place.removeprefix("//").lstrip("/")
        return bool(place.strip("/")) or scheme not in self._schemes_beside(server)

    def _schemes_beside(self, server: str) -> set[str]:
        """The schemes of other servers' addresses."""
        every = [
            *(one for one, owners in self.by_tools.items() if owners - {server}),
            *(
                one
                for offers in (self._lists, self._results, self._templates)
                for other, addresses in offers.items()
                if other != server
                for one in addresses
            ),
        ]
        return {one.partition(":")[0].casefold() for one in every}


def addresses_of_tools(routes: Iterable[Route]) -> dict[str, Owners]:
    """For each address, the servers whose tools name the address as their page (MCP Apps, OpenAI
    Apps).
    """
    servers_of: defaultdict[str, set[str]] = defaultdict(set)
    for route in routes:
        for address in route.pages:
            servers_of[address].add(route.own_server)
    return {address: frozenset(servers) for address, servers in servers_of.items()}


def matches(template: str, address: str) -> bool:
    """Whether an address may come from a template (RFC 6570). Both are read in one pass.

    A variable takes as little text as possible, and no slash unless an operator allows it.
    """
    first, *parts = _EXPRESSION.split(template)
    if not parts or not address.startswith(first):
        return address == template
    at = len(first)
    for place in range(0, len(parts), 2):
        expression, literal = parts[place : place + 2]
        is_last = place + 2 == len(parts)
        end = len(address) - len(literal) if is_last else address.find(literal, at)
        if end < at or not address.startswith(literal, end):
            return False
        if not expression.startswith(_OPERATORS) and "/" in address[at:end]:
            return False
        at = end + len(literal)
    return True
