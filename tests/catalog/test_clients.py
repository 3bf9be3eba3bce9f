import ast
import json
import re
from dataclasses import replace

import pytest
import yaml

from tests.ui.services.small_workspace import FILES, MAIL, SUM, catalog, on
from toolscope_core.catalog.clients.client_table import CLIENT_FILES, client_files, switches_of
from toolscope_core.merging.clusters import apply_clusters
from toolscope_core.model.cluster import ArgumentMap, Cluster, Document


def cluster(members, canonical, kind="drop_in", description="Said."):
    (kept,) = (tool for tool in members if tool.id == canonical)
    return Cluster(
        id=canonical,
        members=tuple(sorted(tool.id for tool in members)),
        canonical=canonical,
        kind=kind,
        state="accepted",
        weakest_edge=1.0,
        document=Document(kept.name, description or kept.description, kept.schema),
        arguments=tuple(ArgumentMap(tool.id, canonical) for tool in members),
    )


COPY = replace(FILES, id="alpha/list_files-2")
MAILS = [on(server, MAIL) for server in ("alpha", "beta", "ga mma")]
SENT = replace(on("beta", MAIL), id="beta/post", name="post")


def planned(*clusters, gateway=False, tools=(*MAILS, SENT, FILES, COPY, SUM)):
    return apply_clusters(catalog(*tools), clusters, gateway)


def loaded(files, name):
    text = files[f"clients/{name}"].decode()
    return list(yaml.safe_load_all(text)) if name.endswith("yaml") else json.loads(text)


def always_visible(files):
    """The list in FastMCP's program, which has two assignments, read and not run."""
    body = ast.parse(files["clients/fastmcp_search.py"]).body
    first, _ = (one for one in body if isinstance(one, ast.Assign))
    return ast.literal_eval(first.value)


def test_claude_code_denies_no_tool_that_another_server_of_its_name_keeps():
    gone, kept = on("a b", MAIL), on("a.b", MAIL)
    other = replace(gone, id="a b/new", name="new")
    files = client_files(planned(cluster([gone, other], other.id), tools=(gone, kept, other)))
    assert loaded(files, "claude-code.json") == {"permissions": {"deny": []}}


@pytest.mark.case(79)
@pytest.mark.parametrize(("stays", "denied"), [("other", ["mcp__alpha__saw_get"]), ("saw_get", [])])
def test_claude_code_denies_a_name_with_dots_as_it_writes_it(stays, denied):
    saw, keeper = (replace(MAILS[0], id=f"alpha/{one}", name=one) for one in ("saw.get", stays))
    files = client_files(planned(cluster([saw, keeper], keeper.id), tools=(saw, keeper)))
    assert loaded(files, "claude-code.json") == {"permissions": {"deny": denied}}


def test_every_client_is_told_by_the_names_of_the_servers():
    files = client_files(planned(cluster([*MAILS, SENT], "alpha/send_mail")))
    assert tuple(files) == CLIENT_FILES
    assert loaded(files, "claude-code.json") == {
        "permissions": {"deny": ["mcp__beta__post", "mcp__beta__send_mail", "mcp__ga_mma"]}
    }
    denied = ["Mcp(beta:post)", "Mcp(beta:send_mail)", "Mcp(ga mma:*)"]
    assert loaded(files, "cursor.json")["permissions"]["deny"] == denied
    kept_on = ["alpha/list_files", "alpha/send_mail", "beta/add_numbers"]
    assert loaded(files, "vscode.json")["toolscope"]["tools"] == kept_on
    assert loaded(files, "fastmcp.json")["mcpServers"] == {
        "alpha": {"tools": {"send_mail": {"description": "Said."}}},
        "beta": {"tools": {"post": {"enabled": False}, "send_mail": {"enabled": False}}},
        "ga mma": {"include_tags": ["toolscope:none"]},
    }
    alpha, beta = loaded(files, "toolhive.yaml")
    assert alpha["spec"] == {"toolsOverride": {"send_mail": {"description": "Said."}}}
    assert beta["spec"] == {"toolsFilter": ["add_numbers"]}
    assert (beta["metadata"]["name"], beta["kind"]) == ("beta-tools", "MCPToolConfig")
    connector = loaded(files, "anthropic-connector.json")
    assert connector[0] == {"type": "mcp_toolset", "mcp_server_name": "alpha"}
    assert connector[1]["configs"] == {"post": {"enabled": False}, "send_mail": {"enabled": False}}
    assert re.search('# .*"ga mma" has no tools', files["clients/toolhive.yaml"].decode())


def test_clients_that_search_are_told_what_is_in_every_prompt():
    plan = replace(
        planned(cluster([*MAILS, SENT], "alpha/send_mail")),
        eager=frozenset(["alpha/send_mail", "alpha/list_files", "alpha/list_files-2"]),
    )
    files = client_files(plan)
    assert loaded(files, "claude-code-servers.json") == {
        "mcpServers": {"alpha": {"alwaysLoad": True}}
    }
    search, alpha, beta = loaded(files, "anthropic-connector.json")
    assert search["name"] == "tool_search_tool_bm25"
    shown = {"list_files": {"defer_loading": False}, "send_mail": {"defer_loading": False}}
    assert (alpha["mcp_server_name"], alpha["configs"]) == ("alpha", shown)
    gone = {"post": {"enabled": False}, "send_mail": {"enabled": False}}
    assert (beta["configs"], beta["default_config"]) == (gone, {"defer_loading": True})
    assert always_visible(files) == ["alpha_list_files", "alpha_send_mail"]


def test_without_anything_switched_off_only_files_of_a_search_are_written():
    files = client_files(replace(planned(), eager=frozenset(["beta/add_numbers"])))
    names = {name.removeprefix("clients/") for name in files}
    assert names == {"anthropic-connector.json", "fastmcp_search.py"}


def test_claude_code_starts_no_server_that_goes_unless_its_name_is_odd():
    tools = [MAILS[0], *(on(server, MAIL) for server in ("beta", "b.ta", "b_ta")), on("b_ta", SUM)]
    files = client_files(planned(cluster(tools[:-1], "alpha/send_mail"), tools=tools))
    assert loaded(files, "claude-code.json") == {
        "permissions": {"deny": ["mcp__b_ta__send_mail", "mcp__b_ta__send_mail", "mcp__beta"]},
        "deniedMcpServers": [{"serverName": "beta"}],
    }


def test_a_name_that_still_serves_is_not_switched_off():
    same = cluster([FILES, COPY], "alpha/list_files", description="")
    assert client_files(planned(same)) == {}
    (alpha, *_) = switches_of(planned(same))
    assert (alpha.off, alpha.on) == ((), ("list_files", "send_mail"))


def test_gateways_and_catalogs_without_servers_have_no_files():
    gateway = cluster(MAILS, "alpha/send_mail", kind="gateway")
    assert client_files(planned(gateway, gateway=True)) == {}
    bare = [replace(tool, server="") for tool in (*MAILS, FILES)]
    alone = cluster(bare[:3], "alpha/send_mail")
    assert client_files(planned(alone, tools=bare)) == {}
    assert client_files(planned()) == {}


def test_hostile_server_names_stay_inside_their_place():
    evil = 'x"\n---\nkind: Pod # '
    tools = [MAILS[0], on(evil, MAIL)]
    files = client_files(planned(cluster(tools, "alpha/send_mail"), tools=tools))
    documents = loaded(files, "toolhive.yaml")
    assert [document["kind"] for document in documents] == ["MCPToolConfig"]
    assert evil in loaded(files, "fastmcp.json")["mcpServers"]
    eager = replace(planned(tools=tools), eager=frozenset([f"{evil}/send_mail"]))
    assert always_visible(client_files(eager)) == [f"{evil}_send_mail"]
    both = [*tools, on(evil, SUM)]
    files = client_files(planned(cluster(tools, "alpha/send_mail"), tools=both))
    (_, second) = loaded(files, "toolhive.yaml")
    metadata = {"name": "x-kind-pod-tools", "annotations": {"toolscope/server": evil}}
    assert second["metadata"] == metadata


def test_a_renamed_toolset_keeps_the_servers_names():
    plan = planned(cluster(MAILS, "alpha/send_mail"))
    renamed = tuple(replace(row, new_name="other") for row in plan.relabels)
    assert client_files(replace(plan, relabels=renamed)) == client_files(plan)
