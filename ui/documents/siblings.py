"""Siblings to tell apart on the screen: the list, suggestions, what they do, and saving them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from toolscope_core.decisions.constraints import constraints
from toolscope_core.embedding.tool_text import tool_text
from toolscope_core.merging.faithful import Violation
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.pair import Pair
from toolscope_core.model.tool import Augmentation, Tool
from toolscope_core.rps.rewrites import MeasuredRewrite, answers_of, best_rewrites, offline_rewrites
from toolscope_core.rps.telling_apart import (
    COLLIDE,
    SiblingPair,
    description_violations,
    rewrites_of_model,
    sibling_pairs,
)
from ui.documents.edited_documents import Documents
from ui.shared.services.judging import Judging
from ui.shared.services.loaded_queries import LoadedQueries
from ui.shared.services.page_service import PageService, Uses
from ui.shared.services.reviewed_variants import Variants

MOST_QUERIES = 200
"""Requests that the effect on a pair is measured with."""


@dataclass(frozen=True, slots=True)
class SiblingsCard:
    """Two tools as they came in, their descriptions as they stand, by tool id, and the suggested
    rewrites: one of each way, the short ones first, each measured.
    """

    siblings: SiblingPair
    tools: tuple[Tool, Tool]
    standing: Mapping[str, str]
    rewrites: tuple[MeasuredRewrite, ...]

    @property
    def is_edited(self) -> bool:
        """Whether somebody gave one of the two another description."""
        return any(tool.description != self.standing[tool.id] for tool in self.tools)


class Siblings(PageService):
    """Siblings of analysed catalogs that collide."""

    _documents = Uses(Documents)
    _queries = Uses(LoadedQueries)
    _variants = Uses(Variants)
    _judging = Uses(Judging)

    def pairs(self, catalog_id: int, least: float = COLLIDE) -> tuple[SiblingPair, ...]:
        """The pairs to tell apart, the closest first, as the tools came in. Raises ``JobError``
        before the analysis is finished.
        """
        analysis, log = self._analyses.required(catalog_id), self._review.log(catalog_id)
        plan = self._review.plan(catalog_id)
        return self._cached(
            ("pairs", catalog_id, least),
            (analysis, plan),
            lambda: sibling_pairs(analysis, plan, constraints(analysis.catalog, log).cannot, least),
            most=4,
        )

    def edited(self, catalog_id: int) -> frozenset[str]:
        """Ids of the tools that have a description other than the one that came in."""
        own = self._analyses.required(catalog_id).catalog.by_id
        return frozenset(
            one for one, text in self._standing(catalog_id).items() if text != own[one].description
        )

    def card(self, catalog_id: int, siblings: SiblingPair) -> SiblingsCard:
        """The pair with what is suggested for it."""
        by_id = self._analyses.required(catalog_id).catalog.by_id
        tools = (by_id[siblings.pair.left], by_id[siblings.pair.right])
        standing = self._standing(catalog_id)
        return SiblingsCard(
            siblings=siblings,
            tools=tools,
            standing={one.id: standing.get(one.id, one.description) for one in tools},
            rewrites=self._rewrites(catalog_id, siblings),
        )

    def winning(self, catalog_id: int, least: float = COLLIDE) -> dict[str, str]:
        """By tool id the descriptions that can be accepted unseen, at ``least`` or closer: of each
        pair the first rewrite that wins and that nothing speaks against. Left out are tools that
        have another description than the one that came in, and all but the closest pair of a tool.
        """
        edited, wanted = self.edited(catalog_id), dict[str, str]()
        for siblings in self.pairs(catalog_id, least):
            if not (edited | wanted.keys()).isdisjoint((siblings.pair.left, siblings.pair.right)):
                continue
            for one in self._rewrites(catalog_id, siblings):
                new = one.rewrite.descriptions
                if one.wins and not any(self.violations(catalog_id, new).values()):
                    wanted |= new
                    break
        return wanted

    def violations(
        self, catalog_id: int, descriptions: Mapping[str, str]
    ) -> dict[str, tuple[Violation, ...]]:
        """What speaks against descriptions, by tool id."""
        return description_violations(self._analyses.required(catalog_id).catalog, descriptions)

    def similarity(self, catalog_id: int, descriptions: Mapping[str, str]) -> float:
        """The cosine of the texts of two tools with these descriptions."""
        by_id = self._analyses.required(catalog_id).catalog.by_id
        tools = (replace(by_id[one], description=text) for one, text in descriptions.items())
        left, right = self._analyses.embed([tool_text(one) for one in tools])
        return float(left @ right)

    def save(
        self, catalog_id: int, descriptions: Mapping[str, str], reviewer: str
    ) -> tuple[Decision, ...]:
        """Record the descriptions of tools, each as an edit of its tool; those that stand already
        are left out. Raises ``DecisionError`` where none is new, or one cannot be exported.
        """
        wanted = []
        for tool_id, text in descriptions.items():
            cluster = self._review.alone(catalog_id, tool_id)
            if text.strip() != cluster.document.description:
                draft = self._documents.draft(catalog_id, cluster)
                document = replace(draft.document, description=text.strip())
                if problems := self._documents.problems(catalog_id, cluster, document):
                    raise DecisionError(f"{tool_id} cannot be saved: {'; '.join(problems)}")
                wanted.append((cluster, replace(draft, document=document)))
        if not wanted:
            raise DecisionError("neither description was changed; edit one")
        return tuple(self._documents.edit(catalog_id, *one, reviewer) for one in wanted)

    def _standing(self, catalog_id: int) -> dict[str, str]:
        """The descriptions that leave, of the tools that are not merged."""
        plan = self._review.plan(catalog_id, PlanConfig())
        return {
            item.tool.id: item.tool.description for item in plan.tools if len(item.members) == 1
        }

    def _rewrites(self, catalog_id: int, siblings: SiblingPair) -> tuple[MeasuredRewrite, ...]:
        catalog = self._analyses.required(catalog_id).catalog
        left, right = (catalog.by_id[one] for one in (siblings.pair.left, siblings.pair.right))
        rewrites = offline_rewrites((left, right), siblings.words)
        if asker := self._judging.known_answers():
            rewrites += rewrites_of_model(catalog, [siblings.pair], asker)[0]
        answers = self._requests(catalog_id, siblings.pair)
        return self._cached(
            ("measured", catalog_id, siblings.pair),
            (catalog,),
            lambda: best_rewrites((left, right), rewrites, answers, self._analyses.embed),
            state=(rewrites, answers),
            most=500,
        )

    def _requests(self, catalog_id: int, pair: Pair) -> list[tuple[str, str]]:
        """Requests of query sets and accepted document variants that exactly one of the two
        answers, each with that one: 200 at most.
        """
        answers = dict(answers_of(pair, self._queries.queries(catalog_id)))
        accepted = self._variants.accepted(catalog_id)
        for one in (pair.left, pair.right):
            for question in accepted.get(one, Augmentation("")).questions:
                answers.setdefault(question, one)
        return list(answers.items())[:MOST_QUERIES]
