"""What each API and client asks of a toolset: its rules on names, lengths, counts and schemas."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from toolscope_core.catalog.shapes import SHAPES
from toolscope_core.errors import ExportError

Scope = Literal["toolset", "server", "none"]


@dataclass(frozen=True, slots=True)
class Target:
    """The rules of one API, client or file format; a rule that is empty or ``None`` is none.

    ``name_rule`` and ``parameter_rule`` are regular expressions for a whole name, ``longest_name``
    counts characters with ``prefix`` before the name (``{server}`` in it is the server's).
    ``unique`` says among which tools a name stands once. ``whole_object`` forbids ``anyOf`` and its
    like at the top of the parameters, ``typed_items`` arrays that do not say what they hold.
    """

    name: str
    title: str
    name_rule: str = ""
    longest_name: int | None = None
    prefix: str = ""
    unique: Scope = "toolset"
    longest_description: int | None = None
    most_tools: int | None = None
    parameter_rule: str = ""
    whole_object: bool = False
    typed_items: bool = False

    @property
    def is_shape(self) -> bool:
        """Whether a toolset can be written for it; else it is a client that reads servers."""
        return self.name in SHAPES


_LETTERS = r"[a-zA-Z0-9_-]+"
_OPENAI = Target(
    "openai-chat",
    "OpenAI chat",
    name_rule=_LETTERS,
    longest_name=64,
    longest_description=1024,
    most_tools=128,
    whole_object=True,
    typed_items=True,
)
_TARGETS = (
    _OPENAI,
    replace(_OPENAI, name="openai-responses", title="OpenAI responses"),
    Target(
        "anthropic",
        "Anthropic",
        name_rule=_LETTERS,
        longest_name=64,
        parameter_rule=r"[a-zA-Z0-9_.-]{1,64}",
        whole_object=True,
    ),
    Target("mcp", "MCP", name_rule=r"[A-Za-z0-9_.-]+", longest_name=128, unique="server"),
    Target(
        "gemini",
        "Gemini",
        name_rule=r"[A-Za-z_][A-Za-z0-9_.:-]*",
        longest_name=64,
        parameter_rule=r"[A-Za-z_][A-Za-z0-9_]{0,63}",
    ),
    Target("neutral", "Neutral", unique="none"),
    Target("bfcl", "BFCL", unique="none"),
    Target("generic", "Generic", unique="none"),
    Target(
        "claude-code",
        "Claude Code",
        name_rule=r"[A-Za-z0-9_.-]+",
        longest_name=64,
        prefix="mcp__{server}__",
        unique="server",
    ),
    Target("cursor", "Cursor", unique="server", most_tools=40),
    Target("vscode", "VS Code", unique="server", most_tools=128),
)
TARGETS: dict[str, Target] = {target.name: target for target in _TARGETS}
MATRIX = tuple(name for name in TARGETS if name not in ("bfcl", "generic"))
"""The targets that the matrix shows, in its order."""


def target_named(name: str) -> Target:
    """The rules of a format or client; a format without rules asks for names that stand once.

    Raises ``ExportError`` for a name that is neither.
    """
    if name not in TARGETS and name not in SHAPES:
        raise ExportError(f"the format {name!r} is unknown; give one of {', '.join(SHAPES)}")
    return TARGETS.get(name, Target(name, name))
