"""Similar tools that stay separate, and the form that gives them descriptions that differ."""

from collections.abc import Mapping, Sequence

import streamlit as st

from toolscope_core.merging.faithful import Violation
from toolscope_core.model.cluster import RELATIONS
from toolscope_core.model.numbers import quantity
from toolscope_core.model.pair import pair_key
from toolscope_core.model.tool import Tool, digest
from toolscope_core.rps.telling_apart import COLLIDE, LEAST, SiblingPair
from ui.documents import siblings
from ui.shared import ask_panel, page_frame, safe_text
from ui.shared.cards import change_effect_panel, cluster_card, decision_buttons
from ui.shared.pairs.pair_panel import pair_link
from ui.shared.services import review
from ui.shared.snapshot import Snapshot

MOST_OPTIONS = 500


def chosen_key(
    bar: st.delta_generator.DeltaGenerator, label: str, labels: Mapping[str, str], at: str
) -> tuple[str, str]:
    """Draw a choice among the first 500 keys. Returns the chosen key and the one after it. ``at``
    is the session key.
    """
    order = list(labels)[:MOST_OPTIONS]
    if st.session_state.get(at) not in order:
        st.session_state[at] = order[0]
    key = bar.selectbox(
        f"{label} ({len(labels):,})", order, key=at, format_func=labels.__getitem__, width=480
    )
    return key, order[(order.index(key) + 1) % len(order)]


def show_violations(violations: Sequence[Violation], name: str = "") -> None:
    """Draw a warning for each violation. The tool's ``name`` is shown if several
    texts are checked.
    """
    of = f"`{name}`: " if name else ""
    for one in violations:
        more = "" if one.excerpt in one.message else f": {one.excerpt}"
        st.warning(safe_text.sentence(f"{of}{one.message}{more}"), icon=":material/rule:")


_WAITING, EDITED, _ALL = "waiting", "edited", "all"
_NOW = "as they are"
AT = "telling_apart"
"""Session key for the open pair."""
_ABOUT = (
    "These tools sound alike but stay separate: they do different jobs, or the same "
    "operation for another provider or value, or somebody decided to keep them apart. "
    "Searches and agents mix them up. Start each description with what only this tool does."
)


def siblings_panel(snapshot: Snapshot) -> None:
    """Draw the list of pairs, the chosen pair with the effect of new
    descriptions, and the buttons.
    """
    st.caption(_ABOUT)
    decision_buttons.notice(snapshot)
    bar = st.container(horizontal=True, vertical_alignment="bottom")
    threshold = bar.slider(
        "Similarity at least", LEAST, 0.95, COLLIDE, 0.05, key="siblings_least", width=200
    )
    state = bar.segmented_control(
        "Show", [_WAITING, EDITED, _ALL], default=_WAITING, required=True, key="siblings_shown"
    )
    pairs, edited_tools = siblings.pairs(snapshot, threshold), siblings.edited_ids(snapshot)
    shown = [one for one in pairs if state in (_ALL, _state(one, edited_tools))]
    open_count = sum(_state(one, edited_tools) == _WAITING for one in pairs)
    if shown:
        _pair_card(snapshot, shown, bar)
    else:
        st.info("No pairs are left here.", icon=":material/check_circle:")
    st.caption(f"{open_count:,} of {quantity(len(pairs), 'pair')} wait, {len(shown):,} shown.")
    if open_count:
        _accept_winning(snapshot, threshold)
    ask_panel.ask_box(
        snapshot,
        "siblings",
        "Suggest descriptions with a model",
        "Suggest descriptions",
        f"For all pairs with a similarity of {COLLIDE:.2f} or more. Nothing changes until "
        "somebody saves a description.",
    )


def _accept_winning(snapshot: Snapshot, threshold: float) -> None:
    st.button(
        "Save all winning rewrites",
        key="save_winning",
        icon=":material/done_all:",
        on_click=_save_winning,
        args=(snapshot, threshold),
        help="For each pair, saves the first rewrite that wins a request, loses none, ranks the "
        "right tool higher on requests not used to choose the rewrite, and has no warning. A "
        "single undo reverts all of them.",
    )


def _save_winning(snapshot: Snapshot, threshold: float) -> None:
    if texts := siblings.winning(snapshot, threshold):
        _save(snapshot, texts, "")
    else:
        text = "No rewrite wins a request. Add a query set, or edit the pairs one by one."
        st.session_state["notice"] = (False, text)


def _state(one: SiblingPair, edited_tools: frozenset[str]) -> str:
    return _WAITING if edited_tools.isdisjoint((one.pair.left, one.pair.right)) else EDITED


def _pair_card(
    snapshot: Snapshot, pairs: Sequence[SiblingPair], bar: st.delta_generator.DeltaGenerator
) -> None:
    by_key = {pair_key(one.pair): one for one in pairs}
    names = snapshot.analysis.catalog.by_id
    labels = {
        key: f"{names[one.pair.left].name} and {names[one.pair.right].name} ({one.similarity:.2f})"
        for key, one in by_key.items()
    }
    chosen, onward = chosen_key(bar, "Pair", labels, AT)
    card = siblings.card(snapshot, by_key[chosen])
    _card(snapshot, card, onward, len(pairs))


def _card(snapshot: Snapshot, card: siblings.SiblingsCard, onward: str, pairs: int) -> None:
    starts = {_NOW: card.descriptions}
    starts |= {one.rewrite.way: one.rewrite.descriptions for one in card.rewrites}
    winning = [one.rewrite.way for one in card.rewrites if one.wins]
    start_at = _NOW if card.is_edited or not winning else winning[0]
    suffix = digest(pair_key(card.siblings.pair), sorted(card.descriptions.items()))[:12]
    line = st.container(horizontal=True, vertical_alignment="center")
    line.markdown(_why(card.siblings))
    with line:
        pair_link(snapshot, pair_key(card.siblings.pair))
    start = st.segmented_control(
        "Start from", list(starts), default=start_at, required=True, key=f"start_{suffix}"
    )
    for one in card.rewrites:
        st.caption(f"{one.rewrite.way.capitalize()}: {one.in_words}.")
    texts = {}
    for column, tool in zip(st.columns(2, gap="large"), card.tools, strict=True):
        with column:
            texts[tool.id] = _field(tool, starts[start], f"{suffix}_{start}")
    violations = siblings.violations(snapshot, texts)
    for tool in card.tools:
        show_violations(violations[tool.id], tool.name)
    cluster_card.size_badge(snapshot.described(texts))
    if any(texts[tool.id] != tool.description for tool in card.tools):
        similarity = siblings.similarity(snapshot, texts)
        st.markdown(f"Similarity **{card.siblings.similarity:.2f} → {similarity:.2f}**.")
        change_effect_panel.rewrite_effect(snapshot, card.siblings.pair, texts, pairs)
    with st.container(horizontal=True):
        st.button(
            "Save both",
            key=f"tell_{suffix}",
            type="primary",
            icon=":material/check:",
            disabled=texts == dict(card.descriptions),
            on_click=_save,
            args=(snapshot, texts, onward),
            help="Each description is saved as an edit of its tool, becomes part of the export, "
            "and can be undone.",
        )
        st.button("Skip", key=f"skip_{suffix}", on_click=_go, args=(onward,))
        decision_buttons.undo_button(snapshot, review.active_decisions(snapshot), by_key=False)


def _why(one: SiblingPair) -> str:
    left, right = (", ".join(map(safe_text.untrusted, words[:4])) or "–" for words in one.words)
    differs = (
        f" Words found in only one description: **{left}** / **{right}**." if any(one.words) else ""
    )
    return f"Similarity **{one.similarity:.2f}**, {RELATIONS[one.relation]}.{differs}"


def _field(tool: Tool, texts: Mapping[str, str], suffix: str) -> str:
    of = f" ({safe_text.untrusted(tool.server)})" if tool.server else ""
    st.markdown(f"**{safe_text.untrusted(tool.name)}**{of}")
    text = st.text_area(
        f"Description of {tool.name}",
        texts[tool.id],
        key=f"described_{suffix}_{digest(tool.id)[:8]}",
        height=140,
        label_visibility="collapsed",
    )
    st.html(safe_text.word_diff(tool.description, text))
    return text.strip()


def _go(onward: str) -> None:
    st.session_state[AT] = onward


def _save(snapshot: Snapshot, texts: Mapping[str, str], onward: str) -> None:
    decision_buttons.record(
        lambda: siblings.save(snapshot, texts, page_frame.reviewer()),
        "Saved the descriptions",
        lambda: _go(onward),
        as_batch=True,
    )
