"""The prompts that ask for words: of merged tools, variants, and namespaces."""

import json
from dataclasses import replace

import pytest

from tests.llm.tasks.strategies import keyed, reader, tool
from tests.support.catalogs import accepting
from tests.support.replies import asked
from toolscope_core.llm.tasks.synthesis_prompt import (
    AUGMENTATION_TASK,
    NAMESPACE_TASK,
    SYNTHESIS_TASK,
    MergeDraft,
    NamespaceQuestion,
    augmentation_of,
    written_document,
)
from toolscope_core.merging.synthesis import synthesise
from toolscope_core.model.catalog import Server
from toolscope_core.model.tool import Augmentation


def takes(*names):
    return {**accepting(**{n: {"type": "string"} for n in names}), "required": list(names)}


def drafted(*members):
    return MergeDraft(members, synthesise(members))


DROP_IN = drafted(tool("find", schema=takes("text")), tool("search", schema=takes("text")))
GATEWAY_TOOL = drafted(
    tool("find", schema=takes("text")), tool("search", schema=takes("colour", "size"))
)


def read(item, **fields):
    row = {"name": "seek", "description": "Finds notes.", "parameters": []}
    return reader(SYNTHESIS_TASK, item, **row)(**fields)


def test_a_drop_in_keeps_name_and_schema():
    answer = read(
        DROP_IN,
        description="Finds\u200b\u202e notes.",
        parameters=[{"name": "text", "description": "Other."}],
    )
    document = written_document(DROP_IN, answer)
    assert (DROP_IN.kind, document) == (
        "drop_in",
        replace(DROP_IN.document, description="Finds notes."),
    )


def test_a_gateway_gets_words_and_no_structure():
    answer = read(GATEWAY_TOOL, parameters=[{"name": "text", "description": "What to find."}])
    document, before = written_document(GATEWAY_TOOL, answer), GATEWAY_TOOL.document.schema
    text = {**before["properties"]["text"], "description": "What to find."}
    assert (GATEWAY_TOOL.kind, document.name) == ("gateway", "seek")
    assert document.schema == {**before, "properties": {**before["properties"], "text": text}}


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ({"parameters": [{"name": "evil", "description": "x"}]}, "'evil' is not a parameter"),
        ({"parameters": [{"name": "text", "description": "x"}] * 2}, "more than once"),
        ({"parameters": [{"name": "text", "description": 5}]}, "parameters.0.description is 5"),
        ({"description": "  "}, "at least 1 character"),
        ({"description": "x" * 5000}, "at most 4000 characters"),
        ({"name": "x" * 65}, "65 characters"),
    ],
)
def test_anything_else_is_a_reason(bad, why):
    assert why in read(GATEWAY_TOOL, **bad)


def shown(item):
    """The question, and the texts by their names, as a model reads them."""
    texts, questions = asked(SYNTHESIS_TASK.request(keyed(SYNTHESIS_TASK, item)))
    return questions, {name.partition(" ")[2]: text for name, text in texts.items()}


@pytest.mark.parametrize("stays", ["find", "search"])
def test_a_drop_in_names_the_tool_that_stays(stays):
    synthesis = synthesise(DROP_IN.members, preferred=stays)
    questions, texts = shown(MergeDraft(DROP_IN.members, synthesis))
    ((token,),) = questions.values()
    assert texts[token]["name"] == stays
    assert "routes" not in texts


def test_a_gateway_shows_where_calls_went_and_whose():
    members = (
        tool("seek", "Seek.", id="a", server="desk", schema=takes("query")),
        tool("search", "Search.", id="b", server="shelf", schema=takes("colour", "size")),
    )
    merged = synthesise(members)
    _, texts = shown(MergeDraft(members, merged))
    routes = {row["value"]: row for row in texts["routes"]["routes"]}
    assert texts["routes"]["selector"] == merged.selector == "server"
    assert {value: texts[row["tool"]]["server"] for value, row in routes.items()} == {
        "desk": "desk",
        "shelf": "shelf",
    }
    assert routes["shelf"]["arguments"] == {"colour": "colour", "size": "size"}


def test_what_has_no_place_in_the_draft_is_shown_as_nothing():
    (own, other) = GATEWAY_TOOL.merged.arguments
    arguments = (own, replace(other, moves=other.moves[:1], dropped={"size": "It is gone."}))
    item = replace(GATEWAY_TOOL, merged=replace(GATEWAY_TOOL.merged, arguments=arguments))
    arguments = [row["arguments"] for row in item.routes["routes"]]
    assert {"colour": "colour", "size": None} in arguments


def test_another_server_or_canonical_is_another_question():
    members = DROP_IN.members
    drafts = [MergeDraft(members, synthesise(members, preferred=one.id)) for one in members]
    drafts.append(drafted(*(replace(one, server="desk") for one in members)))
    assert len({SYNTHESIS_TASK.subjects(one) for one in drafts}) == 3


def test_the_order_of_the_members_is_not_in_the_question():
    (key,) = keyed(SYNTHESIS_TASK, GATEWAY_TOOL)
    turned = drafted(*GATEWAY_TOOL.members[::-1])
    assert SYNTHESIS_TASK.request({key: GATEWAY_TOOL}) == SYNTHESIS_TASK.request({key: turned})


# The prompt that asks for document variants, and what is read of its replies.

QUESTIONS = ["Do it", "Do it now", "Could you do it?"]
read_variant = reader(AUGMENTATION_TASK, tool(), expanded=" Does it. ", questions=QUESTIONS)


def test_a_good_answer_is_read():
    assert read_variant() == {"expanded": "Does it.", "questions": QUESTIONS}
    assert augmentation_of(read_variant()) == Augmentation("Does it.", tuple(QUESTIONS))
    assert read_variant(questions=[*QUESTIONS, "", " Do it "])["questions"] == QUESTIONS, (
        "each once"
    )
    hidden = read_variant(expanded="Does\u200b it.")
    assert hidden["expanded"] == "Does it."


@pytest.mark.parametrize(
    "bad",
    [
        {"expanded": " "},
        {"expanded": "x" * 1_201},
        {"questions": QUESTIONS[:2]},
        {"questions": [str(n) for n in range(9)]},
        {"questions": [*QUESTIONS, "x" * 301]},
    ],
)
def test_any_other_variant_is_a_reason(bad):
    assert isinstance(read_variant(**bad), str)


# Descriptions of namespaces: what is shown of one, and which answers count.


def shown_namespace(*tools):
    question = NamespaceQuestion(Server("desk", "Notes\nof people."), tools)
    text = NAMESPACE_TASK.request(keyed(NAMESPACE_TASK, question)).user.split("\n")[1]
    return json.loads(text), NAMESPACE_TASK.subjects(question)


def test_the_first_sentence_of_a_hundred_tools_is_shown_and_what_is_not_asks_nothing_new():
    one, other = tool("b", "Find one. By name."), tool("a", "Send " + "it " * 200)
    fields, subjects = shown_namespace(one, other)
    assert fields["says"] == "Notes of people." and "further tools" not in fields
    assert fields["tools"][1] == ["b", "Find one."] and len(fields["tools"][0][1]) <= 200
    assert shown_namespace(other, tool("b", "Find one. By date.")) == (fields, subjects)
    assert shown_namespace(other, tool("b", "Find all."))[1] != subjects
    many, _ = shown_namespace(*(tool(f"t{number:03}") for number in range(103)))
    assert len(many["tools"]) == 100 and many["further tools"] == 3


def test_an_answer_is_one_line_of_400_characters_at_most():
    read = reader(NAMESPACE_TASK, NamespaceQuestion(Server("desk"), (tool(),)))
    assert read(description=" Notes,\nto find. ") == {"description": "Notes, to find."}
    assert "400" in read(description="x" * 401) and isinstance(read(description=" "), str)
