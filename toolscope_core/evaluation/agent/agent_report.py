"""Compares an agent's work with several toolsets, and reads and writes the file that stores it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from toolscope_core.evaluation.agent.agent_loop import Episode, EpisodeGrade, MadeCall
from toolscope_core.evaluation.intervals import Interval, interval, paired_p
from toolscope_core.evaluation.metrics import recall
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.evaluation.selection import is_correct
from toolscope_core.files.folders import read_named
from toolscope_core.files.json_lines import rows_in
from toolscope_core.model.errors import ConfigError, ExportError
from toolscope_core.model.tool import JsonObject, canonical_json

_FAILED = ("error", "no tool")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkFigures:
    """The figures for all requests with one toolset of ``tools`` tools.

    ``correct`` is the share of requests for which exactly the needed tools were called (Correct
    Selection Rate, ToolScope, eq. 6). ``served`` is the share of needs for which a call succeeded.
    ``right`` and ``wrong`` count graded answers. The other figures are means over requests: calls,
    failed calls, calls of tools that serve no need and are not allowed, turns, tokens, and
    wall-clock seconds. ``unanswered`` counts requests without an answer. ``counted`` is false if
    the endpoint does not report tokens, so that the tokens are estimates.
    """

    name: str
    tools: int
    correct: Interval
    served: Interval
    right: int = 0
    wrong: int = 0
    calls: float
    failed_calls: float
    unneeded_calls: float
    turns: float
    tokens_in: float
    tokens_out: float
    seconds: float
    unanswered: int
    counted: bool


@dataclass(frozen=True, slots=True)
class AgentReport:
    """The figures for each toolset on the same requests, in the given order.

    The two p-values come from paired bootstraps and test for no change from the first toolset to
    the last (``None`` if there is only one toolset).
    """

    queries: int
    sides: tuple[WorkFigures, ...]
    correct_p: float | None
    served_p: float | None

    @property
    def names(self) -> list[str]:
        """The names of the toolsets."""
        return [side.name for side in self.sides]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestWork:
    """The agent's work on a request with one toolset.

    ``called`` are the names of the called tools in order, and ``right`` says whether they are the
    right ones. ``answer`` is the answer, or the reason why there is none.
    """

    toolset: str
    called: tuple[str, ...]
    right: bool
    grade: EpisodeGrade = "not graded"
    answer: str


@dataclass(frozen=True, slots=True)
class WorkedRequest:
    """A request with its needs, and the agent's work on it with each toolset."""

    id: str
    query: str
    gold: tuple[tuple[str, ...], ...]
    sides: tuple[RequestWork, ...]


@dataclass(frozen=True, slots=True)
class AgentRun(AgentReport):
    """A report that includes every request."""

    requests: tuple[WorkedRequest, ...]


def agent_report(
    golds: Mapping[str, Sequence[Query]],
    sizes: Mapping[str, int],
    episodes: Mapping[tuple[str, str], Episode],
) -> AgentReport:
    """The report on ``episodes``, which are keyed by query id and toolset name.

    ``golds`` has for each toolset the same queries in the same order, with the originals that serve
    each need. ``sizes`` has the number of tools in each toolset.
    """
    correct: list[list[float]] = []
    shares: list[list[float]] = []
    sides = []
    for name, queries in golds.items():
        pairs = [(episodes[query.id, name], query) for query in queries]
        correct.append([float(chose_right(*pair)) for pair in pairs])
        shares.append([_share_served(*pair) for pair in pairs])
        sides.append(_figures(name, sizes[name], correct[-1], shares[-1], pairs))
    return AgentReport(
        queries=len(correct[0]),
        sides=tuple(sides),
        correct_p=paired_p(correct[0], correct[-1]) if len(sides) > 1 else None,
        served_p=paired_p(shares[0], shares[-1]) if len(sides) > 1 else None,
    )


def chose_right(episode: Episode, query: Query) -> bool:
    """Whether exactly the needed tools were called, apart from allowed tools.

    A call counts if it succeeded or was a recorded call.
    """
    gold = frozenset().union(*query.gold)
    calls = {
        call.tool_id
        for call in episode.calls
        if call.tool_id in gold and call.outcome not in _FAILED
    }
    return not _unneeded(episode, query) and is_correct(frozenset(calls), query.gold)


def _share_served(episode: Episode, query: Query) -> float:
    """The share of needs for which a call succeeded."""
    tool_ids = list({call.tool_id for call in episode.calls if call.outcome == "ok"})
    return recall(tool_ids, query.gold, len(tool_ids))


def _figures(
    name: str,
    tools: int,
    correct: Sequence[float],
    shares: Sequence[float],
    pairs: Sequence[tuple[Episode, Query]],
) -> WorkFigures:
    work = [episode for episode, _ in pairs]
    return WorkFigures(
        name=name,
        tools=tools,
        correct=interval(correct),
        served=interval(shares),
        right=sum(one.grade == "right" for one in work),
        wrong=sum(one.grade == "wrong" for one in work),
        calls=fmean(len(one.calls) for one in work),
        failed_calls=fmean(sum(call.outcome in _FAILED for call in one.calls) for one in work),
        unneeded_calls=fmean(_unneeded(*pair) for pair in pairs),
        turns=fmean(one.turns for one in work),
        tokens_in=fmean(one.tokens_in for one in work),
        tokens_out=fmean(one.tokens_out for one in work),
        seconds=fmean(one.seconds for one in work),
        unanswered=sum(one.ending != "answered" for one in work),
        counted=all(one.counted for one in work),
    )


def _unneeded(episode: Episode, query: Query) -> int:
    """The number of calls to tools that serve no need and are not allowed; unknown tools do not
    count.
    """
    fine = query.allowed.union({""}, *query.gold)
    return sum(call.tool_id not in fine for call in episode.calls)


Episodes = dict[tuple[str, str], Episode]
"""Episodes, keyed by query id and toolset name."""
_BEGINNING = b'{"answer":'
"""The beginning of each line in the file; lines that begin differently were written elsewhere."""


class EpisodeFile:
    """The file of episodes at ``path``; ``run`` identifies the configuration of the run."""

    def __init__(self, path: Path, run: str) -> None:
        self._path, self._run = path, run
        self._whole: int | None = None
        """The number of bytes in completely written lines, if an incomplete line follows them."""

    def read(self, queries: Mapping[str, Query]) -> Episodes:
        """The stored episodes for these queries, by query id and toolset; empty if there is no
        file.

        Raises ``ConfigError`` for a file from another run or with other content.
        """
        episodes: Episodes = {}
        for line, row in self._rows():
            if row.get("run") != self._run:
                raise ConfigError(
                    f"{self._path}, line {line} belongs to a run with another bundle, model, "
                    "prompt, query or setting; name another file with --out"
                )
            query = queries.get(str(row.get("query")))
            content = row.get("text"), row.get("expected")
            if query is not None and content == (query.text, query.expected):
                episodes[query.id, str(row.get("toolset"))] = self._episode(row, line)
        return episodes

    def _rows(self) -> Iterator[tuple[int, JsonObject]]:
        """The rows of the file; an incomplete last line that was written here is left out."""
        if not self._path.exists():
            return iter(())
        content = read_named(self._path, "name another file with --out")
        end = content.rfind(b"\n") + 1
        rest = content[end:]
        if rest and (rest.startswith(_BEGINNING) or _BEGINNING.startswith(rest)):
            self._whole, content = end, content[:end]
        return rows_in(content, str(self._path))

    def add(self, query: Query, toolset: str, episode: Episode) -> None:
        """Write an episode as one line, immediately. Raises ``ExportError`` if that fails."""
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
                f"{self._path} cannot be written: {error.strerror}; name another file with --out"
            ) from error

    def _episode(self, row: Mapping[str, Any], line: int) -> Episode:
        try:
            values = {name: row[name] for name in Episode.__dataclass_fields__}
            return Episode(**{**values, "calls": tuple(MadeCall(**one) for one in row["calls"])})
        except (KeyError, TypeError) as error:
            raise ConfigError(
                f"{self._path}, line {line} is not the record of an agent's run ({error}); "
                "name another file with --out"
            ) from error
