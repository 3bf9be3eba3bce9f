"""A tool under the name and description that a profile gives it, but for those that are blocked."""

from dataclasses import dataclass, replace

from toolscope_core.catalog.scan.citations import ToolNames
from toolscope_core.catalog.scan.scanner import scan_words
from toolscope_core.model.catalog import Finding
from toolscope_core.model.tool import Tool


@dataclass(frozen=True, slots=True)
class WordedTool:
    """The tool with its words, and what is found in them."""

    tool: Tool
    findings: tuple[Finding, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Why the tool does not have some of the words, a sentence each."""
        blocked = {one.field: one.message for one in self.findings if one.severity == "block"}
        return tuple(f"{self.tool.id} keeps its {field}: {why}" for field, why in blocked.items())


def with_own_words(tool: Tool, name: str, description: str, names: ToolNames) -> WordedTool:
    """The tool under that name and description, or its own where one is empty or blocked; ``names``
    are those of the tools beside it.
    """
    given = replace(tool, name=name or tool.name, description=description)
    findings = tuple(one for one in scan_words(given, names) if name or one.field != "name")
    blocked = {one.field for one in findings if one.severity == "block"}
    name = tool.name if not name or "name" in blocked else name
    is_own = not description or "description" in blocked
    description = tool.description if is_own else description
    return WordedTool(replace(tool, name=name, description=description), findings)
