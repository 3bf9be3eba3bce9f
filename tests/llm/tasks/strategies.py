"""Tools for prompts: whatever text a stranger may write."""

from hypothesis import strategies as st

from toolscope_core.llm.tasks.prompt_task import question_id
from toolscope_core.model.tool import Tool, digest

ANY_TEXT = st.text(st.characters(codec=None), max_size=60)


def tool(name="search_notes", description="Find notes.", **given):
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    return Tool(
        given.pop("id", name), name, description, schema=given.pop("schema", schema), **given
    )


TOOLS = st.builds(
    lambda name, text, key: tool(name, text, schema={"type": "object", "properties": {key: {}}}),
    ANY_TEXT,
    ANY_TEXT,
    ANY_TEXT,
)


def keyed(task, *items):
    """The items as ``ask_all`` gives them, by a key of 64 hex digits."""
    return {digest(task.name, task.subjects(item)): item for item in items}


def reader(task, item, **row):
    """Reads an answer to the question about an item: this row, with the fields of the call."""
    items = keyed(task, item)
    (key,) = items

    def read(**fields):
        answer = {"question": question_id(key), **row, **fields}
        return task.read(items, {"answers": [answer]})[key]

    return read
