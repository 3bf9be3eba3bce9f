"""Merged tools are kept for the next run, and made again where anything that made them changes."""

import json
from dataclasses import fields, replace

import pytest

from tests.support.analyses import analysed
from toolscope_core.files.folders import read_sealed, write_sealed
from toolscope_core.merging import group_syntheses
from toolscope_core.merging.analysing import plan_merge
from toolscope_core.model.catalog import Catalog, Finding, Server
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.tool import Tool


def tool(server, **properties):
    schema = {"type": "object", "properties": properties, "required": [*properties][:1]}
    return Tool(f"{server}/search_books", "search_books", "Search books by words.", server, schema)


QUERY, COUNT = {"type": "string"}, {"type": "integer", "description": "How many."}
BOTH = {"query": QUERY, "limit": COUNT}
SERVERS = tuple(map(Server, ("a", "b")))
CATALOG = Catalog((tool("a", **BOTH), tool("b", **BOTH, page=COUNT)), SERVERS, "mcp")


@pytest.fixture
def made(monkeypatch):
    """The member ids of each merged tool that is made, not read."""
    ids = []
    whole = group_syntheses.synthesise

    def synthesise(members, *others):
        ids.append([one.id for one in members])
        return whole(members, *others)

    monkeypatch.setattr(group_syntheses, "synthesise", synthesise)
    return ids


def clusters(catalog, folder):
    """The proposals of a run with the caches in the folder."""
    return plan_merge(analysed(catalog, folder), (), PlanConfig(accept="none")).clusters


def test_the_next_run_reads_what_this_one_made(tmp_path, made, monkeypatch):
    first = clusters(CATALOG, tmp_path)
    assert first and made
    made.clear()
    monkeypatch.setattr(group_syntheses, "told_once", made.append)
    assert clusters(CATALOG, tmp_path) == first
    assert made == []


@pytest.mark.parametrize(
    "changed",
    [
        replace(CATALOG, tools=(CATALOG.tools[0], tool("b", page=COUNT, **BOTH))),
        replace(CATALOG, tools=(tool("a", **dict(reversed(BOTH.items()))), CATALOG.tools[1])),
        replace(
            CATALOG, findings=(Finding("b/search_books", "warn", "order", "description", "x"),)
        ),
        replace(CATALOG, tools=tuple(replace(one, raw={"x": 1}) for one in CATALOG.tools)),
    ],
)
def test_a_merged_tool_is_made_again_when_a_member_changes(tmp_path, made, changed):
    """The order of arguments changes no fingerprint, but the merged tool."""
    clusters(CATALOG, tmp_path)
    made.clear()
    again = clusters(changed, tmp_path)
    assert made
    assert again == clusters(changed, tmp_path / "empty")


def test_all_that_a_tool_says_is_part_of_the_key():
    """An augmentation is read by searches alone."""
    parts = {one.name for one in fields(Tool) if one.init}
    assert parts - set(group_syntheses._READ) == {"augmentation"}


def test_a_value_that_cannot_be_read_is_made_again(tmp_path, made):
    first = clusters(CATALOG, tmp_path)
    version, entries = json.loads(read_sealed(tmp_path / "syntheses.json"))
    assert {type(value) for value in entries.values()} == {dict, list}
    damaged = {key: {"arguments": "none"} for key in entries}
    write_sealed(tmp_path, "syntheses.json", json.dumps([version, damaged]).encode())
    made.clear()
    assert clusters(CATALOG, tmp_path) == first
    assert made
