from dataclasses import replace

import pytest

from toolscope_core.judging.guards import (
    Companions,
    effect,
    guards,
    harm_notes,
    kept_behind,
    returned,
    safety_notes,
    unshared_notes,
)
from toolscope_core.merging.auto_accept import accept
from toolscope_core.merging.clusters import build_clusters
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import Group
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.decision import Constraints, Edit
from toolscope_core.model.tool import Tool
from toolscope_core.wording.reading import read_tool

TEXT, FLAG, NUMBER = {"type": "string"}, {"type": "boolean"}, {"type": "number"}


def tool(tool_id, name, server="", description="", returns=None, **hints):
    schema = {"type": "object", "properties": {"x": TEXT}}
    return Tool(tool_id, name, description, server, schema, returns, hints)


def listing(of):
    return {"type": "array", "items": of}


def record(**fields):
    return {"type": "object", "properties": fields}


ALONE = Companions([])
AS_PRUNE = {frozenset("ab"): Edit(kind="drop_in")}
"""A person says that the servers share what they keep."""

ACROSS = "the tools are on 2 servers: "
HELD = "nothing says that they share their "

CASES = {
    "files of another server": (
        tool("a", "read_file", "attic"),
        tool("b", "read_file", "cellar", "Read one file."),
        [f"{ACROSS}files that only cellar has would be out of reach"],
    ),
    "no state that we know of": (
        tool("a", "get_weather", "x"),
        tool("b", "get_weather", "y"),
        [f"{ACROSS}data that only y has would be out of reach"],
    ),
    "a tool without a server": (
        tool("a", "get_weather", "x"),
        tool("b", "get_weather"),
        [f"{ACROSS}data that only the tool without a server has would be out of reach"],
    ),
    "sessions on one server, other family": (
        tool("a", "close_chrome_session", "x"),
        tool("b", "close_firefox_session", "x"),
        [f"{HELD}sessions: those that only `close_firefox_session` has would be out of reach"],
    ),
    "sessions on one server, one family": (
        tool("a", "close_session", "x"),
        tool("b", "session_close", "x"),
        [],
    ),
    "files on one server": (
        tool("a", "read_file", "x", "Reads a file of text."),
        tool("b", "read_text_file", "x", "Read a file of text."),
        [],
    ),
    "files, and no word of who keeps them": (
        tool("a", "read_file"),
        tool("b", "read_sandbox_file"),
        [f"{HELD}files: those that only `read_sandbox_file` has would be out of reach"],
    ),
    "files, the same words": (tool("a", "write_file"), tool("b", "file_write"), []),
    "computing with a record": (
        tool("a", "calculate_record", description="The best record so far."),
        tool("b", "compute_best_record", description="The best record so far."),
        [],
    ),
    "reads and writes": (
        tool("a", "list_prices"),
        tool("b", "update_prices"),
        ["they differ in effect: one reads, another writes"],
    ),
    "writes and destroys": (
        tool("a", "update_price"),
        tool("b", "delete_price"),
        ["they differ in effect: one destroys, another writes"],
    ),
    "destroys by annotation only": (
        tool("a", "write_price", destructiveHint=True),
        tool("b", "put_price", destructiveHint=False),
        ["they differ in effect: one destroys, another writes"],
    ),
    "an effect left open": (
        tool("a", "zap", description="It says what to update."),
        tool("b", "update_zap", description="It says what to update."),
        [],
    ),
    "a list and one": (
        tool("a", "get_price", returns=record(price=NUMBER)),
        tool("b", "fetch_price", returns=record(prices=listing(NUMBER))),
        [
            "they return different things: `fetch_price` returns a list, `get_price` returns a number"
        ],
    ),
    "a wrapper is looked through": (
        tool("a", "get_price", returns=record(result=record(value={"type": "integer"}))),
        tool("b", "fetch_price", returns={"type": ["number", "null"]}),
        [],
    ),
    "results left open": (
        tool("a", "get_price", returns=record(price=NUMBER)),
        tool("b", "fetch_price", returns=record()),
        [],
    ),
    "mine and everybody's": (
        tool("a", "list_prices"),
        tool("b", "list_my_prices"),
        ["they differ in scope: only `list_my_prices` says “my”"],
    ),
    "a warning that would be gone": (
        tool("a", "put_price", description="Puts a price."),
        tool("b", "write_price", description="Writes it. The old one is overwritten for good."),
        [
            "`put_price` does not repeat what others say about "
            "`write_price`: “The old one is overwritten for good.”"
        ],
    ),
    "a warning in other words": (
        tool("a", "put", description="Puts a price. Overwritten prices cannot be recovered."),
        tool("b", "put_price", description="Puts it. Prices overwritten cannot be recovered!"),
        [],
    ),
    "what is annotated where nothing says what is done": (
        tool("a", "zap", idempotentHint=True, openWorldHint=False),
        tool("b", "zap_data", destructiveHint=True, openWorldHint=True),
        [],
    ),
    "one scope": (tool("a", "list_all_prices"), tool("b", "show_all_prices"), []),
}


@pytest.mark.parametrize(("one", "other", "sentences"), CASES.values(), ids=CASES)
def test_what_differs_is_a_sentence_in_either_order_and_stops_auto_accept(one, other, sentences):
    assert list(guards([one, other], "a", "drop_in", ALONE)) == sentences
    assert list(guards([other, one], "a", "drop_in", ALONE)) == sentences

    catalog = Catalog((one, other))
    built = build_clusters(catalog, [Group(("a", "b"), 0.99)], Constraints(), AS_PRUNE, 0.9)
    (cluster,) = accept(built, PlanConfig(accept="auto"), frozenset())
    reasons = guards([one, other], cluster.canonical, "drop_in", Companions(catalog.tools))
    assert cluster.kind == "drop_in"
    assert bool(reasons) == bool(sentences)
    assert set(reasons) <= set(cluster.reasons)
    assert bool(cluster.reasons) == bool(sentences)
    assert cluster.state == ("proposed" if sentences else "accepted")


def test_a_note_that_tells_of_no_harm_is_no_guard():
    one = tool("a", "write_price", description="Writes a price.")
    other = tool("b", "put_price", description="Puts a price. Warns of odd ones. Never negative.")
    assert list(guards([one, other], "a", "drop_in", ALONE)) == []
    harmful = replace(other, description="Puts a price. The old one is overwritten.")
    assert guards([one, harmful], "a", "drop_in", ALONE)


def test_a_long_warning_is_cut_and_four_are_told():
    warned = [tool(f"b{i}", f"put_{i}", description=f"Danger {i}! " * 40) for i in range(6)]
    (sentences,) = guards([tool("a", "put", description="Puts."), *warned], "a", "drop_in", ALONE)
    assert sentences.endswith("and 2 more")
    assert len(sentences) < 800


def test_a_gateway_keeps_all_state():
    one, other = tool("a", "read_file", "attic"), tool("b", "read_file", "cellar")
    assert guards([one, other], "a", "drop_in", ALONE)
    assert not guards([one, other], "a", "gateway", ALONE)
    assert not guards([tool("a", "read_file"), tool("b", "read_old_file")], "a", "gateway", ALONE)


@pytest.mark.parametrize(("name", "held"), [("read_file", 0), ("close_session", 1)])
def test_one_account_lifts_the_rule_of_stores_and_nothing_else(name, held):
    one, other = tool("a", name, "attic"), tool("b", name, "cellar")
    assert len(guards([one, other], "a", "drop_in", ALONE)) == 1
    reasons = guards([one, other], "a", "drop_in", ALONE, one_account=True)
    assert len([reason for reason in reasons if HELD in reason]) == held
    account = Constraints(one_account={frozenset({"attic", "cellar"}): True})
    for words in ("Id of the issue", "UUID of the issue"):
        two = [
            replace(
                made, schema={"type": "object", "properties": {"id": TEXT | {"description": d}}}
            )
            for made, d in ((one, "Id of the issue"), (other, words))
        ]
        (cluster,) = build_clusters(
            Catalog(tuple(two)), [Group(("a", "b"), 0.99)], account, {}, 0.9
        )
        assert cluster.safe is (not held and "UUID" not in words), cluster.reasons


def test_state_is_switched_off_as_a_family_or_not_at_all():
    one, other = tool("a", "read_file", "attic"), tool("b", "read_file", "cellar")
    beside = [
        tool("c", "delete_file", "cellar"),
        tool("d", "list_rooms", "cellar"),
        tool("e", "delete_file", "attic"),
        tool("f", "rename_files", "cellar"),
    ]
    families = Companions([one, other, *beside])
    sentences = guards([one, other], "a", "drop_in", families)
    assert "cellar" in sentences[1] and "`delete_file`, `rename_files`" in sentences[1]
    assert "list_rooms" not in sentences[1]
    assert guards([one, other], "a", "drop_in", families) == sentences
    assert not guards([one, other], "a", "gateway", families)
    catalog = Catalog((one, other, *beside))
    (cluster,) = build_clusters(catalog, [Group(("a", "b"), 0.99)], Constraints(), AS_PRUNE, 0.9)
    assert cluster.reasons == sentences


@pytest.mark.parametrize(
    ("name", "argument", "servers", "alike"),
    [
        ("get_weather", "city", ("north", "south"), True),
        ("add_two_numbers", "first", ("north", "south"), True),
        ("get_weather", "station_id", ("north", "south"), False),
        ("evaluate_ruby", "code", ("north", "south"), False),
        ("search_files", "path", ("north", "south"), False),
        ("create_weather_alert", "city", ("north", "south"), False),
        ("get_issue_price", "number", ("github", "my-github"), False),
    ],
)
def test_public_facts_and_sums_are_the_same_on_every_server(name, argument, servers, alike):
    schema = {"type": "object", "properties": {argument: {"type": "string"}}}
    members = [
        Tool(id=id, name=name, server=server, description="", schema=schema)
        for id, server in zip("ab", servers, strict=True)
    ]
    assert (guards(members, "a", "drop_in", ALONE) == ()) == alike


def test_many_servers_are_named_up_to_four():
    members = [tool(str(n), "get_thing", f"s{n}") for n in range(7)]
    (sentences,) = guards(members, "0", "drop_in", ALONE)
    assert "on 7 servers" in sentences and "2 more" in sentences
    assert "only s4" in sentences and "s5" not in sentences


@pytest.mark.parametrize(
    ("name", "description", "kept"),
    [
        ("read_file", "", ("file",)),
        ("listDirectories", "", ("directory",)),
        ("browser_click", "Click on a page.", ("browser",)),
        ("hover", "Hover over an element on the page.", ("element",)),
        ("evaluate", "Run a script in the browser console.", ("browser",)),
        ("lookup", "Find a record by key.", ("record",)),
        ("estimate_file_size", "", ()),
        ("get_weather", "Tell the weather.", ()),
    ],
)
def test_what_a_tool_keeps_behind_it(name, description, kept):
    made = tool("a", name, description=description)
    assert kept_behind(read_tool(made)) == kept


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        (None, ""),
        ({}, ""),
        (TEXT, "text"),
        ({"type": ["string", "number"]}, ""),
        ({"type": ["integer", "number"]}, "a number"),
        (record(a=TEXT, b=TEXT), "an object"),
        (record(a=listing(TEXT)), "a list"),
        (record(a=True), ""),
        ({"type": "object"}, "an object"),
        (FLAG, "true or false"),
    ],
)
def test_kinds_of_results(schema, kind):
    assert returned(schema) == kind


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (tool("1", "delete_x", readOnlyHint=True), "reads"),
        (tool("1", "x", readOnlyHint=False), "writes"),
        (tool("1", "x", destructiveHint=True), "destroys"),
        (tool("1", "get_user"), "reads"),
        (tool("1", "create_user"), "writes"),
        (tool("1", "delete_user"), "destroys"),
        (tool("1", "delete_user", readOnlyHint=False, destructiveHint=False), "writes"),
        (tool("1", "zzz"), ""),
    ],
)
def test_effects(made, expected):
    assert effect(read_tool(made)) == expected


# What tools say is unsafe, and what a text still says of it.


def test_notes_of_parameters_count():
    schema = {"type": "object", "properties": {"x": {"description": "Never a password."}}}
    assert safety_notes(Tool("t", "t", "Does.", schema=schema)) == ("Never a password.",)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Deletes a note. This cannot be undone.", True),
        ("Requires approval.", True),
        ("Needs admin permissions.", True),
        ("You must not use it twice.", True),
        ("Do not use it twice.", True),
        ("Reads: don't share it.", True),
        ("Reads it, and do NOT write.", True),
        ("Irreversible!", True),
        ("Finds notes.", False),
        ("It does not support dates.", False),
        ("Returns warnless text.", False),
        ("Great when you don't know where it is.", False),
        ("Returns size, owner and permissions.", False),
    ],
)
def test_safety_notes_are_found(text, found):
    assert bool(safety_notes(Tool("t", "t", text))) is found


@pytest.mark.parametrize(
    ("text", "warned"),
    [
        ("Deletes a note. This cannot be undone.", ("This cannot be undone.",)),
        ("WARNING: costs money.", ("WARNING: costs money.",)),
        ("Levels are INFO, WARNING and ERROR.", ()),
        ("Sends. Each call costs $5.", ("Each call costs $5.",)),
        ("It is billed to your account.", ("It is billed to your account.",)),
        ("Sends it. There is no undo.", ("There is no undo.",)),
        ("Finds what a book costs. Takes a price such as $5.", ()),
        ("Finds files when you don't know where. Needs permissions.", ()),
        ("", ()),
    ],
)
def test_harm_notes_are_the_notes_that_tell_of_harm(text, warned):
    assert harm_notes(Tool("t", "t", text)) == warned


def test_what_a_text_says_in_other_words_is_said():
    risky = Tool("t", "drop", "Drops it. The table cannot be recovered.")
    reworded, denied = "Drops. A table dropped cannot be recovered.", "A table can be recovered."
    assert not list(unshared_notes([risky], reworded))
    (note,) = unshared_notes([risky], denied)
    assert note[0] == risky and note[1] in risky.description


def test_most_words_without_the_one_that_warns_do_not_say_it():
    risky = Tool("t", "remove", "Permanently deletes a note from the notebook.")
    text = "Deletes a note from the notebook"
    assert list(unshared_notes([risky], f"{text}."))
    assert not list(unshared_notes([risky], f"{text} permanently."))
