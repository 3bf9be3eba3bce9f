"""An API description and the files that it refers to as one document."""

import re
from collections.abc import Mapping
from typing import Any

from toolscope_core.catalog.referenced_files import relative_path
from toolscope_core.catalog.schema.walking import map_objects
from toolscope_core.model.tool import JsonObject

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
