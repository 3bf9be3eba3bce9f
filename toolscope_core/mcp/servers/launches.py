"""Reads the values for starting a server when it is started, and keeps them secret.

Also matches the servers in a configuration with the servers in the catalog.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from toolscope_core.files.folders import read_file
from toolscope_core.mcp.servers.masked_words import is_secret, without
from toolscope_core.mcp.servers.server_definitions import (
    VARIABLE,
    ClientConfiguration,
    NamedValue,
    ServerDefinition,
    items_of,
    process_text,
    url_of,
)
from toolscope_core.model.environment import MODEL_KEY, is_own_variable
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.tool import JsonObject
from toolscope_core.model.unicode_forms import letters_and_digits

_ANY_REFERENCE = re.compile(r"\$\{([^}]*)\}")
_HERE = {"userHome": "~", "workspaceFolder": "."}
_LARGEST_FILE = 1_000_000
_URL_SECRETS = re.compile(r"://([^/@\s]+)@|[?&][^=&#\s]+=([^&#\s]+)|/([^/?#\s]{20,})")


@dataclass(frozen=True, slots=True)
class Launch:
    """A server with its values. No value is shown in its ``repr`` or in messages, and none is
    stored.

    ``variables`` are the variables from the configuration. ``secrets`` are all texts that messages
    must not show. ``keys`` are the texts that are secret by their name or appearance. If
    ``masks_results`` is set, the keys are also removed from the results of calls.
    """

    definition: ServerDefinition
    command: str = field(default="", repr=False)
    args: tuple[str, ...] = field(default=(), repr=False)
    cwd: str | None = field(default=None, repr=False)
    url: str = field(default="", repr=False)
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: frozenset[str] = field(default=frozenset(), repr=False)
    keys: frozenset[str] = field(default=frozenset(), repr=False)
    masks_results: bool = False

    @property
    def name(self) -> str:
        return self.definition.name

    def clean(self, text: str) -> str:
        """The text without any of the secrets."""
        return without(text, self.secrets)


def read_launch(
    definition: ServerDefinition,
    entry: JsonObject | None,
    environ: Mapping[str, str],
    masks_results: bool = False,
) -> Launch:
    """The command or address of a server, with its values.

    The values come from the server's ``entry`` in the configuration and from ``environ``. Without
    an entry, only references can be filled in. Raises ``ConfigError`` if a variable is not set, or
    if a value is in a configuration that is not given.
    """
    if entry is None and definition.needs_configuration:
        raise ConfigError(
            f"the configuration of {definition.name} contains values that are "
            "not stored; provide it again"
        )
    fill = _Filling(definition.name, environ)
    source = entry or {}
    stdio = definition.transport == "stdio"
    command = fill.text(source.get("command", definition.command) if stdio else "")
    args = tuple(map(fill.text, items_of(source.get("args", definition.args)) if stdio else ()))
    url = "" if stdio else fill.text(url_of(source) or definition.url)
    cwd = fill.text(definition.cwd) if stdio else ""
    variables = fill.named(definition.variables, source.get("env"))
    if definition.env_file and stdio:
        variables = {**_env_file(definition.name, fill.text(definition.env_file)), **variables}
    headers = fill.named(definition.headers, source.get("headers"))
    hidden = _hidden_parts(definition, args, url)
    values = {**variables, **headers}
    keys = {value for name, value in values.items() if is_secret(name, value)} | hidden
    bare = {word for value in headers.values() for word in value.split() if len(word) > 7}
    return Launch(
        definition=definition,
        command=os.path.expanduser(command) if command.startswith("~") else command,  # noqa: PTH111
        args=args,
        cwd=str(Path(cwd).expanduser()) if cwd else None,
        url=url,
        variables=variables,
        headers=headers,
        secrets=frozenset({*values.values(), *hidden, *bare}),
        keys=frozenset(keys | bare),
        masks_results=masks_results,
    )


@dataclass(frozen=True, slots=True)
class _Filling:
    """Fills in the references in one server's configuration."""

    server: str
    environ: Mapping[str, str]

    def text(self, value: Any) -> str:
        text = process_text(value)
        if "\0" in text:
            raise ConfigError(f"the configuration of {self.server} has a NUL character; remove it")
        return _ANY_REFERENCE.sub(self._value, text)

    def named(self, templates: tuple[NamedValue, ...], values: Any) -> dict[str, str]:
        own = values if isinstance(values, dict) else {}
        return {one.name: self.text(own.get(one.name, one.template)) for one in templates}

    def _value(self, match: re.Match[str]) -> str:
        reference = VARIABLE.fullmatch(match.group())
        if reference is None:
            return self._special(match.group(1))
        name, default = reference.groups()
        if is_own_variable(name) or name.upper() == MODEL_KEY:
            raise ConfigError(
                f"{self.server} asks for {name}, which belongs to ToolScope and is not passed "
                "to servers; put the value into another variable, such as "
                f"SERVER_{name.upper()}, and name that variable in the server's "
                "configuration"
            )
        if name in _HERE and name not in self.environ:
            return str(Path(_HERE[name]).expanduser().resolve())
        value = self.environ.get(name, default)
        if value is None:
            raise ConfigError(
                f"{self.server} needs the environment variable {name}, which is not set; set "
                "it before you start ToolScope"
            )
        return value

    def _special(self, name: str) -> str:
        if name.startswith("input:"):
            raise ConfigError(
                f"{self.server} uses the VS Code input {name[6:]!r}, which ToolScope cannot ask "
                f"for; write ${{env:NAME}} instead, and set that variable"
            )
        raise ConfigError(
            f"{self.server} has the reference ${{{name}}}, which ToolScope does not understand; "
            "write ${NAME} for an environment variable"
        )


def _env_file(server: str, place: str) -> dict[str, str]:
    """The variables in a file of ``NAME=value`` lines. ToolScope's own variables are left out,
    since the file may be shared.
    """
    try:
        lines = read_file(Path(place).expanduser(), _LARGEST_FILE).decode("utf-8").splitlines()
    except (OSError, RuntimeError, ValueError) as error:  # no home for ~ raises RuntimeError
        why = getattr(error, "strerror", None) or "it is not text"
        raise ConfigError(
            f"{server} has an envFile that cannot be read: {why}; use a file with NAME=value lines"
        ) from error
    pairs = (line.strip().removeprefix("export ").partition("=") for line in lines)
    return {
        name.strip(): value.strip().strip("\"'")
        for name, sign, value in pairs
        if sign and name.strip() and not name.startswith("#") and not is_own_variable(name.strip())
    }


def _hidden_parts(definition: ServerDefinition, args: tuple[str, ...], url: str) -> set[str]:
    """The parts of arguments and the address that are hidden when these are shown."""
    hidden: set[str] = set()
    if not definition.masked:
        return hidden
    for masked, real in zip(definition.args, args, strict=False):
        if masked != real:
            hidden |= {real, *_differing(masked, real)}
    for match in _URL_SECRETS.finditer(url):
        hidden |= {part for part in match.groups() if part}
        hidden.update(match.group(1).split(":") if match.group(1) else ())
    return hidden


def _differing(masked: str, real: str) -> set[str]:
    """The parts of an argument that are masked."""
    pattern = "(.+?)".join(map(re.escape, masked.split("***")))
    match = re.fullmatch(pattern, real, re.DOTALL)
    parts = {part for part in match.groups() if part} if match else set()
    return parts | {piece for part in parts for piece in re.split(r"[:=&\s]", part) if piece}


def keys_given(texts: Sequence[str]) -> dict[str, str]:
    """The keys that were given with ``--server``, keyed by catalog name. Raises ``ConfigError`` if
    a text is not ``catalog=key``.
    """
    pairs = [text.partition("=") for text in texts]
    wrong = next((text for text, pair in zip(texts, pairs, strict=True) if not pair[1]), None)
    if wrong is not None:
        raise ConfigError(f"--server was given {wrong!r}; use CATALOG=KEY")
    return {name: key for name, _, key in pairs}


def launches_of(
    servers: Sequence[str],
    configuration: ClientConfiguration,
    chosen_keys: Mapping[str, str],
    environ: Mapping[str, str],
    masks_results: bool = False,
) -> tuple[dict[str, str], dict[str, Callable[[], Launch]]]:
    """Two mappings for the catalog's ``servers``: each server's key in the configuration, and a
    function that reads the server's launch.

    The keys are those of ``matched_servers``. Raises ``ConfigError`` if a server has no entry.
    """
    definitions = {one.name: one for one in configuration.servers}
    keys = matched_servers(servers, list(definitions), chosen_keys)
    return keys, {
        name: partial(
            read_launch, definitions[key], configuration.entries.get(key), environ, masks_results
        )
        for name, key in keys.items()
    }


def matched_servers(
    servers: Sequence[str], configured: Sequence[str], chosen_keys: Mapping[str, str]
) -> dict[str, str]:
    """For each of the catalog's ``servers``, its key in the configuration.

    A key in ``chosen_keys`` comes first, then a key that equals the server's name. Next comes the
    only key that differs from the name in nothing but case and signs, unless another server has it.
    If the catalog names no server, the only key is used. Raises ``ConfigError`` if a server has no
    key (the message says what to give), or if ``chosen_keys`` has an unknown name.
    """
    unknown = [f"{name}={key}" for name, key in chosen_keys.items() if key not in configured]
    unknown += [f"{name}={key}" for name, key in chosen_keys.items() if name not in servers]
    if unknown:
        raise ConfigError(
            f"--server {unknown[0]} names an unknown server; servers in the toolset: "
            f"{_names_text(servers)}; servers in the configuration: {_names_text(configured)}"
        )
    keys = {name: chosen_keys.get(name) or likely_key(name, configured) for name in servers}
    uses = Counter(keys.values())
    for name, key in keys.items():  # two accounts of a server must not share a connection unasked
        if uses[key] > 1 and name not in (key, *chosen_keys):
            keys[name] = None
    missing = [name for name, key in keys.items() if key is None]
    if missing:
        raise ConfigError(
            f"the configuration has no server called {missing[0]!r}; it has "
            f"{_names_text(configured)}; use --server {missing[0]}=KEY"
            + (f", and do the same for {_names_text(missing[1:])}" if missing[1:] else "")
        )
    return {name: key for name, key in keys.items() if key is not None}


def likely_key(name: str, configured: Sequence[str]) -> str | None:
    """The key that ``matched_servers`` finds for a server without ``chosen_keys``; ``None`` if
    there is no such key.
    """
    if name in configured:
        return name
    alike = [key for key in configured if letters_and_digits(key) == letters_and_digits(name)]
    if not name and len(configured) == 1:
        return configured[0]
    return alike[0] if name and len(alike) == 1 else None


def _names_text(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names)) or "none"
