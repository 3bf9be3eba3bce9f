"""Siblings to tell apart: their list, suggested descriptions, the effects of these, and saving."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from toolscope_core.decisions.constraints import constraints
from toolscope_core.merging.faithful import Violation
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.pair import Pair
from toolscope_core.model.tool import Augmentation, Tool, digest
from toolscope_core.rps import telling_apart
from toolscope_core.rps.rewrites import RewriteEffect, answers_of, best_rewrites, offline_rewrites
from toolscope_core.wording.tool_text import tool_text
from ui.documents import edited_documents
from ui.shared.kept import kept, kept_under
from ui.shared.services import judging, loaded_queries, review, reviewed_variants
from ui.shared.snapshot import Snapshot

_MOST_QUERIES = 200
"""The maximum number of requests used to measure the effect on a pair."""


@dataclass(frozen=True, slots=True)
class SiblingsCard:
    """Two original tools, their current descriptions by tool id, and the suggested rewrites.

    There is one rewrite for each way of rewriting, short ones first. Each rewrite is measured.
    """

    siblings: telling_apart.SiblingPair
    tools: tuple[Tool, Tool]
    descriptions: Mapping[str, str]
    rewrites: tuple[RewriteEffect, ...]

    @property
    def is_edited(self) -> bool:
        """Whether somebody has changed the description of either tool."""
        return any(tool.description != self.descriptions[tool.id] for tool in self.tools)


@kept(limit=4)
def pairs(
    snapshot: Snapshot, threshold: float = telling_apart.COLLIDE
) -> tuple[telling_apart.SiblingPair, ...]:
    """The pairs to tell apart, with their original texts, closest pair first.

    Raises ``JobError`` before the analysis is done.
    """
    analysis = snapshot.analysis
    never = constraints(analysis.catalog, snapshot.log).cannot
    return telling_apart.sibling_pairs(analysis, snapshot.plan, never, threshold)


def edited_ids(snapshot: Snapshot) -> frozenset[str]:
    """The ids of the tools whose description has been changed."""
    own = snapshot.analysis.catalog.by_id
    return frozenset(
        one for one, text in _current_texts(snapshot).items() if text != own[one].description
    )


def card(snapshot: Snapshot, siblings: telling_apart.SiblingPair) -> SiblingsCard:
    """The pair with its suggestions."""
    by_id = snapshot.analysis.catalog.by_id
    tools = (by_id[siblings.pair.left], by_id[siblings.pair.right])
    current_texts = _current_texts(snapshot)
    return SiblingsCard(
        siblings=siblings,
        tools=tools,
        descriptions={one.id: current_texts.get(one.id, one.description) for one in tools},
        rewrites=_rewrites(snapshot, siblings),
    )


def winning(snapshot: Snapshot, threshold: float = telling_apart.COLLIDE) -> dict[str, str]:
    """The descriptions that can be accepted without a person, by tool id, for pairs whose
    similarity is ``threshold`` or more.

    Each pair gets the first rewrite that wins and has no objections. Tools with a changed
    description are left out, and each tool appears only in its closest pair.
    """
    edited_tools, texts = edited_ids(snapshot), dict[str, str]()
    for siblings in pairs(snapshot, threshold):
        if not (edited_tools | texts.keys()).isdisjoint((siblings.pair.left, siblings.pair.right)):
            continue
        for one in _rewrites(snapshot, siblings):
            new = one.rewrite.descriptions
            if one.wins and not any(violations(snapshot, new).values()):
                texts |= new
                break
    return texts


def violations(
    snapshot: Snapshot, descriptions: Mapping[str, str]
) -> dict[str, tuple[Violation, ...]]:
    """The objections to descriptions, grouped by tool id."""
    return telling_apart.description_violations(snapshot.analysis.catalog, descriptions)


def similarity(snapshot: Snapshot, descriptions: Mapping[str, str]) -> float:
    """The cosine of the texts of two tools that have these descriptions."""
    by_id = snapshot.analysis.catalog.by_id
    tools = (replace(by_id[one], description=text) for one, text in descriptions.items())
    left, right = snapshot.work.analyses.embed([tool_text(one) for one in tools])
    return float(left @ right)


def save(
    snapshot: Snapshot, descriptions: Mapping[str, str], reviewer: str
) -> tuple[Decision, ...]:
    """Record each description as an edit of its tool. Unchanged descriptions are left out.

    Raises ``DecisionError`` if none is new, or if one cannot be exported.
    """
    edits = []
    for tool_id, text in descriptions.items():
        cluster = review.tool_as_cluster(snapshot, tool_id)
        if text.strip() != cluster.document.description:
            draft = edited_documents.draft_of(snapshot, cluster)
            document = replace(draft.document, description=text.strip())
            if problems := edited_documents.problems(snapshot, cluster, document):
                raise DecisionError(f"{tool_id} cannot be saved: {'; '.join(problems)}")
            edits.append((cluster, replace(draft, document=document)))
    if not edits:
        raise DecisionError("neither description was changed; edit one")
    return tuple(edited_documents.edit(snapshot, *one, reviewer) for one in edits)


def _current_texts(snapshot: Snapshot) -> dict[str, str]:
    """The exported descriptions of tools that are not merged, by tool id."""
    tools = snapshot.plan.tools
    return {item.tool.id: item.tool.description for item in tools if len(item.members) == 1}


def _rewrites(snapshot: Snapshot, siblings: telling_apart.SiblingPair) -> tuple[RewriteEffect, ...]:
    catalog = snapshot.analysis.catalog
    left, right = (catalog.by_id[one] for one in (siblings.pair.left, siblings.pair.right))
    rewrites = offline_rewrites((left, right), siblings.words)
    if asker := judging.known_answers(snapshot):
        rewrites += telling_apart.rewrites_of_model(catalog, [siblings.pair], asker)[0]
    answers = _requests(snapshot, siblings.pair)
    return kept_under(
        catalog,
        "rewrites",
        digest([one.descriptions for one in rewrites], answers),
        lambda: best_rewrites((left, right), rewrites, answers, snapshot.work.analyses.embed),
        limit=500,
    )


def _requests(snapshot: Snapshot, pair: Pair) -> list[tuple[str, str]]:
    """The requests that exactly one of the two tools answers, from query sets and accepted
    variants.

    Each request comes with the id of that tool. There are at most 200.
    """
    answers = dict(answers_of(pair, loaded_queries.queries(snapshot)))
    variants = reviewed_variants.accepted_variants(snapshot)
    for one in (pair.left, pair.right):
        for question in variants.get(one, Augmentation("")).questions:
            answers.setdefault(question, one)
    return list(answers.items())[:_MOST_QUERIES]
