"""Reads logs and traces: a gateway's log, messages and items from any API, spans, and runs.

A file is a JSON document or JSON Lines; each record shows what kind it is. ``call_forms`` knows
where calls are in a record, and ``spans`` knows where they are in spans.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from io import BytesIO
from itertools import chain
from typing import Any

from toolscope_core.files.json_lines import utf8_text
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.tool import canonical_json, digest
from toolscope_core.usage import call_forms, traced_calls
from toolscope_core.usage.spans import spans_of, trace_of_spans

_CONVERSATIONS = ("messages", "contents", "conversations")
_REPLIES = ("choices", "candidates", "output", "response", "body", "generations")
_EVENT_KEYS = frozenset(("timestamp", "sequence_number", "sessionId", "event_id"))
_BLANKS = re.compile(r"\s*")
_HASH_BYTES = 16


@dataclass(slots=True)
class _Reading:
    """What has been read so far.

    ``places`` are the positions of calls by key, and ``last`` are their positions by the id that
    results use. ``answered`` counts the results for each id. ``requests`` are texts, each with the
    positions of its calls. Arguments and results make up most of a log, so they are kept only
    ``with_results``.
    """

    scope: str
    with_results: bool = False
    calls: list[traced_calls.TracedCall] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)
    last: dict[str, int] = field(default_factory=dict)
    answered: Counter[str] = field(default_factory=Counter)
    requests: list[tuple[str, list[int]]] = field(default_factory=list)
    unread: int = 0

    def take(self, record: call_forms.AgentRecord) -> None:
        """Read one record. It counts as unread if it is not a message and
        contains nothing known.
        """
        try:
            events = [*call_forms.events_of(record)]
        except RecursionError:
            events = [call_forms.UnreadEvent()]
        is_unread = not (events or _says_something(record))
        earlier = list[call_forms.CallEvent]()
        for event in events:
            if isinstance(event, call_forms.CallEvent):
                if not any(_is_repeated(event, one) for one in earlier):
                    self._call(event)
                earlier.append(event)
            elif isinstance(event, call_forms.ResultEvent):
                self._result(event.number, failed=event.has_failed, value=event.value)
            elif isinstance(event, call_forms.RequestEvent):
                self.requests.append((event.text, []))
            else:
                is_unread = True
        self.unread += is_unread

    def trace(self) -> traced_calls.CallTrace:
        requests = (
            traced_calls.TracedRequest(text, tuple(self.calls[place] for place in places))
            for text, places in self.requests
        )
        return traced_calls.CallTrace(tuple(self.calls), tuple(requests), self.unread)

    def _call(self, call: call_forms.CallEvent) -> None:
        name, number = call.name, str(call.number or call.name)
        if call.is_end and number in self.last:
            self._result(number, failed=call.has_failed)
            return
        scope = (self.scope, self.answered[number])
        keys = [traced_calls.call_key(call.number, name, *scope)]
        if call.line:
            keys.insert(0, traced_calls.call_key(call.number, name, "line", call.line))
        new = len(self.calls)
        place = next((self.places[key] for key in keys if key in self.places), new)
        self.last[number] = place
        self.places |= {key: place for key in keys if key}
        if place == new:
            malformed = _is_no_json(call.arguments)
            wrapped = call_forms.wrapped_names(call)
            self.calls.append(
                traced_calls.TracedCall(
                    name,
                    at=call.at,
                    is_malformed=malformed,
                    key=keys[0],
                    wrapped=wrapped,
                    arguments=call.arguments if self.with_results else None,
                )
            )
            if self.requests:
                self.requests[-1][1].append(new)
        if call.has_failed:
            self._result(number, failed=True)

    def _result(self, number: Any, *, failed: bool, value: Any = None) -> None:
        place = self.last.get(str(number))
        self.answered[str(number)] += 1
        if place is not None and not self.calls[place].is_malformed:
            call = self.calls[place]
            result = value if value is not None and self.with_results else call.result
            self.calls[place] = replace(call, has_failed=call.has_failed or failed, result=result)


def conversation(
    messages: Iterable[Any], scope: str, with_results: bool = False
) -> traced_calls.CallTrace:
    """The calls in messages, with the requests that led to them.

    A failure is read from the result, if the result reports it (Anthropic's ``is_error``).
    Malformed arguments are detected if they are text (OpenAI). ``scope`` identifies the
    conversation: short call ids are unique only within a conversation, and only until their result.
    Lines with the same ``uuid`` are one call, even in the history of another session.
    """
    reading = _Reading(scope, with_results)
    for message in messages:
        if isinstance(message, dict):
            reading.take(message)
        else:
            reading.unread += 1
    return reading.trace()


def _is_repeated(call: call_forms.CallEvent, other: call_forms.CallEvent) -> bool:
    """Whether a record contains the same call twice, in two different forms."""
    is_same = bool(call.number) and (call.number, call.name) == (other.number, other.name)
    return is_same and call.arguments == other.arguments


def _says_something(record: call_forms.AgentRecord) -> bool:
    """Whether a record without calls is a message or another event in a session."""
    if any(record.get(key) for key in ("content", "parts", "value", "output", "choices")):
        return True
    if call_forms.is_message(record):
        return "content" in record or "parts" in record
    inside = record.get("message") or record.get("data")
    is_event = isinstance(record.get("type"), str) and not _EVENT_KEYS.isdisjoint(record)
    return is_event or (
        isinstance(inside, dict) and "content" in inside and ("role" in inside or "type" in record)
    )


def _is_no_json(arguments: Any) -> bool:
    """Whether arguments are text that is not valid JSON; missing arguments count as valid."""
    if not isinstance(arguments, str) or not arguments:
        return False
    try:
        json.loads(arguments)
    except (ValueError, RecursionError):
        return True
    return False


_FAILED = frozenset({"error", "failed"})
_NO_CALL = frozenset({"held", "cancelled", "waiting", "changed"})


@dataclass(slots=True)
class _Records:
    """The records of one file, by kind.

    ``sessions`` are single messages, by their session. ``conversations`` each come with the hashes
    of their beginnings; the last hash is that of the whole conversation. ``scope`` is the hash of
    the file.
    """

    scope: str
    with_results: bool = False
    conversations: list[tuple[traced_calls.CallTrace, list[bytes]]] = field(default_factory=list)
    sessions: dict[str, _Reading] = field(default_factory=dict)
    spans: list[Mapping[str, Any]] = field(default_factory=list)
    log_rows: list[Mapping[str, Any]] = field(default_factory=list)
    unread: int = 0

    @property
    def has_calls(self) -> bool:
        traces = [trace for trace, _ in self.conversations]
        readings = (one.calls for one in self.sessions.values())
        spans = trace_of_spans(self.spans).calls
        logged = _gateway_calls(self.log_rows)
        return bool(logged or spans or any(readings) or any(one.calls for one in traces))


def read_trace(content: bytes, label: str) -> traced_calls.CallTrace:
    """The calls and requests in a file, in order, each call once.

    Raises ``ConfigError``, naming ``label``, if the file is not JSON or has no call.
    """
    return read_traces({label: content})


def read_traces(files: Mapping[str, bytes], with_results: bool = False) -> traced_calls.CallTrace:
    """The calls and requests in files, given by their labels.

    ``with_results`` also keeps what the calls were given and what they returned. A call counts
    once, however many records and files contain it. If a conversation was saved again and again as
    it grew, only the longest one counts. Raises the errors of ``read_trace``.
    """
    labels = {sha256(content).hexdigest(): label for label, content in files.items()}
    read = [
        _sorted(_documents(files[label], label), _Records(scope, with_results))
        for scope, label in labels.items()
    ]
    saved = [grown for records in read for _, grown in records.conversations]
    ends = {grown[-1] for grown in saved}
    begun = {one for grown in saved for one in grown[:-1] if one in ends}
    traces: list[traced_calls.CallTrace] = []
    logged: list[traced_calls.TracedCall] = []
    spans: list[Mapping[str, Any]] = []
    for records in read:
        if not records.has_calls:
            raise ConfigError(
                f"{labels[records.scope]} has no tool calls; use a gateway's log, an agent's "
                "messages, or spans"
            )
        traces += [one for one, grown in records.conversations if grown[-1] not in begun]
        traces += [one.trace() for one in records.sessions.values()]
        traces.append(traced_calls.CallTrace(unread=records.unread))
        logged += _gateway_calls(records.log_rows)
        spans += records.spans
    traces.append(trace_of_spans(spans, with_results))
    lines = traced_calls.distinct_calls(logged)
    of_agents = traced_calls.distinct_calls(call for trace in traces for call in trace.calls)
    return traced_calls.CallTrace(
        (*lines, *traced_calls.without_logged(of_agents, lines)),
        tuple(one for trace in traces for one in trace.requests),
        sum(trace.unread for trace in traces),
    )


def _documents(content: bytes, label: str) -> Iterator[Any]:
    """The records of a file: its lines, or the contents of one document."""
    lines = ((n, line) for n, line in enumerate(BytesIO(content), 1) if line.strip())
    first = next(lines, None)
    if first is None:
        return
    try:
        json.loads(utf8_text(first[1], label))
        is_document = (second := next(lines, None)) is None
    except (ValueError, RecursionError):
        is_document, second = True, None
    if not is_document and second is not None:
        for number, line in chain((first, second), lines):
            yield _line(utf8_text(line, label), f"{label}, line {number}")
        return
    text = utf8_text(content, label)
    try:
        document = json.loads(text)
    except RecursionError as error:
        raise ConfigError(f"{label} is nested too deeply; use a file with a trace") from error
    except ValueError:
        document = _documents_in(text) or [
            _line(line, f"{label}, line {n}") for n, line in enumerate(text.split("\n"), 1)
        ]
    yield from document if isinstance(document, list) else [document]


def _documents_in(text: str) -> list[Any]:
    """The JSON documents in a text, one after another; empty if the text contains anything else."""
    documents, end = list[Any](), 0
    while rest := _BLANKS.match(text, end):
        if rest.end() == len(text):
            return documents
        try:
            document, end = json.JSONDecoder().raw_decode(text, rest.end())
        except (ValueError, RecursionError):
            break
        documents.append(document)
    return []


def _line(line: str, place: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{place} is not JSON ({error}); use one record per line") from error


def _sorted(records: Iterable[Any], by_kind: _Records) -> _Records:
    for record in records:
        if not isinstance(record, dict):
            by_kind.unread += 1
        elif "tool" in record and "outcome" in record:
            by_kind.log_rows.append(record)
        elif spans := spans_of(record):
            by_kind.spans += spans
        else:
            _add_messages(record, by_kind)
    return by_kind


def _add_messages(record: call_forms.AgentRecord, by_kind: _Records) -> None:
    """Add a conversation, a single reply, or a message or event from a session."""
    place = f"{by_kind.scope} {len(by_kind.conversations)}"
    key = next((key for key in _CONVERSATIONS if isinstance(record.get(key), list)), None)
    is_event = not _EVENT_KEYS.isdisjoint(record) or call_forms.is_message(record)
    if key is not None:
        replies = {name: record[name] for name in _REPLIES if name in record}
        messages = [*record[key], *([replies] if replies else [])]
        trace = conversation(messages, place, by_kind.with_results)
        by_kind.conversations.append((trace, _grown(messages)))
    elif not is_event and any(isinstance(record.get(one), (dict, list)) for one in _REPLIES):
        trace = conversation([record], place, by_kind.with_results)
        by_kind.conversations.append((trace, _grown([record, place])))
    else:
        session = str(record.get("sessionId") or record.get("session_id") or "")
        reading = by_kind.sessions.setdefault(
            session, _Reading(f"session {session or by_kind.scope}", by_kind.with_results)
        )
        reading.take(record)


def _grown(messages: Sequence[Any]) -> list[bytes]:
    """The hash of each beginning of a conversation, from the empty one to the whole.

    The hashes are stable, because a program writes the keys of a message in the same order each
    time it saves it.
    """
    hashed, beginnings = sha256(), [b""]
    for message in messages:
        hashed.update(repr(message).encode("utf-8", "surrogatepass"))
        beginnings.append(hashed.digest()[:_HASH_BYTES])
    return beginnings


def _gateway_calls(rows: Iterable[Mapping[str, Any]]) -> tuple[traced_calls.TracedCall, ...]:
    """The calls in the lines of a gateway's log, except those that were withheld or ended early.

    Equal lines within a file are separate calls; equal lines in different files are the same call.
    """
    alike, calls = Counter[str](), list[traced_calls.TracedCall]()
    for row in rows:
        line, outcome = canonical_json(row), str(row["outcome"])
        alike[line] += 1
        if outcome not in _NO_CALL:
            original, tool = str(row.get("original") or ""), str(row["tool"])
            failed, at = outcome in _FAILED, traced_calls.utc_time(row.get("at"))
            key = digest(line, alike[line])
            name = str(row.get("old_name") or tool)
            malformed = outcome == "refused"
            calls.append(traced_calls.TracedCall(tool, original, failed, at, malformed, key, name))
    return tuple(calls)
