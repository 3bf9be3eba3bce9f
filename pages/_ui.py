"""The only Streamlit glue the pages share: the workspace, the frame, escaping, the job panel."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from difflib import SequenceMatcher
from typing import Any, Literal, NoReturn

import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError

from pages import _browser
from toolscope_core.config import Key, Settings, key_for, read_environment, read_keys
from toolscope_core.errors import JobError, ToolScopeError
from toolscope_core.numbers import quantity
from toolscope_core.pipeline import Analysis
from toolscope_core.store import CatalogRecord, Job
from toolscope_core.workspace.judging import OFFLINE
from toolscope_core.workspace.workspace import Workspace

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>:$~&])")


_ADDRESS = re.compile(r"(https?:|www(?=\.)|@)", re.IGNORECASE)
_MARKED = "border-radius:3px;padding:0 2px;background:rgba("
DIFF_WORDS = 800
REVIEWER = "reviewer"
"""Who decides where nobody gave a name."""
SECRETS = ".streamlit/secrets.toml"


@st.cache_resource
def workspace() -> Workspace:
    """The one workspace of this process; a first start brings the bundled example, analysed."""
    work = Workspace(_settings())
    if not work.catalogs.newest():
        work.analyses.start(work.catalogs.add_example().id)
    return work


def _settings() -> Settings:
    """Those of the environment, with the keys of Streamlit's secrets first."""
    settings = read_environment()
    return replace(settings, keys=(*_secret_keys(), *settings.keys))


def _secret_keys() -> tuple[Key, ...]:
    try:
        return read_keys({name: str(value) for name, value in st.secrets.items()})
    except StreamlitSecretNotFoundError:
        return ()


def key_source(origin: str) -> str:
    """Where the key for an origin comes from, empty where there is none."""
    if key_for(origin, _secret_keys()).secret:
        return SECRETS
    return "the environment" if key_for(origin, workspace().settings.keys).secret else ""


def untrusted(text: str) -> str:
    """Text of a catalog, made safe for every Streamlit call that reads markdown.

    It is the one door: no page puts such text into markdown or HTML by another way. Line ends
    become spaces, so that no block element can begin; an invisible joiner keeps addresses from
    becoming links.
    """
    unlinked = _ADDRESS.sub("\\1\u2060", " ".join(str(text).split()))
    return _MARKDOWN.sub(r"\\\1", unlinked)


def sentence(text: str) -> str:
    """A sentence on tools, safe in markdown; the names in it, between backticks, are bold."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return untrusted(text)
    names = [f"**{untrusted(part)}**" if part.strip() else untrusted(part) for part in parts[1::2]]
    # an escaped part loses the spaces at its ends, which divide the names from the words
    plain = [_with_ends(part) for part in parts[::2]]
    return "".join(a + b for a, b in zip(plain, [*names, ""], strict=True))


def _with_ends(part: str) -> str:
    before = " " if part[:1].isspace() else ""
    after = " " if part[1:] and part[-1:].isspace() else ""
    return f"{before}{untrusted(part)}{after}"


def untrusted_html(text: str) -> str:
    """Text of a catalog, made safe for ``st.html``."""
    return html.escape(str(text), quote=True)


def owner(tool_id: str, name: str, server: str) -> str:
    """What tells a tool from others of its name, safe in markdown: its server, else its id."""
    return untrusted(server or ("no server" if tool_id == name else f"no server, {tool_id}"))


def finding(severity: str, message: str) -> None:
    """What the scan found, whole: a badge would cut the words off."""
    color = {"block": "red", "warn": "orange"}.get(severity, "gray")
    st.markdown(f":{color}[:material/shield: {untrusted(message)}]")


def word_diff(before: str, after: str) -> str:
    """HTML of a word diff, escaped: ``ins`` and ``del``, with + and − for those who see no colour.

    Only the first ``DIFF_WORDS`` words of each are compared, since the time grows with their
    product.
    """
    old, new = before.split()[:DIFF_WORDS], after.split()[:DIFF_WORDS]
    parts = []
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        gone, come = (untrusted_html(" ".join(words)) for words in (old[a:b], new[c:d]))
        if tag == "equal":
            parts.append(gone)
        if tag in ("delete", "replace"):
            parts.append(f'<del style="{_MARKED}217,72,15,.18)">−{gone}</del>')
        if tag in ("insert", "replace"):
            parts.append(f'<ins style="{_MARKED}47,158,68,.22)">+{come}</ins>')
    return " ".join(parts) or "<em>no text</em>"


def show_error(error: ToolScopeError) -> None:
    """A failure that the user can mend, in its own words."""
    st.error(untrusted(str(error)), icon=":material/error:")


def frame(page: str) -> None:
    """The sidebar of every page: which catalog, who reviews, which judge; and the tab's title, with
    the ``page`` it shows.
    """
    records = {record.name: record for record in workspace().catalogs.newest()}
    asked = st.query_params.get("catalog", "")
    if asked in records:
        st.session_state["catalog"] = asked
    elif asked:
        st.session_state["no_catalog"] = asked
    if st.session_state.get("catalog") not in records:
        st.session_state["catalog"] = next(iter(records))
    with st.sidebar:
        st.selectbox(
            "Catalog",
            list(records),
            key="catalog",
            persist_state="session",
            help="Catalogs are added on the Catalog page.",
            on_change=lambda: show(st.session_state["catalog"]),
        )
        name = _browser.remembered_name() or REVIEWER
        st.text_input("Your name", name, key="reviewer", persist_state="session")
        _browser.remember(reviewer())
        judge = workspace().judging.judge_of(records[st.session_state["catalog"]].id)
        color: Literal["gray", "blue"] = "gray" if judge == OFFLINE else "blue"
        told = untrusted(judge)
        st.badge(f"Judge: {told}", icon=":material/gavel:", color=color, help=told)
    st.set_page_config(page_title=f"{page} · {st.session_state['catalog']} · ToolScope")
    if missing := st.session_state.get("no_catalog"):
        st.warning(
            f"There is no catalog {untrusted(missing)} here. Shown is "
            f"{untrusted(st.session_state['catalog'])}; choose another in the sidebar.",
            icon=":material/link_off:",
        )
    if st.query_params.get("catalog") != st.session_state["catalog"]:
        st.query_params["catalog"] = st.session_state["catalog"]  # an address names its catalog


def show(name: str) -> None:
    """Go over to a catalog. Call it in a widget's callback."""
    st.session_state.pop("no_catalog", None)
    st.session_state["catalog"] = st.query_params["catalog"] = name


def current() -> CatalogRecord:
    """The catalog chosen in the sidebar, newest version."""
    if "catalog" not in st.session_state:
        _through_the_app()
    records = {record.name: record for record in workspace().catalogs.newest()}
    return records[st.session_state["catalog"]]


def _through_the_app() -> NoReturn:
    """Run again, through app.py. Until a process has registered its pages once, Streamlit runs a
    page that a link leads to on its own, without the frame.
    """
    here = st.context.url.rstrip("/").rpartition("/")[2]
    st.navigation(
        [st.Page(lambda: None, title="ToolScope", url_path=path) for path in ("home", here)]
    )
    st.rerun()


def clock(at: str) -> str:
    """A moment as people write it: day and time to the minute, UTC."""
    return at[:16].replace("T", " ")


def reviewer() -> str:
    """Who decides; people on one store tell each other apart by it."""
    return st.session_state.get("reviewer", "").strip() or REVIEWER


def analysis() -> Analysis:
    """The analysis of the current catalog; stops the page with the job's progress, or a button
    that starts one, where there is none yet.
    """
    record = current()
    return workspace().analyses.get(record.id) or _wait_for_analysis(record)


def _wait_for_analysis(record: CatalogRecord) -> NoReturn:
    job = workspace().analyses.job(record.id)
    if job is not None and job.live:
        job_panel(job.id)
        st.stop()
    if job is not None and job.message:
        show_error(JobError(job.message))
    st.info(
        f"{quantity(record.tools, 'tool')} {'waits' if record.tools == 1 else 'wait'} to be "
        f"compared. It takes about "
        f"{max(10, record.tools // 60)} seconds the first time.",
        icon=":material/hourglass_empty:",
    )
    if st.button("Analyse", type="primary", icon=":material/play_arrow:", key="analyse"):
        workspace().analyses.start(record.id)
        st.rerun()
    st.stop()


STAGES = {
    "embed": "Reading what the tools say",
    "compare": "Finding near tools",
    "judge": "Judging pairs",
    "merge": "Working out merges",
    "count": "Counting pairs",
    "audit": "A model looks at clusters",
    "synthesis": "A model writes documents",
    "quality": "A model grades documents",
    "ready": "Getting ready; UMAP compiles its code first",
    "neighbours": "Finding neighbours",
    "layout": "Laying the tools out",
    "cluster": "Clustering",
}


@st.fragment(run_every="1s")
def job_panel(job_id: str) -> None:
    """True progress of a job; the page runs again when it ends."""
    job: Job = workspace().analyses.watch(job_id)
    if not job.live:
        st.rerun()
    stage = STAGES.get(job.stage, "Waiting for its turn")
    share = job.done / job.total if job.total else 0.0
    passed = (datetime.now(UTC) - datetime.fromisoformat(job.started_at)).total_seconds()
    done = f": {job.done:,} of {job.total:,}" if job.total else ""
    st.progress(share, text=f"{stage}{done} ({passed:,.0f} s so far)")
    if st.button("Cancel", key=f"cancel_{job_id}", disabled=job.cancel_requested):
        workspace().analyses.cancel(job_id)


def columns(rows: Sequence[object], names: Sequence[str]) -> dict[str, list[Any]]:
    """Attributes of the rows as a table: ``asdict`` would copy all that each of them holds."""
    return {name: [getattr(row, name) for row in rows] for name in names}
