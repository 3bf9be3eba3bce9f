import pytest

from tests.support.catalogs import DATA, read_data, read_json
from toolscope_core.catalog.clients.configurations import configured_servers
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import Source, load_paths
from toolscope_core.model.catalog import Server
from toolscope_core.model.errors import CatalogError

DOCUMENTS = DATA / "documents"


@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("claude_desktop_config.json", ["granary", "weather-vane"]),
        ("vscode_mcp.json", ["granary", "vane"]),
        ("vscode_settings.json", ["granary"]),
        ("cursor_mcp.json", ["granary", "vane"]),
        ("windsurf_mcp_config.json", ["vane"]),
        ("gemini_settings.json", ["vane"]),
    ],
)
def test_servers_are_listed_and_nothing_else_is_kept(file, names):
    catalog = read_data(f"documents/{file}")
    assert catalog.tools == ()
    assert [server.name for server in catalog.servers] == names
    assert [problem.position for problem in catalog.problems] == [
        f"{file}: server {n}" for n in names
    ]
    assert "save the server's tools/list answer" in catalog.problems[0].reason
    assert catalog.files[0].format == "mcp-client"
    told = repr(catalog)
    assert "not-a-real" not in told
    assert "granary-server" not in told


def test_a_configuration_beside_the_tools_of_its_server():
    tools = Source("t.json", b'{"server": "granary", "tools": [{"name": "fill"}]}')
    catalog = read_catalog([*load_paths([DOCUMENTS / "claude_desktop_config.json"]), tools])
    assert [tool.id for tool in catalog.tools] == ["granary/fill"]
    assert catalog.servers == (Server("granary"), Server("weather-vane"))


@pytest.mark.parametrize(
    "value",
    [
        5,
        {"servers": {}},
        {"servers": {"a": {"description": "x"}}},
        {"mcpServers": [{"command": "x"}]},
        {"mcpServers": {"a": {"command": "x"}}, "tools": []},
        {"mcp": 5},
    ],
)
def test_what_is_no_configuration(value):
    assert configured_servers(value) == ()


def test_settings_that_hold_a_configuration_and_one_that_is_forced():
    inner = {"mcp": {"servers": {"a\ud800": {"url": "x"}}}}
    assert configured_servers(inner) == ("a\\ud800",)
    with pytest.raises(CatalogError, match="is no client configuration"):
        read_json({"name": "a"}, forced="mcp-client")
