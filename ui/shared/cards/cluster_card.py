"""The parts of a cluster's card on the Review and the Documents page."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

import streamlit as st

from toolscope_core.catalog.tokens import SizeChange, tokenizer
from toolscope_core.judging.relation_words import FamilySelector
from toolscope_core.merging.clusters import documented
from toolscope_core.model.catalog import Server
from toolscope_core.model.cluster import (
    KINDS,
    OUTCOME_NAMES,
    CardFamily,
    Cluster,
    State,
    family_name,
    kind_name,
    outcome_word,
    proposal_kind,
)
from toolscope_core.model.numbers import listed
from toolscope_core.model.pair import Pair, PairOutcome, Verdict, pair_key
from toolscope_core.model.tool import Tool
from ui.shared import data_tables, page_frame, safe_text
from ui.shared.cards.cards import Card
from ui.shared.data_tables import Column
from ui.shared.graph import FEWEST
from ui.shared.snapshot import Snapshot
from ui.shared.tools import tool_parts

Color = Literal["green", "violet", "orange", "gray", "red", "blue"]

_COLORS: dict[PairOutcome, Color] = {
    "merge": "green",
    "family": "violet",
    "unsure": "orange",
    "keep": "gray",
    "unanalysed": "red",
}
_ICONS: dict[PairOutcome, str] = {
    "merge": ":material/merge:",
    "family": ":material/family_history:",
    "unsure": ":material/help:",
    "keep": ":material/call_split:",
    "unanalysed": ":material/question_mark:",
}


def badge(who: str, outcome: PairOutcome) -> None:
    """Draw the verdict of ``who`` on a pair."""
    st.badge(f"{who}: {OUTCOME_NAMES[outcome]}", color=_COLORS[outcome], icon=_ICONS[outcome])


def short(outcome: PairOutcome) -> str:
    """The verdict in one word, coloured. Safe in markdown."""
    color, word = _COLORS[outcome], outcome_word(outcome)
    return word if color == "gray" else f":{color}[{word}]"


def probability(verdict: Verdict) -> str:
    """The probability behind the verdict: of a family, or of the same job."""
    if verdict.outcome == "family":
        return f"{verdict.family:.2f}"
    return f"{verdict.same_job:.2f}"


MEMBERS_SHOWN, _NAMED = 12, 3
_TEXT_SHOWN = 3_000
_OF_SERVER = 12
DIFFERING_SHOWN = 10
SINGLE_KINDS = {
    "drop_in": "Works as edited, no gateway needed",
    "gateway": "Needs a gateway: the server has another name or other parameters",
}
_STATES: dict[State, tuple[str, Color, str]] = {
    "proposed": ("Proposed", "blue", ":material/lightbulb:"),
    "accepted": ("Accepted", "green", ":material/check:"),
    "stale": ("Changed since the decision", "orange", ":material/update:"),
    "conflict": ("In conflict", "red", ":material/warning:"),
    "kept_apart": ("Kept apart", "gray", ":material/block:"),
}


def title(card: Card, blind: bool = False) -> None:
    """Draw the merged tool's name and the cluster's state in one line, with the state as badges.

    ``blind`` hides the judge's results.
    """
    cluster = card.cluster
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.subheader(safe_text.untrusted(cluster.document.name), anchor=False, width="content")
        label, color, icon = _STATES[cluster.state]
        st.badge(label, color=color, icon=icon)
        if blind:
            return
        kind_badge(cluster)
        likelihood_badge(cluster)
        size_badge(card.size)


def likelihood_badge(cluster: Cluster) -> None:
    """Show how likely it is, in the judge's view, that the weakest pair is one job. This is not a
    similarity.
    """
    st.badge(
        f"Likelihood {cluster.weakest_edge:.2f}",
        color="gray",
        help="How likely the judge finds it that the weakest pair belongs together, from 0 to 1. "
        "This is not the similarity of the texts.",
    )


def size_badge(size: SizeChange) -> None:
    """Draw the tokens that agents read before and after, in red if the number grows."""
    st.badge(
        f"≈ {size.in_words}",
        color="red" if size.grows else "gray",
        help=f"In every prompt, as {size.name}. Tokens: {tokenizer().label}.",
    )


def kind_badge(cluster: Cluster) -> None:
    """Draw the kind of merge that the cluster allows. An explanation appears on hover."""
    color: Color = "green" if cluster.kind == "drop_in" else "violet"
    st.badge(kind_name(cluster).capitalize(), color=color, help=KINDS[proposal_kind(cluster)].means)


def question(card: Card) -> None:
    """Show in one sentence what accepting would mean for agents."""
    canonical, others = _named(card.canonical), listed(map(_named, card.switched_off), _NAMED)
    if card.selector is not None:
        st.markdown(f"**{safe_text.untrusted(card.selector.in_words)}**")
    elif card.cluster.kind == "looks_alike":
        why = "Nothing is merged, because their arguments are not known"
        st.markdown(f"{canonical} and {others} look alike. {why}.")
    elif card.cluster.kind == "drop_in":
        st.markdown(f"Agents keep {canonical} and no longer see {others}.")
    else:
        st.markdown(
            f"Agents see one tool; a gateway forwards each call to {canonical} or {others}."
        )


def show_reasons_against(card: Card) -> None:
    """Show what was checked, and the objections to accepting."""
    cluster = card.cluster
    if card.newcomers:
        names = ", ".join(map(_named, card.newcomers))
        st.info(
            f"New since this was accepted: {names}. Accept adds what is new; Keep apart leaves "
            "it out."
        )
    doubts = filter(None, [card.size_reason, *card.doubts])
    reasons = [f"- :small[{safe_text.sentence(reason)}]" for reason in doubts]
    if reasons:
        st.markdown("\n".join(["**Check before you accept:**", "", *reasons]))
    if cluster.kind == "drop_in" and card.selector is None:
        wording(card)
    if not reasons and cluster.safe:
        st.markdown(":material/verified: Safe to accept: there is no reason against it.")


def wording(card: Card) -> None:
    """Show whether the others cover each word of one member, or which words they do not cover."""
    if not card.unmatched:
        st.markdown(":green[:material/check:] Names and descriptions show no relevant difference.")
        return
    lines = [f"- :small[{safe_text.sentence(reason)}]" for reason in card.unmatched]
    head = ":orange[:material/warning:] **Differences in wording:**"
    st.markdown("\n".join([head, "", *lines]))


def family(card: Card, selector: FamilySelector, servers: Iterable[Server]) -> None:
    """Show what differs, why no member can be left out, and the argument that a gateway would add.

    Other providers are shown with what the ``servers`` say about themselves.
    """
    about = {server.name: _about(server) for server in servers}
    tools = {tool.id: tool for tool in card.tools}
    what = (
        "for another provider" if selector.name in ("server", "provider") else "for another value"
    )
    st.markdown(
        f"Each tool does the same {what}. No tool has an argument for that, so none can take "
        "calls to another, and all stay. A gateway can offer one tool that passes each call "
        "on by this argument:"
    )
    data_tables.draw(
        [(value, tools[tool_id]) for tool_id, value in selector.values],
        [
            Column(selector.name, lambda row: row[0]),
            Column("forwarded to", lambda row: row[1].name),
            Column("server", lambda row: row[1].server, visible=any(t.server for t in card.tools)),
            Column(
                "what it is",
                lambda row: about.get(row[1].server, ""),
                visible=len({tool.server for tool in card.tools}) > 1
                and any(about.get(tool.server) for tool in card.tools),
            ),
        ],
        "The tool for each value of the argument",
        most=190,
    )
    schema = json.dumps({selector.name: selector.schema}, ensure_ascii=False)
    st.code(schema, language="json", wrap_lines=True)


def _about(server: Server) -> str:
    """The first words of a server's own description."""
    words = (server.description or server.title).split()
    return " ".join(words[:_OF_SERVER]) + ("…" if len(words) > _OF_SERVER else "")


def wider_family(family: CardFamily, cluster: Cluster, tools: Mapping[str, Tool]) -> None:
    """Draw the rest of the family around the cluster. ``tools`` are those of the catalog, by id."""
    st.markdown(
        f"A **{family_name(family.selector)}** with other tools: they do the same for another "
        "provider or value. Nothing is merged with them."
    )
    rows = zip(family.members, family.tools, family.values, strict=True)
    data_tables.draw(
        [(tools[head], of_head, value) for head, of_head, value in rows],
        [
            Column("here", lambda row: "●" if row[0].id == cluster.canonical else "", width=42),
            Column(family.selector, lambda row: row[2]),
            Column("tool", lambda row: row[0].name),
            Column("server", lambda row: row[0].server),
            Column("tools", lambda row: len(row[1]), width=42),
        ],
        "The members of the family",
        most=190,
    )


def merged_tool(card: Card) -> None:
    """Draw the merged tool if it differs from the canonical member."""
    if not card.is_new_tool:
        return
    document = card.cluster.document
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**{safe_text.untrusted(document.name)}**", width="content")
            st.badge("What agents get", color="violet", icon=":material/smart_toy:")
            with st.popover("As JSON", icon=":material/data_object:"):
                tool = documented(card.canonical, document)
                record = {"name": tool.name, "description": tool.description, "schema": tool.schema}
                text = json.dumps(record, ensure_ascii=False, indent=2)
                st.code(text, language="json", wrap_lines=True)
        st.html(safe_text.untrusted_html(document.description[:_TEXT_SHOWN]))


def members(snapshot: Snapshot, card: Card, drop: Callable[[Tool], None] | None = None) -> None:
    """Draw the members side by side.

    If one tool replaces the members, the text that agents no longer read is marked. Otherwise,
    differences from the canonical tool are marked.
    """
    tools = (*card.tools, *card.newcomers)
    for start in range(0, min(len(tools), MEMBERS_SHOWN), 3):
        row = tools[start : min(start + 3, MEMBERS_SHOWN)]
        side_by_side = st.container(key=f"members_{start}")
        for column, tool in zip(side_by_side.columns(min(3, len(tools))), row, strict=False):
            with column.container(border=True, height="stretch", gap="xsmall"):
                _member(snapshot, card, tool)
                if drop is not None:
                    drop(tool)
    if len(tools) > MEMBERS_SHOWN:
        st.caption(f"Showing {MEMBERS_SHOWN} of {len(tools):,} members; the table below lists all.")


def _member(snapshot: Snapshot, card: Card, tool: Tool) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{safe_text.untrusted(tool.name)}**", width="content")
        tool_parts.owner_badge(tool)
        if tool is card.canonical:
            st.badge("Canonical", color="blue", icon=":material/star:")
        if tool in card.newcomers:
            st.badge("Newcomer", color="orange")
        tool_parts.open_button(tool, "card")
    tool_parts.declared_line(tool)
    tool_parts.usage_caption(snapshot, tool)
    for finding in card.findings[tool.id]:
        safe_text.finding(finding.severity, finding.message)
    text, base = tool.description[:_TEXT_SHOWN], card.canonical.description[:_TEXT_SHOWN]
    if card.is_one_tool and (card.is_new_tool or tool is not card.canonical):
        st.html(safe_text.what_goes(text, card.cluster.document.description[:_TEXT_SHOWN]))
    elif tool is card.canonical:
        st.html(safe_text.untrusted_html(text) or "<em>no description</em>")
    else:
        st.html(safe_text.word_diff(base, text, dim=True, by_side=True))


def evidence(snapshot: Snapshot, card: Card) -> None:
    """Draw the verdicts on the weakest pairs, with the reasons."""
    for verdict in card.evidence:
        judge = f" :gray[({safe_text.untrusted(verdict.judge)})]" if " at " in verdict.judge else ""
        is_family = card.cluster.relation == "family" or verdict.outcome == "family"
        chance = f"family {verdict.family:.2f}" if is_family else f"same job {verdict.same_job:.2f}"
        headline = f"{short(verdict.outcome)}, {chance}"
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{headline}** · {_pair_in_words(verdict.pair)}{judge}", width="content")
            page_frame.page_link(
                "overlap",
                "Compare",
                icon="compare_arrows",
                about="Both tools side by side, where you can keep just this pair apart for good.",
                catalog=snapshot.record.name,
                pair=pair_key(verdict.pair),
            )
        st.markdown(
            "\n".join(f"- {safe_text.untrusted(sentence)}" for sentence in verdict.evidence)
        )
    if card.pairs > len(card.evidence):
        st.caption(f"Showing the weakest {len(card.evidence)} of {card.pairs:,} pairs.")


def differing(card: Card) -> None:
    """Draw the pairs on which the model and the offline judge differ."""
    if not card.disagreements:
        return
    st.markdown(":material/difference: **Where the judges disagree**, largest difference first")
    for one in card.disagreements[:DIFFERING_SHOWN]:
        verdict, judge = one.model, safe_text.untrusted(one.model.judge)
        why = f": {safe_text.untrusted(verdict.evidence[0])}" if verdict.evidence else ""
        st.markdown(
            f"- {_pair_in_words(one.pair)}: offline **{short(one.offline.outcome)}** "
            f"{probability(one.offline)}, {judge} "
            f"**{short(verdict.outcome)}** "
            f"{probability(verdict)}{why}"
        )
    if len(card.disagreements) > DIFFERING_SHOWN:
        st.caption(f"Showing {DIFFERING_SHOWN} of {len(card.disagreements):,} pairs.")


def effect(card: Card, before: Cluster) -> None:
    """Draw the effect of an edited document: kind, size, and arguments that would be lost."""
    after = card.cluster
    if len(after.members) == 1:
        st.badge(SINGLE_KINDS[after.kind], color="green" if after.kind == "drop_in" else "violet")
    else:
        kind_badge(after)
    if card.selector is not None:
        st.markdown(f"**{safe_text.untrusted(card.selector.in_words)}**")
    if after.kind == "gateway" and before.kind == "drop_in":
        st.warning(
            "With this edit, no server offers the merged tool under this name and with these "
            "parameters: it needs a gateway, and is exported only if you use one. If you edit "
            "only the description, it stays a drop-in."
        )
    size_badge(card.size)
    if card.size_reason:
        st.markdown(f":small[{safe_text.sentence(card.size_reason)}]")
    for alpha in after.arguments:
        for sentence in (*alpha.lossy, *(f"{k}: {why}" for k, why in alpha.dropped.items())):
            st.warning(safe_text.untrusted(f"Calls to {alpha.tool_id}: {sentence}"))


def _pair_in_words(pair: Pair) -> str:
    return f"{safe_text.untrusted(pair.left)} and {safe_text.untrusted(pair.right)}"


def _named(tool: Tool) -> str:
    name = f"**{safe_text.untrusted(tool.name)}**"
    if tool.server:
        return f"{name} on {safe_text.untrusted(tool.server)}"
    return f"{name} ({safe_text.untrusted(tool.home)})" if tool.home else name


def cluster_graph(snapshot: Snapshot, cluster: Cluster) -> None:
    """Draw the box with the graph. Nothing is drawn if the cluster has fewer
    tools than ``FEWEST``.
    """
    if len(cluster.members) < FEWEST:
        return
    box = st.expander(
        f"How the {len(cluster.members):,} tools are connected",
        icon=":material/hub:",
        key=f"graph_{cluster.id}",
        on_change="rerun",
    )
    if box.open:
        from ui.shared.graph.network_panel import (
            network_panel,  # imports everything that draws the graph
        )

        with box:
            network_panel(snapshot, cluster.id)
