"""Auto-accept: ``_RULES`` are all reasons not to accept a merge without a person, in order.

A cluster is *safe* if it meets every rule. A broken rule gives a sentence on the card:
``build_clusters`` writes the sentences, ``Cluster.safe`` is their absence, and ``accept`` applies
the policy. A merge that can never be applied is a conflict; ``clusters`` finds those.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from toolscope_core.merging.synthesis import Synthesis
from toolscope_core.model.cluster import Cluster, Group, family_name, outcome_word
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.pair import Pair, Verdict

LEAST_OFFLINE = 0.5
"""The offline judge's lowest probability at which a model's merge may be accepted
without a person.
"""

UNCONVINCED = "the offline judge is not convinced"

_MOST_NAMED = 6


@dataclass(frozen=True, slots=True)
class Differences:
    """The differences between the members, in sentences.

    ``arguments`` are about arguments that a gateway keeps apart because of their units, or whose
    calls would change their meaning. ``words`` are about words that only one of the members uses.
    ``guards`` come from the module ``guards``. ``formless`` are identifiers of whose form nothing
    is said, by the pair of tools, if the two are on different servers that can be started.
    """

    arguments: tuple[str, ...]
    words: tuple[str, ...]
    guards: tuple[str, ...]
    formless: Mapping[Pair, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Proposal:
    """The input of the rules: a group, the tool its members would become, and their differences.

    ``blocked`` says whether a member has a blocking finding, ``wants_a_look`` whether somebody
    reserved two members for a person. ``auto_at`` is the required probability of the weakest pair.
    ``addressing`` are the members whose text addresses models. ``compared`` are the pairs of which
    calls showed something, with the verdict on those that did not answer alike.
    """

    group: Group
    synthesis: Synthesis
    differences: Callable[[], Differences]
    blocked: bool
    wants_a_look: bool = False
    auto_at: float = 0.0
    addressing: frozenset[str] = frozenset()
    compared: Mapping[Pair, str] = field(default_factory=dict)


def reasons_against(proposal: Proposal) -> Iterator[str]:
    """Why a proposal must wait for a person; empty if it is safe."""
    for check in _RULES:
        yield from check(proposal)


def is_clean(proposal: Proposal) -> bool:
    """Whether the tools themselves meet the rules.

    If they do, only the probability could prevent a drop-in.
    """
    return not any(sentence for check in _RULES_ON_TOOLS for sentence in check(proposal))


def _check_waived(proposal: Proposal) -> Iterator[str]:
    """Nobody dropped an argument by hand (``edited_maps``)."""
    for alpha in proposal.synthesis.arguments:
        for name in alpha.waived:
            yield f"a person dropped `{name}` of {alpha.tool_id}: {alpha.dropped[name]}"


def _check_look(proposal: Proposal) -> Iterator[str]:
    """Nobody asked to review it first."""
    if proposal.wants_a_look:
        yield "a person asked to review it first"


def _check_findings(proposal: Proposal) -> Iterator[str]:
    """No member has a blocking finding."""
    if proposal.blocked:
        yield "one of the tools has a blocking finding"


def _check_drop_in(proposal: Proposal) -> Iterator[str]:
    """One tool takes every call unchanged: an exact copy or a drop-in (``stores``)."""
    synthesis = proposal.synthesis
    if proposal.group.family:
        kind = family_name(synthesis.selector)
        yield f"{kind}: {_values(synthesis)}; no tool can take calls to another"
    elif synthesis.kind == "looks_alike":
        yield "they look alike, but their arguments are unknown"
    elif synthesis.keep_all:
        yield (
            "each server may have data of its own, and all of these tools must stay reachable, "
            "so a gateway is needed"
        )
    elif synthesis.kind == "gateway" and proposal.group.unfit.issuperset(proposal.group.members):
        yield "the model trusts none of them with every call to the others, so a gateway is needed"
    elif synthesis.kind == "gateway":
        yield (
            "the kept tool cannot take every call to the others unchanged, or promises less than "
            "they do, so a gateway is needed"
        )


def _check_calls(proposal: Proposal) -> Iterator[str]:
    """No two members answered the same calls differently. If two are on different servers that
    can be started, calls to both were compared, unless something says which form their
    identifiers have (``keys_without_form``).
    """
    for pair, verdict in sorted(proposal.compared.items()):
        if verdict and {pair.left, pair.right} <= set(proposal.group.members):
            yield f"calls to {pair.left} and {pair.right} were compared: {verdict}"
    for pair, names in sorted(proposal.differences().formless.items()):
        if pair not in proposal.compared:
            arguments = ", ".join(f"`{name}`" for name in names)
            yield (
                f"try both: nothing proves that {arguments} has one format in {pair.left} and "
                f"{pair.right}"
            )


def _check_words(proposal: Proposal) -> Iterable[str]:
    """Every word that one tool's text adds has a match in the other's (``unmatched_words``)."""
    return proposal.differences().words


def _check_arguments(proposal: Proposal) -> Iterable[str]:
    """No argument has a different meaning in the kept tool, such as another unit or default
    (``argument_words``).
    """
    return proposal.differences().arguments


def _check_inferred(proposal: Proposal) -> Iterable[str]:
    """No match between arguments is a guess (``matching``)."""
    return (
        sentence
        for alpha in proposal.synthesis.arguments
        for sentence in (*alpha.inferred, *alpha.notes)
    )


def _check_guards(proposal: Proposal) -> Iterable[str]:
    """No guard objects: server, state, effect, result, scope, warnings (``guards``)."""
    return proposal.differences().guards


def _check_origin(proposal: Proposal) -> Iterator[str]:
    """The program proposed it, not a person."""
    if proposal.group.put_forward:
        yield "a person proposed it; the judge would not merge all of it"


def _check_doubts(proposal: Proposal) -> Iterable[str]:
    """If a model judged: for each pair, either the model gave no verdict and the offline
    judge's probability reaches *auto*, or the model says that the two do the same job and that
    one can take the other's calls unchanged. In the second case, the offline judge's
    probability must be at least 0.5, and if it is below *auto*, neither tool's text may address
    the model (``model_doubts``).
    """
    return proposal.group.doubts


def _check_serves(proposal: Proposal) -> Iterator[str]:
    """If a model judged: it says that the kept tool serves each of the others
    (``ModelVerdicts.unfit``).
    """
    canonical = proposal.synthesis.canonical
    if proposal.synthesis.kind == "drop_in" and canonical in proposal.group.unfit:
        yield f"the model does not trust {canonical} with every call to the others"


def _check_addressing(proposal: Proposal) -> Iterator[str]:
    """No member's text addresses the model (the scan says which)."""
    for tool_id in sorted(proposal.addressing):
        yield f"the text of {tool_id} addresses the model"


def _check_chain(proposal: Proposal) -> Iterator[str]:
    """It is well connected: not split from other tools (unless it is a drop-in whose words are
    all matched), with no two members joined only through a third.
    """
    group, is_gateway = proposal.group, proposal.synthesis.kind == "gateway"
    if group.split and (is_gateway or proposal.differences().words):
        yield "some of these tools resemble tools outside this proposal too"
    if group.intransitive:
        yield "two of the tools resemble each other only through a third"


def _check_weakest(proposal: Proposal) -> Iterator[str]:
    """Its weakest pair reaches *auto* (``auto_at`` in ``judge_weights.json``: a probability of
    the same job; not checked for other providers or values, nor where `_check_doubts` covers each
    pair).
    """
    weakest, auto_at = proposal.group.weakest_edge, proposal.auto_at
    if weakest < auto_at and not proposal.group.family:
        shown = _below(weakest, auto_at)
        yield f"its weakest pair has a probability of {shown}, below {auto_at:.2f}"


_RULES_ON_TOOLS = (
    _check_findings,
    _check_drop_in,
    _check_words,
    _check_arguments,
    _check_inferred,
    _check_guards,
)
"""The rules that also apply to a part of a group (``safe_subsets``)."""

_RULES = (
    _check_waived,
    _check_look,
    *_RULES_ON_TOOLS,
    _check_calls,
    _check_origin,
    _check_doubts,
    _check_serves,
    _check_addressing,
    _check_chain,
    _check_weakest,
)
"""All rules, in the order of the sentences on a card."""


def _below(value: float, bar: float) -> str:
    """The value with the usual rounding, or with more digits if the rounded value would equal the
    bar.
    """
    texts = [f"{value:.{digits}f}" for digits in (2, 3, 4, 6)]
    return next((text for text in texts if float(text) < bar), texts[-1])


def model_doubts(
    judge: str, verdict: Verdict | None, probability: float, is_suspicious: bool, auto_at: float
) -> Iterator[str]:
    """The reasons why the ``verdict`` of the model ``judge`` on one pair is not sufficient.

    ``probability`` comes from the offline judge; ``is_suspicious`` says that one of the tools
    addresses models.
    """
    if verdict is None:
        if probability < auto_at:
            yield "neither the model nor the offline judge is sure of a merge"
    elif verdict.outcome == "unanalysed":
        yield f"{judge} gave no usable answer"
    elif verdict.outcome != "merge":
        outcome = outcome_word(verdict.outcome)
        yield f"{judge} says “{outcome}”: the two are joined only through a third"
    else:
        if verdict.serves == "none":
            yield (
                f"{judge} says they do the same job, but neither takes calls to the other unchanged"
            )
        if probability < LEAST_OFFLINE:
            yield f"{judge} says they do the same job; {UNCONVINCED}"
        elif probability < auto_at and is_suspicious:
            yield f"{judge} says they do the same job, but it read text that addresses the model"


def accept(
    clusters: Sequence[Cluster],
    config: PlanConfig,
    blocked: frozenset[str],
    is_larger: Callable[[Cluster], bool] = lambda cluster: False,
) -> tuple[Cluster, ...]:
    """The clusters after the accept policy.

    ``auto`` accepts the safe clusters. ``all`` accepts every proposed cluster that has no blocked
    member, was not put forward by a person and is not larger than its tools. ``none`` accepts only
    clusters that people accepted.
    """

    def is_accepted(cluster: Cluster) -> bool:
        if cluster.state != "proposed" or cluster.put_forward or config.accept == "none":
            return False
        if cluster.kind == "looks_alike":
            return False
        if config.accept == "auto":
            return cluster.safe
        return not blocked.intersection(cluster.members) and not is_larger(cluster)

    return tuple(replace(c, state="accepted") if is_accepted(c) else c for c in clusters)


def _values(synthesis: Synthesis) -> str:
    """The values that distinguish the members of a family: Fidelity / Robinhood."""
    if not synthesis.selector:
        return "no argument says which one is meant"
    values = [str(alpha.constants.get(synthesis.selector, "")) for alpha in synthesis.arguments]
    text = " / ".join(value for value in values[:_MOST_NAMED] if value)
    more = len(values) - _MOST_NAMED
    return f"{text}{f' and {more:,} more' if more > 0 else ''}"
