import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.judging.arguments.test_subschema import valid
from tests.merging.strategies import calls, conforming, like_tools, tools
from tests.support.properties import examples
from toolscope_core.catalog.calls import map_call, unmap_call
from toolscope_core.judging.arguments.alignment import argument_map, unmappable
from toolscope_core.judging.arguments.matching import match_parameters
from toolscope_core.judging.arguments.subschema import inline_references
from toolscope_core.merging.synthesis import synthesise
from toolscope_core.model.tool import Tool


def tool(tool_id, called, required=(), **properties):
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return Tool(tool_id, called, schema=schema)


ONE = {"minItems": 1, "maxItems": 1}
FLAG = {"type": "boolean"}


def text(description="", **more):
    return {"type": "string", "description": description, **more}


def whole(**more):
    return {"type": "integer", **more}


def array(items, **more):
    return {"type": "array", "items": items, **more}


@pytest.fixture(scope="module")
def labelled_tools(shared_data, benchmark_catalog):
    """Both orders of every pair labelled *merge* whose tools say what they take."""
    both_orders = []
    for path in sorted((shared_data / "pairs").glob("*.jsonl")):
        tools = benchmark_catalog(path.stem).by_id
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        pairs = [(tools[r["left"]], tools[r["right"]]) for r in rows if r["label"] == "merge"]
        both_orders += [
            (a, b) for pair in pairs for a, b in (pair, pair[::-1]) if a.schema and b.schema
        ]
    return both_orders


def matched(left, right):
    return {(m.left, m.right) for m in match_parameters(left, right)}


def paired(ours, theirs, names=("f", "g"), is_required=False):
    """The matches of two tools with one parameter each: name and description."""
    one, other = (
        tool(tool_id, name, [argument] if is_required else (), **{argument: text(described)})
        for tool_id, name, (argument, described) in zip("ab", names, (ours, theirs), strict=True)
    )
    return [(match.left, match.right, match.inferred) for match in match_parameters(one, other)]


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ({"path": text()}, {"file_path": text()}, {("path", "file_path")}),
        ({"q": text()}, {"query": text()}, {("q", "query")}),
        ({"userId": text()}, {"user_id": text()}, {("userId", "user_id")}),
        ({"lat": {"type": "number"}}, {"latitude": {"type": "number"}}, {("lat", "latitude")}),
        ({"start_date": text()}, {"end_date": text()}, set()),
        ({"width": {"type": "integer"}}, {"width": {"type": "object"}}, set()),
        ({"include_defaults": FLAG}, {"include_secrets": FLAG}, set()),
        ({"symbols": array(text())}, {"symbol": text()}, {("symbols", "symbol")}),
        (
            {"content": text("The sentence to translate into another language.")},
            {"phrase": text("The sentence to translate into the other language.")},
            {("content", "phrase")},
        ),
        (
            {"from": text(), "to": text()},
            {"destination": text(), "origin": text()},
            {("from", "origin"), ("to", "destination")},
        ),
    ],
)
def test_parameters_are_matched_by_name_type_and_description(ours, theirs, expected):
    assert matched(tool("a", "f", **ours), tool("b", "g", **theirs)) == expected


def test_the_last_required_parameter_on_each_side_needs_only_a_hint():
    ours = tool("a", "f", ["body"], body=text("Words to be sent to the room"))
    theirs = tool("b", "g", ["note"], note=text("Words sent to a chat room"))
    assert matched(ours, theirs) == {("body", "note")}
    two = tool("b", "g", ["colour"], colour=text("A shade"), size=text())
    assert matched(ours, two) == set()


@pytest.mark.parametrize(("left", "right"), [("jql", "query"), ("ns", "namespace")])
def test_the_only_texts_are_one_as_a_guess(left, right):
    ours = tool("a", "f", [left], **{left: text(), "limit": whole()})
    theirs = tool("b", "g", [right], **{right: text(), "limit": whole()})
    assert matched(ours, theirs) == {(left, right), ("limit", "limit")}
    assert argument_map(ours, theirs).inferred == (
        f"`{left}` of a is only guessed to be `{right}`",
    )
    optional = tool("b", "g", **{right: text(), "limit": whole()})
    assert matched(ours, optional) == {("limit", "limit")}


@given(tools("a"), tools("b"))
def test_swapping_the_tools_swaps_the_matches(left, right):
    forward = match_parameters(left, right)
    assert {(m.left, m.right) for m in forward} == {
        (m.right, m.left) for m in match_parameters(right, left)
    }
    assert len({m.right for m in forward}) == len(forward)


@given(tools("a"), tools("b"))
def test_each_argument_goes_to_one_place_or_is_dropped_or_the_map_is_lossy(left, right):
    alpha = argument_map(left, right)
    declared = {p.name for p in left.parameters}
    assert {m.source for m in alpha.moves} | set(alpha.dropped) == declared or alpha.lossy
    assert len({m.target for m in alpha.moves}) == len(alpha.moves)


@examples(80)
@given(tools("a"), st.data())
def test_a_lossless_map_keeps_every_valid_call_valid_and_maps_it_back(left, data):
    right = data.draw(like_tools(left) | tools("b"))
    alpha = argument_map(left, right)
    assume(alpha.lossless and right.schema is not None)
    arguments = data.draw(calls(left))
    mapped = map_call(alpha, arguments)
    assert alpha.notes or valid(right.schema, mapped.arguments)
    types = {p.name: p.type for p in left.parameters}
    assert unmap_call(alpha, mapped.arguments, types).arguments == arguments


@pytest.mark.parametrize(
    ("name", "own", "other", "note"),
    [
        ("issue_number", whole(), whole(minimum=1), "must be at least 1"),
        ("count", {"type": "number"}, {"type": "number", "exclusiveMinimum": 0}, "more than 0"),
        ("page_size", {"type": "number"}, whole(), "must be a whole number"),
        ("title", text(), text(minLength=1), "must not be empty"),
        ("tags", array(text()), array(text(minLength=1), minItems=1), "each of `tags` must not be"),
        ("limit", {"type": "number"}, whole(), "must be a whole number"),
        ("page", whole(), whole(minimum=0, maximum=2**53 - 1), f"at most {2**53 - 1}"),
        ("page", whole(), whole(minimum=1 - 2**53), f"at least {1 - 2**53}"),
    ],
)
def test_a_limit_that_no_call_meets_is_a_note_and_no_loss(name, own, other, note):
    ours, theirs = tool("a", "f", [name], **{name: own}), tool("b", "f", [name], **{name: other})
    alpha = argument_map(ours, theirs)
    assert alpha.lossless
    assert note in alpha.notes[-1] + alpha.notes[0]
    assert all(sentence.endswith(", which a does not require") for sentence in alpha.notes)
    assert argument_map(theirs, ours).notes == ()


@pytest.mark.parametrize(
    ("name", "own", "other"),
    [
        ("limit", whole(), whole(maximum=100)),
        ("year", whole(), whole(minimum=1900)),
        ("code", text(), text(minLength=4)),
        ("temperature", {"type": "number"}, whole()),
        ("temperature", whole(), whole(minimum=0)),
        ("amount", {"type": "number"}, whole()),
        ("max_price", {"type": "number"}, whole()),
        ("font_size", {"type": "number"}, whole()),
        ("quality", {"type": "number", "maximum": 1}, {"type": "number", "minimum": 1}),
        ("count", {"type": "number", "maximum": 1}, {"type": "number", "minimum": 1}),
        ("sort", text(enum=["", "asc"]), text(minLength=1)),
        ("number", whole(enum=[0, 1]), whole(minimum=1)),
        ("title", text(), text(minLength=1, enum=["a"])),
        ("title", text(), text(minLength=1, maxLength=20)),
    ],
)
def test_a_limit_that_calls_may_meet_is_a_loss(name, own, other):
    alpha = argument_map(
        tool("a", "f", [name], **{name: own}), tool("b", "f", [name], **{name: other})
    )
    assert alpha.dropped.keys() == {name}
    assert not alpha.notes


def test_one_or_a_list_takes_one():
    for key in ("anyOf", "oneOf"):
        either = {key: [text(), array(text(), minItems=1)]}
        alpha = argument_map(tool("a", "f", ["id"], id=text()), tool("b", "f", ["id"], id=either))
        assert alpha.lossless, key
        assert not alpha.notes
    both = {"type": ["string", "array"], "items": text(), "minItems": 1}
    assert argument_map(tool("a", "f", ["id"], id=text()), tool("b", "f", ["id"], id=both)).lossless
    two_texts = {"oneOf": [text(), text(minLength=2)]}
    assert not argument_map(
        tool("a", "f", ["id"], id=text()), tool("b", "f", ["id"], id=two_texts)
    ).lossless


def test_a_value_in_the_name_becomes_a_constant():
    language = text(enum=["french", "german"])
    general = tool("t", "translate", ["text", "language"], text=text(), language=language)
    special = tool("f", "translate_to_french", ["text"], text=text())
    alpha = argument_map(special, general)
    assert alpha.lossless
    assert alpha.constants == {"language": "french"}
    assert map_call(alpha, {"text": "hi"}).arguments == {"text": "hi", "language": "french"}
    assert argument_map(general, special).dropped.keys() == {"language"}


@pytest.mark.parametrize(
    ("own", "target", "op", "value", "mapped"),
    [
        (text(enum=["KM", "MILES"]), text(enum=["km", "miles", "feet"]), "map", "KM", "km"),
        (text(), {"type": "array", "items": text()}, "wrap", "x", ["x"]),
        ({"type": "array", "items": text(), **ONE}, text(), "unwrap", ["x"], "x"),
        ({"type": "integer"}, text(), "cast", 7, "7"),
    ],
)
def test_operations(own, target, op, value, mapped):
    left, right = tool("a", "f", unit=own), tool("b", "g", unit=target)
    alpha = argument_map(left, right)
    assert [m.op for m in alpha.moves] == [op]
    assert map_call(alpha, {"unit": value}).arguments == {"unit": mapped}
    back = unmap_call(alpha, {"unit": mapped}, {"unit": own["type"]}).arguments
    assert back == {"unit": value}


def test_a_truth_value_and_a_text_are_not_the_same_parameter():
    alpha = argument_map(tool("a", "f", unit={"type": "boolean"}), tool("b", "g", unit=text()))
    assert (alpha.dropped.keys(), alpha.moves) == ({"unit"}, ())


def test_what_does_not_fit_is_said():
    ours = tool("a", "f", ["mode"], mode=text(), extra=text())
    theirs = tool("b", "g", ["mode", "key"], mode=text(enum=["x"]), key=text())
    alpha = argument_map(ours, theirs)
    assert set(alpha.dropped) == {"mode", "extra"}
    assert any("`mode` is required" in reason for reason in alpha.lossy)
    assert any("`key` is required" in reason for reason in alpha.lossy)


def test_open_arguments_need_an_open_target():
    ours = Tool("a", "f", schema={"type": "object", "properties": {}, "additionalProperties": True})
    assert argument_map(ours, tool("b", "g")).lossy
    open_too = Tool("b", "g", "x", schema=ours.schema)
    assert argument_map(ours, open_too).lossless


def test_unknown_arguments_cannot_be_mapped_but_equal_tools_can():
    silent = Tool("a", "f", "Does it.")
    assert unmappable(silent)
    assert argument_map(silent, tool("b", "f")).lossy
    assert argument_map(tool("b", "f"), silent).lossy
    assert argument_map(silent, Tool("b", "f", "Does it.", server="other")).lossless


def test_a_recursive_schema_cannot_be_mapped():
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/n"}}}
    looped = Tool(
        "a", "f", schema={"type": "object", "properties": {"n": node}, "$defs": {"n": node}}
    )
    assert "refers to itself" in unmappable(looped)
    assert not argument_map(looped, tool("b", "g", n={"type": "object"})).lossless


def test_undeclared_arguments_keep_their_name_unless_it_is_taken():
    left, right = tool("a", "f", q=text()), tool("b", "g", query=text())
    alpha = argument_map(left, right)
    call = map_call(alpha, {"q": "x", "verbose": True, "query": "y"})
    assert call.arguments == {"query": "x", "verbose": True}
    assert call.losses == ("query",)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("exclude_domains", "domains"),
        ("user_id", "user_name"),
        ("timeout", "timeout_ms"),
        ("min_price", "price"),
        ("max_price", "price"),
        ("member_id", "member_name"),
        ("include_archived", "archived"),
    ],
)
def test_a_word_that_turns_the_meaning_keeps_parameters_apart(one, other):
    assert paired((one, ""), (other, ""), is_required=True) == []


def test_a_side_without_its_other_side_is_inferred_to_be_the_whole():
    plain = tool("b", "g", ["language"], language=text("Language of the text"))
    sides = {"source_language": text("Language of the text"), "target_language": text()}
    one = tool("a", "f", ["target_language"], target_language=text("Language of the text"))
    both = tool("a", "f", list(sides), **sides)
    (match,) = match_parameters(one, plain)
    assert (match.left, match.inferred) == ("target_language", True)
    assert "target_language" not in {m.left for m in match_parameters(both, plain)}


def test_a_side_by_a_synonym_needs_the_other_side_too():
    merge = tool("merge", "open_pull_request", head=text(), base=text("Branch to merge into."))
    other = tool("other", "open_pull_request", source_branch=text(), destination_branch=text())
    assert ("base", "source_branch") not in matched(merge, other)
    convert = tool("a", "convert", base=text("Currency."), target=text("Currency."))
    between = tool("b", "convert", source=text("Currency."), destination=text("Currency."))
    assert ("base", "source") in matched(convert, between)


def test_the_only_required_number_left_is_inferred_beside_a_sure_match():
    ours = tool("a", "f", ["unit", "load"], unit=text(), load={"type": "number"})
    theirs = tool("b", "g", ["unit", "value"], unit=text(), value={"type": "integer"})
    assert [m.inferred for m in match_parameters(ours, theirs)] == [False, True]
    as_text = tool("b", "g", ["unit", "value"], unit=text(), value=text())
    assert matched(ours, as_text) == {("unit", "unit")}


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (("destination", "Destination"), ("endPoint", "Destination station")),
        (("check_in_date", ""), ("start_date", "")),
        (("checkOut", ""), ("end_date", "")),
        (("country", "Country name"), ("countryName", "Name of the country")),
        (("cuisine", "Cuisine of the restaurant"), ("type", "The type of the cuisine")),
        (("n", "How often it is compounded"), ("n_per_year", "How often it is compounded a year")),
    ],
)
def test_what_only_seems_to_turn_a_name_does_not(ours, theirs):
    ((left, right, _),) = paired(ours, theirs, is_required=True)
    assert (left, right) == (ours[0], theirs[0])


def test_of_the_old_and_the_new_the_plain_one_is_inferred_to_be_the_new():
    sides = {"original_code": text("Original code"), "new_code": text("New code")}
    ours = tool("a", "f", list(sides), **sides)
    (match,) = match_parameters(ours, tool("b", "g", ["code"], code=text("Code")))
    assert (match.left, match.inferred) == ("new_code", True)


def test_what_a_description_says_first_is_the_kind_of_a_bare_name():
    described = tool("a", "f", ["restaurant"], restaurant=text("Name of the restaurant"))
    theirs = tool("b", "g", ["restaurant_id"], restaurant_id=text())
    silent = tool("a", "f", ["restaurant"], restaurant=text("The chosen restaurant"))
    assert matched(described, theirs) == set()
    assert matched(silent, theirs) == {("restaurant", "restaurant_id")}


def test_from_and_to_of_a_time_are_its_start_and_end():
    ours = tool("a", "f", from_date=text(), to_date=text())
    theirs = tool("b", "g", end_date=text(), start_date=text())
    assert matched(ours, theirs) == {("from_date", "start_date"), ("to_date", "end_date")}


def test_descriptions_of_one_pattern_do_not_make_parameters_the_same():
    ours = ("year", "The year for which the budget of the firm is told")
    theirs = ("branch", "The branch for which the budget of the firm is told")
    assert paired(ours, theirs, is_required=True) == []


def test_another_type_needs_the_very_same_name():
    ours = tool("a", "f", ["salary"], salary={"type": "integer"})
    assert matched(ours, tool("b", "g", ["monthly_salary"], monthly_salary=text())) == set()
    assert matched(ours, tool("b", "g", ["salary"], salary=text())) == {("salary", "salary")}


@pytest.mark.parametrize("word", ["from", "except", "non", "never", "unless"])
def test_a_direction_in_the_name_fixes_nothing(word):
    general = tool(
        "t", "translate", ["text"], text=text(), language=text(enum=["french", "german"])
    )
    assert not argument_map(
        tool("f", f"translate_{word}_french", ["text"], text=text()), general
    ).constants


def test_a_value_that_two_parameters_list_fixes_neither():
    languages = text(enum=["french", "german"])
    general = tool("t", "translate", ["text"], text=text(), source=languages, target=languages)
    assert not argument_map(
        tool("f", "translate_to_french", ["text"], text=text()), general
    ).constants


@pytest.mark.parametrize(
    ("ours", "theirs"), [("c++", "c"), ("date", "-date"), (">=", "<="), ("a.b", "ab")]
)
def test_marks_in_a_value_are_part_of_it(ours, theirs):
    left = tool("a", "f", sort=text(enum=[ours]))
    assert argument_map(left, tool("b", "g", sort=text(enum=[theirs, "z"]))).dropped


def test_a_condition_over_arguments_is_kept_only_by_the_same_one():
    condition = {"anyOf": [{"required": ["q"]}, {"required": ["id"]}]}
    free = tool("a", "f", q=text(), id=text())
    bound = Tool("b", "g", schema={**free.schema, **condition})
    assert argument_map(free, bound).lossy
    assert argument_map(bound, free).lossless
    assert argument_map(Tool("c", "h", schema=bound.schema), bound).lossless


@pytest.mark.parametrize("bounds", [{}, {"maxItems": 1}, {"minItems": 1}])
def test_a_list_that_may_hold_none_or_more_is_not_unwrapped(bounds):
    left = tool("a", "f", symbol={"type": "array", "items": text(), **bounds})
    alpha = argument_map(left, tool("b", "g", symbol=text()))
    assert "several or none" in alpha.dropped["symbol"]


ALTERNATIVES = {
    "oneOf": [
        {"properties": {"id": {"type": "string"}}, "required": ["id"]},
        {"properties": {"email": {"type": "string"}}, "required": ["email"]},
    ]
}


@pytest.mark.parametrize(
    ("more", "reason_part"),
    [
        (ALTERNATIVES, "`email` of `f` is declared under a condition"),
        ({"allOf": [{"then": {"properties": {"n": {}}}}]}, "`n` of `f` is declared under"),
        (
            {"dependentSchemas": {"verbose": {"properties": {"log": {}}}}},
            "`log` of `f` is declared under a condition",
        ),
        ({"patternProperties": {"^label_": {}}}, "names match a pattern"),
    ],
)
def test_what_is_declared_under_a_condition_goes_only_where_it_is_too(more, reason_part):
    plain = tool("b", "g", verbose={"type": "boolean"})
    bound = Tool("a", "f", schema={**plain.schema, **more})
    assert any(reason_part in reason for reason in argument_map(bound, plain).lossy)
    assert argument_map(bound, Tool("c", "h", "x", schema=bound.schema)).lossless


OBJECT = {"type": "object"}


def record(**fields):
    return OBJECT | {"properties": fields}


SHORT, ORDER = record(item=text()), record(item=text(), note=text())
EITHER = {"anyOf": [{"required": ["item"]}, {"required": ["note"]}]}


@pytest.mark.parametrize(
    ("full", "short", "open_too"),
    [
        (ORDER, SHORT, {**SHORT, "additionalProperties": True}),
        (array(ORDER), array(SHORT), array(OBJECT)),
        (record(order=ORDER), record(order=SHORT), OBJECT),
        ({"anyOf": [SHORT, ORDER]}, SHORT, {"anyOf": [SHORT, ORDER]}),
        (ORDER | EITHER, SHORT, OBJECT),
        (
            OBJECT | {"additionalProperties": ORDER},
            OBJECT | {"additionalProperties": SHORT},
            OBJECT,
        ),
    ],
)
def test_fields_that_the_target_does_not_list_have_no_place(full, short, open_too):
    left = tool("a", "f", ["order"], order=full)
    lost = argument_map(left, tool("b", "g", ["order"], order=short))
    assert list(lost.dropped) == ["order"] and "some of its fields" in lost.dropped["order"]
    assert argument_map(left, tool("b", "g", ["order"], order=open_too)).lossless


@pytest.mark.parametrize("written", [{"format": "date-time"}, {"contentEncoding": "base64"}])
def test_a_number_is_not_written_as_a_text_of_a_form(written):
    left = tool("a", "f", ["since"], since={"type": "integer"})
    assert argument_map(left, tool("b", "g", ["since"], since=text())).lossless
    assert argument_map(left, tool("b", "g", ["since"], since=text(**written))).dropped


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (("source_file_path", "To be copied"), ("original_path", "Where it lies")),
        (("bit_rate", ""), ("bitrate", "")),
        (("x_value", ""), ("value", "")),
    ],
)
def test_one_side_and_one_spelling_are_the_same_name(ours, theirs):
    assert [match[:2] for match in paired(ours, theirs)] == [(ours[0], theirs[0])]


def test_marks_alone_are_no_spelling():
    assert paired(("$", ""), ("%", "")) == []


def test_what_takes_the_same_values_is_inferred_to_be_the_same():
    bird = ("species_name", "Species of the bird (e.g., parrot, owl)")
    assert paired(bird, ("bird_type", "What it is (e.g., owl, parrot)")) == [
        ("species_name", "bird_type", True)
    ]
    assert paired(bird, ("bird_type", "What it is (e.g., songbird, raptor)")) == []
    process = ("process", "What emits (e.g., driving, flying)")
    same, other = ("For example driving, flying", "For example sleeping, reading")
    assert paired(process, ("activity", same)) != []
    assert paired(process, ("activity", other)) == []
    assert paired(("min_level", "'low' or 'high'"), ("max_level", "'low' or 'high'")) == []


def test_what_the_tools_are_about_stands_for_each_other():
    objects = ("drone", "Which one"), ("ship", "What it is called")
    assert paired(*objects) == []
    assert paired(*objects, names=("get_drone_speed", "get_ship_speed")) == [
        ("drone", "ship", True)
    ]
    keys = ("email", "How to reach them"), ("badge", "Printed on it")
    assert paired(*keys, names=("get_user_by_email", "get_user_by_badge")) == []


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (("user_id", "Key of the user who buys"), ("item_id", "Key of the item a user buys")),
        (("name", "Name of the employee"), ("department_name", "Name of the department")),
        (("policy", "The new policy"), ("policy_id", "The new policy")),
        (("original_departure_date", "As booked"), ("departure_date", "When it leaves")),
    ],
)
def test_what_may_be_of_another_or_has_a_side_more_is_never_sure(ours, theirs):
    assert all(inferred for *_, inferred in paired(ours, theirs))


@pytest.mark.parametrize(("is_needed", "pairs"), [(False, set()), (True, {("crewId", "guestId")})])
def test_ids_of_two_things_that_calls_may_leave_out_are_not_one(is_needed, pairs):
    ours, theirs = (
        tool(at, "add", ["title", own][: 1 + is_needed], **{"title": text(), own: text("Whose")})
        for at, own in (("a", "crewId"), ("b", "guestId"))
    )
    assert matched(ours, theirs) - {("title", "title")} == pairs


@pytest.mark.shared_data
@examples(50)
@given(st.data())
def test_real_calls_mapped_by_a_real_map_are_valid_and_map_back(labelled_tools, data):
    left, right = data.draw(st.sampled_from(labelled_tools))
    alpha = argument_map(left, right)
    members = sorted((left, right), key=lambda one: one.id)
    made = synthesise(members)
    merged = made.arguments[members.index(left)]
    for one, schema in ((alpha, right.schema), (merged, made.document.schema)):
        if not one.lossless:
            continue
        arguments = data.draw(conforming(inline_references(left.schema)))
        assert valid(left.schema, arguments)
        mapped = map_call(one, arguments)
        assert not mapped.losses
        assert one.notes or valid(schema, mapped.arguments)
        types = {p.name: p.type for p in left.parameters}
        assert unmap_call(one, mapped.arguments, types).arguments == arguments


@pytest.mark.parametrize(
    ("one", "other", "inferred"),
    [
        (("track", "Git branch to track"), ("song", "Song to play"), True),
        (("item", "Item to buy"), ("product", "Product to buy"), False),
        (("track", "The track to play"), ("song", "Song to play"), False),
        (("lat", ""), ("latitude", ""), False),  # a short form is the same stem
        (("item", ""), ("product", ""), True),
    ],
)
def test_one_meaning_without_a_common_stem_is_only_inferred(one, other, inferred):
    ((*_, is_inferred),) = paired(one, other, is_required=True)
    assert is_inferred == inferred


def test_names_of_one_spelling_are_matched_before_names_that_mean_the_same():
    moments = ("seen_on_after", "seen_at_after", "seen_on_before", "seen_at_before", "filename")
    dotted = ("seen_at.after", "seen_on.after", "seen_at.before", "seen_on.before", "filePath")
    one = tool("a", "search", **dict.fromkeys(moments, text()))
    other = tool("b", "search", **dict.fromkeys((*dotted, "fileName"), text()))
    matched = {match.left: match.right for match in match_parameters(one, other)}
    for name, target in matched.items():
        assert target.replace(".", "_").casefold() == name
    assert len(matched) == len(moments)
