"""What a decision keeps together and apart, whichever catalog it is read on."""

from collections.abc import Collection, Hashable, Iterable
from itertools import chain, combinations, product
from typing import TypeVar

from toolscope_core.model.decision import Decision

Positions = tuple[int, ...]

Copy = tuple[str, int]

Member = TypeVar("Member", bound=Hashable)


def links_of(decision: Decision) -> tuple[list[Positions], list[tuple[int, int]]]:
    """The groups that stay together and the pairs kept apart, as positions in ``members``."""
    everybody = tuple(range(len(decision.members)))
    match decision.action:
        case "accept" | "propose":
            return [everybody], []
        case "reject":
            return [], list(combinations(everybody, 2))
        case "split" | "recut":
            groups = decision.places(decision.detail["groups"])
            across = (product(a, b) for a, b in combinations(groups, 2))
            kept = groups if decision.action == "split" else []
            return kept, list(chain.from_iterable(across))
        case _:
            (dropped,) = decision.places([decision.detail["drop"]])
            rest = tuple(i for i in everybody if i not in dropped)
            return [rest], list(product(dropped, rest))


def meaning_of(decision: Decision) -> tuple[set[frozenset[Copy]], set[tuple[Copy, Copy]]]:
    """The links between fingerprints, pairs sorted; the n-th copy of one is (fingerprint, n)."""
    members = decision.members
    copies = [(member, members[:i].count(member)) for i, member in enumerate(members)]
    must, cannot = links_of(decision)
    return (
        {frozenset(copies[i] for i in group) for group in must},
        {(min(copies[i], copies[j]), max(copies[i], copies[j])) for i, j in cannot},
    )


def united(groups: Iterable[Collection[Member]]) -> dict[Member, set[Member]]:
    """For every member the set it ends up in when groups that share a member become one."""
    home: dict[Member, set[Member]] = {}
    for group in groups:
        merged = set(group).union(*(home[item] for item in group if item in home))
        home.update(dict.fromkeys(merged, merged))
    return home
