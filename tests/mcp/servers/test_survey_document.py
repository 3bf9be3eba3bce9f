"""What servers offer as a file that is read like any other catalog."""

import json
import os

from tests.mcp.servers.stubs import QUICK, TOKEN, configuration, entry
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import Source
from toolscope_core.mcp.servers.offers import ServerOffer, catalog_document, read_offers, records_of

AT = "2026-01-02T03:04:05+00:00"


def catalog_of(document):
    return read_catalog([Source("servers.json", json.dumps(document).encode())])


def test_the_document_is_read_as_a_catalog_with_every_record():
    config = configuration(b=entry("odd"), a=entry("good"), dead=entry("exits"))
    offers = read_offers(config.servers, config, os.environ, QUICK)
    document = catalog_document(offers, {one.name: one for one in config.servers}, AT)
    catalog = catalog_of(document)
    assert catalog.format == "mcp"
    assert [tool.id for tool in catalog.tools] == ["a/read", "a/write", "b/fine", "b/no_schema"]
    assert catalog.by_id["b/fine"].raw["vendorField"] == {"kept": None}
    servers = [("a", "Use it."), ("b", "Use it.")]
    assert [(server.name, server.description) for server in catalog.servers] == servers
    source = document["servers"][0]["source"]
    assert (source["at"], source["server"], source["version"]) == (AT, "stub", "1.2")
    assert source["beside tools"] == {"resource": 3, "resource template": 0, "prompt": 1}
    assert source["command"].endswith("stub_server.py good")
    assert catalog.servers[0].started == source["command"], "by which instances are told apart"


def test_a_secret_that_a_tool_repeats_is_cut_out_and_that_is_said():
    config = configuration(a=entry("secret"))
    (offer,) = read_offers(config.servers, config, os.environ, QUICK)
    assert offer.tools[0]["description"] == "Connected with [key]."
    (note,) = offer.notes
    assert "1 tool repeated a secret" in note
    document = catalog_document([offer], {"a": config.servers[0]}, AT)
    assert TOKEN not in json.dumps(document)


def test_a_server_that_was_not_read_keeps_what_it_had():
    def offer(name, *names, failure=""):
        tools = tuple({"name": one, "inputSchema": {"type": "object"}} for one in names)
        return ServerOffer(name, tools=tools, failure=failure)

    config = configuration(a=entry("good"), b=entry("good"), c=entry("good"))
    servers = {one.name: one for one in config.servers}
    first = catalog_of(
        catalog_document([offer("a", "x"), offer("b", "y"), offer("c", "z")], servers, AT)
    )
    assert records_of(first, ["b", "none"]) == {"b": [dict(first.by_id["b/y"].raw)]}
    offers = [offer("a", "x2"), offer("b", failure="gone")]
    document = catalog_document(offers, servers, AT, records_of(first, ["a", "b", "c"]))
    assert [tool.id for tool in catalog_of(document).tools] == ["a/x2", "b/y", "c/z"]
    assert [tool.id for tool in catalog_of(catalog_document(offers, servers, AT)).tools] == ["a/x2"]
