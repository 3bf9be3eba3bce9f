"""The clients of a machine, found in made-up homes: their servers, each once, and what is broken."""

import json
import os
import socket
import subprocess
from dataclasses import replace

import pytest

from toolscope_core.mcp.servers.client_places import Machine
from toolscope_core.mcp.servers.machine_servers import (
    CATALOG,
    keep_records,
    kept_records,
    machine_servers,
)

FERRY = {"command": "npx", "args": ["-y", "ferry-mcp"], "env": {"KEY": "sk-ferry-secret-1"}}
TOML = '[mcp_servers.ferry]\ncommand = "npx"\nargs = ["-y", "ferry-mcp"]\nenv_vars = ["KEY"]\n'
YAML = "extensions:\n  ferry: {type: stdio, cmd: npx, args: [-y, ferry-mcp], env_keys: [KEY]}\n"
USUAL, VSCODE = {"mcpServers": {"ferry": FERRY}}, {"servers": {"ferry": FERRY}}
OPENCODE = {"mcp": {"ferry": {"type": "local", "command": ["npx", "-y", "ferry-mcp"]}}}
ROAMING, LIBRARY = "AppData/Roaming", "Library/Application Support"
PLACES = [
    ("linux", ".claude.json", "Claude Code", USUAL),
    ("linux", ".config/Claude/claude_desktop_config.json", "Claude Desktop", USUAL),
    ("darwin", f"{LIBRARY}/Claude/claude_desktop_config.json", "Claude Desktop", USUAL),
    ("win32", f"{ROAMING}/Claude/claude_desktop_config.json", "Claude Desktop", USUAL),
    ("linux", ".cursor/mcp.json", "Cursor", USUAL),
    ("linux", ".config/Code/User/mcp.json", "VS Code", VSCODE),
    ("linux", ".config/Code/User/settings.json", "VS Code", {"mcp": VSCODE}),
    ("darwin", f"{LIBRARY}/Code/User/profiles/-7a/mcp.json", "VS Code", VSCODE),
    ("win32", f"{ROAMING}/Code - Insiders/User/mcp.json", "VS Code Insiders", VSCODE),
    ("linux", ".codeium/windsurf/mcp_config.json", "Windsurf", USUAL),
    ("linux", ".codex/config.toml", "Codex", TOML),
    ("linux", ".gemini/settings.json", "Gemini CLI", USUAL),
    ("linux", ".gemini/extensions/sea/gemini-extension.json", "Gemini CLI", USUAL),
    ("darwin", ".config/zed/settings.json", "Zed", {"context_servers": {"ferry": FERRY}}),
    ("win32", f"{ROAMING}/Zed/settings.json", "Zed", {"context_servers": {"ferry": FERRY}}),
    ("linux", ".config/opencode/opencode.jsonc", "opencode", OPENCODE),
    ("linux", ".config/goose/config.yaml", "Goose", YAML),
    ("win32", f"{ROAMING}/Block/goose/config/config.yaml", "Goose", YAML),
    ("linux", ".copilot/mcp-config.json", "Copilot CLI", USUAL),
    ("linux", ".continue/mcpServers/sea.yaml", "Continue", json.dumps(USUAL)),
    ("linux", ".kiro/settings/mcp.json", "Kiro", USUAL),
    ("win32", ".config/amp/settings.json", "Amp", {"amp.mcpServers": {"ferry": FERRY}}),
    ("linux", ".junie/mcp/mcp.json", "JetBrains Junie", USUAL),
    ("win32", "AppData/Local/github-copilot/intellij/mcp.json", "Copilot in JetBrains", VSCODE),
    ("linux", "shop/.mcp.json", "Claude Code", {"ferry": FERRY}),
    ("linux", "shop/.cursor/mcp.json", "Cursor", USUAL),
    ("linux", "shop/.vscode/mcp.json", "VS Code", VSCODE),
    ("linux", "shop/.kiro/settings/mcp.json", "Kiro", USUAL),
]


@pytest.fixture
def home(tmp_path):
    """Somebody's home; nothing may be started or reached."""
    (tmp_path / "shop/.git").mkdir(parents=True)
    (tmp_path / "shop/src").mkdir()
    return tmp_path


def write(home, **files):
    for name, value in files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")


def setup_of(home, platform="linux", **environ):
    return machine_servers(Machine(home, environ, platform, home / "shop/src"))


@pytest.mark.parametrize(("platform", "path", "client", "content"), PLACES)
def test_each_client_has_its_place(home, platform, path, client, content):
    write(home, **{path: content})
    setup = setup_of(home, platform)
    assert (setup.clients, setup.problems) == ((client,), ())
    (server,) = setup.servers
    assert (server.name, server.definition.command_line) == ("ferry", "npx -y ferry-mcp")
    assert "sk-ferry-secret" not in repr(setup.servers)


@pytest.mark.parametrize(
    ("variable", "path", "content"),
    [
        ("XDG_CONFIG_HOME", "Code/User/mcp.json", VSCODE),
        ("CLAUDE_CONFIG_DIR", ".claude.json", USUAL),
        ("CODEX_HOME", "config.toml", TOML),
        ("COPILOT_HOME", "mcp-config.json", USUAL),
    ],
)
def test_a_variable_moves_the_folder_of_a_client(home, variable, path, content):
    write(home, **{f"elsewhere/{path}": content})
    assert setup_of(home).servers == ()
    assert len(setup_of(home, **{variable: str(home / "elsewhere")}).servers) == 1


def test_claude_code_has_projects_and_installed_plugins(home):
    app, plugin = home / "shop", home / ".claude/plugins/cache/market/sea/1"
    listed = {"version": 2, "plugins": {"sea@market": [{"installPath": str(plugin)}]}}
    started = {"command": "node", "args": ["${CLAUDE_PLUGIN_ROOT}/server.js"]}
    write(
        home,
        **{
            ".claude.json": {"projects": {str(app): USUAL, str(home / "old"): {}}},
            "old/.mcp.json": {"tide": {"type": "http", "url": "https://tide.example/mcp"}},
            ".claude/plugins/installed_plugins.json": listed,
            ".claude/plugins/cache/market/sea/1/.mcp.json": {"sea": started},
            ".claude/plugins/marketplaces/market/plugins/air/.mcp.json": {"air": started},
            ".claude/settings.json": {"enabledPlugins": {"sea@market": False}},
        },
    )
    places = {
        one.name: (one.places_in_words, one.definition.disabled) for one in setup_of(home).servers
    }
    assert places == {
        "ferry": ("Claude Code [~/shop]", False),
        "tide": ("Claude Code [~/old]", False),
        "sea": ("Claude Code [plugin sea]", True),
    }
    sea = setup_of(home).configuration.entries.get("sea")
    assert sea["args"] == [f"{plugin}/server.js"] and sea["cwd"] == str(plugin)
    (home / ".claude/plugins/installed_plugins.json").unlink()
    assert [one.name for one in setup_of(home).servers] == ["ferry", "tide", "sea"]


def test_one_broken_file_or_entry_hides_nothing(home):
    entries = {"ferry": FERRY, "off": {"disabled": True}, "sock": {"type": "ws", "url": "ws://a"}}
    write(
        home,
        **{
            ".cursor/mcp.json": {"mcpServers": {**entries, "far": {"url": "ftp://x"}, "odd": 5}},
            ".codeium/windsurf/mcp_config.json": '{"mcpServers": {',
            ".gemini/settings.json": {"theme": "dark"},
        },
    )
    os.mkfifo(home / ".claude.json")
    plugins = {name: {"installPath": name} for name in ("a\0b", "c" * 5_000)}
    write(home, **{".claude/plugins/installed_plugins.json": {"plugins": plugins}})
    setup = setup_of(home)
    assert (len(setup.clients), len(setup.servers)) == (3, 1)
    assert setup.clients_without == ("Gemini CLI",)
    places = [(".claude.json", "not a file"), ("windsurf", "line 1"), ("off", "no command"),
              ("sock", "WebSocket"), ("far", "ftp"), ("odd", "object")]  # fmt: skip
    assert len(setup.problems) == len(places)
    for place, word in places:
        assert [one for one in setup.problems if place in one and word in one]


def test_nothing_is_started_or_reached_and_only_files_of_clients_are_opened(home, monkeypatch):
    def never(*args, **kwargs):
        raise AssertionError("something was started")

    monkeypatch.setattr(subprocess.Popen, "__init__", never)
    monkeypatch.setattr(socket.socket, "connect", never)
    own = [row for row in PLACES if row[0] == "linux"]
    write(home, **{path: content for _, path, _, content in own})
    write(home, **{".ssh/id": "key", "shop/secrets.json": USUAL})
    opened = []
    real = os.open
    monkeypatch.setattr(
        os, "open", lambda path, *rest: opened.append(str(path)) or real(path, *rest)
    )
    assert set(setup_of(home).clients) == {client for _, _, client, _ in own}
    assert [path for path in opened if ".ssh" in path or "secrets" in path] == []


def test_lists_are_kept_for_the_servers_they_are_of(home, tmp_path):
    write(home, **{".cursor/mcp.json": USUAL})
    servers, cache = setup_of(home).servers, tmp_path / "cache"
    records = {"ferry": {"name": "ferry", "tools": [{"name": "sail"}], "source": {"at": "now"}}}
    assert kept_records(cache, servers) == {}
    assert keep_records(cache, servers, records) == cache / CATALOG
    assert (cache / CATALOG).stat().st_mode & 0o077 == 0
    (record,) = kept_records(cache, servers).values()
    assert record["tools"] == [{"name": "sail"}]
    other = replace(servers[0], definition=replace(servers[0].definition, command="uvx"))
    assert kept_records(cache, (other,)) == {}
    (cache / CATALOG).write_text("{")
    assert kept_records(cache, servers) == {}
