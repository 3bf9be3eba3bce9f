"""A merge of tools on servers that can be started asks for calls to both, if nothing else proves
that an identifier has one form.
"""

import json

import pytest

from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import Source
from toolscope_core.decisions.forms import ONE_ACCOUNT
from toolscope_core.merging.analysing import analyse, plan_merge
from toolscope_core.model.decision import Decision


def catalog_of(schema, commands=("run left", "run right"), version="1"):
    arguments = {"type": "object", "properties": {"issue_id": schema}, "required": ["issue_id"]}
    tool = {"name": "get_issue", "description": "Returns the issue.", "inputSchema": arguments}
    servers = [
        {"name": name, "tools": [tool], "source": {"command": command, "version": version}}
        for name, command in zip(("left", "right"), commands, strict=True)
    ]
    return read_catalog([Source("tools.json", json.dumps({"servers": servers}).encode())])


def reasons(catalog, **compared):
    """The reasons against the merge of both, on one account, after a comparison if there is one."""
    prints, ids = zip(*((one.fingerprint, one.id) for one in catalog.tools), strict=True)
    log = [Decision("account", prints, ids, "ann", "2026", 1, {"account": ONE_ACCOUNT})]
    if compared:
        log.append(Decision("compare", prints, ids, "ann", "2026", 2, {"verdict": "v", **compared}))
    (cluster,) = plan_merge(analyse(catalog), log).clusters
    assert cluster.kind == "drop_in"
    return " ".join(cluster.reasons)


def test_it_asks_until_calls_were_compared():
    catalog = catalog_of({"type": "string"})
    assert "try both: nothing proves that `issue_id`" in reasons(catalog)
    assert "try both" not in reasons(catalog, calls=3, differing=0)
    assert "try both" in reasons(catalog, calls=0, differing=0), "nothing was shown"
    different = reasons(catalog, calls=3, differing=1)
    assert "were compared" in different
    assert "try both" not in different


@pytest.mark.parametrize("commands", [("", ""), ("run left", ""), ("run it", "run it")])
def test_it_does_not_ask_without_two_programs_to_start(commands):
    assert "try both" not in reasons(catalog_of({"type": "string"}, commands))


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "format": "uuid"},
        {"type": "string", "enum": ["ENG-1", "ENG-2"]},
        {"type": "string", "description": "The id, for example 'ENG-123'."},
        {"type": "string", "description": "The UUID of the issue."},
        {"type": "integer"},
    ],
)
def test_it_does_not_ask_if_something_says_the_form(schema):
    assert "try both" not in reasons(catalog_of(schema))


@pytest.mark.parametrize(
    ("version", "recorded", "counts"),
    [("2", ["2", "2"], True), ("2", ["2", "1"], False), ("", ["2", "1"], True), ("2", None, True)],
)
def test_a_comparison_counts_while_the_servers_have_its_versions(version, recorded, counts):
    catalog = catalog_of({"type": "string"}, version=version)
    more = {"versions": recorded} if recorded else {}
    assert ("were compared" in reasons(catalog, calls=1, differing=1, **more)) == counts
