"""What a toolset is exported for, and the name of its zip."""

from dataclasses import replace

import pytest

from tests.ui.services.small_workspace import (
    TEXT,
    TOOLS,
    accept_drop_in,
    add_analysed,
    by_name,
    tool,
)
from toolscope_core.files.folders import write_folder
from toolscope_core.mcp.gateway.bundle_routes import read_served_bundle
from toolscope_core.model.configuration import PlanConfig
from ui.shared.services import exports, review
from ui.shared.services.exports import export_targets


def test_a_zip_is_named_after_the_catalog_its_use_and_what_was_decided(catalog_id, work):
    choice, called = export_targets("mcp")[0], "Team / Tools!"

    def name(config=PlanConfig(), **options):  # noqa: B008
        now = work.snapshot(catalog_id)
        state = replace(now.state, record=replace(now.record, name=called))
        return exports.file_name(replace(now, state=state), config, choice, **options)

    first = name()
    assert first.split("-")[1:5] == ["team", "tools", "claude", "code"] and first == name()
    review.decide(
        work.snapshot(catalog_id), "accept", by_name(work, catalog_id, "get_weather"), "ann"
    )
    names = {first, name(), name(fix=True), name(PlanConfig(accept="all"))}
    assert len(names) == 4
    called = "天"
    assert name().split("-")[1] == "catalog"


@pytest.mark.parametrize("label", ["Claude Code", "Anthropic"])
def test_a_zip_has_what_its_client_takes_first(catalog_id, work, label):
    record = work.snapshot(catalog_id).record
    (choice,) = [choice for choice in export_targets("mcp") if choice.label == label]
    accept_drop_in(work, catalog_id)
    config = PlanConfig(accept="all")
    made = exports.download(work.snapshot(catalog_id), config, choice, fix=True)
    top = "claude-code.json" if label == "Claude Code" else "toolset.json"
    assert list(made.files)[:3] == ["README.md", top, "bundle/toolset.json"]
    inside = exports.bundle(work.snapshot(catalog_id), config, choice.format, fix=True)
    below = {name: made.files[f"bundle/{name}"] for name in inside}
    assert below == inside, "as the command merge writes it"
    assert set(made.files) == {"README.md", top, *(f"bundle/{name}" for name in inside)}
    readme = made.files["README.md"].decode()
    assert f'{{"loaded":"{record.at[:10]}","name":"Desk"}}' in readme


@pytest.mark.case(86)
@pytest.mark.parametrize("is_taken", [True, False])
def test_a_name_in_a_zip_that_was_taken_never_means_a_newcomers_tool(
    work, catalog_id, tmp_path, is_taken
):
    """In the next version of the catalog too; a zip that is only looked at changes nothing."""
    choice, take = export_targets("mcp")[-1], exports.exported if is_taken else exports.download
    take(work.snapshot(catalog_id), PlanConfig(), choice)
    newcomer = tool("aaa", "add_numbers", "Put numbers into an album.", album=TEXT)
    newer = add_analysed(work, "Desk", *TOOLS, newcomer)
    for folder in (tmp_path / "1", tmp_path / "2"):
        write_folder(exports.bundle(work.snapshot(newer.id), PlanConfig()).items(), folder)
        routes = read_served_bundle(folder).table.routes
        owners = {route.server: name for name, route in routes.items() if "add_num" in name}
        own = "add_numbers" if is_taken else "beta_add_numbers"
        assert owners == {"aaa": "aaa_add_numbers", "beta": own}
        take(work.snapshot(newer.id), PlanConfig(), choice)


@pytest.mark.case(57)
def test_a_zip_that_is_taken_twice_is_the_same(work, catalog_id):
    (record,) = work.catalogs.newest()
    config, choice = PlanConfig(accept="all"), export_targets("mcp")[-1]
    first = exports.exported(work.snapshot(record.id), config, choice)
    assert exports.exported(work.snapshot(record.id), config, choice) == first
