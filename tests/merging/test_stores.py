"""The same tools on two servers: whose things are behind them, and what a merge makes of it."""

import json
from dataclasses import replace

import pytest

from tests.support.analyses import analysed
from tests.support.catalogs import read_json
from toolscope_core.catalog.calls import map_call
from toolscope_core.export.bundle import bundle_of
from toolscope_core.files.folders import write_folder
from toolscope_core.mcp.gateway.bundle_routes import read_served_bundle
from toolscope_core.mcp.gateway.call_mapping import chosen_original, original_call
from toolscope_core.merging.analysing import plan_merge
from toolscope_core.merging.group_syntheses import Stores
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.decision import Decision
from toolscope_core.model.tool import Tool

TEXT = {"type": "string"}
RECURSIVE = {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/block"}]}

LONG = (
    "Each entity has a name, a kind and a list of what is known of it, in the order of learning. "
    * 2
)
"""So that one tool with a selector is less to read than two."""


def record(name, description, definitions=None, **properties):
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    schema["additionalProperties"] = False
    return {
        "name": name,
        "description": description,
        "inputSchema": {**schema, "$defs": definitions} if definitions else schema,
    }


FILES = [
    record("read_file", "Read the whole text of a file.", path=TEXT),
    record("write_file", "Write a text to a file.", path=TEXT, content=TEXT),
]
MEMORY = [
    record("create_entities", f"Create entities in the knowledge graph. {LONG}", names=TEXT),
    record("read_graph", f"Read the whole knowledge graph. {LONG}"),
    record("add_block", "Add a block to an entity.", {"block": RECURSIVE}, block=RECURSIVE),
]
SUMS = [record("add", "Add two numbers and return the sum.", a=TEXT, b=TEXT)]
STORES = (("work", FILES), ("home", FILES), ("team-memory", MEMORY), ("my-memory", MEMORY))
CALCULATORS = (("sums-1", SUMS), ("sums-2", SUMS))


def read(*servers):
    return read_json([{"server": name, "tools": records} for name, records in servers])


def planned(tmp_path, *servers, log=(), **config):
    return plan_merge(analysed(read(*servers), tmp_path, threshold=0.3), log, PlanConfig(**config))


@pytest.mark.case(76)
@pytest.mark.parametrize("gateway", [True, False])
def test_every_store_stays_reachable_and_only_sums_are_pruned(tmp_path, gateway):
    plan = planned(tmp_path, *STORES, *CALCULATORS, accept="all", gateway=gateway)
    kinds = {one.members: one.kind for one in plan.clusters if one.state == "accepted"}
    stores = {members: kind for members, kind in kinds.items() if "sums" not in members[0]}
    assert len(stores) == 5
    assert set(stores.values()) == {"gateway"}
    assert kinds["sums-1/add", "sums-2/add"] == "drop_in"
    left = {item.tool.id for item in plan.tools}
    members = {one for pair in stores for one in pair}
    assert len(left & members) == (5 if gateway else 10)
    assert not any(one.safe for one in plan.clusters if one.kind == "gateway")


def test_calls_through_the_bundle_reach_the_store_that_was_meant(tmp_path):
    analysis = analysed(read(*STORES), tmp_path, threshold=0.3)
    config = PlanConfig(accept="all", gateway=True)
    plan = plan_merge(analysis, (), config)
    write_folder(bundle_of(analysis, plan, (), config).files(), tmp_path / "bundle")
    table = read_served_bundle(tmp_path / "bundle").table
    alphas = {alpha.tool_id: alpha for alpha in plan.arguments}
    for old in ("home/write_file", "work/write_file"):
        given = {"path": "a.txt", "content": "b"}
        call = map_call(alphas[old], given)
        route = table.routes["write_file"]
        original = chosen_original(route, call.arguments)
        assert (original.tool_id, plan.phi[old]) == (old, route.tool_id)
        assert original_call(route, original, call.arguments, None).arguments == given
    assert chosen_original(route, given) is None, "nobody said which one"
    arguments = json.loads((tmp_path / "bundle" / "arguments.json").read_text())["maps"]
    assert arguments["work/write_file"]["constants"] == {"server": "work"}
    relabel = json.loads((tmp_path / "bundle" / "relabel.json").read_text())["entries"]
    assert {row["status"] for row in relabel} == {"kept", "merged"}


def chosen(catalog, kind, *ids):
    fingerprints = tuple(catalog.by_id[one].fingerprint for one in ids)
    detail = {"canonical": fingerprints[0], "kind": kind}
    return Decision("canonical", fingerprints, ids, "ann", seq=1, detail=detail)


def test_a_person_may_say_that_one_store_stands_for_the_other(tmp_path):
    pair = ("home/read_file", "work/read_file")
    log = (chosen(read(*STORES), "drop_in", *pair),)
    plan = planned(tmp_path, *STORES, log=log, accept="all", gateway=True)
    kinds = {one.members: one.kind for one in plan.applied}
    assert kinds.pop(pair) == "drop_in"
    assert set(kinds.values()) == {"gateway"}
    assert not any(one.safe for one in plan.clusters)


def test_a_person_may_say_that_sums_stay_apart(tmp_path):
    pair = ("sums-1/add", "sums-2/add")
    log = (chosen(read(*CALCULATORS), "gateway", *pair),)
    plan = planned(tmp_path, *CALCULATORS, log=log, accept="all", gateway=True)
    assert [(one.members, one.kind) for one in plan.applied] == [(pair, "gateway")]


def test_several_tools_of_one_store_are_told_apart_by_server_and_name(tmp_path):
    more = [*FILES, record("read_text_file", "Read the whole text of a file.", path=TEXT)]
    analysis = analysed(read(("work", more), ("home", more)), tmp_path, threshold=0.3)
    members = tuple(
        f"{one}/{name}" for one in ("home", "work") for name in ("read_file", "read_text_file")
    )
    synthesis = analysis.syntheses.synthesis(members, None)
    assert (synthesis.kind, synthesis.selector) == ("gateway", "server")
    assert sorted(synthesis.document.schema["properties"]["server"]["enum"]) == sorted(members)


def tool(server, name, description="", annotations=None, **properties):
    schema = {"type": "object", "properties": properties}
    tool_id = f"{server}/{name}"
    return Tool(tool_id, name, description, server, schema, annotations=annotations or {})


WEB = tool("a", "web_search", "Search the web.", query=TEXT)
APART = {
    "files": ([tool("a", "read_file", "Read a file.", path=TEXT)], True),
    "a database, by its argument": ([tool("a", "query", "Run SQL.", database=TEXT)], True),
    "nothing is known": ([tool("a", "frobnicate", "Frobnicate.")], True),
    "search of nobody knows what": ([tool("a", "search", "Search.", query=TEXT)], True),
    "writes by annotation": ([replace(WEB, annotations={"readOnlyHint": False})], True),
    "the web": ([WEB], False),
    "the web, beside notes": ([WEB, tool("a", "save_note", "Save a note.", text=TEXT)], True),
    "a sum, beside notes": (
        [tool("a", "calculate", "Calculate.", x=TEXT), tool("a", "save_note", "Save a note.")],
        False,
    ),
    "text formatting": ([tool("a", "convert_case", "Convert a text to capitals.")], False),
    "the weather": ([tool("a", "get_weather", "Tell the weather.", city=TEXT)], False),
    "downloads": ([tool("a", "download_paper", "Download a paper.", paper_id=TEXT)], True),
}


@pytest.mark.parametrize(("tools", "apart"), APART.values(), ids=APART)
def test_what_a_server_may_keep(tools, apart):
    copies = [replace(one, id=f"b/{one.name}", server="b") for one in tools]
    stores = Stores([*tools, *copies])
    assert stores.are_apart([tools[0], copies[0]]) is apart
    assert not Stores(tools).are_apart([tools[0], tools[0]]), "one server shares what it keeps"


ACTIONS = {"type": "string", "enum": ["list", "mute"]}
HOSTS = {
    "name": "hosts",
    "description": f"Manage the hosts of the Datadog account. {LONG}",
    "inputSchema": {
        "type": "object",
        "properties": {"action": ACTIONS, "host": TEXT},
        "required": ["action"],
    },
}


@pytest.mark.parametrize("note", [True, False])
def test_a_tool_of_actions_takes_those_of_another_server_with_their_values(tmp_path, note):
    given = {"host": "a", **({"note": "b"} if note else {})}
    arguments = dict.fromkeys(given, TEXT)
    special = [
        record("list_hosts", f"List the hosts of the Datadog account. {LONG}"),
        record("mute_host", f"Mute a Datadog host. {LONG}", **arguments),
    ]
    general = [HOSTS, record("dashboards", "List Datadog dashboards.", query=TEXT)]
    analysis = analysed(read(("datadog-all", general), ("datadog-rest", special)), tmp_path)
    config = PlanConfig(accept="all", gateway=True)
    plan = plan_merge(analysis, (), config)
    (cluster,) = plan.clusters
    assert (cluster.kind, len(cluster.members)) == ("gateway" if note else "drop_in", 3)
    assert not cluster.safe
    write_folder(bundle_of(analysis, plan, (), config).files(), tmp_path / "bundle")
    route = read_served_bundle(tmp_path / "bundle").table.routes["hosts"]
    alphas = {alpha.tool_id: alpha for alpha in plan.arguments}
    call = map_call(alphas["datadog-rest/mute_host"], given)
    assert call.arguments["action"] == "mute"
    assert set(route.schema["required"]) == {"action", *(["server"] if note else [])}
    if note:
        original = chosen_original(route, call.arguments)
        assert original.tool_id == "datadog-rest/mute_host"
        assert original_call(route, original, call.arguments, None).arguments == given
        whole = {**call.arguments, "server": "datadog-all"}
        assert chosen_original(route, whole).tool_id == "datadog-all/hosts"
        assert chosen_original(route, {**call.arguments, "action": "unmute"}) is None
