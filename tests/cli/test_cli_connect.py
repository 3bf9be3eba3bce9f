"""The command that reads tools from servers."""

import json
import re
import socket
import subprocess

import pytest
from typer.testing import CliRunner

from tests.mcp.servers.stub_http import stub_http
from tests.mcp.servers.stubs import MARK, TOKEN, entry, living, new_mark
from tests.support.json_files import write_json
from tests.support.printed import figures
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import load_paths
from toolscope_core.cli import app, connect_command


def run(*args, code=0, answers=None):
    arguments = ["connect", *map(str, args)]
    done = CliRunner().invoke(app, arguments, prog_name="toolscope", input=answers)
    assert done.exit_code == code, done.output
    assert TOKEN not in done.output
    return done.output


@pytest.fixture
def place(tmp_path):
    """Writes a configuration."""

    def write(name="mcp.json", **entries):
        write_json(tmp_path / name, {"mcpServers": entries})
        return tmp_path / name

    return write


@pytest.fixture
def on_terminal(monkeypatch):
    """Answers come from somebody who sees the questions."""
    monkeypatch.setattr(connect_command, "is_terminal", lambda: True)


@pytest.fixture
def out(tmp_path):
    return tmp_path / "catalog.json"


def test_servers_named_are_read_into_a_catalog(place, out):
    mark = new_mark()
    config = place(good=entry("good", **{MARK: mark}), left=entry("good"))
    output = run(config, "--out", out, "--server", "good")
    assert "good (stub 1.2): 2 tools in" in output
    assert "3 resources, 1 prompt" in output
    assert f"2 tools of 1 server; catalog: {out}" in output
    catalog = read_catalog(load_paths([out]))
    assert [tool.id for tool in catalog.tools] == ["good/read", "good/write"]
    assert TOKEN not in out.read_text("utf-8")
    assert living(mark) == []


def test_each_server_is_shown_and_asked_about(place, out, on_terminal):
    far = {"url": "http://user:pw@127.0.0.1:9/mcp", "headers": {"Authorization": "${AUTH}"}}
    config = place(good=entry("good"), no=entry("exits"), far=far)
    output = run(config, "--out", out, answers="y\nn\n\n")
    assert "stub_server.py good\n" in output
    assert "folder: " in output
    assert re.search("API_TOKEN .*configuration", output)
    assert "address: http://***@127.0.0.1:9/mcp (http or sse)" in output
    assert re.search(r"header: Authorization .*\$AUTH", output)
    assert output.count("[y/N]") == 3
    assert figures(output, "tools of")[:2] == [2, 1]


def test_yes_is_for_all_that_are_shown(place, out, on_terminal):
    output = run(place(a=entry("good"), b=entry("good")), "--out", out, "--yes")
    assert "[y/N]" not in output
    assert "4 tools of 2 servers" in output


def test_a_no_starts_nothing(place, out, on_terminal):
    output = run(place(a=entry("good")), "--out", out, answers="n\n", code=2)
    assert "none was started" in output
    assert not out.exists()


@pytest.mark.parametrize("more", [[], ["--yes"]])
def test_without_a_terminal_servers_have_to_be_named(place, out, more):
    output = run(place(a=entry("good")), "--out", out, *more, code=2)
    assert "--server NAME" in output
    assert not out.exists()


def test_without_a_file_to_write_servers_are_only_shown(place, monkeypatch):
    def never(*args, **kwargs):
        raise AssertionError("something was started")

    monkeypatch.setattr(subprocess, "Popen", never)
    monkeypatch.setattr(socket.socket, "connect", never)
    output = run(place(a=entry("good"), b={"url": "http://127.0.0.1:9/mcp"}), "--server", "a")
    assert "variable: API_TOKEN" in output
    assert "address: http://127.0.0.1:9/mcp" in output


def test_one_that_fails_is_said_and_the_others_are_written(place, out):
    config = place(good=entry("good"), bad=entry("exits"))
    output = run(config, "--out", out, "--server", "good", "--server", "bad", code=1)
    assert "failed  bad ended with status 7" in output
    assert "toolscope: 1 server" in output
    assert len(read_catalog(load_paths([out])).tools) == 2
    answer = run(
        config, "--out", out, "--server", "good", "--server", "bad", "--json", code=1
    ).partition("toolscope:")[0]
    good, bad = json.loads(answer)
    assert (good["tools"], good["beside tools"]["prompt"], bad["kind"]) == (2, 1, "exit")


def test_where_all_fail_nothing_is_written(place, out):
    output = run(place(bad=entry("exits")), "--out", out, "--server", "bad", code=2)
    assert "no server could be read:" in output
    assert "bad ended with status 7" in output
    assert not out.exists()


def test_an_address_takes_the_place_of_a_configuration(out):
    with stub_http() as (base, _):
        output = run(f"{base}/mcp", "--out", out, "--server", "127.0.0.1")
    assert "1 tool of 1 server" in output


@pytest.mark.parametrize(("other", "name"), [({}, "a"), ({"ACCOUNT": "another"}, "a (other.json)")])
def test_servers_of_one_name_are_one_or_told_apart(place, out, other, name):
    first, second = place(a=entry("good")), place("other.json", a=entry("good", **other))
    output = run(first, second, "--out", out, "--server", name)
    assert figures(output, "tools of")[:2] == [2, 1]


def test_an_odd_entry_is_named_and_hides_no_other(tmp_path, place, out):
    config = place(a=entry("good"), off={"disabled": True})
    output = run(config, "--out", out, "--server", "a")
    assert figures(output, "tools of")[:2] == [2, 1]
    assert "'off'" in run(config)
    (tmp_path / "mcp.xml").write_text("<application/>")
    assert "JetBrains" in run(tmp_path / "mcp.xml", code=2)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--server", "none"], "no server 'none'; it has a"),
        (["--server", "a", "--timeout", "0"], "start_seconds is 0.0"),
        (["--server", "a", "--parallel", "0"], "parallel servers is 0; use 1 to 64"),
    ],
)
def test_what_cannot_be_done_is_said(place, out, args, words):
    assert words in run(place(a=entry("good")), "--out", out, *args, code=2).replace("\n", " ")


def test_a_file_that_is_no_configuration(tmp_path, out):
    assert "cannot be read: No such file" in run(tmp_path / "none", "--out", out, code=2)
    (tmp_path / "x.json").write_text("[]")
    assert "names no MCP server" in run(tmp_path / "x.json", "--out", out, code=2)


def test_the_folder_of_the_catalog_has_to_be_there(place, tmp_path):
    mark = new_mark()
    config = place(a=entry("good", **{MARK: mark}))
    output = run(config, "--out", tmp_path / "no" / "c.json", "--server", "a", code=2)
    assert f"{tmp_path / 'no'}'" in output and "--out" in output
