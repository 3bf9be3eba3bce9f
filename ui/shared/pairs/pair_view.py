"""Everything about a pair: two tools side by side."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import plotly.graph_objects as go

from toolscope_core.decisions.constraints import constraints
from toolscope_core.decisions.log import active, version_of
from toolscope_core.judging.arguments.alignment import argument_map
from toolscope_core.judging.arguments.matching import match_parameters
from toolscope_core.judging.guards import effect
from toolscope_core.judging.relation_words import apart_of, relation_of, serving_of
from toolscope_core.judging.signals import SIGNALS
from toolscope_core.merging.analysis import Analysis
from toolscope_core.merging.pair_graph import unsure_pairs
from toolscope_core.model.catalog import Catalog, Finding
from toolscope_core.model.cluster import ArgumentMap, CardFamily, Cluster
from toolscope_core.model.decision import Decision
from toolscope_core.model.pair import Pair, PairOutcome, Verdict, pair_key
from toolscope_core.model.tool import Parameter, Tool, canonical_json
from toolscope_core.wording.reading import read_tool
from ui.shared import pictures
from ui.shared.cards.cards import move_sentence
from ui.shared.cards.queue import cluster_with, family_with
from ui.shared.kept import kept
from ui.shared.pictures import GREY, PALETTE, TableRow
from ui.shared.services import review
from ui.shared.snapshot import Snapshot

_BAR = 30


@dataclass(frozen=True, slots=True)
class Waterfall:
    """Log-odds that add up to those of ``probability``, in order, each with a name in words.

    ``levels`` are the probabilities at which the verdict changes, each with the name of the
    verdict.
    """

    names: tuple[str, ...]
    added: tuple[float, ...]
    probability: float
    levels: tuple[tuple[str, float], ...] = ()


def waterfall(view: Waterfall) -> go.Figure:
    """A chart in which bars to the right speak for merging and bars to the left against it.

    Each bar begins where the one before it ended. The last bar is the sum.
    """
    names = [*view.names, f"together: {view.probability:.2f}"]
    bars = go.Waterfall(
        orientation="h",
        y=[*range(len(names))],
        x=[*(round(value, 4) for value in view.added), 0.0],
        measure=["relative"] * len(view.added) + ["total"],
        text=[f"{one:+.2f}".replace("-", "−") for one in (*view.added, sum(view.added))],
        textposition="outside",
        cliponaxis=False,
        customdata=[[pictures.label(name, 80)] for name in names],
        hovertemplate="%{customdata[0]}: %{text}<extra></extra>",
        increasing={"marker": {"color": PALETTE[0]}},
        decreasing={"marker": {"color": PALETTE[1]}},
        totals={"marker": {"color": GREY}},
        connector={"line": {"color": GREY, "width": 1, "dash": "dot"}},
    )
    figure = pictures.figure([bars], height=110 + _BAR * len(names))
    figure.update_yaxes(
        autorange="reversed",
        tickvals=[*range(len(names))],
        ticktext=[pictures.label(name, 44) for name in names],
        showgrid=False,
    )
    figure.update_xaxes(title="log-odds of doing the same job", zeroline=True, range=_span(view))
    for name, level in view.levels:
        figure.add_vline(
            math.log(level / (1.0 - level)),
            line={"dash": "dash", "width": 1, "color": GREY},
            annotation={
                "text": f"{name} from {level:.2f}",
                "y": 1.0,
                "yanchor": "bottom",
                "xanchor": "center",
            },
        )
    return figure


def waterfall_rows(view: Waterfall) -> list[TableRow]:
    """A row for each bar: its value, and the sum and the probability after it."""
    sums = accumulate(view.added)
    return [
        {
            "signal": name,
            "adds": round(value, 3),
            "sum": round(total, 3),
            "probability": round(1.0 / (1.0 + math.exp(-total)), 3),
        }
        for name, value, total in zip(view.names, view.added, sums, strict=True)
    ]


def _span(view: Waterfall) -> list[float]:
    """The range of the axis, with room on both sides for the figures beside the bars."""
    marks = [math.log(level / (1.0 - level)) for _, level in view.levels]
    ends = [0.0, *accumulate(view.added), *marks]
    room = 0.14 * (max(ends) - min(ends)) + 0.3
    return [min(ends) - room, max(ends) + room]


_NEIGHBOURS = 5

DIFFERS = "≠ "
"""What a cell begins with if it differs from the cell of the other tool."""

_TITLES = ("name", "type", "required", "description")


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A tool near another one: the judge's result for the two, and the key of their pair."""

    id: str
    tool: str
    server: str
    similarity: float
    same_job: float
    verdict: PairOutcome
    key: str


@dataclass(frozen=True, slots=True)
class PairView:
    """Everything about a pair that a decision needs. Fields with two elements are in the order of
    the pair.

    ``parameters`` and ``further_parameters`` (results and annotations) are tables. ``maps`` say in
    sentences what happens to a call of one tool if it goes to the other. ``decisions`` are the
    active decisions on both, newest first. ``card`` is the cluster that contains both, if there is
    one. ``version`` is the version that a decision on the pair must carry. ``verdict`` comes from
    the current judge, ``offline`` from the offline judge; the waterfall belongs to ``offline``.
    ``relation`` says in sentences how the two are related, which of them could serve the other's
    callers, and which words only one uses. ``family_at`` is the family probability from which the
    offline judge calls a pair a family. ``family`` is the family that contains the cards of both,
    if there is one. ``compared`` records what the same calls to both showed, if any were sent.
    """

    key: str
    verdict: Verdict
    offline: Verdict
    tools: tuple[Tool, Tool]
    waterfall: Waterfall
    parameters: tuple[Mapping[str, str], ...]
    maps: tuple[tuple[str, ...], tuple[str, ...]]
    further_parameters: tuple[Mapping[str, str], ...]
    findings: tuple[tuple[Finding, ...], tuple[Finding, ...]]
    neighbours: tuple[tuple[Neighbour, ...], tuple[Neighbour, ...]]
    decisions: tuple[Decision, ...]
    card: Cluster | None
    version: str
    relation: tuple[str, ...]
    family_at: float
    family: CardFamily | None
    compared: Decision | None

    @property
    def has_model_verdict(self) -> bool:
        """Whether a model was asked about the two tools."""
        return self.verdict.judge != self.offline.judge


def pair_of_key(snapshot: Snapshot, key: str) -> Pair | None:
    """The pair in a link; ``None`` if the catalog lacks one of its tools."""
    ids = [snapshot.named(part) for part in key.split("~")]
    if len(ids) != 2 or ids[0] is None or ids[1] is None or ids[0] == ids[1]:
        return None
    return Pair.of(ids[0], ids[1])


@kept()
def unsure(analysis: Analysis) -> Mapping[Pair, float]:
    """The candidate pairs about which the judge is unsure, with their probabilities."""
    return unsure_pairs(analysis)


@kept()
def undecided(snapshot: Snapshot) -> tuple[Pair, ...]:
    """The unsure pairs on which nobody has decided, grouped by servers, most probable first.

    Pairs inside one cluster are decided on its card, and pairs across two clusters are already in
    merges, so both are left out. A tool that reads is not paired with one that writes or destroys.
    Raises ``JobError`` before the analysis is done.
    """
    analysis, plan = snapshot.analysis, snapshot.plan
    kept_apart = constraints(analysis.catalog, snapshot.log).cannot
    clustered = {tool for c in plan.clusters for tool in (*c.members, *c.newcomers)}
    doubts = {
        pair: probability
        for pair, probability in unsure(analysis).items()
        if pair not in kept_apart
        and not {pair.left, pair.right} <= clustered
        and len(_effects(*_tools_of(analysis.catalog, pair))) < 2
    }
    tools = analysis.catalog.by_id
    servers = {p: tuple(sorted((tools[p.left].owner, tools[p.right].owner))) for p in doubts}
    best: dict[tuple[str, ...], float] = {}
    for pair, probability in doubts.items():
        best[servers[pair]] = max(best.get(servers[pair], 0.0), probability)
    return tuple(sorted(doubts, key=lambda p: (-best[servers[p]], servers[p], -doubts[p], p)))


def view(snapshot: Snapshot, pair: Pair) -> PairView:
    """Everything about two tools. Raises ``JobError`` before the analysis is done."""
    analysis = snapshot.analysis
    log = snapshot.log
    tools = _tools_of(analysis.catalog, pair)
    one, other = tools
    plan = snapshot.plan
    prints = {tool.fingerprint for tool in tools}
    (offline,) = analysis.offline([pair])
    verdict = analysis.effective_verdict(offline)
    return PairView(
        key=pair_key(pair),
        verdict=verdict,
        offline=offline,
        tools=tools,
        waterfall=waterfall_of(analysis, offline),
        parameters=tuple(parameter_lines(one, other)),
        maps=(in_words(one, other), in_words(other, one)),
        further_parameters=tuple(other_lines(one, other)),
        findings=(_findings(analysis, one), _findings(analysis, other)),
        neighbours=(neighbours(analysis, one), neighbours(analysis, other)),
        decisions=tuple(d for d in active(log)[::-1] if prints <= set(d.fingerprints)),
        card=cluster_with(plan, (pair.left, pair.right)),
        version=version_of([tool.fingerprint for tool in tools], log),
        relation=tuple(
            filter(
                None,
                (
                    relation_of(verdict, tools),
                    serving_of(verdict, tools),
                    *apart_of(verdict, tools),
                ),
            )
        ),
        family_at=analysis.judge.weights.family_at,
        family=family_with(plan, (pair.left, pair.right)),
        compared=review.comparisons(snapshot).get(pair),
    )


def waterfall_of(analysis: Analysis, verdict: Verdict) -> Waterfall:
    """What each signal contributes to the verdict, strongest signal first.

    The starting value stays at one end, and whatever overruled the signals at the other.
    """
    rows = (analysis.rows[side] for side in (verdict.pair.left, verdict.pair.right))
    start, *signals = analysis.judge.shares(*rows)
    count = len(SIGNALS)
    strongest = sorted(signals[:count], key=lambda share: (-abs(share.log_odds), share.name))
    shares = (start, *strongest, *signals[count:])
    weights = analysis.judge.weights
    return Waterfall(
        names=tuple(share.name for share in shares),
        added=tuple(share.log_odds for share in shares),
        probability=verdict.same_job,
        levels=(("merge", weights.merge_at), ("unsure", weights.unsure_at)),
    )


def neighbours(analysis: Analysis, tool: Tool, count: int = _NEIGHBOURS) -> tuple[Neighbour, ...]:
    """The tools of the catalog that are nearest by cosine. Ties are sorted by id."""
    row = analysis.rows[tool.id]
    cosine = np.clip(analysis.vectors @ analysis.vectors[row], -1.0, 1.0).round(6)
    order = np.lexsort((np.arange(len(cosine)), -cosine))
    near = [at for at in order[: count + 1].tolist() if at != row][:count]
    tools = [analysis.catalog.tools[at] for at in near]
    pairs = [Pair.of(tool.id, other.id) for other in tools]
    probabilities = analysis.probabilities(pairs).tolist()
    families = analysis.family_probabilities(pairs).tolist()
    return tuple(
        Neighbour(
            id=other.id,
            tool=other.name,
            server=other.server,
            similarity=float(cosine[at]),
            same_job=chance,
            verdict=analysis.judge.weights.outcome(chance, family),
            key=pair_key(pair),
        )
        for other, at, pair, chance, family in zip(
            tools, near, pairs, probabilities, families, strict=True
        )
    )


def parameter_lines(one: Tool, other: Tool) -> Iterator[dict[str, str]]:
    """The parameters of both tools: first the matching ones side by side, then the rest of each
    tool.
    """
    lefts = {parameter.name: parameter for parameter in one.parameters}
    rights = {parameter.name: parameter for parameter in other.parameters}
    partner = {match.left: match.right for match in match_parameters(one, other)}
    for name, partner_name in partner.items():
        yield _line(lefts[name], rights[partner_name])
    yield from (_line(left, None) for name, left in lefts.items() if name not in partner)
    matched = set(partner.values())
    yield from (_line(None, right) for name, right in rights.items() if name not in matched)


def in_words(tool: Tool, target: Tool) -> tuple[str, ...]:
    """Sentences that say, for each argument, what happens to a call of ``tool`` if it goes to
    ``target``.
    """
    alpha: ArgumentMap = argument_map(tool, target)
    maps = [
        f"{move.target} as it is"
        if move.op == "rename" and move.source == move.target
        else f"{move.target} from {move_sentence(move)}"
        for move in alpha.moves
    ]
    maps += [f"{name} is always {canonical_json(value)}" for name, value in alpha.constants.items()]
    losses = [f"{name} is lost: {reason}" for name, reason in alpha.dropped.items()]
    return (*maps, *losses, *alpha.lossy, *alpha.notes)


def other_lines(one: Tool, other: Tool) -> Iterator[dict[str, str]]:
    """The results and annotations of both tools, with a row for each that at least one tool
    declares.
    """
    for name, left, right in (
        ("returns", one.returns, other.returns),
        *(
            (hint, one.annotations.get(hint), other.annotations.get(hint))
            for hint in sorted({*one.annotations, *other.annotations})
        ),
    ):
        texts = ["" if value is None else canonical_json(value) for value in (left, right)]
        if any(texts):
            mark = "" if texts[0] == texts[1] else DIFFERS
            yield {"what": name, "one": texts[0], "other": f"{mark}{texts[1]}"}


def _effects(*tools: Tool) -> set[str]:
    return {effect(read_tool(tool)) for tool in tools} - {""}


def _tools_of(catalog: Catalog, pair: Pair) -> tuple[Tool, Tool]:
    tools = catalog.by_id
    return tools[pair.left], tools[pair.right]


def _findings(analysis: Analysis, tool: Tool) -> tuple[Finding, ...]:
    return tuple(finding for finding in analysis.catalog.findings if finding.tool_id == tool.id)


def _line(one: Parameter | None, other: Parameter | None) -> dict[str, str]:
    row: dict[str, str] = {}
    differences = []
    for title, left, right in zip(_TITLES, _cells(one), _cells(other), strict=True):
        differs = bool(one and other) and left != right
        differences += [title] if differs else []
        column = "" if title == "name" else f", {title}"
        row |= {f"one{column}": left, f"other{column}": f"{DIFFERS if differs else ''}{right}"}
    note = f"differ in {', '.join(differences)}" if differences else "the same"
    if one is None or other is None:
        note = "only in the first" if other is None else "only in the second"
    return {"note": note, **row}


def _cells(parameter: Parameter | None) -> tuple[str, str, str, str]:
    if parameter is None:
        return ("", "", "", "")
    requirement = "required" if parameter.required else "optional"
    return parameter.name, parameter.type, requirement, " ".join(parameter.description.split())
