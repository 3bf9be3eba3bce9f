"""What a catalog brings against its baseline, case by case, as every report of it lists them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import quote, urlencode

from toolscope_core.catalog.scan.hidden import for_terminal
from toolscope_core.check.checks import CaseConfusion, StaleDecision
from toolscope_core.check.comparison_report import Check, Failure, GateReport
from toolscope_core.check.field_changes import FieldChange
from toolscope_core.check.version_changes import ToolChange, both_sides
from toolscope_core.evaluation.confusions import NONE, NOT_A_TOOL
from toolscope_core.model.catalog import Problem
from toolscope_core.model.cluster import RELATIONS
from toolscope_core.model.environment import origin_of
from toolscope_core.model.pair import Pair, Verdict, pair_key


@dataclass(frozen=True, slots=True)
class AppPlace:
    """Where the app is, and the name that the catalog has there. Raises ``ConfigError`` for what is
    no http address.
    """

    url: str
    catalog: str

    def __post_init__(self) -> None:
        origin_of(self.url)

    def address(self, pair: Pair) -> str:
        """The address of the pair; no text of a catalog but its own name, encoded, is in it."""
        query = urlencode({"catalog": self.catalog, "pair": pair_key(pair)}, errors="replace")
        return f"{quote(self.url.rstrip('/'), safe=':/[]@%')}/overlap?{query}"


Section = Check | Literal["unsure"]
TITLES: Mapping[Section, str] = {
    "problem": "Records that cannot be read",
    "overlap": "New overlaps",
    "family": "New: same operation for another provider or value",
    "unsure": "Pairs that a person should look at",
    "dangling": "Dangling references",
    "text": "Texts that name a tool that is gone",
    "unread": "Texts that were not read",
    "breaking": "Breaking changes",
    "stale": "Decisions gone stale",
    "changed": "Changed tools",
    "block": "New block findings",
    "warn": "New warn findings",
    "confusion": "Cases that find another tool now",
    "profile": "The profile",
    "tokens": "Tokens",
}
"""Each kind of case with its title, in the order of every report."""

_PERHAPS = "perhaps the same job"
_SHARED = 40


@dataclass(frozen=True, slots=True)
class GateItem:
    """One case: the ``tools`` it is about (ids), what it is in our own words, and ``details``,
    sentences with text of the catalog in them; of a pair its ``address`` on the page. Ids and
    details are untrusted: in one line, and nothing else is done to them.
    """

    section: Section
    tools: tuple[str, ...]
    says: str
    details: tuple[str, ...] = ()
    address: str = ""


def gate_items(
    report: GateReport, failures: tuple[Failure, ...], app: AppPlace
) -> tuple[GateItem, ...]:
    """Every case in the order of ``TITLES``; of tokens the limits that are not kept."""
    return (
        *(_problem(one) for one in report.catalog.problems),
        *_pairs(report, "overlap", report.pairs.overlaps, app),
        *_pairs(report, "family", report.pairs.families, app),
        *_pairs(report, "unsure", report.pairs.unsure, app),
        *(_named("dangling", one.tool_id, one.cites, one.now) for one in report.dangling),
        *(_named("text", f"{m.file}:{m.line}", m.name, m.now) for m in report.texts.mentions),
        *(_item("unread", (one.file,), one.why) for one in report.texts.unread),
        *_breaking(report),
        *(_stale(one) for one in report.stale),
        *(_changed(change) for change in report.tools.changes.changed),
        *_findings(report, "block"),
        *_findings(report, "warn"),
        *(_confusion(one) for one in report.replayed.new),
        *_profile(report, app),
        *(GateItem("tokens", (), one.reason) for one in failures if one.check == "tokens"),
    )


def _item(
    section: Section, ids: Iterable[str], says: str, details: Iterable[str] = (), address: str = ""
) -> GateItem:
    return GateItem(
        section, tuple(map(for_terminal, ids)), says, tuple(map(_line, details)), address
    )


def _problem(problem: Problem) -> GateItem:
    """A record that is no tool, and is not checked; its place stands for its id."""
    says = "cannot be read, and is not checked"
    return _item("problem", (_line(problem.position),), says, (problem.reason,))


def _pairs(
    report: GateReport, section: Section, verdicts: tuple[Verdict, ...], app: AppPlace
) -> Iterator[GateItem]:
    """The pairs, the most probable first; of each the new tool first."""
    new, is_family = report.tools.new, section == "family"

    def probability(verdict: Verdict) -> float:
        return verdict.family if is_family else verdict.probability

    for verdict in sorted(verdicts, key=lambda one: (-probability(one), one.pair)):
        pair: Pair = verdict.pair
        ids = sorted((pair.left, pair.right), key=lambda one: one not in new)
        relation = _PERHAPS if section == "unsure" else RELATIONS[verdict.relation]
        says = f"{relation}, probability {probability(verdict):.2f}"
        yield _item(section, ids, says, verdict.evidence, app.address(pair))


def _named(section: Section, place: str, name: str, now: str) -> GateItem:
    """A tool, or a line of a text whose place stands for the id of one, that names a gone tool."""
    detail = f"{name} is called {now} now" if now else f"{name} is gone"
    return _item(section, (place,), "names a tool that is gone", (detail,))


def _breaking(report: GateReport) -> Iterator[GateItem]:
    for row in report.tools.changes.rows:
        change = row.change
        if change.breaking:
            details = (_of_field(change),) if change.field else ()
            yield _item("breaking", (row.tool_id,), change.breaking, details)


def _stale(stale: StaleDecision) -> GateItem:
    decision = stale.decision
    details = [f"made by {decision.reviewer}, {decision.at[:16].replace('T', ' ')}"]
    details += [f"{tool_id} changed" for tool_id in stale.changed]
    details += [f"{tool_id} is gone" for tool_id in stale.gone]
    says = f"decision {decision.seq} ({decision.action}) waits for a second look"
    return _item("stale", decision.ids, says, details)


def _changed(change: ToolChange) -> GateItem:
    says = "renamed" if change.renamed else "changed since it was accepted"
    return _item("changed", (change.new.id,), says, map(_of_field, change.fields))


def _of_field(change: FieldChange) -> str:
    """The change in one line. Of long texts the beginning that both share is left out: what was
    added at the end has to be seen.
    """
    old, new = change.old, change.new
    if isinstance(old, str) and isinstance(new, str):
        start = max(0, _shared(old, new) - _SHARED)
        old, new = (f"{'…' if start else ''}{text[start:]}" for text in (old, new))
    before, after = both_sides(replace(change, old=old, new=new))
    return f"{change.field}: {before} → {after}"


def _shared(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _findings(report: GateReport, section: Literal["block", "warn"]) -> Iterator[GateItem]:
    for item in report.findings:
        if item.severity == section:
            details = filter(None, (item.message, item.excerpt))
            yield _item(section, (item.subject,), item.code, details)


def _confusion(one: CaseConfusion) -> GateItem:
    """The tool that is asked for, then the one that is found; the case where neither is a tool."""
    wanted, instead = one.confusion.wanted, one.confusion.instead
    ids = [name for name in (wanted, instead) if name not in (NONE, NOT_A_TOOL)] or [one.case.id]
    if wanted == NONE:
        says = "is found for a request that forbids it"
    elif wanted == NOT_A_TOOL:
        says = "what a request asks for is not there any more"
    elif instead == NONE:
        says = "is not found for a request that asks for it"
    else:
        says = "the second is found for a request that asks for the first"
    needs = " and ".join(" or ".join(sorted(need)) for need in one.case.gold)
    return _item("confusion", ids, says, filter(None, (one.case.text, needs and f"needs {needs}")))


def _profile(report: GateReport, app: AppPlace) -> Iterator[GateItem]:
    """What has changed in a profile, what it does not serve, and which of its tools are alike, or
    stand before those asked for.
    """
    if report.profile is None:
        return
    name = report.profile.chosen.profile.name
    for note in report.profile.chosen.notes:
        yield _item("profile", (name,), "has changed", (note,))
    for intent in report.profile.unserved:
        yield _item("profile", (name,), "does not serve a request", (intent.text,))
    for one in report.profile.confusions:
        says, ids = f"are alike, and both in the profile {name}", (one.pair.left, one.pair.right)
        yield _item("profile", ids, says, one.evidence, app.address(one.pair))
    for cell, texts in report.profile.misses.texts.items():
        says = f"the second stands before the first in the profile {name}"
        yield _item("profile", (cell.wanted, cell.instead), says, texts)


def _line(text: str) -> str:
    return for_terminal(" ".join(text.split()))
