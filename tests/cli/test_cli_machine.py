"""``toolscope`` alone: the clients of this machine, asked once, their tools kept."""

import json
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from tests.mcp.servers.stubs import TOKEN, entry
from tests.support.printed import figures
from toolscope_core.cli import app, machine_command
from toolscope_core.cli.machine_report import machine_report
from toolscope_core.mcp.servers.client_places import Origin
from toolscope_core.merging.coverage import CoverageLink, ServerCoverage
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.tool import Tool


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The home of somebody who has two clients, and a project of which another wrote a file."""
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "TOOLSCOPE_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    good, other = entry("good"), entry("good", ACCOUNT="another")
    write(tmp_path / ".cursor/mcp.json", a=good, off={"disabled": True})
    ended = {"command": sys.executable, "args": ["-c", "raise SystemExit(7)"]}
    write(tmp_path / ".claude.json", a=good, bad=ended)
    write(tmp_path / "app/.mcp.json", b=other)
    monkeypatch.chdir(tmp_path / "app")
    return tmp_path


@pytest.fixture
def on_terminal(monkeypatch):
    monkeypatch.setattr(machine_command, "is_terminal", lambda: True)


@pytest.fixture
def starts(monkeypatch):
    """Whether a program is started, which it may not be."""

    def never(*args, **kwargs):
        raise AssertionError("something was started")

    monkeypatch.setattr(subprocess.Popen, "__init__", never)
    monkeypatch.setattr("toolscope_core.mcp.servers.offers.read_offers", never)


def write(path, **entries):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"mcpServers": entries}))


def run(*args, answers=None):
    done = CliRunner().invoke(app, list(args), prog_name="toolscope", input=answers)
    assert done.exit_code == 0, done.output
    assert TOKEN not in done.output and "\x1b" not in done.output
    return done.output


@pytest.mark.parametrize("args", [[], ["inspect"], ["--no-start"], ["overview", "--fresh"]])
def test_without_a_terminal_it_prints_and_starts_nothing(home, starts, args):
    output = run(*args)
    assert figures(output, "On this machine") == [2, 3]
    assert "a  Claude Code, Cursor" in output
    assert re.search("a and b: .*ACCOUNT", output)
    assert "~/.cursor/mcp.json: off " in output
    assert "Start " not in output and not (home / ".cache").exists()


def test_a_machine_without_clients_is_told_what_to_give(tmp_path, monkeypatch, starts):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert "0 clients" in run() and "toolscope inspect" in run()


@pytest.mark.parametrize(
    ("answers", "listed"), [("n\n", ""), ("\n", ""), ("choose\ny\nn\nn\n", "a"), ("y\n", "a b")]
)
def test_it_asks_once_and_keeps_the_lists(home, on_terminal, answers, listed):
    output = run(answers=answers)
    assert output.count("[y / N / choose]") == 1
    assert ("status 7" in output) == (answers == "y\n")
    kept = home / ".cache/toolscope/this-machine.json"
    names = [one["name"] for one in json.loads(kept.read_text())["servers"]] if listed else []
    assert " ".join(names) == listed and TOKEN not in repr(names)
    if listed:
        assert f"toolscope merge {kept}" in output


def test_a_name_in_a_question_cannot_move_the_cursor(home, on_terminal, starts):
    write(home / "app/.mcp.json", **{"b\x1b[2K": entry("other")})
    assert run(answers="choose\nn\nn\nn\n").count("b⟨U+001B⟩[2K?") == 1


def test_what_is_kept_is_shown_at_once(home, on_terminal, monkeypatch):
    run("--yes")
    monkeypatch.setattr("toolscope_core.mcp.servers.offers.read_offers", None)
    output = run("--no-start")
    assert "By server" in output and "By client" in output
    report = json.loads(run("--json"))
    assert report["report"]["tools_by_server"] == {"a": 2, "b": 2}
    assert report["report"]["tools_by_client"] == {"Claude Code": 4, "Cursor": 2}
    assert [one["name"] for one in report["servers"]] == ["a", "bad", "b"]
    assert report["servers"][0]["listed"] and not report["servers"][1]["listed"]
    assert len(report["report"]["sentences"]) == 3


def test_yes_without_a_terminal_starts_nothing_that_a_project_brings(home):
    report = json.loads(run("--yes", "--json").partition("\n")[2])
    assert list(report["report"]["tools_by_server"]) == ["a"]
    assert len(report["failures"]) == 1


def test_without_the_sdk_nothing_is_asked_and_the_extra_is_named(home, on_terminal, monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp", None)
    output = run("--yes")
    assert "toolscope-workbench[gateway]" in output and "2 clients" in output


@pytest.mark.parametrize("args", [["--fail-on", "block"], ["tools.json", "--yes"]])
def test_inspect_says_which_options_are_for_files_and_which_for_this_machine(home, starts, args):
    done = CliRunner().invoke(app, ["inspect", *args], prog_name="toolscope")
    assert (done.exit_code, args[-1 if "--yes" in args else 0] in done.output) == (2, True)


SEARCHES = [("web", "search"), ("fetch", "look_up"), ("fetch", "read")]
"""Of the servers, ``fetch`` does the job of ``web``."""


@pytest.mark.parametrize(
    ("clients", "sentence"),
    [
        (("Cursor", "Cursor"), "Switch off web "),
        (("Cursor", "Claude"), ""),
        (("Cursor", "Claude Cursor"), "Switch off web "),
        (("Claude Cursor", "Cursor"), "In Cursor: Switch off web "),
        (("Claude Cursor", "Claude Cursor"), "Switch off web "),
    ],
)
def test_advice_is_on_servers_that_one_client_has(clients, sentence):
    servers = [in_clients(*pair) for pair in zip(("web", "fetch"), clients, strict=True)]
    (first, *_) = report_on(servers, SEARCHES, [("web/search", "fetch/look_up")]).sentences
    assert first.startswith(sentence) and bool(sentence) == ("web" in first)


def test_a_client_is_advised_by_its_own_servers_where_another_has_a_better_one():
    tools = [("web", "search"), ("best", "find"), ("good", "look_up"), ("good", "read")]
    links = [
        ("web/search", "best/find"),
        ("web/search", "good/look_up"),
        ("best/find", "good/look_up"),
    ]
    servers = [
        in_clients(*row) for row in (("web", "Cursor Zed"), ("best", "Zed"), ("good", "Cursor"))
    ]
    sentences = report_on(servers, tools, links).sentences
    (cursor,) = (one for one in sentences if "Cursor" in one)
    assert cursor.startswith("In Cursor: Switch off web ") and "good does" in cursor


def test_copies_are_told_of_one_client():
    tools = [(server, name) for server in ("files", "photos") for name in ("read", "list")]
    for client, told in (("Cursor", True), ("Zed", False)):
        servers = [in_clients("files", "Cursor"), in_clients("photos", client)]
        sentences = " ".join(report_on(servers, tools, ()).sentences)
        assert ("photos offer the same tools in Cursor" in sentences) == told


def in_clients(name, clients):
    uses = [SimpleNamespace(disabled=False, origin=Origin("", one)) for one in clients.split()]
    return SimpleNamespace(name=name, uses=uses)


def report_on(servers, tools, links):
    """The report on tools, each its server and name, of which those linked do one job."""
    schema = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
    catalog = Catalog(tuple(Tool(f"{s}/{n}", n, "Does it.", s, schema) for s, n in tools))
    both = {}
    for a, b in links:
        both.setdefault(a, {})[b] = both.setdefault(b, {})[a] = CoverageLink(0.9, False)
    return machine_report(servers, catalog, ServerCoverage(catalog, both))
