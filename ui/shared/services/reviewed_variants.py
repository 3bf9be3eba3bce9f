"""Document variants on the screen: added from a file, checked, and reviewed one by one or all at
once.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from toolscope_core.catalog.document_variants import variants_in
from toolscope_core.decisions.constraints import variants
from toolscope_core.embedding.candidate_pairs import PairRows
from toolscope_core.merging.analysis import Analysis
from toolscope_core.merging.faithful import Violation
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.pair import Pair
from toolscope_core.model.tool import Augmentation, Tool
from toolscope_core.rps.rewrites import (
    CLAUSE,
    Rewrite,
    RewriteEffect,
    answers_of,
    best_rewrites,
    leading_clause,
)
from toolscope_core.rps.variant_writing import checked_variants
from toolscope_core.store.named_rows import keep_variants, list_variants
from ui.shared.kept import kept, kept_under
from ui.shared.services import loaded_queries, review
from ui.shared.snapshot import Snapshot

VariantState = Literal["waiting", "accepted", "edited", "rejected"]
WHOLE = "the whole text"
NONE = Augmentation("")
"""The decision that a tool is searched without a variant."""


@dataclass(frozen=True, slots=True)
class VariantView:
    """The variant of a tool.

    ``offer`` is the proposed variant, and ``violations`` are the objections to it. ``decision`` is
    the last decision of a person; it is ``None`` if nobody has decided.
    """

    tool: Tool
    offer: Augmentation
    decision: Augmentation | None
    source: str
    violations: tuple[Violation, ...]

    @property
    def state(self) -> VariantState:
        if self.decision is None:
            return "waiting"
        if not self.decision.is_there:
            return "rejected"
        return "accepted" if self.decision == self.offer else "edited"


def add(snapshot: Snapshot, content: bytes, name: str) -> int:
    """Store the variants in a file for review. Earlier variants of the same tools are replaced.
    Returns how many there are.

    Raises the errors of ``variants_in``.
    """
    tools = snapshot.catalog.by_id
    variants = variants_in(content, name, snapshot.catalog).by_id
    by_content = {tools[one].fingerprint: variant for one, variant in variants.items()}
    keep_variants(snapshot.work.store, snapshot.id, name, by_content)
    return len(variants)


def views(snapshot: Snapshot) -> tuple[VariantView, ...]:
    """The variants of the tools that are now in the catalog, in the order of the tools."""
    catalog = snapshot.catalog
    offers = list_variants(snapshot.work.store, snapshot.id)
    own = {t.id: offers[t.fingerprint] for t in catalog.tools if t.fingerprint in offers}
    if not own:
        return ()
    by_id = {tool_id: one.variant for tool_id, one in own.items()}
    offered = tuple(by_id.items())
    checked = kept_under(catalog, "variants", offered, lambda: checked_variants(catalog, by_id))
    decisions = decided_variants(snapshot)
    return tuple(
        VariantView(
            catalog.by_id[tool_id],
            one.variant,
            decisions.get(tool_id),
            one.source,
            checked.violations.get(tool_id, ()),
        )
        for tool_id, one in own.items()
    )


@kept()
def decided_variants(snapshot: Snapshot) -> dict[str, Augmentation]:
    """The last decision of a person for each tool, by tool id. ``NONE`` means that no variant is
    wanted.
    """
    return variants(snapshot.catalog, snapshot.log)


def accepted_variants(snapshot: Snapshot) -> dict[str, Augmentation]:
    """The variants that searches read, by tool id."""
    return {one: variant for one, variant in decided_variants(snapshot).items() if variant.is_there}


def decide(snapshot: Snapshot, variants: Mapping[str, Augmentation], reviewer: str) -> Decision:
    """Record the variants of tools as one decision that one undo retracts. ``NONE`` rejects a
    variant.

    Raises ``DecisionError`` if there are no variants.
    """
    if not variants:
        raise DecisionError("no variant is chosen, so nothing was changed; choose at least one")
    detail = {
        "variants": [
            {"expanded": one.expanded, "questions": list(one.questions)}
            for one in variants.values()
        ]
    }
    return review.say(snapshot, "augment", variants, reviewer, detail)


def rewrites(snapshot: Snapshot, tool_id: str, expanded: str) -> tuple[RewriteEffect, ...]:
    """Two rewrites, each with its effect: a short clause before the tool's own description, and the
    ``expanded`` description.

    The effect is measured on requests that exactly one of the tool and its nearest tool answers. A
    rewrite that changes nothing is left out. Raises ``JobError`` before the analysis is done.
    """
    analysis = snapshot.analysis
    rows = _with_nearest(analysis, tool_id)
    if len(rows) < 2:
        return ()
    tool, other = (analysis.catalog.tools[row] for row in rows)
    (verdict,) = analysis.judge.verdicts(rows[:1], rows[1:], brief=True)
    words = verdict.differs[verdict.pair.left != tool_id]
    texts = {
        CLAUSE: leading_clause(tool, words, tool.server != other.server),
        WHOLE: expanded or tool.description,
    }
    offers = [
        Rewrite(way, {tool_id: text, other.id: other.description})
        for way, text in texts.items()
        if text != tool.description
    ]
    answers = answers_of(Pair.of(tool_id, other.id), loaded_queries.queries(snapshot))
    return best_rewrites((tool, other), offers, answers, snapshot.work.analyses.embed)


def accept_measured(snapshot: Snapshot, reviewer: str) -> Decision:
    """Accept the waiting variants that can be measured and to which there are no objections, as one
    decision.

    The short clause is accepted if it wins. Otherwise, the whole text is accepted if it was
    measured on requests and loses none. Raises ``DecisionError`` if nothing can be accepted.
    """
    offers = {
        view.tool.id: view.offer
        for view in views(snapshot)
        if view.state == "waiting" and not view.violations
    }
    needed_ids = {one for q in loaded_queries.queries(snapshot) for need in q.gold for one in need}
    analysis = snapshot.analysis
    tools = analysis.catalog.tools
    better, count = dict[str, Augmentation](), 0
    for tool_id, offer in offers.items() if needed_ids else ():
        if needed_ids.isdisjoint(tools[row].id for row in _with_nearest(analysis, tool_id)):
            continue
        measures = rewrites(snapshot, tool_id, offer.expanded)
        count += any(one.queries for one in measures)
        fit = (r for r in measures if r.wins or (r.rewrite.way == WHOLE and r.loses_none))
        if best := next(fit, None):
            text = best.rewrite.descriptions[tool_id]
            better[tool_id] = replace(offer, expanded=text)
    if not better:
        raise DecisionError(
            f"{count:,} of {quantity(len(offers), 'variant')} without warnings could be measured, "
            "but every measured variant loses some requests; add a query set, or decide one by one"
            if count
            else "no query set has requests that measure these variants; add a query "
            "set, or decide one by one"
        )
    return decide(snapshot, better, reviewer)


def _with_nearest(analysis: Analysis, tool_id: str) -> PairRows:
    """The row of a tool and, if there are other tools, the row of its nearest tool."""
    at = next(row for row, one in enumerate(analysis.catalog.tools) if one.id == tool_id)
    nearest = np.argsort(-(analysis.vectors @ analysis.vectors[at]), kind="stable")[:2]
    return np.array([at, *nearest[nearest != at][:1]], dtype=np.int32)
