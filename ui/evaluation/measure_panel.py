"""What is measured: the queries, the two toolsets, the button, and the result that is there."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from toolscope_core.model.configuration import Knob, Split
from toolscope_core.model.errors import JobError, ToolScopeError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.plan import Experiment
from ui.evaluation.evaluations import SYNTHETIC, Evaluations, Kind, Wanted
from ui.shared import page_frame, safe_text
from ui.shared.services.experiments import ORIGINAL, Experiments
from ui.shared.value_choice import chosen_value

EXPERIMENTS = "Experiments"
KINDS: dict[str, Kind] = {"Stress": "stress", "Sweep": "sweep", "Ablation": "ablation"}
KNOBS: dict[str, Knob] = {
    "least similarity of merges (θ)": "theta",
    "weight of meaning against words": "alpha",
    "how many are reranked (M)": "candidates",
    "how many tools are given (k)": "k",
    "what embeds (the encoder)": "encoder",
}
SPLITS: dict[str, Split] = {"by rule": "rules", "by step": "steps", "not at all": "none"}
WHAT_IT_DOES: dict[Kind, str] = {
    "comparison": "*Measure* searches every query in both toolsets; a thousand queries take about "
    "a minute.",
    "stress": "*Measure* searches the tools of every query among more and more others.",
    "sweep": "*Measure* searches every query at each value of the setting.",
    "ablation": "*Measure* searches every query with parts of the merge and of the search left "
    "out.",
}
RERANKERS = {"automatic": "auto", "off": "none"}
ABOUT_SPLITS = (
    "By rule: sentences and clauses that begin with a verb. By step: as the query set says, which "
    "is part of its answer, so this shows what a perfect planner could reach."
)


def request_panel(catalog_id: int, part: str) -> Wanted:
    """Draw what can be chosen for a part of the page, and the button that measures it."""
    evaluations = page_frame.service(Evaluations)
    kind: Kind = KINDS.get(part, "comparison")
    sides = evaluations.sides.names(catalog_id)
    sets = evaluations.query_sets(catalog_id)
    bar = st.container(horizontal=True, vertical_alignment="bottom")
    queries = bar.selectbox(
        "Queries",
        sets,
        key="set",
        bind="query-params",
        width=190,
        help="Query sets are added on the Catalog page. Without one, requests are made from the "
        "descriptions of the tools: such figures are too good, and only good to compare.",
    )
    knob: Knob = "theta"
    before = ORIGINAL
    encoders: tuple[str, ...] = ()
    if kind == "sweep":
        knob = chosen_value(bar, "Move", KNOBS, "knob", 260)
        after = bar.selectbox(
            "Merges to apply", sides[1:4], index=1, key="after", bind="query-params", width=190
        )
        encoders = _encoders() if knob == "encoder" else ()
    elif kind == "ablation":
        after = "all proposals"
    else:
        before = bar.selectbox("Toolset", sides, key="before", bind="query-params", width=155)
        after = bar.selectbox(
            "against", sides, index=2, key="after", bind="query-params", width=165
        )
    rerank = "auto"
    if kind in ("comparison", "sweep"):
        rerank = chosen_value(bar, "Reranking", RERANKERS, "evaluation_rerank", 120)
    split = chosen_value(bar, "Split requests", SPLITS, "evaluation_split", 130, ABOUT_SPLITS)
    wanted = Wanted(kind, queries, before, after, rerank, split, knob, encoders)
    if kind in ("comparison", "stress"):
        _upload(catalog_id, sides)
    job = evaluations.job(catalog_id, kind)
    if job is not None and job.live:
        page_frame.job_panel(job.id)
    else:
        if job is not None and job.state in ("failed", "paused") and job.message:
            safe_text.show_error(JobError(job.message))
        if bar.button("Measure", type="primary", icon=":material/play_arrow:", key="measure"):
            st.query_params.pop("x", None)
            evaluations.start(catalog_id, wanted)
            st.rerun()
    return wanted


def _encoders() -> tuple[str, ...]:
    """The names of the encoders to compare, one a line."""
    names = st.text_area(
        "Encoders, one a line",
        page_frame.service(Evaluations).encoder,
        key="encoders",
        help="Names or folders of sentence-transformers models, such as "
        "*BAAI/bge-small-en-v1.5*. One that is not on this machine is downloaded from the Hugging "
        "Face hub when you press *Measure*. Each tool is embedded again: four thousand take "
        "minutes.",
    )
    own = (page_frame.service(Evaluations).encoder,)
    return tuple(dict.fromkeys(filter(None, map(str.strip, names.splitlines())))) or own


def _upload(catalog_id: int, sides: Sequence[str]) -> None:
    """A place for a bundle that somebody exported; then it is one of the toolsets."""
    with st.expander("Measure an exported bundle", icon=":material/folder_zip:", key="bundle"):
        file = st.file_uploader(
            "A zip from the Export page, of this catalog", type=["zip"], key="bundle_file"
        )
        if file is None:
            return
        try:
            side = page_frame.service(Evaluations).sides.add_bundle(
                catalog_id, file.getvalue(), file.name
            )
        except ToolScopeError as error:
            safe_text.show_error(error)
            return
        if side not in sides:
            st.rerun()
        st.caption(f"It is among the toolsets now: **{safe_text.untrusted(side)}**.")


def shown_experiment(catalog_id: int, wanted: Wanted) -> Experiment | None:
    """The newest experiment of this kind that has a result, that of the address before others, with
    what it measured in a line.
    """
    experiments = page_frame.service(Experiments)
    mine = [one for one in experiments.all(catalog_id) if one.kind == wanted.kind]
    named = st.query_params.get("x", "")
    mine.sort(key=lambda one: str(one.number) != named)
    for one in mine:
        experiment = experiments.get(one.number)
        if experiment.result or wanted.kind == "sweep":  # a sweep says that itself
            _describe(catalog_id, experiment)
            return experiment
    st.info(f"Nothing is measured yet. {WHAT_IT_DOES[wanted.kind]}", icon=":material/query_stats:")
    return None


def described(experiment: Experiment) -> str:
    """What an experiment measured, in words; the names in it are those of users."""
    asked = experiment.configuration
    what = f"{asked.get('before')} against {asked.get('after')}"
    if experiment.kind == "sweep":
        names = {value: name for name, value in KNOBS.items()}
        what = f"{names.get(asked.get('knob', 'theta'))} moved, merges: {asked.get('after')}"
    if experiment.kind == "agent":
        what = f"{asked.get('model')} at work: {what}"
    if experiment.kind == "ablation":
        what = "reranker, merger and correction on and off"
    rerank = ", no reranking" if asked.get("rerank") == "none" else ""
    splits = {value: name for name, value in SPLITS.items()}
    whole = (
        "" if asked.get("split", "rules") == "rules" else f", split {splits.get(asked['split'])}"
    )
    queries = quantity(asked.get("query_count", 0), "query")
    return f"{what}: {queries} of {asked.get('queries')}{rerank}{whole}"


def _describe(catalog_id: int, experiment: Experiment) -> None:
    evaluations = page_frame.service(Evaluations)
    state = "" if experiment.is_done else " Not finished: *Measure* goes on with it."
    st.caption(
        f"Experiment {experiment.number}, {safe_text.clock(experiment.at)} UTC, "
        f"{experiment.seconds:,.0f} s. {safe_text.untrusted(described(experiment))}.{state}"
    )
    if experiment.configuration["queries"] == SYNTHETIC:
        st.warning(
            "Synthetic: these requests are made from the descriptions of the tools, so they find "
            "them more easily than people's requests do. Compare the two columns; do not quote "
            "them.",
            icon=":material/science:",
        )
    if not evaluations.is_current(catalog_id, experiment):
        st.warning(
            "The catalog or the decisions have changed since. *Measure* again for today's figures.",
            icon=":material/history:",
        )
