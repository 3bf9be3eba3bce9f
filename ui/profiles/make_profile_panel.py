"""The form that makes a profile from an agent's requests, from logged calls, or empty."""

from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate

import plotly.graph_objects as go
import streamlit as st

from toolscope_core.evaluation.query_sets import Query
from toolscope_core.merging.former_names import served_names
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.numbers import quantity
from toolscope_core.model.profile import Profile
from toolscope_core.profiles import intent_cover
from ui.profiles import profile_edits
from ui.shared import data_tables, page_frame, pictures, safe_text
from ui.shared.ask_panel import Question, can_ask, question_panel
from ui.shared.cards import decision_buttons
from ui.shared.data_tables import Column
from ui.shared.services import exports, loaded_queries, searches
from ui.shared.snapshot import Snapshot

_BY_SEARCH, _BY_MODEL = "a search", "a model"
REQUESTS, QUERY_SET, _CALLED, _EMPTY = "Requests", "A query set", "Calls", "Nothing yet"
_NAMED = 8


def make_profile_panel(snapshot: Snapshot) -> None:
    """Draw the form, a preview, and the button that saves the profile."""
    bar = st.container(horizontal=True, vertical_alignment="bottom")
    name = bar.text_input(
        "Name",
        key="profile_name",
        placeholder="travel-desk",
        max_chars=40,
        width=220,
        help="Lowercase letters, digits and hyphens: the name is part of the address at which the "
        "profile is served.",
    )
    source = bar.segmented_control(
        "Made from", [REQUESTS, QUERY_SET, _CALLED, _EMPTY], default=REQUESTS, required=True,
        key="made_from",
    )  # fmt: skip
    saved_profiles = profile_edits.tools_by_profile(snapshot)
    before = saved_profiles[name].profile if name in saved_profiles else Profile(name)
    if source in (REQUESTS, QUERY_SET):
        profile = _from_requests(snapshot, before, _queries(snapshot, source))
    else:
        empty = Profile(name, seq=before.seq)
        profile = _from_calls(snapshot, before) if source == _CALLED else empty
    if profile is not None:
        decision_buttons.record_button(
            f"{'Replace' if before.seq else 'Save'} {name or 'the profile'}",
            lambda: profile_edits.save(snapshot, profile, page_frame.reviewer()),
            f"Profile saved: {profile.name}",
            lambda: st.session_state.update(profile_name="", profile=profile.name),
            key="save_profile",
            type="primary",
            icon=":material/save:",
            disabled=not name,
        )


def is_searchable(snapshot: Snapshot, queries: Sequence[Query]) -> bool:
    """Whether the queries can be searched for now. If not, the progress of indexing is drawn."""
    if not profile_edits.waits(snapshot, queries):
        return True
    page_frame.job_started_once(
        snapshot.job(searches.KIND),
        lambda: searches.start(snapshot, profile_edits.SEARCHED),
        "Indexing the toolset, only once.",
        "profile_index",
    )
    return False


def _queries(snapshot: Snapshot, source: str) -> Sequence[Query]:
    if source == REQUESTS:
        text = st.text_area(
            "What the agent has to do, one request per line",
            key="profile_requests",
            height=120,
            placeholder="Find a flight from Graz to Split\nCancel trip BK-552",
            help="If a request is also in a query set of this catalog, its answers there are used.",
        )
        return profile_edits.queries(snapshot, profile_edits.requests_in(text))
    sets = {one.name: one for one in loaded_queries.sets(snapshot)}
    if not sets:
        st.info(
            "This catalog has no query set; add one under *Query sets* on the Catalog page, or "
            "take the requests of a log under *Usage*."
        )
        return ()
    return sets[st.selectbox("Query set", list(sets), key="profile_set")].content.queries


def _from_requests(snapshot: Snapshot, before: Profile, queries: Sequence[Query]) -> Profile | None:
    bar = st.container(horizontal=True)
    method = bar.segmented_control(
        "Tools are chosen by", [_BY_SEARCH, _BY_MODEL], default=_BY_SEARCH, required=True,
        key="profile_by", disabled=snapshot.work.endpoints.get() is None,
        help="A search splits a request without answers into jobs and takes the best tools for "
"each. A model plans every request, even one with answers, and picks from the best "
"tools those that do its jobs; set one up in Settings.",
    )  # fmt: skip
    per_job = None
    if method == _BY_MODEL:
        queries = [Query("", one.text) for one in queries]
    else:
        per_job = bar.number_input(
            "Tools for each job", 1, 10, intent_cover.PER_JOB, key="tools_per_job", width=140,
            help="A search does not always put the right tool first.",
        )  # fmt: skip
    budget = bar.number_input(
        "Token limit (0 = none)", 0, None, 0, 500, key="most_tokens", width=190,
        help="The limit for all tools of the profile together in a prompt.",
    )  # fmt: skip
    if not queries or not is_searchable(snapshot, queries):
        return None
    if method == _BY_MODEL and not _is_planned(snapshot, queries):
        return None
    with st.spinner("Finding the smallest set"):
        cover = profile_edits.cover(snapshot, queries, per_job, budget or None)
    plan = snapshot.plan
    tools = [item.tool for item in plan.tools]
    _cover(cover, served_names(exports.exported_plan(snapshot, PlanConfig()), tools))
    return intent_cover.with_cover(plan, before, cover)


def _is_planned(snapshot: Snapshot, queries: Sequence[Query]) -> bool:
    """Whether a model has planned any of the queries. Also draws what is left to ask."""
    if not can_ask(snapshot, "plan", "No model is set up."):
        return False
    question = Question(
        "plan",
        tuple(queries),
        lambda: profile_edits.estimate(snapshot, queries),
        lambda: profile_edits.ask(snapshot, queries),
    )
    estimates = question_panel(snapshot, question, "Ask for plans")
    is_planned = any(task.reused for task in estimates.tasks.values())
    if is_planned and estimates.questions:
        st.caption("Requests count as not served until the model has answered them.")
    return is_planned


def _cover(cover: intent_cover.Cover, names: dict[str, str]) -> None:
    total = sum(one.tokens for one in cover.additions)
    unasked = len(intent_cover.not_asked_for(cover.intents, names))
    st.markdown(
        f"**{quantity(len(cover.ids), 'tool')}, {total:,} tokens**: tools for "
        f"{served_in_words(cover.intents, cover.ids)}. Of the toolset's "
        f"{quantity(len(names), 'tool')}, {len(names) - len(cover.ids) - unasked:,} more could do "
        f"the same jobs, and no request needs {unasked:,}."
    )
    intents_table(cover.intents, cover.ids, names)
    pictures.picture(
        cover_curve(cover, names),
        lambda: cover_rows(cover, names),
        "cover",
        "What each further tool adds",
    )
    for title, texts in {
        "Not served": [one.text for one in cover.intents if not one.is_served_by(cover.ids)],
        "Perhaps no tool does this": [one.text for one in cover.intents if one.is_doubtful],
        "Not within the budget": [names[one] for one in cover.too_large],
    }.items():
        if texts:
            texts_shown = "; ".join(map(safe_text.untrusted, texts[:_NAMED]))
            more = f" And {len(texts) - _NAMED:,} more." if len(texts) > _NAMED else ""
            st.warning(f"{title} ({len(texts):,}): {texts_shown}{more}", icon=":material/help:")


def served_in_words(intents: Sequence[intent_cover.Intent], ids: Collection[str]) -> str:
    """How many requests the tools with these ids serve, and how many they might serve."""
    served = [one for one in intents if one.is_served_by(ids)]
    perhaps = sum(one.is_doubtful for one in served)
    more = f", perhaps for {perhaps:,} more" if perhaps else ""
    return f"{len(served) - perhaps:,} of {quantity(len(intents), 'request')}{more}"


def intents_table(
    intents: Sequence[intent_cover.Intent], ids: Collection[str], names: Mapping[str, str]
) -> None:
    """Draw each request with the names of those tools of the profile (``ids``) that serve it."""
    data_tables.draw(
        intents,
        [
            Column("request", lambda one: one.text, width=400),
            Column(
                "tools",
                lambda one: _served_in_words(one, ids),
                width=80,
                help="Perhaps: even the closest tool is far from the request.",
            ),
            Column("by", lambda one: ", ".join(names[tool] for tool in one.tools_of(ids))),
        ],
        "Requests and the tools that serve them",
    )
    st.caption(
        "For a request from a query set, the tools are the ones that the set gives as its answer. "
        "For any other, a search or a model picks tools, job by job: *found* means that "
        "some were picked, not that they do the job."
    )


def _served_in_words(intent: intent_cover.Intent, ids: Collection[str]) -> str:
    if not intent.is_served_by(ids):
        return "no"
    return "perhaps" if intent.is_doubtful else "found"


def _from_calls(snapshot: Snapshot, before: Profile) -> Profile | None:
    calls = profile_edits.calls(snapshot)
    most = max(calls.values(), default=0)
    if not most:
        st.info("No calls are known; add a log under *Usage* on the Catalog page.")
        return None
    least = st.number_input("Called at least this often", 1, most, 1, key="least_calls", width=180)
    ids = [one for one, count in calls.items() if count >= least]
    st.markdown(f"**{quantity(len(ids), 'tool')}** were called at least that often.")
    return intent_cover.with_choice(snapshot.plan, before, ids, is_in=True)


def cover_curve(cover: intent_cover.Cover, names: dict[str, str]) -> go.Figure:
    """The number of requests served, against the tokens of the tools. Each tool adds a step, in
    order.
    """
    tokens = list(accumulate(one.tokens for one in cover.additions))
    figure = pictures.figure(
        [
            go.Scatter(
                x=[0, *tokens],
                y=[0, *(one.intents for one in cover.additions)],
                text=["no tool", *(pictures.label(names[one]) for one in cover.ids)],
                mode="lines+markers",
                line={"shape": "hv", "color": pictures.PALETTE[0], "width": 2},
                marker={"size": 6},
                hovertemplate="%{text}<br>%{y:,} served, %{x:,} tokens<extra></extra>",
            )
        ],
        height=280,
    )
    figure.update_layout(
        xaxis={"title": "tokens of the tools so far", "tickformat": ","},
        yaxis={"title": "requests served", "rangemode": "tozero", "tickformat": ",d"},
        showlegend=False,
    )
    return figure


def cover_rows(cover: intent_cover.Cover, names: dict[str, str]) -> list[pictures.TableRow]:
    """A row for each tool of the cover, in the order in which the tools were chosen."""
    tokens = accumulate(one.tokens for one in cover.additions)
    return [
        {
            "tool": names[one.tool_id],
            "id": one.tool_id,
            "tokens": one.tokens,
            "tokens so far": total,
            "requests served": one.intents,
        }
        for one, total in zip(cover.additions, tokens, strict=True)
    ]
