"""Words that a model has for a merged tool, beside those made offline, with what speaks against."""

from __future__ import annotations

from dataclasses import dataclass

from toolscope_core.llm.merge_questions import wary_of
from toolscope_core.llm.requests.model_requests import Asker
from toolscope_core.llm.run_configuration import stored_answers
from toolscope_core.llm.tasks.synthesis_prompt import MergeDraft, SynthesisTask, written
from toolscope_core.merging.analysis import Analysis
from toolscope_core.merging.faithful import Change, Surroundings, Violation, changes, violations
from toolscope_core.model.cluster import Cluster, Document
from toolscope_core.store import StoredLedger
from ui.shared.services.judging import Judging
from ui.shared.services.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Written:
    """A document in the words of ``judge`` (a model and its host), offered and never applied by
    itself: a person takes it with an edit. ``changes`` are against the cluster's own document.
    """

    judge: str
    document: Document
    violations: tuple[Violation, ...]
    changes: tuple[Change, ...]


class WrittenDocuments:
    """What the newest model that was asked for words has said."""

    def __init__(self, work: Workspace) -> None:
        self._analyses = work.analyses
        self._judging = work.service(Judging)
        self._ledger = StoredLedger(work.store)

    def of(self, catalog_id: int, cluster: Cluster) -> Written | None:
        """Its words for a cluster as it stands, if any."""
        analysis = self._analyses.required(catalog_id)
        run = self._judging.newest(catalog_id, "documents", analysis)
        if run is None:
            return None
        return written_for(analysis, cluster, stored_answers(run.configuration, self._ledger))


def written_for(analysis: Analysis, cluster: Cluster, asking: Asker) -> Written | None:
    """What the model says of the cluster as it stands; ``None`` where it was not asked."""
    tools = analysis.catalog.tools
    members = tuple(tools[analysis.rows[member]] for member in cluster.members)
    item = MergeDraft(members, cluster)
    (answer,) = asking(SynthesisTask(), [item])
    if answer is None or answer.value is None:
        return None
    document = written(item, answer.value)
    inside = set(cluster.members)
    around = Surroundings(
        names=frozenset(tool.name for tool in tools if tool.id not in inside),
        wary=wary_of(analysis.catalog),
    )
    made = analysis.synthesis_of(cluster)
    return Written(
        judge=asking.name,
        document=document,
        violations=violations(document, made, members, around),
        changes=changes(cluster.document, document),
    )
