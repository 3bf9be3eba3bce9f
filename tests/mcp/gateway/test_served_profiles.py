"""Profiles through the gateway: what is not in one cannot be called, and each has its address."""

import json

import mcp_types as types
import pytest
from mcp import MCPError

from tests.cli.test_cli import run
from tests.mcp.gateway.stub_toolset import (
    configuration,
    error_text,
    merge_nothing,
    record,
    replies_of,
    stub_catalog,
    stub_reply,
    texts_of,
    through,
    write_stub_toolset,
)
from tests.mcp.gateway.test_server_features import text_at
from tests.mcp.gateway.test_serving import OWN, invoke
from tests.profiles.shelf import chosen, plan_of, saved, shelf
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.decisions.decision_lines import decision_lines
from toolscope_core.mcp.gateway.bundle_routes import profiles_of_bundle, read_served_bundle
from toolscope_core.mcp.gateway.call_mapping import fixed_values
from toolscope_core.mcp.gateway.http_transport import tokens_of_profiles
from toolscope_core.mcp.gateway.routing import BundleTool, routing_table
from toolscope_core.mcp.gateway.tool_calls import CallLog, ToolCalls
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.tool import Tool

TEXT = {"type": "string"}
SHUT = {
    "server": "north",
    "size": 4711,
    "params": {"tenants": ['acme-77 of "ü"', {"deep": 0.73125}]},
}
SHOWN = ("4711", "acme-77", "0.73125", "tenants", "deep")
"""Pieces of what is fixed that no message may have."""


@pytest.fixture(scope="module")
def shut(tmp_path_factory):
    """The bundle with a profile in which a tool's nested values, a number and a selector are
    fixed.
    """
    own = {"north/work": {"fixed": SHUT}}
    log = saved(stub_catalog(), name="shut", ids=tuple(own), own=own)
    return write_stub_toolset(tmp_path_factory.mktemp("shut"), log=log)


def test_the_bundle_has_each_profile_for_every_client(profiled):
    assert profiles_of_bundle(profiled) == ("clerk", "reader", "southern")
    toolset = json.loads((profiled / "profiles/reader/toolset.json").read_text())
    assert "open" in json.dumps(toolset)
    assert "south_same" not in json.dumps(toolset)
    claude = json.loads((profiled / "profiles/southern/clients/claude-code.json").read_text())
    assert "mcp__north" in json.dumps(claude)


@pytest.mark.parametrize("profile", ["reader", ""])
def test_a_profile_passes_on_what_its_tools_name_and_no_other_resource_or_prompt(
    profiled, servers, profile
):
    address = "file:///a.txt"

    async def use(client, gateway):
        async def is_read():
            try:
                return bool(await client.read_resource(f"north+{address}"))
            except MCPError:
                return False

        async def is_prompted():
            try:
                return bool(await client.get_prompt("north+greet"))
            except MCPError:
                return False

        listed = (await client.list_resources()).resources, (await client.list_prompts()).prompts
        before, prompted = await is_read(), await is_prompted()
        given = {"act": "link", "params": address}
        await client.call_tool("work", given if profile else {**given, "server": "north"})
        return [bool(one) for one in listed], before, prompted, await is_read()

    whole = not profile
    answers = through(profiled, servers, use, profile=profile)
    assert answers == ([whole, whole], whole, whole, True)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_profile_passes_on_the_resources_and_prompts_that_it_names(profiled, tmp_path, mode):
    offers = {"resources": ["file:///a.txt", "file:///b.txt"], "templates": ["file:///d/{x}"]}
    offers["templates"].append("file:///{x}")
    named, others = ("north+file:///b.txt", "north+file:///d/7"), ("north+file:///a.txt",)
    others += ("south+file:///b.txt", "north+file:///c", "north+file:///d/7/8", "file:///a.txt")

    async def use(client, gateway):
        listed = (
            [one.uri for one in (await client.list_resources()).resources],
            [
                one.uri_template
                for one in (await client.list_resource_templates()).resource_templates
            ],
            [one.name for one in (await client.list_prompts()).prompts],
        )
        got = [await text_at(client, uri) for uri in (*named, "file:///b.txt", *others)]
        prompted = (await client.get_prompt("north+greet")).messages[0].content.text
        with pytest.raises(MCPError, match="south"):
            await client.get_prompt("south+greet")
        reference = types.ResourceTemplateReference(type="ref/resource", uri="north+file:///{x}")
        with pytest.raises(MCPError, match="resource"):
            await client.complete(reference, {"name": "x", "value": "a"})
        return listed, got, prompted

    config = configuration(tmp_path, OFFERS=json.dumps(offers))
    listed, got, prompted = through(
        profiled, config, use, profile="clerk", callbacks={"mode": mode}
    )
    assert listed == (["north+file:///b.txt"], ["north+file:///d/{x}"], ["north+greet"])
    texts = ["north file:///b.txt", "north file:///d/7", "north file:///b.txt"]
    assert got == [*texts, *[None] * len(others)]
    assert prompted == "north greet"


def test_what_a_profile_names_of_a_server_without_its_tools_is_said(profiled):
    (note,) = read_served_bundle(profiled, "clerk").notes
    assert "west+file:///w" in note


def test_what_is_not_in_a_profile_cannot_be_called_through_it(profiled, servers):
    async def use(client, gateway):
        listed = (await client.list_tools()).tools
        others = ("same", "north_same", "south_same", "get", "read_file", "call_tool")
        refused = [await error_text(client.call_tool(name, {"x": 1})) for name in others]
        return listed, refused, gateway.calls.table.servers

    listed, refused, reached = through(profiled, servers, use, profile="reader", old_names=True)
    assert {tool.name: tool.description for tool in listed}["open"] == "Open it."
    assert sorted(tool.name for tool in listed) == ["open", "work"]
    assert all("there is no tool" in text for text in refused if "same" in text)
    assert reached == ("north",), "a fixed selector leaves the other server out"


def test_fixed_arguments_are_in_no_schema_and_in_every_call(profiled, servers):
    async def use(client, gateway):
        (work,) = [one for one in (await client.list_tools()).tools if one.name == "work"]
        more = ({}, {"size": 9}, {"depth": 1}, {"server": "south"})
        return work, [await client.call_tool("work", {"act": "tell", **one}) for one in more]

    work, (done, *refused) = through(profiled, servers, use, profile="reader")
    assert set(work.input_schema["properties"]) == {"act", "seconds", "params"}
    reply = stub_reply(done)
    assert (reply["server"], reply["arguments"]) == ("north", {"act": "tell", "size": 3})
    texts = [one.content[0].text for one in refused if one.is_error]
    assert "'size' is fixed here" in texts[0]
    assert "'depth' is not taken" in texts[1], "it is an argument of the server that is left out"
    assert "'server' is fixed here" in texts[2]


def test_a_profile_that_the_bundle_has_not_is_named(profiled, toolset):
    with pytest.raises(ConfigError, match="reader, southern"):
        read_served_bundle(profiled, "writer")
    with pytest.raises(ConfigError, match="it has none"):
        read_served_bundle(toolset, "writer")


@pytest.mark.parametrize("text", ["reader", "reader=", "=x", "reader=short"])
def test_tokens_that_could_be_guessed_are_refused(text):
    with pytest.raises(ConfigError, match="PROFILE_TOKENS"):
        tokens_of_profiles(text, {"reader"})


@pytest.mark.case(95)
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"writer={OWN}", "not served; .* are reader"),
        (f"reader={OWN} Reader={OWN}", "not served; .* are reader"),
        (f"reader={OWN} " * 2, "more than one token"),
    ],
)
def test_a_token_of_a_profile_that_is_not_served_is_an_error_at_the_start(text, words):
    with pytest.raises(ConfigError, match=words):
        tokens_of_profiles(text, {"reader"})
    assert tokens_of_profiles(f"reader={OWN}", {"reader", "other"}) == {"reader": OWN}


@pytest.mark.case(95)
def test_serve_says_so_before_it_listens(profiled, servers, tmp_path, monkeypatch):
    path = tmp_path / "mcp.json"
    path.write_text(servers)
    monkeypatch.setenv("TOOLSCOPE_PROFILE_TOKENS", f"southern={OWN}")
    options = ("--config", path, "--http", "127.0.0.1:0", "--profile", "reader")
    refused = invoke(profiled, *options)
    assert refused.exit_code == 2 and "southern" in refused.stderr


def test_two_accounts_of_one_server_are_told_apart_everywhere(tmp_path):
    """In the toolset, whatever is accepted, behind the gateway, and in a profile of one of them."""
    send = record("send", "Send a mail from the account.", ["to"], to={"type": "string"})
    accounts = {"mail-home": [send], "mail-work": [send]}
    _, config = merge_nothing(tmp_path, accounts)
    catalog = read_catalog([tmp_path / "catalog.json"])
    log = saved(catalog, name="private", include={"servers": ["mail-home"]})
    (tmp_path / "d.jsonl").write_bytes(decision_lines(log, catalog))
    merge = ("merge", tmp_path / "catalog.json", "--accept", "all", "--out", tmp_path / "bundle")
    run(*merge, "--decisions", tmp_path / "d.jsonl")

    async def use(client, gateway):
        names = [tool.name for tool in (await client.list_tools()).tools]
        calls = [await client.call_tool(name, {"to": "ann"}) for name in names]
        return {name: stub_reply(one)["server"] for name, one in zip(names, calls, strict=True)}

    both, one = (
        through(tmp_path / "bundle", config.read_text(), use, profile=name)
        for name in ("", "private")
    )
    assert both == {"mail-home_send": "mail-home", "mail-work_send": "mail-work"}
    assert one == {"mail-home_send": "mail-home"}, "a tool has one name at every address"
    listed = json.loads((tmp_path / "bundle/profiles/private/clients/claude-code.json").read_text())
    assert "mcp__mail-work" in json.dumps(listed) and "mcp__mail-home" not in json.dumps(listed)


@pytest.mark.case(83)
@pytest.mark.parametrize("way", ["rpc", "error", "die"])
def test_no_message_of_an_original_has_a_value_that_is_fixed(shut, servers, tmp_path, way):
    heard, log = [], CallLog(tmp_path / "calls.jsonl", with_arguments=True)

    async def logging(params):
        heard.append(params.data)

    async def progress(done, total, message):
        heard.append(message)

    async def use(client, gateway):
        call = client.call_tool("work", {"act": f"echo:{way}"}, progress_callback=progress)
        try:
            heard.append((await call).model_dump())
        except MCPError as error:
            heard.append(error.error.model_dump())

    options = {"profile": "shut", "log": log, "callbacks": {"logging_callback": logging}}
    through(shut, servers, use, **options)
    said = json.dumps(heard)
    assert len(heard) > 1 and said.count("[fixed]") > 8
    assert [one for one in SHOWN if one in said + (tmp_path / "calls.jsonl").read_text()] == []


@pytest.mark.case(83)
def test_no_refusal_of_the_gateway_has_a_value_that_is_fixed(shut, servers, tmp_path):
    log = CallLog(tmp_path / "calls.jsonl", with_arguments=True)
    wrong = ({"seconds": "soon"}, {"depth": 1}, {"size": 4711}, {"server": "north"}, {"other": []})
    texts = texts_of(shut, servers, *(("work", one) for one in wrong), profile="shut", log=log)
    assert "soon" in texts[0], "what the agent sent it may read"
    assert '="north"' not in "".join(texts), "nor the value of a selector"
    said = "\n".join(texts[:4]) + (tmp_path / "calls.jsonl").read_text()
    assert [one for one in SHOWN if one in said] == []


@pytest.mark.case(83)
@pytest.mark.parametrize(
    "rule", [{"minProperties": 3}, {"anyOf": [{"properties": {"key": False}}]}]
)
def test_what_a_schema_says_of_a_whole_call_shows_what_the_agent_sent_alone(rule):
    schema = {"type": "object", "properties": {"key": TEXT, "size": {"type": "integer"}}, **rule}
    item = BundleTool(Tool("x", "x", "", "s", schema), ("x",), presets={"key": "acme-77"})
    calls = ToolCalls(routing_table([item], {}, {}, {}), *[None] * 4)
    against = calls.reasons_against(calls.table.routes["x"], {"size": 4711, "key": "acme-77"})
    assert against and "acme-77" not in str(against)
    assert ("4711" in str(against)) == ("minProperties" in rule)


@pytest.mark.case(83)
def test_a_value_is_gone_before_the_words_of_a_server_are_cut_to_a_few_lines(shut, servers):
    async def use(client, gateway):
        launch = gateway.calls.servers._launches["north"]()
        return launch.clean('x acme-77 of "ü" y')

    assert "acme" not in through(shut, servers, use, profile="shut")


@pytest.mark.case(83)
def test_the_result_of_a_tool_is_left_as_it_came(shut, servers):
    (passed,) = replies_of(shut, servers, ("work", {"act": "tell"}), profile="shut")
    assert passed["arguments"] == {"act": "tell", "size": 4711, "params": SHUT["params"]}


@pytest.mark.case(83)
@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("4711 of 14711 at 4711.5, 4711.", "[fixed] of 14711 at 4711.5, [fixed]."),
        ('{"a": "ACME-77 of \\"\\u00fc\\""}', '{"a": "[fixed]"}'),
        ("acme%2D77%20of%20%22%C3%BC%22", "[fixed]"),
        ("0.73125 is not 0x25", "[fixed] is not 0x25"),
    ],
)
def test_a_value_is_cut_out_in_every_spelling_and_numbers_as_words(shut, text, cut):
    values = fixed_values(read_served_bundle(shut, "shut").table)["north"]
    assert values.cut(text) == cut


@pytest.mark.case(83)
def test_a_note_on_a_value_that_a_tool_does_not_take_does_not_have_it():
    catalog = shelf()
    own = {"attic/read_file": {"fixed": {"encoding": 4711}}}
    selection = chosen(plan_of(catalog), saved(catalog, ids=tuple(own), own=own))
    assert "encoding" in selection.notes[0] and "4711" not in selection.notes[0]
