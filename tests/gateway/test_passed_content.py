"""Resources and prompts of two servers that have the same names."""

import json

import pytest

from tests.gateway.town import through


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_resources_stand_under_their_servers_and_are_read_from_them(town, servers, mode):
    async def use(client, gateway):
        listed = [one.uri for one in (await client.list_resources()).resources]
        read = [(await client.read_resource(uri)).contents[0].text for uri in listed]
        plain = (await client.read_resource("file:///b.txt")).contents[0].text
        return listed, read, plain

    listed, read, plain = through(town, servers, use, callbacks={"mode": mode})
    assert listed == ["north+file:///a.txt", "south+file:///a.txt"]
    assert read == ["north file:///a.txt", "south file:///a.txt"]
    assert plain == "north file:///b.txt"


def test_prompts_stand_under_their_servers_too(town, servers):
    from mcp import MCPError

    async def use(client, gateway):
        names = [one.name for one in (await client.list_prompts()).prompts]
        got = [(await client.get_prompt(name)).messages[0].content.text for name in names]
        with pytest.raises(MCPError, match="there is no prompt 'greet'"):
            await client.get_prompt("greet")
        return names, got

    names, got = through(town, servers, use)
    assert names == ["north+greet", "south+greet"]
    assert got == ["north greet", "south greet"]


def test_a_server_that_cannot_be_reached_leaves_the_others_in_the_list(town, servers):
    broken = json.loads(servers)
    broken["mcpServers"]["north"]["command"] = "/no/such/command"

    async def use(client, gateway):
        listed = [one.uri for one in (await client.list_resources()).resources]
        return listed, gateway.parts.content.unreachable

    listed, unreachable = through(town, json.dumps(broken), use)
    assert listed == ["south+file:///a.txt"]
    assert "/no/such/command" in unreachable["north"]
