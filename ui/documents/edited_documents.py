"""The documents of clusters on the screen: as they stand, as they were, previewed and edited."""

from dataclasses import dataclass, replace
from typing import Any

from toolscope_core.decisions.constraints import edits
from toolscope_core.decisions.document_rules import document_problems
from toolscope_core.llm import document_answers, merge_questions, run_configuration
from toolscope_core.model.cluster import Cluster, Document
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import DecisionError
from ui.documents.drafts import Draft, with_draft
from ui.shared.cards.cards import Card, card_of
from ui.shared.services import judging, review
from ui.shared.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class DocumentVersion:
    """The document as it was after the ``decision`` that edited it."""

    decision: Decision
    draft: Draft


def draft_of(snapshot: Snapshot, cluster: Cluster) -> Draft:
    """The document of a cluster as it stands, ready to be edited."""
    last = edits(snapshot.catalog, snapshot.log).get(frozenset(cluster.members))
    if last is None:
        return Draft(cluster.document)
    tools, maps = snapshot.catalog.by_id, last.document.get("maps", {})
    prints = {one: tools[one].fingerprint for one in cluster.members}
    return Draft(
        cluster.document,
        dict(last.document.get("renames", {})),
        {one: maps[member] for one, member in prints.items() if member in maps},
    )


def synthesised(snapshot: Snapshot, cluster: Cluster) -> Draft:
    """The document before anybody edited it."""
    return Draft(snapshot.analysis.synthesis_of(cluster).document)


def preview(snapshot: Snapshot, cluster: Cluster, draft: Draft) -> Card:
    """The cluster as it would be with this document: kind, argument maps, size."""
    analysis = snapshot.analysis
    return card_of(analysis, with_draft(analysis, cluster, draft), snapshot.shape)


def edit(snapshot: Snapshot, cluster: Cluster, draft: Draft, reviewer: str) -> Decision:
    """Store an edited document for a cluster. Raises ``DecisionError`` for an invalid one."""
    document = draft.document
    if against := problems(snapshot, cluster, document):
        raise DecisionError(f"the document cannot be saved: {'; '.join(against)}")
    changed: dict[str, Any] = {
        key: getattr(document, key)
        for key in ("name", "description", "schema")
        if getattr(document, key) != getattr(cluster.document, key)
    }
    if "schema" in changed:
        changed["renames"] = dict(draft.renames)
    if draft.maps != draft_of(snapshot, cluster).maps:
        changed["maps"] = dict(draft.maps)
    if not changed:
        raise DecisionError("nothing was changed; edit the name, description or parameters")
    return review.decide(snapshot, "edit", cluster, reviewer, changed)


def problems(snapshot: Snapshot, cluster: Cluster, document: Document) -> tuple[str, ...]:
    """What stands against exporting this document, as sentences; empty if nothing."""
    tools = snapshot.catalog.tools
    outside = {tool.name for tool in tools if tool.id not in cluster.members}
    return document_problems(document, cluster.document, frozenset(outside))


def versions(snapshot: Snapshot, cluster: Cluster) -> tuple[DocumentVersion, ...]:
    """Each edit of these tools, newest first."""
    catalog, log = snapshot.catalog, snapshot.log
    start = synthesised(snapshot, cluster)
    members = frozenset(cluster.members)
    prints = sorted(catalog.by_id[one].fingerprint for one in members)
    by_print = {catalog.by_id[one].fingerprint: one for one in sorted(members, reverse=True)}
    made = []
    for at, decision in enumerate(log):
        if decision.action != "edit" or sorted(decision.members) != prints:
            continue
        last = edits(catalog, log[: at + 1]).get(members)
        written = last.document if last else {}
        texts = {key: written[key] for key in ("name", "description", "schema") if key in written}
        maps = {
            by_print[one]: changes
            for one, changes in written.get("maps", {}).items()
            if one in by_print
        }
        draft = Draft(replace(start.document, **texts), written.get("renames", {}), maps)
        made.append(DocumentVersion(decision, draft))
    return tuple(made[::-1])


def of(snapshot: Snapshot, cluster: Cluster) -> document_answers.Written | None:
    """Its words for a cluster as it stands, if any."""
    analysis = snapshot.analysis
    run = judging.newest(snapshot, "documents", analysis)
    if run is None:
        return None
    asker = run_configuration.stored_answers(run.configuration, snapshot.work.ledger)
    answer = document_answers.ask_for_documents(analysis.catalog, [cluster], asker).get(
        cluster.members
    )
    if answer is None or answer.value is None:
        return None
    catalog = analysis.catalog
    around = document_answers.surroundings_of(
        catalog, cluster.members, merge_questions.wary_of(catalog)
    )
    return document_answers.written_for(analysis, cluster, asker.name, answer.value, around)
