"""Cluster documents on the screen: current and earlier versions, previews and edits."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from toolscope_core.decisions.constraints import edits
from toolscope_core.decisions.document_rules import document_problems
from toolscope_core.llm import document_answers, merge_questions, run_configuration
from toolscope_core.merging.analysis import Analysis
from toolscope_core.merging.clusters import build_clusters
from toolscope_core.model.cluster import Cluster, Document, Group
from toolscope_core.model.decision import Constraints, Decision, Edit
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.tool import JsonObject, Parameter, Tool
from ui.shared.cards.cards import Card, card_of, cell_text
from ui.shared.services import judging, review
from ui.shared.snapshot import Snapshot

TYPES = ("string", "integer", "number", "boolean", "array", "object", "any")
_WORDS = ("description", "title", "default", "enum")


@dataclass(frozen=True, slots=True)
class ParameterRow:
    """One line of the parameter table.

    ``origin`` is the name in the synthesised document; it is empty for an added parameter.
    ``current`` is the name in the edited document; it is empty for a new line. ``enum`` and
    ``default`` are texts: strings are unchanged, and other values are JSON. An empty ``default``
    means that there is none.
    """

    origin: str = ""
    current: str = ""
    name: str = ""
    type: str = "string"
    required: bool = False
    description: str = ""
    enum: tuple[str, ...] = ()
    default: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """A document that is being edited.

    ``renames`` maps the synthesised parameter names to new ones. ``maps`` has people's edits of
    argument maps for each tool id (see ``merging.edited_maps``).
    """

    document: Document
    renames: Mapping[str, str] = field(default_factory=dict)
    maps: Mapping[str, JsonObject] = field(default_factory=dict)


def rows_of(draft: Draft) -> tuple[ParameterRow, ...]:
    """The declared parameters of the draft as rows, in order."""
    origins = {new: old for old, new in draft.renames.items()}
    parameters = Tool("", draft.document.name, schema=draft.document.schema).parameters
    return tuple(
        ParameterRow(
            origin=origins.get(p.name, p.name),
            current=p.name,
            name=p.name,
            type=p.type,
            required=p.required,
            description=p.description,
            enum=tuple(cell_text(value) for value in p.enum),
            default=_default_text(p.schema),
        )
        for p in parameters
    )


def schema_of(draft: Draft, rows: Sequence[ParameterRow]) -> tuple[JsonObject, dict[str, str]]:
    """The draft's schema with the rows as its parameters, and the renames that the rows make.

    Only differences from ``rows_of`` are applied, so unchanged rows give the same schema. Parts of
    a parameter that the table does not show are kept, unless the parameter's type changed. Raises
    ``DecisionError`` for a blank or repeated name.
    """
    saved_rows = rows_of(draft)
    if tuple(rows) == saved_rows and draft.document.schema is not None:
        return draft.document.schema, dict(draft.renames)
    names = [row.name.strip() for row in rows]
    wrong = sorted(name for name, count in Counter(names).items() if count > 1 or not name)
    if wrong:
        raise DecisionError(
            f"the parameter names {', '.join(map(repr, wrong))} are blank or repeated; give each "
            "parameter a different name"
        )
    before = {p.name: p for p in Tool("", "", schema=draft.document.schema).parameters}
    schema: dict[str, Any] = dict(draft.document.schema or {})
    schema.setdefault("type", "object")
    properties = schema.get("properties") or {}
    untouched = {replace(row, name="") for row in saved_rows}
    schema["properties"] = {
        name: properties[row.current]
        if replace(row, name="") in untouched
        else _property(row, before.get(row.current))
        for name, row in zip(names, rows, strict=True)
    }
    required = _required(schema.get("required"), before, rows)
    if required or "required" in schema:
        schema["required"] = required
    renames = {
        row.origin: name
        for name, row in zip(names, rows, strict=True)
        if row.origin and row.origin != name
    }
    return schema, renames


def with_cells(rows: Sequence[ParameterRow], edits: Mapping[str, Any]) -> list[ParameterRow]:
    """The rows after the edits in a grid. Cells that were not touched keep their values.

    ``edits`` has ``edited_rows`` (place → column → value), ``deleted_rows`` (places) and
    ``added_rows``.
    """
    changes = {int(at): _cells(cells) for at, cells in edits.get("edited_rows", {}).items()}
    deleted = set(edits.get("deleted_rows", ()))
    own = [replace(row, **changes.get(at, {})) for at, row in enumerate(rows) if at not in deleted]
    return own + [ParameterRow(**_cells(cells)) for cells in edits.get("added_rows", ())]


def _cells(cells: Mapping[str, Any]) -> dict[str, Any]:
    """The cells of the editable columns, in the types that a row has.

    In ``cells``, an emptied cell is ``None``.
    """
    values: dict[str, Any] = {
        key: cells[key] or "" for key in ("name", "description", "default") if key in cells
    }
    if cells.get("type"):
        values["type"] = cells["type"]
    if "required" in cells:
        values["required"] = cells["required"] is True
    if "enum" in cells:
        values["enum"] = tuple(map(str, cells["enum"] or ()))
    return values


def parsed(text: str) -> JsonObject:
    """The JSON Schema in a text. Raises ``DecisionError``, which names the line and column."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise DecisionError(
            f"the JSON Schema is not valid JSON: {error.msg} at line {error.lineno}, column "
            f"{error.colno}; correct it"
        ) from error
    except RecursionError as error:
        raise DecisionError("the JSON Schema is nested too deeply; simplify it") from error
    if not isinstance(value, dict):
        raise DecisionError("the JSON Schema is not an object; start it with { and end it with }")
    return value


def with_draft(analysis: Analysis, cluster: Cluster, draft: Draft) -> Cluster:
    """The cluster as it would be with this document: its kind, argument maps and reasons."""
    document = draft.document
    edits: dict[str, Any] = {"name": document.name, "description": document.description}
    if document.schema is not None:
        edits.update(schema=document.schema, renames=dict(draft.renames))
    tools = analysis.catalog.by_id
    edits["maps"] = {tools[one].fingerprint: changes for one, changes in draft.maps.items()}
    group = Group(
        cluster.members,
        cluster.weakest_edge,
        decided=cluster.state == "accepted",
        family=cluster.relation == "family",
    )
    edit = {frozenset(cluster.members): Edit(cluster.canonical, edits, cluster.chosen_kind)}
    (edited_cluster,) = build_clusters(
        analysis.catalog, [group], Constraints(), edit, 0.0, analysis.syntheses
    )
    return edited_cluster


def value_of(text: str, kind: str) -> Any:
    """The value of a cell in a column with the JSON type ``kind``. Invalid JSON stays text."""
    if kind == "string":
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _property(row: ParameterRow, before: Parameter | None) -> JsonObject:
    schema = dict(before.schema) if before else {}
    if before is None or row.type != before.type:
        schema = {key: schema[key] for key in _WORDS if key in schema}
        if row.type != "any":
            types = row.type.split("|")
            schema = {"type": types if len(types) > 1 else types[0], **schema}
    if row.description != (before.description if before else ""):
        schema["description"] = row.description
    if row.default != _default_text(before.schema if before else {}):
        schema["default"] = value_of(row.default, row.type)
        if not row.default:
            del schema["default"]
    if row.enum != tuple(cell_text(value) for value in (before.enum if before else ())):
        values = {cell_text(value): value for value in (before.enum if before else ())}
        schema["enum"] = [values.get(text, value_of(text, row.type)) for text in row.enum]
        if not row.enum:
            del schema["enum"]
    return schema


def _required(
    required: object, before: Mapping[str, Parameter], rows: Sequence[ParameterRow]
) -> list[str]:
    """The required names: first the kept ones in their old order, with their new names, then the
    added ones.
    """
    ticked = {row.current or row.name: row.name.strip() for row in rows if row.required}
    old = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
    in_order = [ticked.get(name, name) for name in old if name in ticked or name not in before]
    return in_order + [name for name in ticked.values() if name not in in_order]


def _default_text(schema: JsonObject) -> str:
    return cell_text(schema["default"]) if "default" in schema else ""


@dataclass(frozen=True, slots=True)
class DocumentVersion:
    """A document as it was after the ``decision`` that edited it."""

    decision: Decision
    draft: Draft


def draft_of(snapshot: Snapshot, cluster: Cluster) -> Draft:
    """The current document of a cluster, as a draft."""
    last = edits(snapshot.catalog, snapshot.log).get(frozenset(cluster.members))
    if last is None:
        return Draft(cluster.document)
    tools, maps = snapshot.catalog.by_id, last.document.get("maps", {})
    prints = {one: tools[one].fingerprint for one in cluster.members}
    return Draft(
        cluster.document,
        dict(last.document.get("renames", {})),
        {one: maps[member] for one, member in prints.items() if member in maps},
    )


def synthesised(snapshot: Snapshot, cluster: Cluster) -> Draft:
    """The document before anybody edited it."""
    return Draft(snapshot.analysis.synthesis_of(cluster).document)


def preview(snapshot: Snapshot, cluster: Cluster, draft: Draft) -> Card:
    """The cluster as it would be with this document: kind, argument maps, size."""
    analysis = snapshot.analysis
    return card_of(analysis, with_draft(analysis, cluster, draft), snapshot.format)


def edit(snapshot: Snapshot, cluster: Cluster, draft: Draft, reviewer: str) -> Decision:
    """Store an edited document for a cluster. Raises ``DecisionError`` if it is invalid."""
    document = draft.document
    if against := problems(snapshot, cluster, document):
        raise DecisionError(f"the document cannot be saved: {'; '.join(against)}")
    edits: dict[str, Any] = {
        key: getattr(document, key)
        for key in ("name", "description", "schema")
        if getattr(document, key) != getattr(cluster.document, key)
    }
    if "schema" in edits:
        edits["renames"] = dict(draft.renames)
    if draft.maps != draft_of(snapshot, cluster).maps:
        edits["maps"] = dict(draft.maps)
    if not edits:
        raise DecisionError("nothing was changed; edit the name, description or parameters")
    return review.decide(snapshot, "edit", cluster, reviewer, edits)


def problems(snapshot: Snapshot, cluster: Cluster, document: Document) -> tuple[str, ...]:
    """Sentences that say why this document cannot be exported. Empty if it can be."""
    tools = snapshot.catalog.tools
    outside = {tool.name for tool in tools if tool.id not in cluster.members}
    return document_problems(document, cluster.document, frozenset(outside))


def versions(snapshot: Snapshot, cluster: Cluster) -> tuple[DocumentVersion, ...]:
    """Each edit of these tools, newest first."""
    catalog, log = snapshot.catalog, snapshot.log
    start = synthesised(snapshot, cluster)
    members = frozenset(cluster.members)
    prints = sorted(catalog.by_id[one].fingerprint for one in members)
    by_print = {catalog.by_id[one].fingerprint: one for one in sorted(members, reverse=True)}
    found_versions = []
    for at, decision in enumerate(log):
        if decision.action != "edit" or sorted(decision.fingerprints) != prints:
            continue
        last = edits(catalog, log[: at + 1]).get(members)
        document = last.document if last else {}
        texts = {key: document[key] for key in ("name", "description", "schema") if key in document}
        maps = {
            by_print[one]: changes
            for one, changes in document.get("maps", {}).items()
            if one in by_print
        }
        draft = Draft(replace(start.document, **texts), document.get("renames", {}), maps)
        found_versions.append(DocumentVersion(decision, draft))
    return tuple(found_versions[::-1])


def of(snapshot: Snapshot, cluster: Cluster) -> document_answers.ModelDocument | None:
    """The document that a model wrote for the cluster in its current state, or ``None``."""
    analysis = snapshot.analysis
    run = judging.newest(snapshot, "documents", analysis)
    if run is None:
        return None
    asker = run_configuration.stored_answers(run.configuration, snapshot.work.ledger)
    answer = document_answers.ask_for_documents(analysis.catalog, [cluster], asker).get(
        cluster.members
    )
    if answer is None or answer.value is None:
        return None
    catalog = analysis.catalog
    context = document_answers.document_context(
        catalog, cluster.members, merge_questions.suspicious_ids_of(catalog)
    )
    return document_answers.written_for(analysis, cluster, asker.name, answer.value, context)
