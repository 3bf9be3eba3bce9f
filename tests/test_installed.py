"""The wheel, installed into an environment of its own and used far from the checkout."""

import os
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.request
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

from tests.test_cli import run
from toolscope_core import __version__
from toolscope_core.workspace.example import example_path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ["pyproject.toml", "requirements.txt", "README.md", "app.py"]
FOLDERS = ["toolscope_core", "ui", "pages", "examples", ".streamlit"]
BUILD = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"
PATIENCE = 60


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


@pytest.fixture
def environ(vector_cache, tmp_path):
    """With the vectors of the example, so that no child waits for the model; what they compile they
    keep.
    """
    run("merge", example_path(), "--out", tmp_path / "warm")
    left_out = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
    named = {name: value for name, value in os.environ.items() if name not in left_out}
    store = f"sqlite:///{tmp_path / 'store.db'}"
    return {**named, "TOOLSCOPE_CACHE_DIR": str(vector_cache), "TOOLSCOPE_STORE_URL": store}


def metadata(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        return message_from_string(archive.read(name).decode())


def test_its_metadata_are_those_of_the_checkout(wheel):
    about = metadata(wheel)
    lines = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    wanted = [line for line in lines if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in wanted)
    assert about.get_all("Requires-Dist") == wanted
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

    assert "  check " in output(installed / "toolscope", "--help")
    code = "from toolscope_core.workspace.example import example_path; print(example_path())"
    example = Path(output(installed / "python", "-c", code).strip())
    assert example.is_relative_to(installed.parent)
    assert "64 tools in" in output(installed / "toolscope", "merge", example, "--out", "bundle")
    assert (tmp_path / "bundle" / "manifest.json").is_file()


def test_the_app_serves_its_first_page(installed, environ, tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environ["STREAMLIT_SERVER_SCRIPT_HEALTH_CHECK_ENABLED"] = "true"
    command = [installed / "toolscope", "app", "--port", str(port)]
    with (tmp_path / "output").open("w") as output:
        app = subprocess.Popen(command, cwd=tmp_path, env=environ, stdout=output, stderr=output)
        try:
            assert answer(app, port, "_stcore/health") == "ok", (tmp_path / "output").read_text()
            page = answer(app, port, "_stcore/script-health-check")
        finally:
            app.terminate()
            app.wait(PATIENCE)
    assert page == "ok", (tmp_path / "output").read_text()
    assert "64 tools, analysed" in (tmp_path / "output").read_text()


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
