"""The earlier documents of a set of tools, to be looked at and restored."""

from __future__ import annotations

from dataclasses import dataclass, replace

from toolscope_core.decisions.constraints import edits
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.decision import Decision
from ui.shared.cards.drafts import Draft
from ui.shared.services.workspace import Workspace


@dataclass(frozen=True, slots=True)
class DocumentVersion:
    """The document as it was after the ``decision`` that edited it."""

    decision: Decision
    draft: Draft


class DocumentVersions:
    """What people wrote over time; nothing of it is lost, also where it was taken back."""

    def __init__(self, work: Workspace) -> None:
        self._catalogs = work.catalogs
        self._review = work.review

    def of(self, catalog_id: int, cluster: Cluster) -> tuple[DocumentVersion, ...]:
        """Each edit of these tools, newest first."""
        catalog, log = self._catalogs.open(catalog_id), self._review.log(catalog_id)
        start = self._review.synthesised(catalog_id, cluster)
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
