"""What stands in the addresses of pages: each page has names of its own, and leaves others alone."""

import ast
from collections import ChainMap
from functools import cache
from itertools import chain
from pathlib import Path

from tests.pages.screen import open_page
from toolscope_core.model.pair import Pair, pair_key, tool_key

ROOT = Path(__file__).resolve().parents[2]
SHARED = {"catalog", "sel", "only", "tool", "edge"}
"""Of every page: the catalog, the selection of tools, the tool in the drawer, the link of a
cluster's graph.
"""
MAIL, FILES = "alpha/send_mail", "alpha/list_files"
PAIR = pair_key(Pair.of(MAIL, "beta/send_mail"))
PAGES = {
    "catalog": {"part": "Tools", "catalog_find": "mail", "on": "alpha", "band": "good"}
    | {"state": "merged", "finding": "x", "add_from": "Pasted text"}
    | {"servers_shown": "Can be switched off together", "server": "alpha", "copies": "alpha"},
    "overlap": {
        "view": "Heatmap",
        **{
            "pair": PAIR,
            "pair_find": "mail",
            "map_find": "mail",
            "verdict": "same job",
            "of": "alpha",
            "least": "0.5",
            "differ": "true",
        },
        **{"heatmap_show": "All tools", "heatmap_by": "clusters", "heatmap_measure": "mean"},
        **{"one": "x", "other": "y", "cell": PAIR},
        **{"method": "PCA", "colour": "server", "map_beside": "true"},
        **{"words": "false", "compare_variants": "true", "heatmap_variants": "true"},
        **{"similarity": "0.9", "same_job": "0.8"},
    },
    "graph": {"drawn": "x"},
    "review": {"show": "Undecided", "cluster": "x", "undecided": PAIR, "servers": "x"}
    | {"queue_view": "By merge", "cut": tool_key(MAIL), "safe_merges": "open"},
    "documents": {"texts": "Single tools", "merge": "x", "single": tool_key(FILES)},
    "profiles": {"profile_part": "Rules"},
    "export": {},
    "retrieval": {
        **{"q": "send a mail", "find": "plan", "corpus": "tools only", "merges": "all proposals"},
        "merges_gateway": "true",
        **{"rerank": "off", "k": "3", "split": "false", "variants": "false", "ranking": "Usage"},
        **{"worker": "a model", "per_job": "2", "iterative": "false", "filter": "true"},
        **{"search": "as in ToolScope", "assembly": "the best of each part first"},
        **{"candidates": "9", "dense_weight": "0.5", "rerank_weight": "2.0"},
        **{"subquery_weight": "1.0", "step_weight": "3.0", "server_weight": "0.1"},
    },
    "evaluation": {
        **{
            "evaluation_view": "Experiments",
            "experiment": "Sweep",
            "set": "x",
            "knob": "x",
            "before": "original",
        },
        **{"after": "all proposals", "after_gateway": "true"},
        **{"evaluation_rerank": "off", "evaluation_split": "not at all"},
        **{"evaluation_search": "as in ToolScope", "evaluation_corpus": "tools only"},
        **{"evaluation_assembly": "scores added", "selector": "a model"},
        **{"outcome": "won", "x": "1"},
    },
    "history": {"history_part": "More", "decision": "1"},
    "settings": {},
}
"""Every parameter of each page, with a value."""
WIDGETS = (
    *("text_input", "text_area", "number_input", "selectbox", "multiselect", "toggle", "checkbox"),
    *("segmented_control", "slider", "radio"),
)


@cache
def modules():
    """Each module of the screen, parsed, with its texts that have a name."""
    return list(read_modules())


def read_modules():
    for path in chain(
        [ROOT / "app.py"], (ROOT / "pages").glob("*.py"), (ROOT / "ui").rglob("*.py")
    ):
        tree = ast.parse(path.read_text("utf-8"))
        named = {
            target.id: node.value.value
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
        }
        yield path.relative_to(ROOT).as_posix(), tree, named


def keywords(call):
    return {one.arg: one.value for one in call.keywords}


def text_of(node, named):
    if isinstance(node, ast.Constant):
        return node.value
    return named.get(node.id) if isinstance(node, ast.Name) else None


def is_address(node):
    return ast.unparse(node) == "st.query_params"


def parameters(tree, named):
    """The names in the address that a module speaks of; those in variables are left out."""
    for node in ast.walk(tree):
        match node:
            case ast.Call() if "bind" in (given := keywords(node)):
                yield text_of(given["key"], named)
            case ast.Call(func=ast.Attribute(value=value), args=[first, *_]) if is_address(value):
                yield text_of(first, named)
            case ast.Subscript(value=value, slice=name) if is_address(value):
                yield text_of(name, named)
            case ast.Compare(left=name, comparators=[value]) if is_address(value):
                yield text_of(name, named)


def test_every_parameter_is_of_one_page_or_of_all():
    names = [name for of_page in PAGES.values() for name in of_page]
    assert len(names) == len(set(names)), "two pages have a parameter of one name"
    assert SHARED.isdisjoint(names)
    used = {name for _, tree, named in modules() for name in parameters(tree, named)} - {None}
    assert used <= SHARED.union(names), "give it a name of its own, and list it in PAGES"


def test_what_outlives_a_page_has_a_key_of_its_own():
    """The value of such a widget stays in the session: another one of its key would get it."""
    places, lasting = {}, set()
    for path, tree, named in modules():
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            given = keywords(call)
            if (key := text_of(given.get("key"), named)) is not None:
                places.setdefault(key, set()).add(path)
                lasting |= {key} if given.keys() & {"bind", "persist_state"} else set()
    assert lasting
    assert {key: places[key] for key in lasting if len(places[key]) > 1} == {}


def seen(app):
    """What a page shows: its widgets with their values, and its tables."""
    widgets = {
        (kind, widget.key or widget.label): widget.value
        for kind in WIDGETS
        for widget in getattr(app, kind)
        if widget.key != "reviewer"
    }
    tables = [table.value.to_csv() for table in app.dataframe]
    return widgets, tables, [one.value for one in (*app.warning, *app.error)]


def test_no_page_is_changed_by_the_addresses_of_others(monkeypatch, work):
    for page in PAGES:
        of_others = [parameters for other, parameters in PAGES.items() if other != page]
        widgets, *shown = seen(open_page(monkeypatch, work, page))
        app = open_page(monkeypatch, work, page, **dict(ChainMap(*of_others)))
        widgets_of_others, *shown_of_others = seen(app)
        assert widgets_of_others == widgets, page
        assert shown_of_others == shown, page
