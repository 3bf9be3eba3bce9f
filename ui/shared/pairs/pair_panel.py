"""One pair: its verdict, the decisions on it, and the evidence."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NoReturn

import pandas as pd
import streamlit as st

from toolscope_core.files.json_lines import objects_of_list
from toolscope_core.model.catalog import Finding
from toolscope_core.model.cluster import family_name, outcome_word
from toolscope_core.model.decision import Decision
from toolscope_core.model.numbers import listed, quantity
from toolscope_core.model.pair import Pair, Verdict
from toolscope_core.model.tool import JsonObject, Tool, canonical_json
from ui.shared import data_tables, page_frame, safe_text
from ui.shared.cards import cluster_card, decision_buttons, decision_trail
from ui.shared.cards.cards import cell_text
from ui.shared.data_tables import Column, Columns
from ui.shared.pairs import pair_view
from ui.shared.pairs.pair_list import closest
from ui.shared.pairs.pair_view import DIFFERS, Neighbour, PairView, waterfall, waterfall_rows
from ui.shared.pictures import picture
from ui.shared.services import experiments, review
from ui.shared.snapshot import Snapshot
from ui.shared.tools import tool_parts, tool_selection

_TEXT_SHOWN = 4_000

_MOST_QUERIES = 3

SIDES = ("Tool A", "Tool B")


def show_pair(key: str) -> None:
    """Write the pair into the address, which decides what is shown."""
    st.query_params["pair"] = key


def draw_pair(snapshot: Snapshot, pair: Pair) -> None:
    """Draw two tools with their verdict, the buttons and the evidence."""
    view = pair_view.view(snapshot, pair)
    with st.container(border=True):
        _heading(view)
        _confused_line(snapshot, pair)
        _buttons(snapshot, view)
        _side_by_side(view)
        evidence_panel(view, show_pair)


def nothing_overlaps(snapshot: Snapshot, text: str) -> NoReturn:
    """Show that there is nothing to show, and which two tools are closest. Then stop the page."""
    nearest = closest(snapshot.analysis)
    if nearest is not None:
        names = " and ".join(map(safe_text.untrusted, (nearest.left, nearest.right)))
        text += f" The closest are {names}, at a similarity of {nearest.similarity:.2f}."
    st.info(text, icon=":material/check_circle:")
    st.stop()


def families_note(snapshot: Snapshot) -> None:
    """Show how many families a picture of shared jobs leaves out, with a link to them."""
    families = review.progress(snapshot).clusters.families.total
    if families:
        are = "is" if families == 1 else "are"
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(
                f"{quantity(families, 'family')} {are} not drawn here: tools that do one operation "
                "for several providers or values.",
                width="content",
            )
            page_frame.page_link("review", "See the families", show="Families")


def pair_body(view: PairView, show: Callable[[str], None]) -> None:
    """Draw two tools with the verdict and the evidence, but without buttons. ``show`` opens another
    pair.
    """
    _heading(view)
    _side_by_side(view)
    evidence_panel(view, show)


def _side_by_side(view: PairView) -> None:
    """Draw both tools, and below them their parameters side by side."""
    one, other = view.tools
    for side, column, tool, findings in zip(
        SIDES, st.columns(2), view.tools, view.findings, strict=True
    ):
        with column.container(border=True, height="stretch"):
            st.caption(side)
            _draw_tool(tool, None if tool is one else one)
            _findings(findings)
    if view.further_parameters:
        _table(
            [*view.further_parameters], f"Results and annotations of {one.name} and {other.name}"
        )
    _arguments(view)


def evidence_panel(view: PairView, show_pair: Callable[[str], None]) -> None:
    """Draw only the chosen part. All of them (a chart and three more tables) would slow the page of
    every pair.

    ``show_pair`` is called with the key of another pair to show.
    """
    parts: dict[str, Callable[[PairView], None]] = {
        "Reasons": _reasons,
        "Signals": _signals,
        "Calls": _calls,
        "Most similar tools": partial(_neighbours, show_pair=show_pair),
    }
    part = st.segmented_control(
        "Evidence",
        list(parts),
        default=next(iter(parts)),
        required=True,
        key="pair_more",
        label_visibility="collapsed",
    )
    parts[part](view)


def pair_link(snapshot: Snapshot, key: str) -> None:
    """Draw a link to the pair with this key."""
    page_frame.page_link("overlap", "Open the pair", catalog=snapshot.record.name, pair=key)


def _heading(view: PairView) -> None:
    verdict = view.verdict
    one, other = (safe_text.untrusted(tool.name) for tool in view.tools)
    st.subheader(f"{one} and {other}", anchor=False)
    with st.container(horizontal=True):
        cluster_card.badge("Model" if view.has_model_verdict else "Judge", verdict.outcome)
        st.badge(f"Same job {verdict.same_job:.2f}", color="gray")
        st.badge(f"Family {verdict.family:.2f}", color="gray")
        if view.has_model_verdict:
            offline, differs = view.offline, verdict.outcome != view.offline.outcome
            st.badge(
                f"Offline: {outcome_word(offline.outcome)} {cluster_card.probability(offline)}",
                color="orange" if differs else "gray",
                icon=":material/difference:" if differs else ":material/done_all:",
            )
        st.badge(f"Similarity {verdict.similarity:.2f}", color="gray")
        if view.card is not None:
            st.badge(f"Cluster: {view.card.state}", color="blue", icon=":material/rule:")
        elif view.family is not None:
            kind = family_name(view.family.selector).capitalize()
            st.badge(f"{kind}: {len(view.family.members):,} members", color="violet")
    relation, serving, *wording = view.relation
    st.markdown(f"**{safe_text.untrusted(relation)}** {safe_text.untrusted(serving)}")
    st.markdown(" ".join(map(safe_text.untrusted, wording)))


def _buttons(snapshot: Snapshot, view: PairView) -> None:
    decision_buttons.notice(snapshot)
    kept_apart = any(decision.action == "keep_apart" for decision in view.decisions)
    with st.container(horizontal=True, vertical_alignment="center"):
        ids, names = [one.id for one in view.tools], " and ".join(one.name for one in view.tools)
        button = partial(
            decision_buttons.set_button,
            snapshot,
            ids=ids,
            version=view.version,
            names=names,
            disabled=kept_apart,
            then=lambda: show_pair(view.key),
        )
        if view.card is not None:
            page_frame.page_link("review", "Open in Review", cluster=view.card.id)
        else:
            about = decision_buttons.PROPOSES
            button("propose", label="Send to review", key=f"propose_{view.key}", help=about)
        about = "Keeps the two apart, whatever the judge says, until the decision is undone."
        button("keep_apart", label="Keep apart", key=f"never_{view.key}", help=about)
        tool_selection.select_button(snapshot, ids, "a pair", f"both_{view.key}", "Select both")
    for decision in view.decisions:
        who = decision_trail.by_whom(decision)
        text = f":small[{decision_trail.in_words(decision)} by {who}]"
        decision_buttons.undo_line(snapshot, text, decision, "pair_undo")


def _draw_tool(tool: Tool, base: Tool | None) -> None:
    """Draw a tool. Differences from ``base`` are marked."""
    text = tool.description[:_TEXT_SHOWN]
    st.markdown(f"**{safe_text.untrusted(tool.name)}**")
    with st.container(horizontal=True, vertical_alignment="center"):
        tool_parts.owner_badge(tool)
        tool_parts.open_button(tool, "pair")
    tool_parts.declared_line(tool)
    if not text.strip():
        st.caption("No description.")
    elif base is None:
        st.html(safe_text.untrusted_html(text))
    else:
        st.html(safe_text.word_diff(base.description[:_TEXT_SHOWN], text, by_side=True))


def _findings(findings: Sequence[Finding]) -> None:
    for finding in findings:
        safe_text.finding(finding.severity, f"{finding.severity}: {finding.message}")


def _arguments(view: PairView) -> None:
    st.markdown("**Argument mapping**")
    if view.parameters:
        _table([*view.parameters], "The parameters of both tools, aligned")
    else:
        st.caption("Neither tool declares parameters.")
    one, other = view.tools
    for column, (tool, target), steps in zip(
        st.columns(2), ((one, other), (other, one)), view.maps, strict=True
    ):
        with column:
            names = (safe_text.untrusted(tool.id), safe_text.untrusted(target.id))
            st.markdown(f"To replace a call to {names[0]} with a call to {names[1]}:")
            none = (
                "The arguments are not known."
                if tool.schema is None
                else "No arguments are needed."
            )
            lines = steps or (none,)
            st.markdown("\n".join(f"- {safe_text.sentence(line)}" for line in lines))


def _table(rows: list[object], alt: str) -> None:
    """Draw a table. Cells that differ begin with a sign and have a coloured background."""
    frame = pd.DataFrame(rows)

    def background(cell: object) -> str:
        differs = isinstance(cell, str) and cell.startswith(DIFFERS.strip())
        return "background-color: rgba(230,159,0,0.22)" if differs else ""

    titles = {name: _column_title(name) for name in frame.columns}
    st.dataframe(frame.style.map(background), hide_index=True, column_config=titles, alt=alt)


def _column_title(column: str) -> str:
    """The title of a column, as in ``A`` for the first tool or ``B, type`` for the type of the
    second.
    """
    side, comma, attribute = column.partition(",")
    return f"{ {'one': 'A', 'other': 'B'}.get(side, side) }{comma}{attribute}"


def _confused_line(snapshot: Snapshot, pair: Pair) -> None:
    """Show which queries confuse the two tools, if an experiment has measured that."""
    confusion = experiments.confusion_of(snapshot, pair)
    if confusion is None:
        return
    number, texts = confusion
    st.markdown(
        f":material/query_stats: {quantity(len(texts), 'query')} of experiment {number} "
        f"{'confuses' if len(texts) == 1 else 'confuse'} these two{_quoted(texts)}."
    )


def _quoted(texts: Sequence[str]) -> str:
    quoted = [f"“{safe_text.untrusted(text[:90])}”" for text in texts]
    return f": {listed(quoted, _MOST_QUERIES, between='; ')}" if quoted else ""


def _signals(view: PairView) -> None:
    verdict = view.offline
    job, family = st.columns(2)
    job.metric("Same job", f"{verdict.same_job:.2f}", help="The sum of the bars below.")
    family.metric(
        "Family",
        f"{verdict.family:.2f}",
        help="The probability that both are the same operation for another provider or value, "
        f"judged separately. From {view.family_at:.2f} on, the verdict is *family*, unless "
        "they do the same job.",
    )
    rows = partial(waterfall_rows, view.waterfall)
    picture(waterfall(view.waterfall), rows, "waterfall", "Contribution of each signal")


def _reasons(view: PairView) -> None:
    if view.has_model_verdict:
        st.markdown(f"**{safe_text.untrusted(view.verdict.judge)}**")
        _listed(view.verdict)
        st.markdown("**The offline judge**")
    _listed(view.offline)


def _listed(verdict: Verdict) -> None:
    reasons = verdict.evidence or ("No reason given.",)
    st.markdown("\n".join(f"- {safe_text.untrusted(reason)}" for reason in reasons))


def _calls(view: PairView) -> None:
    if view.compared is None:
        st.caption("No calls were sent to both. *Try both* on a card in Review sends some.")
    else:
        compared_calls(view.compared)


def compared_calls(decision: Decision) -> None:
    """Draw the verdict of the last comparison, each of its calls, and what differed."""
    rows = objects_of_list(decision.detail.get("rows"))
    columns: Columns[JsonObject] = [
        Column("arguments", lambda row: canonical_json(row.get("arguments"))),
        Column("differences", _differences),
    ]
    st.markdown(f"**Last compared** :gray[({safe_text.clock(decision.at)} UTC)]")
    st.markdown(safe_text.sentence(str(decision.detail["verdict"])))
    data_tables.draw(rows, columns, "Calls and how the answers differed", most=240)
    names = decision.detail.get("names")
    for left, right in names.items() if isinstance(names, dict) else ():
        both = (
            f"`{left}` in the first tool's results corresponds to `{right}` in the second tool's."
        )
        st.caption(safe_text.sentence(both))


def _differences(row: JsonObject) -> str:
    refused = row.get("refused")
    sides = zip(("first", "second"), refused if isinstance(refused, list) else (), strict=False)
    parts = [f"the {side} refused: {one}" for side, one in sides if one]
    for one in objects_of_list(row.get("differences")):
        both = (one.get(side) for side in ("left", "right"))
        values = " and ".join(f"{v:.9g}" if isinstance(v, float) else cell_text(v) for v in both)
        parts.append(f"{one.get('path') or 'text'}: {values} ({one.get('kind')})")
    return "; ".join(parts) or "same"


def _neighbours(view: PairView, show_pair: Callable[[str], None]) -> None:
    st.caption("Select a row to compare.")
    for column, side, tool, near in zip(
        st.columns(2), SIDES, view.tools, view.neighbours, strict=True
    ):
        with column:
            st.caption(f"{side}: {safe_text.untrusted(tool.id)}")
            _nearest(view, side, near, show_pair)


def _nearest(
    view: PairView, side: str, near: Sequence[Neighbour], show_pair: Callable[[str], None]
) -> None:
    data_tables.row_chooser(
        near,
        [
            Column("tool"),
            Column("server"),
            Column("similarity", format="%.2f", help="Cosine"),
            Column("same_job", title="same job", format="%.2f"),
            Column("verdict", width=70),
        ],
        f"Tools most similar to {side}",
        key=f"near_{side}_{view.key}",
        choose=lambda row: show_pair(near[row].key),
    )
