"""A folder of a bundle or a model: written whole or not at all, never over files of others.

The new folder is made beside its place and the two are exchanged in one step where the system can
(Linux), so that the old or the new bundle is there at every moment. Where it cannot, a kill
between two renames leaves the old one under another name: ``restore`` puts it back before the
next use.
"""

import ctypes
import errno
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from toolscope_core.files.whole_files import DAMAGE, read_file
from toolscope_core.model.errors import ExportError

MANIFEST = "manifest.json"
PROGRAM = "toolscope"
"""The ``program`` of a bundle's manifest."""
MODEL_PROGRAM = "toolscope model"
"""That of a trained model's: neither takes the place of the other."""

EMBEDDER_PROGRAM = "toolscope embedder"
"""That of a tuned embedder's: a sentence-transformers model with a manifest."""

_EXCHANGE, _HERE = 2, -100
_NOUNS = {PROGRAM: "bundle", MODEL_PROGRAM: "model", EMBEDDER_PROGRAM: "embedder"}


def write_folder(files: Iterable[tuple[str, bytes]], folder: Path, program: str = PROGRAM) -> None:
    """Put the files, by name, into ``folder``, all or none; a bundle (a model, by the ``program``
    of its manifest) that stands there as it was written is replaced.

    Raises ``ExportError`` where the folder holds anything else, or cannot be written.
    """
    size = 0
    try:
        folder = folder.resolve()
        restore(folder)
        check_ours(folder, program)
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside = folder.parent / f".{folder.name}-{os.getpid()}-{os.urandom(4).hex()}"
        new = beside / "new"
        new.mkdir(parents=True)
        try:
            for name, content in files:
                size += len(content)
                (new / name).parent.mkdir(parents=True, exist_ok=True)
                (new / name).write_bytes(content)
            if not folder.exists():
                new.rename(folder)
            elif not _exchanged(new, folder):
                _swap(new, folder, beside / "old")
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    except (OSError, RuntimeError) as error:  # resolve() raises the latter for a loop of links
        reason = getattr(error, "strerror", None) or str(error)
        is_full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        remedy = f"; free more than {size:,} bytes there and repeat" if is_full else ""
        raise ExportError(
            f"the {_NOUNS[program]} could not be written to {folder}: {reason}; what stood there "
            f"is unchanged{remedy}"
        ) from error


def restore(folder: Path) -> None:
    """Clear what killed programs left beside ``folder``, and put a bundle back that one of them
    had taken away.
    """
    left = re.compile(rf"\.{re.escape(folder.name)}-(\d+)-[0-9a-f]{{8}}")
    with suppress(OSError):
        for path in sorted(folder.parent.iterdir()):
            made = left.fullmatch(path.name)
            if made and not _alive(int(made[1])):
                if not folder.exists() and (path / "old").is_dir():
                    (path / "old").rename(folder)
                shutil.rmtree(path, ignore_errors=True)


def check_ours(folder: Path, program: str = PROGRAM) -> None:
    """Raises ``ExportError`` where the folder holds anything but what this program wrote."""
    refused = why_not_ours(folder, program)
    if refused:
        raise ExportError(
            f"{folder} is not replaced: {refused}; move it away, or give a new or empty folder "
            "with --out"
        )


def why_not_ours(folder: Path, program: str = PROGRAM) -> str:
    """Why the folder is no bundle (or model) as this program wrote it, in words; empty for one that
    is, for an empty folder and for none.
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
        return f"it holds something else than a {noun} ({min(names)})"
    for name in sorted(names - {MANIFEST}):
        if name not in (hashes or {}):
            return f"it holds something else than a {noun} ({name})"
        if hashlib.sha256(read_file(folder / name)).hexdigest() != (hashes or {})[name]:
            return f"{name} was changed since the {noun} was written"
    return ""


def manifest_of(files: Mapping[str, bytes], program: str) -> bytes:
    """The manifest of these files."""
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    return json.dumps({"program": program, "sha256": hashes}, indent=1).encode()


def _hashes(path: Path, program: str) -> dict[str, str] | None:
    """The hashes of the other files in a manifest of this program; ``None`` for any other file."""
    try:
        manifest: Any = json.loads(read_file(path))
        hashes = manifest["sha256"]
        ours = manifest["program"] == program and isinstance(hashes, dict)
    except DAMAGE:
        return None
    return hashes if ours else None


def _exchanged(new: Path, folder: Path) -> bool:
    """Whether the two could be exchanged in one step."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    done = rename(_HERE, os.fsencode(new), _HERE, os.fsencode(folder), _EXCHANGE)
    return bool(done == 0)


def _swap(new: Path, folder: Path, old: Path) -> None:
    """Exchange the two in two steps; ``restore`` repairs a kill between them."""
    folder.rename(old)
    try:
        new.rename(folder)
    except OSError:
        old.rename(folder)
        raise


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
