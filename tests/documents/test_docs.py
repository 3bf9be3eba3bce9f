import re
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest
import typer

import toolscope_core
from docs import make_reference
from toolscope_core.catalog.formats.foreign_formats import STRICT_FORMATS, STRICT_KEYWORDS
from toolscope_core.cli import app
from toolscope_core.decisions.forms import ACTIONS
from toolscope_core.model.decision import Action

ROOT = Path(__file__).resolve().parents[2]
CORE, DOCS = ROOT / "toolscope_core", ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted(DOCS.glob("**/*.md"))]
DECISIONS = sorted((DOCS / "decisions").glob("[0-9]*.md"))


def slug(title):
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")


def anchors(path):
    headings = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.MULTILINE)
    return {slug(title) for title in headings}


@pytest.mark.parametrize(("path", "mark", "written"), make_reference.PARTS)
def test_what_is_written_from_the_program_is_todays(path, mark, written):
    text = path.read_text("utf-8")
    assert make_reference.filled(text, mark, written()) == text, "run `make docs`"


def test_every_action_has_its_row():
    assert set(ACTIONS) == set(get_args(Action))


def test_every_pinned_dependency_has_its_reason():
    reasons = (DOCS / "decisions" / "002-dependencies.md").read_text("utf-8")
    for name in ("requirements.txt", "requirements-dev.txt"):
        for line in (ROOT / name).read_text("utf-8").splitlines():
            pinned = re.match(r"([A-Za-z0-9-]+)(\[\w+\])?[=>]=", line)
            if pinned:
                assert f"| `{pinned[1]}` |" in reasons, f"no reason is given for {pinned[1]}"


def test_the_lines_of_python_md_run(tmp_path, monkeypatch, capsys):
    (lines,) = re.findall(
        r"```python\n(.*?)```", (DOCS / "python.md").read_text("utf-8"), re.DOTALL
    )
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    exec(lines, {})
    assert (tmp_path / "bundle" / "relabel.json").exists()
    shown = capsys.readouterr().out
    assert "pinboard-notes/get_note" in shown and "wayfare-travel/" in shown


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_a_file_and_to_a_heading_of_it(page):
    text = page.read_text("utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        assert path.exists(), f"{page.name} links to {target}, and there is no such file"
        if anchor:
            assert anchor in anchors(path), f"{page.name} links to {target}, and no heading is so"


def test_a_list_of_contents_names_every_section():
    for name in ("architecture.md", "measurements.md", "how-to-change.md", "cli.md"):
        page = DOCS / name
        text = page.read_text("utf-8")
        sections = {slug(title) for title in re.findall(r"^## (.+)$", text, re.MULTILINE)}
        listed = set(re.findall(r"^- \[[^]]+\]\(#([^)]+)\)$", text, re.MULTILINE))
        assert sections - listed <= {"contents"}, f"not in the contents of {page.name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_paths_that_a_page_names_exist(page):
    """A path is what has a slash and begins with a folder of the repository; `*` stands for any."""
    folders = "toolscope_core|ui|pages|tests|benchmarks|docs|examples"
    named = re.findall(rf"`((?:{folders})/[\w./*-]*)`", page.read_text("utf-8"))
    assert [path for path in named if not any(ROOT.glob(path.rstrip("/")))] == []


def test_how_to_change_it_names_files_that_exist_and_a_test_for_each_change():
    text = (DOCS / "how-to-change.md").read_text("utf-8")
    named = re.findall(r"`([\w-]+\.(?:py|txt|toml|md)|[\w-]+/[\w./-]+)`", text)
    assert [path for path in named if not (ROOT / path).exists()] == []
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[2:]:
        paths = set(re.findall(r"`([\w./-]+)`", section))
        title = section.partition("\n")[0]
        assert any(path.startswith("tests/") for path in paths), f"{title}: which test?"
        assert any(path.startswith(("toolscope_core", "ui", "pages")) for path in paths), title


def test_modules_that_a_page_cites_exist():
    """`merging.judge` is a module of the package, `pipeline.analyse` a name in a module."""
    for page in PAGES:
        text = page.read_text("utf-8").replace("`store.db`", "")  # a file
        for owner, name in re.findall(r"`([a-z_]+)\.([a-z_]+)(?:\.\w+)?`", text):
            folder, file = CORE / owner, CORE / f"{owner}.py"
            if name in ("json", "jsonl"):
                exists = True  # a file of a bundle
            elif folder.is_dir():
                inside = (folder / "__init__.py").read_text("utf-8")
                exists = (folder / f"{name}.py").exists() or f'"{name}"' in inside
            elif file.exists():
                exists = re.search(rf"\b{name}\b", file.read_text("utf-8")) or name == "py"
            else:
                exists = True  # something else with a dot, such as a file name
            assert exists, f"{page.name} cites {owner}.{name}"


def test_the_architecture_is_read_in_one_sitting():
    text = (DOCS / "architecture.md").read_text("utf-8")
    assert len(text.split()) <= 3000 and len(text.encode()) <= 25_000


def test_the_index_of_decisions_has_each_page_with_its_title_and_date():
    index = (DOCS / "decisions" / "README.md").read_text("utf-8")
    rows = re.findall(r"^\| \[(.+)\]\((\d.+)\) \| (.+) \|$", index, re.MULTILINE)
    pages = [re.match(r"# (.+)\n\nDate: (\S+)\n", path.read_text("utf-8")) for path in DECISIONS]
    assert all(pages), "a page begins with its title and its date"
    listed = [(page[1], path.name, page[2]) for page, path in zip(pages, DECISIONS, strict=True)]
    assert sorted(rows) == sorted(listed)


def test_a_term_of_the_glossary_stands_once():
    lines = (DOCS / "glossary.md").read_text("utf-8").splitlines()
    items = [line for line in lines if line.startswith("- ")]
    terms = [re.fullmatch(r"- \*\*([^*]+)\*\*: \S.*\.", line) for line in items]
    assert all(terms), "a term is one line: - **term**: what it means."
    assert [
        term for term, count in Counter(term[1].lower() for term in terms).items() if count > 1
    ] == []


def test_the_changelog_has_each_heading_once_a_version():
    versions = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text("utf-8"), flags=re.MULTILINE)[1:]
    for version in versions:
        headings = re.findall(r"^### (.+)$", version, re.MULTILINE)
        assert len(headings) == len(set(headings))
        assert set(headings) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_commands_in_the_documents_can_be_given():
    group = typer.main.get_command(app)
    options = {
        name: {
            text for option in command.load().params for text in option.opts + option.secondary_opts
        }
        for name, command in group.commands.items()
    }
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for page in PAGES:
        text = page.read_text("utf-8")
        for name, rest in re.findall(r"^toolscope ([\w-]+)(.*)$", text, re.MULTILINE):
            assert name in options, f"{page.name}: {name} is no command"
            used = set(re.findall(r" (--[\w-]+)", rest.partition("#")[0]))
            assert used <= options[name], f"{page.name}: {name} has no {used - options[name]}"
        for module in re.findall(r"python -m benchmarks\.(\w+)", text):
            files = (f"{module}.py", f"{module}/__main__.py")
            is_there = any((ROOT / "benchmarks" / one).exists() for one in files)
            assert is_there, f"{page.name}: {module}"
        for target in re.findall(r"`make (\w+)|^make (\w+)", text, re.MULTILINE):
            assert set(target) - {""} <= targets, f"{page.name}: make {target}"


def test_each_command_has_an_example_in_its_help():
    for name, command in typer.main.get_command(app).commands.items():
        loaded = command.load()
        (example,) = re.findall(r"Example: toolscope (.+)", loaded.help)
        assert example.split()[0] == name
        options = {text for option in loaded.params for text in option.opts}
        assert set(re.findall(r" (--[\w-]+)", example)) <= options, name


def test_each_name_for_python_has_an_example():
    for name in toolscope_core.__all__:
        doc = getattr(toolscope_core, name).__doc__
        (example,) = re.findall(r"Example: ``(.+)``", doc)
        assert f"{name}(" in example
        compile(example, name, "exec")


def test_labels_that_the_documents_name_are_on_the_screen():
    """A label is in italics and begins with a capital, as *Split here*."""
    screen = [ROOT / "app.py", *ROOT.glob("pages/*.py"), *ROOT.glob("ui/**/*.py")]
    source = "".join(path.read_text("utf-8") for path in screen)
    for page in (ROOT / "README.md", DOCS / "pages.md", DOCS / "cli.md", DOCS / "glossary.md"):
        labels = re.findall(r"(?<!\*)\*([A-Z][^*\n]+)\*(?!\*)", page.read_text("utf-8"))
        assert [label for label in labels if label not in source] == [], page.name


def test_the_tour_goes_through_every_page():
    titles = re.findall(r'[ (]title="(\w+)"', (ROOT / "app.py").read_text("utf-8"))
    tour = (DOCS / "pages.md").read_text("utf-8")
    assert [title for title in titles if f"**{title}**" not in tour] == []


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text("utf-8").split()) <= 1000


def test_no_path_of_one_machine_is_in_the_source():
    for path in [
        *ROOT.glob("toolscope_core/**/*.py"),
        *ROOT.glob("pages/*.py"),
        *ROOT.glob("ui/**/*.py"),
        ROOT / "app.py",
    ]:
        assert not re.search(r"/(home|root|tmp|Users)/[a-z]", path.read_text("utf-8")), path


def test_the_rules_of_strict_mode_are_listed():
    rules = (DOCS / "targets.md").read_text("utf-8").partition("## Strict mode")[2]
    assert {*re.findall(r"`([^`]+)`", rules)} >= STRICT_KEYWORDS | STRICT_FORMATS
