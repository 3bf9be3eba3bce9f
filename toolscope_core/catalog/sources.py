"""Files and folders as named bytes, within the limits."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from toolscope_core.catalog.bundle_versions import BUNDLE, files_of, why_unreadable
from toolscope_core.catalog.flaws import MAX_BYTES, MAX_TOTAL_BYTES, MIB
from toolscope_core.catalog.referenced_files import referenced_files
from toolscope_core.files.archives import MANIFEST, bundle_below
from toolscope_core.files.folders import read_file
from toolscope_core.model.errors import CatalogError

SUFFIXES = (".json", ".jsonl", ".ndjson", ".yaml", ".yml", ".csv", ".tsv")


@dataclass(frozen=True, slots=True)
class Source:
    """The bytes of one input; ``label`` (a file name) is its name in messages.

    ``format`` (one of ``INPUTS``) is what a person says it is; without it, it is detected.
    ``files`` are those that an API description refers to, by their paths from its folder.
    """

    label: str
    data: bytes
    format: str | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """The bytes of the source and of its files."""
        return len(self.data) + sum(map(len, self.files.values()))


def pasted(text: str, form: str | None = None) -> Source:
    """Pasted text as a source, labelled after the syntax that it looks like."""
    start = text.lstrip()[:1]
    first = text.lstrip().partition("\n")[0]
    suffix = ".json" if start in ("{", "[") else ".yaml" if ":" in first else ".csv"
    return Source(f"pasted{suffix}", text.encode("utf-8", "surrogatepass"), form)


def load_paths(paths: Sequence[Path]) -> tuple[Source, ...]:
    """Sources of files, and of those directly in folders whose name ends in one of ``SUFFIXES``; of
    a folder that is a bundle only its merged tools.

    With an API description come the files below its folder that it refers to.

    The order given is kept, files of a folder come by name, a file met twice counts once. A label
    is the file's name, with as many of its folders as make its stem unique. Raises
    ``CatalogError`` for what is missing, unreadable, too large (before anything of it is read) or
    empty of files.
    """
    files = list(dict.fromkeys(file.absolute() for path in paths for file in _files(path)))
    if not files:
        given = ", ".join(str(path) for path in paths) or "nothing was given"
        raise CatalogError(
            f"no input file ({given}); give *.json, *.jsonl, *.yaml or *.csv files or their folder"
        )
    sizes = [_size(file) for file in files]
    check_size(f"the input ({len(files)} files)", sum(sizes), MAX_TOTAL_BYTES)
    left = MAX_TOTAL_BYTES - sum(sizes)
    sources = []
    for file in files:
        data = _read(file)
        sources.append(Source(_label(file, files), data, None, referenced_files(file, data, left)))
        left -= sources[-1].size - len(data)
    return tuple(sources)


def input_files(paths: Sequence[Path]) -> tuple[Path, ...]:
    """The files whose content ``load_paths`` reads, as they were given. Raises as it does."""
    return tuple(dict.fromkeys(file for path in paths for file in _files(path)))


def is_bundle(path: Path) -> bool:
    """Whether the path is the folder of a bundle. Raises ``CatalogError`` for one of another
    version.
    """
    return path.is_dir() and bool(_toolset(path))


def check_size(label: str, size: int, limit: int = 0) -> None:
    """Raises ``CatalogError`` for more bytes than ``limit`` (default ``MAX_BYTES``)."""
    limit = limit or MAX_BYTES
    if size > limit:
        raise CatalogError(
            f"{label} has {size / MIB:.1f} MiB; at most {limit // MIB} MiB are read at once, "
            "split it into several files (`merge --shards` reads any number)"
        )


def _files(path: Path) -> list[Path]:
    try:
        if path.is_dir():
            if bundled := _toolset(path):
                return bundled
            return sorted(file for file in path.iterdir() if file.suffix.lower() in SUFFIXES)
    except OSError as error:
        raise CatalogError(f"cannot read the folder {path}: {error.strerror}") from error
    return [path]


def _toolset(folder: Path) -> list[Path]:
    """The merged tools in a bundle's folder, in the neutral shape; empty where it is no bundle.

    Raises ``CatalogError`` for a bundle of another version.
    """
    folder = bundle_below(folder)
    path = folder / MANIFEST
    try:
        manifest = json.loads(read_file(path))
        is_bundle = "toolsets" in manifest and isinstance(manifest["sha256"], dict)
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return []
    if is_bundle and (refused := why_unreadable(str(path), manifest, BUNDLE)):
        raise CatalogError(refused)
    return list(files_of(folder, "neutral.json")) if is_bundle else []


def _size(path: Path) -> int:
    try:
        if path.exists() and not path.is_file():
            raise CatalogError(f"{path} is neither a file nor a folder; give a *.json or *.jsonl")
        size = path.stat().st_size
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise _unreadable(path, error) from error
    check_size(str(path), size)
    return size


def _read(path: Path) -> bytes:
    try:
        return read_file(path, MAX_BYTES)
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> CatalogError:
    why = getattr(error, "strerror", None) or error
    return CatalogError(f"cannot read {str(path)!r}: {why}; check the path")


def _label(file: Path, files: Sequence[Path]) -> str:
    """The shortest tail of the path whose stem no other file shares; else the whole path."""
    parts = file.parts
    for length in range(1, len(parts)):
        tail = parts[-length:]
        stem = (*tail[:-1], file.stem)
        alike = [other for other in files if (*other.parts[-length:-1], other.stem) == stem]
        if len(alike) == 1:
            return "/".join(tail)
    return "/".join(parts[-2:])
