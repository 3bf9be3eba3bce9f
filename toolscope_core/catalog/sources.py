"""Loads files and folders as named bytes, within limits.

The module loads catalogs, the files in the folder of an API description to which the description
refers, and the files of bundles with their versions and parts.
"""

import json
import os
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from toolscope_core.catalog.flaws import MAX_BYTES, MAX_TOTAL_BYTES, MIB, Flaw, value_excerpt
from toolscope_core.catalog.schema.walking import map_references
from toolscope_core.files.archives import archive_folder, bundle_below, is_archive
from toolscope_core.files.folders import MANIFEST, read_file
from toolscope_core.model.errors import CatalogError
from toolscope_core.model.tool import JsonObject

SUFFIXES = (".json", ".jsonl", ".ndjson", ".yaml", ".yml", ".csv", ".tsv")


@dataclass(frozen=True, slots=True)
class Source:
    """The bytes of one input; messages refer to it by its ``label`` (a file name).

    ``format`` (one of ``INPUTS``) was given by a person; if it is ``None``, the format is detected.
    ``files`` are the files to which an API description refers, by their paths relative to its
    folder. ``folder`` is the name of the source's folder; empty for other input.
    """

    label: str
    data: bytes
    format: str | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    folder: str = ""

    @property
    def size(self) -> int:
        """The size of the source and its files, in bytes."""
        return len(self.data) + sum(map(len, self.files.values()))


def pasted(text: str, format: str | None = None) -> Source:
    """Pasted text as a source, with a label for the syntax that it seems to have."""
    start = text.lstrip()[:1]
    first = text.lstrip().partition("\n")[0]
    suffix = ".json" if start in ("{", "[") else ".yaml" if ":" in first else ".csv"
    return Source(f"pasted{suffix}", text.encode("utf-8", "surrogatepass"), format)


def load_paths(paths: Sequence[Path]) -> tuple[Source, ...]:
    """The sources in files, and in the files directly in folders; a zip counts as a folder.

    In a folder, files with one of the ``SUFFIXES`` are read, and other files if they are JSON that
    may contain tools. From a bundle, only the merged tools are read. An API description comes with
    the files below its folder to which it refers; these are not sources of their own.

    The given order is kept, files in a folder are sorted by name, and repeated files count once. A
    label is the name of the file, with as many folders as needed to make its stem unique. Raises
    ``CatalogError`` for a path that is missing, unreadable, too large (before reading) or without
    files, and ``ConfigError`` for a damaged zip.
    """
    with ExitStack() as stack:
        folders = [
            stack.enter_context(archive_folder(path)) if is_archive(path) else path
            for path in paths
        ]
        return _load(paths, folders)


def _load(paths: Sequence[Path], folders: Sequence[Path]) -> tuple[Source, ...]:
    files = list(dict.fromkeys(file.absolute() for path in folders for file in _files(path)))
    if not files:
        names = ", ".join(str(path) for path in paths) or "nothing was given"
        raise CatalogError(
            f"no input files ({names}); use *.json, *.jsonl, *.yaml or *.csv "
            "files, or a folder of them"
        )
    sizes = [_size(file) for file in files]
    check_size(f"the input ({len(files)} files)", sum(sizes), MAX_TOTAL_BYTES)
    left = MAX_TOTAL_BYTES - sum(sizes)
    sources: dict[Path, Source] = {}
    for file in files:
        data = _read(file)
        others = referenced_files(file, data, left)
        sources[file] = Source(_label(file, files), data, None, others, file.parent.name)
        left -= sources[file].size - len(data)
    parts = {file.parent / path for file, source in sources.items() for path in source.files}
    return tuple(
        source for file, source in sources.items() if file not in parts or _API.search(source.data)
    )


def input_files(paths: Sequence[Path]) -> tuple[Path, ...]:
    """The files that ``load_paths`` reads, as they were given. Raises the same errors as
    ``load_paths``.
    """
    return tuple(dict.fromkeys(file for path in paths for file in _files(path)))


def is_bundle(path: Path) -> bool:
    """Whether the path is the folder of a bundle. Raises ``CatalogError`` for another bundle
    version.
    """
    return path.is_dir() and bool(_toolset(path))


def check_size(label: str, size: int, limit: int = 0) -> None:
    """Raises ``CatalogError`` if ``size`` is more than ``limit`` bytes (default ``MAX_BYTES``)."""
    limit = limit or MAX_BYTES
    if size > limit:
        raise CatalogError(
            f"{label} is {size / MIB:.1f} MiB, but at most {limit // MIB} MiB can be read at once; "
            "split it into several files (`merge --shards` reads any number)"
        )


def _files(path: Path) -> list[Path]:
    try:
        if path.is_dir():
            if bundled := _toolset(path):
                return bundled
            files = sorted(path.iterdir())
            return [file for file in files if _is_read(file)]
    except OSError as error:
        raise CatalogError(
            f"cannot read the folder {path}: {error.strerror}; check its permissions"
        ) from error
    return [path]


def _is_read(file: Path) -> bool:
    """Whether a file in a folder is read, because of its suffix or because it is JSON that may
    contain tools.
    """
    if file.suffix.lower() in SUFFIXES:
        return True
    if file.name.startswith(".") or not file.is_file():
        return False
    try:
        content = read_file(file, MAX_BYTES)
    except OSError:
        return False
    is_json = content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")
    return is_json and b'"name"' in content and b'"description"' in content


def _toolset(folder: Path) -> list[Path]:
    """The files with the merged tools in a bundle's folder, in the neutral format.

    Empty if the folder is not a bundle. Raises ``CatalogError`` for a bundle of another version.
    """
    folder = bundle_below(folder)
    path = folder / MANIFEST
    try:
        manifest = json.loads(read_file(path))
        is_bundle = "toolsets" in manifest and isinstance(manifest["sha256"], dict)
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return []
    if is_bundle and (reason := why_unreadable(str(path), manifest, BUNDLE)):
        raise CatalogError(reason)
    return list(files_of(folder, "neutral.json")) if is_bundle else []


def _size(path: Path) -> int:
    try:
        if path.exists() and not path.is_file():
            raise CatalogError(f"{path} is not a file or folder; name a *.json or *.jsonl file")
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
    """The shortest end of the path whose stem is unique; if none is, the last two parts."""
    parts = file.parts
    for length in range(1, len(parts)):
        tail = parts[-length:]
        stem = (*tail[:-1], file.stem)
        alike = [other for other in files if (*other.parts[-length:-1], other.stem) == stem]
        if len(alike) == 1:
            return "/".join(tail)
    return "/".join(parts[-2:])


_MOST_FILES = 10_000
REFERENCED_SUFFIXES = (".json", ".yaml", ".yml")
_API = re.compile(rb"""["']?(?:openapi|swagger)["']?\s*:""")
_REFERENCE = re.compile(
    rb"""\$ref["']?\s*:\s*(?:[>|!&][^\s"']{0,99}(?:\s+\#[^\n]*)?\s+){0,3}"""
    rb"""(?:"([^"\n]{1,1000})"|'([^'\n]{1,1000})'|([^\s"'][^\n{}\[\],]{0,999}))"""
)


def referenced_files(file: Path, data: bytes, limit: int) -> dict[str, bytes]:
    """The files to which an API description refers, directly or indirectly, by path from its
    folder.

    Paths use ``/``. All files together have at most ``limit`` bytes. Other documents have no such
    files. References are found in the text, so nothing is parsed here. A file must be below the
    folder, even after links are followed, and must be a regular file of a readable type. References
    to other files are ignored.
    """
    if not _API.search(data):
        return {}
    folder = file.absolute().parent
    inside = Path(os.path.realpath(folder))
    files: dict[str, bytes] = {}
    seen = {file.name}
    stack = [(file.name, data)]
    while stack:
        holder, content = stack.pop()
        for path in _paths(holder, content):
            if path in seen or len(seen) > _MOST_FILES:
                continue
            seen.add(path)
            part = _content(folder / path, inside, min(limit, MAX_BYTES))
            if part is not None:
                limit -= len(part)
                files[path] = part
                stack.append((path, part))
    return files


def relative_path(holder: str, reference: str) -> str:
    """The path, from the folder of ``holder``, of the file that a ``$ref`` in ``holder`` names.

    Empty if the reference does not name a file there, for example if it is an address or an
    absolute path.
    """
    target = unquote(reference.partition("#")[0]).replace("\\/", "/")
    if not target or "\\" in target or "\0" in target or ":" in target or target.startswith("/"):
        return ""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(holder), target))
    return "" if path.startswith("..") or not path.lower().endswith(REFERENCED_SUFFIXES) else path


def _paths(holder: str, content: bytes) -> Iterator[str]:
    for quoted_or_bare in _REFERENCE.findall(content):
        reference = b"".join(quoted_or_bare).decode("utf-8", "replace")
        without_comment = re.split(r"\s#", reference)[0].strip()
        if path := relative_path(holder, without_comment):
            yield path


def _content(path: Path, inside: Path, limit: int) -> bytes | None:
    """The bytes of a file below the folder ``inside``; ``None`` if there is no such file or it
    is too large.
    """
    real = Path(os.path.realpath(path))
    try:
        if not real.is_relative_to(inside) or real.stat().st_size > limit:
            return None
        return read_file(real)
    except (OSError, ValueError):
        return None


_PARTS = "x-toolscope-files"


def joined_files(document: JsonObject, name: str, files: Mapping[str, Any]) -> JsonObject:
    """The document called ``name``, with the contents of ``files`` under ``_PARTS``.

    ``files`` has the contents by their paths from the document's folder. References to a file now
    point to its contents, and references to ``name`` point to the top. All others are unchanged.
    """
    places = {name: "#"}
    for row, path in enumerate(sorted(files)):
        places[path] = f"#/{_PARTS}/{row}_{re.sub(r'[^A-Za-z0-9_.-]', '_', path)}"

    def moved(value: Any, holder: str) -> Any:
        def new_reference(reference: str) -> str:
            file, _, pointer = reference.partition("#")
            place = places.get(relative_path(holder, reference) if file else holder)
            return place + pointer if place else reference

        return map_references(value, new_reference)

    parts = {
        places[path].rpartition("/")[2]: moved(content, path) for path, content in files.items()
    }
    return {**moved(document, name), **({_PARTS: parts} if parts else {})}


BUNDLE = 3
"""The version of a bundle's manifest, and of its φ and α."""
PROFILES, PROFILE_FOLDER = "profiles.json", "profiles/"
"""The file in a bundle that lists the tools of each profile, and the folder of the profiles'
exports.
"""
TOOLSET = 1
"""The version of a toolset in the neutral format."""
PART_TOOLS = 40_000
"""The most tools in a file of a bundle; if there are more, the file is written in parts."""
PART_PAIRS = 250_000
"""The most pairs in ``pairs.jsonl``; if there are more, the file is written in parts."""


def part_names(name: str, parts: int) -> Sequence[str]:
    """The names of a file's parts, such as ``pairs-1.jsonl``; a single part has the name of the
    file.
    """
    if parts == 1:
        return [name]
    stem, dot, suffix = name.rpartition(".")
    return [f"{stem}-{number:0{len(str(parts))}}{dot}{suffix}" for number in range(1, parts + 1)]


def files_of(folder: Path, name: str) -> Sequence[Path]:
    """The file of a bundle, or the parts of this file in order."""
    stem, _, suffix = name.rpartition(".")
    numbered = re.compile(rf"{re.escape(stem)}-\d+\.{re.escape(suffix)}")
    parts = sorted(path for path in folder.glob("*") if numbered.fullmatch(path.name))
    return [folder / name] if (folder / name).exists() or not parts else parts


def why_unreadable(label: str, document: JsonObject, version: int) -> str:
    """A sentence on why a file of another version is not read; empty if the file has this
    ``version``.
    """
    file_version = document.get("version")
    if type(file_version) is int and file_version == version:  # True equals 1, but is not a version
        return ""
    return (
        f"{label} is not a bundle file of version {version}: {_version_in_words(document)}; "
        "export the bundle again, or use the release that wrote it"
    )


def _version_in_words(document: JsonObject) -> str:
    version = document.get("version")
    if "version" not in document:
        return "it has no version"
    if isinstance(version, Flaw):
        return f"its version {version.reason.partition(',')[0]}"
    value = json.dumps(version) if isinstance(version, str) else value_excerpt(version)
    return f"its version is {value[:60]}"
