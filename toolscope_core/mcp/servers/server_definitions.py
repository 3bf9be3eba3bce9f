"""MCP servers as client configurations define them: how each server is started or reached, without
values.

A definition may be shown and stored: it contains the names of variables and headers, and arguments
and addresses without secrets. ``launches`` reads the values when a server is started.
"""

import json
import re
import shlex
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal
from urllib.parse import urlsplit

from toolscope_core.catalog.flaws import Flaw, find_flaw
from toolscope_core.catalog.values import read_toml, read_yaml
from toolscope_core.mcp.servers.masked_words import shown_arguments, shown_text, shown_url
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.tool import JsonObject

Transport = Literal["stdio", "http", "sse", "http or sse"]
_URL_KEYS = ("url", "serverUrl", "httpUrl")
STREAMABLE = frozenset({"http", "streamable-http", "streamablehttp", "streamable_http"})
VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_]\w*)(?::-([^}]*))?\}")
"""``${NAME}`` and ``${NAME:-default}``, which Claude Code uses, and ``${env:NAME}``, which Cursor
and VS Code use.
"""
_PLAIN_REFERENCE = re.compile(rf"(?:(?:Bearer|Basic|Token|token) )?(?:{VARIABLE.pattern})")
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])')
LARGEST = 20_000_000
"""The most bytes in a configuration. The limit is high because Claude Code's file contains more
than servers.
"""


@dataclass(frozen=True, slots=True)
class NamedValue:
    """A variable or header with its name.

    ``template`` is the value if it is only a reference (``${NAME}``, ``Bearer ${NAME}``). It is
    empty if the configuration contains the value.
    """

    name: str
    template: str = ""

    @property
    def source(self) -> str:
        """The place from which the value comes, in words."""
        names = [match.group(1) for match in VARIABLE.finditer(self.template)]
        return f"${names[0]} of the environment" if names else "the configuration"


@dataclass(frozen=True, slots=True)
class ServerDefinition:
    """How one server is started (``command``) or reached (``url``), as far as this may be shown.

    ``masked`` says that an argument, the address or the command is partly hidden, so the
    configuration itself is needed to start the server. ``variables`` and ``headers`` are sorted by
    name.
    """

    name: str
    transport: Transport
    command: str = ""
    args: tuple[str, ...] = ()
    cwd: str = ""
    env_file: str = ""
    url: str = ""
    variables: tuple[NamedValue, ...] = ()
    headers: tuple[NamedValue, ...] = ()
    masked: bool = False
    disabled: bool = False

    @property
    def command_line(self) -> str:
        """The command line in shell syntax; empty for an address."""
        return shlex.join((self.command, *self.args)) if self.command else ""

    @property
    def host(self) -> str:
        """The host and port of the address; empty for a command."""
        try:
            return urlsplit(self.url).netloc.rpartition("@")[2]
        except ValueError:
            return ""

    @property
    def needs_configuration(self) -> bool:
        """Whether some values for starting the server are only in the configuration."""
        return self.masked or any(not one.template for one in (*self.variables, *self.headers))

    def as_json(self) -> dict[str, Any]:
        """The definition as plain values, which can be stored."""
        return asdict(self)

    @classmethod
    def of_json(cls, value: JsonObject) -> "ServerDefinition":
        """The definition from the output of ``as_json``. Raises
        ``ConfigError`` for anything else.
        """
        from pydantic import TypeAdapter, ValidationError

        try:
            return TypeAdapter(cls).validate_python(value)
        except ValidationError as error:
            places = ", ".join(str(one["loc"][0]) for one in error.errors() if one["loc"])
            raise ConfigError(
                f"a stored server definition cannot be read ({places}); provide the "
                "configuration again"
            ) from error


@dataclass(frozen=True, slots=True)
class ClientConfiguration:
    """The servers in one configuration.

    ``entries`` has the configuration's own entries with their values, keyed by server. They are
    kept in memory while servers are started, and are never shown or stored. ``odd`` gives the name
    of each other entry, and why the entry cannot be used.
    """

    label: str
    servers: tuple[ServerDefinition, ...]
    entries: Mapping[str, JsonObject] = field(default_factory=dict, repr=False, compare=False)
    odd: Mapping[str, str] = field(default_factory=dict)

    def chosen(self, names: Iterable[str]) -> tuple[ServerDefinition, ...]:
        """The servers with these names, each once.

        Raises ``ConfigError`` if there are no names, or if a server is not configured.
        """
        by_name = {server.name: server for server in self.servers}
        wanted = dict.fromkeys(names)
        if unknown := [name for name in wanted if name not in by_name]:
            raise ConfigError(
                f"{self.label} has no server {', '.join(map(repr, unknown))}; it has "
                f"{', '.join(by_name)}"
            )
        if not wanted:
            raise ConfigError("no server was chosen, so none was started; choose at least one")
        return tuple(by_name[name] for name in wanted)


def parsed_configuration(label: str, data: bytes) -> Any:
    """The value of a client's configuration.

    The file extension decides whether it is read as TOML, as YAML, or as JSON with comments and
    trailing commas, which VS Code allows. Raises ``ConfigError`` if it cannot be read.
    """
    if len(data) > LARGEST:
        raise ConfigError(f"{label} is {len(data):,} bytes long; use at most {LARGEST:,} bytes")
    if label.endswith(".xml"):
        raise ConfigError(
            f"{label} is XML, the format in which JetBrains stores servers; copy them as JSON from "
            "Settings, Tools, AI Assistant, Model Context Protocol, and use that JSON"
        )
    try:
        text = data.decode(json.detect_encoding(data))
        if label.endswith((".toml", ".yaml", ".yml")):
            return _of_other_syntax(label, text)
        with suppress(json.JSONDecodeError):
            return json.loads(text)
        for pattern in (_COMMENT, _LAST_COMMA):  # VS Code allows both
            text = pattern.sub(lambda match: match.group(1) or "", text)
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise ConfigError(f"{label} is not JSON: {error.msg} at {where}; correct it") from error
    except (UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{label} cannot be read as JSON; save it as UTF-8 text") from error


def _of_other_syntax(label: str, text: str) -> Any:
    value = read_toml(text) if label.endswith(".toml") else read_yaml(text)
    value = value[0] if isinstance(value, tuple) and value else value
    flaw = value.reason if isinstance(value, Flaw) else find_flaw(value)
    if flaw:
        raise ConfigError(f"{label} {flaw}")
    return value


def configuration_of_url(url: str) -> ClientConfiguration:
    """A configuration with one server at an address, named after the host. Raises ``ConfigError``
    if the address is not an http address.
    """
    entry, name = {"url": url.strip()}, ""
    with suppress(ValueError):  # an unreadable address is refused below
        name = urlsplit(url.strip()).hostname or ""
    return ClientConfiguration("address", (definition_of(name, entry),), {name: entry})


def url_of(entry: JsonObject) -> str:
    """The address in a configuration entry, under any of its usual keys; empty if the entry has no
    address.
    """
    return next((entry[key] for key in _URL_KEYS if isinstance(entry.get(key), str)), "")


def process_text(value: Any) -> str:
    """A value from a configuration, as it is passed to a process."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def items_of(value: Any) -> list[Any]:
    """The items of a list; an empty list for any other value."""
    return list(value) if isinstance(value, (list, tuple)) else []


def definition_of(name: str, entry: JsonObject) -> ServerDefinition:
    """The server that an entry in most clients' form defines. Raises ``ConfigError`` if the address
    cannot be used.
    """
    url = url_of(entry)
    kind = str(entry.get("type") or entry.get("transport") or "").lower()
    disabled = entry.get("disabled") is True or entry.get("enabled") is False
    command = "" if url and kind != "stdio" else process_text(entry.get("command"))
    if command:
        args = tuple(map(process_text, items_of(entry.get("args"))))
        definition = ServerDefinition(
            name=name,
            transport="stdio",
            command=shown_text(command),
            args=shown_arguments(args),
            cwd=process_text(entry.get("cwd")),
            env_file=process_text(entry.get("envFile")),
            variables=_named_values(entry.get("env")),
            disabled=disabled,
        )
        is_complete = (definition.command, definition.args) == (command, args)
    else:
        definition = ServerDefinition(
            name=name,
            transport=_transport(kind, url),
            url=shown_url(_checked(name, url)),
            headers=_named_values(entry.get("headers")),
            disabled=disabled,
        )
        is_complete = definition.url == url
    return replace(definition, masked=not is_complete)


def _transport(kind: str, url: str) -> Transport:
    if kind == "sse":
        return "sse"
    return "http" if kind in STREAMABLE else "http or sse"


def _checked(name: str, url: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname or "${" in url)
    except ValueError:
        usable = False
    if not usable and not url.startswith("${"):
        raise ConfigError(
            f"the address of server {name!r}, {shown_text(url)[:200]!r}, cannot be used; use "
            "one like https://example.com/mcp"
        )
    return url


def _named_values(values: Any) -> tuple[NamedValue, ...]:
    if not isinstance(values, dict):
        return ()
    return tuple(NamedValue(name, _template(values[name])) for name in sorted(values))


def _template(value: Any) -> str:
    """The value if it is only a reference without a default; otherwise empty."""
    match = _PLAIN_REFERENCE.fullmatch(value) if isinstance(value, str) else None
    return value if match and ":-" not in value else ""
