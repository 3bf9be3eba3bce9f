"""Families: what one selector tells apart, from what same-job clusters leave."""

from contextlib import suppress
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.analyses import analysed
from tests.support.decisions import decision_on, logged, undo
from tests.support.properties import examples
from toolscope_core.judging.judge import PairProbabilities
from toolscope_core.judging.weights import shipped_weights
from toolscope_core.merging.analysing import plan_merge
from toolscope_core.merging.analysis import with_verdicts
from toolscope_core.merging.contracted_graph import RowGraph
from toolscope_core.merging.group_syntheses import GroupSyntheses
from toolscope_core.merging.grouping import family_groups, with_families, with_safe_subsets
from toolscope_core.merging.model_verdicts import ModelVerdicts
from toolscope_core.model.catalog import Catalog, Finding
from toolscope_core.model.cluster import Group
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.decision import Constraints, Decision
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.pair import Pair, PairScores, Verdict
from toolscope_core.model.tool import Tool

AT = shipped_weights().family_at
TEXT = {"type": "string"}


def tool(called, server="", declared=True, description="", **properties):
    schema = {"type": "object", "properties": {"item": TEXT, **properties}}
    return Tool(called, called, description, server, schema if declared else None)


def groups(tools, table, constraints=None, stands=lambda pair: False):
    """The families of tools by a judge that knows a table of pairs, 0 where none is."""
    ids = tuple(one.id for one in tools)
    rows = {called: row for row, called in enumerate(ids)}
    edges = [pair for pair, chance in table.items() if chance >= AT]
    ends = np.array([(rows[pair.left], rows[pair.right]) for pair in edges], dtype=np.int32)
    left, right = ends.reshape(-1, 2).T

    def judge(left, right):
        pairs = [Pair.of(ids[a], ids[b]) for a, b in zip(left, right, strict=True)]
        return np.array([table.get(pair, 0.0) for pair in pairs])

    graph = RowGraph(ids, np.arange(len(ids), dtype=np.int32), left, right)
    by_id = {one.id: one for one in tools}
    return family_groups(graph, judge, AT, constraints or Constraints(), by_id, stands)


def every(tools, chance=0.9):
    return {Pair.of(one.id, other.id): chance for one, other in combinations(tools, 2)}


AMAZON, EBAY = tool("get_amazon_price"), tool("get_ebay_price")
STOCK = tool("get_amazon_stock")
PRICES = (AMAZON, EBAY, STOCK)
PRICED = (AMAZON.id, EBAY.id)
NEVER = Constraints(cannot=frozenset({Pair(*PRICED)}))


def test_only_one_selector_varies_and_the_weakest_pair_is_one_of_the_family():
    weak = {pair: AT for pair in every(PRICES) if STOCK.id in (pair.left, pair.right)}
    (group,) = groups(PRICES, {**every(PRICES), **weak})
    assert (group.members, group.weakest_edge) == (PRICED, 0.9)


def test_words_of_descriptions_make_no_second_selector():
    pairs = zip(PRICES, ("Cheap.", "Dear.", "Rare."), strict=True)
    tools = tuple(replace(one, description=text) for one, text in pairs)
    (group,) = groups(tools, every(tools))
    assert group.members == PRICED


def test_a_third_value_of_the_selector_belongs_to_it():
    tools = (AMAZON, EBAY, tool("get_zorblax_price"))
    (group,) = groups(tools, every(tools))
    assert len(group.members) == 3


def test_servers_may_be_what_varies():
    tools = tuple(
        replace(tool("list_tasks", server), id=f"{server}/list_tasks") for server in ("x", "y", "z")
    )
    (group,) = groups(tools, every(tools))
    assert group.members == ("x/list_tasks", "y/list_tasks", "z/list_tasks")


def test_a_value_in_the_name_is_not_taken_away_by_the_words_of_another_member():
    texts = {"sites": "Where. Use outcomes for more.", "outcomes": "See sites, or sponsors."}
    tools = tuple(
        tool(f"study_{part}_getter", description=texts.get(part, "Parts of a study."))
        for part in ("outcomes", "papers", "sites", "sponsors")
    )
    (group,) = groups(tools, every(tools))
    assert group.members == tuple(one.id for one in tools)


def test_names_that_differ_by_their_servers_are_one_family():
    """*Calendar* is in two of the names and no second selector."""
    owners = ("acme_calendar", "acme_mail", "zeta_calendar")
    tools = tuple(tool(f"{owner}_who_am_i", owner) for owner in owners)
    (group,) = groups(tools, every(tools))
    assert len(group.members) == 3
    assert groups([replace(one, server="") for one in tools], every(tools)) != (group,)


def test_a_family_for_whose_every_pair_a_model_stands_is_whole_whatever_it_is_called():
    (group,) = groups(PRICES, every(PRICES), stands=lambda pair: True)
    assert set(group.members) == {one.id for one in PRICES}
    missing = Pair.of(EBAY.id, STOCK.id)
    (group,) = groups(PRICES, every(PRICES), stands=lambda pair: pair != missing)
    assert group.members == PRICED


def test_what_people_keep_apart_is_no_family():
    assert groups(PRICES[:2], every(PRICES[:2])) != ()
    assert groups(PRICES[:2], every(PRICES[:2]), NEVER) == ()


@st.composite
def tables(draw):
    values = ("amazon", "ebay", "zorblax", "french")
    made = [tool(f"get_{value}_{of}") for value in values for of in ("price", "stock")]
    tools = draw(st.permutations(made))[: draw(st.integers(2, 7))]
    tools = sorted(tools, key=lambda one: one.id)
    pair_probabilities = st.sampled_from([0.0, AT - 0.01, AT, 0.7, 0.9])
    return tools, {pair: draw(pair_probabilities) for pair in every(tools)}


@given(tables())
def test_families_have_no_tool_in_common_and_their_edges_hold(catalog_and_table):
    tools, table = catalog_and_table
    all_groups = groups(tools, table)
    members = [member for group in all_groups for member in group.members]
    assert len(members) == len(set(members))
    for group in all_groups:
        assert len(group.members) > 1
        assert group.family
        assert not group.split
        assert not group.intransitive


def judged(catalog, family, same_job, tmp_path, doubts=()):
    """The analysis of a catalog by a judge that says the same of every pair of ``family``, unless
    it has probabilities, and is unsure of one job of the ``doubts``.
    """
    chances = family if isinstance(family, dict) else dict.fromkeys(family, 0.9)
    analysis = analysed(catalog, tmp_path, threshold=0.01).without_cache()
    left, right = np.triu_indices(len(catalog.tools), 1)
    left, right = left.astype(np.int32), right.astype(np.int32)
    ids = [one.id for one in catalog.tools]
    pairs = [Pair(ids[a], ids[b]) for a, b in zip(left, right, strict=True)]
    pair_probabilities = PairProbabilities(
        np.array([0.95 * (pair in same_job) or 0.6 * (pair in doubts) for pair in pairs]),
        np.array([chances.get(pair, 0.0) for pair in pairs]),
    )
    scores = PairScores(
        left, right, np.ones(len(pairs)), pair_probabilities.same_job, pair_probabilities.family
    )
    analysis = replace(analysis, scores=scores)
    analysis.remember(left, right, pair_probabilities)
    return analysis


def catalog_of(*tools, **more):
    return Catalog(tuple(sorted(tools, key=lambda one: one.id)), **more)


def families(catalog, tmp_path, groups=(), constraints=None, family=None, same_job=()):
    family = every(catalog.tools) if family is None else family
    analysis = judged(catalog, family, same_job, tmp_path)
    made = with_families(analysis, constraints or Constraints(), groups)
    return [group.members for group in made if group.family]


def test_a_tool_of_a_same_job_group_is_in_no_family(tmp_path):
    catalog = catalog_of(AMAZON, EBAY, tool("get_zorblax_price"))
    assert len(families(catalog, tmp_path)[0]) == 3
    taken = [Group(("get_amazon_price", "get_zorblax_price"), 0.95)]
    assert families(catalog, tmp_path, taken) == []
    grown = [Group(("x", "y"), 0.95, newcomers=("get_amazon_price",))]
    assert families(catalog, tmp_path, grown) == [("get_ebay_price", "get_zorblax_price")]


@pytest.mark.parametrize(
    ("tools", "findings"),
    [
        ((AMAZON, EBAY), (Finding("get_ebay_price", "block", "hidden", "name", "hidden"),)),
        ((AMAZON, tool("get_ebay_price", declared=False)), ()),
    ],
    ids=["blocked", "parameters unknown"],
)
def test_what_a_gateway_may_not_or_cannot_call_is_in_no_family(tools, findings, tmp_path):
    assert families(catalog_of(*tools, findings=findings), tmp_path) == []
    assert families(catalog_of(AMAZON, EBAY), tmp_path) == [PRICED]


@pytest.mark.parametrize(
    ("stranger", "members"),
    [
        (tool("get_zorblax_price", "z", declared=False), PRICED),
        (tool("get_zorblax_price", "z"), (*PRICED, "get_zorblax_price")),
    ],
    ids=["parameters unknown", "joins"],
)
def test_a_tool_that_cannot_join_leaves_the_others_alone(stranger, members, tmp_path):
    tools = (replace(AMAZON, server="x"), replace(EBAY, server="y"), stranger)
    analysis = judged(catalog_of(*tools), (), every(tools), tmp_path)
    (cluster,) = plan_merge(analysis).clusters
    assert (cluster.members, cluster.state) == (members, "proposed")


def test_tools_of_several_stores_that_do_not_say_what_they_take_look_alike(tmp_path):
    tools = [
        tool(called, server, declared=False) for called, server in (("read", "x"), ("get", "y"))
    ]
    analysis = judged(catalog_of(*tools), (), every(tools), tmp_path)
    (cluster,) = plan_merge(analysis).clusters
    assert (cluster.kind, cluster.state) == ("looks_alike", "proposed")


def test_never_merge_holds_for_families_of_the_catalog(tmp_path):
    assert families(catalog_of(AMAZON, EBAY), tmp_path, constraints=NEVER) == []


@pytest.mark.parametrize("called", ["{}_chart", "chart_of_{}"])
def test_tools_of_one_server_named_alike_with_the_same_arguments_are_a_family_or_none(
    called, tmp_path
):
    daily, weekly, yearly, other = (
        tool(called.format(of), "stocks") for of in ("daily", "weekly", "yearly", "spoken")
    )
    outside = tool("daily_price", "stocks")
    near = {Pair.of(daily.id, weekly.id), Pair.of(daily.id, outside.id)}
    chart = {*near, Pair.of(weekly.id, yearly.id)}
    assert families(catalog_of(daily, weekly, yearly, outside), tmp_path, family=chart) == [
        tuple(sorted((daily.id, weekly.id, yearly.id)))
    ]
    tools = daily, weekly, yearly, other
    assert families(catalog_of(*tools), tmp_path, family=near) == [(daily.id, weekly.id)]
    more = replace(yearly, schema={"type": "object", "properties": {"year": TEXT}})
    assert len(families(catalog_of(daily, weekly, more), tmp_path, family=chart)[0]) == 2
    apart = Constraints(cannot=frozenset({Pair.of(daily.id, yearly.id)}))
    tools = daily, weekly, yearly
    made = families(catalog_of(*tools), tmp_path, constraints=apart, family=every(tools))
    assert [len(members) for members in made] == [2]


@pytest.mark.parametrize(
    ("called", "argument", "chance", "whole"),
    [("draw_{}", "{}", 0.4, True), ("draw_{}", "{}", 0.3, False), ("get_{}", "{}_id", 0.4, False)],
    ids=["values", "too unlike", "keys of things"],
)
def test_tools_of_one_schema_and_one_template_of_names_are_one_family(
    called, argument, chance, whole, tmp_path
):
    tools = []
    for shape in ("circle", "arrow", "line"):
        arguments = (argument.format(shape), "page")
        properties = dict.fromkeys(arguments, TEXT)
        schema = {"type": "object", "properties": properties, "required": [*arguments]}
        tools.append(replace(tool(called.format(shape), "shapes"), schema=schema))
    made = families(catalog_of(*tools), tmp_path, family=every(tools, chance))
    assert made == ([tuple(sorted(one.id for one in tools))] if whole else [])


def test_what_people_put_together_as_a_family_stays_one(tmp_path):
    decided = [Group(PRICED, 0.95, decided=True)]
    links = Constraints(families=(frozenset(PRICED),))
    catalog = catalog_of(AMAZON, EBAY)
    assert families(catalog, tmp_path, decided, family={}) == []
    assert families(catalog, tmp_path, decided, links, family={}) == [decided[0].members]


ALL = (
    *PRICES,
    tool("fetch_amazon_price"),
    tool("get_zorblax_price"),
    tool("translate_to_french"),
    tool("translate_to_german"),
)
FAMILY = {pair: 0.9 for kin in ((AMAZON, EBAY, ALL[4]), ALL[5:]) for pair in every(kin)}
SAME = {Pair("fetch_amazon_price", "get_amazon_price")}


@examples(8)
@given(st.permutations(ALL))
def test_clusters_do_not_depend_on_the_order_of_the_file(tmp_path_factory, order):
    catalog = catalog_of(*order)
    analysis = judged(catalog, FAMILY, SAME, tmp_path_factory.mktemp("cache"))
    plan = plan_merge(analysis, [], PlanConfig(accept="auto"))
    by_members = {cluster.members: cluster for cluster in plan.clusters}
    assert list(by_members) == [
        ("fetch_amazon_price", "get_amazon_price"),
        ("get_ebay_price", "get_zorblax_price"),
        ("translate_to_french", "translate_to_german"),
    ]
    (family,) = plan.families
    assert family.members == ("get_amazon_price", "get_ebay_price")
    assert family.tools == tuple(by_members)[:2]
    assert (family.selector, family.values) == ("provider", ("amazon", "ebay"))
    kinds = [(cluster.kind, cluster.relation, cluster.selector) for cluster in plan.clusters]
    assert kinds == [
        ("drop_in", "duplicate", ""),
        ("gateway", "family", "provider"),
        ("gateway", "family", "language"),
    ]
    assert [cluster.state for cluster in plan.clusters] == ["accepted", "proposed", "proposed"]
    assert [cluster.safe for cluster in plan.clusters] == [True, False, False]


FETCHED_EBAY, FETCHED_ZORBLAX = tool("fetch_ebay_price"), tool("fetch_zorblax_price")
COPY = replace(STOCK, id="copy", server="other")
SHOPS = (*ALL, FETCHED_EBAY, COPY, tool("translate_to_italian"), FETCHED_ZORBLAX)
IN_TWO_WAYS = {Pair(f"fetch_{shop}_price", f"get_{shop}_price") for shop in ("amazon", "ebay")}
KIN = {
    pair: 0.9
    for of in ("price", "stock", "translate")
    for pair in every([one for one in SHOPS[:-1] if of in one.name])
}
WEAK = [Pair(EBAY.id, ALL[4].id), Pair(ALL[5].id, ALL[6].id)]
KIN |= dict.fromkeys(WEAK, AT - 0.01)


@pytest.fixture(scope="module", params=[False, True], ids=["offline", "by a model"])
def reviewed(request, tmp_path_factory):
    """Two jobs, families of them and of single tools, and pairs that only a third tool joins."""
    folder = tmp_path_factory.mktemp("reviewed")
    doubts = [Pair(FETCHED_ZORBLAX.id, EBAY.id)]
    analysis = judged(catalog_of(*SHOPS), KIN, IN_TWO_WAYS, folder, doubts)
    if not request.param:
        return analysis
    verdicts = {pair: Verdict(pair, 1.0, 0.9, "merge", judge="m") for pair in IN_TWO_WAYS}
    return with_verdicts(analysis, ModelVerdicts("m", verdicts))


@st.composite
def decisions(draw):
    """One on two or three tools, mostly of one family."""
    delicate = [*WEAK, Pair(FETCHED_ZORBLAX.id, ALL[4].id)]
    pair = draw(st.sampled_from(delicate) | st.sampled_from(list(KIN)))
    more = draw(st.sampled_from(SHOPS))
    tools = [one for one in SHOPS if one.id in (pair.left, pair.right)]
    three = sorted({*tools, more}, key=lambda one: one.id)
    parts = [[three[0].fingerprint], [one.fingerprint for one in three[1:]]]
    return draw(
        st.sampled_from(
            [
                decision_on(tools, "keep_apart"),
                decision_on(tools, "accept", relation="family"),
                decision_on(tools, "accept"),
                decision_on(three, "accept"),
                decision_on(three, "recut", groups=parts, relation="family"),
                decision_on(tools, "propose"),
                decision_on(tools[:1], "omit", reason="unused"),
                decision_on([], "threshold", similarity=0.01, same_job=0.96),
            ]
        )
    )


@examples(75)
@given(st.lists(decisions() | st.integers(1, 4).map(undo), min_size=2, max_size=5))
def test_a_plan_beside_which_others_were_made_equals_one_made_from_nothing(reviewed, steps):
    log = ()
    for step in steps:
        with suppress(DecisionError):
            log = logged(step, log=log)
        anew = replace(reviewed, syntheses=GroupSyntheses(reviewed.catalog))
        assert plan_merge(reviewed, log) == plan_merge(anew, log)


EBAYS = (EBAY, tool("fetch_ebay_price"))
TWO_CARDS = (AMAZON, tool("fetch_amazon_price"), *EBAYS)
JOBS = [("fetch_amazon_price", AMAZON.id), ("fetch_ebay_price", EBAY.id)]
ACROSS = every(TWO_CARDS).keys() - {Pair(*job) for job in JOBS}


def card_families(tmp_path, *log, family=ACROSS, doubts=(), answers=None):
    """The tools of each member of each family of the plan, with a model's ``answers`` by pair."""
    catalog = catalog_of(*TWO_CARDS, STOCK)
    analysis = judged(catalog, family, {Pair(*job) for job in JOBS}, tmp_path, doubts)
    if answers:
        verdicts = {
            pair: Verdict(pair, 1.0, 0.05, outcome, judge="m", relation=relation, family=0.9)
            for pair, (outcome, relation) in answers.items()
        }
        analysis = with_verdicts(analysis, ModelVerdicts("m", verdicts))
    prints = {one.id: one.fingerprint for one in catalog.tools}
    decisions = [
        Decision(action, tuple(map(prints.get, ids)), ids, "ann", seq=at)
        for at, (action, ids) in enumerate(log, 1)
    ]
    plan = plan_merge(analysis, decisions)
    assert [cluster.members for cluster in plan.clusters] == JOBS
    return [one.tools for one in plan.families]


@pytest.mark.parametrize("log", [[], [("accept", JOBS[0])]], ids=["proposed", "accepted"])
def test_two_jobs_are_members_of_a_family_and_stay_apart(log, tmp_path):
    assert card_families(tmp_path, *log) == [tuple(JOBS)]


def test_jobs_are_no_family_where_one_of_their_tools_contradicts(tmp_path):
    ids = "fetch_amazon_price", "fetch_ebay_price"
    assert card_families(tmp_path, family=ACROSS - {Pair(*ids)}) == [tuple(JOBS)]
    assert card_families(tmp_path, doubts=[Pair(*ids)]) == []
    assert card_families(tmp_path, ("keep_apart", ids)) == []


IS_FAMILY, OTHER = ("family", "family"), ("keep", "related")
FETCHED = Pair("fetch_amazon_price", "fetch_ebay_price")
GOTTEN, MIXED = Pair(*PRICED), Pair("fetch_amazon_price", EBAY.id)


@pytest.mark.parametrize(
    ("answers", "members"),
    [
        ({GOTTEN: IS_FAMILY}, [tuple(JOBS)]),
        ({FETCHED: IS_FAMILY}, [tuple(JOBS)]),
        ({GOTTEN: OTHER}, []),
        ({GOTTEN: IS_FAMILY, FETCHED: OTHER, MIXED: OTHER}, []),
    ],
    ids=["of the canonical tools", "of two others", "another answer", "mostly other answers"],
)
def test_what_a_model_says_of_tools_holds_for_their_cards(answers, members, tmp_path):
    """The offline judge thinks that two tools that the model was not asked about do one job."""
    doubts = [Pair.of(AMAZON.id, "fetch_ebay_price")]
    assert card_families(tmp_path, family=(), doubts=doubts, answers=answers) == members


def test_tools_named_alike_are_one_family_whole_also_where_one_has_a_card(tmp_path):
    charts = [tool(f"{of}_chart", "stocks") for of in ("daily", "weekly", "yearly")]
    other = tool("chart_by_year", "market")
    job = Pair.of(charts[2].id, other.id)
    family = dict.fromkeys(every(charts), 0.9) | {job: 0.1}
    plan = plan_merge(judged(catalog_of(*charts, other), family, {job}, tmp_path))
    assert [cluster.members for cluster in plan.clusters] == [(job.left, job.right)], (
        "no part of a family"
    )
    (whole,) = plan.families
    assert sorted(map(len, whole.tools)) == [1, 1, 2]
    assert set(whole.values) == {"daily", "weekly", "yearly"}


def test_a_tool_alone_is_a_member(tmp_path):
    alone = {Pair.of(STOCK.id, tool_id) for tool_id in JOBS[0]}
    assert card_families(tmp_path, family=alone) == [(JOBS[0], (STOCK.id,))]


def test_a_general_tool_that_lists_the_value_is_a_drop_in(tmp_path):
    languages = {"type": "string", "enum": ["French", "German"]}

    def requiring_all(called, target, **more):
        one = tool(called, description=f"Translate a text to {target}.", **more)
        return replace(one, schema={**one.schema, "required": [*one.schema["properties"]]})

    general = requiring_all("translate", "a language", language=languages)
    french = requiring_all("translate_to_french", "French")
    catalog = catalog_of(general, french, requiring_all("translate_to_german", "German"))
    analysis = analysed(catalog, tmp_path, threshold=0.01)
    (cluster,) = plan_merge(analysis, [], PlanConfig(accept="auto")).clusters
    assert (cluster.kind, cluster.relation, cluster.canonical) == (
        "drop_in",
        "subsumes",
        "translate",
    )
    assert cluster.members == ("translate", "translate_to_french", "translate_to_german")
    assert cluster.reasons == ()


# Which tools of a larger group are offered by themselves.


def subsets(group, clean, pair_probabilities=None, auto_at=0.8):
    def is_clean(members):
        return all(pair in clean for pair in combinations(members, 2))

    def weakest(members):
        return min((pair_probabilities or {}).get(pair, 0.9) for pair in combinations(members, 2))

    return with_safe_subsets([group], is_clean, weakest, auto_at)


ABC = Group(("a", "b", "c"), 0.85, intransitive=True)


def test_the_clean_ones_are_offered_by_themselves():
    (subset,) = subsets(ABC, {("a", "b")})
    assert subset == Group(("a", "b"), 0.9, split=True)


def test_what_the_subsets_leave_is_a_group_if_it_is_two_or_more():
    parts = subsets(Group(tuple("abcd"), 0.85), {("a", "b")})
    assert [group.members for group in parts] == [("a", "b"), ("c", "d")]
    assert all(group.split for group in parts)


@pytest.mark.parametrize(
    "group",
    [
        Group(("a", "b", "c"), 0.85, decided=True),
        Group(("a", "b", "c"), 0.85, put_forward=True),
        Group(("a", "b"), 0.85),
        Group(tuple("abcdefghijklm"), 0.85),
    ],
    ids=["decided", "asked for", "a pair", "too large"],
)
def test_some_groups_stay(group):
    assert subsets(group, {("a", "b")} if len(group.members) > 2 else set()) == (group,)


def test_a_clean_group_and_one_without_a_subset_stay():
    assert subsets(ABC, set(combinations("abc", 2))) == (ABC,)
    assert subsets(ABC, set()) == (ABC,)


def test_a_subset_needs_pairs_that_may_be_accepted_unseen():
    assert subsets(ABC, {("a", "b")}, {("a", "b"): 0.79}) == (ABC,)
    assert subsets(ABC, {("a", "b")}, {("a", "b"): 0.8})[0].weakest_edge == 0.8


@given(st.sets(st.sampled_from(list(combinations("abcdef", 2)))))
def test_subsets_divide_a_group_and_any_two_inside_are_clean(clean):
    whole = Group(tuple("abcdef"), 0.85)
    parts = subsets(whole, clean)
    members = [member for group in parts for member in group.members]
    assert len(members) == len(set(members))
    assert set(members) <= set(whole.members)
    if parts != (whole,):
        inside = [set(combinations(group.members, 2)) <= clean for group in parts]
        assert sum(not one for one in inside) <= 1
        assert any(inside)
