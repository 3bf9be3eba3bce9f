"""Native tool catalogs in and out: reading, naming, scanning, token estimates, writing."""

from toolscope_core.catalog.formats.format_table import INPUTS, OUTPUTS
from toolscope_core.catalog.formats.target_rules import RuleViolation, rule_violations
from toolscope_core.catalog.formats.writers import write_toolset
from toolscope_core.catalog.isolation import read_isolated
from toolscope_core.catalog.naming import assign_ids
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.scan.hidden import visible
from toolscope_core.catalog.scan.scanner import scan_catalog, scan_tool
from toolscope_core.catalog.sources import Source, load_paths
from toolscope_core.catalog.tokens import estimate_tokens, tool_tokens

__all__ = [
    "INPUTS",
    "OUTPUTS",
    "RuleViolation",
    "Source",
    "assign_ids",
    "estimate_tokens",
    "load_paths",
    "read_catalog",
    "read_isolated",
    "rule_violations",
    "scan_catalog",
    "scan_tool",
    "tool_tokens",
    "visible",
    "write_toolset",
]
