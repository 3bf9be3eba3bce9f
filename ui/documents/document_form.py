"""The form of a merged document. What is typed and not saved waits while other pages are open."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import cast

import streamlit as st

from toolscope_core.errors import DecisionError
from toolscope_core.views.drafts import Draft, ParameterRow, parsed, rows_of, schema_of
from ui.documents import parameter_editor

TABLE, TEXT = parameter_editor.WAYS


@dataclass(frozen=True, slots=True)
class Typed:
    """What stands in the fields: ``rows`` are parameters of ``base``, ``text`` is the schema as
    JSON, ``way`` which of them is shown.
    """

    name: str
    description: str
    base: Draft
    rows: tuple[ParameterRow, ...]
    text: str
    way: str = TABLE

    @classmethod
    def of(cls, draft: Draft, way: str = TABLE) -> Typed:
        document = draft.document
        text = json.dumps(document.schema, indent=2, ensure_ascii=False)
        return cls(document.name, document.description, draft, rows_of(draft), text, way)


class Form:
    """The fields of one document, under keys that end in ``seen``, which changes with its cluster.

    A field begins a visit with what was typed in the last one: Streamlit forgets the fields of a
    page that is left.
    """

    def __init__(self, seen: str, draft: Draft) -> None:
        self._typed: dict[str, Typed] = st.session_state.setdefault("typed", {})
        self._began: dict[str, Typed] = st.session_state.setdefault("began", {})
        turns: dict[str, int] = st.session_state.setdefault("discarded", {})
        self.seen = f"{seen}_{turns[seen]}" if seen in turns else seen
        self._turns, self._draft = turns, draft
        if f"name_{self.seen}" not in st.session_state:
            self._began[seen] = self._typed.get(seen, Typed.of(draft))
        self._key = seen

    def show(self) -> tuple[Draft, tuple[str, ...]]:
        """Draw the fields; the document as typed, or as last understood, and what is wrong."""
        start, seen = self._began[self._key], self.seen
        name = st.text_input("Name", start.name, key=f"name_{seen}")
        description = st.text_area(
            "Description", start.description, key=f"description_{seen}", height=160
        )
        typed = replace(start, name=name, description=description)
        problems: tuple[str, ...] = ()
        edited = start.base
        if self._draft.document.schema is None:
            st.caption("The tools do not say what they take, so there are no parameters to edit.")
        else:
            typed = self._parameters(typed)
            try:
                edited = understood(typed)
            except DecisionError as error:
                problems = (str(error),)
        document = replace(edited.document, name=name, description=description)
        edited = replace(edited, document=document)
        if problems or document != self._draft.document:
            self._typed[self._key] = typed
        else:
            self._typed.pop(self._key, None)
        return edited, problems

    @property
    def is_unsaved(self) -> bool:
        """Whether something was typed that is not what is stored."""
        return self._key in self._typed

    def discard(self) -> None:
        """Forget what was typed."""
        self._typed.pop(self._key, None)
        self._turns[self._key] = self._turns.get(self._key, 0) + 1

    def _parameters(self, typed: Typed) -> Typed:
        way = st.segmented_control(
            "Parameters",
            parameter_editor.WAYS,
            default=typed.way,
            required=True,
            key=f"way_{self.seen}",
            on_change=self._turn,
        )
        if way == TEXT:
            return replace(
                typed, text=parameter_editor.as_text(typed.text, f"schema_{self.seen}"), way=TEXT
            )
        rows = parameter_editor.table(typed.rows, f"parameters_{self.seen}")
        return replace(typed, rows=tuple(rows), way=TABLE)

    def _turn(self) -> None:
        """Go over to the other way with what was typed, as far as it can be understood."""
        start = self._typed.get(self._key, self._began[self._key])
        try:
            base = understood(start)
        except DecisionError:
            base = start.base
        way = cast(str, st.session_state[f"way_{self.seen}"])
        turned = Typed.of(base, way)
        self._began[self._key] = replace(turned, name=start.name, description=start.description)


def understood(typed: Typed) -> Draft:
    """The draft with the parameters as typed. Raises ``DecisionError`` where they make none."""
    base = typed.base
    if typed.way == TABLE:
        schema, renames = schema_of(base, typed.rows)
    else:
        if typed.text == Typed.of(base).text:
            return base
        schema = parsed(typed.text)
        properties = schema.get("properties") or {}
        renames = {old: new for old, new in base.renames.items() if new in properties}
    return Draft(replace(base.document, schema=schema), renames)


def waits(key: str) -> bool:
    """Whether something typed into the form of this key is not saved."""
    return key in st.session_state.get("typed", {})
