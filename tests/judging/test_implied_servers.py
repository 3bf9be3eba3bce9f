"""Servers that names imply."""

import random
from dataclasses import replace

from toolscope_core.judging.guards import Companions, guards
from toolscope_core.judging.implied_servers import (
    implied_servers,
    present_servers,
    with_implied_servers,
)
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.tool import Tool

ACTIONS = "list_issues create_issue close_issue add_comment search_notes read_page".split()
VENDORS = "github gitlab asana todoist".split()
NAMES = [f"{vendor}_{action}" for vendor in VENDORS for action in ACTIONS]


def tools_of(names, description="{}"):
    return [Tool(id=name, name=name, description=description.format(name)) for name in names]


def by_name(tools):
    return {server.name: server.tools for server in implied_servers(tools)}


def test_the_place_that_all_names_share_says_whose_a_tool_is():
    for form in ("{vendor}_{action}", "{action}_{vendor}"):
        names = [form.format(vendor=v, action=a) for v in VENDORS for a in ACTIONS]
        groups = by_name(tools_of(names))
        assert sorted(groups) == sorted(VENDORS)
        assert all(len(ids) == len(ACTIONS) for ids in groups.values())
        assert all(name in tool for name, ids in groups.items() for tool in ids)


def test_a_product_of_two_words_is_one():
    names = [f"yandex_tracker_{action}" for action in ACTIONS]
    assert "yandex_tracker" in by_name(tools_of([*names, *NAMES]))


def test_in_a_catalog_without_that_habit_only_names_count():
    tools = tools_of(["walmart_purchase", "walmart_prices"], "Does it at Walmart: {}.")
    tools += tools_of([f"{action}_{n}" for action in ACTIONS for n in ("daily", "weekly")])
    assert by_name(tools) == {"walmart": ("walmart_prices", "walmart_purchase")}


def test_english_words_are_vendors_where_they_take_each_others_place():
    def at(*vendors):
        tools = []
        for vendor in vendors:
            names = [f"buy_stock_{vendor}", f"sell_stock_{vendor}"]
            tools += tools_of(names, f"At {vendor.title()}.")
        return tools

    assert by_name(at("fidelity", "harbor")).keys() == {"fidelity", "harbor"}
    assert by_name(at("fidelity")) == {}


def test_languages_units_and_short_forms_are_no_vendors():
    names = "translate_greek pronounce_greek to_celsius from_celsius get_api set_api".split()
    alike = tools_of(names, "Works on Greek, Celsius and Api alike: {}.")
    assert by_name(alike) == {}


def test_a_catalog_that_names_its_servers_implies_none():
    named = [replace(tool, server="desk") for tool in tools_of(f"github_{a}" for a in ACTIONS)]
    assert implied_servers(named) == implied_servers([]) == ()


def test_nothing_depends_on_the_order_and_no_tool_is_in_two():
    tools = tools_of(NAMES)
    expected = implied_servers(tools)
    random.Random(3).shuffle(tools)
    assert implied_servers(tools) == expected
    ids = [tool for server in expected for tool in server.tools]
    assert len(ids) == len(set(ids))


def test_each_says_why():
    servers = implied_servers(tools_of(NAMES))
    assert servers[0].reason.startswith("6 names begin with `asana`")


SHOPS = tuple(tools_of(NAMES, "Buys there."))


def owners_of(catalog):
    return {tool.id: tool.owner for tool in catalog.tools}


def test_what_people_chose_comes_before_the_guess():
    catalog = Catalog(SHOPS)
    renamed = {one.id: "Git Hub" for one in SHOPS if one.name.startswith("github")}
    split, gone = "gitlab_read_page", "asana_read_page"
    changed = owners_of(with_implied_servers(catalog, {**renamed, split: "pages", gone: ""}))
    assert changed["github_list_issues"] == "Git Hub"
    assert (changed[split], changed["gitlab_list_issues"]) == ("pages", "gitlab")
    assert (changed[gone], changed["asana_list_issues"]) == ("", "asana")
    reasons = {one.name: one.reason for one in present_servers(SHOPS, renamed)}
    assert reasons["Git Hub"] == "decided by a person"
    assert "begin with `gitlab`" in reasons["gitlab"]


def test_an_implied_server_is_no_part_of_a_tool_s_identity():
    catalog = Catalog(SHOPS)
    implied = with_implied_servers(catalog, {})
    assert owners_of(implied)["github_list_issues"] == "github"
    assert implied.version == catalog.version
    assert implied.tools == catalog.tools
    assert [tool.fingerprint for tool in implied.tools] == [t.fingerprint for t in SHOPS]
    assert with_implied_servers(implied, {}) is implied


def test_a_declared_server_stays_whatever_was_chosen():
    named = tuple(replace(tool, server="desk") for tool in SHOPS)
    assert with_implied_servers(Catalog(named), {SHOPS[0].id: "other"}).tools[0].owner == "desk"


def test_a_merge_across_implied_servers_needs_a_person():
    one, other = tools_of(["github_list_issues", "gitlab_list_issues"], "Lists all open issues.")
    pair = [replace(one, implied_server="github"), replace(other, implied_server="gitlab")]
    (reason, *_) = guards(pair, one.id, "drop_in", Companions(pair))
    assert reason.startswith("their names imply 2 servers: ")
    same = [replace(tool, implied_server="github") for tool in pair]
    assert not any(
        "servers" in reason for reason in guards(same, one.id, "drop_in", Companions(same))
    )
    half = [pair[0], replace(pair[1], implied_server="")]
    assert not any(
        "imply" in reason for reason in guards(half, one.id, "drop_in", Companions(half))
    )
