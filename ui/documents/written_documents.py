"""Words that a model has for a merged tool, beside those made offline, with what speaks against."""

from toolscope_core.llm.document_answers import (
    Written,
    ask_for_documents,
    surroundings_of,
    written_for,
)
from toolscope_core.llm.merge_questions import wary_of
from toolscope_core.llm.run_configuration import stored_answers
from toolscope_core.model.cluster import Cluster
from ui.shared.services import judging
from ui.shared.snapshot import Snapshot


def of(snapshot: Snapshot, cluster: Cluster) -> Written | None:
    """Its words for a cluster as it stands, if any."""
    analysis = snapshot.analysis
    run = judging.newest(snapshot, "documents", analysis)
    if run is None:
        return None
    asker = stored_answers(run.configuration, snapshot.work.ledger)
    answer = ask_for_documents(analysis.catalog, [cluster], asker).get(cluster.members)
    if answer is None or answer.value is None:
        return None
    catalog = analysis.catalog
    around = surroundings_of(catalog, cluster.members, wary_of(catalog))
    return written_for(analysis, cluster, asker.name, answer.value, around)
