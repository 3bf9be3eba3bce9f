"""A person's own files beside a merge of the command line."""

import pytest

from tests.catalog.test_clients import MAILS, SENT, cluster, planned
from tests.support.json_files import read_json, write_json
from toolscope_core.cli.own_files import read_own_files, tell_own_files
from toolscope_core.model.errors import ConfigError

PLAN = planned(cluster([*MAILS[:2], SENT], "alpha/send_mail"))
"""The two tools of the server beta are switched off, and alpha's takes their calls."""


def told(tmp_path, capsys, **files):
    """What is said of these files on both streams."""
    paths = [write_json(tmp_path / f"{name}.json", value) for name, value in files.items()]
    tell_own_files(PLAN, read_own_files(paths), tmp_path / "bundle")
    captured = capsys.readouterr()
    return captured.out, captured.err


def test_rules_that_match_nothing_are_listed_and_written_anew(tmp_path, capsys):
    rules = {"permissions": {"allow": ["mcp__beta__post", "Bash(ls:*)"]}, "theme": "dark"}
    out, err = told(tmp_path, capsys, settings=rules)
    assert "1 rule would match nothing" in out
    assert "allow mcp__beta__post → mcp__alpha__send_mail" in out and not err
    after = read_json(tmp_path / "bundle-settings.json")
    assert after["permissions"]["allow"] == ["mcp__alpha__send_mail", "Bash(ls:*)"]
    assert after["theme"] == "dark" and after["permissions"]["deny"]
    assert read_json(tmp_path / "settings.json") == rules, "the person's own file stays"


def test_servers_of_other_names_and_files_of_something_else_are_told(tmp_path, capsys):
    config = {"mcpServers": {"alpha": {"command": "a"}, "b": {"command": "b"}}}
    out, err = told(tmp_path, capsys, mcp=config, other={"x": 1})
    assert "these names: beta" in err
    assert "other.json has neither" in err and not out
    assert not (tmp_path / "bundle-mcp.json").exists()


def test_files_that_cannot_be_read_or_told_apart_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        read_own_files([tmp_path / "missing.json"])
    with pytest.raises(ConfigError, match="two files"):
        read_own_files([tmp_path / "a" / "x.json", tmp_path / "b" / "x.json"])
