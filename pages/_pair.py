"""The ranked pairs: filters, the table, and the chosen pair side by side."""

from __future__ import annotations

import streamlit as st

from pages import _ui
from toolscope_core.catalog.tokens import PROMPT_SHAPES, tokenizer
from toolscope_core.datamodel import Pair, Tool
from toolscope_core.workspace.listing import parameter_rows
from toolscope_core.workspace.overlaps import PairFilter, PairRow


def pair_panel(catalog_id: int) -> None:
    """Filters, the table, and what is known of the chosen pair."""
    wanted = _filters(catalog_id)
    found = _ui.workspace().explore.pairs(catalog_id, wanted)
    if not found.rows:
        st.info("No pair passes these filters; widen them.", icon=":material/filter_alt_off:")
        return
    cut = f"the {len(found.rows):,} strongest of " if len(found.rows) < found.matching else ""
    st.caption(
        f"Shown: {cut}{found.matching:,} that pass, of {found.total:,}. Choose a row. "
        f"Tokens in {PROMPT_SHAPES[0]}: {_ui.untrusted(tokenizer().label)}."
    )
    state = st.dataframe(
        found.rows,
        key=f"pairs_{catalog_id}_{wanted.key}",
        on_select="rerun",
        selection_mode="single-row-required",
        hide_index=True,
        height=min(320, 38 + 35 * len(found.rows)),
        column_order=PairRow.__slots__[:-2],
        column_config={
            "probability": st.column_config.ProgressColumn(
                min_value=0.0, max_value=1.0, format="%.2f", help="That the two do the same job."
            ),
            "similarity": st.column_config.NumberColumn(format="%.2f", help="Cosine"),
            "left": "one",
            "left_server": "its server",
            "left_tokens": "its tokens ≈",
            "right": "other",
            "right_server": "other's server",
            "right_tokens": "other's tokens ≈",
        },
        alt="Candidate pairs, the most probable merge first",
    )
    chosen = [row for row in state["selection"]["rows"] if row < len(found.rows)]
    row = found.rows[chosen[0] if chosen else 0]
    pair_view(catalog_id, Pair.of(row.left_id, row.right_id))


def _filters(catalog_id: int) -> PairFilter:
    bar = st.container(horizontal=True, vertical_alignment="bottom")
    verdict = bar.selectbox(
        "Verdict",
        ["merge", "unsure", "keep"],
        index=None,
        placeholder="any verdict",
        key="verdict",
        bind="query-params",
    )
    names = [row.name for row in _ui.workspace().explore.servers(catalog_id)]
    server = bar.selectbox(
        "Server", names, index=None, placeholder="all servers", key="of", bind="query-params"
    )
    least = bar.slider("Least probability", 0.0, 1.0, 0.0, 0.05, key="least", bind="query-params")
    return PairFilter(verdict, server, least)


def pair_view(catalog_id: int, pair: Pair) -> None:
    """What is known of a pair of tools."""
    view = _ui.workspace().explore.pair(catalog_id, pair)
    said = view.verdict
    with st.container(border=True):
        st.markdown(
            f"**{said.outcome}** · probability {said.probability:.2f} · "
            f"similarity {said.similarity:.2f}"
        )
        st.text("\n".join(f"• {sentence}" for sentence in said.evidence))
        for column, tool in zip(st.columns(2), view.tools, strict=True):
            with column:
                _tool(tool)


def _tool(tool: Tool) -> None:
    owner = _ui.untrusted_html(tool.server) or "no server"
    st.html(f"<b>{_ui.untrusted_html(tool.name)}</b><br><small>{owner}</small>")
    st.text(tool.description or "(no description)")
    if rows := parameter_rows(tool):
        st.dataframe(rows, hide_index=True, alt="Parameters")
    else:
        st.caption("Takes no parameters." if tool.schema else "Declares no parameters.")
