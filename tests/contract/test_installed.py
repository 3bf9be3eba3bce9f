"""The wheel, installed into an environment of its own and used far from the checkout."""

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.error
import urllib.request
import zipfile
from dataclasses import replace
from email import message_from_string
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from tests.cli.test_cli import run
from tests.support.catalogs import example_catalog
from tests.support.fakes import WordEmbedder
from toolscope_core import __version__
from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.evaluation.query_sets import example_path
from toolscope_core.wording.boilerplate import compared_texts

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ["pyproject.toml", "requirements.txt", "README.md", "app.py"]
FOLDERS = ["toolscope_core", "ui", "pages", "examples", ".streamlit"]
BUILD = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"
PATIENCE = 240


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built from a copy, so that no folder of the build stays in the checkout."""
    place = tmp_path_factory.mktemp("wheel")
    ignored = shutil.ignore_patterns("__pycache__", "secrets.toml")
    for name in SOURCES:
        shutil.copy(ROOT / name, place / name)
    for name in FOLDERS:
        shutil.copytree(ROOT / name, place / name, ignore=ignored)
    command = [sys.executable, "-c", BUILD, str(place / "dist")]
    subprocess.run(command, cwd=place, check=True, capture_output=True)
    (built,) = (place / "dist").iterdir()
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The folder of commands of an environment that holds the wheel, and by a path file what this
    one has, as installing that takes minutes.
    """
    place = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    options = "install --quiet --no-deps --no-index --no-compile --disable-pip-version-check"
    pip = [sys.executable, "-m", "pip", "--python", str(place / "bin" / "python")]
    subprocess.run([*pip, *options.split(), str(wheel)], check=True, capture_output=True)
    (packages,) = place.glob("lib/python*/site-packages")
    (packages / "outer.pth").write_text(sysconfig.get_path("purelib"))
    return place / "bin"


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A cache that has a vector for each tool of the example, and of its change in ``repository``,
    if not the model's: the model itself is tested elsewhere, and no child need load it.
    """
    folder = tmp_path_factory.mktemp("vectors")
    catalog = example_catalog()
    (note,) = (tool for tool in catalog.tools if tool.name == "get_note")
    copies = [replace(note, id=f"copy-{one.name}", server=one.name) for one in catalog.servers]
    texts = compared_texts(catalog.tools)
    texts += [text for copy in copies for text in compared_texts([*catalog.tools, copy])]
    vectors = dict(zip(texts, WordEmbedder().encode(texts), strict=True))
    VectorCache(folder).write(MiniLmEmbedder().name, vectors)
    return folder


@pytest.fixture(scope="module")
def accepted(cache, tmp_path_factory):
    """The example's bundle."""
    bundle = tmp_path_factory.mktemp("accepted") / "bundle"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOOLSCOPE_CACHE_DIR", str(cache))
        run("merge", example_path(), "--out", bundle)
    return bundle


@pytest.fixture
def environ(cache, tmp_path):
    """Nothing of the checkout; what the children compile they keep."""
    left_out = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
    named = {name: value for name, value in os.environ.items() if name not in left_out}
    store = f"sqlite:///{tmp_path / 'store.db'}"
    return {**named, "TOOLSCOPE_CACHE_DIR": str(cache), "TOOLSCOPE_STORE_URL": store}


def metadata(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        return message_from_string(archive.read(name).decode())


def listed(name):
    """The requirements of a file."""
    lines = (ROOT / name).read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_its_metadata_are_those_of_the_checkout(wheel):
    """And every requirement of the app, those of its extras too, is a range that its pin is in. Ray
    is not installed with the app: one machine does without it.
    """
    about = metadata(wheel)
    lines = map(Requirement, about.get_all("Requires-Dist"))
    required = [line for line in lines if line.name != about["Name"]]
    wanted = [Requirement(line) for line in listed("requirements.txt")]
    assert {(one.name, one.specifier) for one in required if one.name != "ray"} == {
        (one.name, one.specifier) for one in wanted
    }
    pins = dict(line.lower().replace("_", "-").split("==") for line in listed("constraints.txt"))
    assert all(one.specifier.contains(pins[one.name.lower()]) for one in required)
    extras = {"all", *(str(one.marker).split('"')[1] for one in required if one.marker)}
    assert extras == set(about.get_all("Provides-Extra"))
    assert (about["Name"], about["Version"]) == ("toolscope-workbench", __version__)


def test_every_file_of_the_program_is_in_it(wheel):
    """And nothing else: the lists of `pyproject.toml` are written by hand."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    own = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("toolscope_core/**/*")}
    app = [path for name in FOLDERS[1:] for path in (ROOT / name).rglob("*")]
    own |= {f"toolscope_app/{path.relative_to(ROOT).as_posix()}" for path in app}
    left_out = ("__pycache__", "secrets.toml")
    files = {name for name in own | {"toolscope_app/app.py"} if Path(name).suffix}
    assert names == {name for name in files if not any(one in name for one in left_out)}


@pytest.mark.case(94)
@pytest.mark.parametrize(
    "start",
    [
        ("toolscope", "app", "--port"),
        pytest.param(
            ("python", "-m", "streamlit", "run", "{}/toolscope_app/app.py", "--server.port"),
            marks=pytest.mark.nightly,
        ),
    ],
    ids=["toolscope", "streamlit"],
)
def test_the_app_serves_its_first_page(installed, environ, tmp_path, start):
    (packages,) = installed.parent.glob("lib/python*/site-packages")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environ["STREAMLIT_SERVER_SCRIPT_HEALTH_CHECK_ENABLED"] = "true"
    command = [installed / start[0], *(one.format(packages) for one in start[1:]), str(port)]
    with (tmp_path / "output").open("w") as output:
        app = subprocess.Popen(command, cwd=tmp_path, env=environ, stdout=output, stderr=output)
        try:
            assert answer(app, port, "_stcore/health") == "ok", (tmp_path / "output").read_text()
            page = answer(app, port, "_stcore/script-health-check")
            foreign = urllib.request.Request(
                f"http://127.0.0.1:{port}", headers={"Host": "evil.test"}
            )
            with pytest.raises(urllib.error.HTTPError, match="403"):
                urllib.request.urlopen(foreign)
        finally:
            app.terminate()
            app.wait(PATIENCE)
    assert page == "ok", (tmp_path / "output").read_text()
    assert ("69 tools, analysed" in (tmp_path / "output").read_text()) is (start[0] == "toolscope")


@pytest.fixture(scope="module")
def repository(accepted, tmp_path_factory):
    """A clone with the catalog changed in a pull request, a copy of a tool on another server; its
    origin holds the catalog and the bundle that was accepted.
    """
    place = tmp_path_factory.mktemp("repositories")
    origin, clone = place / "origin", place / "clone"
    origin.mkdir()
    catalog = json.loads(example_path().read_text("utf-8"))
    (origin / "tools.json").write_text(json.dumps(catalog, indent=1), "utf-8")
    shutil.copytree(accepted, origin / "toolscope-bundle")
    git(origin, "init", "--quiet", "--initial-branch=main")
    git(origin, "add", ".")
    git(origin, "commit", "--quiet", "--message=The catalog as it was accepted")
    git(place, "clone", "--quiet", str(origin), str(clone))
    (note,) = (tool for tool in catalog[0]["tools"] if tool["name"] == "get_note")
    catalog[1]["tools"].append(note)
    (clone / "tools.json").write_text(json.dumps(catalog, indent=1), "utf-8")
    shutil.rmtree(clone / "toolscope-bundle")  # what a pull request does to it must not matter
    return clone


def git(folder, *args):
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run(["git", *who, *args], cwd=folder, check=True, capture_output=True)


GH = """#!/bin/bash
printf '%s\\n' "$@" '' >> "$GH_CALLS"
[[ "$*" == *--input* ]] && cat >> "$GH_CALLS"
case "$*" in *--jq*) printf '%s' "$GH_COMMENT";; *) [ -z "$GH_REFUSES" ];; esac
"""
"""``gh`` in place of the real one: says which comment is there, and may refuse to write one."""
SET_UP = "Install ToolScope"
"""The one step with a command that is not run: it installs what is installed."""


class Runner:
    """Runs the steps of the action in a folder, as far as the runner of GitHub does."""

    def __init__(self, place, folder, environ, **inputs):
        (place / "bin").mkdir()
        (place / "toolscope-cache").symlink_to(environ["TOOLSCOPE_CACHE_DIR"])
        (place / "bin" / "gh").write_text(GH)
        (place / "bin" / "gh").chmod(0o755)
        self.folder, self.output, self.page = folder, place / "output", place / "page.md"
        self.gh_calls = place / "calls"
        self.action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
        self.values = {
            f"inputs.{name}": inputs.get(name.replace("-", "_"), one.get("default"))
            for name, one in self.action["inputs"].items()
        }
        self.values |= {"github.event.pull_request.number": "5", "github.token": "a-token"}
        self.values |= {"github.base_ref": "main", "runner.temp": str(place)}
        self.values |= {"github.event.pull_request.head.sha": "0f" * 20}
        self.environ = {
            **environ,
            "PATH": f"{place / 'bin'}:{os.environ['PATH']}",
            "GITHUB_OUTPUT": str(self.output),
            "GITHUB_REPOSITORY": "ada/desk",
            "GITHUB_STEP_SUMMARY": str(self.page),
            "GH_CALLS": str(self.gh_calls),
            "RUNNER_TEMP": str(place),
        }

    def filled(self, text):
        """The text with the values of its expressions, which are names alone."""
        for _ in range(2):  # a default may have one
            text = re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda one: self.values[one[1]] or "", text)
        return text

    def run(self, *names, **environ):
        """The steps of these names, or all up to the first that fails: by name its end."""
        ended = {}
        for step in self.action["runs"]["steps"]:
            is_one = step["name"] in names if names else step["name"] != SET_UP
            if "run" in step and is_one:
                assert "${{" not in step["run"], "an input would be a part of the program"
                own = {name: self.filled(str(value)) for name, value in step["env"].items()}
                self.output.write_text("")
                done = ended[step["name"]] = subprocess.run(
                    ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                    cwd=self.folder,
                    env={**self.environ, **own, **environ},
                    capture_output=True,
                    text=True,
                    check=False,
                )
                for line in self.output.read_text().splitlines():
                    name, value = line.split("=", 1)
                    self.values[f"steps.{step['id']}.outputs.{name}"] = value
                if done.returncode:
                    break
        return ended

    def comment(self, **environ):
        """The last call of ``gh`` by the step that comments, if it has written the comment, and
        what stands on the page of the run if not.
        """
        for file in (self.gh_calls, self.page):
            file.unlink(missing_ok=True)
        (done,) = self.run(COMMENT, **environ).values()
        assert done.returncode == 0, done.stderr
        if self.page.exists():
            return None, self.page.read_text()
        return self.gh_calls.read_text().strip().split("\n\n")[-1].split("\n"), ""


COMMENT = "Say it in the pull request"
SUGGEST = "Suggest what can be mended"


def test_the_action_checks_and_says_so(repository, installed, environ, tmp_path):
    (tmp_path / "toolscope").symlink_to(installed.parent)
    runner = Runner(tmp_path, repository, environ, catalog="tools.json\n")
    ended = runner.run()
    assert [done.returncode for done in ended.values()] == [0, 0, 0, 0, 1], ended
    printed = ended["Check the catalog"].stdout
    assert "1 new overlap" in printed and "at most 0" in printed
    first, *_, last, annotation = printed.splitlines()
    assert first == f"::stop-commands::{last.strip(':')}"
    assert annotation.startswith("::error file=tools.json,line=")
    report = Path(runner.values["steps.check.outputs.report"])
    suffixes = {path.suffix for path in report.iterdir()}
    assert suffixes == {".md", ".xml", ".sarif", ".txt", ".jsonl"}
    text = (tmp_path / "toolscope-comment.md").read_text()
    assert "1 new overlap" in text and "localhost:8501/overlap?catalog=" in text
    new, _ = runner.comment()
    assert "POST" in new and "repos/ada/desk/issues/5/comments" in new
    again, _ = runner.comment(GH_COMMENT="77\n78\n")
    assert "PATCH" in again and "repos/ada/desk/issues/comments/77" in again
    for environ in ({"GH_REFUSES": "yes"}, {"GH_TOKEN": ""}, {"PULL_REQUEST": ""}):
        assert "1 new overlap" in runner.comment(**environ)[1]
    same, _ = runner.comment(GH_COMMENT=text)
    assert "PATCH" not in same, "a comment that says the same is left alone"
    mark = "<!-- toolscope f0123456789a -->"
    row = {"body": f"{mark}\n$(touch x)", "path": "tools.json", "line": 7, "side": "RIGHT"}
    (report / "suggestions.jsonl").write_text(f"{json.dumps(row)}\n")
    for known, calls in (("", 1), (mark, 0)):
        runner.gh_calls.unlink()
        (done,) = runner.run(SUGGEST, GH_COMMENT=known).values()
        written = runner.gh_calls.read_text()
        assert (done.returncode, written.count("POST")) == (0, calls), done.stderr
        assert calls == 0 or json.loads(written[written.index("{") :]) == {
            "commit_id": "0f" * 20,
            **row,
        }


def test_the_action_ends_as_the_check_does(repository, installed, environ, tmp_path):
    """The catalog as it was accepted passes; a bundle that the base lacks is named."""
    (tmp_path / "toolscope").symlink_to(installed.parent)
    origin = repository.parent / "origin"
    runner = Runner(tmp_path, origin, environ, catalog="tools.json", base_ref="", fail_on="stale")
    assert {done.returncode for done in runner.run().values()} == {0}
    (tmp_path / "other").mkdir()
    other = Runner(tmp_path / "other", repository, environ, catalog="tools.json", bundle="none")
    (refused,) = other.run().values()
    assert refused.returncode == 2 and "none" in refused.stdout


def hook_of(name):
    """The only hook of a file: one to copy, or the one that pre-commit finds in this repository."""
    entries = yaml.safe_load((ROOT / name).read_text("utf-8"))
    entries = entries["repos"] if isinstance(entries, dict) else entries
    (hook,) = (one for entry in entries for one in entry.get("hooks", [entry]))
    return hook


@pytest.mark.parametrize("name", ["examples/pre-commit-config.yaml", ".pre-commit-hooks.yaml"])
def test_the_hook_runs_and_passes_where_nothing_changed(repository, installed, environ, name):
    hook = hook_of(name)
    assert re.search(hook["files"], "tools.json") and not hook["pass_filenames"]
    origin = repository.parent / "origin"
    environ["PATH"] = f"{installed}:{os.environ['PATH']}"
    options = {"cwd": origin, "env": environ, "capture_output": True, "text": True}
    command = [*shlex.split(hook["entry"]), *hook.get("args", ())]
    done = subprocess.run(command, check=False, **options)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("69 tools; nothing ")


@pytest.mark.nightly
@pytest.mark.timeout(3600)
def test_everything_is_installed_for_real(wheel, tmp_path):
    """As README says, torch first; then the source distribution gives the same wheel."""
    python = tmp_path / "environment" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "environment")], check=True)
    install = [python, "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt"]
    for what in ("torch", wheel):
        subprocess.run([*install, what], check=True)
    subprocess.run([python, "-m", "pip", "check"], check=True)
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for options in (("--help",), ("merge", example_path(), "--out", "bundle")):
        command = [python.with_name("toolscope"), *options]
        subprocess.run(command, cwd=tmp_path, env=environ, check=True)
    source = wheel.parents[1]
    subprocess.run([sys.executable, "-m", "build", "--outdir", tmp_path, source], check=True)
    (again,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(again) as other:
        assert sorted(one.namelist()) == sorted(other.namelist())


def answer(app, port, path):
    """What the app answers once it listens; empty where it ends before."""
    until = time.monotonic() + PATIENCE
    while app.poll() is None and time.monotonic() < until:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}") as reply:
                return reply.read().decode()
        except ConnectionError:
            time.sleep(0.05)
        except OSError as error:
            if not isinstance(getattr(error, "reason", None), ConnectionError):
                raise
            time.sleep(0.05)
    return ""
