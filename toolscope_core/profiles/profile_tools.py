"""The tools of a profile in a toolset, a plan with only these tools, and what has changed since the
profile was saved.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from toolscope_core.catalog.calls import call_refusals
from toolscope_core.catalog.scan.scanner import ToolNames, with_own_words
from toolscope_core.catalog.schema.walking import COMBINED, without_arguments
from toolscope_core.merging.clusters import check_plan, find_dangling
from toolscope_core.merging.former_names import identity_map
from toolscope_core.model.catalog import Finding
from toolscope_core.model.cluster import ArgumentMap, Cluster, Document
from toolscope_core.model.numbers import enumerated
from toolscope_core.model.plan import MergedTool, MergePlan, Relabel
from toolscope_core.model.profile import Profile, ProfileOrigin, ProfileTool, ToolRule
from toolscope_core.model.tool import JsonObject, Tool
from toolscope_core.wording.tool_text import split_text


@dataclass(frozen=True, slots=True)
class ServerConflict:
    """Servers that each have tools in the profile for the same job.

    ``tools`` gives the tool ids for each server. ``kept`` is the server that the profile keeps,
    empty if nobody has decided.
    """

    tools: Mapping[str, tuple[str, ...]]
    kept: str = ""


@dataclass(frozen=True, slots=True)
class ProfileTools:
    """The tools of a profile in a toolset, as its agent sees them, in id order.

    ``ways`` says how each id was included. ``fixed`` gives, for each id, the values of the
    arguments that were removed from its schema. ``notes`` are sentences about changes since the
    profile was saved, and about the profile's unused texts. ``findings`` are the findings on its
    texts.
    """

    profile: Profile
    tools: tuple[MergedTool, ...]
    ways: Mapping[str, ProfileOrigin]
    fixed: Mapping[str, JsonObject] = field(default_factory=dict)
    conflicts: tuple[ServerConflict, ...] = ()
    notes: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(self.ways)


def profile_tools(plan: MergePlan, profile: Profile) -> ProfileTools:
    """The tools of ``profile`` in the toolset of ``plan``; equal arguments give equal tools."""
    phi, by_id = plan.phi, {item.tool.id: item for item in plan.tools}
    gateway = {cluster.canonical for cluster in plan.applied if cluster.kind == "gateway"}
    choices: dict[str, ProfileTool] = {}
    for old, tool in sorted(profile.tools.items(), key=lambda one: one[1].origin == "kept out"):
        new = phi.get(old)
        if (
            new is not None and tool.origin != "rule"
        ):  # among merged tools, a chosen one comes before one kept out
            choices.setdefault(new, tool)
    ways: dict[str, ProfileOrigin] = {}
    for tool_id, item in by_id.items():
        way = choices[tool_id].origin if tool_id in choices else "rule"
        reached = item.members if tool_id in gateway else (tool_id,)
        servers = frozenset(plan.catalog.by_id[one].owner for one in reached)
        if way == "hand" or (way == "rule" and _comes_in(profile, item.tool, servers)):
            ways[tool_id] = way
    conflicts = tuple(_conflicts(plan, profile, ways))
    lost = {one for c in conflicts if c.kept for s in c.tools if s != c.kept for one in c.tools[s]}
    ways = {tool_id: way for tool_id, way in ways.items() if tool_id not in lost}
    words = profile_words(plan, profile)
    fixed, notes = {}, [*_changes(plan, profile, ways, lost)]
    tools, findings, called = [], list[Finding](), ToolNames.of([by_id[one].tool for one in ways])
    names = Counter(
        (words[one].name if one in words else "") or by_id[one].tool.name for one in ways
    )
    for tool_id in ways:
        own, item = words.get(tool_id, ProfileTool("rule")), by_id[tool_id]
        if own.name and names[own.name] > 1:
            notes.append(f"{tool_id} keeps its name: several tools would be called {own.name}")
            own = replace(own, name="")
        values, refusals = _fixed(item.tool, own.fixed)
        notes += refusals
        if values:
            fixed[tool_id] = values
        worded = with_own_words(item.tool, own.name, own.description, called)
        notes += worded.notes
        findings += worded.findings
        own_tool = replace(worded.tool, schema=without_arguments(item.tool.schema, values))
        tools.append(replace(item, tool=own_tool))
    parts = tuple(tools), ways, fixed, conflicts, tuple(notes), tuple(findings)
    return ProfileTools(profile, *parts)


def profile_words(plan: MergePlan, profile: Profile) -> dict[str, ProfileTool]:
    """The profile's entry for each outgoing tool; it may be the entry for a tool merged into it."""
    phi = plan.phi
    words: dict[str, ProfileTool] = {}
    for old, tool in sorted(profile.tools.items(), key=lambda one: phi.get(one[0]) != one[0]):
        new = phi.get(old)
        if new is not None and (tool.name or tool.description or tool.fixed):
            words.setdefault(new, tool)
    return words


def _comes_in(profile: Profile, tool: Tool, servers: frozenset[str]) -> bool:
    """Whether the rules include a tool whose calls may reach ``servers``.

    An include rule must name all of these servers; an exclude rule must name at least one.
    """
    include, exclude = profile.include, profile.exclude
    return (
        bool(include)
        and (not include.servers or servers <= set(include.servers))
        and _matches(include, tool)
        and not (
            exclude
            and (not exclude.servers or not servers.isdisjoint(exclude.servers))
            and _matches(exclude, tool)
        )
    )


def _matches(rule: ToolRule, tool: Tool) -> bool:
    """Whether a tool has the words that a rule asks for, and the same read-only declaration."""
    only_reads = tool.annotations.get("readOnlyHint") is True
    if rule.read_only is not None and rule.read_only != only_reads:
        return False
    words = {*split_text(tool.name), *split_text(tool.description)} if rule.words else set()
    return not rule.words or any({*split_text(word)} <= words for word in rule.words)


def _conflicts(
    plan: MergePlan, profile: Profile, ways: Mapping[str, ProfileOrigin]
) -> Iterator[ServerConflict]:
    """The open proposals to merge tools that do one job, where the tools are on several servers."""
    applied = {cluster.id for cluster in plan.applied}
    for cluster in plan.clusters:
        is_family = cluster.relation == "family"
        if cluster.id in applied or cluster.state == "kept_apart" or is_family:
            continue
        tools: defaultdict[str, list[str]] = defaultdict(list)
        for tool_id in cluster.members:
            if tool_id in ways:
                tools[plan.catalog.by_id[tool_id].owner].append(tool_id)
        if len(tools) > 1:
            kept = next((server for server in profile.precedence if server in tools), "")
            yield ServerConflict({server: tuple(ids) for server, ids in tools.items()}, kept)


def _changes(
    plan: MergePlan, profile: Profile, ways: Mapping[str, ProfileOrigin], lost: set[str]
) -> Iterator[str]:
    """The changes since the profile was saved, one sentence for each."""
    phi, names = plan.phi, {item.tool.id: item.tool.name for item in plan.tools}
    had = {old: tool for old, tool in profile.tools.items() if tool.origin != "kept out"}
    yield from (f"{one} is gone: the catalog no longer has it" for one in profile.missing_ids)
    now: defaultdict[str, set[str]] = defaultdict(set)
    for old, tool in had.items():
        new = phi.get(old)
        if new is None:
            yield f"{old} is left out of the toolset"
        elif new in lost:
            continue
        elif new not in ways:
            yield f"{old} no longer matches the rules"
        else:
            now[tool.called].add(names[new])
            if old in profile.changed_ids:
                yield f"{old} has changed"
    for called, new_names in sorted(now.items()):
        if called and new_names != {called}:
            yield f"{called} is now {enumerated(sorted(new_names))}"
    old_ids = {phi.get(old) for old in had}
    was_in = {phi.get(old) for old, tool in had.items() if tool.called}
    back = sorted(ways.keys() & old_ids - was_in)
    yield from (f"{one} is back: no preferred server replaces it any more" for one in back)
    yield from (f"{one} was added by the rules" for one in sorted(ways) if one not in old_ids)
    yield from (
        f"{one} is left out, because a server higher in the order does its job"
        for one in sorted(lost & was_in)
    )


def _fixed(tool: Tool, arguments: JsonObject) -> tuple[JsonObject, list[str]]:
    """The fixed arguments that the tool accepts, and the reasons why it does not
    accept the others.
    """
    declared = {parameter.name for parameter in tool.parameters}
    fixed, notes = {}, []
    for name, value in sorted(arguments.items()):
        alone = {k: v for k, v in (tool.schema or {}).items() if k not in (*COMBINED, "required")}
        against = call_refusals(alone, {name: value}, 1, "the value")
        if name not in declared:
            notes.append(f"{tool.id} has no argument {name}, so it cannot be fixed")
        elif against:
            notes.append(f"{tool.id} does not accept the fixed value of {name}: {against[0]}")
        else:
            fixed[name] = value
    return fixed, notes


_FIXED = "its value is fixed in this profile"


def profile_plan(plan: MergePlan, toolset: ProfileTools) -> MergePlan:
    """The plan with only the profile's tools, in the profile's words.

    φ removes all other tools, and α drops the fixed arguments.
    """
    tools = {item.tool.id: item for item in toolset.tools}
    relabels = tuple(_relabel(row, tools[row.new_id].tool if row.new_id in tools else None)
                     for row in plan.relabels)  # fmt: skip
    alphas = {one.tool_id: one for one in plan.arguments if one.to in tools}
    for tool_id, fixed in toolset.fixed.items():
        before = next(item.tool for item in plan.tools if item.tool.id == tool_id)
        for member in tools[tool_id].members:
            alphas[member] = _without(alphas.get(member) or identity_map(before), fixed)
    own = plan.catalog.by_id
    texts = {
        tool_id: item.tool.description
        for tool_id, item in tools.items()
        if item.tool.description != own[tool_id].description
    }
    edited = {one.canonical: one for one in plan.edited if one.canonical in tools}
    edited |= {
        tool_id: edited.get(tool_id) or _alone(own[tool_id])
        for tool_id in texts
        if len(tools[tool_id].members) == 1
    }
    own_plan = replace(
        plan,
        clusters=tuple(_worded(one, texts) for one in plan.clusters),
        tools=toolset.tools,
        relabels=relabels,
        arguments=tuple(alpha for _, alpha in sorted(alphas.items())),
        dangling=find_dangling(toolset.tools, relabels),
        eager=None if plan.eager is None else plan.eager & toolset.ids,
        profile=toolset.profile.name,
        edited=tuple(_worded(one, texts) for _, one in sorted(edited.items())),
    )
    check_plan(own_plan)
    return own_plan


def _relabel(row: Relabel, tool: Tool | None) -> Relabel:
    if tool is None:
        return replace(row, new_id=None, new_name=None, status="removed")
    if row.old_id != tool.id:
        return replace(row, new_name=tool.name)
    return replace(
        row, new_name=tool.name, status="kept" if tool.name == row.old_name else "renamed"
    )


def _without(alpha: ArgumentMap, fixed: JsonObject) -> ArgumentMap:
    fixed_sources = {move.source: _FIXED for move in alpha.moves if move.target in fixed}
    return replace(
        alpha,
        moves=tuple(move for move in alpha.moves if move.target not in fixed),
        constants={key: value for key, value in alpha.constants.items() if key not in fixed},
        dropped={**alpha.dropped, **fixed_sources},
        waived=(*alpha.waived, *fixed_sources),
    )


def _worded(cluster: Cluster, texts: dict[str, str]) -> Cluster:
    """The cluster, with the description that the profile gives its tool."""
    text = texts.get(cluster.canonical, cluster.document.description)
    return replace(cluster, document=replace(cluster.document, description=text))


def _alone(tool: Tool) -> Cluster:
    """A tool with its own description, as a cluster of one."""
    document = Document(tool.name, tool.description, tool.schema, tool.returns, tool.annotations)
    return Cluster(f"p-{tool.id}", (tool.id,), tool.id, "drop_in", "accepted", 1.0, document, ())
