"""The plan for a request: its jobs, the candidates for each job, the calls, and the reasons."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from toolscope_core.catalog.tokens import tokenizer
from toolscope_core.evaluation.metrics import Gold
from toolscope_core.llm.model_requests import Asker
from toolscope_core.llm.run_configuration import RunKind
from toolscope_core.model.errors import JobError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.client_search import SearchableTools
from toolscope_core.rps import planner
from toolscope_core.rps.workers import Candidate, PlannedStep, RequestPlan
from ui.retrieval.request_panel import SubmittedRequest
from ui.retrieval.result_panel import ABOUT_ANSWERS, ANSWER, SCORE, building_panel, open_column
from ui.shared import data_tables, page_frame, safe_text
from ui.shared.data_tables import Column, Columns
from ui.shared.kept import kept_under
from ui.shared.services import judging, model_runs, searches
from ui.shared.services.searches import Lookup, OpenToolset
from ui.shared.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class PlanSide:
    """A plan on one toolset of ``size`` tools.

    ``tokens`` is the size of the definitions of the plan's tools, and ``tokens_shown`` the size of
    everything that a worker reads. ``needs`` are the known answers, if there are any.
    ``open_questions`` is the number of questions that the model has not been asked yet.
    """

    plan: RequestPlan
    size: int
    tokens: int
    tokens_shown: int
    needs: Gold
    questions: int
    open_questions: int
    seconds: float

    @property
    def served(self) -> int:
        """How many of the needs are served by a tool of the plan."""
        return sum(not set(self.plan.tool_ids).isdisjoint(need) for need in self.needs)

    @property
    def answers(self) -> frozenset[str]:
        """The ids of all known answers."""
        return frozenset(one for need in self.needs for one in need)


KIND: RunKind = "plan"


def _look(
    snapshot: Snapshot, lookup: Lookup, config: planner.PlannerConfig, k: int = planner.WORKER_K
) -> tuple[PlanSide, PlanSide] | None:
    """The plans on the original and on the merged tools.

    ``None`` if an index has to be built first, which ``searches.start`` does. Raises ``JobError``
    before the analysis is done, and ``ConfigError`` for a model that is not set up.
    """
    request_and_toolsets = searches.open_toolsets(snapshot, lookup)
    if request_and_toolsets is None:
        return None
    request, toolsets = request_and_toolsets

    def made() -> tuple[PlanSide, PlanSide]:
        before, after = (_side(snapshot, toolset, request, config, k) for toolset in toolsets)
        return before, after

    if config.worker == "model":  # the model may have answered more in the meantime
        return made()
    return kept_under(snapshot, "plans", (lookup, config, k), made, limit=4)


def _start(snapshot: Snapshot, lookup: Lookup, config: planner.PlannerConfig, k: int) -> str:
    """Run ``run`` in the background. Returns the job's id."""
    return snapshot.start(KIND, lambda progress: run(snapshot, lookup, config, k, progress))


def run(
    snapshot: Snapshot,
    lookup: Lookup,
    config: planner.PlannerConfig,
    k: int = planner.WORKER_K,
    progress: Progress = silent,
) -> None:
    """Ask the model now. Raises the errors of ``model_runs.ask``."""
    searches.run(snapshot, lookup, progress)
    request_and_toolsets = searches.open_toolsets(snapshot, lookup)
    request, toolsets = request_and_toolsets or (ToolRequest(lookup.text), ())

    def work(asker: Asker) -> None:
        for toolset in toolsets:
            _planner(toolset, config, k, asker).plans([request])

    model_runs.ask(snapshot, KIND, work, progress)


def _side(
    snapshot: Snapshot,
    toolset: OpenToolset[SearchableTools],
    request: ToolRequest,
    config: planner.PlannerConfig,
    k: int,
) -> PlanSide:
    asker = judging.known_answers(snapshot) if config.worker == "model" else None
    started = time.perf_counter()
    (plan,) = _planner(toolset, config, k, asker).plans([request])
    seconds = time.perf_counter() - started
    usage = asker.costs if asker else ()
    tools, tokens = toolset.catalog.by_id, snapshot.work.catalogs.definition_tokens
    return PlanSide(
        plan=plan,
        size=len(tools),
        tokens=sum(tokens(tools[one]) for one in plan.tool_ids),
        tokens_shown=sum(tokens(one.tool) for step in plan.steps for one in step.candidates),
        needs=toolset.answers,
        questions=sum(one.questions for one in usage),
        open_questions=sum(one.questions - one.reused for one in usage),
        seconds=seconds,
    )


def _planner(
    toolset: OpenToolset[SearchableTools],
    config: planner.PlannerConfig,
    k: int,
    asker: Asker | None,
) -> planner.Planner:
    if asker is None:
        return planner.offline_planner(toolset.catalog, toolset.retriever, k, config)
    return planner.model_planner(toolset.catalog, toolset.retriever, k, config, asker)


_CALLED = "●"
_REFUSED = "plan_refused"
"""Session key for why asking a model was refused. It is shown once."""


def plan_panel(snapshot: Snapshot, request: SubmittedRequest) -> None:
    """Draw both plans, job by job. If a model plans, the button that asks it is drawn too."""
    if request.config is None:
        return
    with st.spinner("Planning", show_time=True):
        sides = _look(snapshot, request.lookup, request.config, request.per_job)
    if sides is None:
        building_panel(snapshot, request.lookup)
        return
    if request.config.worker == "model":
        _ask_box(snapshot, request, sides)
    titles = ("As it is", "before"), ("Merged", "after")
    for column, (title, key), side in zip(st.columns(2, gap="medium"), titles, sides, strict=True):
        with column:
            st.subheader(f"{title}: {quantity(side.size, 'tool')}", anchor=False)
            _figures(side)
            for number, step in enumerate(side.plan.steps, 1):
                _step(side, step, f"{key}_{number}", number)
            _dropped(side.plan.dropped)
    trace = {"before": sides[0].plan.as_json(), "after": sides[1].plan.as_json()}
    st.download_button(
        "Download both plans",
        json.dumps(trace, indent=1, ensure_ascii=False),
        "plans.json",
        "application/json",
        icon=":material/download:",
    )


def _ask_box(
    snapshot: Snapshot, request: SubmittedRequest, sides: tuple[PlanSide, PlanSide]
) -> None:
    """Draw the questions that have not been asked yet, the button that asks them,
    and the progress.
    """
    work = snapshot.work
    job = snapshot.job(KIND)
    if job is not None and job.live:
        page_frame.job_panel(job.id)
        return
    safe_text.show(_REFUSED)
    waiting = max(side.open_questions for side in sides)
    if not waiting:
        return
    if job is not None and job.state != "done":
        safe_text.show_error(JobError(job.message))
    model = safe_text.untrusted(getattr(work.endpoints.get(), "model", ""))
    tokens = sum(side.tokens_shown for side in sides)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Ask the model",
            key="ask_plan",
            type="primary",
            icon=":material/forum:",
            on_click=_ask,
            args=(snapshot, request),
        )
        st.markdown(
            f"**{model}** has not been asked about this request yet; until then, the plan uses "
            f"the best tool for each job. Asking sends about {tokens:,} tokens of tool "
            "definitions, and counts towards the budget in Settings."
        )


def _ask(snapshot: Snapshot, request: SubmittedRequest) -> None:
    config = request.config
    if config is not None:
        safe_text.attempt(
            _REFUSED, lambda: _start(snapshot, request.lookup, config, request.per_job)
        )


def _figures(side: PlanSide) -> None:
    plan = side.plan
    served = f"**{side.served} of {len(side.needs)}** answers found · " if side.needs else ""
    questions = f" · {quantity(side.questions, 'question')}" if side.questions else ""
    st.markdown(
        f"{served}**{quantity(len(plan.tool_ids), 'tool')}**, {side.tokens:,} tokens · "
        f"{quantity(plan.searches, 'ranking')}{questions} · {side.seconds * 1000:,.0f} ms",
        help=f"Considered for all jobs together: {quantity(plan.tools_shown, 'tool')} with "
        f"{side.tokens_shown:,} tokens ({tokenizer().label}). An agent would get only the "
        "tools in the plan.",
    )


def _step(side: PlanSide, step: PlannedStep, key: str, number: int) -> None:
    """Draw a job with its candidates. For each tool that is called, show where the arguments come
    from.
    """
    calls = {call.tool_id: call.arguments for call in step.calls}
    with st.container(border=True):
        st.markdown(f"**{number}** {safe_text.untrusted(step.job)}")
        rounds = f", after {step.rounds} rounds" if step.rounds > 1 else ""
        st.caption(f"Why: {safe_text.untrusted(step.reason)}{rounds}.")
        _phrasings(side, step)
        if not step.candidates:
            return
        candidates = step.candidates
        columns: Columns[Candidate] = [
            Column(
                "called",
                lambda one: _mark(one.tool.id, calls, side.plan.dropped),
                title="call",
                width=55,
                help="● marks a tool that is called for this job.",
            ),
            Column(
                "answers",
                lambda one: ANSWER if one.tool.id in side.answers else "",
                title=ANSWER,
                width=35,
                help=ABOUT_ANSWERS,
                visible=bool(side.needs),
            ),
            Column("name", lambda one: one.tool.name, title="tool", width=190),
            open_column(candidates, lambda one: one.tool.id, f"open_plan_{key}"),
            SCORE,
            Column(
                "server",
                lambda one: one.tool.server,
                width=120,
                visible=any(one.tool.server for one in candidates),
            ),
            Column(
                "arguments",
                lambda one: _sources(calls.get(one.tool.id, {})),
                title="arguments come from",
                width=220,
                visible=any(calls.values()),
            ),
        ]
        alt = f"What was found for job {number}"
        data_tables.draw(candidates, columns, alt, key=f"planned_{key}")


def _phrasings(side: PlanSide, step: PlannedStep) -> None:
    if step.phrasings == (f"{step.job} {side.plan.request}",):
        st.caption("Also searched for together with the whole request.")
    elif step.phrasings:
        other = "; ".join(safe_text.untrusted(one) for one in step.phrasings)
        st.caption(f"Also searched for as: {other}")


def _mark(tool_id: str, calls: Mapping[str, object], dropped: Mapping[str, str]) -> str:
    if tool_id not in calls:
        return ""
    return "left out" if tool_id in dropped else _CALLED


def _sources(arguments: Mapping[str, str]) -> str:
    return "; ".join(f"{name}: {source}" for name, source in arguments.items())


def _dropped(dropped: Mapping[str, str]) -> None:
    for tool_id, reason in dropped.items():
        st.caption(
            f":material/filter_alt: Left out: **{safe_text.untrusted(tool_id)}**, "
            f"{safe_text.untrusted(reason)}."
        )
