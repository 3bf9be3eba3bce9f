"""A new version of a catalog on the Catalog page."""

import json
from dataclasses import asdict, replace

from tests.pages.screen import open_page, words
from tests.pages.test_catalog_page import upload
from tests.ui.services import small_workspace

EVIL = "![x](http://evil.test/a) <b>two</b>"


def served(*tools):
    servers = {}
    for tool in tools:
        row = {k: asdict(tool)[k] for k in ("name", "description")}
        servers.setdefault(tool.server, []).append({**row, "inputSchema": tool.schema})
    rows = [{"server": name, "tools": found} for name, found in servers.items()]
    return json.dumps(rows).encode()


def tables(app, alt="breaking ones first"):
    return [t.value for t in app.dataframe if alt in t.proto.alt]


def test_a_changed_file_under_a_known_name_is_compared_before_it_is_added(monkeypatch, work):
    tools = (small_workspace.MAIL, small_workspace.WEATHER, small_workspace.SUM)
    app = upload(open_page(monkeypatch, work), served(*tools), "office.json")
    assert "already exists" not in words(app)
    app.button(key="add_0").click().run()
    changed = (replace(small_workspace.MAIL, description=EVIL), small_workspace.WEATHER)
    app.file_uploader(key="upload_1").upload("office.json", served(*changed), "application/json")
    app.run()
    assert "1 removed, 1 changed; 1 breaking" in words(app)
    (rows,) = tables(app)
    assert list(rows["change"]) == ["removed", "changed"]
    assert "![x](" not in words(app)
    assert "<b>two" not in "".join(e.proto.body for e in app.get("html"))
    app.text_input(key="name_1").set_value("Another").run()
    assert tables(app) == [], "a new name has no version before"


def test_the_same_file_again_does_nothing_and_says_so(monkeypatch, work):
    file = served(small_workspace.MAIL, small_workspace.SUM)
    app = upload(open_page(monkeypatch, work), file, "office.json")
    app.button(key="add_0").click().run()
    app.file_uploader(key="upload_1").upload("office.json", file, "application/json").run()
    assert "identical to version 1" in words(app)
    before = work.catalogs.newest()
    app.button(key="add_1").click().run()
    assert work.catalogs.newest() == before
