"""What Tell apart and For search share: one of many is chosen, and what speaks against a text."""

from collections.abc import Mapping, Sequence

import streamlit as st

from toolscope_core.merging.faithful import Violation
from ui.shared import safe_text

MOST_OPTIONS = 500


def chosen_key(
    bar: st.delta_generator.DeltaGenerator, label: str, labels: Mapping[str, str], at: str
) -> tuple[str, str]:
    """The key that is chosen of the first 500, and the one after it; ``at`` is the session key."""
    order = list(labels)[:MOST_OPTIONS]
    if st.session_state.get(at) not in order:
        st.session_state[at] = order[0]
    chosen = bar.selectbox(
        f"{label} ({len(labels):,})", order, key=at, format_func=labels.__getitem__, width=480
    )
    return chosen, order[(order.index(chosen) + 1) % len(order)]


def show_violations(violations: Sequence[Violation], name: str = "") -> None:
    """A warning for each violation of a text, that of the tool of this name where several are."""
    of = f"`{name}`: " if name else ""
    for one in violations:
        more = "" if one.excerpt in one.message else f": {one.excerpt}"
        st.warning(safe_text.sentence(f"{of}{one.message}{more}"), icon=":material/rule:")
