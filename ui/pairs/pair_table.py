"""The ranked pairs: filters, the table, and the chosen pair."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from toolscope_core.catalog.formats import PROMPT_SHAPES
from toolscope_core.catalog.tokens import tokenizer
from toolscope_core.datamodel import Pair
from toolscope_core.views.address_keys import pair_key
from toolscope_core.views.pair_list import PairFilter, PairRow
from toolscope_core.views.pair_view import DIFFERS
from toolscope_core.views.relations import OUTCOMES
from ui.frame import page_frame, safe_text, tool_selection
from ui.pairs.pair_panel import pair_view, show_pair

OFFERED = 200
VERDICTS = ("merge", "family", "unsure", "keep")
COLUMNS = (
    *("selected", "probability", "family", "similarity", "verdict", "model"),
    *("left", "left_server", "right", "right_server", "differs", "relation"),
    *("left_tokens", "right_tokens"),
)
MARKS = ("", "● one", "● ● both")
"""By how many of the two are selected."""


def pair_panel(catalog_id: int) -> None:
    """Filters, the table, and what is known of the chosen pair."""
    chosen = tool_selection.selected(catalog_id)
    wanted = _filters(catalog_id)
    if chosen is not None:
        wanted = replace(wanted, tools=chosen.tool_ids, only=tool_selection.only())
    found = page_frame.workspace().explore.pairs(catalog_id, wanted)
    if not found.rows:
        also = " or show more than the selected tools" if wanted.only else ""
        st.info(
            f"No pair passes these filters; widen them{also}.", icon=":material/filter_alt_off:"
        )
        return
    cut = f"the {len(found.rows):,} strongest of " if len(found.rows) < found.matching else ""
    first = " Those with a selected tool come first." if chosen and not wanted.only else ""
    st.caption(
        f"Shown: {cut}{found.matching:,} that pass, of {found.total:,}.{first} Choose a row. "
        f"Tokens in {PROMPT_SHAPES[0]}: {safe_text.untrusted(tokenizer().label)}."
    )
    shown = _shown(catalog_id, found.rows[0])
    key = f"pairs_{catalog_id}_{wanted.key}"
    ids = [(row.left_id, row.right_id) for row in found.rows]
    here = [ids.index((shown.left, shown.right))] if (shown.left, shown.right) in ids else []
    st.session_state[key] = {"selection": {"rows": here, "columns": [], "cells": []}}

    bare = not page_frame.workspace().explore.servers(catalog_id)
    hidden = {
        "selected": not chosen,
        "model": page_frame.workspace().judging.opinions(catalog_id) is None,
        "left_server": bare,
        "right_server": bare,
    }
    hidden = {name for name, away in hidden.items() if away}

    def pick() -> None:
        rows = st.session_state[key]["selection"]["rows"]
        if rows and rows[0] < len(ids):
            show_pair(pair_key(Pair.of(*ids[rows[0]])))

    shown_columns = [name for name in COLUMNS if name not in hidden]
    table = safe_text.columns(found.rows, shown_columns)
    if chosen:
        table["selected"] = [MARKS[row.selected] for row in found.rows]
    if "model" in table:
        marks = (DIFFERS if row.differing else "" for row in found.rows)
        table["model"] = [f"{mark}{row.model}" for mark, row in zip(marks, found.rows, strict=True)]
    st.dataframe(
        table,
        key=key,
        on_select=pick,
        selection_mode="single-row",
        hide_index=True,
        height=min(320, 38 + 35 * len(found.rows)),
        column_config={
            "probability": st.column_config.ProgressColumn(
                "same job",
                min_value=0.0,
                max_value=1.0,
                format="%.2f",
                width=110,
                help="The probability that the two do the same job.",
            ),
            "family": st.column_config.ProgressColumn(
                min_value=0.0,
                max_value=1.0,
                format="%.2f",
                width=110,
                help="The probability that they are the same operation for another provider or "
                "value.",
            ),
            "verdict": st.column_config.TextColumn(width=70),
            "relation": st.column_config.TextColumn(width=220),
            "differs": st.column_config.TextColumn(
                "words only one says", width=230, help="Those of the one / those of the other."
            ),
            "selected": st.column_config.TextColumn(width=75),
            "similarity": st.column_config.NumberColumn(format="%.2f", help="Cosine"),
            "model": st.column_config.TextColumn(
                "model says", width=95, help="≠ where it differs from the offline judge."
            ),
            "left": "one",
            "left_server": "its server",
            "left_tokens": "its tokens ≈",
            "right": "other",
            "right_server": "other's server",
            "right_tokens": "other's tokens ≈",
        },
        alt="Candidate pairs, the most probable merge first",
    )
    _choose_two(catalog_id)
    pair_view(catalog_id, shown)


def _shown(catalog_id: int, first: PairRow) -> Pair:
    """The pair that the address names, else the strongest of the table."""
    asked = st.query_params.get("pair", "")
    named = page_frame.workspace().pairs.named(catalog_id, asked)
    if asked and named is None:
        st.warning("The address names a pair that this catalog does not have.")
    return named or Pair.of(first.left_id, first.right_id)


def _choose_two(catalog_id: int) -> None:
    """Any two tools, also those that nothing proposes."""
    explore = page_frame.workspace().explore
    box = st.popover(
        "Compare any two tools", icon=":material/compare_arrows:", key="any_two", on_change="rerun"
    )
    if not box.open:
        return
    with box:
        chosen = []
        for column, side in zip(st.columns(2), ("One", "Other"), strict=True):
            find = column.text_input(f"Find {side.lower()}", type="search", key=f"find_{side}")
            ids = [row.id for row in explore.tools(catalog_id, find)[:OFFERED]]
            chosen.append(column.selectbox(side, ids, index=None, key=f"pick_{side}"))
        st.caption(f"At most {OFFERED} tools are offered; find narrows them.")
        one, other = chosen
        ready = bool(one and other and one != other)
        key = pair_key(Pair.of(one, other)) if one and other else ""
        st.button("Compare", key="compare", disabled=not ready, on_click=show_pair, args=(key,))


def _filters(catalog_id: int) -> PairFilter:
    bar = st.container(horizontal=True, vertical_alignment="bottom")
    verdict = bar.selectbox(
        "Verdict",
        VERDICTS,
        index=None,
        placeholder="any verdict",
        help="; ".join(OUTCOMES[one] for one in VERDICTS),
        key="verdict",
        bind="query-params",
    )
    names = [row.name for row in page_frame.workspace().explore.servers(catalog_id)]
    server = bar.selectbox(
        "Server", names, index=None, placeholder="all servers", key="of", bind="query-params"
    )
    least = bar.slider(
        "Least probability", 0.0, 1.0, 0.0, 0.05, key="least", bind="query-params",
        help="That the two do the same job.",
    )  # fmt: skip
    differing = page_frame.workspace().judging.opinions(catalog_id) is not None and bar.toggle(
        "Judges differ", key="differ", bind="query-params"
    )
    return PairFilter(verdict, server, least, differing)
