"""The versions of a bundle's files, no others are read, and the parts of large ones."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from toolscope_core.catalog.flaws import Flaw, excerpt
from toolscope_core.model.tool import JsonObject

BUNDLE = 2
"""That of a bundle's manifest, and of its φ and α."""
PROFILES, PROFILE_FOLDER = "profiles.json", "profiles/"
"""The file of a bundle that says which tools each profile has, and where their exports are."""
TOOLSET = 1
"""That of a toolset in the neutral shape."""
PART_TOOLS = 40_000
"""Tools in a file of a bundle that holds definitions; more are written in parts."""
PART_PAIRS = 250_000
"""Pairs in ``pairs.jsonl``; more are written in parts."""


def part_names(name: str, parts: int) -> Sequence[str]:
    """The names of the parts of a file, its own where there is one: ``pairs-1.jsonl`` and so on."""
    if parts == 1:
        return [name]
    stem, dot, suffix = name.rpartition(".")
    return [f"{stem}-{number:0{len(str(parts))}}{dot}{suffix}" for number in range(1, parts + 1)]


def files_of(folder: Path, name: str) -> Sequence[Path]:
    """The file of a bundle, or where it is written in parts these, in their order."""
    stem, _, suffix = name.rpartition(".")
    numbered = re.compile(rf"{re.escape(stem)}-\d+\.{re.escape(suffix)}")
    parts = sorted(path for path in folder.glob("*") if numbered.fullmatch(path.name))
    return [folder / name] if (folder / name).exists() or not parts else parts


def why_unreadable(label: str, document: JsonObject, version: int) -> str:
    """Why a file is not read that says another version than ``version``, as a sentence; empty for
    this one.
    """
    named = document.get("version")
    if type(named) is int and named == version:  # True is no version, though it equals 1
        return ""
    return (
        f"{label} is not a bundle's file of version {version}: {_version_in_words(document)}; "
        "export the bundle again, or use the release that wrote it"
    )


def _version_in_words(document: JsonObject) -> str:
    version = document.get("version")
    if "version" not in document:
        return "it has no version"
    if isinstance(version, Flaw):
        return f"its version {version.reason.partition(',')[0]}"
    value = json.dumps(version) if isinstance(version, str) else excerpt(version)
    return f"its version is {value[:60]}"
