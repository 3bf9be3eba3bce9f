"""Finds the rules of a target that a toolset breaks, and proposes a fix for each."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import lru_cache

from toolscope_core.catalog.formats import (
    foreign_formats,
    mcp_records,
    offered_names,
    parameter_names,
    record_format,
)
from toolscope_core.catalog.formats.format_table import target_named
from toolscope_core.catalog.formats.record_format import Rule, Target
from toolscope_core.catalog.formats.writers import write_record
from toolscope_core.catalog.schema.walking import every_schema, map_schemas
from toolscope_core.catalog.splitting import parts_in_words, split
from toolscope_core.model.plan import MergedTool
from toolscope_core.model.tool import JsonObject, Tool, digest

AT_SERVER = "fix the tool at its server."


@dataclass(frozen=True, slots=True)
class RuleViolation:
    """A rule that a tool breaks; ``tool_id`` is empty for a rule about the whole toolset.

    ``value`` breaks the rule, ``message`` explains this in a sentence, and ``fix`` is the
    replacement. ``fix`` is empty if only a person can fix it; then ``remedy`` says how.
    """

    tool_id: str
    rule: Rule
    value: str
    message: str
    fix: str = ""
    remedy: str = ""


def rule_violations(
    tools: Sequence[MergedTool],
    target: str,
    reserved: Iterable[str] = (),
    blocked: Set[str] = frozenset(),
) -> tuple[RuleViolation, ...]:
    """Every rule of ``target`` that the tools break: first rules about the whole toolset, then by
    tool id.

    Names are compared after NFKC and without case, as targets do. Names in ``reserved`` must not be
    proposed, such as those of tools that were merged away. ``blocked`` are ids of tools that give
    way to others with the same name. Raises ``ExportError`` for an unknown target.
    """
    row = target_named(target)
    ordered = sorted((item.tool for item in tools), key=lambda tool: tool.id)
    names = offered_names.new_names(ordered, row, reserved, blocked)
    broken = list(_of_set(tools, row))
    for tool in ordered:
        broken += _of_name(tool, row, names.get(tool.id))
        broken += _of_text(tool, row)
        broken += _of_schema(tool, row)
    return tuple(broken)


BrokenRules = dict[tuple[str, str, str], tuple[Rule, ...]]
"""The rules that each tool breaks independently of the others, by target, tool id and
fingerprint.
"""


def violation_counts(tools: Sequence[MergedTool], target: str, cache: BrokenRules) -> Counter[Rule]:
    """The number of ``rule_violations`` for each rule, counted without looking for fixes.

    ``cache`` keeps the violations of each single tool, so that a decision recounts only what it
    changed. Raises ``ExportError`` for an unknown target.
    """
    row = target_named(target)
    ordered = sorted((item.tool for item in tools), key=lambda tool: tool.id)
    counts = Counter[Rule]("count" for _ in _of_set(tools, row))
    counts.update(offered_names.wrong_names(ordered, row).values())
    for tool in ordered:
        key = (target, tool.id, tool.fingerprint)
        if (own := cache.get(key)) is None:
            own_violations = (*_of_text(tool, row), *_of_schema(tool, row))
            own = cache[key] = tuple(item.rule for item in own_violations)
        counts.update(own)
    return counts


@dataclass(frozen=True, slots=True)
class FixedTool:
    """A tool with every proposed fix applied, and its parameters that were renamed."""

    tool: Tool
    renaming: parameter_names.Renaming = field(default_factory=parameter_names.Renaming)


def fixed(
    tools: Sequence[MergedTool],
    target: str,
    reserved: Iterable[str] = (),
    blocked: Set[str] = frozenset(),
) -> dict[str, FixedTool]:
    """The tools that change if every proposed fix is applied, by id.

    The arguments are those of ``rule_violations``. The fix for too many tools is
    ``splitting.split``. Raises ``ExportError`` for an unknown target.
    """
    row = target_named(target)
    ordered = sorted((item.tool for item in tools), key=lambda tool: tool.id)
    names = offered_names.new_names(ordered, row, reserved, blocked)
    fixes = {}
    for tool in ordered:
        name = names[tool.id][0] if tool.id in names else ""
        schema, renaming = _fixed_schema(tool.schema, row)
        result = replace(
            tool,
            name=name or tool.name,
            description=offered_names.cut_text(tool.description, row.rules.longest_description),
            schema=schema,
        )
        if row.rules.mcp_record:
            result = _as_clients_read_it(result)
        if row.rules.strict_mode and foreign_formats.says_strict(tool.raw):
            plainer = foreign_formats.as_strict(schema or {})
            if foreign_formats.is_strict(plainer):
                result = replace(result, schema=plainer)
            else:
                result = replace(result, raw=_without_strict(result.raw))
        if result != tool:
            fixes[tool.id] = FixedTool(result, renaming)
    return fixes


def unreadable(tools: Iterable[Tool], target: str) -> dict[str, str]:
    """The tools that cannot be exported to the target in any form, by id, each with the reason.

    Either no MCP client can read the tool, or another API runs it itself. Raises ``ExportError``
    for an unknown target.
    """
    row = target_named(target)
    return {tool.id: why for tool in tools if (why := _obstacle(tool, row))}


def _obstacle(tool: Tool, target: Target) -> str:
    if built_in := record_format.built_in_record(tool.raw):
        home = record_format.home_of(built_in)
        if target.name in (home, "neutral", "generic"):
            return ""
        return (
            f"It is a built-in tool of {target_named(home).title}, which {target.title} does not "
            "have."
        )
    return _as_record(tool).obstacle if target.rules.mcp_record else ""


def _of_set(tools: Sequence[MergedTool], target: Target) -> Iterator[RuleViolation]:
    most, own = target.rules.room, target.rules.own_tools
    if most is not None and len(tools) > most:
        parts = split(tools, most)
        beside = f" in addition to its own {own}" if own else ""
        form = "files, one for each agent" if target.writes else "sets, one switched on at a time"
        message = f"{target.title} takes at most {most} tools{beside}; there are {len(tools)}."
        fix = f"{len(parts)} {form}: {parts_in_words(parts)}"
        remedy = "Or merge more tools, or leave whole servers out of the catalog."
        yield RuleViolation("", "count", str(len(tools)), message, fix, remedy)


def _of_name(tool: Tool, target: Target, new: tuple[str, Rule] | None) -> Iterator[RuleViolation]:
    if new is None:
        return
    (name, rule), rules = new, target.rules
    called = offered_names.name_prefix(tool, target) + tool.name
    if rule == "unique":
        message = (
            f"Another tool is called {tool.name!r} too; in {target.title} names must be unique."
        )
    elif rules.longest_name is not None and len(called) > rules.longest_name:
        message = (
            f"The name {called!r} is {len(called)} characters long; {target.title} accepts at most "
            f"{rules.longest_name}."
        )
    else:
        message = f"The name {tool.name!r} does not match {rules.name_rule} of {target.title}."
    fix, remedy = name, ""
    if not name:
        mark = digest(tool.server)[: offered_names.HASH_DIGITS]
        short = f"{offered_names.plain_name(tool.server, target)[:8]}_{mark}"
        fix = f"the server called {short}"
        remedy = "Give the server this name in the client's configuration."
        if len(tool.name) > offered_names.TOOL_ROOM:
            fix += f", the tool {offered_names.offered_name(replace(tool, server=short), target)}"
    elif not target.writes:
        remedy = "Rename it at its server, or in a gateway such as FastMCP or ToolHive."
    yield RuleViolation(tool.id, rule, tool.name, message, fix, remedy)


def _of_text(tool: Tool, target: Target) -> Iterator[RuleViolation]:
    most = target.rules.longest_description
    if most is not None and len(tool.description) > most:
        length = f"{len(tool.description)} characters"
        message = f"The description has {length}; {target.title} accepts at most {most}."
        yield RuleViolation(tool.id, "description", length, message, f"cut to {most} characters")


def _of_schema(tool: Tool, target: Target) -> Iterator[RuleViolation]:
    schema, rules = tool.schema or {}, target.rules
    if (built_in := record_format.built_in_record(tool.raw)) and (why := _obstacle(tool, target)):
        yield RuleViolation(
            tool.id, "schema", record_format.built_in_name(built_in), why, mcp_records.LEFT_OUT
        )
        return
    if rules.whole_object:
        for key in (key for key in parameter_names.TOP_LEVEL if key in schema):
            message = (
                f"The parameters have {key!r} at the top level; {target.title} needs a plain "
                "object."
            )
            fix = _without(key) if parameter_names.plain_object(schema) else ""
            remedy = "" if fix else f"A reference points into {key!r}; {AT_SERVER}"
            yield RuleViolation(tool.id, "schema", key, message, fix, remedy)
    if rules.typed_items and any(map(_bare_array, every_schema(schema))):
        message = f"An array does not say what it contains; {target.title} requires 'items'."
        yield RuleViolation(tool.id, "schema", "items", message, "items: {}")
    if rules.strict_mode and foreign_formats.says_strict(tool.raw):
        can_stay = foreign_formats.is_strict(foreign_formats.as_strict(schema))
        fix = "the same, written as strict mode accepts it" if can_stay else "strict: false"
        for place, why in foreign_formats.strict_faults(schema):
            message = f"It asks for strict mode, and {place!r} {why}; {target.title} rejects it."
            remedy = (
                ""
                if can_stay
                else "Or change it at its server: make an optional argument required and let it be "
                "null."
            )
            yield RuleViolation(tool.id, "schema", place, message, fix, remedy)
    if rules.mcp_record:
        for fault in _as_record(tool).faults:
            remedy = "" if fault.fix else f"F{AT_SERVER[1:-1]}, or leave it out."
            yield RuleViolation(tool.id, "schema", fault.value, fault.message, fault.fix, remedy)
    rule = rules.parameter_rule
    bad_names = parameter_names.refused_names(schema, rule, rules.top_parameters) if rule else []
    renaming = _fixed_schema(schema, target)[1] if bad_names else parameter_names.Renaming()
    for name in bad_names:
        message = f"The parameter {name!r} does not match {rules.parameter_rule} of {target.title}."
        fix = "" if renaming.obstacle else renaming.names.get(name, "left out")
        remedy = f"{renaming.obstacle} F{AT_SERVER[1:]}" if renaming.obstacle else ""
        yield RuleViolation(tool.id, "parameter", name, message, fix, remedy)


def _fixed_schema(
    schema: JsonObject | None, target: Target
) -> tuple[JsonObject | None, parameter_names.Renaming]:
    """The schema with every proposed fix, and the new names of its parameters."""
    if schema is None:
        return None, parameter_names.Renaming()
    rules = target.rules
    plain = (parameter_names.plain_object(schema) or schema) if rules.whole_object else schema
    full: JsonObject = map_schemas(plain, _with_items) if rules.typed_items else plain
    rule = rules.parameter_rule
    renaming = (
        parameter_names.renaming(full, rule, rules.top_parameters)
        if rule
        else parameter_names.Renaming()
    )
    return (renaming.schema if renaming.names else full), renaming


@lru_cache(maxsize=8_192)  # most targets ask for the same tools
def _as_record(tool: Tool) -> mcp_records.ReadableRecord:
    """The record of the tool as MCP clients read it; empty if nothing is wrong."""
    if not mcp_records.may_be_odd(tool):
        return mcp_records.ReadableRecord({})
    return mcp_records.readable_record(write_record(tool, "mcp", sendable=True))


def _as_clients_read_it(tool: Tool) -> Tool:
    """The tool as its repaired record declares it."""
    readable = _as_record(tool)
    if not readable.faults:
        return tool
    result = record_format.read_record(readable.record, mcp_records.MCP, tool.server)
    return replace(
        tool,
        description=result.description,
        schema=result.schema,
        returns=result.returns,
        annotations=result.annotations,
        raw=readable.record,
    )


def _without_strict(record: JsonObject) -> JsonObject:
    """The record in which strict mode is not requested."""
    function = record.get("function")
    inner = {**(function if isinstance(function, dict) else record), "strict": False}
    return {**record, "function": inner} if isinstance(function, dict) else inner


def _without(key: str) -> str:
    if key in ("enum", "not"):
        return f"without {key!r}, which the server still checks"
    return f"without {key!r}: what it declares is now among the parameters"


def _with_items(schema: JsonObject) -> JsonObject:
    """The schema; if it is an array without ``items``, ``items: {}`` is added."""
    return {**schema, "items": {}} if _bare_array(schema) else schema


def _bare_array(schema: JsonObject) -> bool:
    kind = schema.get("type")
    array = kind == "array" or (isinstance(kind, list) and "array" in kind)
    return array and "items" not in schema and "prefixItems" not in schema
