"""The documents of clusters on the screen: as they stand, as they were, previewed and edited."""

from dataclasses import dataclass, replace
from typing import Any

from toolscope_core.decisions.constraints import edits
from toolscope_core.decisions.edit_validity import document_problems
from toolscope_core.model.cluster import Cluster, Document
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import DecisionError
from ui.documents.drafts import Draft, with_draft
from ui.shared.cards.cards import Card, card_of
from ui.shared.services.page_service import PageService


@dataclass(frozen=True, slots=True)
class DocumentVersion:
    """The document as it was after the ``decision`` that edited it."""

    decision: Decision
    draft: Draft


class Documents(PageService):
    """What agents will read of a cluster, also of one tool alone."""

    def draft(self, catalog_id: int, cluster: Cluster) -> Draft:
        """The document of a cluster as it stands, ready to be edited."""
        kept = edits(self._catalogs.open(catalog_id), self._review.log(catalog_id))
        edit = kept.get(frozenset(cluster.members))
        if edit is None:
            return Draft(cluster.document)
        tools, maps = self._catalogs.open(catalog_id).by_id, edit.document.get("maps", {})
        given = {one: tools[one].fingerprint for one in cluster.members}
        return Draft(
            cluster.document,
            dict(edit.document.get("renames", {})),
            {one: maps[member] for one, member in given.items() if member in maps},
        )

    def synthesised(self, catalog_id: int, cluster: Cluster) -> Draft:
        """The document before anybody edited it."""
        return Draft(self._analyses.required(catalog_id).synthesis_of(cluster).document)

    def preview(self, catalog_id: int, cluster: Cluster, draft: Draft) -> Card:
        """The cluster as it would be with this document: kind, argument maps, size."""
        analysis = self._analyses.required(catalog_id)
        return card_of(analysis, with_draft(analysis, cluster, draft), self._catalogs.shape)

    def edit(self, catalog_id: int, cluster: Cluster, draft: Draft, reviewer: str) -> Decision:
        """Store an edited document for a cluster. Raises ``DecisionError`` for an invalid one."""
        document = draft.document
        problems = self.problems(catalog_id, cluster, document)
        if problems:
            raise DecisionError(f"the document cannot be saved: {'; '.join(problems)}")
        changed: dict[str, Any] = {
            key: getattr(document, key)
            for key in ("name", "description", "schema")
            if getattr(document, key) != getattr(cluster.document, key)
        }
        if "schema" in changed:
            changed["renames"] = dict(draft.renames)
        if draft.maps != self.draft(catalog_id, cluster).maps:
            changed["maps"] = dict(draft.maps)
        if not changed:
            raise DecisionError("nothing was changed; edit the name, description or parameters")
        return self._review.decide(catalog_id, "edit", cluster, reviewer, changed)

    def problems(self, catalog_id: int, cluster: Cluster, document: Document) -> tuple[str, ...]:
        """What stands against exporting this document, as sentences; empty if nothing."""
        tools = self._catalogs.open(catalog_id).tools
        outside = {tool.name for tool in tools if tool.id not in cluster.members}
        return document_problems(document, cluster.document, frozenset(outside))

    def versions(self, catalog_id: int, cluster: Cluster) -> tuple[DocumentVersion, ...]:
        """Each edit of these tools, newest first."""
        catalog, log = self._catalogs.open(catalog_id), self._review.log(catalog_id)
        start = self.synthesised(catalog_id, cluster)
        members = frozenset(cluster.members)
        prints = sorted(catalog.by_id[one].fingerprint for one in members)
        by_print = {catalog.by_id[one].fingerprint: one for one in sorted(members, reverse=True)}
        versions = []
        for at, decision in enumerate(log):
            if decision.action != "edit" or sorted(decision.members) != prints:
                continue
            edit = edits(catalog, log[: at + 1]).get(members)
            written = edit.document if edit else {}
            texts = {
                key: written[key] for key in ("name", "description", "schema") if key in written
            }
            maps = {
                by_print[one]: given
                for one, given in written.get("maps", {}).items()
                if one in by_print
            }
            draft = Draft(replace(start.document, **texts), written.get("renames", {}), maps)
            versions.append(DocumentVersion(decision, draft))
        return tuple(versions[::-1])
