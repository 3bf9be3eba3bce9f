import hashlib
import json
import zipfile
from collections import Counter
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.support.analyses import analysed
from tests.support.bundle_names import FILES
from tests.support.catalogs import accepting, example_catalog, read_json
from tests.support.decisions import decision_on, logged
from tests.ui.services.small_workspace import open_workspace
from toolscope_core.catalog.clients.client_table import CLIENT_FILES
from toolscope_core.catalog.evaluation_rows import relabel_query
from toolscope_core.catalog.relabelling import read_relabelling
from toolscope_core.catalog.tokens import Tokenizer
from toolscope_core.decisions.decision_lines import decision_of_row, read_decisions
from toolscope_core.decisions.log import admit
from toolscope_core.export.bundle import bundle_of, verdict_row, zipped
from toolscope_core.files import folders
from toolscope_core.files.folders import write_folder
from toolscope_core.merging.analysing import plan_merge
from toolscope_core.merging.former_names import with_tools
from toolscope_core.model.catalog import Catalog, Server
from toolscope_core.model.cluster import CardFamily
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.errors import CatalogError, ExportError
from toolscope_core.model.pair import Pair, Verdict
from toolscope_core.model.tool import Tool
from ui.shared.services import exports, review

ALL = PlanConfig(accept="all", gateway=True)
DECIDED = PlanConfig(accept="none")


@pytest.fixture(scope="module")
def analysis(tmp_path_factory):
    catalog = example_catalog()
    return analysed(catalog, tmp_path_factory.mktemp("bundle"), threshold=0.4)


def files_of(analysis, log=(), config=ALL, **options):
    plan = plan_merge(analysis, log, config)
    return dict(bundle_of(analysis, plan, log, config, **options).files())


@pytest.fixture(scope="module")
def files(analysis):
    return files_of(analysis)


def loaded(files, name):
    return json.loads(files[name])


def standing(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


NAMES = (*FILES[:-1], *CLIENT_FILES, "manifest.json")


def test_the_files_are_those_of_the_format(files, analysis):
    assert tuple(files) == NAMES
    assert tuple(files_of(analysis, config=DECIDED)) == FILES


def test_equal_input_gives_equal_bytes_and_the_manifest_holds_their_hashes(files, analysis):
    again = files_of(analysis)
    assert again == files
    assert zipped(again) == zipped(files)
    manifest = loaded(files, "manifest.json")
    for name, digest in manifest["sha256"].items():
        assert hashlib.sha256(files[name]).hexdigest() == digest
    assert set(manifest["sha256"]) == set(NAMES) - {"manifest.json"}
    assert zipfile.ZipFile(BytesIO(zipped(files))).namelist() == list(NAMES)


def test_aliases_lead_from_names_that_are_free(files):
    aliases = loaded(files, "aliases.json")
    assert aliases["wordsmith-text"]["translate_to_french"] == "translate"
    kept = {(r["server"], r["new_name"]) for r in loaded(files, "relabel.json")["entries"]}
    for server, names in aliases.items():
        assert not any((server, old) in kept for old in names)


def test_a_name_that_lives_on_is_no_alias(tmp_path):
    schema = accepting(x={"type": "string"})
    same = [Tool(i, "search", "Finds a page by its words.", schema=schema) for i in ("1", "3")]
    other = replace(same[0], id="2", name="find", description="Looks for a page by its words.")
    catalog = Catalog((same[0], other, replace(same[1], description="Rents out a search dog.")))
    analysis = analysed(catalog, tmp_path)
    joined, apart = (same[0], other), (same[0], catalog.tools[2])
    log = logged(decision_on(joined, "accept"), decision_on(apart, "keep_apart"))
    files = files_of(analysis, log)
    assert "search" not in loaded(files, "aliases.json").get("", {})


def pairs_in(files):
    return [json.loads(line) for line in files["pairs.jsonl"].splitlines()]


VERDICT = Verdict(
    Pair("a", "b"), 0.9, 0.85, "merge", ("So.",), "m", "subsumes", 0.1234567, "left", (("x",), ())
)


@pytest.mark.parametrize(
    ("serves", "turned"), [("left", "right"), ("right", "left"), ("both", "both"), ("none", "none")]
)
def test_the_sides_of_a_row_are_those_of_its_own_ids(serves, turned):
    straight = verdict_row("a", "b", replace(VERDICT, serves=serves))
    assert straight == {
        **{"left": "a", "right": "b", "similarity": 0.9, "verdict": "merge", "judge": "m"},
        **{"relation": "subsumes", "same_job": 0.85, "family": 0.123457, "serves": serves},
        **{"differs": {"left": ["x"], "right": []}, "evidence": ["So."]},
    }
    back = verdict_row("b", "a", replace(VERDICT, serves=serves))
    assert (back["left"], back["right"], back["serves"]) == ("b", "a", turned)
    assert back["differs"] == {"left": [], "right": ["x"]}
    sided = ("left", "right", "serves", "differs")
    assert {k: v for k, v in back.items() if k not in sided} == {
        k: v for k, v in straight.items() if k not in sided
    }


def in_shops(operation, shops=("amazon", "ebay", "walmart")):
    """The same operation of several shops, each with a schema of its own."""
    for at, shop in enumerate(shops):
        item = "product_id" if at == len(shops) - 1 else "product"
        schema = {**accepting(**{item: TEXT}, currency=TEXT), "required": [item]}
        text = f"Get the {operation} of a product at {shop.title()}."
        yield Tool(f"get_{shop}_{operation}", f"get_{shop}_{operation}", text, schema=schema)


TEXT = {"type": "string"}
PRICES = tuple(in_shops("price"))
NUMBERS = Tool("add_numbers", "add_numbers", "Add up numbers.", schema={"type": "object"})


@pytest.fixture(scope="module")
def shops(tmp_path_factory):
    tools = sorted((*PRICES, NUMBERS), key=lambda tool: tool.id)
    return analysed(Catalog(tuple(tools)), tmp_path_factory.mktemp("shops"), threshold=0.4)


def test_families_of_clusters_are_a_file_of_their_own(shops):
    plan = plan_merge(shops, (), DECIDED)
    parts = (("a", "b"), ("c",))
    family = CardFamily(("b", "c"), parts, 0.7, "provider", ("bee", "sea"))
    bundle = bundle_of(shops, replace(plan, families=(family,)), (), DECIDED)
    files = dict(bundle.files())
    (row,) = loaded(files, "families.json")
    assert row["selector"] == "provider"
    assert row["members"][0] == {"canonical": "b", "tools": ["a", "b"], "value": "bee"}
    assert "families.json" in loaded(files, "manifest.json")["sha256"]


@pytest.mark.parametrize("dropped", [(), ("get_amazon_price",)])
def test_an_accepted_family_is_a_gateway_again_where_its_bundle_is_replayed(tmp_path, dropped):
    work, catalog_id = open_workspace(*PRICES, NUMBERS)
    (family,) = work.snapshot(catalog_id).plan.clusters
    if dropped:
        review.decide(work.snapshot(catalog_id), "drop", family, "ann", {"drop": list(dropped)})
    else:
        review.decide(work.snapshot(catalog_id), "accept", family, "ann")
    write_folder(exports.bundle(work.snapshot(catalog_id), DECIDED).items(), tmp_path / "b")
    (row,) = json.loads((tmp_path / "b" / "clusters.json").read_text("utf-8"))
    assert (row["state"], row["kind"], row["selector"]) == ("accepted", "gateway", "provider")
    analysis = work.snapshot(catalog_id).analysed
    log = read_decisions(analysis.catalog, tmp_path / "b" / "decisions.jsonl")
    assert log == tuple(work.snapshot(catalog_id).log)
    files = files_of(analysis, log, DECIDED)
    assert loaded(files, "clusters.json") == [row]
    assert set(row["members"]) == {tool.id for tool in PRICES} - set(dropped)
    assert loaded(files, "arguments.json")["maps"] == {}, "a gateway was not asked for"
    assert loaded(files, "manifest.json")["counts"]["gateways_withheld"] == 1
    work.close()


def test_the_manifest_counts_duplicates_families_and_siblings(files):
    counts = loaded(files, "manifest.json")["counts"]
    clusters = loaded(files, "clusters.json")
    relations = [cluster["relation"] for cluster in clusters]
    assert counts["clusters_by_relation"] == Counter(relations)
    assert counts["drop_ins"] == sum(c["kind"] == "drop_in" for c in clusters)
    assert counts["families"] == relations.count("family") > 0
    rows = pairs_in(files)
    kept = [row["relation"] for row in rows if row["verdict"] == "keep"]
    assert len(rows) > len(kept) > counts["siblings"] == kept.count("related") > 0


def test_a_bundle_comes_back_from_its_folder(files, tmp_path):
    write_folder(files.items(), tmp_path / "out")
    relabelling = read_relabelling(tmp_path / "out")
    maps = loaded(files, "arguments.json")["maps"]
    assert relabelling.phi.keys() >= relabelling.arguments.keys() == maps.keys()
    for old, alpha in relabelling.arguments.items():
        assert [m.source for m in alpha.moves] == [row["from"] for row in maps[old]["args"]]


@pytest.mark.parametrize("step", ["write_bytes", "rename"])
def test_a_failing_disk_leaves_or_puts_back_the_last_bundle(files, tmp_path, monkeypatch, step):
    write_folder(files.items(), tmp_path / "out")
    rename = Path.rename

    def refuse(self, *args):
        if step == "rename" and self.name != "new":
            return rename(self, *args)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, step, refuse)
    monkeypatch.setattr(folders, "_exchange", lambda new, folder: False)
    with pytest.raises(ExportError, match=r"space .*unchanged"):
        write_folder(files.items(), tmp_path / "out")
    assert standing(tmp_path / "out") == set(NAMES)


@pytest.mark.parametrize(
    ("file", "version"),
    [("arguments.json", 1), *(("relabel.json", version) for version in (2, "3", True, None))],
)
def test_another_version_is_refused_in_words(files, tmp_path, file, version):
    for name in ("relabel.json", "arguments.json"):
        (tmp_path / name).write_bytes(files[name])
    assert loaded(files, file)["version"] == 3
    (tmp_path / file).write_text(json.dumps({**loaded(files, file), "version": version}), "utf-8")
    with pytest.raises(ExportError) as refused:
        read_relabelling(tmp_path)
    words = f"{file} is not a bundle file of version 3: its version is {json.dumps(version)}"
    assert words in str(refused.value)
    assert "export the bundle again" in str(refused.value)


def test_a_neutral_toolset_of_another_version_is_refused(analysis):
    plan = plan_merge(analysis, (), ALL)
    toolset = loaded(dict(bundle_of(analysis, plan, (), ALL, "neutral").files()), "toolset.json")

    def read(**version):
        rest = {key: value for key, value in toolset.items() if key != "version"}
        return read_json({**version, **rest}, "t.json")

    assert len(read(version=1).tools) == len(plan.tools)
    for version, words in [
        ({}, "it has no version"),
        ({"version": 2}, "its version is 2"),
        ({"version": float("nan")}, "its version is NaN"),
    ]:
        with pytest.raises(CatalogError, match=rf"t\.json is not .*{words}"):
            read(**version)
    records = read_json(toolset["tools"])
    assert len(records.tools) == len(plan.tools), "records alone have no version"


def test_a_tool_that_no_client_of_mcp_reads_is_left_out_of_the_bundle_and_named(tmp_path):
    def tool(name, header):
        schema = accepting(to={"type": "string", **header})
        return Tool(f"lab/{name}", name, f"{name.title()} it.", "lab", schema)

    odd = tool("route", {"x-mcp-header": 7})
    catalog = Catalog((odd, tool("weigh", {})), (Server("lab"),), "openai-chat")
    analysis = analysed(catalog, tmp_path)
    files = files_of(analysis, config=DECIDED, format="mcp")
    why = "The x-mcp-header 7 is not a valid header name; clients must leave such a tool out."
    assert [tool["name"] for tool in loaded(files, "toolset.json")[0]["tools"]] == ["weigh"]
    assert [tool["id"] for tool in loaded(files, "neutral.json")["tools"]] == ["lab/weigh"]
    row = loaded(files, "relabel.json")["entries"][0]
    assert (row["old_id"], row["new_id"], row["status"]) == ("lab/route", None, "removed")
    manifest = loaded(files, "manifest.json")
    assert manifest["unreadable"] == [{"tools": ["lab/route"], "why": why}]
    assert (manifest["counts"]["tools_after"], manifest["counts"]["tools_removed"]) == (1, 1)
    assert "lab/route" in files["README.md"].decode()
    assert b"route" in files["original.json"], "what came in is whole"
    plain = files_of(analysis, config=DECIDED)
    assert "unreadable" not in loaded(plain, "manifest.json")
    assert len(loaded(plain, "toolset.json")) == 2


def test_fixes_show_in_phi_and_aliases_and_leave_the_maps_alone(analysis):
    plan = plan_merge(analysis, (), ALL)
    merged = next(item for item in plan.tools if len(item.members) > 1)
    broken = with_tools(plan, {merged.tool.id: replace(merged.tool, name="x y")})
    files = dict(bundle_of(analysis, broken, (), ALL, "openai-chat", fix=True).files())
    rows = {row["old_id"]: row for row in loaded(files, "relabel.json")["entries"]}
    assert {rows[member]["new_name"] for member in merged.members} == {"x_y"}
    statuses = {member: rows[member]["status"] for member in merged.members}
    assert statuses.pop(merged.tool.id) == "renamed"
    assert set(statuses.values()) == {"merged"}
    aliases = loaded(files, "aliases.json")
    for member in merged.members:
        row = rows[member]
        assert aliases[row["server"]][row["old_name"]] == "x_y"
    names = [row["function"]["name"] for row in loaded(files, "toolset.json")]
    assert "x_y" in names
    assert len(names) == len({name.casefold() for name in names})
    plain = dict(bundle_of(analysis, plan, (), ALL).files())
    assert files["arguments.json"] == plain["arguments.json"]
    assert b"x_y" in files["relabel.csv"]
    manifest = loaded(files, "manifest.json")
    assert manifest["configuration"]["fix"] is True
    assert manifest["violations"] == []


def test_parameters_with_new_names_are_mapped_and_come_back_from_the_bundle(tmp_path):
    inner = {"type": "object", "properties": {"at time": {"type": "string"}}}
    schema = {"type": "object", "properties": {"the when": inner}, "required": ["the when"]}
    tools = (Tool("a", "a", "Open a door.", schema=schema), Tool("b", "b", "Sum up numbers."))
    analysis = analysed(Catalog(tools, format="generic"), tmp_path / "cache")
    with pytest.raises(ExportError, match=r"'the when'.* the_when"):
        files_of(analysis, format="gemini")
    files = files_of(analysis, format="gemini", fix=True)
    assert loaded(files, "manifest.json")["violations"] == []
    write_folder(files.items(), tmp_path / "b")
    back = read_relabelling(tmp_path / "b")
    assert back.arguments.keys() == {"a"}
    call = {"tool": "a", "arguments": {"the when": {"at time": "8"}}}
    done = relabel_query({"calls": [call]}, back.phi, back.arguments)
    (new,) = done.row["calls"]
    assert new["arguments"] == {"the_when": {"at_time": "8"}}
    (declared, _) = loaded(files, "toolset.json")["functionDeclarations"]
    Draft202012Validator(declared["parametersJsonSchema"]).validate(new["arguments"])


def test_a_split_toolset_is_several_files_that_hold_every_tool_once(tmp_path):
    words = ("sum", "mail", "door", "file", "song", "tree", "road")
    tools = tuple(
        Tool(f"{n:03}", f"{word}_{n}", f"{word} {n}", server=word)
        for word in words
        for n in range(words.index(word) * 30, words.index(word) * 30 + 30)
    )
    catalog = Catalog(tools, tuple(Server(word) for word in sorted(words)), format="mcp")
    analysis = analysed(catalog, tmp_path / "cache")
    with pytest.raises(ExportError, match=r"2 files.* door, .*road"):
        files_of(analysis, config=DECIDED, format="openai-chat")
    files = files_of(analysis, config=DECIDED, format="openai-chat", fix=True)
    assert "toolset.json" not in files
    parts = [loaded(files, f"toolset-{n}.json") for n in (1, 2)]
    assert [len(part) for part in parts] == [120, 90]
    names = [row["function"]["name"] for part in parts for row in part]
    phi = loaded(files, "relabel.json")["entries"]
    assert sorted(names) == sorted(row["new_name"] for row in phi)
    listed = loaded(files, "manifest.json")["toolsets"]
    sizes = {row["file"]: row["tools"] for row in listed}
    assert sizes == {"toolset-1.json": 120, "toolset-2.json": 90}
    assert listed[1]["servers"] == ["song", "sum", "tree"]
    sets = loaded(files, "clients/vscode.json")
    assert [len(part["tools"]) for part in sets.values()] == [90, 90, 30]
    write_folder(files.items(), tmp_path / "b")
    write_folder(files_of(analysis, config=DECIDED).items(), tmp_path / "b")
    assert not (tmp_path / "b" / "toolset-1.json").exists()


def test_the_manifest_says_how_tokens_were_counted(files, analysis, monkeypatch):
    tokens = loaded(files, "manifest.json")["tokens"]
    assert (tokens["estimate"], tokens["counted"]) == (True, "estimate")
    assert tokens["by_format"].keys() == {"openai-chat", "mcp"}
    both = {"before": tokens["before"], "after": tokens["after"]}
    assert tokens["by_format"]["openai-chat"] == both
    exact = Tokenizer("exact, o200k_base", len)
    monkeypatch.setattr("toolscope_core.catalog.tokens.tokenizer", lambda: exact)
    monkeypatch.setattr("toolscope_core.export.manifest.tokenizer", lambda: exact)
    again = files_of(analysis)
    told = loaded(again, "manifest.json")["tokens"]
    assert (told["estimate"], told["counted"]) == (False, "exact, o200k_base")
    assert told["before"] > tokens["before"]


def test_a_profile_without_tools_is_exported_and_takes_all_tools_away(analysis):
    row = {"action": "profile", "reviewer": "ann", "detail": {"profile": "empty"}}
    made = files_of(analysis, (admit((), decision_of_row(analysis.catalog, row)),), DECIDED)
    (profile,) = loaded(made, "profiles.json")["profiles"]
    parts = {key: [] for key in ("tools", "notes", "resources", "prompts")}
    assert profile == {"name": "empty", **parts}
    assert loaded(made, "profiles/empty/toolset.json") == {"tools": []}
    denied = loaded(made, "profiles/empty/clients/claude-code.json")["permissions"]["deny"]
    assert denied == [f"mcp__{server.name}" for server in analysis.catalog.servers]
