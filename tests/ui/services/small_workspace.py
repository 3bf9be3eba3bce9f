"""A workspace over a small catalog whose clusters are known: copies of tools on three servers."""

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support.fakes import WordEmbedder
from toolscope_core.decisions.forms import ONE_ACCOUNT
from toolscope_core.judging import cached_judge
from toolscope_core.model.catalog import Catalog, Server
from toolscope_core.model.environment import read_environment
from toolscope_core.model.tool import Tool
from ui.shared.services import loaded_queries, review, server_advice
from ui.shared.services.workspace import Workspace


def tool(server, name, description, **properties):
    schema = {"type": "object", "properties": properties, "required": list(properties)[:1]}
    return Tool(f"{server}/{name}", name, description, server, schema)


TEXT = {"type": "string"}
MAIL = tool("alpha", "send_mail", "Send a mail to a person.", to=TEXT, body=TEXT)
WEATHER = tool("alpha", "get_weather", "Tell the account's weather of a city.", city=TEXT)
FILES = tool("alpha", "list_files", "List the files in a folder.", folder=TEXT)
SUM = tool("beta", "add_numbers", "Add up numbers.", numbers={"type": "array"})


def on(server, original):
    return replace(original, id=f"{server}/{original.name}", server=server)


TOOLS = (
    *(on(server, MAIL) for server in ("alpha", "beta", "gamma")),
    *(on(server, WEATHER) for server in ("alpha", "beta")),
    FILES,
    replace(FILES, id="alpha/list_files-2"),
    SUM,
)


def catalog(*tools):
    found = sorted(tools or TOOLS, key=lambda item: item.id)
    servers = tuple(Server(name) for name in sorted({item.server for item in found}))
    return Catalog(tuple(found), servers, "mcp")


def open_workspace(*tools, name="Desk"):
    """A workspace with the catalog stored and analysed, and the catalog's id."""
    settings = read_environment()
    store = Path(settings.store_url.removeprefix("sqlite:///"))
    if store.exists():
        work = opened(settings)
        return work, add_analysed(work, name, *tools).id
    content, catalog_id, analysis = analysed_store(tools or TOOLS, name)
    store.write_bytes(content)
    work = opened(settings)
    alone = replace(analysis, catalog=replace(analysis.catalog))  # what is kept with it stays here
    work.analyses._kept[catalog_id] = alone
    return work, catalog_id


OPENED = []
"""Workspaces that are closed when their test ends."""


def opened(settings):
    OPENED.append(Workspace(settings, WordEmbedder()))
    return OPENED[-1]


STORES = {}


def analysed_store(tools, name):
    """The SQLite file of a store with these tools analysed, made once a process for each
    judge, the id of their catalog and its analysis.
    """
    key = (name, repr(tools), cached_judge.code_version("judging", "wording"))
    if key not in STORES:
        with TemporaryDirectory() as folder:
            path = Path(folder, "store.db")
            settings = replace(read_environment(), store_url=f"sqlite:///{path}")
            work = Workspace(settings, WordEmbedder())
            catalog_id = add_analysed(work, name, *tools).id
            analysis = work.snapshot(catalog_id).analysed
            work.close()
            STORES[key] = path.read_bytes(), catalog_id, analysis
    return STORES[key]


def add_analysed(work, name, *tools):
    """The record of one more catalog, stored and analysed."""
    record = work.catalogs.add(name, catalog(*tools))
    work.analyses.wait(work.analyses.start(record.id))
    return record


def add_queries(work, catalog_id, rows, name="q.jsonl"):
    content = "\n".join(map(json.dumps, rows)).encode()
    loaded_queries.add(work.snapshot(catalog_id), content, name)


def accept_variants(variants, catalog_id):
    """Accept every waiting variant that nothing speaks against, measured or not."""
    views = variants.views(catalog_id)
    offers = {view.tool.id: view.offer for view in views if not view.violations}
    return variants.decide(catalog_id, offers, "ann")


def accept_drop_in(work, catalog_id, name="send_mail"):
    """Accept a cluster; a person says that its canonical stands for the tools of other servers."""
    cluster = by_name(work, catalog_id, name)
    review.decide(work.snapshot(catalog_id), "accept", cluster, "ann", {"kind": "drop_in"})


def say_one_account(work, catalog_id):
    """A person says that all servers are used with one account, so that copies can be replaced."""
    servers = [server.name for server in work.snapshot(catalog_id).catalog.servers]
    for one, other in combinations(servers, 2):
        server_advice.answer_account(work.snapshot(catalog_id), one, other, ONE_ACCOUNT, "ann")


class Functions:
    """The functions of a module on catalogs of a workspace as they are at each call."""

    def __init__(self, work, module):
        self.work, self.module = work, module

    def __getattr__(self, name):
        function = getattr(self.module, name)
        return lambda catalog_id, *args, **named: function(
            self.work.snapshot(catalog_id), *args, **named
        )


def by_name(work, catalog_id, name):
    return next(c for c in work.snapshot(catalog_id).plan.clusters if c.document.name == name)
