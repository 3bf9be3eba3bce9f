"""A check of a person's own client files against the export.

The check finds servers under other names and rules that no longer match anything after the export.
It also rewrites the settings.
"""

import json

import streamlit as st

from toolscope_core.catalog.clients.configurations import configured_servers
from toolscope_core.catalog.clients.permission_rules import (
    IdleRule,
    missing_servers,
    settings_after,
)
from toolscope_core.mcp.servers.server_definitions import parsed_configuration
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.tool import JsonObject
from ui.shared import data_tables, safe_text
from ui.shared.data_tables import Column, Columns

_NAMED = 8
_RULES: Columns[IdleRule] = [
    Column("list", width=70),
    Column("rule", width=280),
    Column("becomes", lambda one: ", ".join(one.becomes) or "nothing", width=280),
    Column("why", width=380),
]


def client_files_panel(plan: MergePlan) -> None:
    """Draw the field for the files, and how they compare with the exported plan."""
    with st.expander("Check against your own files: mcp.json, settings.json"):
        files = st.file_uploader(
            "The configuration of your client and its settings with permission rules",
            accept_multiple_files=True,
            key="client_files",
            help="Do your files use the same server names, and which of your allow, ask and deny "
            "rules match nothing after this export? The files are not kept.",
        )
        for file in files:
            try:
                value = parsed_configuration(file.name, file.getvalue())
            except ConfigError as error:
                safe_text.show_error(error)
                continue
            _checked(plan, file.name, value if isinstance(value, dict) else {})


def _checked(plan: MergePlan, name: str, value: JsonObject) -> None:
    shown = safe_text.untrusted(name)
    servers, after = configured_servers(value), settings_after(plan, value)
    if not servers and after is None:
        st.info(f"{shown} has neither servers nor permission rules.", icon=":material/help:")
    if servers:
        missing = missing_servers(plan, servers)
        if missing:
            st.warning(
                f"{shown} has no server with these names: {safe_text.first_few(missing, _NAMED)}. "
                "Rules exported for them match nothing there: rename the servers to match your "
                "configuration, or change the names in the exported files.",
                icon=":material/dns:",
            )
        else:
            st.success(f"{shown} uses the same names for all servers.", icon=":material/dns:")
    if after is None:
        return
    if after.idle:
        st.markdown(f"{shown}: {quantity(len(after.idle), 'rule')} would match nothing.")
        data_tables.draw(after.idle, _RULES, "Rules that match nothing after the export")
    else:
        st.markdown(f"{shown}: all rules match as before.")
    st.download_button(
        f"Download {name} with changes",
        f"{json.dumps(after.settings, ensure_ascii=False, indent=2)}\n",
        name,
        "application/json",
        key=f"settings_{name}",
        on_click="ignore",
        icon=":material/download:",
        help="Your settings with these rules replaced and the export's deny rules added.",
    )
