"""Writes a bundle's or model's folder completely or not at all, never over foreign files.

The new folder is made beside its place. On Linux the two are exchanged in one step, so that the old
or the new bundle exists at every moment; elsewhere by two renames.
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
"""The errors of reading a file with other contents as JSON."""
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""A pipe is opened without waiting for its writer, so that it can be refused."""


def read_file(path: Path, most: int = MOST_BYTES) -> bytes:
    """The content of a regular file.

    Raises ``OSError`` for anything else, for an invalid path, and beyond ``most`` bytes.
    """
    try:
        descriptor = os.open(path, _READ)
    except ValueError as error:  # a NUL in the path, or text that no path can hold
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


MANIFEST = "manifest.json"
PROGRAM = "toolscope"
"""The ``program`` of a bundle's manifest."""
MODEL_PROGRAM = "toolscope model"
"""The ``program`` of a trained model's manifest: models and bundles never replace each other."""

EMBEDDER_PROGRAM = "toolscope embedder"
"""The ``program`` of a tuned embedder's manifest: a sentence-transformers model with a manifest."""

_EXCHANGE, _HERE = 2, -100
_NOUNS = {PROGRAM: "bundle", MODEL_PROGRAM: "model", EMBEDDER_PROGRAM: "embedder"}


def write_folder(files: Iterable[tuple[str, bytes]], folder: Path, program: str = PROGRAM) -> None:
    """Put the files, by name, into ``folder``, all or none.

    An unchanged bundle (or model, by the ``program`` of its manifest) is replaced. Raises
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
    except (OSError, RuntimeError) as error:  # resolve() raises the latter for a loop of links
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
    """Why the folder is not an unchanged bundle (or model) of this program.

    Empty if it is one, or if the folder is empty or missing.
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
    """The manifest of these files."""
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    return json.dumps({"program": program, "sha256": hashes}, indent=1).encode()


def _hashes(path: Path, program: str) -> dict[str, str] | None:
    """The hashes of the other files in a manifest of this program; ``None`` for other files."""
    try:
        manifest: Any = json.loads(read_file(path))
        hashes = manifest["sha256"]
        is_ours = manifest["program"] == program and isinstance(hashes, dict)
    except DAMAGE:
        return None
    return hashes if is_ours else None


def _exchange(new: Path, folder: Path) -> bool:
    """Whether the two could be exchanged in one step."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    status = rename(_HERE, os.fsencode(new), _HERE, os.fsencode(folder), _EXCHANGE)
    return bool(status == 0)


def _swap(new: Path, folder: Path, old: Path) -> None:
    """Exchange the two in two steps; after a kill between them, the old folder is ``old``."""
    folder.rename(old)
    try:
        new.rename(folder)
    except OSError:
        old.rename(folder)
        raise


def _clear_beside(folder: Path) -> None:
    """Remove leftovers of killed programs beside ``folder``."""
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
"""Beside the core in a checkout; in a package of its own, since names such as ``ui`` and ``pages``
are taken too easily, where a wheel is installed (``pyproject.toml``)."""


def app_folder() -> Path:
    """The folder with ``app.py``, ``ui``, ``pages`` and ``examples``.

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
    """The environment of a child process, in which our own package is found first."""
    path = os.pathsep.join(filter(None, (str(_PACKAGES), os.environ.get("PYTHONPATH"))))
    return {**os.environ, **variables, "PYTHONPATH": path}


_SEAL = 32
_PROGRAM = Path(__file__).parents[1]


def put(path: Path, body: bytes, mode: int = 0o666) -> None:
    """Write a file completely or not at all; ``mode`` sets its permissions, as for ``open``."""
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
    """Write a file that begins with the SHA-256 of its content; ``folder`` is the root of all
    caches.

    Raises ``ConfigError`` if it is unusable.
    """
    path = folder / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        put(path, hashlib.sha256(body).digest() + body)
    except OSError as error:
        raise unusable(folder, error) from error


def read_sealed(path: Path) -> bytes | None:
    """The content given to ``write_sealed``; ``None`` if it is missing or damaged."""
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
    """The error for a cache folder that cannot be written, with the remedy."""
    return ConfigError(
        f"the cache folder {str(folder)!r} cannot be written ({error.strerror or error}); "
        "free some space there, or set TOOLSCOPE_CACHE_DIR to another folder"
    )


@cache
def code_version(*packages: str) -> str:
    """The hash of some packages of this program and their word lists.

    If it changes, their results are computed again.
    """
    files = sorted(path for name in packages for path in (_PROGRAM / name).rglob("*"))
    texts = (path.read_bytes() for path in files if path.suffix in (".py", ".json", ".gz"))
    return hashlib.sha256(b"\0".join(texts)).hexdigest()
