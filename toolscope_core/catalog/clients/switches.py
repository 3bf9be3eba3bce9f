"""The files that go into each client's configuration so that pruned tools are no longer offered,
and so that it searches for tools.

Only merges of kind *prune* need nothing else: one member's own schema serves every call, so the
others can be switched off where they are. So can the tools that people left out. Each file
uses the names that the servers give their tools.
"""

from toolscope_core.catalog.clients.client import Client, Switch
from toolscope_core.catalog.clients.client_table import CLIENTS
from toolscope_core.catalog.clients.vscode import MOST_TOOLS, VSCODE
from toolscope_core.model.groups import grouped
from toolscope_core.model.plan import MergePlan


def client_files(plan: MergePlan) -> dict[str, bytes]:
    """File name → content in the order of ``CLIENT_FILES``; empty where no tool of a server goes,
    but for VS Code's where there are more tools than it takes at once. Where tools are left to a
    search, the files of clients that search are there too.

    Where a client can only list what stays on, its file does so: all tools of the servers are in
    the catalog.
    """
    switches = switches_of(plan)
    clients: tuple[Client, ...] = CLIENTS
    if not any(switch.off for switch in switches):
        clients = (VSCODE,) if sum(len(switch.on) for switch in switches) > MOST_TOOLS else ()
    texts = {client.file: client.write(switches, plan) for client in clients}
    if plan.eager is not None:
        searches = (client.search for client in CLIENTS if client.search)
        texts |= {search.file: search.write(switches) for search in searches}
    return {file: text.encode("utf-8", "backslashreplace") for file, text in texts.items() if text}


def switches_of(plan: MergePlan) -> tuple[Switch, ...]:
    """The switches of each named server, by server name.

    A name that a tool which stays has too, as with exact copies, is not switched off.
    """
    prunes = [cluster for cluster in plan.applied if cluster.kind == "prune"]
    gone = {m for cluster in prunes for m in cluster.members if m != cluster.canonical}
    gone |= set(plan.removed)
    edited = {
        cluster.canonical: cluster.document.description
        for cluster in (*prunes, *(one for one in plan.edited if one.kind == "prune"))
        if cluster.document.description != plan.catalog.by_id[cluster.canonical].description
    }
    phi, eager = plan.phi, plan.eager
    by_server = grouped(plan.catalog.tools, lambda tool: tool.server)
    switches = []
    for server in sorted(by_server.keys() - {""}):
        tools = by_server[server]
        on = {tool.name for tool in tools if tool.id not in gone}
        off = {tool.name for tool in tools} - on
        described = {tool.name: edited[tool.id] for tool in tools if tool.id in edited}
        shown = eager and {tool.name for tool in tools if tool.name in on and phi[tool.id] in eager}
        shown_names = None if shown is None else tuple(sorted(shown))
        switches.append(
            Switch(server, tuple(sorted(off)), tuple(sorted(on)), described, shown_names)
        )
    return tuple(switches)
