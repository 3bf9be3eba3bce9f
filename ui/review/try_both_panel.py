"""The same calls sent to two tools of a card: first they are shown, then a job sends them, then the
results are compared.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from toolscope_core.calls.call_writing import SeenValues, calls_of_model, open_arguments
from toolscope_core.calls.sent_calls import (
    CallBudget,
    ComparedTools,
    called_servers,
    compare_tools,
    merge_pairs,
    why_not_called,
)
from toolscope_core.catalog.calls import MappedCall
from toolscope_core.files.json_lines import rows_in
from toolscope_core.mcp.servers.launches import launches_of
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.errors import JobError, ToolScopeError
from toolscope_core.model.numbers import enumerated, quantity
from toolscope_core.model.pair import Pair, pair_key
from toolscope_core.model.protocols import Progress
from toolscope_core.model.tool import JsonObject, canonical_json, digest
from ui.shared import ask_panel, data_tables, page_frame, safe_text, sign_in
from ui.shared.data_tables import Column, Columns
from ui.shared.pairs.pair_panel import compared_calls
from ui.shared.services import judging, model_runs, review
from ui.shared.services.live_servers import TickedServers
from ui.shared.snapshot import Snapshot
from ui.shared.tools import server_picker

_BUDGET = CallBudget()
_OURS = "ToolScope"
_ABOUT = (
    "Sends the same calls to both tools on their servers, and compares the results. Each call is "
    "sent twice to both, to see what changes by itself. The comparison ends at the first sign that "
    "a call changes something."
)


def try_both_panel(snapshot: Snapshot, cluster: Cluster) -> None:
    """Draw the last result for the chosen pair, its calls, the servers with their ticks, and the
    progress.
    """
    st.caption(_ABOUT)
    pairs = {_in_words(one): one for one in merge_pairs(snapshot.catalog, cluster)}
    words = next(iter(pairs))
    if len(pairs) > 1:
        words = st.selectbox("Tools", list(pairs), key=f"try_pair_{cluster.id}")
    pair = pairs[words]
    of_pair = Pair.of(pair.source.id, pair.target.id)
    if decision := review.comparisons(snapshot).get(of_pair):
        compared_calls(decision)
    chosen = _chosen_calls(snapshot, _with_model_calls(snapshot, pair))
    reads = _only_read(pair)
    if chosen is None or not server_picker.is_allowed(snapshot):
        return
    ticked = server_picker.ticked(snapshot, called_servers([pair]), f"try_{pair_key(of_pair)}")
    job = snapshot.job(job_kind(pair))
    if job is not None and job.live:  # what was typed stays, because it is drawn all the same
        page_frame.job_panel(job.id)
        return
    if job is not None and page_frame.has_failed(job):
        safe_text.show_error(JobError(job.message))
    count = len(chosen.new_calls(SeenValues(), _BUDGET.calls))
    reviewer, is_shared = page_frame.reviewer(), sign_in.is_shared()
    begin = partial(start, snapshot, chosen, ticked, reviewer, is_shared)
    purpose = f"send {quantity(count, 'call')}"
    server_picker.start_button(ticked, purpose, "try_both", begin, bool(count and reads))


def job_kind(pair: ComparedTools) -> str:
    """The kind of the job that compares these two tools."""
    return f"calls {digest(*(tool.fingerprint for tool in pair.tools))[:16]}"


def start(
    snapshot: Snapshot, pair: ComparedTools, ticked: TickedServers, reviewer: str, is_shared: bool
) -> str:
    """Send the calls in the background and record the verdict. Returns the job's id.

    Raises ``ConfigError`` if the servers may not be started, or if one of them is not ticked.
    """
    servers = called_servers([pair])
    configuration = replace(ticked, names=servers).required(snapshot.work.settings, is_shared)
    _, launches = launches_of(servers, configuration, ticked.keys, os.environ)

    def work(progress: Progress) -> None:
        (comparison,) = compare_tools([pair], launches, _BUDGET, progress=progress)
        if not comparison.calls:
            raise JobError(comparison.verdict)
        ids = [tool.id for tool in pair.tools]
        review.say(snapshot, "compare", ids, reviewer, comparison.as_json())

    return snapshot.start(job_kind(pair), work)


def _in_words(pair: ComparedTools) -> str:
    return enumerated(tool.id for tool in pair.tools)


def _only_read(pair: ComparedTools) -> bool:
    """Whether both tools only read. If the servers do not say so, draws a tick for a person to
    confirm it.
    """
    reads = True
    for tool in pair.tools:
        if why := why_not_called(tool):
            reads &= st.checkbox(
                f"**{safe_text.untrusted(tool.id)}** only reads ({safe_text.untrusted(why)})",
                key=f"reads_{tool.fingerprint[:16]}",
            )
    return reads


def _with_model_calls(snapshot: Snapshot, pair: ComparedTools) -> ComparedTools:
    """The pair with the calls that a model wrote. Before it has written any, draws the offer to ask
    it, with the price.
    """
    names = open_arguments(pair.source)
    stored_answers = judging.known_answers(snapshot)
    if stored_answers is None or not names:
        return pair
    write = partial(calls_of_model, [pair.source])
    if answer := write(stored_answers).get(pair.source.id):
        if answer["dropped"]:
            st.caption(
                f"{quantity(answer['dropped'], 'call')} of the model did not fit the schema."
            )
        return replace(pair, guesses=tuple(answer["calls"]))
    about = f"The schema does not say which values {enumerated(f'`{one}`' for one in names)} takes."
    st.caption(safe_text.sentence(f"{about} A model can write likely ones."))
    if ask_panel.can_ask(snapshot, "calls", ""):
        question = ask_panel.Question(
            "calls",
            (pair.source.fingerprint,),
            lambda: model_runs.estimate_of(snapshot, write),
            lambda: model_runs.ask_in_background(snapshot, "calls", write),
        )
        ask_panel.question_panel(snapshot, question, "Write calls")
    return pair


def _chosen_calls(snapshot: Snapshot, pair: ComparedTools) -> ComparedTools | None:
    """Draw the calls. Returns the pair with the calls as a person edited them; ``None`` if they
    cannot be read.
    """
    written = replace(pair, guesses=()).new_calls(SeenValues(), _BUDGET.calls)
    proposed = [*pair.guesses, *(one for one in written if one not in pair.guesses)]
    key = f"calls_{digest([tool.fingerprint for tool in pair.tools])[:16]}"
    _add_lines(key, [*map(canonical_json, proposed)])
    text = st.text_area(
        f"Calls of {safe_text.untrusted(pair.source.id)}: the arguments as JSON, one call per line",
        key=key,
        height=160,
        persist_state="page",
    )
    as_shown = not st.toggle(
        f"Make further calls with values found in the results, up to {_BUDGET.calls} in all",
        True,
        key="try_further",
    )
    try:
        given = [row for _, row in rows_in(text.encode("utf-8", "backslashreplace"), "Calls")]
    except ToolScopeError as error:
        safe_text.show_error(error)
        return None

    def author(call: JsonObject) -> str:
        if call not in proposed:
            return "you"
        return snapshot.work.endpoints.required().model if call in pair.guesses else _OURS

    mapped = [(one, pair.mapped(one)) for one in given]
    columns: Columns[tuple[JsonObject, MappedCall]] = [
        Column("arguments", lambda row: canonical_json(row[0]), title=f"call of {pair.source.id}"),
        Column("written by", lambda row: author(row[0])),
        Column(
            "mapped",
            lambda row: canonical_json(row[1].arguments),
            title=f"call of {pair.target.id}",
            visible=any(call.arguments != one for one, call in mapped),
        ),
        Column(
            "losses",
            lambda row: ", ".join(row[1].losses),
            title="not sent, because these have no place",
            visible=any(call.losses for _, call in mapped),
        ),
    ]
    if any(call.losses or call.arguments != one or author(one) != _OURS for one, call in mapped):
        data_tables.draw(mapped, columns, "The calls that both tools get", most=240)
    if len(given) > _BUDGET.calls:
        st.caption(
            f"Only {_BUDGET.calls} are sent: yours first, then a model's, then those of ToolScope."
        )
    return replace(
        pair,
        calls=tuple(one for one in given if one not in proposed),
        left_out=tuple(one for one in proposed if one not in given),
        as_shown=as_shown,
    )


def _add_lines(key: str, lines: Sequence[str]) -> None:
    """Put the proposed ``lines`` that are new into the text of the widget with this key, after what
    a person has written.
    """
    state = st.session_state
    before = state.get(f"{key}_proposed", ()) if key in state else ()
    new = [one for one in lines if one not in before]
    if new:
        state[key] = "\n".join([*state.get(key, "").splitlines(), *new])
        state[f"{key}_proposed"] = lines
