"""The files that an API description refers to, as far as they lie below its own folder."""

import os
import posixpath
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from toolscope_core.catalog.flaws import MAX_BYTES
from toolscope_core.catalog.schema.walking import map_objects
from toolscope_core.files.folders import read_file
from toolscope_core.model.tool import JsonObject

MOST_FILES = 10_000
SUFFIXES = (".json", ".yaml", ".yml")
_API = re.compile(rb"""["']?(?:openapi|swagger)["']?\s*:""")
_REFERENCE = re.compile(
    rb"""\$ref["']?\s*:\s*(?:[>|!&][^\s"']{0,99}(?:\s+\#[^\n]*)?\s+){0,3}"""
    rb"""(?:"([^"\n]{1,1000})"|'([^'\n]{1,1000})'|([^\s"'][^\n{}\[\],]{0,999}))"""
)


def referenced_files(file: Path, data: bytes, limit: int) -> dict[str, bytes]:
    """By their paths from the folder of ``file`` (with ``/``), the files that an API description
    refers to, those that these refer to, and so on, of ``limit`` bytes together; none for another
    document.

    References are found in the text, so that nothing is parsed here. A file counts that lies below
    the folder, also after links are followed, and is a regular one of a type that is read; what is
    left out stays a reference that leads nowhere.
    """
    if not _API.search(data):
        return {}
    folder = file.absolute().parent
    inside = Path(os.path.realpath(folder))
    files: dict[str, bytes] = {}
    seen = {file.name}
    waiting = [(file.name, data)]
    while waiting:
        holder, content = waiting.pop()
        for path in _paths(holder, content):
            if path in seen or len(seen) > MOST_FILES:
                continue
            seen.add(path)
            part = _content(folder / path, inside, min(limit, MAX_BYTES))
            if part is not None:
                limit -= len(part)
                files[path] = part
                waiting.append((path, part))
    return files


def relative_path(holder: str, reference: str) -> str:
    """The path, from the same folder as ``holder``, of the file that a ``$ref`` in the file
    ``holder`` names; empty where it names none there, such as an address or an absolute path.
    """
    named = unquote(reference.partition("#")[0]).replace("\\/", "/")
    if not named or "\\" in named or "\0" in named or ":" in named or named.startswith("/"):
        return ""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(holder), named))
    return "" if path.startswith("..") or not path.lower().endswith(SUFFIXES) else path


def _paths(holder: str, content: bytes) -> Iterator[str]:
    for quoted_or_bare in _REFERENCE.findall(content):
        reference = b"".join(quoted_or_bare).decode("utf-8", "replace")
        without_comment = re.split(r"\s#", reference)[0].strip()
        if path := relative_path(holder, without_comment):
            yield path


def _content(path: Path, inside: Path, limit: int) -> bytes | None:
    """The bytes of a file below the folder ``inside``; ``None`` for what is none, or too large."""
    real = Path(os.path.realpath(path))
    try:
        if not real.is_relative_to(inside) or real.stat().st_size > limit:
            return None
        return read_file(real)
    except (OSError, ValueError):
        return None


PARTS = "x-toolscope-files"


def joined_files(document: JsonObject, name: str, files: Mapping[str, Any]) -> JsonObject:
    """The document, called ``name``, with the contents of ``files`` (by their paths from its
    folder) under ``PARTS``; a reference to one of them leads there, and one to ``name`` itself to
    the top. All others stay as they are.
    """
    places = {name: "#"}
    for row, path in enumerate(sorted(files)):
        places[path] = f"#/{PARTS}/{row}_{re.sub(r'[^A-Za-z0-9_.-]', '_', path)}"

    def moved(value: Any, holder: str) -> Any:
        def with_new_reference(changed: dict[str, Any]) -> JsonObject:
            given = changed.get("$ref")
            if not isinstance(given, str):
                return changed
            own = not given.partition("#")[0]
            place = places.get(holder if own else relative_path(holder, given))
            return {**changed, "$ref": place + given.partition("#")[2]} if place else changed

        return map_objects(value, with_new_reference)

    parts = {
        places[path].rpartition("/")[2]: moved(content, path) for path, content in files.items()
    }
    return {**moved(document, name), **({PARTS: parts} if parts else {})}
