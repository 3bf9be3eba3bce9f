"""What ranks the tools: their text, or a model that has learned from queries. The model can be
trained and removed.
"""

from operator import itemgetter

import streamlit as st

from toolscope_core.embedding.minilm import DEFAULT_MODEL
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import duration, quantity
from toolscope_core.tool2vec.training import LearnConfig
from ui.shared import data_tables, page_frame, safe_text
from ui.shared.data_tables import Column
from ui.shared.services import learned_searches
from ui.shared.services.learned_searches import Ranking, TrainedSide, TrainedView
from ui.shared.snapshot import Snapshot

TITLES: dict[str, Ranking] = {"Text": "text", "Usage": "usage", "Learned": "learned"}
_METHODS: dict[str, dict[str, LearnConfig]] = {
    "Usage": {"Tool2Vec": LearnConfig("tool2vec")},
    "Learned": {
        "classifier": LearnConfig("mlc"),
        "classifier and refiner": LearnConfig("refiner"),
        "classifier, with tuned encoder": LearnConfig("mlc", encoder=DEFAULT_MODEL),
    },
}
ABOUT_METHODS = (
    "Tool2Vec's classifier (MLC) scores all tools at once, and its ToolRefiner scores the best "
    "candidates together. With a tuned encoder (MLC with a fine-tuned transformer, section 4.2) "
    f"{DEFAULT_MODEL} itself learns from the requests. The model is downloaded from the Hugging "
    "Face hub if it is not on this machine."
)
_WAYS = {
    "tuned": "classifier with a tuned encoder",
    "text": "text",
    "tool2vec": "Tool2Vec",
    "mlc": "classifier (MLC)",
    "refiner": "ToolRefiner",
    "blend": "all combined, as in a search",
}
_METRICS = ("recall@3", "recall@5", "recall@7", "recall@10", "ndcg@5")
COSTS = {
    "Usage": "Training takes a few seconds. Searches cost no more than by text alone.",
    "Learned": (
        "Training takes a minute or two for a thousand queries, or ten minutes and more with the "
        "refiner. Searches take a few milliseconds longer."
    ),
}


def learned_panel(snapshot: Snapshot, title: str) -> None:
    """Show what a ranking costs and gains, with the buttons that train and remove its model."""
    job = snapshot.job(learned_searches.KIND)
    if job is not None and job.live:
        page_frame.job_panel(job.id)
        return
    if job is not None and job.state == "failed":
        safe_text.show_error(ConfigError(job.message))
    view = safe_text.value_or_error(lambda: learned_searches.view(snapshot, TITLES[title]))
    if view is None:
        st.info(
            f"No model is trained yet, so tools are ranked by their text. {COSTS[title]}",
            icon=":material/school:",
        )
        _train(snapshot, title, "Train")
        return
    with st.expander(f"Gain of the model: {_in_words(view.before)}", icon=":material/school:"):
        _figures(view)
        _train(snapshot, title, "Train again")
        st.button(
            "Remove the model",
            icon=":material/delete:",
            type="tertiary",
            key="remove_model",
            on_click=learned_searches.delete,
            args=(snapshot, TITLES[title]),
        )


def _in_words(side: TrainedSide) -> str:
    by_text, learned = side.recalls
    return f"recall@5 {learned.text}, by text {by_text.text}"


def _figures(view: TrainedView) -> None:
    before = view.before
    questions = f" and {quantity(before.questions, 'question')}" if before.questions else ""
    st.caption(
        f"Trained on {quantity(before.queries, 'query')}{questions}; "
        f"{before.size / 1_000_000:.1f} MB. The figures are for queries that were held out from "
        f"training ({before.figures.queries:,} before the merge), with 95 % intervals."
    )
    sides = {"before": view.before, **({"after": view.after} if view.after else {})}
    rows = [
        {"ranked by": _WAYS.get(way, way), "merge": name, **{one: m[one].text for one in _METRICS}}
        for name, side in sides.items()
        for way, m in side.figures.metrics.items()
    ]
    columns = [Column(name, itemgetter(name)) for name in rows[0]]
    data_tables.draw(rows, columns, "Results of each ranking on held-out queries")
    if idle := [name for name, side in sides.items() if not side.helps]:
        has_neither = len(idle) == len(sides)
        where = "" if has_neither else f" {idle[0]} the merge"
        more = "" if has_neither else (
            f" {'After' if idle[0] == 'before' else 'Before'} the merge, the trained model ranks "
            "the tools, so a tool's rank may change because of the model and not because of the "
            "merge."
        )  # fmt: skip
        st.warning(
            f"The trained model does not clearly help{where} on these queries, so tools are "
            f"still ranked by their text{where}. More queries may change that.{more}",
            icon=":material/info:",
        )
    stale = sum(side.stale for side in sides.values())
    if stale:
        st.warning(
            f"Changed or added since the training: {quantity(stale, 'tool')}, ranked by text "
            "until you train again.",
            icon=":material/update:",
        )


def _train(snapshot: Snapshot, title: str, label: str) -> None:
    count = len(learned_searches.queries(snapshot))
    bar = st.container(horizontal=True, vertical_alignment="bottom")
    methods = _METHODS[title]
    method = next(iter(methods))
    if len(methods) > 1:
        method = bar.selectbox(
            "Method", list(methods), key="learn_method", width=230, help=ABOUT_METHODS
        )
    bar.button(
        f"{label} on {quantity(count, 'query')}",
        icon=":material/model_training:",
        type="primary" if label == "Train" else "secondary",
        disabled=count == 0,
        key="train_model",
        on_click=_start,
        args=(snapshot, methods[method]),
        help="Uses all queries with known tools in this catalog's query sets, and the questions "
        "of its accepted document variants.",
    )
    if methods[method].encoder and count:
        time = duration(learned_searches.tuning_seconds(snapshot))
        st.caption(
            f"Tuning takes at most about {time} on two cores. An interrupted run continues after "
            "its last whole epoch."
        )
    if not count:
        page_frame.page_link("catalog", "Add a query set with known answers", icon="playlist_add")


def _start(snapshot: Snapshot, config: LearnConfig) -> None:
    learned_searches.start(snapshot, config)
