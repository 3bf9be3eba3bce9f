"""The less common options of an experiment: the search, what selects tools, splits, encoders and
bundles.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from toolscope_core.files.json_lines import rows_in
from toolscope_core.model.errors import JobError
from toolscope_core.model.numbers import duration, quantity
from toolscope_core.retrieval.decomposition import splits_in
from toolscope_core.tool2vec.training_queries import LEAST_QUERIES
from ui.evaluation import evaluations, experiment_requests, measured_sides
from ui.shared import ask_panel, page_frame, safe_text
from ui.shared.search_settings_panel import (
    ABOUT_ASSEMBLY,
    ABOUT_SEARCHES,
    ASSEMBLIES,
    CORPORA,
    RERANKERS,
    SEARCHES,
    chosen_value,
)
from ui.shared.services import learned_searches
from ui.shared.snapshot import Snapshot

SPLITS: dict[str, experiment_requests.ExperimentSplit] = {
    "as the search does": "auto",
    "by rule": "rules",
    "by step": "steps",
    "by a model": "dummy",
    "by a model in context": "context",
    "not at all": "none",
}
_RECORDED = ("steps", "dummy", "context")
"""The splits that a file may contain."""
_EITHER: dict[str, experiment_requests.Selector] = {"the search": "", "a model": "model"}
_SELECTORS: dict[experiment_requests.ExperimentKind, dict[str, experiment_requests.Selector]] = {
    "comparison": _EITHER,
    "ablation": _EITHER,
    "plan": _EITHER,
    "stress": {"all that is found": "", "the search": "best", "a model": "model"},
}
_ABOUT_CSR = (
    "Correct selection (CSR@k) counts the queries for which exactly the needed tools are taken "
    "from the first k. ToolScope has a model choose (tables 2 to 4); without a model, each job "
    "takes the best of these tools by its own search."
)
ABOUT_SELECTORS: dict[experiment_requests.ExperimentKind, str] = {
    "comparison": _ABOUT_CSR,
    "ablation": _ABOUT_CSR,
    "plan": "Retrieval–Plan–Select has a model as worker (tables 9 to 11): the model sees 5 tools "
    "for a job, or up to 15 if it takes none of the 5, and rewords the job. Without a model, each "
    "job takes the best tool of its own search.",
    "stress": "What counts: the 10 tools found in the pool (5 for each sub-query), the best for "
    "each job, or what a model takes when it sees the whole pool (Retrieval–Plan–Select, tables 6 "
    "and 8).",
}
_WITHOUT_MODEL = "No model is set up; the search can take the tools, and rules can split requests."
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


def with_settings(
    more: DeltaGenerator, request: experiment_requests.ExperimentRequest
) -> experiment_requests.ExperimentRequest:
    """Draw the less common options of a kind. Returns the request with the chosen options."""
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
    split = chosen_value(more, "Split requests", SPLITS, "evaluation_split", 300, ABOUT_SPLITS)
    if split in _RECORDED:
        settings["recorded"] = _recorded(more, split)
    return replace(request, split=split, **settings)


def _recorded(more: DeltaGenerator, split: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Draw the field for a file of splits. Returns the splits in the file, by query id."""
    file = more.file_uploader(_ABOUT_RECORDED, type=["jsonl"], key="splits_file")
    if file is None:
        return ()
    splits = safe_text.value_or_error(
        lambda: splits_in(rows_in(file.getvalue(), file.name), file.name, split)
    )
    if splits is None:
        st.stop()
    return tuple(sorted(splits.items()))


def model_ready(snapshot: Snapshot, request: experiment_requests.ExperimentRequest) -> bool:
    """Show how much a model would be asked. Returns false if it cannot be asked now."""
    if not ask_panel.can_ask(snapshot, "experiment", _WITHOUT_MODEL):
        return False
    most = evaluations.most_questions(snapshot, request)
    model = safe_text.untrusted(snapshot.work.endpoints.required().model)
    shown = f", with about {most.tokens:,} tokens of tool definitions" if most.tokens else ""
    st.caption(
        f"*Measure* asks **{model}** at most {quantity(most.questions, 'question')}{shown}. The "
        "run pauses at the budget in Settings. Answers are kept, so measuring again continues it."
    )
    return True


def chosen_encoders(own: str) -> tuple[str, ...]:
    """Draw a field for the encoders to compare, one per line. Returns their names."""
    names = st.text_area(
        "Encoders, one per line",
        own,
        key="encoders",
        help="Names or folders of sentence-transformers models, for example "
        "*BAAI/bge-small-en-v1.5*. A model that is not on this machine is downloaded from the "
        "Hugging Face hub when you press *Measure*. Every tool is embedded again, which takes "
        "minutes for four thousand tools.",
    )
    lines = filter(None, map(str.strip, names.splitlines()))
    return tuple(dict.fromkeys(lines)) or (own,)


def tuning_panel(snapshot: Snapshot, measured: str) -> None:
    """Draw the tuned encoder, and the button that tunes it on the other query sets."""
    job, folder = snapshot.job(learned_searches.TUNING), learned_searches.tuning_folder(snapshot)
    if job is not None and job.live:
        page_frame.job_panel(job.id)
        return
    if job is not None and job.state == "failed":
        safe_text.show_error(JobError(job.message))
    if folder.is_dir():
        st.caption(
            "To use the tuned encoder, put it on its own line: "
            f"{safe_text.untrusted(str(folder))}. Queries that it was tuned on are not measured."
        )
    count, seconds = learned_searches.tuning_lessons(snapshot, measured)
    time = f", about {duration(seconds)}" if count else ""
    if st.button(
        f"Tune an encoder on {quantity(count, 'query')}{time}",
        icon=":material/model_training:",
        key="tune_encoder",
        disabled=not count,
        help=f"{learned_searches.TUNED_MODEL} learns from the other query sets for one epoch: a "
        "request should be closer to tools that serve it than to others (Tool2Vec, section 5.1). "
        f"Two cores need at most this time. At least {LEAST_QUERIES} queries are needed.",
    ):
        learned_searches.start_tuning(snapshot, measured)
        st.rerun()


def bundle_upload(snapshot: Snapshot, sides: Sequence[str]) -> None:
    """Draw a field that takes an exported bundle. The bundle then becomes one of the toolsets."""
    file = st.file_uploader(
        "Measure an exported bundle of this catalog: a zip from the Export page",
        type=["zip"],
        key="bundle_file",
    )
    if file is None:
        return
    side = safe_text.value_or_error(
        lambda: measured_sides.add_bundle(snapshot, file.getvalue(), file.name)
    )
    if side is None:
        return
    if side not in sides:
        st.rerun()
    st.caption(f"Added to the toolsets that you can compare: **{safe_text.untrusted(side)}**.")
