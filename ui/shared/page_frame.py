"""The parts that all pages share: workspace, sidebar, current catalog and running jobs."""

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
"""The name of a reviewer who gave none."""
SECRETS = ".streamlit/secrets.toml"


@st.cache_resource
def workspace() -> Workspace:
    """The one workspace of this process; the first start adds and analyses the bundled example."""
    work = Workspace(_settings())
    if not work.catalogs.newest():
        work.analyses.start(work.add_example().id)
    return work


def leave_jobs() -> None:
    """End the maps that only this visitor watched and that are no longer on the page.

    Call it once the whole page is drawn.
    """
    workspace().analyses.watched.leave(_visitor())


def open_first_catalog() -> None:
    """Prepare the catalog for visitors who name none."""
    first = workspace().newest()
    if first.analysed:
        review.sizes(first)


def _settings() -> Settings:
    """The environment's settings, with the keys in Streamlit's secrets first."""
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
    """A sentence on each unused variable of the environment or of the secrets."""
    environment = unused_variables(os.environ)
    secrets = unused_variables(_secrets())
    return [*environment, *(f"{SECRETS}: {one}" for one in secrets)]


def key_source(origin: str) -> str:
    """The source of the key for an origin; empty if there is none."""
    if key_for(origin, _secret_keys()).secret:
        return SECRETS
    return "the environment" if key_for(origin, workspace().settings.keys).secret else ""


def frame(page: str) -> Snapshot:
    """The sidebar of every page (catalog, reviewer, judge), and the tab's
    title with its ``page``.
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
        st.query_params["catalog"] = st.session_state["catalog"]  # an address names its catalog
    return snapshot


def _visitor() -> str:
    """A name for this tab only."""
    name: str = st.session_state.setdefault("visitor", uuid.uuid4().hex)
    return name


def show(name: str) -> None:
    """Switch to a catalog. Call it in a widget's callback."""
    st.session_state.pop("no_catalog", None)
    st.session_state["catalog"] = st.query_params["catalog"] = name


def page_link(
    page: str,
    label: str,
    query: Mapping[str, str] = MappingProxyType({}),
    *,
    icon: str = "",
    about: str | None = None,
    disabled: bool = False,
    **more: str,
) -> None:
    """A link to a page with its own or another icon; ``query`` and ``more`` go into the address."""
    st.page_link(
        f"pages/{page}.py",
        label=label,
        icon=f":material/{icon or PAGES[page]}:",
        query_params={**query, **more} or None,
        help=about,
        disabled=disabled,
    )


def snapshot() -> Snapshot:
    """The current state of the sidebar's catalog, newest version. A page asks once, at its top."""
    if "catalog" not in st.session_state:
        _rerun_through_app()
    return workspace().newest(st.session_state["catalog"])


def _rerun_through_app() -> NoReturn:
    """Run again, through app.py.

    Until a process has registered its pages, Streamlit runs a linked page alone, without the frame.
    """
    sign_in.refuse_unguarded()
    page = (st.context.url or "").rstrip("/").rpartition("/")[2]
    st.navigation(
        [st.Page(lambda: None, title="ToolScope", url_path=path) for path in ("home", page)]
    )
    st.rerun()


def reviewer() -> str:
    """The name under which decisions are recorded; it distinguishes people on one store."""
    return sign_in.name() or st.session_state.get("reviewer", "").strip() or _REVIEWER


def chosen_clients() -> tuple[str, ...]:
    """The user's clients, by target name, as chosen on the Catalog page in this session.

    Empty before that.
    """
    return tuple(st.session_state.get("clients", ()))


def exported_merges() -> PlanConfig | None:
    """The merges chosen on Export in this session; ``None`` if it was not opened yet."""
    accept = st.session_state.get("accept")
    gateway = bool(st.session_state.get("gateway"))
    return None if accept is None else PlanConfig(accept=accept, gateway=gateway)


def gateway_switch(place: DeltaGenerator, key: str) -> bool:
    """Draw the switch that includes merges that need a gateway; on if Export includes them."""
    exported = exported_merges()
    return place.toggle(
        "Include merges that need a gateway",
        exported is not None and exported.gateway,
        key=key,
        bind="query-params",
        help="What is measured here is exported only if the same switch on Export is on too.",
    )


def analysed_snapshot() -> Snapshot:
    """Like ``snapshot``, on a page that shows nothing without an analysis."""
    current = snapshot()
    wait_for_analysis(current)
    return current


def wait_for_analysis(snapshot: Snapshot) -> None:
    """Stop the page with the job's progress, or a button to start one, if
    there is no analysis yet.
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
        st.rerun()  # it ended between the two looks
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
    """One tab for each part; only the open one is built.

    The address names it under ``key``.
    """
    tabs = st.tabs(list(parts), key=key, bind="query-params", on_change="rerun")
    for tab, draw in zip(tabs, parts.values(), strict=True):
        if tab.open:
            with tab:
                draw(snapshot)


STAGES = {
    "servers": "Reading servers",
    "calls": "Comparing answers to calls",
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
    """Whether a job ended without its result, and not because its page was left."""
    return not (job.live or job.state == "done" or was_left(job))


def job_started_once(latest: Job | None, start: Callable[[], str], about: str, key: str) -> None:
    """Start work that a page needs, explain it (``about``) and show its progress.

    If the ``latest`` such job failed, it only starts when asked again, by the button ``key``.
    """
    if latest is not None and has_failed(latest):
        safe_text.show_error(JobError(latest.message))
        if not st.button("Retry", icon=":material/replay:", key=key):
            return
    st.info(about, icon=":material/hourglass_empty:")
    job_panel(start())


@st.fragment(run_every="1s")
def job_panel(job_id: str, seconds: float = 0, ready: Callable[[], bool] | None = None) -> None:
    """The progress of a job, and how long it still takes.

    The time is based on the pace of its step, or before that on an estimate of the whole job
    (``seconds``), if there is one. The page runs again when the job ends, and when it is ``ready``
    to show something before that.
    """
    try:
        job: Job = workspace().analyses.watch(job_id)
    except StoreError as error:  # a server that is away for a moment
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
    """How long the step of a job still takes, in words.

    The time is based on the pace since the step was first seen here, or before that on the rest of
    the ``estimate`` of the whole job.
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
    """The name given earlier in this browser; empty in a new one."""
    name = st.context.cookies.get(COOKIE)
    return unquote(name)[:_LONGEST_NAME].strip() if isinstance(name, str) else ""


def _remember(reviewer: str) -> None:
    """Remember the name in this browser, and keep its history in order. Call it on every page."""
    _browser(key="browser", data={"cookie": COOKIE, "reviewer": reviewer[:_LONGEST_NAME]})
