"""The size of the command-line installation, and whether pip can install it with other frameworks.

In the second table, each row resolves the package (with ``--extra gateway``, also that extra)
together with one framework, in its latest version and in the version before that. Nothing is
installed for this.

 python -m benchmarks.light_install [--extra gateway] [--frameworks crewai litellm …]
"""

import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

from benchmarks.measuring import ROOT, parser_of, print_machine

FRAMEWORKS = (
    "crewai",
    "semantic-kernel",
    "langchain",
    "fastmcp",
    "pydantic-ai",
    "openai",
    "litellm",
)
MOST_MEGABYTES, MOST_PACKAGES, MOST_SECONDS = 350, 45, 45
HEAVY = {"torch", "streamlit", "umap-learn", "numba", "pyarrow", "pandas", "plotly"}


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--extra", default="")
    parser.add_argument("--frameworks", nargs="*", default=FRAMEWORKS)
    options = parser.parse_args()
    package = f"{ROOT}[{options.extra}]" if options.extra else str(ROOT)
    print_machine()
    with tempfile.TemporaryDirectory() as folder:
        pip = _pip(Path(folder))
        print(_installed(Path(folder), pip, package))
        for framework in options.frameworks:
            for version in _versions(pip, framework):
                done = _run(pip, "install --dry-run --ignore-installed --quiet", package, version)
                print(f"{version:<28} {'resolves' if not done.returncode else _reason(done)}")


def _pip(folder: Path) -> tuple[str, ...]:
    """The command for this Python's pip, for an environment in the folder that has no pip of its
    own.
    """
    venv.create(folder / "environment")
    python = folder / "environment" / "bin" / "python"
    return (sys.executable, "-m", "pip", "--python", str(python))


def _run(pip: tuple[str, ...], command: str, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*pip, *command.split(), *more], capture_output=True, text=True, check=False
    )


def _installed(folder: Path, pip: tuple[str, ...], package: str) -> str:
    start = time.perf_counter()
    _run(pip, "install", package).check_returncode()
    seconds = time.perf_counter() - start
    lines = _run(pip, "list --format freeze").stdout.split()
    names = {line.partition("==")[0].lower() for line in lines}
    size = sum(file.lstat().st_blocks * 512 for file in folder.rglob("*") if file.is_file()) / 1e6
    return (
        f"{size:.0f} MB (most {MOST_MEGABYTES}), {len(names)} packages (most {MOST_PACKAGES}), "
        f"{seconds:.0f} s (most {MOST_SECONDS}), heavy ones: {sorted(names & HEAVY) or 'none'}"
    )


def _versions(pip: tuple[str, ...], framework: str) -> list[str]:
    """The latest version of a framework and the one before it, as requirements."""
    answer = _run(pip, "index versions", framework).stdout
    versions = answer.partition("Available versions: ")[2].partition("\n")[0].split(", ")
    return [f"{framework}=={version}" for version in versions[:2]]


def _reason(done: subprocess.CompletedProcess[str]) -> str:
    errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
    return f"does not: {errors[-1][:200] if errors else done.stderr[-200:]}"


if __name__ == "__main__":
    main()
