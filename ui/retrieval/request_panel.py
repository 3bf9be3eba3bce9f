"""What is asked: a request, or a query of a loaded set, and how it is searched."""

from __future__ import annotations

import streamlit as st

from toolscope_core.config import AcceptPolicy, Corpus
from toolscope_core.workspace.searches import Lookup
from ui.frame import page_frame

MERGES: dict[str, AcceptPolicy] = {
    "accepted and safe": "auto",
    "accepted only": "none",
    "all proposals": "all",
}
CORPORA: dict[str, Corpus] = {
    "tools and servers": "both",
    "tools only": "tools",
    "servers only": "servers",
}
RERANKERS = {"automatic": "auto", "token by token": "late", "off": "none"}
"""Choices as they stand in the address too."""
KEYS = ("q", "find", "corpus", "merges", "rerank", "k", "split", "variants")
"""Widgets, and their names in the address."""
LAST = "last_search"
MOST_PLACES = 50
MOST_REQUEST = 4_000


def request_panel(catalog_id: int) -> Lookup | None:
    """Draw the form; what is asked, ``None`` for a request without text."""
    _restore()
    line, picker = st.columns([3, 2])
    text = line.text_input(
        "Request",
        key="q",
        type="search",
        bind="query-params",
        placeholder="Find a flight and a hotel, then note both",
        icon=":material/search:",
        help="What an agent is asked. Enter searches.",
    )
    with picker:
        _picker(catalog_id)
    bar = st.container(horizontal=True, vertical_alignment="bottom")
    servers = bar.segmented_control(
        "Find",
        ["tools", "servers"],
        default="tools",
        required=True,
        key="find",
        bind="query-params",
        help="Servers are found by their own text and by their tools (Tool-to-Agent retrieval).",
    )
    corpus: Corpus = "both"
    if servers == "servers":
        chosen = bar.selectbox(
            "Search in",
            list(CORPORA),
            key="corpus",
            bind="query-params",
            width=165,
        )
        corpus = CORPORA[chosen]
    merges = bar.selectbox(
        "Merges to apply",
        list(MERGES),
        key="merges",
        bind="query-params",
        width=180,
    )
    rerank = bar.selectbox(
        "Reranking",
        list(RERANKERS),
        key="rerank",
        bind="query-params",
        width=150,
        help="Token by token compares the best 50 again, each word of the request with each word "
        "of the tool. Automatic does so for tools, not for servers.",
    )
    k = bar.number_input(
        "Places", 1, MOST_PLACES, 10, key="k", bind="query-params", width=110,
        help="How many the agent is given.",
    )  # fmt: skip
    split = bar.toggle(
        "Split the request",
        True,
        key="split",
        bind="query-params",
        help="Into sub-queries: the steps that the query set gives, else sentences and clauses "
        "that begin with a verb.",
    )
    variants = True
    if page_frame.workspace().variants.accepted(catalog_id):
        variants = bar.toggle(
            "Read document variants",
            True,
            key="variants",
            bind="query-params",
            help="The accepted expanded descriptions and questions, beside the tools' own text.",
        )
    st.session_state[LAST] = {key: st.query_params[key] for key in KEYS if key in st.query_params}
    if not text.strip():
        st.info(
            "Type a request, and see which tools an agent would be given: from the toolset as it "
            "is, and after the merge.",
            icon=":material/search:",
        )
        return None
    find_servers = servers == "servers"
    return Lookup(
        text[:MOST_REQUEST],
        k,
        RERANKERS[rerank],
        split,
        find_servers,
        corpus,
        MERGES[merges],
        variants,
    )


def _restore() -> None:
    """What was asked last, for who comes back from another page: Streamlit's Back brings the page
    and not its part of the address. A request that was emptied stays empty.
    """
    last = st.session_state.get(LAST)
    was_emptied = st.session_state.get("q") == ""
    if last and not was_emptied and not any(key in st.query_params for key in KEYS):
        st.query_params.update(last)
        st.rerun()


def _picker(catalog_id: int) -> None:
    """A list of the catalog's queries; the chosen one becomes the request."""
    queries = page_frame.workspace().queries.texts(catalog_id)
    if not queries:
        st.page_link(
            "pages/catalog.py",
            label="Add a query set with known answers",
            icon=":material/playlist_add:",
        )
        return

    def shown(row: int) -> str:
        name, text = queries[row]
        return f"{text[:160]} ({name})"

    def pick() -> None:
        if (row := st.session_state["picked"]) is not None:
            st.session_state["q"] = queries[row][1]

    picked = st.session_state.get("picked")
    asked = st.session_state.get("q")
    if picked is not None and (picked >= len(queries) or queries[picked][1] != asked):
        st.session_state["picked"] = None
    st.selectbox(
        f"Pick one of {len(queries):,} queries",
        range(len(queries)),
        index=None,
        format_func=shown,
        placeholder="a query with known answers",
        key="picked",
        on_change=pick,
    )
