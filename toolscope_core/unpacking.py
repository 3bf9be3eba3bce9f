"""A bundle's files out of the zip that the Export page makes."""

from __future__ import annotations

import io
import lzma
import re
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from toolscope_core.errors import ConfigError
from toolscope_core.files import MOST_BYTES, read_file

_ANCHOR = "relabel.json"
_PART = re.compile(r"(?!\.+$)[\w. -]{1,80}")
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    RuntimeError,
    ValueError,
    IndexError,
    EOFError,
    OSError,
)
"""What ``zipfile`` raises for files that are damaged."""
_REMEDY = "give the zip that Export makes"


@contextmanager
def bundle_folder(path: Path) -> Iterator[Path]:
    """The folder of the bundle at ``path``; that of a zip is there until the block ends.

    Raises ``ConfigError`` for a file that is no zip of a bundle.
    """
    if not path.is_file():
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="toolscope-") as place:
        folder = Path(place) / path.name
        try:
            for name, content in bundle_files_in(read_file(path), path.name).items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(content)
        except OSError as error:
            raise ConfigError(f"{path} cannot be unpacked: {error.strerror}; {_REMEDY}") from error
        yield folder


def bundle_files_in(content: bytes, called: str) -> dict[str, bytes]:
    """The files that lie beside or below φ in a zip, by their path from there; what has a name
    that the program gives to no file is left out.

    Raises ``ConfigError`` where there is no φ, the zip is damaged, or its files are over
    ``MOST_BYTES`` together.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = {
                PurePosixPath(one.filename): one for one in archive.infolist() if not one.is_dir()
            }
            home = next((path.parent for path in entries if path.name == _ANCHOR), None)
            if home is None:
                raise ConfigError(f"{called} has no {_ANCHOR}; {_REMEDY}")
            inside = {
                path.relative_to(home): one
                for path, one in entries.items()
                if path.is_relative_to(home)
            }
            wanted = {
                str(path): one
                for path, one in inside.items()
                if all(map(_PART.fullmatch, path.parts))
            }
            if sum(one.file_size for one in wanted.values()) > MOST_BYTES:
                raise ConfigError(f"{called} holds more than {MOST_BYTES >> 20} MiB; {_REMEDY}")
            return {name: archive.read(one) for name, one in wanted.items()}
    except _DAMAGED as error:
        raise ConfigError(f"{called} cannot be read as a zip ({error}); {_REMEDY}") from error
