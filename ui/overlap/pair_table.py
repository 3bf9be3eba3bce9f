"""The ranked pairs: filters, a table, and the selected pair."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from toolscope_core.catalog.tokens import tokenizer
from toolscope_core.model.cluster import OUTCOME_NAMES, outcome_word
from toolscope_core.model.pair import Pair, PairOutcome, pair_key
from ui.shared import data_tables, safe_text
from ui.shared.cards.cluster_card import cluster_graph
from ui.shared.cards.queue import cluster_with
from ui.shared.data_tables import Column
from ui.shared.pairs import pair_list, pair_view
from ui.shared.pairs.pair_panel import SIDES, draw_pair, show_pair
from ui.shared.services import review
from ui.shared.snapshot import Snapshot
from ui.shared.tools import catalog_tables, tool_selection

_MAX_OPTIONS = 200
VERDICTS: tuple[PairOutcome, ...] = ("merge", "family", "unsure", "keep")
_MARKS = ("", "● one", "● ● both")
"""The mark of a row for none, one or both of its tools selected."""


def pair_panel(snapshot: Snapshot) -> None:
    """Draw the filters, the table, the selected pair, and the graph of its cluster."""
    selection = tool_selection.selected(snapshot)
    pair_filter = _filters(snapshot)
    if selection is not None:
        pair_filter = replace(
            pair_filter, tools=selection.tool_ids, only=tool_selection.only(snapshot)
        )
    pairs = pair_list.matching(snapshot, pair_filter)
    if not pairs.rows:
        also = ", or turn off *Show only selected*" if pair_filter.only else ""
        st.info(
            f"No pair matches these filters. Relax them{also}.", icon=":material/filter_alt_off:"
        )
        return
    cut = f"the {len(pairs.rows):,} strongest of " if len(pairs.rows) < pairs.matching else ""
    first = " Pairs with a selected tool come first." if selection and not pair_filter.only else ""
    format, tokenizer_name = snapshot.format, safe_text.untrusted(tokenizer().label)
    st.container(key="pairs_listed").caption(
        f"Showing {cut}{pairs.matching:,} matching pairs of {pairs.total:,}.{first} Select a row. "
        f"Token counts ({format}): {tokenizer_name}."
    )
    pair = _pair_shown(snapshot, pairs.rows[0])
    _table(snapshot, pairs.rows, f"pairs_{snapshot.id}_{pair_filter.key}", pair)
    _choose_two(snapshot)
    draw_pair(snapshot, pair)
    cluster = cluster_with(snapshot.plan, (pair.left, pair.right))
    if cluster is not None:
        cluster_graph(snapshot, cluster)


def _table(snapshot: Snapshot, rows: Sequence[pair_list.PairRow], key: str, chosen: Pair) -> None:
    """Draw the pairs. One of them can be chosen, and the one shown below is marked."""
    ids = [(row.left_id, row.right_id) for row in rows]
    data_tables.row_chooser(
        rows,
        _columns(snapshot),
        "Candidate pairs, the most probable merge first",
        most=320,
        key=key,
        choose=lambda row: show_pair(pair_key(Pair.of(*ids[row]))),
        selected=[at for at, pair in enumerate(ids) if pair == (chosen.left, chosen.right)],
    )


def _columns(snapshot: Snapshot) -> list[Column[pair_list.PairRow]]:
    has_servers = bool(catalog_tables.servers(snapshot))
    calls = {
        (pair.left, pair.right): str(one.detail["verdict"])
        for pair, one in review.comparisons(snapshot).items()
    }
    return [
        Column(
            "selected",
            lambda row: _MARKS[row.selected],
            width=75,
            visible=tool_selection.selected(snapshot) is not None,
        ),
        Column(
            "same_job",
            title="same job",
            full=1.0,
            format="%.2f",
            width=110,
            help="Probability that the two do the same job.",
        ),
        Column(
            "family",
            title="family",
            full=1.0,
            format="%.2f",
            width=110,
            help="Probability that both are the same operation for another provider or value.",
        ),
        Column("similarity", format="%.2f", help="Cosine"),
        Column("verdict", lambda row: outcome_word(row.verdict), width=120),
        Column(
            "model",
            lambda row: (
                pair_view.DIFFERS * row.differing + (outcome_word(row.model) if row.model else "")
            ),
            title="model verdict",
            width=105,
            help="≠ marks a difference from the offline judge.",
            visible=snapshot.analysis.model_verdicts is not None,
        ),
        Column(
            "calls",
            lambda row: calls.get((row.left_id, row.right_id), ""),
            width=160,
            help="What the same calls to both showed.",
            visible=bool(calls),
        ),
        Column("left", title="tool A"),
        Column("left_server", title="server A", visible=has_servers),
        Column("right", title="tool B"),
        Column("right_server", title="server B", visible=has_servers),
        Column(
            "differs", title="differing words", width=230, help="Words only in A / words only in B"
        ),
        Column("relation", width=220),
        Column("left_tokens", title="tokens A ≈"),
        Column("right_tokens", title="tokens B ≈"),
    ]


def _pair_shown(snapshot: Snapshot, first: pair_list.PairRow) -> Pair:
    """The pair in the address, or else the first pair of the table."""
    key = st.query_params.get("pair", "")
    pair = pair_view.pair_of_key(snapshot, key)
    if key and pair is None:
        st.warning("The link refers to a pair that is not in this catalog.")
    return pair or Pair.of(first.left_id, first.right_id)


def _choose_two(snapshot: Snapshot) -> None:
    """Draw a form that compares any two tools, even if they are not a candidate pair."""
    box = st.popover(
        "Compare any two tools", icon=":material/compare_arrows:", key="any_two", on_change="rerun"
    )
    if not box.open:
        return
    with box:
        tool_ids = []
        for column, side in zip(st.columns(2), SIDES, strict=True):
            find = column.text_input(f"Search for {side}", type="search", key=f"find_{side}")
            ids = [row.id for row in catalog_tables.tools(snapshot, find)[:_MAX_OPTIONS]]
            tool_ids.append(column.selectbox(side, ids, index=None, key=f"pick_{side}"))
        st.caption(f"The lists show at most {_MAX_OPTIONS} tools; search to narrow them.")
        one, other = tool_ids
        ready = bool(one and other and one != other)
        key = pair_key(Pair.of(one, other)) if one and other else ""
        st.button("Compare", key="compare", disabled=not ready, on_click=show_pair, args=(key,))


def _filters(snapshot: Snapshot) -> pair_list.PairFilter:
    bar = st.container(horizontal=True, vertical_alignment="bottom")
    find = bar.text_input(
        "Search", type="search", key="pair_find", bind="query-params", width=280,
        placeholder="name, server, description",
        help="One of the two tools must contain all the words.",
    )  # fmt: skip
    verdict = bar.selectbox(
        "Verdict",
        VERDICTS,
        index=None,
        format_func=outcome_word,
        placeholder="any verdict",
        help="; ".join(OUTCOME_NAMES[one] for one in VERDICTS),
        key="verdict",
        bind="query-params",
    )
    names = [row.name for row in catalog_tables.servers(snapshot)]
    server = bar.selectbox(
        "Server", names, index=None, placeholder="all servers", key="of", bind="query-params"
    )
    threshold = bar.slider(
        "Minimum probability", 0.0, 1.0, 0.0, 0.05, key="least", bind="query-params",
        help="Probability that the two do the same job.",
    )  # fmt: skip
    differing = snapshot.analysis.model_verdicts is not None and bar.toggle(
        "Judges disagree", key="differ", bind="query-params"
    )
    return pair_list.PairFilter(verdict, server, threshold, differing, find=find)
