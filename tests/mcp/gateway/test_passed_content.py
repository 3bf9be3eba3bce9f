"""Resources and prompts of two servers that have the same names."""

import json
from functools import partial

import pytest

from tests.mcp.gateway.stub_toolset import through, work_reply


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_resources_stand_under_their_servers_and_are_read_from_them(toolset, servers, mode):
    async def use(client, gateway):
        listed = [one.uri for one in (await client.list_resources()).resources]
        read = [(await client.read_resource(uri)).contents[0].text for uri in listed]
        plain = (await client.read_resource("file:///b.txt")).contents[0].text
        return listed, read, plain

    listed, read, plain = through(toolset, servers, use, callbacks={"mode": mode})
    assert listed == ["north+file:///a.txt", "south+file:///a.txt"]
    assert read == ["north file:///a.txt", "south file:///a.txt"]
    assert plain == "north file:///b.txt"


def test_prompts_stand_under_their_servers_too(toolset, servers):
    from mcp import MCPError

    async def use(client, gateway):
        names = [one.name for one in (await client.list_prompts()).prompts]
        got = [(await client.get_prompt(name)).messages[0].content.text for name in names]
        with pytest.raises(MCPError, match="there is no prompt 'greet'"):
            await client.get_prompt("greet")
        return names, got

    names, got = through(toolset, servers, use)
    assert names == ["north+greet", "south+greet"]
    assert got == ["north greet", "south greet"]


def test_a_server_that_cannot_be_reached_leaves_the_others_in_the_list(toolset, servers):
    broken = json.loads(servers)
    broken["mcpServers"]["north"]["command"] = "/no/such/command"

    async def use(client, gateway):
        listed = [one.uri for one in (await client.list_resources()).resources]
        return listed, gateway.content.unreachable

    listed, unreachable = through(toolset, json.dumps(broken), use)
    assert listed == ["south+file:///a.txt"]
    assert "/no/such/command" in unreachable["north"]


def test_values_for_arguments_are_suggested_by_the_server_that_has_the_prompt(toolset, servers):
    import mcp_types as types
    from mcp import MCPError

    def prompt(name):
        return types.PromptReference(type="ref/prompt", name=name)

    async def use(client, gateway):
        argument = {"name": "who", "value": "a"}
        template = types.ResourceTemplateReference(type="ref/resource", uri="north+file:///{x}")
        completed = [
            (await client.complete(ref, argument)).completion.values
            for ref in (prompt("north+greet"), template, prompt("south+greet"))
        ]
        with pytest.raises(MCPError, match="there is no ref/prompt 'greet'"):
            await client.complete(prompt("greet"), argument)
        return completed

    of_prompt, of_template, none = through(toolset, servers, use)
    assert json.loads(of_prompt[0]) == {"type": "ref/prompt", "name": "greet"}
    assert json.loads(of_template[0]) == {"type": "ref/resource", "uri": "file:///{x}"}
    assert none == [], "the south suggests nothing"


@pytest.mark.filterwarnings("ignore:resources/:mcp.shared.exceptions.MCPDeprecationWarning")
def test_a_client_hears_of_the_resources_it_follows_until_it_follows_them_no_more(toolset, servers):
    from mcp import MCPError

    heard = []

    async def messages(message):
        params = getattr(message, "params", None)
        heard.append((getattr(message, "method", ""), str(getattr(params, "uri", ""))))

    async def use(client, gateway):
        touch = partial(work_reply, client, "touch")
        assert await touch("north") == []
        await client.subscribe_resource("north+file:///a.txt")
        assert await touch("north") == ["file:///a.txt"]
        await touch("south")
        gateway.calls.servers.lost("north", gateway.calls.servers.open_now["north"])
        assert await touch("north") == ["file:///a.txt"], "asked for again, of the new process"
        await client.unsubscribe_resource("north+file:///a.txt")
        assert await touch("north") == []
        with pytest.raises(MCPError, match="there is no resource"):
            await client.subscribe_resource("file:///a.txt")

    through(toolset, servers, use, callbacks={"message_handler": messages})
    updates = [uri for method, uri in heard if method == "notifications/resources/updated"]
    assert updates == ["north+file:///a.txt"] * 2
    changed = {method for method, _ in heard} - {"notifications/resources/updated"}
    assert changed >= {"notifications/resources/list_changed", "notifications/prompts/list_changed"}
