"""Namespace descriptions, edited one at a time, and their effect on searches that
use namespaces.
"""

from dataclasses import dataclass
from functools import partial

import streamlit as st

from toolscope_core.decisions.constraints import namespace_descriptions
from toolscope_core.export.namespace_writing import descriptions_of_model, namespace_violations
from toolscope_core.export.namespaces import described_servers, servers_with_tools
from toolscope_core.llm.tasks.synthesis_prompt import MOST_TOOLS
from toolscope_core.merging.faithful import Violation
from toolscope_core.model.decision import Decision
from toolscope_core.model.tool import digest
from ui.documents.siblings_panel import show_violations
from ui.shared import ask_panel, data_tables, page_frame
from ui.shared.cards import decision_buttons
from ui.shared.data_tables import Column
from ui.shared.services import findable_tools, judging, review
from ui.shared.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class NamespaceView:
    """A server's namespace ``description`` and its effect on findability.

    The description is generated unless a person wrote it. The shares are means over the ``tools``:
    the share of a tool's own requests that find it. ``before`` is with the server's own text,
    ``after`` with this description, and ``if_suggested`` with all texts that a model ``suggested``.
    A share is ``None`` until it is computed.
    """

    server: str
    tools: int
    description: str
    is_written: bool
    suggested: str
    before: float | None
    after: float | None
    if_suggested: float | None

    @property
    def is_measured(self) -> bool:
        """Whether all shares that have a text are computed."""
        return self.after is not None and (not self.suggested or self.if_suggested is not None)


def views(snapshot: Snapshot) -> tuple[NamespaceView, ...]:
    """A view for each server that has tools, sorted by name."""
    plan, (descriptions, suggested) = snapshot.plan, _texts(snapshot)
    tools = [item.tool for item in plan.tools]
    before = findable_tools.shares(snapshot, findable_tools.NAMESPACES)
    after = findable_tools.shares(snapshot, findable_tools.NAMESPACES, findable_tools.MERGED)
    under = findable_tools.shares_under(snapshot, {**descriptions, **suggested})
    rows = []
    for server in described_servers(plan.catalog.servers, tools, descriptions):
        ids = [tool.id for tool in tools if tool.server == server.name]
        means = (
            None if shares is None else sum(shares.get(one, 1.0) for one in ids) / len(ids)
            for shares in (before, after, under)
        )
        is_written, text = server.name in descriptions, suggested.get(server.name, "")
        rows.append(
            NamespaceView(server.name, len(ids), server.description, is_written, text, *means)
        )
    return tuple(rows)


def texts_to_measure(snapshot: Snapshot) -> dict[str, str] | None:
    """The texts that ``findable_tools`` has to measure besides the current ones.

    They are the model's suggestions; ``None`` if there are none.
    """
    descriptions, suggested = _texts(snapshot)
    return {**descriptions, **suggested} if suggested else None


def violations(snapshot: Snapshot, server: str, text: str) -> tuple[Violation, ...]:
    """The objections to a namespace description."""
    plan = snapshot.plan
    spaces = servers_with_tools(plan.catalog.servers, [item.tool for item in plan.tools])
    (own,) = (one for one in spaces if one[0].name == server)
    return namespace_violations(plan.catalog, *own, text)


def describe(snapshot: Snapshot, server: str, text: str, reviewer: str) -> Decision:
    """Describe a namespace. An empty text restores the generated one.

    Raises ``DecisionError`` for the same reasons as ``review.say``.
    """
    catalog = snapshot.catalog
    ids = [tool.id for tool in catalog.tools if tool.server == server]
    detail = {"description": text.strip()}
    return review.say(snapshot, "namespace", ids, reviewer, detail)


def _texts(snapshot: Snapshot) -> tuple[dict[str, str], dict[str, str]]:
    """The texts that people wrote and the texts that the model has suggested so far, each by
    server.
    """
    plan, log = snapshot.plan, snapshot.log
    descriptions, asker = namespace_descriptions(plan.catalog, log), judging.known_answers(snapshot)
    if asker is None:
        return descriptions, {}
    tools = [item.tool for item in plan.tools]
    return descriptions, descriptions_of_model(plan.catalog.servers, tools, asker)


_ABOUT = (
    "OpenAI's tool search first shows a model only the name and description of each namespace, "
    "without its tools. In an export for OpenAI, each server is a namespace. Describe what the "
    "tools of each server are for."
)
_NOW, _MODEL = "as it is now", "by the model"
_SUGGESTED = "found with model text"


def namespace_panel(snapshot: Snapshot) -> None:
    """Draw all namespaces, and the form for the chosen one."""
    st.caption(_ABOUT)
    decision_buttons.notice(snapshot)
    by_server = {view.server: view for view in views(snapshot)}
    if not by_server:
        st.info("The tools of this catalog do not name their servers.", icon=":material/dns:")
        return
    if not all(view.is_measured for view in by_server.values()):
        page_frame.job_started_once(
            snapshot.job(findable_tools.KIND),
            lambda: findable_tools.start(snapshot, "", texts_to_measure(snapshot)),
            "Searching for every tool by its namespace.",
            "retry_namespaces",
        )
    is_suggested = any(one.suggested for one in by_server.values())
    data_tables.draw(
        list(by_server.values()),
        [
            Column("server"),
            Column("tools", help="OpenAI advises fewer than 10 per namespace."),
            Column("found before", lambda one: data_tables.percent(one.before), format="%d %%"),
            Column("found", lambda one: data_tables.percent(one.after), format="%d %%"),
            Column(
                _SUGGESTED,
                lambda one: data_tables.percent(one.if_suggested),
                format="%d %%",
                help="The share found with the model's suggestion for every server.",
                visible=is_suggested,
            ),
            Column("description", width=600),
        ],
        "Namespaces, and the share of requests for their tools that find them",
    )
    st.caption(
        "Found: the average share of a server's tools that OpenAI's search (as far as it is "
        "known) returns for their own requests. Before: with the server's own description."
    )
    server = st.selectbox("Namespace", list(by_server), key="namespace")
    _form(snapshot, by_server[server])
    ask_panel.ask_box(
        snapshot,
        "namespaces",
        "Suggest descriptions with a model",
        "Suggest descriptions",
        "For every namespace, based on what its server says and on the names and first "
        f"sentences of up to {MOST_TOOLS} tools. Nothing changes until somebody saves a "
        "description.",
    )


def _form(snapshot: Snapshot, view: NamespaceView) -> None:
    suffix = digest(view.server, view.description)[:8]
    start, starts = _NOW, {_NOW: view.description, _MODEL: view.suggested}
    if view.suggested:
        start = st.segmented_control(
            "Start from", list(starts), default=_NOW, required=True, key=f"start_{suffix}"
        )
    at = digest(view.server, starts[start])[:8]
    text = st.text_area("Description", starts[start], key=f"namespace_{at}", height=120)
    show_violations(violations(snapshot, view.server, text))
    bar = st.container(horizontal=True)
    for label, value, is_off in (
        ("Save", text, text.strip() == view.description or not text.strip()),
        ("Restore ours", "", not view.is_written),
    ):
        with bar:
            decision_buttons.record_button(
                label,
                partial(_describe, snapshot, view.server, value),
                f"Described: {view.server}",
                key=f"{label}_{suffix}",
                type="primary" if value else "secondary",
                disabled=is_off,
            )


def _describe(snapshot: Snapshot, server: str, text: str) -> Decision:
    return describe(snapshot, server, text, page_frame.reviewer())
