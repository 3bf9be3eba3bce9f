"""Makes clusters from groups, and from accepted clusters the outgoing toolset with φ and α.

ToolScope (section 3.2): one canonical tool for each cluster, φ: T → T', and the integrity check
that no tool is both kept and replaced. ``auto_accept`` decides which clusters may be accepted
without a person.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from toolscope_core.merging.auto_accept import Proposal, reasons_against
from toolscope_core.merging.edited_maps import with_edited_map
from toolscope_core.merging.group_syntheses import GroupSyntheses
from toolscope_core.merging.synthesis import Synthesis, edited_arguments, with_default_server
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import Cluster, Document, Group, State
from toolscope_core.model.decision import Constraints, Edit
from toolscope_core.model.numbers import listed
from toolscope_core.model.plan import (
    DanglingReference,
    MergedTool,
    MergePlan,
    Relabel,
    RelabelStatus,
)
from toolscope_core.model.tool import Tool, canonical_json
from toolscope_core.model.unicode_forms import comparable_name

Edits = Mapping[frozenset[str], Edit]
NEEDS_GATEWAY = (
    "a new name or other parameters need a gateway; use --gateway, or tick *Include merges that "
    "need a gateway*"
)


def build_clusters(
    catalog: Catalog,
    groups: Sequence[Group],
    constraints: Constraints,
    edits: Edits,
    auto_at: float,
    syntheses: GroupSyntheses | None = None,
) -> tuple[Cluster, ...]:
    """One cluster per group, in order.

    ``auto_at`` is the lowest probability of the weakest edge at which a cluster may be accepted
    without a person. ``syntheses`` belong to the catalog, for callers who cache them.
    """
    syntheses, blocked = syntheses or GroupSyntheses(catalog), catalog.blocked
    addressing = catalog.addressing
    by_members, own_edits = {}, {}
    for group in groups:
        edit = edits.get(frozenset(group.members), Edit())
        unfit = frozenset[str]() if edit.canonical or edit.kind else group.unfit
        members, one_account = syntheses.of(group.members), None
        if not group.family:
            one_account = constraints.are_on_one_account(sorted({one.owner for one in members}))
        if one_account is not None and edit.kind is None:
            edit = replace(edit, kind="drop_in" if one_account else "gateway")
        own_edits[group.members] = edit, one_account is True
        synthesis = syntheses.synthesis(
            group.members, edit.canonical, group.family, edit.kind, unfit
        )
        if one_account:
            synthesis = with_default_server(synthesis)
        synthesis = _with_document(synthesis, members, edit)
        by_members[group.members] = _with_edited_maps(synthesis, members, edit)
    renamed = _new_owners(by_members)
    clusters = []
    for group in groups:
        members = syntheses.of(group.members)
        own, (edit, one_account) = by_members[group.members], own_edits[group.members]
        waiting = not group.decided and _waits_for_a_person(group, constraints)
        proposal = Proposal(
            group,
            own,
            partial(syntheses.differences, group.members, own, one_account),
            blocked=not blocked.isdisjoint(group.members),
            wants_a_look=waiting and not group.put_forward,
            auto_at=auto_at,
            addressing=addressing.intersection(group.members),
            compared=constraints.compared,
        )
        to_rewrite = [*_to_rewrite(members, own, edit, blocked)]
        conflicts = [
            *_contradictions(group, constraints),
            *_conflicts(own),
            *_name_conflicts(members, own, syntheses.owners, renamed),
        ]
        clusters.append(
            Cluster(
                id=syntheses.cluster_id(group.members),
                members=group.members,
                canonical=own.canonical,
                kind=own.kind,
                state=(
                    "conflict"
                    if conflicts or (to_rewrite and group.decided)
                    else _state(group, constraints)
                ),
                weakest_edge=round(group.weakest_edge, 6),
                document=own.document,
                arguments=own.arguments,
                reasons=tuple(dict.fromkeys((*conflicts, *to_rewrite, *reasons_against(proposal)))),
                newcomers=group.newcomers,
                put_forward=group.put_forward or waiting,
                relation=syntheses.relation(group.members, own, group.family),
                selector=own.selector,
                chosen_kind=edit.kind,
                copies=len(members) > len({tool.content_hash for tool in members}) == 1,
            )
        )
    return tuple(clusters)


def apply_clusters(
    catalog: Catalog,
    clusters: Sequence[Cluster],
    gateway: bool,
    edited: Sequence[Cluster] = (),
    omitted: Collection[str] = (),
) -> MergePlan:
    """The plan, with its integrity checked.

    Accepted clusters are merged (those of kind *gateway* only if ``gateway``). Unmerged ``edited``
    tools (clusters of one) get their own document, the ``omitted`` ids are left out, and all other
    tools stay unchanged.
    """
    tools = catalog.by_id
    merging = [c for c in clusters if _applies(c, gateway)]
    into = {member: cluster for cluster in merging for member in cluster.members}
    single = [c for c in edited if c.canonical not in into]
    alone = [c for c in single if _applies(c, gateway)]
    into |= {cluster.canonical: cluster for cluster in alone}
    outgoing = [
        MergedTool(documented(tools[cluster.canonical], cluster.document), cluster.members)
        for cluster in (*merging, *alone)
    ]
    rest = (tool for tool in catalog.tools if tool.id not in into and tool.id not in omitted)
    outgoing += [MergedTool(tool, (tool.id,)) for tool in rest]
    outgoing.sort(key=lambda item: item.tool.id)
    arguments = [alpha for cluster in (*merging, *alone) for alpha in cluster.arguments]
    relabels = tuple(
        _removed(tool) if tool.id in omitted else _relabel(tool, into.get(tool.id))
        for tool in catalog.tools
    )
    plan = MergePlan(
        catalog=catalog,
        clusters=tuple(clusters),
        tools=tuple(outgoing),
        relabels=relabels,
        arguments=tuple(sorted(arguments, key=lambda alpha: alpha.tool_id)),
        dangling=find_dangling(outgoing, relabels),
        edited=tuple(alone),
        held_back={c.canonical: _why_held_back(c) for c in single if not _applies(c, gateway)},
    )
    check_plan(plan)
    return plan


def without_unreadable(plan: MergePlan, reasons: Mapping[str, str]) -> MergePlan:
    """The plan without the outgoing tools in ``reasons``, which maps each id to a reason.

    A single tool is left out as if a person had left it out. A merge is undone into its original
    members, and its cluster is in conflict.
    """
    tools = plan.catalog.by_id
    going = {item.members: reasons[item.tool.id] for item in plan.tools if item.tool.id in reasons}
    alone = {ids[0] for ids in going if len(ids) == 1}
    parted_ids = {member for ids in going for member in ids} - alone
    outgoing = [item for item in plan.tools if item.members not in going]
    outgoing += [MergedTool(tools[tool_id], (tool_id,)) for tool_id in parted_ids]
    outgoing.sort(key=lambda item: item.tool.id)
    new_rows = {tool_id: _removed(tools[tool_id]) for tool_id in alone}
    new_rows |= {tool_id: _relabel(tools[tool_id], None) for tool_id in parted_ids}
    relabels = tuple(new_rows.get(row.old_id, row) for row in plan.relabels)
    amended = replace(
        plan,
        clusters=tuple(
            replace(cluster, state="conflict", reasons=(going[cluster.members], *cluster.reasons))
            if cluster.members in going
            else cluster
            for cluster in plan.clusters
        ),
        tools=tuple(outgoing),
        relabels=relabels,
        arguments=tuple(alpha for alpha in plan.arguments if alpha.to not in reasons),
        dangling=find_dangling(outgoing, relabels),
        edited=tuple(one for one in plan.edited if one.members not in going),
        unreadable={**plan.unreadable, **going},
    )
    check_plan(amended)
    return amended


def _applies(cluster: Cluster, gateway: bool) -> bool:
    kinds = ("drop_in", "gateway") if gateway else ("drop_in",)
    return cluster.state == "accepted" and cluster.kind in kinds


def _why_held_back(edited: Cluster) -> str:
    """Why the document for a single tool is not used."""
    if edited.state == "conflict":
        return next(iter(edited.reasons), "decisions on it contradict each other")
    return NEEDS_GATEWAY


def _waits_for_a_person(group: Group, constraints: Constraints) -> bool:
    members = set(group.members)
    return any(pair.left in members and pair.right in members for pair in constraints.for_a_person)


def _state(group: Group, constraints: Constraints) -> State:
    members = set(group.members)
    if group.decided:
        return "accepted"
    doubtful = any({pair.left, pair.right} <= members for pair in constraints.doubtful)
    if doubtful or any(members & others for others in constraints.stale):
        return "stale"
    return "proposed"


def _contradictions(group: Group, constraints: Constraints) -> Iterator[str]:
    """The decisions on the group's tools that contradict each other, as sentences."""
    for ids in constraints.conflict:
        if not ids.isdisjoint(group.members):
            tools = listed(f"`{one}`" for one in sorted(ids))
            yield (
                f"decisions contradict each other: {tools} should be one tool, and should stay "
                "apart"
            )


def _conflicts(synthesis: Synthesis) -> Iterator[str]:
    """Why a cluster cannot be applied, whoever accepts it, as sentences."""
    for alpha in synthesis.arguments:
        yield from alpha.lossy
        for name, reason in alpha.dropped.items():
            if name in alpha.waived:
                continue
            yield f"argument `{name}` of {alpha.tool_id} would be lost: {reason}"


def _to_rewrite(
    members: Sequence[Tool], synthesis: Synthesis, edit: Edit, blocked: frozenset[str]
) -> Iterator[str]:
    """Sentences on what a person must rewrite in blocked tools before the cluster is applied.

    A proposal shows these sentences; an accepted cluster is in conflict until the text is
    rewritten.
    """
    ids = {tool.id for tool in members}
    if ids <= blocked and "description" not in edit.document:
        yield "every tool here has a blocking finding; rewrite the description first"
    if synthesis.kind == "gateway" and ids & blocked and "schema" not in edit.document:
        yield "one of the tools has a blocking finding; drop it, or rewrite the parameters first"


def _new_owners(by_members: Mapping[tuple[str, ...], Synthesis]) -> dict[str, set[str]]:
    """Names in the form that clients compare, with the ids of the tools that have them after a
    merge.
    """
    owners: dict[str, set[str]] = {}
    for members, synthesis in by_members.items():
        owners.setdefault(comparable_name(synthesis.document.name), set()).update(members)
    return owners


def _name_conflicts(
    members: Sequence[Tool], synthesis: Synthesis, *owners: Mapping[str, set[str]]
) -> Iterator[str]:
    canonical = next(tool for tool in members if tool.id == synthesis.canonical)
    if synthesis.document.name == canonical.name:
        return
    name = comparable_name(synthesis.document.name)
    bearers = set[str]().union(*(named.get(name, ()) for named in owners))
    others = bearers - {tool.id for tool in members}
    if others:
        yield f"the name `{synthesis.document.name}` belongs to another tool too: {min(others)}"


def _with_edited_maps(synthesis: Synthesis, members: Sequence[Tool], edit: Edit) -> Synthesis:
    maps, schema = edit.document.get("maps") or {}, synthesis.document.schema
    renames = edit.document.get("renames") or {}
    if not maps or schema is None:
        return synthesis
    arguments = tuple(
        with_edited_map(tool, alpha, schema, maps[tool.fingerprint], renames)
        if tool.fingerprint in maps
        else alpha
        for tool, alpha in zip(members, synthesis.arguments, strict=True)
    )
    return replace(synthesis, arguments=arguments)


def _with_document(synthesis: Synthesis, members: Sequence[Tool], edit: Edit) -> Synthesis:
    texts = {
        key: value
        for key, value in edit.document.items()
        if key in ("name", "description", "schema") and value != getattr(synthesis.document, key)
    }
    if not texts:
        return synthesis
    document = replace(synthesis.document, **texts)
    if set(texts) == {"description"}:
        return replace(synthesis, document=document)
    arguments, selector = synthesis.arguments, synthesis.selector
    if "schema" in texts and not _are_one_but_for_words(document, synthesis.document):
        schema, renames = texts["schema"], edit.document.get("renames", {})
        arguments = edited_arguments(members, synthesis.canonical, schema, arguments, renames)
        selector = renames.get(selector, selector)
        selector = selector if selector in (schema.get("properties") or {}) else ""
    return replace(
        synthesis, kind="gateway", document=document, arguments=arguments, selector=selector
    )


def _are_one_but_for_words(*documents: Document) -> bool:
    """Whether the documents have the same arguments with different descriptions."""
    structures = set()
    for document in documents:
        schema = document.schema or {}
        properties = {
            name: {**sub, "description": ""} if isinstance(sub, dict) else sub
            for name, sub in (schema.get("properties") or {}).items()
        }
        structures.add(canonical_json({**schema, "properties": properties}))
    return len(structures) == 1


def documented(tool: Tool, document: Document) -> Tool:
    """The tool with the document, as agents would read it."""
    return replace(
        tool,
        name=document.name,
        description=document.description,
        schema=document.schema,
        returns=document.returns,
        annotations=document.annotations,
    )


def _removed(tool: Tool) -> Relabel:
    return Relabel(tool.id, None, tool.server, tool.name, None, "removed")


def _relabel(tool: Tool, cluster: Cluster | None) -> Relabel:
    if cluster is None:
        return Relabel(tool.id, tool.id, tool.server, tool.name, tool.name, "kept")
    new_name = cluster.document.name
    if tool.id == cluster.canonical:
        status: RelabelStatus = "kept" if new_name == tool.name else "renamed"
        return Relabel(tool.id, tool.id, tool.server, tool.name, new_name, status)
    return Relabel(tool.id, cluster.canonical, tool.server, tool.name, new_name, "merged")


_WORD = re.compile(r"[\w.\-]+")
_PATH = re.compile(r"[\w.\-/:]+")


def find_dangling(
    tools: Sequence[MergedTool], relabels: Sequence[Relabel]
) -> tuple[DanglingReference, ...]:
    """Remaining texts that name a removed tool. Only names that cannot be plain words count."""
    still = {item.tool.name for item in tools}
    new_names = {
        row.old_name: row.new_name or ""
        for row in relabels
        if row.old_name not in still and re.search(r"[_.\-\d]|[a-z][A-Z]", row.old_name)
    }
    paths = any("/" in name or ":" in name for name in new_names)
    names = frozenset(new_names)  # intersecting two sets iterates only over the smaller one
    return tuple(
        DanglingReference(item.tool.id, name, new_names[name])
        for item in (tools if new_names else ())
        if (cited := _words(item.tool, paths) & names)
        for name in sorted(cited)
    )


_KEPT_WORDS: dict[tuple[str, bool], frozenset[str]] = {}
"""The words of tools, keyed by content and form; a decision changes only a few of thousands of
tools.
"""
_MOST_KEPT = 50_000


def _words(tool: Tool, paths: bool) -> frozenset[str]:
    """The words in a tool's descriptions; with ``paths``, also words with slashes and colons."""
    key = tool.content_hash, paths
    if key not in _KEPT_WORDS:
        if len(_KEPT_WORDS) >= _MOST_KEPT:
            _KEPT_WORDS.clear()
        texts = [tool.description, *_descriptions(tool.schema), *_descriptions(tool.returns)]
        forms = (_WORD, _PATH) if paths else (_WORD,)
        words = (word for text in texts for form in forms for word in form.findall(text))
        _KEPT_WORDS[key] = frozenset(word.strip(".-/:") for word in words)
    return _KEPT_WORDS[key]


def _descriptions(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == "description" and isinstance(value, str):
                yield value
            else:
                yield from _descriptions(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _descriptions(value)


def check_plan(plan: MergePlan) -> None:
    """Check the plan's integrity.

    φ is total, onto and idempotent, except for left-out tools, which have no image. Members
    partition the other tools; kept and replaced tools are disjoint. α covers the merged tools and
    loses nothing that people did not agree to lose. A drop-in keeps its canonical's own name and
    schema. Raises ``ValueError``, because a failing plan is a bug, not a user's error.
    """
    phi = {row.old_id: row.new_id for row in plan.relabels if row.new_id is not None}
    incoming = plan.catalog.by_id.keys()
    staying = incoming - set(plan.removed)
    outgoing_ids = {item.tool.id for item in plan.tools}
    members = [member for item in plan.tools for member in item.members]
    failures = [
        name
        for name, holds in (
            ("φ is total", set(phi) == staying and len(plan.relabels) == len(incoming)),
            ("φ is onto", set(phi.values()) == outgoing_ids),
            ("φ is idempotent", all(phi[new] == new for new in phi.values())),
            (
                "members partition the catalog",
                len(members) == len(staying) and set(members) == staying,
            ),
            (
                "φ maps each member to its merged tool",
                all(phi[m] == t.tool.id for t in plan.tools for m in t.members),
            ),
            (
                "α covers the merged",
                _in_merged(plan.tools) <= {a.tool_id for a in plan.arguments} <= staying,
            ),
            ("α loses nothing", all(alpha.applicable for alpha in plan.arguments)),
            ("a drop-in keeps the canonical's own schema", _drop_ins_are_own(plan)),
        )
        if not holds
    ]
    if failures:
        raise ValueError(
            f"the merge plan is inconsistent; these conditions do not hold: {', '.join(failures)}"
        )


def _in_merged(tools: Sequence[MergedTool]) -> set[str]:
    return {member for item in tools if len(item.members) > 1 for member in item.members}


def _drop_ins_are_own(plan: MergePlan) -> bool:
    own = plan.catalog.by_id
    return all(
        _is_own(cluster, own[cluster.canonical]) for cluster in (*plan.applied, *plan.edited)
    )


def _is_own(cluster: Cluster, canonical: Tool) -> bool:
    if cluster.kind == "gateway":
        return True
    document = cluster.document
    return (document.name, document.schema) == (canonical.name, canonical.schema)
