"""An agent's run on a query set, with the original and with the merged toolset."""

from functools import partial

import streamlit as st

from toolscope_core.evaluation.agent.agent_report import AgentRun, WorkedRequest
from toolscope_core.evaluation.agent.agent_work import WorkRow, work_rows
from toolscope_core.evaluation.agent.toolset_pair import AgentEstimate
from toolscope_core.model.configuration import AgentConfig
from toolscope_core.model.errors import JobError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.plan import Experiment
from ui.evaluation import agent_jobs
from ui.evaluation.agent_jobs import AGENT, AgentRunRequest
from ui.evaluation.measure_panel import describe, newest, say_unknown
from ui.evaluation.measured_sides import POLICIES
from ui.shared import ask_panel, data_tables, safe_text, sign_in
from ui.shared.data_tables import Column
from ui.shared.services import experiments, judging
from ui.shared.snapshot import Snapshot
from ui.shared.tools import server_picker

"""Session key for why a run was not started. It is shown once."""
_ABOUT = (
    "A model works on the requests of a query set by calling tools, once with the original "
    "toolset and once with the merged one, both through a gateway to the real servers. This "
    "shows whether it chooses better with the merged toolset, and what it costs."
)
_WITHOUT = "No model is set up, so no agent can run. The search itself can be measured without one."
NO_QUERIES = (
    "On the Catalog page, add a query set whose answers are tools of this catalog; an "
    "agent's choices are compared with them."
)


def agent_panel(snapshot: Snapshot) -> None:
    """Draw the form that starts an agent, and the results of a run.

    The run is the one in the address, or else the newest.
    """
    st.caption(_ABOUT)
    experiment = newest(snapshot, AGENT)
    box = st.expander(
        "Run an agent",
        expanded=experiment is None,
        key="agent_form",
        icon=":material/smart_toy:",
        on_change="rerun",
    )
    if box.open:
        with box:
            _form(snapshot)
    if experiment is not None:
        _results(snapshot, experiment)


def _form(snapshot: Snapshot) -> None:
    if not server_picker.is_allowed(snapshot):
        return
    if not ask_panel.can_ask(snapshot, AGENT, _WITHOUT):
        return
    sets = agent_jobs.query_sets(snapshot)
    if not sets:
        st.caption(NO_QUERIES)
        st.page_link("pages/catalog.py", label="Add a query set", icon=":material/inventory_2:")
        return
    job = judging.job(snapshot)
    if job is not None and job.kind == AGENT and job.message and job.state != "done":
        safe_text.show_error(JobError(job.message))
    run_request = _run_request(sets)
    say_unknown(snapshot, run_request.queries)
    estimate = safe_text.value_or_error(lambda: agent_jobs.estimate(snapshot, run_request))
    if estimate is None:
        return
    st.markdown(_in_words(estimate))
    ticked = server_picker.ticked(snapshot, agent_jobs.servers(snapshot, run_request), "agent")
    if ticked.configuration is None:
        return
    begin = partial(agent_jobs.start, snapshot, run_request, ticked, sign_in.is_shared())
    server_picker.start_button(ticked, "the agent", "agent_start", begin)


def _run_request(sets: tuple[str, ...]) -> AgentRunRequest:
    """The run that the person has chosen."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        queries = st.selectbox("Queries", sets, key="agent_set", width=190)
        merges = st.selectbox(
            "Merges to apply", list(POLICIES)[:3], 1, key="agent_merges", width=190
        )
        first = st.number_input(
            "Requests", 1, 1_000, 20, key="agent_first", width=120,
            help="The first N queries of the set that need tools of this catalog.",
        )  # fmt: skip
        k = st.number_input(
            "Tools per request", 0, 128, 20, key="agent_k", width=150,
            help="For each request, the agent gets this many of the best tools, found as on the "
                        "Retrieval page. 0 gives it all tools; endpoints accept at most 128.",
        )  # fmt: skip
        turns = st.number_input("Maximum turns", 1, 50, 8, key="agent_turns", width=140)
        changes = st.toggle(
            "Allow changes",
            key="agent_changes",
            help="Off: only tools that declare themselves read-only are called; other calls count "
            "as choices but are not carried out. On: the agent may write, delete and send.",
        )
    return AgentRunRequest(
        queries, merges, int(first), AgentConfig(int(turns), int(k) or None, changes)
    )


def _in_words(estimate: AgentEstimate) -> str:
    toolsets = ", ".join(
        f"**{name}** {quantity(tools, 'tool')} of {estimate.tokens[name]:,} tokens"
        for name, tools in estimate.tools.items()
    )
    return (
        f"{quantity(estimate.queries, 'request')} with two toolsets ({toolsets}): at most "
        f"{quantity(estimate.most_calls, 'model call')}."
    )


def _results(snapshot: Snapshot, run: Experiment) -> None:
    """Draw the figures side by side, and each request. Requests that only one toolset got right
    come first.
    """
    result = experiments.result_of(run, AgentRun)
    describe(snapshot, run)
    data_tables.draw(
        work_rows(result),
        [
            Column[WorkRow]("figure", lambda row: row.label, width=240),
            *(Column(name, partial(_cell, at)) for at, name in enumerate(result.names)),
            Column[WorkRow](
                "p",
                lambda row: "" if row.p is None else f"{row.p:.3f}",
                width=70,
                help="From a paired bootstrap: the probability of such a difference if there is "
                "no real one.",
            ),
        ],
        "Results of the agent with both toolsets",
        height="content",
    )
    st.markdown("**Requests**, starting with those that were right with only one toolset")
    requests = sorted(result.requests, key=lambda one: len({side.right for side in one.sides}) == 1)
    columns: list[Column[WorkedRequest]] = [
        Column("request", lambda one: one.query, width=320),
        Column("needs", lambda one: " and ".join(" or ".join(need) for need in one.gold)),
        *(Column(name, partial(_called, at)) for at, name in enumerate(result.names)),
        *(Column(f"answer, {name}", partial(_answer, at)) for at, name in enumerate(result.names)),
    ]
    data_tables.draw(requests, columns, "Each request")


def _cell(at: int, row: WorkRow) -> str:
    return row.cells[at]


def _called(at: int, request: WorkedRequest) -> str:
    """The tools called with a toolset, in order. A mark in front says whether they are exactly the
    right ones.
    """
    side = request.sides[at]
    return f"{'✓' if side.right else '✗'} {', '.join(side.called) or 'nothing'}"


def _answer(at: int, request: WorkedRequest) -> str:
    return f"{request.sides[at].grade}: {request.sides[at].answer}"
