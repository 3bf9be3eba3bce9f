"""How the tools are used: logs and traces, the figures from them, and tools that nobody calls."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date

import streamlit as st

from toolscope_core.evaluation.calls_after_merges import CallsAround
from toolscope_core.evaluation.query_sets import EXAMPLE_NAME, example_calls
from toolscope_core.model.errors import JobError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.tool import Tool, canonical_json
from toolscope_core.store.named_rows import keep_usage_log, list_usage_logs
from toolscope_core.usage import call_counts
from toolscope_core.usage.trace_formats import read_trace
from ui.shared import data_tables, page_frame, safe_text
from ui.shared.cards import decision_buttons
from ui.shared.cards.queue import VERSION_PARTS
from ui.shared.data_tables import Column, Columns
from ui.shared.services import loaded_queries, review, usage_evidence
from ui.shared.snapshot import Snapshot
from ui.shared.tools import tool_parts

_MOST_BYTES = 200_000_000


@dataclass(frozen=True, slots=True)
class UsagePreview:
    """The contents of a log before it is stored.

    ``queries`` are the requests for which a catalog tool was called, in the form of a query set.
    People wrote these texts. ``keys`` identify the calls in the log that no other log has.
    ``counted`` is the number of its calls that are already in another log; none of these figures
    includes them.
    """

    figures: call_counts.CatalogCallCounts
    queries: tuple[Mapping[str, object], ...]
    unread: int
    keys: frozenset[str] = frozenset()
    counted: int = 0


def _preview(snapshot: Snapshot, content: bytes, name: str) -> UsagePreview:
    """The figures in a file for the catalog's tools. Raises ``ConfigError`` if it is not a log or
    trace.
    """
    tools = snapshot.catalog.tools
    trace = read_trace(content, name)
    rows = call_counts.query_rows(trace.requests, tools)
    own = hashlib.sha256(content).hexdigest()
    logs = list_usage_logs(snapshot.work.store, snapshot.id)
    known = {key for log in logs if log.key != own for key in usage_evidence.call_keys(log.value)}
    new = [call for call in trace.calls if usage_evidence.short_key(call) not in known]
    return UsagePreview(
        call_counts.count_calls(replace(trace, calls=tuple(new)), tools),
        tuple(rows),
        trace.unread,
        frozenset(filter(None, map(usage_evidence.short_key, new))),
        len(trace.calls) - len(new),
    )


def add(snapshot: Snapshot, content: bytes, name: str, with_queries: bool = False) -> None:
    """Store the figures in a file. If a person agreed (``with_queries``), also store its requests
    as a query set.

    Raises the errors of ``_preview``.
    """
    preview = _preview(snapshot, content, name)
    key = hashlib.sha256(content).hexdigest()
    value = usage_evidence.as_json(preview.figures, preview.keys)
    keep_usage_log(snapshot.work.store, snapshot.id, key, name, value)
    if with_queries and preview.queries:
        lines = "".join(canonical_json(row) + "\n" for row in preview.queries)
        queries = f"{name.rpartition('.')[0] or name} requests.jsonl"
        loaded_queries.add(snapshot, lines.encode("utf-8", "backslashreplace"), queries)


_SHOWN = 500
MADE_UP = "made-up calls.jsonl"


def usage_panel(snapshot: Snapshot) -> None:
    """Draw the catalog's logs, and the form to add one. Nothing is stored until the button is
    pressed.
    """
    logs = usage_evidence.logs(snapshot)
    safe_text.show("usage_error")
    st.caption(
        "Which tools do agents really call? Add the log of *serve* or traces of agents; "
        "Review then shows the calls of each tool. Only counts and times are kept, for all "
        "versions of this catalog."
    )
    for log in logs:
        row = st.container(horizontal=True, vertical_alignment="center")
        row.markdown(f"**{safe_text.untrusted(log.label)}**, added {log.at[:10]}", width="content")
        row.button(
            "Delete",
            key=f"delete_usage_{snapshot.id}_{log.key[:16]}",
            icon=":material/delete:",
            type="tertiary",
            on_click=usage_evidence.delete,
            args=(snapshot, log.key),
        )
    if logs:
        _figures(snapshot)
    _form(snapshot, bool(logs))


def _figures(snapshot: Snapshot) -> None:
    """Draw the figures from all logs for each tool, and the tools to leave out."""
    figures = usage_evidence.figures(snapshot)
    st.write(f"{call_counts.catalog_count_line(figures)}.")
    ordered = sorted(snapshot.catalog.tools, key=lambda tool: (-figures.of(tool.id).calls, tool.id))
    columns: Columns[Tool] = [
        Column("tool", lambda tool: tool.name),
        Column("server"),
        Column("calls", lambda tool: figures.of(tool.id).calls),
        Column("failed", lambda tool: figures.of(tool.id).errors),
        Column("malformed", lambda tool: figures.of(tool.id).malformed),
        Column("last", lambda tool: figures.of(tool.id).last[:10]),
    ]
    data_tables.draw(ordered[:_SHOWN], columns, "Calls by tool (most used first)")
    _merges(snapshot)
    unused, days = usage_evidence.unused(snapshot), usage_evidence.UNUSED_DAYS
    if not unused:
        st.caption(
            (
                f"The logs cover {figures.days:.0f} days; with {days} days or more, tools that "
                "nobody calls are listed here."
            )
            if figures.days < days
            else f"Every tool was called in the last {days} days of the logs."
        )
        return
    with st.container(border=True):
        st.markdown(
            f"**{quantity(len(unused), 'tool')} unused for {days} days**, counting back from "
            f"the last call in the logs, {figures.last[:10]}"
        )
        unused_columns: Columns[Tool] = [
            Column("tool", lambda tool: tool.name),
            Column("server"),
            Column("use", lambda tool: call_counts.tool_count_line(figures.of(tool.id))),
        ]
        data_tables.draw(
            [snapshot.catalog.by_id[tool_id] for tool_id in unused[:_SHOWN]],
            unused_columns,
            "Tools that nobody called",
        )
        tool_parts.leave_out_panel(snapshot, unused, "unused")
    decision_buttons.notice(snapshot)


def _merges(snapshot: Snapshot) -> None:
    """Draw the calls before and after each accepted merge. Merges after which calls got worse come
    first.
    """
    try:
        calls = usage_evidence.after_merges(snapshot)
    except JobError:
        return
    if not calls:
        return
    accepted_clusters = review.clusters(snapshot, "accepted")
    names = {one.cluster.id: one.cluster.document.name for one in accepted_clusters}
    rows: list[tuple[str, str, CallsAround, str]] = []
    for one in sorted(calls, key=lambda one: (calls[one].corrected_p, names[one])):
        merge = calls[one]
        verdict = f"{'went bad, ' if merge.went_bad else ''}{merge.how_sure}"
        rows.append((names[one], "all together", merge, verdict))
        rows += [(names[one], tool, own, "") for tool, own in merge.of_members.items()]
    columns: Columns[tuple[str, str, CallsAround, str]] = [
        Column("merge", lambda row: row[0], width=120),
        Column("tool", lambda row: row[1]),
        Column("bad calls before", lambda row: row[2].rates[0]),
        Column("bad calls after", lambda row: row[2].rates[1]),
        Column("verdict", lambda row: row[3], width=400),
    ]
    data_tables.draw(
        rows[:_SHOWN], columns, "Calls before and after each accepted merge (worst change first)"
    )
    st.caption(
        "Share of calls that failed or were malformed, before and after the day the merge "
        "was accepted. More failed calls after a merge do not prove that the merge is the "
        "cause."
    )
    if number := sum(one.went_bad for one in calls.values()):
        link = f"{VERSION_PARTS['again']}: {quantity(number, 'merge')} went bad"
        page_frame.page_link("review", link, {"show": VERSION_PARTS["again"]})


def _form(snapshot: Snapshot, is_any: bool) -> None:
    """Draw the form to add a log.

    The example catalog offers its own log until one is added.
    """
    turn = st.session_state.setdefault("usage_turn", 0)
    file = st.file_uploader(
        "Add a log of `serve`, messages or sessions of agents, "
        "or OpenTelemetry spans: JSON or JSON Lines.",
        type=["jsonl", "json", "log"],
        max_upload_size=_MOST_BYTES // 1_000_000,
        key=f"usage_{turn}",
    )
    if file is None:
        if snapshot.record.name == EXAMPLE_NAME and not is_any:
            st.button(
                "Add an example log",
                key="add_example_log",
                on_click=_add,
                args=(snapshot, turn, example_calls(date.today()), MADE_UP, False),
                help="Made-up calls of the example's tools, from 30 days before today to 14 days "
                "after it. Accept merges today, and see here which of them went bad.",
            )
        return
    preview = safe_text.value_or_error(lambda: _preview(snapshot, file.getvalue(), file.name))
    if preview is None:
        return
    st.write(f"{call_counts.catalog_count_line(preview.figures)}.")
    _strange(preview)
    with_queries = bool(preview.queries) and st.checkbox(
        f"Also keep the {quantity(len(preview.queries), 'request')} that people wrote in this log "
        "as a query set for Evaluation, with the tools that were called as the answers",
        value=False,
        key=f"consent_{turn}",
        help="Requests may contain personal or confidential text. Tick this only if you may keep "
        "them; otherwise no text of the file is kept.",
    )
    st.button(
        "Add log",
        type="primary",
        icon=":material/add:",
        key=f"add_usage_{turn}",
        on_click=_add,
        args=(snapshot, turn, file.getvalue(), file.name, with_queries),
    )


def _strange(preview: UsagePreview) -> None:
    unknown = preview.figures.unknown
    if unknown:
        names = ", ".join(safe_text.untrusted(name) for name in list(unknown)[:5])
        st.caption(f"Names that are not in this catalog, or are in it more than once: {names}")
    if preview.unread:
        st.caption(f"{call_counts.unread_line(preview.unread)}.")
    if preview.counted:
        st.caption(f"Already in other logs here: {quantity(preview.counted, 'call')}.")


def _add(snapshot: Snapshot, turn: int, content: bytes, name: str, with_queries: bool) -> None:
    if safe_text.attempt("usage_error", lambda: add(snapshot, content, name, with_queries)):
        st.session_state["usage_turn"] = turn + 1
