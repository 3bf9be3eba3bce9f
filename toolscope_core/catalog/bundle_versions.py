"""The versions of a bundle's files that can be read."""

from __future__ import annotations

import json

from toolscope_core.catalog.flaws import Flaw, excerpt
from toolscope_core.model.datamodel import JsonObject

READABLE = (1, 2)
"""Version 2 added how the tools of a pair or a cluster are related."""


def why_unreadable(label: str, document: JsonObject) -> str:
    """Why the version of a bundle's file keeps it from being read, as a sentence; empty where it
    can be read.
    """
    version = document.get("version")
    if type(version) is int and version in READABLE:  # True is no version, though it equals 1
        return ""
    return (
        f"{label} is not a bundle's file of version {' or '.join(map(str, READABLE))}: "
        f"{_version_in_words(document)}; export the bundle again, or use the release that wrote it"
    )


def _version_in_words(document: JsonObject) -> str:
    version = document.get("version")
    if "version" not in document:
        return "it has no version"
    if isinstance(version, Flaw):
        return f"its version {version.reason.partition(',')[0]}"
    value = json.dumps(version) if isinstance(version, str) else excerpt(version)
    return f"its version is {value[:60]}"
