"""Two servers with files and mail, and profiles of them as people save them."""

from dataclasses import replace

from tests.mcp.gateway.stub_toolset import accepted, record
from tests.support.catalogs import read_json
from toolscope_core.decisions.constraints import profiles
from toolscope_core.decisions.decision_lines import decision_of_row
from toolscope_core.decisions.log import admit
from toolscope_core.merging.clusters import apply_clusters
from toolscope_core.profiles.profile_tools import profile_tools

TEXT = {"type": "string"}
READS = {"annotations": {"readOnlyHint": True}}
ATTIC = [
    {**record("read_file", "Read a file.", ["path"], path=TEXT, encoding=TEXT), **READS},
    record("delete_file", "Delete a file.", ["path"], path=TEXT),
]
CELLAR = [
    {**record("get_file", "Read a file.", ["file_path"], file_path=TEXT), **READS},
    record("send_mail", "Send a mail.", ["to"], to=TEXT, folder=TEXT),
]
READ, DELETE, GET, MAIL = (
    "attic/read_file",
    "attic/delete_file",
    "cellar/get_file",
    "cellar/send_mail",
)


def shelf(attic=ATTIC, cellar=CELLAR):
    servers = [{"name": "attic", "tools": attic}, {"name": "cellar", "tools": cellar}]
    return read_json({"servers": servers}, "shelf.json")


def plan_of(catalog, *groups, state="accepted", **options):
    clusters = tuple(
        replace(accepted(catalog, *group), kind="drop_in", state=state) for group in groups
    )
    plan = apply_clusters(catalog, clusters, gateway=False, **options)
    return replace(plan, clusters=clusters)


def saved(catalog, log=(), name="reader", ids=(), ways=(), own=None, **detail):
    """The log with a decision on a profile; ``ids`` are in by hand unless ``ways`` say otherwise."""
    ways = ways or ["hand"] * len(ids)
    names = [catalog.by_id[one].name for one in ids]
    rows = [{"origin": way, "called": called} for way, called in zip(ways, names, strict=True)]
    rows = [{**row, **(own or {}).get(one, {})} for one, row in zip(ids, rows, strict=True)]
    row = {
        "action": "profile",
        "ids": list(ids),
        "reviewer": "ann",
        "at": "2026-01-02",
        "detail": {"profile": name, "tools": rows, **detail},
    }
    return (*log, admit(log, decision_of_row(catalog, row)))


def chosen(plan, log, name="reader"):
    return profile_tools(plan, profiles(plan.catalog, log)[name])
