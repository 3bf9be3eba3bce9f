"""Asking a model about a catalog: what it takes, the run with its progress, and how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from toolscope_core.config import Budget, Endpoint
from toolscope_core.errors import JobError, ToolScopeError
from toolscope_core.run_configuration import RunKind
from toolscope_core.views.estimates import Estimates
from toolscope_core.workspace.judging import OFFLINE
from ui.frame import page_frame, safe_text
from ui.models import runs_table

TASKS = {
    "judge": "on pairs",
    "audit": "on clusters",
    "synthesis": "for words",
    "quality": "on documentation",
}
REFUSED = "asking_refused"
"""Session key: why a start was refused, told once."""
PAPER = (
    "Asks about every candidate pair and every cluster. Otherwise pairs that the offline judge is "
    "sure to keep apart are not asked about, nor merges that the answers imply, nor clusters in "
    "which nothing is weak."
)


def asking_panel(catalog_id: int, kind: RunKind, label: str, one: Sequence[str] = ()) -> None:
    """What asking takes, the button ``label``, progress, and how the last run ended.

    ``one`` are ids of clusters about whose words alone a second button asks.
    """
    work = page_frame.workspace()
    endpoint = work.endpoints.get()
    if endpoint is None:
        st.caption("No model is chosen, so everything is judged offline.")
        if work.analyses.get(catalog_id) is not None:
            _earlier(work.judging.earlier(catalog_id, kind))
        st.page_link("pages/settings.py", label="Choose a model", icon=":material/settings:")
        return
    job = work.judging.job(catalog_id)
    if job is not None and job.live:
        page_frame.job_panel(job.id)
        return
    if work.analyses.get(catalog_id) is None:
        st.caption("A model can be asked once the tools are compared.")
        return
    if refused := st.session_state.pop(REFUSED, ""):
        safe_text.show_error(JobError(refused))
    paper = kind == "judge" and st.toggle(
        "Ask everything", key="paper", persist_state="session", help=PAPER
    )
    takes = _takes(catalog_id, kind, paper, endpoint)
    _in_words(takes, endpoint)
    _earlier(takes.earlier, takes)
    _ended(catalog_id, kind, paper, endpoint)
    with st.container(horizontal=True, vertical_alignment="center"):
        _start(label, catalog_id, kind, paper)
        if one:
            _start("Only for this one", catalog_id, kind, paper, one)
        st.page_link("pages/history.py", label="All runs", icon=":material/history:")


def judge_choice(catalog_id: int) -> None:
    """Which judge the plan is made with, where there is a choice, and what a model said in it."""
    judging = page_frame.workspace().judging
    runs = {run.id: run for run in judging.choices(catalog_id)}
    if not runs:
        return
    used = judging.used(catalog_id)
    options = [OFFLINE, *runs]
    key = f"judge_{used}_{len(runs)}"
    st.selectbox(
        "Merges are proposed by",
        options,
        options.index(used) if used in options else 0,
        format_func=lambda option: (
            runs_table.named(runs[option]) if option in runs else "offline alone"
        ),
        key=key,
        on_change=lambda: judging.use(catalog_id, st.session_state[key]),
        help="A run that is done is chosen by itself. Whatever a model merges is only proposed.",
    )
    _said(catalog_id)


def _takes(catalog_id: int, kind: RunKind, paper: bool, endpoint: Endpoint) -> Estimates:
    """The estimate; worked out again when a decision or a run has changed what is to be asked."""
    work = page_frame.workspace()
    runs = [(run.id, run.ended_at) for run in work.judging.runs(catalog_id)]
    now = (catalog_id, paper, endpoint, len(work.review.log(catalog_id)), runs)
    place = f"takes_{kind}"
    if st.session_state.get(place, (None,))[0] != now:
        with st.spinner("Working out what asking takes"):
            st.session_state[place] = (now, work.judging.estimate(catalog_id, kind, paper))
    takes: Estimates = st.session_state[place][1]
    return takes


def _in_words(takes: Estimates, endpoint: Endpoint) -> None:
    model, origin = safe_text.untrusted(endpoint.model), safe_text.untrusted(endpoint.origin)
    known = sum(task.reused for task in takes.tasks.values())
    held = f" The store already holds {known:,} answers." if known else ""
    if not takes.questions:
        st.markdown(f"Nothing is left to ask **{model}**: it would take no call.{held}")
        return
    parts = ", ".join(
        f"{task.questions - task.reused:,} {TASKS[name]}"
        for name, task in takes.tasks.items()
        if task.questions > task.reused
    )
    sent, back = takes.tokens
    cost = "no price is set" if takes.cost is None else f"at most {takes.cost:,.2f} of money"
    st.markdown(
        f"Questions: **{takes.questions:,}** to **{model}** at {origin} ({parts}), in about "
        f"{takes.calls:,} calls; about {sent:,} tokens in, at most {back:,} out; {cost}.{held}"
    )
    questions, tokens = takes.saved
    if questions > 0:
        st.caption(
            f"Asking everything would take {questions:,} questions and {tokens:,} tokens more."
        )
    limits = endpoint.budget
    if limits.calls is not None and limits.calls < takes.calls:
        st.caption(f"The budget of {limits.calls:,} calls a run is less: it will pause there.")


def _earlier(count: int, takes: Estimates | None = None) -> None:
    """That answers of before are no longer heard, and what it takes to ask again."""
    if not count:
        return
    text = "1 answer" if count == 1 else f"{count:,} answers"
    text += f" to an earlier form of the question {'is' if count == 1 else 'are'} no longer used"
    if takes is not None:
        cost = "" if takes.cost is None else f", at most {takes.cost:,.2f} of money"
        text += (
            f"; asking again takes about {takes.calls:,} calls, {sum(takes.tokens):,} tokens{cost}"
        )
    st.caption(f"{text}.")


def _ended(catalog_id: int, kind: RunKind, paper: bool, endpoint: Endpoint) -> None:
    """How the last run of this kind ended, where it is not done."""
    runs = page_frame.workspace().judging.runs(catalog_id)
    last = next((run for run in runs if run.kind == kind), None)
    if last is None or last.state in ("done", "running"):
        return
    told = f"{last.state}: {last.message}" if last.message else last.state
    st.warning(
        f"{safe_text.untrusted(told)}. {last.calls:,} calls were made; every answer is kept, and "
        "asking again goes on from there.",
        icon=":material/pause_circle:",
    )
    if last.state == "paused" and endpoint.budget != Budget():
        _raise_budget(catalog_id, kind, paper, endpoint)


def _raise_budget(catalog_id: int, kind: RunKind, paper: bool, endpoint: Endpoint) -> None:
    budget = endpoint.budget
    with st.popover("Raise the budget", icon=":material/savings:"):
        calls, money = budget.calls, budget.money
        if calls is not None:
            calls = st.number_input("Calls in all", value=2 * calls or 100, min_value=calls)
        if money is not None:
            money = st.number_input("Money in all", value=2 * money or 1.0, min_value=money)
        st.button(
            "Raise and go on",
            key="raise_budget",
            on_click=_raised,
            args=(replace(endpoint, budget=Budget(calls, money)), catalog_id, kind, paper),
        )


def _raised(endpoint: Endpoint, catalog_id: int, kind: RunKind, paper: bool) -> None:
    page_frame.workspace().endpoints.save(endpoint)
    _go(catalog_id, kind, paper)


def _start(
    label: str, catalog_id: int, kind: RunKind, paper: bool, clusters: Sequence[str] = ()
) -> None:
    st.button(
        label,
        key=f"ask_{kind}{'_one' if clusters else ''}",
        icon=":material/forum:",
        on_click=_go,
        args=(catalog_id, kind, paper, clusters),
    )


def _go(catalog_id: int, kind: RunKind, paper: bool, clusters: Sequence[str] = ()) -> None:
    work = page_frame.workspace()
    try:
        work.judging.start(catalog_id, kind, paper, clusters)
    except ToolScopeError as error:
        st.session_state[REFUSED] = str(error)


def _said(catalog_id: int) -> None:
    """What the judge that counts said: verdicts, what it was spared, what it did not read."""
    opinions = page_frame.workspace().judging.opinions(catalog_id)
    if opinions is None:
        return
    counts = {"merge": 0, "family": 0, "unsure": 0, "keep": 0, "unanalysed": 0}
    for verdict in opinions.verdicts.values():
        counts[verdict.outcome] += 1
    told = ", ".join(f"{count:,} {outcome}" for outcome, count in counts.items())
    saved = opinions.saved
    st.caption(
        f"{safe_text.untrusted(opinions.judge)} said: {told}. Not asked: {saved.sure:,} pairs the "
        f"offline judge is sure to keep apart, {saved.implied:,} that its merges imply, "
        f"{saved.clusters:,} clusters."
    )
    if opinions.unanalysed:
        rows = [
            {"one": pair.left, "other": pair.right, "reason": reason}
            for pair, reason in opinions.unanalysed.items()
        ]
        st.caption(f"Pairs without a usable answer, which merge nothing: {len(rows):,}.")
        _table(rows, "Pairs without a usable answer")
    if opinions.notes:
        notes = [
            {"tool": tool, "note": one} for tool, said in opinions.notes.items() for one in said
        ]
        st.caption(f"Tools that were not read to the letter: {len(opinions.notes):,}.")
        _table(notes, "What the model did not read")


def _table(rows: Sequence[object], alt: str) -> None:
    st.dataframe(rows, hide_index=True, height=min(180, 38 + 35 * len(rows)), alt=alt)
