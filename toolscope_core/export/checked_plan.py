"""Checks whether a plan may be exported in a format, and prepares the plan for export."""

from dataclasses import replace

from toolscope_core.catalog.formats.format_table import target_named
from toolscope_core.catalog.formats.offered_names import named_as_others, shared_names, unique_names
from toolscope_core.catalog.formats.target_rules import (
    RuleViolation,
    fixed,
    rule_violations,
    unreadable,
)
from toolscope_core.catalog.relabelling import names_now
from toolscope_core.catalog.scan.cleaning import without_hidden_text
from toolscope_core.catalog.sources import PART_TOOLS, part_names
from toolscope_core.catalog.splitting import ToolsetPart, split
from toolscope_core.export.eager_choice import with_member_words
from toolscope_core.merging.clusters import without_unreadable
from toolscope_core.merging.former_names import NewNames, with_tools
from toolscope_core.model.errors import ExportError
from toolscope_core.model.plan import MergedTool, MergePlan
from toolscope_core.model.tool import Tool

_SHOWN = 10


def toolsets(plan: MergePlan, target: str, fix: bool) -> tuple[ToolsetPart, ...]:
    """The outgoing tools, divided into the parts that are written; every tool is in one part.

    A part has at most ``PART_TOOLS`` tools. If ``fix`` is true, it also has no more than the tool
    limit of ``target`` allows. Raises ``ExportError`` for an unknown target.
    """
    most = target_named(target).rules.room if fix else None
    return split(plan.tools, min(most or PART_TOOLS, PART_TOOLS))


def broken_rules(plan: MergePlan, target: str, fix: bool = False) -> tuple[RuleViolation, ...]:
    """The rules of ``target`` that the outgoing toolset breaks, or its parts if ``fix`` is true.

    Raises ``ExportError`` for an unknown target.
    """
    old, blocked = _old_names(plan), plan.catalog.blocked
    parts = toolsets(plan, target, fix)
    return tuple(
        violation for part in parts for violation in rule_violations(part, target, old, blocked)
    )


def with_fixes(plan: MergePlan, target: str) -> MergePlan:
    """The plan with every proposed fix for ``target`` applied.

    Tools that share a name are ``disambiguated``, and hidden characters are removed from names and
    texts. φ gets the new names of tools, and α those of parameters. If there are too many tools,
    ``toolsets`` splits them.
    """
    tools = [item.tool for item in plan.tools]
    clean = without_hidden_text(tools, sorted(_old_names(plan)))
    plan = with_tools(plan, clean) if clean else plan
    plan = with_tools(plan, disambiguated(plan, target))
    fixes = fixed(plan.tools, target, _old_names(plan), plan.catalog.blocked)
    new_names = {
        tool_id: NewNames(item.renaming.top, item.renaming.nested)
        for tool_id, item in fixes.items()
        if item.renaming.names
    }
    return with_tools(plan, {tool_id: item.tool for tool_id, item in fixes.items()}, new_names)


def disambiguated(plan: MergePlan, target: str) -> dict[str, Tool]:
    """The outgoing tools that share a name across servers, by id, each with the server added to its
    name.

    Empty if ``target`` allows a name to be used several times. A blocked tool does not force other
    tools to change their names.
    """
    if target_named(target).rules.unique != "toolset":
        return {}
    tools = (item.tool for item in plan.tools if item.tool.id not in plan.catalog.blocked)
    same_named = [tool for same in shared_names(tools) for tool in same]
    names = unique_names(same_named, {item.tool.name for item in plan.tools} | _old_names(plan))
    return {tool.id: replace(tool, name=names[tool.id]) for tool in same_named}


def newcomers_renamed(plan: MergePlan, target: str) -> dict[str, Tool]:
    """The outgoing tools whose name an earlier export gave to a tool of another server, by id.

    The server is added to each name. Empty if ``target`` distinguishes the servers.
    """
    if target_named(target).rules.unique != "toolset":
        return {}
    tools = [item.tool for item in plan.tools]
    alphas = {alpha.tool_id: alpha for alpha in plan.arguments}
    earlier = names_now(plan.catalog.former_names, plan.phi, alphas)
    newcomers = named_as_others(tools, earlier)
    others = {tool.name for tool in tools} | _old_names(plan)
    names = unique_names([tool for tool in tools if tool.id in newcomers], others, earlier)
    by_id = {tool.id: tool for tool in tools}
    return {one: replace(by_id[one], name=name) for one, name in names.items()}


def readable_plan(
    plan: MergePlan, format: str | None, fix: bool, leave_out: bool = False
) -> MergePlan:
    """The plan as exported in ``format``, without tools that no client could use.

    ``fix`` applies the fixes. If ``format`` is ``None``, tools that were already unreadable in the
    input stay. If ``leave_out`` is true, all other tools that the target refuses are left out too.
    ``toolset_refusals`` lists the remaining objections.
    """
    target, plan = format or plan.catalog.format, with_member_words(plan)
    new_names = newcomers_renamed(plan, target)
    plan = with_tools(plan, new_names) if new_names else plan
    plan = with_fixes(plan, target) if fix else plan
    reasons = unreadable([item.tool for item in plan.tools], target)
    if reasons and format is None:
        at_entry = unreadable(plan.catalog.tools, target)
        reasons = {tool_id: why for tool_id, why in reasons.items() if tool_id not in at_entry}
    if leave_out and not reasons:
        against = toolset_refusals(plan, format, fix)
        reasons = {violation.tool_id: violation.message for violation in against[::-1]}
        reasons.pop("", None)
    if not reasons:
        return plan
    return readable_plan(without_unreadable(plan, reasons), format, fix, leave_out)


def held_back(plan: MergePlan) -> tuple[str, ...]:
    """A sentence for each tool or merge that is not written because the target could not accept
    it.
    """
    return tuple(
        f"{', '.join(map(repr, ids))} {'is held back' if len(ids) == 1 else 'are not merged'}: "
        f"{why}"
        for ids, why in sorted(plan.unreadable.items())
    )


def toolset_refusals(
    plan: MergePlan, format: str | None, fix: bool = False
) -> tuple[RuleViolation, ...]:
    """The violations that prevent the toolset from being written in ``format``, in parts if ``fix``
    is true.

    If ``format`` is ``None``, the format of the input is used. In that case, a rule that a tool
    already broke in the input does not count.
    """
    if format is not None:
        return broken_rules(plan, format, fix)
    originals = [MergedTool(tool, (tool.id,)) for tool in plan.catalog.tools]
    at_entry = {
        (violation.tool_id, violation.rule)
        for violation in rule_violations(originals, plan.catalog.format)
    }
    new = broken_rules(plan, plan.catalog.format, fix)
    return tuple(
        violation for violation in new if (violation.tool_id, violation.rule) not in at_entry
    )


def checked_plan(
    plan: MergePlan, format: str | None, fix: bool, leave_out: bool = False
) -> MergePlan:
    """The plan as exported in ``format`` (``None`` for the format of the input).

    ``fix`` applies fixes. ``leave_out`` leaves out what the target refuses. Raises ``ExportError``
    with the first 10 violations and their number if the target would still refuse the plan.
    """
    plan = readable_plan(plan, format, fix, leave_out)
    against = toolset_refusals(plan, format, fix)
    if against:
        raise ExportError(_refusal(against, format or plan.catalog.format, fix))
    return plan


def _old_names(plan: MergePlan) -> set[str]:
    return {tool.name for tool in plan.catalog.tools}


def _refusal(against: tuple[RuleViolation, ...], format: str, fixed_already: bool) -> str:
    fixable = sum(bool(violation.fix) for violation in against)
    lines = [f"  {_line(violation)}" for violation in against[:_SHOWN]]
    if len(against) > _SHOWN:
        lines.append(f"  … and {len(against) - _SHOWN} more")
    mends = f"--fix repairs {fixable} of them" if not fixed_already else "no more automatic fixes"
    return "\n".join(
        [
            f"the toolset breaks {len(against)} rules of {target_named(format).title}, so it was "
            f"not written as {format}; {mends}; --leave-out-refused writes the others; another "
            "format may accept it:",
            *lines,
        ]
    )


def _line(violation: RuleViolation) -> str:
    place = f"{violation.tool_id!r}: " if violation.tool_id else ""
    remedy = f"Fix: {violation.fix}" if violation.fix else violation.remedy
    return f"{place}{violation.message} {remedy}"


def named_toolsets(plan: MergePlan, format: str, fix: bool) -> dict[str, ToolsetPart]:
    """The tools in each file, by file name: ``toolset.json``, or the parts of a split toolset."""
    parts = toolsets(plan, format, fix)
    return dict(zip(part_names("toolset.json", len(parts)), parts, strict=True))
