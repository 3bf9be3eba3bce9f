"""What a toolset is exported for, and the name of its zip."""

import pytest

from tests.ui.services.small_workspace import TEXT, TOOLS, add_analysed, by_name, tool
from toolscope_core.files.folders import write_folder
from toolscope_core.mcp.gateway.bundle_routes import read_served_bundle
from toolscope_core.model.configuration import PlanConfig
from ui.shared.services import exports, review
from ui.shared.services.exports import export_targets


def test_a_zip_is_named_after_the_catalog_its_use_and_what_was_decided(catalog_id, work):
    work.catalogs.rename("Desk", "Team / Tools!")

    def name(accept="auto", **options):
        config, choice = PlanConfig(accept=accept), export_targets("mcp")[0]
        return exports.file_name(work.snapshot(catalog_id), config, choice, **options)

    first = name()
    assert first.split("-")[1:5] == ["team", "tools", "claude", "code"] and first == name()
    review.decide(
        work.snapshot(catalog_id), "accept", by_name(work, catalog_id, "get_weather"), "ann"
    )
    assert len({first, name(), name(fix=True), name("all")}) == 4
    work.catalogs.rename("Team / Tools!", "天")
    assert name().split("-")[1] == "catalog"


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
