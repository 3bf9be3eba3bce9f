"""Catalogs read from servers. The servers are shown first and started after a confirmation; their
tools are added like a file.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from toolscope_core.catalog.sources import Source
from toolscope_core.mcp.servers import configured_servers, server_definitions
from toolscope_core.mcp.servers.offers import ServerOffer, catalog_document, read_offers, records_of
from toolscope_core.model.configuration import ConnectionLimits
from toolscope_core.model.environment import Settings
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.protocols import Progress
from toolscope_core.store.engine import Store, now
from toolscope_core.store.named_rows import keep_server_source, read_server_source
from ui.shared.kept import kept
from ui.shared.services.workspace import Workspace
from ui.shared.snapshot import Snapshot

JOB_KIND = "connect"
_KEPT = 8
"""The maximum number of readings kept in memory until they are added."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What the servers offered in one reading, in the order of the configuration."""

    servers: tuple[server_definitions.ServerDefinition, ...]
    offers: tuple[ServerOffer, ...]
    at: str

    @property
    def tools(self) -> int:
        return sum(len(offer.tools) for offer in self.offers)

    @property
    def read(self) -> tuple[str, ...]:
        """The names of the servers that answered."""
        return tuple(offer.name for offer in self.offers if not offer.failure)


@dataclass(frozen=True, slots=True)
class ServersRead:
    """The servers from which a catalog was last read, in a form that may be shown, and the time of
    the reading.
    """

    at: str
    servers: tuple[server_definitions.ServerDefinition, ...]
    others: tuple[tuple[str, str], ...]

    @property
    def configuration(self) -> server_definitions.ClientConfiguration:
        """The servers without the values. Those that need no values can be read again with it."""
        return server_definitions.ClientConfiguration("the last reading", self.servers)


@dataclass(frozen=True, slots=True)
class TickedServers:
    """Servers of the catalog. For each ticked one, ``keys`` has the name of its entry in the
    configuration.
    """

    names: tuple[str, ...]
    configuration: server_definitions.ClientConfiguration | None
    keys: Mapping[str, str]

    @property
    def is_complete(self) -> bool:
        return self.configuration is not None and self.keys.keys() >= set(self.names)

    def required(
        self, settings: Settings, is_shared: bool
    ) -> server_definitions.ClientConfiguration:
        """The configuration, if all of the servers may be started. Raises ``ConfigError``
        otherwise.
        """
        if reason := why_off(settings, is_shared):
            raise ConfigError(reason)
        if self.configuration is None or not self.is_complete:
            raise ConfigError(
                f"the server {min(set(self.names) - self.keys.keys())!r} is not chosen; choose its "
                "entry in the configuration and tick it"
            )
        return self.configuration


@kept()
def _surveys(work: Workspace) -> dict[int, Survey]:
    """For each catalog id, the reading that was made while that catalog was on the screen."""
    return {}


def why_off(settings: Settings, is_shared: bool) -> str:
    """A sentence that says why no server may be started from the screen. Empty if servers may be
    started.

    ``is_shared`` says that other machines may reach the app.
    """
    if not is_shared or settings.visitors_start_servers:
        return ""
    return (
        "Reading servers is off because other machines can reach this app, and anyone who "
        "reaches it could run commands on this machine. Use `connect` on the command line, or "
        "allow it with TOOLSCOPE_VISITORS_START_SERVERS=1."
    )


def configuration(label: str, data: bytes) -> server_definitions.ClientConfiguration:
    """The servers in ``data``, which is a client's configuration or an address. Nothing is started.

    Raises ``ConfigError``.
    """
    if data.startswith((b"http://", b"https://")):
        return server_definitions.configuration_of_url(data.decode("utf-8", "replace").strip())
    return configured_servers.read_configuration(label, data)


def start(
    snapshot: Snapshot,
    configuration: server_definitions.ClientConfiguration,
    names: Sequence[str],
    is_shared: bool = False,
    limits: ConnectionLimits | None = None,
) -> str:
    """Start or contact the named servers and list their tools in the background. Returns the job's
    id.

    The job belongs to the catalog on the screen. The configuration is kept in memory, and a
    server's values are read when its turn comes. Raises ``ConfigError`` if starting servers is off,
    or if a name is not configured.
    """
    if reason := why_off(snapshot.work.settings, is_shared):
        raise ConfigError(reason)
    servers = configuration.chosen(names)
    chosen_limits = limits or ConnectionLimits()

    def read(progress: Progress) -> None:
        drop(snapshot)
        offers = read_offers(servers, configuration, os.environ, chosen_limits, progress)
        surveys = _surveys(snapshot.work)
        surveys[snapshot.id] = Survey(servers, offers, now())
        while len(surveys) > _KEPT:
            del surveys[next(iter(surveys))]

    return snapshot.start(JOB_KIND, read)


def survey(snapshot: Snapshot) -> Survey | None:
    """The latest reading. ``None`` after it is added, and after a restart."""
    return _surveys(snapshot.work).get(snapshot.id)


def drop(snapshot: Snapshot) -> None:
    """Forget the latest reading."""
    _surveys(snapshot.work).pop(snapshot.id, None)


def source(snapshot: Snapshot, survey: Survey, kept_of: int | None = None) -> Source:
    """The tools of a reading as a file. It is previewed and added like any other file.

    With ``kept_of`` (the id of a catalog), servers of that catalog that were not read keep their
    tools.
    """
    limits = {}
    if kept_of is not None:
        catalog = snapshot.work.catalogs.open(kept_of)
        names = [server.name for server in catalog.servers if server.name not in survey.read]
        limits = records_of(catalog, names)
    by_name = {server.name: server for server in survey.servers}
    document = catalog_document(survey.offers, by_name, survey.at, limits)
    text = json.dumps(document, ensure_ascii=False)
    return Source("servers.json", text.encode("utf-8", "backslashreplace"))


def remember(store: Store, name: str, survey: Survey) -> None:
    """Store from which servers a catalog was read, without values, so that they can be read again.

    The servers of earlier readings are kept.
    """
    earlier = last_read(store, name)
    servers = {server.name: server for server in (earlier.servers if earlier else ())}
    others = dict(earlier.others) if earlier else {}
    servers |= {server.name: server for server in survey.servers if server.name in survey.read}
    others |= {offer.name: offer.extras for offer in survey.offers if not offer.failure}
    value = {
        "servers": [server.as_json() for server in servers.values()],
        "others": {name: beside for name, beside in others.items() if beside},
    }
    keep_server_source(store, name, value)


def last_read(store: Store, name: str) -> ServersRead | None:
    """The servers from which a catalog was last read.

    ``None`` if the catalog came from files, or if the stored row cannot be read.
    """
    source = read_server_source(store, name)
    if source is None:
        return None
    try:
        servers = tuple(map(server_definitions.ServerDefinition.of_json, source.value["servers"]))
        others = tuple((str(name), str(text)) for name, text in source.value["others"].items())
    except (ConfigError, KeyError, TypeError, AttributeError):
        return None
    return ServersRead(source.at, servers, others)


def changed_servers(
    now_given: server_definitions.ClientConfiguration, before: ServersRead
) -> tuple[server_definitions.ServerDefinition, ...]:
    """The servers whose command or address has changed since the last reading."""
    earlier = {server.name: server for server in before.servers}
    return tuple(
        server
        for server in now_given.servers
        if server.name in earlier
        and replace(server, disabled=False) != replace(earlier[server.name], disabled=False)
    )
