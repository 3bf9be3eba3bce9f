"""Reads document variants from files, and adds them to tools.

A variant is an expanded description with questions that the tool answers (Retrieval–Plan–Select,
§3.1). In a file, it is a row with ``tool`` (an id, or a name that only one tool has), ``expanded``
and ``questions``.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

from toolscope_core.catalog.naming import ids_by_name
from toolscope_core.files.json_lines import read_rows, rows_in
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.plan import MergedTool, MergePlan
from toolscope_core.model.tool import Augmentation, JsonObject, SubstituteTool, Tool

MOST_QUESTIONS = 12
"""The most questions for a merged tool; with more, the text would exceed what an encoder reads."""
_LONGEST = 20_000
"""The longest text that a file may contain, in characters."""


@dataclass(frozen=True, slots=True)
class LoadedVariants:
    """Variants, by the ids of their tools.

    ``unknown_names`` are names in the file that no tool has, or that several tools have.
    """

    by_id: Mapping[str, Augmentation]
    unknown_names: tuple[str, ...] = ()


def read_variants(path: Path, catalog: Catalog) -> LoadedVariants:
    """The variants in a JSONL file for the tools of a catalog.

    Raises ``ConfigError`` for a malformed row, for a repeated tool, and for a file without variants
    of the catalog's tools.
    """
    return _by_id(read_rows(path), str(path), catalog)


def variants_in(content: bytes, label: str, catalog: Catalog) -> LoadedVariants:
    """Like ``read_variants``, but for the content of a file."""
    return _by_id(rows_in(content, label), label, catalog)


def variant_rows(variants: Mapping[str, Augmentation]) -> list[JsonObject]:
    """The rows for a file, sorted by tool id."""
    return [
        {"tool": tool_id, "expanded": variant.expanded, "questions": list(variant.questions)}
        for tool_id, variant in sorted(variants.items())
    ]


def with_variants(
    tools: Iterable[Tool],
    variants: Mapping[str, Augmentation],
    phi: Mapping[str, str | None] | None = None,
) -> tuple[Tool, ...]:
    """The tools with their variants.

    ``phi`` maps the ids in ``variants`` to the ids of the tools. A tool that replaces several tools
    gets its own expanded description, or else that of the first, and the questions of all tools in
    turn, at most ``MOST_QUESTIONS``. If a tool carries its members, the members keep their own
    variants.
    """
    former: dict[str, list[str]] = {}
    for old, new in sorted((phi or {}).items()):
        if new is not None:
            former.setdefault(new, []).append(old)
    return tuple(
        replace(tool, members=with_variants(tool.members, variants))
        if isinstance(tool, SubstituteTool)
        else replace(tool, augmentation=_joined([tool.id, *former.get(tool.id, ())], variants))
        for tool in tools
    )


def with_expanded(plan: MergePlan, variants: Mapping[str, Augmentation]) -> MergePlan:
    """The plan with expanded descriptions from ``variants`` for tools that still have their own
    texts.

    Descriptions that people edited and descriptions of merged tools do not change.
    """
    originals = plan.catalog.by_id

    def expanded(item: MergedTool) -> MergedTool:
        variant = variants.get(item.tool.id)
        is_edited = item.tool.description != originals[item.tool.id].description
        if variant is None or not variant.expanded.strip() or is_edited:
            return item
        return replace(item, tool=replace(item.tool, description=variant.expanded))

    return replace(plan, tools=tuple(expanded(item) for item in plan.tools))


def _joined(ids: Sequence[str], variants: Mapping[str, Augmentation]) -> Augmentation | None:
    found_variants = [variants[one] for one in dict.fromkeys(ids) if one in variants]
    if len(found_variants) < 2:
        return found_variants[0] if found_variants else None
    in_turn = zip_longest(*(one.questions for one in found_variants))
    questions = dict.fromkeys(one for turn in in_turn for one in turn if one is not None)
    return Augmentation(found_variants[0].expanded, tuple(questions)[:MOST_QUESTIONS])


def _by_id(rows: Iterable[tuple[int, JsonObject]], label: str, catalog: Catalog) -> LoadedVariants:
    ids = ids_by_name(catalog.tools)
    by_id: dict[str, Augmentation] = {}
    unknown_names = []
    for number, row in rows:
        name, variant = _row(row, f"{label}, line {number}")
        tool_id = ids.get(name)
        if tool_id is None:
            unknown_names.append(name)
        elif tool_id in by_id:
            raise ConfigError(f"{label}, line {number}: {name!r:.80} appears twice; keep one")
        else:
            by_id[tool_id] = variant
    if not by_id:
        example = f"; its first names {unknown_names[0]!r:.80}" if unknown_names else ""
        raise ConfigError(
            f"{label} has no variant of a tool in this catalog{example}; give each row `tool` (an "
            "id or a name), `expanded` and `questions`"
        )
    return LoadedVariants(by_id, tuple(unknown_names))


def _row(row: JsonObject, place: str) -> tuple[str, Augmentation]:
    name, expanded, questions = (row.get(key) for key in ("tool", "expanded", "questions"))
    if not isinstance(name, str) or not name:
        raise ConfigError(f"{place}: `tool` is {name!r:.60}; use the id or name of a tool")
    if not isinstance(expanded, str):
        raise ConfigError(f"{place}: `expanded` is {expanded!r:.60}; use a string")
    if not isinstance(questions, list) or not all(isinstance(one, str) for one in questions):
        raise ConfigError(f"{place}: `questions` is {questions!r:.60}; use a list of strings")
    if max(len(one) for one in (expanded, *questions)) > _LONGEST:
        raise ConfigError(f"{place}: a string has more than {_LONGEST:,} characters; shorten it")
    nonblank = tuple(one for one in questions if one.strip())
    if not expanded.strip() and not nonblank:
        raise ConfigError(f"{place}: the row has no text; remove it")
    return name, Augmentation(expanded, nonblank)
