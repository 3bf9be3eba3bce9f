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


def test_the_command_merges_the_packaged_example_from_another_folder(installed, environ, tmp_path):
    def output(*args):
        options = {"cwd": tmp_path, "env": environ, "capture_output": True, "text": True}
        done = subprocess.run(args, check=False, **options)
        assert done.returncode == 0, done.stderr
        return done.stdout

    code = "from toolscope_core.evaluation.query_sets import example_path; print(example_path())"
    example = Path(output(installed / "python", "-c", code).strip())
    assert example.is_relative_to(installed.parent)
    assert "69 tools in" in output(installed / "toolscope", "merge", example, "--out", "bundle")
    assert (tmp_path / "bundle" / "manifest.json").is_file()


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


SET_UP = "Install ToolScope"
"""The one step with a command that is not run: it installs what is installed."""


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


def test_the_steps_of_the_workflow_run(repository, installed, environ, tmp_path):
    workflow = yaml.safe_load((ROOT / "examples" / "github-actions.yml").read_text("utf-8"))
    assert workflow[True] == {"pull_request": None}, "YAML 1.1 reads `on` as true"
    steps = workflow["jobs"]["check"]["steps"]
    assert all(("uses" in step) != ("run" in step) for step in steps)
    environ |= workflow["env"]
    environ |= {
        "PATH": f"{installed}:{os.environ['PATH']}",
        "GITHUB_BASE_REF": "main",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "page.md"),
        "RUNNER_TEMP": str(tmp_path),
    }
    ended = {}
    for step in steps:
        if "run" in step and step["name"] != SET_UP:
            failed = any(done.returncode for done in ended.values())
            assert not failed or "!cancelled()" in step["if"]
            command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
            options = {"cwd": repository, "env": environ, "capture_output": True, "text": True}
            ended[step["name"]] = subprocess.run(command, check=False, **options)
    codes = {name: done.returncode for name, done in ended.items()}
    failing = ended["Check the catalog"]
    assert codes == {name: int(name == "Check the catalog") for name in codes}, failing.stderr
    assert "1 new overlap, at most 0" in failing.stderr
    page = (tmp_path / "page.md").read_text("utf-8")
    assert "### New overlaps (1)" in page
    assert "localhost:8501/overlap?catalog=" in page
    assert {path.suffix for path in (tmp_path / "report").iterdir()} == {".md", ".xml", ".sarif"}


def test_the_hook_runs_and_passes_where_nothing_changed(repository, installed, environ):
    config = yaml.safe_load((ROOT / "examples" / "pre-commit-config.yaml").read_text("utf-8"))
    ((hook,),) = (repo["hooks"] for repo in config["repos"])
    assert re.search(hook["files"], "tools.json") and not hook["pass_filenames"]
    origin = repository.parent / "origin"
    environ["PATH"] = f"{installed}:{os.environ['PATH']}"
    options = {"cwd": origin, "env": environ, "capture_output": True, "text": True}
    done = subprocess.run(shlex.split(hook["entry"]), check=False, **options)
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
