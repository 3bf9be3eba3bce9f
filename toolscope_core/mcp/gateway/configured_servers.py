"""Which server of a configuration is which server of the catalog, and how it is launched."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from toolscope_core.mcp.gateway.bundle_routes import ServedBundle
from toolscope_core.mcp.servers.launches import Launch, read_launch
from toolscope_core.mcp.servers.server_definitions import ClientConfiguration
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.unicode_forms import letters_and_digits


def keys_given(texts: Sequence[str]) -> dict[str, str]:
    """What ``--server`` says. Raises ``ConfigError`` for a text that is no ``catalog=key``."""
    pairs = [text.partition("=") for text in texts]
    wrong = next((text for text, pair in zip(texts, pairs, strict=True) if not pair[1]), None)
    if wrong is not None:
        raise ConfigError(f"--server was given {wrong!r}; give CATALOG=KEY")
    return {name: key for name, _, key in pairs}


def launches_of(
    bundle: ServedBundle,
    configuration: ClientConfiguration,
    given: Mapping[str, str],
    environ: Mapping[str, str],
    masks_results: bool = False,
) -> tuple[dict[str, str], dict[str, Callable[[], Launch]]]:
    """By the catalog's name of each server that calls of the bundle may reach: its key in the
    configuration (see ``matched_servers``), and what reads how it is launched when it is called.

    Raises ``ConfigError`` where a server has no entry.
    """
    configured = [server.name for server in configuration.servers]
    keys = matched_servers(bundle.table.servers, configured, given)
    values = environ, masks_results
    return keys, {name: _launch(configuration, key, *values) for name, key in keys.items()}


def matched_servers(
    servers: Sequence[str], configured: Sequence[str], given: Mapping[str, str]
) -> dict[str, str]:
    """For each of the catalog's ``servers`` the key of the configuration: the one ``given``, else
    the same name, else the only one of that name but for case and signs if no other server has it,
    else the only one there is for a catalog without servers.

    Raises ``ConfigError`` with what is to be given where one has none, and where a name in
    ``given`` does not exist.
    """
    unknown = [f"{name}={key}" for name, key in given.items() if key not in configured]
    unknown += [f"{name}={key}" for name, key in given.items() if name not in servers]
    if unknown:
        raise ConfigError(
            f"--server was given {unknown[0]!r}; the toolset has {_listed(servers)}, the "
            f"configuration {_listed(configured)}"
        )
    keys = {name: given.get(name) or likely_key(name, configured) for name in servers}
    uses = Counter(keys.values())
    for name, key in keys.items():  # two accounts of a server are never one connection unasked
        if uses[key] > 1 and name not in (key, *given):
            keys[name] = None
    missing = [name for name, key in keys.items() if key is None]
    if missing:
        raise ConfigError(
            f"the configuration has no server called {missing[0]!r}; it has "
            f"{_listed(configured)}; give --server {missing[0]}=KEY"
            + (f", and so for {_listed(missing[1:])}" if missing[1:] else "")
        )
    return {name: key for name, key in keys.items() if key is not None}


def likely_key(name: str, configured: Sequence[str]) -> str | None:
    """The key of a server as ``matched_servers`` finds it, ``None`` where it does not."""
    if name in configured:
        return name
    alike = [key for key in configured if letters_and_digits(key) == letters_and_digits(name)]
    if not name and len(configured) == 1:
        return configured[0]
    return alike[0] if name and len(alike) == 1 else None


def _launch(
    configuration: ClientConfiguration, key: str, environ: Mapping[str, str], masks_results: bool
) -> Callable[[], Launch]:
    definition = next(one for one in configuration.servers if one.name == key)

    def launch() -> Launch:
        read = read_launch(definition, configuration.entry(key), environ)
        return replace(read, masks_results=masks_results)

    return launch


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names)) or "none"
