"""What a toolset is exported for, and the name of its zip."""

from dataclasses import replace

import pytest

from tests.ui.services.small_workspace import by_name
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
