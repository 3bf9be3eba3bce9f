"""One pair side by side: what differs, what the judge weighed, and what a person says of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial

import pandas as pd
import streamlit as st

from pages import _decisions, _drawer, _selection, _ui
from pages._picture import picture
from toolscope_core.datamodel import Decision, Finding, Pair, Tool, Verdict
from toolscope_core.figures.waterfall import waterfall, waterfall_rows
from toolscope_core.workspace.pairs import DIFFERS, Neighbour, PairView

SIDES = ("One", "Other")
TEXT_SHOWN = 4_000
COLORS = {"block": "red", "warn": "orange", "info": "gray"}
OUTCOMES = {"merge": "green", "unsure": "orange", "keep": "gray", "unanalysed": "red"}
ICONS = {
    "merge": ":material/merge:",
    "unsure": ":material/help:",
    "keep": ":material/call_split:",
    "unanalysed": ":material/question_mark:",
}


def show_pair(key: str) -> None:
    """Put the pair into the address, which decides what is shown."""
    st.query_params["pair"] = key


def pair_view(catalog_id: int, pair: Pair) -> None:
    """Everything on two tools, and the buttons."""
    view = _ui.workspace().pairs.view(catalog_id, pair)
    with st.container(border=True):
        _heading(view)
        _buttons(catalog_id, view)
        _side_by_side(view)
        _arguments(view)
        _more(view)


def _heading(view: PairView) -> None:
    said = view.verdict
    one, other = (_ui.untrusted(tool.name) for tool in view.tools)
    st.subheader(f"{one} and {other}", anchor=False)
    with st.container(horizontal=True):
        outcome = said.outcome
        st.badge(f"Judge: {outcome}", color=OUTCOMES[outcome], icon=ICONS[outcome])
        st.badge(f"Probability {said.probability:.2f}", color="gray")
        if view.asked:
            offline, differs = view.offline, said.outcome != view.offline.outcome
            st.badge(
                f"Offline: {offline.outcome}, {offline.probability:.2f}",
                color="orange" if differs else "gray",
                icon=":material/difference:" if differs else ":material/done_all:",
            )
        st.badge(f"Cosine {said.similarity:.2f}", color="gray")
        if view.card is not None:
            st.badge(f"On a card: {view.card.state}", color="blue", icon=":material/rule:")


def _buttons(catalog_id: int, view: PairView) -> None:
    _decisions.notice()
    kept_apart = any(decision.action == "reject" for decision in view.said)
    with st.container(horizontal=True, vertical_alignment="center"):
        if view.card is not None:
            st.page_link(
                "pages/review.py",
                label="Open its card",
                icon=":material/rule:",
                query_params={"cluster": view.card.id},
            )
        else:
            st.button(
                "Send to review",
                icon=":material/outbox:",
                key=f"propose_{view.key}",
                disabled=kept_apart,
                help="Makes a card with both, which a person accepts or rejects. Merges nothing.",
                on_click=_say,
                args=(catalog_id, view, "propose"),
            )
        st.button(
            "Never merge",
            icon=":material/block:",
            key=f"never_{view.key}",
            disabled=kept_apart,
            help="Keeps the two apart, whatever the judge says, until somebody undoes it.",
            on_click=_say,
            args=(catalog_id, view, "reject"),
        )
        ids = [tool.id for tool in view.tools]
        _selection.select_button(catalog_id, ids, "a pair", f"both_{view.key}", "Select both")
    for decision in view.said:
        _standing(decision)


def _standing(decision: Decision) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        done = _decisions.DONE[decision.action]
        who = _ui.untrusted(f"{decision.reviewer}, {decision.at}")
        st.caption(f"{done} by {who}", width="content")
        st.button(
            "Undo",
            key=f"pair_undo_{decision.seq}",
            on_click=_decisions.undo,
            args=((decision.seq,),),
        )


def _say(catalog_id: int, view: PairView, action: str) -> None:
    sets, pair = _ui.workspace().toolsets, view.verdict.pair
    names = " and ".join(tool.name for tool in view.tools)
    does = sets.never_merge if action == "reject" else sets.send_to_review
    show_pair(view.key)
    _decisions.attempt(
        lambda: does(catalog_id, (pair.left, pair.right), view.version, _ui.reviewer()),
        f"{_decisions.DONE[action]}: {names}",
    )


def _side_by_side(view: PairView) -> None:
    one, other = view.tools
    for column, tool, found in zip(st.columns(2), view.tools, view.findings, strict=True):
        with column.container(border=True, height="stretch"):
            _tool(tool, None if tool is one else one)
            _findings(found)
    if view.rest:
        _table([*view.rest], f"What {one.name} and {other.name} return, and their annotations")


def _tool(tool: Tool, base: Tool | None) -> None:
    """A tool; what differs from ``base`` is marked."""
    name, text = tool.name, tool.description[:TEXT_SHOWN]
    marked = ""
    if base is not None and base.name != name:
        marked = _ui.word_diff(base.name.replace("_", " "), name.replace("_", " "))
    st.html(f"<b>{_ui.untrusted_html(name)}</b> <small>{marked}</small>")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge(_ui.untrusted(tool.server or "no server"), color="gray", icon=":material/dns:")
        _drawer.open_button(tool, "pair")
    if not text.strip():
        st.caption("No description.")
    elif base is None:
        st.html(_ui.untrusted_html(text))
    else:
        st.html(_ui.word_diff(base.description[:TEXT_SHOWN], text))


def _findings(found: Sequence[Finding]) -> None:
    for finding in found:
        color = COLORS[finding.severity]
        label = _ui.untrusted(f"{finding.severity}: {finding.message}")
        st.badge(label, color=color, icon=":material/shield:")


def _arguments(view: PairView) -> None:
    st.markdown("**Which argument is which**")
    if view.parameters:
        _table([*view.parameters], "The parameters of both tools, aligned")
    else:
        st.caption("Neither declares parameters.")
    one, other = view.tools
    for column, (tool, target), said in zip(
        st.columns(2), ((one, other), (other, one)), view.maps, strict=True
    ):
        with column:
            names = (_ui.untrusted(tool.id), _ui.untrusted(target.id))
            st.markdown(f"A call to {names[0]} as a call to {names[1]}:")
            lines = said or ("It needs no arguments.",)
            st.markdown("\n".join(f"- {_ui.untrusted(line)}" for line in lines))


def _table(rows: list[object], alt: str) -> None:
    """Cells that differ begin with a sign, and have a ground of their own for those who see it."""
    frame = pd.DataFrame(rows)

    def ground(cell: object) -> str:
        marked = isinstance(cell, str) and cell.startswith(DIFFERS.strip())
        return "background-color: rgba(230,159,0,0.22)" if marked else ""

    st.dataframe(frame.style.map(ground), hide_index=True, alt=alt)


def _more(view: PairView) -> None:
    """Only what is open is made: a chart and two tables more would hold up every page of a pair."""
    parts = {
        "Why, in words": _why,
        "What each signal adds": _signals,
        "Nearest tools of each": _neighbours,
    }
    part = st.segmented_control(
        "More on the pair",
        list(parts),
        default=next(iter(parts)),
        required=True,
        key="pair_more",
        label_visibility="collapsed",
    )
    parts[part](view)


def _signals(view: PairView) -> None:
    rows = partial(waterfall_rows, view.waterfall)
    picture(waterfall(view.waterfall), rows, "waterfall", "What each signal adds")


def _why(view: PairView) -> None:
    if view.asked:
        st.markdown(f"**{_ui.untrusted(view.verdict.judge)}**")
        _words(view.verdict)
        st.markdown("**The offline judge**")
    _words(view.offline)


def _words(said: Verdict) -> None:
    st.markdown("\n".join(f"- {_ui.untrusted(one)}" for one in said.evidence or ("No reason.",)))


def _neighbours(view: PairView) -> None:
    st.caption("Choose a row to compare.")
    for column, side, tool, near in zip(
        st.columns(2), SIDES, view.tools, view.neighbours, strict=True
    ):
        with column:
            st.caption(f"{side}: {_ui.untrusted(tool.id)}")
            _nearest(view, side, near)


def _nearest(view: PairView, side: str, near: Sequence[Neighbour]) -> None:
    key = f"near_{side}_{view.key}"

    def pick() -> None:
        rows = st.session_state[key]["selection"]["rows"]
        if rows and rows[0] < len(near):
            show_pair(near[rows[0]].key)

    st.dataframe(
        [asdict(row) for row in near],
        key=key,
        on_select=pick,
        selection_mode="single-row",
        hide_index=True,
        column_order=("tool", "server", "similarity", "probability", "verdict"),
        column_config={
            "similarity": st.column_config.NumberColumn("cosine", format="%.2f"),
            "probability": st.column_config.NumberColumn(format="%.2f"),
        },
        alt=f"Nearest tools of the {side.lower()} tool",
    )
