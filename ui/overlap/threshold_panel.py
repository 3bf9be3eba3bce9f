"""The thresholds: a preview of the clusters that a change adds or removes, and the button to apply
it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from toolscope_core.decisions.constraints import constraints
from toolscope_core.merging.analysis import Analysis, own_thresholds, thresholds_of
from toolscope_core.merging.grouping import groups_at
from toolscope_core.merging.pair_graph import ClusterChanges, Members, cluster_changes, merges_at
from toolscope_core.model.configuration import LEAST_PROBABILITY, MergeThresholds
from toolscope_core.model.decision import Constraints, Decision
from toolscope_core.model.numbers import listed
from ui.overlap import variant_figures
from ui.overlap.curve_panel import merge_curve, variant_curve
from ui.shared import data_tables, page_frame, pictures
from ui.shared.cards import decision_buttons, decision_trail
from ui.shared.data_tables import Column, Columns
from ui.shared.kept import kept
from ui.shared.services import review
from ui.shared.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Effect:
    """The result of merging at these thresholds if every cluster is accepted.

    ``candidates`` is the number of pairs that are near enough, and ``merges`` the number of those
    that are also probable enough. ``groups`` are sorted tool ids. ``tokens_left`` counts each
    cluster as its longest tool.
    """

    thresholds: MergeThresholds
    candidates: int
    merges: int
    groups: tuple[Members, ...]
    tools_left: int
    tokens_left: int


@dataclass(frozen=True, slots=True)
class ThresholdEffect:
    """The effects of new thresholds and of the plan's thresholds, and the clusters that differ."""

    now: Effect
    plan: Effect
    changes: ClusterChanges


def apply_thresholds(snapshot: Snapshot, thresholds: MergeThresholds, reviewer: str) -> Decision:
    """Use these thresholds for the plan from now on. An undo reverts this."""
    detail = {"similarity": thresholds.similarity, "same_job": thresholds.same_job}
    return review.say(snapshot, "threshold", (), reviewer, detail)


def moved_clusters(snapshot: Snapshot, thresholds: MergeThresholds) -> ThresholdEffect:
    """The effect of these thresholds, compared with the plan's."""
    analysis, links, plan = _basis(snapshot)
    current = plan
    if thresholds != plan.thresholds:
        current = effect(analysis, links, thresholds, snapshot.tokens)
    return ThresholdEffect(current, plan, cluster_changes(plan.groups, current.groups))


@kept()
def _basis(snapshot: Snapshot) -> tuple[Analysis, Constraints, Effect]:
    """What all comparisons start from: the effect of the plan's thresholds under people's
    decisions.
    """
    analysis, log = snapshot.analysis, snapshot.log
    links, in_use = constraints(analysis.catalog, log), thresholds_of(analysis, log)
    return analysis, links, effect(analysis, links, in_use, snapshot.tokens)


def effect(
    analysis: Analysis,
    links: Constraints,
    thresholds: MergeThresholds,
    tokens: Mapping[str, int],
    *,
    divide: bool = True,
) -> Effect:
    """The effect of thresholds under people's ``links``.

    ``tokens`` are keyed by tool id. For the rest, see ``groups_at``.
    """
    merged = groups_at(analysis, links, thresholds, divide=divide)
    groups = tuple(group.members for group in merged)
    saved_tokens = 0
    for members in groups:
        costs = [tokens[member] for member in members]
        saved_tokens += sum(costs) - max(costs)
    return Effect(
        thresholds=thresholds,
        candidates=int((analysis.nearness >= thresholds.similarity).sum()),
        merges=int(merges_at(analysis, thresholds).sum()),
        groups=groups,
        tools_left=len(analysis.catalog.tools) - sum(len(members) - 1 for members in groups),
        tokens_left=sum(tokens.values()) - saved_tokens,
    )


_NAMED = 6
_SHOWN = 300


@st.fragment
def threshold_panel(snapshot: Snapshot) -> None:
    """Draw two sliders with their effect and the collision curve. *More* has the curve of the
    document variants.
    """
    analysis = snapshot.analysis
    plan, own = thresholds_of(analysis, snapshot.log), own_thresholds(analysis)
    st.markdown(
        "**What would a stricter or a looser threshold merge?** Nothing changes until it "
        "is applied."
    )
    thresholds = _sliders(plan, own)
    _apply(snapshot, thresholds, plan)
    effect = moved_clusters(snapshot, thresholds)
    _metrics(effect)
    _changes(effect, {tool.id: tool.name for tool in analysis.catalog.tools})
    merge_curve(snapshot, thresholds.similarity)
    if variant_figures.has_any(snapshot):
        more = pictures.more("threshold_more")
        if more.open:
            with more:
                variant_curve(snapshot)


def _sliders(plan: MergeThresholds, own: MergeThresholds) -> MergeThresholds:
    bar = st.container(horizontal=True)
    similarity = bar.slider(
        f"Similarity threshold (in the plan: {plan.similarity:.2f})",
        own.similarity, 1.0, plan.similarity, 0.01, key="similarity", bind="query-params",
        help=f"The scale starts at {own.similarity:.2f}: pairs below this value were not judged.",
    )  # fmt: skip
    probability = bar.slider(
        f"Probability threshold (in the plan: {plan.same_job:.2f})",
        LEAST_PROBABILITY, 1.0, plan.same_job, 0.01, key="same_job", bind="query-params",
        help="The probability that two tools do the same job.",
    )  # fmt: skip
    return MergeThresholds(round(similarity, 4), round(probability, 4))


def _apply(snapshot: Snapshot, thresholds: MergeThresholds, plan: MergeThresholds) -> None:
    """Draw the button that applies the thresholds of the sliders to the plan, and the button that
    undoes this.
    """
    decision = next(
        (one for one in review.active_decisions(snapshot) if one.action == "threshold"), None
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        decision_buttons.record_button(
            "Apply to the plan",
            lambda: apply_thresholds(snapshot, thresholds, page_frame.reviewer()),
            f"Applied to the plan: similarity {thresholds.similarity:.2f}, probability "
            f"{thresholds.same_job:.2f}",
            key="apply_cut",
            disabled=thresholds == plan,
            help="Replaces the proposals; decisions are kept. Recorded under your name and in the "
            "bundle's manifest. A single undo reverts it.",
        )
        if decision is not None:
            st.caption(
                f"{decision_trail.in_words(decision)} :gray[({decision_trail.by_whom(decision)})]",
                width="content",
            )
            decision_buttons.undo_one(snapshot, decision, "cut_back")
    decision_buttons.notice(snapshot)


def _metrics(effect: ThresholdEffect) -> None:
    row, now, plan = st.container(horizontal=True), effect.now, effect.plan
    for title, value, before in (
        ("Candidate pairs", now.candidates, plan.candidates),
        ("Pairs to merge", now.merges, plan.merges),
        ("Clusters", len(now.groups), len(plan.groups)),
        ("Tools left", now.tools_left, plan.tools_left),
        ("Tokens left ≈", now.tokens_left, plan.tokens_left),
    ):
        change = f"{value - before:+,}" if value != before else None
        row.metric(title, f"{value:,}", change, delta_color="off")
    st.caption(
        "Assumes that every cluster is accepted and that each merged tool has as many tokens as "
        "its longest member. Changes are relative to the current plan. Families count only if "
        "someone has accepted them."
    )


def _changes(effect: ThresholdEffect, names: dict[str, str]) -> None:
    changes = effect.changes
    if not len(changes):
        return
    st.markdown(
        f"Clusters compared with the plan: **{len(changes.appeared):,}** new, "
        f"**{len(changes.grown):,}** larger, **{len(changes.split):,}** split, "
        f"**{len(changes.vanished):,}** removed."
    )
    rows = [
        *(("new", members, ()) for members in changes.appeared),
        *(("larger", item.members, item.parts) for item in changes.grown),
        *(("split", item.members, item.parts) for item in changes.split),
        *(("removed", members, ()) for members in changes.vanished),
    ]
    if len(rows) > _SHOWN:
        st.caption(f"Showing the first {_SHOWN:,} of {len(rows):,}.")

    def named(members: Sequence[str]) -> str:
        return listed((names[member] for member in members), _NAMED)

    columns: Columns[tuple[str, Members, tuple[Members, ...]]] = [
        Column("change", lambda row: row[0], width=80),
        Column("tools", lambda row: len(row[1])),
        Column("cluster", lambda row: named(row[1])),
        Column("parts", lambda row: " | ".join(map(named, row[2][:_NAMED]))),
    ]
    data_tables.draw(rows[:_SHOWN], columns, "Clusters that differ from the plan", most=320)
