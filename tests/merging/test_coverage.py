"""Server against server on catalogs of our own: what is served, what is lost, what can go."""

import re
from dataclasses import replace
from itertools import combinations

import pytest

from tests.support.analyses import analysed
from toolscope_core.merging.coverage import (
    UNSURE,
    CoverageLink,
    ServerCoverage,
    configured_names,
    serve,
    server_coverage,
)
from toolscope_core.merging.server_choice import advise, merges_of, without_loss
from toolscope_core.model.catalog import Catalog, Server
from toolscope_core.model.cluster import Cluster, Document
from toolscope_core.model.pair import Pair
from toolscope_core.model.tool import Tool


def tool(server, name, *required, description="", returns=None, **optional):
    properties = {one: {"type": "string"} for one in required} | optional
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return Tool(f"{server}/{name}", name, description or f"Does {name}.", server, schema, returns)


def coverage(*tools, links=(), alike=()):
    both = {}
    for pairs, is_alike in ((links, False), (alike, True)):
        for a, b in pairs:
            both.setdefault(a, {})[b] = both.setdefault(b, {})[a] = CoverageLink(0.9, is_alike)
    servers = tuple(Server(name) for name in sorted({one.server for one in tools}))
    return ServerCoverage(Catalog(tuple(tools), servers, "mcp"), both)


COUNT = {"limit": {"type": "integer"}}
NO_PLACE = "the merged tool has no such parameter"


@pytest.mark.parametrize(
    ("other", "way", "lost"),
    [
        (tool("b", "find", "query", **COUNT), "as it is", ()),
        (tool("b", "find", "q", **COUNT), "mapped", ()),
        (tool("b", "find", "query"), "gateway", (f"`limit`: {NO_PLACE}",)),
        (replace(tool("b", "find", "query", **COUNT), schema=None), "alike", ()),
    ],
)
def test_how_a_tool_serves_another(other, way, lost):
    row = serve(tool("a", "search", "query", **COUNT), other)
    assert (row.tool, row.substitute, row.way, row.losses) == ("a/search", "b/find", way, lost)


def test_a_missing_account_is_no_lost_job_and_is_switched_off_by_nobody_unseen():
    text = {"type": "string"}
    ours = [
        tool("a", "search", "query", account=text),
        tool("a", "read", "user_google_email", "query"),
        tool("a", "list_labels", "query", tenant_id=text),
    ]
    theirs = [tool("b", "find", "q"), tool("b", "read", "query"), tool("b", "labels", "query")]
    rows = [serve(*two) for two in zip(ours, theirs, strict=True)]
    assert [row.accounts for row in rows] == [("account",), ("user_google_email",), ("tenant_id",)]
    assert {(row.way, row.losses) for row in rows} == {("gateway", ())}
    links = [(a.id, b.id) for a, b in zip(ours, theirs, strict=True)]
    advice = advise(coverage(*ours, *theirs, tool("b", "own", "q"), links=links))
    (one,) = advice.switch_off
    assert (len(one.done), one.into) == (3, {})
    assert any("`account`" in sentence and "`tenant_id`" in sentence for sentence in one.keeps)
    keeping_nothing = replace(advice, switch_off=(replace(one, keeps=()),))
    assert without_loss(keeping_nothing, ()) == ()


@pytest.mark.parametrize("name", ["repo", "account_number", "user_id"])
def test_another_argument_that_goes_is_a_lost_one(name):
    row = serve(
        tool("a", "list", "query", **{name: {"type": "string"}}), tool("b", "list", "query")
    )
    assert row.accounts == () and name in row.losses[0]
    required = tool("a", "get_balance", "account_id")
    assert serve(required, tool("b", "get_balance")).losses


def test_servers_of_one_product_are_asked_for_their_account():
    tools = [
        Tool(f"{server}/{name}", name, words, server, {"type": "object", "properties": {}})
        for server, name, words in (
            ("jira-one", "get_issue", "Get a Jira issue."),
            ("jira-two", "list_boards", "List the boards of Jira."),
            ("weather", "get_weather", "Get the weather of a city."),
        )
    ]
    servers = coverage(*tools)
    assert servers.asks_for_account("jira-one", "jira-two")
    assert not servers.asks_for_account("jira-one", "weather")


def test_servers_among_some_know_no_others():
    tools = [tool(server, "find", "query") for server in ("a", "b", "c")] + [tool("c", "own")]
    links = [("a/find", "c/find"), ("b/find", "c/find"), ("a/find", "b/find")]
    servers = coverage(*tools, links=links)
    assert {one.server: one.others for one in advise(servers).switch_off}["a"] == ("c",)
    few = servers.among(["a", "b"])
    assert list(few.servers) == ["a", "b"]
    assert {one.others for one in few.of_pairs()} == {("a",), ("b",)}
    assert len(advise(few).copies) == 1


def test_the_use_of_a_server_is_said_with_what_would_be_lost():
    tools = [tool("a", name, "query") for name in ("search", "drop")] + [tool("b", "find", "q")]
    one = coverage(*tools, links=[("a/search", "b/find")]).of("a", ["b"])
    words = one.use_in_words({"a/search": 40, "a/drop": 2, "b/find": 7})
    assert words.startswith("42 calls") and words.endswith(": `drop` 2.")
    sentence = one.use_in_words({"a/search": 1})
    assert sentence.startswith("1 call ") and "`" not in sentence
    assert one.use_in_words({}) == ""


def test_instances_are_named_by_their_configuration():
    servers = [Server(name, started=f"npx -y files --folder={name}") for name in ("work", "home")]
    names = configured_names(["work", "home"], servers)
    assert names == ["work (`--folder=work`)", "home (`--folder=home`)"]
    names = configured_names(["work", "other"], servers[:1])
    assert names == ["work (`npx -y files --folder=work`)", "other"]
    servers = [Server(name, started=f"node {'/long' * 20}/{name}.js") for name in ("a", "b")]
    (one, _) = configured_names(["a", "b"], servers)
    assert one.endswith("/long/a.js`)") and len(one) < 60


def unsure_in(servers, *names):
    """The coverage, where the tools of these names are only as likely as not one job."""
    links = {
        one: {
            two: replace(link, unsure=not {one, two}.isdisjoint(names)) for two, link in row.items()
        }
        for one, row in servers.links.items()
    }
    return replace(servers, links=links, _served={})


def test_what_is_as_likely_as_not_counts_beside_a_sure_tool_and_merges_nothing_unseen():
    pairs = [("a/search", "b/find"), ("a/get", "b/read")]
    tools = [tool(*one.split("/"), "query") for pair in pairs for one in pair]
    servers = unsure_in(coverage(*tools, links=pairs), "a/search")
    one = servers.of("a", ["b"])
    assert [row.losses for row in one.served] == [(UNSURE,), ()]
    assert (len(one.done), len(one.perhaps_done), len(one.lost_tools)) == (1, 1, 0)
    assert advise(servers).switch_off and not without_loss(advise(servers), ())
    assert not advise(servers).needless
    nothing_sure = unsure_in(servers, "a/search", "a/get")
    assert nothing_sure.of("a", ["b"]).share == 1.0 and not advise(nothing_sure).switch_off


@pytest.mark.parametrize(("branches", "switched_off"), [({}, 1), (COUNT, 0)])
def test_servers_in_other_fields_do_a_job_only_without_loss(branches, switched_off):
    """*Sequential Thinking* is not done by the first step that a server for medicine asks for."""
    tools = [tool("thinking", "think", "thought", **branches), tool("medicine", "think", "thought")]
    tools.append(tool("medicine", "find_genes", "name"))
    servers = coverage(*tools, links=[("thinking/think", "medicine/think")])
    assert len(advise(servers).switch_off) == 1
    links = {
        one: {two: replace(link, other_fields=True) for two, link in row.items()}
        for one, row in servers.links.items()
    }
    advice = advise(replace(servers, links=links, _served={}))
    assert len(advice.switch_off) == switched_off


def test_another_kind_of_result_is_said():
    one = tool("a", "search", "query", returns={"type": "array"})
    other = tool("b", "search", "query", returns={"type": "string"})
    (loss,) = serve(one, other).losses
    assert "text" in loss and "list" in loss


def test_the_best_tool_serves_and_what_is_left_is_named():
    own = [tool("a", name, "query") for name in ("search", "open", "close", "move")]
    others = [tool("b", "find", "query"), tool("b", "look", "q"), tool("b", "shut", "query")]
    servers = coverage(
        *own,
        *others,
        links=[("a/search", "b/look"), ("a/search", "b/find"), ("a/close", "b/shut")],
        alike=[("a/open", "b/find")],
    )
    result = servers.of("a", ["b"])
    assert [(one.tool, one.substitute, one.way) for one in result.served] == [
        ("a/search", "b/find", "as it is"),
        ("a/close", "b/shut", "as it is"),
    ]
    assert [one.tool for one in result.alike] == ["a/open"]
    assert result.alone == ("a/move",)
    assert (result.tools, result.share, result.lost_tools) == (4, 0.5, ("a/move", "a/open"))
    assert result.tokens == servers.tokens["a"] > 0
    counts = len(result.done), len(result.perhaps_done), len(result.lost_tools)
    assert counts == (2, 0, 2)
    numbers = [4, result.tokens, 2, 2]
    assert [int(one) for one in re.findall(r"\d+", result.in_words)] == numbers
    assert result.in_words.endswith("(`move`, `open`).")
    both_ways = [("a", ("b",)), ("b", ("a",))]
    assert [(one.server, one.others) for one in servers.of_pairs()] == both_ways


def test_what_is_held_open_goes_as_a_whole():
    own = tool("a", "open_tab", "url", description="Open a browser tab.")
    other = tool("b", "new_tab", "url", description="Open a browser tab.")
    result = coverage(own, other, links=[("a/open_tab", "b/new_tab")]).of("a", ["b"])
    assert "browsers" in " ".join(result.keeps)


def chain(*links):
    names = sorted({name for link in links for name in link})
    return coverage(*(tool(*name.split("/"), "query") for name in names), links=links)


def test_of_two_servers_that_serve_each_other_one_goes():
    (one,) = advise(chain(("a/search", "b/find"), ("a/get", "b/read"))).switch_off
    assert {one.server, *one.others} == {"a", "b"}


def test_what_covers_another_stays():
    """a serves b, b serves c: b cannot go where c counts on it, but both can go for a."""
    servers = chain(("a/search", "b/find"), ("a/search", "c/seek"), ("b/find", "c/seek"))
    advice = advise(servers)
    servers_off = {one.server for one in advice.switch_off}
    assert len(servers_off) == 2
    assert all(servers_off.isdisjoint(one.others) for one in advice.switch_off)


def test_several_servers_cover_one_together():
    servers = chain(("a/search", "b/find"), ("a/fetch", "c/read"))
    extra = [tool("b", "own_b", "query"), tool("c", "own_c", "query")]
    both = ServerCoverage(
        replace(servers.catalog, tools=(*servers.catalog.tools, *extra)), servers.links
    )
    (one,) = advise(both).switch_off
    assert (one.server, one.others, one.share) == ("a", ("b", "c"), 1.0)
    assert "b and c do the job of 2 " in one.in_words


@pytest.mark.parametrize(
    ("whole", "others"),
    [(tool("d", "all", "query"), ("d",)), (tool("d", "all", "query", "place"), ("b", "c"))],
)
def test_one_server_is_enough_where_it_loses_nothing(whole, others):
    """b and c each serve one tool of a, d serves both; where d needs a value that the calls do not
    have, it is no gain.
    """
    own = [tool("a", "search", "query"), tool("a", "fetch", "query")]
    parts = [tool("b", "find", "query"), tool("c", "read", "query"), whole]
    pairs = [("a/search", "b/find"), ("a/fetch", "c/read")]
    pairs += [("a/search", "d/all"), ("a/fetch", "d/all")]
    servers = coverage(*own, *parts, links=pairs)
    assert servers.of_fewest("a", ["b", "c", "d"]).others == others


def test_the_smallest_set_is_looked_for_beyond_the_greedy_one():
    """The dearest server goes first; put back, it lets two others go that cost more together."""
    dear = tool("m", "all", "query", description="word " * 30)
    others = [tool(name, "part", "query", description=f"{name} " * 25) for name in ("x", "y")]
    links = [("m/all", "x/part"), ("m/all", "y/part")]
    advice = advise(coverage(dear, *others, links=links))
    assert [one.server for one in advice.needless] == ["x", "y"]
    tokens = sum(one.tokens for one in advice.needless)
    assert f"−{tokens} tokens" in advice.needless_in_words
    assert advice.needless_in_words.count("x and y") == 2, "they go, and data of theirs with them"


def test_copies_are_one_line_and_nothing_else():
    servers = [tool(name, "eval", "code", description="Run  code.") for name in ("a", "b", "c")]
    other = tool("d", "eval", "code", description="Evaluate an expression of Excel.")
    advice = advise(coverage(*servers, other, links=[("a/eval", "b/eval"), ("a/eval", "c/eval")]))
    assert advice.copies == (("a", "b", "c"),)
    assert advice.switch_off == ()


def accepted(kind, canonical, *members, relation="duplicate"):
    document = Document(canonical, "", {})
    return Cluster("c", members, canonical, kind, "accepted", 0.9, document, (), relation=relation)


def test_only_what_loses_nothing_and_nobody_decided_on_goes_unseen():
    links = [("a/search", "b/search"), ("c/fetch", "b/fetch"), ("d/find", "b/find")]
    tools = [tool(*name.split("/"), "query") for pair in links for name in pair]
    tools += [tool("b", "own", "query")]
    lossy = tool("c", "fetch", "query", **COUNT)
    advice = advise(coverage(*tools[:2], lossy, *tools[3:], links=links))
    assert {one.server for one in advice.switch_off} == {"a", "c", "d"}
    decided = [accepted("drop_in", "d/find", "d/find", "x/find")]
    assert without_loss(advice, decided) == (), "each may keep something"
    keeping_nothing = [replace(one, keeps=()) for one in advice.switch_off]
    advice = replace(advice, switch_off=tuple(keeping_nothing))
    assert [one.server for one in without_loss(advice, decided)] == ["a"]


def test_merges_take_accepted_ones_along_and_leave_gateways_alone():
    own = [tool("a", "search", "query"), tool("a", "fetch", "query")]
    others = [tool("b", "search", "query"), tool("b", "fetch", "query")]
    links = [("a/search", "b/search"), ("a/fetch", "b/fetch")]
    gone = coverage(*own, *others, links=links).of("a", ["b"])
    clusters = [
        accepted("drop_in", "b/search", "b/search", "c/search"),
        accepted("gateway", "b/fetch", "b/fetch", "c/fetch"),
    ]
    assert list(merges_of([gone], clusters)) == [("b/search", ["a/search", "b/search", "c/search"])]


def test_verdicts_and_decisions_make_the_links(tmp_path):
    tools = (
        tool("a", "search_books", "query", description="Search books by words."),
        tool("b", "search_books", "query", description="Search books by words."),
        tool("b", "burn_books", "query", description="Burn all books at once."),
    )
    catalog = Catalog(tools, (Server("a"), Server("b")), "mcp")
    analysis = analysed(catalog, tmp_path)
    servers = server_coverage(analysis, ())
    link = servers.links["a/search_books"]["b/search_books"]
    assert not link.alike and not link.other_fields
    assert "b/burn_books" not in servers.links
    assert servers.of("a", ["b"]).share == 1.0
    assert servers.of("b", ["a"]).lost_tools == ("b/burn_books",)
    replaced = [accepted("drop_in", "a/search_books", "a/search_books", "b/search_books")]
    after = server_coverage(analysis, replaced)
    assert [one.id for one in after.servers["b"]] == ["b/burn_books"]
    assert after.of("a", ["b"]).share == after.of("nobody", ["b"]).share == 0.0


def test_the_links_say_which_servers_are_in_other_fields(tmp_path, monkeypatch):
    tools = tuple(
        tool(server, "search_books", "query", description="Search books.") for server in "abc"
    )
    analysis = analysed(Catalog(tools, tuple(map(Server, "abc")), "mcp"), tmp_path)
    monkeypatch.setattr(
        type(analysis.judge.signals), "are_of_other_fields", lambda _, *rows: 2 in rows
    )
    links = server_coverage(analysis, ()).links["a/search_books"]
    assert [link.other_fields for link in links.values()] == [False, True]


def test_what_is_as_likely_as_not_is_another_job_where_the_nouns_differ(tmp_path, monkeypatch):
    tools = (
        tool(
            "a", "list_org_repositories", "org", description="List repositories of an organization."
        ),
        tool("b", "list_repo_tree", "repo", description="List the tree of a repository."),
        tool("c", "list_repositories", "org", description="List repositories of an owner."),
    )
    analysis = analysed(Catalog(tools, tuple(map(Server, "abc")), "mcp"), tmp_path)
    pairs = dict.fromkeys([Pair.of(a.id, b.id) for a, b in combinations(tools, 2)], 0.6)
    monkeypatch.setattr("toolscope_core.merging.coverage.unsure_pairs", lambda _: pairs)
    monkeypatch.setattr("toolscope_core.merging.coverage.edges_at", lambda _: {})
    links = server_coverage(analysis, ()).links["a/list_org_repositories"]
    assert links["b/list_repo_tree"].alike and not links["b/list_repo_tree"].unsure
    assert links["c/list_repositories"].unsure and not links["c/list_repositories"].alike


def test_servers_of_three_names_are_copies_where_each_name_may_be_one_job():
    names = ("find", "get", "list")
    tools = [
        tool(server, name, description=f"{name} on {server}") for server in "ab" for name in names
    ]
    links = [(f"a/{name}", f"b/{name}") for name in names]
    assert coverage(*tools, links=links).are_copies("a", "b")
    assert not coverage(*tools, links=links[:2]).are_copies("a", "b")


def test_the_share_is_the_same_without_comparing_every_call():
    tools = [tool(server, name, "query") for server in "abc" for name in ("find", "open", "own")]
    tools += [tool("c", "look", "query", "place"), Tool("b/raw", "raw", "Does raw.", "b")]
    ids = [one.id for one in tools]
    tools.append(tool("d", "own", "query"))
    alike, other_fields = CoverageLink(0.9, True), CoverageLink(0.9, False, other_fields=True)
    unsure = CoverageLink(0.5, False, unsure=True)
    links = {
        **{one: {"c/find": alike, "c/look": other_fields, "b/raw": unsure} for one in ids},
        "a/find": {"b/find": CoverageLink(0.9, False), "c/find": alike},
        "a/own": {"b/own": other_fields, "c/look": other_fields},
        "c/open": {"b/open": unsure, "a/open": alike},
    }
    servers = ServerCoverage(Catalog(tuple(tools), (), "mcp"), links)
    for server in "abc":
        for others in (["a"], ["b"], ["c"], ["a", "b"], ["b", "c"], ["a", "b", "c"], []):
            assert replace(servers).share(server, others) == servers.of(server, others).share
    pairs = [(one, two) for one in "abcd" for two in "abcd" if one != two]
    serving = [two for two in pairs if servers.of(two[0], [two[1]]).served]
    assert list(servers.serving_pairs()) == serving
    assert 0 < len(serving) < len(pairs)
