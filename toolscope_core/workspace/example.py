"""The bundled example catalog: fictional servers, our own writing."""

from __future__ import annotations

from pathlib import Path

EXAMPLE_NAME = "Example"


def example_path() -> Path:
    """The file of the example, beside the package in a checkout."""
    return Path(__file__).resolve().parents[2] / "examples" / "catalog.json"
