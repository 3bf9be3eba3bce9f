"""Which tools stay in every prompt, and how an export leaves the others to a search."""

import json
from dataclasses import replace

import pytest
from openai.types import responses
from pydantic import TypeAdapter

from tests.support.analyses import analysed
from tests.support.catalogs import accepting, read_text, unmerged
from tests.ui.services.small_workspace import FILES, MAIL, SUM, catalog, on
from toolscope_core.catalog.formats.writers import write_toolset
from toolscope_core.catalog.tokens import Costs
from toolscope_core.decisions.decision_lines import decision_of_row
from toolscope_core.decisions.log import admit
from toolscope_core.export.bundle import bundle_of
from toolscope_core.export.checked_plan import readable_plan
from toolscope_core.export.eager_choice import LoadingEvidence, eager_ids, loaded_tools
from toolscope_core.export.namespaces import described_servers, in_namespaces, namespace_text
from toolscope_core.merging.analysing import plan_merge
from toolscope_core.merging.clusters import apply_clusters
from toolscope_core.model.catalog import Finding, Server
from toolscope_core.model.cluster import ArgumentMap
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.plan import MergedTool
from toolscope_core.model.tool import Tool

TOOLS = (MAIL, on("beta", MAIL), FILES, SUM)
FOUND = {tool.id: 1.0 for tool in TOOLS}
LOST = {**FOUND, FILES.id: 0.5, SUM.id: 0.0}


def chosen(budget=10_000, calls=(), shares=FOUND, deferrals=(), cat=None):
    plan = apply_clusters(cat or catalog(*TOOLS), (), gateway=False)
    evidence = LoadingEvidence(dict(calls), shares, dict(deferrals))
    rows = loaded_tools(plan, evidence, budget, Costs())
    return [row.tool.id for row in rows], eager_ids(rows)


@pytest.mark.parametrize(
    ("given", "eager"),
    [
        ({}, ()),
        ({"calls": {MAIL.id: 9}}, (MAIL.id,)),
        ({"shares": LOST}, (FILES.id, SUM.id)),
        ({"shares": {}}, ()),
        ({"shares": LOST, "budget": 0}, ()),
        ({"shares": LOST, "deferrals": {SUM.id: True}}, (FILES.id,)),
        ({"budget": 0, "deferrals": {SUM.id: False}}, (SUM.id,)),
    ],
)
def test_tools_stay_that_are_called_that_the_search_loses_or_that_people_chose(given, eager):
    assert chosen(**given)[1] == tuple(sorted(eager))


def test_lost_calls_come_first_and_what_does_not_fit_is_left_out():
    order, _ = chosen(calls={FILES.id: 3, MAIL.id: 99}, shares=LOST)
    assert order[:3] == [FILES.id, SUM.id, MAIL.id], "2 lost of 4, 1 of 1, 0 of 100"
    tokens = Costs().of(FILES, "openai-chat")
    assert chosen(tokens, {FILES.id: 3, MAIL.id: 99}, LOST)[1] == (FILES.id,)


def test_what_the_scan_blocks_is_in_no_prompt_unless_a_person_chose_it():
    blocked = replace(catalog(*TOOLS), findings=(Finding(SUM.id, "block", "x", "name", "Odd."),))
    assert chosen(shares=LOST, cat=blocked)[1] == (FILES.id,)
    assert SUM.id in chosen(shares=LOST, deferrals={SUM.id: False}, cat=blocked)[1]


# Namespaces


def test_a_namespace_says_what_its_server_does_and_what_its_tools_are_called():
    server = Server("beta", "Adds up.")
    text = namespace_text(server, [SUM, on("beta", MAIL)])
    assert text.startswith("Adds up. ") and text.endswith(": add numbers, send mail.")
    many = [Tool(f"b/{n}", f"tool_{n}", server="b") for n in range(30)]
    assert namespace_text(Server("b"), many).endswith("tool 23 and 6 more.")
    (alpha, beta) = described_servers([server], [MAIL, SUM], {"beta": "Of people."})
    assert (alpha.description, beta.description) == ("Tools: send mail.", "Of people.")


def test_namespaces_have_names_of_their_own_that_openai_takes():
    tools = [on(server, MAIL) for server in ("a b", "a.b", "x" * 90)]
    moved, servers = in_namespaces(unmerged(tools), [Server(tool.server) for tool in tools])
    assert [one.name for one in servers] == ["a_b", "a_b_2", "x" * 64]
    assert [item.tool.server for item in moved] == [one.name for one in servers]


# What is written


@pytest.fixture(scope="module")
def analysis(tmp_path_factory):
    return analysed(catalog(*TOOLS), tmp_path_factory.mktemp("eager"))


def bundle(analysis, format, *rows, eager=(FILES.id,)):
    log = ()
    for row in rows:
        log = (*log, admit(log, decision_of_row(analysis.catalog, {"reviewer": "ann", **row})))
    config = PlanConfig(eager=eager)
    plan = plan_merge(analysis, log, config)
    return dict(bundle_of(analysis, plan, log, config, format, True).files())


def test_openai_gets_a_namespace_for_each_server_and_people_describe_it(analysis):
    ids = [tool.id for tool in TOOLS if tool.server == "beta"]
    row = {"action": "namespace", "ids": ids, "detail": {"description": "Sums and mails."}}
    content = bundle(analysis, "openai-responses", row)["toolset.json"]
    search, alpha, beta = json.loads(content)
    for record in (search, alpha, beta):
        TypeAdapter(responses.ToolParam).validate_python(record)
    assert search == {"type": "tool_search"}
    assert (beta["name"], beta["description"]) == ("beta", "Sums and mails.")
    assert alpha["description"].endswith(": list files, alpha send mail.")
    marks = {one["name"]: one.get("defer_loading") for one in alpha["tools"]}
    assert marks == {"list_files": None, "alpha_send_mail": True}
    again = read_text(content)
    assert {tool.name for tool in again.tools} >= {"list_files", "add_numbers"}
    assert again.format == "openai-responses"


def test_anthropic_defers_all_others_and_a_breakpoint_of_the_cache_with_them(analysis):
    search, *records = json.loads(bundle(analysis, "anthropic")["toolset.json"])
    assert search["type"].startswith("tool_search_tool_bm25")
    kept = [one["name"] for one in records if "defer_loading" not in one]
    assert kept == ["list_files"] and len(records) == len(TOOLS)


def test_a_search_that_is_there_is_not_added_again():
    own = [
        {"name": "f", "input_schema": accepting(), "cache_control": {"type": "ephemeral"}},
        {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"},
    ]
    tools = unmerged(read_text(json.dumps(own)).tools)
    bare, search = write_toolset(tools, (), "anthropic", True, frozenset())
    assert bare == {"name": "f", "input_schema": accepting(), "defer_loading": True}
    assert search == own[1]
    assert write_toolset(tools, (), "anthropic", True, {"f"}) == own


def test_other_formats_are_whole_and_the_manifest_tells_both_apart(analysis):
    files = bundle(analysis, "openai-chat")
    assert b"defer" not in files["toolset.json"] and b"search" not in files["toolset.json"]
    manifest = json.loads(files["manifest.json"])
    assert manifest["configuration"]["eager"] == [FILES.id]
    loading = manifest["tokens"]["loading"]
    assert loading["eager"] == Costs().of(FILES, "openai-chat")
    assert loading["eager"] + loading["deferred"] == manifest["tokens"]["after"]
    whole = json.loads(bundle(analysis, "anthropic", eager=None)["manifest.json"])
    assert "loading" not in whole["tokens"]


# What the search of a client reads


def plan_of_two(eager, blocked=()):
    """A plan that merges two tools of one job, in other words."""
    tools = (
        Tool("a", "mail", "Send a mail.", schema=accepting()),
        Tool("b", "post_letter", "Post an electronic letter. It is quick.", schema=accepting()),
        SUM,
    )
    findings = tuple(Finding(one, "block", "x", "name", "Odd.") for one in blocked)
    plan = apply_clusters(replace(catalog(*tools), findings=findings), (), gateway=False)
    merged = (MergedTool(tools[0], ("a", "b")), MergedTool(SUM, (SUM.id,)))
    relabels = [replace(row, new_id="a") if row.old_id == "b" else row for row in plan.relabels]
    maps = (ArgumentMap("a", "a"), ArgumentMap("b", "a"))
    changes = {"relabels": tuple(relabels), "arguments": maps}
    return replace(plan, tools=merged, eager=eager, **changes)


def text_of(plan):
    return readable_plan(plan, "anthropic", True).tools[0].tool.description


def test_what_is_left_to_a_search_has_the_words_of_all_members():
    once = readable_plan(plan_of_two(frozenset()), "anthropic", False)
    description = "Send a mail. post letter: Post an electronic letter."
    assert once.tools[0].tool.description == description
    assert readable_plan(once, "anthropic", False).tools == once.tools
    assert once.tools[1].tool == SUM


def test_the_words_of_others_are_added_to_nothing_that_is_read_whole():
    for plan in (plan_of_two(None), plan_of_two(frozenset({"a"}))):
        assert text_of(plan) == "Send a mail."
    assert text_of(plan_of_two(frozenset(), blocked=["b"])) == "Send a mail."
