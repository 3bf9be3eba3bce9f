import pytest

from tests.merging.test_plan import catalog, clusters, tool
from toolscope_core.model.cluster import Group, kind_name, proposal_kind
from toolscope_core.model.decision import Edit

TEXT = {"type": "string"}
COPIES = tool("a", "get_page", url=TEXT), tool("b", "get_page", url=TEXT)
RENAMED = tool("a", "get_page", url=TEXT), tool("b", "fetch_page", url=TEXT)
PROVIDERS = tool("a", "lyft_book_ride", place=TEXT), tool("b", "uber_book_ride", place=TEXT)
MONTHS = tool("a", "weather_in_march", town=TEXT), tool("b", "weather_in_may", town=TEXT)


def made(tools, family=False, kind=None):
    edits = {frozenset("ab"): Edit(kind=kind)} if kind else {}
    (cluster,) = clusters(catalog(*tools), Group(("a", "b"), 0.9, family=family), edits=edits)
    return cluster


@pytest.mark.parametrize(
    ("cluster", "kind", "name"),
    [
        (made(COPIES), "copy", "exact copy"),
        (made(COPIES, kind="gateway"), "gateway", "gateway tool"),
        (made(RENAMED), "drop_in", "drop-in"),
        (made(PROVIDERS, family=True), "family", "family of providers"),
        (made(MONTHS, family=True), "family", "family of values"),
    ],
)
def test_the_kind_says_what_can_be_done(cluster, kind, name):
    assert (proposal_kind(cluster), kind_name(cluster)) == (kind, name)
