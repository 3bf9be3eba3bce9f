"""ToolHive, a gateway on Kubernetes."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from toolscope_core.catalog.clients.client import Client, Switch
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.tool import digest


def _write(switches: Sequence[Switch], _: MergePlan) -> str:
    """One ``MCPToolConfig`` a server that loses tools or gets texts.

    An empty filter lets everything through, so a server that loses all its tools has none: it is
    named in a comment, to be stopped.
    """
    import yaml

    parts = []
    names = _resource_names([switch.server for switch in switches])
    for switch in switches:
        if switch.is_off:
            parts.append(f"# No tool of the server {json.dumps(switch.server)} stays: stop it.\n")
        elif switch.off or switch.described:
            spec: dict[str, Any] = {"toolsFilter": list(switch.on)} if switch.off else {}
            if switch.described:
                spec["toolsOverride"] = {
                    name: {"description": text} for name, text in sorted(switch.described.items())
                }
            document = {
                "apiVersion": "toolhive.stacklok.dev/v1alpha1",
                "kind": "MCPToolConfig",
                "metadata": {
                    "name": names[switch.server],
                    "annotations": {"toolscope/server": switch.server},
                },
                "spec": spec,
            }
            parts.append(f"---\n{yaml.safe_dump(document, sort_keys=False, allow_unicode=True)}")
    return "".join(parts)


def _resource_names(servers: Sequence[str]) -> dict[str, str]:
    """A name for each server, with a hash where several would have one: a second resource of a name
    replaces the first.
    """
    uses = Counter(map(_resource_name, servers))
    return {
        server: name if uses[name] == 1 else f"{digest(server)[:8]}-{name}"
        for server in servers
        for name in (_resource_name(server),)
    }


def _resource_name(server: str) -> str:
    """A name that Kubernetes takes: small letters, digits and hyphens, at most 63."""
    name = re.sub(r"[^a-z0-9]+", "-", server.casefold()).strip("-")[:48].strip("-")
    return f"{name or 'server'}-tools"


TOOLHIVE = Client(
    name="toolhive",
    title="ToolHive",
    goes=(
        "Run `kubectl apply -f toolhive.yaml`, then name each resource in "
        "`spec.toolConfigRef` of its server."
    ),
    file="clients/toolhive.yaml",
    write=_write,
)
