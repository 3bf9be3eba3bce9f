"""What all pages share: the workspace, the sidebar, the current catalog, and running jobs."""

import os
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NoReturn
from urllib.parse import unquote

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.errors import StreamlitSecretNotFoundError

from toolscope_core.catalog.formats.format_table import PROMPT_FORMATS, format_named
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.environment import (
    ApiKey,
    Settings,
    key_for,
    read_environment,
    read_keys,
    unused_variables,
)
from toolscope_core.model.errors import JobError, StoreError
from toolscope_core.model.numbers import quantity
from toolscope_core.store.catalog_rows import CatalogRecord
from toolscope_core.store.jobs import Job
from ui import PAGES
from ui.shared import safe_text, sign_in
from ui.shared.chosen_judge import OFFLINE
from ui.shared.services import review
from ui.shared.services.analyses import was_left
from ui.shared.services.workspace import Workspace
from ui.shared.snapshot import Snapshot

_REVIEWER = "reviewer"
"""The name recorded for a reviewer who has not given one."""
SECRETS = ".streamlit/secrets.toml"


@st.cache_resource
def workspace() -> Workspace:
    """The one workspace of this process. The first start adds and analyses the bundled example."""
    work = Workspace(_settings())
    if not work.catalogs.newest():
        work.analyses.start(work.add_example().id)
    return work


def leave_jobs() -> None:
    """End the maps that only this visitor watched and that are no longer on the page.

    Call this once the whole page is drawn.
    """
    workspace().analyses.watched.leave(_visitor())


def open_first_catalog() -> None:
    """Prepare the catalog that visitors see if they name none."""
    first = workspace().newest()
    if first.analysed:
        review.sizes(first)


def _settings() -> Settings:
    """The settings from the environment. Keys in Streamlit's secrets come before keys in the
    environment.
    """
    settings = read_environment()
    return replace(settings, keys=(*_secret_keys(), *settings.keys))


def _secret_keys() -> tuple[ApiKey, ...]:
    return read_keys(_secrets())


def _secrets() -> dict[str, str]:
    try:
        return {name: str(value) for name, value in st.secrets.items()}
    except StreamlitSecretNotFoundError:
        return {}


def unused_settings() -> list[str]:
    """A sentence on each unused environment variable or secret."""
    environment = unused_variables(os.environ)
    secrets = unused_variables(_secrets())
    return [*environment, *(f"{SECRETS}: {one}" for one in secrets)]


def key_source(origin: str) -> str:
    """Where the key for an origin comes from. Empty if there is no key."""
    if key_for(origin, _secret_keys()).secret:
        return SECRETS
    return "the environment" if key_for(origin, workspace().settings.keys).secret else ""


def frame(page: str) -> Snapshot:
    """Draw the sidebar of every page (catalog, reviewer, judge). The title of the browser tab names
    the ``page``.

    Returns the current state of the chosen catalog.
    """
    workspace().analyses.watched.look_away(_visitor())
    linked = st.query_params.get("catalog", "")
    snapshot = workspace().newest(linked, st.session_state.get("catalog", ""))
    if linked not in ("", snapshot.record.name):
        st.session_state["no_catalog"] = linked
    st.session_state["catalog"] = snapshot.record.name
    with st.sidebar:
        st.selectbox(
            "Catalog",
            list(snapshot.newest),
            key="catalog",
            persist_state="session",
            help="Add catalogs on the Catalog page.",
            on_change=lambda: show(st.session_state["catalog"]),
        )
        if sign_in.is_configured():
            sign_in.person()
        else:
            name = remembered_name() or _REVIEWER
            st.text_input("Your name", name, key="reviewer", persist_state="session")
            _remember(reviewer())
        st.selectbox(
            "Sizes for", PROMPT_FORMATS, PROMPT_FORMATS.index(snapshot.format), key="format",
            format_func=lambda name: format_named(name).title,
            on_change=lambda: workspace().catalogs.choose_format(st.session_state["format"]),
            help="The API or client that you send tools to. Tokens and bytes are counted in its "
"format; MCP is the format in which servers list their tools.",
        )  # fmt: skip
        color: Literal["gray", "blue"] = "gray" if snapshot.judge == OFFLINE else "blue"
        label = safe_text.untrusted(snapshot.judge)
        st.badge(f"Judge: {label}", icon=":material/gavel:", color=color, help=label)
    st.set_page_config(page_title=f"{page} · {st.session_state['catalog']} · ToolScope")
    if missing_catalog := st.session_state.get("no_catalog"):
        st.warning(
            f"Catalog {safe_text.untrusted(missing_catalog)} was not found. Showing "
            f"{safe_text.untrusted(st.session_state['catalog'])}; choose another in the sidebar.",
            icon=":material/link_off:",
        )
    if st.query_params.get("catalog") != st.session_state["catalog"]:
        st.query_params["catalog"] = st.session_state["catalog"]  # the address names the catalog
    return snapshot


def _visitor() -> str:
    """A name that identifies this browser tab."""
    name: str = st.session_state.setdefault("visitor", uuid.uuid4().hex)
    return name


def show(name: str) -> None:
    """Switch to a catalog. Call this in a widget's callback."""
    st.session_state.pop("no_catalog", None)
    st.session_state["catalog"] = st.query_params["catalog"] = name


def page_link(
    page: str,
    label: str,
    query: Mapping[str, str] = MappingProxyType({}),
    *,
    icon: str = "",
    about: str | None = None,
    **more: str,
) -> None:
    """Draw a link to a page with the page's icon or another ``icon``. ``query`` and ``more`` go
    into the address.
    """
    st.page_link(
        f"pages/{page}.py",
        label=label,
        icon=f":material/{icon or PAGES[page]}:",
        query_params={**query, **more} or None,
        help=about,
    )


def snapshot() -> Snapshot:
    """The current state of the newest version of the catalog in the sidebar. A page calls this
    once, at its top.
    """
    if "catalog" not in st.session_state:
        _rerun_through_app()
    return workspace().newest(st.session_state["catalog"])


def _rerun_through_app() -> NoReturn:
    """Run again, this time through app.py.

    Until a process has registered its pages, Streamlit runs the page of a link alone, without the
    frame.
    """
    sign_in.refuse_unguarded()
    page = (st.context.url or "").rstrip("/").rpartition("/")[2]
    st.navigation(
        [st.Page(lambda: None, title="ToolScope", url_path=path) for path in ("home", page)]
    )
    st.rerun()


def reviewer() -> str:
    """The name under which decisions are recorded. It distinguishes the people
    who use one store.
    """
    return sign_in.name() or st.session_state.get("reviewer", "").strip() or _REVIEWER


def chosen_clients() -> tuple[str, ...]:
    """The target names of the user's clients, as chosen on the Catalog page in this session.

    Empty if nothing was chosen yet.
    """
    return tuple(st.session_state.get("clients", ()))


def exported_merges() -> PlanConfig | None:
    """The merges chosen on the Export page in this session; ``None`` if that page was not opened
    yet.
    """
    accept = st.session_state.get("accept")
    gateway = bool(st.session_state.get("gateway"))
    return None if accept is None else PlanConfig(accept=accept, gateway=gateway)


def gateway_switch(place: DeltaGenerator, key: str) -> bool:
    """Draw the switch that includes merges that need a gateway. At first, it is on if the export
    includes them.

    Returns whether it is on.
    """
    exported = exported_merges()
    return place.toggle(
        "Include merges that need a gateway",
        exported is not None and exported.gateway,
        key=key,
        bind="query-params",
        help="What is measured here is exported only if the same switch on Export is on too.",
    )


def analysed_snapshot() -> Snapshot:
    """The snapshot, for a page that shows nothing without an analysis."""
    current = snapshot()
    wait_for_analysis(current)
    return current


def wait_for_analysis(snapshot: Snapshot) -> None:
    """If there is no analysis yet, draw the progress of the job or a button that starts it, and
    stop the page.
    """
    if snapshot.analysed is None:
        _wait_for_analysis(snapshot.record)


def _wait_for_analysis(record: CatalogRecord) -> NoReturn:
    analyses = workspace().analyses
    job = analyses.job(record.id)
    if job is not None and job.live:
        job_panel(job.id)
        st.stop()
    if job is not None and analyses.offline(record.id) is not None:
        st.rerun()  # the analysis was finished between these two checks
    if job is not None and job.message:
        safe_text.show_error(JobError(job.message))
    st.info(
        f"Not analysed yet. Comparing {quantity(record.tools, 'tool')} takes about "
        f"{max(2, record.tools // 400)} seconds the first time.",
        icon=":material/hourglass_empty:",
    )
    if st.button("Analyse", type="primary", icon=":material/play_arrow:", key="analyse"):
        analyses.start(record.id)
        st.rerun()
    st.stop()


def draw_tabs(
    snapshot: Snapshot, parts: Mapping[str, Callable[[Snapshot], None]], key: str
) -> None:
    """Draw a tab for each part. Only the open tab is built.

    The address has the name of the open tab under ``key``.
    """
    tabs = st.tabs(list(parts), key=key, bind="query-params", on_change="rerun")
    for tab, draw in zip(tabs, parts.values(), strict=True):
        if tab.open:
            with tab:
                draw(snapshot)


STAGES = {
    "servers": "Reading servers",
    "answers": "Comparing answers to calls",
    "calls": "Model: writing calls",
    "embed": "Embedding texts",
    "tokens": "Embedding texts token by token",
    "compare": "Finding similar tools",
    "judge": "Judging pairs",
    "merge": "Building merge proposals",
    "count": "Counting pairs",
    "search": "Searching queries",
    "classify": "Training the classifier",
    "refine": "Training the refiner",
    "tune": "Tuning the encoder",
    "merges": "Leaving out each merge",
    "stress": "Searching among distractors",
    "sweep": "Measuring each value",
    "audit": "Model: reviewing clusters",
    "family audit": "Model: reviewing families",
    "synthesis": "Model: writing documents",
    "quality": "Model: grading documentation",
    "augmentation": "Model: writing document variants",
    "siblings": "Model: telling similar tools apart",
    "namespaces": "Model: describing namespaces",
    "dummy split": "Model: splitting requests",
    "context split": "Model: splitting requests",
    "selection": "Model: selecting tools",
    "rephrasing": "Model: rephrasing jobs",
    "worker": "Model: choosing tool calls",
    "plan filter": "Model: reviewing the plan",
    "query drafts": "Model: writing queries",
    "requests": "Agent: working on requests",
    "query polish": "Model: rewording queries as people would ask",
    "ready": "Preparing",
    "neighbours": "Finding neighbours",
    "sample": "Computing the layout of a sample",
    "layout": "Computing the layout",
    "cluster": "Clustering",
}


def has_failed(job: Job) -> bool:
    """Whether a job ended without a result, but not because its page was left."""
    return not (job.live or job.state == "done" or was_left(job))


def job_started_once(latest: Job | None, start: Callable[[], str], about: str, key: str) -> None:
    """Start the work that a page needs, explain it (``about``) and draw its progress.

    If the ``latest`` job of this kind failed, the work starts only when the button ``key`` is
    pressed.
    """
    if latest is not None and has_failed(latest):
        safe_text.show_error(JobError(latest.message))
        if not st.button("Retry", icon=":material/replay:", key=key):
            return
    st.info(about, icon=":material/hourglass_empty:")
    job_panel(start())


@st.fragment(run_every="1s")
def job_panel(job_id: str, seconds: float = 0, ready: Callable[[], bool] | None = None) -> None:
    """Draw the progress of a job, and how much longer it will take.

    The time comes from the pace of the current step. Until there is a pace, it comes from
    ``seconds``, the estimate for the whole job, if there is one. The page runs again when the job
    ends, or earlier, when it is ``ready`` to show something.
    """
    try:
        job: Job = workspace().analyses.watch(job_id)
    except StoreError as error:  # the database server may be away for a moment
        safe_text.show_error(error)
        return
    if not job.live or (ready is not None and ready()):
        st.rerun()
    workspace().analyses.watched.look(_visitor(), job)
    stage = STAGES.get(job.stage, "Waiting to start")
    elapsed = (datetime.now(UTC) - datetime.fromisoformat(job.started_at)).total_seconds()
    share, count = 0.0, ""
    if job.total:
        share, count = job.done / job.total, f": {job.done:,} of {job.total:,}"
    elif seconds:
        share = elapsed / max(seconds, 1.1 * elapsed)
    left = _time_left(job, time.monotonic(), seconds - elapsed if seconds else None)
    st.progress(share, text=f"{stage}{count} ({elapsed:,.0f} s elapsed{left})")
    if st.button("Cancel", key=f"cancel_{job_id}", disabled=job.cancel_requested):
        workspace().analyses.cancel(job_id)


def _time_left(job: Job, now: float, estimate: float | None) -> str:
    """How much longer the current step of a job, or the whole job, will take, in words.

    The time comes from the pace since this page first saw the current step. Until there is a pace,
    it comes from ``estimate``, the time left for the whole job.
    """
    key = f"pace_{job.id}"
    stage, done, since = st.session_state.setdefault(key, (job.stage, job.done, now))
    if stage != job.stage:
        st.session_state[key] = (job.stage, job.done, now)
    elif done < job.done < job.total:
        left = (job.total - job.done) * (now - since) / (job.done - done)
        return f", about {left:,.0f} s left in this step"
    if estimate is None:
        return ""
    return f", about {estimate:,.0f} s left" if estimate > 0 else ", longer than estimated"


COOKIE = "toolscope_reviewer"
_LONGEST_NAME = 100

_browser = st.components.v2.component(
    "toolscope_browser",
    html="<i></i>",
    js=Path(__file__).with_name("browser_history.js").read_text("utf-8"),
)


def remembered_name() -> str:
    """The name that was given in this browser before. Empty in a new browser."""
    name = st.context.cookies.get(COOKIE)
    return unquote(name)[:_LONGEST_NAME].strip() if isinstance(name, str) else ""


def _remember(reviewer: str) -> None:
    """Remember the name in this browser, and keep the browser's history in order. Call this on
    every page.
    """
    _browser(key="browser", data={"cookie": COOKIE, "reviewer": reviewer[:_LONGEST_NAME]})
