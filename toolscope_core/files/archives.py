"""Reads the files in a zip: a bundle from the Export page, or a catalog.

A zip may declare false sizes, so the unpacked bytes are counted.
"""

import io
import lzma
import re
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from toolscope_core.files.folders import MANIFEST, MOST_BYTES, read_file
from toolscope_core.model.errors import ConfigError

BUNDLE_BELOW = "bundle"
"""The name of the bundle's folder in a zip from the Export page."""
_ANCHOR = "relabel.json"
_PART = re.compile(r"(?!\.+$)[\w. -]{1,80}")
_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, RuntimeError, ValueError),
    *(IndexError, EOFError, OSError),
)
"""The errors that ``zipfile`` raises for damaged files."""
_REMEDY = "use the zip from the Export page, or a folder"
MOST_FILES = 10_000
MOST_AT_ONCE = 1 << 20
"""The most bytes that are read from a zip at once, also for its list of files."""
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
"""The allowed compression methods; others can expand to any size in one step."""


def bundle_below(folder: Path) -> Path:
    """The folder of the bundle: an inner folder if ``folder`` is an unpacked zip from the Export
    page.
    """
    inner = folder / BUNDLE_BELOW
    unpacked = not (folder / MANIFEST).exists() and (inner / MANIFEST).is_file()
    return inner if unpacked else folder


@contextmanager
def bundle_folder(path: Path) -> Iterator[Path]:
    """The folder of the bundle at ``path``; the folder of a zip exists until the block ends.

    Raises ``ConfigError`` for a file that is not a zip with a bundle.
    """
    if not path.is_file():
        yield bundle_below(path)
        return
    with _unpacked(path, path.name, bundle_files_in) as folder:
        yield folder


@contextmanager
def archive_folder(path: Path) -> Iterator[Path]:
    """The folder with the files in a zip; outer folders that contain only one folder are skipped.

    The folder exists until the block ends. Raises ``ConfigError`` for a damaged zip.
    """
    with _unpacked(path, path.stem, files_in) as whole:
        folder = whole
        while len(inside := list(folder.iterdir())) == 1 and inside[0].is_dir():
            folder = inside[0]
        yield folder


def is_archive(path: Path) -> bool:
    """Whether a path ends in ``.zip`` and is a file."""
    return path.suffix.lower() == ".zip" and path.is_file()


@contextmanager
def _unpacked(
    path: Path, name: str, files_of: Callable[[bytes, str], Mapping[str, bytes]]
) -> Iterator[Path]:
    """A temporary folder called ``name`` with the files in a zip."""
    with tempfile.TemporaryDirectory(prefix="toolscope-") as place:
        folder = Path(place) / name
        try:
            folder.mkdir()
            for inner, content in files_of(read_file(path), path.name).items():
                (folder / inner).parent.mkdir(parents=True, exist_ok=True)
                (folder / inner).write_bytes(content)
        except OSError as error:
            raise ConfigError(f"{path} cannot be unpacked: {error.strerror}; {_REMEDY}") from error
        yield folder


def bundle_files_in(content: bytes, label: str) -> dict[str, bytes]:
    """The files beside or below φ in a zip, by their path relative to φ's folder.

    Raises ``ConfigError`` if there is no φ, and the errors of ``files_in``.
    """
    return files_in(content, label, _ANCHOR)


def files_in(content: bytes, label: str, anchor: str = "") -> dict[str, bytes]:
    """The files in a zip by path; with an ``anchor``, the files beside or below a file of that
    name.

    Files with names that the program never writes are left out. Raises ``ConfigError`` if the
    anchor is missing, if the zip is damaged or has more than ``MOST_FILES`` files, or if the files
    exceed ``MOST_BYTES`` together.
    """
    try:
        with zipfile.ZipFile(_Zip(content)) as archive:
            members = archive.infolist()
            if len(members) > MOST_FILES:
                raise ConfigError(f"{label} has more than {MOST_FILES:,} files; {_REMEDY}")
            entries = {PurePosixPath(one.filename): one for one in members if not one.is_dir()}
            homes = (path.parent for path in entries if path.name == anchor)
            home = next(homes, None) if anchor else PurePosixPath()
            if home is None:
                raise ConfigError(f"{label} has no {anchor}; {_REMEDY}")
            inside = {
                path.relative_to(home): one
                for path, one in entries.items()
                if path.is_relative_to(home)
            }
            files: dict[str, bytes] = {}
            budget = MOST_BYTES
            for path, one in inside.items():
                if all(map(_PART.fullmatch, path.parts)):
                    files[str(path)] = _inflated(archive, one, budget, label)
                    budget -= len(files[str(path)])
            return files
    except _DAMAGED as error:
        raise ConfigError(f"{label} cannot be read as a zip ({error}); {_REMEDY}") from error


class _Zip(io.BytesIO):
    """The bytes of a zip, read in limited amounts.

    The limit is needed because ``zipfile`` reads the list of files at its declared length.
    """

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > MOST_AT_ONCE:
            raise zipfile.BadZipFile("the list of its files is too long")
        return super().read(size)


def _inflated(archive: zipfile.ZipFile, member: zipfile.ZipInfo, most: int, called: str) -> bytes:
    """The content of a file in a zip. Raises ``ConfigError`` if it has more than ``most`` bytes."""
    if member.compress_type not in _METHODS:
        raise zipfile.BadZipFile(f"{member.filename!r} is not compressed with deflate")
    too_large = ConfigError(f"{called} is larger than {MOST_BYTES >> 20} MiB; {_REMEDY}")
    if member.file_size > most:  # enough to refuse the file, not to accept it
        raise too_large
    parts: list[bytes] = []
    with archive.open(member) as file:
        while part := file.read(MOST_AT_ONCE):
            most -= len(part)
            if most < 0:
                raise too_large
            parts.append(part)
    return b"".join(parts)
