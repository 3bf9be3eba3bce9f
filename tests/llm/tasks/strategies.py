"""Tools for prompts: whatever text a stranger may write."""

from hypothesis import strategies as st

from toolscope_core.model.tool import Tool

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
    from toolscope_core.model.tool import digest

    return {digest(task.name, task.subjects(item)): item for item in items}
