"""What a toolset is exported for, and the name of its zip."""

from dataclasses import replace

import pytest

from tests.ui.services.small_workspace import TEXT, TOOLS, add_analysed, by_name, tool
from toolscope_core.files.folders import write_folder
from toolscope_core.mcp.gateway.bundle_routes import read_served_bundle
from toolscope_core.model.configuration import PlanConfig
from ui.shared.services.exports import Exports, uses


def test_every_client_and_format_is_offered_once_and_the_loaded_one_last():
    labels = [use.label for use in uses("mcp")]
    assert labels == [
        *("Claude Code", "Cursor", "VS Code", "FastMCP", "ToolHive"),
        "Anthropic MCP connector",
        *("OpenAI chat", "OpenAI responses", "Anthropic", "Gemini", "Neutral file"),
        "MCP file, as loaded",
    ]
    assert [use.shape for use in uses("anthropic") if use.target.writes] == [
        *("openai-chat", "openai-responses", "mcp", "gemini", "neutral", None)
    ]
    assert uses("bfcl")[-1].label == "BFCL file, as loaded"


def test_a_zip_is_named_after_the_catalog_its_use_and_what_was_decided(catalog_id, work):
    exports, (record,) = work.service(Exports), work.catalogs.newest()
    use, named = uses("mcp")[0], replace(record, name="Team / Tools!")

    def name(config=PlanConfig(), **options):  # noqa: B008
        return exports.file_name(named, config, use, **options)

    first = name()
    assert first.startswith("toolscope-team-tools-claude-code-") and first == name()
    work.review.decide(catalog_id, "accept", by_name(work, catalog_id, "get_weather"), "ann")
    names = {first, name(), name(fix=True), name(PlanConfig(accept="all"))}
    assert len(names) == 4
    named = replace(record, name="天")
    assert name().startswith("toolscope-catalog-claude-code-")


@pytest.mark.parametrize("label", ["Claude Code", "Anthropic"])
def test_a_zip_has_what_its_client_takes_first(catalog_id, work, label):
    (record,) = work.catalogs.newest()
    (use,) = [use for use in uses("mcp") if use.label == label]
    config = PlanConfig(accept="all")
    made = work.service(Exports).download(record, config, use, fix=True)
    top = "claude-code.json" if label == "Claude Code" else "toolset.json"
    assert list(made.files)[:3] == ["README.md", top, "bundle/toolset.json"]
    inside = work.service(Exports).bundle(catalog_id, config, use.shape, fix=True)
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
    exports, (record,), use = work.service(Exports), work.catalogs.newest(), uses("mcp")[-1]
    take = exports.exported if is_taken else exports.download
    take(record, PlanConfig(), use)
    newcomer = tool("aaa", "add_numbers", "Put numbers into an album.", album=TEXT)
    newer = add_analysed(work, record.name, *TOOLS, newcomer)
    for folder in (tmp_path / "1", tmp_path / "2"):
        write_folder(exports.bundle(newer.id, PlanConfig()).items(), folder)
        routes = read_served_bundle(folder).table.routes
        owners = {route.server: name for name, route in routes.items() if "add_num" in name}
        own = "add_numbers" if is_taken else "beta_add_numbers"
        assert owners == {"aaa": "aaa_add_numbers", "beta": own}
        take(newer, PlanConfig(), use)


@pytest.mark.case(57)
def test_a_zip_that_is_taken_twice_is_the_same(work, catalog_id):
    (record,) = work.catalogs.newest()
    config, use = PlanConfig(accept="all"), uses("mcp")[-1]
    first = work.service(Exports).exported(record, config, use)
    assert work.service(Exports).exported(record, config, use) == first
