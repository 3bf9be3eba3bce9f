"""A command loads no library that takes seconds before it needs one, and is quiet in a pipe."""

import json
import re
import subprocess
import sys

import pytest

from tests.support.json_files import write_json
from toolscope_core.model.errors import EXTRAS

MISSING = """
import sys
class Missing:
    def find_spec(self, name, *rest):
        if name.partition(".")[0] in {names}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Missing())
"""
"""A Python without these packages."""
SEVERAL = """
import json
import toolscope_core, toolscope_core.export.bundle, toolscope_core.llm, toolscope_core.merging.analysing
from toolscope_core.__main__ import main
for sys.argv[1:] in json.loads(sys.argv[1]):
    try:
        main()
    except SystemExit as ended:
        assert not ended.code, ended.code
"""
LISTED = """
import sys
from toolscope_core.__main__ import main
try:
    main()
finally:
    print([name for name in sys.modules if name.startswith("toolscope_core.cli.")])
"""


def python(code, *args, **options):
    """What a program of these lines did that was started so."""
    command = [sys.executable, "-c", code, *args]
    return subprocess.run(command, check=False, capture_output=True, text=True, **options)


def test_the_list_of_commands_imports_none_of_them():
    done = python(LISTED, "--help")
    assert done.stdout.splitlines()[-1] == "['toolscope_core.cli.terminal']"
    assert re.search(r"\bmerge +Merge the tools", done.stdout)


def test_the_light_installation_reads_merges_checks_and_searches(tmp_path):
    """Without the packages of any extra, and without a word of progress to a pipe."""
    tools = [{"name": name, "description": f"Will {name}."} for name in ("book_flight", "add")]
    catalog = str(write_json(tmp_path / "tools.json", {"tools": tools}))
    commands = [
        ["--help"],
        ["inspect", catalog],
        ["merge", catalog, "--out", "bundle"],
        ["check", catalog, "--baseline", "bundle"],
        ["search", catalog, "book a flight"],
    ]
    environ = {"PATH": "", "HOME": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
    program = MISSING.format(names=set(EXTRAS)) + SEVERAL
    done = python(program, json.dumps(commands), cwd=tmp_path, env=environ)
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 tools in" in done.stdout and "book_flight" in done.stdout


STOPPED = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
class Stop:
    def find_spec(self, name, *rest):
        if name == "toolscope_core.cli.terminal":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Stop())
from toolscope_core.__main__ import main
main()
"""


def test_control_c_while_modules_load_is_no_traceback():
    done = python(STOPPED, "--version")
    assert (done.stdout, done.stderr, done.returncode) == ("", "Aborted!\n", 1)


RUN = """
from toolscope_core.__main__ import main
main()
"""


@pytest.mark.parametrize("command", [("serve", "b"), ("mcp",)])
def test_a_package_that_a_command_lacks_is_named(command):
    done = python(MISSING.format(names={"mcp"}) + RUN, *command)
    assert (done.stdout, done.returncode) == ("", 2)
    assert "pip install 'toolscope-workbench[gateway]'" in done.stderr
