"""Whether a plan may leave in a shape, and the plan as it leaves."""

from __future__ import annotations

from toolscope_core.catalog.targets import target_named
from toolscope_core.catalog.validity import Violation, fixed, violations
from toolscope_core.datamodel import MergedTool, MergePlan
from toolscope_core.errors import ExportError
from toolscope_core.merging.renaming import with_tools

SHOWN = 10


def checked(plan: MergePlan, target: str) -> tuple[Violation, ...]:
    """The rules of ``target`` that the outgoing toolset breaks.

    Raises ``ExportError`` for an unknown target.
    """
    return violations(plan.tools, target, _old_names(plan))


def with_fixes(plan: MergePlan, target: str) -> MergePlan:
    """The plan with every offered fix for ``target`` applied; φ shows the new names."""
    return with_tools(plan, fixed(plan.tools, target, _old_names(plan)))


def refusals(plan: MergePlan, shape: str | None) -> tuple[Violation, ...]:
    """What stands against writing the toolset in ``shape``.

    ``None`` is the shape it came in. A rule that a tool already broke when it came in is then not
    held against it: whoever wrote that file lives with it.
    """
    if shape is not None:
        return checked(plan, shape)
    came = [MergedTool(tool, (tool.id,)) for tool in plan.catalog.tools]
    before = {(found.tool_id, found.rule) for found in violations(came, plan.catalog.format)}
    new = checked(plan, plan.catalog.format)
    return tuple(found for found in new if (found.tool_id, found.rule) not in before)


def outgoing(plan: MergePlan, shape: str | None, fix: bool) -> MergePlan:
    """The plan as it leaves in ``shape`` (``None``: as it came in), fixes applied if ``fix``.

    Raises ``ExportError`` with the first 10 violations and their number where the target would
    refuse it.
    """
    if fix:
        plan = with_fixes(plan, shape or plan.catalog.format)
    against = refusals(plan, shape)
    if against:
        raise ExportError(_refusal(against, shape or plan.catalog.format, fix))
    return plan


def _old_names(plan: MergePlan) -> set[str]:
    return {tool.name for tool in plan.catalog.tools}


def _refusal(against: tuple[Violation, ...], shape: str, fixed_already: bool) -> str:
    fixable = sum(bool(found.fix) for found in against)
    lines = [f"  {_line(found)}" for found in against[:SHOWN]]
    if len(against) > SHOWN:
        lines.append(f"  … and {len(against) - SHOWN} more")
    mends = f"--fix mends {fixable} of them" if not fixed_already else "no fix is left"
    return "\n".join(
        [
            f"the toolset breaks {len(against)} rules of {target_named(shape).title}, so it is not "
            f"written as {shape}; {mends}; another format may take it:",
            *lines,
        ]
    )


def _line(found: Violation) -> str:
    place = f"{found.tool_id!r}: " if found.tool_id else ""
    return f"{place}{found.message} {f'Fix: {found.fix}' if found.fix else found.remedy}"
