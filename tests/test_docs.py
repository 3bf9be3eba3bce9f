import re
from pathlib import Path
from typing import get_args

import pytest

from docs import make_reference
from toolscope_core.datamodel import Action
from toolscope_core.decisions import ACTIONS

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize(("path", "mark", "written"), make_reference.PARTS)
def test_what_is_written_from_the_program_is_todays(path, mark, written):
    text = path.read_text("utf-8")
    assert make_reference.filled(text, mark, written()) == text, "run `make docs`"


def test_every_action_has_its_row():
    assert set(ACTIONS) == set(get_args(Action))


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
    for path in [
        *ROOT.glob("toolscope_core/**/*.py"),
        *ROOT.glob("pages/*.py"),
        *ROOT.glob("ui/**/*.py"),
        ROOT / "app.py",
    ]:
        assert not re.search(r"/(home|root|tmp|Users)/[a-z]", path.read_text("utf-8")), path
