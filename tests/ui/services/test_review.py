import json
from dataclasses import replace

import pytest

from tests.ui.services.small_workspace import MAIL, SUM, TEXT, by_name, on, open_workspace, tool
from toolscope_core.decisions.log import version_of
from toolscope_core.model.argument_map import ArgumentMap, ArgumentMove
from toolscope_core.model.catalog import Finding
from toolscope_core.model.cluster import Document
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.errors import DecisionError, JobError, StaleDecisionError
from ui.shared.cards.cards import argument_rows
from ui.shared.cards.drafts import Draft, ParameterRow, parsed, rows_of, schema_of, with_cells
from ui.shared.services.exports import Exports


@pytest.fixture
def small_workspace(own):
    work, catalog_id = own
    return work.review, catalog_id, work


def names(clusters):
    return [cluster.document.name for cluster in clusters]


# The queue -----------------------------------------------------------------------------------


def test_the_riskiest_cluster_comes_first_and_a_frozen_order_is_kept(small_workspace):
    review, i, work = small_workspace
    assert names(review.queue(i)) == ["send_mail", "get_weather", "list_files"]
    frozen = [c.id for c in review.queue(i)][::-1]
    assert [c.id for c in review.queue(i, frozen)] == frozen
    assert [c.id for c in review.queue(i, frozen[1:])][:2] == frozen[1:]
    review.decide(i, "accept", by_name(work, i, "get_weather"), "ann")
    assert names(review.queue(i, frozen)) == ["list_files", "send_mail"]


def test_progress_counts_what_waits_and_what_was_said(small_workspace):
    review, i, work = small_workspace
    review.decide(i, "accept", by_name(work, i, "get_weather"), "ann")
    review.decide(i, "reject", by_name(work, i, "list_files"), "ann")
    far = review.progress(i)
    assert (far.waiting, far.accepted, far.rejected) == (1, 1, 1)
    assert (far.decided, far.total) == (2, 3)


def test_there_is_no_plan_before_the_analysis(small_workspace):
    _, _, work = small_workspace
    other = work.catalogs.add("other", replace(work.catalogs.open(1), tools=(SUM,)))
    with pytest.raises(JobError, match="not analysed yet"):
        work.review.plan(other.id)


# Decisions -----------------------------------------------------------------------------------


def test_a_double_press_is_one_decision(small_workspace):
    review, i, work = small_workspace
    seen = by_name(work, i, "send_mail")
    assert review.decide(i, "accept", seen, "ann") == review.decide(i, "accept", seen, "ann")
    assert len(review.log(i)) == 1


def test_a_card_that_somebody_else_decided_is_refused(small_workspace):
    review, i, work = small_workspace
    seen = by_name(work, i, "send_mail")
    review.decide(i, "reject", seen, "bob")
    with pytest.raises(StaleDecisionError, match="reject by bob"):
        review.decide(i, "accept", seen, "ann")
    assert [d.reviewer for d in review.log(i)] == ["bob"]


def test_a_dropped_member_leaves_and_the_others_are_accepted(small_workspace):
    review, i, work = small_workspace
    review.decide(i, "drop", by_name(work, i, "send_mail"), "ann", {"drop": ["gamma/send_mail"]})
    rest = by_name(work, i, "send_mail")
    assert rest.members == ("alpha/send_mail", "beta/send_mail")
    assert rest.state == "accepted"


def test_a_split_and_a_canonical_name_tools_by_id(small_workspace):
    review, i, work = small_workspace
    mail = by_name(work, i, "send_mail")
    review.decide(i, "canonical", mail, "ann", {"canonical": "beta/send_mail"})
    mail = by_name(work, i, "send_mail")
    assert mail.canonical == "beta/send_mail"
    groups = [["alpha/send_mail", "gamma/send_mail"], ["beta/send_mail"]]
    review.decide(i, "split", mail, "ann", {"groups": groups})
    assert by_name(work, i, "send_mail").members == ("alpha/send_mail", "gamma/send_mail")


def test_undo_takes_back_the_own_latest_and_brings_the_cluster_back(small_workspace):
    review, i, work = small_workspace
    mail = by_name(work, i, "send_mail")
    said = review.decide(i, "reject", mail, "ann")
    assert "send_mail" not in names(review.queue(i))
    assert review.about(i, said) == mail.id
    with pytest.raises(DecisionError, match="bob has no decision"):
        review.undo(i, "bob")
    review.undo(i, "ann")
    assert "send_mail" in names(review.queue(i))
    assert review.standing(i) == ()


def test_accept_safe_does_what_it_announces_and_is_taken_back_as_one(small_workspace):
    review, i, _ = small_workspace
    safe = review.safe(i)
    assert names(safe.clusters) == ["list_files"]
    assert (safe.tools, safe.left_out) == (2, (("over several servers", 2),))
    assert safe.tokens_saved > 0
    made, refused = review.decide_each(
        i, "ann", [("accept", one, {}) for one in review.safe(i).clusters]
    )
    assert not refused
    assert review.progress(i).accepted == 1
    assert review.safe(i).clusters == ()
    review.undo_all(i, "ann", [d.seq for d in made])
    assert review.progress(i).accepted == 0


def test_accept_safe_leaves_out_what_somebody_decided_meanwhile_and_says_so(
    small_workspace, monkeypatch
):
    review, i, work = small_workspace
    seen = review.plan(i)
    review.decide(i, "reject", by_name(work, i, "list_files"), "bob")
    monkeypatch.setattr(review, "plan", lambda catalog_id: seen)
    made, (refused,) = review.decide_each(
        i, "ann", [("accept", one, {}) for one in review.safe(i).clusters]
    )
    assert made == ()
    assert "reject by bob" in str(refused)


# Newcomers -----------------------------------------------------------------------------------


@pytest.fixture
def grown():
    """Two of the mail tools were accepted; then a version with the third one came in."""
    work, i = open_workspace(on("alpha", MAIL), on("beta", MAIL), SUM)
    work.review.decide(i, "accept", by_name(work, i, "send_mail"), "ann")
    work.close()
    work, i = open_workspace()
    yield work.review, i, work
    work.close()


def test_a_newcomer_waits_for_a_person(grown):
    review, i, work = grown
    mail = by_name(work, i, "send_mail")
    assert (mail.state, mail.newcomers) == ("accepted", ("gamma/send_mail",))
    assert mail.id in [c.id for c in review.queue(i)]
    assert dict(review.safe(i).left_out)["with a newcomer to an accepted merge"] == 1
    assert [t.id for t in review.card(i, mail).newcomers] == ["gamma/send_mail"]


@pytest.mark.parametrize(("welcome", "members"), [(True, 3), (False, 2)])
def test_a_newcomer_is_let_in_or_kept_out(grown, welcome, members):
    review, i, work = grown
    review.answer_newcomers(i, by_name(work, i, "send_mail"), "ann", welcome)
    mail = by_name(work, i, "send_mail")
    assert (len(mail.members), mail.newcomers, mail.state) == (members, (), "accepted")


def test_an_answer_on_a_cluster_that_changed_meanwhile_is_refused(grown):
    review, i, work = grown
    seen = by_name(work, i, "send_mail")
    review.decide(i, "canonical", seen, "bob", {"canonical": "beta/send_mail"})
    with pytest.raises(StaleDecisionError, match="canonical by bob"):
        review.answer_newcomers(i, seen, "ann", True)


def test_a_newcomer_that_somebody_merged_with_others_meanwhile_is_not_let_in(grown):
    review, i, work = grown
    seen = by_name(work, i, "send_mail")
    other = replace(seen, members=("beta/add_numbers", "gamma/send_mail"), newcomers=(), version="")
    toolset = work.catalogs.open(i).by_id
    prints = [toolset[member].fingerprint for member in other.members]
    other = replace(other, version=version_of(prints, review.log(i)))
    review.decide(i, "accept", other, "bob")
    with pytest.raises(StaleDecisionError, match="accept by bob"):
        review.answer_newcomers(i, seen, "ann", True)


# The card ------------------------------------------------------------------------------------


def test_a_card_says_where_each_argument_comes_from_and_what_it_saves():
    wide = tool("alpha", "find_mail", "Find mails.", q=TEXT, folder={"enum": ["in", "out"]})
    narrow = tool("alpha", "find_mails", "Find mails.", query=TEXT)
    work, i = open_workspace(wide, narrow, on("beta", wide))
    review = work.review
    card = review.card(i, by_name(work, i, "find_mail"))
    assert card.canonical.id == card.cluster.canonical == "alpha/find_mail"
    assert card.tokens_before > card.tokens_after > 0
    assert [row.name for row in card.arguments] == ["q", "folder"]
    assert all(row.sources["beta/find_mail"] == row.name for row in card.arguments)
    assert card.pairs == len(card.evidence)
    order = [said.probability for said in card.evidence]
    assert order == sorted(order)
    work.close()


def test_each_way_of_an_argument_is_told_in_words():
    move = ArgumentMove
    alpha = ArgumentMap(
        "t",
        "m",
        (
            move("q", "query"),
            move("u", "unit", "map", (("C", "celsius"), (1, "one"))),
            move("tag", "tags", "wrap"),
            move("n", "text", "cast"),
        ),
        constants={"lang": "fr"},
        dropped={"x": "no place"},
    )
    names = ("query", "unit", "tags", "text", "lang", "other")
    document = Document("m", "M.", {"type": "object", "properties": dict.fromkeys(names, TEXT)})
    rows = argument_rows(document, [alpha])
    assert {row.name: row.sources.get("t") for row in rows} == {
        "query": "q",
        "unit": "u: C → celsius, 1 → one",
        "tags": "tag, as a list of one",
        "text": "n, written as text",
        "lang": 'always "fr"',
        "other": None,
        "x": "no place",
    }
    assert [row.name for row in rows if row.lost] == ["x"]


def test_a_tool_with_hidden_text_is_not_offered_as_canonical():
    hidden = on("alpha", replace(MAIL, description="Send a mail to a person."))
    work, i = open_workspace(hidden, on("beta", MAIL), SUM)
    card = work.review.card(i, by_name(work, i, "send_mail"))
    assert len(card.eligible) == 2
    finding = replace_findings(card, "alpha/send_mail")
    assert [t.id for t in finding.eligible] == ["beta/send_mail"]
    work.close()


def replace_findings(card, tool_id):
    bad = Finding(tool_id, "block", "hidden", "description", "hidden characters")
    return replace(card, findings={**card.findings, tool_id: (bad,)})


# Documents -----------------------------------------------------------------------------------


def edited(draft, **changes):
    return replace(draft, document=replace(draft.document, **changes))


def renamed(draft, old, new):
    rows = [replace(r, name=new) if r.name == old else r for r in rows_of(draft)]
    schema, renames = schema_of(draft, rows)
    return Draft(replace(draft.document, schema=schema), renames)


def test_a_new_description_keeps_a_prune_and_is_exported(small_workspace):
    review, i, work = small_workspace
    files = by_name(work, i, "list_files")
    draft = edited(review.draft(i, files), description="List what a folder holds.")
    assert review.preview(i, files, draft).cluster.kind == "prune"
    review.edit(i, files, draft, "ann")
    review.decide_each(i, "ann", [("accept", one, {}) for one in review.safe(i).clusters])
    files = by_name(work, i, "list_files")
    assert (files.document.description, files.kind) == ("List what a folder holds.", "prune")
    assert (
        b"List what a folder holds."
        in work.service(Exports).bundle(i, PlanConfig())["toolset.json"]
    )


def test_a_renamed_parameter_takes_the_argument_maps_with_it(small_workspace):
    review, i, work = small_workspace
    mail = by_name(work, i, "send_mail")
    draft = renamed(review.draft(i, mail), "to", "recipient")
    preview = review.preview(i, mail, draft).cluster
    assert preview.kind == "router"
    review.edit(i, mail, draft, "ann")
    now = by_name(work, i, "send_mail")
    assert now.arguments == preview.arguments
    assert all(alpha.lossless for alpha in now.arguments)
    assert {(m.source, m.target) for m in now.arguments[1].moves} == {
        ("to", "recipient"),
        ("body", "body"),
    }
    assert now.document.schema["required"] == ["recipient"]


def test_a_second_rename_is_still_told_from_the_first_name(small_workspace):
    review, i, work = small_workspace
    mail = by_name(work, i, "send_mail")
    review.edit(i, mail, renamed(review.draft(i, mail), "to", "recipient"), "ann")
    mail = by_name(work, i, "send_mail")
    draft = review.draft(i, mail)
    assert rows_of(draft)[0].origin == "to"
    draft = renamed(draft, "recipient", "addressee")
    assert draft.renames == {"to": "addressee"}
    review.edit(i, mail, draft, "ann")
    assert all(a.lossless for a in by_name(work, i, "send_mail").arguments)


def test_a_removed_parameter_is_reported_as_lost(small_workspace):
    review, i, work = small_workspace
    mail = by_name(work, i, "send_mail")
    draft = review.draft(i, mail)
    schema, renames = schema_of(draft, rows_of(draft)[:1])
    card = review.preview(i, mail, edited(replace(draft, renames=renames), schema=schema))
    lost = [row for row in card.arguments if row.lost]
    assert {row.name for row in lost} == {"body"}
    assert len(lost) == 3


def test_reset_gives_the_synthesised_document_and_the_kind_back(small_workspace):
    review, i, work = small_workspace
    mail = by_name(work, i, "send_mail")
    draft = renamed(review.draft(i, mail), "to", "recipient")
    review.edit(i, mail, edited(draft, name="mail_it"), "ann")
    now = by_name(work, i, "mail_it")
    assert now.kind == "router"
    review.edit(i, now, review.synthesised(i, now), "ann")
    back = by_name(work, i, "send_mail")
    assert (back.kind, back.document, back.arguments) == ("prune", mail.document, mail.arguments)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"name": "get_weather"}, "belongs to another tool"),
        ({"description": " "}, "the description is empty"),
        ({}, "nothing was changed"),
    ],
)
def test_an_edit_that_cannot_stand_is_refused(small_workspace, changes, told):
    review, i, work = small_workspace
    mail = by_name(work, i, "send_mail")
    with pytest.raises(DecisionError, match=told):
        review.edit(i, mail, edited(review.draft(i, mail), **changes), "ann")
    assert review.log(i) == ()


# Rows of parameters --------------------------------------------------------------------------


SCHEMA = {
    "type": "object",
    "properties": {
        "unit": {"type": "string", "enum": ["c", "f"], "default": "c"},
        "days": {"type": "integer", "enum": [1, 7], "minimum": 1},
        "place": {"anyOf": [{"type": "string"}, {"type": "object"}], "description": "Where."},
    },
    "required": ["place", "unit"],
    "additionalProperties": False,
}


@pytest.fixture
def draft(small_workspace):
    _, i, work = small_workspace
    document = by_name(work, i, "get_weather").document
    return Draft(replace(document, schema=SCHEMA))


def test_rows_that_nobody_touched_give_the_same_schema(draft):
    assert schema_of(draft, rows_of(draft)) == (SCHEMA, {})
    assert [row.type for row in rows_of(draft)] == ["string", "integer", "any"]


@pytest.mark.shared_data
@pytest.mark.parametrize("name", ["seal-tools", "ultratool", "docker-mcp", "livemcpbench"])
def test_a_form_that_nobody_touched_gives_every_schema_back_to_the_byte(benchmark_catalog, name):
    declared = [tool for tool in benchmark_catalog(name).tools if tool.schema is not None]
    for one in declared:
        draft = Draft(Document(one.name, one.description, one.schema))
        rows = with_cells(rows_of(draft), {"edited_rows": {}, "added_rows": [], "deleted_rows": []})
        assert json.dumps(schema_of(draft, rows)[0]) == json.dumps(one.schema)
        if rows:  # one cell more leaves all that the others say as it was
            rows = with_cells(rows_of(draft), {"edited_rows": {0: {"description": "Which one."}}})
            first, *others = one.schema["properties"]
            changed = schema_of(draft, rows)[0]
            assert changed["properties"][first]["description"] == "Which one."
            assert all(
                changed["properties"][key] == one.schema["properties"][key] for key in others
            )
            rest = {key: value for key, value in one.schema.items() if key != "properties"}
            assert {key: value for key, value in changed.items() if key != "properties"} == rest
    assert len(declared) > 300


def test_cells_are_changed_added_and_removed_in_their_places(draft):
    rows = with_cells(
        rows_of(draft),
        {
            "edited_rows": {1: {"required": True, "enum": ["1"], "description": None}},
            "deleted_rows": [0],
            "added_rows": [{"name": "when", "type": "string", "enum": None}, {}],
        },
    )
    assert [row.name for row in rows] == ["days", "place", "when", ""]
    assert (rows[0].required, rows[0].enum, rows[0].origin) == (True, ("1",), "days")
    assert rows[1] == rows_of(draft)[2]
    assert rows[2] == ParameterRow(name="when")


def test_a_cell_changes_only_what_it_shows(draft):
    unit, days, place = rows_of(draft)
    schema, _ = schema_of(
        draft,
        [
            replace(unit, description="Degrees.", required=False),
            replace(days, enum=("1", "14")),
            replace(place, type="string"),
            ParameterRow(name="lang", required=True, enum=("de",)),
        ],
    )
    made = schema["properties"]
    assert made["unit"] == {**SCHEMA["properties"]["unit"], "description": "Degrees."}
    assert made["days"] == {"type": "integer", "enum": [1, 14], "minimum": 1}
    assert made["place"] == {"type": "string", "description": "Where."}
    assert made["lang"] == {"type": "string", "enum": ["de"]}
    assert schema["required"] == ["place", "lang"]


def test_allowed_values_can_be_taken_away_and_need_not_fit(draft):
    unit, days, place = rows_of(draft)
    rows = [
        replace(unit, enum=()),
        replace(days, enum=("soon",)),
        replace(place, type="string|null"),
    ]
    made = schema_of(draft, rows)[0]["properties"]
    assert "enum" not in made["unit"]
    assert made["days"]["enum"] == ["soon"]
    assert made["place"]["type"] == ["string", "null"]


@pytest.mark.parametrize("name", ["", " ", "days"])
def test_a_blank_or_repeated_parameter_name_is_refused(draft, name):
    unit, *others = rows_of(draft)
    with pytest.raises(DecisionError, match="blank or repeat"):
        schema_of(draft, [replace(unit, name=name), *others])


@pytest.mark.parametrize(
    ("text", "told"),
    [('{"type":\n x}', "line 2, column 2"), ("[]", "no object"), ("[" * 100_000, "nested")],
)
def test_a_schema_that_cannot_be_read_says_where(text, told):
    with pytest.raises(DecisionError, match=told):
        parsed(text)
    assert parsed('{"type": "object"}') == {"type": "object"}


# Export --------------------------------------------------------------------------------------


def test_the_figures_tell_what_is_merged_and_what_is_not(small_workspace):
    review, i, work = small_workspace
    review.decide(i, "accept", by_name(work, i, "get_weather"), "ann")
    none = work.service(Exports).figures(i, PlanConfig())
    assert (none.tools_before, none.tools_after, none.clusters.waiting) == (8, 7, 2)
    assert none.merges[0].gone == ("beta/get_weather",)
    assert none.tokens_after < none.tokens_before
    assert work.service(Exports).figures(i, PlanConfig("auto")).tools_after == 6
    assert work.service(Exports).figures(i, PlanConfig("all")).tools_after == 4
    assert work.service(Exports).figures(i, PlanConfig("all")) is work.service(Exports).figures(
        i, PlanConfig("all")
    )


def test_an_accepted_router_is_withheld_until_asked_for(small_workspace):
    review, i, work = small_workspace
    mail = by_name(work, i, "send_mail")
    review.edit(i, mail, edited(review.draft(i, mail), name="mail_it"), "ann")
    review.decide(i, "accept", by_name(work, i, "mail_it"), "ann")
    assert work.service(Exports).figures(i, PlanConfig()).withheld == 1
    assert work.service(Exports).figures(i, PlanConfig(routers=True)).withheld == 0


def test_a_download_is_named_after_catalog_and_content(small_workspace):
    review, i, work = small_workspace
    first = work.service(Exports).download(i, "Team / Tools!", PlanConfig())
    assert first.file_name.startswith("toolscope-team-tools-")
    assert work.service(Exports).download(i, "Team / Tools!", PlanConfig()) == first
    review.decide(i, "accept", by_name(work, i, "get_weather"), "ann")
    later = work.service(Exports).download(i, "Team / Tools!", PlanConfig())
    assert later.file_name != first.file_name
    assert (
        work.service(Exports)
        .download(i, "天", PlanConfig())
        .file_name.startswith("toolscope-catalog-")
    )
