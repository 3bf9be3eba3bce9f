"""Compares a catalog with its baseline: the report, and a table of its checks."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal
from urllib.parse import quote, urlencode

from toolscope_core.catalog.gone_names import gone_names
from toolscope_core.catalog.scan.hidden import for_terminal
from toolscope_core.catalog.source_lines import RecordLine
from toolscope_core.check import checks
from toolscope_core.check.baseline import Baseline, BaselineChanges, catalog_changes
from toolscope_core.check.change_kinds import CHANGE_KINDS, Level
from toolscope_core.check.field_changes import FieldChange
from toolscope_core.check.policy import Acceptance, Policy, fingerprint_of
from toolscope_core.check.text_mentions import TextSearch, search_below
from toolscope_core.check.version_changes import DiffRow, ToolChange, both_sides
from toolscope_core.decisions.constraints import comparisons
from toolscope_core.evaluation.confusions import NONE, NOT_A_TOOL
from toolscope_core.evaluation.measured_toolsets import Ranker
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.model.catalog import Catalog, Finding, Severity
from toolscope_core.model.cluster import RELATIONS
from toolscope_core.model.environment import origin_of
from toolscope_core.model.numbers import quantity
from toolscope_core.model.pair import Pair, Verdict, pair_key
from toolscope_core.model.plan import DanglingReference
from toolscope_core.profiles.profile_effect import ProfileReport


@dataclass(frozen=True, slots=True)
class GateReport:
    """The differences between a catalog and its baseline; parts without differences are empty."""

    catalog: Catalog
    changes: BaselineChanges
    pairs: checks.NewPairs
    dangling: tuple[DanglingReference, ...]
    tokens: checks.TokenGrowth
    stale: tuple[checks.StaleDecision, ...]
    findings: tuple[Finding, ...]
    texts: TextSearch = field(default_factory=TextSearch)
    replayed: checks.ReplayedCases = field(default_factory=checks.ReplayedCases)
    profile: ProfileReport | None = None
    compared: Mapping[Pair, str] = field(default_factory=dict)
    """What the same calls to two tools showed, by pair."""


def compare(
    catalog: Catalog, baseline: Baseline, judge: checks.PairJudge, policy: Policy | None = None
) -> GateReport:
    """The report on a catalog; only pairs with a new or changed tool are judged.

    Raises ``ModelError`` if the embedding model is missing.
    """
    changes = catalog_changes(baseline, catalog, policy)
    return GateReport(
        catalog=catalog,
        changes=changes,
        pairs=checks.new_pairs(catalog, changes, baseline, judge),
        dangling=checks.new_danglings(catalog, changes, baseline),
        tokens=checks.token_growth(baseline.catalog, catalog),
        stale=checks.stale_decisions(catalog, baseline, changes),
        findings=checks.new_findings(baseline.catalog, catalog, changes),
        compared={
            pair: str(one.detail["verdict"])
            for pair, one in comparisons(catalog, baseline.log).items()
        },
    )


def with_text_mentions(report: GateReport, baseline: Baseline, texts: Sequence[Path]) -> GateReport:
    """The report with mentions of removed tools in texts below these folders, and with unread
    files.

    Raises ``ConfigError`` if a folder does not exist.
    """
    rows, before = checks.gone_tools(report.changes, baseline), report.changes.old_ids
    merged = {row.old_id for row in baseline.relabels if row.status != "kept"}
    still = (t.name for t in report.catalog.tools if before.get(t.id, t.id) not in merged)
    return replace(report, texts=search_below(texts, gone_names(rows, still)))


def with_cases(
    report: GateReport, baseline: Baseline, cases: Sequence[Query], ranker: Ranker
) -> GateReport:
    """The report with the new failures of ``cases``."""
    before, now, changes = baseline.catalog, report.catalog, report.changes
    return replace(report, replayed=checks.replayed_cases(before, now, changes, cases, ranker))


@dataclass(frozen=True, slots=True)
class AppPlace:
    """The address of the app, and the name of the catalog in it.

    Raises ``ConfigError`` if the address does not use http.
    """

    url: str
    catalog: str

    def __post_init__(self) -> None:
        origin_of(self.url)

    def address(self, pair: Pair) -> str:
        """The address of the page for a pair.

        The only catalog text in it is the catalog's name, which is encoded.
        """
        query = urlencode({"catalog": self.catalog, "pair": pair_key(pair)}, errors="replace")
        return f"{quote(self.url.rstrip('/'), safe=':/[]@%')}/overlap?{query}"


_PERHAPS = "perhaps the same job"
_SHARED = 40


@dataclass(frozen=True, slots=True)
class Fix:
    """A text and its replacement in a line; if both are empty, hidden characters are removed
    instead.
    """

    old: str = ""
    new: str = ""


@dataclass(frozen=True, slots=True)
class GateItem:
    """One case of a check.

    ``tools`` are the ids of the tools that the case is about. ``summary`` is in our own words;
    ``details`` are sentences with catalog text. A pair has the ``address`` of its page. Ids and
    details are untrusted: they have only been put on one line. A case that ``has_limit`` fails the
    check by its own limit, however many cases there are. A case that ``is_doubt`` was not compared,
    and fails if any check can fail. ``fingerprint`` identifies this case, but no later one.
    ``place`` is a field of the first tool; ``source`` is a line in another file. ``fix`` is a
    repair that can be applied without further thought.
    """

    check: str
    tools: tuple[str, ...]
    summary: str
    details: tuple[str, ...] = ()
    address: str = ""
    has_limit: bool = False
    is_doubt: bool = False
    fingerprint: str = ""
    place: str = ""
    source: RecordLine | None = None
    fix: Fix | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One check: its name in commands and files, its title in reports, and what counts as a case.

    ``cases`` lists the cases. ``singular`` is the noun for a case; it is empty if the check cannot
    be made to fail. ``plural`` is set only where ``quantity`` would form it wrongly. ``level`` is
    the code-scanning level of a case that does not make the check fail.
    """

    name: str
    title: str
    help: str
    cases: Callable[[GateReport, AppPlace], Iterable[GateItem]]
    singular: str = ""
    plural: str = ""
    level: Literal["warning", "note"] = "warning"

    def count_in_words(self, count: int) -> str:
        """The number of cases in words, such as ``3 new overlaps``."""
        if self.plural and count != 1:
            return f"{count:,} {self.plural}"
        return quantity(count, self.singular)


def gate_items(report: GateReport, app: AppPlace) -> tuple[GateItem, ...]:
    """The cases of all checks, in the order of ``CHECKS``, without the accepted ones."""
    accepted = report.changes.diff.policy.accepted
    return tuple(one for one in _all_items(report, app) if one.fingerprint not in accepted)


@dataclass(frozen=True, slots=True)
class AcceptedCase:
    """A finding that somebody accepted, and the case that it matches, if there is one."""

    acceptance: Acceptance
    item: GateItem | None


def accepted_cases(report: GateReport, app: AppPlace) -> tuple[AcceptedCase, ...]:
    """All acceptances in file order; an acceptance without a case can be deleted from the file."""
    diff = report.changes.diff
    items = {one.fingerprint: one for one in _all_items(report, app)}
    items |= {row.fingerprint: _row_item(row) for row in diff.rows if row.accepted}
    accepted = diff.policy.accepted
    return tuple(AcceptedCase(one, items.get(name)) for name, one in accepted.items())


def _all_items(report: GateReport, app: AppPlace) -> Iterator[GateItem]:
    """All cases with their fingerprints, which are valid only for the current versions of the
    tools.
    """
    prints = {for_terminal(tool.id): tool.fingerprint for tool in report.catalog.tools}
    for check in CHECKS:
        for item in check.cases(report, app):
            told_apart = () if item.address else (item.summary, item.details)
            parts = (item.check, item.tools, told_apart, [prints.get(one) for one in item.tools])
            name = item.fingerprint or fingerprint_of(*parts)
            yield replace(item, fingerprint=name)


def _item(
    check: str,
    ids: Iterable[str],
    summary: str,
    details: Iterable[str] = (),
    address: str = "",
    has_limit: bool = False,
) -> GateItem:
    ids, details = tuple(map(for_terminal, ids)), tuple(map(_line, details))
    return GateItem(check, ids, summary, details, address, has_limit)


def _unread(report: GateReport) -> Iterator[GateItem]:
    """The records that could not be read as tools, so that they were not checked; their places are
    used as ids.

    A record that has not changed does not count as a doubt.
    """
    doubts = {row.tool_id: row for row in report.changes.diff.rows if row.kind == "unread"}
    problems = {one.position: one.reason for one in report.catalog.problems}
    reasons = {name: row.change.new for name, row in doubts.items()} | problems
    for position, reason in reasons.items():
        item = _item(
            "problem", (_line(position),), "cannot be read, so it was not checked", (reason,)
        )
        row = doubts.get(position)
        if row:
            item = replace(item, is_doubt=row.level == "breaking", fingerprint=row.fingerprint)
        yield item


def _pairs(
    check: str, verdicts: Iterable[Verdict], report: GateReport, app: AppPlace
) -> Iterator[GateItem]:
    """The pairs, the most probable first; in each pair, the new tool comes first."""

    def probability(verdict: Verdict) -> float:
        return verdict.family if check == "family" else verdict.same_job

    for verdict in sorted(verdicts, key=lambda one: (-probability(one), one.pair)):
        pair: Pair = verdict.pair
        ids = sorted((pair.left, pair.right), key=lambda one: one not in report.changes.new_ids)
        relation = _PERHAPS if check == "unsure" else RELATIONS[verdict.relation]
        summary = f"{relation}, probability {probability(verdict):.2f}"
        tried = report.compared.get(pair)
        calls = [f"calls to both were compared: {tried}"] if tried else []
        yield _item(check, ids, summary, (*verdict.evidence, *calls), app.address(pair))


def _mention_item(
    check: str, place: str, name: str, now: str, source: RecordLine | None = None
) -> GateItem:
    """A case for a removed tool that a tool or a text mentions; for a text, its place is used as
    the id.
    """
    detail = f"{name} is called {now} now" if now else f"{name} is gone"
    item = _item(check, (place,), "names a tool that no longer exists", (detail,))
    return replace(item, source=source, fix=Fix(name, now) if now else None)


def _changes(report: GateReport, level: Level) -> Iterator[GateItem]:
    for row in report.changes.diff.rows:
        if row.level == level and row.kind != "unread":
            yield _row_item(row)


def _row_item(row: DiffRow) -> GateItem:
    rule = CHANGE_KINDS[row.change.rule]
    check = "breaking" if row.policy.level(rule.name) == "breaking" else "careful"
    details = (_of_field(row.change),) if row.change.field else ()
    item = _item(check, (row.tool_id,), rule.effect, details)
    return replace(item, fingerprint=row.fingerprint, place=row.change.field)


def _stale_item(stale: checks.StaleDecision) -> GateItem:
    decision = stale.decision
    details = [f"made by {decision.reviewer}, {decision.at[:16].replace('T', ' ')}"]
    details += [f"{tool_id} changed" for tool_id in stale.changed_ids]
    details += [f"{tool_id} is gone" for tool_id in stale.gone_ids]
    summary = f"decision {decision.seq} ({decision.action_name}) needs another review"
    return _item("stale", decision.ids, summary, details)


def _change_item(change: ToolChange) -> GateItem:
    summary = "renamed" if change.is_renamed else "changed since it was accepted"
    return _item("changed", (change.new.id,), summary, map(_of_field, change.fields))


def _of_field(change: FieldChange) -> str:
    """A change of a field in one line.

    A common beginning of long texts is left out, so that additions at the end are visible.
    """
    old, new = change.old, change.new
    if isinstance(old, str) and isinstance(new, str):
        start = max(0, _shared(old, new) - _SHARED)
        old, new = (f"{'…' if start else ''}{text[start:]}" for text in (old, new))
    before, after = both_sides(replace(change, old=old, new=new))
    return f"{change.field}: {before} → {after}"


def _shared(one: str, other: str) -> int:
    """The length of the common beginning of two texts."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _findings(report: GateReport, severity: Severity) -> Iterator[GateItem]:
    for item in report.findings:
        if item.severity == severity:
            details = filter(None, (item.message, item.excerpt))
            case = _item(severity, (item.subject,), item.code, details)
            fix = Fix() if item.code == "stray-invisible" else None
            yield replace(case, place=item.field, fix=fix)


def _confusion(one: checks.CaseConfusion) -> GateItem:
    """A confusion as a case, with the expected tool, then the tool that was found.

    If neither is a tool, the case's id takes their place.
    """
    expected, actual = one.confusion.expected, one.confusion.actual
    ids = [name for name in (expected, actual) if name not in (NONE, NOT_A_TOOL)] or [one.case.id]
    if expected == NONE:
        summary = "is found for a request that forbids it"
    elif expected == NOT_A_TOOL:
        summary = "is needed by a request, but is gone"
    elif actual == NONE:
        summary = "is not found for a request that needs it"
    else:
        summary = "the second is found for a request that needs the first"
    needs = " and ".join(" or ".join(sorted(need)) for need in one.case.gold)
    details = filter(None, (one.case.text, needs and f"needs {needs}"))
    return _item("confusion", ids, summary, details)


def _profile(report: GateReport, app: AppPlace) -> Iterator[GateItem]:
    """Changes in the profile, intents that it does not serve, and tools that are similar or
    interfere.
    """
    if report.profile is None:
        return
    name = report.profile.toolset.profile.name
    for note in report.profile.toolset.notes:
        yield _item("profile", (name,), "has changed", (note,))
    for intent in report.profile.unserved:
        yield _item("profile", (name,), "does not serve a request", (intent.text,), has_limit=True)
    for one in report.profile.confusions:
        summary, ids = (
            f"are confusable, and both in the profile {name}",
            (one.pair.left, one.pair.right),
        )
        yield _item("profile", ids, summary, one.evidence, app.address(one.pair), has_limit=True)
    for cell, texts in report.profile.misses.texts.items():
        summary = f"the second ranks before the first in the profile {name}"
        yield _item("profile", (cell.expected, cell.actual), summary, texts, has_limit=True)


def _line(text: str) -> str:
    return for_terminal(" ".join(text.split()))


CHECKS = (
    Check(
        "problem",
        "Records that cannot be read",
        "A record of the catalog cannot be read as a tool, so it was not checked.",
        lambda report, _: _unread(report),
        "record that cannot be read",
        "records that cannot be read",
    ),
    Check(
        "overlap",
        "New overlaps",
        "A new or changed tool does the same job as another one.",
        lambda report, app: _pairs("overlap", report.pairs.overlaps, report, app),
        "new overlap",
    ),
    Check(
        "family",
        "New family pairs",
        "A new or changed tool is the same operation as another, for another provider or value.",
        lambda report, app: _pairs("family", report.pairs.families, report, app),
        "new family pair",
        level="note",
    ),
    Check(
        "unsure",
        "Pairs to look at",
        "A new or changed tool may do the same job as another one; take a look.",
        lambda report, app: _pairs("unsure", report.pairs.unsure, report, app),
        level="note",
    ),
    Check(
        "dangling",
        "Dangling references",
        "A description names a tool that no longer exists.",
        lambda report, _: (
            _mention_item("dangling", one.tool_id, one.cites, one.now) for one in report.dangling
        ),
        "new dangling reference",
    ),
    Check(
        "text",
        "Texts that name a missing tool",
        "A prompt, skill or rule names a tool that no longer exists.",
        lambda report, _: (
            _mention_item(
                "text",
                f"{one.file}:{one.line}",
                one.name,
                one.new_name,
                RecordLine(Path(one.file), one.line),
            )
            for one in report.texts.mentions
        ),
        "line of a text that names a missing tool",
        "lines of texts that name a missing tool",
    ),
    Check(
        "unread",
        "Texts that were not read",
        "A text was not searched for such names.",
        lambda report, _: (_item("unread", (one.file,), one.why) for one in report.texts.unread),
        "text that was not read",
        "texts that were not read",
    ),
    Check(
        "breaking",
        "Breaking changes",
        "A change breaks callers of the accepted tool.",
        lambda report, _: _changes(report, "breaking"),
        "breaking change",
    ),
    Check(
        "careful",
        "Changes to look at",
        "A change breaks no call, but one may do something else now.",
        lambda report, _: _changes(report, "careful"),
        "change to look at",
        "changes to look at",
    ),
    Check(
        "stale",
        "Stale decisions",
        "A recorded decision names a tool that has changed or is gone.",
        lambda report, _: map(_stale_item, report.stale),
        "stale decision",
    ),
    Check(
        "changed",
        "Changed tools",
        "A tool differs from the accepted one.",
        lambda report, _: map(_change_item, report.changes.diff.changed),
        "changed tool",
        level="note",
    ),
    Check(
        "block",
        "New block findings",
        "Hidden text, or text that redefines another tool.",
        lambda report, _: _findings(report, "block"),
        "new block finding",
    ),
    Check(
        "warn",
        "New warn findings",
        "Text that addresses the model, or something else to look at.",
        lambda report, _: _findings(report, "warn"),
        "new warn finding",
        level="note",
    ),
    Check(
        "confusion",
        "Requests that now find another tool",
        "A request that found the right tool now finds another one.",
        lambda report, _: map(_confusion, report.replayed.new_confusions),
        "new confusion",
    ),
    Check(
        "profile",
        "The profile",
        "A profile has changed, no longer serves a request, or has confusable tools.",
        _profile,
        "profile change",
    ),
    Check(
        "tokens",
        "Tokens",
        "The catalog has more tokens than allowed.",
        lambda *_: (),  # its cases are the exceeded limits
        level="note",
    ),
)
"""All checks, in the order of reports and of ``--fail-on``."""
