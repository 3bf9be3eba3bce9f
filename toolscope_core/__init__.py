"""ToolScope: audit and curate the toolsets of LLM agents.

``model`` has the nouns and the errors. Each other package is one method or one connection to the
outside; docs/architecture.md draws them. Importing this package loads no model, no screen and no
database. docs/python.md shows its entry points.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolscope_core.catalog.readers import read_catalog
    from toolscope_core.export.bundle import write_bundle
    from toolscope_core.merging.analysing import analyse, plan_merge
    from toolscope_core.model.configuration import PlanConfig
    from toolscope_core.retrieval.retriever import Retriever

__version__ = "0.2.0"
__all__ = ["PlanConfig", "Retriever", "analyse", "plan_merge", "read_catalog", "write_bundle"]
_MODULES = {
    "PlanConfig": "model.configuration",
    "Retriever": "retrieval.retriever",
    "analyse": "merging.analysing",
    "plan_merge": "merging.analysing",
    "read_catalog": "catalog.readers",
    "write_bundle": "export.bundle",
}


def __getattr__(name: str) -> Any:
    """An entry point; its module is loaded on first use."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
