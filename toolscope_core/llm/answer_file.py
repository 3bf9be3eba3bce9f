"""A model's answers in a file of the repository: people with a key write the file, and others
replay it.

Each line is one answer: the question in words, the prompt, the model, and the answer's key in the
ledger. The lines are sorted, so that a changed answer shows up as a changed line.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import TypeVar

from toolscope_core.catalog.scan.hidden import for_terminal
from toolscope_core.files.json_lines import lines_of, read_rows, write_whole
from toolscope_core.llm.model_requests import ModelRequests
from toolscope_core.llm.request_workers import Terms
from toolscope_core.llm.tasks.paper_prompts import task_for
from toolscope_core.model import protocols
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import listed, quantity
from toolscope_core.model.tool import JsonObject, Tool, canonical_json, digest, sorted_ids

_Item = TypeVar("_Item")
_OPTION = "--answers"
_HASH, _TEXT, _NAMED = 8, 80, 10


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """One answer.

    ``texts`` and the ids in ``tools`` describe the question. ``subjects`` are the beginnings of the
    hashes on which the answer depends; ``value_hash`` is the hash of the answer itself.
    """

    task: str
    version: str
    texts: tuple[str, ...]
    tools: tuple[str, ...]
    subjects: tuple[str, ...]
    model: str
    origin: str
    parameters: JsonObject
    key: str
    value: JsonObject = field(default_factory=dict)
    value_hash: str = ""

    @property
    def asked_of(self) -> tuple[str, str, JsonObject]:
        return self.model, self.origin, self.parameters

    @property
    def about(self) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        return self.task, self.texts, self.tools

    def asks_as(self, other: "AnswerLine") -> bool:
        """Whether both lines ask the same question, about whichever tools."""
        return (self.task, self.texts) == (other.task, other.texts)


class AnswerFile:
    """The answer file at ``path``, and the questions that a command has asked so far.

    Raises ``ConfigError`` if the file contains something else, or if it is missing although
    ``is_required``.
    """

    def __init__(self, path: Path, is_required: bool = False) -> None:
        self._path = path
        self.lines = {one.key: one for one in _read(path)} if is_required or path.exists() else {}
        self._new_lines: dict[str, AnswerLine] = {}
        self._open: dict[str, str] = {}

    def note(
        self,
        task: protocols.Task[_Item],
        items: Sequence[_Item],
        answers: Sequence[protocols.Answer | None],
        by: protocols.ChatModel,
    ) -> None:
        """Record the answers, and for each open question the reason."""
        for item, answer in zip(items, answers, strict=True):
            line = _line(task, item, by, answer.value if answer else None)
            if answer is not None and answer.value is not None:
                self._new_lines[line.key] = line
            else:
                self._open[line.key] = (
                    f"{_in_words(line)}: {for_terminal(self._why_open(item, line))}"
                )

    def write(self, is_whole: bool) -> None:
        """Write the questions that were asked.

        The other lines stay, unless ``is_whole``. Raises ``ExportError``.
        """
        lines = {**({} if is_whole else self.lines), **self._new_lines}
        rows = sorted(lines.values(), key=lambda one: (one.about, one.key))
        write_whole(self._path, lines_of(map(asdict, rows)), _OPTION)

    @property
    def open_in_words(self) -> str:
        """Each question without an answer, and why it has none; empty if every question has one."""
        if not self._open:
            return ""
        return (
            f"{self._path} has no answer to {quantity(len(self._open), 'question')}:\n  "
            f"{listed(self._open.values(), _NAMED, between=chr(10) + '  ')}\nrun the command "
            "without --replay where a key is set, then commit the file"
        )

    def _why_open(self, item: object, line: AnswerLine) -> str:
        """Why this question has no answer, as far as the answer to the nearest question shows."""
        about = [one for one in self.lines.values() if one.about == line.about]
        if not about:
            about = [one for one in self.lines.values() if line.texts and one.asks_as(line)]
        if not about:
            return "never asked before"
        was = about[0]
        if was.version != line.version:
            return (
                f"the prompt is now version {line.version}; the answer is for version {was.version}"
            )
        if was.asked_of != line.asked_of:
            now, before = (canonical_json(one.asked_of) for one in (line, was))
            return f"now asked of {now}; the answer is from {before}"
        changed = [one.id for one in _tools(item) if not _hashes(one) & {*was.subjects}]
        return f"changed or new tools: {listed(changed)}" if changed else "a different set of tools"


class FileLedger:
    """Answers from a file, and then from the ledger ``behind`` it, if there is one. New answers are
    stored in that ledger.
    """

    def __init__(self, file: AnswerFile, behind: protocols.Ledger | None) -> None:
        self._lines, self._behind = file.lines, behind

    def answers(self, keys: Sequence[str]) -> Mapping[str, protocols.Answer]:
        """See ``Ledger``."""
        stored = self._behind.answers(keys) if self._behind else {}
        return {**stored, **{key: _answer(self._lines[key]) for key in keys if key in self._lines}}

    def commit(self, call: protocols.Call, answers: Sequence[protocols.Answer]) -> None:
        """See ``Ledger``."""
        if self._behind:
            self._behind.commit(call, answers)


class FileRequests(ModelRequests):
    """Requests that look for answers in a file first, and record all answers in the file."""

    def __init__(
        self,
        model: protocols.ChatModel,
        ledger: protocols.Ledger | None,
        terms: Terms | None,
        progress: protocols.Progress,
        file: AnswerFile,
    ) -> None:
        super().__init__(model, FileLedger(file, ledger), terms, progress)
        self._file = file

    def __call__(
        self, task: protocols.Task[_Item], items: Sequence[_Item]
    ) -> list[protocols.Answer | None]:
        """See ``ModelRequests``."""
        answers = super().__call__(task, items)
        self._file.note(task_for(task, self._model), items, answers, self._model)
        return answers


def _read(path: Path) -> Iterator[AnswerLine]:
    for number, row in read_rows(path):
        try:
            lists = {name: tuple(map(str, row[name])) for name in ("texts", "tools", "subjects")}
            line = AnswerLine(**{**row, **lists})
            is_whole = isinstance(line.key, str) and line.value_hash == _hash_of(line.value)
        except (KeyError, TypeError):
            is_whole = False
        if not is_whole:
            raise ConfigError(f"{path}, line {number} is not a model's answer; make the file again")
        yield line


def _line(
    task: protocols.Task[_Item], item: _Item, by: protocols.ChatModel, value: JsonObject | None
) -> AnswerLine:
    subjects = task.subjects(item)
    return AnswerLine(
        task=task.name,
        version=task.version,
        texts=tuple(one for one in _values(item) if isinstance(one, str)),
        tools=sorted_ids(tool.id for tool in _tools(item)),
        subjects=tuple(one[:_HASH] for one in subjects),
        model=by.name,
        origin=by.origin,
        parameters=dict(by.parameters),
        key=protocols.question_key(task.name, task.version, subjects, by),
        value=value or {},
        value_hash=_hash_of(value or {}),
    )


def _hash_of(value: object) -> str:
    return digest(value)[:_HASH]


def _answer(line: AnswerLine) -> protocols.Answer:
    return protocols.Answer(
        line.key, line.task, line.version, line.subjects, line.model, line.origin, line.value
    )


def _values(item: object) -> list[object]:
    """The item itself as a list, or the values of its fields."""
    if isinstance(item, Tool) or not is_dataclass(item):
        return [item]
    return [getattr(item, one.name) for one in fields(item)]


def _tools(item: object) -> list[Tool]:
    """The tools that a question is about."""
    values = _values(item)
    inner = [one for value in values if isinstance(value, tuple) for one in value]
    return [one for one in (*values, *inner) if isinstance(one, Tool)]


def _hashes(tool: Tool) -> set[str]:
    return {tool.content_hash[:_HASH], tool.fingerprint[:_HASH]}


def _in_words(line: AnswerLine) -> str:
    """The question, in one line."""
    text = " / ".join(" ".join(one.split())[:_TEXT] for one in dict.fromkeys(line.texts))
    return f"{line.task}: {text or listed(line.tools)}"
