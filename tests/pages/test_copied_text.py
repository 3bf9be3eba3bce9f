"""What is copied from a page is what it says: no character in it that is not its own."""

import pytest

from tests.pages.screen import open_page, words
from tests.pages.test_addresses import PAGES
from tests.ui.services.small_workspace import MAIL, SUM, catalog, on
from toolscope_core.catalog.scan.hidden import count_hidden
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.pair import Pair
from ui.history import histories
from ui.shared.graph.network import Edge, Network, Node, drawing, graph_html
from ui.shared.safe_text import untrusted
from ui.shared.services import exports, review
from ui.shared.tools import catalog_tables

VIEWS = (
    *((page, {}) for page in PAGES),
    ("documents", {"texts": "Single tools"}),
    *(("catalog", {"part": part}) for part in ("Findings", "Servers")),
    ("review", {"show": "Families"}),
    ("retrieval", {"q": "send a mail to ann@mail.example"}),
)
KINDS = ("code", "text", "text_input", "text_area", "markdown", "caption", "info", "warning")
KINDS += ("error", "success", "subheader", "title")


FORMATS = (None, "openai-chat", "anthropic", "mcp", "neutral")


def addressed(work):
    """A catalog whose tools speak of addresses, analysed; its id."""
    text = "Mail it to https://mail.example/v1 or ann@mail.example, href www.mail.example."
    tools = [on("alpha", MAIL), on("beta", MAIL), SUM]
    schema = {**SUM.schema, "description": text}
    tools = [type(one)(one.id, one.name, text, one.server, schema) for one in tools]
    record = work.catalogs.add("Addresses", catalog(*tools))
    work.analyses.run(record.id)
    return record.id


def test_no_page_writes_characters_that_nobody_typed(monkeypatch, work):
    addressed(work)
    for page, query in VIEWS:
        app = open_page(monkeypatch, work, page, catalog="Addresses", **query)
        for kind in KINDS:
            for element in getattr(app, kind):
                assert count_hidden(str(element.value)) == 0, (page, query, kind, element.value)


def test_nothing_that_is_downloaded_has_characters_that_nobody_typed(work):
    catalog_id = addressed(work)
    for cluster in work.snapshot(catalog_id).plan.clusters:
        review.decide(work.snapshot(catalog_id), "accept", cluster, "ann")
    config = PlanConfig("all", gateway=True)
    now = work.snapshot(catalog_id)
    files = {
        f"{format} {name}": content
        for format in FORMATS
        for name, content in exports.bundle(now, config, format, fix=True).items()
    }
    files["tools.csv"] = catalog_tables.csv(work.snapshot(catalog_id))
    files["decisions.jsonl"] = histories.file(work.snapshot(catalog_id))
    nodes = tuple(Node(one, one, "href www.mail.example", "proposed") for one in "ab")
    drawn = Network(nodes, (Edge(Pair.of("a", "b"), 0.9),))
    for name, content in files.items():
        assert count_hidden(content.decode("utf-8-sig")) == 0, name
    page = graph_html(drawing(drawn))
    assert "\u2060" not in page, "the characters of vis-network's own are no others"
    assert r"hr\u0065f www" in page, "JavaScript reads it as it was"
    assert b"https://mail.example/v1" in files["tools.csv"]


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("at https://mail.example/v1_x.", "at `https://mail.example/v1_x`\\."),
        ("HTTP://x and a*b", "`HTTP://x` and a\\*b"),
        ("(www.mail.example)", "\\(`www.mail.example`\\)"),
        ("<ann@mail.example>", "\\<`ann@mail.example`\\>"),
        ("`https://a`", "\\``https://a`\\`"),
        ("![x](http://evil.test/a?b=`c)", "\\!\\[x\\]\\(`http://evil.test/a?b`=\\`c\\)"),
        ("a@b.cc+x@y.zz", "`a@b.cc+x@y.zz`"),
        ("a @ b, @here", "a @ b, @here"),
    ],
)
def test_an_address_is_code_and_as_it_was(text, markdown):
    assert untrusted(text) == markdown


def test_a_variable_that_is_not_used_is_said_on_settings(monkeypatch, work):
    monkeypatch.setenv("TOOLSCOPE_API_KEY", "sk-0123456789")
    monkeypatch.setenv("TOOLSCOPE_API_ORIGIN", "models")
    monkeypatch.setenv("TOOLSCOPE_MODLE", "m")
    text = words(open_page(monkeypatch, work, "settings"))
    assert "did you mean TOOLSCOPE\\_MODEL?" in text
    (unused,) = [line for line in text.splitlines() if "API\\_KEY" in line]
    assert "not used" in unused and "'models'" in unused
    assert "sk-0123456789" not in text
