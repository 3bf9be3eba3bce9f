"""The zip for one client or API: its files at the top, the bundle below."""

import io
import json
import zipfile
from dataclasses import replace

import pytest

from tests.catalog.test_clients import cluster
from tests.ui.services.small_workspace import MAIL, catalog
from toolscope_core.catalog.clients.client_table import CLIENTS
from toolscope_core.catalog.formats.format_table import RECORD_FORMATS, format_named
from toolscope_core.export.bundle import zipped
from toolscope_core.export.bundle_readme import files_for, zip_files
from toolscope_core.files.archives import bundle_files_in
from toolscope_core.merging.clusters import apply_clusters

PARTS = {"toolset-1.json": b"[1]", "toolset-2.json": b"[2]"}
BUNDLE = {
    **PARTS,
    "relabel.json": b"{}",
    "README.md": b"# A merged toolset",
    **{client.file: client.name.encode() for client in CLIENTS},
}
LEFT = replace(MAIL, id="gone", server="gone")
PLAN = apply_clusters(catalog(MAIL, LEFT), (), gateway=True)
EVIL = "a`\n# b ![p](http://evil.example)"


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_a_client_gets_its_file_at_the_top_and_reads_where_it_goes(client):
    files = zip_files(BUNDLE, PLAN, client, "Desk", "2026-01-02")
    (_, name, *_) = files
    assert files[name] == BUNDLE[client.file] and "/" not in name
    text = files["README.md"].decode()
    assert f"# Tools for {client.title}" in text
    assert f"- `{name}`: {client.goes}" in text and "serve bundle" in text
    assert '{"loaded":"2026-01-02","name":"Desk"}' in text


def test_a_client_for_which_nothing_goes_gets_the_bundle_and_a_sentence():
    files = zip_files({"relabel.json": b"{}"}, PLAN, CLIENTS[0], "Desk", "2026-01-02")
    assert list(files) == ["README.md", "bundle/relabel.json"]
    assert "Nothing for Claude Code" in files["README.md"].decode()


@pytest.mark.parametrize("form", RECORD_FORMATS.values(), ids=lambda form: form.name)
def test_a_format_gets_every_part_of_the_toolset(form):
    assert files_for(form, BUNDLE) == tuple(PARTS)
    text = zip_files(BUNDLE, PLAN, form, "Desk", "2026-01-02")["README.md"].decode()
    assert f"- `toolset-2.json`: {form.goes}" in text and "serve bundle" not in text


@pytest.mark.parametrize("use", [*CLIENTS, *RECORD_FORMATS.values()], ids=lambda use: use.name)
def test_every_readme_says_what_needs_a_gateway(use):
    both = [replace(MAIL, id="a/send", server="a"), replace(MAIL, id="b/send", server="b")]
    rows = []
    for kind in ("gateway", "drop_in"):
        plan = apply_clusters(catalog(*both), [cluster(both, "a/send", kind)], gateway=True)
        text = zip_files(BUNDLE, plan, use, "Desk", "2026-01-02")["README.md"].decode()
        rows.append([line for line in text.splitlines() if "stands_for" in line])
    assert [json.loads(row) for row in rows[0]] == [
        {"tool": MAIL.name, "stands_for": ["a/send", "b/send"]}
    ]
    assert rows[1] == []


def test_the_zip_is_read_as_its_bundle():
    content = zipped(zip_files(BUNDLE, PLAN, format_named("mcp"), "Desk", "2026-01-02"))
    assert bundle_files_in(content, "a.zip") == BUNDLE
    assert zipfile.ZipFile(io.BytesIO(content)).read("toolset-1.json") == b"[1]"


def test_the_name_of_a_catalog_cannot_become_markup():
    text = zip_files(BUNDLE, PLAN, CLIENTS[0], EVIL, "2026-01-02")["README.md"].decode()
    (line,) = (line for line in text.splitlines() if "evil" in line or line.startswith("# b"))
    assert line.startswith("    {") and json.loads(line)["name"] == EVIL


def test_each_profile_has_its_files_in_a_folder_of_its_own():
    bundle = {
        "toolset.json": b"all",
        **{f"profiles/desk/{name}": b"desk" for name in ("toolset.json", CLIENTS[0].file)},
    }
    for choice, file in (
        (CLIENTS[0], CLIENTS[0].file.split("/")[1]),
        (format_named("mcp"), "toolset.json"),
    ):
        files = zip_files(bundle, PLAN, choice, "Desk", "2026-01-02")
        assert files[f"profiles/desk/{file}"] == b"desk"
        text = files["README.md"].decode()
        assert f"`profiles/desk/{file}`" in text
        assert ("one or the other" in text) == (choice.name == "mcp")


def test_parts_of_a_split_toolset_are_one_for_each_agent():
    parts = {f"toolset-{number}.json": b"" for number in (1, 2)}
    choice = format_named("mcp")
    assert "each agent one" in zip_files(parts, PLAN, choice, "D", "")["README.md"].decode()
    whole = zip_files({"toolset.json": b""}, PLAN, choice, "D", "")["README.md"].decode()
    assert "each agent" not in whole and "one or the other" not in whole
