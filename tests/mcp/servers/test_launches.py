"""The values of a server, read when it is started."""

import json
import os

import pytest

from toolscope_core.mcp.servers.configured_servers import read_configuration
from toolscope_core.mcp.servers.launches import read_launch
from toolscope_core.model.errors import ConfigError

ENVIRON = {"HOME": "/srv/me", "TOK": "tok-secret-1", "EMPTY": ""}


def launch(entry, environ=ENVIRON, with_entry=True):
    data = json.dumps({"mcpServers": {"s": entry}}).encode()
    configuration = read_configuration("mcp.json", data)
    given = configuration.entries.get("s") if with_entry else None
    return read_launch(configuration.servers[0], given, environ)


def test_references_are_filled_in_from_the_environment():
    entry = {
        "command": "${HOME}/bin/x",
        "args": ["--root", "${env:HOME}", "${NOT:-other}", "$HOME"],
        "cwd": "${userHome}",
        "env": {"A": "${TOK}", "B": "lit", "C": "${EMPTY}", "D": 5, "E": True, "F": None},
    }
    one = launch(entry)
    assert one.command == "/srv/me/bin/x"
    assert one.args == ("--root", "/srv/me", "other", "$HOME")
    variables = {"A": "tok-secret-1", "B": "lit", "C": "", "D": "5", "E": "true", "F": ""}
    assert one.variables == variables
    assert one.cwd.startswith("/")


@pytest.mark.parametrize(
    ("entry", "secrets"),
    [
        ({"args": ["--key", "abcd-1"], "env": {"TOKEN": "tok-lit-2"}}, "abcd-1 tok-lit-2"),
        ({"args": ["--api-key=abcd-1"]}, "abcd-1"),
        ({"args": ["-e", "PLAIN=value-1"]}, "value-1"),
        ({"args": ["postgres://me:pw123@db/x"]}, "pw123"),
        (
            {"url": "https://me:pw123@x.example/a8Kd93mXqP0zLw72BvNc?k=val-9"},
            "pw123 a8Kd93mXqP0zLw72BvNc val-9",
        ),
    ],
)
def test_a_launch_shows_no_value_and_cuts_them_out_of_messages(entry, secrets):
    one = launch(entry if "url" in entry else {"command": "x", **entry})
    assert not [secret for secret in secrets.split() if secret in repr(one)]
    assert one.clean(f"no role me: {secrets}") == "no role me:" + " [key]" * len(secrets.split())


def test_only_secrets_are_cut_out_of_tools():
    env = {"API_TOKEN": "tok-lit-2", "FOLDER": "/srv/me/notes"}
    one = launch({"command": "x", "env": env})
    assert one.keys == {"tok-lit-2"}
    assert one.secrets == {"tok-lit-2", "/srv/me/notes"}


@pytest.mark.case(89)
def test_variables_come_from_a_file_too_but_for_those_of_toolscope(tmp_path):
    text = "# c\nexport A=1\nB='two words'\n\nC\nTOKEN=tok-file-3\n"
    (tmp_path / ".env").write_text(f"{text}TOOLSCOPE_API_KEY=sk-1\nexport TOOLSCOPE_MODEL=m\n")
    one = launch({"command": "x", "envFile": str(tmp_path / ".env"), "env": {"A": "9"}})
    assert one.variables == {"A": "9", "B": "two words", "TOKEN": "tok-file-3"}
    assert "tok-file-3" in one.keys


@pytest.mark.case(89)
@pytest.mark.parametrize("name", ["TOOLSCOPE_API_KEY", "toolscope_store_url", "OPENAI_API_KEY"])
@pytest.mark.parametrize("form", ["${%s}", "${env:%s}", "${%s:-none}"])
def test_variables_of_toolscope_are_filled_in_nowhere(name, form):
    reference, environ = form % name, {**ENVIRON, name: "sk-of-ours"}
    for entry in (
        {"command": "x", "env": {"A": reference}},
        {"command": "x", "args": ["--key", reference]},
        {"command": reference},
        {"command": "x", "cwd": reference},
        {"command": "x", "envFile": f"/{reference}"},
        {"url": f"https://a.example/{reference}"},
        {"url": "https://a.example", "headers": {"Authorization": f"Bearer {reference}"}},
    ):
        with pytest.raises(ConfigError, match="not passed") as refused:
            launch(entry, environ)
        assert "sk-of-ours" not in str(refused.value)


@pytest.mark.case(90)
@pytest.mark.parametrize("kind", ["missing", "pipe", "device", "folder", "large", "no text"])
def test_an_env_file_is_a_regular_file_of_limited_size(tmp_path, kind):
    place = tmp_path / ".env"
    contents = {"large": b"A=1\n" * 300_000, "no text": b"A=\xff"}
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    elif kind == "device":
        place.symlink_to("/dev/zero")
    elif kind in contents:
        place.write_bytes(contents[kind])
    with pytest.raises(ConfigError, match="envFile"):
        launch({"command": "x", "envFile": str(place)})


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"command": "x", "env": {"A": "${NOPE}"}}, "variable NOPE"),
        ({"command": "x", "args": ["${input:key}"]}, "input 'key'"),
        ({"command": "x", "args": ["${what ever}"]}, r"the reference \$\{what ever\}"),
        ({"command": "x\0y"}, "a NUL"),
    ],
)
def test_what_cannot_be_filled_in_is_said(entry, words):
    with pytest.raises(ConfigError, match=words):
        launch(entry)


def test_without_the_configuration_only_references_are_filled_in():
    entry = {"command": "x", "args": ["${HOME}"], "env": {"A": "${TOK}"}}
    one = launch(entry, with_entry=False)
    assert (one.args, one.variables) == (("/srv/me",), {"A": "tok-secret-1"})
    with pytest.raises(ConfigError, match="not stored"):
        launch({"command": "x", "env": {"A": "literal"}}, with_entry=False)
