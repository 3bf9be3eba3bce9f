"""Differences between the members of a cluster, in sentences that a person must read first.

The judge says that two tools do the same job. A guard says why switching one of them off may still
do harm: another server, separate state, another effect, another kind of result, another scope.
Every such sentence prevents automatic acceptance.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from textwrap import shorten

from toolscope_core.catalog.scan.hidden import without_hidden
from toolscope_core.model.cluster import ClusterKind
from toolscope_core.model.numbers import enumerated, listed, plural, quoted
from toolscope_core.model.tool import JsonObject, Tool
from toolscope_core.wording.products import products_of
from toolscope_core.wording.reading import ToolReading, read_tool
from toolscope_core.wording.vocabulary import is_of_facts, keeps_things
from toolscope_core.wording.words import sentences, text_words

_KEPT = 0.6
"""The share of a note's words that one sentence must keep."""

_HARM = (
    r"danger(?:ous)?|beware|(?:be|use) careful(?:ly)?|irreversibl[ey]|irrevocabl[ey]"
    r"|permanent(?:ly)?|(?:cannot|can['’]t|can not) be (?:undone|reversed|recovered|restored)"
    r"|destructive|destroys?|overwrit(?:es?|ten|ing)|wipes?|data loss|at your own risk"
    r"|(?:no|without) undo|not (?:be )?reversible|can(?:no|['’])t be cancell?ed|is final"
    r"|(?:each|every) (?:call|request|use)[^.]{0,80}?(?:costs?|charged|billed|credits?)"
    r"|(?:costs?|charged|billed|credits?)[^.]{0,80}? per (?:call|request|use)|billed to"
)
_HARMFUL = re.compile(rf"\b(?:{_HARM})\b|\b(?:warning|caution)\s*[:!]", re.IGNORECASE)
_ORDER = r"^|[.!?:;,(*–—-] *|\b(?:please|and|but|so|then|also) +"
"""Words before a *do not* that forbids: *when you do not know it* is information."""
_PERMISSION = (
    r"(?:requires?|needs?|without|lacks?|ha(?:s|ve|ving)|must|only|admin|proper|sufficient)\b"
    r"[^.!?]{0,60}?\bpermissions?|permissions?\b[^.!?]{0,40}?\b(?:required|needed|denied)"
)
"""A file has permissions too, so the words must say that one is needed."""
_SAFETY = re.compile(
    rf"(?:{_ORDER})do(?: not|n['’]t)\b"
    rf"|\b(?:{_HARM}|warn(?:s|ing)?|caution|(?:must|should)(?: not|n['’]t)|never|forbidden"
    rf"|prohibited|not allowed|{_PERMISSION}|authori[sz]ed|authori[sz]ation|privileges?"
    r"|requires? (?:admin|approval|confirmation|consent)|confidential|sensitive data"
    r"|rate.?limit(?:s|ed)?|quotas?)\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(r"\b(?:not|never|no|cannot|without|forbidden|prohibited)\b|n['’]t\b", re.I)


def safety_notes(tool: Tool) -> tuple[str, ...]:
    """The sentences in descriptions that warn, forbid, or mention permissions."""
    return _sentences(tool, _SAFETY)


def harm_notes(tool: Tool) -> tuple[str, ...]:
    """The notes that mention harm: irreversible actions, overwriting, loss."""
    return _sentences(tool, _HARMFUL)


def unshared_notes(
    tools: Sequence[Tool], text: str, notes_of: Callable[[Tool], Sequence[str]] = safety_notes
) -> Iterator[tuple[Tool, str]]:
    """Each tool with its notes that no sentence of the text repeats, in order.

    A sentence repeats a note if it also warns or forbids and has most of the note's words.
    """
    notes = (one for one in sentences(text) if _SAFETY.search(one))
    own_notes = [(text_words(one), bool(_NEGATION.search(one))) for one in notes]
    for tool in tools:
        for note in notes_of(tool):
            words, negated = text_words(note), bool(_NEGATION.search(note))
            if not any(
                len(words & own) >= _KEPT * len(words) and (negation or not negated)
                for own, negation in own_notes
            ):
                yield tool, note


def _sentences(tool: Tool, telling: re.Pattern[str]) -> tuple[str, ...]:
    texts = [tool.description, *(parameter.description for parameter in tool.parameters)]
    every = (one for text in texts for one in sentences(without_hidden(text)))
    return tuple(dict.fromkeys(one for one in every if telling.search(one)))


def whole_text(tool: Tool) -> str:
    """Name, description and descriptions of parameters, one per line, without hidden text."""
    texts = [tool.name, tool.description, *(p.description for p in tool.parameters)]
    return without_hidden("\n".join(texts))


_READING = frozenset({"reads", "computes", "exports"})
_COMPUTING = frozenset({"computes"})
_DESTROYING = frozenset({"deletes"})
_LOOKING = frozenset({"reads", "computes"})
_PLACES = frozenset(
    """path file filename filepath folder directory session account database db table project repo
    repository workspace bucket tenant profile connection""".split()
)
"""Words in parameter names that say where the tool works."""

_HANDLES = frozenset(
    "session browser tab window element terminal shell connection transaction".split()
)
"""State that lasts only while a caller uses it; only the tools that created it can access it."""

_KEPT_BEHIND = _HANDLES.union(
    """file folder document note page message email issue ticket task event contact record
    table database bucket container account branch repository directory memory calendar
    playlist""".split()
)
"""Nouns for things that a tool may store."""

_SCOPES = frozenset(
    """all every single my own self personal private public shared local remote global active
    inactive archived deleted draft pending completed past future upcoming historical daily weekly
    monthly yearly annual hourly recursive""".split()
)
"""Words in names that narrow or widen the reach of an action."""

_RUNS_OR_ACTS = frozenset("id code script command prompt".split())
"""Words in parameter names that say which record is meant, or what is run."""

_RESULTS = {
    "array": "a list",
    "object": "an object",
    "string": "text",
    "integer": "a number",
    "number": "a number",
    "boolean": "true or false",
}
ALL_OR_NONE = "switch off all of them or none"
"""The end of the sentence on a server's tools that work on the same thing as a replaced tool."""
_LONGEST_NOTE = 120


class Companions:
    """Which tools of a server work on the same state; each tool is read at most once."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools: dict[str, list[Tool]] = {}
        for tool in tools:
            self._tools.setdefault(tool.owner, []).append(tool)
        self._nouns: dict[str, tuple[tuple[str, ...], ...]] = {}

    def names_keeping(self, members: Sequence[Tool], server: str, nouns: set[str]) -> list[str]:
        """Names of the server's other tools that store one of ``nouns``, in order."""
        tools = self._tools.get(server, [])
        if server not in self._nouns:
            self._nouns[server] = tuple(kept_behind(read_tool(tool)) for tool in tools)
        ids = {tool.id for tool in members}
        nouns_by_tool = zip(tools, self._nouns[server], strict=True)
        return [tool.name for tool, own in nouns_by_tool if tool.id not in ids and nouns & set(own)]


def guards(
    members: Sequence[Tool],
    canonical: str,
    kind: ClusterKind,
    companions: Companions,
    one_account: bool = False,
) -> tuple[str, ...]:
    """Sentences on differences between the members, and on things that would become unreachable.

    Empty if there are none. Nothing is said about details that the tools leave open. ``canonical``
    is the id of the kept member. ``companions`` must belong to the same catalog. ``one_account``
    says that the servers share one account and reach the same things. Names in the sentences come
    from the catalog and are not escaped.
    """
    readings = {tool.id: read_tool(tool) for tool in members}
    canonical_tool = next(tool for tool in members if tool.id == canonical)
    replaced = [tool for tool in members if tool is not canonical_tool] if kind == "drop_in" else []
    on_servers = _on_servers(members, canonical, replaced, readings, companions)
    return (
        *(on_servers if not (one_account and replaced) else ()),
        *_on_state(members, replaced, readings, one_account),
        *_on_effects(members, readings),
        *_on_results(members),
        *_on_scope(members, readings),
        *_on_notes(canonical_tool, [tool for tool in members if tool is not canonical_tool]),
    )


def effect(reading: ToolReading) -> str:
    """``reads``, ``writes`` or ``destroys``, according to the annotation or else the words; "" if
    unknown.
    """
    hints, classes = reading.tool.annotations, reading.classes
    if hints.get("readOnlyHint") is True:
        return "reads"
    if hints.get("destructiveHint") is True:
        return "destroys"
    if classes and classes <= _DESTROYING and "destructiveHint" not in hints:
        return "destroys"
    if hints.get("readOnlyHint") is False:
        return "writes"
    if not classes or (classes & _READING and classes - _READING):
        return ""
    return "reads" if classes & _READING else "writes"


def returned(returns: JsonObject | None) -> str:
    """The kind of result in words, ignoring a wrapper with one field; "" if it is not stated."""
    schema: object = returns
    while isinstance(schema, Mapping):
        types = schema.get("type")
        type_names = types if isinstance(types, list) else [types]
        kinds = {_RESULTS.get(str(name), "") for name in type_names if name != "null"}
        if len(kinds) != 1:
            return ""
        fields = schema.get("properties")
        if kinds != {"an object"} or not isinstance(fields, Mapping) or len(fields) > 1:
            return kinds.pop()
        schema = next(iter(fields.values()), None)
    return ""


def kept_behind(reading: ToolReading) -> tuple[str, ...]:
    """Sorted stems of the nouns for things that the tool may store or find.

    Such things are files, sessions or records. For a tool that only computes, only things that it
    keeps open for its caller, such as sessions, are included.
    """
    computes = bool(reading.classes) and reading.classes <= _COMPUTING
    all_nouns = frozenset[str]() if computes else frozenset({*reading.nouns, *reading.objects})
    return tuple(sorted((_KEPT_BEHIND & all_nouns) | _HANDLES.intersection(reading.content)))


def handles_of(readings: Iterable[ToolReading]) -> str:
    """The nouns for things that the tools keep open for their callers, in words; empty if there are
    none.
    """
    return _plurals({noun for one in readings for noun in kept_behind(one)} & _HANDLES)


def keeps_nothing(tool: Tool) -> bool:
    """Whether the tool only calculates, or looks up public facts."""
    reading = read_tool(tool)
    if _names_kept(reading) or tool.annotations.get("readOnlyHint") is False:
        return False
    looks = reading.classes <= _LOOKING or "number" in reading.objects  # "add two numbers"
    return only_computes(tool) or (looks and is_of_facts(nouns_of(reading)))


def only_computes(tool: Tool) -> bool:
    """Whether the tool only computes, and names nothing that it stores."""
    reading = read_tool(tool)
    return reading.classes == _COMPUTING and not _names_kept(reading)


def only_looks(tool: Tool) -> bool:
    """Whether the tool only reads, and names nothing that it stores."""
    reading = read_tool(tool)
    looks = effect(reading) == "reads" and "exports" not in reading.classes
    return looks and not _names_kept(reading)


def _names_kept(reading: ToolReading) -> bool:
    return (
        bool(kept_behind(reading))
        or keeps_things(nouns_of(reading))
        or not _PLACES.isdisjoint(reading.arguments or ())
    )


def nouns_of(reading: ToolReading) -> tuple[str, ...]:
    """The words in the name of the tool and in its objects."""
    return (*reading.nouns, *reading.objects, *reading.phrase)


def _on_servers(
    members: Sequence[Tool],
    canonical: str,
    replaced: Sequence[Tool],
    readings: Mapping[str, ToolReading],
    companions: Companions,
) -> Iterator[str]:
    servers = _owners(members)
    if not replaced or len(servers) < 2 or _are_the_same_everywhere(members, readings):
        return
    implied = any(tool.implied_server for tool in members)
    live = f"{'their names imply' if implied else 'the tools are on'} {len(servers)} servers"
    stays = next(tool.owner for tool in members if tool.id == canonical)
    nouns = {
        server: {n for t in replaced if t.owner == server for n in kept_behind(readings[t.id])}
        for server in servers
        if server != stays
    }
    lost = (
        f"{_plurals(own_nouns)} that only {_owner(server)} has"
        if own_nouns
        else f"data that only {_owner(server)} has"
        for server, own_nouns in nouns.items()
    )
    yield f"{live}: {listed(lost)} would be out of reach"
    for server, own_nouns in nouns.items():
        if companion_names := companions.names_keeping(members, server, own_nouns):
            names = listed(f"`{name}`" for name in companion_names)
            yield (
                f"other tools of {_owner(server)} work on the same {_plurals(own_nouns)}: {names}; "
                f"{ALL_OR_NONE}"
            )


def _are_the_same_everywhere(members: Sequence[Tool], readings: Mapping[str, ToolReading]) -> bool:
    """Whether the members give calculations or public facts that do not depend on who runs them.

    They store nothing, act on no record or program, need no account, and run no text as a program.
    """
    return all(
        keeps_nothing(tool) and _RUNS_OR_ACTS.isdisjoint(readings[tool.id].arguments or ())
        for tool in members
    ) and not any(own.accounts or own.programs for own in products_of(members))


def _owners(members: Sequence[Tool]) -> list[str]:
    """The servers of the members, sorted.

    A tool whose name implies no server may be on any server that the other names imply.
    """
    declared = any(tool.server for tool in members)
    return sorted({tool.owner for tool in members if tool.owner or declared})


def _on_state(
    members: Sequence[Tool],
    replaced: Sequence[Tool],
    readings: Mapping[str, ToolReading],
    one_account: bool,
) -> Iterator[str]:
    """State that the members may not share, according to their names, although they are on one
    server or account.

    The tools of a named server share its files and records, and the servers of an account share
    theirs, but not the things that are kept open.
    """
    several = len(_owners(members)) > 1
    if not replaced or (several and not one_account):
        return
    if not several and len({frozenset(readings[tool.id].nouns) for tool in members}) < 2:
        return
    nouns = {noun for tool in replaced for noun in kept_behind(readings[tool.id])}
    if members[0].server:  # an implied server is a guess, which allows nothing
        nouns &= _HANDLES
    if nouns:
        names = listed(f"`{tool.name}`" for tool in replaced)
        yield (
            f"nothing says that they share their {_plurals(nouns)}: those that only {names} has "
            "would be out of reach"
        )


def _on_effects(members: Sequence[Tool], readings: Mapping[str, ToolReading]) -> Iterator[str]:
    effects = {effect(readings[tool.id]) for tool in members} - {""}
    if len(effects) > 1:
        yield f"they differ in effect: one {', another '.join(sorted(effects))}"


def _on_scope(members: Sequence[Tool], readings: Mapping[str, ToolReading]) -> Iterator[str]:
    scopes = {id: _SCOPES.intersection(reading.name) for id, reading in readings.items()}
    common = frozenset[str].intersection(*map(frozenset, scopes.values()))
    scopes_alone = [
        f"`{tool.name}` says {quoted(sorted(alone))}"
        for tool in members
        if (alone := scopes[tool.id] - common)
    ]
    if scopes_alone:
        yield f"they differ in scope: only {listed(scopes_alone)}"


def _on_notes(canonical: Tool, others: Sequence[Tool]) -> Iterator[str]:
    """Harm that another member mentions and the kept one does not."""
    notes = [
        f"`{tool.id if tool.name == canonical.name else tool.name}`: "
        f"“{shorten(note, _LONGEST_NOTE, placeholder='…')}”"
        for tool, note in unshared_notes(others, whole_text(canonical), harm_notes)
    ]
    if notes:
        yield f"`{canonical.name}` does not repeat what others say about {listed(notes)}"


def _on_results(members: Sequence[Tool]) -> Iterator[str]:
    first: dict[str, Tool] = {}
    for tool in members:
        first.setdefault(returned(tool.returns), tool)
    first.pop("", None)
    if len(first) > 1:
        clauses = (f"`{tool.name}` returns {result}" for result, tool in sorted(first.items()))
        yield f"they return different things: {listed(clauses)}"


def _owner(server: str) -> str:
    return server or "the tool without a server"


def _plurals(nouns: set[str]) -> str:
    return enumerated(map(plural, sorted(nouns)))
