"""A command loads no library that takes seconds before it needs one, and is quiet in a pipe."""

import json
import re
import subprocess
import sys

from tests.support.json_files import write_json

HEAVY = ("torch", "transformers", "sentence_transformers", "sklearn", "umap", "streamlit", "openai")
VENDORS = ("mcp", "faiss", "plotly", "sqlmodel")
PROGRAM = f"""
import json, sys
import toolscope_core, toolscope_core.export.bundle, toolscope_core.llm, toolscope_core.merging.analysing
def loaded(*names):
    return [name for name in names if name in sys.modules]
heavy = {{"the package": loaded(*{HEAVY}, *{VENDORS})}}
from toolscope_core.__main__ import main
for sys.argv[1:] in json.loads(sys.argv[1]):
    try:
        main()
    except SystemExit as ended:
        assert not ended.code, ended.code
    heavy[sys.argv[1]] = loaded(*{HEAVY})
print(json.dumps(heavy))
"""
LISTED = """
import sys
from toolscope_core.__main__ import main
try:
    main()
finally:
    print([name for name in sys.modules if name.startswith("toolscope_core.cli.")])
"""


def test_the_list_of_commands_imports_none_of_them():
    done = subprocess.run([sys.executable, "-c", LISTED, "--help"], check=True,
                          capture_output=True, text=True)  # fmt: skip
    assert done.stdout.splitlines()[-1] == "['toolscope_core.cli.terminal']"
    assert re.search(r"\bmerge +Merge the tools", done.stdout)


def test_no_model_library_is_loaded_and_no_progress_is_told_to_a_pipe(tmp_path):
    tools = [{"name": name, "description": f"Will {name}."} for name in ("book_flight", "add")]
    catalog = str(write_json(tmp_path / "tools.json", {"tools": tools}))
    commands = [
        ["--help"],
        ["serve", "--help"],
        ["inspect", catalog],
        ["merge", catalog, "--out", "bundle"],
        ["search", catalog, "book a flight"],
    ]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(commands)],
        cwd=tmp_path,
        env={"PATH": "", "HOME": str(tmp_path), "PYTHONPATH": ":".join(sys.path)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 tools in" in done.stdout and "book_flight" in done.stdout
    loaded = json.loads(done.stdout.splitlines()[-1])
    assert (len(loaded), [name for names in loaded.values() for name in names]) == (6, [])


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
    done = subprocess.run([sys.executable, "-c", STOPPED, "--version"], check=False,
                          capture_output=True, text=True)  # fmt: skip
    assert (done.stdout, done.stderr, done.returncode) == ("", "Aborted!\n", 1)


WITHOUT_MCP = """
import sys
class Missing:
    def find_spec(self, name, *rest):
        if name.partition(".")[0] == "mcp":
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Missing())
from toolscope_core.__main__ import main
main()
"""


def test_a_package_that_a_command_lacks_is_named():
    done = subprocess.run([sys.executable, "-c", WITHOUT_MCP, "serve", "b"], check=False,
                          capture_output=True, text=True)  # fmt: skip
    assert (done.stdout, done.returncode) == ("", 2)
    assert "pip install 'toolscope-workbench[gateway]'" in done.stderr
