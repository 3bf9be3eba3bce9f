from dataclasses import replace

import pytest

from tests.ui.services import small_workspace
from tests.ui.services.small_workspace import MAIL, SUM, TEXT, WEATHER, Functions, by_name, on, tool
from toolscope_core.model.catalog import Finding
from toolscope_core.model.cluster import ArgumentMap, ArgumentMove, Document
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.errors import StaleDecisionError
from ui.catalog import overview_panel
from ui.shared.cards.cards import argument_rows
from ui.shared.services import review, toolsets


def names(clusters):
    return [cluster.document.name for cluster in clusters]


# The queue -----------------------------------------------------------------------------------


def test_the_queue_may_begin_with_what_is_used_most(catalog_id, work):
    now, weather = work.snapshot(catalog_id), by_name(work, catalog_id, "get_weather")
    calls = dict.fromkeys(weather.members, 5)
    assert review.queue(now, by="used", calls=calls)[0] == weather
    assert review.queue(now, by="used", calls={MAIL.id: 11})[0] != weather


# Newcomers -----------------------------------------------------------------------------------


@pytest.fixture
def grown():
    """Two of the mail tools were accepted; then a version with the third one came in."""
    work, i = small_workspace.open_workspace(on("alpha", MAIL), on("beta", MAIL), SUM)
    review.decide(work.snapshot(i), "accept", by_name(work, i, "send_mail"), "ann")
    work.close()
    work, i = small_workspace.open_workspace()
    return Functions(work, review), i, work


def test_a_newcomer_waits_for_a_person_who_lets_it_in(grown):
    own, i, work = grown
    mail = by_name(work, i, "send_mail")
    assert (mail.state, mail.newcomers) == ("accepted", ("gamma/send_mail",))
    assert mail.id in [c.id for c in own.queue(i)]
    assert [n for why, n in own.safe(i).left_out if "newcomer" in why] == [1]
    assert [t.id for t in own.card(i, mail).newcomers] == ["gamma/send_mail"]
    own.answer_newcomers(i, mail, "ann", welcome=True)
    mail = by_name(work, i, "send_mail")
    assert (len(mail.members), mail.newcomers, mail.state) == (3, (), "accepted")


def test_an_answer_on_a_cluster_that_changed_meanwhile_is_refused(grown):
    own, i, work = grown
    seen = by_name(work, i, "send_mail")
    own.decide(i, "canonical", seen, "bob", {"canonical": "beta/send_mail"})
    with pytest.raises(StaleDecisionError, match="canonical by bob"):
        own.answer_newcomers(i, seen, "ann", True)


def test_a_newcomer_that_somebody_merged_with_others_meanwhile_is_not_let_in(grown):
    own, i, work = grown
    seen, both = by_name(work, i, "send_mail"), ("beta/add_numbers", "gamma/send_mail")
    version = toolsets.version(work.snapshot(i), both)
    own.decide(i, "accept", replace(seen, members=both, newcomers=(), version=version), "bob")
    with pytest.raises(StaleDecisionError, match="accept by bob"):
        own.answer_newcomers(i, seen, "ann", True)


# The card ------------------------------------------------------------------------------------


def test_a_card_says_where_each_argument_comes_from_and_what_it_saves():
    wide = tool("alpha", "web_search", "Search the web.", q=TEXT, region={"enum": ["us", "eu"]})
    narrow = tool("alpha", "search_web", "Search the web.", query=TEXT)
    work, i = small_workspace.open_workspace(wide, narrow, on("beta", wide))
    card = review.card(work.snapshot(i), by_name(work, i, "web_search"))
    assert card.canonical.id == card.cluster.canonical == "alpha/web_search"
    assert card.size.before.tokens > card.size.after.tokens > 0
    assert [row.name for row in card.arguments] == ["q", "region"]
    assert all(row.sources["beta/web_search"] == row.name for row in card.arguments)
    assert card.pairs == len(card.evidence)
    order = [said.same_job for said in card.evidence]
    assert order == sorted(order)


@pytest.mark.parametrize("has_page", [True, False])
def test_a_card_says_which_merged_tool_the_page_of_a_server_may_call(has_page):
    wide, page = tool("alpha", "web_search", "Search the web.", q=TEXT), {"resourceUri": "ui://a"}
    shows = tool("gamma", "show", "Show a card.", card=TEXT)
    shows = replace(shows, raw={"_meta": {"ui": page}} if has_page else {})
    tools = (wide, *(on(server, wide) for server in ("beta", "gamma")), shows)
    work, _ = small_workspace.open_workspace()
    i = small_workspace.add_analysed(work, f"Pages {has_page}", *tools).id
    card = review.card(work.snapshot(i), by_name(work, i, "web_search"))
    said = [one for one in card.doubts if "may call web_search" in one]
    assert card.canonical.server != "gamma", "the tool that the page calls is replaced"
    assert [one.partition(" may")[0] for one in said] == ["An app of gamma"] * has_page


def test_each_way_of_an_argument_is_told_in_words():
    moves = (
        ArgumentMove("q", "query"),
        ArgumentMove("u", "unit", "map", (("C", "celsius"), (1, "one"))),
        ArgumentMove("tag", "tags", "wrap"),
        ArgumentMove("n", "text", "cast"),
    )
    alpha = ArgumentMap("t", "m", moves, constants={"lang": "fr"}, dropped={"x": "no place"})
    names = ("query", "unit", "tags", "text", "lang", "other")
    document = Document("m", "M.", {"type": "object", "properties": dict.fromkeys(names, TEXT)})
    rows = argument_rows(document, [alpha])
    assert {row.name: row.sources.get("t") for row in rows} == {
        "query": "q",
        "unit": "u: C → celsius, 1 → one",
        "tags": "tag, as a list of one",
        "text": "n, written as text",
        "lang": 'always "fr"',
        "other": None,
        "x": "no place",
    }
    assert [row.name for row in rows if row.is_lost] == ["x"]


def test_a_tool_with_hidden_text_is_not_offered_as_canonical():
    work, i = small_workspace.open_workspace(MAIL, on("beta", MAIL), SUM)
    card = review.card(work.snapshot(i), by_name(work, i, "send_mail"))
    assert len(card.eligible) == 2
    bad = Finding(MAIL.id, "block", "hidden", "description", "hidden characters")
    card = replace(card, findings={**card.findings, MAIL.id: (bad,)})
    assert [t.id for t in card.eligible] == ["beta/send_mail"]


def test_sizes_are_those_of_the_chosen_client():
    work, i = small_workspace.open_workspace()
    weather = by_name(work, i, "get_weather")

    def seen():
        card = review.card(work.snapshot(i), weather).size
        assert review.sizes(work.snapshot(i))[weather.id] == card
        today = overview_panel.today(work.snapshot(i)).tokens
        assert sum(work.snapshot(i).tokens.values()) == today
        return card.name, card.after.tokens, today

    first = seen()
    work.catalogs.choose_format("anthropic")
    other = seen()
    assert (first[0], other[0]) == ("openai-chat", "anthropic")
    assert other[1] < first[1] and other[2] < first[2]


def test_a_gateway_that_gives_agents_more_to_read_is_in_no_batch():
    owners = [f"station-{number}-of-the-north-and-west-coast" for number in (1, 2)]
    schema = {"text": {"type": "string", "description": "What people say of it. " * 30}}
    notes = tool("", "write_note", "Write a note.", **schema)
    tools = (on(owner, one) for owner in owners for one in (WEATHER, MAIL, notes))
    work, i = small_workspace.open_workspace(*tools)
    names = {c.id: c.document.name for c in review.queue(work.snapshot(i))}
    larger = {"get_weather", "send_mail"}
    assert {names[one] for one in review.larger_gateways(work.snapshot(i))} == larger
    surest, *_ = review.queue(work.snapshot(i), by="surest")
    assert names[surest.id] == "write_note"
    assert review.server_pairs(work.snapshot(i)) == (), "one proposal is left, which is no pair's"
    (accepted,) = work.snapshot(i).plan_under(PlanConfig(accept="all", gateway=True)).applied
    assert accepted.document.name == "write_note"
    review.decide(work.snapshot(i), "accept", by_name(work, i, "get_weather"), "ann")
    assert {names[one] for one in review.larger_gateways(work.snapshot(i))} == {"send_mail"}
