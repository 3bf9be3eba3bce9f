import re
from pathlib import Path

from docs import make_reference

ROOT = Path(__file__).resolve().parents[1]


def test_the_readme_holds_todays_command_line_help():
    readme = (ROOT / "README.md").read_text("utf-8")
    assert make_reference.BEGIN in readme
    assert make_reference.filled(readme) == readme, "run `make docs`"


def test_every_pinned_dependency_has_its_reason():
    design = (ROOT / "docs" / "design.md").read_text("utf-8")
    for name in ("requirements.txt", "requirements-dev.txt"):
        for line in (ROOT / name).read_text("utf-8").splitlines():
            pinned = re.match(r"([a-z0-9-]+)==", line)
            if pinned:
                assert f"`{pinned[1]}`" in design, f"docs/design.md gives no reason for {pinned[1]}"


def test_links_in_the_readme_lead_somewhere():
    readme = (ROOT / "README.md").read_text("utf-8")
    for target in re.findall(r"\]\(([^)#:]+)\)", readme):
        assert (ROOT / target).exists(), target


def test_no_path_of_one_machine_is_in_the_source():
    for path in [*ROOT.glob("toolscope_core/**/*.py"), *ROOT.glob("pages/*.py"), ROOT / "app.py"]:
        assert not re.search(r"/(home|root|tmp|Users)/[a-z]", path.read_text("utf-8")), path
