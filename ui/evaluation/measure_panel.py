"""The measurement: queries, the two toolsets, the button, and the existing result."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from toolscope_core.files.json_lines import rows_in
from toolscope_core.model.configuration import Knob
from toolscope_core.model.errors import ConfigError, JobError, ToolScopeError
from toolscope_core.model.numbers import duration, quantity
from toolscope_core.model.plan import Experiment
from toolscope_core.retrieval.decomposition import splits_in
from toolscope_core.store.experiment_rows import get_experiment
from toolscope_core.tool2vec.training_queries import LEAST_QUERIES
from ui.evaluation import evaluations, measured_sides
from ui.evaluation.experiment_kinds import (
    SYNTHETIC,
    ExperimentKind,
    ExperimentRequest,
    ExperimentSplit,
    Selector,
)
from ui.evaluation.measured_sides import LEARNED_SIDES, WITH_GATEWAY
from ui.shared import page_frame, safe_text
from ui.shared.models import ask_panel
from ui.shared.search_settings_panel import (
    ABOUT_ASSEMBLY,
    ABOUT_SEARCHES,
    ASSEMBLIES,
    CORPORA,
    RERANKERS,
    SEARCHES,
    chosen_value,
)
from ui.shared.services import experiments, learned_searches
from ui.shared.services.experiments import ORIGINAL, ExperimentResult
from ui.shared.snapshot import Snapshot

_NAMED = 5
"""Names in one sentence."""
KNOBS: dict[str, Knob] = {
    "minimum similarity of merges": "threshold",
    "weight of meaning against words": "alpha",
    "number of tools reranked (M)": "candidates",
    "number of tools returned (top k)": "k",
    "embedding model (the encoder)": "encoder",
}
_SPLITS: dict[str, ExperimentSplit] = {
    "as the search does": "auto",
    "by rule": "rules",
    "by step": "steps",
    "by a model": "dummy",
    "by a model in context": "context",
    "not at all": "none",
}
_RECORDED = ("steps", "dummy", "context")
"""The splits that a file may have."""
_EITHER: dict[str, Selector] = {"the search": "", "a model": "model"}
_SELECTORS: dict[ExperimentKind, dict[str, Selector]] = {
    "comparison": _EITHER,
    "ablation": _EITHER,
    "plan": _EITHER,
    "stress": {"all that is found": "", "the search": "best", "a model": "model"},
}
_ABOUT_CSR = (
    "Correct selection (CSR@k) counts the queries for which exactly the needed tools are taken "
    "from the first k. ToolScope has a model choose (tables 2 to 4); without one, each job takes "
    "the best of them by its own search."
)
ABOUT_SELECTORS: dict[ExperimentKind, str] = {
    "comparison": _ABOUT_CSR,
    "ablation": _ABOUT_CSR,
    "plan": "Retrieval–Plan–Select has a model as worker (tables 9 to 11): it sees 5 tools for a "
    "job, up to 15 if it takes none, and rewords the job. Without one, each job takes the best of "
    "its own search.",
    "stress": "What counts: the 10 tools found in the pool (5 for each sub-query), the best for "
    "each job, or what a model takes that sees the whole pool (Retrieval–Plan–Select, tables 6 "
    "and 8).",
}
_WITHOUT_MODEL = "No model is set up; the search can take the tools, and rules can split requests."
_ABOUT: dict[ExperimentKind, str] = {
    "comparison": "Does the merge help? Every query is searched in both toolsets; a thousand "
    "queries take about a minute.",
    "servers": "Which servers would an agent open? Every query is searched among the servers of "
    "both toolsets; an answer is the server of a needed tool. Tool-to-Agent finds a server by its "
    "own text and by its tools, step by step: choose its search, and *by step*, under *More*.",
    "stress": (
        "Does it still help among many tools? For each query, a pool is made of its answers and "
        "this many other tools, drawn at random or chosen as closest to the answers. What is "
        "found in the pool (10 tools, 5 for each sub-query) is measured. Closest tools are "
        "harder."
    ),
    "sweep": "What does each value of a setting give? Every query is searched with each of them.",
    "ablation": (
        "What does each part contribute? Every query is searched with the parts on and off. The "
        "search's reranker (in ToolScope a cross-encoder) compares the best 50 again; the merger "
        "takes all proposals (only drop-ins, or also gateway tools that are no larger than their "
        "members; the paper takes all); the correction splits groups that do not belong together."
    ),
    "plan": (
        "Which tools would be called? Each request is split into jobs, each job takes the best "
        "tool of its own ranking, or those that a model chooses, and the tools of all jobs "
        "together are compared with what is needed."
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
"""The tables that each kind makes of a catalog, and their names in ``benchmarks.papers``."""
ABOUT_SPLITS = (
    "As the search does: by step for the searches of ToolScope and Tool-to-Agent, not at all for "
    "Tool2Vec, by rule for others. By rule: at sentences and at clauses that start with a verb. "
    "By step: as given in the query set. The steps are part of its answer, so this shows what a "
    "perfect planner could reach. By a model: from the request alone (dummy), or in the context of "
    "the 15 nearest tools, as in Retrieval–Plan–Select (tables 6 to 8)."
)
_ABOUT_RECORDED = (
    "Recorded parts: JSONL with the `id` of each query and a list under `steps`, `dummy` or "
    "`context`. Without a file, the query set's steps count, or a model is asked."
)


def measured_result(
    snapshot: Snapshot, kind: ExperimentKind, shape: type[ExperimentResult], about: str = ""
) -> tuple[Experiment, ExperimentResult] | None:
    """The experiment of this kind to show, and its result.

    They are drawn after the explanation ``about``, the choices and the button.
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
    # a link in a caption is too faint by dark
    st.markdown(f"Compare with the paper ({tables}): run {source}.")
    return experiment, result


def say_unknown(snapshot: Snapshot, queries: str) -> None:
    """Report which answers of a query set the catalog lacks, before measuring."""
    if unknown := evaluations.unknown(snapshot, queries):
        st.warning(
            f"Answers that are not in this catalog: {safe_text.first_few(unknown, _NAMED)}.",
            icon=":material/help:",
        )


def _request(snapshot: Snapshot, kind: ExperimentKind) -> None:
    """The queries, the toolsets and the button; rare options are under *More*."""
    bar = st.container(horizontal=True, vertical_alignment="bottom")
    queries = bar.selectbox(
        "Queries",
        evaluations.query_sets(snapshot, kind == "servers"),
        key="set",
        bind="query-params",
        width=190,
        help="Add query sets on the Catalog page. Without one, requests are made from the tools' "
        "descriptions; such figures are too optimistic and only useful for comparison.",
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
            "Export writes only accepted ones unless told otherwise.",
        )
    if after in WITH_GATEWAY and page_frame.gateway_switch(bar, "after_gateway"):
        after = WITH_GATEWAY[after]
    elif withheld := measured_sides.withheld(snapshot, after):
        st.caption(
            f"Left out, because they need a gateway: {quantity(withheld, 'accepted merge')}."
        )
    start = bar.container(width="content")
    more = bar.popover("More", icon=":material/tune:", type="tertiary")
    request = _with_settings(more, ExperimentRequest(kind, queries, before, after, knob=knob))
    if kind in ("comparison", "servers", "stress"):
        with more:
            _upload(snapshot, sides)
    if knob == "encoder":
        request = replace(request, encoders=_encoders(snapshot.work.embedder.name))
        _tuning(snapshot, queries)
    _start(snapshot, request, start)


def _with_settings(more: DeltaGenerator, request: ExperimentRequest) -> ExperimentRequest:
    """Draw the rare options of a kind; the request with what is chosen."""
    kind, settings = request.kind, dict[str, Any]()
    if kind == "servers":
        settings["corpus"] = chosen_value(more, "Search in", CORPORA, "evaluation_corpus", 300)
    if kind != "stress":
        settings["search"] = chosen_value(
            more, "Search", SEARCHES, "evaluation_search", 300, ABOUT_SEARCHES
        )
        settings["rerank"] = chosen_value(more, "Reranking", RERANKERS, "evaluation_rerank", 300)
        if more.toggle("Set the weight of meaning against words (α)", key="set_alpha"):
            settings["alpha"] = more.slider("α", 0.0, 1.0, 0.6, 0.1, key="alpha")
        settings["assembly"] = chosen_value(
            more, "Assembly", ASSEMBLIES, "evaluation_assembly", 300, ABOUT_ASSEMBLY
        )
    if kind in _SELECTORS:
        about = ABOUT_SELECTORS[kind]
        settings["select"] = chosen_value(
            more, "Tools taken by", _SELECTORS[kind], "selector", 300, about
        )
    split = chosen_value(more, "Split requests", _SPLITS, "evaluation_split", 300, ABOUT_SPLITS)
    if split in _RECORDED:
        settings["recorded"] = _recorded(more, split)
    return replace(request, split=split, **settings)


def _recorded(more: DeltaGenerator, split: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Draw the field for a file of splits; those in it, by query id."""
    file = more.file_uploader(_ABOUT_RECORDED, type=["jsonl"], key="splits_file")
    if file is None:
        return ()
    try:
        splits = splits_in(rows_in(file.getvalue(), file.name), file.name, split)
    except ConfigError as error:
        safe_text.show_error(error)
        st.stop()
    return tuple(sorted(splits.items()))


def _start(snapshot: Snapshot, request: ExperimentRequest, place: DeltaGenerator) -> None:
    """The button, or the progress of what is being measured."""
    say_unknown(snapshot, request.queries)
    job = snapshot.job(evaluations.job_kind(request.kind))
    if job is not None and job.live:
        page_frame.job_panel(job.id)
        return
    if job is not None and job.state in ("failed", "paused") and job.message:
        safe_text.show_error(JobError(job.message))
    is_ready = not request.asks_model or _model_ready(snapshot, request)
    if place.button(
        "Measure", type="primary", icon=":material/play_arrow:", key="measure",
        disabled=not is_ready,
    ):  # fmt: skip
        st.query_params.pop("x", None)
        evaluations.start(snapshot, request)
        st.rerun()


def _model_ready(snapshot: Snapshot, request: ExperimentRequest) -> bool:
    """Draw how much a model would be asked; false if it cannot be asked now."""
    if not ask_panel.can_ask(snapshot, "experiment", _WITHOUT_MODEL):
        return False
    most = evaluations.most_questions(snapshot, request)
    model = safe_text.untrusted(snapshot.work.endpoints.required().model)
    shown = f", with about {most.tokens:,} tokens of tool definitions" if most.tokens else ""
    st.caption(
        f"*Measure* asks **{model}** at most {quantity(most.questions, 'question')}{shown}. It "
        "pauses at the budget in Settings, and answers are kept, so that measuring again continues."
    )
    return True


def _encoders(own: str) -> tuple[str, ...]:
    """The names of the encoders to compare, one per line."""
    names = st.text_area(
        "Encoders, one per line",
        own,
        key="encoders",
        help="Names or folders of sentence-transformers models, for example "
        "*BAAI/bge-small-en-v1.5*. A model that is not on this machine is downloaded from "
        "the Hugging Face hub when you press *Measure*. Every tool is embedded again, which "
        "takes minutes for four thousand.",
    )
    lines = filter(None, map(str.strip, names.splitlines()))
    return tuple(dict.fromkeys(lines)) or (own,)


def _tuning(snapshot: Snapshot, measured: str) -> None:
    """Draw the tuned encoder, and the button that tunes it on the other query sets."""
    job, folder = snapshot.job(learned_searches.TUNING), learned_searches.tuning_folder(snapshot)
    if job is not None and job.live:
        page_frame.job_panel(job.id)
        return
    if job is not None and job.state == "failed":
        safe_text.show_error(JobError(job.message))
    if folder.is_dir():
        st.caption(
            f"Tuned encoder, to put on a line of its own: {safe_text.untrusted(str(folder))}. "
            "Queries that it was tuned on are left out of the measurement."
        )
    count, seconds = learned_searches.tuning_lessons(snapshot, measured)
    time = f", about {duration(seconds)}" if count else ""
    if st.button(
        f"Tune an encoder on {quantity(count, 'query')}{time}",
        icon=":material/model_training:",
        key="tune_encoder",
        disabled=not count,
        help=f"{learned_searches.TUNED_MODEL} learns from the other query sets for one epoch: a "
        "request should be closer to what serves it than to what does not (Tool2Vec, section 5.1). "
        f"The time is at most that on two cores. At least {LEAST_QUERIES} queries are needed.",
    ):
        learned_searches.start_tuning(snapshot, measured)
        st.rerun()


def _upload(snapshot: Snapshot, sides: Sequence[str]) -> None:
    """A field to upload an exported bundle, which then becomes one of the toolsets."""
    file = st.file_uploader(
        "Measure an exported bundle of this catalog: a zip from the Export page",
        type=["zip"],
        key="bundle_file",
    )
    if file is None:
        return
    try:
        side = measured_sides.add_bundle(snapshot, file.getvalue(), file.name)
    except ToolScopeError as error:
        safe_text.show_error(error)
        return
    if side not in sides:
        st.rerun()
    st.caption(f"Added to the toolsets that you can compare: **{safe_text.untrusted(side)}**.")


def newest(snapshot: Snapshot, kind: str) -> Experiment | None:
    """The newest experiment of this kind with a result; one in the address has priority."""
    mine = [one for one in experiments.all(snapshot) if one.kind == kind]
    number_in_address = st.query_params.get("x", "")
    mine.sort(key=lambda one: str(one.number) != number_in_address)
    experiments_of_kind = (get_experiment(snapshot.work.store, one.number) for one in mine)
    return next((one for one in experiments_of_kind if one.result), None)


def knob_name(experiment: Experiment) -> str:
    """The setting varied by a sweep, in words."""
    knob = experiment.configuration.get("knob", "threshold")
    return next(name for name, value in KNOBS.items() if value == knob)


def described(experiment: Experiment) -> str:
    """What an experiment measured, in words; it contains users' names."""
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
    by = {"best": ", the best of each job", "model": ", tools taken by a model"}
    taken = by.get(config.get("select", ""), "")
    alpha = config.get("alpha")
    search = (f", {variant}" if variant else "") + ("" if alpha is None else f", α {alpha:g}")
    assembly = next((one for one, value in ASSEMBLIES.items() if value == config.get("assembly")))
    search += f", {assembly}" if config.get("assembly") else ""
    split = next(name for name, value in _SPLITS.items() if value == config.get("split", "auto"))
    split_in_words = "" if split == "as the search does" else f", split {split}"
    split_in_words += ", from a file" if config.get("recorded") else ""
    queries = quantity(config.get("query_count", 0), "query")
    source = config.get("queries")
    origin = source if source == SYNTHETIC else f"of {source}"
    return f"{sides}: {queries} {origin}{rerank}{search}{split_in_words}{taken}"


def describe(snapshot: Snapshot, experiment: Experiment) -> None:
    """A line on what was measured, and warnings if today's measurement would differ."""
    state = "" if experiment.is_done else " Not finished; *Measure* continues it."
    st.caption(
        f"Experiment {experiment.number}, {safe_text.clock(experiment.at)} UTC, "
        f"{experiment.seconds:,.0f} s. {safe_text.untrusted(described(experiment))}.{state}"
    )
    if experiment.configuration["queries"] == SYNTHETIC:
        st.warning(
            "Synthetic: these requests are made from the tools' descriptions, so they find "
            "them more easily than real requests would. Compare the two columns, but do not "
            "quote them.",
            icon=":material/science:",
        )
    if not evaluations.is_current(snapshot, experiment):
        st.warning(
            "The catalog or the decisions have changed since. Measure again for current figures.",
            icon=":material/history:",
        )
