"""Finds the files in which MCP clients keep their servers, as the clients document them.

Only these files are opened, and the two files in which Claude Code lists its plugins and projects.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePath
from typing import Any

from toolscope_core.catalog.schema.walking import object_at
from toolscope_core.files.folders import read_file
from toolscope_core.mcp.servers.server_definitions import LARGEST, parsed_configuration
from toolscope_core.model.errors import ConfigError

CLAUDE_CODE = "Claude Code"


@dataclass(frozen=True, slots=True)
class Origin:
    """A place where servers are configured.

    ``part`` is the part of the client for which they are configured: the folder of a project,
    ``plugin NAME``, or empty for the whole client. ``root`` is the folder in which the servers are
    started, if the client defines one. ``with_project`` says that the file belongs to the project,
    so others may have written it. ``disabled`` says that the plugin is switched off.
    """

    path: str
    client: str
    part: str = ""
    root: str = ""
    with_project: bool = False
    disabled: bool = False

    @property
    def in_words(self) -> str:
        """The place in words, such as ``Claude Code [~/app]``."""
        return f"{self.client} [{self.part}]" if self.part else self.client

    @property
    def short_part(self) -> str:
        """The part; if the part is a folder, only the folder's own name."""
        return PurePath(self.part.replace("\\", "/")).name if self.part else ""


@dataclass(frozen=True, slots=True)
class ClientPaths:
    """The files of a client.

    ``user`` has files below the folders of ``Machine.folders``, and ``project`` has files below a
    project's folder. ``*`` matches any name.
    """

    client: str
    user: tuple[str, ...]
    project: tuple[str, ...] = ()


def _vscode(client: str, folder: str, *others: str) -> ClientPaths:
    own = f"{{apps}}/{folder}/User"
    files = (f"{own}/mcp.json", f"{own}/settings.json", f"{own}/profiles/*/mcp.json")
    return ClientPaths(client, (*files, *others), (".vscode/mcp.json",))


CLIENT_PATHS = (
    ClientPaths(CLAUDE_CODE, ("{claude}/.claude.json",), (".mcp.json",)),
    ClientPaths(
        "Claude Desktop",
        (
            "{apps}/Claude/claude_desktop_config.json",
            "{local}/Packages/Claude_*/LocalCache/Roaming/Claude/claude_desktop_config.json",
        ),
    ),
    ClientPaths("Cursor", ("{home}/.cursor/mcp.json",), (".cursor/mcp.json",)),
    _vscode("VS Code", "Code", "{home}/.vscode-server/data/User/mcp.json"),
    _vscode("VS Code Insiders", "Code - Insiders"),
    ClientPaths("Windsurf", ("{home}/.codeium/windsurf/mcp_config.json",)),
    ClientPaths("Codex", ("{codex}/config.toml",), (".codex/config.toml",)),
    ClientPaths(
        "Gemini CLI",
        ("{home}/.gemini/settings.json", "{home}/.gemini/extensions/*/gemini-extension.json"),
        (".gemini/settings.json",),
    ),
    ClientPaths(
        "Zed",
        ("{config}/zed/settings.json", "{roaming}/Zed/settings.json"),
        (".zed/settings.json",),
    ),
    ClientPaths(
        "opencode",
        ("{config}/opencode/opencode.json", "{config}/opencode/opencode.jsonc"),
        ("opencode.json", "opencode.jsonc"),
    ),
    ClientPaths(
        "Goose", ("{config}/goose/config.yaml", "{roaming}/Block/goose/config/config.yaml")
    ),
    ClientPaths("Copilot CLI", ("{copilot}/mcp-config.json",), (".github/mcp.json",)),
    ClientPaths(
        "Continue",
        (
            "{home}/.continue/config.yaml",
            "{home}/.continue/config.json",
            "{home}/.continue/mcpServers/*.yaml",
            "{home}/.continue/mcpServers/*.json",
        ),
        (".continue/mcpServers/*.yaml", ".continue/mcpServers/*.json"),
    ),
    ClientPaths("Kiro", ("{home}/.kiro/settings/mcp.json",), (".kiro/settings/mcp.json",)),
    ClientPaths(
        "Amp",
        ("{config}/amp/settings.json", "{config}/amp/settings.jsonc"),
        (".amp/settings.json", ".amp/settings.jsonc"),
    ),
    ClientPaths("JetBrains Junie", ("{home}/.junie/mcp/mcp.json",), (".junie/mcp/mcp.json",)),
    ClientPaths(
        "Copilot in JetBrains",
        ("{config}/github-copilot/intellij/mcp.json", "{local}/github-copilot/intellij/mcp.json"),
    ),
)
"""The documented files, as of 2026-11."""


@dataclass(frozen=True)
class Machine:
    """The machine whose files are read: its home folder, environment, ``sys.platform`` and working
    folder.
    """

    home: Path = field(default_factory=Path.home)
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    platform: str = sys.platform
    folder: Path = field(default_factory=Path.cwd)

    @cached_property
    def folders(self) -> dict[str, Path]:
        """The base folders of ``ClientPaths.user``. *local* and *roaming* exist only on Windows."""
        env, home = self.environ, self.home
        config = Path(env.get("XDG_CONFIG_HOME") or home / ".config")
        folders = {
            "home": home,
            "config": config,
            "apps": config,
            "claude": Path(env.get("CLAUDE_CONFIG_DIR") or home),
            "claude_home": Path(env.get("CLAUDE_CONFIG_DIR") or home / ".claude"),
            "codex": Path(env.get("CODEX_HOME") or home / ".codex"),
            "copilot": Path(env.get("COPILOT_HOME") or home / ".copilot"),
        }
        if self.platform == "darwin":
            folders["apps"] = home / "Library" / "Application Support"
        elif self.platform.startswith("win"):
            roaming = Path(env.get("APPDATA") or home / "AppData" / "Roaming")
            local = Path(env.get("LOCALAPPDATA") or home / "AppData" / "Local")
            folders |= {"apps": roaming, "roaming": roaming, "local": local}
        return folders

    @cached_property
    def projects(self) -> tuple[Path, ...]:
        """The working folder and its parents, up to the root of the repository."""
        around = (self.folder, *self.folder.parents)
        root = next((one for one in around if (one / ".git").exists()), self.folder)
        return around[: around.index(root) + 1]

    def shown(self, path: Path | str) -> str:
        """A path with ``~`` in place of the home folder."""
        with suppress(ValueError):
            return str(Path("~") / Path(path).relative_to(self.home))
        return str(path)


def configuration_files(machine: Machine) -> Iterator[tuple[Path, Origin]]:
    """The existing files of clients, each with its origin. For each client, the user's own files
    come before those of projects.
    """
    for client in CLIENT_PATHS:
        for template in client.user:
            for path in _existing(machine, template):
                yield path, _user_origin(machine, client.client, path)
        if client.client == CLAUDE_CODE:
            yield from _plugin_files(machine)
        for folder in machine.projects:
            yield from project_files(machine, client, folder)


def project_files(
    machine: Machine, client: ClientPaths, folder: Path
) -> Iterator[tuple[Path, Origin]]:
    """The existing files of a client in a project's folder."""
    for pattern in client.project:
        for path in _matches(folder, pattern):
            origin = Origin(machine.shown(path), client.client, machine.shown(folder), str(folder))
            yield path, replace(origin, with_project=True)


def origin_at(path: Path) -> Origin:
    """The origin of a named file, judged by where the file is.

    If that place belongs to no client, the file's name is used as the client.
    """
    path = path.absolute()
    for client in CLIENT_PATHS:
        for pattern in client.project:
            root = path.parents[min(len(PurePath(pattern).parts), len(path.parents)) - 1]
            if path.match(pattern) and root != Path.home():
                return Origin(str(path), client.client, str(root), str(root), with_project=True)
        tails = (template.partition("/")[2] for template in (*client.user, *client.project))
        if any(path.match(tail) for tail in tails if "/" in tail or tail.startswith(".")):
            return Origin(str(path), client.client)
    return Origin(str(path), path.name, str(path.parent))


def _existing(machine: Machine, template: str) -> Iterator[Path]:
    root, _, pattern = template.partition("/")
    folder = machine.folders.get(root.strip("{}"))
    if folder is not None:
        yield from _matches(folder, pattern)


def _matches(folder: Path, pattern: str) -> Iterator[Path]:
    with suppress(OSError, ValueError):  # the folder cannot be listed, or the name is impossible
        yield from sorted(folder.glob(pattern))


def _user_origin(machine: Machine, client: str, path: Path) -> Origin:
    """The origin of a user's file, with the profile or extension to which the file belongs. For an
    extension, ``root`` is the extension's folder.
    """
    kind = {"profiles": "profile", "extensions": "extension"}.get(path.parent.parent.name, "")
    root = str(path.parent) if kind == "extension" else ""
    part = f"{kind} {path.parent.name}" if kind else ""
    return Origin(machine.shown(path), client, part, root)


def _plugin_files(machine: Machine) -> Iterator[tuple[Path, Origin]]:
    """The server files of each installed plugin of Claude Code.

    The installed plugins are named in Claude Code's list. Without a list, they are searched for
    below the plugin folder, but not in marketplaces.
    """
    home = machine.folders["claude_home"]
    plugins = home / "plugins"
    switches = object_at(_value(home / "settings.json"), "enabledPlugins")
    plugin_list = object_at(_value(plugins / "installed_plugins.json"), "plugins")
    installs = [
        (name, Path(path))
        for name, entry in plugin_list.items()
        for one in (entry if isinstance(entry, list) else [entry])
        if isinstance(path := object_at(one).get("installPath"), str)
    ]
    if not installs:
        patterns = (f"{'*/' * depth}.mcp.json" for depth in range(1, 5))
        places = (path for pattern in patterns for path in _matches(plugins, pattern))
        folders = (one.parent for one in places if "marketplaces" not in one.parts)
        installs = [(folder.name, folder) for folder in folders]
    for name, folder in sorted(installs):
        part = f"plugin {name.partition('@')[0]}"
        for file in (".mcp.json", ".claude-plugin/plugin.json"):
            for path in _matches(folder, file):
                origin = Origin(machine.shown(path), CLAUDE_CODE, part, str(folder))
                yield path, replace(origin, disabled=switches.get(name) is False)


def _value(path: Path) -> Any:
    """The value of a Claude Code file; ``None`` if the file cannot be read."""
    with suppress(OSError, ConfigError):
        return parsed_configuration(path.name, read_file(path, LARGEST))
    return None
