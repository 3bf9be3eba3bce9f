"""Asking a model about a catalog: the estimate, the run with its progress, and
how the run ended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import streamlit as st

from toolscope_core.llm.model_requests import IN_THEIR_WORDS
from toolscope_core.llm.run_configuration import RunKind
from toolscope_core.merging.model_verdicts import Band, DocumentationGrade
from toolscope_core.model.cluster import OUTCOME_NAMES, outcome_word
from toolscope_core.model.configuration import Budget, Endpoint
from toolscope_core.model.numbers import quantity
from toolscope_core.model.pair import Pair
from ui.shared import data_tables, page_frame, pictures, runs_table, safe_text
from ui.shared.cards.cluster_card import Color
from ui.shared.chosen_judge import OFFLINE
from ui.shared.data_tables import Column, Columns
from ui.shared.services import judging, model_runs
from ui.shared.snapshot import Snapshot

if TYPE_CHECKING:
    from toolscope_core.llm.estimates import Estimates


_TASKS = {
    "judge": "on pairs",
    "audit": "on clusters",
    "family audit": "on families",
    "synthesis": "on wording",
    "quality": "on documentation",
    "augmentation": "on document variants",
    "siblings": "on siblings",
    "namespaces": "on namespaces",
    "worker": "for tools of a job",
    "plan filter": "on whole plans",
    "query drafts": "for drafts of queries",
    "query polish": "for their wording",
    "calls": "for the calls of a tool",
}
_REFUSED = "asking_refused"
"""Session key for why a start was refused. It is shown once."""
_NOT_ASKED = (
    "Not asked: pairs that the offline judge clearly keeps apart, merges that other answers "
    "imply, and clusters in which no pair is in doubt."
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question that a panel can ask a model.

    ``estimate`` computes the cost. It is called again when ``inputs`` change. ``start`` starts or
    continues a run.
    """

    kind: RunKind
    inputs: tuple[object, ...]
    estimate: Callable[[], Estimates]
    start: Callable[[], object]


def offer(snapshot: Snapshot) -> None:
    """Draw an offer to ask the model before a person decides, with the price and the button.

    Nothing is drawn if there is no model, if its verdicts are already used, or if nothing is left
    to ask.
    """
    if not snapshot.names_model or snapshot.judge != OFFLINE:
        return
    job = judging.job(snapshot)
    if job is not None and job.live:
        if job.kind == "judge":
            page_frame.job_panel(job.id)
        return
    endpoint = snapshot.work.endpoints.required()
    with st.spinner("Estimating calls and cost"):
        estimates = model_runs.first_estimate(snapshot, endpoint)
    if estimates.questions:
        question = Question("judge", (), lambda: estimates, lambda: model_runs.start(snapshot))
        with st.container(border=True, key="offer", horizontal=True, vertical_alignment="center"):
            st.markdown(
                f"**Ask the model before you decide?** {_price_in_words(estimates, endpoint)} "
                "Its verdicts wait for your decision."
            )
            _start("Ask for verdicts", "offer_judge", question)
        safe_text.show(_REFUSED)


def ask_box(
    snapshot: Snapshot, kind: RunKind, title: str, label: str, about: str, one: Sequence[str] = ()
) -> None:
    """Draw a collapsed box that explains the run (``about``) and contains ``ask_panel``."""
    box = st.expander(title, key=f"ask_box_{kind}", icon=":material/forum:", on_change="rerun")
    if box.open:
        with box:
            st.caption(about)
            ask_panel(snapshot, kind, label, one)


def ask_panel(snapshot: Snapshot, kind: RunKind, label: str, one: Sequence[str] = ()) -> None:
    """Draw the estimate, the button ``label``, the progress, and how the last run ended.

    A second button asks only about the clusters whose ids are in ``one``.
    """
    if not can_ask(snapshot, kind, "No model is set up, so everything is judged offline."):
        return
    paper = kind == "judge" and st.toggle(
        "Ask about every pair and cluster", key="paper", persist_state="session"
    )
    if kind == "judge" and not paper:
        st.caption(_NOT_ASKED)
    question = Question(
        kind,
        (paper,),
        lambda: model_runs.estimate(snapshot, kind, paper),
        lambda: model_runs.start(snapshot, kind, paper),
    )
    only = replace(question, start=lambda: model_runs.start(snapshot, kind, paper, one))
    question_panel(snapshot, question, label, only if one else None)


def can_ask(snapshot: Snapshot, kind: RunKind, without: str) -> bool:
    """Whether a model can be asked now. If not, draws the reason.

    ``without`` says what happens without a model.
    """
    work = snapshot.work
    if work.endpoints.get() is None:
        st.caption(without)
        page_frame.page_link("settings", "Set up a model")
        return False
    job = judging.job(snapshot)
    if job is not None and job.live:
        if job.kind == kind:
            page_frame.job_panel(job.id)
        else:  # its own panel, which may be on the same page, shows its progress
            st.caption("The model is busy with another run.")
        return False
    if snapshot.analysed is None:
        st.caption("A model can be asked once the analysis is done.")
        return False
    return True


def question_panel(
    snapshot: Snapshot, question: Question, label: str, only: Question | None = None
) -> Estimates:
    """Draw the estimate, the button ``label``, and how the last run ended. Returns the estimate.

    If there is an ``only``, a second button asks just that part. Call this only after ``can_ask``.
    """
    endpoint = snapshot.work.endpoints.required()
    safe_text.show(_REFUSED)
    estimates = _estimates(snapshot, question, endpoint)
    _estimate_in_words(estimates, endpoint)
    _last_run(snapshot, question, endpoint)
    with st.container(horizontal=True, vertical_alignment="center"):
        _start(label, f"ask_{question.kind}", question)
        if only:
            _start("Only this one", f"ask_{question.kind}_one", only)
        page_frame.page_link("history", "Run history", history_part="Model runs")
    return estimates


def judge_choice(snapshot: Snapshot) -> None:
    """Draw the choice of the judge whose verdicts count, and a summary of that judge's answers."""
    runs = {run.id: run for run in judging.choices(snapshot)}
    if not runs:
        return
    used_judge = judging.judge_in_use(snapshot)
    judges = [OFFLINE, *runs]
    key = f"judge_{used_judge}_{len(runs)}"
    st.selectbox(
        "Verdicts used for proposals",
        judges,
        judges.index(used_judge) if used_judge in judges else 0,
        format_func=lambda option: (
            runs_table.in_one_line(runs[option]) if option in runs else "offline judge only"
        ),
        key=key,
        on_change=lambda: judging.use(snapshot, st.session_state[key]),
        help=(
            "A finished run is used automatically. Merges suggested by a model always remain "
            "proposals."
        ),
    )
    _answers(snapshot)


def _estimates(snapshot: Snapshot, question: Question, endpoint: Endpoint) -> Estimates:
    """The estimate for a run. It is computed again when a decision or a run has changed the
    questions.
    """
    runs = [(run.id, run.ended_at) for run in judging.runs(snapshot)]
    inputs = (snapshot.id, question.inputs, endpoint, len(snapshot.log), runs)
    key = f"estimates_{question.kind}"
    if st.session_state.get(key, (None,))[0] != inputs:
        with st.spinner("Estimating calls and cost"):
            st.session_state[key] = (inputs, question.estimate())
    estimates: Estimates = st.session_state[key][1]
    return estimates


def _estimate_in_words(estimates: Estimates, endpoint: Endpoint) -> None:
    model = safe_text.untrusted(endpoint.model)
    count = sum(task.reused for task in estimates.tasks.values())
    known_answers = f" Already answered: {count:,}." if count else ""
    if not estimates.questions:
        st.markdown(f"Nothing is left to ask **{model}**.{known_answers}")
        return
    st.markdown(f"{_price_in_words(estimates, endpoint)}{known_answers}")
    questions, tokens = estimates.saved
    if questions > 0:
        st.caption(
            f"Asking about every pair and cluster would add {quantity(questions, 'question')} and "
            f"{quantity(tokens, 'token')}."
        )
    limits = endpoint.budget
    if limits.calls is not None and limits.calls < estimates.calls:
        st.caption(f"The run will pause at the budget of {limits.calls:,} calls.")


def _price_in_words(estimates: Estimates, endpoint: Endpoint) -> str:
    """The number of questions, and the tokens, money and time that they take. Safe in markdown."""
    parts = ", ".join(
        f"{task.questions - task.reused:,} {_TASKS[name]}"
        for name, task in estimates.tasks.items()
        if task.questions > task.reused
    )
    tokens_in, tokens_out = estimates.tokens
    cost = "unknown (no price set)" if estimates.cost is None else f"at most {estimates.cost:,.2f}"
    model, origin = safe_text.untrusted(endpoint.model), safe_text.untrusted(endpoint.origin)
    wording = "" if endpoint.prompts == "own" else IN_THEIR_WORDS
    return (
        f"Questions: **{estimates.questions:,}** to **{model}** at {origin}{wording} ({parts}), in "
        f"about {quantity(estimates.calls, 'call')}. Tokens: about {tokens_in:,} in, at most "
        f"{tokens_out:,} out. "
        f"Cost: {cost}. Time: {estimates.time_in_words(endpoint.concurrency)}."
    )


def _last_run(snapshot: Snapshot, question: Question, endpoint: Endpoint) -> None:
    """Show how the last run of this kind ended, unless it is running or done."""
    runs = judging.runs(snapshot)
    last = next((run for run in runs if run.kind == question.kind), None)
    if last is None or last.state in ("done", "running"):
        return
    outcome = f"{last.state}: {last.message}" if last.message else last.state
    st.warning(
        f"{safe_text.untrusted(outcome)}. Calls made: {last.calls:,}. All answers are kept; asking "
        "again resumes from there.",
        icon=":material/pause_circle:",
    )
    if last.state == "paused" and endpoint.budget != Budget():
        _raise_budget(snapshot, question, endpoint)


def _raise_budget(snapshot: Snapshot, question: Question, endpoint: Endpoint) -> None:
    budget = endpoint.budget
    with st.popover("Raise the budget", icon=":material/savings:"):
        calls, money = budget.calls, budget.money
        if calls is not None:
            calls = st.number_input(
                "Maximum model calls per run", value=2 * calls or 100, min_value=calls
            )
        if money is not None:
            money = st.number_input("Maximum cost per run", value=2 * money or 1.0, min_value=money)

        def resume() -> None:
            snapshot.work.endpoints.save(replace(endpoint, budget=Budget(calls, money)))
            _ask(question)

        st.button("Raise and resume", key="raise_budget", on_click=resume)


def _start(label: str, key: str, question: Question) -> None:
    st.button(label, key=key, icon=":material/forum:", on_click=_ask, args=(question,))


def _ask(question: Question) -> None:
    safe_text.attempt(_REFUSED, question.start)


def _answers(snapshot: Snapshot) -> None:
    """Draw a summary of the answers in use: verdicts, questions saved, and text that the model did
    not read.
    """
    answers = snapshot.analysis.model_verdicts
    if answers is None:
        return
    counts = Counter(verdict.outcome for verdict in answers.verdicts.values())
    verdicts = "; ".join(f"{counts[one]:,} {outcome_word(one)}" for one in OUTCOME_NAMES)
    saved = answers.saved
    st.caption(
        f"Verdicts of {safe_text.untrusted(answers.judge)}: {verdicts}. Not asked: "
        f"{quantity(saved.sure, 'pair')} that the offline judge clearly keeps apart; "
        f"{quantity(saved.implied, 'pair')} implied by other answers; "
        f"{quantity(saved.clusters, 'cluster')} in which no pair is in doubt."
    )
    if answers.unanalysed:
        st.caption(f"Pairs without a usable answer, not merged: {len(answers.unanalysed):,}.")
        columns: Columns[tuple[Pair, str]] = [
            Column("tool A", lambda row: row[0].left),
            Column("tool B", lambda row: row[0].right),
            Column("reason", lambda row: row[1]),
        ]
        data_tables.draw(
            list(answers.unanalysed.items()), columns, "Pairs without a usable answer", most=180
        )
    if answers.notes:
        st.caption(f"Tools with shortened or changed text in the prompt: {len(answers.notes):,}.")
        data_tables.draw(
            [(tool, note) for tool, notes in answers.notes.items() for note in notes],
            [Column("tool", lambda row: row[0]), Column("note", lambda row: row[1])],
            "Tools shortened in the prompt",
            most=180,
        )


BANDS: tuple[Band, ...] = ("Low", "Medium", "High")
MEANINGS: dict[Band, str] = {
    "Low": "Wrong calls are likely (grades 1 and 2).",
    "Medium": "Some guessing is needed (grade 3).",
    "High": "Little or nothing is missing (grades 4 and 5).",
}
_COLORS: dict[Band, Color] = {"Low": "red", "Medium": "orange", "High": "green"}


def grades_panel(snapshot: Snapshot) -> None:
    """Draw the button that starts grading, and the grades, starting with the tools that have the
    worst documentation.
    """
    st.caption(
        "A model grades how well each tool documents its parameters, constraints, behaviour and "
        "result, from 1 to 5. Grades change nothing."
    )
    ask_panel(snapshot, "quality", "Grade documentation")
    grades = judging.grades(snapshot)
    if not grades:
        return
    counts = Counter(grade.band for grade in grades.values())
    for place, band in zip(st.columns(3), BANDS, strict=True):
        place.metric(band, f"{counts[band]:,}", help=MEANINGS[band], border=True)
    rows = sorted(grades.items(), key=lambda one: (one[1].score, one[0]))
    columns: Columns[tuple[str, DocumentationGrade]] = [
        Column("tool", lambda row: row[0], width=240),
        Column("documentation", lambda row: row[1].band),
        Column("grade", lambda row: row[1].score, title="grade (of 5)", width=95),
        Column("missing", lambda row: ", ".join(row[1].lacking)),
        Column("reason", lambda row: row[1].reason, width=520),
    ]
    data_tables.draw(
        rows[: pictures.ROWS],
        columns,
        "Tools and how well they are documented (worst first)",
        height=380,
    )
    with st.container(horizontal=True):
        pictures.downloads(data_tables.records(rows, columns), "documentation")


def grade_of(grade: DocumentationGrade) -> None:
    """Draw the grade of one tool with the reasons for it."""
    st.badge(
        f"Documentation: {grade.band}, {grade.score} of 5",
        color=_COLORS[grade.band],
        icon=":material/grading:",
    )
    lacks = f" Missing: {', '.join(grade.lacking)}." if grade.lacking else ""
    st.caption(f"{safe_text.untrusted(grade.reason)}{lacks}")
