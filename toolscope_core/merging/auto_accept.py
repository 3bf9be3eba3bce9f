"""Auto-accept: what may be merged without a person, and every reason against it as a sentence.

A cluster is *safe* if all of these hold; each that does not is a reason, shown on the card.

 1. No member carries a blocking finding.
 2. It is a prune: one member's own schema serves every call. No gateway, no family.
 3. Each word that one of two tools says is matched by the other (``unmatched_words``).
 4. No argument means something else in the tool that stays: its unit, its default
    (``alignment.unit_conflicts``, ``defaults``); and none is only inferred (``matching``).
 5. No guard speaks: server, state, effect, result, scope, warnings (``guards``).
 6. It is the program's proposal, not one that a person put forward.
 7. Where a model judged: each pair is a merge by the offline judge alone at *auto*, or by the
    model with one serving the other, at even odds or better by the offline judge, and neither
    tool speaks to models (``model_doubts``).
 8. It hangs together: not cut out of a chain (but for a prune whose words are all matched), no
    two members joined only through a third.
 9. Its weakest pair is at least at *auto* (``auto_at`` in ``judge_weights.json``: a probability
    of the same job; not asked of a family, nor where 7 spoke of each pair).

``build_clusters`` writes the reasons on the cluster, ``Cluster.safe`` is their absence, and
``accept`` applies the policy. What can never be applied, whoever accepts it, is a conflict:
``plan`` says which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from toolscope_core.merging.synthesis import Synthesis
from toolscope_core.model.cluster import Cluster, Group
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.pair import Verdict

EVEN = 0.5
"""The least probability of the offline judge with which a model's merge needs no person."""

UNCONVINCED = "the offline judge is not convinced"

_MOST_NAMED = 6


@dataclass(frozen=True, slots=True)
class Differences:
    """What the members do not share, in sentences: ``arguments`` that a gateway keeps apart for
    their units, or whose calls would mean something else; ``words`` that only one of them says;
    ``guards`` as in that module.
    """

    arguments: tuple[str, ...]
    words: tuple[str, ...]
    guards: tuple[str, ...]


def reasons_against(
    group: Group,
    synthesis: Synthesis,
    differences: Differences,
    blocked: frozenset[str],
    auto_at: float,
) -> Iterator[str]:
    """Why a group must wait for a person; none: it is safe. The numbers are those of the module.

    ``differences`` and ``synthesis`` are those of its members, ``blocked`` the ids of all tools
    with a blocking finding, ``auto_at`` the least probability of its weakest pair.
    """
    if blocked.intersection(group.members):  # 1
        yield "a member carries a blocking finding"
    if group.family:  # 2
        yield f"a family: {_values(synthesis)}; no member serves the callers of another"
    elif synthesis.apart:
        yield (
            "each server may keep things of its own behind these tools, so all of them must stay "
            "reachable, which needs a gateway"
        )
    elif synthesis.kind == "router":
        yield (
            "the kept tool's own schema does not take every call of the others, so a gateway is "
            "needed"
        )
    yield from differences.words  # 3
    yield from differences.arguments  # 4
    for alpha in synthesis.arguments:
        yield from alpha.inferred
    yield from differences.guards  # 5
    if group.put_forward:  # 6
        yield "a person put it forward; the judge would not merge all of it"
    yield from group.doubts  # 7
    if group.split and (synthesis.kind == "router" or differences.words):  # 8
        yield "it was cut out of a longer chain of similar tools"
    if group.intransitive:
        yield "two members are joined only through a third"
    if group.weakest_edge < auto_at and not group.family:  # 9
        yield f"its weakest pair is at {_below(group.weakest_edge, auto_at)}, below {auto_at:.2f}"


def _below(value: float, bar: float) -> str:
    """The value rounded as everywhere, to more digits where two would reach the bar."""
    texts = [f"{value:.{digits}f}" for digits in (2, 3, 4, 6)]
    return next((text for text in texts if float(text) < bar), texts[-1])


def is_clean(synthesis: Synthesis, blocked: bool, differences: Callable[[], Differences]) -> bool:
    """Whether 1 to 5 hold of some tools, ``blocked`` if one carries a blocking finding: they would
    be a prune that nothing but its probability speaks against.
    """
    if blocked or synthesis.kind == "router":  # 1, 2
        return False
    if any(alpha.inferred for alpha in synthesis.arguments):  # 4
        return False
    seen = differences()
    return not (seen.words or seen.arguments or seen.guards)  # 3, 4, 5


def model_doubts(
    judge: str, verdict: Verdict | None, probability: float, wary: bool, auto_at: float
) -> Iterator[str]:
    """7, of one pair: why the ``verdict`` of the model ``judge`` is not enough. ``probability`` is
    the offline judge's, ``wary`` says that one of the two tools speaks to models.
    """
    if verdict is None:
        if probability < auto_at:
            yield "neither judge is sure of a merge"
    elif verdict.outcome == "unanalysed":
        yield f"{judge} gave no usable answer"
    elif verdict.outcome != "merge":
        yield f"{judge} says {verdict.outcome}, so they are joined only through a third"
    else:
        if verdict.serves == "none":
            yield f"{judge} says merge, but that neither serves the other as it is"
        if probability < EVEN:
            yield f"{judge} says merge, {UNCONVINCED}"
        elif probability < auto_at and wary:
            yield f"{judge} says merge, but it read text that speaks to models"


def accept(
    clusters: Sequence[Cluster], config: PlanConfig, blocked: frozenset[str]
) -> tuple[Cluster, ...]:
    """The clusters after the accept policy: ``auto`` takes the safe ones, ``all`` every proposed
    one without a blocked member and not put forward by a person, ``none`` none beyond those that
    people accepted.
    """

    def taken(cluster: Cluster) -> bool:
        if cluster.state != "proposed" or cluster.put_forward or config.accept == "none":
            return False
        if config.accept == "auto":
            return cluster.safe
        return not blocked.intersection(cluster.members)

    return tuple(replace(c, state="accepted") if taken(c) else c for c in clusters)


def _values(synthesis: Synthesis) -> str:
    """The selector of a family and its values: `provider` is Fidelity / Robinhood."""
    if not synthesis.selector:
        return "no argument says which of them is meant"
    values = [str(alpha.constants.get(synthesis.selector, "")) for alpha in synthesis.arguments]
    text = " / ".join(value for value in values[:_MOST_NAMED] if value)
    more = len(values) - _MOST_NAMED
    return f"`{synthesis.selector}` is {text}{f' and {more} more' if more > 0 else ''}"
