"""Descriptions of namespaces: what is shown of one, and which answers count."""

import json

from tests.llm.tasks.strategies import keyed, reader, tool
from toolscope_core.llm.tasks.synthesis_prompt import NAMESPACE_TASK, NamespaceQuestion
from toolscope_core.model.catalog import Server


def shown(*tools):
    question = NamespaceQuestion(Server("desk", "Notes\nof people."), tools)
    text = NAMESPACE_TASK.request(keyed(NAMESPACE_TASK, question)).user.split("\n")[1]
    return json.loads(text), NAMESPACE_TASK.subjects(question)


def test_the_first_sentence_of_a_hundred_tools_is_shown_and_what_is_not_asks_nothing_new():
    one, other = tool("b", "Find one. By name."), tool("a", "Send " + "it " * 200)
    fields, subjects = shown(one, other)
    assert fields["says"] == "Notes of people." and "further tools" not in fields
    assert fields["tools"][1] == ["b", "Find one."] and len(fields["tools"][0][1]) <= 200
    assert shown(other, tool("b", "Find one. By date.")) == (fields, subjects)
    assert shown(other, tool("b", "Find all."))[1] != subjects
    many, _ = shown(*(tool(f"t{number:03}") for number in range(103)))
    assert len(many["tools"]) == 100 and many["further tools"] == 3


def test_an_answer_is_one_line_of_400_characters_at_most():
    read = reader(NAMESPACE_TASK, NamespaceQuestion(Server("desk"), (tool(),)))
    assert read(description=" Notes,\nto find. ") == {"description": "Notes, to find."}
    assert "400" in read(description="x" * 401) and isinstance(read(description=" "), str)
