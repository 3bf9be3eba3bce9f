"""The form for a request: a text or a query from a loaded set, and how to search for it."""

from dataclasses import dataclass

import streamlit as st

from toolscope_core.model.configuration import AcceptPolicy, PlanConfig
from toolscope_core.model.search_configuration import Corpus
from toolscope_core.rps.planner import WORKER_K, PlannerConfig
from ui.retrieval.learned_panel import TITLES, learned_panel
from ui.shared import page_frame, search_settings_panel
from ui.shared.services import learned_searches, loaded_queries, reviewed_variants
from ui.shared.services.searches import Lookup
from ui.shared.snapshot import Snapshot

MERGES: dict[str, AcceptPolicy] = {
    "accepted and safe": "auto",
    "accepted only": "none",
    "all proposals": "all",
}
PLAN = "plan"
"""The choice that finds a plan: the jobs of the request, and tools for each job."""
_KEYS = (
    *"q find corpus merges merges_gateway rerank k split variants ranking".split(),
    *"worker per_job iterative filter".split(),
    *search_settings_panel.SETTING_KEYS,
)
"""The keys of widgets, which are also their names in the address."""
LAST = "last_search"
BY_RANKING, _BY_MODEL = "the ranking", "a model"
MOST_PLACES = 50
MOST_PER_JOB = 15
MOST_REQUEST = 4_000


@dataclass(frozen=True, slots=True)
class SubmittedRequest:
    """A request. If a plan is wanted, ``config`` says how it is made, with ``per_job`` tools per
    job.
    """

    lookup: Lookup
    config: PlannerConfig | None = None
    per_job: int = WORKER_K


def request_panel(snapshot: Snapshot) -> SubmittedRequest | None:
    """Draw the form. Returns the request, or ``None`` if its text is empty."""
    _restore()
    line, picker = st.columns([3, 2])
    text = line.text_input(
        "Request",
        key="q",
        type="search",
        bind="query-params",
        placeholder="Find a flight and a hotel, then write both to a file",
        icon=":material/search:",
        help="A request to an agent. Press Enter to search.",
    )
    with picker:
        _picker(snapshot)
    bar = st.container(horizontal=True, vertical_alignment="bottom")
    corpus_kind = bar.segmented_control(
        "Find",
        ["tools", "servers", PLAN],
        default="tools",
        required=True,
        key="find",
        bind="query-params",
        help="Servers are found by their own text and by their tools (Tool-to-Agent retrieval). A "
        "plan splits a long request into jobs and picks tools for each (Retrieve, plan, "
        "select).",
    )
    corpus: Corpus = "both"
    if corpus_kind == "servers":
        corpus = search_settings_panel.chosen_value(
            bar, "Search in", search_settings_panel.CORPORA, "corpus", 165
        )
    exported = page_frame.exported_merges() or PlanConfig(accept="auto")
    policies = dict(sorted(MERGES.items(), key=lambda one: one[1] != exported.accept))
    accept = search_settings_panel.chosen_value(bar, "Merges to apply", policies, "merges", 180)
    gateway = page_frame.gateway_switch(bar, "merges_gateway")
    rerank = search_settings_panel.chosen_value(
        bar,
        "Reranking",
        search_settings_panel.RERANKERS,
        "rerank",
        150,
        search_settings_panel.ABOUT_RERANKING,
    )
    k = 10
    if corpus_kind != PLAN:
        k = bar.number_input(
            "Top k", 1, MOST_PLACES, 10, key="k", bind="query-params", width=110,
            help="How many of the best tools the agent gets.",
        )  # fmt: skip
    split = bar.toggle(
        "Split the request",
        True,
        key="split",
        bind="query-params",
        help="Into sub-queries: the steps given in the query set, or else sentences and clauses "
        "that begin with a verb.",
    )
    variants = True
    if reviewed_variants.accepted_variants(snapshot):
        variants = bar.toggle(
            "Read document variants",
            True,
            key="variants",
            bind="query-params",
            help=(
                "Reads the accepted expanded descriptions and questions in addition to the "
                "tools' own text."
            ),
        )
    ranking = "Text"
    if corpus_kind != "servers":
        ranking = bar.segmented_control(
            "Rank by",
            list(TITLES),
            default="Usage" if learned_searches.usage_helps(snapshot) else "Text",
            required=True,
            key="ranking",
            bind="query-params",
            help="Text: what tools say about themselves. Usage: also the requests that they "
            "served before; this is the default once a trained model finds more. Learned: also a "
            "classifier trained on those requests.",
        )
    more = bar.popover("More", icon=":material/tune:", type="tertiary")
    search = search_settings_panel.search_settings(
        more, rerank, corpus, servers=corpus_kind == "servers"
    )
    settings = _plan_bar(snapshot) if corpus_kind == PLAN else (PlannerConfig(), WORKER_K)
    st.session_state[LAST] = {key: st.query_params[key] for key in _KEYS if key in st.query_params}
    if ranking != "Text":
        learned_panel(snapshot, ranking)
    if not text.strip():
        st.info(
            "Type a request to see which tools an agent would get, from the toolset as it is and "
            "after the merge.",
            icon=":material/search:",
        )
        return None
    lookup = Lookup(
        text[:MOST_REQUEST],
        k,
        split,
        corpus_kind == "servers",
        search.config,
        PlanConfig(accept=accept, gateway=gateway),
        variants,
        TITLES[ranking],
        is_alone=search.name == "tool2vec",
    )
    return SubmittedRequest(lookup) if corpus_kind != PLAN else SubmittedRequest(lookup, *settings)


def _plan_bar(snapshot: Snapshot) -> tuple[PlannerConfig, int]:
    """Draw the settings of a plan. Returns them, with the number of tools per job."""
    bar = st.container(horizontal=True, vertical_alignment="bottom")
    endpoint = snapshot.work.endpoints.get()
    worker = bar.segmented_control(
        "Tools are chosen by",
        [BY_RANKING, _BY_MODEL],
        default=BY_RANKING,
        required=True,
        key="worker",
        bind="query-params",
        disabled=endpoint is None,
        help="The ranking picks the best tool for each job and any that are nearly as good. A "
        "model sees the job, the request and the tools that were found; set one up in "
        "Settings.",
    )
    per_job = bar.number_input(
        "Tools per job", 1, MOST_PER_JOB, WORKER_K, key="per_job", bind="query-params", width=110,
        help="How many tools at a time are considered for each job.",
    )  # fmt: skip
    iterative = bar.toggle(
        "Search again in other words",
        True,
        key="iterative",
        bind="query-params",
        help="Each job is also searched for together with its request, or as reworded by a model; "
        "a model that picks none of the tools is shown the next ones.",
    )
    is_filtered = bar.toggle(
        "Check the whole plan",
        key="filter",
        bind="query-params",
        help="Leaves out tools that the request as a whole does not need.",
    )
    by_model = worker == _BY_MODEL and endpoint is not None
    return PlannerConfig("model" if by_model else "best", iterative, is_filtered), per_job


def _restore() -> None:
    """Restore the last request when a person comes back from another page.

    Streamlit's Back restores the page, but not the page's part of the address. A request that the
    person emptied stays empty.
    """
    last = st.session_state.get(LAST)
    was_emptied = st.session_state.get("q") == ""
    if last and not was_emptied and not any(key in st.query_params for key in _KEYS):
        st.query_params.update(last)
        st.rerun()


def _picker(snapshot: Snapshot) -> None:
    """Draw a list of the catalog's queries. The chosen query becomes the request."""
    queries = loaded_queries.texts(snapshot)
    if not queries:
        page_frame.page_link("catalog", "Add a query set with known answers", icon="playlist_add")
        return

    def shown(row: int) -> str:
        name, text = queries[row]
        return f"{text[:160]} ({name})"

    def pick() -> None:
        if (row := st.session_state["picked"]) is not None:
            st.session_state["q"] = queries[row][1]

    position = st.session_state.get("picked")
    request = st.session_state.get("q")
    if position is not None and (position >= len(queries) or queries[position][1] != request):
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
