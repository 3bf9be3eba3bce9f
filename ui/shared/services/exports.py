"""The export: the bundle of a plan, its figures, and how each policy compares with a target's
limit.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from toolscope_core.catalog.clients.client_table import CLIENTS, client_files
from toolscope_core.catalog.formats import format_table, record_format, target_rules
from toolscope_core.catalog.gone_names import gone_names
from toolscope_core.catalog.scan.cleaning import hidden_in
from toolscope_core.catalog.scan.hidden import cleaned
from toolscope_core.catalog.splitting import servers_of
from toolscope_core.catalog.tokens import Costs, Size, SizeChange, plan_size
from toolscope_core.check.text_mentions import TextSearch, join_searches, search_text
from toolscope_core.decisions.forms import id_list
from toolscope_core.export import checked_plan
from toolscope_core.export.bundle import Bundle, bundle_of, zipped
from toolscope_core.export.bundle_readme import zip_files
from toolscope_core.export.eager_choice import loading_sizes
from toolscope_core.merging import analysing
from toolscope_core.merging.former_names import names_after, with_earlier_names
from toolscope_core.model.cluster import grouped
from toolscope_core.model.configuration import AcceptPolicy, PlanConfig
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.tool import digest
from toolscope_core.store.catalog_rows import exported_names, keep_exported_names
from ui.shared.kept import kept_under
from ui.shared.snapshot import Snapshot

_POLICIES: tuple[AcceptPolicy, ...] = ("none", "auto", "all")
"""The policies, starting with the one that merges least."""


@dataclass(frozen=True, slots=True)
class ExportTarget:
    """What a toolset is exported for: a client or a format.

    If ``format`` is ``None``, the format of the input is used. ``label`` is a name for people.
    """

    target: record_format.Target
    format: str | None
    label: str


@dataclass(frozen=True, slots=True)
class _SharedName:
    """A name that tools on several servers share: one of these tools, and its name after fixes.

    A tool gets a new name only if the target requires names to be unique.
    """

    name: str
    tool_id: str
    fixed: str


@dataclass(frozen=True, slots=True)
class ToolsetLine:
    """A file of the toolset, or the tools that a client has switched on at the same time, with
    their tokens in every prompt.
    """

    file: str
    tools: int
    tokens: int
    servers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PolicySize:
    """How many tools an accept policy leaves, and into how many parts a target's
    limit splits them.
    """

    accept: AcceptPolicy
    tools: int
    parts: int


@dataclass(frozen=True, slots=True)
class ExportFigures:
    """The figures of a ``plan`` as it is exported in a ``format``.

    ``refusals`` are the broken rules of the chosen target that block the download. ``size`` is for
    the chosen format or, if that is not used in prompts, for ``sizes_for``. ``hostile`` maps the
    ids of tools that are exported with text for which the scan blocks them to the codes of the
    findings. ``unreadable`` says in sentences what is left out because the target could not accept
    it. ``files`` are the files in the bundle for clients and APIs. ``shared_names`` has a line for
    each tool. ``loading`` has the size of the tools in every prompt and of those left to a search;
    it is ``None`` if no tools are left to a search. What differs between targets is computed when
    it is asked for.
    """

    plan: MergePlan
    format: str
    fix: bool
    costs: Costs
    size: SizeChange
    refusals: tuple[target_rules.RuleViolation, ...]
    hostile: Mapping[str, tuple[str, ...]]
    unreadable: tuple[str, ...]
    files: tuple[str, ...]
    shared_names: tuple[_SharedName, ...]
    loading: tuple[Size, Size] | None = None

    def violations(self, target: str) -> tuple[target_rules.RuleViolation, ...]:
        """The broken rules of a target."""
        fix = self.fix and target == self.format
        return kept_under(
            self.plan,
            "violations",
            (target, fix),
            lambda: checked_plan.broken_rules(self.plan, target, fix),
            limit=2 * len(format_table.MATRIX),
        )

    def toolsets(self, target: str) -> tuple[ToolsetLine, ...]:
        """The parts into which the tool limit of a target splits the toolset; empty if one is
        enough.
        """
        return kept_under(
            self.plan, "toolsets", target, lambda: toolset_lines(self.plan, target, self.costs)
        )

    def sizes(self) -> tuple[SizeChange, ...]:
        """The size in each prompt format."""
        return tuple(plan_size(self.plan, name, self.costs) for name in format_table.PROMPT_FORMATS)

    @property
    def withheld(self) -> int:
        """How many accepted merges are left out because they need a gateway."""
        applied_ids = {cluster.id for cluster in self.plan.applied}
        accepted = (cluster for cluster in self.plan.clusters if cluster.state == "accepted")
        return sum(cluster.id not in applied_ids for cluster in accepted)


@dataclass(frozen=True, slots=True)
class Download:
    """The files of a zip, and its bytes."""

    files: Mapping[str, bytes]
    archive: bytes


def exported_plan(snapshot: Snapshot, config: PlanConfig) -> MergePlan:
    """The exported plan. It respects the names in all earlier exports.

    A name that once meant one server's tool never means the tool of another server.
    """
    plan = snapshot.plan_under(config)
    names = exported_names(snapshot.work.store, snapshot.id)
    return kept_under(
        plan,
        "exported",
        names,
        lambda: replace(plan, catalog=with_earlier_names(plan.catalog, names)),
    )


def figures(
    snapshot: Snapshot, config: PlanConfig, format: str | None = None, fix: bool = False
) -> ExportFigures:
    """The figures of the bundle. By default, ``format`` is the format of the input."""
    plan, costs = exported_plan(snapshot, config), snapshot.work.catalogs.costs
    return kept_under(
        plan,
        "figures",
        (format, fix, snapshot.format),
        lambda: figures_of(plan, format, fix, costs, config.leave_out_refused, snapshot.format),
    )


def edits_not_applied(snapshot: Snapshot, plan: MergePlan) -> tuple[str, ...]:
    """A sentence for each edit in the log that has no effect on the plan."""
    log = snapshot.log
    reasons = analysing.unapplied_edits(plan, log)
    return tuple(f"{id_list(one.ids)}: {reasons[one.seq]}" for one in log if one.seq in reasons)


def ways(snapshot: Snapshot, gateway: bool, target: str) -> tuple[PolicySize, ...]:
    """For each accept policy, how many tools are left, and how many parts the limit of ``target``
    requires.
    """
    configs = [PlanConfig(accept=accept, gateway=gateway) for accept in _POLICIES]
    plans = [(c.accept, snapshot.plan_under(c)) for c in configs]
    return tuple(
        PolicySize(accept, len(plan.tools), len(checked_plan.toolsets(plan, target, fix=True)))
        for accept, plan in plans
    )


def bundle(
    snapshot: Snapshot, config: PlanConfig, format: str | None = None, fix: bool = False
) -> dict[str, bytes]:
    """The files of the export bundle. Raises ``ExportError`` if the target rejects the toolset."""
    return dict(_bundle(snapshot, config, format, fix).files())


def _bundle(snapshot: Snapshot, config: PlanConfig, format: str | None, fix: bool) -> Bundle:
    plan = exported_plan(snapshot, config)
    return bundle_of(snapshot.analysis, plan, snapshot.log, config, format, fix)


def download(
    snapshot: Snapshot, config: PlanConfig, choice: ExportTarget | None = None, fix: bool = False
) -> Download:
    """The zip for ``choice`` and its files, which include the whole bundle. By default, ``choice``
    is the input's format.

    Raises ``ExportError`` if the target rejects the toolset.
    """
    record = snapshot.record
    choice = choice or export_targets(record.format)[-1]
    format, target = choice.format, choice.target

    def make() -> Download:
        made = _bundle(snapshot, config, format, fix)
        files = zip_files(dict(made.files()), made.plan, target, record.name, record.at[:10])
        return Download(files, zipped(files))

    plan = exported_plan(snapshot, config)
    return kept_under(plan, "downloads", (record.name, choice.label, fix), make, limit=4)


def exported(
    snapshot: Snapshot, config: PlanConfig, choice: ExportTarget | None = None, fix: bool = False
) -> bytes:
    """The bytes of ``download``. Call this when a person takes the file: the exported names are
    then stored.
    """
    archive = download(snapshot, config, choice, fix).archive
    names = names_after(exported_plan(snapshot, config))
    keep_exported_names(snapshot.work.store, snapshot.id, names)
    return archive


def text_search(snapshot: Snapshot, config: PlanConfig, texts: Mapping[str, bytes]) -> TextSearch:
    """The lines in ``texts`` (by file name) that name a tool that the plan removes, and the texts
    that were not read.
    """
    plan = snapshot.plan_under(config)
    removed_names = gone_names(plan.relabels, (item.tool.name for item in plan.tools))
    return join_searches(
        [search_text(file, content, removed_names) for file, content in texts.items()]
    )


def file_name(
    snapshot: Snapshot, config: PlanConfig, choice: ExportTarget, fix: bool = False
) -> str:
    """The name of the zip. It has the name of the catalog and of the target, and changes with the
    decisions and options.
    """
    record = snapshot.record
    log = [(one.seq, one.at) for one in snapshot.log]
    content = digest(record.version, record.at, asdict(config), choice.label, fix, log)[:8]
    plain = re.sub(r"[^a-z0-9]+", "-", record.name.casefold()).strip("-")[:40] or "catalog"
    return f"toolscope-{plain}-{choice.target.name}-{content}.zip"


def export_targets(own: str) -> tuple[ExportTarget, ...]:
    """The possible targets for a toolset in the format ``own``. That format comes last."""
    formats = (format_table.format_named(name) for name in format_table.OFFERED if name != own)
    format = format_table.format_named(own)
    return (
        *(ExportTarget(client, None, client.title) for client in CLIENTS),
        *(ExportTarget(other, other.name, _label(other)) for other in formats),
        ExportTarget(format, None, f"{format.title} file, as loaded"),
    )


def _label(format: record_format.RecordFormat) -> str:
    """The title of a format. If no API accepts the format, the title calls it a file."""
    is_file = format.rules.mcp_record or not format.in_prompts
    return f"{format.title} file" if is_file else format.title


def figures_of(
    plan: MergePlan,
    format: str | None,
    fix: bool,
    costs: Costs,
    leave_out: bool = False,
    sizes_for: str = format_table.PROMPT_FORMATS[0],
) -> ExportFigures:
    """The figures of a plan in ``format``; ``None`` means the format of the input.

    ``fix`` applies the proposed fixes. ``leave_out`` drops what the target still refuses. Raises
    ``ExportError`` for an unknown format.
    """
    target = format or plan.catalog.format
    names = _shared_names(plan, target)
    plan = checked_plan.readable_plan(plan, format, fix, leave_out)
    sized = format if format in format_table.PROMPT_FORMATS else sizes_for
    size = plan_size(plan, sized, costs)
    return ExportFigures(
        plan=plan,
        format=target,
        fix=fix,
        costs=costs,
        size=size,
        refusals=checked_plan.toolset_refusals(plan, format, fix),
        hostile=_hostile(plan),
        unreadable=checked_plan.held_back(plan),
        files=(*checked_plan.named_toolsets(plan, target, fix), *client_files(plan)),
        shared_names=names,
        loading=None if plan.eager is None else loading_sizes(plan, costs, size.name),
    )


def toolset_lines(plan: MergePlan, target: str, costs: Costs) -> tuple[ToolsetLine, ...]:
    """The parts into which the tool limit of ``target`` splits the toolset. Empty if one part is
    enough.
    """
    parts = checked_plan.toolsets(plan, target, fix=True)
    if len(parts) == 1:
        return ()
    format = target if target in format_table.PROMPT_FORMATS else format_table.PROMPT_FORMATS[0]
    toolsets = zip(checked_plan.named_toolsets(plan, target, fix=True), parts, strict=True)
    return tuple(
        ToolsetLine(
            file=name if format_table.target_named(target).writes else f"set {number}",
            tools=len(part),
            tokens=sum(costs.of(item.tool, format) for item in part),
            servers=servers_of(part),
        )
        for number, (name, part) in enumerate(toolsets, 1)
    )


def _shared_names(plan: MergePlan, target: str) -> tuple[_SharedName, ...]:
    names = {item.tool.id: item.tool.name for item in plan.tools}
    lines = (
        _SharedName(names[tool_id], tool_id, tool.name)
        for tool_id, tool in checked_plan.disambiguated(plan, target).items()
    )
    return tuple(sorted(lines, key=lambda line: (line.name.casefold(), line.tool_id)))


def _hostile(plan: MergePlan) -> dict[str, tuple[str, ...]]:
    """The ids of outgoing tools that still have text for which they are blocked, with the codes of
    the findings.
    """
    came, exported = plan.catalog.by_id, [item.tool for item in plan.tools]
    worded = (one for one in plan.catalog.findings if one.code != "hidden-unicode")
    blocking = [one for one in (*hidden_in(exported), *worded) if one.severity == "block"]
    codes = grouped(blocking, lambda one: one.tool_id)
    kept = (t.id for t in exported if cleaned(came[t.id].description) == cleaned(t.description))
    return {
        tool_id: tuple(dict.fromkeys(one.code for one in codes[tool_id]))
        for tool_id in kept
        if tool_id in codes
    }
