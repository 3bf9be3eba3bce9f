"""A command loads no library that takes seconds before it needs one."""

import json
import subprocess
import sys

import pytest

from toolscope_core.files.app_folder import app_folder

HEAVY = ("torch", "transformers", "sentence_transformers", "sklearn", "umap", "streamlit", "openai")
EXAMPLE = str(app_folder() / "examples" / "catalog.json")
PROGRAM = (
    "import sys; from toolscope_core.__main__ import main\n"
    "try: main()\n"
    "except SystemExit as ended: assert not ended.code, ended.code\n"
    f"print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["inspect", EXAMPLE],
        ["merge", EXAMPLE, "--out", "bundle"],
        ["search", EXAMPLE, "book a flight"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_no_model_library_is_loaded(arguments, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        cwd=tmp_path,
        env={"PATH": "", "HOME": str(tmp_path), "PYTHONPATH": ":".join(sys.path)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stderr.splitlines()[-1].replace("'", '"')) == []


STOPPED = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
class Stop:
    def find_spec(self, name, *rest):
        if name == "toolscope_core.cli.serve_command":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Stop())
from toolscope_core.__main__ import main
main()
"""


def test_control_c_while_modules_load_is_no_traceback():
    done = subprocess.run([sys.executable, "-c", STOPPED, "--version"], check=False,
                          capture_output=True, text=True)  # fmt: skip
    assert (done.stdout, done.stderr, done.returncode) == ("", "Aborted!\n", 1)
