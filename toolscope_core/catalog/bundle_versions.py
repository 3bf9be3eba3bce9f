"""The versions of a bundle's files: no others are read."""

import json

from toolscope_core.catalog.flaws import Flaw, excerpt
from toolscope_core.model.tool import JsonObject

BUNDLE = 2
"""That of a bundle's manifest, and of its φ and α."""
PROFILES, PROFILE_FOLDER = "profiles.json", "profiles/"
"""The file of a bundle that says which tools each profile has, and where their exports are."""
TOOLSET = 1
"""That of a toolset in the neutral shape."""


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
