"""Episodes as lines of a file, so that a run that stopped goes on."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from toolscope_core.evaluation.agent.agent_loop import Episode, MadeCall
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.files.json_lines import rows_in
from toolscope_core.files.whole_files import read_file
from toolscope_core.model.errors import ConfigError, ExportError
from toolscope_core.model.tool import JsonObject, canonical_json

Episodes = dict[tuple[str, str], Episode]
"""By the id of the query and the name of the toolset."""
_BEGINNING = b'{"answer":'
"""Of each line; what begins otherwise is nothing that was written here."""


class EpisodeFile:
    """The file at ``path``; ``run`` tells runs of another configuration apart."""

    def __init__(self, path: Path, run: str) -> None:
        self._path, self._run = path, run
        self._whole: int | None = None
        """How many bytes lines that were written to their end have, where others follow."""

    def read(self, queries: Mapping[str, Query]) -> Episodes:
        """What is there of these queries, by id; empty where there is no file.

        Raises ``ConfigError`` for a file of another run, or that holds something else.
        """
        episodes: Episodes = {}
        for line, row in self._rows():
            if row.get("run") != self._run:
                raise ConfigError(
                    f"{self._path}, line {line} is of another run: another bundle, model, prompt, "
                    "query or setting; give another file with --out"
                )
            query = queries.get(str(row.get("query")))
            content = row.get("text"), row.get("expected")
            if query is not None and content == (query.text, query.expected):
                episodes[query.id, str(row.get("toolset"))] = self._episode(row, line)
        return episodes

    def _rows(self) -> Iterator[tuple[int, JsonObject]]:
        """The rows, without a last line of ours that was not written to its end."""
        if not self._path.exists():
            return iter(())
        try:
            content = read_file(self._path)
        except OSError as error:
            raise ConfigError(
                f"{self._path} cannot be read: {error.strerror}; give another file with --out"
            ) from error
        end = content.rfind(b"\n") + 1
        rest = content[end:]
        if rest and (rest.startswith(_BEGINNING) or _BEGINNING.startswith(rest)):
            self._whole, content = end, content[:end]
        return rows_in(content, str(self._path))

    def add(self, query: Query, toolset: str, episode: Episode) -> None:
        """Write a line at once. Raises ``ExportError`` where it cannot be written."""
        row = {
            "run": self._run,
            "query": query.id,
            "text": query.text,
            "expected": query.expected,
            "toolset": toolset,
            **asdict(episode),
        }
        try:
            with self._path.open("ab") as file:
                if self._whole is not None:
                    file.truncate(self._whole)
                    self._whole = None
                file.write((canonical_json(row) + "\n").encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise ExportError(
                f"{self._path} cannot be written: {error.strerror}; give another file with --out"
            ) from error

    def _episode(self, row: Mapping[str, Any], line: int) -> Episode:
        try:
            values = {name: row[name] for name in Episode.__dataclass_fields__}
            return Episode(**{**values, "calls": tuple(MadeCall(**one) for one in row["calls"])})
        except (KeyError, TypeError) as error:
            raise ConfigError(
                f"{self._path}, line {line} is no episode of an agent ({error}); give another file "
                "with --out"
            ) from error
