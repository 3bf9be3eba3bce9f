"""Writes the folder of a bundle or model completely or not at all, and never over foreign files.

The new folder is written beside the old one. On Linux the two are exchanged in one step, so that
the old or the new bundle exists at every moment. Elsewhere this takes two renames.
"""

import ctypes
import errno
import hashlib
import json
import os
import re
import shutil
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from toolscope_core.model.errors import ConfigError, ExportError

MOST_BYTES = 512 << 20
DAMAGE = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""The errors that may occur when a file with unexpected contents is read as JSON."""
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""Flags that open a pipe without waiting for its writer, so that the pipe can be refused."""


def read_file(path: Path, most: int = MOST_BYTES) -> bytes:
    """The content of a regular file.

    Raises ``OSError`` for anything else, for an invalid path, and for more than ``most`` bytes.
    """
    try:
        descriptor = os.open(path, _READ)
    except ValueError as error:  # a NUL in the path, or text that no path can contain
        raise OSError(errno.EINVAL, str(error), ascii(str(path))) from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a file", str(path))
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            content = file.read(most + 1)
    finally:
        os.close(descriptor)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most:,} bytes", str(path))
    return content


def read_named(path: Path, remedy: str) -> bytes:
    """Like ``read_file``, for a file that a person named. Raises ``ConfigError`` with the remedy if
    it cannot be read.
    """
    try:
        return read_file(path)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}; {remedy}") from error


MANIFEST = "manifest.json"
PROGRAM = "toolscope"
"""The ``program`` in the manifest of a bundle."""
MODEL_PROGRAM = "toolscope model"
"""The ``program`` in the manifest of a trained model: models and bundles never replace each other.
"""

EMBEDDER_PROGRAM = "toolscope embedder"
"""The ``program`` in the manifest of a tuned embedder, a sentence-transformers model."""

_EXCHANGE, _HERE = 2, -100
_NOUNS = {PROGRAM: "bundle", MODEL_PROGRAM: "model", EMBEDDER_PROGRAM: "embedder"}


def write_folder(files: Iterable[tuple[str, bytes]], folder: Path, program: str = PROGRAM) -> None:
    """Write all files, given by name, to ``folder``, or none.

    An unchanged bundle is replaced (or a model, if the ``program`` of the manifest says so). Raises
    ``ExportError`` if the folder contains anything else, or cannot be written.
    """
    size = 0
    try:
        folder = folder.resolve()
        check_ours(folder, program)
        folder.parent.mkdir(parents=True, exist_ok=True)
        scratch = folder.parent / f".{folder.name}-{os.getpid()}-{os.urandom(4).hex()}"
        new = scratch / "new"
        new.mkdir(parents=True)
        try:
            for name, content in files:
                size += len(content)
                (new / name).parent.mkdir(parents=True, exist_ok=True)
                (new / name).write_bytes(content)
            if not folder.exists():
                new.rename(folder)
            elif not _exchange(new, folder):
                _swap(new, folder, scratch / "old")
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        _clear_beside(folder)
    except (OSError, RuntimeError) as error:  # resolve() raises RuntimeError for a loop of links
        reason = getattr(error, "strerror", None) or str(error)
        is_full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        remedy = f"; free more than {size:,} bytes there and try again" if is_full else ""
        raise ExportError(
            f"the {_NOUNS[program]} could not be written to {folder}: {reason}; the folder is "
            f"unchanged{remedy}"
        ) from error


def check_ours(folder: Path, program: str = PROGRAM) -> None:
    """Raises ``ExportError`` if the folder contains anything that this program did not write."""
    reason = why_not_ours(folder, program)
    if reason:
        raise ExportError(
            f"{folder} was not replaced: {reason}; move it away, or choose a new "
            "or empty folder with --out"
        )


def why_not_ours(folder: Path, program: str = PROGRAM) -> str:
    """Why the folder is not an unchanged bundle (or model) from this program.

    Empty if it is, or if the folder is empty or missing.
    """
    noun = _NOUNS[program]
    if folder.exists() and not folder.is_dir():
        return "it is a file"
    names = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_symlink() or not path.is_dir() or not any(path.iterdir())
    }
    hashes = _hashes(folder / MANIFEST, program)
    if names and hashes is None:
        return f"it contains something other than a {noun} ({min(names)})"
    for name in sorted(names - {MANIFEST}):
        if name not in (hashes or {}):
            return f"it contains something other than a {noun} ({name})"
        if hashlib.sha256(read_file(folder / name)).hexdigest() != (hashes or {})[name]:
            return f"{name} has changed since the {noun} was written"
    return ""


def manifest_of(files: Mapping[str, bytes], program: str) -> bytes:
    """A manifest of these files, as JSON."""
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    return json.dumps({"program": program, "sha256": hashes}, indent=1).encode()


def _hashes(path: Path, program: str) -> dict[str, str] | None:
    """The hashes of the other files in a manifest from this program; ``None`` for any other
    file.
    """
    try:
        manifest: Any = json.loads(read_file(path))
        hashes = manifest["sha256"]
        is_ours = manifest["program"] == program and isinstance(hashes, dict)
    except DAMAGE:
        return None
    return hashes if is_ours else None


def _exchange(new: Path, folder: Path) -> bool:
    """Exchange the two folders in one step; returns whether this was possible."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    status = rename(_HERE, os.fsencode(new), _HERE, os.fsencode(folder), _EXCHANGE)
    return bool(status == 0)


def _swap(new: Path, folder: Path, old: Path) -> None:
    """Exchange the two folders in two steps; after a kill between the steps, ``old`` is the old
    folder.
    """
    folder.rename(old)
    try:
        new.rename(folder)
    except OSError:
        old.rename(folder)
        raise


def _clear_beside(folder: Path) -> None:
    """Remove what killed programs left beside ``folder``."""
    pattern = re.compile(rf"\.{re.escape(folder.name)}-(\d+)-[0-9a-f]{{8}}")
    with suppress(OSError):
        for path in folder.parent.iterdir():
            match = pattern.fullmatch(path.name)
            if match and not _alive(int(match[1])):
                shutil.rmtree(path, ignore_errors=True)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


_PACKAGES = Path(__file__).resolve().parents[2]
_PLACES = (_PACKAGES, _PACKAGES / "toolscope_app")
"""The places of the app: beside the core in a checkout, and in a package of its own in a wheel
(``pyproject.toml``), because names such as ``ui`` and ``pages`` are likely to be taken.
"""


def app_folder() -> Path:
    """The folder that contains ``app.py``, ``ui``, ``pages`` and ``examples``.

    Raises ``ConfigError`` if the core was copied without them.
    """
    for place in _PLACES:
        if (place / "app.py").is_file() and (place / "ui").is_dir():
            return place
    raise ConfigError(
        f"the app is not next to {_PACKAGES / 'toolscope_core'}; install toolscope-workbench, "
        "or run it from a checkout"
    )


def child_environment(**variables: str) -> dict[str, str]:
    """The environment for a child process; Python searches our own package first."""
    path = os.pathsep.join(filter(None, (str(_PACKAGES), os.environ.get("PYTHONPATH"))))
    return {**os.environ, **variables, "PYTHONPATH": path}


_SEAL = 32
_PROGRAM = Path(__file__).parents[1]


def put(path: Path, body: bytes, mode: int = 0o666) -> None:
    """Write a file completely or not at all; ``mode`` sets the permissions, as for ``open``."""
    partial = path.with_name(f".{os.getpid()}.{os.urandom(4).hex()}.partial")
    try:
        partial.touch(mode, exist_ok=False)
        partial.write_bytes(body)
        partial.replace(path)
    except OSError:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise


def write_sealed(folder: Path, name: str, body: bytes) -> None:
    """Write a file that begins with the SHA-256 of the content; ``folder`` is the root of all
    caches.

    Raises ``ConfigError`` if the folder is unusable.
    """
    path = folder / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        put(path, hashlib.sha256(body).digest() + body)
    except OSError as error:
        raise unusable(folder, error) from error


def read_sealed(path: Path) -> bytes | None:
    """The content that ``write_sealed`` wrote; ``None`` if the file is missing or damaged."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    body = content[_SEAL:]
    return body if hashlib.sha256(body).digest() == content[:_SEAL] else None


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file, 64 hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def unusable(folder: Path, error: OSError) -> ConfigError:
    """The error for a cache folder that cannot be written, with a remedy."""
    return ConfigError(
        f"the cache folder {str(folder)!r} cannot be written ({error.strerror or error}); "
        "free some space there, or set TOOLSCOPE_CACHE_DIR to another folder"
    )


@cache
def code_version(*packages: str) -> str:
    """A hash of some packages of this program, including their word lists.

    If the hash changes, the results of the packages are computed again.
    """
    files = sorted(path for name in packages for path in (_PROGRAM / name).rglob("*"))
    texts = (path.read_bytes() for path in files if path.suffix in (".py", ".json", ".gz"))
    return hashlib.sha256(b"\0".join(texts)).hexdigest()
