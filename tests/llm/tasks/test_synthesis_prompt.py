import pytest

from tests.llm.tasks.strategies import keyed, reader, tool
from tests.support.catalogs import accepting
from toolscope_core.llm.tasks.synthesis_prompt import MergeDraft, SynthesisTask, written
from toolscope_core.merging.synthesis import synthesise

TASK = SynthesisTask()


def takes(*names):
    return {**accepting(**{n: {"type": "string"} for n in names}), "required": list(names)}


def drafted(*members):
    made = synthesise(members)
    return MergeDraft(members, made.document, made.kind)


PRUNE = drafted(tool("find", schema=takes("text")), tool("search", schema=takes("text")))
ROUTER = drafted(tool("find", schema=takes("text")), tool("search", schema=takes("colour", "size")))


def read(item, **fields):
    row = {"name": "seek", "description": "Finds notes.", "parameters": []}
    return reader(TASK, item, **row)(**fields)


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
    subjects = {TASK.subjects(MergeDraft(members, m.document, m.kind)) for m in made}
    assert len({m.canonical for m in made}) == 2
    assert len(subjects) == 2


def test_the_order_of_the_members_is_not_in_the_question():
    (key,) = keyed(TASK, ROUTER)
    turned = MergeDraft(ROUTER.members[::-1], ROUTER.document, ROUTER.kind)
    assert TASK.request({key: ROUTER}) == TASK.request({key: turned})


def test_names_of_parameters_are_not_in_the_schema():
    assert "colour" not in str(TASK.request(keyed(TASK, ROUTER)).schema)
