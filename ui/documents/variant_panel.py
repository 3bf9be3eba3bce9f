"""Document variants, which a search reads in addition to a tool's own text: loading and reviewing
them.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from toolscope_core.catalog.document_variants import variants_in
from toolscope_core.model.decision import Decision
from toolscope_core.model.numbers import quantity
from toolscope_core.model.tool import Augmentation, Tool, digest
from ui.documents.siblings_panel import chosen_key, show_violations
from ui.shared import ask_panel, page_frame, safe_text
from ui.shared.cards import decision_buttons
from ui.shared.cards.cluster_card import size_badge
from ui.shared.services import review, reviewed_variants
from ui.shared.services.reviewed_variants import NONE, WHOLE, VariantView
from ui.shared.snapshot import Snapshot

_SHOWS = ("waiting", "with warnings", "accepted", "edited", "rejected")
STANDS = "as it stands"
_NAMED = 5
_ABOUT = (
    "A longer description of a tool, and questions that it answers. Searches read them in "
    "addition to the server's text; agents do not see them. A variant is used only after "
    "somebody accepts it."
)


def variant_panel(snapshot: Snapshot) -> None:
    """Draw the form that loads a file, and the review of the catalog's variants."""
    st.caption(_ABOUT)
    views = reviewed_variants.views(snapshot)
    with st.expander("Load variants", expanded=not views, icon=":material/upload_file:"):
        _form(snapshot)
    ask_panel.ask_box(
        snapshot,
        "variants",
        "Write variants with a model",
        "Write variants of all tools",
        "Variants are stored with the tool's text; if the text changes, the model is asked again.",
    )
    decision_buttons.notice(snapshot)
    if views:
        _summary(snapshot, views)
        _review(snapshot, views)


def _form(snapshot: Snapshot) -> None:
    turn = st.session_state.setdefault("variants_turn", 0)
    file = st.file_uploader(
        "JSON Lines with `tool` (an id or a name), `expanded` and `questions`, as the command "
        "`augment` writes them",
        type=["jsonl"],
        key=f"variants_{turn}",
    )
    if file is None:
        return
    content = file.getvalue()
    variants = safe_text.value_or_error(lambda: variants_in(content, file.name, snapshot.catalog))
    if variants is None:
        return
    if variants.unknown_names:
        names = safe_text.first_few(variants.unknown_names, _NAMED)
        st.warning(
            f"Left out, because they are not tools of this catalog: {names}.",
            icon=":material/help:",
        )

    def add() -> None:
        reviewed_variants.add(snapshot, content, file.name)
        st.session_state["variants_turn"] = turn + 1

    st.button(
        f"Load {quantity(len(variants.by_id), 'variant')}",
        type="primary",
        key=f"load_variants_{turn}",
        on_click=add,
    )


def _summary(snapshot: Snapshot, views: Sequence[VariantView]) -> None:
    """Draw the counts, and the button that accepts all variants that lose no request."""
    count = Counter[str](view.state for view in views)
    clean = sum(view.state == "waiting" and not view.violations for view in views)
    doubtful = sum(view.state == "waiting" and bool(view.violations) for view in views)
    bar = st.container(horizontal=True, vertical_alignment="center")
    parts = [f"**{count[state]:,}** {state}" for state in _SHOWS if count[state]]
    bar.markdown(f"{quantity(len(views), 'variant')}: {', '.join(parts)}.")
    if not clean:
        return
    with bar:
        decision_buttons.record_button(
            "Accept variants that lose no request",
            lambda: reviewed_variants.accept_measured(page_frame.snapshot(), page_frame.reviewer()),
            "Accepted the variants that lose no request",
            key="measured_variants",
            icon=":material/done_all:",
            help=f"Looks at the {quantity(clean, 'variant')} without warnings that could be "
            "measured, on requests of query sets that only their tool or its nearest neighbour "
            "answers. Accepts the short clause where it wins, or else the whole text where it "
            f"loses no request. Leaves out {quantity(doubtful, 'variant')} with warnings. A single "
            "undo reverts all of it.",
        )


def _review(snapshot: Snapshot, views: Sequence[VariantView]) -> None:
    """Draw one variant beside its tool, and the buttons to decide on it."""
    bar = st.container(horizontal=True, vertical_alignment="bottom")
    show = bar.segmented_control("Show", _SHOWS, key="variants_shown", default=None)
    words = bar.text_input("Search", type="search", key="find_variant").casefold()
    filtered = {
        view.tool.id: view
        for view in views
        if (not show or show == view.state or (show == "with warnings" and view.violations))
        and words in f"{view.tool.id} {view.offer.expanded}".casefold()
    }
    if not filtered:
        st.info("No variant matches.")
        return
    order = sorted(filtered, key=lambda one: filtered[one].state != "waiting")
    labels = {one: f"{one} ({filtered[one].state})" for one in order}
    key, onward = chosen_key(bar, "Tool", labels, "variant_tool")
    _card(snapshot, filtered[key], onward)


def _card(snapshot: Snapshot, view: VariantView, onward: str) -> None:
    variant = view.decision if view.decision is not None and view.decision.is_there else view.offer
    rewrites = reviewed_variants.rewrites(snapshot, view.tool.id, view.offer.expanded)
    starts = {} if variant == view.offer else {STANDS: variant.expanded}
    starts |= {one.rewrite.way: one.rewrite.descriptions[view.tool.id] for one in rewrites}
    starts[WHOLE] = view.offer.expanded
    winning = [one.rewrite.way for one in rewrites if one.wins]
    start_at = WHOLE if variant == view.offer else STANDS
    if winning and view.state == "waiting":
        start_at = winning[0]
    suffix = f"{view.tool.fingerprint[:12]}_{digest(repr(variant))[:8]}"
    st.caption(f"{view.state}, from {safe_text.untrusted(view.source)}")
    start = st.segmented_control(
        "Start from", list(starts), default=start_at, required=True, key=f"from_{suffix}"
    )
    for one in rewrites:
        st.caption(f"{one.rewrite.way.capitalize()}: {one.in_words}.")
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown(f"**{safe_text.untrusted(view.tool.name)}**, the server's own text")
        st.write(safe_text.untrusted(view.tool.description) or "*no description*")
        st.markdown("**What the variant changes**")
        st.html(safe_text.word_diff(view.tool.description, starts[start]))
        show_violations(view.violations)
    with right:
        expanded = st.text_area(
            "Expanded description", starts[start], key=f"expanded_{suffix}_{start}", height=150
        ).strip()
        _as_edited(snapshot, view.tool, expanded, [*starts.values()])
        st.markdown("**Questions**")
        questions = [
            text
            for number, question in enumerate(variant.questions)
            if (text := _question(question, f"{suffix}_{number}"))
        ]
        edit = replace(variant, expanded=expanded, questions=tuple(questions))
        texts = {view.tool.id: edit.expanded}
        size_badge(snapshot.described(texts))
        with st.container(horizontal=True):
            for label, icon, variants, is_off in (
                ("Accept", "check", edit, not edit.is_there or edit == view.decision),
                ("Reject", "close", NONE, view.state == "rejected"),
            ):
                decision_buttons.record_button(
                    label,
                    partial(_decide, snapshot, {view.tool.id: variants}),
                    f"{label}ed: the variant of {view.tool.id}",
                    partial(st.session_state.__setitem__, "variant_tool", onward),
                    key=f"{label.lower()}_{suffix}",
                    type="primary" if label == "Accept" else "secondary",
                    icon=f":material/{icon}:",
                    disabled=is_off,
                )
            decision_buttons.undo_button(snapshot, review.active_decisions(snapshot), by_key=False)


def _as_edited(snapshot: Snapshot, tool: Tool, text: str, offered: Sequence[str]) -> None:
    """Draw the effect of an edited text on requests, unless it equals one of the initial texts."""
    if text and text not in (*offered, tool.description):
        variant = reviewed_variants.rewrites(snapshot, tool.id, text)[-1]
        st.caption(f"As edited: {variant.in_words}.")


def _question(question: str, key: str) -> str:
    """Draw one question. Returns it as edited, or an empty text if it is not ticked."""
    row = st.container(horizontal=True, vertical_alignment="center")
    is_kept = row.checkbox("Keep", True, key=f"keep_{key}", label_visibility="collapsed")
    text = row.text_input("Question", question, key=f"question_{key}", label_visibility="collapsed")
    return text.strip() if is_kept else ""


def _decide(snapshot: Snapshot, variants: Mapping[str, Augmentation]) -> Decision:
    return reviewed_variants.decide(snapshot, variants, page_frame.reviewer())
