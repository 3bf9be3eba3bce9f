"""What a name once meant, through rounds of exports and in the gateway."""

import json
from dataclasses import replace

import pytest

from tests.mcp.gateway import stub_toolset
from tests.support.analyses import analysed
from tests.support.catalogs import read_json
from toolscope_core.catalog.calls import map_call
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.export.bundle import bundle_of, write_bundle
from toolscope_core.mcp.gateway.bundle_routes import read_served_bundle
from toolscope_core.merging.clusters import apply_clusters
from toolscope_core.merging.former_names import names_after, with_names_of
from toolscope_core.model.configuration import PlanConfig

TEXT = {"type": "string"}
GET, READ = stub_toolset.NORTH[:2]
ALL = PlanConfig(accept="all")
NEW = [
    stub_toolset.record("read_file", "Read a book.", book=TEXT),
    stub_toolset.record("get", "Fetch a parcel.", no=TEXT),
]


def town(**servers):
    listed = [{"name": name, "tools": tools} for name, tools in servers.items()]
    return read_json({"servers": listed}, "town.json")


def merged(catalog, *members):
    clusters = (stub_toolset.accepted(catalog, *members),) if members else ()
    return replace(apply_clusters(catalog, clusters, gateway=False), clusters=clusters)


def export(folder, catalog, *members):
    """The folder, where a bundle of the catalog is, in place of one that was there."""
    plan = merged(catalog, *members)
    write_bundle(analysed(catalog, folder.parent / "cache"), plan, folder, (), ALL)
    return folder


def first(tmp_path, name="bundle"):
    return export(tmp_path / name, town(north=[GET, READ]), "north/get", "north/read_file")


def routes_of(folder):
    table = read_served_bundle(folder).table
    return {name: route.server for name, route in table.routes.items()}, table.old_names


@pytest.mark.case(86)
@pytest.mark.parametrize("newcomer", ["aaa", "south"])
@pytest.mark.parametrize("way", ["in place", "as input"])
def test_a_newcomer_never_takes_a_name_that_meant_another_servers_tool(tmp_path, newcomer, way):
    bundle = first(tmp_path)
    assert routes_of(bundle)[0] == {"get": "north"}
    if way == "in place":
        catalog = town(**{"north": [GET, READ], newcomer: NEW})
        export(bundle, catalog, "north/get", "north/read_file")
    else:
        (tmp_path / "new.json").write_text(json.dumps([{"server": newcomer, "tools": NEW}]))
        bundle = export(tmp_path / "next", read_catalog([bundle, tmp_path / "new.json"]))
    routes, old = routes_of(bundle)
    renamed = {f"{newcomer}_get": newcomer, f"{newcomer}_read_file": newcomer}
    assert routes == {"get": "north", **renamed}
    assert {name: one.route for name, one in old.items()} == {"read_file": "get"}


@pytest.mark.case(86)
def test_the_name_of_a_tool_that_is_gone_stays_its_name(tmp_path):
    bundle = export(first(tmp_path), town(south=NEW))
    assert routes_of(bundle) == ({"south_get": "south", "south_read_file": "south"}, {})
    again = export(bundle, town(north=[GET, READ], south=NEW))
    assert routes_of(again)[0] == {
        **{"get": "north", "read_file": "north"},
        **{"south_get": "south", "south_read_file": "south"},
    }


@pytest.mark.case(86)
def test_old_names_of_all_rounds_lead_on_with_their_arguments(tmp_path):
    second = [stub_toolset.record("open", "Read a file.", ["pathname"], pathname=TEXT)]
    (tmp_path / "more.json").write_text(json.dumps([{"server": "north", "tools": second}]))
    bundle = first(tmp_path)
    for number in (2, 3):
        files = [bundle, tmp_path / "more.json"] if number == 2 else [bundle]
        catalog = read_catalog(files)
        ids = [tool.id for tool in catalog.tools] if number == 2 else []
        bundle = export(tmp_path / f"round{number}", catalog, *ids)
    ((name, _),), old = routes_of(bundle)[0].items(), routes_of(bundle)[1]
    assert {one.route for one in old.values()} == {name}
    assert {*old, name} == {"get", "read_file", "open"}
    given = {"get": {"path": "a"}, "read_file": {"file_path": "a"}, "open": {"pathname": "a"}}
    (wanted,) = given[name]
    for other, way in old.items():
        arguments = given[other]
        for alpha in way.maps:
            arguments = map_call(alpha, arguments).arguments
        assert arguments == {wanted: "a"}


@pytest.mark.case(86)
def test_a_name_that_two_servers_had_is_nobodys_when_one_is_gone(tmp_path):
    same = [stub_toolset.record("same", "Say it again.", x={"type": "integer"})]
    bundle = export(tmp_path / "bundle", town(north=same, south=same))
    assert sorted(routes_of(bundle)[0]) == ["north_same", "south_same"]
    for server in ("south", "north"):
        again = export(bundle, town(**{server: same}))
        assert routes_of(again) == ({f"{server}_same": server}, {})


def numbered(name, description="Do it."):
    return stub_toolset.record(name, description, x={"type": "integer"})


@pytest.mark.case(86)
@pytest.mark.parametrize(
    ("before", "newcomer", "names"),
    [
        (
            {"north": ["same"], "south": ["same"]},
            "south_same",
            {"north_same": "north/same", "south_same": "south/same"},
        ),
        ({"north": [], "south": ["my tool"]}, "my_tool", {"my_tool": "south/my tool"}),
        ({"north": [], "south": ["same"]}, "Same", {"same": "south/same"}),
    ],
)
def test_nor_does_a_newcomer_of_the_same_server_take_a_name(tmp_path, before, newcomer, names):
    servers = {name: [numbered(one) for one in own] for name, own in before.items()}
    bundle = export(tmp_path / "bundle", town(**servers))
    servers["south"].append(numbered(newcomer, "Something else."))
    for _ in range(2):
        routes = read_served_bundle(export(bundle, town(**servers))).table.routes
        ids = {name: route.tool_id for name, route in routes.items()}
        assert ids == {**names, f"south_{newcomer}": f"south/{newcomer}"}


@pytest.mark.case(86)
def test_a_tool_that_is_merged_no_more_has_its_own_name_again(tmp_path):
    bundle = export(first(tmp_path), town(north=[GET, READ], south=NEW))
    own = {"get": "north", "read_file": "north"}
    assert routes_of(bundle)[0] == {**own, "south_get": "south", "south_read_file": "south"}


@pytest.mark.case(86)
def test_servers_whose_tools_became_one_share_its_name(tmp_path):
    catalog = town(north=[GET], south=[GET])
    bundle = export(tmp_path / "bundle", catalog, "north/get", "south/get")
    assert routes_of(bundle)[0] == {"get": "north"}
    assert routes_of(export(bundle, catalog, "north/get", "south/get"))[0] == {"get": "north"}


@pytest.mark.case(86)
def test_a_toolset_for_an_api_renames_the_newcomer_too(tmp_path):
    catalog = with_names_of(town(aaa=NEW), first(tmp_path))
    plan = merged(catalog)
    files = dict(bundle_of(analysed(catalog, tmp_path / "c"), plan, (), ALL, "openai-chat").files())
    names = [one["function"]["name"] for one in json.loads(files["toolset.json"])]
    assert names == ["aaa_get", "aaa_read_file"]
    rows = json.loads(files["relabel.json"])["entries"]
    assert {row["status"] for row in rows} == {"renamed"}


@pytest.mark.case(57)
def test_the_same_export_in_place_of_itself_changes_no_byte(tmp_path):
    bundle = first(tmp_path)
    before = {path.name: path.read_bytes() for path in bundle.iterdir() if path.is_file()}
    assert first(tmp_path) == bundle
    assert before == {path.name: path.read_bytes() for path in bundle.iterdir() if path.is_file()}


@pytest.mark.parametrize(
    "names", ["x", {"get": "x"}, {"get": [["north"]]}, {"get": [["north", 1, ""]]}, [{"name": "a"}]]
)
def test_names_of_another_form_are_left_out(tmp_path, names):
    bundle = first(tmp_path)
    document = json.loads((bundle / "neutral.json").read_text())
    (bundle / "neutral.json").write_text(json.dumps({**document, "former_names": names}))
    assert read_catalog([bundle]).former_names == ()
    assert with_names_of(town(south=NEW), bundle).former_names == ()


def test_a_map_that_cannot_be_read_leads_nowhere(tmp_path):
    bundle = first(tmp_path)
    text = (bundle / "neutral.json").read_text()
    (bundle / "neutral.json").write_text(text.replace('\\"from\\"', '\\"odd\\"'))
    assert routes_of(bundle) == ({"get": "north"}, {})


@pytest.mark.case(86)
def test_a_call_by_an_old_name_reaches_the_server_that_it_meant(tmp_path):
    catalog = town(north=[GET, READ], south=NEW)
    bundle = export(first(tmp_path), catalog, "north/get", "north/read_file")
    servers = stub_toolset.configuration_of(tmp_path, {"north": [GET, READ], "south": NEW})

    async def use(client, gateway):
        calls = (("read_file", {"file_path": "a"}), ("south_read_file", {"book": "a"}))
        return [stub_toolset.stub_reply(await client.call_tool(*one)) for one in calls]

    old, new = stub_toolset.through(bundle, servers, use, old_names=True)
    assert old == {"server": "north", "tool": "get", "arguments": {"path": "a"}}
    assert new["server"] == "south"


def test_names_are_those_of_the_plan(tmp_path):
    plan = merged(town(north=[GET, READ]), "north/get", "north/read_file")
    assert [(one.name, one.server, one.tool_id) for one in names_after(plan)] == [
        ("get", "north", "north/get"),
        ("read_file", "north", "north/get"),
    ]
