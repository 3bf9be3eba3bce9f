"""Files of the cache: complete or absent, and a damaged one counts as absent."""

import contextlib
import hashlib
import os
from functools import cache
from pathlib import Path

from toolscope_core.model.errors import ConfigError

_SEAL = 32
_PROGRAM = Path(__file__).parents[1]


def put(path: Path, body: bytes) -> None:
    """Write a file so that it is complete or absent."""
    partial = path.with_name(f".{os.getpid()}.{os.urandom(4).hex()}.partial")
    try:
        partial.write_bytes(body)
        partial.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        raise


def write_sealed(folder: Path, name: str, body: bytes) -> None:
    """Write a file that begins with the SHA-256 of its content; ``folder`` is that of all caches.
    Raises ``ConfigError`` where it is unusable.
    """
    path = folder / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        put(path, hashlib.sha256(body).digest() + body)
    except OSError as error:
        raise unusable(folder, error) from error


def read_sealed(path: Path) -> bytes | None:
    """What ``write_sealed`` was given; ``None`` where it is not there or damaged."""
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
    """The error of a cache folder that cannot be written, with the remedy."""
    return ConfigError(
        f"the cache folder {str(folder)!r} cannot be written ({error.strerror or error}); "
        "free space there or point TOOLSCOPE_CACHE_DIR to another folder"
    )


@cache
def code_version(*packages: str) -> str:
    """The hash of packages of this program and of the lists in them: what they computed is
    computed anew where they are not the same any more.
    """
    files = sorted(path for name in packages for path in (_PROGRAM / name).rglob("*"))
    texts = (path.read_bytes() for path in files if path.suffix in (".py", ".json", ".gz"))
    return hashlib.sha256(b"\0".join(texts)).hexdigest()
