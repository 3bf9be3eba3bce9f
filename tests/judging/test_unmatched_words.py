"""Pairs whose words speak against letting one tool stand for the other, and pairs that stay."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.analyses import analysed
from toolscope_core.judging.arguments.alignment import argument_map
from toolscope_core.judging.arguments.argument_words import silent_changes
from toolscope_core.judging.relation_words import unmatched_reasons
from toolscope_core.merging.analysing import plan_merge
from toolscope_core.merging.auto_accept import accept
from toolscope_core.merging.clusters import build_clusters
from toolscope_core.merging.model_verdicts import ModelVerdicts
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import ArgumentMap, ArgumentMove, Group
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.decision import Constraints
from toolscope_core.model.pair import Pair, Verdict
from toolscope_core.model.tool import Tool
from toolscope_core.wording.reading import read_tool

TEXT = {"type": "string"}


def tool(called, description="", required=(), **properties):
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return Tool(called, called, description, schema=schema)


def reasons(canonical, replaced):
    alpha = argument_map(replaced, canonical)
    return list(unmatched_reasons(read_tool(canonical), read_tool(replaced), alpha))


def accepted_by_auto(one, other):
    """The two as a cluster that the judge is sure of, once *auto* has passed over it."""
    catalog = Catalog(tuple(sorted((one, other), key=lambda tool: tool.id)))
    group = Group(tuple(tool.id for tool in catalog.tools), 0.99)
    built = build_clusters(catalog, [group], Constraints(), {}, 0.9)
    (cluster,) = accept(built, PlanConfig(accept="auto"), frozenset())
    return cluster


TRAPS = {
    "another provider": (
        tool("get_amazon_price", "Get the price of an item on Amazon.", item=TEXT),
        tool("get_ebay_price", "Get the price of an item on eBay.", item=TEXT),
        "`get_amazon_price` says “amazon” where `get_ebay_price` says “ebay”",
    ),
    "the contrary": (
        tool("activate_line", "Activate a phone line.", line=TEXT),
        tool("suspend_line", "Suspend a phone line.", line=TEXT),
        "`activate_line` says “activate” where `suspend_line` says “suspend”",
    ),
    "another period": (
        tool("first_day_of_current_month", "The first day of the current month."),
        tool("first_day_of_last_month", "The first day of the last month."),
        "says “current” where `first_day_of_last_month` says “last”",
    ),
    "who blocks whom": (
        tool("list_blocked_by", "The people somebody was blocked by.", person=TEXT),
        tool("list_blocking", "The people somebody is blocking.", person=TEXT),
        "look at the same thing from two sides: blocked / blocking",
    ),
    "who blocks whom, undescribed": (
        tool("blocked_by", person=TEXT),
        tool("blocking", person=TEXT),
        "look at the same thing from two sides: blocked / blocking",
    ),
    "who follows whom": (
        tool("list_followers", "Lists the people who follow an author.", author=TEXT),
        tool("list_following", "Lists the people whom an author is following.", author=TEXT),
        "look at the same thing from two sides: followers / following",
    ),
    "all of them, and one by its id": (
        tool("list_room", "List a room."),
        tool("get_room", "Get a room.", ["room_id"], room_id=TEXT),
        "is about a single thing, the other about several",
    ),
    "one and several": (
        tool("add_member", "Adds a member to the club.", who=TEXT),
        tool("add_members", "Adds members to the club.", who=TEXT),
        "is about a single thing, the other about several",
    ),
    "there and back": (
        tool("json_to_toml", "Convert JSON to TOML.", text=TEXT),
        tool("toml_to_json", "Convert TOML to JSON.", text=TEXT),
        "use the same words in another order",
    ),
    "members of two things with one description": (
        tool("list_group_members", "Lists the members of a group or project.", id=TEXT),
        tool("list_project_members", "Lists the members of a group or project.", id=TEXT),
        "one is for “group”, the other for “project”, and a description names them as alternatives",
    ),
    "the same words in another order": (
        tool("set_owner", "Makes an admin of the shop its owner.", user=TEXT),
        tool("set_admin", "Makes an owner of the shop its admin.", user=TEXT),
        "one is about “owner”, the other about “admin”",
    ),
    "a thing with its parts, and the parts": (
        tool("get_story", "Get a story with its comments.", story=TEXT),
        tool("get_story_comments", "Get the comments of a story.", story=TEXT),
        "one is about “story”, the other about “comments”",
    ),
    "returns that are no verb": (
        tool("get_fund", "Returns a fund.", fund=TEXT),
        tool("get_fund_returns", "Get the fund's returns.", fund=TEXT),
        "only `get_fund_returns` says “returns”",
    ),
    "keys of two things": (
        tool("get_box", "Get it with its lid.", ["attic_id"], attic_id=TEXT),
        tool("fetch_box", "Get it with its lid.", ["cellar_id"], cellar_id=TEXT),
        "they ask for keys of different things: attic / cellar",
    ),
    "a word in the markup": (
        tool("get_doors", '<div class="gate">Doors</div>'),
        tool("get_gate_doors", '<div class="gate">Doors</div>'),
        "only `get_gate_doors` says “gate”",
    ),
    "more than four words": (
        tool("play", "Play."),
        tool("play_old_slow_sad_long_song", "Play."),
        "only `play_old_slow_sad_long_song` says “old, slow, sad, long” and 1 more",
    ),
}

MATCHED = {
    "synonyms that tools use": (
        tool("fetch_note", "Fetch a note by its id.", note_id=TEXT),
        tool("get_note", "Get a note by id.", note_id=TEXT),
    ),
    "synonyms in English": (
        tool("drop_table", "Drop a table.", table=TEXT),
        tool("delete_table", "Deletes a table.", table=TEXT),
    ),
    "another order of name words": (
        tool("countWords", "Counts the words in a text.", text=TEXT),
        tool("wordCount", "Count the words in a text.", text=TEXT),
    ),
    "short and long": (
        tool("tv_guide", "Show the TV guide.", day=TEXT),
        tool("television_guide", "Show the television guide.", day=TEXT),
    ),
    "current and live": (
        tool("get_current_score", "Get the current score of a game.", game=TEXT),
        tool("get_live_score", "Get the live score of a game.", game=TEXT),
    ),
    "a verb and its noun": (
        tool("recognizeText", "Recognizes the text in a picture.", image=TEXT),
        tool("textRecognition", "Recognize text in an image.", image=TEXT),
    ),
}


@pytest.mark.parametrize(("one", "other", "fragment"), TRAPS.values(), ids=TRAPS)
def test_what_is_read_apart_is_a_reason_that_no_probability_passes_by(one, other, fragment):
    assert any(fragment in reason for reason in reasons(one, other))
    assert reasons(other, one)

    cluster = accepted_by_auto(one, other)
    assert not cluster.safe
    assert cluster.state == "proposed"


@pytest.mark.parametrize(("one", "other"), MATCHED.values(), ids=MATCHED)
def test_the_same_in_other_words_is_matched_and_accepted_by_auto(one, other):
    assert reasons(one, other) == []
    assert reasons(other, one) == []

    cluster = accepted_by_auto(one, other)
    assert (cluster.kind, cluster.reasons, cluster.state) == ("drop_in", (), "accepted")


def test_what_the_kept_tool_offers_beside_is_no_reason():
    plain = tool("get_weather", "Get the weather of a town.", ["town"], town=TEXT)
    text = "Get the weather of a town, in a language."
    wider = tool("get_weather", text, ["town"], town=TEXT)
    with_language = tool("get_weather", text, ["town"], town=TEXT, language=TEXT)
    assert reasons(wider, plain)
    assert reasons(with_language, plain) == []


def test_what_calls_give_the_kept_tool_is_no_offer_beside():
    kept = tool("find_notes", "Find notes in a language.", language=TEXT)
    replaced = tool("find_notes", "Find notes.", text=TEXT)
    for moves, said in (((), False), ((ArgumentMove("text", "language"),), True)):
        alpha = ArgumentMap(replaced.id, kept.id, moves)
        sentences = unmatched_reasons(read_tool(kept), read_tool(replaced), alpha)
        assert any("“language”" in one for one in sentences) == said


def test_what_the_pruned_tool_says_beyond_is_a_reason():
    plain = tool("get_weather", "Get the weather of a town.", ["town"], town=TEXT)
    narrow = tool("get_night_weather", "Get the weather of a town.", ["town"], town=TEXT)
    (reason,) = reasons(plain, narrow)
    assert narrow.name in reason and "“night”" in reason


def test_getting_adds_nothing_to_a_tool_that_only_reads():
    plain = tool("summarize_page", "Summarize a page.", page=TEXT)
    getting = tool("summarize_page", "Get a page and summarize it.", page=TEXT)
    assert reasons(plain, getting) == []
    written = tool("write_page", "Write a page.", page=TEXT)
    both = tool("write_page", "Get and write a page.", page=TEXT)
    assert reasons(written, both) == ["only `write_page` says “get”"]


def test_tools_whose_names_have_no_words_can_be_compared():
    assert reasons(tool("??", "Get a box."), tool("!!", "Get the box.")) == []


@pytest.mark.parametrize(
    ("old", "new", "apart"),
    [
        ("user_token", "developer_token", True),
        ("box_id", "box", True),
        ("box_id", "id", False),
        ("id", "box_id", False),
        ("box", "box", False),
    ],
)
def test_arguments_that_are_one_only_by_what_they_take(old, new, apart):
    kept = tool("get_box", "Get a box.", [new], **{new: TEXT})
    replaced = tool("fetch_box", "Fetch a box.", [old], **{old: TEXT})
    alpha = ArgumentMap("fetch_box", "get_box", (ArgumentMove(old, new),))
    sentences = list(unmatched_reasons(read_tool(kept), read_tool(replaced), alpha))
    assert sentences == ([f"`{old}` of fetch_box would become `{new}`"] if apart else [])


def test_what_is_always_given_one_value_is_no_reason():
    fixed = tool("translate_to_french", "Translate a text to French.", ["text"], text=TEXT)
    values = {"type": "string", "enum": ["French", "German"]}
    translated = "Translate a text to a language."
    general = tool("translate", translated, ["text", "to"], text=TEXT, to=values)
    assert argument_map(fixed, general).constants == {"to": "French"}
    (reason,) = reasons(general, fixed)
    assert f"`{general.name}`" in reason and "“language”" in reason
    named = tool("translate", translated, ["text", "language"], text=TEXT, language=values)
    assert reasons(named, fixed) == []


def test_tools_of_one_name_are_told_apart_by_their_ids():
    one = Tool("attic/find", "find", "Find a red box.", "attic")
    other = Tool("cellar/find", "find", "Find a box.", "cellar")
    assert reasons(one, other) == ["only `attic/find` says “red”"]


@pytest.mark.case(65)
def test_a_model_that_merges_everything_gets_nothing_accepted_unseen(tmp_path):
    tools = [one for pair in list(TRAPS.values())[:8] for one in pair[:2]]
    catalog = Catalog(tuple(sorted(tools, key=lambda tool: tool.id)))
    analysis = analysed(catalog, tmp_path, threshold=0.01)
    pairs = [Pair.of(one.id, other.id) for one, other, _ in list(TRAPS.values())[:8]]
    verdicts = {
        pair: Verdict(pair, 0.9, 0.99, "merge", judge="yes", relation="duplicate") for pair in pairs
    }
    plan = plan_merge(
        replace(analysis, model_verdicts=ModelVerdicts("yes", verdicts)),
        [],
        PlanConfig(accept="auto"),
    )
    proposed = [cluster for cluster in plan.clusters if cluster.relation != "family"]
    assert len(proposed) == len(pairs)
    assert all(cluster.reasons and cluster.state == "proposed" for cluster in proposed)
    assert len(plan.tools) == len(tools)


PAIRS = st.sampled_from([pair[:2] for pair in (*TRAPS.values(), *MATCHED.values())])


@given(PAIRS, PAIRS)
def test_a_tool_has_nothing_against_itself(one, other):
    for each in (*one, *other):
        assert reasons(each, each) == []


def operation(called, method, path, description):
    meta = {"_meta": {"toolscope/openapi": {"method": method, "path": path}}}
    return replace(tool(called, description, id=TEXT), raw=meta)


APART = {
    "another path": (
        operation("door", "get", "/doors/{id}", "A door."),
        operation("show_door", "get", "/attic/doors/{id}", "A door."),
        "only one of their API paths has “attic”",
    ),
    "a word that one path says twice": (
        operation("see", "get", "/doors/{id}/locks", "What is there."),
        operation("view", "get", "/doors/{id}/locks/doors", "What is there."),
        "only one of their API paths has “doors”",
    ),
    "one and several": (
        operation("door", "get", "/doors/{id}", "A door."),
        operation("show_door", "get", "/doors", "A door."),
        "one of their API paths leads to a single thing, the other to several",
    ),
    "one and several by the last word": (
        operation("door", "get", "/houses/{id}/door", "A door."),
        operation("show_door", "get", "/houses/{id}/doors", "A door."),
        "one of their API paths leads to a single thing, the other to several",
    ),
    "one name and words that both say": (
        operation("get_doors", "get", "/lock-doors/{id}/keys", "Keys of the lock of a door."),
        operation("get_doors", "get", "/doors/{id}/keys", "Keys of the lock of a door."),
        "their document gives both the same name, but different paths",
    ),
    "another order": (
        operation("door", "get", "/attics/{id}/doors", "A door."),
        operation("show_door", "get", "/doors/{id}/attics", "A door."),
        "their API paths have the same words in another order",
    ),
}


@pytest.mark.parametrize("case", APART.values(), ids=APART)
def test_operations_of_an_api_are_told_apart_by_where_they_are(case):
    kept, replaced, reason = case
    assert reason in reasons(kept, replaced)


def test_what_a_path_gives_in_its_place_tells_nothing():
    kept = operation("door", "get", "/doors/{id}", "A door.")
    assert reasons(kept, operation("door", "get", "/doors/{door_id}", "A door.")) == []


def test_an_argument_that_calls_leave_out_matches_nothing():
    text = "Lists the doors."
    with_key = tool("list_doors", text, floor=TEXT, key=TEXT)
    by_floor = tool("list_doors_by_floor", text, floor=TEXT)
    assert reasons(with_key, by_floor) == []
    without = tool("list_doors", text, [], house=TEXT, floor=TEXT)
    unset = tool("list_doors_by_floor", text, ["house"], house=TEXT)
    assert any("floor" in reason for reason in reasons(without, unset))


def test_the_names_of_two_servers_are_said_as_what_they_are():
    one, other = (
        replace(tool(f"{name}_click", "Click an element.", element=TEXT), server=name)
        for name in ("puppeteer", "playwright")
    )
    assert any("(puppeteer / playwright)" in reason for reason in reasons(one, other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Delete an issue.", "Löscht ein Ticket aus dem Projekt und alle seine Kommentare."),
        ("Search the web for pages.", "搜索网络上的页面并返回结果。"),
        ("Ищет страницы в сети по запросу.", "搜索网络上的页面并返回结果。"),
    ],
)
def test_of_two_languages_only_that_is_told(one, other):
    told = ["the descriptions are in different languages"]
    assert reasons(tool("fetch", one), tool("fetch", other)) == told
    both = (
        tool("fetch", one, id={**TEXT, "description": one}),
        tool("fetch", other, id={**TEXT, "description": other}),
    )
    assert [*reasons(*both), *silent_changes(*both, argument_map(*both).moves)] == [*told, *told]
    named = reasons(tool("fetch_page", one), tool("fetch_file", other))
    assert named[:2] == [*told, "`fetch_page` says “page” where `fetch_file` says “file”"]


def test_what_is_not_in_english_is_not_accepted_unseen():
    german = tool("get_issue", "Holt ein Ticket aus dem Projekt.", id=TEXT)
    renamed = replace(german, id="fetch_issue", name="fetch_issue")
    assert any("English" in reason for reason in reasons(german, renamed))
    assert accepted_by_auto(german, renamed).state == "proposed"
    in_english = [replace(one, description="Get an issue.") for one in (german, renamed)]
    assert accepted_by_auto(*in_english).state == "accepted"


def test_a_card_says_which_parts_of_a_result_are_lost():
    plain, rich = (tool("get_team", text) for text in ("Get it.", "Get it, including all rules."))
    assert any("includes" in one and "rules" in one for one in reasons(plain, rich))
    assert not any("includes" in one for one in reasons(rich, plain))
