"""What is checked of a document while it is edited, before anybody saves or exports it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from toolscope_core.catalog.formats.target_rules import rule_violations
from toolscope_core.catalog.formats.target_table import MATRIX, target_named
from toolscope_core.merging.clusters import documented
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.plan import MergedTool
from toolscope_core.model.tool import Tool
from ui.documents.argument_editor import reachable

MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class DocumentCheck:
    """One line: ``what`` holds where nothing fails, else what ``fails`` and the ``reason``."""

    what: str
    fails: str
    reason: str

    @property
    def holds(self) -> bool:
        return not self.reason


def document_checks(cluster: Cluster, tools: Sequence[Tool]) -> tuple[DocumentCheck, ...]:
    """The rules of each client on this one tool, the old required arguments, and what the argument
    maps lose. ``tools`` are the members, the canonical first.
    """
    tool = replace(documented(tools[0], cluster.document), id=cluster.canonical)
    merged = MergedTool(tool, cluster.members)
    refusals = []
    for name in MATRIX:
        own = [
            one for one in rule_violations([merged], name) if one.rule not in ("count", "unique")
        ]
        if own:
            refusals.append((target_named(name).title, own[0].message))
    names = ", ".join(title for title, _ in refusals)
    gone = reachable(tools, cluster.arguments)
    lossy = [alpha for alpha in cluster.arguments if not alpha.lossless]
    unknown = [tool.id for tool in tools if tool.schema is None] if len(tools) > 1 else []
    silent = f"the parameters of {', '.join(unknown)} are not known" if unknown else ""
    inferred = [sentence for alpha in cluster.arguments for sentence in alpha.inferred]
    return (
        DocumentCheck(
            f"{len(MATRIX)} clients take its name, description and schema",
            "Some clients refuse its name, description or schema",
            f"{names}: {refusals[0][1]}" if refusals else "",
        ),
        DocumentCheck(
            "Every required argument of the old tools has a place",
            "Some required arguments of the old tools have no place",
            silent or ", ".join(f"{argument} of {name}" for name, argument in gone),
        ),
        DocumentCheck(
            "Lossless: every old call can be translated there and back",
            "Some old calls would lose something",
            silent or ", ".join(alpha.tool_id for alpha in lossy),
        ),
        DocumentCheck(
            "Every argument is matched by its name or description",
            "Some arguments are only guessed to be the same",
            "; ".join(inferred[:MOST_NAMED]),
        ),
    )
