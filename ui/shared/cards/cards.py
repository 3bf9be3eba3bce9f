"""What a reviewer sees of one cluster: its members, where each argument goes, and the evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from toolscope_core.catalog.formats.format_table import PROMPT_FORMATS
from toolscope_core.catalog.tokens import SizeChange
from toolscope_core.judging import relation_words
from toolscope_core.merging.analysing import merge_size, size_reason
from toolscope_core.merging.analysis import Analysis
from toolscope_core.merging.model_verdicts import Disagreement, disagreements
from toolscope_core.model.catalog import Finding
from toolscope_core.model.cluster import ArgumentMap, ArgumentMove, Cluster, Document, family_name
from toolscope_core.model.pair import Pair, Verdict
from toolscope_core.model.tool import Tool, canonical_json

EVIDENCE_SHOWN = 10
"""The number of a cluster's weakest pairs that are explained in words."""


@dataclass(frozen=True, slots=True)
class ArgumentRow:
    """One parameter of the merged tool. ``sources`` says for each member id where the value comes
    from.

    A lost argument has a row too.
    """

    name: str
    sources: Mapping[str, str]
    is_lost: bool = False


@dataclass(frozen=True, slots=True)
class Card:
    """A cluster with everything that a person reviews before deciding.

    ``tools`` has the canonical tool first, then the others by id. ``evidence`` has the verdicts
    that decide the weakest of the ``pairs`` pairs, weakest first. ``disagreements`` are the pairs
    on which the model and the offline judge differ, widest gap first. ``unmatched`` are sentences
    on words of a drop-in that the other tools do not use. ``selector`` distinguishes the members of
    a family. ``loosest`` is the member about which the judge is least sure; it is empty if there
    are two members. ``drop_in`` is the member that could replace the others if the servers work on
    the same data, preferably the canonical one; it is empty if there is none or if the cluster
    already is a drop-in. ``size_reason`` says where the tools grow or how much documentation is
    lost; otherwise it is empty. ``apps`` says what the merge takes from servers' pages.
    """

    cluster: Cluster
    tools: tuple[Tool, ...]
    newcomers: tuple[Tool, ...]
    findings: Mapping[str, tuple[Finding, ...]]
    size: SizeChange
    arguments: tuple[ArgumentRow, ...]
    evidence: tuple[Verdict, ...]
    pairs: int
    disagreements: tuple[Disagreement, ...] = ()
    unmatched: tuple[str, ...] = ()
    selector: relation_words.FamilySelector | None = None
    loosest: str = ""
    drop_in: str = ""
    size_reason: str = ""
    apps: tuple[str, ...] = ()

    @property
    def doubts(self) -> tuple[str, ...]:
        """The objections to accepting, other than ``unmatched`` and ``selector``."""
        family = family_name(self.selector.name) if self.selector else None
        reasons = (
            reason
            for reason in self.cluster.reasons
            if reason not in self.unmatched and not (family and reason.startswith(family))
        )
        return (*reasons, *self.apps)

    @property
    def canonical(self) -> Tool:
        return self.tools[0]

    @property
    def is_one_tool(self) -> bool:
        """Whether agents get one tool in place of the members."""
        return self.selector is None and self.cluster.kind in ("drop_in", "gateway")

    @property
    def is_new_tool(self) -> bool:
        """Whether agents get a tool other than the canonical member."""
        document, tool = self.cluster.document, self.canonical
        ours = document.name, document.description, document.schema
        return self.is_one_tool and ours != (tool.name, tool.description, tool.schema)

    @property
    def eligible(self) -> tuple[Tool, ...]:
        """The members that may be canonical: those without a blocking finding or, if there are
        none, all.
        """
        free = [t for t in self.tools if all(f.severity != "block" for f in self.findings[t.id])]
        return tuple(free) or self.tools

    @property
    def switched_off(self) -> tuple[Tool, ...]:
        """The members that agents no longer see after the merge."""
        return self.tools[1:]


def card_of(analysis: Analysis, cluster: Cluster, format: str = PROMPT_FORMATS[0]) -> Card:
    """The card for one cluster of a plan on this analysis. Sizes are measured in the prompt
    ``format``.
    """
    rows, tools = analysis.rows, analysis.catalog.tools
    order = sorted(cluster.members, key=lambda member: (member != cluster.canonical, member))
    members = tuple(tools[rows[member]] for member in order)
    tool_ids = (*cluster.members, *cluster.newcomers)
    pairs = [Pair.of(a, b) for a, b in combinations(tool_ids, 2)]
    family = cluster.relation == "family"
    probabilities = (
        analysis.family_probabilities(pairs) if family else analysis.probabilities(pairs)
    )
    weakest = np.argsort(probabilities, kind="stable")[:EVIDENCE_SHOWN]
    by_id = analysis.catalog.by_id
    size = merge_size(cluster, by_id, format, analysis.syntheses.costs)
    return Card(
        cluster=cluster,
        tools=members,
        newcomers=tuple(tools[rows[tool_id]] for tool_id in cluster.newcomers),
        findings={
            tool_id: tuple(f for f in analysis.catalog.findings if f.tool_id == tool_id)
            for tool_id in tool_ids
        },
        size=size,
        arguments=argument_rows(cluster.document, cluster.arguments),
        evidence=tuple(analysis.verdict(pairs[row]) for row in weakest),
        pairs=len(pairs),
        disagreements=_disagreements(analysis, pairs),
        unmatched=relation_words.unmatched_reasons_in(analysis.catalog, cluster),
        selector=relation_words.selector_in(cluster) if family else None,
        loosest=_loosest(cluster.members, pairs, probabilities),
        drop_in=_drop_in(analysis, cluster),
        size_reason=size_reason(cluster, by_id, size),
        apps=relation_words.app_reasons_in(analysis.catalog, cluster),
    )


def _drop_in(analysis: Analysis, cluster: Cluster) -> str:
    if cluster.kind == "drop_in" or cluster.relation == "family" or cluster.chosen_kind:
        return ""
    for canonical in (cluster.canonical, None):
        synthesis = analysis.syntheses.synthesis(cluster.members, canonical, kind="drop_in")
        if synthesis.kind == "drop_in":
            return synthesis.canonical
    return ""


def _loosest(
    members: Sequence[str], pairs: Sequence[Pair], probabilities: NDArray[np.float64]
) -> str:
    """The member with the lowest mean probability to the others. Empty if there are two members."""
    if len(members) < 3:
        return ""
    total = dict.fromkeys(members, 0.0)
    for pair, probability in zip(pairs, probabilities.tolist(), strict=True):
        if pair.left in total and pair.right in total:
            total[pair.left] += probability
            total[pair.right] += probability
    return min(members, key=lambda one: (total[one], one))


def _disagreements(analysis: Analysis, pairs: Sequence[Pair]) -> tuple[Disagreement, ...]:
    if analysis.model_verdicts is None:
        return ()
    verdicts = analysis.model_verdicts.verdicts
    inside = replace(
        analysis.model_verdicts, verdicts={p: verdicts[p] for p in pairs if p in verdicts}
    )
    return disagreements(inside, analysis.offline)


def argument_rows(document: Document, arguments: Sequence[ArgumentMap]) -> tuple[ArgumentRow, ...]:
    """The merged parameters in order, then the lost ones, each with its sources."""
    merged = Tool("", document.name, schema=document.schema)
    kept_rows = (
        ArgumentRow(
            parameter.name,
            {
                alpha.tool_id: sentence
                for alpha in arguments
                if (sentence := _source(alpha, parameter.name))
            },
        )
        for parameter in merged.parameters
    )
    lost_rows = (
        ArgumentRow(name, {alpha.tool_id: reason}, is_lost=True)
        for alpha in arguments
        for name, reason in alpha.dropped.items()
    )
    return (*kept_rows, *lost_rows)


def sources_in_words(cluster: Cluster, tools: Mapping[str, Tool]) -> dict[str, str]:
    """For each merged parameter, a line that says which arguments of each member fill it.

    ``tools`` are those of the catalog, by id.
    """
    rows = argument_rows(cluster.document, cluster.arguments)
    return {
        row.name: "; ".join(
            f"{tools[one].server or one}: {source}" for one, source in row.sources.items()
        )
        for row in rows
    }


def cell_text(value: object) -> str:
    """The value as text for a table cell."""
    return value if isinstance(value, str) else canonical_json(value)


def _source(alpha: ArgumentMap, target: str) -> str:
    """The source of a merged argument in the calls of one member. Empty if these calls leave it
    out.
    """
    if target in alpha.constants:
        return f"always {canonical_json(alpha.constants[target])}"
    return next((move_sentence(move) for move in alpha.moves if move.target == target), "")


def move_sentence(move: ArgumentMove) -> str:
    """Where a value comes from and how it is changed, as a sentence."""
    match move.op:
        case "map":
            values = ", ".join(f"{cell_text(old)} → {cell_text(new)}" for old, new in move.values)
            return f"{move.source}: {values}"
        case "wrap":
            return f"{move.source}, as a list of one"
        case "unwrap":
            return f"{move.source}, the one in the list"
        case "cast":
            return f"{move.source}, written as text"
        case _:
            return move.source
