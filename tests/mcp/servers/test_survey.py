"""Many servers side by side, and what they offer as a file that is read like any other catalog."""

import json
import os
from dataclasses import replace

import pytest

from tests.mcp.servers.stubs import MARK, QUICK, TOKEN, configuration, entry, living, new_mark
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import Source
from toolscope_core.mcp.servers.offers import ServerOffer, catalog_document, read_offers, records_of
from toolscope_core.model.errors import JobError


def test_a_server_that_fails_is_a_row_among_the_others():
    config = configuration(
        good=entry("good"),
        bad=entry("exits"),
        unset={**entry("good"), "env": {"A": "${NOT_SET_ANYWHERE}"}},
        slow=entry("slow", 0.1),
    )
    steps = []
    offers = read_offers(config.servers, config, os.environ, QUICK, steps.append)
    assert [offer.name for offer in offers] == ["good", "bad", "unset", "slow"]
    assert [len(offer.tools) for offer in offers] == [2, 0, 0, 2]
    assert [offer.kind for offer in offers] == ["", "exit", "settings", ""]
    assert "NOT_SET_ANYWHERE" in offers[2].failure
    assert TOKEN not in repr(offers)
    # another command that answers just like the first may be the first, by accident
    assert "as good; " in " ".join(offers[3].notes)
    assert not offers[0].notes
    assert (steps[0].stage, steps[0].done, steps[0].total) == ("servers", 0, 4)
    assert (steps[-1].done, steps[-1].total) == (4, 4)


def test_no_more_than_allowed_run_at_a_time(monkeypatch):
    monkeypatch.setattr("toolscope_core.mcp.servers.offers.LOOK_SECONDS", 0.02)
    mark, counts = new_mark(), []
    config = configuration(**{f"s{n}": entry("slow", 0.1, **{MARK: mark}) for n in range(3)})

    def count(step):
        counts.append(len(living(mark)))

    offers = read_offers(config.servers, config, os.environ, replace(QUICK, parallel=1), count)
    assert [len(offer.tools) for offer in offers] == [2] * 3
    assert max(counts) == 1


def test_a_reading_that_is_stopped_leaves_no_server_behind():
    mark = new_mark()
    config = configuration(**{f"s{n}": entry("mute", **{MARK: mark}) for n in range(3)})

    def stop(step):
        if len(living(mark)) == 3:
            raise JobError("stopped")

    with pytest.raises(JobError, match="stopped"):
        read_offers(config.servers, config, os.environ, QUICK, stop)
    assert living(mark) == []


# What servers offer as a file that is read like any other catalog.

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
    assert "1 tool " in note and "secret" in note
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
