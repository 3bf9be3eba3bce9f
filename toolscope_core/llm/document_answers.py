"""A model's texts for merged tools (ToolScope, section 3.2: d* = M_D(C_b)), checked against the
offline documents.

Each text is proposed to people, or accepted by a command that asks for documents. That command
accepts it only if there are no objections, and as an edit, so that the log shows the edit and it
can be undone.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from toolscope_core.decisions.constraints import edits, suspended_decisions
from toolscope_core.decisions.decision_lines import decision_of_row
from toolscope_core.decisions.log import admit
from toolscope_core.llm.merge_questions import suspicious_ids_of
from toolscope_core.llm.model_requests import Asker
from toolscope_core.llm.tasks.synthesis_prompt import SYNTHESIS_TASK, MergeDraft, written_document
from toolscope_core.merging.analysis import Analysis
from toolscope_core.merging.faithful import (
    Change,
    DocumentContext,
    Violation,
    text_changes,
    violations,
)
from toolscope_core.merging.model_verdicts import ModelVerdicts
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import Cluster, Document
from toolscope_core.model.decision import Decision
from toolscope_core.model.protocols import Answer
from toolscope_core.model.tool import JsonObject

_NOT_ASKED = "it has not been asked yet"


@dataclass(frozen=True, slots=True)
class ModelDocument:
    """A document in the words of ``judge`` (a model and its host).

    ``changes`` are its differences from the cluster's own document.
    """

    judge: str
    document: Document
    violations: tuple[Violation, ...]
    changes: tuple[Change, ...]


def ask_for_documents(
    catalog: Catalog, clusters: Iterable[Cluster], asker: Asker
) -> dict[tuple[str, ...], Answer | None]:
    """The answers about the texts of clusters, by member ids; clusters of exact copies are not
    asked about.
    """
    tools = catalog.by_id
    drafts = {
        cluster.members: MergeDraft(tuple(tools[one] for one in cluster.members), cluster)
        for cluster in clusters
    }
    drafts = {
        members: draft
        for members, draft in drafts.items()
        if len({tool.content_hash for tool in draft.members}) > 1
    }
    return dict(zip(drafts, asker(SYNTHESIS_TASK, list(drafts.values())), strict=True))


def written_for(
    analysis: Analysis, cluster: Cluster, judge: str, answer: JsonObject, context: DocumentContext
) -> ModelDocument:
    """The text that ``judge`` wrote for a cluster in its current state, with the
    objections to it.
    """
    catalog, synthesis = analysis.catalog, analysis.synthesis_of(cluster)
    members = tuple(catalog.by_id[member] for member in cluster.members)
    document = written_document(MergeDraft(members, cluster), answer)
    return ModelDocument(
        judge,
        document,
        violations(document, synthesis, members, context),
        text_changes(cluster.document, document),
    )


def document_context(
    catalog: Catalog, members: Sequence[str], suspicious_ids: frozenset[str]
) -> DocumentContext:
    """The context in which a document of the ``members`` (ids) is checked."""
    outside = frozenset(tool.name for tool in catalog.tools if tool.id not in members)
    return DocumentContext(outside, suspicious_ids)


def with_documents(
    analysis: Analysis,
    clusters: Sequence[Cluster],
    log: Sequence[Decision],
    verdicts: ModelVerdicts,
    asker: Asker,
) -> ModelVerdicts:
    """The model's verdicts, with its documents for the clusters that nobody has edited.

    Only documents without objections are included; for the others, the verdicts say why they were
    refused. If a tool addresses models, no document is requested: a person reads it first.
    """
    catalog = analysis.catalog
    by_people = {ids for ids, edit in edits(catalog, log).items() if edit.document}
    own = {one.members: one for one in clusters if frozenset(one.members) not in by_people}
    addressing, suspicious_ids = catalog.addressing, suspicious_ids_of(catalog)
    refusals: dict[tuple[str, ...], tuple[str, ...]] = {
        members: (f"the text of {min(speaking)} addresses the model",)
        for members in own
        if (speaking := addressing.intersection(members))
    }
    plain = [cluster for members, cluster in own.items() if members not in refusals]
    documents: dict[tuple[str, ...], JsonObject] = {}
    for members, answer in ask_for_documents(catalog, plain, asker).items():
        if answer is None or answer.value is None:
            refusals[members] = (answer.reason if answer else asker.message or _NOT_ASKED,)
            continue
        context = document_context(catalog, members, suspicious_ids)
        result = written_for(analysis, own[members], asker.name, answer.value, context)
        if result.violations:
            refusals[members] = tuple(one.sentence for one in result.violations)
        elif result.changes:
            documents[members] = dict(_edited(own[members].document, result.document))
    return replace(
        verdicts, documents=documents, refused=refusals, costs=asker.costs, message=asker.message
    )


def with_edits(analysis: Analysis, log: Sequence[Decision]) -> tuple[Decision, ...]:
    """The log, with an edit by the model added for each accepted document."""
    catalog, verdicts, log = analysis.catalog, analysis.model_verdicts, tuple(log)
    if verdicts is None:
        return log
    for members, detail in sorted(verdicts.documents.items()):
        row = {"action": "edit", "ids": members, "reviewer": verdicts.judge, "detail": detail}
        edit = decision_of_row(catalog, row)
        log = (*log, admit(log, edit, None, suspended_decisions(catalog, log)))
    return log


def _edited(before: Document, after: Document) -> Iterator[tuple[str, object]]:
    """The fields of an edit that turns one document into the other."""
    for name in ("name", "description", "schema"):
        if getattr(before, name) != getattr(after, name):
            yield name, getattr(after, name)
