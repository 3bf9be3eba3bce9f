from dataclasses import replace

import pytest

from tests.llm.tasks.strategies import keyed, reader, tool
from tests.support.catalogs import accepting
from tests.support.replies import asked
from toolscope_core.llm.tasks.synthesis_prompt import SYNTHESIS_TASK, MergeDraft, written
from toolscope_core.merging.synthesis import synthesise


def takes(*names):
    return {**accepting(**{n: {"type": "string"} for n in names}), "required": list(names)}


def drafted(*members):
    return MergeDraft(members, synthesise(members))


PRUNE = drafted(tool("find", schema=takes("text")), tool("search", schema=takes("text")))
ROUTER = drafted(tool("find", schema=takes("text")), tool("search", schema=takes("colour", "size")))


def read(item, **fields):
    row = {"name": "seek", "description": "Finds notes.", "parameters": []}
    return reader(SYNTHESIS_TASK, item, **row)(**fields)


def test_kinds_are_as_meant():
    assert (PRUNE.kind, ROUTER.kind) == ("prune", "router")


def test_a_prune_keeps_name_and_schema():
    answer = read(PRUNE, parameters=[{"name": "text", "description": "Other."}])
    document = written(PRUNE, answer)
    assert (document.name, document.schema) == (PRUNE.document.name, PRUNE.document.schema)
    assert document.description == "Finds notes."


def test_a_router_gets_words_and_no_structure():
    answer = read(ROUTER, parameters=[{"name": "text", "description": "What to find."}])
    document = written(ROUTER, answer)
    assert document.name == "seek"
    before, after = ROUTER.document.schema, document.schema
    text = {**before["properties"]["text"], "description": "What to find."}
    assert after["properties"]["text"] == text
    assert {k: v for k, v in after["properties"].items() if k != "text"} == {
        k: v for k, v in before["properties"].items() if k != "text"
    }
    assert after.get("required") == before.get("required")


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ({"parameters": [{"name": "evil", "description": "x"}]}, "'evil' is no parameter"),
        ({"parameters": [{"name": "text", "description": "x"}] * 2}, "more than once"),
        ({"parameters": "text"}, "parameters is 'text'"),
        ({"parameters": [{"name": "text", "description": 5}]}, "parameters.0.description is 5"),
        ({"description": "  "}, "at least 1 character"),
        ({"description": "x" * 5000}, "at most 4000 characters"),
        ({"name": None}, "name is None"),
        ({"name": "x" * 65}, "65 characters"),
    ],
)
def test_anything_else_is_a_reason(bad, why):
    assert why in read(ROUTER, **bad)


def test_hidden_characters_do_not_get_out():
    assert read(PRUNE, description="Finds\u200b\u202e notes.")["description"] == "Finds notes."


def test_another_canonical_is_another_question():
    members = PRUNE.members
    made = [synthesise(members, chosen=one.id) for one in members]
    subjects = {SYNTHESIS_TASK.subjects(MergeDraft(members, m)) for m in made}
    assert len({m.canonical for m in made}) == 2
    assert len(subjects) == 2


def shown(item):
    """The question, and the texts by their names, as a model reads them."""
    texts, questions = asked(SYNTHESIS_TASK.request(keyed(SYNTHESIS_TASK, item)))
    return questions, {name.partition(" ")[2]: text for name, text in texts.items()}


@pytest.mark.parametrize("stays", ["find", "search"])
def test_a_prune_names_the_tool_that_stays(stays):
    questions, texts = shown(MergeDraft(PRUNE.members, synthesise(PRUNE.members, chosen=stays)))
    ((token,),) = questions.values()
    assert texts[token]["name"] == stays
    assert "routes" not in texts


def test_a_router_shows_where_calls_went_and_whose():
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
    (own, other) = ROUTER.merged.arguments
    arguments = (own, replace(other, moves=other.moves[:1], dropped={"size": "It is gone."}))
    item = replace(ROUTER, merged=replace(ROUTER.merged, arguments=arguments))
    arguments = [row["arguments"] for row in item.routes["routes"]]
    assert {"colour": "colour", "size": None} in arguments


def test_another_server_is_another_question():
    members = tuple(replace(one, server="desk") for one in PRUNE.members)
    assert SYNTHESIS_TASK.subjects(PRUNE) != SYNTHESIS_TASK.subjects(drafted(*members))


def test_the_order_of_the_members_is_not_in_the_question():
    (key,) = keyed(SYNTHESIS_TASK, ROUTER)
    turned = drafted(*ROUTER.members[::-1])
    assert SYNTHESIS_TASK.request({key: ROUTER}) == SYNTHESIS_TASK.request({key: turned})


def test_names_of_parameters_are_not_in_the_schema():
    assert "colour" not in str(SYNTHESIS_TASK.request(keyed(SYNTHESIS_TASK, ROUTER)).schema)
