"""Bundles that somebody touched: whatever stands where, it is read or refused in a sentence."""

import json
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.analyses import analysed
from tests.support.catalogs import example_catalog
from tests.support.properties import examples
from toolscope_core.catalog.evaluation_rows import relabel_query
from toolscope_core.catalog.gone_names import gone_forms, left_names
from toolscope_core.catalog.relabelling import read_relabelling
from toolscope_core.export.bundle import bundle_of
from toolscope_core.files.folders import write_folder
from toolscope_core.merging.analysing import plan_merge
from toolscope_core.model.cluster import ArgumentMap
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.errors import ExportError
from toolscope_core.model.plan import Relabel

ALL = PlanConfig(accept="all", gateway=True)
STRANGE = [None, True, 7, 1e400, "", "x", "/", "//", [], [1], [[1]], {}, {"a": 1}, "\ud800"]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    place = tmp_path_factory.mktemp("bundle")
    analysis = analysed(example_catalog(), place, threshold=0.4)
    write_folder(bundle_of(analysis, plan_merge(analysis, (), ALL), (), ALL).files(), place / "b")
    arguments = place / "b" / "arguments.json"
    maps = json.loads(arguments.read_text("utf-8"))
    first = next(iter(maps["maps"].values()))
    first["nested"] = [{"from": "/a/b", "to": "/a/c"}]
    arguments.write_text(json.dumps(maps), "utf-8")
    return place / "b"


def places(value, path=()):
    yield path
    children = value.items() if isinstance(value, dict) else []
    children = enumerate(value[:2]) if isinstance(value, list) else children
    for key, child in list(children)[:12]:
        yield from places(child, (*path, key))


def put(value, path, new):
    if not path:
        return new
    changed = dict(value) if isinstance(value, dict) else list(value)
    changed[path[0]] = put(value[path[0]], path[1:], new)
    return changed


@examples(60)
@given(data=st.data())
def test_a_strange_value_anywhere_is_read_or_refused(bundle, data):
    folder = bundle.parent / "touched"
    folder.mkdir(exist_ok=True)
    for name in ("relabel.json", "arguments.json"):
        shutil.copy(bundle / name, folder / name)
    name = data.draw(st.sampled_from(["relabel.json", "arguments.json"]))
    content = json.loads((folder / name).read_text("utf-8"))
    path = data.draw(st.sampled_from(list(places(content))))
    touched = put(content, path, data.draw(st.sampled_from(STRANGE)))
    (folder / name).write_text(json.dumps(touched), "utf-8")
    try:
        relabelling = read_relabelling(folder)
    except ExportError as error:
        assert str(folder / name) in str(error)
        assert len(str(error)) < 1_000
        return
    calls = [{"tool": old, "arguments": {"a": {"b": 1}, "query": "x"}} for old in relabelling.phi]
    relabel_query(
        {"gold": [*relabelling.phi], "calls": calls},
        relabelling.phi,
        relabelling.arguments,
        relabelling.names,
    )


@pytest.mark.parametrize("text", [b"", b"[", b"\xff", b"[[[[" * 50_000, b'{"version": 3}'])
def test_a_damaged_file_is_a_sentence(bundle, tmp_path, text):
    for name in ("relabel.json", "arguments.json"):
        shutil.copy(bundle / name, tmp_path / name)
    (tmp_path / "relabel.json").write_bytes(text)
    with pytest.raises(ExportError, match=r"relabel.json"):
        read_relabelling(tmp_path)


@pytest.mark.parametrize(
    "touched",
    [
        {"args": [{"from": "a", "to": "c"}, {"from": "b", "to": "c"}]},
        {"args": [{"from": "a", "to": "c"}, {"from": "a", "to": "d"}]},
        {"args": [{"from": "a", "to": "c"}], "constants": {"c": 1}},
        {"args": [{"from": "a", "to": "c"}], "dropped": {"a": "no place"}},
    ],
)
def test_two_arguments_that_would_be_one_are_refused(bundle, tmp_path, touched):
    shutil.copy(bundle / "relabel.json", tmp_path / "relabel.json")
    maps = json.loads((bundle / "arguments.json").read_text("utf-8"))
    moves = [{**move, "op": "rename"} for move in touched["args"]]
    maps["maps"]["x"] = {"to": "y", "constants": {}, "dropped": {}, **touched, "args": moves}
    (tmp_path / "arguments.json").write_text(json.dumps(maps), "utf-8")
    with pytest.raises(ExportError, match=r"'[ac]' of x twice"):
        read_relabelling(tmp_path)


PHI = [
    Relabel("h/fetch_tide", "h/get_tide", "h", "fetch_tide", "get_tide", "merged"),
    Relabel("h/get_tide", "h/get_tide", "h", "get_tide", "get_tide", "kept"),
    Relabel("h/search", None, "h", "search", None, "removed"),
    Relabel("h/read", "q/read", "h", "read", "read", "merged"),
    Relabel("q/read", "q/read", "q", "read", "read", "kept"),
    Relabel("q/saw.get", "q/saw.get", "q", "saw.get", "take_saw", "renamed"),
    Relabel("q/find it", "q/read", "q", "find it", "read", "merged"),
]
GONE = gone_forms(PHI)


@pytest.mark.case(96)
@pytest.mark.parametrize(
    ("value", "places"),
    [
        ({"a": ["fetch_tide"]}, ["/a/0 fetch_tide"]),
        ({"a": "Use h/fetch_tide, mcp__h__fetch_tide or functions.fetch_tide."},
         ["/a h/fetch_tide", "/a mcp__h__fetch_tide"]),
        ({"fetch_tide": {"port": "A"}}, ["/fetch_tide fetch_tide"]),
        ({"a": '[{"name": "search"}]'}, ["/a/0/name search"]),
        ({"a": '"{\\"tool\\": \\"search\\"}"'}, ["/a/tool search"]),
        ({"a": '<CALL>[{"name": "search"}]</CALL>'}, ["/a search"]),
        ({"a": "Action: search\nInput: tide"}, ["/a search"]),
        ({"a": "then search(x=1)"}, ["/a search"]),
        ({"a": '<invoke name="search">'}, ["/a search"]),
        ({"search": {"q": 1}, "b": {"search": "x"}}, ["/search search"]),
        ({"a": "Where can I search for tides?"}, []),
        ({"a": ["read", "q/read", "mcp__q__read", "get_tide", "prefetch_tides", "take_saw"]}, []),
        ({"a": ["h/read", "mcp__h__read", "h__read"]}, ["/a/0 h/read", "/a/1 mcp__h__read", "/a/2 h__read"]),
        ({"a": ["mcp__q__saw_get", "the saw.get tool"]}, ["/a/0 mcp__q__saw_get", "/a/1 saw.get"]),
        ({"a": ["find it", "find items"], "a/b~": "search"}, ["/a/0 find it", "/a~1b~0 search"]),
        ({"id": "search", "calls": [{"tool": "search"}, {"tool": "fetch_tide"}]},
         ["/calls/1/tool fetch_tide"]),
        ({"a": [None, 1, True, "", "[", "{" * 5000, "[" * 100_000]}, []),
    ],
)  # fmt: skip
def test_a_name_that_is_gone_is_found_where_it_can_be_nothing_else(value, places):
    settled = ("/id", "/calls/0/tool")
    left = sorted(f"{one.path} {one.name}" for one in left_names(value, GONE, settled))
    assert left == sorted(places)


@pytest.mark.case(96)
@pytest.mark.parametrize(
    "text",
    [
        "__fetch_tide__", "_fetch_tide_", "**fetch_tide**", "fetch\\_tide", "fetch&#95;tide", "FETCH_TIDE",
        "fetch%5Ftide", "h-fetch_tide", "h--fetch_tide", "h::fetch_tide", "h%2Ffetch_tide",
        'so: {"x": "a\\nfetch_tide"}', "\\fetch_tide", "\\u0066etch_tide", "fetch_tide.json",
        "fe\u200btch_tide", "ｆｅｔｃｈ_tide", "mcp__other__fetch_tide",
    ],
)  # fmt: skip
def test_a_clear_name_is_found_however_it_is_written(text):
    (left,) = left_names({"a": f"Then {text}, at once."}, GONE, ())
    assert left.new_name == "get_tide"


@pytest.mark.case(96)
@pytest.mark.parametrize(
    "text",
    [
        "<tool>search</tool>", "<tool_name>search", "Action: search[foo]", "tool_name: search",
        "next_action: search", "**Tool:** search", "Tool: **search**", "tool: search.", "toolName=search&x=1",
        "call_tool('search', {})", "client.call(\"search\")", "{name: search}", "tools:\n- search",
        "tools:\n  - read\n  - search\n", "tools: [read, search]", "search -> read", "read =&gt; search",
        "h::search", "functions.search", "to=functions.search", "of ['read', 'search']", 'search {"q": 1}',
        "` search `", '{\\"tool\\": \\"search\\"}',
    ],
)  # fmt: skip
def test_a_common_word_is_found_where_only_a_name_stands(text):
    (left,) = left_names({"a": f"Say: {text}"}, GONE, ())
    assert left.name.removeprefix("h::") == "search"


@pytest.mark.case(96)
@pytest.mark.parametrize(
    "value",
    [
        "call_fetch_tide, my-fetch_tide, fetch_tides and fetchTide are others",
        "The tool. Search it, search (or not), the words 'search' and search; Name: Searle, research: search",
        {"search": "tide"}, {"search": None}, {"search": 1, "limit": 5}, {"arguments": {"search": True}},
        "a tool to search, user_name: search", "q/read, q.read and q__read", "Tool: Search",
    ],
)  # fmt: skip
def test_another_name_and_a_word_are_not(value):
    assert [*left_names({"a": value}, GONE, ())] == []


@pytest.mark.case(96)
def test_numbers_beside_names_of_tools_alone_are_given_to_tools():
    (left,) = left_names({"scores": {"search": 0.9, "get_tide": 1}}, GONE, ())
    assert left.path == "/scores/search"


@pytest.mark.case(96)
@pytest.mark.parametrize(
    ("row", "paths"),
    [
        ({"gold": ["fetch"]}, ["/gold/0"]),
        ({"gold": ["d/get"], "calls": [{"name": "fetch", "arguments": {}}]}, ["/calls/0/name"]),
        ({"gold": ["d/get", "w/fetch"], "tool": "fetch"}, ["/tool"]),
        ({"gold": ["w/fetch"], "tool": "fetch", "text": "mcp__w__fetch"}, []),
        ({"server": "w", "tool": "fetch"}, []),
        ({"query": "Ask w", "tool": "fetch"}, ["/tool"]),
        ({"query": "Can w fetch it?"}, []),
    ],
)
def test_a_name_that_one_of_two_tools_lost_means_what_its_row_says(row, paths):
    shared = gone_forms([
        Relabel("d/fetch", "d/get", "d", "fetch", "get", "merged"),
        Relabel("w/fetch", "w/fetch", "w", "fetch", "fetch", "kept"),
    ])  # fmt: skip
    left = [*left_names(row, shared, ())]
    assert [one.path for one in left] == paths
    assert {one.new_name for one in left} <= {"fetch or get"}


@pytest.mark.case(96)
@pytest.mark.parametrize(
    "piece", ["tool", "tools: a,\n", "a.", "_", "\\n", "[ ", "&#", "a -> ", "("]
)
def test_a_long_text_is_searched_in_time_linear_in_it(piece):
    assert [*left_names({"a": piece * 20_000}, GONE, ())] == []


@pytest.mark.case(96)
def test_what_a_map_put_in_is_no_name_that_was_left():
    alpha = ArgumentMap("h/fetch_tide", "h/get_tide", (), {"kind": "fetch_tide"}, {})
    call = {"name": "h/fetch_tide", "arguments": "{}"}
    row = {"id": "fetch_tide", "gold": ["h/search"], "calls": [call, {"tool": "h/search"}]}
    query = relabel_query(row, {one.old_id: one.new_id for one in PHI}, {alpha.tool_id: alpha})
    assert json.loads(query.row["calls"][0]["arguments"]) == {"kind": "fetch_tide"}
    assert [*left_names(query.row, GONE, query.exempt)] == []
    assert (query.rename_count, query.removed_tools) == (1, ("h/search",))
