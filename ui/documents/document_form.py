"""The form for a document. Text that is not saved is kept while other pages are open."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import cast

import pandas as pd
import streamlit as st

from toolscope_core.catalog.formats.format_table import MATRIX, target_named
from toolscope_core.catalog.formats.target_rules import rule_violations
from toolscope_core.merging.clusters import documented
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.plan import MergedTool
from toolscope_core.model.tool import Tool
from ui.documents.argument_editor import reachable
from ui.documents.edited_documents import (
    TYPES,
    Draft,
    ParameterRow,
    parsed,
    rows_of,
    schema_of,
    with_cells,
)

_WAYS = _TABLE, _TEXT = ("Table", "JSON Schema")


@dataclass(frozen=True, slots=True)
class Fields:
    """The contents of the fields.

    ``rows`` are the parameters of ``base``. ``text`` is the schema as JSON. ``way`` says which of
    the two is shown.
    """

    name: str
    description: str
    base: Draft
    rows: tuple[ParameterRow, ...]
    text: str
    way: str = _TABLE

    @classmethod
    def of(cls, draft: Draft, way: str = _TABLE) -> "Fields":
        document = draft.document
        text = json.dumps(document.schema, indent=2, ensure_ascii=False)
        return cls(document.name, document.description, draft, rows_of(draft), text, way)


class DocumentForm:
    """The fields for the document of ``draft``. Their keys end in ``suffix``.

    The suffix changes with the cluster. The fields start with the text of the last visit, because
    Streamlit forgets the fields of a page that is left.
    """

    def __init__(self, suffix: str, draft: Draft) -> None:
        self._unsaved: dict[str, Fields] = st.session_state.setdefault("typed", {})
        self._initial: dict[str, Fields] = st.session_state.setdefault("began", {})
        turns: dict[str, int] = st.session_state.setdefault("discarded", {})
        self.suffix = f"{suffix}_{turns[suffix]}" if suffix in turns else suffix
        self._turns, self.draft = turns, draft
        if f"name_{self.suffix}" not in st.session_state:
            self._initial[suffix] = self._unsaved.get(suffix, Fields.of(draft))
        self._key = suffix

    def show(self, sources: Mapping[str, str]) -> tuple[Draft, tuple[str, ...]]:
        """Draw the fields. Returns the edited document and its problems.

        While the parameters are invalid, the document has the last valid ones. ``sources`` says
        where each parameter comes from.
        """
        start, suffix = self._initial[self._key], self.suffix
        name = st.text_input("Name", start.name, key=f"name_{suffix}")
        description = st.text_area(
            "Description", start.description, key=f"description_{suffix}", height=160
        )
        fields = replace(start, name=name, description=description)
        problems: tuple[str, ...] = ()
        draft = start.base
        if self.draft.document.schema is None:
            st.caption("The tools declare no parameter schema, so there are no parameters to edit.")
        else:
            fields = self._parameters(fields, sources)
            try:
                draft = _draft_of(fields)
            except DecisionError as error:
                problems = (str(error),)
        document = replace(draft.document, name=name, description=description)
        draft = replace(draft, document=document)
        if problems or document != self.draft.document:
            self._unsaved[self._key] = fields
        else:
            self._unsaved.pop(self._key, None)
        return draft, problems

    @property
    def is_unsaved(self) -> bool:
        """Whether the fields differ from the stored document."""
        return self._key in self._unsaved

    def discard(self) -> None:
        """Discard the text that is not saved."""
        self._unsaved.pop(self._key, None)
        self._turns[self._key] = self._turns.get(self._key, 0) + 1

    def _parameters(self, fields: Fields, sources: Mapping[str, str]) -> Fields:
        """The fields with the parameters as edited in the table or as JSON."""
        way = st.segmented_control(
            "Parameters",
            _WAYS,
            default=fields.way,
            required=True,
            key=f"way_{self.suffix}",
            on_change=self._switch_way,
        )
        if way == _TEXT:
            return replace(fields, text=as_text(fields.text, f"schema_{self.suffix}"), way=_TEXT)
        rows = _table(fields.rows, sources, f"parameters_{self.suffix}")
        return replace(fields, rows=tuple(rows), way=_TABLE)

    def _switch_way(self) -> None:
        """Copy the parameters to the other view. If they are invalid, copy the last valid ones."""
        start = self._unsaved.get(self._key, self._initial[self._key])
        try:
            base = _draft_of(start)
        except DecisionError:
            base = start.base
        way = cast(str, st.session_state[f"way_{self.suffix}"])
        fields = Fields.of(base, way)
        self._initial[self._key] = replace(fields, name=start.name, description=start.description)


def _draft_of(fields: Fields) -> Draft:
    """The draft with the parameters in the fields. Raises ``DecisionError`` if they are invalid."""
    base = fields.base
    if fields.way == _TABLE:
        schema, renames = schema_of(base, fields.rows)
    else:
        if fields.text == Fields.of(base).text:
            return base
        schema = parsed(fields.text)
        properties = schema.get("properties") or {}
        renames = {old: new for old, new in base.renames.items() if new in properties}
    return Draft(replace(base.document, schema=schema), renames, base.maps)


def is_unsaved(key: str) -> bool:
    """Whether the form with this key has text that is not saved."""
    return key in st.session_state.get("typed", {})


def _table(
    rows: Sequence[ParameterRow], sources: Mapping[str, str], key: str
) -> list[ParameterRow]:
    """Draw the rows in a grid. Returns them as edited; only changed cells differ from the input.

    ``sources`` says which arguments of the old tools fill each parameter.
    """
    types = [*TYPES, *sorted({row.type for row in rows} - set(TYPES))]
    text = st.column_config.TextColumn
    st.data_editor(
        pd.DataFrame(
            [{**asdict(row), "source": sources.get(row.current, "")} for row in rows],
            columns=[*(field.name for field in fields(ParameterRow)), "source"],
            dtype=object,  # in a new line, the cells of all columns are empty
        ),
        key=key,
        hide_index=True,
        num_rows="dynamic",
        column_order=[
            "name",
            "type",
            "required",
            "default",
            "description",
            "enum",
            "source",
            "origin",
        ],
        column_config={
            "origin": text("original name", disabled=True, help="The name before any edit."),
            "name": text(required=True),
            "type": st.column_config.SelectboxColumn(options=types, default="string"),
            "required": st.column_config.CheckboxColumn(default=False),
            "default": text(
                help="Leave empty for no default. Write text as it is, and other values as JSON."
            ),
            "description": text(width="large"),
            "source": text("comes from", disabled=True, help="The name in each old tool."),
            "enum": st.column_config.MultiselectColumn(
                "allowed values",
                options=sorted({value for row in rows for value in row.enum}),
                accept_new_options=True,
            ),
        },
        alt="Parameters of the tool",
    )
    return with_cells(rows, st.session_state[key])


def as_text(text: str, key: str) -> str:
    """Draw a text field for the whole schema. Returns its text."""
    return st.text_area(
        "JSON Schema",
        text,
        key=key,
        height=360,
        help="To rename a parameter, use the table; a new name here counts as one parameter "
        "removed and one added.",
    )


_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class DocumentCheck:
    """One line of a check.

    ``what`` is checked. If the check fails, ``fails`` says what is wrong and ``reason`` says why.
    """

    what: str
    fails: str
    reason: str

    @property
    def holds(self) -> bool:
        return not self.reason


def document_checks(cluster: Cluster, tools: Sequence[Tool]) -> tuple[DocumentCheck, ...]:
    """The checks of a document: the rules of each client, required arguments of the old tools, and
    losses in argument maps.

    ``tools`` are the members, with the canonical one first.
    """
    tool = replace(documented(tools[0], cluster.document), id=cluster.canonical)
    merged = MergedTool(tool, cluster.members)
    refusals = []
    for name in MATRIX:
        own = [
            one for one in rule_violations([merged], name) if one.rule not in ("count", "unique")
        ]
        if own:
            refusals.append((target_named(name).title, own[0].message))
    names = ", ".join(title for title, _ in refusals)
    unreachable = reachable(tools, cluster.arguments)
    lossy = [alpha for alpha in cluster.arguments if not alpha.lossless]
    unknown = [tool.id for tool in tools if tool.schema is None] if len(tools) > 1 else []
    silent = f"the parameters of {', '.join(unknown)} are unknown" if unknown else ""
    inferred = [sentence for alpha in cluster.arguments for sentence in alpha.inferred]
    return (
        DocumentCheck(
            f"{len(MATRIX)} clients accept its name, description and schema",
            "Some clients reject its name, description or schema",
            f"{names}: {refusals[0][1]}" if refusals else "",
        ),
        DocumentCheck(
            "Every required argument of the old tools has a place",
            "Some required arguments of the old tools have no place",
            silent or ", ".join(f"{argument} of {name}" for name, argument in unreachable),
        ),
        DocumentCheck(
            "Lossless: every old call can be translated there and back",
            "Some old calls would lose something",
            silent or ", ".join(alpha.tool_id for alpha in lossy),
        ),
        DocumentCheck(
            "Every argument is matched by its name or description",
            "Some arguments are only guesses",
            "; ".join(inferred[:_MOST_NAMED]),
        ),
    )
