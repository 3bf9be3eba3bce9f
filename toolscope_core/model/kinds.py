"""Kinds of proposals, verdicts and relations in plain words, for every page and report."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from toolscope_core.model.cluster import Cluster
from toolscope_core.model.pair import Outcome, Relation

ProposalKind = Literal["copy", "prune", "router", "family", "unknown"]


@dataclass(frozen=True, slots=True)
class KindWords:
    """A kind as a person reads it: its ``name``, and what it ``means`` in one sentence."""

    name: str
    means: str


OTHER_VALUE = "same operation, other value"
OTHER_PROVIDER = "same operation, other provider"

KINDS: Mapping[ProposalKind, KindWords] = {
    "copy": KindWords(
        "exact copy",
        "The same words and the same arguments: keep one, switch the others off, no code needed.",
    ),
    "prune": KindWords(
        "drop-in",
        "One tool takes every call of the others as it is: switch the others off, no code needed.",
    ),
    "router": KindWords(
        "needs a gateway",
        "One tool for the agent; a gateway in front of the servers passes each call on.",
    ),
    "family": KindWords(
        f"{OTHER_PROVIDER} or value",
        "The same operation for another provider or value: none can take the calls of another, so "
        "all stay; a gateway can offer them as one tool.",
    ),
    "unknown": KindWords(
        "looks alike", "The tools look alike, but their arguments are not known: nothing is merged."
    ),
}
"""Each kind, the easiest to act on first."""


OUTCOMES: Mapping[Outcome, str] = {
    "merge": "same job",
    "family": KINDS["family"].name,
    "unsure": f"{KINDS['unknown'].name}: a person must look",
    "keep": "different jobs",
    "unanalysed": "not analysed",
}
"""Each verdict as a stranger would say it, and after a colon what to do."""

RELATIONS: Mapping[Relation, str] = {
    "duplicate": "the same job",
    "subsumes": "one covers the other",
    "parametric": f"the {KINDS['family'].name}",
    "related": "related, but another job",
    "different": "little in common",
}


def outcome_word(outcome: Outcome) -> str:
    """The verdict alone."""
    return OUTCOMES[outcome].partition(":")[0]


def kind_of(cluster: Cluster) -> ProposalKind:
    """What can be done about the cluster."""
    if cluster.relation == "parametric":
        return "family"
    return "copy" if cluster.kind == "prune" and cluster.copies else cluster.kind


def kind_name(cluster: Cluster) -> str:
    """The kind in words; of a family what differs: the provider (or server), or a value."""
    kind = kind_of(cluster)
    return family_name(cluster.selector) if kind == "family" else KINDS[kind].name


def family_name(selector: str) -> str:
    """What is said of tools that one argument, the ``selector``, would tell apart."""
    return OTHER_PROVIDER if selector.startswith(("provider", "server")) else OTHER_VALUE
