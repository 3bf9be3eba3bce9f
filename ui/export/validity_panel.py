"""The exported toolset checked against each client's rules, its tokens, and ways to stay within a
limit on tools.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from toolscope_core.catalog.formats.format_table import MATRIX, target_named
from toolscope_core.catalog.formats.record_format import Rules
from toolscope_core.catalog.formats.target_rules import RuleViolation
from toolscope_core.catalog.tokens import KILO, SizeChange, tokenizer
from toolscope_core.model.cluster import Cluster, kind_name
from toolscope_core.model.configuration import AcceptPolicy
from toolscope_core.model.numbers import quantity
from ui.shared import data_tables, page_frame, safe_text
from ui.shared.cards.queue import cluster_counts
from ui.shared.data_tables import Column, Columns
from ui.shared.services.exports import ExportFigures, PolicySize, ToolsetLine
from ui.shared.tools import catalog_tables

TOKENS_WIDTH = 360


def validity_panel(figures: ExportFigures, target: str) -> str:
    """Draw the rules of ``target`` that the toolset violates and, on request, those of all clients,
    with the tokens in each format.

    Returns the name of the client whose rules are shown, which at first is ``target``.
    """
    st.subheader("Validation", anchor=False)
    titles = {name: target_named(name).title for name in MATRIX}
    box = st.expander("All clients and formats", key="all_clients", on_change="rerun")
    rules = _all_clients(box, figures, target, titles) if box.open else target
    violations = figures.violations(rules)
    if not violations:
        if target_named(rules).rules in (Rules(), Rules(unique="none")):
            st.caption(f"The {rules} format has no rules to check files against.")
        else:
            st.caption(f"{titles.get(rules, rules)} accepts the toolset as exported.")
        return rules
    _consequence(figures, target, rules, titles)
    columns: Columns[RuleViolation] = [
        Column("tool_id", title="tool", width=180),
        Column("rule"),
        Column("value"),
        Column("fix", width=320),
        Column("message", width=320),
        Column("remedy", title="alternative"),
    ]
    data_tables.draw(violations, columns, "Rule violations and suggested fixes")
    return rules


def _all_clients(
    box: DeltaGenerator, figures: ExportFigures, target: str, titles: Mapping[str, str]
) -> str:
    """Draw what each client makes of the toolset. Returns the name of a client to show in full."""
    row = box.container(horizontal=True, gap="large")
    _matrix(figures, titles, row)
    tokens = row.container(width=TOKENS_WIDTH)
    sizes: Columns[SizeChange] = [
        Column("format", lambda one: one.name),
        Column("tokens before", lambda one: one.before.tokens, format="localized"),
        Column("tokens after", lambda one: one.after.tokens, format="localized"),
    ]
    data_tables.draw(figures.sizes(), sizes, "Tokens of the toolset by format", place=tokens)
    tokens.caption(f"Tokens: {safe_text.untrusted(tokenizer().label)}.")
    counts = {name: len(figures.violations(name)) for name in (target, *MATRIX)}
    return box.selectbox(
        "Rule violations for",
        [name for name, count in counts.items() if count or name == target],
        format_func=lambda name: f"{titles.get(name, name)} ({counts[name]:,})",
        key=f"rules_{target}_{counts[target]}",  # a label stays with its key
    )


def limit_panel(
    lines: Sequence[ToolsetLine], ways: Sequence[PolicySize], policies: Mapping[AcceptPolicy, str]
) -> None:
    """Draw ways to stay within a client's limit on tools: more merges, or splitting the toolset."""
    st.subheader("Over the tool limit", anchor=False)
    more, parts = st.columns(2, gap="large")
    more.caption(
        "**Merge more**: how many tools remain with each choice of *Merges to apply* above."
    )
    columns: Columns[PolicySize] = [
        Column("merges to apply", lambda way: policies[way.accept]),
        Column("tools"),
        Column("parts"),
    ]
    data_tables.draw(
        ways,
        columns,
        "Tools that remain with each merge policy, and the number of parts",
        place=more,
    )
    page_frame.page_link("profiles", "Make a profile: give an agent only what it needs")
    parts.caption(
        "**Split**: give each agent one part. Servers are kept whole and no tool is dropped."
    )
    toolsets = data_tables.attributes(
        file="part", tools="tools", tokens="tokens ≈", servers="servers"
    )
    data_tables.draw(lines, toolsets, "The parts of the toolset", place=parts)


def _matrix(figures: ExportFigures, titles: Mapping[str, str], place: DeltaGenerator) -> None:
    """Draw the number of violations for each client and each kind of rule, and how many can be
    fixed.
    """
    violations = {client: figures.violations(client) for client in MATRIX}
    rules = {client: Counter(one.rule for one in violations[client]) for client in MATRIX}

    def result(client: str) -> str:
        return quantity(rules[client].total(), "violation") if rules[client] else "ok"

    columns: Columns[str] = [
        Column("client", titles.__getitem__),
        Column("result", result, width=120),
        Column(
            "names",
            lambda client: rules[client]["name"] + rules[client]["unique"],
            help="Tools that need another name; if tools share a name, the first tool keeps the "
            "name.",
        ),
        Column("descriptions", lambda client: rules[client]["description"]),
        Column("parameters", lambda client: rules[client]["schema"] + rules[client]["parameter"]),
        Column("tool limit", lambda client: rules[client]["count"]),
        Column("with a fix", lambda client: sum(bool(one.fix) for one in violations[client])),
    ]
    chosen = page_frame.chosen_clients()
    data_tables.draw(
        sorted(MATRIX, key=lambda name: name not in chosen),
        columns,
        "Clients and the number of their rules that the toolset violates",
        place=place,
        width="content",
        height="content",
    )


def _consequence(
    figures: ExportFigures, target: str, rules: str, titles: Mapping[str, str]
) -> None:
    """Show how many rules are violated, and whether that blocks the download."""
    violations = figures.violations(rules)
    fixable = sum(bool(violation.fix) for violation in violations)
    name = titles.get(rules, rules)
    text = f"Rule violations for {name}: {len(violations):,}, {fixable:,} with a suggested fix."
    if rules == target and figures.refusals:
        st.warning(f"{text} This blocks the download until it is fixed.", icon=":material/rule:")
        return
    is_target = rules == target and target_named(rules).writes
    why = " The catalog was loaded this way." if is_target else ""
    st.info(f"{text} This does not block the download.{why}", icon=":material/rule:")


_NAMED = 4


def figures_panel(figures: ExportFigures, unapplied: Sequence[str]) -> None:
    """Draw the tools, tokens, kB and merges, and notices about surprising facts.

    ``unapplied`` says which edits are not included.
    """
    plan, size = figures.plan, figures.size
    tokens = f"Tokens, {size.name} ({tokenizer().label})"
    kilobytes = [round(one.bytes / KILO, 1) for one in (size.before, size.after)]
    rows: tuple[tuple[str, float, float], ...] = (
        ("Tools", len(plan.catalog.tools), len(plan.tools)),
        (tokens, size.before.tokens, size.after.tokens),
        ("kB per prompt", kilobytes[0], kilobytes[1]),
        ("Merges", 0, len(plan.applied)),
    )
    columns = st.columns([2, 3, 3, 1])
    for column, (label, before, after) in zip(columns, rows, strict=True):
        value = f"{before:,} → {after:,}" if before else f"{after:,}"
        change = round(after - before, 1) if before else None
        column.metric(label, value, change, delta_color="inverse")
    if figures.loading:
        eager, deferred = figures.loading
        st.caption(
            f"In every prompt: {eager.tokens:,} tokens of definitions. Left to the client's "
            f"search: {deferred.tokens:,}, of which a prompt contains only what the search "
            "returned."
        )
    _left_out(figures, unapplied)
    if figures.unreadable:
        rest = len(figures.unreadable) - _NAMED
        more = f" And {rest:,} more, listed in README.md." if rest > 0 else ""
        names = " ".join(map(safe_text.untrusted, figures.unreadable[:_NAMED]))
        st.warning(f"{names}{more}", icon=":material/visibility_off:")
    if figures.hostile:
        st.error(
            f"The toolset includes {quantity(len(figures.hostile), 'tool')} that the scan blocks "
            f"({_reasons(figures)}): {safe_text.first_few([*figures.hostile], _NAMED)}. "
            "Merge them in Review, or edit them or leave them out in Documents.",
            icon=":material/gpp_bad:",
        )


def _reasons(figures: ExportFigures) -> str:
    """Why the scan blocks tools. Each reason has its count, as in *hidden characters: 2*."""
    counts = Counter(code for codes in figures.hostile.values() for code in codes)
    return "; ".join(
        f"{catalog_tables.KINDS.get(code, code).lower()}: {count:,}"
        for code, count in counts.most_common()
    )


def merges_panel(figures: ExportFigures) -> None:
    """Draw the merges, and the descriptions that mention a removed tool."""
    st.subheader("Merges", anchor=False)
    plan = figures.plan
    names = {item.tool.id: item.tool.name for item in plan.tools}
    if plan.applied:
        columns: Columns[Cluster] = [
            Column("kept tool", lambda one: one.canonical),
            Column("exported name", lambda one: names[one.canonical]),
            Column("removed tools", lambda one: [m for m in one.members if m != one.canonical]),
            Column("kind", kind_name),
        ]
        data_tables.draw(plan.applied, columns, "Merges in the bundle")
    else:
        st.caption("None yet: the toolset is exported unchanged.")
    if plan.dangling:
        title = "Descriptions that mention removed tools"
        st.subheader(title, anchor=False)
        cited = data_tables.attributes(tool_id="tool", cites="cites", now="renamed to")
        data_tables.draw(plan.dangling, cited, title)


def shared_names_panel(figures: ExportFigures, fix: bool) -> None:
    """Draw the names that tools on several servers share, and how the clashes are resolved."""
    if not figures.shared_names:
        return
    title = "Names shared by tools of several servers"
    st.subheader(title, anchor=False)
    if fix:
        st.caption("All tools with such a name are exported with their server's name in front.")
    else:
        st.caption(
            "Turn on *Apply suggested fixes* to put the server's name in front of all these names, "
            "or rename them in Documents."
        )
    fixed = "exported name" if fix else "name with the fix"
    columns = data_tables.attributes(name="name", tool_id="tool", fixed=fixed)
    data_tables.draw(figures.shared_names, columns, title)


def _left_out(figures: ExportFigures, unapplied: Sequence[str]) -> None:
    """Draw the merges and edits that are not exported, and why."""
    plan, clusters = figures.plan, cluster_counts(figures.plan.clusters)
    if clusters.waiting:
        st.container(key="not_merged").info(
            f"Not merged, because nobody has accepted them: {clusters.waiting_in_words}. They "
            "are exported unchanged.",
            icon=":material/hourglass_empty:",
        )
    if figures.withheld:
        merges = quantity(figures.withheld, "merge")
        st.info(
            f"Not exported, because they need a gateway: {merges}. "
            "Switch on *Include merges that need a gateway* to add them."
        )
    if plan.removed or plan.edited:
        st.caption(
            f"Left out: {quantity(len(plan.removed), 'tool')}. Edited single tools: "
            f"{len(plan.edited):,}."
        )
    if unapplied:
        st.info(f"Edited, but exported unchanged: {safe_text.first_few(unapplied, _NAMED)}.")
