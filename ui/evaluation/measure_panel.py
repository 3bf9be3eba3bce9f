"""The measurement: the queries, the two toolsets, the button, and the newest result."""

from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from toolscope_core.model.configuration import Knob
from toolscope_core.model.errors import JobError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.plan import Experiment
from toolscope_core.store.experiment_rows import get_experiment
from ui.evaluation import evaluations, measured_sides
from ui.evaluation.experiment_requests import SYNTHETIC, ExperimentKind, ExperimentRequest
from ui.evaluation.experiment_settings_panel import (
    SPLITS,
    bundle_upload,
    chosen_encoders,
    model_ready,
    tuning_panel,
    with_settings,
)
from ui.evaluation.measured_sides import LEARNED_SIDES, WITH_GATEWAY
from ui.shared import page_frame, safe_text
from ui.shared.search_settings_panel import ASSEMBLIES, SEARCHES, chosen_value
from ui.shared.services import experiments
from ui.shared.services.experiments import ORIGINAL, ExperimentResult
from ui.shared.snapshot import Snapshot

_NAMED = 5
"""The maximum number of names in one sentence."""
KNOBS: dict[str, Knob] = {
    "minimum similarity of merges": "threshold",
    "weight of meaning against words": "alpha",
    "number of tools reranked (M)": "candidates",
    "number of tools returned (top k)": "k",
    "embedding model (the encoder)": "encoder",
}
_ABOUT: dict[ExperimentKind, str] = {
    "comparison": "Does the merge help? Every query is searched in both toolsets; a thousand "
    "queries take about a minute.",
    "servers": "Which servers would an agent open? Every query is searched among the servers of "
    "both toolsets; an answer is the server of a needed tool. Tool-to-Agent finds a server by its "
    "own text and by its tools, step by step: choose its search, and *by step*, under *More*.",
    "stress": (
        "Does the merge still help among many tools? For each query, a pool is made of its answers "
        "and this many other tools, drawn at random or chosen as the closest to the answers. What "
        "is found in the pool (10 tools, 5 for each sub-query) is measured. The closest tools make "
        "the test harder."
    ),
    "sweep": "What does each value of a setting give? Every query is searched with each value.",
    "ablation": (
        "What does each part contribute? Every query is searched with the parts on and off. The "
        "search's reranker (in ToolScope a cross-encoder) compares the best 50 again; the merger "
        "takes all proposals (only drop-ins, or also gateway tools that are no larger than their "
        "members; the paper takes all); the correction splits groups that do not belong together."
    ),
    "plan": (
        "Which tools would be called? Each request is split into jobs. Each job takes the best "
        "tool of its own ranking, or those that a model chooses. The tools of all jobs together "
        "are compared with what is needed."
    ),
}
TOOLSCOPE = "[ToolScope](https://arxiv.org/abs/2510.20036)"
T2A = "[Tool-to-Agent](https://arxiv.org/abs/2511.01854)"
RPS = "[Retrieval–Plan–Select](https://doi.org/10.3390/a19060447)"
PAPER_TABLES: dict[ExperimentKind, tuple[str, str]] = {
    "comparison": (f"{TOOLSCOPE}, tables 4, 5 and 8", "ts-4 ts-8"),
    "servers": (f"{T2A}, table 1", "t2a-1"),
    "stress": (f"{RPS}, tables 6 to 8", "rps-7 rps-8"),
    "sweep": (f"{TOOLSCOPE}, figures 4 and 7", "ts-figure-4 ts-figure-7"),
    "ablation": (f"{TOOLSCOPE}, tables 3, 6 and 9", "ts-3"),
    "plan": (f"{RPS}, tables 9 to 11", "rps-10"),
}
"""For each kind, the tables that it produces for a catalog, and their names in
``benchmarks.papers``.
"""


def measured_result(
    snapshot: Snapshot, kind: ExperimentKind, shape: type[ExperimentResult], about: str = ""
) -> tuple[Experiment, ExperimentResult] | None:
    """The experiment of this kind to show, and its result.

    First the explanation ``about``, the choices and the button are drawn.
    """
    tables, names = PAPER_TABLES[kind]
    source = f"`python -m benchmarks.papers {names}`"
    st.caption(about or _ABOUT[kind])
    _request(snapshot, kind)
    experiment = newest(snapshot, kind)
    if experiment is None:
        st.info("Nothing is measured yet. Press *Measure*.", icon=":material/query_stats:")
        return None
    result = experiments.result_of(experiment, shape)
    describe(snapshot, experiment)
    # a link in a caption is hard to see in the dark theme
    st.markdown(f"Compare with the paper ({tables}): run {source}.")
    return experiment, result


def say_unknown(snapshot: Snapshot, queries: str) -> None:
    """Show which answers of a query set the catalog lacks, before anything is measured."""
    if unknown := evaluations.unknown(snapshot, queries):
        st.warning(
            f"Answers that are not in this catalog: {safe_text.first_few(unknown, _NAMED)}.",
            icon=":material/help:",
        )


def _request(snapshot: Snapshot, kind: ExperimentKind) -> None:
    """Draw the queries, the toolsets and the button. Less common options are under *More*."""
    bar = st.container(horizontal=True, vertical_alignment="bottom")
    queries = bar.selectbox(
        "Queries",
        evaluations.query_sets(snapshot, kind == "servers"),
        key="set",
        bind="query-params",
        width=190,
        help="Add query sets on the Catalog page. Without a query set, requests are made from the "
        "tools' descriptions; such figures are too optimistic and only useful for comparison.",
    )
    knob: Knob = "threshold"
    before, after = ORIGINAL, "all proposals"
    left_out = {*WITH_GATEWAY.values(), *(LEARNED_SIDES if kind == "servers" else ())}
    sides = [one for one in measured_sides.names(snapshot) if one not in left_out]
    if kind == "sweep":
        knob = chosen_value(bar, "Move", KNOBS, "knob", 260)
        after = bar.selectbox(
            "Merges to apply", list(WITH_GATEWAY), index=1, key="after", bind="query-params",
            width=190,
        )  # fmt: skip
    elif kind != "ablation":
        before = bar.selectbox("Toolset", sides, key="before", bind="query-params", width=155)
        after = bar.selectbox(
            "against",
            sides,
            index=sides.index(measured_sides.first_merge(snapshot, page_frame.exported_merges())),
            key="after",
            bind="query-params",
            width=165,
            help="The proposed merges, those that are accepted or safe, or another toolset. "
            "Export writes only accepted merges unless told otherwise.",
        )
    if after in WITH_GATEWAY and page_frame.gateway_switch(bar, "after_gateway"):
        after = WITH_GATEWAY[after]
    elif withheld := measured_sides.withheld(snapshot, after):
        st.caption(
            f"Left out, because they need a gateway: {quantity(withheld, 'accepted merge')}."
        )
    start = bar.container(width="content")
    more = bar.popover("More", icon=":material/tune:", type="tertiary")
    request = with_settings(more, ExperimentRequest(kind, queries, before, after, knob=knob))
    if kind in ("comparison", "servers", "stress"):
        with more:
            bundle_upload(snapshot, sides)
    if knob == "encoder":
        request = replace(request, encoders=chosen_encoders(snapshot.work.embedder.name))
        tuning_panel(snapshot, queries)
    _start(snapshot, request, start)


def _start(snapshot: Snapshot, request: ExperimentRequest, place: DeltaGenerator) -> None:
    """Draw the button, or the progress of the current measurement."""
    say_unknown(snapshot, request.queries)
    job = snapshot.job(evaluations.job_kind(request.kind))
    if job is not None and job.live:
        page_frame.job_panel(job.id)
        return
    if job is not None and job.state in ("failed", "paused") and job.message:
        safe_text.show_error(JobError(job.message))
    is_ready = not request.asks_model or model_ready(snapshot, request)
    if place.button(
        "Measure", type="primary", icon=":material/play_arrow:", key="measure",
        disabled=not is_ready,
    ):  # fmt: skip
        st.query_params.pop("x", None)
        evaluations.start(snapshot, request)
        st.rerun()


def newest(snapshot: Snapshot, kind: str) -> Experiment | None:
    """The experiment of this kind whose number is in the page's URL, or else the newest one.

    Experiments without a result are skipped.
    """
    mine = [one for one in experiments.all(snapshot) if one.kind == kind]
    number_in_address = st.query_params.get("x", "")
    mine.sort(key=lambda one: str(one.number) != number_in_address)
    experiments_of_kind = (get_experiment(snapshot.work.store, one.number) for one in mine)
    return next((one for one in experiments_of_kind if one.result), None)


def knob_name(experiment: Experiment) -> str:
    """The setting that a sweep varies, in words."""
    knob = experiment.configuration.get("knob", "threshold")
    return next(name for name, value in KNOBS.items() if value == knob)


def described(experiment: Experiment) -> str:
    """What an experiment measured, in words. The text contains names that users chose."""
    config = experiment.configuration
    sides = f"{config.get('before')} against {config.get('after')}"
    if experiment.kind == "sweep":
        sides = f"{knob_name(experiment)} varied, merges: {config.get('after')}"
    if experiment.kind == "agent":
        sides = f"agent {config.get('model')}: {sides}"
    if experiment.kind == "ablation":
        sides = "reranker, merger and correction on and off"
    if experiment.kind == "servers":
        sides = f"servers, {sides}"
    is_off = config.get("rerank") == "none" and experiment.kind != "ablation"
    rerank = ", no reranking" if is_off else ""
    variant = next(
        (name for name, one in SEARCHES.items() if one and one == config.get("search")), ""
    )
    by = {"best": ", the best tool of each job", "model": ", tools taken by a model"}
    taken = by.get(config.get("select", ""), "")
    alpha = config.get("alpha")
    search = (f", {variant}" if variant else "") + ("" if alpha is None else f", α {alpha:g}")
    assembly = next((one for one, value in ASSEMBLIES.items() if value == config.get("assembly")))
    search += f", {assembly}" if config.get("assembly") else ""
    split = next(name for name, value in SPLITS.items() if value == config.get("split", "auto"))
    split_in_words = "" if split == "as the search does" else f", split {split}"
    split_in_words += ", from a file" if config.get("recorded") else ""
    queries = quantity(config.get("query_count", 0), "query")
    source = config.get("queries")
    origin = source if source == SYNTHETIC else f"of {source}"
    return f"{sides}: {queries} {origin}{rerank}{search}{split_in_words}{taken}"


def describe(snapshot: Snapshot, experiment: Experiment) -> None:
    """Draw a line on what was measured, and warnings if the same measurement would give something
    else today.
    """
    state = "" if experiment.is_done else " Not finished; *Measure* continues it."
    st.caption(
        f"Experiment {experiment.number}, {safe_text.clock(experiment.at)} UTC, "
        f"{experiment.seconds:,.0f} s. {safe_text.untrusted(described(experiment))}.{state}"
    )
    if experiment.configuration["queries"] == SYNTHETIC:
        st.warning(
            "Synthetic: these requests are made from the tools' descriptions, so they find "
            "the tools more easily than real requests would. Compare the two columns, but do not "
            "quote the figures.",
            icon=":material/science:",
        )
    if not evaluations.is_current(snapshot, experiment):
        st.warning(
            "The catalog or the decisions have changed since. Measure again for current figures.",
            icon=":material/history:",
        )
