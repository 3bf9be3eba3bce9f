"""Validation of the exported toolset by client, its tokens, and ways below a tool limit."""

from collections import Counter
from collections.abc import Mapping, Sequence

import streamlit as st

from toolscope_core.catalog.formats.target import Rules
from toolscope_core.catalog.formats.target_rules import RuleViolation
from toolscope_core.catalog.formats.target_table import MATRIX, target_named
from toolscope_core.catalog.tokens import tokenizer
from toolscope_core.model.configuration import AcceptPolicy
from toolscope_core.model.numbers import quantity
from ui.shared import data_tables, safe_text
from ui.shared.services.exports import ExportFigures, ToolsetLine, Way

TOKENS_WIDTH = 300


def validity_panel(figures: ExportFigures, chosen: str) -> str:
    """The name of the client whose rule violations are shown, at first ``chosen``; draws them below
    the matrix of clients and the tokens by format.
    """
    st.subheader("Validation by client", anchor=False)
    row = st.container(horizontal=True, gap="large")
    titles = {name: target_named(name).title for name in MATRIX}
    data_tables.draw(
        [_matrix_row(titles[name], figures.violations[name]) for name in MATRIX],
        "Clients and the number of their rules that the toolset violates",
        {"result": 120},
        place=row,
        width="content",
        height="content",
    )
    tokens = row.container(width=TOKENS_WIDTH)
    data_tables.draw(
        {
            "format": [one.name for one in figures.sizes],
            "before": [one.before.tokens for one in figures.sizes],
            "after": [one.after.tokens for one in figures.sizes],
        },
        "Tokens of the toolset by format",
        {
            "before": st.column_config.NumberColumn(format="localized"),
            "after": st.column_config.NumberColumn(format="localized"),
        },
        place=tokens,
    )
    tokens.caption(f"Tokens: {safe_text.untrusted(tokenizer().label)}.")
    others = [
        name for name, violations in figures.violations.items() if violations and name != chosen
    ]
    rules = st.selectbox(
        "Rule violations for",
        [chosen, *others],
        format_func=lambda name: f"{titles.get(name, name)} ({len(figures.violations[name]):,})",
        key=f"rules_{chosen}_{len(figures.violations[chosen])}",  # a label stays with its key
    )
    if not figures.violations[rules]:
        if target_named(rules).rules in (Rules(), Rules(unique="none")):
            st.caption(f"Files in the format {rules} have no rules to violate.")
        else:
            st.caption(f"{titles.get(rules, rules)} accepts the toolset as exported.")
        return rules
    _consequence(figures, chosen, rules, titles)
    data_tables.draw(
        figures.violations[rules],
        "Rule violations and suggested fixes",
        {"tool_id": ("tool", 180), "fix": 320, "message": 320, "remedy": "alternative"},
        column_order=("tool_id", "rule", "value", "fix", "message", "remedy"),
    )
    return rules


def limit_panel(
    lines: Sequence[ToolsetLine], ways: Sequence[Way], policies: Mapping[AcceptPolicy, str]
) -> None:
    """Ways below a client's limit on tools: merging more, or splitting the toolset into parts."""
    st.subheader("Over the tool limit", anchor=False)
    more, parts = st.columns(2, gap="large")
    more.caption("**Merge more**: the tools left by each choice of *Merges to apply* above.")
    data_tables.draw(
        [
            {"merges to apply": policies[way.accept], "tools": way.tools, "parts": way.parts}
            for way in ways
        ],
        "Tools left by each merge policy, and the parts that they need",
        place=more,
    )
    parts.caption(
        "**Split**: give each agent one part. Servers are kept whole and no tool is dropped."
    )
    data_tables.draw(
        lines, "The parts of the toolset", {"file": "part", "tokens": "tokens ≈"}, place=parts
    )


def _matrix_row(title: str, violations: Sequence[RuleViolation]) -> dict[str, str | int]:
    """How many rules of each kind a client sees broken, and how many of them have a fix."""
    rules = Counter(violation.rule for violation in violations)
    return {
        "client": title,
        "result": quantity(len(violations), "violation") if violations else "ok",
        "names": rules["name"] + rules["unique"],
        "descriptions": rules["description"],
        "parameters": rules["schema"] + rules["parameter"],
        "tool limit": rules["count"],
        "with a fix": sum(bool(violation.fix) for violation in violations),
    }


def _consequence(
    figures: ExportFigures, chosen: str, rules: str, titles: Mapping[str, str]
) -> None:
    """Say how many rules are violated, and whether that blocks the download."""
    violations = figures.violations[rules]
    fixable = sum(bool(violation.fix) for violation in violations)
    name = titles.get(rules, rules)
    text = f"Rule violations for {name}: {len(violations):,}, {fixable:,} with a suggested fix."
    if rules == chosen and figures.refusals:
        st.warning(f"{text} Blocks the download until fixed.", icon=":material/rule:")
        return
    loaded = rules == chosen and target_named(rules).writes
    why = " The catalog was loaded this way." if loaded else ""
    st.info(f"{text} Does not block the download.{why}", icon=":material/rule:")
