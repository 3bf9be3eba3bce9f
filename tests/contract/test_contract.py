"""What people and scripts rely on stays: commands and options, variables, requirements, the two
commands of the README, files and fields of a bundle. More may come; nothing of ``contract.json``
goes.
"""

import json
import re
from pathlib import Path

import pytest
import typer

from tests.cli.test_cli import EXAMPLE, run
from tests.support.json_files import write_json
from toolscope_core.cli import app

ROOT = Path(__file__).resolve().parents[2]
CONTRACT = json.loads(Path(__file__).with_name("contract.json").read_text("utf-8"))


def options(command):
    """The options and the arguments, as a user writes them."""
    return {name for one in command.params for name in (*one.opts, *one.secondary_opts)}


@pytest.mark.parametrize("name", CONTRACT["commands"])
def test_every_command_keeps_its_options(name):
    commands = typer.main.get_command(app).commands
    assert set(CONTRACT["commands"][name]) <= options(commands[name].load())


def test_every_variable_is_still_read():
    source = "".join(path.read_text("utf-8") for path in ROOT.glob("toolscope_core/**/*.py"))
    read = set(re.findall(r"\b(?:TOOLSCOPE|OPENAI|TIKTOKEN)_[A-Z_]*[A-Z]\b", source))
    assert set(CONTRACT["variables"]) <= read


def test_every_package_that_was_fixed_is_required():
    lines = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    required = {re.split(r"[\[=<>~! ]", line)[0] for line in lines if not line.startswith("#")}
    assert set(CONTRACT["packages"]) <= required


def test_make_has_its_targets():
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert set(CONTRACT["targets"]) <= set(targets)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory, vector_cache):
    """The example merged by the command, with one decision of a person."""
    place = tmp_path_factory.mktemp("contract")
    ids = ["pinboard-notes/tag_note", "pinboard-notes/untag_note"]
    decision = {"action": "keep_apart", "ids": ids, "reviewer": "ann"}
    decisions = write_json(place / "decisions.jsonl", decision)
    options = ("--accept", "all", "--gateway", "--decisions", decisions)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOOLSCOPE_CACHE_DIR", str(vector_cache))
        run("merge", EXAMPLE, "--out", place / "bundle", *options)
    return place / "bundle"


def test_every_file_of_a_bundle_is_written(bundle):
    written = {path.relative_to(bundle).as_posix() for path in bundle.rglob("*") if path.is_file()}
    assert set(CONTRACT["bundle"]) <= written


@pytest.mark.parametrize("name", [name for name, fields in CONTRACT["bundle"].items() if fields])
def test_every_field_of_a_file_is_written(bundle, name):
    text = (bundle / name).read_text("utf-8")
    content = [json.loads(line) for line in text.splitlines()] if name[-1] == "l" else text
    present = set(paths(json.loads(text) if content is text else content))
    assert set(CONTRACT["bundle"][name]) <= present


def paths(value, before=""):
    """Where each field stands, lists left out; ``*`` stands for the key of a map as well."""
    if isinstance(value, list):
        for one in value:
            yield from paths(one, before)
    elif isinstance(value, dict):
        for key, one in value.items():
            for name in (key, "*"):
                yield before + name
                yield from paths(one, f"{before}{name}.")
