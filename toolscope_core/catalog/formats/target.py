"""What a toolset is written for or checked against, and the rules that it has there."""

from dataclasses import dataclass
from typing import ClassVar, Literal

Scope = Literal["toolset", "server", "none"]
Rule = Literal["count", "name", "unique", "description", "parameter", "schema"]
"""What a toolset can break."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of an API, client or file format; one that is empty or ``None`` does not apply.

    ``name_rule`` and ``parameter_rule`` are regular expressions for a whole name, ``longest_name``
    counts characters with ``prefix`` before the name (``{server}`` in it is the server's).
    ``unique`` says among which tools a name stands once. ``whole_object`` forbids ``anyOf`` and its
    like at the top of the parameters, ``typed_items`` arrays that do not say what they hold.
    ``declared_object`` asks for ``properties`` there, which are written, be it none;
    ``parameter_rule`` is for names at every depth unless ``top_parameters``. ``mcp_record`` asks
    for a record that the SDKs of MCP read. Where ``dots_fold``, names are equal that differ in dots
    and underscores only.
    """

    name_rule: str = ""
    longest_name: int | None = None
    prefix: str = ""
    unique: Scope = "toolset"
    longest_description: int | None = None
    most_tools: int | None = None
    parameter_rule: str = ""
    top_parameters: bool = False
    declared_object: bool = False
    whole_object: bool = False
    typed_items: bool = False
    mcp_record: bool = False
    dots_fold: bool = False


LETTERS = r"[a-zA-Z0-9_-]+"
DOTTED = r"[A-Za-z0-9_.-]+"
ANY_NAMES = Rules(unique="none")


@dataclass(frozen=True, slots=True)
class Target:
    """A format or a client: its name in commands and files, its title for people, its rules.

    ``goes`` says in Markdown where its file goes, ``writes`` whether a toolset can leave in it.
    ``source`` is the address that the rules are from, ``as_of`` the month in which it said so.
    """

    name: str
    title: str
    rules: Rules = Rules()
    goes: str = "It has the form of the file that you loaded: put it in that file's place."
    source: str = ""
    as_of: str = ""
    writes: ClassVar[bool] = False

    @property
    def can_defer(self) -> bool:
        """Whether its file can leave tools to a search."""
        return False
