"""The folder of the app, in a checkout and where the package is installed."""

import os
from pathlib import Path

from toolscope_core.model.errors import ConfigError

_PACKAGES = Path(__file__).resolve().parents[2]
_PLACES = (_PACKAGES, _PACKAGES / "toolscope_app")
"""Beside the core in a checkout; in a package of its own, since names such as ``ui`` and ``pages``
are taken too easily, where a wheel is installed (``pyproject.toml``)."""


def app_folder() -> Path:
    """The folder that holds ``app.py``, ``ui``, ``pages`` and ``examples``. Raises ``ConfigError``
    where the core was copied without them.
    """
    for place in _PLACES:
        if (place / "app.py").is_file() and (place / "ui").is_dir():
            return place
    raise ConfigError(
        f"the app is not beside {_PACKAGES / 'toolscope_core'}; install toolscope-workbench, or "
        "run from a checkout"
    )


def child_environment(**variables: str) -> dict[str, str]:
    """The environment of a child process that finds our own package first."""
    path = os.pathsep.join(filter(None, (str(_PACKAGES), os.environ.get("PYTHONPATH"))))
    return {**os.environ, **variables, "PYTHONPATH": path}
