"""The servers of a catalog: what they cost, how much of their work others do, and copies."""

from collections.abc import Sequence

import streamlit as st

from toolscope_core.catalog.tokens import tokenizer
from toolscope_core.merging.coverage import Coverage, CoveredTool
from toolscope_core.model.numbers import enumerated, listed
from toolscope_core.model.tool import digest
from ui.catalog.listing_panel import implied_panel
from ui.shared import data_tables, page_frame, safe_text
from ui.shared.cards import decision_buttons
from ui.shared.cards.batches import server_pair_query
from ui.shared.data_tables import Column, Columns
from ui.shared.services import server_advice
from ui.shared.services.server_advice import ADVISED, EVERY, TOGETHER
from ui.shared.snapshot import Snapshot
from ui.shared.tools import catalog_tables, tool_selection

DONE, PERHAPS, LOST = "does", "perhaps", "lost"
ABOUT = {
    DONE: "Tools for which other servers accept every call without losing anything.",
    PERHAPS: "Tools that another server may replace: the job may differ, or calls "
    "would lose or guess something.",
    LOST: "Tools whose job no other server does.",
}
"""What the three figures mean. For each server, they add up to the number of its tools."""
_MOST_LINKED = 3
_LOW, _HIGH = 250, 480
"""Heights in pixels of the table of servers: with the lists for one server below
it, and without.
"""


def servers_panel(snapshot: Snapshot) -> None:
    """Draw the table of servers, the tools behind the figures of the chosen one, copies, and
    implied servers.
    """
    rows = catalog_tables.servers(snapshot)
    if not rows:
        st.info("The tools of this catalog name no servers.", icon=":material/dns:")
        implied_panel(snapshot)
        return
    shown = _coverages(snapshot) if snapshot.analysed else None
    decision_buttons.notice(snapshot)
    st.caption(
        "What does each server cost in every prompt, and how much of its work do the other servers "
        f"do? Tokens: {tokenizer().label}, as {snapshot.format}."
    )
    if shown is not None:
        which = st.session_state.get("servers_shown", EVERY)
        rows = tuple(row for row in rows if which == EVERY or row.name in shown)
    if not rows:
        st.info("No server does most of another's work.", icon=":material/dns:")
    _table(snapshot, rows, shown or {})
    if shown:
        if (one := shown.get(st.query_params.get("server", ""))) is not None:
            _lists(snapshot, one)
        _copies(snapshot)
    implied_panel(snapshot)


def _coverages(snapshot: Snapshot) -> dict[str, Coverage]:
    """Draw the choice of servers to show.

    Returns, for each server by name, how much of its work the remaining servers do.
    """
    advice = server_advice.advice(snapshot)
    choices = {
        EVERY: server_advice.against_all(snapshot),
        ADVISED: advice.switch_off,
        TOGETHER: advice.needless,
    }
    if st.query_params.get("servers_shown") == "Can go together":  # its name in older bookmarks
        st.session_state["servers_shown"] = TOGETHER
    which = st.segmented_control(
        "Servers", list(choices), default=EVERY, required=True, key="servers_shown",
        bind="query-params", label_visibility="collapsed",
        help="*Can be switched off*: the remaining servers do the jobs of at least 80 % of its "
        "tools. *Can be switched off together*: the set that saves the most tokens without losing "
        "a job.",
    )  # fmt: skip
    if which == TOGETHER and advice.needless_in_words:
        st.markdown(safe_text.sentence(advice.needless_in_words))
    return {one.server: one for one in choices[which]}


def _table(
    snapshot: Snapshot, rows: Sequence[catalog_tables.ServerRow], coverages: dict[str, Coverage]
) -> None:
    names, key = [row.name for row in rows], f"servers_{snapshot.id}_{len(rows)}"
    chosen = st.query_params.get("server")

    def number(part: str) -> Column[catalog_tables.ServerRow]:
        return Column(
            part,
            lambda row: len(_parts(coverages[row.name])[part]) if row.name in coverages else None,
            help=ABOUT[part],
            width=75,
            visible=bool(coverages),
        )

    def done_by(row: catalog_tables.ServerRow) -> str:
        gone = "switched off" if coverages else ""
        return ", ".join(coverages[row.name].others) if row.name in coverages else gone

    def merged_away(row: catalog_tables.ServerRow) -> int:
        return row.tools - coverages[row.name].tools if row.name in coverages else 0

    def choose(at: int) -> None:
        st.query_params["server"] = names[at]

    columns: Columns[catalog_tables.ServerRow] = [
        Column("name", title="server", width=220, pinned=True),
        Column("tools", width=60),
        Column("tokens", title="tokens ≈", format="localized", width=80),
        *map(number, ABOUT),
        Column(
            "merged",
            merged_away,
            help="The server's tools that an accepted merge already replaces; only its other "
            "tools are counted.",
            width=75,
            visible=any(map(merged_away, rows)),
        ),
        Column("done by", done_by, width=260, visible=bool(coverages)),
        tool_selection.server_column(snapshot, rows, lambda row: row.name, "select_server"),
        Column("description"),
    ]
    data_tables.row_chooser(
        rows,
        columns,
        "Servers",
        key=key,
        choose=choose,
        selected=[names.index(chosen)] if chosen in names else [],
        most=_LOW if chosen in coverages else _HIGH,
        placeholder="",
    )


def _parts(one: Coverage) -> dict[str, Sequence[CoveredTool]]:
    """The tools behind each figure. A tool without a similar one has an empty substitute."""
    alone = [CoveredTool(tool, "", "alike") for tool in one.alone]
    return {DONE: one.done, PERHAPS: one.perhaps_done, LOST: (*one.alike, *alone)}


def _lists(snapshot: Snapshot, one: Coverage) -> None:
    """Draw the tools of a server, grouped by how far others replace them, and the ways to switch it
    off.
    """
    tools, parts = snapshot.analysis.catalog.by_id, _parts(one)
    with st.container(border=True, key="server_lists"):
        st.markdown(safe_text.sentence(one.in_words))
        for sentence in filter(None, (*one.keeps, server_advice.use_in_words(snapshot, one))):
            st.caption(safe_text.sentence(sentence))
        part = st.segmented_control(
            "Tools", list(parts), default=LOST if parts[LOST] else DONE, required=True,
            key=f"part_of_{one.server}", label_visibility="collapsed",
            format_func=lambda name: f"{name} ({len(parts[name]):,})",
        )  # fmt: skip
        columns: Columns[CoveredTool] = [
            Column("tool", lambda row: tools[row.tool].name, width=200),
            Column(
                "other",
                lambda row: tools[row.substitute].name if row.substitute else "",
                title="looks alike" if part == LOST else "done by",
                width=200,
            ),
            Column(
                "on", lambda row: tools[row.substitute].server if row.substitute else "", width=200
            ),
            Column("arguments", lambda row: "; ".join(row.arguments), width=220),
            Column(
                "losses",
                lambda row: "; ".join(row.losses).replace("`", ""),
                title="what a call loses or guesses",
                width=420,
                visible=part == PERHAPS,
            ),
        ]
        st.caption(ABOUT[part])
        data_tables.draw(parts[part], columns, f"Tools of the server: {part}", most=360)
        with st.container(horizontal=True, vertical_alignment="center"):
            for other in one.others[:_MOST_LINKED]:
                page_frame.page_link(
                    "review",
                    f"Side by side with {safe_text.untrusted(other)}",
                    server_pair_query(one.server, other),
                )
            if one.served:
                _switch_off(snapshot, f"Switch {safe_text.untrusted(one.server)} off", one)


def _copies(snapshot: Snapshot) -> None:
    """Draw the groups of servers with the same tools: which server stays, and what is lost."""
    groups = server_advice.advice(snapshot).copies
    if not groups:
        return
    st.subheader(
        "Copies of one server", anchor=False,
        help="Servers whose tools have the same names and do the same jobs. Keep several only if "
        "each serves an account or folder of its own.",
    )  # fmt: skip
    labels = {f"{len(group)} copies: {listed(group, 2)}": group for group in groups}
    by_first = {group[0]: label for label, group in labels.items()}
    linked = by_first.get(st.query_params.get("copies", ""), next(iter(labels)))
    label = st.selectbox("Copies", list(labels), list(labels).index(linked), width=560)
    group = labels[label]
    servers = server_advice.coverage(snapshot)
    gone = {kept: [servers.of(one, [kept]) for one in group if one != kept] for kept in group}

    def losses(kept: str) -> tuple[int, int]:
        rows = gone[kept]
        return sum(len(one.lost_tools) for one in rows), sum(len(one.perhaps_done) for one in rows)

    kept = st.selectbox(
        "Keep this one", sorted(group, key=lambda one: (losses(one), group.index(one))),
        format_func=lambda one: "{}: lost {:,}, perhaps {:,}".format(one, *losses(one)),
        key=f"kept_{digest(*group)[:8]}", width=560,
    )  # fmt: skip
    columns: Columns[Coverage] = [
        Column("server", width=260),
        Column("tools", width=60),
        Column("tokens", format="localized", width=80),
        Column(DONE, lambda one: len(one.done), help=ABOUT[DONE], width=75),
        Column(PERHAPS, lambda one: len(one.perhaps_done), help=ABOUT[PERHAPS], width=75),
        Column(LOST, lambda one: len(one.lost_tools), help=ABOUT[LOST], width=75),
        Column(
            "keeps", lambda one: "; ".join(one.keeps).replace("`", ""), title="check", width=520
        ),
    ]
    data_tables.draw(gone[kept], columns, "Other copies, and what the copy you keep does", most=320)
    tokens = sum(one.tokens for one in gone[kept])
    with st.container(horizontal=True, vertical_alignment="center"):
        _switch_off(snapshot, f"Switch off the other {len(gone[kept]):,}", *gone[kept])
        st.caption(f"−{tokens:,} tokens; {safe_text.untrusted(kept)} stays.", width="content")


def _switch_off(snapshot: Snapshot, label: str, *servers: Coverage) -> None:
    st.button(
        label, key=f"off_{digest(*(one.server for one in servers))[:8]}_{len(snapshot.log)}",
        icon=":material/power_settings_new:",
        help="One decision on all tools: tools that another server can fully replace are merged "
        f"into its tools; the other tools of {enumerated(one.server for one in servers[:2])} are "
        "left out. A single undo reverts it.",
        on_click=decision_buttons.switch_servers_off, args=(snapshot, *servers),
    )  # fmt: skip
