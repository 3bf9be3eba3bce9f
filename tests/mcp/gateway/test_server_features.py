"""Resources and prompts of two servers that have the same names."""

import asyncio
import json

import mcp_types as types
import pytest
from mcp import MCPError

from tests.mcp.gateway import stub_toolset
from toolscope_core.mcp.gateway.resource_addresses import ResourceAddresses, matches

PAGE = "ui://bank/page"


async def text_at(client, uri):
    """What is read at an address, ``None`` where it is refused."""
    try:
        return (await client.read_resource(uri)).contents[0].text
    except MCPError:
        return None


def with_offers(servers, north=None, south=None):
    """The configuration with resources of the servers."""
    text = json.loads(servers)
    for name, offers in (("north", north), ("south", south)):
        if offers is not None:
            text["mcpServers"][name]["env"]["OFFERS"] = json.dumps(offers)
    return json.dumps(text)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_resources_stand_under_their_servers_and_are_read_from_them(toolset, servers, mode):
    async def use(client, gateway):
        listed = [one.uri for one in (await client.list_resources()).resources]
        return listed, [await text_at(client, uri) for uri in listed]

    listed, read = stub_toolset.through(toolset, servers, use, callbacks={"mode": mode})
    assert listed == ["north+file:///a.txt", "south+file:///a.txt"]
    assert read == ["north file:///a.txt", "south file:///a.txt"]


def test_a_server_that_cannot_be_reached_leaves_the_others_in_the_list(toolset, servers):
    broken = json.loads(servers)
    broken["mcpServers"]["north"]["command"] = "/no/such/command"

    async def use(client, gateway):
        listed = [one.uri for one in (await client.list_resources()).resources]
        return listed, gateway.content.unreachable

    listed, unreachable = stub_toolset.through(toolset, json.dumps(broken), use)
    assert listed == ["south+file:///a.txt"]
    assert "/no/such/command" in unreachable["north"]


def test_prompts_stand_under_their_servers_which_suggest_values_for_arguments(toolset, servers):
    def prompt(name):
        return types.PromptReference(type="ref/prompt", name=name)

    async def use(client, gateway):
        names = [one.name for one in (await client.list_prompts()).prompts]
        got = [(await client.get_prompt(name)).messages[0].content.text for name in names]
        argument = {"name": "who", "value": "a"}
        template = types.ResourceTemplateReference(type="ref/resource", uri="north+file:///{x}")
        completed = [
            (await client.complete(ref, argument)).completion.values
            for ref in (prompt("north+greet"), template, prompt("south+greet"))
        ]
        for refused in (client.get_prompt("greet"), client.complete(prompt("greet"), argument)):
            with pytest.raises(MCPError, match="prompt 'greet'"):
                await refused
        return names, got, completed

    offering = with_offers(servers, {"resources": [], "templates": ["file:///{x}"]})
    names, got, (of_prompt, of_template, none) = stub_toolset.through(toolset, offering, use)
    assert names == ["north+greet", "south+greet"]
    assert got == ["north greet", "south greet"]
    assert json.loads(of_prompt[0]) == {"type": "ref/prompt", "name": "greet"}
    assert json.loads(of_template[0]) == {"type": "ref/resource", "uri": "file:///{x}"}
    assert none == [], "the south suggests nothing"


NONE = {"resources": []}
A = "file:///a"
HAS_A = {"resources": [A]}
ANY = {"resources": [], "templates": ["{+any}", "ui://{+any}"]}
TEMPLATE = {"resources": [], "templates": ["file:///h/{name}"]}


@pytest.mark.case(79)
@pytest.mark.parametrize(
    ("north", "south", "readers"),
    [
        (NONE, HAS_A, {A: "south", f"south+{A}": "south", f"north+{A}": None}),
        (NONE, HAS_A, {"file:///b": None, "south+file:///b": None}),
        (HAS_A, HAS_A, {A: None, f"south+{A}": "south"}),
        (ANY, HAS_A, {A: "south", "file:///b": None, PAGE: None, f"north+{PAGE}": "north"}),
        ({"resources": ["south+file:///b"]}, HAS_A, {"south+file:///b": None}),
        (NONE, TEMPLATE, {"file:///h/b": "south", "file:///h/b/c": None}),
    ],
)
def test_an_address_is_read_at_the_server_that_listed_it(toolset, servers, north, south, readers):
    async def use(client, gateway):
        read = [await text_at(client, address) for address in readers]
        addresses = {
            name: await stub_toolset.work_reply(client, "offer", name)
            for name in ("north", "south")
        }
        return read, addresses

    read, addresses = stub_toolset.through(toolset, with_offers(servers, north, south), use)
    own = [(reader, at.removeprefix(f"{reader}+")) for at, reader in readers.items() if reader]
    assert [text for text in read if text] == [f"{reader} {at}" for reader, at in own]
    assert [text is None for text in read] == [reader is None for reader in readers.values()]
    assert addresses == {name: [at for reader, at in own if reader == name] for name in addresses}


@pytest.mark.case(79)
def test_an_address_of_two_is_nobodys_alone_and_results_name_some(toolset, servers):
    async def use(client, gateway):
        read = [await text_at(client, A)]
        await stub_toolset.work(client, "offer", params={"resources": [A, "file:///b"]})
        read += [await text_at(client, one) for one in (A, f"north+{A}")]
        await stub_toolset.work(client, "link", "south", params="file:///linked")
        read.append(await text_at(client, "file:///linked"))
        await stub_toolset.work(client, "link", params=A)
        return [*read, await text_at(client, A)]

    read = stub_toolset.through(toolset, with_offers(servers, NONE, HAS_A), use)
    assert read == [f"south {A}", None, f"north {A}", "south file:///linked", None]


@pytest.mark.case(79)
def test_a_page_that_another_server_lists_is_read_at_its_own_by_name_alone(tmp_path):
    page = {"_meta": {"ui": {"resourceUri": PAGE}}}
    tools = {
        "aide": [stub_toolset.record("help", "Help a person.")],
        "bank": [{**stub_toolset.record("pay", "Pay a bill."), **page}],
    }
    bundle, config = stub_toolset.merge_nothing(tmp_path, tools)
    text = json.loads(config.read_text())
    for name, offers in (("aide", {**ANY, "resources": [PAGE]}), ("bank", NONE)):
        text["mcpServers"][name]["env"] = {"OFFERS": json.dumps(offers)}

    async def run():
        async with stub_toolset.client_of(
            bundle, stub_toolset.gateway_config(json.dumps(text))
        ) as (client, _):
            await client.list_resources()
            return await text_at(client, PAGE), await text_at(client, f"bank+{PAGE}")

    assert asyncio.run(run()) == (None, f"bank {PAGE}")


@pytest.mark.case(79)
@pytest.mark.filterwarnings("ignore:resources/:mcp.shared.exceptions.MCPDeprecationWarning")
def test_what_nobody_offered_is_not_followed_or_completed(toolset, servers):
    async def use(client, gateway):
        template = types.ResourceTemplateReference(type="ref/resource", uri="north+file:///no/{x}")
        for refused in (
            client.subscribe_resource("north+file:///no"),
            client.complete(template, {"name": "x", "value": "a"}),
        ):
            with pytest.raises(MCPError):
                await refused
        await client.unsubscribe_resource("north+file:///no")
        return await stub_toolset.work_reply(client, "offer")

    assert stub_toolset.through(toolset, servers, use) == []


@pytest.mark.parametrize(
    ("template", "address", "is_match"),
    [
        ("a:{x}/b{y}", "a:1/b2", True),
        ("a:{x}/b{y}", "a:1/c2", False),
        ("a:{x}.txt", "a:x/y.txt", False),
        ("a:{+x}.txt", "a:x/y.txt", True),
        ("a:{/x*}", "a:/x/y", True),
        ("a:b{?q}", "a:b?q=/", True),
        ("a:{x}aa", "a:a", False),
        ("a:b", "a:bc", False),
        ("a:" + "{x}a" * 2_000, "a:" + "a" * 20_000 + "b", False),
    ],
)
def test_templates_match_in_one_walk(template, address, is_match):
    assert matches(template, address) is is_match


@pytest.mark.case(79)
@pytest.mark.parametrize(
    ("template", "address", "is_its_own"),
    [
        ("notes://{id}", "notes://1", True),
        ("file:///notes/{+path}", "file:///notes/a/b", True),
        ("https://a.example/{id}", "https://a.example/1", True),
        ("bank:{+rest}", "bank://x", False),
        ("file:///{+path}", "file:///etc/x", False),
        ("https://{+rest}", "https://a.example/1", False),
        ("UI://{+rest}", "UI://bank/page", False),
        ("ui:{+rest}", "ui://bank/page", False),
        ("{+rest}", "notes://1", False),
    ],
)
def test_a_template_claims_a_place_and_not_what_nobody_listed(template, address, is_its_own):
    addresses = ResourceAddresses()
    addresses.note_listed("bank", ["bank://main"])
    addresses.note_templates("aide", [template])
    assert addresses.owners(address) == (frozenset({"aide"}) if is_its_own else frozenset())


@pytest.mark.case(79)
def test_every_way_to_offer_an_address_counts():
    addresses = ResourceAddresses(by_tools={"a://1": frozenset({"aide"})})
    addresses.note_listed("bank", ["a://1", "a://2"])
    addresses.note_result("aide", {"content": [{"type": "resource_link", "uri": "a://2"}]})
    assert [len(addresses.owners(one)) for one in ("a://1", "a://2", "a://3")] == [2, 2, 0]
