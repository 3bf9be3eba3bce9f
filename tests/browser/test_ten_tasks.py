"""What a person comes for, in ten tasks, from the first look to a colleague's decision. With
``TOOLSCOPE_PICTURES`` set to a folder, each task leaves a picture there to look at.
"""

import json
import os
import re
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.test_accessibility import serious_findings
from tests.browser.test_hostile_catalog import PROPOSALS
from toolscope_core.evaluation.query_sets import example_path

TASKS = "look confusion switch decide edit measure export version restore colleague".split()


def look(watched, task, findings):
    """Take the picture, and note what axe-core finds: a task by light, the next by dark."""
    scheme = ("light", "dark")[TASKS.index(task) % 2]
    watched.page.emulate_media(color_scheme=scheme)
    watched.page.mouse.move(0, 0)
    watched.page.evaluate("document.activeElement.blur()")
    page = watched.settled()
    findings += serious_findings(page, scheme)
    folder = os.environ.get("TOOLSCOPE_PICTURES")
    if folder:
        page.screenshot(path=Path(folder) / f"{TASKS.index(task) + 1:02}-{task}.png")


def reviewed(page, number):
    return page.get_by_text(re.compile(rf"^{number} of \d+ reviewed"))


@pytest.mark.case(44)
def test_ten_tasks_of_a_first_day(watched, tmp_path):
    findings = []
    file = tmp_path / "team.json"
    file.write_bytes(Path(example_path()).read_bytes())
    page = watched.upload(file)
    page.get_by_role("button", name="Add catalog").click()
    expect(page).to_have_url(re.compile("catalog=team"))
    expect(page.get_by_text(PROPOSALS).first).to_be_visible()
    page = watched.open("", catalog="team")
    main = page.get_by_test_id("stMain")

    expect(main.get_by_text("ToolScope shows which of your AI agent's tools")).to_be_visible()
    for price in ("Today", "Without code", "With a gateway", "Servers switched off"):
        expect(main.get_by_text(price, exact=True).first).to_be_visible()
    look(watched, "look", findings)

    expect(main.get_by_text("Worst confusions")).to_be_visible()
    main.get_by_role("link", name=re.compile("^list_files.* and list_files")).click()
    expect(page.locator("h1")).to_have_text("Overlap")
    expect(page.locator("h3").first).to_have_text("list_files and list_files")
    look(watched, "confusion", findings)

    page = watched.open("", catalog="team")
    advice = main.get_by_role("link", name=re.compile("^Switch off day-clock"))
    tools, _, *parts = (
        int(one.replace(",", "")) for one in re.findall(r"\d[\d,]*", advice.inner_text())
    )
    assert tools == sum(parts[:3]), "does, perhaps and lost are all of them"
    advice.click()
    page.get_by_role("button", name="Switch day-clock off").click()
    expect(page.get_by_text(re.compile("day-clock is switched off")).first).to_be_visible()
    look(watched, "switch", findings)

    page = watched.open("review", catalog="team")
    decided = int(page.get_by_text(re.compile(r"^\d+ of \d+ reviewed")).inner_text().split()[0])
    page.locator("h1").click()
    for key in "axa":
        decided += 1
        page.keyboard.press(key)
        expect(reviewed(page, decided)).to_be_visible()
        watched.settled()
    look(watched, "decide", findings)

    page = watched.open("documents", catalog="team")
    text = page.locator('[class*="st-key-description_"] textarea')
    text.fill("Does one job, in our words.")
    text.press("Control+Enter")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved the document")).to_be_visible()
    look(watched, "edit", findings)

    page = watched.open("", catalog="team", part="Query+sets")
    page.locator('input[type="file"]').last.set_input_files(
        Path(example_path()).with_name("queries.jsonl")
    )
    page.get_by_role("button", name="Add query set").click()
    expect(page.get_by_role("button", name="Add query set")).to_have_count(0)
    watched.settled()
    page = watched.open("evaluation", catalog="team")
    page.get_by_role("button", name="Measure").click()
    expect(page.get_by_text(re.compile("quer(y|ies) won"))).to_be_visible()
    look(watched, "measure", findings)

    page = watched.open("export", catalog="team")
    page.get_by_role("radio", name="Claude Code").click()
    look(watched, "export", findings)
    with page.expect_download() as caught:
        page.get_by_role("button", name="Download the zip").click()
    assert "README.md" in zipfile.ZipFile(caught.value.path()).namelist()

    servers = [one for one in json.loads(file.read_text()) if one["server"] != "cellar-files"]
    file.write_text(json.dumps(servers))
    page = watched.upload(file)
    page.get_by_role("button", name=re.compile("^Add as version 2")).click()
    expect(page.get_by_text(re.compile("version 2")).first).to_be_visible()
    expect(page.get_by_text(PROPOSALS).first).to_be_visible()
    look(watched, "version", findings)

    page = watched.open("history", catalog="team")
    table = page.get_by_test_id("stDataFrame").first
    table.click(position={"x": 20, "y": 54})
    page.get_by_role("button", name="Restore to just before").click()
    page.get_by_role("button", name="Restore", exact=True).click()
    expect(page.get_by_text(re.compile("The toolset is as decision"))).to_be_visible()
    look(watched, "restore", findings)

    page = watched.open("review", catalog="team", show="Waiting")
    name = page.get_by_label("Your name")
    name.fill("Bea")
    name.press("Enter")
    watched.settled()
    decided = int(page.get_by_text(re.compile(r"^\d+ of \d+ reviewed")).inner_text().split()[0])
    page.locator("h1").click()
    page.keyboard.press("x")
    expect(reviewed(page, decided + 1)).to_be_visible()
    page = watched.open("history", catalog="team")
    look(watched, "colleague", findings)
    assert findings == []
